{% component gather(walls, inbox, @real, @pulls) -%}
    // ---- pull
    {{ real }} f[Q];
{%- if walls %}
    int walled = 0;
{%- endif %}
{%- for pull in pulls %}
{%- if pull.rest %}
    f[{{ pull.at }}] = load(src, slot, {{ pull.at }}, cell);
{%- elif walls %}
    {
        const int from = {{ pull.near }};
{%- if inbox %}
        const int boxed = mask >> ({{ pull.entry }}) & 1;
        walled |= from < 0 && !boxed;
        f[{{ pull.at }}] = boxed ? in[inbox_at({{ pull.at }}, here)] : from < 0 ? 0 : load(src, from, {{ pull.at }}, {{ pull.cell }});
{%- else %}
        walled |= from < 0;
        f[{{ pull.at }}] = from < 0 ? 0 : load(src, from, {{ pull.at }}, {{ pull.cell }});
{%- endif %}
    }
{%- elif inbox %}
    f[{{ pull.at }}] = mask >> ({{ pull.entry }}) & 1 ? in[inbox_at({{ pull.at }}, here)] : load(src, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }});
{%- else %}
    f[{{ pull.at }}] = load(src, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }});
{%- endif %}
{%- endfor %}
{%- if walls %}
    // What comes off walls, once all loads are on their way.
    if (walled) {
{%- for pull in pulls %}
{%- if not pull.rest %}
        if ({{ pull.near }} < 0{% if inbox %} && !(mask >> ({{ pull.entry }}) & 1){% endif %}) {
            f[{{ pull.at }}] = from_wall(-1 - {{ pull.near }}, {{ pull.at }}, here, src, near, wall_rules, wall_values);
        }
{%- endif %}
{%- endfor %}
    }
{%- endif %}
{%- endcomponent gather %}

{% component finish(@param_names) -%}
    collide(f{{ param_names }});
#pragma unroll
    for (int i = 0; i < Q; ++i) store(dst, slot, i, cell, f[i]);
{%- endcomponent finish %}
