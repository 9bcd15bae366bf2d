{% for line in banner -%}
// {{ line }}
{% endfor %}
{{<prelude resident={false} />}}
{% include "params" -%}
{% include "arithmetic" -%}
{% for kernel in kernels %}
{% <kernel of={kernel}> %}
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
{{ kernel.pad }}{{ output.text }} {% if output.adds %}+{% endif %}= {{ output.name }};
{%- endfor %}
{%- </kernel> %}
{% endfor -%}
