{% set pitch = "PITCH" %}{% set packets = interface and not ghosts -%}
{% for line in banner -%}
// {{ line }}
{% endfor %}
{{<includes />}}

#define UNROLL  // compilers for hosts know it themselves

enum {
    Q = {{ q }},  // directions
{%- if around %}
    INPUTS = {{ around.count }},  // what a collision reads: that of its cell, and what cells around show
{%- endif %}
{%- if moments %}
{%- if moments.states > 0 %}
    K = {{ value_count }}, MOMENTS = {{ moments.count }},  // values that are stored of a cell: moments, then states
{%- else %}
    K = {{ value_count }},  // moments that are stored of a cell
{%- endif %}
    PX = {{ moments.px }}, PY = {{ moments.py }}, PLACES = {{ moments.padded }},  // cells of a block and the layer around it, along x, y, and all
{%- endif %}
    BX = {{ bx }}, BY = {{ by }}, BZ = {{ bz }},  // cells of a block along each axis
    CELLS = BX * BY * BZ,
    PITCH = {{ pitch_len }},  // from a direction's populations in a block to the next
    NEAR = {{ near }},  // neighbours of a block, itself included
    DIM = {{ dim }},  // axes
    SETS = {{ reduce.sets }},  // of populations
{%- if interface %}
    COARSER = INT32_MIN,  // in the place of a neighbour: it is coarser, or refined
{%- endif %}
    FIELDS = {{ fields }},  // components of the macroscopic fields
    ROWS = {{ rows }},  // rows along x that are gathered, then collided, at a time: a divisor of BY * BZ
    SLAB = ROWS * BX,  // their cells
    LINE = 64 / sizeof({{ real }}),  // values of a cache line
};

{% include "cells" -%}
{% if not moments -%}
// A part of a row of cells.
static inline __attribute__((always_inline)) void load_row(
    {{ real }} *restrict to, const {{ stored }} *restrict populations, const int32_t slot, const int direction, const int cell, const int count)
{
{%- if half %}
    for (int next = 0; next < count; ++next) to[next] = load(populations, slot, direction, cell + next);
{%- else %}
    memcpy(to, populations + at(slot, direction, cell), sizeof({{ real }}) * (size_t)count);
{%- endif %}
}

{% if in_place -%}
static inline __attribute__((always_inline)) void store_row(
    {{ stored }} *restrict populations, const int32_t slot, const int direction, const int cell, const {{ real }} *restrict from, const int count)
{
{%- if half %}
    for (int next = 0; next < count; ++next) store(populations, slot, direction, cell + next, from[next]);
{%- else %}
    memcpy(populations + at(slot, direction, cell), from, sizeof({{ real }}) * (size_t)count);
{%- endif %}
}

{% endif -%}
{% endif -%}
{% include "params" -%}
{% include "arithmetic" -%}
{% if moments -%}
{% include "moments" -%}
{{<expand />}}

{% endif -%}
// ==== collision =====================================================================================================

// Collides cells 0 to n: direction i of a cell is before[i][cell], then after[i * stride_after + cell].
static inline __attribute__((always_inline)) void collide_cells(
    const size_t n, const {{ real }} *const *before,
    const size_t stride_after, {{ real }} *restrict after{{ param_decls }})
{
    for (size_t cell = 0; cell < n; ++cell) {
{%- if moments %}
        const {{ real }} f[Q] = { {%- for pull in pulls %}{% if pull.seen is not number %}before[{{ pull.at }}][cell], {% endif %}{% endfor -%} };
        {{ real }} m[K];
        moments_of(f, m);
{%- endif %}
{%- for input in collide.inputs %}
        const {{ real }} {{ input.text }} = {% if moments and input.at < value_count %}m[{{ input.at }}]{% else %}before[{{ input.at }}][cell]{% endif %};
{%- endfor %}
{%- for line in collide.body %}
        {{ line }}
{%- endfor %}

{%- for output in collide.outputs %}
        after[{{ output.at }} * stride_after + cell] = {{ output.text }};
{%- endfor %}
    }  // cells
}

// ==== storing =======================================================================================================

