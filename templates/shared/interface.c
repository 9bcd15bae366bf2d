
// ==== walls at interfaces ===========================================================================================
//
// Of blocks that touch walls too, all that enters is found cell by cell, by a walk through the forest. Places are counted in cells
// of the finer of two levels, from the lower corner of a node of the coarser one. Link-wise walls send packets back{% if interface.mirrors %}; a place beyond a
// mirror is its image inside, with the directions mirrored{% endif %}.

// The coupling {{ interface.name }} between two levels.
typedef struct {
    const {{ int }} *wall_rules;
    const {{ real }} *wall_values;
    const {{ int }} *link_rows, *links;  // cut links, if `solids` is 1
    int solids;
    const {{ stored }} *before, *after;  // populations of the finer level, at the beginning of its two steps and half-way
} Interface;

enum { COARSE, FINE, WALL };  // what is at a place; a level coarser than both counts as coarse

// Slots around a node and within what is around it: values `at` of `beside` and `within` of a side, one after the other.
enum { SIDES = NEAR + NEAR * CHILDREN };

{{ inline }} {{ int }} slot_around(
    const int at, const {{ int }} node, const {{ int }} *near, const {{ int }} *children, const {{ int }} *slots)
{
    const int part = at - NEAR, entry = part < 0 ? at : part / CHILDREN;
    const {{ int }} other = near[(size_t)node * NEAR + entry];
    if (part < 0) return other < 0 ? other : slots[other];
    const {{ int }} first = other < 0 ? -1 : children[other];
    return first < 0 ? -1 : slots[first + part % CHILDREN];
}

// A cell of a slot.
typedef struct {
    {{ int }} slot;
    int cell;
{%- if interface.mirrors %}
    int turned;  // along which axes it was seen in a mirror: a bit for each
{%- endif %}
} Cell;
{%- if interface.mirrors %}

// A place as it is inside the mirrors of a node; the axes along which it lay beyond one are added to `turned`.
{{ inline }} Spot folded(const Side *side, Spot spot, int *turned)
{
    const int length[3] = {2 * {{ bx }}, 2 * {{ by }}, 2 * {{ bz }}};
    for (int axis = 0; axis < DIM; ++axis) {
        const int upper = spot.at[axis] >= length[axis];
        if ((spot.at[axis] < 0 || upper) && side->mirrors >> (2 * axis + upper) & 1) {
            spot.at[axis] = (upper ? 2 * length[axis] : 0) - 1 - spot.at[axis];
            *turned |= 1 << axis;
        }
    }
    return spot;
}

// A direction in the mirrors of some axes.
{{ inline }} int reflect(const int direction, const int turned)
{
    if (turned == 0) return direction;
    int number = {{ middle }};
    for (int axis = 0, step = 1; axis < DIM; step *= 3, ++axis) {
        number += turned >> axis & 1 ? -step * VELOCITY[direction][axis] : step * VELOCITY[direction][axis];
    }
    return NUMBER[number];
}
{%- endif %}

// The place of a child of a coarse cell.
{{ inline }} Spot place_of(const Spot cell, const int child)
{
    Spot spot = cell;
    for (int axis = 0; axis < DIM; ++axis) spot.at[axis] = 2 * cell.at[axis] + (child >> axis & 1);
    return spot;
}

// Which of a node's neighbours a place {% if interface.mirrors %}inside the mirrors {% endif %}lies in.
{{ inline }} int entry_of(const Spot spot)
{
    int child;
    return neighbour_of(cell_around(spot, &child));
}

{{ inline }} int kind_at(const Side *side, const Spot spot)
{
{%- if interface.mirrors %}
    int turned = 0;
    const int entry = entry_of(folded(side, spot, &turned));
{%- else %}
    const int entry = entry_of(spot);
{%- endif %}
    return side->refined >> entry & 1 ? FINE : side->solid >> entry & 1 ? WALL : COARSE;
}

// The cell at a place where there is one; a negative slot where there is none on these two levels.
{{ inline }} Cell find(const Side *side, {% if not interface.mirrors %}const {% endif %}Spot spot)
{
{%- if interface.mirrors %}
    Cell found = {-1, 0, 0};
    spot = folded(side, spot, &found.turned);
{%- else %}
    Cell found = {-1, 0};
{%- endif %}
    int child;
    Spot fine;
    const Spot coarse = cell_around(spot, &child);
    const int part = child_of(coarse, child, &fine), entry = part / CHILDREN, refined = side->refined >> entry & 1;
    found.slot = refined ? side->within[part] : side->beside[entry];
    found.cell = refined ? index_within(fine) : index_of(coarse);
    return found;
}

