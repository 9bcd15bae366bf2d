// ==== what cells show to those around them ==========================================================================
{{<tables_of_seen />}}

// All that is seen of a cell.
typedef struct {
    {{ real }} values[{{ around.values_shown }}];
    int is_there;  // whether there is such a cell
} Seen;

{% if walls -%}
// What is beyond the wall w, of what cells have at the place `shown`, where the image of that place at the wall has `image`; bit a of
// `flipped`: the wall is across the axis a.
{{ inline }} {{ real }} beyond_wall(
    const {{ int }} w, const int shown, const {{ real }} image, const int flipped, const {{ int }} *wall_rules, const {{ real }} *wall_values)
{
    {{ around.values }}
    (void)w, (void)shown, (void)flipped, (void)wall_rules;
{%- for rule in around.beyond %}
    if (wall_rules[w] == {{ rule.code }} && shown == {{ rule.shown }}) {
{%- for line in rule.lines %}
        {{ line }}
{%- endfor %}
    }
{%- endfor %}
    return image;
}

// A place behind walls: the cell that is its image, the wall that decides what is there, and across which axes there are walls, a bit for each.
// The image is the cell in front of the walls that a link would reach without its components into them; the cell at hand where that is none.
typedef struct {
    Spot image;
    {{ int }} slot, wall;  // the slot is {% if packets %}COARSER where the image lies on another level{% else %}that of the image{% endif %}
    int flipped;
} Behind;

{{ inline }} Behind behind_of(const Spot here, const int direction, const {{ int }} *near, const {{ int }} *wall_rules)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    const Spot there = beyond(here, direction, -1);
    Behind behind = {there, 0, -1 - near[neighbour_of(there)], 0};
    (void)wall_rules;
    for (int axis = 0, step = 1; axis < DIM; step *= 3, ++axis) {
        const int side = there.at[axis] < 0 ? -1 : there.at[axis] >= width[axis] ? 1 : 0;
        const {{ int }} beside = near[{{ middle }} + side * step];
        if (side == 0 || beside >= 0{% if packets %} || beside == COARSER{% endif %}) continue;
{%- if walls.mirrors %}
        // Where several walls are in the way, one that is no symmetry plane decides.
        const {{ int }} rule = wall_rules[-1 - beside];
        if (behind.flipped == 0 || !({{ walls.mirrors }})) behind.wall = -1 - beside;
{%- else %}
        if (behind.flipped == 0) behind.wall = -1 - beside;
{%- endif %}
        behind.flipped |= 1 << axis, behind.image.at[axis] = here.at[axis];
    }
    behind.slot = near[neighbour_of(behind.image)];
    if (behind.flipped == 0 || (behind.slot < 0{% if packets %} && behind.slot != COARSER{% endif %})) behind.image = here, behind.slot = near[{{ middle }}];
    return behind;
}

// What is seen with the number `which` from `here` at a place behind walls{% if packets %}; `in`: the row of the block in the inbox, if it has one{% endif %}.
{{ inline }} {{ real }} seen_behind(
    const Behind behind, const int which, const Spot here, const {{ stored }} *src, const {{ int }} *wall_rules,
    const {{ real }} *wall_values{% if packets %}, const {{ real }} *in{% endif %})
{
    const int shown = SHOWN[which];
{%- if packets %}
    const {{ real }} value = behind.slot < 0 ? in[inbox_at(Q + which, here)] : load(src, behind.slot, shown, index_of(behind.image));
{%- else %}
    const {{ real }} value = load(src, behind.slot, shown, index_of(behind.image));
    (void)here;
{%- endif %}
    return beyond_wall(behind.wall, shown, value, behind.flipped, wall_rules, wall_values);
}

{{<all_seen_behind />}}

{% endif -%}
{% if packets -%}
// ---- at refinement interfaces: on a plane through a coarser cell, the mean of finer ones. Linear fields are exact.

// What cells of a block's level have around a node, if they are of that level, and what those have that refine them.
typedef struct {
    const {{ stored }} *level, *finer;
    const {{ int }} *near, *children, *slots;  // of all nodes
    {{ int }} node;
} Views;

