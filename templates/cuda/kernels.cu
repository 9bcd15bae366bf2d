{% set cuda = true %}{% set function = "static __device__ __noinline__" %}{% set inline = "static __device__ __forceinline__" -%}
{% set table = "static __device__ const" %}{% set int = "int" %}{% set packets = jump and not ghosts -%}
{% for line in banner -%}
// {{ line }}
{% endfor %}
static constexpr int Q = {{ q }};  // directions
static constexpr int CELLS = {{ bx }} * {{ by }} * {{ bz }};  // of a block
static constexpr int NEAR = {{ near }};  // neighbours of a block, itself included
static constexpr int DIM = {{ dim }};  // axes
static constexpr int SETS = {{ reduce.sets }};  // of populations
{%- if jump %}
static constexpr int COARSER = -2147483647 - 1;  // in the place of a neighbour: it is coarser, or refined
{%- endif %}
static constexpr int FIELDS = {{ fields }};  // components of the macroscopic fields

// Where the population of a direction at a cell of a slot is.
static __device__ __forceinline__ size_t at(const int slot, const int direction, const int cell)
{
    return (size_t)slot * (Q * CELLS) + (direction * CELLS + cell);
}

// ==== collision =====================================================================================================

// Collides one cell: f holds its populations before and after.
static __device__ __forceinline__ void collide({{ real }} (&f)[Q]{{ param_decls }})
{
{%- for input in collide.inputs %}
    const {{ real }} {{ input.text }} = f[{{ input.at }}];
{%- endfor %}
{%- for line in collide.body %}
    {{ line }}
{%- endfor %}

{%- for output in collide.outputs %}
    f[{{ output.at }}] = {{ output.text }};
{%- endfor %}
}

{% for line in collide.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ collide_threads }})
{{ collide.symbol }}(
{%- for arg in collide.args %}
    {{ arg }}
{%- endfor %}
{
    const int state = blockIdx.x * {{ collide_threads }} + threadIdx.x;
    if (state >= count) return;
    {{ real }} f[Q];
#pragma unroll
    for (int i = 0; i < Q; ++i) f[i] = src[(size_t)i * count + state];
    collide(f{{ param_names }});
#pragma unroll
    for (int i = 0; i < Q; ++i) dst[(size_t)i * count + state] = f[i];
}

// ==== streaming =====================================================================================================

{% for line in stream_collide.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ stream_collide.symbol }}(
{%- for arg in stream_collide.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{%- for line in upwind %}
{{ pad }}    {{ line }}
{%- endfor %}

{{ pad }}    // ---- pull
{{ pad }}    {{ real }} f[Q];
{%- for pull in pulls %}
{{ pad }}    f[{{ pull.at }}] = src[at({{ pull.near }}, {{ pull.at }}, {{ pull.cell }})];
{%- endfor %}

{{ pad }}    collide(f{{ param_names }});
#pragma unroll
{{ pad }}    for (int i = 0; i < Q; ++i) dst[at(slot, i, cell)] = f[i];
{%- if several %}
    }  // cells
{%- endif %}
}

{% include "tables" %}
{% if walls -%}
// ==== walls =========================================================================================================

{% for rule in walls.rules -%}
{% for line in rule.doc -%}
// {{ line }}
{% endfor -%}
static __device__ __forceinline__ {{ real }} {{ rule.function }}(const int direction, const {{ real }} *own{{ rule.decl }})
{
{%- for line in rule.values %}
    {{ line }}
{%- endfor %}
    switch (direction) {
{%- for link in rule.links %}
    case {{ link.at }}:{% if link.block %} { {%- endif %}
{%- for line in link.lines %}
        {{ line }}
{%- endfor %}
{%- if link.block %}
    }
{%- endif %}
{%- endfor %}
    default:
        return own[direction * CELLS];
    }
}

