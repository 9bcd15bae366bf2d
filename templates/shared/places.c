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
