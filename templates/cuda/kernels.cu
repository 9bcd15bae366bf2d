{% set pitch = "CELLS" %}{% set packets = interface and not ghosts -%}
{% for line in banner -%}
// {{ line }}
{% endfor %}
{% if resident -%}
// Thread blocks that a processor shall hold at the same time: on sm_75, no more than its 1024 threads.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
#define RESIDENT(blocks) ((blocks) < 4 ? (blocks) : 4)
#else
#define RESIDENT(blocks) (blocks)
#endif

{% endif -%}
#define UNROLL _Pragma("unroll")

static constexpr int Q = {{ q }};  // directions
{%- if around %}
static constexpr int INPUTS = {{ around.count }};  // what a collision reads: that of its cell, and what cells around show
{%- endif %}
{%- if moments %}
static constexpr int K = {{ value_count }};  // moments that are stored of a cell
{%- endif %}
static constexpr int CELLS = {{ bx }} * {{ by }} * {{ bz }};  // of a block
static constexpr int NEAR = {{ near }};  // neighbours of a block, itself included
static constexpr int DIM = {{ dim }};  // axes
static constexpr int SETS = {{ reduce.sets }};  // of populations
{%- if interface %}
static constexpr int COARSER = -2147483647 - 1;  // in the place of a neighbour: it is coarser, or refined
{%- endif %}
static constexpr int FIELDS = {{ fields }};  // components of the macroscopic fields

{% include "cells" -%}
{% include "params" -%}
{% include "arithmetic" -%}
{% if moments -%}
{% include "moments" -%}
{{<exchange />}}

{% endif -%}
// ==== collision =====================================================================================================

// Collides one cell: f holds its populations before {% if moments %}it, and its moments {% else %}and {% endif %}after.
static __device__ __forceinline__ void collide({{ real }} (&f)[{{ inputs }}]{{ param_decls }})
{
{%- if moments %}
    {{ real }} m[K];
    moments_of(f, m);
{%- endif %}
{%- for input in collide.inputs %}
    const {{ real }} {{ input.text }} = {% if moments %}m{% else %}f{% endif %}[{{ input.at }}];
{%- endfor %}
{%- for line in collide.body %}
    {{ line }}
{%- endfor %}

{%- for output in collide.outputs %}
    f[{{ output.at }}] = {{ output.text }};
{%- endfor %}
}

// ==== streaming =====================================================================================================

{% <kernel of={stream_collide}> %}
    const int *near = neighbours + (size_t)slot * NEAR;
{%- if not moments %}
{%- for line in pairs or upwind %}
    {{ line }}
{%- endfor %}
{%- endif %}
{% if pairs %}
    {{<pair_of_cells />}}
{%- elif moments %}
    {{<gather_moments walls={false} inbox={false} nodes={false} />}}
    {{<finish_moments />}}
{%- else %}
    {{<gather walls={false} inbox={false} late={false} exposes={false} />}}

    {{<finish />}}
{%- endif %}
{%- </kernel> %}

{% if around -%}
{% <kernel of={around.kernel}> %}
    const {{ stored }} *src = populations;
    const int *near = neighbours + (size_t)slot * NEAR;
{%- for line in upwind %}
    {{ line }}
{%- endfor %}

    {{<gather walls={false} inbox={false} late={false} exposes={true} />}}

    {{<expose />}}
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

{% if around -%}
{% <kernel of={around.walls}> %}
    const {{ stored }} *src = populations;
    const int *near = neighbours + (size_t)slot * NEAR;
{%- for line in upwind %}
    {{ line }}
{%- endfor %}
    const Spot here = { {x, y{% if deep %}, z{% endif %}} };

    {{<gather walls={true} inbox={false} late={false} exposes={true} />}}
{%- if walls.nodes %}
    node(f, 1, here, src, near, wall_rules, wall_values{% if solids %}, 0, 0{% endif %});
{%- endif %}

    {{<expose />}}
{%- </kernel> %}

{% endif -%}
{% <kernel of={walls.kernel}> %}
    const int *near = neighbours + (size_t)slot * NEAR;
{%- for line in upwind %}
    {{ line }}
{%- endfor %}
    const Spot here = { {x, y{% if deep %}, z{% endif %}} };