{% endfor -%}
// What a direction brings: from the cell of the slot `from`, or from the wall that is there instead.
static __device__ __forceinline__ {{ real }} pull(
    const int from, const int direction, const int cell, const {{ real }} *__restrict__ src, const {{ real }} *own,
    const int *__restrict__ wall_rules, const {{ real }} *__restrict__ wall_values
{%- if walls.mirrors %},
    const int *near, const int x, const int y, const int z
{%- endif %})
{
    if (from >= 0) return src[at(from, direction, cell)];
{%- if walls.mirrors %}
    {{ real }} mirrored = __int_as_float(0x7fffffff);
    const int w = meets(-1 - from, direction, x, y, z, src, near, wall_rules, &mirrored);
{%- else %}
    const int w = -1 - from;
{%- endif %}
    {{ walls.values }}
    switch (wall_rules[w]) {
{%- for rule in walls.rules %}
    case {{ rule.code }}:
        return {{ rule.function }}(direction, own{{ rule.pass }});
{%- endfor %}
    default:
        return __int_as_float(0x7fffffff);  // {% if walls.nodes %}of nodes: not yet, or {% endif %}no such rule: NaN stops the run
    }
}

{% if jump -%}
{% if ghosts %}{% include "ghosts" %}{% else %}{% include "jump" %}{% endif %}
{% endif -%}
{% if walls.nodes -%}
{% include "nodes" %}
{% endif -%}

{% for line in walls.kernel.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ walls.kernel.symbol }}(
{%- for arg in walls.kernel.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{%- for line in upwind %}
{{ pad }}    {{ line }}
{%- endfor %}
{{ pad }}    const {{ real }} *own = src + at(slot, 0, cell);

{{ pad }}    // ---- pull
{{ pad }}    {{ real }} f[Q];
{%- for pull in pulls %}
{%- if pull.rest %}
{{ pad }}    f[{{ pull.at }}] = own[{{ pull.at }} * CELLS];
{%- else %}
{{ pad }}    f[{{ pull.at }}] = pull({{ pull.near }}, {{ pull.at }}, {{ pull.cell }}, src, own, wall_rules, wall_values{% if walls.mirrors %}, near, x, y, {% if deep %}z{% else %}0{% endif %}{% endif %});
{%- endif %}
{%- endfor %}
{%- if walls.nodes %}
{{ pad }}    node(f, 1, x, y, {% if deep %}z{% else %}0{% endif %}, src, near, wall_rules, wall_values{% if packets %}, 0, 0, 0{{ jump.pass }}{% endif %});
{%- endif %}

{{ pad }}    collide(f{{ param_names }});
#pragma unroll
{{ pad }}    for (int i = 0; i < Q; ++i) dst[at(slot, i, cell)] = f[i];
{%- if several %}
    }  // cells
{%- endif %}
}

{% if solids -%}
{% include "solids" %}
{% for line in solids.kernel.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ solids.kernel.symbol }}(
{%- for arg in solids.kernel.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{%- for line in upwind %}
{{ pad }}    {{ line }}
{%- endfor %}
{{ pad }}    const {{ real }} *own = src + at(slot, 0, cell);
{{ pad }}    const size_t row_at = (size_t)rows[slot] * (Q * CELLS);
{{ pad }}    const int *of_row = links + row_at;
{{ pad }}    {{ real }} f[Q];
{{ pad }}    if (of_row[cell] < 0) {
#pragma unroll
{{ pad }}        for (int i = 0; i < Q; ++i) f[i] = own[i * CELLS];
{{ pad }}    } else {
{{ pad }}        // ---- pull
{%- for pull in pulls %}
{%- if pull.rest %}
{{ pad }}        f[{{ pull.at }}] = own[{{ pull.at }} * CELLS];
{%- else %}
{{ pad }}        f[{{ pull.at }}] = pull({{ pull.near }}, {{ pull.at }}, {{ pull.cell }}, src, own, wall_rules, wall_values{% if walls.mirrors %}, near, x, y, {% if deep %}z{% else %}0{% endif %}{% endif %});
{%- endif %}
{%- endfor %}
#pragma unroll
{{ pad }}        for (int i = 0; i < Q; ++i) {
{{ pad }}            const int link = of_row[i * CELLS + cell];
{{ pad }}            if (link > 0) f[i] = off_solid(link - 1, i, cell, src, near, of_row, distances + row_at, wall_rules, wall_values);
{{ pad }}        }
{%- if walls.nodes %}
{{ pad }}        node(f, 1, x, y, {% if deep %}z{% else %}0{% endif %}, src, near, wall_rules, wall_values{% if packets %}, 0, 0, 0{{ jump.pass }}{% endif %});
{%- endif %}
{{ pad }}        collide(f{{ param_names }});
{{ pad }}    }
#pragma unroll
{{ pad }}    for (int i = 0; i < Q; ++i) dst[at(slot, i, cell)] = f[i];
{%- if several %}
    }  // cells
{%- endif %}
}