{{ inline }} {{ real }} value(const {{ stored }} *level, const Cell cell, const int direction)
{
    return load(level, cell.slot, {% if interface.mirrors %}reflect(direction, cell.turned){% else %}direction{% endif %}, cell.cell);
}

// The wall at a place where there is one.
{{ inline }} {{ int }} wall_at(const Side *side, const Spot spot)
{
{%- if interface.mirrors %}
    int turned = 0;
    return -1 - side->beside[entry_of(folded(side, spot, &turned))];
{%- else %}
    return -1 - side->beside[entry_of(spot)];
{%- endif %}
}

// The wall at the place `far`, off which a direction comes to the coarse cell at the place `near`. Where links are cut, each has a wall of its own:
// that of the direction if its link meets the same face, else, at an edge of the domain, that of the link straight to this face.
{{ function }} {{ int }} wall_across(
    const Interface *interface, const Side *side, {% if not interface.mirrors %}const {% endif %}Spot near, {% if not interface.mirrors %}const {% endif %}Spot far, const int direction, const Cell cell)
{
    const {{ int }} w = wall_at(side, far), row = interface->solids ? interface->link_rows[cell.slot] : -1;
    if (row < 0) return w;
    const {{ int }} *const links = interface->links + (size_t)row * (Q * CELLS) + cell.cell;
{%- if interface.mirrors %}
    int turned = 0;
    near = folded(side, near, &turned), far = folded(side, far, &turned);
{%- endif %}
    int child;
    const {{ int }} link = links[direction * CELLS];
    if (link > 0 && side->beside[neighbour_of(beyond(cell_around(near, &child), direction, -1))] == -1 - w) return link - 1;
    const int entry = entry_of(far);
    for (int axis = 0, step = 1; axis < DIM; step *= 3, ++axis) {
        const int part = entry / step % 3 - 1;
        if (part == 0 || side->beside[{{ middle }} + part * step] != -1 - w) continue;
        const {{ int }} straight = links[NUMBER[{{ middle }} - part * step] * CELLS];
        if (straight > 0) return straight - 1;
    }
    return w;
}

{% if walls.nodes -%}
// Whether the wall w has a rule of nodes. It sends nothing back: what leaves it has started in the cells that touch it, and goes on
// into finer cells for both of their steps.
{{ inline }} int of_nodes(const Interface *interface, const {{ int }} w)
{
    switch (interface->wall_rules[w]) {
{%- for rule in walls.nodes %}
    case {{ rule.code }}:
{%- endfor %}
        return 1;
    default:
        return 0;
    }
}

{% endif -%}
// What the wall w adds to what a coarse cell sends to it, when it sends it back along a direction.
{{ function }} {{ real }} wall_adds(
    const Interface *interface, const {{ int }} w, const int direction, const {{ stored }} *src, const {{ int }} slot, const int cell)
{
    const {{ real }} sent = load(src, slot, OPPOSITE[direction], cell);
    const {{ real }} *wall_values = interface->wall_values;
    {{ walls.values }}
    switch (interface->wall_rules[w]) {
{%- for rule in interface.links %}
    case {{ rule.code }}:
        return {{ rule.function }}(direction, src, slot, cell{{ rule.pass }}) - sent;
{%- endfor %}
    default:
        return -sent;  // nothing comes back: a rule of nodes says later what does
    }
}

{% if interface.kinds -%}
// The kind of the packet that starts at a place.
{{ inline }} int kind(const Side *side, const Spot spot, const int direction)
{
    const int next = kind_at(side, beyond(spot, direction, 1));
    if (next == FINE) return 1;
    return kind_at(side, beyond(spot, direction, next == WALL ? -1 : 2)) == FINE ? 2 : 0;
}

{% endif -%}
{% if interface.slopes -%}
// The population of the coarse cell so many cells from one along an axis, zero where there is none; whether there is one.
{{ inline }} int sample_beside(
    const Side *side, Spot cell, const int axis, const int shift, const int direction, {{ real }} *sample)
{
    cell.at[axis] += shift;
    const Spot spot = place_of(cell, 0);
    const Cell found = find(side, spot);
    const int has = kind_at(side, spot) == COARSE && found.slot >= 0;
    *sample = has ? value(side->level, found, direction) : 0;
    return has;
}

{% endif -%}
{% for slope in interface.slopes -%}
{{<stencil of={slope} how={function} name={slope.walk} from="side" decl="const Side *side" sample="sample_beside" />}}

