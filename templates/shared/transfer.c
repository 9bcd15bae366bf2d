// ==== cells that change their level ==================================================================================

// The children of a coarse cell.
typedef struct {
    {{ int }} slot[CHILDREN];
    int cell[CHILDREN];
} Children;

{{ inline }} Children children_of(const int cell, const {{ int }} *child_slots)
{
    Children children;
    for (int child = 0; child < CHILDREN; ++child) {
        int octant;
        children.cell[child] = part_of(cell, child, &octant);
        children.slot[child] = child_slots[octant];
    }
    return children;
}

{% if transfer.slopes -%}
// The samples of a stencil along an axis: where they are, and which there are; the others are the cell itself.
typedef struct {
    {{ int }} slot[{{ transfer.most }}];
    int cell[{{ transfer.most }}], has[{{ transfer.most }}];
} Along;

{{ inline }} Along along_axis(
    const {{ int }} *around, const {{ int }} slot, const int cell, const int axis, const int *point, const int count)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    int step = 1, stride = 1;
    for (int before = 0; before < axis; ++before) step *= 3, stride *= width[before];
    const int place = cell / stride % width[axis];
    Along along;
    for (int at = 0; at < count; ++at) {
        const int to = place + point[at], block = to < 0 ? -1 : to >= width[axis] ? 1 : 0;
        const {{ int }} of = block == 0 ? slot : around[{{ middle }} + block * step];
        along.has[at] = of >= 0;
        along.slot[at] = of >= 0 ? of : slot;
        along.cell[at] = of >= 0 ? cell + (point[at] - block * width[axis]) * stride : cell;
    }
    return along;
}

{% endif -%}
{% for slope in transfer.slopes -%}
// {{ slope.doc }}
{{ inline }} Along {{ slope.along }}(const {{ int }} *around, const {{ int }} slot, const int cell, const int axis)
{
    const int point[] = { {{- slope.points -}} };
    return along_axis(around, slot, cell, axis, point, {{ slope.count }});
}

{{ inline }} {{ real }} {{ slope.derivative }}(const Along *along, const {{ stored }} *src, const int direction)
{
    const int *const has = along->has;
    {{ real }} v[{{ slope.count }}];
    for (int at = 0; at < {{ slope.count }}; ++at) v[at] = load(src, along->slot[at], direction, along->cell[at]);
    {{<weighted sets={slope.sets} />}}
}

{% endfor -%}
// Gives the children of a coarse cell, in the slots `child_slots`, what they have when it is refined.
{{ function }} void refine_cell(
    const {{ int }} slot, const int cell, const {{ int }} *around, const {{ int }} *child_slots, const {{ stored }} *src, {{ stored }} *dst)
{
{%- if not transfer.slopes %}
    (void)around;
{%- endif %}
    const Children children = children_of(cell, child_slots);
{%- for line in transfer.shared %}
    {{ line }}
{%- endfor %}
    for (int child = 0; child < CHILDREN; ++child) {
{%- for line in transfer.own %}
        {{ line }}
{%- endfor %}
{{-<give_cell values={transfer.child} to="dst" slot="children.slot[child]" cell="children.cell[child]" pad="        " />}}
    }
}

// The mean of a population over the children of a coarse cell, and its slopes from one side's to the other's.
{{ inline }} {{ real }} mean_of(const Children *children, const int direction, const {{ stored }} *src, {{ real }} *slopes)
{
    {{ real }} sum = 0;
    for (int axis = 0; axis < DIM; ++axis) slopes[axis] = 0;
    for (int child = 0; child < CHILDREN; ++child) {
        const {{ real }} value = load(src, children->slot[child], direction, children->cell[child]);
        sum += value;
        for (int axis = 0; axis < DIM; ++axis) slopes[axis] += child >> axis & 1 ? value : -value;
    }
    for (int axis = 0; axis < DIM; ++axis) slopes[axis] *= ({{ real }})4 / CHILDREN;
    return sum / CHILDREN;
}

// Gives a coarse cell what it has when it takes the place of its children, in the slots `child_slots`.
{{ function }} void coarsen_cell(
    const {{ int }} slot, const int cell, const {{ int }} *child_slots, const {{ stored }} *src, {{ stored }} *dst)
{
    const Children children = children_of(cell, child_slots);
{%- for line in transfer.coarsen %}
    {{ line }}
{%- endfor %}
{{-<give_cell values={transfer.parent} to="dst" slot="slot" cell="cell" pad="    " />}}
}

