{% set pitch = "CELLS" %}{% set packets = interface and not ghosts -%}
{% for line in banner -%}
// {{ line }}
{% endfor %}
{{<prelude resident={resident} />}}#define UNROLL _Pragma("unroll")

static constexpr int Q = {{ q }};  // directions
{%- if around %}
static constexpr int INPUTS = {{ around.count }};  // what a collision reads: that of its cell, and what cells around show
{%- endif %}
{%- if moments %}
{%- if moments.states > 0 %}
static constexpr int K = {{ value_count }}, MOMENTS = {{ moments.count }};  // values that are stored of a cell: moments, then states
{%- else %}
static constexpr int K = {{ value_count }};  // moments that are stored of a cell
{%- endif %}
{%- endif %}
static constexpr int CELLS = {{ bx }} * {{ by }} * {{ bz }};  // of a block
static constexpr int NEAR = {{ near }};  // neighbours of a block, itself included
static constexpr int DIM = {{ dim }};  // axes
static constexpr int SETS = {{ reduce.sets }};  // of populations
{%- if interface %}
static constexpr int COARSER = -2147483647 - 1;  // in the place of a neighbour: it is coarser, or refined
{%- endif %}
enum { SLAB = 1 };  // cells that a thread gathers, then collides, at a time
static constexpr int FIELDS = {{ fields }};  // components of the macroscopic fields

{% include "cells" -%}
{% include "params" -%}
{% include "arithmetic" -%}
{% if moments -%}
{% include "moments" -%}
{{<exchange />}}

{% endif -%}
// ==== collision =====================================================================================================

// Collides one cell: f holds its populations before {% if moments %}it, and its moments {% else %}and {% endif %}after.
static __device__ __forceinline__ void collide({{ real }} (&f)[{{ inputs }}]{{ param_decls }})
{
{%- if moments %}
    {{ real }} m[K];
    moments_of(f, m);
{%- endif %}
{%- for input in collide.inputs %}
    const {{ real }} {{ input.text }} = {% if moments and input.at < value_count %}m{% else %}f{% endif %}[{{ input.at }}];
{%- endfor %}
{%- for line in collide.body %}
    {{ line }}
{%- endfor %}

{%- for output in collide.outputs %}
    f[{{ output.at }}] = {{ output.text }};
{%- endfor %}
}

{% include "method" -%}
