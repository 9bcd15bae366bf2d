{# What is stored of a cell: its populations. -#}
{% component memory(pitch, @inline, @int, @real, @stored, @stored_rows) -%}
// The populations of a cell lie apart, those of a direction in a block side by side. `load` and `store` alone know, and what moves
// whole rows of them.
{{ inline }} size_t at(const {{ int }} slot, const int direction, const int cell)
{
    return (size_t)slot * ({{ stored_rows }} * {{ pitch }}) + (size_t)(direction * {{ pitch }} + cell);
}

{{<numbers of="populations" />}}{{<chance />}}// A population as it is computed with.
{{ inline }} {{ real }} load(const {{ stored }} *populations, const {{ int }} slot, const int direction, const int cell)
{
    {{<load_state pitch={pitch} />}}return {{<widen value="populations[at(slot, direction, cell)]" />}};
}

{{ inline }} void store({{ stored }} *populations, const {{ int }} slot, const int direction, const int cell, const {{ real }} value)
{
    {{<store_state pitch={pitch} />}}populations[at(slot, direction, cell)] = {{<narrow value="value" />}};
}

{% endcomponent memory %}

{# The values of a cell that a formula reads. -#}
{% component read_cell(of, @real) %}
{%- for input in of.inputs %}
    const {{ real }} {{ input.text }} = load(src, slot, {{ input.at }}, cell);
{%- endfor %}
{%- endcomponent read_cell %}

{# Stores what formulas give a cell. -#}
{% component give_cell(values, to, slot, cell, pad) %}
{%- for value in values %}
{{ pad }}store({{ to }}, {{ slot }}, {{ value.at }}, {{ cell }}, {{ value.text }});
{%- endfor %}
{%- endcomponent give_cell %}

{# Stores all populations of a cell. -#}
{% component put_cell(to, from) -%}
    for (int i = 0; i < Q; ++i) store({{ to }}, slot, i, cell, {{ from }}[i]);
{%- endcomponent put_cell %}

{% component finish() -%}
    {{<relax />}}
    {{<by_chance cell="cell" />}}UNROLL for (int i = 0; i < Q; ++i) store(dst, slot, i, cell, f[i]);
{%- endcomponent finish %}

{# A population of a state as a cell would have it. -#}
{% component kept() -%}
{{<rounded value={body} />}}
{%- endcomponent kept %}

{# What is left of a state when a cell has stored it. -#}
{% component keep_state() -%}
{{<by_chance cell="0" />}}
{%- endcomponent keep_state %}

{# What a cell shows. -#}
{% component load_shown(slot, row, cell) -%}
load(src, {{ slot }}, {{ row }}, {{ cell }})
{%- endcomponent load_shown %}

{% component load_own_state() -%}
{%- endcomponent load_own_state %}
