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
