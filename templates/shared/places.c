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
{% component spot_of(@inline, @deep, @bx, @by) -%}
// A cell of a block, by its index there.
{{ inline }} Spot spot_of(const int cell)
{
    const Spot spot = { {cell % {{ bx }}, cell / {{ bx }} % {{ by }}{% if deep %}, cell / ({{ bx }} * {{ by }}){% endif %}} };
    return spot;
}
{%- endcomponent spot_of %}