{% endfor -%}
{% if interface.shared -%}
// What the packets of several directions of the coarse cell `here` are made of.
{{ function }} void share_beside(const Side *side, const Spot here, const Cell found, {{ real }} *shared{{ interface.decl }})
{
    const {{ stored }} *const coarse = side->level;
    const {{ int }} slot = found.slot;
    const int cell = found.cell;
    (void)coarse, (void)slot, (void)cell;
{%- for line in interface.shared.walk %}
    {{ line }}
{%- endfor %}
}

{% endif -%}
// What the packet of a direction that starts at a place carries.
{{ function }} {{ real }} packet(const Side *side, {% if interface.mirrors %}Spot spot, int{% else %}const Spot spot, const int{% endif %} direction{{ interface.decl }})
{
{%- if interface.mirrors %}
    int turned = 0;
    spot = folded(side, spot, &turned), direction = reflect(direction, turned);
{%- endif %}
    int child;
    const Spot here = cell_around(spot, &child);
    const Cell found = find(side, spot);
    const {{ stored }} *const coarse = side->level;
    const {{ int }} slot = found.slot;
    const int cell = found.cell;
{%- if interface.kinds %}
    int kinds[{{ interface.children }}];
    for (int other = 0; other < {{ interface.children }}; ++other) kinds[other] = kind(side, place_of(here, other), direction);
{%- endif %}
{%- if interface.shared %}
    {{ real }} shared[{{ interface.shared.count }}];
    share_beside(side, here, found, shared{{ interface.pass }});
{%- endif %}
{%- if interface.switches %}
    switch (direction) {
{%- for packet in interface.packets %}
    case {{ packet.at }}: {
{%- for line in packet.lines %}
        {{ line }}
{%- endfor %}
{%- for value in packet.values %}
        if (child == {{ loop.index0 }}) return {{ value }};
{%- endfor %}
        break;
    }
{%- endfor %}
    }
{%- endif %}
    (void)here, (void)child;
    return load(coarse, slot, direction, cell);
}

// What a direction brings to a cell of a fine block from coarser ones, in the first of its two steps or in the second; `side` is about the
// parent of the block, which is its child `octant`.
{{ function }} {{ real }} from_coarser(
    const Interface *interface, const Side *side, const int octant, const int direction, const Spot at, const int second{{ interface.decl }})
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    Spot spot = at;
    for (int axis = 0; axis < DIM; ++axis) spot.at[axis] += (octant >> axis & 1) * width[axis];
    const Spot near = beyond(spot, direction, -1), far = beyond(spot, direction, -2);
    const int start = kind_at(side, far);
    // A path that cuts a corner of a coarse cell.
    if (second && start == FINE) return value(interface->before, find(side, far), direction);
    const int returns = second && start == WALL{% if walls.nodes %} && !of_nodes(interface, wall_at(side, far)){% endif %};
    const int onward = second && start == COARSE;
    const {{ real }} carried = packet(side, onward ? far : near, returns ? OPPOSITE[direction] : direction{{ interface.pass }});
    if (!returns) return carried;
    const Cell last = find(side, near);
    const int back = {% if interface.mirrors %}reflect(direction, last.turned){% else %}direction{% endif %};
    const {{ int }} w = wall_across(interface, side, near, far, back, last);
    return carried + wall_adds(interface, w, back, side->level, last.slot, last.cell);
}

// What a direction brings to a place in a cell of a coarse block, where finer cells may be on the way; `side` is about the block. `then`: of
// populations of fine cells after the first of their steps alone, else of all others alone.
{{ function }} {{ real }} from_finer(
    const Interface *interface, const Side *side, const int direction, const Spot at, const int child, const int then{{ interface.decl }})
{
    const Spot spot = place_of(at, child);
    const Spot near = beyond(spot, direction, -1), far = beyond(spot, direction, -2);
    const int last = kind_at(side, near), first = kind_at(side, far);
    if ((last == FINE) != then) return 0;
    if (last == FINE) return value(interface->after, find(side, near), direction);
    if (first == FINE) return value(interface->before, find(side, far), direction);
    if (first == COARSE) return packet(side, far, direction{{ interface.pass }});
    // Back the way that it came, off the wall that the link of the whole cell meets: it has left a fine cell, or this one.
    const int sent = OPPOSITE[direction];
    const Cell cell = find(side, spot);
    const Spot next = beyond(spot, direction, 1);
    const {{ real }} back = last == WALL && kind_at(side, next) == FINE ? value(interface->before, find(side, next), sent)
                                                               : packet(side, spot, sent{{ interface.pass }});
    const {{ int }} w = wall_across(interface, side, spot, far, direction, cell);
    return back + wall_adds(interface, w, direction, side->level, cell.slot, cell.cell);
}
