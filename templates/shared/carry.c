// ==== data of a forest that changes =================================================================================

// Slope along an axis, per cell, of what `value` gives at a cell of a slot: central; one-sided where a neighbour of the block is of
// another level or a wall, and 0 where both are.
{{<slope name="slope_of_field" array={real} value="values[field_at(of, component, place)]" />}}

// Fills the children of a coarse cell with a field, on a plane. Covered blocks, in slots from `held` on, have no reference fields.
{{ inline }} void fill_field(
    const {{ int }} slot, const int cell, const int component, const {{ int }} *around, const {{ int }} held, const {{ int }} *parts,
    {{ real }} *fields)
{
    {{ int }} leaves[NEAR];
    for (int place = 0; place < NEAR; ++place) leaves[place] = around[place] < held ? around[place] : -1;
    {{ real }} slopes[DIM];
    for (int axis = 0; axis < DIM; ++axis) slopes[axis] = slope_of_field(fields, component, leaves, slot, cell, axis);
    const {{ real }} own = fields[field_at(slot, component, cell)];
    for (int child = 0; child < PARTS; ++child) {
        {{ real }} away = 0;
        for (int axis = 0; axis < DIM; ++axis) away += child >> axis & 1 ? slopes[axis] : -slopes[axis];
        int octant;
        const int fine = part_of(cell, child, &octant);
        fields[field_at(parts[(size_t)slot * PARTS + octant], component, fine)] = own + ({{ real }})0.25 * away;
    }
}

// Fills a coarse cell with the mean of a field over its children.
{{ inline }} void average_field(const {{ int }} slot, const int cell, const int component, const {{ int }} *parts, {{ real }} *fields)
{
    {{ real }} sum = 0;
    for (int child = 0; child < PARTS; ++child) {
        int octant;
        const int fine = part_of(cell, child, &octant);
        sum += fields[field_at(parts[(size_t)slot * PARTS + octant], component, fine)];
    }
    fields[field_at(slot, component, cell)] = sum / PARTS;
}

// ==== indicators ====================================================================================================

// What a program reads at a cell.
typedef struct {
    const {{ real }} *fields;
    const {{ int }} *around;
    {{ int }} slot;
    int cell;
    double place[3], width;  // in cells of level 0
} Sight;

{{ inline }} double variable(const Sight *sight, const int which)
{
    if (which < 3) return sight->place[which];
    if (which == 3) return sight->width;
    const int component = (which - 4) / (1 + DIM), axis = (which - 4) % (1 + DIM) - 1;
    if (axis < 0) return sight->fields[field_at(sight->slot, component, sight->cell)];
    return slope_of_field(sight->fields, component, sight->around, sight->slot, sight->cell, axis) / sight->width;
}

// Target levels by a program at a cell: bit l for level l or finer, bit 16 + l for level l at least if it is there.
{{ function }} unsigned long long ask(
    const Sight *sight, const {{ int }} *ops, const int length, const double *constants, const int finest)
{
    double stack[{{ carry.stack }}];
    int depth = 0;
    unsigned long long bits = 0;
    for (int at = 0; at < length; ++at) {
        const int op = ops[2 * at], argument = ops[2 * at + 1];
        double a = 0, b = 0;
        if (op >= {{ carry.binary }}) b = stack[--depth];
        if (op >= {{ carry.taking }}) a = stack[--depth];
        switch (op) {
{%- for op in carry.ops %}
        case {{ op.code }}: a = {{ op.formula }}; break;
{%- endfor %}
        case {{ carry.level }}: case {{ carry.within }}: {
            const double wished = op == {{ carry.level }} ? floor(a) : a > 0 ? argument : 0;
            const int level = wished >= finest ? finest : wished > 0 ? (int)wished : 0;
            bits |= 1ull << level | 1ull << (16 + level);
            continue;
        }
        case {{ carry.above }}: {
            int up = 0, down = 0;
            for (int level = 1; level <= finest; ++level) {
                if (a >= constants[argument + level - 1]) up = level;
                if (a >= constants[argument + finest + level - 1]) down = level;
            }
            bits |= 1ull << up | 1ull << (16 + down);
            continue;
        }
        default:
            continue;
        }
        stack[depth++] = a;
    }
    return bits;
}

// The same for a cell of a node. The target levels of a coarser cell in its place are included.
{{ function }} unsigned long long ask_cell(
    const {{ int }} slot, const int cell, const {{ int }} node, const int level, const {{ int }} *around, const {{ int }} *places,
    const {{ real }} *fields, const {{ int }} *ops, const int length, const double *constants, const int finest)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    const Spot spot = spot_of(cell);
    Sight sight = {fields, around, slot, cell, {0, 0, 0}, 1.0 / (1 << level)};
    unsigned long long bits = 0;
    for (int coarser = 0; coarser < (level > 0 ? 2 : 1); ++coarser) {
        for (int axis = 0; axis < DIM; ++axis) {
            const int at = places[(size_t)node * 3 + axis] * width[axis] + spot.at[axis];
            sight.place[axis] = ((at >> coarser << coarser) + 0.5 * (1 << coarser)) * sight.width;
        }
        const unsigned long long asked = ask(&sight, ops, length, constants, finest);
        bits |= coarser ? asked & 0xffff0000ull : asked;
    }
    return bits;
}

// The target level of a block of some level.
{{ inline }} int wished(const unsigned long long bits, const int level)
{
    int up = 0, down = 0;
    for (int at = 1; at < 16; ++at) {
        if (bits >> at & 1) up = at;
        if (bits >> (16 + at) & 1) down = at;
    }
    return up > level ? up : down < level ? down : level;
}

