{% <kernel of={collide}> %}
    {{ real }} f[{{ inputs }}];
    UNROLL for (int i = 0; i < Q; ++i) f[i] = {% <kept> %}src[(size_t)i * (size_t)count + (size_t)state] - ({{ real }})REST[i]{% </kept> %};
{%- for pull in pulls %}
{%- if pull.seen is number %}
    f[{{ pull.at }}] = f[{{ pull.row }}];  // cells around have the same
{%- endif %}
{%- endfor %}
    {{<relax />}}
    {{<keep_state />}}UNROLL for (int i = 0; i < Q; ++i) dst[(size_t)i * (size_t)count + (size_t)state] = {% <kept> %}f[i]{% </kept> %} + ({{ real }})REST[i];
{%- </kernel> %}
