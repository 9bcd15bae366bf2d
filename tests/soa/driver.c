// Applies one kernel of a bundle with plain arrays to a periodic box.
//
// usage: driver KERNEL NX NY NZ [PARAMETER..] < values > values
// KERNEL is step, init or macroscopic; values are f64, [component][nz][ny][nx].
// Compiled with -DSPEC=<name of the spec>, -DDIM, -DQ, -DFIELDS and the bundle's header.
//
// Rows and planes have room to spare, so that strides are not what the extents suggest; the box is done in two shares.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN(a, b) a##b
#define SYMBOL(spec, kernel) JOIN(spec, kernel)

static int n[3];
static long long stride_y, stride_z, stride_i;

// Offset of a cell from cell (0, 0, 0).
static long long at(const int x, const int y, const int z)
{
    return x + y * stride_y + z * stride_z;
}

static int wrap(const int x, const int extent)
{
    return (x + extent) % extent;
}

// The kernel on the planes (rows in two dimensions) from `first` on, `count` of them.
static void share(void (*kernel)(void *const *), double *from, double *to, double *params, int first, int count)
{
    double *const source = from + (DIM == 3 ? at(0, 0, first) : at(0, first, 0));
    double *const target = to + (DIM == 3 ? at(0, 0, first) : at(0, first, 0));
    int32_t extents[3] = {n[0], DIM == 3 ? n[1] : count, count};
    void *args[64];
    int next = 0;
    for (int axis = 0; axis < DIM; ++axis) args[next++] = &extents[axis];
    args[next++] = &stride_y;
    if (DIM == 3) args[next++] = &stride_z;
    args[next++] = &stride_i;
    args[next++] = (void *)&source;
    args[next++] = (void *)&target;
    args[next++] = params;  // the members of their struct
    kernel(args);
}

int main(int argc, char **argv)
{
    double params[32] = {0};
    for (int axis = 0; axis < 3; ++axis) n[axis] = atoi(argv[2 + axis]);
    for (int param = 5; param < argc; ++param) params[param - 5] = atof(argv[param]);
    const int step = strcmp(argv[1], "step") == 0, init = strcmp(argv[1], "init") == 0;
    const int inputs = init ? FIELDS : Q, outputs = init || step ? Q : FIELDS;

    stride_y = n[0] + 5;
    stride_z = stride_y * (n[1] + 3);
    stride_i = stride_z * (n[2] + 2) + 7;
    const size_t size = (size_t)stride_i * (Q > FIELDS ? Q : FIELDS);
    double *const source = calloc(size, sizeof(double)), *const target = calloc(size, sizeof(double));
    double *const from = source + at(2, 1, 1), *const to = target + at(2, 1, 1);

    for (int i = 0; i < inputs; ++i)
        for (int z = 0; z < n[2]; ++z)
            for (int y = 0; y < n[1]; ++y) {
                double *const row = from + i * stride_i + at(0, y, z);
                if (fread(row, sizeof(double), (size_t)n[0], stdin) != (size_t)n[0]) return 1;
            }
    for (int i = 0; i < inputs; ++i)
        for (int z = -1; z <= n[2]; ++z)
            for (int y = -1; y <= n[1]; ++y)
                for (int x = -1; x <= n[0]; ++x)
                    from[i * stride_i + at(x, y, z)] =
                        from[i * stride_i + at(wrap(x, n[0]), wrap(y, n[1]), wrap(z, n[2]))];

    void (*const kernel)(void *const *) = step   ? SYMBOL(SPEC, _stream_collide_packed)
                                          : init ? SYMBOL(SPEC, _init_packed)
                                                 : SYMBOL(SPEC, _macroscopic_packed);
    const int planes = n[DIM - 1];
    share(kernel, from, to, params, 0, planes / 2);
    share(kernel, from, to, params, planes / 2, planes - planes / 2);

    for (int i = 0; i < outputs; ++i)
        for (int z = 0; z < n[2]; ++z)
            for (int y = 0; y < n[1]; ++y) {
                double *const row = to + i * stride_i + at(0, y, z);
                if (fwrite(row, sizeof(double), (size_t)n[0], stdout) != (size_t)n[0]) return 1;
            }
    return 0;
}