{% for line in solids.force.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ solids.threads }})
{{ solids.force.symbol }}(
{%- for arg in solids.force.args %}
    {{ arg }}
{%- endfor %}
{
    __shared__ double sums[DIM][{{ solids.threads }}];
    if (blockIdx.x >= count) return;
    const int share = shares[blockIdx.x], thread = threadIdx.x;
    const int begin = share * per, end = begin + per < size ? begin + per : size;
    for (int body = 0; body < bodies; ++body) {
        double sum[DIM] = {};
        for (size_t entry = thread; entry < (size_t)(end - begin) * CELLS; entry += {{ solids.threads }}) {
            const int slot = ids[begin + (int)(entry / CELLS)], cell = (int)(entry % CELLS);
            const size_t row_at = (size_t)rows[slot] * (Q * CELLS);
            const int *near = neighbours + (size_t)slot * NEAR, *of_row = links + row_at;
            for (int i = 0; i < {{ solids.carriers }}; ++i) {
                if (of_row[i * CELLS + cell] != first + body + 1) continue;
                // relative to a fluid at rest, of density 1, whose pressure is the same from all sides
                const {{ real }} back = off_solid(
                    first + body, i, cell, src, near, of_row, distances + row_at, wall_rules, wall_values);
                const double through = ((double)src[at(slot, OPPOSITE[i], cell)] - (double)WEIGHT[i]) + ((double)back - (double)WEIGHT[i]);
                for (int axis = 0; axis < DIM; ++axis) sum[axis] -= through * VELOCITY[i][axis];
            }
        }
        for (int axis = 0; axis < DIM; ++axis) sums[axis][thread] = sum[axis];
        for (int half = {{ solids.threads }} / 2; half > 0; half /= 2) {
            __syncthreads();
            if (thread < half) {
                for (int axis = 0; axis < DIM; ++axis) sums[axis][thread] += sums[axis][thread + half];
            }
        }
        __syncthreads();
        if (thread < DIM) forces[(share * bodies + body) * DIM + thread] = sums[thread][0];
        __syncthreads();
    }
}

{% endif -%}
{% elif jump -%}
{% if ghosts %}{% include "ghosts" %}{% else %}{% include "jump" %}{% endif %}
{% endif -%}
{% if packets -%}
{% for kernel in jump.kernels -%}
{% for line in kernel.signature.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({% if jump.shared %}{{ bx }} * {{ by }} * {{ bz }}{% else %}{{ threads }}{% endif %})
{{ kernel.signature.symbol }}(
{%- for arg in kernel.signature.args %}
    {{ arg }}
{%- endfor %}
{
{%- if jump.shared %}
    if (blockIdx.x >= count) return;
    const int slot = ids[blockIdx.x], cell = threadIdx.x;
{%- else %}
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{%- endif %}
{{ pad }}    Jump jump = around(slot, neighbours, nodes, near, children, slots, corners, saved,
{{ pad }}        populations_0, populations_1, current, fine, start);
{%- if kernel.walls %}
{{ pad }}    jump.wall_rules = wall_rules, jump.wall_values = wall_values;
{%- endif %}
{{ pad }}    const Side own = side_of(&jump, jump.own, jump.node);
{{ pad }}    const Side coarser = parents[jump.node] < 0 ? own
{{ pad }}        : side_of(&jump, coarse ? populations_1 : populations_0, parents[jump.node]);
{{ pad }}    const Spot here = { {cell % {{ bx }}, cell / {{ bx }} % {{ by }}{% if deep %}, cell / ({{ bx }} * {{ by }}){% endif %}} };
{{ pad }}    {{ real }} f[Q];
{%- if jump.shared %}

    // ---- what crosses jumps is listed, and shared out among the threads: few cells have it, and it is long
    __shared__ {{ real }} crossed[Q * CELLS];
    __shared__ unsigned short list[Q * CELLS];
    __shared__ int listed;
    if (cell == 0) listed = 0;
    __syncthreads();
    unsigned late = 0;
#pragma unroll
    for (int i = 0; i < Q; ++i) {
        const Way way = way_of(&jump, &own, i, here);
        if (way.crosses) {
            list[atomicAdd(&listed, 1)] = i * CELLS + cell;
            late |= 1u << i;
        } else {
            f[i] = straight(&jump, way, i, here, cell);
        }
    }
    __syncthreads();
    for (int entry = cell; entry < listed; entry += CELLS) {
        const int i = list[entry] / CELLS, other = list[entry] % CELLS;
        const Spot there = { {other % {{ bx }}, other / {{ bx }} % {{ by }}{% if deep %}, other / ({{ bx }} * {{ by }}){% endif %}} };
        crossed[list[entry]] = arrives(&jump, &own, &coarser, i, there, other{{ jump.pass }});
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Q; ++i) {
        if (late >> i & 1) f[i] = crossed[i * CELLS + cell];
    }
{%- else %}
#pragma unroll
{{ pad }}    for (int i = 0; i < Q; ++i) f[i] = arrives(&jump, &own, &coarser, i, here, cell{{ jump.pass }});
{%- endif %}
{%- if kernel.walls and walls.nodes %}
{{ pad }}    node(f, 1, here.at[0], here.at[1], {% if deep %}here.at[2]{% else %}0{% endif %}, jump.own,
{{ pad }}        neighbours + (size_t)slot * NEAR, wall_rules, wall_values, &jump, &own, &coarser{{ jump.pass }});
{%- endif %}

{{ pad }}    collide(f{{ param_names }});
{{ pad }}    {{ real }} *const dst = current ? populations_0 : populations_1;
#pragma unroll
{{ pad }}    for (int i = 0; i < Q; ++i) dst[at(slot, i, cell)] = f[i];
{%- if several %}
    }  // cells
{%- endif %}
}

{% endfor -%}
{% endif -%}
{% if carry -%}
{% include "carry" %}
{% for line in carry.average.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ carry.average.symbol }}(
{%- for arg in carry.average.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{{ pad }}    const int level = levels[nodes[slot]];
{{ pad }}    average_cell(slot, cell, parts + (size_t)slot * PARTS, sets >> (level + 1) & 1 ? populations_1 : populations_0,
{{ pad }}        sets >> level & 1 ? populations_1 : populations_0);
{%- if several %}
    }  // cells
{%- endif %}
}

{% for line in carry.fill.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ carry.fill.symbol }}(
{%- for arg in carry.fill.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{{ pad }}    const int level = levels[nodes[slot]];
{{ pad }}    fill_cell(slot, cell, neighbours + (size_t)slot * NEAR, parts, sets >> level & 1 ? populations_1 : populations_0,
{{ pad }}        sets >> (level + 1) & 1 ? populations_1 : populations_0);
{%- if several %}
    }  // cells
{%- endif %}
}