// Whether to store past the caches: they would not keep what a call writes until it is read. Such a store need not load
// the line first.
static inline int past_cache(const int32_t count, const {{ stored }} *dst)
{
    return (size_t)count * ({{ values }} * CELLS * sizeof({{ stored }})) > (size_t)1 << 20 && (uintptr_t)dst % 64 == 0;
}

{% if not (half and moments) -%}
{% if not half -%}
#ifdef __AVX__
// What one instruction stores. (The header with the instructions by name takes longer to compile than most kernels.)
typedef float Wide __attribute__((may_alias, vector_size(
#ifdef __AVX512F__
    64
#else
    32
#endif
)));
#endif

{% endif -%}
// Stores as many values as a cache line has.
static inline __attribute__((always_inline)) void store_line(
    {{ stored }} *restrict to, const {{ real }} *restrict from, const int past)
{
{%- if half %}
    (void)past;
    for (size_t cell = 0; cell < LINE; ++cell) to[cell] = narrowed(from[cell]);
{%- else %}
#ifdef __AVX__
    if (past) {
        const Wide *const parts = (const Wide *)from;
        for (size_t at = 0; at < LINE * sizeof({{ real }}) / sizeof(Wide); ++at) {
            __asm__("vmovntps %1, %0" : "=m"(((Wide *)to)[at]) : "v"(parts[at]));
        }
        return;
    }
#endif
    (void)past;
    memcpy(to, from, sizeof({{ real }}) * LINE);
{%- endif %}
}

{% endif -%}
// Makes what was stored past the caches visible to other threads in order.
static inline void settle(void)
{
#ifdef __AVX__
    __asm__ volatile("sfence" ::: "memory");
#endif
}

// Collides gathered cells, direction i of which is before[i * stride + cell].
static inline __attribute__((always_inline)) void collide_gathered(
    const size_t n, const size_t stride, const {{ real }} *before,
    const size_t stride_after, {{ real }} *restrict after{{ param_decls }})
{
    const {{ real }} *const from[{{ inputs }}] = {
{%- for pull in pulls %}
        before + {{ pull.at }} * stride,
{%- endfor %}
    };
    collide_cells(n, from, stride_after, after{{ param_names }});
}

// Stores the directions of a line of cells, one cache line for each.
static inline __attribute__((always_inline)) void store_lines(
    {{ stored }} *restrict dst, const int32_t slot, const int begin, const {{ real }} *restrict after, const int past)
{
{%- if moments and half %}
    (void)past;
    uint16_t narrow[{{ moments.number }} * LINE];
    for (size_t cell = 0; cell < LINE; ++cell) round_moments(after + cell, LINE, begin + (int)cell, narrow + cell);
    for (int number = 0; number < {{ moments.number }}; ++number) memcpy(dst + at(slot, number, begin), narrow + number * LINE, sizeof(uint16_t) * LINE);
{%- if moments.states > 0 %}
    for (int value = MOMENTS; value < K; ++value) {
        for (int cell = 0; cell < (int)LINE; ++cell) store_state(dst, slot, value, begin + cell, after[value * (int)LINE + cell]);
    }
{%- endif %}
{%- elif moments %}
    for (int number = 0; number < K; ++number) store_line(dst + at(slot, number, begin), after + number * LINE, past);
{%- else %}
{%- for pull in pulls %}
{%- if halves is number and pull.at >= halves and pull.seen is not number %}
    for (int cell = 0; cell < LINE; ++cell) store(dst, slot, {{ pull.at }}, begin + cell, after[{{ pull.at }} * LINE + cell]);
{%- elif pull.seen is not number %}
    store_line(dst + at(slot, {{ pull.at }}, begin), after + {{ pull.at }} * LINE, past);
{%- endif %}
{%- endfor %}
{%- endif %}
}

