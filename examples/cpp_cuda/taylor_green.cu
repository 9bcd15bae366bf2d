// Decaying Taylor-Green vortex in C++ and CUDA: the program owns its arrays, its main loop and its ghost cells; the
// kernels are generated.
//
// The vortex is uniform along z. First it is checked against its solution, then a larger box is timed.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "../kernels/d3q19_bgk.h"

#include "../kernels/d3q19_bgk.cu"

static_assert(D3Q19_BGK_ABI == 16, "the kernels follow another interface than this program: look at their header");

using real = float;

#define CHECK(call)                                                                          \
    do {                                                                                     \
        const cudaError_t status = (call);                                                   \
        if (status != cudaSuccess) {                                                         \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            std::exit(2);                                                                    \
        }                                                                                    \
    } while (false)

// A box of cells with one layer of ghost cells. Cell 0 of every row begins a line of memory (LINE values), which makes the
// kernel twice as fast; the ghost cell before it ends the line before.
struct Box {
    static const int LINE = 32;
    int n[3];
    long long stride[3], stride_i;

    Box(const int nx, const int ny, const int nz) : n{nx, ny, nz}
    {
        stride[0] = 1;
        stride[1] = (LINE + nx + 1 + LINE - 1) / LINE * LINE;
        stride[2] = stride[1] * (ny + 2);
        stride_i = stride[2] * (nz + 2);
    }
    long long at(const int i, const int x, const int y, const int z) const
    {
        return i * stride_i + (z + 1) * stride[2] + (y + 1) * stride[1] + LINE + x;
    }
    dim3 grid() const
    {
        const int block[3] = {D3Q19_BGK_BX, D3Q19_BGK_BY, D3Q19_BGK_BZ};
        const auto blocks = [&](const int axis) { return unsigned((n[axis] + block[axis] - 1) / block[axis]); };
        return dim3(blocks(0), blocks(1), blocks(2));
    }
};

static const dim3 BLOCK(D3Q19_BGK_BX, D3Q19_BGK_BY, D3Q19_BGK_BZ);

// Directions that enter a box across one axis: `half` of them upwards, then as many downwards.
struct Entering {
    int half, i[D3Q19_BGK_Q];

    explicit Entering(const int axis) : half(0), i{}
    {
        int count = 0;
        for (const int sign : {1, -1}) {
            for (int at = 0; at < D3Q19_BGK_Q; ++at)
                if (d3q19_bgk_velocities[at][axis] == sign) i[count++] = at;
            if (sign > 0) half = count;
        }
    }
};

// Copies the outermost cells along one axis into the ghost cells of the opposite side. Rows and planes (axes a, b) include
// their own ghost cells, so that edges and corners are right when all axes are done.
__global__ void wrap(const Entering entering, real *f, const int n, const long long stride, const int na,
    const long long stride_a, const int nb, const long long stride_b, const long long stride_i)
{
    const int a = int(blockIdx.x * blockDim.x + threadIdx.x) - 1, b = int(blockIdx.y * blockDim.y + threadIdx.y) - 1;
    if (a > na || b > nb) return;
    real *const line = f + entering.i[blockIdx.z] * stride_i + a * stride_a + b * stride_b;
    if (blockIdx.z < entering.half)
        line[-stride] = line[(n - 1) * stride];
    else
        line[n * stride] = line[0];
}

static void fill_ghosts(const Box &box, real *const f)
{
    for (int axis = 0; axis < 3; ++axis) {
        const Entering entering(axis);
        const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
        const dim3 threads(32, 4), grid(unsigned(box.n[a] + 33) / 32, unsigned(box.n[b] + 5) / 4, 2 * entering.half);
        wrap<<<grid, threads>>>(entering, f + box.at(0, 0, 0, 0), box.n[axis], box.stride[axis], box.n[a],
            box.stride[a], box.n[b], box.stride[b], box.stride_i);
    }
}

static real *allocate(const Box &box, const int components)
{
    real *array;
    CHECK(cudaMalloc(&array, sizeof(real) * size_t(components) * size_t(box.stride_i)));
    CHECK(cudaMemset(array, 0, sizeof(real) * size_t(components) * size_t(box.stride_i)));
    return array;
}

