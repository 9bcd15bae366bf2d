{# What is stored of a cell: moments in the place of its populations. -#}
{% component memory(pitch, @inline, @int, @moments, @stored_rows) -%}
{% if moments.groups -%}
// Of the moments of a cell as many lie side by side as are loaded at once: {{ moments.widths }}.{% if moments.states > 0 %} States lie apart behind them.{% endif %}
{%- else -%}
// The moments of a cell lie apart, those of one number in a block side by side.
{%- endif %}
{{ inline }} size_t at(const {{ int }} slot, const int direction, const int cell)
{
{%- if moments.groups %}
    const int place = {% for group in moments.groups %}{% if not loop.last or moments.states > 0 %}direction < {{ group.end }} ? {% endif %}{% if group.first > 0 %}{{ group.first }} * CELLS + {% endif %}{% if group.width > 1 %}{{ group.width }} * {% endif %}cell{% if group.width > 1 %} + direction{% if group.first > 0 %} - {{ group.first }}{% endif %}{% endif %}{% if not loop.last or moments.states > 0 %} : {% endif %}{% endfor %}{% if moments.states > 0 %}direction * CELLS + cell{% endif %};
    return (size_t)slot * ({{ stored_rows }} * CELLS) + (size_t)place;
{%- else %}
    return (size_t)slot * ({{ stored_rows }} * {{ pitch }}) + (size_t)(direction * {{ pitch }} + cell);
{%- endif %}
}

{{<numbers of="moments" />}}
{%- endcomponent memory %}

{# A state, which is no population. -#}
{% component load_own_state(@moments) -%}
{% if moments.states > 0 -%}
const int value = direction - Q + K;
    if (value >= MOMENTS) return load_state(populations, slot, value, cell);
    {% endif -%}
{% endcomponent load_own_state %}

{% component read_cell(of, @real) %}
    {{ real }} m[K], f[Q];
    load_moments(src, slot, cell, m);
    populations_from(m, f);
{%- for input in of.inputs %}
    const {{ real }} {{ input.text }} = f[{{ input.at }}];
{%- endfor %}
{%- endcomponent read_cell %}

{% component give_cell(values, to, slot, cell, pad, @real) %}
{{ pad }}{{ real }} f[Q];
{%- for value in values %}
{{ pad }}f[{{ value.at }}] = {{ value.text }};
{%- endfor %}
{{ pad }}store_cell({{ to }}, {{ slot }}, {{ cell }}, f);
{%- endcomponent give_cell %}

{% component put_cell(to, from) -%}
    store_cell({{ to }}, slot, cell, {{ from }});
{%- endcomponent put_cell %}

{% component finish() -%}
    {{<relax />}}
    store_moments(dst, slot, cell, f);
{%- endcomponent finish %}

{% component kept() -%}
{{ body }}
{%- endcomponent kept %}

{% component keep_state() -%}
{{<as_stored_moments />}}
    {% endcomponent keep_state %}

{# What a cell shows, which is a state. -#}
{% component load_shown(slot, row, cell) -%}
load_state(src, {{ slot }}, {{ row }} - Q + K, {{ cell }})
{%- endcomponent load_shown %}
