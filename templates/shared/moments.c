// ==== moments in the place of populations ===========================================================================

// Stored of a cell are {{ moments.names }}: sums of its populations, of what these differ by from rest.

{{ inline }} void moments_of(const {{ real }} *f, {{ real }} *m)
{
{%- for line in moments.sums %}
    {{ line }}
{%- endfor %}
}

// Populations after a collision from the moments after it.
{{ inline }} void populations_from(const {{ real }} *m, {{ real }} *f)
{
{%- for input in moments.populations.inputs %}
    const {{ real }} {{ input.text }} = m[{{ input.at }}];
{%- endfor %}
{%- for line in moments.populations.body %}
    {{ line }}
{%- endfor %}

{%- for output in moments.populations.outputs %}
    f[{{ output.at }}] = {{ output.text }};
{%- endfor %}
}

// One of them, as before. Many who need one would otherwise compute all.
{{ inline }} {{ real }} population_from(const {{ real }} *m, const int direction)
{
    switch (direction) {
{%- for one in moments.each %}
    case {{ loop.index0 }}: {
{%- for input in one.inputs %}
        const {{ real }} {{ input.text }} = m[{{ input.at }}];
{%- endfor %}
{%- for line in one.body %}
        {{ line }}
{%- endfor %}
        return {{ one.outputs[0].text }};
    }
{%- endfor %}
    default:
        return 0;
    }
}

{{<digits />}}{{<states_in_memory />}}{{ inline }} void load_moments(const {{ stored }} *populations, const {{ int }} slot, const int cell, {{ real }} *m)
{
    {{<load_all pitch={pitch} />}}
}

// A population of a cell. Who needs all of them has a better way.
{{ apart }} {{ real }} load(const {{ stored }} *populations, const {{ int }} slot, const int direction, const int cell)
{
    {{<load_own_state />}}{{ real }} m[K];
    load_moments(populations, slot, cell, m);
    return population_from(m, direction);
}

{{<rounding />}}{{ inline }} void store_moments({{ stored }} *populations, const {{ int }} slot, const int cell, const {{ real }} *m)
{
    {{<store_all />}}
}

{% if around -%}
// Stores what a cell shows, which is a state.
{{ inline }} void store({{ stored }} *populations, const {{ int }} slot, const int direction, const int cell, const {{ real }} value)
{
    store_state(populations, slot, direction - Q + K, cell, value);
}

{% endif -%}
// Stores a cell that has these populations.
{{ inline }} void store_cell({{ stored }} *populations, const {{ int }} slot, const int cell, const {{ real }} *f)
{
    {{ real }} m[K];
    moments_of(f, m);
    store_moments(populations, slot, cell, m);
}

