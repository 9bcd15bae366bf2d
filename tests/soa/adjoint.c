// The tangent and the adjoint of steps on a box, beside the steps themselves.
//
// usage: adjoint step|walls|run NX NY NZ [PARAMETER..]
// Compiled with -DSPEC=<name of the spec>, -DDIM, -DQ, -DFIELDS, -DMEMBERS (of the parameters), -DREST=<fields at rest> and the bundle's header.
//
// step, in a periodic box, or walls, where it has walls that bounce back across y: prints <A x, y> and <x, A^T y> of the derivative A of a
// step in a state around rest, for changes x of populations and parameters and any y; the largest difference of the adjoint of populations
// alone; that of A x from central differences of the step, over the largest value of A x; and the largest value that the adjoint has in a
// uniform flow at rest, where norms have kinks.
//
// run: prints derivatives of the kinetic energy after STEPS steps between walls, by the first parameter and by one population at the
// start, each from the adjoint and from central differences.

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 200 };

#define JOIN(a, b) a##b
#define SYMBOL(spec, kernel) JOIN(spec, kernel)
#define MOST(a, b) ((a) > (b) ? (a) : (b))

static int32_t n[3];
static long long stride_y, stride_z, stride_i;
static size_t size;
static int walls;
static double params[MOST(MEMBERS, 1)], params_change[MOST(MEMBERS, 1)];

static double draw(void)
{
    static uint64_t state = 7;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / (double)(1ull << 52) - 1;
}

// Offset of a value from that of component 0 at cell (0, 0, 0).
static long long at(const int i, const int x, const int y, const int z)
{
    return i * stride_i + x + y * stride_y + z * stride_z;
}

static int wrap(const int x, const int extent)
{
    return (x + extent) % extent;
}

// Cell (0, 0, 0) of new arrays, with room around the box.
static double *array(void)
{
    double *const values = calloc(size, sizeof(double));
    if (!values) exit(1);
    return values + at(0, 2, 1, 1);
}

#define EACH_CELL                               \
    for (int z = 0; z < n[2]; ++z)              \
        for (int y = 0; y < n[1]; ++y)          \
            for (int x = 0; x < n[0]; ++x)

// The layer of ghost cells, in two dimensions that of a plane.
#define EACH_GHOST                                                         \
    for (int z = DIM == 3 ? -1 : 0; z <= (DIM == 3 ? n[2] : 0); ++z)       \
        for (int y = -1; y <= n[1]; ++y)                                   \
            for (int x = -1; x <= n[0]; ++x)                               \
                if (x < 0 || x == n[0] || y < 0 || y == n[1] || (DIM == 3 && (z < 0 || z == n[2])))

// Where the value that belongs into a ghost cell is: at the opposite side, or in the cell that a wall sends it back to. Nowhere if it goes
// along or out of a wall.
static long long origin(const int i, const int x, const int y, const int z)
{
    const int *const c = SYMBOL(SPEC, _velocities)[i];
    if (walls && (y < 0 || y == n[1])) {
        if (y + c[1] < 0 || y + c[1] >= n[1]) return LLONG_MIN;
        const int inside = wrap(x + c[0], n[0]), deep = DIM == 3 ? wrap(z + c[DIM - 1], n[2]) : 0;
        return at(SYMBOL(SPEC, _opposites)[i], inside, y + c[1], deep);
    }
    return at(i, wrap(x, n[0]), wrap(y, n[1]), wrap(z, n[2]));
}

static void fill(double *const f)
{
    for (int i = 0; i < Q; ++i)
        EACH_GHOST
        {
            const long long from = origin(i, x, y, z);
            if (from != LLONG_MIN) f[at(i, x, y, z)] = f[from];
        }
}

// The transpose of `fill`.
static void give_back(double *const f)
{
    for (int i = 0; i < Q; ++i)
        EACH_GHOST
        {
            const long long from = origin(i, x, y, z);
            if (from != LLONG_MIN) f[from] += f[at(i, x, y, z)];
            f[at(i, x, y, z)] = 0;
        }
}

static double product(const double *const a, const double *const b)
{
    double sum = 0;
    for (int i = 0; i < Q; ++i) EACH_CELL sum += a[at(i, x, y, z)] * b[at(i, x, y, z)];
    return sum;
}

