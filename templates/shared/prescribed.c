{% for line in banner -%}
// {{ line }}
{% endfor %}
{{<includes />}}

{% if tables -%}
{{<tables_of />}}

{% endif -%}
{% if noise -%}
{{<noise_of />}}

{% endif -%}
{% if recordings -%}
{{<recorded_of />}}
{% endif -%}
// ==== formulas of place and time ====================================================================================
{% for formula in formulas %}
{{ function }} double formula_{{ loop.index0 }}(
    const double x, const double y, const double z, const double t, const double *frames)
{
{%- for line in formula %}
    {{ line }}
{%- endfor %}
}
{% endfor %}
// The value of a formula at a place, in cells of level 0, and a time, in its steps.
{{ function }} double value_of(const {{ int }} formula, const double *place, const double t, const double *frames)
{
    switch (formula) {
{%- for formula in formulas %}
    case {{ loop.index0 }}:
        return formula_{{ loop.index0 }}(place[0], place[1], place[2], t, frames);
{%- endfor %}
    default:
        return {{ nan }};
    }
}

// ==== kernels =======================================================================================================

{% <kernel of={prescribe}> %}
    const double width = 0.5 / (1 << level);  // of a half step of the level
    const {{ int }} item = items[at];
    const double t = clock[0] + (half + late[item]) * width;
    values[entries[item]] = ({{ real }})value_of(formulas[item], places + 3 * (long long)item, t, frames);
{%- </kernel> %}

{% <kernel of={tick}> %}
    clock[0] += 1.0;
{%- </kernel> %}

{{<called_by_pointers />}}
