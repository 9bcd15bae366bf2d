{% set pitch = "PITCH" %}{% set packets = interface and not ghosts -%}
{% for line in banner -%}
// {{ line }}
{% endfor %}
{{<includes />}}
#ifdef __AVX__
#include <immintrin.h>
#endif

#define UNROLL  // compilers for hosts know it themselves

enum {
    Q = {{ q }},  // directions
{%- if around %}
    INPUTS = {{ around.count }},  // what a collision reads: that of its cell, and what cells around show
{%- endif %}
{%- if moments %}
    K = {{ value_count }},  // moments that are stored of a cell
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
        const {{ real }} f[Q] = { {%- for pull in pulls %}before[{{ pull.at }}][cell], {% endfor -%} };
        {{ real }} m[K];
        moments_of(f, m);
{%- endif %}
{%- for input in collide.inputs %}
        const {{ real }} {{ input.text }} = {% if moments %}m[{{ input.at }}]{% else %}before[{{ input.at }}][cell]{% endif %};
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
// Stores as many values as a cache line has.
static inline __attribute__((always_inline)) void store_line(
    {{ stored }} *restrict to, const {{ real }} *restrict from, const int past)
{
{%- if half %}
    (void)past;
    for (size_t cell = 0; cell < LINE; ++cell) to[cell] = narrowed(from[cell]);
{%- else %}
#if defined(__AVX512F__)
    if (past) {
        _mm512_stream_si512((void *)to, _mm512_load_si512(from));
        return;
    }
#elif defined(__AVX__)
    if (past) {
        _mm256_stream_si256((void *)to, _mm256_load_si256((const void *)from));
        _mm256_stream_si256((void *)(to + LINE / 2), _mm256_load_si256((const void *)(from + LINE / 2)));
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
    _mm_sfence();
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
    uint16_t narrow[K * LINE];
    for (size_t cell = 0; cell < LINE; ++cell) round_moments(after + cell, LINE, begin + (int)cell, narrow + cell);
    for (int number = 0; number < K; ++number) memcpy(dst + at(slot, number, begin), narrow + number * LINE, sizeof(uint16_t) * LINE);
{%- elif moments %}
    for (int number = 0; number < K; ++number) store_line(dst + at(slot, number, begin), after + number * LINE, past);
{%- else %}
{%- for pull in pulls %}
{%- if pull.seen is not number %}
    store_line(dst + at(slot, {{ pull.at }}, begin), after + {{ pull.at }} * LINE, past);
{%- endif %}
{%- endfor %}
{%- endif %}
}

// Collides a gathered slab and stores it in a slot from a cell on, a cache line of each direction at a time.
static inline __attribute__((always_inline)) void collide_slab(
    const {{ real }} *restrict before, {{ stored }} *restrict dst, const int32_t slot, const int begin, const int past{{ param_decls }})
{
    if (SLAB % LINE != 0) {
{%- if half and moments %}
        {{ real }} after[K * SLAB];
        uint16_t narrow[K * SLAB];
        collide_gathered(SLAB, SLAB, before, SLAB, after{{ param_names }});
        for (int cell = 0; cell < SLAB; ++cell) round_moments(after + cell, SLAB, begin + cell, narrow + cell);
        for (int number = 0; number < K; ++number) memcpy(dst + at(slot, number, begin), narrow + number * SLAB, sizeof(uint16_t) * SLAB);
{%- elif half %}
        {{ real }} after[Q * SLAB];
        collide_gathered(SLAB, SLAB, before, SLAB, after{{ param_names }});
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
        store_lines(dst, slot, begin + cell, after, past);
    }
}

// ==== streaming =====================================================================================================

{% if lines -%}
// Where direction i, of velocity (cx, cy, cz), brings the cells of a row from.
typedef struct {
    const {{ real }} *row;  // cell x from row[x], where all lie in one block
    const {{ real }} *end;  // the first cell, or the last, from a neighbour along x
} Upwind;

static inline __attribute__((always_inline)) Upwind upwind(
    const {{ real }} *restrict src, const int32_t *restrict near, const int begin, const int i, const int cx, const int cy, const int cz)
{
    const int y = begin % BY - cy, z = begin / BY - cz;
    const int dy = y < 0 ? -1 : y >= BY ? 1 : 0, dz = z < 0 ? -1 : z >= BZ ? 1 : 0;
    const int entry = {{ middle }} + 3 * dy{% if deep %} + 9 * dz{% endif %};
    const int row = BX * (y - dy * BY + BY * (z - dz * BZ));
    return (Upwind){src + at(near[entry], i, row) - cx, src + at(near[entry - cx], i, row + (cx > 0 ? BX - 1 : 0))};
}

// What is brought to the cells of a row from x on, a cache line of them: where it lies, or put together in `room` at an end of the row.
static inline __attribute__((always_inline)) const {{ real }} *line_of(
    {{ real }} *restrict room, const Upwind from, const int x, const int cx)
{
    const {{ real }} *const line = from.row + x;
    if (cx == 0 || x != (cx > 0 ? 0 : BX - LINE)) return line;
    memcpy(room + (cx > 0), line + (cx > 0), sizeof({{ real }}) * (LINE - 1));
    room[cx > 0 ? 0 : LINE - 1] = *from.end;
    return room;
}
{% elif moments -%}
// Fills to[cell] with what direction i, of velocity (cx, cy, cz), brings to the SLAB cells from the row `begin` on.
static inline __attribute__((always_inline)) void gather(
    {{ real }} *restrict to, const {{ real }} *restrict all, const int begin, const int i, const int cx, const int cy, const int cz)
{
    for (int line = begin; line < begin + ROWS; ++line, to += BX) {
        memcpy(to, all + (size_t)i * PLACES + spot_in_all(-cx, line % BY - cy, line / BY - cz), sizeof({{ real }}) * BX);
    }  // rows
}
{% else -%}
// Fills to[cell] with what direction i, of velocity (cx, cy, cz), brings to the SLAB cells from the row `begin` on, whole planes.
// Each plane is one flat copy; then the row and the column that come from neighbours are put right.
static inline __attribute__((always_inline)) void gather(
    {{ real }} *restrict to, const {{ stored }} *restrict src, const int32_t *restrict near,
    const int begin, const int i, const int cx, const int cy, const int cz)
{
    for (int z = begin / BY; z < (begin + ROWS) / BY; ++z, to += BX * BY) {
        const int dz = z - cz < 0 ? -1 : z - cz >= BZ ? 1 : 0;
        const int plane = (z - cz - dz * BZ) * (BX * BY);
        const int32_t *const level = near + {{ middle }}{% if deep %} + 9 * dz{% endif %};
        const int first = cy > 0 ? 1 : 0, last = cy < 0 ? BY - 1 : BY;

        // rows from the same plane, then their first or last column from the neighbour along x
        if (first < last) {
            load_row(to + first * BX + (cx > 0), src, level[0], i, plane + (first - cy) * BX + (cx < 0), (last - first) * BX - (cx != 0));
        }
        for (int y = first; y < last && cx != 0; ++y) {
            to[y * BX + (cx > 0 ? 0 : BX - 1)] = load(src, level[-cx], i, plane + (y - cy) * BX + (cx > 0 ? BX - 1 : 0));
        }

        // the row from the neighbour along y, then its corner
        if (cy != 0) {
            const int far = plane + (cy > 0 ? (BY - 1) * BX : 0);
            {{ real }} *const edge = to + (cy > 0 ? 0 : (BY - 1) * BX);
            load_row(edge + (cx > 0), src, level[-3 * cy], i, far + (cx < 0), BX - (cx != 0));
            if (cx != 0) edge[cx > 0 ? 0 : BX - 1] = load(src, level[-cx - 3 * cy], i, far + (cx > 0 ? BX - 1 : 0));
        }
    }  // planes
}
{% endif %}
{% <kernel of={stream_collide}> %}
    const int past = past_cache(count, dst);
    for (int32_t item = 0; item < count; ++item) {
        const int32_t slot = ids[item];
        const int32_t *const near = neighbours + (size_t)slot * NEAR;
{%- if lines %}
        const int32_t *const next = neighbours + (size_t)ids[item + 1 < count ? item + 1 : item] * NEAR;
        for (int row = 0; row < BY * BZ; ++row) {
            const Upwind from[Q] = {
{%- for pull in pulls %}
                upwind(src, near, row, {{ pull.at }}, {{ pull.velocity }}),
{%- endfor %}
            };
            // The same row of the next block: its lines are called for now, so that nothing waits for memory then.
            const {{ real }} *const soon[Q] = {
{%- for pull in pulls %}
                upwind(src, next, row, {{ pull.at }}, {{ pull.velocity }}).row + VELOCITY[{{ pull.at }}][0],
{%- endfor %}
            };
            for (int x = 0; x < BX; x += LINE) {
                _Alignas(64) {{ real }} room[Q * LINE], after[Q * LINE];
                const {{ real }} *const before[Q] = {
{%- for pull in pulls %}
                    line_of(room + {{ pull.at }} * LINE, from[{{ pull.at }}], x, VELOCITY[{{ pull.at }}][0]),
{%- endfor %}
                };
                collide_cells(LINE, before, LINE, after{{ param_names }});
                store_lines(dst, slot, row * BX + x, after, past);
                for (int i = 0; i < Q; ++i) __builtin_prefetch(soon[i] + x, 0, 2);
            }
        }
{%- else %}
        _Alignas(64) {{ real }} before[{{ inputs }} * SLAB];
{%- if moments %}
        {{ real }} all[Q * PLACES];
        expand(all, src, near);
{%- endif %}
        for (int row = 0; row < BY * BZ; row += ROWS) {
{%- for pull in pulls %}
            gather(before + {{ pull.at }} * SLAB, {% if moments %}all{% else %}src, near{% endif %}, row, {{ pull.row }}, {{ pull.velocity }});
{%- endfor %}
            collide_slab(before, dst, slot, row * BX, past{{ param_names }});
        }
{%- endif %}
    }  // blocks
    settle();
{%- </kernel> %}

{% if around -%}
// ==== what cells show ===============================================================================================

// Stores what gathered cells of a slab show to those around them, in a slot from a cell on.
static inline __attribute__((always_inline)) void expose_slab(
    const {{ real }} *restrict before, {{ stored }} *restrict populations, const int32_t slot, const int begin{{ param_decls }})
{
{%- for line in around.idle %}
    {{ line }}
{%- endfor %}
    for (int cell = 0; cell < SLAB; ++cell) {
{%- for input in around.kernel.inputs %}
        const {{ real }} {{ input.text }} = before[{{ input.at }} * SLAB + cell];
{%- endfor %}
{%- for line in around.kernel.body %}
        {{ line }}
{%- endfor %}

{%- for output in around.kernel.outputs %}
        store(populations, slot, {{ output.at }}, begin + cell, {{ output.text }});
{%- endfor %}
    }  // cells
}

{% <kernel of={around.kernel}> %}
    _Alignas(64) {{ real }} before[Q * SLAB];
    for (int32_t item = 0; item < count; ++item) {
        const int32_t slot = ids[item];
        const int32_t *const near = neighbours + (size_t)slot * NEAR;
        for (int row = 0; row < BY * BZ; row += ROWS) {
{%- for pull in pulls %}
{%- if pull.own %}
            gather(before + {{ pull.at }} * SLAB, populations, near, row, {{ pull.at }}, {{ pull.velocity }});
{%- endif %}
{%- endfor %}
            expose_slab(before, populations, slot, row * BX{{ param_names }});
        }
    }  // blocks
{%- </kernel> %}

{% endif -%}
{% include "states" %}
{% if walls -%}
{% include "walls" %}
{% if walls.inside or ghosts -%}
{% include "arrives" %}
{% endif -%}
{% if interface -%}
{% if ghosts %}{% include "ghosts" %}{% else %}{% include "inbox" %}{% endif %}
{% endif -%}
{% if walls.nodes -%}
{% include "nodes" %}
{% endif -%}

// As gather, with walls in the place of some neighbours.
{{<gather name="gather_walls" walls={true} inbox={false} />}}

{% if around -%}
{% <kernel of={around.walls}> %}
    _Alignas(64) {{ real }} before[Q * SLAB];
    for (int32_t item = 0; item < count; ++item) {
        const int32_t slot = ids[item];
        const int32_t *const near = neighbours + (size_t)slot * NEAR;
        for (int row = 0; row < BY * BZ; row += ROWS) {
{%- for pull in pulls %}
{%- if pull.own %}
            gather_walls(before + {{ pull.at }} * SLAB, populations, near, wall_rules, wall_values, row, {{ pull.at }}, {{ pull.velocity }});
{%- endif %}
{%- endfor %}
{%- if walls.nodes %}
            for (int cell = 0; cell < SLAB; ++cell) {
                node(before + cell, SLAB, spot_of(row * BX + cell), populations, near, wall_rules, wall_values{% if solids %}, 0, 0{% endif %});
            }
{%- endif %}
            expose_slab(before, populations, slot, row * BX{{ param_names }});
        }
    }  // blocks
{%- </kernel> %}

{% endif -%}
{% <kernel of={walls.kernel}> %}
    _Alignas(64) {{ real }} before[{{ inputs }} * SLAB];
{%- if moments %}
    {{ real }} all[Q * PLACES];
{%- endif %}
    const int past = past_cache(count, dst);
    for (int32_t item = 0; item < count; ++item) {
        const int32_t slot = ids[item];
        const int32_t *const near = neighbours + (size_t)slot * NEAR;
{%- if moments %}
        expand(all, src, near);
{%- endif %}
        for (int row = 0; row < BY * BZ; row += ROWS) {
{%- for pull in pulls %}
            gather_walls(before + {{ pull.at }} * SLAB, {% if moments %}all, {% endif %}src, near, wall_rules, wall_values, row, {{ pull.at }}, {{ pull.velocity }});
{%- endfor %}
{%- if walls.nodes %}
            for (int cell = 0; cell < SLAB; ++cell) {
                node(before + cell, SLAB, spot_of(row * BX + cell), src, near, wall_rules, wall_values{% if packets %}, 0, 0{% endif %}{% if solids %}, 0, 0{% endif %});
            }
{%- endif %}
            collide_slab(before, dst, slot, row * BX, past{{ param_names }});
        }
    }  // blocks
    settle();
{%- </kernel> %}

{% if solids -%}
{% include "solids" %}
{% <kernel of={solids.kernel}> %}
    _Alignas(64) {{ real }} before[{{ inputs }} * SLAB];
{%- if moments %}
    {{ real }} all[Q * PLACES];
{%- endif %}
    for (int32_t item = 0; item < count; ++item) {
        const int32_t slot = ids[item];
        const int32_t *const near = neighbours + (size_t)slot * NEAR;
        if (rows[slot] == 0) {
            memcpy(dst + at(slot, 0, 0), src + at(slot, 0, 0), sizeof({{ stored }}) * ({{ values }} * PITCH));
            continue;
        }
        const size_t row_at = (size_t)rows[slot] * (Q * CELLS);
        const int32_t *const of_row = links + row_at;
{%- if moments %}
        expand(all, src, near);
{%- endif %}
        for (int row = 0; row < BY * BZ; row += ROWS) {
{%- for pull in pulls %}
            gather_walls(before + {{ pull.at }} * SLAB, {% if moments %}all, {% endif %}src, near, wall_rules, wall_values, row, {{ pull.at }}, {{ pull.velocity }});
{%- endfor %}
            for (int cell = row * BX; cell < row * BX + SLAB; ++cell) {
                if (of_row[cell] < 0) continue;
                const Spot here = spot_of(cell);
                {{ real }} *const arrived = before + (cell - row * BX);
                for (int i = 0; i < Q; ++i) {
                    const int32_t link = of_row[i * CELLS + cell];
                    if (link > 0) {
                        arrived[i * SLAB] = off_solid(
                            link - 1, i, here, src, near, of_row, distances + row_at, wall_rules, wall_values);
                    }
                }
{%- if around %}
                for (int which = 0; which < INPUTS - Q; ++which) {
                    const int32_t link = of_row[FROM[which] * CELLS + cell];
                    if (link > 0) arrived[(Q + which) * SLAB] = beyond_wall(link - 1, which, load(src, slot, SHOWN[which], cell), 0, wall_rules, wall_values);
                }
{%- endif %}
{%- if walls.nodes %}
                node(arrived, SLAB, here, src, near, wall_rules, wall_values{% if packets %}, 0, 0{% endif %}{% if solids %}, of_row, distances + row_at{% endif %});
{%- endif %}
            }
            collide_slab(before, dst, slot, row * BX, 0{{ param_names }});
            for (int cell = row * BX; cell < row * BX + SLAB; ++cell) {
                if (of_row[cell] >= 0) continue;
                for (int i = 0; i < {{ values }}; ++i) dst[at(slot, i, cell)] = src[at(slot, i, cell)];
            }
        }
    }  // blocks
{%- </kernel> %}

{% if around -%}
{% <kernel of={around.solid}> %}
    _Alignas(64) {{ real }} before[Q * SLAB];
    for (int32_t item = 0; item < count; ++item) {
        const int32_t slot = ids[item];
        const int32_t *const near = neighbours + (size_t)slot * NEAR;
        if (rows[slot] == 0) continue;
        const size_t row_at = (size_t)rows[slot] * (Q * CELLS);
        const int32_t *const of_row = links + row_at;
        for (int row = 0; row < BY * BZ; row += ROWS) {
{%- for pull in pulls %}
{%- if pull.own %}
            gather_walls(before + {{ pull.at }} * SLAB, populations, near, wall_rules, wall_values, row, {{ pull.at }}, {{ pull.velocity }});
{%- endif %}
{%- endfor %}
            for (int cell = row * BX; cell < row * BX + SLAB; ++cell) {
                if (of_row[cell] < 0) continue;
                const Spot here = spot_of(cell);
                {{ real }} *const arrived = before + (cell - row * BX);
                for (int i = 0; i < {{ reduce.summed }}; ++i) {
                    const int32_t link = of_row[i * CELLS + cell];
                    if (link > 0) {
                        arrived[i * SLAB] = off_solid(
                            link - 1, i, here, populations, near, of_row, distances + row_at, wall_rules, wall_values);
                    }
                }
{%- if walls.nodes %}
                node(arrived, SLAB, here, populations, near, wall_rules, wall_values, of_row, distances + row_at);
{%- endif %}
            }
            expose_slab(before, populations, slot, row * BX{{ param_names }});
        }
    }  // blocks
{%- </kernel> %}

{% endif -%}
{% endif -%}
{% elif interface -%}
{% if ghosts %}{% include "arrives" %}{% endif -%}
{% if ghosts %}{% include "ghosts" %}{% else %}{% include "inbox" %}{% endif %}
{% endif -%}
{% if packets -%}
{% for kernel in interface.kernels -%}
// As gather{% if kernel.walls %}_walls{% endif %}, where what comes from neighbours in the mask is in the inbox.
{{<gather name={kernel.gather} walls={kernel.walls} inbox={true} />}}

{% <kernel of={kernel.signature}> %}
    _Alignas(64) {{ real }} before[{{ inputs }} * SLAB];
{%- if moments %}
    {{ real }} all[Q * PLACES];
{%- endif %}
    const int past = past_cache(count, dst);
    for (int32_t item = 0; item < count; ++item) {
        const int32_t slot = ids[item];
        const int32_t *const near = neighbours + (size_t)slot * NEAR;
        const int32_t own_row = rows[slot];
        const int mask = own_row < 0 ? 0 : masks[own_row];
        const {{ real }} *const in = inbox + (size_t)(own_row < 0 ? 0 : own_row) * ROW;
{%- if moments %}
        expand(all, src, near);
{%- endif %}
        for (int row = 0; row < BY * BZ; row += ROWS) {
{%- for pull in pulls %}
            {{ kernel.gather }}(before + {{ pull.at }} * SLAB, {% if moments %}all, {% endif %}src, near, {% if kernel.walls %}wall_rules, wall_values, {% endif %}mask, in, row, {{ pull.at }}, {{ pull.velocity }});
{%- endfor %}
{%- if kernel.walls and walls.nodes %}
            for (int cell = 0; cell < SLAB; ++cell) {
                node(before + cell, SLAB, spot_of(row * BX + cell), src, near, wall_rules, wall_values, mask, in{% if solids %}, 0, 0{% endif %});
            }
{%- endif %}
            collide_slab(before, dst, slot, row * BX, past{{ param_names }});
        }
    }  // blocks
    settle();
{%- </kernel> %}

{% endfor -%}
{% <kernel of={inbox.masks}> %}
{%- if not interface.mirrors %}
    (void)wall_rules;  // none is a mirror
{%- endif %}
    for (int32_t item = 0; item < count; ++item) {
        Side side = {.node = nodes[ids[item]]};
        for (int entry = 0; entry < NEAR; ++entry) look_towards(&side, entry, near, children{% if interface.mirrors %}, wall_rules{% endif %});
        int mask = side.solid != 0 ? WALLED : 0, beside = 0;
        for (int neighbour = 0; neighbour < NEAR; ++neighbour) {
            mask |= (entering(&side, near, neighbour) != STREAMS) << neighbour;
        }
        for (int cell = 0; side.refined != 0 && cell < CELLS; ++cell) {
            beside += refined_around(side.refined, spot_of(cell)) != 0;
        }
        masks[rows[ids[item]]] = mask, counts[rows[ids[item]]] = beside;
    }
{%- </kernel> %}

{% <kernel of={inbox.cells}> %}
    for (int32_t item = 0; item < count; ++item) {
        const int32_t row = rows[ids[item]], node = nodes[ids[item]];
        const int refined = refined_near(node, near, children);
        for (int at = 0; at < NEAR * PARTS; ++at) {
            set_around(tables + (size_t)row * AROUND, at, node, near, children, slots, rows, masks);
        }
        int32_t next = begins[row];
        for (int cell = 0; cell < CELLS; ++cell) {
            const int mask = refined_around(refined, spot_of(cell));
            cell_masks[(size_t)row * CELLS + cell] = mask;
            if (mask) cells[next++] = row * CELLS + cell;
        }
    }
{%- </kernel> %}

{% for kernel in [inbox.to_fine, inbox.to_coarse] -%}
{% set fine = kernel.symbol == inbox.to_fine.symbol -%}
{% <kernel of={kernel}> %}
    for (int32_t item = 0; item < count; ++item) {
        const int32_t cell = cells[item];
        const int mask = cell_masks[cell];
        const int32_t *const table = tables + (size_t)(cell / CELLS) * AROUND;
{%- if not fine %}
        if (around_of(table).rows[{{ middle }}] < 0) continue;
{%- endif %}
{%- if fine and interface.shared %}
        {{ real }} shared[{{ interface.shared.count }}];
        share_around(table, cell % CELLS, coarse, shared{{ interface.pass }});
{%- endif %}
        for (int direction = 0; direction < Q; ++direction) {
            if (!(mask & {% if fine %}AHEAD{% else %}BEHIND{% endif %}[direction])) continue;
{%- if fine %}
            send_to_fine(table, cell % CELLS, mask, direction, coarse, fine, inbox_0, inbox_1, start ? inbox_0 : inbox_1{% if interface.shared %}, shared{% endif %}{{ interface.pass }});
{%- else %}
            send_to_coarse(table, cell % CELLS, mask, direction, before, after, inbox);
{%- endif %}
        }
    }
{%- </kernel> %}

{% endfor -%}
{% if interface.walls -%}
{% for kernel in [inbox.to_fine_walls, inbox.to_coarse_walls] -%}
{% set fine = kernel.symbol == inbox.to_fine_walls.symbol -%}
{% <kernel of={kernel}> %}
    const Interface interface = {wall_rules, wall_values, {% if fine %}fine, fine{% else %}before, after{% endif %}};
    for (int32_t item = 0; item < count; ++item) {
        int32_t around[SIDES];
        const int32_t slot = ids[item], node = nodes[slot];
{%- if fine %}
        const int32_t parent = parents[node];
        if (parent < 0) continue;
        Side own = {.node = node}, coarser = {.level = coarse, .node = parent, .beside = around, .within = around + NEAR};
{%- else %}
        Side own = {.level = coarse, .node = node, .beside = around, .within = around + NEAR};
{%- endif %}
        for (int at = 0; at < SIDES; ++at) around[at] = slot_around(at, {% if fine %}parent{% else %}node{% endif %}, near, children, slots);
        for (int entry = 0; entry < NEAR; ++entry) {
            look_towards(&own, entry, near, children{% if interface.mirrors %}, wall_rules{% endif %});
{%- if fine %}
            look_towards(&coarser, entry, near, children{% if interface.mirrors %}, wall_rules{% endif %});
{%- endif %}
        }
        int from[NEAR];
        for (int neighbour = 0; neighbour < NEAR; ++neighbour) from[neighbour] = entering(&own, near, neighbour);
        for (int entry = 0; entry < Q * CELLS; ++entry) {
            const int direction = entry / CELLS;
            const Spot here = spot_of(entry % CELLS);
            const int neighbour = neighbour_of(beyond(here, direction, -1));
            if (neighbour == {{ middle }} || from[neighbour] != {% if fine %}FROM_COARSER{% else %}FROM_FINER{% endif %}) continue;
            const size_t at = (size_t)rows[slot] * ROW + (size_t)inbox_at(direction, here);
{%- if fine %}
            const int octant = node - children[parent];
            inbox_0[at] = from_coarser(&interface, &coarser, octant, direction, here, 0{{ interface.pass }});
            inbox_1[at] = from_coarser(&interface, &coarser, octant, direction, here, 1{{ interface.pass }});
{%- else %}
            {{ real }} sum = 0;
            for (int child = 0; child < PARTS; ++child) sum += from_finer(&interface, &own, direction, here, child{{ interface.pass }});
            inbox[at] = {{ interface.share }} * sum;
{%- endif %}
        }
    }  // blocks
{%- </kernel> %}

{% endfor -%}
{% endif -%}
{% endif -%}
{% if carry -%}
{% include "transfer" %}{% include "carry" %}
{% endif -%}
{% if ghosts -%}
{% include "levels" %}
{% endif -%}
{% include "fields" %}
{% include "reduce" -%}
{{<called_by_pointers />}}