{%- if moments %}
    {{<gather_moments walls={true} inbox={false} nodes={walls.nodes} />}}
{%- else %}

    {{<gather walls={true} inbox={false} late={false} exposes={false} />}}
{%- endif %}
{%- if walls.nodes %}
    node(f, 1, here, src, near, wall_rules, wall_values{% if packets %}, 0, 0{% endif %}{% if solids %}, 0, 0{% endif %});
{%- endif %}

{%- if moments and not walls.nodes %}

    {{<finish_moments />}}
{%- else %}

    {{<finish />}}
{%- endif %}
{%- </kernel> %}

{% if solids -%}
{% include "solids" %}
{% <kernel of={solids.kernel}> %}
    const int *near = neighbours + (size_t)slot * NEAR;
    const size_t row_at = (size_t)rows[slot] * (Q * CELLS);
    const int *const of_row = links + row_at;
    // What solids send back is asked for by all threads, a link each: in one block cells have many and others none.
    __shared__ {{ real }} back[Q][{{ solids.kernel.threads }}];
    __shared__ int list[Q * {{ solids.kernel.threads }}], listed;
    for (int first = 0; first < CELLS; first += {{ solids.kernel.threads }}) {
        const int cell = first + thread, solid = cell < CELLS && of_row[cell] < 0;
        if (thread == 0) listed = 0;
        __syncthreads();
        if (cell < CELLS) {
#pragma unroll
            for (int i = 0; i < Q; ++i) {
                if (of_row[i * CELLS + cell] > 0) list[atomicAdd(&listed, 1)] = i * {{ solids.kernel.threads }} + thread;
            }
        }
        __syncthreads();
        for (int number = thread; number < listed; number += {{ solids.kernel.threads }}) {
            const int i = list[number] / {{ solids.kernel.threads }}, beside = list[number] % {{ solids.kernel.threads }}, other = first + beside;
            const int link = of_row[i * CELLS + other];
            back[i][beside] =
                off_solid(link - 1, i, spot_of(other), src, near, of_row, distances + row_at, wall_rules, wall_values);
        }
        __syncthreads();
        if (solid) {
#pragma unroll
            for (int i = 0; i < {{ values }}; ++i) dst[at(slot, i, cell)] = src[at(slot, i, cell)];
        } else if (cell < CELLS) {
{%- for line in upwind %}
            {{ line }}
{%- endfor %}
            const Spot here = { {x, y{% if deep %}, z{% endif %}} };

            {{<gather walls={true} inbox={false} late={true} exposes={false} />}}
#pragma unroll
            for (int i = 0; i < Q; ++i) {
                if (of_row[i * CELLS + cell] > 0) f[i] = back[i][thread];
            }
{%- if around %}
#pragma unroll
            for (int which = 0; which < INPUTS - Q; ++which) {
                const int link = of_row[FROM[which] * CELLS + cell];
                if (link > 0) f[Q + which] = beyond_wall(link - 1, which, load(src, slot, SHOWN[which], cell), 0, wall_rules, wall_values);
            }
{%- endif %}
{%- if walls.nodes %}
            node(f, 1, here, src, near, wall_rules, wall_values{% if packets %}, 0, 0{% endif %}{% if solids %}, of_row, distances + row_at{% endif %});
{%- endif %}

            {{<finish />}}
        }
        __syncthreads();
    }
{%- </kernel> %}

{% if around -%}
{% <kernel of={around.solid}> %}
    const {{ stored }} *src = populations;
    const int *near = neighbours + (size_t)slot * NEAR;
    const size_t row_at = (size_t)rows[slot] * (Q * CELLS);
    const int *const of_row = links + row_at;
    if (of_row[cell] < 0) {{ around.solid.skip }};
{%- for line in upwind %}
    {{ line }}
{%- endfor %}
    const Spot here = { {x, y{% if deep %}, z{% endif %}} };

    {{<gather walls={true} inbox={false} late={false} exposes={true} />}}
#pragma unroll
    for (int i = 0; i < {{ reduce.summed }}; ++i) {
        const int link = of_row[i * CELLS + cell];
        if (link > 0) f[i] = off_solid(link - 1, i, here, src, near, of_row, distances + row_at, wall_rules, wall_values);
    }
{%- if walls.nodes %}
    node(f, 1, here, src, near, wall_rules, wall_values, of_row, distances + row_at);
{%- endif %}

    {{<expose />}}
{%- </kernel> %}

