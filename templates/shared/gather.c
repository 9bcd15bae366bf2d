// ==== streaming =====================================================================================================
//
// What arrives in a cell comes from a neighbour; off a wall, if one is in its place{% if inbox %}; from the inbox, if the bit of the neighbour is set{% endif %}{% if solids %}; off a
// solid, if a link says so{% endif %}.

{% for kernel in gathers -%}
{{<sources of={kernel} />}}{% <kernel of={kernel.signature}> %}
{%- if kernel.exposes %}
    const {{ stored }} *src = populations;
{%- elif kernel.in_place and kernel.in_place != "bring" %}
    const {{ stored }} *src = set;
{%- endif %}
{%- if not kernel.stored %}
{{-<near_of of={kernel} />}}
{%- endif %}
{%- if kernel.inbox %}
    const {{ int }} own_row = rows[slot];
    const int mask = own_row < 0 ? 0 : masks[own_row];
    const {{ real }} *const in = inbox + (size_t)(own_row < 0 ? 0 : own_row) * ROW;
{%- endif %}
{%- if kernel.links %}
    const size_t row_at = (size_t)link_rows[slot] * (Q * CELLS);
    const {{ int }} *const of_row = links + row_at;
{%- endif %}
{%- if kernel.fast %}
{{-<fast of={kernel} />}}
{%- elif kernel.in_place == "bring" %}
{{-<bring_back of={kernel} />}}
{%- elif kernel.in_place %}
{{-<in_place of={kernel} />}}
{%- else %}
{%- <cells_at_once of={kernel}> %}
{{-<gather of={kernel} />}}
{%- if kernel.links or kernel.nodes %}
{%- <each_of_them of={kernel}> %}
{%- if kernel.links %}
{{-<off_links of={kernel} />}}
{%- if around and not kernel.exposes %}
    UNROLL for (int which = 0; which < INPUTS - Q; ++which) {
        const {{ int }} link = of_row[FROM[which] * CELLS + cell];
        if (link > 0) f[(Q + which) * SLAB] = beyond_wall(link - 1, SHOWN[which], load(src, slot, SHOWN[which], cell), 0, wall_rules, wall_values);
    }
{%- endif %}
{%- endif %}
{%- if kernel.nodes %}
    node(f, SLAB, here, src, near, wall_rules, wall_values
        {%- if inbox %}, {% if kernel.inbox %}mask, in{% else %}0, 0{% endif %}{% endif -%}
        {%- if solids %}, {% if kernel.links %}of_row, distances + row_at{% else %}0, 0{% endif %}{% endif %});
{%- endif %}
{%- </each_of_them> %}
{%- endif %}
{{-<finish_cells of={kernel} />}}
{%- </cells_at_once> %}
{%- endif %}
{%- </kernel> %}

{% endfor -%}
