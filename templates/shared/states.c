{% <kernel of={collide}> %}
    {{ real }} f[{{ inputs }}];
    UNROLL for (int i = 0; i < Q; ++i) f[i] = {% if half and not moments %}as_stored(src[(size_t)i * (size_t)count + (size_t)state] - ({{ real }})REST[i]){% else %}src[(size_t)i * (size_t)count + (size_t)state] - ({{ real }})REST[i]{% endif %};
{%- for pull in pulls %}
{%- if pull.seen is number %}
    f[{{ pull.at }}] = f[{{ pull.row }}];  // cells around have the same
{%- endif %}
{%- endfor %}
    {{<relax />}}
{%- if moments %}
    {{<as_stored_moments />}}
{%- elif half %}
    move_by_chance(f, 0);
{%- endif %}
    UNROLL for (int i = 0; i < Q; ++i) dst[(size_t)i * (size_t)count + (size_t)state] = {% if half and not moments %}as_stored(f[i]){% else %}f[i]{% endif %} + ({{ real }})REST[i];
{%- </kernel> %}
