{% component rule(of, how, @real, @stored, @int) -%}
{% for line in of.doc -%}
// {{ line }}
{% endfor -%}
{{ how }} {{ real }} {{ of.function }}(const int direction, const {{ stored }} *src, const {{ int }} slot, const int cell{{ of.decl }})
{
{%- for line in of.values %}
    {{ line }}
{%- endfor %}
    switch (direction) {
{%- for link in of.links %}
    case {{ link.at }}:{% if link.block %} { {%- endif %}
{%- for line in link.lines %}
        {{ line }}
{%- endfor %}
{%- if link.block %}
    }
{%- endif %}
{%- endfor %}
    default:
        return load(src, slot, direction, cell);
    }
}
{%- endcomponent rule %}