{% endif -%}
{% endif -%}
{% elif interface -%}
{% if ghosts %}{% include "arrives" %}{% endif -%}
{% if ghosts %}{% include "ghosts" %}{% else %}{% include "inbox" %}{% endif %}
{% endif -%}
{% if packets -%}
{% for kernel in interface.kernels -%}
{% <kernel of={kernel.signature}> %}
    const int *near = neighbours + (size_t)slot * NEAR;
{%- for line in upwind %}
    {{ line }}
{%- endfor %}
    const int row = rows[slot], mask = row < 0 ? 0 : masks[row];
    const {{ real }} *in = inbox + (size_t)(row < 0 ? 0 : row) * ROW;
    const Spot here = { {x, y{% if deep %}, z{% endif %}} };

{%- set nodes = kernel.walls and walls.nodes %}
{%- if moments %}
    {{<gather_moments walls={kernel.walls} inbox={true} nodes={nodes} />}}
{%- else %}

    {{<gather walls={kernel.walls} inbox={true} late={false} exposes={false} />}}
{%- endif %}
{%- if kernel.walls and walls.nodes %}
    node(f, 1, here, src, near, wall_rules, wall_values, mask, in{% if solids %}, 0, 0{% endif %});
{%- endif %}

{%- if moments and not nodes %}

    {{<finish_moments />}}
{%- else %}

    {{<finish />}}
{%- endif %}
{%- </kernel> %}

{% endfor -%}
{% <kernel of={inbox.masks}> %}
    __shared__ Side side;
    __shared__ int mask, beside;
    if (thread == 0) side = Side{0, nodes[slot]}, mask = 0, beside = 0;
    __syncthreads();
    if (thread < NEAR) look_towards(&side, thread, near, children{% if interface.mirrors %}, wall_rules{% endif %});
    __syncthreads();
    if (thread < NEAR && entering(&side, near, thread) != STREAMS) atomicOr(&mask, 1 << thread);
    for (int cell = thread; side.refined != 0 && cell < CELLS; cell += {{ inbox.masks.threads }}) {
        if (refined_around(side.refined, spot_of(cell)) != 0) atomicAdd(&beside, 1);
    }
    __syncthreads();
    if (thread == 0) masks[rows[slot]] = mask | (side.solid != 0 ? WALLED : 0), counts[rows[slot]] = beside;
{%- </kernel> %}

{% <kernel of={inbox.cells}> %}
    const int row = rows[slot], node = nodes[slot], refined = refined_near(node, near, children);
    for (int at = thread; at < NEAR * PARTS; at += 32) {
        set_around(tables + (size_t)row * AROUND, at, node, near, children, slots, rows, masks);
    }
    int next = begins[row];
    for (int first = 0; first < CELLS; first += 32) {
        const int cell = first + thread, mask = cell < CELLS ? refined_around(refined, spot_of(cell)) : 0;
        const unsigned beside = __ballot_sync(~0u, mask != 0);
        if (cell < CELLS) cell_masks[(size_t)row * CELLS + cell] = mask;
        if (mask) cells[next + __popc(beside & ((1u << thread) - 1))] = row * CELLS + cell;
        next += __popc(beside);
    }
{%- </kernel> %}

// Where in a grid of cells and directions, cells first, the work of a thread block is. Each direction has code of its own. Of a grid
// that runs all at once, thread blocks that are on the same processor, as those are dealt out in turn, get one direction or two, so
// that the processor need not fetch the code of all from memory; a larger grid goes from direction to direction.
static __device__ __forceinline__ int place_of_block()
{
    unsigned processors;
    asm("mov.u32 %0, %%nsmid;" : "=r"(processors));
    const unsigned blocks = gridDim.x * gridDim.y, block = blockIdx.y * gridDim.x + blockIdx.x;
    if (blocks > 12 * processors) return block;
    const unsigned processor = block % processors, whole = blocks / processors, more = blocks % processors;
    return processor * whole + (processor < more ? processor : more) + block / processors;
}

{% for kernel in [inbox.to_fine, inbox.to_coarse] -%}
{% set fine = kernel.symbol == inbox.to_fine.symbol -%}
{% <kernel of={kernel}> %}
    const int mask = item < count ? cell_masks[cell] : 0;
    if (!(mask & {% if fine %}AHEAD{% else %}BEHIND{% endif %}[direction])) return;
    const int *const table = tables + (size_t)(cell / CELLS) * AROUND;
{%- if fine %}
{%- if interface.shared %}
    {{ real }} shared[{{ interface.shared.count }}];
    share_around(table, cell % CELLS, coarse, shared{{ interface.pass }});
{%- endif %}
    send_to_fine(table, cell % CELLS, mask, direction, coarse, fine, inbox_0, inbox_1, start ? inbox_0 : inbox_1{% if interface.shared %}, shared{% endif %}{{ interface.pass }});
{%- else %}
    if (around_of(table).rows[{{ middle }}] < 0) return;
    send_to_coarse(table, cell % CELLS, mask, direction, before, after, inbox);
{%- endif %}
{%- </kernel> %}

