{% for line in banner -%}
// {{ line }}
{% endfor %}
{%- if not cuda %}
#include <math.h>
#include <stdint.h>
{% endif %}
{% if tables -%}
{{<tables_of />}}

{% endif -%}
// ==== formulas of place and time ====================================================================================
{% for formula in formulas %}
{{ function }} double formula_{{ loop.index0 }}(const double x, const double y, const double z, const double t)
{
{%- for line in formula %}
    {{ line }}
{%- endfor %}
}
{% endfor %}
// The value of a formula at a place, in cells of level 0, and a time, in its steps.
{{ function }} double value_of(const {{ int }} formula, const double *place, const double t)
{
    switch (formula) {
{%- for formula in formulas %}
    case {{ loop.index0 }}:
        return formula_{{ loop.index0 }}(place[0], place[1], place[2], t);
{%- endfor %}
    default:
        return {% if cuda %}nan(""){% else %}NAN{% endif %};
    }
}

// ==== kernels =======================================================================================================

{% <kernel of={prescribe}> %}
    // of a half step of the level
    const double width = 0.5 / (1 << level);
{%- if cuda %}
    const int at = blockIdx.x * {{ prescribe.threads }} + threadIdx.x;
    if (at >= count) return;
{%- else %}
    for (int32_t at = 0; at < count; ++at) {
{%- endif %}
    const {{ int }} item = items[at];
    const double t = clock[0] + (half + late[item]) * width;
    values[entries[item]] = ({{ real }})value_of(formulas[item], places + 3 * (long long)item, t);
{%- if not cuda %}
    }
{%- endif %}
{%- </kernel> %}

{% <kernel of={tick}> %}
{%- if cuda %}
    if (blockIdx.x == 0 && threadIdx.x == 0) clock[0] += 1.0;
{%- else %}
    clock[0] += 1.0;
{%- endif %}
{%- </kernel> %}

{% if not cuda -%}
{% include "packed" -%}
{% endif -%}
