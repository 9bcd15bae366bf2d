// ==== sums, checks and residuals ====================================================================================
//
// Lists are cut into chunks, and the threads of a chunk take its cells in turn: the result of a chunk does not depend on the
// number of threads on others.

// A sum with compensated rounding errors (Neumaier, Z. Angew. Math. Mech. 54 (1974) 39).
typedef struct {
    double total, compensation;
} Sum;

{{ inline }} void add(Sum *sum, const double value)
{
    const double total = sum->total + value;
    sum->compensation += fabs(sum->total) >= fabs(value) ? (sum->total - total) + value : (value - total) + sum->total;
    sum->total = total;
}

{{ inline }} void merge(Sum *sum, const Sum *other)
{
    add(sum, other->total);
    add(sum, other->compensation);
}

// Which cells are solid: where `solids` is 1, those without links in the row of their block.
typedef struct {
    const {{ int }} *rows, *links;
    {{ int }} solids;
} Mask;

{{ inline }} int is_fluid(const Mask mask, const {{ int }} slot, const int cell)
{
    const {{ int }} row = mask.solids ? mask.rows[slot] : -1;
    return row < 0 || (row > 0 && mask.links[(size_t)row * (Q * CELLS) + (size_t)cell] >= 0);
}

// A thread's part of the number of fluid cells in the listed blocks from `begin` to `end`.
{{ function }} Sum cells_of(
    const {{ int }} *ids, const int begin, const int end, const int thread, const int threads, const Mask mask)
{
    Sum sum = {0, 0};
    for (size_t place = (size_t)thread; place < (size_t)(end - begin) * CELLS; place += (size_t)threads) {
        sum.total += is_fluid(mask, ids[begin + (int)(place / CELLS)], (int)(place % CELLS));
    }
    return sum;
}

// A thread's part of the sum of what is stored of a population in fluid cells of the listed blocks from `begin` to `end`.
{{ function }} Sum sum_of(
    const {{ int }} *ids, const int begin, const int end, const int direction, const int thread, const int threads,
    const {{ stored }} *src, const Mask mask)
{
    Sum sum = {0, 0};
    for (size_t place = (size_t)thread; place < (size_t)(end - begin) * CELLS; place += (size_t)threads) {
        const {{ int }} slot = ids[begin + (int)(place / CELLS)];
        const int cell = (int)(place % CELLS);
        if (is_fluid(mask, slot, cell)) add(&sum, load(src, slot, direction, cell));
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
        const Sum along = {c * sum->total, c * sum->compensation};
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

{% <kernel of={reduce.check_fields}> %}
    {{<fold type="Found" name="own" value="found_in(ids, begin, end, thread, threads, first, fields, before, compare)" merge="join" />}}
    if (thread == 0) found[2 * chunk] = own.first, found[2 * chunk + 1] = own.change;
{%- </kernel> %}

{% <kernel of={reduce.sums}> %}
    const Mask mask = {link_rows, links, solids};
    {{<array type="Sum" name="of" count="SETS * (1 + DIM)" />}}
    for (int at = 0; thread == 0 && at < SETS * (1 + DIM); ++at) of[at].total = 0, of[at].compensation = 0;
    double cells = 0;
    for (int i = -1; i < {{ reduce.summed }}; ++i) {
        {{<fold type="Sum" name="own" value="i < 0 ? cells_of(ids, begin, end, thread, threads, mask) : sum_of(ids, begin, end, i, thread, threads, src, mask)" merge="merge" />}}
        if (thread == 0 && i < 0) cells = own.total;
        if (thread == 0 && i >= 0) add_moments(i, &own, cells, of + SET[i] * (1 + DIM));
    }
    double *const to = sums + (size_t)chunk * (2 * SETS * (1 + DIM));
    for (int at = 0; thread == 0 && at < SETS * (1 + DIM); ++at) to[2 * at] = of[at].total, to[2 * at + 1] = of[at].compensation;
{%- </kernel> %}

{% if reduce.means -%}
// ==== mass, energy, enstrophy =======================================================================================

{% include "slopes" -%}
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
    means[0] = totals->mass.total, means[1] = totals->mass.compensation;
    means[2] = totals->energy.total, means[3] = totals->energy.compensation;
    means[4] = totals->enstrophy.total, means[5] = totals->enstrophy.compensation;
    means[6] = totals->fastest;
}

// A thread's part of the totals of the fluid in the listed blocks from `begin` to `end`.
{{ function }} Totals totals_of(
    const {{ int }} *ids, const int begin, const int end, const int thread, const int threads, const Forest *forest,
    const Mask mask)
{
    Totals totals = { {0, 0}, {0, 0}, {0, 0}, 0 };
    for (size_t entry = (size_t)thread; entry < (size_t)(end - begin) * CELLS; entry += (size_t)threads) {
        const {{ int }} slot = ids[begin + (int)(entry / CELLS)];
        const Place here = {forest->nodes[slot], (int)(entry % CELLS)};
        if (!is_fluid(mask, slot, here.cell)) continue;
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

{% <kernel of={reduce.means}> %}
    const Forest forest = {nodes, near, children, parents, slots, fields};
    const Mask mask = {link_rows, links, solids};
    {{<fold type="Totals" name="own" value="totals_of(ids, begin, end, thread, threads, &forest, mask)" merge="merge_totals" />}}
    if (thread == 0) put_totals(&own, means + 7 * (size_t)chunk);
{%- </kernel> %}

{% endif -%}
