{# `late`: what walls return is asked for once all loads are under way; kernels with heavy links are faster so, others slower. -#}
{% component gather(walls, inbox, late, @real, @pulls) -%}
    // ---- pull
    {{ real }} f[Q];
{%- for pull in pulls %}
{%- if pull.rest %}
    f[{{ pull.at }}] = load(src, slot, {{ pull.at }}, cell);
{%- elif late %}
    f[{{ pull.at }}] = {{ pull.near }} < 0 ? 0 : load(src, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }});
{%- elif walls %}
    f[{{ pull.at }}] = {% if inbox %}mask >> ({{ pull.entry }}) & 1 ? in[inbox_at({{ pull.at }}, here)]
        : {% endif %}{{ pull.near }} < 0 ? from_wall(-1 - {{ pull.near }}, {{ pull.at }}, here, src, near, wall_rules, wall_values)
        : load(src, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }});
{%- elif inbox %}
    f[{{ pull.at }}] = mask >> ({{ pull.entry }}) & 1 ? in[inbox_at({{ pull.at }}, here)] : load(src, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }});
{%- else %}
    f[{{ pull.at }}] = load(src, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }});
{%- endif %}
{%- endfor %}
{%- if late %}
{%- for pull in pulls %}
{%- if not pull.rest %}
    if ({{ pull.near }} < 0) f[{{ pull.at }}] = from_wall(-1 - {{ pull.near }}, {{ pull.at }}, here, src, near, wall_rules, wall_values);
{%- endif %}
{%- endfor %}
{%- endif %}
{%- endcomponent gather %}

{% component finish(@param_names, @values) -%}
    collide(f{{ param_names }});
#pragma unroll
    for (int i = 0; i < {{ values }}; ++i) store(dst, slot, i, cell, f[i]);
{%- endcomponent finish %}

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

{% component exchange(@real, @stored, @moments) -%}
// What populations of a cell are made of: its moments, and values that several pairs of opposite directions need.
struct Parts {
    {{ real }} {% for name in moments.shared %}{% if not loop.first %}, {% endif %}{{ name }}{% endfor %};
};

static __device__ __forceinline__ Parts parts_of(const {{ stored }} *populations, const int slot, const int cell)
{
{%- for input in moments.populations.inputs %}
    const {{ real }} {{ input.text }} = populations[at(slot, {{ input.at }}, cell)];
{%- endfor %}
{%- for line in moments.body %}
    {{ line }}
{%- endfor %}
    return { {%- for name in moments.shared %}{% if not loop.first %}, {% endif %}{{ name }}{% endfor -%} };
}

{% for own in moments.rest -%}
// The population {{ own.at }}, which stays.
static __device__ __forceinline__ {{ real }} resting_{{ own.at }}(const Parts &parts)
{
{%- for name in moments.shared %}
    [[maybe_unused]] const {{ real }} {{ name }} = parts.{{ name }};
{%- endfor %}
    return {{ moments.populations.outputs[own.at].text }};
}

{% endfor -%}
{% for pair in moments.arrivals -%}
// The populations {{ pair.at }} and {{ pair.other }}.
static __device__ __forceinline__ void pair_{{ pair.at }}(const Parts &parts, {{ real }} &first, {{ real }} &second)
{
{%- for name in moments.shared %}
    [[maybe_unused]] const {{ real }} {{ name }} = parts.{{ name }};
{%- endfor %}
{%- for line in pair.body %}
    {{ line }}
{%- endfor %}
    first = {{ pair.first }}, second = {{ pair.second }};
}

{% endfor -%}
// The cells around a block that send something into it, by neighbour: that << 22, the cell there << 12, and the place among all cells.
static __device__ const int AROUND_BLOCK[] = {
{%- for line in moments.halo %}
    {{ line }}
{%- endfor %}
};
static constexpr int OUTSIDE = sizeof(AROUND_BLOCK) / sizeof(int), TURNS = (OUTSIDE + CELLS - 1) / CELLS;
{%- endcomponent exchange %}

{% component gather_moments(walls, inbox, nodes, @real, @moments, @pulls, @deep, @bx, @by) -%}
{%- if walls or inbox %}
    (void)xm, (void)xp, (void)ym, (void)yp{% if deep %}, (void)zm, (void)zp{% endif %};
{%- endif %}

    // ---- own cell, and cells around the block
    __shared__ {{ real }} places[4 * PLACES];
    const int own_place = cell % {{ bx }} + 1 + PX * (cell / {{ bx }} % {{ by }} + 1{% if deep %} + PY * (cell / {{ bx * by }} + 1){% endif %});
    const Parts parts = parts_of(src, slot, cell);
    Parts outside[TURNS];
    int place[TURNS];
#pragma unroll
    for (int turn = 0; turn < TURNS; ++turn) {
        const int number = cell + turn * CELLS, code = number < OUTSIDE ? AROUND_BLOCK[number] : -1;
        const int from = code < 0 ? -1 : near[code >> 22];
        place[turn] = from < 0 ? -1 : code & 4095;
        if (from >= 0) outside[turn] = parts_of(src, from, code >> 12 & 1023);
    }

    // ---- pair by pair: all cells give, then each takes
{%- if nodes %}
    {{ real }} f[Q];
{%- for own in moments.rest %}
    f[{{ own.at }}] = resting_{{ own.at }}(parts);
{%- endfor %}
{%- else %}
    {{ real }} {% for input in moments.sums %}{% if not loop.first %}, {% endif %}n_{{ loop.index0 }} = 0{% endfor %};
{%- for own in moments.rest %}
    {
        const {{ real }} own = resting_{{ own.at }}(parts);
        {{ own.text }}
    }
{%- endfor %}
{%- endif %}
{%- for pair in moments.arrivals %}
    {
        {{ real }} *const to = places + {{ loop.index0 % 2 }} * 2 * PLACES;
        pair_{{ pair.at }}(parts, to[own_place], to[PLACES + own_place]);
#pragma unroll
        for (int turn = 0; turn < TURNS; ++turn) {
            if (place[turn] >= 0) pair_{{ pair.at }}(outside[turn], to[place[turn]], to[PLACES + place[turn]]);
        }
        __syncthreads();
{%- for which in [0, 1] %}
{%- if which == 0 %}{% set at = pair.at %}{% else %}{% set at = pair.other %}{% endif %}
{%- set pull = pulls[at] %}
        const {{ real }} from_{{ which }} = {% if inbox %}mask >> ({{ pull.entry }}) & 1 ? in[inbox_at({{ at }}, here)] : {% endif -%}
            {% if walls %}{{ pull.near }} < 0 ? from_wall(-1 - {{ pull.near }}, {{ at }}, here, src, near, wall_rules, wall_values) : {% endif -%}
            to[{% if which == 1 %}PLACES + own_place + ({{ pair.offset }}){% else %}own_place - ({{ pair.offset }}){% endif %}];
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
{%- for output in collide.outputs %}
    store(dst, slot, {{ output.at }}, cell, {{ output.text }});
{%- endfor %}
{%- endcomponent finish_moments %}
