// ==== inbox =========================================================================================================
//
// What enters a block from anywhere but a block of its own level comes through the block's row of the inbox. Its mask says from
// which neighbours: a bit for each. Rows are filled before the block streams, each value by one thread. In a coarse step a
// population of a coarse cell is {{ interface.children }} packets, one from each place in it (in cells of the finer level), that travel along its direction,
// one place in each of two fine steps. A packet is of kind 1 or 2 if it enters a fine cell in that step, else of kind 0, and then
// arrives in a coarse cell. Which coarse cells are refined around the one at hand is a mask of bits too, and all else follows.

{{<together />}}

enum {
    ROW = {{ inbox.length }},  // values of a row: all that may enter a block from outside
    WALLED = 1 << NEAR,  // in the mask of a block: it touches walls
};

// For each direction, the coarse cells around one in which its packets may end, and those from which something may arrive that has
// met fine cells: a bit for each, in the order of a block's neighbours.
{{ table }} int AHEAD[Q] = { {{- inbox.ahead -}} };
{{ table }} int BEHIND[Q] = { {{- inbox.behind -}} };

// Where in a row that is what a direction brings to a cell from outside the block: by direction, then by the face that it
// enters through, that of the first axis first, then by cell.
{{ inline }} int inbox_at(const int direction, const Spot cell)
{
    const int x = cell.at[0], y = cell.at[1]{% if deep %}, z = cell.at[2]{% endif %};
    switch (direction) {
{%- for place in inbox.places %}
    case {{ place.at }}:
        return {{ place.text }};
{%- endfor %}
    default:
        return 0;
    }
}

// The index of a cell that lies in the block.
{{ inline }} int index_within(const Spot spot)
{
    return spot.at[0] + {{ bx }} * (spot.at[1]{% if deep %} + {{ by }} * spot.at[2]{% endif %});
}

// Where the fine cell at one side of a coarse cell is, along axis a the upper one if bit a of `child` is set: `fine` in a block, of
// which the number among those that refine the neighbours is given back.
{{ inline }} int child_of(const Spot coarse, const int child, Spot *fine)
{
    const unsigned width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    unsigned entry = 0, octant = 0;
    for (int axis = 0, step = 1; axis < DIM; step *= 3, ++axis) {
        // From the lower corner of the lower neighbour, in cells and in blocks of the finer level.
        const unsigned place = 2 * ((unsigned)coarse.at[axis] + width[axis]) + (child >> axis & 1), block = place / width[axis];
        entry += block / 2 * step;
        octant |= (block & 1) << axis;
        fine->at[axis] = (int)(place % width[axis]);
    }
    return (int)(entry * CHILDREN + octant);
}

// The coarse cell around a place, and which of its children is there.
{{ inline }} Spot cell_around(const Spot spot, int *child)
{
    Spot cell = spot;
    *child = 0;
    for (int axis = 0; axis < DIM; ++axis) {
        const int upper = spot.at[axis] & 1;
        *child |= upper << axis;
        cell.at[axis] = (spot.at[axis] - upper) / 2;
    }
    return cell;
}

// What is around a coarse block, by its table. Slots and rows of the inbox are -1 where there is none; rows are -1 also for blocks that touch
// walls: what enters those is for other kernels to say.
typedef struct {
    const {{ int }} *slots, *rows;  // of the blocks of its level [NEAR]
    const {{ int }} *fine_slots, *fine_rows;  // of those that refine them [NEAR][CHILDREN]
} Around;

enum { AROUND = 2 * NEAR + 2 * NEAR * CHILDREN };  // values of what is around a block

{{ inline }} Around around_of(const {{ int }} *table)
{
    const Around around = {table, table + NEAR, table + 2 * NEAR, table + 2 * NEAR + NEAR * CHILDREN};
    return around;
}

{{ inline }} {{ int }} row_of(const {{ int }} slot, const {{ int }} *rows, const {{ int }} *masks)
{
    const {{ int }} row = slot < 0 ? -1 : rows[slot];
    return row < 0 || masks[row] & WALLED ? -1 : row;
}