{% for line in carry.average_fields.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ carry.average_fields.symbol }}(
{%- for arg in carry.average_fields.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{{ pad }}    for (int component = 0; component < FIELDS; ++component) average_field(slot, cell, component, parts, fields);
{%- if several %}
    }  // cells
{%- endif %}
}

{% for line in carry.fill_fields.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ carry.fill_fields.symbol }}(
{%- for arg in carry.fill_fields.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{{ pad }}    for (int component = 0; component < FIELDS; ++component) {
{{ pad }}        fill_field(slot, cell, component, neighbours + (size_t)slot * NEAR, held, parts, fields);
{{ pad }}    }
{%- if several %}
    }  // cells
{%- endif %}
}

{% for line in carry.relocate.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ carry.relocate.symbol }}(
{%- for arg in carry.relocate.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{{ pad }}    const size_t own = (size_t)slot * components, other = (size_t)from[slot] * components;
{{ pad }}    for (int i = 0; i < components; ++i) dst[(own + i) * CELLS + cell] = src[(other + i) * CELLS + cell];
{%- if several %}
    }  // cells
{%- endif %}
}

{% for line in carry.wish.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ carry.wish_threads }})
{{ carry.wish.symbol }}(
{%- for arg in carry.wish.args %}
    {{ arg }}
{%- endfor %}
{
    __shared__ unsigned long long bits;
    const int slot = ids[blockIdx.x], node = nodes[slot], level = levels[node];
    if (threadIdx.x == 0) bits = 0;
    __syncthreads();
    for (int cell = threadIdx.x; cell < CELLS; cell += {{ carry.wish_threads }}) {
        atomicOr(&bits, ask_cell(slot, cell, node, level, neighbours + (size_t)slot * NEAR, places, fields, ops, length, constants, finest));
    }
    __syncthreads();
    if (threadIdx.x == 0) want[node] = wished(bits, level);
}

{% endif -%}
{% if ghosts -%}
{% for kernel in jump.kernels -%}
{% for line in kernel.signature.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ kernel.signature.symbol }}(
{%- for arg in kernel.signature.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{{ pad }}    if (!streams(sides, slot, held, cell)) {% if several %}continue{% else %}return{% endif %};
{{ pad }}    const int *const around = neighbours + (size_t)slot * NEAR;
{{ pad }}    {{ real }} f[Q];
#pragma unroll
{{ pad }}    for (int i = 0; i < Q; ++i) f[i] = streamed(i, cell, src, slot, around{% if walls %}{% if kernel.walls %}, wall_rules, wall_values{% else %}, 0, 0{% endif %}{% endif %});
{%- if kernel.walls and walls.nodes %}
{{ pad }}    const Spot spot = spot_of(cell);
{{ pad }}    node(f, 1, spot.at[0], spot.at[1], {% if deep %}spot.at[2]{% else %}0{% endif %}, src, around, wall_rules, wall_values);
{%- endif %}
{{ pad }}    if (corners[slot] >= 0) {
{{ pad }}        {{ real }} *const keep = saved + kept_at(corners, slot, cell);
#pragma unroll
{{ pad }}        for (int i = 0; i < Q; ++i) keep[i * CELLS] = f[i];
{{ pad }}    }
{{ pad }}    collide(f{{ param_names }});
#pragma unroll
{{ pad }}    for (int i = 0; i < Q; ++i) dst[at(slot, i, cell)] = f[i];
{%- if several %}
    }  // cells
{%- endif %}
}

