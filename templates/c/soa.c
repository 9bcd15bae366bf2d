{% for line in banner -%}
// {{ line }}
{% endfor %}
#include <math.h>
#include <stddef.h>
#include <stdint.h>

// The cells of a row do not depend on each other: source and destination do not overlap.
#if defined(__clang__)
#define EACH_CELL _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define EACH_CELL _Pragma("GCC ivdep")
#else
#define EACH_CELL
#endif

{% include "params" -%}
{% include "arithmetic" -%}
{% for kernel in kernels %}
{% <kernel of={kernel}> %}
{%- for line in kernel.loops %}
{{ line }}
{%- endfor %}
{%- for input in kernel.inputs %}
{{ kernel.pad }}const {{ real }} {{ input.name }} = {{ input.text }};
{%- endfor %}
{%- for line in kernel.body %}
{{ kernel.pad }}{{ line }}
{%- endfor %}

{%- for output in kernel.outputs %}
{{ kernel.pad }}{{ output.text }} {% if output.adds %}+{% endif %}= {{ output.name }};
{%- endfor %}
{%- for line in kernel.ends %}
{{ line }}
{%- endfor %}
{%- </kernel> %}
{% endfor %}
{{<called_by_pointers />}}