// Writes the entry `at` of the table of fine blocks around a node.
{{ inline }} void set_around(
    {{ int }} *tables, const int at, const {{ int }} node, const {{ int }} *near, const {{ int }} *children, const {{ int }} *slots,
    const {{ int }} *rows, const {{ int }} *masks)
{
    const int entry = at / CHILDREN, octant = at % CHILDREN;
    const {{ int }} other = near[(size_t)node * NEAR + entry], first = other < 0 ? -1 : children[other];
    if (octant == 0) {
        tables[entry] = other < 0 ? -1 : slots[other];
        tables[NEAR + entry] = row_of(tables[entry], rows, masks);
    }
    {{ int }} *const fine = tables + 2 * NEAR;
    fine[at] = first < 0 ? -1 : slots[first + octant];
    fine[NEAR * CHILDREN + at] = row_of(fine[at], rows, masks);
}

// Which of the coarse cells around one are refined: a bit for each, in the order of a block's neighbours.
{{ inline }} int refined_around(const int refined, const Spot cell)
{
    int mask = 0;
    for (int entry = 0; entry < NEAR; ++entry) {
        const Spot other = moved(cell, entry % 3 - 1, entry / 3 % 3 - 1{% if deep %}, entry / 9 - 1{% endif %});
        mask |= (refined >> neighbour_of(other) & 1) << entry;
    }
    return mask;
}

// Puts what a direction brings to a fine cell into the inbox.
{{ inline }} void deliver(
    const Around *around, const Spot coarse, const int child, const int direction, const {{ real }} value, {{ real }} *inbox)
{
    Spot fine;
    const {{ int }} row = around->fine_rows[child_of(coarse, child, &fine)];
    if (row >= 0) inbox[(size_t)row * ROW + (size_t)inbox_at(direction, fine)] = value;
}

// A population of a fine cell.
{{ inline }} {{ real }} fine_value(
    const Around *around, const Spot coarse, const int child, const int direction, const {{ stored }} *level)
{
    Spot fine;
    const {{ int }} slot = around->fine_slots[child_of(coarse, child, &fine)];
    return load(level, slot, direction, index_within(fine));
}

{% if interface.slopes -%}
// The population of the coarse cell so many cells from one of the block along an axis, zero where there is none; whether there is one.
{{ inline }} int sample_around(
    const Around *around, const {{ stored }} *level, const Spot cell, const int axis, const int shift, const int direction,
    {{ real }} *value)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} }, places[3] = {1, 3, 9}, strides[3] = {1, {{ bx }}, {{ bx }} * {{ by }}};
    const int to = cell.at[axis] + shift, side = to < 0 ? -1 : to >= width[axis];
    const {{ int }} slot = around->slots[{{ middle }} + side * places[axis]];
    *value = slot >= 0 ? load(level, slot, direction, index_within(cell) + (shift - side * width[axis]) * strides[axis]) : 0;
    return slot >= 0;
}

{% endif -%}
{% for slope in interface.slopes -%}
{% set decl = "const Around *around, const " ~ stored ~ " *level" -%}
{{<stencil of={slope} how={inline} name={slope.around} from="around, level" decl={decl} sample="sample_around" />}}

{% endfor -%}
{% set shared_decl = "" %}{% set shared = "" -%}
{% if interface.shared -%}
{% set shared_decl = ", const " ~ real ~ " *shared" %}{% set shared = ", shared" -%}
// What the packets of several directions of a coarse cell are made of.
{{ function }} void share_around(
    const {{ int }} *table, const int cell, const {{ stored }} *coarse, {{ real }} *shared{{ interface.decl }})
{
    const Around own = around_of(table), *const around = &own;
    const {{ int }} slot = around->slots[{{ middle }}];
    const Spot here = spot_of(cell);
    (void)slot;
{%- for line in interface.shared.around %}
    {{ line }}
{%- endfor %}
}

