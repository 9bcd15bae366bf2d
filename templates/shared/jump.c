// ==== level jumps ===================================================================================================
//
// Places are counted in cells of the finer of two levels, from the lower corner of a node of the coarser one. In a coarse
// step a population of a coarse cell is {{ jump.children }} packets, one from each place in it. A packet travels along its direction, one
// place in each of two fine steps; it is of kind 1 or 2 if it enters a fine cell in that step, else of kind 0, and then
// arrives in a coarse cell. Walls of links send packets back.

{{ table }} signed char OPPOSITE[Q] = { {{- jump.opposites -}} };

// The coupling {{ jump.name }}, for one block.
typedef struct {
    const {{ int }} *neighbours, *near, *children, *parents, *slots;
{%- if jump.walls %}
    const {{ int }} *wall_rules;
    const {{ real }} *wall_values;
{%- endif %}
    const {{ real }} *own;  // populations of the block's level
    const {{ real }} *coarser;  // of the next coarser level, at the beginning of its step
    const {{ real }} *before, *after;  // of the next finer level, then and half a step later
    {{ real }} *saved;  // what the first of two steps keeps for the second, of this block
    {{ int }} slot, node;
    int start;  // whether this step is the first of two
} Jump;

enum { NOTHING, COARSE, FINE, WALL };  // what is at a place; nothing: neither of the two levels

// What is at a place: a cell of a slot, or a wall.
typedef struct {
    int what;
    {{ int }} slot, wall;
    int cell;
} Place;

{{ function }} Place find(const Jump *jump, const {{ int }} node, const int *place)
{
    const int side[3] = {2 * {{ bx }}, 2 * {{ by }}, 2 * {{ bz }}};
    int entry = {{ middle }}, inside[DIM];
    for (int axis = 0, step = 1; axis < DIM; step *= 3, ++axis) {
        const int block = place[axis] < 0 ? -1 : place[axis] >= side[axis] ? 1 : 0;
        entry += block * step;
        inside[axis] = place[axis] - block * side[axis];
    }
    Place found = {NOTHING, -1, -1, 0};
    const {{ int }} other = jump->near[(size_t)node * NEAR + entry];
    if (other < 0) {
        found.what = other == COARSER ? NOTHING : WALL;
        found.wall = -1 - other;
        return found;
    }
    const {{ int }} first = jump->children[other];
    int octant = 0;
    for (int axis = 0, stride = 1; axis < DIM; stride *= side[axis] / 2, ++axis) {
        const int half = side[axis] / 2, upper = inside[axis] >= half;
        octant |= upper << axis;
        found.cell += stride * (first < 0 ? inside[axis] / 2 : inside[axis] - upper * half);
    }
    found.slot = jump->slots[first < 0 ? other : first + octant];
    found.what = found.slot < 0 ? NOTHING : first < 0 ? COARSE : FINE;
    return found;
}

// The place some steps along a direction, and what is there.
{{ function }} Place beyond(
    const Jump *jump, const {{ int }} node, const int *place, const int direction, const int steps, int *reached)
{
    for (int axis = 0; axis < DIM; ++axis) reached[axis] = place[axis] + steps * VELOCITY[direction][axis];
    return find(jump, node, reached);
}

{% if jump.walls -%}
// What the wall w adds to what a coarse cell sends to it, when it sends it back along a direction.
{{ function }} {{ real }} wall_adds(const Jump *jump, const {{ int }} w, const int direction, const {{ real }} *own)
{
    const {{ real }} sent = own[OPPOSITE[direction] * CELLS];
    const {{ real }} *wall_values = jump->wall_values;
    {{ walls.values }}
    switch (jump->wall_rules[w]) {
{%- for rule in jump.links %}
    case {{ rule.code }}:
        return {{ rule.function }}(direction, own{{ rule.pass }}) - sent;
{%- endfor %}
    default:
        return -sent;  // nothing comes back: a rule of nodes says later what does
    }
}

{% endif -%}
{% if jump.kinds -%}
// The kind of the packet that starts at a place.
{{ function }} int kind(const Jump *jump, const {{ int }} node, const int *place, const int direction)
{
    int reached[DIM];
    const Place next = beyond(jump, node, place, direction, 1, reached);
    if (next.what == FINE) return 1;
    return beyond(jump, node, place, direction, next.what == WALL ? -1 : 2, reached).what == FINE ? 2 : 0;
}

