{% component sources(of) -%}
{%- if of.in_one_pass -%}
{{<tile_tables />}}

{% endif -%}
{%- endcomponent sources %}

{# Two cells of a row for each thread. -#}
{% component fast(of, @pairs) %}
{%- if of.in_place != "back" %}
{%- for line in pairs %}
    {{ line }}
{%- endfor %}
{% endif %}
    {{<pair_of_cells of={of} />}}
{%- endcomponent fast %}

{# A cell for each thread. What solids send back is asked for by all threads, a link each: in one block cells have many and others none. -#}
{% component cells_at_once(of, @real, @stored_rows) %}
{%- if not of.links %}
{{- body }}
{%- elif not of.collides %}
    if (of_row[cell] < 0) {{ of.signature.skip }};
{{- body }}
{%- else %}
    __shared__ {{ real }} back[Q][threads];
    __shared__ int list[Q * threads], listed;
    for (int first = 0; first < CELLS; first += threads) {
        const int cell = first + thread, solid = cell < CELLS && of_row[cell] < 0;
        if (thread == 0) listed = 0;
        __syncthreads();
        if (cell < CELLS) {
            UNROLL for (int i = 0; i < Q; ++i) {
                if (of_row[i * CELLS + cell] > 0) list[atomicAdd(&listed, 1)] = i * threads + thread;
            }
        }
        __syncthreads();
        for (int number = thread; number < listed; number += threads) {
            const int i = list[number] / threads, beside = list[number] % threads, other = first + beside;
            const int link = of_row[i * CELLS + other];
            back[i][beside] =
                off_solid(link - 1, i, spot_of(other), src, near, of_row, distances + row_at, wall_rules, wall_values);
        }
        __syncthreads();
        if (solid) {
            UNROLL for (int i = 0; i < {{ stored_rows }}; ++i) dst[at(slot, i, cell)] = src[at(slot, i, cell)];
        } else if (cell < CELLS) {
{{- body | indent(width=8) }}
        }
        __syncthreads();
    }
{%- endif %}
{%- endcomponent cells_at_once %}

{# Threads exchange populations that they make of moments, but where solids are. -#}
{% component gather(of, @real, @moments, @around, @upwind, @deep) %}
{%- if (of.walls or of.inbox or around and not of.exposes or not moments) and not of.stored %}
{%- for line in upwind %}
    {{ line }}
{%- endfor %}
{%- endif %}
{%- if of.walls or of.inbox %}
    const Spot here = { {x, y{% if deep %}, z{% endif %}} };
{%- endif %}
{% if moments and of.stored %}
    {{ real }} m[K], f[Q];
    load_moments(src, slot, cell, m);
    populations_from(m, f);
{%- elif moments and not of.links %}
    {{<gather_moments of={of} />}}
{%- else %}
    {{<pull of={of} />}}
{%- endif %}
{%- endcomponent gather %}

{# Of blocks with solids, what walls return is asked for once all loads are under way; kernels with heavy links are faster so, others slower.
   What cells show is not there yet where it is exposed. -#}
{% component pull(of, @real, @pulls, @inputs, @inbox, @around) -%}
    // ---- pull
    {{ real }} f[{% if of.exposes %}Q{% else %}{{ inputs }}{% endif %}];
{%- for pull in pulls %}
{%- if pull.seen is number or (of.exposes or of.in_one_pass) and not pull.own %}
{%- elif pull.rest or of.stored %}
    f[{{ pull.at }}] = load(src, slot, {{ pull.row }}, cell);
{%- elif of.links and of.collides %}
    f[{{ pull.at }}] = {% if of.inbox %}mask >> ({{ pull.entry }}) & 1 ? in[inbox_at({{ pull.at }}, here)]
        : {% endif %}{{ pull.near }} < 0 ? 0 : load(src, {{ pull.near }}, {{ pull.row }}, {{ pull.cell }});
{%- elif of.walls %}
    f[{{ pull.at }}] = {% if of.inbox %}mask >> ({{ pull.entry }}) & 1 ? in[inbox_at({{ pull.at }}, here)]
        : {% endif %}{{ pull.near }} < 0 ? from_wall(-1 - {{ pull.near }}, {{ pull.at }}, here, src, near, wall_rules, wall_values)
        : load(src, {{ pull.near }}, {{ pull.row }}, {{ pull.cell }});
{%- elif of.inbox %}
    f[{{ pull.at }}] = mask >> ({{ pull.entry }}) & 1 ? in[inbox_at({{ pull.at }}, here)] : load(src, {{ pull.near }}, {{ pull.row }}, {{ pull.cell }});
{%- else %}
    f[{{ pull.at }}] = load(src, {{ pull.near }}, {{ pull.row }}, {{ pull.cell }});
{%- endif %}
{%- endfor %}
{%- if of.links and of.collides %}
{%- for pull in pulls %}
{%- if not pull.rest and pull.seen is not number %}
    if ({{ pull.near }} < 0{% if of.inbox %} && !(mask >> ({{ pull.entry }}) & 1){% endif %}) f[{{ pull.at }}] = from_wall(-1 - {{ pull.near }}, {{ pull.at }}, here, src, near, wall_rules, wall_values);
{%- endif %}
{%- endfor %}
{%- endif %}
{%- if of.in_one_pass %}
    {{<see_in_tile />}}
{%- elif around and not of.exposes %}
{{-<see of={of} />}}
{%- endif %}
{%- endcomponent pull %}

{# What cells around show. -#}
{% component see(of, @real, @inbox, @around) %}
{%- for way in around.ways %}
{%- if of.walls or of.inbox %}
    if ({{ way.near }} >= 0) {
{%- for value in way.values %}
        f[{{ value.at }}] = {{<load_shown slot={way.near} row={value.row} cell={way.cell} />}};
{%- endfor %}
{%- if of.inbox %}
    } else if ({{ way.near }} == COARSER) {
{%- for value in way.values %}
        f[{{ value.at }}] = in[inbox_at({{ value.at }}, here)];
{%- endfor %}
{%- endif %}
{%- if of.walls %}
    } else {
        const Seen seen = all_seen_behind({{ loop.index0 }}, here, src, near, wall_rules, wall_values{% if inbox %}, {% if of.inbox %}in{% else %}0{% endif %}{% endif %});
{%- for value in way.values %}
        f[{{ value.at }}] = seen.values[{{ value.shown }}];
{%- endfor %}
{%- endif %}
    }
{%- else %}
{%- for value in way.values %}
    f[{{ value.at }}] = {{<load_shown slot={way.near} row={value.row} cell={way.cell} />}};
{%- endfor %}
{%- endif %}
{%- endfor %}
{%- endcomponent see %}

{# In one pass many cells of many neighbours are read: their slots lie in memory that the threads share. -#}
{% component near_of(of) -%}
{%- if of.in_one_pass %}
    __shared__ int near[NEAR];
    if (cell < NEAR) near[cell] = neighbours[(size_t)slot * NEAR + cell];
    __syncthreads();
{%- else %}
    const int *const near = neighbours + (size_t)slot * NEAR;
{%- endif %}
{%- endcomponent near_of %}

{# What cells of the block and around it show, in memory that its threads share. -#}
{% component see_in_tile(@real, @around, @param_names, @deep) -%}
    // ---- what cells show: those of the layer around the block, and the own one
    __shared__ {{ real }} tile[{{ around.values_shown }}][{{ around.tile.cells }}];
    {{ real }} shown[{{ around.values_shown }}];
    for (int number = cell; number < {{ around.tile.layer_cells }}; number += CELLS) {
        const int place = LAYER[number];
        const Spot there = { {place % {{ around.tile.row }} - 1, place / {{ around.tile.row }} % {{ around.tile.rows }} - 1{% if deep %}, place / {{ around.tile.plane }} - 1{% endif %}} };
        {{ real }} arrives[Q];
        arriving(there, src, near, arrives);
        show(arrives, shown{{ param_names }});
        UNROLL for (int value = 0; value < {{ around.values_shown }}; ++value) tile[value][place] = shown[value];
    }
    const int own = {{ around.tile.first }} + x + {{ around.tile.row }} * {% if deep %}(y + {{ around.tile.rows }} * z){% else %}y{% endif %};
    show(f, shown{{ param_names }});
    UNROLL for (int value = 0; value < {{ around.values_shown }}; ++value) {
        f[{{ around.first }} + value] = shown[value];
        tile[value][own] = shown[value];
    }
    __syncthreads();
{%- for way in around.ways %}
{%- for value in way.values %}
    f[{{ value.at }}] = tile[{{ value.shown }}][own {{ way.further }}];
{%- endfor %}
{%- endfor %}
{%- endcomponent see_in_tile %}

{# Before the kernel that works on a tile. -#}
{% component tile_tables(@real, @stored, @around, @param_decls, @bx, @by, @bz, @middle) -%}
// The cells of the layer around a block that cells of the block look at: their places in a tile.
static __device__ const unsigned short LAYER[] = {
{%- for line in around.tile.layer %}
    {{ line }}
{%- endfor %}
};

// All that arrives in a cell of that layer. Along each axis there are three places that something comes from.
static __device__ __forceinline__ void arriving(const Spot there, const {{ stored }} *src, const int *near, {{ real }} (&f)[Q])
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    int side[DIM][3], index[DIM][3];
    UNROLL for (int axis = 0, step = 1, stride = 1; axis < DIM; step *= 3, stride *= width[axis], ++axis) {
        UNROLL for (int from = 0; from < 3; ++from) {
            const int place = there.at[axis] + 1 - from, beside = place < 0 ? -1 : place >= width[axis] ? 1 : 0;
            side[axis][from] = step * beside;
            index[axis][from] = stride * (place - beside * width[axis]);
        }
    }
{%- for arrival in around.tile.arrivals %}
    f[{{ arrival.at }}] = load(src, near[{{ middle }} + {{ arrival.side }}], {{ arrival.at }}, {{ arrival.index }});
{%- endfor %}
}

// What a cell shows, from what arrives in it.
static __device__ __forceinline__ void show(const {{ real }} *f, {{ real }} (&shown)[{{ around.values_shown }}]{{ param_decls }})
{
{%- for line in around.expose.idle %}
    {{ line }}
{%- endfor %}
{%- for input in around.expose.inputs %}
    const {{ real }} {{ input.text }} = f[{{ input.at }}];
{%- endfor %}
{%- for line in around.expose.body %}
    {{ line }}
{%- endfor %}

{%- for output in around.expose.outputs %}
    shown[{{ loop.index0 }}] = {{ output.text }};
{%- endfor %}
}
{%- endcomponent tile_tables %}

{% component tables_of_seen(@walls, @inbox, @solids) -%}
{%- if walls %}
{{<shown_of_seen />}}
{%- endif %}
{%- if solids %}

{{<from_of_seen />}}
{%- endif %}
{%- if walls or inbox %}

{{<ways_of_seen />}}
{%- endif %}
{%- endcomponent tables_of_seen %}

{# All values that are seen along a direction, at once. -#}
{% component all_seen_behind(@real, @stored, @around, @inbox) -%}
// All that is seen from `here` along a direction, by its number, at a place behind walls.
static __device__ __noinline__ Seen all_seen_behind(
    const int way, const Spot here, const {{ stored }} *src, const int *near, const int *wall_rules, const {{ real }} *wall_values
    {%- if inbox %}, const {{ real }} *in{% endif %})
{
    const Behind behind = behind_of(here, WAYS[way], near, wall_rules);
    Seen seen;
    seen.is_there = 1;
    UNROLL for (int value = 0; value < {{ around.values_shown }}; ++value) {
        const int which = WHICH[way][value];
        seen.values[value] = which < 0 ? 0 : seen_behind(behind, which, here, src, wall_rules, wall_values{% if inbox %}, in{% endif %});
    }
    return seen;
}
{%- endcomponent all_seen_behind %}

{% component each_of_them(of) %}
{{- body }}
{%- endcomponent each_of_them %}

{% component off_links(of) %}
{%- if not of.collides %}
    {{<link_by_link of={of} />}}
{%- else %}
    UNROLL for (int i = 0; i < Q; ++i) {
        if (of_row[i * CELLS + cell] > 0{% if of.inbox %} && !(mask >> neighbour_of(beyond(here, i, -1)) & 1){% endif %}) f[i] = back[i][thread];
    }
{%- endif %}
{%- endcomponent off_links %}

{% component finish_cells(of, @real, @moments, @around, @pulls, @param_names) %}

{%- if of.stored %}
    {{<expose form={around.expose_stored} />}}
{%- elif of.exposes %}
    {{<expose form={around.expose} />}}
{%- elif of.steps_back and of.walls %}
    {{ real }} back[Q];
    {
        const Spot here = spot_of(cell);
        {{<readers_backwards of={of} />}}
        {{<off_walls_backwards of={of} />}}
    }
    collide_backwards(f, back, slot, cell, adjoint, by_members{{ param_names }});
{%- elif not of.collides %}
    {{ real }} weight[Q];
{%- for pull in pulls %}
{%- if of.steps_back and not pull.rest %}
    weight[{{ pull.at }}] = load(arrived, {{ pulls[pull.opposite].near }}, {{ pull.at }}, {{ pulls[pull.opposite].cell }});
{%- else %}
    weight[{{ pull.at }}] = load({% if of.steps_back %}arrived{% else %}adjoint{% endif %}, slot, {{ pull.at }}, cell);
{%- endif %}
{%- endfor %}
    collide_backwards(f, weight, slot, cell, adjoint, by_members{{ param_names }});
{%- elif moments and not of.links and not of.nodes and not around %}
    {{<finish_moments />}}
{%- else %}
    {{<finish />}}
{%- endif %}
{%- endcomponent finish_cells %}

{% component expose(form, @real) -%}
{%- for line in form.idle %}
    {{ line }}
{%- endfor %}
{%- for input in form.inputs %}
    const {{ real }} {{ input.text }} = f[{{ input.at }}];
{%- endfor %}
{%- for line in form.body %}
    {{ line }}
{%- endfor %}

{%- for output in form.outputs %}
    store(populations, slot, {{ output.at }}, cell, {{ output.text }});
{%- endfor %}
{%- endcomponent expose %}

{% component relax(@param_names) -%}
    collide(f{{ param_names }});
{%- endcomponent relax %}

{% component as_stored_moments(@real, @half, @moments) -%}
    {{ real }} m[K];
{%- if half %}
    unsigned words[({{ moments.number }} + 1) / 2];
    uint16_t narrow[{{ moments.number }}];
    round_moments(f, 0, words);
    for (int number = 0; number < {{ moments.number }}; ++number) narrow[number] = (uint16_t)(words[number / 2] >> number % 2 * 16);
    widen_moments(narrow, 1, m);
{%- if moments.states > 0 %}
    for (int value = MOMENTS; value < K; ++value) m[value] = f[value];
{%- endif %}
{%- else %}
    for (int number = 0; number < K; ++number) m[number] = f[number];
{%- endif %}
    populations_from(m, f);
{%- endcomponent as_stored_moments %}

{% component copy_values(to, into, from, of, @stored_rows) -%}
    for (int i = 0; i < {{ stored_rows }}; ++i) {{ to }}[at({{ into }}, i, cell)] = {{ from }}[at({{ of }}, i, cell)];
{%- endcomponent copy_values %}

{% component copy_fields(to, into, from, of) -%}
    for (int component = 0; component < FIELDS; ++component) {
        {{ to }}[field_at({{ into }}, component, cell)] = {{ from }}[field_at({{ of }}, component, cell)];
    }
{%- endcomponent copy_fields %}

{# An array that all threads of a chunk see. -#}
{% component array(type, name, count) -%}
    __shared__ {{ type }} {{ name }}[{{ count }}];
{%- endcomponent array %}

{# What all threads of a chunk have, together. -#}
{% component fold(type, name, value, merge) -%}
    __shared__ {{ type }} {{ name }}_of[threads];
    __syncthreads();
    {{ name }}_of[thread] = {{ value }};
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) {{ merge }}(&{{ name }}_of[thread], &{{ name }}_of[thread + half]);
    }
    __syncthreads();
    const {{ type }} &{{ name }} = {{ name }}_of[0];
{%- endcomponent fold %}

{% component pair_of_cells(of, @real, @pulls, @param_names) -%}
{% if of.in_place == "back" -%}
    unsigned pairs[Q];
{%- for pull in pulls %}
    pairs[{{ pull.at }}] = load_pair(src, slot, {{ pull.opposite }}, cell);
{%- endfor %}
{%- else -%}
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
{%- endif %}

    // ---- one cell after the other, what it becomes in the place of what it was
    {{ real }} f[Q];
    UNROLL for (int i = 0; i < Q; ++i) f[i] = widened((uint16_t)pairs[i]);
    collide(f{{ param_names }});
    move_by_chance(f, cell);
    UNROLL for (int i = 0; i < Q; ++i) {
        const unsigned second = pairs[i] >> 16;
        pairs[i] = second << 16 | narrowed(f[i]);
        f[i] = widened((uint16_t)second);
    }
    collide(f{{ param_names }});
    move_by_chance(f, cell + 1);
{%- if of.in_place != "out" %}
    UNROLL for (int i = 0; i < Q; ++i) store_pair({% if of.in_place %}set{% else %}dst{% endif %}, slot, i, cell, (pairs[i] & 0xffff) | (unsigned)narrowed(f[i]) << 16);
{%- else %}
    UNROLL for (int i = 0; i < Q; ++i) pairs[i] = (pairs[i] & 0xffff) | (unsigned)narrowed(f[i]) << 16;
{%- for pull in pulls %}
{%- if pull.rest %}
    store_pair(set, slot, {{ pull.at }}, cell, pairs[{{ pull.at }}]);
{%- elif pull.along == 0 %}
    store_pair(set, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }}, pairs[{{ pull.opposite }}]);
{%- elif pull.along == 1 %}
    set[at({{ pull.row_near }}, {{ pull.at }}, {{ pull.row_cell }})] = (uint16_t)(pairs[{{ pull.opposite }}] >> 16);
    set[at({{ pull.near }}, {{ pull.at }}, {{ pull.cell }})] = (uint16_t)pairs[{{ pull.opposite }}];
{%- else %}
    set[at({{ pull.row_near }}, {{ pull.at }}, {{ pull.row_cell }} + 1)] = (uint16_t)pairs[{{ pull.opposite }}];
    set[at({{ pull.near }}, {{ pull.at }}, {{ pull.cell }})] = (uint16_t)(pairs[{{ pull.opposite }}] >> 16);
{%- endif %}
{%- endfor %}
{%- endif %}
{%- endcomponent pair_of_cells %}

{# What stores to other cells, at addresses that are made again. In 16 bits kernels that only stream between blocks are faster without. -#}
{% component places_again(lines) %}
    {
        // Addresses are made again: kept since the loads, they take twice as many registers as populations, and fewer threads are under way.
        {{<place_again />}}
        const int *const near = slots;
        const int cell = place;
{%- for line in lines %}
        {{ line }}
{%- endfor %}
{{- body }}
    }
{%- endcomponent places_again %}

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

{% component gather_moments(of, @real, @moments, @around, @inputs, @pulls, @deep, @bx, @by, @bz) -%}
{%- set whole = of.nodes or around -%}
{%- if of.walls or of.inbox or around and not of.exposes %}
    (void)xm, (void)xp, (void)ym, (void)yp{% if deep %}, (void)zm, (void)zp{% endif %};
{%- endif %}

    // ---- own cell, and cells around the block
    extern __shared__ {{ real }} arrived[];
    {{ real }} own[K], outside[TURNS][K] = {};
    int code[TURNS];
    load_moments(src, slot, cell, own);
    UNROLL for (int turn = 0; turn < TURNS; ++turn) {
        const int number = cell + turn * CELLS;
        code[turn] = number < OUTSIDE ? AROUND_BLOCK[number] : -1;
        const int from = code[turn] < 0 ? -1 : near[code[turn] >> 22];
        if (from < 0) code[turn] = -1;
        if (from >= 0) load_moments(src, from, code[turn] >> 12 & 1023, outside[turn]);
    }

    // ---- populations go to where they arrive
{%- if whole %}
    {{ real }} f[{% if of.exposes %}Q{% else %}{{ inputs }}{% endif %}];
{%- else %}
    {{ real }} {% for input in moments.sums %}{% if not loop.first %}, {% endif %}n_{{ loop.index0 }} = 0{% endfor %};
{%- endif %}
    {
        const int inside = (cell % {{ bx }} > 0) | (cell % {{ bx }} < {{ bx - 1 }}) << 1
            | (cell / {{ bx }}{% if deep %} % {{ by }}{% endif %} > 0) << 2 | (cell / {{ bx }}{% if deep %} % {{ by }}{% endif %} < {{ by - 1 }}) << 3
{%- if deep %}
            | (cell / {{ bx * by }} > 0) << 4 | (cell / {{ bx * by }} < {{ bz - 1 }}) << 5
{%- endif %};
{%- if whole %}
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
    UNROLL for (int turn = 0; turn < TURNS; ++turn) {
        if (code[turn] >= 0) give_from(code[turn] >> 22, outside[turn], arrived, code[turn] >> 12 & 1023, code[turn] & 63);
    }
    __syncthreads();

    // ---- what has arrived
{%- for pair in moments.arrivals %}
    {
{%- for which in [0, 1] %}
{%- if which == 0 %}{% set at = pair.at %}{% else %}{% set at = pair.other %}{% endif %}
{%- set pull = pulls[at] %}
        const {{ real }} from_{{ which }} = {% if of.inbox %}mask >> ({{ pull.entry }}) & 1 ? in[inbox_at({{ at }}, here)] : {% endif -%}
            {% if of.walls %}{{ pull.near }} < 0 ? from_wall(-1 - {{ pull.near }}, {{ at }}, here, src, near, wall_rules, wall_values) : {% endif -%}
            arrived[cell + {% if which == 0 %}{{ pair.first }}{% else %}{{ pair.second }}{% endif %}];
{%- endfor %}
{%- if whole %}
        f[{{ pair.at }}] = from_0, f[{{ pair.other }}] = from_1;
{%- else %}
        const {{ real }} even = from_0 + from_1{% if pair.has_odd %}, odd = from_0 - from_1{% endif %};
{%- for line in pair.added %}
        {{ line }}
{%- endfor %}
{%- endif %}
    }
{%- endfor %}
{%- if around and not of.exposes %}
{{-<see of={of} />}}
{%- endif %}
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

{% component next_of() -%}
#define NEXT_OF(count) atomicAdd(&(count), 1)
{%- endcomponent next_of %}

{% component lowest() -%}
#define LOWEST(bits) (__ffs((int)(bits)) - 1)
{%- endcomponent lowest %}

{% component set_bits() -%}
#define SET_BITS(place, bits) atomicOr(&(place), bits)
{%- endcomponent set_bits %}

{% component least_of() -%}
// Numbers that are not negative are in the order of their bits.
#define LEAST_OF(place, value) ((void)atomicMin((unsigned long long *)&(place), (unsigned long long)__double_as_longlong(value)))
{%- endcomponent least_of %}

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

{# Threads of which each has a direction of a cell. -#}
{% component sends_anything(ways) -%}
    if (!(mask & {{ ways }}[direction])) return;
{%- endcomponent sends_anything %}

{% component each_way(ways) %}
{{- body }}
{%- endcomponent each_way %}

{# A thread for each place in a cell; the first sums up. -#}
{% component sums_of_children(share, pass, @real) -%}
        for (int first = 0; first < listed; first += LANES / CHILDREN) {
            const int at = first + lane / CHILDREN;
            const Spot here = spot_of(list[at < listed ? at : 0]);
            {{ real }} *const all = to + inbox_at(direction, here);
            for (int then = 0; then < 2; ++then) {
                if (!(parts >> then & 1)) continue;
                const {{ real }} part = at < listed ? from_finer(&interface, &own, direction, here, lane % CHILDREN, then{{ pass }}) : 0;
                {{ real }} sum = 0;
                for (int child = 0; child < CHILDREN; ++child) sum += SHUFFLE(part, child, CHILDREN);
                if (at < listed && lane % CHILDREN == 0) *all = then ? *all + {{ share }} * sum : {{ share }} * sum;
            }
        }
{%- endcomponent sums_of_children %}

{# How the declaration of a kernel begins. -#}
{% component opening(of) -%}
extern "C" __global__ void __launch_bounds__({{ of.threads }}{% if of.resident %}, RESIDENT({{ of.resident }}){% endif %})
{{ of.symbol }}(
{%- endcomponent opening %}

{% component collide_backwards(@real, @stored, @adjoint, @param_decls) -%}
// Makes of derivatives by what a cell becomes, weight, those by what has arrived in it, f, and those by parameters.
static __device__ __forceinline__ void collide_backwards(
    const {{ real }} *f, const {{ real }} *weight, const int slot, const int cell, {{ stored }} *adjoint, double *by_members{{ param_decls }})
{
    (void)f, (void)by_members;
{%- for line in adjoint.collide.idle %}
    {{ line }}
{%- endfor %}
{%- for input in adjoint.collide.inputs %}
    const {{ real }} {{ input.text }} = f[{{ input.at }}];
{%- endfor %}
{%- for input in adjoint.collide.weights %}
    const {{ real }} {{ input.text }} = weight[{{ input.at }}];
{%- endfor %}
{%- for line in adjoint.collide.body %}
    {{ line }}
{%- endfor %}

{%- for output in adjoint.collide.outputs %}
    store(adjoint, slot, {{ output.at }}, cell, {{ output.text }});
{%- endfor %}
{%- for output in adjoint.collide.by_members %}
    by_members[((size_t)slot * {{ adjoint.members }} + {{ output.at }}) * CELLS + (size_t)cell] += {{ output.text }};
{%- endfor %}
}
{%- endcomponent collide_backwards %}

{% component stream_functions() -%}
{%- endcomponent stream_functions %}

{# Of each direction, from the cell that reads it; 0 where there is none. -#}
{% component readers_backwards(of, @interface) -%}
    UNROLL for (int i = 0; i < Q; ++i) {
        const Spot reader = beyond(here, i, 1);
        const int from = near[neighbour_of(reader)];
        back[i] = {% if of.walls or interface %}from < 0{% if of.links %} || (of_row != 0 && of_row[OPPOSITE[i] * CELLS + cell] != 0){% endif %} ? 0 : {% endif %}load(arrived, from, i, index_of(reader));
    }
{%- endcomponent readers_backwards %}

{% component stream_backwards(of, @real) %}
{%- if of.links %}
    if (of_row != 0 && of_row[cell] < 0) {{ of.signature.skip }};
{%- endif %}
    const Spot here = spot_of(cell);
    {{ real }} back[Q];
    {{<readers_backwards of={of} />}}
{%- if of.walls %}
    {{<off_walls_backwards of={of} />}}
{%- endif %}
    UNROLL for (int i = 0; i < Q; ++i) store(adjoint, slot, i, cell, back[i]);
{%- endcomponent stream_backwards %}

{% component in_place_functions() -%}
{%- endcomponent in_place_functions %}

{# Kernels in the only set of populations. -#}
{% component in_place(of, @real, @upwind, @pulls, @half) %}
{%- if of.links %}
    if (of_row[cell] < 0) {{ of.signature.skip }};
{%- endif %}
{%- if of.walls or of.inbox %}
    const Spot here = spot_of(cell);
    {{ real }} f[Q];
{%- for pull in pulls %}
    f[{{ pull.at }}] = {{<brought_by of={of} direction={pull.at} />}};
{%- endfor %}
{%- if of.nodes %}
    {{<nodes_in_place of={of} />}}
{%- endif %}
{%- else %}
{%- if of.in_place == "out" %}
{%- for line in upwind %}
    {{ line }}
{%- endfor %}
{%- endif %}
    {{ real }} f[Q];
{%- for pull in pulls %}
{%- if of.in_place == "out" %}
    f[{{ pull.at }}] = load(src, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }});
{%- else %}
    f[{{ pull.at }}] = load(src, slot, {{ pull.opposite }}, cell);
{%- endif %}
{%- endfor %}
{%- endif %}
    {{<relax />}}
    {{<by_chance cell="cell" />}}
{%- if of.in_place == "out" and (of.walls or of.inbox) %}
{%- <places_again lines={[]}> %}
        const Spot here = spot_of(cell);
{%- for pull in pulls %}
        const Source to_{{ pull.at }} = {{<source_at of={of} direction={pull.at} />}};
        store(set, to_{{ pull.at }}.slot, to_{{ pull.at }}.direction, to_{{ pull.at }}.cell, f[{{ pull.opposite }}]);
{%- endfor %}
{%- </places_again> %}
{%- elif of.in_place == "out" and not half %}
{%- <places_again lines={upwind}> %}
{%- for pull in pulls %}
        store(set, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }}, f[{{ pull.opposite }}]);
{%- endfor %}
{%- </places_again> %}
{%- else %}
{%- for pull in pulls %}
{%- if of.in_place == "back" %}
    store(set, slot, {{ pull.at }}, cell, f[{{ pull.at }}]);
{%- else %}
    store(set, {{ pull.near }}, {{ pull.at }}, {{ pull.cell }}, f[{{ pull.opposite }}]);
{%- endif %}
{%- endfor %}
{%- endif %}
{%- endcomponent in_place %}

{% component bring_back(of) %}
{%- if of.walls %}
    (void)wall_values;
{%- endif %}
{%- if of.inbox %}
    (void)in;
{%- endif %}
{%- if of.links %}
    (void)distances;
    if (of_row[cell] < 0) {{ of.signature.skip }};
{%- endif %}
    {{<swap_in_cell of={of} />}}
{%- endcomponent bring_back %}