{% endif -%}
{% for way in inbox.ways -%}
// Delivers the packets of direction {{ way.at }}: see below.
{{ function }} void send_to_fine_{{ way.at }}(
    const {{ int }} *table, const int cell, const int mask, const {{ stored }} *coarse, const {{ stored }} *fine, {{ real }} *first,
    {{ real }} *second, {{ real }} *inbox{{ shared_decl }}{{ interface.decl }})
{
    const Around own = around_of(table), *const around = &own;
    const {{ int }} slot = around->slots[{{ middle }}];
    const Spot here = spot_of(cell);
    const int far = mask >> {{ way.far }} & 1;
    (void)fine;  // along an axis no path cuts a corner
{%- for line in way.lines %}
    {{ line }}
{%- endfor %}
    {{ real }} rest = 0;
{%- for packet in way.packets %}
{%- if packet.near %}
    if (mask >> {{ packet.near.entry }} & 1) {
        deliver(around, moved(here, {{ packet.near.offset }}), {{ packet.near.child }}, {{ way.at }}, {{ packet.value }}, first);
{%- if packet.behind %}
        if (mask >> {{ packet.behind.entry }} & 1) {  // a path that cuts a corner of this cell
            deliver(around, moved(here, {{ packet.near.offset }}), {{ packet.near.child }}, {{ way.at }},
                fine_value(around, moved(here, {{ packet.behind.offset }}), {{ packet.behind.child }}, {{ way.at }}, fine), second);
        }
{%- endif %}
    } else if (far) {
{%- else %}
    if (far) {
{%- endif %}
        deliver(around, moved(here, {{ way.velocity }}), {{ packet.child }}, {{ way.at }}, {{ packet.value }}, second);
    } else {
        rest += {{ packet.value }};
    }
{%- endfor %}
    if (!far) {
        const Spot last = moved(here, {{ way.velocity }});
        const {{ int }} row = around->rows[neighbour_of(last)];
        const Spot there = spot_of(index_of(last));
        if (row >= 0) inbox[(size_t)row * ROW + (size_t)inbox_at({{ way.at }}, there)] = {{ interface.share }} * rest;
    }
}

// Adds to what direction {{ way.at }} brings to a coarse cell: see below.
{{ function }} void send_to_coarse_{{ way.at }}(
    const {{ int }} *table, const int cell, const int mask, const {{ stored }} *before, const {{ stored }} *after, const int parts, {{ real }} *inbox)
{
    const Around own = around_of(table), *const around = &own;
    const Spot here = spot_of(cell);
    const int far = mask >> {{ way.back }} & 1;
    {{ real }} first = 0, then = 0;
{%- for packet in way.packets %}
{%- if packet.behind %}
    if (mask >> {{ packet.behind.entry }} & 1) {
        if (parts & 2) then += fine_value(around, moved(here, {{ packet.behind.offset }}), {{ packet.behind.child }}, {{ way.at }}, after);
    } else if (far && parts & 1) {
{%- else %}
    if (far && parts & 1) {
{%- endif %}
        first += fine_value(around, moved(here, {{ way.backward }}), {{ packet.child }}, {{ way.at }}, before);
    }
{%- endfor %}
    {{ real }} *const to = inbox + (size_t)around->rows[{{ middle }}] * ROW + inbox_at({{ way.at }}, here);
    *to = (far && parts & 1 ? {{ interface.share }} * first : *to) + {{ interface.share }} * then;
}

{% endfor -%}
// Delivers the packets of a population of a cell of the coarse block with this table, around which the cells of `mask` are refined,
// some of them ahead: to fine cells for both of their steps, and to the coarse cell where they all end that meet no fine one. `fine`
// is the finer level before its first step. Compilers take long for one function of all directions.
{{ inline }} void send_to_fine(
    const {{ int }} *table, const int cell, const int mask, const int direction, const {{ stored }} *coarse, const {{ stored }} *fine,
    {{ real }} *first, {{ real }} *second, {{ real }} *inbox{{ shared_decl }}{{ interface.decl }})
{
    switch (direction) {
{%- for way in inbox.ways %}
    case {{ way.at }}: return send_to_fine_{{ way.at }}(table, cell, mask, coarse, fine, first, second, inbox{{ shared }}{{ interface.pass }});
{%- endfor %}
    }
}

// Adds to what a direction brings to a coarse cell what has come out of the fine cells behind it, `before` and `after` their first
// step; `parts`: 1 for the former alone, 2 for the latter, 3 for both.
{{ inline }} void send_to_coarse(
    const {{ int }} *table, const int cell, const int mask, const int direction, const {{ stored }} *before, const {{ stored }} *after,
    const int parts, {{ real }} *inbox)
{
    switch (direction) {
{%- for way in inbox.ways %}
    case {{ way.at }}: return send_to_coarse_{{ way.at }}(table, cell, mask, before, after, parts, inbox);
{%- endfor %}
    }
}

// Which of a node's neighbours are refined: a bit for each.
{{ inline }} int refined_near(const {{ int }} node, const {{ int }} *near, const {{ int }} *children)
{
    int refined = 0;
    for (int entry = 0; entry < NEAR; ++entry) {
        const {{ int }} other = near[(size_t)node * NEAR + entry];
        refined |= (other >= 0 && children[other] >= 0) << entry;
    }
    return refined;
}

// A node, and which of its neighbours are refined, and which are walls: a bit for each.
typedef struct {
    const {{ stored }} *level;  // populations of its level
    {{ int }} node;
    int refined, solid;
{%- if interface.mirrors %}
    int mirrors;  // which of its faces are mirrors: a bit for each, that of the lower face of an axis first
{%- endif %}
{%- if interface.walls %}
    const {{ int }} *beside;  // slots of its neighbours, -1 - w where there is the wall w [NEAR]
    const {{ int }} *within;  // slots of the blocks that refine them, -1 where there are none [NEAR][CHILDREN]
{%- endif %}
} Side;

// A side of which nothing else is known.
{{ inline }} Side side_of(const {{ stored }} *level, const {{ int }} node)
{
    Side side;
    side.level = level, side.node = node, side.refined = side.solid = 0;
{%- if interface.mirrors %}
    side.mirrors = 0;
{%- endif %}
{%- if interface.walls %}
    side.beside = side.within = 0;
{%- endif %}
    return side;
}

// Adds what a side is towards one of the node's neighbours.
{{ inline }} void look_towards(
    Side *side, const int entry, const {{ int }} *near, const {{ int }} *children
    {%- if interface.mirrors %}, const {{ int }} *wall_rules{% endif %})
{
    const {{ int }} other = near[(size_t)side->node * NEAR + entry];
    if (other == COARSER) return;
    if (other >= 0) {
        if (children[other] >= 0) SET_BITS(side->refined, 1 << entry);
        return;
    }
    SET_BITS(side->solid, 1 << entry);
{%- if interface.mirrors %}
    for (int face = 0, step = 1; face < 2 * DIM; ++face, step *= face & 1 ? 1 : 3) {
        if (entry != {{ middle }} + (face & 1 ? step : -step)) continue;
        const {{ int }} rule = wall_rules[-1 - other];
        SET_BITS(side->mirrors, ({{ interface.mirrors }}) << face);
    }
{%- endif %}
}

enum { STREAMS, FROM_COARSER, FROM_FINER };  // how something enters a block

// How what comes from a neighbour, or from behind a wall, enters a block: through the inbox or not.
{{ inline }} int entering(const Side *side, const {{ int }} *near, const int neighbour)
{
    int entry = {{ middle }}, step_of[DIM];
    for (int axis = 0, step = 1, rest = neighbour; axis < DIM; step *= 3, rest /= 3, ++axis) {
        {% if not interface.mirrors %}const {% endif %}int block = rest % 3 - 1;
{%- if interface.mirrors %}
        if (block != 0 && side->mirrors >> (2 * axis + (block > 0)) & 1) block = 0;
{%- endif %}
        step_of[axis] = block * step;
        entry += step_of[axis];
    }
    if (side->refined != 0) {
        // Refined blocks on the way, or, off a wall, around.
        int refined = side->solid >> entry & 1;
        for (int part = 1; part < CHILDREN; ++part) {
            int passed = {{ middle }};
            for (int axis = 0; axis < DIM; ++axis) passed += (part >> axis & 1) * step_of[axis];
            refined |= side->refined >> passed & 1;
        }
        if (refined) return FROM_FINER;
    }
    return near[(size_t)side->node * NEAR + entry] == COARSER ? FROM_COARSER : STREAMS;
}

{% if interface.walls %}
{% include "interface" %}
{%- endif %}
