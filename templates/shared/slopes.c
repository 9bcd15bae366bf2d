// The nodes of all levels, and the fields of their leaves.
typedef struct {
    const {{ int }} *nodes, *near, *children, *parents, *slots;
    const {{ reduce.real }} *fields;
{%- if masks is defined %}
    const {{ int }} *rows, *links;  // of blocks with cut links, if there are any
{%- endif %}
} Forest;

// A cell of a node. A negative node is what is near in its place: a wall, or another level.
typedef struct {
    {{ int }} node;
    int cell;
} Place;

// The cell next to one along an axis.
{{ inline }} Place next_to(const Forest *forest, const Place from, const int axis, const int upper)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    int step = 1, stride = 1;
    for (int before = 0; before < axis; ++before) step *= 3, stride *= width[before];
    const int along = from.cell / stride % width[axis], leaves = along == (upper ? width[axis] - 1 : 0);
    const int by = leaves ? 1 - width[axis] : 1;
    Place to = {from.node, from.cell + (upper ? by : -by) * stride};
    if (leaves) to.node = forest->near[(size_t)from.node * NEAR + {{ middle }} + (upper ? step : -step)];
    return to;
}

{% if masks is defined -%}
// Whether a cell of a leaf is solid: all its links are cut.
{{ inline }} int is_solid(const Forest *forest, const Place place)
{
    if (!forest->links || forest->children[place.node] >= 0) return 0;
    const {{ int }} row = forest->rows[forest->slots[place.node]];
    return row >= 0 && forest->links[(size_t)row * Q * CELLS + (size_t)place.cell] < 0;
}

{% endif -%}
// The velocity in a cell of a node{% if interface %}; in one of a refined node, the mean over its parts{% endif %}.
{{ inline }} void velocity_in(const Forest *forest, const Place place, double *u)
{
{%- if interface %}
    const {{ int }} first = forest->children[place.node];
    if (first >= 0) {
        for (int axis = 0; axis < DIM; ++axis) u[axis] = 0;
        for (int child = 0; child < CHILDREN; ++child) {
            int octant;
            const int cell = part_of(place.cell, child, &octant);
            for (int axis = 0; axis < DIM; ++axis) {
                u[axis] += forest->fields[field_at(forest->slots[first + octant], {{ reduce.velocity }} + axis, cell)];
            }
        }
        for (int axis = 0; axis < DIM; ++axis) u[axis] /= CHILDREN;
        return;
    }
{%- endif %}
    for (int axis = 0; axis < DIM; ++axis) {
        u[axis] = forest->fields[field_at(forest->slots[place.node], {{ reduce.velocity }} + axis, place.cell)];
    }
}

{% if interface -%}
// The velocity next to a cell of a leaf where a coarser cell is: on the plane through that, with slopes from its neighbours, central,
// or one-sided where there is a wall or a still coarser cell.
{{ function }} void velocity_on_plane(const Forest *forest, const Place from, const int axis, const int upper, double *u)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    const {{ int }} parent = forest->parents[from.node], octant = from.node - forest->children[parent];
    Place coarse = {parent, 0};
    int odd = 0;  // where in the coarser cell, a bit for each axis
    for (int a = 0, stride = 1; a < DIM; stride *= width[a], ++a) {
        const int along = from.cell / stride % width[a] + (octant >> a & 1) * width[a];
        coarse.cell += along / 2 * stride;
        odd |= (along & 1) << a;
    }
    coarse = next_to(forest, coarse, axis, upper);
    odd ^= 1 << axis;
    velocity_in(forest, coarse, u);
    double slopes[DIM][DIM];
    for (int a = 0; a < DIM; ++a) {
        double side[2][DIM];
        int found = 0;
        for (int up = 0; up < 2; ++up) {
            const Place place = next_to(forest, coarse, a, up);
            velocity_in(forest, place.node < 0 ? coarse : place, side[up]);
            found += place.node >= 0;
        }
        for (int b = 0; b < DIM; ++b) slopes[a][b] = (side[1][b] - side[0][b]) / (found == 2 ? 2 : 1);
    }
    for (int a = 0; a < DIM; ++a) {
        for (int b = 0; b < DIM; ++b) u[b] += (odd >> a & 1 ? 0.25 : -0.25) * slopes[a][b];
    }
}

{% endif -%}
// The velocity next to a cell of a leaf; 0 where there is a wall{% if masks is defined %} or a solid{% endif %}.
{{ inline }} int velocity_next_to(const Forest *forest, const Place from, const int axis, const int upper, double *u)
{
    const Place to = next_to(forest, from, axis, upper);
    if (to.node >= 0) {
{%- if masks is defined %}
        if (is_solid(forest, to)) return 0;
{%- endif %}
        velocity_in(forest, to, u);
        return 1;
    }
{%- if interface %}
    if (to.node == COARSER) {
        velocity_on_plane(forest, from, axis, upper, u);
        return 1;
    }
{%- endif %}
    return 0;
}

// Slopes of the velocity along an axis, per cell, in a cell of a leaf where it is `here`: central, beside a wall{% if masks is defined %} or a solid{% endif %} one-sided over three
// cells, or over the two that there are.
{{ inline }} void slopes_along(const Forest *forest, const Place from, const int axis, const double *here, double *slopes)
{
    double side[2][DIM], third[DIM];
    int has[2];
    for (int upper = 0; upper < 2; ++upper) has[upper] = velocity_next_to(forest, from, axis, upper, side[upper]);
    const int upper = has[1];
    if (has[0] && has[1]) {
        for (int b = 0; b < DIM; ++b) slopes[b] = 0.5 * (side[1][b] - side[0][b]);
    } else if (has[0] || has[1]) {
        const Place next = next_to(forest, from, axis, upper);
        const int is_leaf = next.node >= 0 && forest->children[next.node] < 0;
        const int wide = is_leaf && velocity_next_to(forest, next, axis, upper, third);
        for (int b = 0; b < DIM; ++b) {
            const double slope = wide ? 2 * side[upper][b] - 1.5 * here[b] - 0.5 * third[b] : side[upper][b] - here[b];
            slopes[b] = upper ? slope : -slope;
        }
    } else {
        for (int b = 0; b < DIM; ++b) slopes[b] = 0;
    }
}

