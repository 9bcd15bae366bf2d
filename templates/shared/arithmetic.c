{% if real == "double" -%}
{{<quotient />}}

{% endif -%}
{% if again -%}
{{<again />}}

{% endif -%}
