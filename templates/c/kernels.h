{% for line in banner -%}
// {{ line }}
{% endfor %}
#ifndef {{ guard }}
#define {{ guard }}

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- layout: directions, cells of a block along each axis, neighbours of a block (itself included), components of the
//      macroscopic fields, values of a wall instance

enum {
{%- for constant in constants %}
    {{ constant }},
{%- endfor %}
};

// Velocity c and index i of each direction:
{%- for line in directions %}
//   {{ line }}
{%- endfor %}

// Index of cell (x, y, z) in its block.
static inline size_t {{ spec }}_cell(const size_t x, const size_t y, const size_t z)
{
    return x + {{ bx }} * (y + {{ by }} * z);
}

// Where population `direction` at `cell` of the block in `slot` is.
static inline size_t {{ spec }}_population(const size_t slot, const size_t direction, const size_t cell)
{
    return (slot * {{ q }} + direction) * {{ cells }} + cell;
}

// Where component `component` of the fields ({{ field_names }}) at `cell` of the block in `slot` is.
static inline size_t {{ spec }}_field(const size_t slot, const size_t component, const size_t cell)
{
    return (slot * {{ fields }} + component) * {{ cells }} + cell;
}

// ---- kernels. Arrays that are read must not overlap the one that is written.
//      <kernel>_packed takes pointers to the arguments, in their order.
{% for kernel in kernels %}
// {{ kernel.doc }}
void {{ kernel.symbol }}(
{%- for arg in kernel.args %}
    {{ arg }}
{%- endfor %}
void {{ kernel.symbol }}_packed(void *const *args);
{% endfor %}
#ifdef __cplusplus
}
#endif

#endif  // {{ guard }}
