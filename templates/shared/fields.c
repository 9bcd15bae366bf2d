// ==== macroscopic fields ============================================================================================

{% <kernel of={init}> %}
{%- for input in init.inputs %}
    const {{ real }} {{ input.text }} = fields[field_at(slot - first, {{ input.at }}, cell)];
{%- endfor %}
{%- for line in init.body %}
    {{ line }}
{%- endfor %}

{%- if moments %}
    const {{ real }} f[Q] = { {%- for output in init.outputs %}{{ output.text }}, {% endfor -%} };
    store_cell(dst, slot, cell, f);
{%- else %}
{%- for output in init.outputs %}
    store(dst, slot, {{ output.at }}, cell, {{ output.text }});
{%- endfor %}
{%- endif %}
{%- </kernel> %}

{% <kernel of={macroscopic}> %}
    {{ level }}
{%- if moments %}
    {{ real }} m[K], f[Q];
    load_moments(src, slot, cell, m);
    populations_from(m, f);
{%- endif %}
{%- for input in macroscopic.inputs %}
    const {{ real }} {{ input.text }} = {% if moments %}f[{{ input.at }}]{% else %}load(src, slot, {{ input.at }}, cell){% endif %};
{%- endfor %}
{%- for line in macroscopic.body %}
    {{ line }}
{%- endfor %}

{%- for output in macroscopic.outputs %}
    fields[field_at(slot - first, {{ output.at }}, cell)] = {{ output.text }};
{%- endfor %}
{%- </kernel> %}
