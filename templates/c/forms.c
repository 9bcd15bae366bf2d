{# How the host gathers from these sources: one function for all kernels that have the same. -#}
{% component sources(of, @real, @stored, @half, @lines, @in_place, @middle, @deep, @moments, @around, @inbox) -%}
{%- if not of.defines %}
{%- elif of.fast %}
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
{%- if in_place %}

// Stores a line of cells where `line_of` has read what is brought to them.
static inline __attribute__((always_inline)) void put_line(const Upwind to, const {{ real }} *restrict values, const int x, const int cx)
{
    {{ real }} *const line = ({{ real }} *)to.row + x;
    if (cx == 0 || x != (cx > 0 ? 0 : BX - LINE)) {
        memcpy(line, values, sizeof({{ real }}) * LINE);
        return;
    }
    memcpy(line + (cx > 0), values + (cx > 0), sizeof({{ real }}) * (LINE - 1));
    *({{ real }} *)to.end = values[cx > 0 ? 0 : LINE - 1];
}
{%- endif %}

{% elif of.alone and moments %}
// Fills to[cell] with what direction i, of velocity (cx, cy, cz), brings to the SLAB cells from the row `begin` on.
static inline __attribute__((always_inline)) void gather(
    {{ real }} *restrict to, const {{ real }} *restrict all, const int begin, const int i, const int cx, const int cy, const int cz)
{
    for (int line = begin; line < begin + ROWS; ++line, to += BX) {
        memcpy(to, all + (size_t)i * PLACES + spot_in_all(-cx, line % BY - cy, line / BY - cz), sizeof({{ real }}) * BX);
    }  // rows
}

{% elif of.alone and not lines %}
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

{% else %}
// Fills to[cell] with what direction i, of velocity (cx, cy, cz), brings to the SLAB cells from the row `begin` on.
static inline __attribute__((always_inline)) void {{ of.gather }}(
    {{ real }} *restrict to, {% if moments %}const {{ real }} *restrict all, {% endif %}const {{ stored }} *restrict src, const int32_t *restrict near,
{%- if of.walls %}
    const int32_t *restrict wall_rules, const {{ real }} *restrict wall_values,
{%- endif %}
{%- if of.inbox %}
    const int mask, const {{ real }} *restrict in,
{%- endif %}
    const int begin, const int i, const int cx, const int cy, const int cz)
{
{%- if moments and not of.walls %}
    (void)src, (void)near;
{%- endif %}
    for (int line = begin; line < begin + ROWS; ++line, to += BX) {
        const int y = line % BY, z = line / BY;
        const int dy = y - cy < 0 ? -1 : y - cy >= BY ? 1 : 0{% if deep or not moments %}, dz = z - cz < 0 ? -1 : z - cz >= BZ ? 1 : 0{% endif %};
        const int entry = {{ middle }} + 3 * dy{% if deep %} + 9 * dz{% endif %};
{%- if not moments %}
        const int row = BX * (y - cy - dy * BY + BY * (z - cz - dz * BZ));
{%- endif %}
{%- for end in [false, true] %}
{%- if end %}
        // The one that is reached through the end of the row.
        if (cx != 0) {
            const int from = entry - cx, first = cx > 0 ? 0 : BX - 1, last = first + 1{% if not moments %}, upwind = row + BX - 1 - first{% endif %};
{%- else %}
        // The cells of the row but for one.
        {
            const int from = entry, first = cx > 0, last = BX - (cx < 0){% if not moments %}, upwind = row + (cx < 0){% endif %};
{%- endif %}
{%- if of.inbox %}
            if ({% if around %}i < Q ? mask >> from & 1 : near[from] == COARSER{% else %}mask >> from & 1{% endif %}) {
                for (int x = first; x < last; ++x) to[x] = in[inbox_at(i, (Spot){ {x, y{% if deep %}, z{% endif %}} })];
            } else
{%- endif %}
{%- if of.walls %}
            if (near[from] < 0) {
                for (int x = first; x < last; ++x) {
                    const Spot here = { {x, y{% if deep %}, z{% endif %}} };
                    to[x] = {% if around %}i >= Q ? seen_behind(behind_of(here, FROM[i - Q], near, wall_rules), i - Q, here, src, wall_rules, wall_values{% if inbox %}, {% if of.inbox %}in{% else %}0{% endif %}{% endif %}) : {% endif %}from_wall(-1 - near[from], i, here, src, near, wall_rules, wall_values);
                }
            } else
{%- endif %}
{%- if moments %}
            memcpy(to + first, all + (size_t){% if around %}(i < Q ? i : SHOWN[i - Q]){% else %}i{% endif %} * PLACES + spot_in_all(first - cx, y - cy, z - cz), sizeof({{ real }}) * {% if end %}1{% else %}(size_t)(BX - (cx != 0)){% endif %});
{%- else %}
            load_row(to + first, src, near[from], {% if around %}i < Q ? i : SHOWN[i - Q]{% else %}i{% endif %}, upwind, {% if end %}1{% else %}BX - (cx != 0){% endif %});
{%- endif %}
        }
{%- endfor %}
    }  // rows
}

{% endif -%}
{%- endcomponent sources %}

{# Rows along x, one after the other, that are whole cache lines and collide where they lie; backwards, with derivatives from where they lie. -#}
{% component fast(of, @real, @pulls, @param_names) %}
{%- if of.in_place %}
{{-<fast_in_place of={of} />}}
{%- else %}
    const int past = past_cache(count, {% if of.steps_back %}adjoint{% else %}dst{% endif %});
    const int32_t *const next = neighbours + (size_t)ids[item + 1 < count ? item + 1 : item] * NEAR;
    for (int row = 0; row < BY * BZ; ++row) {
        const Upwind from[Q] = {
{%- for pull in pulls %}
            upwind(src, near, row, {{ pull.at }}, {{ pull.velocity }}),
{%- endfor %}
        };
{%- if of.steps_back %}
        const Upwind reader[Q] = {
{%- for pull in pulls %}
            upwind(arrived, near, row, {{ pull.at }}, {{ pull.back }}),
{%- endfor %}
        };
{%- endif %}
        // The same row of the next block: its lines are called for now, so that nothing waits for memory then.
        const {{ real }} *const soon[Q] = {
{%- for pull in pulls %}
            upwind(src, next, row, {{ pull.at }}, {{ pull.velocity }}).row + VELOCITY[{{ pull.at }}][0],
{%- endfor %}
        };
{%- if of.steps_back %}
        const {{ real }} *const later[Q] = {
{%- for pull in pulls %}
            upwind(arrived, next, row, {{ pull.at }}, {{ pull.back }}).row - VELOCITY[{{ pull.at }}][0],
{%- endfor %}
        };
{%- endif %}
        for (int x = 0; x < BX; x += LINE) {
            _Alignas(64) {{ real }} room[{% if of.steps_back %}2 * Q * LINE{% else %}Q * LINE], after[Q * LINE{% endif %}];
            const {{ real }} *const before[Q] = {
{%- for pull in pulls %}
                line_of(room + {{ pull.at }} * LINE, from[{{ pull.at }}], x, VELOCITY[{{ pull.at }}][0]),
{%- endfor %}
            };
{%- if of.steps_back %}
            const {{ real }} *const weight[Q] = {
{%- for pull in pulls %}
                line_of(room + (Q + {{ pull.at }}) * LINE, reader[{{ pull.at }}], x, -VELOCITY[{{ pull.at }}][0]),
{%- endfor %}
            };
            collide_part_backwards(before, weight, adjoint, by_members, slot, row * BX + x, 0, past{{ param_names }});
            for (int i = 0; i < Q; ++i) __builtin_prefetch(later[i] + x, 0, 2);
{%- else %}
            collide_cells(LINE, before, LINE, after{{ param_names }});
            store_lines(dst, slot, row * BX + x, after, past);
{%- endif %}
            for (int i = 0; i < Q; ++i) __builtin_prefetch(soon[i] + x, 0, 2);
        }
    }  // rows
{%- endif %}
{%- endcomponent fast %}

{# The same in the only set of populations: a line is stored where it was read. -#}
{% component fast_in_place(of, @real, @pulls, @param_names) %}
    const int32_t next = ids[item + 1 < count ? item + 1 : item];
{%- if of.in_place == "out" %}
    const int32_t *const near_next = neighbours + (size_t)next * NEAR;
{%- endif %}
    for (int row = 0; row < BY * BZ; ++row) {
{%- if of.in_place == "out" %}
        const Upwind from[Q] = {
{%- for pull in pulls %}
            upwind(src, near, row, {{ pull.at }}, {{ pull.velocity }}),
{%- endfor %}
        };
        const {{ real }} *const soon[Q] = {
{%- for pull in pulls %}
            upwind(src, near_next, row, {{ pull.at }}, {{ pull.velocity }}).row + VELOCITY[{{ pull.at }}][0],
{%- endfor %}
        };
{%- endif %}
        for (int x = 0; x < BX; x += LINE) {
{%- if of.in_place == "out" %}
            _Alignas(64) {{ real }} room[Q * LINE], after[Q * LINE];
            const {{ real }} *const before[Q] = {
{%- for pull in pulls %}
                line_of(room + {{ pull.at }} * LINE, from[{{ pull.at }}], x, VELOCITY[{{ pull.at }}][0]),
{%- endfor %}
            };
            collide_cells(LINE, before, LINE, after{{ param_names }});
{%- for pull in pulls %}
            put_line(from[{{ pull.at }}], after + {{ pull.opposite }} * LINE, x, VELOCITY[{{ pull.at }}][0]);
{%- endfor %}
{%- else %}
            _Alignas(64) {{ real }} after[Q * LINE];
            const {{ real }} *const before[Q] = {
{%- for pull in pulls %}
                src + at(slot, {{ pull.opposite }}, row * BX + x),
{%- endfor %}
            };
            collide_cells(LINE, before, LINE, after{{ param_names }});
            store_lines(set, slot, row * BX + x, after, 0);
{%- endif %}
            // Lines of the next block are called for now, so that nothing waits for memory then.
            for (int i = 0; i < Q; ++i) __builtin_prefetch({% if of.in_place == "out" %}soon[i] + x{% else %}src + at(next, i, row * BX + x){% endif %}, 1, 2);
        }
    }  // rows
{%- endcomponent fast_in_place %}

{# Rows along x, as many as fit into the cache, one slab after the other. -#}
{% component cells_at_once(of, @real, @stored, @moments, @inputs, @values) %}
    _Alignas(64) {{ real }} before[{% if of.exposes %}Q{% else %}{{ inputs }}{% endif %} * SLAB];
{%- if of.links %}
    if (link_rows[slot] == 0) {  // all is solid
{%- if of.collides %}
        {{<copy_values to="dst" into="slot" from="src" of="slot" />}}
{%- endif %}
        continue;
    }
{%- elif of.collides %}
    const int past = past_cache(count, dst);
{%- elif of.steps_back %}
    const int past = past_cache(count, adjoint);
{%- endif %}
{%- if moments and not of.stored %}
    {{ real }} all[Q * PLACES];
    expand(all, src, near);
{%- endif %}
    for (int row = 0; row < BY * BZ; row += ROWS) {
{{- body | indent(width=4) }}
    }  // rows
{%- endcomponent cells_at_once %}

{% component gather(of, @real, @moments, @pulls) %}
{%- if of.stored and moments %}
    for (int cell = 0; cell < SLAB; ++cell) {
        {{ real }} m[K], f[Q];
        load_moments(src, slot, row * BX + cell, m);
        populations_from(m, f);
        for (int i = 0; i < Q; ++i) before[i * SLAB + cell] = f[i];
    }
{%- endif %}
{%- for pull in pulls %}
{%- if of.stored and moments %}
{%- elif of.stored and pull.own %}
    load_row(before + {{ pull.at }} * SLAB, src, slot, {{ pull.at }}, row * BX, SLAB);
{%- elif not of.stored and (pull.own or not of.exposes) %}
    {{ of.gather }}(before + {{ pull.at }} * SLAB, {% if moments %}all{% if not of.alone %}, {% endif %}{% endif %}{% if not moments or not of.alone %}src, near{% endif -%}
        {%- if of.walls %}, wall_rules, wall_values{% endif %}{% if of.inbox %}, mask, in{% endif -%}
        , row, {% if of.alone %}{{ pull.row }}{% else %}{{ pull.at }}{% endif %}, {{ pull.velocity }});
{%- endif %}
{%- endfor %}
{%- endcomponent gather %}

{% component each_of_them(of, @real) %}
    for (int cell = row * BX; cell < row * BX + SLAB; ++cell) {
{%- if of.links %}
        if (of_row[cell] < 0) continue;
{%- endif %}
        const Spot here = spot_of(cell);
        {{ real }} *const f = before + (cell - row * BX);
{{- body | indent(width=4) }}
    }  // cells
{%- endcomponent each_of_them %}

{% component off_links(of) %}
    {{<link_by_link of={of} />}}
{%- endcomponent off_links %}

{% component finish_cells(of, @real, @pulls, @param_names, @stored_rows) %}
{%- if of.exposes %}
    expose_{% if of.stored %}stored_{% endif %}slab(before, populations, slot, row * BX{{ param_names }});
{%- elif not of.collides %}
    _Alignas(64) {{ real }} weight[Q * SLAB];
{%- for pull in pulls %}
{%- if of.steps_back and of.walls %}
    gather_back(weight + {{ pull.at }} * SLAB, arrived, near, row, {{ pull.at }}, {{ pull.velocity }});
{%- elif of.steps_back %}
    {{ of.gather }}(weight + {{ pull.at }} * SLAB, arrived, near, row, {{ pull.at }}, {{ pull.back }});
{%- else %}
    load_row(weight + {{ pull.at }} * SLAB, adjoint, slot, {{ pull.at }}, row * BX, SLAB);
{%- endif %}
{%- endfor %}
{%- if of.steps_back and of.walls %}
    {{<walls_backwards slab="weight" />}}
{%- endif %}
    collide_slab_backwards(
        before, weight, adjoint, by_members, slot, row * BX, {% if of.links %}of_row{% else %}0{% endif %}, {% if of.steps_back %}past{% else %}0{% endif %}{{ param_names }});
{%- else %}
    collide_slab(before, dst, slot, row * BX, {% if of.links %}0{% else %}past{% endif %}{{ param_names }});
{%- endif %}
{%- if of.links and of.collides %}
    for (int cell = row * BX; cell < row * BX + SLAB; ++cell) {
        if (of_row[cell] >= 0) continue;
        for (int i = 0; i < {{ stored_rows }}; ++i) dst[at(slot, i, cell)] = src[at(slot, i, cell)];
    }
{%- endif %}
{%- endcomponent finish_cells %}

{% component expand(@real, @stored, @half, @moments, @middle, @deep) -%}
// The place of a cell among those of a block and the layer around it; (0, 0, 0) is the first of the block.
static inline int spot_in_all(const int x, const int y, const int z)
{
    return x + 1 + PX * (y + 1{% if deep %} + PY * (z + 1){% endif %}){% if not deep %} + 0 * z{% endif %};
}

// Populations of a part of a row of cells, to all[i * PLACES] on.
static inline __attribute__((always_inline)) void expand_row(
    {{ real }} *restrict all, const {{ stored }} *restrict src, const int32_t slot, const int cell, const int count)
{
    const {{ stored }} *restrict const row = src + at(slot, 0, cell);
    for (int next = 0; next < count; ++next) {
{%- if half %}
        {{ real }} m[K];
        widen_moments(row + next, PITCH, m);
{%- if moments.states > 0 %}
        for (int value = MOMENTS; value < K; ++value) m[value] = load_state(src, slot, value, cell + next);
{%- endif %}
{%- endif %}
{%- for input in moments.populations.inputs %}
        const {{ real }} {{ input.text }} = {% if half %}m[{{ input.at }}]{% else %}row[{{ input.at }} * PITCH + next]{% endif %};
{%- endfor %}
{%- for line in moments.populations.body %}
        {{ line }}
{%- endfor %}

{%- for output in moments.populations.outputs %}
        all[{{ output.at }} * PLACES + next] = {{ output.text }};
{%- endfor %}
    }  // cells
}

// Populations of the cells of a block and of those around it, as far as there are cells.
static void expand({{ real }} *restrict all, const {{ stored }} *restrict src, const int32_t *restrict near)
{
    for (int z = {% if deep %}-1; z < BZ + 1{% else %}0; z < 1{% endif %}; ++z) {
        for (int y = -1; y < BY + 1; ++y) {
            const int dy = y < 0 ? -1 : y >= BY, dz = z < 0 ? -1 : z >= BZ;
            const int entry = {{ middle }} + 3 * dy{% if deep %} + 9 * dz{% endif %}, row = BX * (y - dy * BY + BY * (z - dz * BZ));
            if (near[entry] >= 0) expand_row(all + spot_in_all(0, y, z), src, near[entry], row, BX);
            if (near[entry - 1] >= 0) expand_row(all + spot_in_all(-1, y, z), src, near[entry - 1], row + BX - 1, 1);
            if (near[entry + 1] >= 0) expand_row(all + spot_in_all(BX, y, z), src, near[entry + 1], row, 1);
        }
    }
}
{%- endcomponent expand %}

{% component relax(@real, @param_names, @values) -%}
    {{ real }} after[Q];
    collide_gathered(1, 1, f, 1, after{{ param_names }});
    memcpy(f, after, sizeof({{ real }}) * {{ values }});
{%- endcomponent relax %}

{% component as_stored_moments(@real, @half, @moments) -%}
    {{ real }} m[K];
{%- if half %}
    uint16_t narrow[{{ moments.number }}];
    round_moments(f, 1, 0, narrow);
    widen_moments(narrow, 1, m);
{%- if moments.states > 0 %}
    for (int value = MOMENTS; value < K; ++value) m[value] = f[value];
{%- endif %}
{%- else %}
    memcpy(m, f, sizeof m);
{%- endif %}
    populations_from(m, f);
{%- endcomponent as_stored_moments %}

{% component copy_values(to, into, from, of, @stored, @stored_rows) -%}
    memcpy({{ to }} + at({{ into }}, 0, 0), {{ from }} + at({{ of }}, 0, 0), sizeof({{ stored }}) * ({{ stored_rows }} * PITCH));
{%- endcomponent copy_values %}

{% component copy_fields(to, into, from, of, @real) -%}
    memcpy({{ to }} + field_at({{ into }}, 0, 0), {{ from }} + field_at({{ of }}, 0, 0), sizeof({{ real }}) * (FIELDS * CELLS));
{%- endcomponent copy_fields %}

{% component array(type, name, count) -%}
    {{ type }} {{ name }}[{{ count }}];
{%- endcomponent array %}

{% component near_of(of, @int) %}
    const {{ int }} *const near = neighbours + (size_t)slot * NEAR;
{%- endcomponent near_of %}

{% component fold(type, name, value, merge) -%}
    (void){{ merge }};  // one thread has all
    const {{ type }} {{ name }} = {{ value }};
{%- endcomponent fold %}

{% component includes() -%}
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
{%- endcomponent includes %}

{% component called_by_pointers(@packed) -%}
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
{%- endcomponent called_by_pointers %}

{% component store_same() -%}
#define STORE_SAME(place, value) __atomic_store_n(&(place), value, __ATOMIC_RELAXED)
{%- endcomponent store_same %}

{# Threads that count up the same number at once each get a value of their own: the one before. -#}
{% component next_of() -%}
#define NEXT_OF(count) __atomic_fetch_add(&(count), 1, __ATOMIC_RELAXED)
{%- endcomponent next_of %}

{# The number of the lowest bit of some of which one is set at least. -#}
{% component lowest() -%}
#define LOWEST(bits) __builtin_ctz(bits)
{%- endcomponent lowest %}

{# Bits of a number that several threads may set at once; the number before. -#}
{% component set_bits() -%}
#define SET_BITS(place, bits) __atomic_fetch_or(&(place), bits, __ATOMIC_RELAXED)
{%- endcomponent set_bits %}

{# The least of a number and of what threads have for it, some of them at once. Numbers are not negative. -#}
{% component least_of() -%}
#define LEAST_OF(place, value) lower(&(place), value)

static inline void lower(double *place, double value)
{
    double least;
    __atomic_load(place, &least, __ATOMIC_RELAXED);
    while (value < least && !__atomic_compare_exchange(place, &least, &value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}
{%- endcomponent least_of %}

{% component copy_accumulators(number, accumulators) -%}
    memcpy(dst + at_{{ number }}(slot, 0, 0), src + at_{{ number }}(from[slot], 0, 0), sizeof(double) * ({{ accumulators }} * CELLS));
{%- endcomponent copy_accumulators %}

{# All of an array: there is one thread. -#}
{% component run_of_sums(threads) -%}
    const int thread = 0, threads = 1, begin = 0, end = size;  // a GPU has {{ threads }}
    int sum = 0;
{%- endcomponent run_of_sums %}

{# All directions of a cell, one after the other. -#}
{% component sends_anything(ways) -%}
{%- endcomponent sends_anything %}

{% component each_way(ways) %}
    for (int direction = 0; direction < Q; ++direction) {
        if (!(mask & {{ ways }}[direction])) continue;
{{- body | indent(width=4) }}
    }  // directions
{%- endcomponent each_way %}

{% component sums_of_children(share, pass, @real) -%}
        for (int at = 0; at < listed; ++at) {
            const Spot here = spot_of(list[at]);
            {{ real }} *const all = to + inbox_at(direction, here);
            for (int then = 0; then < 2; ++then) {
                if (!(parts >> then & 1)) continue;
                {{ real }} sum = 0;
                for (int child = 0; child < CHILDREN; ++child) sum += from_finer(&interface, &own, direction, here, child, then{{ pass }});
                *all = then ? *all + {{ share }} * sum : {{ share }} * sum;
            }
        }
{%- endcomponent sums_of_children %}

{# How the declaration of a kernel begins. -#}
{% component opening(of) -%}
void {{ of.symbol }}(
{%- endcomponent opening %}

{% component collide_backwards(@real, @stored, @adjoint, @param_decls, @param_names) -%}
enum { PART = SLAB % LINE == 0 ? LINE : SLAB };  // cells that collide backwards at a time

// Makes of derivatives by what PART cells become, weight[i][cell], those by what has arrived in them, f[i][cell]: back[i * PART + cell], and those by
// parameters.
static inline __attribute__((always_inline)) void collide_cells_backwards(
    const {{ real }} *const *f, const {{ real }} *const *weight, {{ real }} *restrict back, {{ real }} *restrict by{{ param_decls }})
{
    (void)f, (void)by;
{%- for line in adjoint.collide.idle %}
    {{ line }}
{%- endfor %}
    for (int cell = 0; cell < PART; ++cell) {
{%- for input in adjoint.collide.inputs %}
        const {{ real }} {{ input.text }} = f[{{ input.at }}][cell];
{%- endfor %}
{%- for input in adjoint.collide.weights %}
        const {{ real }} {{ input.text }} = weight[{{ input.at }}][cell];
{%- endfor %}
{%- for line in adjoint.collide.body %}
        {{ line }}
{%- endfor %}

{%- for output in adjoint.collide.outputs %}
        back[{{ output.at }} * PART + cell] = {{ output.text }};
{%- endfor %}
{%- for output in adjoint.collide.by_members %}
        by[{{ output.at }} * PART + cell] = {{ output.text }};
{%- endfor %}
    }  // cells
}

// The same, stored in a slot from a cell on; of a block with solids, cells that are fluid.
static inline __attribute__((always_inline)) void collide_part_backwards(
    const {{ real }} *const *f, const {{ real }} *const *weight, {{ stored }} *restrict adjoint, double *restrict by_members,
    const int32_t slot, const int from, const int32_t *restrict of_row, const int past{{ param_decls }})
{
    _Alignas(64) {{ real }} back[Q * PART], by[({{ adjoint.members }} + 1) * PART];
    collide_cells_backwards(f, weight, back, by{{ param_names }});
    if (of_row == 0 && PART == LINE) {
        store_lines(adjoint, slot, from, back, past);
    } else {
        for (int i = 0; i < Q; ++i) {
            for (int cell = 0; cell < PART; ++cell) {
                if (of_row == 0 || of_row[from + cell] >= 0) store(adjoint, slot, i, from + cell, back[i * PART + cell]);
            }
        }
    }
    for (int member = 0; member < {{ adjoint.members }}; ++member) {
        double *const sum = by_members + ((size_t)slot * {{ adjoint.members }} + (size_t)member) * CELLS + from;
        for (int cell = 0; cell < PART; ++cell) {
            if (of_row == 0 || of_row[from + cell] >= 0) sum[cell] += by[member * PART + cell];
        }
    }
}

// The same of a gathered slab: f[i * SLAB + cell] and weight[i * SLAB + cell].
static inline __attribute__((always_inline)) void collide_slab_backwards(
    const {{ real }} *restrict f, const {{ real }} *restrict weight, {{ stored }} *restrict adjoint, double *restrict by_members,
    const int32_t slot, const int begin, const int32_t *restrict of_row, const int past{{ param_decls }})
{
    for (int first = 0; first < SLAB; first += PART) {
        const {{ real }} *before[Q], *becomes[Q];
        for (int i = 0; i < Q; ++i) before[i] = f + i * SLAB + first, becomes[i] = weight + i * SLAB + first;
        collide_part_backwards(before, becomes, adjoint, by_members, slot, begin + first, of_row, past{{ param_names }});
    }
}
{%- endcomponent collide_backwards %}

{% component stream_functions(@real, @stored, @walls, @middle, @deep, @interface) -%}
// Fills to[cell] with derivatives by what direction i, of velocity (cx, cy, cz), brings from the SLAB cells from the row `begin` on to others; with 0
// where there is no other.
static inline __attribute__((always_inline)) void gather_back(
    {{ real }} *restrict to, const {{ stored }} *restrict arrived, const int32_t *restrict near,
    const int begin, const int i, const int cx, const int cy, const int cz)
{
    for (int line = begin; line < begin + ROWS; ++line, to += BX) {
        const int y = line % BY + cy, z = line / BY + cz;
        const int dy = y < 0 ? -1 : y >= BY ? 1 : 0, dz = z < 0 ? -1 : z >= BZ ? 1 : 0;
        const int entry = {{ middle }} + 3 * dy{% if deep %} + 9 * dz{% endif %}, row = BX * (y - dy * BY + BY * (z - dz * BZ));
        const int first = cx < 0, last = BX - (cx > 0), end = cx > 0 ? BX - 1 : 0;
        if (near[entry] >= 0) {
            load_row(to + first, arrived, near[entry], i, row + (cx > 0), BX - (cx != 0));
        } else {
            for (int x = first; x < last; ++x) to[x] = 0;
        }
        if (cx != 0) to[end] = near[entry + cx] < 0 ? 0 : load(arrived, near[entry + cx], i, row + BX - 1 - end);
    }  // rows
}
{% if walls %}
// What walls have sent along direction i, of velocity (cx, cy, cz), to the SLAB cells from the row `begin` on, backwards.
static void walls_back(
    {{ real }} *restrict back, const {{ stored }} *restrict src, const {{ stored }} *restrict arrived, const int32_t slot, const int32_t *restrict near,
    const int32_t *restrict wall_rules, const {{ real }} *restrict wall_values, const int32_t *restrict groups, const int32_t asked,
    double *restrict by_walls, const int begin, const int i, const int cx, const int cy, const int cz)
{
    for (int line = begin; line < begin + ROWS; ++line, back += BX) {
        const int y = line % BY - cy, z = line / BY - cz;
        const int dy = y < 0 ? -1 : y >= BY ? 1 : 0, dz = z < 0 ? -1 : z >= BZ ? 1 : 0;
        const int entry = {{ middle }} + 3 * dy{% if deep %} + 9 * dz{% endif %}, end = cx > 0 ? 0 : BX - 1;
        const int rest = near[entry] < 0;  // else a wall may be beyond the end alone
        for (int x = rest ? 0 : end; x < (rest ? BX : cx != 0 ? end + 1 : 0); ++x) {
            {% if not walls.mirrors %}const {% endif %}int32_t w = -1 - near[cx != 0 && x == end ? entry - cx : entry];
            if (w < 0{% if interface %} || w == -1 - COARSER{% endif %}) continue;
            const int cell = line * BX + x;
{%- if walls.mirrors %}
            w = meets_backwards(w, i, spot_of(cell), arrived, near, wall_rules, back + x);
{%- endif %}
            wall_backwards(w, i, load(arrived, slot, i, cell), src, slot, cell, 0, wall_rules, wall_values, back + x, by_wall(w, slot, cell, groups, asked, by_walls));
        }
    }  // rows
}
{% endif %}
{% endcomponent stream_functions %}

{% component walls_backwards(slab, @pulls) -%}
{%- for pull in pulls %}
{%- if not pull.rest %}
        walls_back({{ slab }}, src, arrived, slot, near, wall_rules, wall_values, groups, asked, by_walls, row, {{ pull.at }}, {{ pull.velocity }});
{%- endif %}
{%- endfor %}
{%- endcomponent walls_backwards %}

{% component stream_backwards(of, @real, @pulls) %}
    for (int row = 0; row < BY * BZ; row += ROWS) {
        _Alignas(64) {{ real }} slab[Q * SLAB];
{%- for pull in pulls %}
        gather_back(slab + {{ pull.at }} * SLAB, arrived, near, row, {{ pull.at }}, {{ pull.velocity }});
{%- endfor %}
{%- if of.links %}
        for (int cell = row * BX; cell < row * BX + SLAB; ++cell) {
            if (of_row != 0 && of_row[cell] < 0) continue;
            const Spot here = spot_of(cell);
            {{ real }} *const back = slab + (cell - row * BX);
            for (int i = 0; i < Q && of_row != 0; ++i) {
                if (of_row[OPPOSITE[i] * CELLS + cell] != 0) back[i * SLAB] = 0;
            }
        {{<off_walls_backwards of={of} />}}
            for (int i = 0; i < Q; ++i) store(adjoint, slot, i, cell, back[i * SLAB]);
        }
{%- else %}
{%- if of.walls %}
        {{<walls_backwards slab="slab" />}}
{%- endif %}
        for (int i = 0; i < Q; ++i) {
            for (int cell = 0; cell < SLAB; ++cell) store(adjoint, slot, i, row * BX + cell, slab[i * SLAB + cell]);
        }
{%- endif %}
    }  // rows
{%- endcomponent stream_backwards %}

{# Kernels in the only set of populations: rows are gathered, and stored where they were gathered; of blocks with solids, cell by cell. -#}
{% component in_place_functions(@real, @stored, @half, @lines, @middle, @deep, @walls, @inbox, @solids) -%}
{% if not lines -%}
// Stores from[cell] where direction i, of velocity (cx, cy, cz), brings something to the SLAB cells from the row `begin` on from.
static inline __attribute__((always_inline)) void scatter(
    {{ stored }} *restrict set, const {{ real }} *restrict from, const int32_t *restrict near,
    const int begin, const int i, const int cx, const int cy, const int cz)
{
    for (int line = begin; line < begin + ROWS; ++line, from += BX) {
        const int y = line % BY - cy, z = line / BY - cz;
        const int dy = y < 0 ? -1 : y >= BY ? 1 : 0, dz = z < 0 ? -1 : z >= BZ ? 1 : 0;
        const int entry = {{ middle }} + 3 * dy{% if deep %} + 9 * dz{% endif %}, row = BX * (y - dy * BY + BY * (z - dz * BZ));
        const int first = cx > 0, end = cx > 0 ? 0 : BX - 1;
        store_row(set, near[entry], i, row + (cx < 0), from + first, BX - (cx != 0));
        if (cx != 0) store(set, near[entry - cx], i, row + BX - 1 - end, from[end]);
    }  // rows
}
{%- endif %}
{%- if walls or inbox %}

// The cells of a row that a direction brings something to from one neighbour: all but one, or the one that is reached through the end of the row.
typedef struct {
    int neighbour, first, count, upwind;  // upwind: the cell that brings something to the first
    int by_cells{% if inbox %}, by_inbox{% endif %};  // whether cells do{% if inbox %}, or the inbox{% endif %}; else a wall
} Part;

static inline __attribute__((always_inline)) Part part_of_row(
    const int32_t *restrict near{% if inbox %}, const int mask{% endif %}, const int line, const int end, const int cx, const int cy, const int cz)
{
    const int y = line % BY - cy, z = line / BY - cz;
    const int dy = y < 0 ? -1 : y >= BY ? 1 : 0, dz = z < 0 ? -1 : z >= BZ ? 1 : 0;
    const int entry = {{ middle }} + 3 * dy{% if deep %} + 9 * dz{% endif %}, row = BX * (y - dy * BY + BY * (z - dz * BZ));
    Part part;
    part.neighbour = end ? entry - cx : entry;
    part.first = end ? (cx > 0 ? 0 : BX - 1) : cx > 0;
    part.count = end ? 1 : BX - (cx != 0);
    part.upwind = row + (end ? (cx > 0 ? BX - 1 : 0) : cx < 0);
    part.by_cells = near[part.neighbour] >= 0{% if inbox %} && !(mask >> part.neighbour & 1){% endif %};
{%- if inbox %}
    part.by_inbox = mask >> part.neighbour & 1;
{%- endif %}
    return part;
}

// Of a part of the row `line` to which no cells bring something: fills to[x] with what direction i brings, and stores from[x] there.
static __attribute__((noinline)) void bring_to_part(
    {{ real }} *restrict to, const Part part, const int line, const int i, const {{ stored }} *restrict src, const int32_t *restrict near
    {%- if walls %}, const int32_t *restrict wall_rules, const {{ real }} *restrict wall_values{% endif %}{% if inbox %}, const int mask, const {{ real }} *restrict in{% endif %}, const int back)
{
    for (int x = part.first; x < part.first + part.count; ++x) {
        const Spot here = { {x, line % BY{% if deep %}, line / BY{% endif %}} };
        to[x] = brought(back, i, here, src, near{% if walls %}, wall_rules, wall_values{% endif %}{% if solids %}, 0, 0{% endif %}{% if inbox %}, mask, in{% endif %});
    }
}
{%- if walls and walls.mirrors %}

static __attribute__((noinline)) void send_from_part(
    {{ stored }} *restrict set, const {{ real }} *restrict from, const Part part, const int line, const int i, const int32_t *restrict near,
    const int32_t *restrict wall_rules{% if inbox %}, const int mask{% endif %})
{
    for (int x = part.first; x < part.first + part.count; ++x) {
        const Spot here = { {x, line % BY{% if deep %}, line / BY{% endif %}} };
        const Source source = source_of(i, here, near, wall_rules{% if solids %}, 0{% endif %}{% if inbox %}, mask{% endif %});
        store(set, source.slot, source.direction, source.cell, from[x]);
    }
}
{%- endif %}

// Fills to[cell] with what direction i, of velocity (cx, cy, cz), brings to the SLAB cells from the row `begin` on. `back`: what cells bring stands in
// these cells already, as the opposite direction.
static inline __attribute__((always_inline)) void gather_in_place(
    {{ real }} *restrict to, const {{ stored }} *restrict src, const int32_t *restrict near,
{%- if walls %}
    const int32_t *restrict wall_rules, const {{ real }} *restrict wall_values,
{%- endif %}
{%- if inbox %}
    const int mask, const {{ real }} *restrict in,
{%- endif %}
    const int back, const int begin, const int i, const int opposite, const int cx, const int cy, const int cz)
{
    for (int line = begin; line < begin + ROWS; ++line, to += BX) {
        for (int end = 0; end <= (cx != 0); ++end) {
            const Part part = part_of_row(near{% if inbox %}, mask{% endif %}, line, end, cx, cy, cz);
            if (part.by_cells && back) {
                load_row(to + part.first, src, near[{{ middle }}], opposite, line * BX + part.first, part.count);
            } else if (part.by_cells) {
                load_row(to + part.first, src, near[part.neighbour], i, part.upwind, part.count);
{%- if inbox %}
            } else if (part.by_inbox) {
                for (int x = part.first; x < part.first + part.count; ++x) to[x] = in[inbox_at(i, (Spot){ {x, line % BY{% if deep %}, line / BY{% endif %}} })];
{%- endif %}
            } else {
                bring_to_part(to, part, line, i, src, near{% if walls %}, wall_rules, wall_values{% endif %}{% if inbox %}, mask, in{% endif %}, back);
            }
        }
    }  // rows
}

// Stores from[cell] where that came from.
static inline __attribute__((always_inline)) void scatter_in_place(
    {{ stored }} *restrict set, const {{ real }} *restrict from, const int32_t *restrict near,
{%- if walls %}
    const int32_t *restrict wall_rules,
{%- endif %}
{%- if inbox %}
    const int mask,
{%- endif %}
    const int begin, const int i, const int opposite, const int cx, const int cy, const int cz)
{
{%- if walls and not walls.mirrors %}
    (void)wall_rules;  // none is a mirror
{%- endif %}
    for (int line = begin; line < begin + ROWS; ++line, from += BX) {
        for (int end = 0; end <= (cx != 0); ++end) {
            const Part part = part_of_row(near{% if inbox %}, mask{% endif %}, line, end, cx, cy, cz);
            if (part.by_cells) {
                store_row(set, near[part.neighbour], i, part.upwind, from + part.first, part.count);
{%- if walls and walls.mirrors %}
            } else if ({% if inbox %}!part.by_inbox{% else %}1{% endif %}) {
                send_from_part(set, from, part, line, i, near, wall_rules{% if inbox %}, mask{% endif %});
{%- endif %}
            } else {
                store_row(set, near[{{ middle }}], opposite, line * BX + part.first, from + part.first, part.count);
            }
        }
    }  // rows
}
{%- endif %}
{%- endcomponent in_place_functions %}

{# The walls and the inbox of a kernel in one set, as arguments. -#}
{% component beside_in_place(of, values, @walls, @inbox) -%}
{% if walls %}, {% if of.walls %}wall_rules{% if values %}, wall_values{% endif %}{% else %}0{% if values %}, 0{% endif %}{% endif %}{% endif %}{% if inbox %}, {% if of.inbox %}mask{% if values %}, in{% endif %}{% else %}0{% if values %}, 0{% endif %}{% endif %}{% endif %}
{%- endcomponent beside_in_place %}

{% component in_place(of, @real, @half, @pulls, @param_names) %}
{%- if of.links %}
    if (link_rows[slot] == 0) continue;  // all is solid
{%- endif %}
    for (int row = 0; row < BY * BZ; row += ROWS) {
        _Alignas(64) {{ real }} before[Q * SLAB], after[Q * SLAB];
{%- if of.links %}
        for (int cell = row * BX; cell < row * BX + SLAB; ++cell) {
            const Spot here = spot_of(cell);
            {{ real }} *const f = before + (cell - row * BX);
            if (of_row[cell] < 0) {
                for (int i = 0; i < Q; ++i) f[i * SLAB] = 0;
                continue;
            }
            for (int i = 0; i < Q; ++i) f[i * SLAB] = {{<brought_by of={of} direction="i" />}};
{%- if of.nodes %}
            {{<nodes_in_place of={of} />}}
{%- endif %}
        }  // cells
{%- elif of.walls or of.inbox %}
{%- for pull in pulls %}
        gather_in_place(before + {{ pull.at }} * SLAB, src, near{{<beside_in_place of={of} values={true} />}}, {% if of.in_place == "out" %}0{% else %}1{% endif %}, row, {{ pull.at }}, {{ pull.opposite }}, {{ pull.velocity }});
{%- endfor %}
{%- if of.nodes %}
        for (int cell = row * BX; cell < row * BX + SLAB; ++cell) {
            const Spot here = spot_of(cell);
            {{ real }} *const f = before + (cell - row * BX);
            {{<nodes_in_place of={of} />}}
        }  // cells
{%- endif %}
{%- else %}
{%- for pull in pulls %}
{%- if of.in_place == "out" %}
        gather(before + {{ pull.at }} * SLAB, src, near, row, {{ pull.at }}, {{ pull.velocity }});
{%- else %}
        load_row(before + {{ pull.at }} * SLAB, src, slot, {{ pull.opposite }}, row * BX, SLAB);
{%- endif %}
{%- endfor %}
{%- endif %}
        collide_gathered(SLAB, SLAB, before, SLAB, after{{ param_names }});
{%- if half %}
        move_cells_by_chance(after, SLAB, row * BX);
{%- endif %}
{%- if of.links %}
        for (int cell = row * BX; cell < row * BX + SLAB; ++cell) {
            const {{ real }} *const f = after + (cell - row * BX);
            if (of_row[cell] < 0) continue;
{%- if of.in_place == "out" %}
            const Spot here = spot_of(cell);
            for (int i = 0; i < Q; ++i) {
                const Source source = {{<source_at of={of} direction="i" />}};
                store(set, source.slot, source.direction, source.cell, f[OPPOSITE[i] * SLAB]);
            }
{%- else %}
            for (int i = 0; i < Q; ++i) store(set, slot, i, cell, f[i * SLAB]);
{%- endif %}
        }  // cells
{%- else %}
{%- for pull in pulls %}
{%- if of.in_place == "out" %}
        scatter{% if of.walls or of.inbox %}_in_place{% endif %}(set, after + {{ pull.opposite }} * SLAB, near{% if of.walls or of.inbox %}{{<beside_in_place of={of} values={false} />}}{% endif %}, row, {{ pull.at }}, {% if of.walls or of.inbox %}{{ pull.opposite }}, {% endif %}{{ pull.velocity }});
{%- else %}
        store_row(set, slot, {{ pull.at }}, row * BX, after + {{ pull.at }} * SLAB, SLAB);
{%- endif %}
{%- endfor %}
{%- endif %}
    }  // rows
{%- endcomponent in_place %}

{% component bring_back(of) %}
{%- if of.walls %}
    (void)wall_rules, (void)wall_values;
{%- endif %}
{%- if of.inbox %}
    (void)in;
{%- endif %}
{%- if of.links %}
    (void)distances;
{%- endif %}
    for (int cell = 0; cell < CELLS; ++cell) {
{%- if of.links %}
        if (of_row[cell] < 0) continue;
{%- endif %}
        {{<swap_in_cell of={of} />}}
    }  // cells
{%- endcomponent bring_back %}
