{% if params -%}
// Parameters of the method; the header and the sources declare them alike.
#ifndef {{ params.guard }}
#define {{ params.guard }}
typedef struct {{ params.name }} {
{%- for member in params.members %}
    {{ member }}
{%- endfor %}
} {{ params.name }};
#endif

{% endif -%}
