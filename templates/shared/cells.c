// ==== populations in memory =========================================================================================

{% if moments and moments.groups -%}
// Of the moments of a cell as many lie side by side as are loaded at once: {{ moments.widths }}.
{%- elif moments -%}
// The moments of a cell lie apart, those of one number in a block side by side.
{%- else -%}
// The populations of a cell lie apart, those of a direction in a block side by side. `load` and `store` alone know, and what moves
// whole rows of them.
{%- endif %}
{{ inline }} size_t at(const {{ int }} slot, const int direction, const int cell)
{
{%- if moments and moments.groups %}
    const int place = {% for group in moments.groups %}{% if not loop.last %}direction < {{ group.end }} ? {% endif %}{% if group.first > 0 %}{{ group.first }} * CELLS + {% endif %}{% if group.width > 1 %}{{ group.width }} * {% endif %}cell{% if group.width > 1 %} + direction{% if group.first > 0 %} - {{ group.first }}{% endif %}{% endif %}{% if not loop.last %} : {% endif %}{% endfor %};
    return (size_t)slot * (K * CELLS) + (size_t)place;
{%- else %}
    return (size_t)slot * ({{ values }} * {{ pitch }}) + (size_t)(direction * {{ pitch }} + cell);
{%- endif %}
}

{% if half -%}
// Numbers of 16 bits (IEEE 754 binary16) that stand for {% if moments %}moments{% else %}populations{% endif %} times a power of two, so that most of their range is used.
{{<halves />}}

{{<bits />}}

// The bits of all that is stored of a cell, well mixed: where its chance begins.
{{ inline }} unsigned mixed(unsigned chance)
{
    chance = (chance ^ chance >> 16) * 0x7feb352du;
    chance = (chance ^ chance >> 15) * 0x846ca68bu;
    return chance ^ chance >> 16;
}

{% if not moments -%}
// What is left of a value that is stored and loaded.
{{ inline }} {{ real }} as_stored(const {{ real }} value)
{
    return widened(narrowed(value));
}

// A value that becomes the number of 16 bits below or above it when it is rounded to the nearest, on average itself: 23 bits of chance move it by
// up to half of the distance between such numbers, 2^-10 of the power of two below it.
{{ inline }} {{ real }} moved_by_chance(const {{ real }} value, const unsigned bits)
{
    const {{ real }} power = float_of(bits_of(value) & 0x7f800000u), part = float_of(bits | 0x3a800000u) - 0x1.8p-10f;
    return value + power * part;
}

// Moves the populations of a cell before they are rounded, so that they are right on average: in a slow flow they change by less than half of
// the last digit in a step, and to the nearest they would stay what they are. Chance is made of the bits of all of them and of the place of the
// cell in its block, so it is the same whoever computes the cell; each number of it serves two.
{{ inline }} void move_by_chance({{ real }} *f, const int cell)
{
    unsigned chance = (unsigned)cell;
    UNROLL for (int i = 0; i < Q; i += 2) {
        chance = chance * 0x9e3779b1u + bits_of(f[i]) + (i + 1 < Q ? bits_of(f[i + 1]) << 1 : 0);
    }
    chance = mixed(chance);
    UNROLL for (int i = 0; i < Q; i += 2) {
        f[i] = moved_by_chance(f[i], chance >> 9);
        if (i + 1 < Q) f[i + 1] = moved_by_chance(f[i + 1], chance << 7 & 0x7fffffu);
        chance = chance * 0x2c9277b5u + 0xac564b05u;
    }
}

{% endif -%}
{% endif -%}
{% if not moments -%}
// A population as it is computed with.
{{ inline }} {{ real }} load(const {{ stored }} *populations, const {{ int }} slot, const int direction, const int cell)
{
    return {% if half %}widened(populations[at(slot, direction, cell)]){% else %}populations[at(slot, direction, cell)]{% endif %};
}

{{ inline }} void store({{ stored }} *populations, const {{ int }} slot, const int direction, const int cell, const {{ real }} value)
{
    populations[at(slot, direction, cell)] = {% if half %}narrowed(value){% else %}value{% endif %};
}

{% endif -%}
{% if pairs -%}
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

{% if (packets and walls) or solids -%}
// The opposite of each direction.
{{ table }} signed char OPPOSITE[Q] = { {{- opposites -}} };

{% endif -%}
{% if walls and walls.tables -%}
// Direction of each velocity, by (cx+1) + 3 (cy+1){% if deep %} + 9 (cz+1){% endif %}.
{{ table }} signed char NUMBER[NEAR] = { {{- numbers -}} };

{% endif -%}
{% if walls or interface -%}
{{<spot />}}

{% if numbered -%}
{{<spot_of />}}

{% endif -%}
{% set upwind_places = interface or (walls and (walls.mirrors or walls.inside)) or solids or around -%}
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
enum { PARTS = {{ interface.children }} };  // children of a refined block

{{<part_of />}}

{% endif -%}
