// ==== what cells show to those around them ==========================================================================

// Of each value that is seen, where cells have it, and the direction that comes from there.
{{ table }} int SHOWN[] = { {{- around.shown -}} };
{{ table }} int FROM[] = { {{- around.from -}} };

{% if walls -%}
// What is beyond the wall w, of the value that is seen with the number `which`, where the image of that place at the wall has `image`; bit a of
// `flipped`: the wall is across the axis a.
{{ inline }} {{ real }} beyond_wall(
    const {{ int }} w, const int which, const {{ real }} image, const int flipped, const {{ int }} *wall_rules, const {{ real }} *wall_values)
{
    {{ around.values }}
    (void)w, (void)which, (void)flipped, (void)wall_rules;
{%- for rule in around.beyond %}
    if (wall_rules[w] == {{ rule.code }} && SHOWN[which] == {{ rule.shown }}) {
{%- for line in rule.lines %}
        {{ line }}
{%- endfor %}
    }
{%- endfor %}
    return image;
}

// The image of a place behind walls: the cell in front of them that a link from `here` would reach without its components into them; `here` itself
// where that is no cell. The wall that decides what the value is there, and across which axes there are walls: a bit for each.
{{ inline }} Spot image_of(
    const Spot here, const Spot there, const {{ int }} *near, const {{ int }} *wall_rules, {{ int }} *wall, int *flipped)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    Spot image = there;
    *flipped = 0, *wall = -1 - near[neighbour_of(there)];
    (void)wall_rules;
    for (int axis = 0, step = 1; axis < DIM; step *= 3, ++axis) {
        const int side = there.at[axis] < 0 ? -1 : there.at[axis] >= width[axis] ? 1 : 0;
        const {{ int }} beside = near[{{ middle }} + side * step];
        if (side == 0 || beside >= 0{% if packets %} || beside == COARSER{% endif %}) continue;
{%- if walls.mirrors %}
        // Where several walls are in the way, one that is no symmetry plane decides.
        const {{ int }} rule = wall_rules[-1 - beside];
        if (*flipped == 0 || !({{ walls.mirrors }})) *wall = -1 - beside;
{%- else %}
        if (*flipped == 0) *wall = -1 - beside;
{%- endif %}
        *flipped |= 1 << axis, image.at[axis] = here.at[axis];
    }
    const {{ int }} of = near[neighbour_of(image)];
    return *flipped == 0 || (of < 0{% if packets %} && of != COARSER{% endif %}) ? here : image;
}

// What is seen with the number `which` where the next cell lies behind walls{% if packets %}; `in`: the row of the block in the inbox, if it has one{% endif %}.
{{ function }} {{ real }} beyond_walls(
    const int which, const Spot here, const {{ stored }} *src, const {{ int }} *near, const {{ int }} *wall_rules,
    const {{ real }} *wall_values{% if packets %}, const {{ real }} *in{% endif %})
{
    int flipped;
    {{ int }} w;
    const Spot image = image_of(here, beyond(here, FROM[which], -1), near, wall_rules, &w, &flipped);
    const {{ int }} slot = near[neighbour_of(image)];
    const {{ real }} value = {% if packets %}slot < 0 ? in[inbox_at(Q + which, here)] : {% endif %}load(src, slot, SHOWN[which], index_of(image));
    return beyond_wall(w, which, value, flipped, wall_rules, wall_values);
}

{% endif -%}
{% if packets -%}
// ---- at refinement interfaces: on a plane through a coarser cell, the mean of finer ones. Linear fields are exact.

// What cells of a block's level have around a node, if they are of that level, and what those have that refine them.
typedef struct {
    const {{ stored }} *level, *finer;
    const {{ int }} *near, *children, *slots;  // of all nodes
    {{ int }} node;
} Views;