{% endfor -%}
{% if interface.walls -%}
{% for kernel in [inbox.to_fine_walls, inbox.to_coarse_walls] -%}
{% set fine = kernel.symbol == inbox.to_fine_walls.symbol -%}
{% <kernel of={kernel}> %}
    __shared__ Side own{% if fine %}, coarser{% endif %};
    __shared__ int around[SIDES], from[NEAR];
    const int node = nodes[slot]{% if fine %}, parent = parents[node]{% endif %};
{%- if fine %}
    if (parent < 0) {{ kernel.skip }};
{%- endif %}
    if (thread == 0) own = Side{ {%- if fine %}fine{% else %}coarse{% endif %}, node};
{%- if fine %}
    if (thread == 32) coarser = Side{coarse, parent};
{%- endif %}
    __syncthreads();
    for (int at = thread; at < SIDES; at += {{ kernel.threads }}) around[at] = slot_around(at, {% if fine %}parent{% else %}node{% endif %}, near, children, slots);
{%- if fine %}
    for (int at = thread; at < 2 * NEAR; at += {{ kernel.threads }}) {
        look_towards(at < NEAR ? &own : &coarser, at % NEAR, near, children{% if interface.mirrors %}, wall_rules{% endif %});
    }
    if (thread == 32) coarser.beside = around, coarser.within = around + NEAR;
{%- else %}
    if (thread < NEAR) look_towards(&own, thread, near, children{% if interface.mirrors %}, wall_rules{% endif %});
    if (thread == 32) own.beside = around, own.within = around + NEAR;
{%- endif %}
    __syncthreads();
    if (thread < NEAR) from[thread] = entering(&own, near, thread);
    __syncthreads();
    // A warp takes a direction at a time, since each has code of its own: first it lists the cells that the direction brings something to.
    constexpr int WARPS = {{ kernel.threads }} / 32;
    __shared__ unsigned short lists[WARPS][CELLS];
    const int lane = thread % 32;
    unsigned short *const list = lists[thread / 32];
    const Interface interface = {wall_rules, wall_values, {% if fine %}fine, fine{% else %}before, after{% endif %}};
    for (int direction = thread / 32; direction < Q; direction += WARPS) {
        int listed = 0;
        for (int first = 0; first < CELLS; first += 32) {
            const int cell = first + lane, neighbour = neighbour_of(beyond(spot_of(cell), direction, -1));
            const bool enters = cell < CELLS && neighbour != {{ middle }} && from[neighbour] == {% if fine %}FROM_COARSER{% else %}FROM_FINER{% endif %};
            const unsigned found = __ballot_sync(~0u, enters);
            if (enters) list[listed + __popc(found & ((1u << lane) - 1))] = cell;
            listed += __popc(found);
        }
        __syncwarp();
{%- if fine %}
        for (int at = lane; at < 2 * listed; at += 32) {
            const int second = at >= listed;
            const Spot here = spot_of(list[second ? at - listed : at]);
            (second ? inbox_1 : inbox_0)[(size_t)rows[slot] * ROW + (size_t)inbox_at(direction, here)] =
                from_coarser(&interface, &coarser, node - children[parent], direction, here, second{{ interface.pass }});
        }
{%- else %}
        // A thread for each place in a cell; the first sums up.
        for (int first = 0; first < listed; first += 32 / PARTS) {
            const int at = first + lane / PARTS;
            const Spot here = spot_of(list[at < listed ? at : 0]);
            const {{ real }} part = at < listed ? from_finer(&interface, &own, direction, here, lane % PARTS{{ interface.pass }}) : 0;
            {{ real }} sum = 0;
            for (int child = 0; child < PARTS; ++child) sum += __shfl_sync(~0u, part, child, PARTS);
            if (at < listed && lane % PARTS == 0) inbox[(size_t)rows[slot] * ROW + (size_t)inbox_at(direction, here)] = {{ interface.share }} * sum;
        }
{%- endif %}
        __syncwarp();
    }
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