// Calls a kernel on the box with these arrays, then maybe changes of the parameters, then the parameters.
static void call(void (*kernel)(void *const *), double **arrays, const int count, double *const change, double *const own)
{
    void *args[16];
    int next = 0;
    for (int axis = 0; axis < DIM; ++axis) args[next++] = &n[axis];
    args[next++] = &stride_y;
    if (DIM == 3) args[next++] = &stride_z;
    args[next++] = &stride_i;
    for (int array = 0; array < count; ++array) args[next++] = &arrays[array];
    if (MEMBERS > 0 && change) args[next++] = change;
    if (MEMBERS > 0) args[next++] = own;
    kernel(args);
}

// Derivatives by what the step has read, from those by what it gave; those by parameters are added to an array, if there is one.
static void back(double *const f, double *const dst_adjoint, double *const src_adjoint, double *const params_adjoint)
{
    double *arrays[4] = {f, dst_adjoint, src_adjoint, params_adjoint};
    memset(src_adjoint - at(0, 2, 1, 1), 0, size * sizeof(double));
#if MEMBERS > 0
    if (params_adjoint) call(SYMBOL(SPEC, _stream_collide_adjoint_parameters_packed), arrays, 4, NULL, params);
    else
#endif
        call(SYMBOL(SPEC, _stream_collide_adjoint_packed), arrays, 3, NULL, params);
    give_back(src_adjoint);
}

// Populations of fields around rest: noise, and a stream along x with this velocity between the walls.
static void start(double *const f, const double noise, const double stream)
{
    const double rest[FIELDS] = REST;
    double *const fields = array();
    for (int i = 0; i < FIELDS; ++i) EACH_CELL fields[at(i, x, y, z)] = rest[i] + noise * draw();
    EACH_CELL fields[at(FIELDS > 1, x, y, z)] += stream * sin(3.14159265 * (y + 0.5) / n[1]);
    double *arrays[2] = {fields, f};
    call(SYMBOL(SPEC, _init_packed), arrays, 2, NULL, params);
    for (int i = 0; i < Q; ++i) EACH_CELL f[at(i, x, y, z)] *= 1 + noise / 2 * draw();
    fill(f);
}

static void step(double *const from, double *const to, double *const own)
{
    double *arrays[2] = {from, to};
    fill(from);
    call(SYMBOL(SPEC, _stream_collide_packed), arrays, 2, NULL, own);
}

static void test_step(void)
{
    double *const f = array(), *const change = array(), *const forward = array(), *const weight = array();
    double *const backward = array(), *const by_params = array(), *const shifted[2] = {array(), array()};
    start(f, 0.04, 0);
    for (int i = 0; i < Q; ++i)
        EACH_CELL
        {
            change[at(i, x, y, z)] = f[at(i, x, y, z)] * draw();
            weight[at(i, x, y, z)] = draw();
        }
    fill(change);
    double *arrays[3] = {f, change, forward};
    call(SYMBOL(SPEC, _stream_collide_tangent_packed), arrays, 3, params_change, params);
    back(f, weight, backward, by_params);
    double right = product(change, backward);
    for (int member = 0; member < MEMBERS; ++member)
        EACH_CELL right += params_change[member] * by_params[at(member, x, y, z)];
    printf("%.17g %.17g\n", product(forward, weight), right);

    double *const alone = array();
    back(f, weight, alone, NULL);
    double other = 0;
    for (int i = 0; i < Q; ++i)
        EACH_CELL
        {
            const double difference = fabs(alone[at(i, x, y, z)] - backward[at(i, x, y, z)]);
            other = difference <= other ? other : difference;
        }
    printf("%.17g\n", other);

    const double by = 1e-6;
    for (int side = 0; side < 2; ++side) {
        const double h = side ? by : -by;
        double *const from = array(), own[MOST(MEMBERS, 1)];
        for (int i = 0; i < Q; ++i) EACH_CELL from[at(i, x, y, z)] = f[at(i, x, y, z)] + h * change[at(i, x, y, z)];
        for (int member = 0; member < MEMBERS; ++member) own[member] = params[member] + h * params_change[member];
        step(from, shifted[side], own);
    }
    double apart = 0, most = 0;
    for (int i = 0; i < Q; ++i)
        EACH_CELL
        {
            const long long here = at(i, x, y, z);
            const double expected = (shifted[1][here] - shifted[0][here]) / (2 * by);
            const double difference = fabs(forward[here] - expected);
            apart = difference <= apart ? apart : difference;
            most = MOST(most, fabs(forward[here]));
        }
    printf("%.17g\n", apart / most);

    start(f, 0, 0);
    memset(by_params - at(0, 2, 1, 1), 0, size * sizeof(double));
    back(f, weight, backward, by_params);
    double largest = 0;
    for (int i = 0; i < Q; ++i) EACH_CELL largest = fabs(backward[at(i, x, y, z)]) <= largest ? largest : fabs(backward[at(i, x, y, z)]);
    for (int i = 0; i < MEMBERS; ++i) EACH_CELL largest = fabs(by_params[at(i, x, y, z)]) <= largest ? largest : fabs(by_params[at(i, x, y, z)]);
    printf("%.17g\n", largest);
}

