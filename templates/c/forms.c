{% component gather(name, walls, inbox, @real, @stored, @middle, @deep, @moments, @around) -%}
static inline __attribute__((always_inline)) void {{ name }}(
    {{ real }} *restrict to, {% if moments %}const {{ real }} *restrict all, {% endif %}const {{ stored }} *restrict src, const int32_t *restrict near,
{%- if walls %}
    const int32_t *restrict wall_rules, const {{ real }} *restrict wall_values,
{%- endif %}
{%- if inbox %}
    const int mask, const {{ real }} *restrict in,
{%- endif %}
    const int begin, const int i, const int cx, const int cy, const int cz)
{
{%- if moments and not walls %}
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
{%- if inbox %}
            if (mask >> from & 1) {
                for (int x = first; x < last; ++x) to[x] = in[inbox_at(i, (Spot){ {x, y{% if deep %}, z{% endif %}} })];
            } else
{%- endif %}
{%- if walls %}
            if (near[from] < 0) {
                for (int x = first; x < last; ++x) {
                    to[x] = {% if around %}i >= Q ? beyond_walls(i - Q, (Spot){ {x, y{% if deep %}, z{% endif %}} }, src, near, wall_rules, wall_values) : {% endif %}from_wall(-1 - near[from], i, (Spot){ {x, y{% if deep %}, z{% endif %}} }, src, near, wall_rules, wall_values);
                }
            } else
{%- endif %}
{%- if moments %}
            memcpy(to + first, all + (size_t)i * PLACES + spot_in_all(first - cx, y - cy, z - cz), sizeof({{ real }}) * {% if end %}1{% else %}(size_t)(BX - (cx != 0)){% endif %});
{%- else %}
            load_row(to + first, src, near[from], {% if around %}i < Q ? i : SHOWN[i - Q]{% else %}i{% endif %}, upwind, {% if end %}1{% else %}BX - (cx != 0){% endif %});
{%- endif %}
        }
{%- endfor %}
    }  // rows
}
{%- endcomponent gather %}

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

{% component as_stored_moments(@real, @half) -%}
    {{ real }} m[K];
{%- if half %}
    uint16_t narrow[K];
    round_moments(f, 1, 0, narrow);
    widen_moments(narrow, 1, m);
{%- else %}
    memcpy(m, f, sizeof m);
{%- endif %}
    populations_from(m, f);
{%- endcomponent as_stored_moments %}

{% component copy_values(to, into, from, of, @stored, @values) -%}
    memcpy({{ to }} + at({{ into }}, 0, 0), {{ from }} + at({{ of }}, 0, 0), sizeof({{ stored }}) * ({{ values }} * PITCH));
{%- endcomponent copy_values %}

{% component copy_fields(to, into, from, of, @real) -%}
    memcpy({{ to }} + field_at({{ into }}, 0, 0), {{ from }} + field_at({{ of }}, 0, 0), sizeof({{ real }}) * (FIELDS * CELLS));
{%- endcomponent copy_fields %}

{% component array(type, name, count) -%}
    {{ type }} {{ name }}[{{ count }}];
{%- endcomponent array %}

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

{% component copy_accumulators(number, accumulators) -%}
    memcpy(dst + at_{{ number }}(slot, 0, 0), src + at_{{ number }}(from[slot], 0, 0), sizeof(double) * ({{ accumulators }} * CELLS));
{%- endcomponent copy_accumulators %}

{# All of an array: there is one thread. -#}
{% component run_of_sums(threads) -%}
    const int thread = 0, threads = 1, begin = 0, end = size;  // a GPU has {{ threads }}
    int sum = 0;
{%- endcomponent run_of_sums %}