{% endif -%}
{% for slope in jump.slopes -%}
{% for line in slope.doc -%}
// {{ line }}
{% endfor -%}
{{ function }} {{ real }} {{ slope.function }}(
    const Jump *jump, const {{ real }} *level, const {{ int }} node, const int *corner, const int direction, const int axis)
{
    const int point[] = { {{- slope.points -}} };
    {{ real }} v[{{ slope.count }}];
    int has[{{ slope.count }}];
    for (int at = 0; at < {{ slope.count }}; ++at) {
        int place[DIM];
        for (int a = 0; a < DIM; ++a) place[a] = corner[a] + (a == axis ? 2 * point[at] : 0);
        const Place found = find(jump, node, place);
        has[at] = found.what == COARSE;
        v[at] = has[at] ? level[(size_t)found.slot * (Q * CELLS) + (size_t)(direction * CELLS + found.cell)] : 0;
    }
{%- for set in slope.sets %}
    if ({{ set.condition }}) {
{%- for line in set.lines %}
        {{ line }}
{%- endfor %}
    }
{%- endfor %}
    return 0;
}

{% endfor -%}
// What the packet of a direction that starts at a place carries; `level` are the populations of the coarser of two levels.
{{ function }} {{ real }} packet(
    const Jump *jump, const {{ real }} *level, const {{ int }} node, const int *place, const int direction{{ jump.decl }})
{
    int corner[DIM], child = 0;
    for (int axis = 0; axis < DIM; ++axis) {
        const int upper = place[axis] & 1;
        corner[axis] = place[axis] - upper;
        child |= upper << axis;
    }
    const Place cell = find(jump, node, corner);
    const {{ real }} *own = level + (size_t)cell.slot * (Q * CELLS) + (size_t)cell.cell;
{%- if jump.kinds %}
    int kinds[{{ jump.children }}];
    for (int other = 0; other < {{ jump.children }}; ++other) {
        int start[DIM];
        for (int axis = 0; axis < DIM; ++axis) start[axis] = corner[axis] + (other >> axis & 1);
        kinds[other] = kind(jump, node, start, direction);
    }
{%- endif %}
{%- if jump.switches %}
    switch (direction) {
{%- for packet in jump.packets %}
    case {{ packet.at }}: {
{%- for line in packet.lines %}
        {{ line }}
{%- endfor %}
{%- for case in packet.cases %}
        if (child == {{ case.at }}) {
{%- for line in case.lines %}
            {{ line }}
{%- endfor %}
        }
{%- endfor %}
        break;
    }
{%- endfor %}
    }
{%- endif %}
    (void)child;
    return own[direction * CELLS];
}

