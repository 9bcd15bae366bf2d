// ==== the same kernels, their arguments in an array of pointers =====================================================
{% for kernel in packed %}
void {{ kernel.symbol }}_packed(void *const *args)
{
    {{ kernel.symbol }}(
{%- for arg in kernel.args %}
        {{ arg }}
{%- endfor %}
}
{% endfor -%}
