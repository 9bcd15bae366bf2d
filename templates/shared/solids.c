// ==== solids ========================================================================================================
//
// Of a block with solids in it, of_row[direction * CELLS + cell] says where a direction comes from: 0 from a cell, or off a wall
// of the domain, as everywhere; w + 1 off the wall w, the surface of a solid or the part of a face at one cell; -1 where the
// cell is solid.

{% for rule in solids.own -%}
{{<rule of={rule} how={function} />}}

{% endfor -%}
{% if solids.against -%}
// What arrives at a cell along the opposite of a direction from another cell; where none is there, what has left it that way.
{{ function }} {{ real }} against(
    const int direction, const Spot here, const {{ stored }} *src, const {{ int }} *near, const {{ int }} *of_row)
{
    const int other = OPPOSITE[direction], cell = index_of(here);
    const Spot upwind = beyond(here, other, -1);
    const {{ int }} from = of_row[other * CELLS + cell] != 0 ? -1 : near[neighbour_of(upwind)];
    return from < 0 ? load(src, near[{{ middle }}], other, cell) : load(src, from, other, index_of(upwind));
}

{% endif -%}
// What the wall w sends along a direction to a cell of the block.
{{ function }} {{ real }} off_solid(
    const {{ int }} w, const int direction, const Spot here, const {{ stored }} *src, const {{ int }} *near, const {{ int }} *of_row,
    const {{ real }} *distances, const {{ int }} *wall_rules, const {{ real }} *wall_values)
{
    const {{ int }} slot = near[{{ middle }}];
    const int cell = index_of(here);
    {{ walls.values }}
    (void)of_row, (void)distances{% if not solids.rules %}, (void)direction, (void)src, (void)slot, (void)cell{% endif %};
    switch (wall_rules[w]) {
{%- for rule in solids.rules %}
    case {{ rule.code }}:
        return {{ rule.function }}(direction, src, slot, cell{{ rule.pass }});
{%- endfor %}
    default:
        return {{ nan }};  // no boundary condition of solids: NaN stops the run
    }
}

// Adds to `sum` what the links of a cell give to the walls that are surfaces of a solid: the momentum of what goes and of what comes back, as stored: beyond
// that of a fluid at rest, whose pressure is the same from all sides.
{{ function }} void push(
    const {{ int }} body, const {{ int }} *owners, const int cell, const {{ stored }} *src, const {{ int }} *near, const {{ int }} *of_row,
    const {{ real }} *distances, const {{ int }} *wall_rules, const {{ real }} *wall_values, double *sum)
{
    const Spot here = spot_of(cell);
    for (int i = 0; i < {{ solids.carriers }}; ++i) {
        const {{ int }} w = of_row[i * CELLS + cell] - 1;
        if (w < 0 || owners[w] != body) continue;
        const {{ real }} back = off_solid(w, i, here, src, near, of_row, distances, wall_rules, wall_values);
        const double through = (double)load(src, near[{{ middle }}], OPPOSITE[i], cell) + (double)back;
        for (int axis = 0; axis < DIM; ++axis) sum[axis] -= through * VELOCITY[i][axis];
    }
}

