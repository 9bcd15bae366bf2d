{# `late`: what walls return is asked for once all loads are under way; kernels with heavy links are faster so, others slower. -#}
{# `exposes`: what cells show is not there yet. -#}
{% component gather(walls, inbox, late, exposes, @real, @pulls, @inputs) -%}
    // ---- pull
    {{ real }} f[{% if exposes %}Q{% else %}{{ inputs }}{% endif %}];
{%- for pull in pulls %}
{%- if exposes and not pull.own %}
{%- elif pull.rest %}
    f[{{ pull.at }}] = load(src, slot, {{ pull.row }}, cell);
{%- elif late %}
    f[{{ pull.at }}] = {{ pull.near }} < 0 ? 0 : load(src, {{ pull.near }}, {{ pull.row }}, {{ pull.cell }});
{%- elif walls and pull.seen is number %}
    f[{{ pull.at }}] = {{ pull.near }} < 0 ? beyond_walls({{ pull.seen }}, here, src, near, wall_rules, wall_values)
        : load(src, {{ pull.near }}, {{ pull.row }}, {{ pull.cell }});
{%- elif walls %}
    f[{{ pull.at }}] = {% if inbox %}mask >> ({{ pull.entry }}) & 1 ? in[inbox_at({{ pull.at }}, here)]
        : {% endif %}{{ pull.near }} < 0 ? from_wall(-1 - {{ pull.near }}, {{ pull.at }}, here, src, near, wall_rules, wall_values)
        : load(src, {{ pull.near }}, {{ pull.row }}, {{ pull.cell }});
{%- elif inbox %}
    f[{{ pull.at }}] = mask >> ({{ pull.entry }}) & 1 ? in[inbox_at({{ pull.at }}, here)] : load(src, {{ pull.near }}, {{ pull.row }}, {{ pull.cell }});
{%- else %}
    f[{{ pull.at }}] = load(src, {{ pull.near }}, {{ pull.row }}, {{ pull.cell }});
{%- endif %}
{%- endfor %}
{%- if late %}
{%- for pull in pulls %}
{%- if exposes and not pull.own %}
{%- elif pull.seen is number %}
    if ({{ pull.near }} < 0) f[{{ pull.at }}] = beyond_walls({{ pull.seen }}, here, src, near, wall_rules, wall_values);
{%- elif not pull.rest %}
    if ({{ pull.near }} < 0) f[{{ pull.at }}] = from_wall(-1 - {{ pull.near }}, {{ pull.at }}, here, src, near, wall_rules, wall_values);
{%- endif %}
{%- endfor %}
{%- endif %}
{%- endcomponent gather %}

{% component expose(@real, @around) -%}
{%- for line in around.idle %}
    {{ line }}
{%- endfor %}
{%- for input in around.kernel.inputs %}
    const {{ real }} {{ input.text }} = f[{{ input.at }}];
{%- endfor %}
{%- for line in around.kernel.body %}
    {{ line }}
{%- endfor %}

{%- for output in around.kernel.outputs %}
    store(populations, slot, {{ output.at }}, cell, {{ output.text }});
{%- endfor %}
{%- endcomponent expose %}

{% component relax(@param_names) -%}
    collide(f{{ param_names }});
{%- endcomponent relax %}

{% component as_stored_moments(@real, @half) -%}
    {{ real }} m[K];
{%- if half %}
    unsigned words[(K + 1) / 2];
    uint16_t narrow[K];
    round_moments(f, 0, words);
    for (int number = 0; number < K; ++number) narrow[number] = (uint16_t)(words[number / 2] >> number % 2 * 16);
    widen_moments(narrow, 1, m);
{%- else %}
    for (int number = 0; number < K; ++number) m[number] = f[number];
{%- endif %}
    populations_from(m, f);
{%- endcomponent as_stored_moments %}

{% component copy_values(to, into, from, of, @values) -%}
    for (int i = 0; i < {{ values }}; ++i) {{ to }}[at({{ into }}, i, cell)] = {{ from }}[at({{ of }}, i, cell)];
{%- endcomponent copy_values %}

{% component copy_fields(to, into, from, of) -%}
    for (int component = 0; component < FIELDS; ++component) {
        {{ to }}[field_at({{ into }}, component, cell)] = {{ from }}[field_at({{ of }}, component, cell)];
    }
{%- endcomponent copy_fields %}

{# An array that all threads of a share see. -#}
{% component array(type, name, count) -%}
    __shared__ {{ type }} {{ name }}[{{ count }}];
{%- endcomponent array %}

{# What all threads of a share have, together; the first thread knows it. -#}
{% component fold(type, name, value, merge) -%}
    __shared__ {{ type }} {{ name }}_of[threads];
    __syncthreads();
    {{ name }}_of[thread] = {{ value }};
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) {{ merge }}(&{{ name }}_of[thread], &{{ name }}_of[thread + half]);
    }
    const {{ type }} &{{ name }} = {{ name }}_of[0];
{%- endcomponent fold %}

{% component pair_of_cells(@real, @pulls, @param_names) -%}
    // ---- pull: of each pair one value comes from beside it, where the velocity has a part along x
    unsigned pairs[Q];
{%- for pull in pulls %}
{%- if pull.rest %}
    pairs[{{ pull.at }}] = load_pair(src, slot, {{ pull.at }}, cell);
{%- elif pull.along == 0 %}
    pairs[{{ pull.at }}] = load_pair(src, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }});
{%- elif pull.along == 1 %}
    pairs[{{ pull.at }}] = load_pair(src, {{ pull.row_near }}, {{ pull.at }}, {{ pull.row_cell }}) << 16
        | src[at({{ pull.near }}, {{ pull.at }}, {{ pull.cell }})];
{%- else %}
    pairs[{{ pull.at }}] = load_pair(src, {{ pull.row_near }}, {{ pull.at }}, {{ pull.row_cell }}) >> 16
        | (unsigned)src[at({{ pull.near }}, {{ pull.at }}, {{ pull.cell }})] << 16;
{%- endif %}
{%- endfor %}

    // ---- one cell after the other, what it becomes in the place of what it was
    {{ real }} f[Q];
