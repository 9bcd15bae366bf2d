{% component kernel(of, @cuda) -%}
{% for line in of.doc -%}
// {{ line }}
{% endfor -%}
{% if cuda -%}
extern "C" __global__ void __launch_bounds__({{ of.threads }}{% if of.resident %}, RESIDENT({{ of.resident }}){% endif %})
{{ of.symbol }}(
{%- else -%}
void {{ of.symbol }}(
{%- endif %}
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

{% component finish(@moments) -%}
    {{<relax />}}
{%- if moments %}
    store_moments(dst, slot, cell, f);
{%- else %}
    UNROLL for (int i = 0; i < Q; ++i) store(dst, slot, i, cell, f[i]);
{%- endif %}
{%- endcomponent finish %}