// What a cell shows, counted from the lower corner of the node.
{{ inline }} Seen seen_at(const Views *views, const Spot cell)
{
    Seen seen;
    const {{ int }} other = views->near[(size_t)views->node * NEAR + neighbour_of(cell)];
    const {{ int }} first = other < 0 ? -1 : views->children[other];
    seen.is_there = other >= 0;
    UNROLL for (int value = 0; value < {{ around.values_shown }}; ++value) seen.values[value] = 0;
    if (other < 0) return seen;
    UNROLL for (int child = 0; child < CHILDREN; ++child) {
        if (first < 0 && child > 0) break;
        Spot fine;
        const int part = child_of(cell, child, &fine) % CHILDREN, at = first < 0 ? index_of(cell) : index_within(fine);
        const {{ int }} slot = views->slots[first < 0 ? other : first + part];
        UNROLL for (int value = 0; value < {{ around.values_shown }}; ++value) {
            seen.values[value] += load(first < 0 ? views->level : views->finer, slot, {{ around.first }} + value, at);
        }
    }
    if (first < 0) return seen;
    UNROLL for (int value = 0; value < {{ around.values_shown }}; ++value) seen.values[value] *= ({{ real }})1 / CHILDREN;
    return seen;
}

// What a place inside a coarser cell shows; the place is counted in cells of the finer level from the lower corner of the node.
{{ inline }} Seen seen_inside(const Views *views, const Spot place)
{
    int child;
    const Spot cell = cell_around(place, &child);
    const Seen own = seen_at(views, cell);
    Seen seen = own;
    UNROLL for (int axis = 0; axis < DIM; ++axis) {
        Spot before = cell, after = cell;
        before.at[axis] -= 1, after.at[axis] += 1;
        const Seen low = seen_at(views, before), high = seen_at(views, after);
        // Half a cell from the middle, on one side of it where there is a neighbour on one side alone.
        const {{ real }} part = (child >> axis & 1 ? ({{ real }}).25 : ({{ real }})-.25) / (low.is_there && high.is_there ? 2 : 1);
        UNROLL for (int value = 0; value < {{ around.values_shown }}; ++value) {
            seen.values[value] += part * ((high.is_there ? high : own).values[value] - (low.is_there ? low : own).values[value]);
        }
    }
    return seen;
}

// How many cells of a block the directions before one enter, together; the last is of all.
{{ table }} int ENDS[] = { {{- around.ends -}} };

// One of the cells of a block that a direction enters: those at the face across its first axis, then those of others that are not yet among them.
{{ inline }} Spot entered(const int direction, int number)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    Spot spot = { {0, 0{% if deep %}, 0{% endif %}} };
    int first[DIM], extent[DIM];
    for (int axis = 0; axis < DIM; ++axis) first[axis] = 0, extent[axis] = width[axis];
    for (int face = 0; face < DIM; ++face) {
        const int c = VELOCITY[direction][face];
        if (c == 0) continue;
        int count = 1;
        for (int axis = 0; axis < DIM; ++axis) count *= axis == face ? 1 : extent[axis];
        if (number < count) {
            for (int axis = 0; axis < DIM; ++axis) {
                if (axis == face) continue;
                spot.at[axis] = first[axis] + number % extent[axis], number /= extent[axis];
            }
            spot.at[face] = c > 0 ? 0 : width[face] - 1;
            return spot;
        }
        number -= count;
        first[face] = c > 0, extent[face] -= 1;
    }
    return spot;
}

{% <kernel of={inbox.across}> %}
    const {{ int }} node = nodes[slot], *const beside = neighbours + (size_t)slot * NEAR;
    {{ real }} *const to = inbox + (size_t)rows[slot] * ROW;
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
{%- if not walls %}
    (void)wall_rules;  // there are no walls
{%- endif %}
    int way = 0;
    for (int number = thread; number < ENDS[{{ around.ways | length }}]; number += threads) {
        while (number >= ENDS[way + 1]) ++way;
        const Spot here = entered(WAYS[way], number - ENDS[way]);
        Spot place = beyond(here, WAYS[way], -1);
        {{ int }} next = beside[neighbour_of(place)];
{%- if walls %}
        if (next < 0 && next != COARSER) place = behind_of(here, WAYS[way], beside, wall_rules).image, next = beside[neighbour_of(place)];
{%- endif %}
        if (next != COARSER) continue;
        const Views around = {own, finer, near, children, slots, node};
        Seen seen = seen_at(&around, place);
        if (!seen.is_there) {
            const {{ int }} parent = parents[node], octant = node - children[parent];
            const Views outside = {coarser, own, near, children, slots, parent};
            for (int axis = 0; axis < DIM; ++axis) place.at[axis] += (octant >> axis & 1) * width[axis];
            seen = seen_inside(&outside, place);
        }
        UNROLL for (int value = 0; value < {{ around.values_shown }}; ++value) {
            const int which = WHICH[way][value];
            if (which >= 0) to[inbox_at(Q + which, here)] = seen.values[value];
        }
    }
{%- </kernel> %}

{% endif -%}
