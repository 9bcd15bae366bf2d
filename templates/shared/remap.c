// ==== data of a forest that changes =================================================================================

// Slope along an axis, per cell, of what `value` gives at a cell of a slot: central; one-sided where a neighbour of the block is of
// another level or a wall, and 0 where both are.
{{<slope name="slope_of_field" array={real} value="values[field_at(of, component, place)]" />}}

// Fills the children of a coarse cell with a field, on a plane. Covered blocks, in slots from `first_covered` on, have no reference fields.
{{ inline }} void fill_field(
    const {{ int }} slot, const int cell, const int component, const {{ int }} *around, const {{ int }} first_covered, const {{ int }} *child_slots,
    {{ real }} *fields)
{
    {{ int }} leaves[NEAR];
    for (int place = 0; place < NEAR; ++place) leaves[place] = around[place] < first_covered ? around[place] : -1;
    {{ real }} slopes[DIM];
    for (int axis = 0; axis < DIM; ++axis) slopes[axis] = slope_of_field(fields, component, leaves, slot, cell, axis);
    const {{ real }} own = fields[field_at(slot, component, cell)];
    for (int child = 0; child < CHILDREN; ++child) {
        {{ real }} away = 0;
        for (int axis = 0; axis < DIM; ++axis) away += child >> axis & 1 ? slopes[axis] : -slopes[axis];
        int octant;
        const int fine = part_of(cell, child, &octant);
        fields[field_at(child_slots[(size_t)slot * CHILDREN + octant], component, fine)] = own + ({{ real }})0.25 * away;
    }
}

// Fills a coarse cell with the mean of a field over its children.
{{ inline }} void average_field(const {{ int }} slot, const int cell, const int component, const {{ int }} *child_slots, {{ real }} *fields)
{
    {{ real }} sum = 0;
    for (int child = 0; child < CHILDREN; ++child) {
        int octant;
        const int fine = part_of(cell, child, &octant);
        sum += fields[field_at(child_slots[(size_t)slot * CHILDREN + octant], component, fine)];
    }
    fields[field_at(slot, component, cell)] = sum / CHILDREN;
}

{% <kernel of={remap.average}> %}
    const int level = levels[nodes[slot]];
    coarsen_cell(slot, cell, child_slots + (size_t)slot * CHILDREN, sets >> (level + 1) & 1 ? populations_1 : populations_0,
        sets >> level & 1 ? populations_1 : populations_0);
{%- </kernel> %}

{% <kernel of={remap.fill}> %}
    const int level = levels[nodes[slot]];
    refine_cell(slot, cell, neighbours + (size_t)slot * NEAR, child_slots + (size_t)slot * CHILDREN,
        sets >> level & 1 ? populations_1 : populations_0, sets >> (level + 1) & 1 ? populations_1 : populations_0);
{%- </kernel> %}

{% <kernel of={remap.average_fields}> %}
    for (int component = 0; component < FIELDS; ++component) average_field(slot, cell, component, child_slots, fields);
{%- </kernel> %}

{% <kernel of={remap.fill_fields}> %}
    for (int component = 0; component < FIELDS; ++component) {
        fill_field(slot, cell, component, neighbours + (size_t)slot * NEAR, first_covered, child_slots, fields);
    }
{%- </kernel> %}

{% <kernel of={remap.relocate}> %}
    {{<copy_values to="dst" into="slot" from="src" of="from[slot]" />}}
{%- </kernel> %}

{% <kernel of={remap.relocate_fields}> %}
    {{<copy_fields to="dst" into="slot" from="src" of="from[slot]" />}}
{%- </kernel> %}