#pragma unroll
    for (int i = 0; i < Q; ++i) f[i] = widened((uint16_t)pairs[i]);
    collide(f{{ param_names }});
#pragma unroll
    for (int i = 0; i < Q; ++i) {
        const unsigned second = pairs[i] >> 16;
        pairs[i] = second << 16 | narrowed(f[i]);
        f[i] = widened((uint16_t)second);
    }
    collide(f{{ param_names }});
#pragma unroll
    for (int i = 0; i < Q; ++i) store_pair(dst, slot, i, cell, (pairs[i] & 0xffff) | (unsigned)narrowed(f[i]) << 16);
{%- endcomponent pair_of_cells %}

{% component exchange(@real, @moments) -%}
// What enters a block of the populations of a cell beside it, by the neighbour that the cell lies in, goes to where it arrives. `inside`: whether
// there are cells of that neighbour below and above this one along each axis, a bit each.
static __device__ __forceinline__ void give_from(const int entry, const {{ real }} *m, {{ real }} *arrived, const int cell, const int inside)
{
    // All of them, before: threads of a warp stand beside different neighbours, and would compute one after the other.
    {{ real }} f[Q];
    populations_from(m, f);
    switch (entry) {
{%- for neighbour in moments.around %}
    case {{ neighbour.entry }}:
{%- for line in neighbour.gives %}
        {{ line }}
{%- endfor %}
        break;
{%- endfor %}
    }
}

// The cells around a block that send something into it: neighbour << 22, the cell there << 12, and `inside`.
static __device__ const int AROUND_BLOCK[] = {
{%- for line in moments.halo %}
    {{ line }}
{%- endfor %}
};
static constexpr int OUTSIDE = sizeof(AROUND_BLOCK) / sizeof(int), TURNS = (OUTSIDE + CELLS - 1) / CELLS;
{%- endcomponent exchange %}

{% component gather_moments(walls, inbox, nodes, @real, @moments, @pulls, @deep, @bx, @by, @bz) -%}
{%- if walls or inbox %}
    (void)xm, (void)xp, (void)ym, (void)yp{% if deep %}, (void)zm, (void)zp{% endif %};
{%- endif %}

    // ---- own cell, and cells around the block
    extern __shared__ {{ real }} arrived[];
    {{ real }} own[K], outside[TURNS][K] = {};
    int code[TURNS];
    load_moments(src, slot, cell, own);
