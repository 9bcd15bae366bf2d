{% for line in banner -%}
// {{ line }}
{% endfor %}
{%- for kernel in kernels %}
{%- for line in kernel.doc %}
// {{ line }}
{%- endfor %}
extern "C" __global__ void __launch_bounds__({{ kernel.threads }})
{{ kernel.symbol }}(
{%- for arg in kernel.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in kernel.unused %}
    {{ line }}
{%- endfor %}
{%- for line in kernel.loops %}
    {{ line }}
{%- endfor %}

{%- for input in kernel.inputs %}
{{ kernel.pad }}const {{ real }} {{ input.name }} = {{ input.text }};
{%- endfor %}
{%- for line in kernel.body %}
{{ kernel.pad }}{{ line }}
{%- endfor %}

{%- for output in kernel.outputs %}
{{ kernel.pad }}{{ output.text }} = {{ output.name }};
{%- endfor %}
}
{% endfor -%}
