// ==== the only set of populations ===================================================================================
//
// What leaves a cell along a direction is stored where what arrives along the opposite one was read: no other cell reads or writes that. It then
// stands in the cell in which it arrives, as the population of the opposite direction, and the next step reads and writes its own cell alone.
// What leaves through a wall stays where it is.

// Where a direction brings something to a cell from.
typedef struct {
    {{ int }} slot;  // that of the cell upwind, or of the cell that a mirror shows in its place; where a wall sends something, the own one,
    int direction, cell;  // and there what has left along the opposite direction
    {{ int }} wall;  // which, or -1
} Source;

{{ inline }} Source source_of(
    const int direction, const Spot here, const {{ int }} *near
    {%- if walls %}, const {{ int }} *wall_rules{% endif %}{% if solids %}, const {{ int }} *of_row{% endif %})
{
    Source source;
    source.slot = near[{{ middle }}], source.direction = OPPOSITE[direction], source.cell = index_of(here), source.wall = -1;
{%- if solids %}
    if (of_row != 0 && of_row[direction * CELLS + source.cell] > 0) {
        source.wall = of_row[direction * CELLS + source.cell] - 1;
        return source;
    }
{%- endif %}
    Spot upwind = beyond(here, direction, -1);
    {{ int }} from = near[neighbour_of(upwind)];
    int brings = direction;
{%- if walls %}
    if (from < 0) {
        source.wall = -1 - from;
{%- if walls.mirrors %}
        // As `meets`: where several walls are in the way, one that is no symmetry plane.
        const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
        int code = 0;
        for (int axis = 0, step = 1; axis < DIM; step *= 3, ++axis) {
            int c = VELOCITY[direction][axis];
            const int side = upwind.at[axis] < 0 ? -1 : upwind.at[axis] >= width[axis] ? 1 : 0;
            const {{ int }} beside = near[{{ middle }} + side * step];
            if (side != 0 && beside < 0) {
                const {{ int }} rule = wall_rules[-1 - beside];
                if (!({{ walls.mirrors }})) {
                    source.wall = -1 - beside;
                    return source;
                }
                c = -c, upwind.at[axis] = here.at[axis];
            }
            code += step * (c + 1);
        }
        from = near[neighbour_of(upwind)], brings = NUMBER[code];
{%- else %}
        (void)wall_rules;
{%- endif %}
        if (from < 0) return source;
        source.wall = -1;
    }
{%- endif %}
    source.slot = from, source.direction = brings, source.cell = index_of(upwind);
    return source;
}

{% if walls -%}
// What a direction brings to a cell; `back`: whether all that cells bring stands in the cell already.
{{ inline }} {{ real }} brought(
    const int back, const int direction, const Spot here, const {{ stored }} *src, const {{ int }} *near, const {{ int }} *wall_rules,
    const {{ real }} *wall_values{% if solids %}, const {{ int }} *of_row, const {{ real }} *distances{% endif %})
{
    const int cell = index_of(here);
    const Source source = source_of(direction, here, near, wall_rules{% if solids %}, of_row{% endif %});
    if (source.wall < 0 && back) return load(src, near[{{ middle }}], OPPOSITE[direction], cell);
    if (source.wall < 0) return load(src, source.slot, source.direction, source.cell);
{%- if solids %}
    if (of_row != 0 && of_row[direction * CELLS + cell] > 0) {
        return off_solid(source.wall, direction, here, src, near, of_row, distances, wall_rules, wall_values);
    }
{%- endif %}
    return from_wall(source.wall, direction, here, src, near, wall_rules, wall_values);
}

{% endif -%}
{{<in_place_functions />}}

{# Where a direction brings something to a cell from: its text. -#}
{% component source_at(of, direction, @solids, @walls) -%}
source_of({{ direction }}, here, near{% if walls %}, {% if of.walls %}wall_rules{% else %}0{% endif %}{% endif %}{% if solids %}, {% if of.links %}of_row{% else %}0{% endif %}{% endif %})
{%- endcomponent source_at %}

{# What a direction brings to a cell: its text. -#}
{% component brought_by(of, direction, @solids) -%}
brought({% if of.in_place == "back" %}1{% else %}0{% endif %}, {{ direction }}, here, src, near, wall_rules, wall_values{% if solids %}, {% if of.links %}of_row, distances + row_at{% else %}0, 0{% endif %}{% endif %})
{%- endcomponent brought_by %}

{# What rules of nodes make of that. -#}
{% component nodes_in_place(of, @solids) -%}
node(f, SLAB, here, src, near, wall_rules, wall_values{% if solids %}, {% if of.links %}of_row, distances + row_at{% else %}0, 0{% endif %}{% endif %});
{%- endcomponent nodes_in_place %}

{# Exchanges each population with that of the opposite direction in the cell that has sent it; of the two cells one does. -#}
{% component swap_in_cell(of, @stored) -%}
const Spot here = spot_of(cell);
        UNROLL for (int i = 0; i < Q; ++i) {
            const Source source = {{<source_at of={of} direction="i" />}};
            const size_t own = at(slot, OPPOSITE[i], cell), other = at(source.slot, source.direction, source.cell);
            if (source.wall >= 0 || own >= other) continue;
            const {{ stored }} value = set[own];
            set[own] = set[other], set[other] = value;
        }
{%- endcomponent swap_in_cell %}