// What a cell shows, counted from the lower corner of the node; whether there is one.
{{ function }} int seen_at(const Views *views, const Spot cell, {{ real }} *seen)
{
    const {{ int }} other = views->near[(size_t)views->node * NEAR + neighbour_of(cell)];
    if (other < 0) return 0;
    if (views->children[other] < 0) {
        const {{ int }} slot = views->slots[other];
        const int at = index_of(cell);
        UNROLL for (int value = 0; value < {{ around.values_shown }}; ++value) seen[value] = load(views->level, slot, {{ around.first }} + value, at);
        return 1;
    }
    UNROLL for (int value = 0; value < {{ around.values_shown }}; ++value) seen[value] = 0;
    UNROLL for (int child = 0; child < PARTS; ++child) {
        Spot fine;
        const {{ int }} slot = views->slots[views->children[other] + child_of(cell, child, &fine) % PARTS];
        const int at = index_within(fine);
        UNROLL for (int value = 0; value < {{ around.values_shown }}; ++value) {
            seen[value] += ({{ real }})1 / PARTS * load(views->finer, slot, {{ around.first }} + value, at);
        }
    }
    return 1;
}

// What a place inside a coarser cell shows; the place is counted in cells of the finer level from the lower corner of the node.
{{ function }} void seen_inside(const Views *views, const Spot place, {{ real }} *seen)
{
    int child;
    const Spot cell = cell_around(place, &child);
    {{ real }} own[{{ around.values_shown }}];
    seen_at(views, cell, own);
    UNROLL for (int value = 0; value < {{ around.values_shown }}; ++value) seen[value] = own[value];
    UNROLL for (int axis = 0; axis < DIM; ++axis) {
        {{ real }} low[{{ around.values_shown }}], high[{{ around.values_shown }}];
        Spot before = cell, after = cell;
        before.at[axis] -= 1, after.at[axis] += 1;
        const int has_low = seen_at(views, before, low), has_high = seen_at(views, after, high);
        // Half a cell from the middle, on one side of it where there is a neighbour on one side alone.
        const {{ real }} part = (child >> axis & 1 ? ({{ real }}).25 : ({{ real }})-.25) / (has_low && has_high ? 2 : 1);
        UNROLL for (int value = 0; value < {{ around.values_shown }}; ++value) {
            seen[value] += part * ((has_high ? high[value] : own[value]) - (has_low ? low[value] : own[value]));
        }
    }
}

// Of each direction that something is seen from, the opposite, and which numbers what is seen has, -1 where it is not.
{{ table }} int WAYS[{{ around.ways.len }}] = { {{- around.ways.from -}} };
{{ table }} int WHICH[{{ around.ways.len }}][{{ around.values_shown }}] = {
{%- for line in around.ways.which %}
    {{ line }}
{%- endfor %}
};

{% <kernel of={inbox.across}> %}
    const Spot here = spot_of(cell);
{%- if not walls %}
    (void)wall_rules;  // there are no walls
{%- endif %}
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    int inside = 1;
    UNROLL for (int axis = 0; axis < DIM; ++axis) inside &= here.at[axis] > 0 && here.at[axis] < width[axis] - 1;
    if (inside) {{ inbox.across.skip }};
    const {{ int }} node = nodes[slot], *const beside = neighbours + (size_t)slot * NEAR;
    {{ real }} *const to = inbox + (size_t)rows[slot] * ROW;
    for (int way = 0; way < {{ around.ways.len }}; ++way) {
        const Spot there = beyond(here, WAYS[way], -1);
        const {{ int }} next = beside[neighbour_of(there)];
        if (next >= 0) continue;
{%- if walls %}
        int flipped;
        {{ int }} w;
        const Spot place = next == COARSER ? there : image_of(here, there, beside, wall_rules, &w, &flipped);
{%- else %}
        const Spot place = there;
{%- endif %}
        if (beside[neighbour_of(place)] != COARSER) continue;
        {{ real }} seen[{{ around.values_shown }}];
        const Views around = {own, finer, near, children, slots, node};
        if (!seen_at(&around, place, seen)) {
            const Views outside = {coarser, own, near, children, slots, parents[node]};
            const {{ int }} octant = node - children[parents[node]];
            Spot within = place;
            for (int axis = 0; axis < DIM; ++axis) within.at[axis] += (octant >> axis & 1) * width[axis];
            seen_inside(&outside, within, seen);
        }
        UNROLL for (int value = 0; value < {{ around.values_shown }}; ++value) {
            const int which = WHICH[way][value];
            if (which >= 0) to[inbox_at(Q + which, here)] = seen[value];
        }
    }
{%- </kernel> %}

{% endif -%}
