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

{% component pair_of_cells(@real, @pulls, @param_names) -%}
    // ---- pull: of each pair one value comes from beside it, where the velocity has a part along x
    unsigned pairs[Q];
{%- for pull in pulls %}
{%- if pull.rest %}
    pairs[{{ pull.at }}] = load_pair(src, slot, {{ pull.at }}, cell);
{%- elif pull.along == 0 %}
    pairs[{{ pull.at }}] = load_pair(src, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }});
{%- elif pull.along == 1 %}
    pairs[{{ pull.at }}] = load_pair(src, {{ pull.row_near }}, {{ pull.at }}, {{ pull.row_cell }}) << 16
        | src[at({{ pull.near }}, {{ pull.at }}, {{ pull.cell }})];
{%- else %}
    pairs[{{ pull.at }}] = load_pair(src, {{ pull.row_near }}, {{ pull.at }}, {{ pull.row_cell }}) >> 16
        | (unsigned)src[at({{ pull.near }}, {{ pull.at }}, {{ pull.cell }})] << 16;
{%- endif %}
{%- endfor %}

    // ---- one cell after the other, what it becomes in the place of what it was
    {{ real }} f[Q];
#pragma unroll
    for (int i = 0; i < Q; ++i) f[i] = widened((uint16_t)pairs[i]);
    collide(f{{ param_names }});
#pragma unroll
    for (int i = 0; i < Q; ++i) {
        const unsigned second = pairs[i] >> 16;
        pairs[i] = second << 16 | narrowed(f[i]);
        f[i] = widened((uint16_t)second);
    }
    collide(f{{ param_names }});
#pragma unroll
    for (int i = 0; i < Q; ++i) store_pair(dst, slot, i, cell, (pairs[i] & 0xffff) | (unsigned)narrowed(f[i]) << 16);
{%- endcomponent pair_of_cells %}
