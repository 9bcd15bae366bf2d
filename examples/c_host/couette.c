// Couette flow in plain C: the program owns its arrays, its main loop and its walls; the kernels are generated.
//
// Periodic along x, a wall at rest below the first row, a wall that moves with U above the last. Half-way bounce-back
// puts the walls half a cell beyond the outermost cells, so that the steady velocity is U (y + 1/2) / NY, up to round-off.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../kernels/d2q9_bgk.h"

#if D2Q9_BGK_ABI != 16
#error "the kernels follow another interface than this program: look at their header"
#endif

enum { NX = 6, NY = 12, STEPS = 2000 };
static const double U = 0.05;
static const d2q9_bgk_params PARAMS = {.omega_ = 0.8};

// Rows of NX + 2 values, the first and last of which are ghost cells; one more row below and above.
static const long long STRIDE_Y = NX + 2, STRIDE_I = (NX + 2) * (NY + 2);

static double *allocate(const int components)
{
    double *const array = calloc((size_t)components * (size_t)STRIDE_I, sizeof(double));
    if (!array) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return array;
}

// Position of a cell in an array; the kernels are given the address of cell (0, 0).
static long long at(const int i, const int x, const int y)
{
    return i * STRIDE_I + (y + 1) * STRIDE_Y + (x + 1);
}

// Fills the ghost cells: what travels in direction i from a ghost cell enters the box at x + c, y + c.
static void fill_ghosts(double *const f)
{
    for (int i = 0; i < D2Q9_BGK_Q; ++i) {
        const int cx = d2q9_bgk_velocities[i][0], cy = d2q9_bgk_velocities[i][1], back = d2q9_bgk_opposites[i];
        for (int y = 0; y < NY; ++y) {
            f[at(i, -1, y)] = f[at(i, NX - 1, y)];
            f[at(i, NX, y)] = f[at(i, 0, y)];
        }
        for (int x = -1; x <= NX && cy != 0; ++x) {
            // The cell that the wall sends population i to, and the velocity of the wall there.
            const int inside = (x + cx + NX) % NX, y = cy > 0 ? 0 : NY - 1;
            const double wall = cy > 0 ? 0 : U;
            f[at(i, x, y - cy)] = f[at(back, inside, y)] + 6 * d2q9_bgk_weights[i] * cx * wall;
        }
    }
}

int main(void)
{
    double *fields = allocate(D2Q9_BGK_FIELDS), *src = allocate(D2Q9_BGK_Q), *dst = allocate(D2Q9_BGK_Q);
    for (int y = 0; y < NY; ++y)
        for (int x = 0; x < NX; ++x) fields[at(0, x, y)] = 1;  // density 1, velocity 0

    const long long origin = at(0, 0, 0);
    d2q9_bgk_init(NX, NY, STRIDE_Y, STRIDE_I, fields + origin, src + origin, PARAMS);
    for (int step = 0; step < STEPS; ++step) {
        fill_ghosts(src);
        // A box of one row is a thread's share.
#pragma omp parallel for
        for (int y = 0; y < NY; ++y) {
            const long long row = at(0, 0, y);
            d2q9_bgk_stream_collide(NX, 1, STRIDE_Y, STRIDE_I, src + row, dst + row, PARAMS);
        }
        double *const newer = dst;
        dst = src;
        src = newer;
    }
    d2q9_bgk_macroscopic(NX, NY, STRIDE_Y, STRIDE_I, src + origin, fields + origin, PARAMS);

    double error = 0;
    for (int y = 0; y < NY; ++y)
        for (int x = 0; x < NX; ++x) {
            const double expected = U * (y + 0.5) / NY;
            error = fmax(error, fabs(fields[at(1, x, y)] - expected) / U);
            error = fmax(error, fabs(fields[at(2, x, y)]) / U);
        }
    printf("Couette flow, %d x %d cells, %d steps: largest error %.2e of the wall's velocity\n", NX, NY, STEPS, error);
    free(fields);
    free(src);
    free(dst);
    return error < 1e-10 ? 0 : 1;
}
