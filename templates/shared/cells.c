// ==== populations in memory =========================================================================================

{{<memory pitch={pitch} />}}{% if pairs -%}
// The populations of two neighbouring cells of a row, that of the first in the lower half.
{{ inline }} unsigned load_pair(const uint16_t *populations, const int slot, const int direction, const int cell)
{
    return *(const unsigned *)(populations + at(slot, direction, cell));
}

{{ inline }} void store_pair(uint16_t *populations, const int slot, const int direction, const int cell, const unsigned pair)
{
    *(unsigned *)(populations + at(slot, direction, cell)) = pair;
}

{% endif -%}
{{<field_at />}}

// Velocity of each direction.
{{ table }} signed char VELOCITY[Q][DIM] = {
{%- for line in velocities %}
    {{ line }}
{%- endfor %}
};

// What populations are stored without: their values at rest.
{{ table }} double REST[Q] = { {{- rests -}} };

// The set of populations that each direction belongs to.
{{ table }} signed char SET[Q] = { {{- reduce.set_of -}} };

{% if (packets and walls) or solids or adjoint or in_place -%}
// The opposite of each direction.
{{ table }} signed char OPPOSITE[Q] = { {{- opposites -}} };

{% endif -%}
{% if walls and (walls.tables or packets) -%}
// Direction of each velocity, by (cx+1) + 3 (cy+1){% if deep %} + 9 (cz+1){% endif %}.
{{ table }} signed char NUMBER[NEAR] = { {{- numbers -}} };

{% endif -%}
{% if walls or interface or adjoint or in_place -%}
{{<spot />}}

{% if numbered -%}
{{<spot_of />}}

{% endif -%}
{% set upwind_places = interface or (walls and (walls.mirrors or walls.inside)) or solids or around or adjoint or in_place -%}
{% if upwind_places -%}
// Which of a block's neighbours a cell lies in.
{{ inline }} int neighbour_of(const Spot spot)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    int entry = {{ middle }};
    for (int axis = 0, step = 1; axis < DIM; step *= 3, ++axis) {
        entry += spot.at[axis] < 0 ? -step : spot.at[axis] >= width[axis] ? step : 0;
    }
    return entry;
}

{% endif -%}
// The index of a cell in the block that it lies in.
{{ inline }} int index_of(const Spot spot)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    int index = 0;
    for (int axis = 0, stride = 1; axis < DIM; stride *= width[axis], ++axis) {
        const int place = spot.at[axis];
        index += stride * (place < 0 ? place + width[axis] : place >= width[axis] ? place - width[axis] : place);
    }
    return index;
}

{% if packets or walls and walls.inside and not solids -%}
// The cell so many cells from another.
{{ inline }} Spot moved(const Spot spot, const int x, const int y{% if deep %}, const int z{% endif %})
{
    const Spot to = { {spot.at[0] + x, spot.at[1] + y{% if deep %}, spot.at[2] + z{% endif %}} };
    return to;
}

{% endif -%}
{% if upwind_places -%}
// The cell some steps along a direction.
{{ inline }} Spot beyond(Spot spot, const int direction, const int steps)
{
    for (int axis = 0; axis < DIM; ++axis) spot.at[axis] += steps * VELOCITY[direction][axis];
    return spot;
}

{% endif -%}
{% endif -%}
{% if interface -%}
enum { CHILDREN = {{ interface.children }} };  // children of a refined block

{{<part_of />}}

{% endif -%}