#pragma unroll
    for (int turn = 0; turn < TURNS; ++turn) {
        const int number = cell + turn * CELLS;
        code[turn] = number < OUTSIDE ? AROUND_BLOCK[number] : -1;
        const int from = code[turn] < 0 ? -1 : near[code[turn] >> 22];
        if (from < 0) code[turn] = -1;
        if (from >= 0) load_moments(src, from, code[turn] >> 12 & 1023, outside[turn]);
    }

    // ---- populations go to where they arrive
{%- if nodes %}
    {{ real }} f[Q];
{%- else %}
    {{ real }} {% for input in moments.sums %}{% if not loop.first %}, {% endif %}n_{{ loop.index0 }} = 0{% endfor %};
{%- endif %}
    {
        const int inside = (cell % {{ bx }} > 0) | (cell % {{ bx }} < {{ bx - 1 }}) << 1
            | (cell / {{ bx }}{% if deep %} % {{ by }}{% endif %} > 0) << 2 | (cell / {{ bx }}{% if deep %} % {{ by }}{% endif %} < {{ by - 1 }}) << 3
{%- if deep %}
            | (cell / {{ bx * by }} > 0) << 4 | (cell / {{ bx * by }} < {{ bz - 1 }}) << 5
{%- endif %};
{%- if nodes %}
        populations_from(own, f);
{%- else %}
        {{ real }} f[Q];
        populations_from(own, f);
{%- for rest in moments.rest %}
        {
            const {{ real }} own = f[{{ rest.at }}];
            {{ rest.text }}
        }
{%- endfor %}
{%- endif %}
{%- for line in moments.own %}
        {{ line }}
{%- endfor %}
    }
#pragma unroll
    for (int turn = 0; turn < TURNS; ++turn) {
        if (code[turn] >= 0) give_from(code[turn] >> 22, outside[turn], arrived, code[turn] >> 12 & 1023, code[turn] & 63);
    }
    __syncthreads();

    // ---- what has arrived
{%- for pair in moments.arrivals %}
    {
{%- for which in [0, 1] %}
{%- if which == 0 %}{% set at = pair.at %}{% else %}{% set at = pair.other %}{% endif %}
{%- set pull = pulls[at] %}
        const {{ real }} from_{{ which }} = {% if inbox %}mask >> ({{ pull.entry }}) & 1 ? in[inbox_at({{ at }}, here)] : {% endif -%}
            {% if walls %}{{ pull.near }} < 0 ? from_wall(-1 - {{ pull.near }}, {{ at }}, here, src, near, wall_rules, wall_values) : {% endif -%}
            arrived[cell + {% if which == 0 %}{{ pair.first }}{% else %}{{ pair.second }}{% endif %}];
{%- endfor %}
{%- if nodes %}
        f[{{ pair.at }}] = from_0, f[{{ pair.other }}] = from_1;
{%- else %}
        const {{ real }} even = from_0 + from_1{% if pair.has_odd %}, odd = from_0 - from_1{% endif %};
{%- for line in pair.added %}
        {{ line }}
{%- endfor %}
{%- endif %}
    }
{%- endfor %}
{%- endcomponent gather_moments %}

{% component finish_moments(@real, @collide) -%}
    // ---- relax
{%- for input in collide.inputs %}
    const {{ real }} {{ input.text }} = n_{{ input.at }};
{%- endfor %}
{%- for line in collide.body %}
    {{ line }}
{%- endfor %}

    const {{ real }} after[K] = { {%- for output in collide.outputs %}{{ output.text }}, {% endfor -%} };
    store_moments(dst, slot, cell, after);
{%- endcomponent finish_moments %}

{% component includes() -%}
{%- endcomponent includes %}

{% component called_by_pointers() -%}
{%- endcomponent called_by_pointers %}

{% component store_same() -%}
#define STORE_SAME(place, value) ((void)atomicExch(&(place), value))
{%- endcomponent store_same %}

{% component copy_accumulators(number, accumulators) -%}
    for (int at = 0; at < {{ accumulators }}; ++at) dst[at_{{ number }}(slot, at, cell)] = src[at_{{ number }}(from[slot], at, cell)];
{%- endcomponent copy_accumulators %}

{# The part of an array that a thread takes, and the sum of what is before it. -#}
{% component run_of_sums(threads) -%}
    // Each thread sums a run of the array; then the sums of all threads are summed.
    constexpr int threads = {{ threads }};
    __shared__ int sums[threads];
    const int thread = threadIdx.x, run = (size + threads - 1) / threads;
    const int begin = run * thread < size ? run * thread : size, end = begin + run < size ? begin + run : size;
    int sum = 0;
    for (int at = begin; at < end; ++at) sum += counts[at];
    sums[thread] = sum;
    __syncthreads();
    for (int step = 1; step < threads; step *= 2) {
        const int before = thread >= step ? sums[thread - step] : 0;
        __syncthreads();
        sums[thread] += before;
        __syncthreads();
    }
    sum = sums[thread] - sum;
{%- endcomponent run_of_sums %}
