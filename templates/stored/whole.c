{# Numbers that are stored as they are computed with. -#}
{% component numbers(of) -%}
{%- endcomponent numbers %}

{% component chance() -%}
{%- endcomponent chance %}

{% component widen(value) -%}
{{ value }}
{%- endcomponent widen %}

{% component narrow(value) -%}
{{ value }}
{%- endcomponent narrow %}

{% component rounded(value) -%}
{{ value }}
{%- endcomponent rounded %}

{% component by_chance(cell) -%}
{%- endcomponent by_chance %}

{% component load_state(pitch) -%}
{%- endcomponent load_state %}

{% component store_state(pitch) -%}
{%- endcomponent store_state %}

{% component digits() -%}
{%- endcomponent digits %}

{% component rounding() -%}
{%- endcomponent rounding %}

{% component load_all(pitch) -%}
    for (int number = 0; number < K; ++number) m[number] = populations[at(slot, number, cell)];
{%- endcomponent load_all %}

{% component store_all() -%}
    for (int number = 0; number < K; ++number) populations[at(slot, number, cell)] = m[number];
{%- endcomponent store_all %}

{% component states_in_memory(@inline, @real, @stored, @int, @moments) -%}
{% if moments.states > 0 -%}
// The states of a cell, which are stored as they are, by their numbers among all values.
{{ inline }} {{ real }} load_state(const {{ stored }} *populations, const {{ int }} slot, const int value, const int cell)
{
    return populations[at(slot, value, cell)];
}

{{ inline }} void store_state({{ stored }} *populations, const {{ int }} slot, const int value, const int cell, const {{ real }} state)
{
    populations[at(slot, value, cell)] = state;
}

{% endif -%}
{% endcomponent states_in_memory %}
