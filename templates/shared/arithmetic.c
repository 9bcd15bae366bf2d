{% if real == "double" -%}
// above / below{% if cuda %}, in a few operations: within two units of the last place where no value on the way is beyond the range of numbers.
[[maybe_unused]] static __device__ __forceinline__ double quotient(const double above, const double below)
{
    double near;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(near) : "d"(below));
    near = fma(fma(-below, near, 1.0), near, near);
    near = fma(fma(-below, near, 1.0), near, near);
    return above * near;
}
{%- else %}.
static inline double quotient(const double above, const double below)
{
    return above / below;
}
{%- endif %}

{% endif -%}
{% if again -%}
// The value. What is computed from it is computed again, and need not lie in a register since it was first computed{% if cuda %}: the compiler
// knows nothing of a value that went through here{% endif %}.
{% if cuda %}static __device__ __forceinline__{% else %}static inline{% endif %} {{ real }} again({% if cuda %}{{ real }}{% else %}const {{ real }}{% endif %} value)
{
{%- if cuda %}
    asm volatile("" : "+{% if real == "float" %}f{% else %}d{% endif %}"(value));
{%- endif %}
    return value;
}

{% endif -%}
