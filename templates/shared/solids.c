// ==== solids ========================================================================================================
//
// Of a block with solids in it, of_row[direction * CELLS + cell] says where a direction comes from: 0 from a cell, or off a wall
// of the domain, as everywhere; w + 1 off the wall w, the surface of a solid or the part of a face at one cell; -1 where the
// cell is solid.

{% for rule in solids.own -%}
{% for line in rule.doc -%}
// {{ line }}
{% endfor -%}
{{ function }} {{ real }} {{ rule.function }}(const int direction, const {{ real }} *own{{ rule.decl }})
{
{%- for line in rule.values %}
    {{ line }}
{%- endfor %}
    switch (direction) {
{%- for link in rule.links %}
    case {{ link.at }}:{% if link.block %} { {%- endif %}
{%- for line in link.lines %}
        {{ line }}
{%- endfor %}
{%- if link.block %}
    }
{%- endif %}
{%- endfor %}
    default:
        return own[direction * CELLS];
    }
}

{% endfor -%}
{% if solids.against -%}
// What arrives at a cell along the opposite of a direction from another cell; where none is there, what has left it that way.
{{ function }} {{ real }} against(
    const int direction, const int cell, const {{ real }} *src, const {{ int }} *near, const {{ int }} *of_row)
{
    const int other = OPPOSITE[direction];
    const int at[3] = {cell % {{ bx }}, cell / {{ bx }} % {{ by }}, cell / ({{ bx }} * {{ by }})}, side[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    int entry = {{ middle }}, upwind = 0;
    for (int axis = 0, step = 1, stride = 1; axis < {{ dim }}; stride *= side[axis], step *= 3, ++axis) {
        const int place = at[axis] - VELOCITY[other][axis];
        const int block = place < 0 ? -1 : place >= side[axis] ? 1 : 0;
        entry += block * step;
        upwind += stride * (place - block * side[axis]);
    }
    if (of_row[other * CELLS + cell] != 0 || near[entry] < 0) {
        return src[(size_t)near[{{ middle }}] * (Q * CELLS) + (size_t)(other * CELLS + cell)];
    }
    return src[(size_t)near[entry] * (Q * CELLS) + (size_t)(other * CELLS + upwind)];
}

{% endif -%}
// What the wall w sends along a direction to a cell of the block.
{{ function }} {{ real }} off_solid(
    const {{ int }} w, const int direction, const int cell, const {{ real }} *src, const {{ int }} *near, const {{ int }} *of_row,
    const {{ real }} *distances, const {{ int }} *wall_rules, const {{ real }} *wall_values)
{
    const {{ real }} *own = src + (size_t)near[{{ middle }}] * (Q * CELLS) + (size_t)cell;
    {{ walls.values }}
    (void)of_row, (void)distances;
    switch (wall_rules[w]) {
{%- for rule in solids.rules %}
    case {{ rule.code }}:
        return {{ rule.function }}(direction, own{{ rule.pass }});
{%- endfor %}
    default:
        return {% if cuda %}__int_as_float(0x7fffffff){% else %}NAN{% endif %};  // no boundary condition of solids: NaN stops the run
    }
}

// Adds to `sum` what the links of a cell give to the wall w: the momentum of what goes and of what comes back, as stored: beyond
// that of a fluid at rest, whose pressure is the same from all sides.
{{ function }} void push(
    const {{ int }} w, const int cell, const {{ real }} *src, const {{ int }} *near, const {{ int }} *of_row, const {{ real }} *distances,
    const {{ int }} *wall_rules, const {{ real }} *wall_values, double *sum)
{
    const {{ real }} *own = src + (size_t)near[{{ middle }}] * (Q * CELLS) + (size_t)cell;
    for (int i = 0; i < {{ solids.carriers }}; ++i) {
        if (of_row[i * CELLS + cell] != w + 1) continue;
        const {{ real }} back = off_solid(w, i, cell, src, near, of_row, distances, wall_rules, wall_values);
        const double through = (double)own[OPPOSITE[i] * CELLS] + (double)back;
        for (int axis = 0; axis < DIM; ++axis) sum[axis] -= through * VELOCITY[i][axis];
    }
}