// What a direction brings to a cell of the block from a coarser one.
{{ function }} {{ real }} from_coarser(const Jump *jump, const int direction, const int *at, const int cell{{ jump.decl }})
{
    const int side[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    const {{ int }} parent = jump->parents[jump->node], octant = jump->node - jump->children[parent];
    int place[DIM], near[DIM], far[DIM];
    for (int axis = 0; axis < DIM; ++axis) place[axis] = at[axis] + (octant >> axis & 1) * side[axis];
    const Place last = beyond(jump, parent, place, direction, -1, near), first = beyond(jump, parent, place, direction, -2, far);
    {{ real }} *const saved = jump->saved + direction * CELLS + cell;  // of a path that cuts a corner of a coarse cell
    if (jump->start) {
        if (first.what == FINE) *saved = jump->own[(size_t)first.slot * (Q * CELLS) + (size_t)(direction * CELLS + first.cell)];
        return packet(jump, jump->coarser, parent, near, direction{{ jump.pass }});
    }
    if (first.what == FINE) return *saved;
{%- if jump.walls %}
    if (first.what == WALL) {
        const {{ real }} *own = jump->coarser + (size_t)last.slot * (Q * CELLS) + (size_t)last.cell;
        return packet(jump, jump->coarser, parent, near, OPPOSITE[direction]{{ jump.pass }}) + wall_adds(jump, first.wall, direction, own);
    }
{%- else %}
    (void)last;
{%- endif %}
    return packet(jump, jump->coarser, parent, far, direction{{ jump.pass }});
}

// What a direction brings to a cell of the block, the mean over the places in it, where finer cells may be on the way.
{{ function }} {{ real }} from_finer(const Jump *jump, const int direction, const int *at{{ jump.decl }})
{
    {{ real }} sum = 0;
    for (int child = 0; child < {{ jump.children }}; ++child) {
        int place[DIM], near[DIM], far[DIM];
        for (int axis = 0; axis < DIM; ++axis) place[axis] = 2 * at[axis] + (child >> axis & 1);
        const Place last = beyond(jump, jump->node, place, direction, -1, near);
        const Place first = beyond(jump, jump->node, place, direction, -2, far);
        if (last.what == FINE) {
            sum += jump->after[(size_t)last.slot * (Q * CELLS) + (size_t)(direction * CELLS + last.cell)];
        } else if (first.what == FINE) {
            sum += jump->before[(size_t)first.slot * (Q * CELLS) + (size_t)(direction * CELLS + first.cell)];
{%- if jump.walls %}
        } else if (first.what == WALL) {
            // Back the way that it came: it has left a fine cell, or this one.
            const int sent = OPPOSITE[direction];
            const Place cell = find(jump, jump->node, place);
            const {{ real }} *own = jump->own + (size_t)cell.slot * (Q * CELLS) + (size_t)cell.cell;
            const Place fine = beyond(jump, jump->node, place, direction, 1, near);
            if (last.what == WALL && fine.what == FINE) {
                sum += jump->before[(size_t)fine.slot * (Q * CELLS) + (size_t)(sent * CELLS + fine.cell)];
            } else {
                sum += packet(jump, jump->own, jump->node, place, sent{{ jump.pass }});
            }
            sum += wall_adds(jump, last.what == WALL ? last.wall : first.wall, direction, own);
{%- endif %}
        } else {
            sum += packet(jump, jump->own, jump->node, far, direction{{ jump.pass }});
        }
    }
    return {{ jump.share }} * sum;
}

// What a direction brings to a cell of the block.
{{ function }} {{ real }} arrives(const Jump *jump, const int direction, const int *at, const int cell{{ jump.decl }})
{
    const int side[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    const {{ int }} *const near = jump->near + (size_t)jump->node * NEAR;
    int entry = {{ middle }}, upwind = 0, block[DIM];
    for (int axis = 0, step = 1, stride = 1; axis < DIM; stride *= side[axis], step *= 3, ++axis) {
        const int place = at[axis] - VELOCITY[direction][axis];
        block[axis] = place < 0 ? -1 : place >= side[axis] ? 1 : 0;
        entry += block[axis] * step;
        upwind += stride * (place - block[axis] * side[axis]);
    }
    const {{ int }} *const slots = jump->neighbours + (size_t)jump->slot * NEAR;
    const {{ int }} from = slots[entry];
    if (from == COARSER && near[entry] == COARSER) return from_coarser(jump, direction, at, cell{{ jump.pass }});
    // A neighbour that is a node and has no slot of its own is refined.
    int refined = 0;
    if (from < 0 && from != COARSER) {
        for (int way = 0; way < NEAR; ++way) refined |= slots[way] == COARSER && near[way] >= 0;
    } else if (entry != {{ middle }}) {
        for (int part = 1; part < {{ jump.children }}; ++part) {
            int way = {{ middle }};
            for (int axis = 0, step = 1; axis < DIM; step *= 3, ++axis) way += (part >> axis & 1) * block[axis] * step;
            refined |= slots[way] == COARSER && near[way] >= 0;
        }
    }
    if (refined) return from_finer(jump, direction, at{{ jump.pass }});
{%- if jump.walls %}
    const {{ real }} *own = jump->own + (size_t)jump->slot * (Q * CELLS) + (size_t)cell;
{%- if cuda %}
    return pull(from, direction, upwind, jump->own, own, jump->wall_rules, jump->wall_values
        {%- if walls.mirrors %}, slots, at[0], at[1], {% if deep %}at[2]{% else %}0{% endif %}{% endif %});
{%- else %}
    if (from < 0) {
        return from_wall(-1 - from, direction, own, jump->wall_rules, jump->wall_values
            {%- if walls.mirrors %}, jump->own, slots, at[0], at[1], {% if deep %}at[2]{% else %}0{% endif %}{% endif %});
    }
{%- endif %}
{%- endif %}
{%- if not cuda or not jump.walls %}
    return jump->own[(size_t)from * (Q * CELLS) + (size_t)(direction * CELLS + upwind)];
{%- endif %}
}

// The jump around a block. `current`, `coarse` and `fine` say which set of populations is current on the block's level and
// on those beside it.
{{ function }} Jump around(
    const {{ int }} slot, const {{ int }} *neighbours, const {{ int }} *nodes, const {{ int }} *near, const {{ int }} *children,
    const {{ int }} *parents, const {{ int }} *slots, const {{ int }} *corners, {{ real }} *saved, {{ real }} *populations_0,
    {{ real }} *populations_1, const int current, const int coarse, const int fine, const int start)
{
    Jump jump;
    jump.neighbours = neighbours, jump.near = near, jump.children = children, jump.parents = parents, jump.slots = slots;
{%- if jump.walls %}
    jump.wall_rules = 0, jump.wall_values = 0;
{%- endif %}
    jump.own = current ? populations_1 : populations_0;
    jump.coarser = coarse ? populations_1 : populations_0;
    jump.before = fine ? populations_0 : populations_1;
    jump.after = fine ? populations_1 : populations_0;
    jump.slot = slot, jump.node = nodes[slot], jump.start = start;
    jump.saved = saved + (size_t)(corners[slot] < 0 ? 0 : corners[slot]) * (Q * CELLS);
    return jump;
}
