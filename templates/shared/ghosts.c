// ==== ghosts ========================================================================================================
//
// Blocks that have a coarser one beside them end in {{ ghosts.layers }} layers of ghosts, which stand for cells of the coarser level. A refined
// block beside a leaf is covered and has data of its own: beside the leaf {{ ghosts.reach }} layers of cells that stream and collide like any others, and
// then a layer of means over the cells that refine it. `sides` says where: bit p, at the place p around a slot.

// Whether a cell lies within so many layers of some places around its block.
{{ inline }} int beside(const int places, const Spot spot, const int layers)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    for (int place = 0; place < NEAR; ++place) {
        if (!(places >> place & 1)) continue;
        int inside = 1;
        for (int axis = 0, code = place; axis < DIM; code /= 3, ++axis) {
            inside &= code % 3 == 1 || (code % 3 == 0 ? spot.at[axis] < layers : spot.at[axis] >= width[axis] - layers);
        }
        if (inside) return 1;
    }
    return 0;
}

// Whether a block, covered if its slot is one of theirs, has a cell of its own level there that streams.
{{ inline }} int streams(const {{ int }} *sides, const {{ int }} slot, const {{ int }} first_covered, const int cell)
{
    return slot < first_covered || beside(sides[slot], spot_of(cell), {{ ghosts.reach }});
}

// The same with means.
{{ inline }} int has_values(const {{ int }} *sides, const {{ int }} slot, const {{ int }} first_covered, const Spot spot)
{
    return slot < first_covered || beside(sides[slot], spot, {{ ghosts.reach }} + 1);
}

// Whether ghosts read the data of a block: a covered block, or a leaf beside a refined one.
{{ inline }} int is_sampled(const {{ int }} slot, const {{ int }} *neighbours, const {{ int }} *sides, const {{ int }} first_covered)
{
    if (slot >= first_covered) return sides[slot] != 0;
    for (int place = 0; place < NEAR; ++place) {
        if (neighbours[(size_t)slot * NEAR + place] >= first_covered) return 1;
    }
    return 0;
}

// Where the values of a slot for other levels are.
{{ inline }} size_t kept_at(const {{ int }} *rows, const {{ int }} slot, const int cell)
{
    return (size_t)rows[slot] * (Q * CELLS) + (size_t)cell;
}

// From the populations of a coarse cell those that are interpolated.
{{ function }} void to_fine({{ real }} *f{{ param_decls }})
{
{%- for line in ghosts.unused_fine %}
    {{ line }}
{%- endfor %}
{%- for input in ghosts.fine.inputs %}
    const {{ real }} {{ input.text }} = f[{{ input.at }}];
{%- endfor %}
{%- for line in ghosts.fine.body %}
    {{ line }}
{%- endfor %}

{%- for output in ghosts.fine.outputs %}
    f[{{ output.at }}] = {{ output.text }};
{%- endfor %}
}

// From the populations of a fine cell those that are averaged.
{{ function }} void to_coarse({{ real }} *f{{ param_decls }})
{
{%- for line in ghosts.unused_coarse %}
    {{ line }}
{%- endfor %}
{%- for input in ghosts.coarse.inputs %}
    const {{ real }} {{ input.text }} = f[{{ input.at }}];
{%- endfor %}
{%- for line in ghosts.coarse.body %}
    {{ line }}
{%- endfor %}

{%- for output in ghosts.coarse.outputs %}
    f[{{ output.at }}] = {{ output.text }};
{%- endfor %}
}

// The slot of a covered node.
{{ inline }} {{ int }} covered_slot(const {{ int }} node, const {{ int }} *children, const {{ int }} roots, const {{ int }} first_covered)
{
    return first_covered + (children[node] - roots) / CHILDREN;
}

// The mean over the cells that refine a cell of a covered block; false where the cell is not one of a mean.
{{ function }} int mean_of_children(
    const {{ int }} slot, const int cell, const {{ int }} *sides, const {{ int }} *child_slots, const {{ int }} *rows, const {{ int }} first_covered,
    const {{ real }} *saved, {{ real }} *mean{{ param_decls }})
{
    const Spot spot = spot_of(cell);
    if (beside(sides[slot], spot, {{ ghosts.reach }}) || !beside(sides[slot], spot, {{ ghosts.reach }} + 1)) return 0;
    for (int i = 0; i < Q; ++i) mean[i] = 0;
    for (int part = 0; part < CHILDREN; ++part) {
        int octant;
        const int under = part_of(cell, part, &octant);
        const {{ real }} *const from = saved + kept_at(rows, child_slots[(size_t)(slot - first_covered) * CHILDREN + octant], under);
        {{ real }} f[Q];
        for (int i = 0; i < Q; ++i) f[i] = from[i * CELLS];
        to_coarse(f{{ param_names }});
        for (int i = 0; i < Q; ++i) mean[i] += f[i];
    }
    for (int i = 0; i < Q; ++i) mean[i] *= {{ interface.share }};
    return 1;
}