// Runs the vortex; returns the relative L2 error of the velocity, and the seconds that the steps took.
static std::pair<double, double> run(const Box &box, const int steps, const real omega, const double u0)
{
    const double k = 2 * 3.14159265358979323846 / box.n[0], viscosity = (1 / double(omega) - 0.5) / 3;
    const long long origin = box.at(0, 0, 0, 0);
    const d3q19_bgk_params params = {omega};
    std::vector<real> host(size_t(D3Q19_BGK_FIELDS) * size_t(box.stride_i));
    const auto each_cell = [&](auto &&visit) {
        for (int z = 0; z < box.n[2]; ++z)
            for (int y = 0; y < box.n[1]; ++y)
                for (int x = 0; x < box.n[0]; ++x) visit(x, y, z, k * (x + 0.5), k * (y + 0.5));
    };
    each_cell([&](const int x, const int y, const int z, const double kx, const double ky) {
        host[box.at(0, x, y, z)] = real(1 + 0.75 * u0 * u0 * (std::cos(2 * kx) + std::cos(2 * ky)));
        host[box.at(1, x, y, z)] = real(u0 * std::sin(kx) * std::cos(ky));
        host[box.at(2, x, y, z)] = real(-u0 * std::cos(kx) * std::sin(ky));
    });
    real *const fields = allocate(box, D3Q19_BGK_FIELDS);
    real *src = allocate(box, D3Q19_BGK_Q), *dst = allocate(box, D3Q19_BGK_Q);
    CHECK(cudaMemcpy(fields, host.data(), host.size() * sizeof(real), cudaMemcpyHostToDevice));
    d3q19_bgk_init<<<box.grid(), BLOCK>>>(
        box.n[0], box.n[1], box.n[2], box.stride[1], box.stride[2], box.stride_i, fields + origin, src + origin, params);

    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start));
    for (int step = 0; step < steps; ++step) {
        fill_ghosts(box, src);
        d3q19_bgk_stream_collide<<<box.grid(), BLOCK>>>(
            box.n[0], box.n[1], box.n[2], box.stride[1], box.stride[2], box.stride_i, src + origin, dst + origin, params);
        std::swap(src, dst);
    }
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));

    d3q19_bgk_macroscopic<<<box.grid(), BLOCK>>>(
        box.n[0], box.n[1], box.n[2], box.stride[1], box.stride[2], box.stride_i, src + origin, fields + origin, params);
    CHECK(cudaMemcpy(host.data(), fields, host.size() * sizeof(real), cudaMemcpyDeviceToHost));
    double difference = 0, norm = 0;
    const double u = u0 * std::exp(-2 * viscosity * k * k * steps);
    each_cell([&](const int x, const int y, const int z, const double kx, const double ky) {
        const double expected[3] = {u * std::sin(kx) * std::cos(ky), -u * std::cos(kx) * std::sin(ky), 0};
        for (int axis = 0; axis < 3; ++axis) {
            const double found = host[box.at(1 + axis, x, y, z)];
            difference += (found - expected[axis]) * (found - expected[axis]);
            norm += expected[axis] * expected[axis];
        }
    });
    CHECK(cudaFree(fields));
    CHECK(cudaFree(src));
    CHECK(cudaFree(dst));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return {std::sqrt(difference / norm), milliseconds / 1e3};
}

int main()
{
    const auto [error, _] = run(Box(64, 64, 9), 400, 1.6f, 0.02);
    std::printf("Taylor-Green vortex, 64 x 64 x 9 cells, 400 steps: relative L2 error of the velocity %.2e\n", error);

    const Box large(512, 512, 256);
    const int steps = 200;
    const auto [__, seconds] = run(large, steps, 1.6f, 0.02);
    const double cells = double(large.n[0]) * large.n[1] * large.n[2];
    std::printf("512 x 512 x 256 cells, f32: %.0f MLUPS, ghost cells included\n", cells * steps / seconds / 1e6);
    return error < 2e-3 ? 0 : 1;
}