// The kinetic energy of all cells, and its derivatives by populations if they are asked for.
static double energy(const double *const f, double *const by)
{
    double sum = 0;
    EACH_CELL
    {
        double rho = 0, u[DIM] = {0}, square = 0;
        for (int i = 0; i < Q; ++i) {
            rho += f[at(i, x, y, z)];
            for (int a = 0; a < DIM; ++a) u[a] += SYMBOL(SPEC, _velocities)[i][a] * f[at(i, x, y, z)];
        }
        for (int a = 0; a < DIM; ++a) u[a] /= rho;
        for (int a = 0; a < DIM; ++a) square += u[a] * u[a];
        sum += rho * square / 2;
        for (int i = 0; by && i < Q; ++i) {
            by[at(i, x, y, z)] = -square / 2;
            for (int a = 0; a < DIM; ++a) by[at(i, x, y, z)] += SYMBOL(SPEC, _velocities)[i][a] * u[a];
        }
    }
    return sum;
}

// The energy after all steps from populations `f`, of which `all` keeps those before each.
static double run(double **const all)
{
    for (int now = 0; now < STEPS; ++now) step(all[now], all[now + 1], params);
    return energy(all[STEPS], NULL);
}

static void test_run(void)
{
    double *all[STEPS + 1], *adjoint = array(), *earlier = array(), *const by_params = array();
    for (int now = 0; now <= STEPS; ++now) all[now] = array();
    start(all[0], 0.01, 0.1);
    run(all);
    energy(all[STEPS], adjoint);
    for (int now = STEPS; now-- > 0;) {
        back(all[now], adjoint, earlier, by_params);
        double *const done = adjoint;
        adjoint = earlier, earlier = done;
    }
    double sum = 0;
    EACH_CELL sum += by_params[at(0, x, y, z)];

    const double by_rate = 2e-5, by_population = 1e-5, rate = params[0];
    double side[2];
    for (int high = 0; high < 2; ++high) {
        params[0] = rate + (high ? by_rate : -by_rate);
        side[high] = run(all);
    }
    params[0] = rate;
    printf("%.17g %.17g\n", sum, (side[1] - side[0]) / (2 * by_rate));

    const long long here = at(1, 2, 0, 0);
    const double population = all[0][here];
    for (int high = 0; high < 2; ++high) {
        all[0][here] = population + (high ? by_population : -by_population);
        side[high] = run(all);
    }
    printf("%.17g %.17g\n", adjoint[here], (side[1] - side[0]) / (2 * by_population));
}

int main(int argc, char **argv)
{
    for (int axis = 0; axis < 3; ++axis) n[axis] = atoi(argv[2 + axis]);
    for (int member = 0; member < MEMBERS && member + 5 < argc; ++member) {
        params[member] = atof(argv[5 + member]);
        params_change[member] = (fabs(params[member]) + 1e-3) * draw();
    }
    stride_y = n[0] + 5;
    stride_z = stride_y * (n[1] + 3);
    stride_i = stride_z * (n[2] + 2) + 7;
    size = (size_t)stride_i * (size_t)MOST(MOST(Q, FIELDS), MEMBERS);
    walls = strcmp(argv[1], "step") != 0;
    if (strcmp(argv[1], "run") == 0) test_run();
    else test_step();
    return 0;
}
