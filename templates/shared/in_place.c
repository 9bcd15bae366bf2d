// ==== the only set of populations ===================================================================================
//
// What leaves a cell along a direction is stored where what arrives along the opposite one was read: no other cell reads or writes that. It then
// stands in the cell in which it arrives, as the population of the opposite direction, and the next step reads and writes its own cell alone.
// What leaves through a wall{% if inbox %}, or to another level,{% endif %} stays where it is.

// Where a direction brings something to a cell from.
typedef struct {
    {{ int }} slot;  // that of the cell upwind, or of the cell that a mirror shows in its place; elsewhere the own one,
    int direction, cell;  // and there what has left along the opposite direction
    {{ int }} wall;  // which wall sends it, or who else
} Source;

enum { BY_CELL = -1{% if inbox %}, BY_INBOX = -2{% endif %} };  // who sends it if no wall does

{{ inline }} Source source_of(
    const int direction, const Spot here, const {{ int }} *near
    {%- if walls %}, const {{ int }} *wall_rules{% endif %}{% if solids %}, const {{ int }} *of_row{% endif %}{% if inbox %}, const int mask{% endif %})
{
    Source source;
    source.slot = near[{{ middle }}], source.direction = OPPOSITE[direction], source.cell = index_of(here);
    Spot upwind = beyond(here, direction, -1);
{%- if inbox %}
    source.wall = BY_INBOX;
    if (mask >> neighbour_of(upwind) & 1) return source;
{%- endif %}
{%- if solids %}
    if (of_row != 0 && of_row[direction * CELLS + source.cell] > 0) {
        source.wall = of_row[direction * CELLS + source.cell] - 1;
        return source;
    }
{%- endif %}
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
            if (side != 0 && beside < 0{% if interface %} && beside != COARSER{% endif %}) {
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
    }
{%- endif %}
    source.slot = from, source.direction = brings, source.cell = index_of(upwind), source.wall = BY_CELL;
    return source;
}

{% if walls or inbox -%}
// What a direction brings to a cell; `back`: whether all that cells bring stands in the cell already.
{{ inline }} {{ real }} brought(
    const int back, const int direction, const Spot here, const {{ stored }} *src, const {{ int }} *near
    {%- if walls %}, const {{ int }} *wall_rules, const {{ real }} *wall_values{% endif %}
    {%- if solids %}, const {{ int }} *of_row, const {{ real }} *distances{% endif %}{% if inbox %}, const int mask, const {{ real }} *in{% endif %})
{
    const int cell = index_of(here);
    const Source source = source_of(direction, here, near{% if walls %}, wall_rules{% endif %}{% if solids %}, of_row{% endif %}{% if inbox %}, mask{% endif %});
    if (source.wall == BY_CELL && back) return load(src, near[{{ middle }}], OPPOSITE[direction], cell);
{%- if inbox %}
    if (source.wall == BY_INBOX) return in[inbox_at(direction, here)];
{%- endif %}
{%- if not walls %}
    return load(src, source.slot, source.direction, source.cell);
{%- else %}
    if (source.wall == BY_CELL) return load(src, source.slot, source.direction, source.cell);
{%- if solids %}
    if (of_row != 0 && of_row[direction * CELLS + cell] > 0) {
        return off_solid(source.wall, direction, here, src, near, of_row, distances, wall_rules, wall_values);
    }
{%- endif %}
    return from_wall(source.wall, direction, here, src, near, wall_rules, wall_values);
{%- endif %}
}

{% endif -%}
{{<in_place_functions />}}

{# Where a direction brings something to a cell from: its text. -#}
{% component source_at(of, direction, @solids, @walls, @inbox) -%}
source_of({{ direction }}, here, near{% if walls %}, {% if of.walls %}wall_rules{% else %}0{% endif %}{% endif %}{% if solids %}, {% if of.links %}of_row{% else %}0{% endif %}{% endif %}{% if inbox %}, {% if of.inbox %}mask{% else %}0{% endif %}{% endif %})
{%- endcomponent source_at %}

{# What a direction brings to a cell: its text. -#}
{% component brought_by(of, direction, @solids, @walls, @inbox) -%}
brought({% if of.in_place == "back" %}1{% else %}0{% endif %}, {{ direction }}, here, src, near{% if walls %}, {% if of.walls %}wall_rules, wall_values{% else %}0, 0{% endif %}{% endif %}{% if solids %}, {% if of.links %}of_row, distances + row_at{% else %}0, 0{% endif %}{% endif %}{% if inbox %}, {% if of.inbox %}mask, in{% else %}0, 0{% endif %}{% endif %})
{%- endcomponent brought_by %}

{# What rules of nodes make of that. -#}
{% component nodes_in_place(of, @solids, @inbox) -%}
node(f, SLAB, here, src, near, wall_rules, wall_values{% if inbox %}, {% if of.inbox %}mask, in{% else %}0, 0{% endif %}{% endif %}{% if solids %}, {% if of.links %}of_row, distances + row_at{% else %}0, 0{% endif %}{% endif %});
{%- endcomponent nodes_in_place %}

{# Exchanges each population with that of the opposite direction in the cell that has sent it; of the two cells one does. -#}
{% component swap_in_cell(of, @stored) -%}
const Spot here = spot_of(cell);
        UNROLL for (int i = 0; i < Q; ++i) {
            const Source source = {{<source_at of={of} direction="i" />}};
            const size_t own = at(slot, OPPOSITE[i], cell), other = at(source.slot, source.direction, source.cell);
            if (source.wall != BY_CELL || own >= other) continue;
            const {{ stored }} value = set[own];
            set[own] = set[other], set[other] = value;
        }
{%- endcomponent swap_in_cell %}
