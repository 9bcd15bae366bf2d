// Velocity of each direction.
{{ table }} signed char VELOCITY[Q][{{ dim }}] = {
{%- for line in velocities %}
    {{ line }}
{%- endfor %}
};

// What populations are stored without: their values at rest.
{{ table }} double REST[Q] = { {{- rests -}} };

// The set of populations that each direction belongs to.
{{ table }} signed char SET[Q] = { {{- reduce.set_of -}} };

{% if (packets and walls) or solids -%}
// The opposite of each direction.
{{ table }} signed char OPPOSITE[Q] = { {{- opposites -}} };

{% endif -%}
{% if jump -%}
// Weight of each direction.
{{ table }} {{ real }} WEIGHT[Q] = { {{- weights -}} };

{% endif -%}
{% if walls and walls.tables -%}
// Direction of each velocity, by (cx+1) + 3 (cy+1){% if deep %} + 9 (cz+1){% endif %}.
{{ table }} signed char NUMBER[NEAR] = { {{- numbers -}} };

{% endif -%}
{% if walls and walls.mirrors -%}
// The wall that decides what comes back along a direction that leaves the block through the wall w: where several walls are
// in the way, one that is no symmetry plane. If all are, `mirrored` is what they return: what left the image of the cell
// that the direction comes from.
{{ function }} {{ int }} meets(
    const {{ int }} w, const int direction, const int x, const int y, const int z, const {{ real }} *src, const {{ int }} *near,
    const {{ int }} *wall_rules, {{ real }} *mirrored)
{
    const int at[3] = {x, y, z}, side[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    int entry = {{ middle }}, cell = 0, code = 0;
    for (int axis = 0, step = 1, stride = 1; axis < {{ dim }}; stride *= side[axis], step *= 3, ++axis) {
        int c = VELOCITY[direction][axis];
        int upwind = at[axis] - c;
        int block = upwind < 0 ? -1 : upwind >= side[axis] ? 1 : 0;
        if (block != 0 && near[{{ middle }} + block * step] < 0{% if jump %} && near[{{ middle }} + block * step] != COARSER{% endif %}) {
            const {{ int }} across = -1 - near[{{ middle }} + block * step], rule = wall_rules[across];
            if (!({{ walls.mirrors }})) return across;
            c = -c, upwind = at[axis], block = 0;
        }
        entry += block * step;
        cell += stride * (upwind - block * side[axis]);
        code += step * (c + 1);
    }
    const {{ int }} from = near[entry];
    if (from >= 0) *mirrored = src[(size_t)from * (Q * CELLS) + (size_t)(NUMBER[code] * CELLS + cell)];
    return w;
}
{% endif -%}
{% if jump -%}
enum { PARTS = {{ jump.children }} };  // children of a refined block

// A cell of a block, or a place that is counted like one.
typedef struct {
    int at[DIM];
} Spot;

// The position of a cell in its block.
{{ inline }} Spot spot_of(const int cell)
{
    const Spot spot = { {cell % {{ bx }}, cell / {{ bx }} % {{ by }}{% if deep %}, cell / ({{ bx }} * {{ by }}){% endif %}} };
    return spot;
}

// Where the part of a coarse cell is in the children of its block: the octant and the cell there.
{{ inline }} int part_of(const int cell, const int child, int *octant)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    const Spot spot = spot_of(cell);
    int fine = 0;
    *octant = 0;
    for (int axis = 0, stride = 1; axis < DIM; stride *= width[axis], ++axis) {
        const int at = 2 * spot.at[axis] + (child >> axis & 1), upper = at >= width[axis];
        *octant |= upper << axis;
        fine += stride * (at - upper * width[axis]);
    }
    return fine;
}

{% endif -%}
