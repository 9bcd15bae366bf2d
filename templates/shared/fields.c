// ==== macroscopic fields ============================================================================================

{% <kernel of={init}> %}
{%- for input in init.inputs %}
    const {{ real }} {{ input.text }} = fields[field_at(slot - first, {{ input.at }}, cell)];
{%- endfor %}
{%- for line in init.body %}
    {{ line }}
{%- endfor %}

{{-<give_cell values={init.outputs} to="dst" slot="slot" cell="cell" pad="    " />}}
{%- </kernel> %}

{% <kernel of={macroscopic}> %}
    {{ level }}
{{-<read_cell of={macroscopic} />}}
{%- for line in macroscopic.body %}
    {{ line }}
{%- endfor %}

{%- for output in macroscopic.outputs %}
    fields[field_at(slot - first, {{ output.at }}, cell)] = {{ output.text }};
{%- endfor %}
{%- </kernel> %}