// Samples around a coarse cell: where they are in `saved`, and their weights.
typedef struct {
    int count;
    size_t at[{{ ghosts.samples }}];
    {{ real }} weight[{{ ghosts.samples }}];
} Samples;

// What is sampled for a ghost: the refined block whose cell it stands for, and what is around. Places are counted from its lower corner.
typedef struct {
    const {{ int }} *around, *sides, *rows;  // the first are the neighbours of that block
    {{ int }} first_covered;
    int lower;  // bit a: the ghost is in the lower half of that cell along axis a
} Sampled;

// Points of {{ ghosts.stencil }}, a set each, in order of preference, and their weights.
{{ table }} int SET_SIZE[{{ ghosts.sets | length }}] = { {%- for set in ghosts.sets %}{% if not loop.first %}, {% endif %}{{ set.count }}{% endfor -%} };
{{ table }} int POINT[{{ ghosts.sets | length }}][{{ ghosts.most }}] = { {%- for set in ghosts.sets %}{% if not loop.first %}, {% endif %}{ {{- set.points -}} }{% endfor -%} };
{{ table }} {{ real }} POINT_WEIGHT[{{ ghosts.sets | length }}][{{ ghosts.most }}] = {
{%- for set in ghosts.sets %}
    { {{- set.weights -}} },
{%- endfor %}
};

// Adds the value of a cell with a weight, if it has one.
{{ function }} int sample(const Sampled *sampled, const Spot spot, const {{ real }} weight, Samples *samples)
{
    const int cell = index_of(spot);
    const {{ int }} slot = sampled->around[neighbour_of(spot)];
    if (slot < 0 || !has_values(sampled->sides, slot, sampled->first_covered, spot_of(cell))) return 0;
    samples->at[samples->count] = kept_at(sampled->rows, slot, cell);
    samples->weight[samples->count++] = weight;
    return 1;
}
{% for axis in ghosts.axes %}
// The same with what the stencil gives along the first {{ axis.number }} axes: from the first set whose points all have values, else from
// the cell itself.
{{ function }} int sample_{{ axis.number }}(const Sampled *sampled, const Spot spot, const {{ real }} weight, Samples *samples)
{
    for (int set = 0; set < {{ ghosts.sets | length }}; ++set) {
        const int before = samples->count;
        int found = 1;
        for (int at = 0; found && at < SET_SIZE[set]; ++at) {
            Spot other = spot;
            other.at[{{ axis.at }}] += sampled->lower >> {{ axis.at }} & 1 ? -POINT[set][at] : POINT[set][at];
            found = {{ axis.below }}(sampled, other, weight * POINT_WEIGHT[set][at], samples);
        }
        if (found) return 1;
        samples->count = before;
    }
    return {{ axis.below }}(sampled, spot, weight, samples);
}
{% endfor %}
// What a ghost is given, before it collides; false where the cell is no ghost.
{{ function }} int ghost(
    const {{ int }} slot, const int cell, const {{ int }} *neighbours, const {{ int }} *sides, const {{ int }} *uppers, const {{ int }} *rows,
    const {{ int }} first_covered, const {{ real }} *saved, {{ real }} *f)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    Spot spot = spot_of(cell);
    if (!beside(sides[slot], spot, {{ ghosts.layers }})) return 0;
    const {{ int }} upper = uppers[slot] / CHILDREN, octant = uppers[slot] % CHILDREN;
    Sampled sampled = {neighbours + (size_t)upper * NEAR, sides, rows, first_covered, 0};
    for (int axis = 0; axis < DIM; ++axis) {
        const int fine = spot.at[axis] + (octant >> axis & 1) * width[axis];
        spot.at[axis] = fine / 2;
        sampled.lower |= (fine % 2 == 0) << axis;
    }
    Samples samples;
    samples.count = 0;
    {{ ghosts.top }}(&sampled, spot, 1, &samples);
    for (int i = 0; i < Q; ++i) f[i] = 0;
    for (int at = 0; at < samples.count; ++at) {
        const {{ real }} *const from = saved + samples.at[at];
        for (int i = 0; i < Q; ++i) f[i] += samples.weight[at] * from[i * CELLS];
    }
    return 1;
}
