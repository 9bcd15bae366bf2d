{% for line in banner -%}
// {{ line }}
{% endfor %}
#ifndef LBMC_{{ upper }}_H
#define LBMC_{{ upper }}_H

#include <stddef.h>
#include <stdint.h>

// Version of this interface: kernels, their arguments and their memory. It changes when any of these does.
#define {{ upper }}_ABI {{ abi }}

#ifdef __cplusplus
extern "C" {
#endif

// ---- layout
//
{%- for line in about %}
// {{ line }}
{%- endfor %}
//
// Lattice units: the width of a cell is 1, a time step is 1, the density at rest is about 1.

enum {
{%- for constant in constants %}
    {{ constant }}
{%- endfor %}
};

// Velocity c and index i of each direction:
{%- for line in directions %}
//   {{ line }}
{%- endfor %}

static const int {{ spec }}_velocities[{{ upper }}_Q][{{ dim }}] = {
{%- for velocity in velocities %}
    {{ velocity }}
{%- endfor %}
};

static const double {{ spec }}_weights[{{ upper }}_Q] = { {{ weights }} };

// The direction with the reversed velocity.
static const int {{ spec }}_opposites[{{ upper }}_Q] = { {{ opposites }} };
{% if blocks %}
// The population of each direction at rest: what is stored is the difference from it.
static const double {{ spec }}_rest[{{ upper }}_Q] = { {{ blocks.rests }} };
{%- if blocks.half_scale %}

// It is stored in 16 bits, as an IEEE 754 binary16 number, times this.
static const float {{ spec }}_half_scale = {{ blocks.half_scale }};
{%- endif %}
{%- if blocks.halves is number %}

// From direction {{ blocks.halves }} on they are states, which have 32 bits (IEEE 754 binary32): the upper half is stored at
// {{ spec }}_population, the lower half {{ blocks.cells }} numbers behind it{% if blocks.pitch != blocks.cells %} on GPUs, {{ blocks.pitch }} on the host{% endif %}.
{%- endif %}

// Index of cell (x, y, z) in its block.
static inline size_t {{ spec }}_cell(const size_t x, const size_t y, const size_t z)
{
    return x + {{ blocks.bx }} * (y + {{ blocks.by }} * z);
}

{% if blocks.pitch != blocks.cells -%}
// Where population `direction` is stored, at `cell` of the block in `slot`, by kernels in C: a cache line lies between directions, so that a
// slot has {{ blocks.rows }} * {{ blocks.pitch }} values.
static inline size_t {{ spec }}_population(const size_t slot, const size_t direction, const size_t cell)
{
    return (slot * {{ blocks.rows }} + {{ blocks.row }}) * {{ blocks.pitch }} + cell;
}

// The same for kernels of GPUs, where a slot has {{ blocks.rows }} * {{ blocks.cells }} values.
static inline size_t {{ spec }}_population_gpu(const size_t slot, const size_t direction, const size_t cell)
{
{%- else -%}
// Where population `direction` is stored, at `cell` of the block in `slot`.
static inline size_t {{ spec }}_population(const size_t slot, const size_t direction, const size_t cell)
{
{%- endif %}
    return (slot * {{ blocks.rows }} + {{ blocks.row }}) * {{ blocks.cells }} + cell;
}

// Where component `component` of the fields ({{ blocks.field_names }}) at `cell` of the block in `slot` is.
static inline size_t {{ spec }}_field(const size_t slot, const size_t component, const size_t cell)
{
    return (slot * {{ blocks.fields }} + component) * {{ blocks.cells }} + cell;
}
{% endif %}
{% include "params" -%}
// ---- kernels. Arrays that are read must not overlap the one that is written.

#ifdef __CUDACC__
#define {{ upper }}_KERNEL __global__ void  // defined in {{ spec }}.cu; pointers are to device memory
#else
#define {{ upper }}_KERNEL void  // defined in {{ spec }}.c
#endif
{% for kernel in kernels %}
// {{ kernel.doc }}
{{ upper }}_KERNEL {{ kernel.symbol }}(
{%- for arg in kernel.args %}
    {{ arg }}
{%- endfor %}
{% endfor %}
#ifndef __CUDACC__
// The same, with pointers to the arguments in their order, as cuLaunchKernel takes them.
{%- for kernel in kernels %}
void {{ kernel.symbol }}_packed(void *const *args);
{%- endfor %}
#endif

#ifdef __cplusplus
}
#endif

#endif  // LBMC_{{ upper }}_H
