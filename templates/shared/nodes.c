// ==== walls on the nodes ============================================================================================
//
// A rule is written for walls whose inward normals are the first axes; `node` turns the cell at hand into that frame.

{% for rule in walls.nodes -%}
{% for form in rule.forms -%}
{% if loop.first -%}
{% for line in rule.doc -%}
// {{ line }}
{% endfor -%}
{% endif -%}
{{ function }} void {{ form.function }}({{ form.decl }}{{ real }} *streamed)
{
{%- for line in form.inputs %}
    {{ line }}
{%- endfor %}
{%- for line in form.body %}
    {{ line }}
{%- endfor %}

{%- for output in form.outputs %}
    streamed[{{ output.at }}] = {{ output.text }};
{%- endfor %}
}

{% endfor -%}
{% endfor -%}
{% if walls.inside -%}
{% if solids -%}
{{ function }} {{ real }} off_solid(
    const {{ int }} w, const int direction, const Spot here, const {{ stored }} *src, const {{ int }} *near, const {{ int }} *of_row,
    const {{ real }} *distances, const {{ int }} *wall_rules, const {{ real }} *wall_values);

// The cell so many cells inwards from one at a wall, or the last before a solid.
{{ function }} Spot inwards(const int cells, const Spot here, const int *normal, const {{ int }} *of_row)
{
    Spot last = here;
    for (int count = 0; count < cells; ++count) {
        Spot next = last;
        for (int axis = 0; axis < DIM; ++axis) next.at[axis] += normal[axis];
        if (of_row != 0 && of_row[index_of(next)] < 0) break;
        last = next;
    }
    return last;
}

{% endif -%}
// What arrives at a cell along a direction{% if packets %}, from the inbox too{% endif %}{% if solids %}, and off a solid{% endif %}{% if walls.thin %}; the cell is in the next block where this one is thin{% endif %}.
{{ function }} {{ real }} arrival(
    const int direction, {% if not walls.thin %}const {% endif %}Spot here, const {{ stored }} *src, const {{ int }} *near,
    const {{ int }} *wall_rules, const {{ real }} *wall_values{% if packets %}, const int mask, const {{ real }} *in{% endif %}
    {%- if solids %}, const {{ int }} *of_row, const {{ real }} *distances{% endif %})
{
{%- if solids %}
    const {{ int }} link = of_row == 0 ? 0 : of_row[direction * CELLS + index_of(here)];
    if (link > 0{% if packets %} && !(mask >> neighbour_of(beyond(here, direction, -1)) & 1){% endif %}) return off_solid(link - 1, direction, here, src, near, of_row, distances, wall_rules, wall_values);
{%- endif %}
{%- if walls.thin %}
    near += (long long)(near[neighbour_of(here)] - near[{{ middle }}]) * NEAR;
    here = spot_of(index_of(here));
{%- endif %}
{%- if packets %}
    if (mask >> neighbour_of(beyond(here, direction, -1)) & 1) return in[inbox_at(direction, here)];
{%- endif %}
    return arrives(direction, here, src, near, wall_rules, wall_values);
}

{% endif -%}
// The inward direction of a wall of nodes that an axis meets at a cell, 0 if there is none; w becomes the first such wall.
{{ function }} int inward(
    const int at, const int side, const int step, const {{ int }} *near, const {{ int }} *wall_rules, {{ int }} *w)
{
{%- if walls.thin %}
    // Of a block that is one cell thick both ends are there.
    for (int block = -1; block <= 1; block += 2) {
        if (at != (block < 0 ? 0 : side - 1)) continue;
        const {{ int }} entry = near[{{ middle }} + block * step];
        if (entry >= 0) continue;
        switch (wall_rules[-1 - entry]) {
{%- for rule in walls.nodes %}
        case {{ rule.code }}:
{%- endfor %}
            if (*w < 0) *w = -1 - entry;
            return -block;
        }
    }
    return 0;
{%- else %}
    const int block = at == 0 ? -1 : at == side - 1 ? 1 : 0;
    const {{ int }} entry = near[{{ middle }} + block * step];
    if (entry >= 0{% if interface %} || entry == COARSER{% endif %}) return 0;
    switch (wall_rules[-1 - entry]) {
{%- for rule in walls.nodes %}
    case {{ rule.code }}:
{%- endfor %}
        if (*w < 0) *w = -1 - entry;
        return -block;
    default:
        return 0;
    }
{%- endif %}
}