{% endfor -%}
{% for line in ghosts.restrict.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ ghosts.restrict.symbol }}(
{%- for arg in ghosts.restrict.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{{ pad }}    {{ real }} f[Q];
{{ pad }}    if (!mean_of_parts(slot, cell, sides, parts, corners, held, saved, f{{ param_names }})) {% if several %}continue{% else %}return{% endif %};
{{ pad }}    {{ real }} *const keep = saved + kept_at(corners, slot, cell);
#pragma unroll
{{ pad }}    for (int i = 0; i < Q; ++i) keep[i * CELLS] = f[i];
{{ pad }}    collide(f{{ param_names }});
#pragma unroll
{{ pad }}    for (int i = 0; i < Q; ++i) dst[at(slot, i, cell)] = f[i];
{%- if several %}
    }  // cells
{%- endif %}
}

{% for line in ghosts.send.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ ghosts.send.symbol }}(
{%- for arg in ghosts.send.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{{ pad }}    if (!is_sampled(slot, neighbours, sides, held) || !has_values(sides, slot, held, spot_of(cell))) {% if several %}continue{% else %}return{% endif %};
{{ pad }}    {{ real }} *const keep = saved + kept_at(corners, slot, cell);
{{ pad }}    {{ real }} f[Q];
#pragma unroll
{{ pad }}    for (int i = 0; i < Q; ++i) f[i] = keep[i * CELLS];
{{ pad }}    to_fine(f{{ param_names }});
#pragma unroll
{{ pad }}    for (int i = 0; i < Q; ++i) keep[i * CELLS] = f[i];
{%- if several %}
    }  // cells
{%- endif %}
}

{% for line in ghosts.prolong.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ ghosts.prolong.symbol }}(
{%- for arg in ghosts.prolong.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{{ pad }}    {{ real }} f[Q];
{{ pad }}    if (!ghost(slot, cell, neighbours, sides, uppers, corners, held, saved, f)) {% if several %}continue{% else %}return{% endif %};
{{ pad }}    collide(f{{ param_names }});
#pragma unroll
{{ pad }}    for (int i = 0; i < Q; ++i) dst[at(slot, i, cell)] = f[i];
{%- if several %}
    }  // cells
{%- endif %}
}

{% for line in ghosts.hold.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ ghosts.hold.symbol }}(
{%- for arg in ghosts.hold.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{{ pad }}    if (!whole && has_values(sides, slot, held, spot_of(cell))) {% if several %}continue{% else %}return{% endif %};
{{ pad }}    average_cell(slot, cell, parts + (size_t)(slot - held) * PARTS, sets >> 1 & 1 ? populations_1 : populations_0,
{{ pad }}        sets & 1 ? populations_1 : populations_0);
{%- if several %}
    }  // cells
{%- endif %}
}

