{# `late`: what walls return is asked for once all loads are under way; kernels with heavy links are faster so, others slower. -#}
{% component gather(walls, inbox, late, @real, @pulls) -%}
    // ---- pull
    {{ real }} f[Q];
{%- for pull in pulls %}
{%- if pull.rest %}
    f[{{ pull.at }}] = load(src, slot, {{ pull.at }}, cell);
{%- elif late %}
    f[{{ pull.at }}] = {{ pull.near }} < 0 ? 0 : load(src, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }});
{%- elif walls %}
    f[{{ pull.at }}] = {% if inbox %}mask >> ({{ pull.entry }}) & 1 ? in[inbox_at({{ pull.at }}, here)]
        : {% endif %}{{ pull.near }} < 0 ? from_wall(-1 - {{ pull.near }}, {{ pull.at }}, here, src, near, wall_rules, wall_values)
        : load(src, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }});
{%- elif inbox %}
    f[{{ pull.at }}] = mask >> ({{ pull.entry }}) & 1 ? in[inbox_at({{ pull.at }}, here)] : load(src, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }});
{%- else %}
    f[{{ pull.at }}] = load(src, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }});
{%- endif %}
{%- endfor %}
{%- if late %}
{%- for pull in pulls %}
{%- if not pull.rest %}
    if ({{ pull.near }} < 0) f[{{ pull.at }}] = from_wall(-1 - {{ pull.near }}, {{ pull.at }}, here, src, near, wall_rules, wall_values);
{%- endif %}
{%- endfor %}
{%- endif %}
{%- endcomponent gather %}

{% component finish(@param_names) -%}
    collide(f{{ param_names }});
#pragma unroll
    for (int i = 0; i < Q; ++i) store(dst, slot, i, cell, f[i]);
{%- endcomponent finish %}
