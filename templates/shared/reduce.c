// ==== sums, checks and residuals ====================================================================================
//
// Lists are cut into chunks, and the threads of a chunk take its cells in turn: the result of a chunk does not depend on the
// number of threads on others.

// A sum with compensated rounding errors (Neumaier, Z. Angew. Math. Mech. 54 (1974) 39).
typedef struct {
    double total, carried;
} Sum;

{{ inline }} void add(Sum *sum, const double value)
{
    const double total = sum->total + value;
    sum->carried += fabs(sum->total) >= fabs(value) ? (sum->total - total) + value : (value - total) + sum->total;
    sum->total = total;
}

{{ inline }} void merge(Sum *sum, const Sum *other)
{
    add(sum, other->total);
    add(sum, other->carried);
}

// A thread's part of the sum of what is stored of a population over the listed blocks from `begin` to `end`.
{{ function }} Sum sum_of(
    const {{ int }} *ids, const int begin, const int end, const int direction, const int thread, const int threads,
    const {{ stored }} *src)
{
    Sum sum = {0, 0};
    for (size_t place = (size_t)thread; place < (size_t)(end - begin) * CELLS; place += (size_t)threads) {
        add(&sum, load(src, ids[begin + (int)(place / CELLS)], direction, (int)(place % CELLS)));
    }
    return sum;
}

// Adds a population to mass and momentum: the sum of what is stored of it in so many cells, and its part at rest, which has no
// momentum.
{{ inline }} void add_moments(const int direction, const Sum *sum, const double cells, Sum *of)
{
    merge(&of[0], sum);
    add(&of[0], cells * REST[direction]);
    for (int axis = 0; axis < DIM; ++axis) {
        const double c = VELOCITY[direction][axis];
        const Sum along = {c * sum->total, c * sum->carried};
        merge(&of[1 + axis], &along);
    }
}

// The place of the first value that is not finite, and the square of the largest change of velocity.
typedef struct {
    double first, change;
} Found;

{{ inline }} void join(Found *found, const Found *other)
{
    if (other->first < found->first) found->first = other->first;
    if (other->change > found->change) found->change = other->change;
}

// A thread's part of what is found in the listed blocks from `begin` to `end`.
{{ function }} Found found_in(
    const {{ int }} *ids, const int begin, const int end, const int thread, const int threads, const int first,
    const {{ real }} *fields, const {{ real }} *before, const int compare)
{
    Found found = {9007199254740992.0, 0};  // 2^53, behind all places
    for (size_t place = (size_t)thread; place < (size_t)(end - begin) * CELLS; place += (size_t)threads) {
        const {{ int }} slot = ids[begin + (int)(place / CELLS)] - first;
        const int cell = (int)(place % CELLS);
        Found here = {found.first, 0};
        for (int component = {{ reduce.own }} - 1; component >= 0; --component) {
            const {{ real }} value = fields[field_at(slot, component, cell)];
            if (!(value - value == 0)) here.first = (double)(((size_t)begin * CELLS + place) * FIELDS + (size_t)component);
        }
{%- if reduce.velocity is number %}
        for (int axis = 0; axis < DIM && compare; ++axis) {
            const size_t u = field_at(slot, {{ reduce.velocity }} + axis, cell);
            const double change = (double)fields[u] - (double)before[u];
            here.change += change * change;
        }
{%- else %}
        (void)before, (void)compare;  // no velocity
{%- endif %}
        join(&found, &here);
    }
    return found;
}

{% if reduce.means -%}
// ==== mass, energy, enstrophy =======================================================================================

// The nodes of all levels, and the fields of their leaves.
typedef struct {
    const {{ int }} *nodes, *near, *children, *parents, *slots;
    const {{ real }} *fields;
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

// The velocity in a cell of a node{% if interface %}; in one of a refined node, the mean over its parts{% endif %}.
{{ inline }} void velocity_in(const Forest *forest, const Place place, double *u)
{
{%- if interface %}
    const {{ int }} first = forest->children[place.node];
    if (first >= 0) {
        for (int axis = 0; axis < DIM; ++axis) u[axis] = 0;
        for (int child = 0; child < PARTS; ++child) {
            int octant;
            const int cell = part_of(place.cell, child, &octant);
            for (int axis = 0; axis < DIM; ++axis) {
                u[axis] += forest->fields[field_at(forest->slots[first + octant], {{ reduce.velocity }} + axis, cell)];
            }
        }
        for (int axis = 0; axis < DIM; ++axis) u[axis] /= PARTS;
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
// The velocity next to a cell of a leaf; 0 where there is a wall.
{{ inline }} int velocity_next_to(const Forest *forest, const Place from, const int axis, const int upper, double *u)
{
    const Place to = next_to(forest, from, axis, upper);
    if (to.node >= 0) {
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

// Slopes of the velocity along an axis, per cell, in a cell of a leaf where it is `here`: central, beside a wall one-sided over three
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

// What means are made of.
typedef struct {
    Sum mass, energy, enstrophy;
    double fastest;  // the square of the largest speed
} Totals;

{{ inline }} void merge_totals(Totals *totals, const Totals *other)
{
    merge(&totals->mass, &other->mass);
    merge(&totals->energy, &other->energy);
    merge(&totals->enstrophy, &other->enstrophy);
    if (other->fastest > totals->fastest) totals->fastest = other->fastest;
}

{{ inline }} void put_totals(const Totals *totals, double *means)
{
    means[0] = totals->mass.total, means[1] = totals->mass.carried;
    means[2] = totals->energy.total, means[3] = totals->energy.carried;
    means[4] = totals->enstrophy.total, means[5] = totals->enstrophy.carried;
    means[6] = totals->fastest;
}

// A thread's part of the totals of the listed blocks from `begin` to `end`.
{{ function }} Totals totals_of(
    const {{ int }} *ids, const int begin, const int end, const int thread, const int threads, const Forest *forest)
{
    Totals totals = { {0, 0}, {0, 0}, {0, 0}, 0 };
    for (size_t entry = (size_t)thread; entry < (size_t)(end - begin) * CELLS; entry += (size_t)threads) {
        const {{ int }} slot = ids[begin + (int)(entry / CELLS)];
        const Place here = {forest->nodes[slot], (int)(entry % CELLS)};
        double u[DIM], slopes[DIM][DIM], square = 0, curl = 0;
        velocity_in(forest, here, u);
        for (int axis = 0; axis < DIM; ++axis) slopes_along(forest, here, axis, u, slopes[axis]);
        for (int a = 0; a < DIM; ++a) {
            square += u[a] * u[a];
            for (int b = a + 1; b < DIM; ++b) curl += (slopes[a][b] - slopes[b][a]) * (slopes[a][b] - slopes[b][a]);
        }
{%- if reduce.density is number %}
        add(&totals.mass, forest->fields[field_at(slot, {{ reduce.density }}, here.cell)]);
{%- endif %}
        add(&totals.energy, 0.5 * square);
        add(&totals.enstrophy, 0.5 * curl);
        if (square > totals.fastest) totals.fastest = square;
    }
    return totals;
}

{% endif -%}