{% for line in ghosts.keep.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ ghosts.keep.symbol }}(
{%- for arg in ghosts.keep.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{{ pad }}    {{ real }} *const set = sets >> levels[nodes[slot]] & 1 ? populations_1 : populations_0;
{{ pad }}    const int to = held_slot(nodes[slot], children, roots, held);
{{ pad }}    for (int i = 0; i < Q; ++i) set[at(to, i, cell)] = set[at(slot, i, cell)];
{%- if several %}
    }  // cells
{%- endif %}
}

{% endif -%}
// ==== macroscopic fields ============================================================================================

{% for line in init.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ init.symbol }}(
{%- for arg in init.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in unused %}
    {{ line }}
{%- endfor %}
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{{ pad }}    const {{ real }} *before = fields + (size_t)slot * (FIELDS * CELLS) + cell;
{%- for input in init.inputs %}
{{ pad }}    const {{ real }} {{ input.text }} = before[{{ input.at }} * CELLS];
{%- endfor %}
{%- for line in init.body %}
{{ pad }}    {{ line }}
{%- endfor %}

{%- for output in init.outputs %}
{{ pad }}    dst[at(slot, {{ output.at }}, cell)] = {{ output.text }};
{%- endfor %}
{%- if several %}
    }  // cells
{%- endif %}
}

{% for line in macroscopic.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ threads }})
{{ macroscopic.symbol }}(
{%- for arg in macroscopic.args %}
    {{ arg }}
{%- endfor %}
{
{%- for line in thread %}
    {{ line }}
{%- endfor %}
{%- for input in macroscopic.inputs %}
{{ pad }}    const {{ real }} {{ input.text }} = src[at(slot, {{ input.at }}, cell)];
{%- endfor %}
{%- for line in macroscopic.body %}
{{ pad }}    {{ line }}
{%- endfor %}

{{ pad }}    {{ real }} *after = fields + (size_t)slot * (FIELDS * CELLS) + cell;
{%- for output in macroscopic.outputs %}
{{ pad }}    after[{{ output.at }} * CELLS] = {{ output.text }};
{%- endfor %}
{%- if several %}
    }  // cells
{%- endif %}
}

{% include "reduce" -%}
{% for line in reduce.look.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ reduce.threads }})
{{ reduce.look.symbol }}(
{%- for arg in reduce.look.args %}
    {{ arg }}
{%- endfor %}
{
    __shared__ Found parts[{{ reduce.threads }}];
    if (blockIdx.x >= count) return;
    const int share = shares[blockIdx.x], thread = threadIdx.x;
    const int begin = share * per, end = begin + per < size ? begin + per : size;
    parts[thread] = found_in(ids, begin, end, thread, {{ reduce.threads }}, fields, before, compare);
    for (int half = {{ reduce.threads }} / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) join(&parts[thread], &parts[thread + half]);
    }
    if (thread == 0) found[2 * share] = parts[0].first, found[2 * share + 1] = parts[0].change;
}

{% for line in reduce.sums.doc -%}
// {{ line }}
{% endfor -%}
extern "C" __global__ void __launch_bounds__({{ reduce.threads }})
{{ reduce.sums.symbol }}(
{%- for arg in reduce.sums.args %}
    {{ arg }}
{%- endfor %}
{
    __shared__ Sum parts[{{ reduce.threads }}], of[SETS][1 + DIM];
    if (blockIdx.x >= count) return;
    const int share = shares[blockIdx.x], thread = threadIdx.x;
    const int begin = share * per, end = begin + per < size ? begin + per : size;
    for (int at = thread; at < SETS * (1 + DIM); at += {{ reduce.threads }}) of[at / (1 + DIM)][at % (1 + DIM)] = Sum{0, 0};
    for (int i = 0; i < Q; ++i) {
        parts[thread] = sum_of(ids, begin, end, i, thread, {{ reduce.threads }}, src);
        for (int half = {{ reduce.threads }} / 2; half > 0; half /= 2) {
            __syncthreads();
            if (thread < half) merge(&parts[thread], &parts[thread + half]);
        }
        if (thread == 0) add_moments(i, &parts[0], of[SET[i]]);
        __syncthreads();
    }
    for (int at = thread; at < SETS * (1 + DIM); at += {{ reduce.threads }}) {
        const Sum sum = of[at / (1 + DIM)][at % (1 + DIM)];
        const size_t place = 2 * ((size_t)share * (SETS * (1 + DIM)) + at);
        sums[place] = sum.total, sums[place + 1] = sum.carried;
    }
}