{% if half and not moments -%}
// The same as `move_by_chance` for n cells from one on, direction i of which is f[i * n + cell].
static inline __attribute__((always_inline)) void move_cells_by_chance({{ real }} *restrict f, const int n, const int begin)
{
    unsigned chance[SLAB > LINE ? SLAB : LINE];
    for (int cell = 0; cell < n; ++cell) chance[cell] = (unsigned)(begin + cell);
    for (int i = 0; i < {{ reduce.summed }}; i += 2) {
        for (int cell = 0; cell < n; ++cell) {
            chance[cell] = chance[cell] * 0x9e3779b1u + bits_of(f[i * n + cell]) + (i + 1 < {{ reduce.summed }} ? bits_of(f[(i + 1) * n + cell]) << 1 : 0);
        }
    }
    for (int cell = 0; cell < n; ++cell) chance[cell] = mixed(chance[cell]);
    for (int i = 0; i < {{ reduce.summed }}; i += 2) {
        for (int cell = 0; cell < n; ++cell) {
            f[i * n + cell] = moved_by_chance(f[i * n + cell], chance[cell] >> 9);
            if (i + 1 < {{ reduce.summed }}) f[(i + 1) * n + cell] = moved_by_chance(f[(i + 1) * n + cell], chance[cell] << 7 & 0x7fffffu);
            chance[cell] = chance[cell] * 0x2c9277b5u + 0xac564b05u;
        }
    }
}

{% endif -%}
// Collides a gathered slab and stores it in a slot from a cell on, a cache line of each direction at a time.
static inline __attribute__((always_inline)) void collide_slab(
    const {{ real }} *restrict before, {{ stored }} *restrict dst, const int32_t slot, const int begin, const int past{{ param_decls }})
{
    if (SLAB % LINE != 0) {
{%- if half and moments %}
        {{ real }} after[K * SLAB];
        uint16_t narrow[{{ moments.number }} * SLAB];
        collide_gathered(SLAB, SLAB, before, SLAB, after{{ param_names }});
        for (int cell = 0; cell < SLAB; ++cell) round_moments(after + cell, SLAB, begin + cell, narrow + cell);
        for (int number = 0; number < {{ moments.number }}; ++number) memcpy(dst + at(slot, number, begin), narrow + number * SLAB, sizeof(uint16_t) * SLAB);
{%- if moments.states > 0 %}
        for (int value = MOMENTS; value < K; ++value) {
            for (int cell = 0; cell < SLAB; ++cell) store_state(dst, slot, value, begin + cell, after[value * SLAB + cell]);
        }
{%- endif %}
{%- elif half %}
        {{ real }} after[Q * SLAB];
        collide_gathered(SLAB, SLAB, before, SLAB, after{{ param_names }});
        move_cells_by_chance(after, SLAB, begin);
        for (int i = 0; i < Q; ++i) {
            for (int cell = 0; cell < SLAB; ++cell) store(dst, slot, i, begin + cell, after[i * SLAB + cell]);
        }
{%- else %}
        collide_gathered(SLAB, SLAB, before, PITCH, dst + at(slot, 0, begin){{ param_names }});
{%- endif %}
        return;
    }
    for (int cell = 0; cell < SLAB; cell += LINE) {
        _Alignas(64) {{ real }} after[Q * LINE];
        collide_gathered(LINE, SLAB, before + cell, LINE, after{{ param_names }});
{%- if half and not moments %}
        move_cells_by_chance(after, LINE, begin + cell);
{%- endif %}
        store_lines(dst, slot, begin + cell, after, past);
    }
}

{% if around -%}
// ==== what cells show ===============================================================================================

{% for form in [around.expose, around.expose_stored] -%}
{% if loop.first or inbox -%}
// Stores what {% if loop.first %}gathered{% else %}stored{% endif %} cells of a slab show to those around them, in a slot from a cell on.
static inline __attribute__((always_inline)) void expose_{% if not loop.first %}stored_{% endif %}slab(
    const {{ real }} *restrict before, {{ stored }} *restrict populations, const int32_t slot, const int begin{{ param_decls }})
{
{%- for line in form.idle %}
    {{ line }}
{%- endfor %}
    for (int cell = 0; cell < SLAB; ++cell) {
{%- for input in form.inputs %}
        const {{ real }} {{ input.text }} = before[{{ input.at }} * SLAB + cell];
{%- endfor %}
{%- for line in form.body %}
        {{ line }}
{%- endfor %}

{%- for output in form.outputs %}
        store(populations, slot, {{ output.at }}, begin + cell, {{ output.text }});
{%- endfor %}
    }  // cells
}

{% endif -%}
{% endfor -%}
{% endif -%}
{% include "method" -%}
