{% for line in banner -%}
// {{ line }}
{% endfor %}
{{<includes />}}

enum {
    CELLS = {{ bx }} * {{ by }} * {{ bz }},  // of a block
    NEAR = {{ near }},  // neighbours of a block, itself included
    DIM = {{ dim }},  // axes
    FIELDS = {{ fields }},  // components of the macroscopic fields
};

// ==== what formulas read ============================================================================================

{% if reads_fields or reads_slopes -%}
{{<field_at />}}

{% endif -%}
{% if reads_slopes -%}
// Slope of a component of the fields along an axis, per cell: central; one-sided where a neighbour of the block is of another level or
// a wall, and 0 where both are.
{{<slope name="slope_of_field" array={real} value="values[field_at(of, component, place)]" />}}

{% endif -%}
{% if reads_positions -%}
{{<spot />}}

{{<spot_of />}}

// Centre of a cell along an axis, or of the coarser cell in its place, in cells of level 0.
{{ inline }} double centre(const int at, const int coarser, const double width)
{
    return ((at >> coarser << coarser) + 0.5 * (1 << coarser)) * width;
}

{% endif -%}
{% if tables -%}
{{<tables_of />}}

{% endif -%}
{% if noise -%}
{{<noise_of />}}

{% endif -%}
// ==== levels ========================================================================================================

// Target levels of a cell: bit l for level l or finer, bit 16 + l for level l at least if it is there.
{{ inline }} unsigned long long bits_of(const int up, const int down)
{
    return 1ull << up | 1ull << (16 + down);
}

{% if rounds -%}
// A target level from a number.
{{ inline }} unsigned long long rounded(const double value, const int finest)
{
    const double whole = floor(value);
    const int level = whole >= finest ? finest : whole > 0 ? (int)whole : 0;
    return bits_of(level, level);
}

{% endif -%}
// The target level of a block of some level.
{{ inline }} int target_level(const unsigned long long bits, const int level)
{
    int up = 0, down = 0;
    for (int at = 1; at < 16; ++at) {
        if (bits >> at & 1) up = at;
        if (bits >> (16 + at) & 1) down = at;
    }
    return up > level ? up : down < level ? down : level;
}

{{ inline }} void unite(unsigned long long *bits, const unsigned long long *other)
{
    *bits |= *other;
}

// ==== criteria ======================================================================================================

{% for criterion in criteria -%}
{{ function }} unsigned long long {{ criterion.name }}(
    const {{ int }} slot, const int cell, const {{ int }} *around, const int level, const {{ int }} *place, const {{ real }} *fields,
    const int finest, const {{ int }} steps)
{
{%- for line in criterion.body %}
    {{ line }}
{%- endfor %}
}

{% <kernel of={criterion}> %}
    const {{ int }} node = nodes[slot];
    const int level = levels[node];
    unsigned long long own = 0;
    for (int cell = thread; cell < CELLS; cell += threads) {
        own |= {{ criterion.name }}(slot, cell, neighbours + (size_t)slot * NEAR, level, places + (size_t)node * 3, fields, finest, steps);
    }
    {{<fold type="unsigned long long" name="bits" value="own" merge="unite" />}}
    if (thread == 0) targets[node] = target_level(bits, level);
{%- </kernel> %}

{% endfor -%}
{{<called_by_pointers />}}
