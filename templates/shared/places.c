{% component field_at(@inline, @int) -%}
// Where a component of the macroscopic fields is.
{{ inline }} size_t field_at(const {{ int }} slot, const int component, const int cell)
{
    return (size_t)slot * (FIELDS * CELLS) + (size_t)(component * CELLS + cell);
}
{%- endcomponent field_at %}
{% component spot() -%}
// A cell, counted from the lower corner of a block along each axis; it may lie in a neighbour of the block.
typedef struct {
    int at[DIM];
} Spot;
{%- endcomponent spot %}
{% component spot_of(@inline, @deep, @bx, @by, @bz) -%}
// A cell of a block, by its index there; without signs compilers see that it lies in the block.
{{ inline }} Spot spot_of(const int cell)
{
    const unsigned index = (unsigned)cell;
    const Spot spot = { {(int)(index % {{ bx }}), (int)(index / {{ bx }} % {{ by }}){% if deep %}, (int)(index / ({{ bx }} * {{ by }}) % {{ bz }}){% endif %}} };
    return spot;
}
{%- endcomponent spot_of %}
{% component part_of(@inline, @bx, @by, @bz) -%}
// Where the part of a coarse cell is in the children of its block: the octant and the cell there.
{{ inline }} int part_of(const int cell, const int child, int *octant)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    const Spot spot = spot_of(cell);
    int fine = 0;
    *octant = 0;
    for (int axis = 0, stride = 1; axis < DIM; stride *= width[axis], ++axis) {
        const int place = 2 * spot.at[axis] + (child >> axis & 1), upper = place >= width[axis];
        *octant |= upper << axis;
        fine += stride * (place - upper * width[axis]);
    }
    return fine;
}
{%- endcomponent part_of %}