// Gives a cell that touches walls of nodes the populations that their rule defines. arrived[i * stride] is what direction i
// has brought; what nothing has brought is of no meaning yet. Where several walls meet, the rule is that of the first axis.
{%- if solids %}
// Where values vary along its face, the link straight through the face has the cell's own wall: of_row, or 0 where none does and no solid is.
{%- endif %}
{{ function }} void node(
    {{ real }} *arrived, const int stride, const Spot here, const {{ stored }} *src, const {{ int }} *near,
    const {{ int }} *wall_rules, const {{ real }} *wall_values{% if packets %},
    const int mask, const {{ real }} *in{% endif %}{% if solids %}, const {{ int }} *of_row, const {{ real }} *distances{% endif %})
{
{%- if solids and not walls.inside %}
    (void)distances;
{%- endif %}
{%- if not walls.own and not walls.inside %}
    (void)src;  // no rule reads what other cells hold
{%- endif %}
{%- if packets and not walls.inside %}
    (void)mask, (void)in;
{%- endif %}
    {{ int }} w = -1;
    const int normal[{{ dim }}] = {
        inward(here.at[0], {{ bx }}, 1, near, wall_rules, &w),
        inward(here.at[1], {{ by }}, 3, near, wall_rules, &w),
{%- if deep %}
        inward(here.at[2], {{ bz }}, 9, near, wall_rules, &w),
{%- endif %}
    };
    if (w < 0) return;

    // the frame: normals first, then the axes along the walls
    int axes[{{ dim }}], walls = 0;
    int sign[{{ dim }}];
    for (int axis = 0; axis < {{ dim }}; ++axis) {
        if (normal[axis] != 0) axes[walls++] = axis;
    }
    for (int axis = 0, next = walls; axis < {{ dim }}; ++axis) {
        if (normal[axis] == 0) axes[next++] = axis;
    }
    for (int axis = 0; axis < {{ dim }}; ++axis) sign[axis] = normal[axes[axis]] < 0 ? -1 : 1;

{%- if solids %}
    if (of_row != 0) {
        const int step[3] = {1, 3, 9};
        const {{ int }} straight = of_row[NUMBER[{{ middle }} + sign[0] * step[axes[0]]] * CELLS + index_of(here)];
        if (straight > 0) w = straight - 1;
    }
{%- endif %}

    int turn[Q];
    {{ real }} streamed[Q];
{%- if walls.own %}
    {{ real }} own[Q];
    const int cell = index_of(here);
{%- endif %}
    for (int i = 0; i < Q; ++i) {
        const int power[3] = {1, 3, 9};
        int code = {{ middle }};
        for (int axis = 0; axis < {{ dim }}; ++axis) {
            code += power[axes[axis]] * sign[axis] * VELOCITY[i][axis];
        }
        turn[i] = NUMBER[code];
{%- if walls.own %}
        own[i] = load(src, near[{{ middle }}], turn[i], cell);
{%- endif %}
        streamed[i] = arrived[turn[i] * stride];
    }

    const {{ real }} *given = wall_values + (size_t)w * {{ walls.stride }};
    switch (wall_rules[w]) {
{%- for rule in walls.nodes %}
    case {{ rule.code }}: {
{%- if rule.values | length > 0 %}
        const {{ real }} value[] = {
{%- for value in rule.values %}
            {{ value }},
{%- endfor %}
        };
{%- endif %}
{%- for form in rule.forms %}
        if (walls == {{ form.walls }}) {
{%- for read in form.reads %}
            {{ real }} {{ read.name }}[Q];
{%- if solids %}
            // Where a solid is next, the cell itself: what it has sent.
            const Spot at_{{ read.name }} = inwards({{ read.cells }}, here, normal, of_row);
            const int own_{{ read.name }} = at_{{ read.name }}.at[axes[0]] == here.at[axes[0]];
{%- endif %}
            for (int i = 0; i < Q; ++i) {
{%- if solids %}
                {{ read.name }}[i] = own_{{ read.name }} ? load(src, near[{{ middle }}], turn[i], index_of(here))
                    : arrival(turn[i], at_{{ read.name }}, src, near, wall_rules, wall_values{% if packets %}, mask, in{% endif %}, of_row, distances);
{%- else %}
                {{ read.name }}[i] = arrival(turn[i], moved(here, {{ read.steps }}), src, near,
                    wall_rules, wall_values{% if packets %}, mask, in{% endif %});
{%- endif %}
            }
{%- endfor %}
            {{ form.function }}({{ form.pass }}streamed);
        }
{%- endfor %}
        break;
    }
{%- endfor %}
    }
    for (int i = 0; i < Q; ++i) arrived[turn[i] * stride] = streamed[i];
}
