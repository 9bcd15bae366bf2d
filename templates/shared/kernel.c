{% component kernel(of) -%}
{% for line in of.doc -%}
// {{ line }}
{% endfor -%}
{{<opening of={of} />}}
{%- for arg in of.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in of.unpack %}
    {{ line }}
{%- endfor %}
{%- for line in of.begin %}
    {{ line }}
{%- endfor %}
{{- body | indent(width=of.indent) }}
{%- for line in of.end %}
    {{ line }}
{%- endfor %}
}
{%- endcomponent kernel %}

{# What comes off solids, a link after the other. -#}
{% component link_by_link(of, @int, @reduce) -%}
    UNROLL for (int i = 0; i < {{ reduce.summed }}; ++i) {
        const {{ int }} link = of_row[i * CELLS + cell];
        if (link > 0{% if of.inbox %} && !(mask >> neighbour_of(beyond(here, i, -1)) & 1){% endif %}) f[i * SLAB] = off_solid(link - 1, i, here, src, near, of_row, distances + row_at, wall_rules, wall_values);
    }
{%- endcomponent link_by_link %}

{# Of each value that is seen: where cells have it. -#}
{% component shown_of_seen(@table, @around) -%}
// Of each value that is seen, where cells have it.
{{ table }} int SHOWN[] = { {{- around.shown -}} };
{%- endcomponent shown_of_seen %}

{% component from_of_seen(@table, @around) -%}
// Of each value that is seen, the direction that comes from there.
{{ table }} int FROM[] = { {{- around.from -}} };
{%- endcomponent from_of_seen %}

{% component ways_of_seen(@table, @around) -%}
// Of each direction that something is seen from, the opposite, and which numbers what is seen has, -1 where it is not.
{{ table }} int WAYS[] = { {{- around.from_ways -}} };
{{ table }} int WHICH[][{{ around.values_shown }}] = {
{%- for way in around.ways %}
    {{ way.which }}
{%- endfor %}
};
{%- endcomponent ways_of_seen %}

{# What walls have sent to a cell, backwards, a direction after the other. `links`: where it is a neighbour or the surface of a solid. -#}
{% component off_walls_backwards(of, @real, @int, @reduce, @adjoint, @interface, @walls) -%}
    UNROLL for (int i = 0; i < {{ reduce.summed }}; ++i) {
        const Spot upwind = beyond(here, i, -1);
        const {{ int }} beside = near[neighbour_of(upwind)];
{%- if of.links %}
        const {{ int }} link = of_row == 0 ? 0 : of_row[i * CELLS + cell];
        {% if not walls.mirrors %}const {% endif %}{{ int }} w = link > 0 ? link - 1 : -1 - beside;
{%- if adjoint.against %}
        // What arrives in the next cell from this one is read there once more, if a wall behind it is at some distance.
        if (beside >= 0 && link_rows[beside] >= 0) {
            const int other = index_of(upwind);
            const size_t at_row = (size_t)link_rows[beside] * (Q * CELLS);
            const {{ int }} *const of_other = links + at_row, behind = of_other[i * CELLS + other];
            if (of_other[other] >= 0 && behind > 0 && of_other[OPPOSITE[i] * CELLS + other] == 0) {
                const {{ real }} weight = load(arrived, beside, i, other) + pull_of(behind - 1, i, owners, pulls);
                back[OPPOSITE[i] * SLAB] += streamed_backwards(behind - 1, i, weight, src, beside, other, distances[at_row + (size_t)(i * CELLS + other)], wall_rules, wall_values);
            }
        }
{%- endif %}
{%- else %}
        {% if not walls.mirrors %}const {% endif %}{{ int }} w = -1 - beside;
{%- endif %}
        if (w < 0{% if interface %} || w == -1 - COARSER{% endif %}) continue;
{%- if walls.mirrors %}
        {% if of.links %}if (link <= 0) {% endif %}w = meets_backwards(w, i, here, arrived, near, wall_rules, back);
{%- endif %}
        {{ real }} weight = load(arrived, slot, i, cell);
{%- if of.links %}
        {{ real }} distance = 0;
        if (link > 0) {
            const {{ real }} pull = pull_of(w, i, owners, pulls);
            weight += pull;
            back[OPPOSITE[i] * SLAB] += pull;
            distance = distances[(size_t)own_row * (Q * CELLS) + (size_t)(i * CELLS + cell)];
{%- if adjoint.against %}
            const int other = OPPOSITE[i];
            if (of_row[other * CELLS + cell] != 0 || near[neighbour_of(beyond(here, i, 1))] < 0) {
                back[other * SLAB] += streamed_backwards(w, i, weight, src, slot, cell, distance, wall_rules, wall_values);
            }
{%- endif %}
        }
{%- else %}
        const {{ real }} distance = 0;
{%- endif %}
        wall_backwards(w, i, weight, src, slot, cell, distance, wall_rules, wall_values, back, by_wall(w, slot, cell, groups, asked, by_walls));
    }
{%- endcomponent off_walls_backwards %}
