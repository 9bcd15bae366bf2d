{% for kernel in ghosts.kernels -%}
{% <kernel of={kernel.signature}> %}
    if (!streams(sides, slot, first_covered, cell)) {{ kernel.signature.skip }};
    const {{ int }} *const around = neighbours + (size_t)slot * NEAR;
    const Spot here = spot_of(cell);
    {{ real }} f[Q];
{%- if kernel.links %}
    const size_t row_at = (size_t)link_rows[slot] * (Q * CELLS);
    const {{ int }} *const of_row = links + row_at;
    for (int i = 0; i < Q; ++i) {
        const {{ int }} link = of_row[i * CELLS + cell];
        f[i] = link > 0 ? off_solid(link - 1, i, here, src, around, of_row, distances + row_at, wall_rules, wall_values)
                        : arrives(i, here, src, around, wall_rules, wall_values);
    }
{%- else %}
    UNROLL for (int i = 0; i < Q; ++i) f[i] = arrives(i, here, src, around{% if walls %}{% if kernel.walls %}, wall_rules, wall_values{% else %}, 0, 0{% endif %}{% endif %});
{%- endif %}
{%- if kernel.walls and walls.nodes %}
    node(f, 1, here, src, around, wall_rules, wall_values{% if solids %}, {% if kernel.links %}of_row, distances + row_at{% else %}0, 0{% endif %}{% endif %});
{%- endif %}
    if (rows[slot] >= 0) {
        {{ real }} *const keep = saved + kept_at(rows, slot, cell);
        UNROLL for (int i = 0; i < Q; ++i) keep[i * CELLS] = f[i];
    }
    {{<finish />}}
{%- </kernel> %}

{% endfor -%}
{% <kernel of={ghosts.restrict}> %}
    {{ real }} f[Q];
    if (!mean_of_children(slot, cell, sides, child_slots, rows, first_covered, saved, f{{ param_names }})) {{ ghosts.restrict.skip }};
    {{ real }} *const keep = saved + kept_at(rows, slot, cell);
    UNROLL for (int i = 0; i < Q; ++i) keep[i * CELLS] = f[i];
    {{<finish />}}
{%- </kernel> %}

{% <kernel of={ghosts.send}> %}
    if (!has_values(sides, slot, first_covered, spot_of(cell))) {{ ghosts.send.skip }};
    {{ real }} *const keep = saved + kept_at(rows, slot, cell);
    {{ real }} f[Q];
    UNROLL for (int i = 0; i < Q; ++i) f[i] = keep[i * CELLS];
    to_fine(f{{ param_names }});
    UNROLL for (int i = 0; i < Q; ++i) keep[i * CELLS] = f[i];
{%- </kernel> %}

{% <kernel of={ghosts.prolong}> %}
    {{ real }} f[Q];
    if (!ghost(slot, cell, neighbours, sides, uppers, rows, first_covered, saved, f)) {{ ghosts.prolong.skip }};
{%- for at in ghosts.places %}
    f[{{ at }}] = load(dst, slot, {{ at }}, cell);
{%- endfor %}
    {{<finish />}}
{%- </kernel> %}

{% <kernel of={ghosts.hold}> %}
    if (!whole && has_values(sides, slot, first_covered, spot_of(cell))) {{ ghosts.hold.skip }};
    coarsen_cell(slot, cell, child_slots + (size_t)(slot - first_covered) * CHILDREN, sets >> 1 & 1 ? populations_1 : populations_0,
        sets & 1 ? populations_1 : populations_0);
{%- </kernel> %}

{% <kernel of={ghosts.keep}> %}
    {{ stored }} *const set = sets >> levels[nodes[slot]] & 1 ? populations_1 : populations_0;
    const int to = covered_slot(nodes[slot], children, roots, first_covered);
    {{<copy_values to="set" into="to" from="set" of="slot" />}}
{%- </kernel> %}
