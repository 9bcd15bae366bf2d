// Lid-driven cavity, D3Q27 BGK in fp32, in slabs along z on several GPUs of one host: the two layouts of Meneghin & Mahmoud, "Disaggregated Design for
// GPU-Based Volumetric Data Structures" (2025), section VI-A, and kernels that store into the memory of neighbours.
//
//   nvcc -O3 -arch=native -std=c++17 -Xcompiler -ffp-contract=off layouts.cu -o layouts
//   ./layouts check                           small cavities on all counts of GPUs, compared with the host
//   ./layouts N [SECONDS [graph|streams]]     N^3 cells on 1, 2, 4, 8 GPUs; begins nothing more after so many seconds
//
// Prints a line of JSON for each measurement. Its exit status is 1 where populations differ in any bit, or something failed.
//
// soa            each direction of a slab is contiguous, halo planes included: nine copies to a neighbour
// disaggregated  upper halo, upper shared cells, private cells, lower shared cells and lower halo lie one behind the other, each of these as a
//                structure of arrays: one copy to a neighbour
//
// A slab without neighbours has neither halos nor shared cells, so on one GPU both are the same. What crosses is the same too: nine populations of each
// shared cell, without packing. Two orders of a step:
//
// private_first  the paper's: halos are updated beside the kernel of private cells; that of shared cells follows both
// shared_first   shared cells have priority and wait for what they need alone; what crosses next does so beside private cells
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#define HD __host__ __device__ __forceinline__

typedef unsigned long long u64;

// ---- The method -----------------------------------------------------------------------------------------------------------------------------------

constexpr int Q = 27;
// Directions that cross a plane: those upwards are the last nine, those downwards the first.
constexpr int CROSSING = 9, UPWARDS = 18, DOWNWARDS = 0;

HD constexpr int cx(int i) { return i % 3 - 1; }
HD constexpr int cy(int i) { return i / 3 % 3 - 1; }
HD constexpr int cz(int i) { return i / 9 - 1; }
HD constexpr int opposite(int i) { return Q - 1 - i; }
HD constexpr float weight(int i) {
    const int moving = cx(i) * cx(i) + cy(i) * cy(i) + cz(i) * cz(i);
    return moving == 0 ? 8.f / 27 : moving == 1 ? 2.f / 27 : moving == 2 ? 1.f / 54 : 1.f / 216;
}

// Operations that no compiler fuses or splits: all kernels, and the host, have the same bits.
#ifdef __CUDA_ARCH__
HD float add(float a, float b) { return __fadd_rn(a, b); }
HD float mul(float a, float b) { return __fmul_rn(a, b); }
HD float fma3(float a, float b, float c) { return __fmaf_rn(a, b, c); }
HD float inverse(float a) { return __frcp_rn(a); }
#else
HD float add(float a, float b) { return a + b; }
HD float mul(float a, float b) { return a * b; }
HD float fma3(float a, float b, float c) { return std::fma(a, b, c); }
HD float inverse(float a) { return 1 / a; }
#endif

// A component of a direction times v, added to a sum.
HD float along(int c, float sum, float v) { return c == 0 ? sum : add(sum, c > 0 ? v : -v); }

HD void collide(float (&f)[Q], float omega) {
    float rho = f[0], x = -f[0], y = -f[0], z = -f[0];
#pragma unroll
    for (int i = 1; i < Q; ++i) {
        rho = add(rho, f[i]);
        x = along(cx(i), x, f[i]);
        y = along(cy(i), y, f[i]);
        z = along(cz(i), z, f[i]);
    }
    const float over = inverse(rho);
    x = mul(x, over), y = mul(y, over), z = mul(z, over);
    const float rest = fma3(-1.5f, fma3(x, x, fma3(y, y, mul(z, z))), 1.f), kept = add(1.f, -omega), all = mul(omega, rho);
    x = mul(3.f, x), y = mul(3.f, y), z = mul(3.f, z);
#pragma unroll
    for (int i = 0; i < Q; ++i) {
        const float c = along(cz(i), along(cy(i), along(cx(i), 0.f, x), y), z);
        f[i] = fma3(mul(weight(i), all), fma3(c, fma3(.5f, c, 1.f), rest), mul(kept, f[i]));
    }
}

// What the lid, y = n, adds to a population that it sends back in direction i.
HD float from_lid(int i, float lid) { return mul(6.f * weight(i) * cx(i), lid); }

HD u64 mix(u64 v) {
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ull;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebull;
    return v ^ (v >> 31);
}

HD u64 number(int n, int i, int x, int y, int z) { return (((u64)i * n + z) * n + y) * n + x; }

// All populations begin differently, so that none can stand for another.
HD float beginning(int n, int i, int x, int y, int z) {
    const int random = (int)(mix(number(n, i, x, y, z) + 1) >> 48);
    return mul(weight(i), fma3(random * (1.f / 65536) - .5f, .02f, 1.f));
}

// ---- Layouts --------------------------------------------------------------------------------------------------------------------------------------

enum Layout { SOA, DISAGGREGATED };

// Planes z0 to z0 + nz of n^3 cells, and whether there are slabs below and above.
struct Slab {
    int n, z0, nz, lower, upper;
};

// Where direction 0 of a plane begins, and how far apart directions are.
struct Plane {
    size_t start, stride;
};

HD size_t area(const Slab &s) { return (size_t)s.n * s.n; }

HD size_t values(const Slab &s) { return Q * area(s) * (s.nz + s.lower + s.upper); }

// Planes -1 and nz are halos.
template <Layout L> HD Plane plane(const Slab &s, int z) {
    const size_t a = area(s);
    if (L == SOA) return {(z + s.lower) * a, (s.nz + s.lower + s.upper) * a};
    const int inner = s.nz - s.lower - s.upper;
    if (z >= s.nz) return {0, a};
    if (z >= s.nz - s.upper) return {Q * a, a};
    const size_t rest = s.upper * 2 * Q * a;
    if (z >= s.lower) return {rest + (z - s.lower) * a, inner * a};
    return {rest + (inner + (z < 0 ? 1 : 0)) * Q * a, a};
}

inline Plane plane(Layout layout, const Slab &s, int z) { return layout == SOA ? plane<SOA>(s, z) : plane<DISAGGREGATED>(s, z); }

inline Slab slab(int n, int parts, int part) {
    const int z0 = (int)((long long)n * part / parts), z1 = (int)((long long)n * (part + 1) / parts);
    return {n, z0, z1 - z0, part > 0, part + 1 < parts};
}

struct Copy {
    size_t from, to, count;
};

// What crosses from a slab to its neighbour above or below: as few contiguous runs as there are.
inline std::vector<Copy> crossing(Layout layout, const Slab &from, const Slab &to, bool up) {
    const Plane out = plane(layout, from, up ? from.nz - 1 : 0), in = plane(layout, to, up ? -1 : to.nz);
    std::vector<Copy> copies;
    for (int k = 0; k < CROSSING; ++k) {
        const size_t i = (up ? UPWARDS : DOWNWARDS) + k;
        const Copy copy = {out.start + i * out.stride, in.start + i * in.stride, area(from)};
        if (!copies.empty() && copies.back().from + copies.back().count == copy.from && copies.back().to + copies.back().count == copy.to)
            copies.back().count += copy.count;
        else
            copies.push_back(copy);
    }
    return copies;
}

// ---- Kernels --------------------------------------------------------------------------------------------------------------------------------------

// The plane of a neighbour's halo.
struct Peer {
    float *start;
    size_t stride;
};

// Streams to a cell, by reading, collides there and stores. Populations of `src` and `dst` are those after collisions.
template <Layout L, bool STORES>
HD void update(const Slab &s, const float *__restrict__ src, float *__restrict__ dst, Peer up, Peer down, float omega, float lid, int x, int y, int z) {
    const int n = s.n, at = y * n + x;
    const Plane below = plane<L>(s, z - 1), here = plane<L>(s, z), above = plane<L>(s, z + 1);
    const bool first = s.z0 + z == 0, last = s.z0 + z == n - 1;
    const float *own = src + here.start + at;
    float f[Q];
#pragma unroll
    for (int i = 0; i < Q; ++i) {
        const bool wall = (cx(i) > 0 && x == 0) || (cx(i) < 0 && x == n - 1) || (cy(i) > 0 && y == 0) || (cy(i) < 0 && y == n - 1) ||
                          (cz(i) > 0 && first) || (cz(i) < 0 && last);
        const Plane from = cz(i) > 0 ? below : cz(i) < 0 ? above : here;
        f[i] = *(wall ? own + opposite(i) * here.stride : src + from.start + i * from.stride + (at - cy(i) * n - cx(i)));
        if (cx(i) != 0 && cy(i) < 0 && y == n - 1) f[i] = add(f[i], from_lid(i, lid));
    }
    collide(f, omega);
    float *to = dst + here.start + at;
#pragma unroll
    for (int i = 0; i < Q; ++i) to[i * here.stride] = f[i];
    if (STORES && s.upper && z == s.nz - 1) {
#pragma unroll
        for (int i = UPWARDS; i < UPWARDS + CROSSING; ++i) up.start[i * up.stride + at] = f[i];
    }
    if (STORES && s.lower && z == 0) {
#pragma unroll
        for (int i = DOWNWARDS; i < DOWNWARDS + CROSSING; ++i) down.start[i * down.stride + at] = f[i];
    }
}

// Planes z, z + apart, ...
template <Layout L, bool STORES>
__global__ void __launch_bounds__(256)
    step(Slab s, const float *__restrict__ src, float *__restrict__ dst, Peer up, Peer down, float omega, float lid, int z, int apart) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < s.n) update<L, STORES>(s, src, dst, up, down, omega, lid, x, blockIdx.y, z + blockIdx.z * apart);
}

template <Layout L> __global__ void fill(Slab s, float *f) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x >= s.n) return;
    const Plane here = plane<L>(s, z);
    for (int i = 0; i < Q; ++i) f[here.start + i * here.stride + y * s.n + x] = beginning(s.n, i, x, y, s.z0 + z);
}

// A sum that does not depend on the order, of all bits by cell and direction; and how many values are not finite.
HD u64 hashed(u64 number, float value) {
    unsigned bits;
    memcpy(&bits, &value, 4);
    return mix(number * 0x9e3779b97f4a7c15ull ^ mix(bits));
}

HD bool is_finite(float value) { return value - value == 0; }

template <Layout L> __global__ void sum(Slab s, const float *f, u64 *sums) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= s.n) return;
    u64 all = 0, wrong = 0;
    for (int z = 0; z < s.nz; ++z) {
        const Plane here = plane<L>(s, z);
        for (int i = 0; i < Q; ++i) {
            const float value = f[here.start + i * here.stride + y * s.n + x];
            all += hashed(number(s.n, i, x, y, s.z0 + z), value);
            wrong += !is_finite(value);
        }
    }
    atomicAdd(&sums[0], all);
    if (wrong) atomicAdd(&sums[1], wrong);
}

__global__ void copy(const float4 *__restrict__ src, float4 *__restrict__ dst, size_t count) {
    const size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (at < count) dst[at] = src[at];
}

// ---- Runs -----------------------------------------------------------------------------------------------------------------------------------------

static void check(cudaError_t status, const char *what, int line) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + " (line " + std::to_string(line) + "): " + cudaGetErrorString(status));
}
#define CHECK(call) check(call, #call, __LINE__)

static double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

static double median(std::vector<double> of) {
    std::sort(of.begin(), of.end());
    return of[of.size() / 2];
}

template <typename... Parameters, typename... Arguments>
static void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream, Arguments... arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = grid, config.blockDim = block, config.stream = stream;
    CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

struct Variant {
    Layout layout;
    bool stores, private_first;

    const char *name() const { return layout == SOA ? "soa" : "disaggregated"; }
    const char *halo() const { return stores ? "stores" : "copies"; }
    const char *order() const { return private_first ? "private_first" : "shared_first"; }
};

const Variant VARIANTS[] = {
    {SOA, false, true}, {DISAGGREGATED, false, true}, {SOA, false, false}, {DISAGGREGATED, false, false}, {SOA, true, false},
};

struct Sum {
    u64 hash, wrong;
};

// A stream, and events of what it has done in even and odd steps.
struct Lane {
    cudaStream_t stream = nullptr;
    cudaEvent_t done[2] = {};

    void open(int priority) {
        CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
        for (cudaEvent_t &event : done) CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
    void close() {
        for (cudaEvent_t event : done)
            if (event) cudaEventDestroy(event);
        if (stream) cudaStreamDestroy(stream);
    }
    void wait(cudaEvent_t event) { CHECK(cudaStreamWaitEvent(stream, event, 0)); }
    void record(int parity) { CHECK(cudaEventRecord(done[parity], stream)); }
};

// What a GPU has.
struct Part {
    Slab slab;
    float *f[2] = {};
    u64 *sums = nullptr;
    Lane inner, edge, up, down;
    std::vector<Copy> copies_up, copies_down;
};

class Run {
public:
    // Steps that are issued, or recorded, at a time; an even number.
    const int chunk;
    long long steps = 0;
    bool recorded = false;

    Run(Variant variant, int n, int parts, int chunk) : chunk(chunk), variant(variant), n(n), parts(parts) {
        const double viscosity = LID * n / 100;
        omega = (float)(1 / (3 * viscosity + .5));
        try {
            open();
        } catch (...) {
            close();
            throw;
        }
    }
    ~Run() { close(); }
    Run(const Run &) = delete;

    // A chunk of steps.
    void go() {
        if (recorded) {
            CHECK(cudaSetDevice(0));
            CHECK(cudaGraphLaunch(graph, origin));
        } else {
            issue();
        }
        steps += chunk;
    }

    // From now on a chunk is a graph.
    void record() {
        cudaGraph_t made = nullptr;
        CHECK(cudaSetDevice(0));
        CHECK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeRelaxed));
        try {
            issue();
        } catch (...) {
            cudaSetDevice(0);
            cudaStreamEndCapture(origin, &made);
            if (made) cudaGraphDestroy(made);
            cudaGetLastError();
            throw;
        }
        CHECK(cudaSetDevice(0));
        CHECK(cudaStreamEndCapture(origin, &made));
        const cudaError_t status = cudaGraphInstantiate(&graph, made, cudaGraphInstantiateFlagUseNodePriority);
        cudaGraphDestroy(made);
        if (status != cudaSuccess) graph = nullptr, cudaGetLastError();
        CHECK(status);
        recorded = true;
    }

    // Seconds of so many chunks, and those that the host took to issue them.
    double time(long long chunks, double &host) {
        CHECK(cudaSetDevice(0));
        CHECK(cudaEventRecord(timer[0], origin));
        const double began = now();
        for (long long c = 0; c < chunks; ++c) go();
        host = now() - began;
        CHECK(cudaSetDevice(0));
        CHECK(cudaEventRecord(timer[1], origin));
        CHECK(cudaEventSynchronize(timer[1]));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, timer[0], timer[1]));
        return ms / 1e3;
    }

    void synchronize() {
        for (int g = 0; g < parts; ++g) {
            CHECK(cudaSetDevice(g));
            CHECK(cudaDeviceSynchronize());
        }
    }

    // Of the populations after the last step, by cells of the whole cavity.
    Sum checksum() {
        synchronize();
        Sum total = {0, 0};
        for (int g = 0; g < parts; ++g) {
            Part &p = part[g];
            u64 sums[2];
            CHECK(cudaSetDevice(g));
            CHECK(cudaMemsetAsync(p.sums, 0, sizeof sums, p.inner.stream));
            launch(variant.layout == SOA ? sum<SOA> : sum<DISAGGREGATED>, grid(1), block(), p.inner.stream, p.slab, p.f[0], p.sums);
            CHECK(cudaMemcpyAsync(sums, p.sums, sizeof sums, cudaMemcpyDeviceToHost, p.inner.stream));
            CHECK(cudaStreamSynchronize(p.inner.stream));
            total.hash += sums[0], total.wrong += sums[1];
        }
        return total;
    }

    // To one neighbour.
    size_t copies() const { return variant.stores ? 0 : part[0].copies_up.size(); }

    static constexpr double LID = .04;

private:
    const Variant variant;
    const int n, parts;
    float omega;
    std::vector<Part> part;
    cudaStream_t origin = nullptr;
    cudaEvent_t begin = nullptr, timer[2] = {};
    cudaGraphExec_t graph = nullptr;

    // Threads along x, in as few blocks as can be.
    dim3 block() const {
        const int blocks = (n + 255) / 256, threads = (n + blocks - 1) / blocks;
        return dim3((threads + 31) / 32 * 32);
    }
    dim3 grid(int planes) const {
        const int threads = block().x;
        return dim3((n + threads - 1) / threads, n, planes);
    }

    std::vector<Lane *> lanes(Part &p) const {
        std::vector<Lane *> used = {&p.inner};
        if (parts > 1) used.push_back(&p.edge);
        if (!p.copies_up.empty() && !variant.stores) used.push_back(&p.up);
        if (!p.copies_down.empty() && !variant.stores) used.push_back(&p.down);
        return used;
    }

    void open() {
        part.resize(parts);
        for (int g = 0; g < parts; ++g) part[g].slab = slab(n, parts, g);
        for (int g = 0; g + 1 < parts; ++g) {
            part[g].copies_up = crossing(variant.layout, part[g].slab, part[g + 1].slab, true);
            part[g + 1].copies_down = crossing(variant.layout, part[g + 1].slab, part[g].slab, false);
        }
        for (int g = 0; g < parts; ++g) {
            Part &p = part[g];
            CHECK(cudaSetDevice(g));
            int least, greatest;
            CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
            p.inner.open(least);
            for (Lane *lane : {&p.edge, &p.up, &p.down}) lane->open(greatest);
            if (g == 0) {
                CHECK(cudaStreamCreateWithFlags(&origin, cudaStreamNonBlocking));
                CHECK(cudaEventCreateWithFlags(&begin, cudaEventDisableTiming));
                for (cudaEvent_t &event : timer) CHECK(cudaEventCreate(&event));
            }
            CHECK(cudaMalloc((void **)&p.sums, 2 * sizeof(u64)));
            for (float *&f : p.f) {
                CHECK(cudaMalloc((void **)&f, values(p.slab) * sizeof(float)));
                // All bits set is not a number: what is read before it was written is found.
                CHECK(cudaMemsetAsync(f, 0xff, values(p.slab) * sizeof(float), p.inner.stream));
            }
            launch(variant.layout == SOA ? fill<SOA> : fill<DISAGGREGATED>, grid(p.slab.nz), block(), p.inner.stream, p.slab, p.f[0]);
        }
        synchronize();
        for (int g = 0; g < parts; ++g) {
            CHECK(cudaSetDevice(g));
            send(g, true, 0), send(g, false, 0);
        }
        synchronize();
    }

    void close() {
        for (int g = 0; g < (int)part.size(); ++g) {
            cudaSetDevice(g);
            cudaDeviceSynchronize();
        }
        for (int g = 0; g < (int)part.size(); ++g) {
            Part &p = part[g];
            cudaSetDevice(g);
            if (g == 0) {
                if (graph) cudaGraphExecDestroy(graph);
                for (cudaEvent_t event : {begin, timer[0], timer[1]})
                    if (event) cudaEventDestroy(event);
                if (origin) cudaStreamDestroy(origin);
            }
            for (Lane *lane : {&p.inner, &p.edge, &p.up, &p.down}) lane->close();
            for (float *f : p.f) cudaFree(f);
            cudaFree(p.sums);
        }
        cudaGetLastError();
    }

    // The halo of buffer `b` of the neighbour above or below.
    void send(int g, bool up, int b) {
        Part &p = part[g];
        for (const Copy &c : up ? p.copies_up : p.copies_down)
            CHECK(cudaMemcpyAsync(part[up ? g + 1 : g - 1].f[b] + c.to, p.f[b] + c.from, c.count * sizeof(float), cudaMemcpyDeviceToDevice,
                                  up ? p.up.stream : p.down.stream));
    }

    void compute(Part &p, int g, cudaStream_t stream, int src, int planes, int z, int apart, bool stores) {
        const int dst = src ^ 1;
        const auto peer = [&](int other, int z) -> Peer {
            const Plane halo = plane(variant.layout, part[other].slab, z);
            return {part[other].f[dst] + halo.start, halo.stride};
        };
        const Peer up = p.slab.upper ? peer(g + 1, -1) : Peer{}, down = p.slab.lower ? peer(g - 1, part[g - 1].slab.nz) : Peer{};
        const auto kernel = variant.layout == DISAGGREGATED ? step<DISAGGREGATED, false> : stores ? step<SOA, true> : step<SOA, false>;
        launch(kernel, grid(planes), block(), stream, p.slab, (const float *)p.f[src], p.f[dst], up, down, omega, (float)LID, z, apart);
    }

    // Private cells of step t wait for the shared cells of t - 1.
    void inner(int g, int parity) {
        Part &p = part[g];
        const int planes = p.slab.nz - p.slab.lower - p.slab.upper;
        CHECK(cudaSetDevice(g));
        if (parts > 1) p.inner.wait(p.edge.done[parity ^ 1]);
        if (planes > 0) compute(p, g, p.inner.stream, parity, planes, p.slab.lower, 1, false);
        p.inner.record(parity);
    }

    // Shared cells wait for private cells, of this step or the one before, and for what neighbours have sent.
    void edge(int g, int parity) {
        Part &p = part[g];
        CHECK(cudaSetDevice(g));
        p.edge.wait(p.inner.done[variant.private_first ? parity : parity ^ 1]);
        if (p.slab.lower) p.edge.wait((variant.stores ? part[g - 1].edge : part[g - 1].up).done[parity ^ 1]);
        if (p.slab.upper) p.edge.wait((variant.stores ? part[g + 1].edge : part[g + 1].down).done[parity ^ 1]);
        const int planes = p.slab.lower + p.slab.upper;
        compute(p, g, p.edge.stream, parity, planes, p.slab.lower ? 0 : p.slab.nz - 1, p.slab.nz - 1, variant.stores);
        p.edge.record(parity);
    }

    void exchange(int g, int parity) {
        Part &p = part[g];
        CHECK(cudaSetDevice(g));
        for (const bool up : {true, false}) {
            if ((up ? p.copies_up : p.copies_down).empty()) continue;
            Lane &lane = up ? p.up : p.down;
            lane.wait(p.edge.done[parity]);
            send(g, up, parity ^ 1);
            lane.record(parity);
        }
    }

    // Issues a chunk of steps: all begins behind the stream of origin and ends before what comes next in it.
    void issue() {
        CHECK(cudaSetDevice(0));
        CHECK(cudaEventRecord(begin, origin));
        for (int g = 0; g < parts; ++g) {
            CHECK(cudaSetDevice(g));
            for (Lane *lane : lanes(part[g])) lane->wait(begin), lane->record(1);
        }
        for (int t = 0; t < chunk; ++t) {
            const int parity = t & 1;
            for (int g = 0; g < parts && variant.private_first; ++g) inner(g, parity);
            for (int g = 0; g < parts && parts > 1; ++g) edge(g, parity);
            for (int g = 0; g < parts && !variant.stores; ++g) exchange(g, parity);
            for (int g = 0; g < parts && !variant.private_first; ++g) inner(g, parity);
        }
        CHECK(cudaSetDevice(0));
        for (int g = 0; g < parts; ++g)
            for (Lane *lane : lanes(part[g])) CHECK(cudaStreamWaitEvent(origin, lane->done[1], 0));
    }
};

// ---- Measurements ---------------------------------------------------------------------------------------------------------------------------------

static bool FAILED = false;

static void failed(const Variant &v, int n, int parts, const char *why) {
    FAILED = true;
    std::string words;
    for (const char *c = why; *c; ++c) words += *c == '"' || *c == '\\' || *c < ' ' ? ' ' : *c;
    printf("{\"kind\": \"failure\", \"layout\": \"%s\", \"halo\": \"%s\", \"order\": \"%s\", \"gpus\": %d, \"n\": %d, \"error\": \"%s\"}\n", v.name(), v.halo(),
           v.order(), parts, n, words.c_str());
    fflush(stdout);
}

// Records a chunk; where that can't be, steps are issued to streams as before.
static void record(Run &run) {
    try {
        run.record();
    } catch (const std::exception &error) {
        fprintf(stderr, "not recorded: %s\n", error.what());
    }
}

// On one GPU there is nothing to exchange, and both orders are the same.
static std::vector<Variant> variants(int parts) {
    if (parts == 1) return {VARIANTS[0], VARIANTS[1]};
    return std::vector<Variant>(std::begin(VARIANTS), std::end(VARIANTS));
}

// Sums by steps: what is there first others must have as well.
static bool agrees(std::map<long long, u64> &known, long long steps, Sum sum) {
    const bool same = sum.wrong == 0 && known.emplace(steps, sum.hash).first->second == sum.hash;
    if (!same) FAILED = true;
    return same;
}

static void measure(const Variant &v, int n, int parts, bool graphs, long long &base, std::map<long long, u64> &known) {
    Run run(v, n, parts, n <= 256 ? 32 : 8);
    double host;
    run.go();
    if (graphs) record(run);
    run.go();
    run.synchronize();
    const double once = run.time(1, host);
    // All runs of a size have the same base, so that many of their steps can be compared.
    if (base == 0) base = (long long)std::ceil(.55 / once);
    bool same = agrees(known, run.steps, run.checksum());
    const long long chunks = base * parts;
    std::vector<double> seconds, hosts;
    Sum last = {};
    for (int repetition = 0; repetition < 3; ++repetition) {
        seconds.push_back(run.time(chunks, host)), hosts.push_back(host);
        last = run.checksum();
        same = agrees(known, run.steps, last) && same;
    }
    const double cells = (double)n * n * n, bytes = parts > 1 ? 4. * CROSSING * n * n : 0;
    printf("{\"kind\": \"flow\", \"layout\": \"%s\", \"halo\": \"%s\", \"order\": \"%s\", \"issued\": \"%s\", \"gpus\": %d, \"n\": %d, \"steps\": %lld, "
           "\"seconds\": %.6f, \"repetitions\": [%.6f, %.6f, %.6f], \"host_seconds\": %.6f, \"mlups\": %.1f, \"copies_per_neighbour\": %zu, "
           "\"bytes_per_neighbour\": %.0f, \"steps_in_all\": %lld, \"not_finite\": %llu, \"checksum\": \"%016llx\", \"agrees\": %s}\n",
           v.name(), v.halo(), v.order(), run.recorded ? "graph" : "streams", parts, n, chunks * run.chunk, median(seconds), seconds[0], seconds[1],
           seconds[2], median(hosts), cells * chunks * run.chunk / median(seconds) / 1e6, run.copies(), bytes, run.steps, last.wrong, last.hash,
           same ? "true" : "false");
    fflush(stdout);
}

// What a kernel copies on all GPUs at a time, read and written: on each as much as all populations are, but no more than a GiB.
static void bandwidth(int n, int parts) {
    const size_t count = std::min<size_t>((size_t)n * n * n * Q / 4, (size_t)1 << 26);
    struct Buffers {
        float4 *from = nullptr, *to = nullptr;
        cudaStream_t stream = nullptr;
        cudaEvent_t timer[2] = {};
    };
    std::vector<Buffers> all(parts);
    std::vector<double> rates;
    for (int g = 0; g < parts; ++g) {
        Buffers &b = all[g];
        CHECK(cudaSetDevice(g));
        CHECK(cudaStreamCreateWithFlags(&b.stream, cudaStreamNonBlocking));
        for (cudaEvent_t &event : b.timer) CHECK(cudaEventCreate(&event));
        for (float4 **buffer : {&b.from, &b.to}) {
            CHECK(cudaMalloc((void **)buffer, count * sizeof(float4)));
            CHECK(cudaMemsetAsync(*buffer, 0, count * sizeof(float4), b.stream));
        }
        CHECK(cudaDeviceSynchronize());
    }
    const int times = 40;
    for (int repetition = 0; repetition < 4; ++repetition) {
        for (Buffers &b : all) {
            CHECK(cudaSetDevice((int)(&b - &all[0])));
            CHECK(cudaEventRecord(b.timer[0], b.stream));
            for (int k = 0; k < times; ++k)
                launch(copy, dim3((unsigned)((count + 255) / 256)), dim3(256), b.stream, (const float4 *)b.from, b.to, count);
            CHECK(cudaEventRecord(b.timer[1], b.stream));
        }
        double rate = 0;
        for (Buffers &b : all) {
            float ms;
            CHECK(cudaSetDevice((int)(&b - &all[0])));
            CHECK(cudaEventSynchronize(b.timer[1]));
            CHECK(cudaEventElapsedTime(&ms, b.timer[0], b.timer[1]));
            rate += 2. * times * count * sizeof(float4) / ms / 1e6;
        }
        if (repetition > 0) rates.push_back(rate);
    }
    for (Buffers &b : all) {
        cudaSetDevice((int)(&b - &all[0]));
        cudaFree(b.from), cudaFree(b.to);
        for (cudaEvent_t event : b.timer) cudaEventDestroy(event);
        cudaStreamDestroy(b.stream);
    }
    printf("{\"kind\": \"copy\", \"gpus\": %d, \"n\": %d, \"gb_per_s\": %.1f}\n", parts, n, median(rates));
    fflush(stdout);
}

// What crosses between the first two GPUs, as one copy and as nine, one way, nothing else running.
static void between(int n) {
    const size_t plane = (size_t)n * n;
    float *from, *to;
    cudaStream_t stream;
    cudaEvent_t timer[2];
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc((void **)&to, CROSSING * plane * sizeof(float)));
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc((void **)&from, CROSSING * plane * sizeof(float)));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (cudaEvent_t &event : timer) CHECK(cudaEventCreate(&event));
    double us[2];
    for (int split = 0; split < 2; ++split) {
        const int pieces = split ? CROSSING : 1, times = 100;
        const size_t values = CROSSING / pieces * plane;
        for (int round = 0; round < 2; ++round) {
            CHECK(cudaEventRecord(timer[0], stream));
            for (int k = 0; k < times * pieces; ++k) {
                const size_t at = k % pieces * values;
                CHECK(cudaMemcpyAsync(to + at, from + at, values * sizeof(float), cudaMemcpyDeviceToDevice, stream));
            }
            CHECK(cudaEventRecord(timer[1], stream));
            CHECK(cudaEventSynchronize(timer[1]));
            float ms;
            CHECK(cudaEventElapsedTime(&ms, timer[0], timer[1]));
            us[split] = ms * 1e3 / times;
        }
    }
    for (cudaEvent_t event : timer) cudaEventDestroy(event);
    cudaStreamDestroy(stream);
    cudaFree(from);
    cudaSetDevice(1);
    cudaFree(to);
    const double bytes = 4. * CROSSING * plane;
    printf("{\"kind\": \"link\", \"n\": %d, \"bytes\": %.0f, \"one_copy_us\": %.2f, \"nine_copies_us\": %.2f, \"gb_per_s\": %.1f}\n", n, bytes, us[0], us[1],
           bytes / us[0] / 1e3);
    fflush(stdout);
}

// The same flow on the host, whose populations are sent where kernels fetch them: sums after so many steps and twice as many.
static void reference(int n, int steps, std::map<long long, u64> &known) {
    const size_t cells = (size_t)n * n * n;
    const float omega = (float)(1 / (3 * (Run::LID * n / 100) + .5)), lid = (float)Run::LID;
    std::vector<float> f(Q * cells), next(Q * cells);
    for (int i = 0; i < Q; ++i)
        for (size_t c = 0; c < cells; ++c) f[i * cells + c] = beginning(n, i, c % n, c / n % n, c / n / n);
    for (int t = 1; t <= 2 * steps; ++t) {
        for (size_t c = 0; c < cells; ++c) {
            const int x = c % n, y = c / n % n, z = c / n / n;
            for (int i = 0; i < Q; ++i) {
                const int tx = x + cx(i), ty = y + cy(i), tz = z + cz(i);
                if (tx >= 0 && tx < n && ty >= 0 && ty < n && tz >= 0 && tz < n) {
                    next[number(n, i, tx, ty, tz)] = f[i * cells + c];
                } else {
                    const int back = opposite(i);
                    next[back * cells + c] = ty == n && cx(back) != 0 ? add(f[i * cells + c], from_lid(back, lid)) : f[i * cells + c];
                }
            }
        }
        for (size_t c = 0; c < cells; ++c) {
            float here[Q];
            for (int i = 0; i < Q; ++i) here[i] = next[i * cells + c];
            collide(here, omega);
            for (int i = 0; i < Q; ++i) f[i * cells + c] = here[i];
        }
        if (t % steps == 0) {
            u64 sum = 0;
            for (size_t k = 0; k < Q * cells; ++k) sum += hashed(k, f[k]);
            known.emplace(t, sum);
        }
    }
}

// Two chunks in streams, then two as graphs, on every count of GPUs.
static void compare(int n, int devices) {
    const int chunk = 32;
    std::map<long long, u64> known;
    reference(n, 2 * chunk, known);
    for (int parts = 1; parts <= devices; ++parts) {
        for (const Variant &v : variants(parts)) {
            try {
                Run run(v, n, parts, chunk);
                run.go(), run.go();
                const bool streams = agrees(known, run.steps, run.checksum());
                record(run);
                run.go(), run.go();
                const Sum last = run.checksum();
                const bool again = agrees(known, run.steps, last);
                printf("{\"kind\": \"check\", \"layout\": \"%s\", \"halo\": \"%s\", \"order\": \"%s\", \"gpus\": %d, \"n\": %d, \"steps\": %lld, \"streams\": %s, "
                       "\"%s\": %s, \"checksum\": \"%016llx\", \"host\": \"%016llx\"}\n",
                       v.name(), v.halo(), v.order(), parts, n, run.steps, streams ? "true" : "false", run.recorded ? "graph" : "not_recorded",
                       again ? "true" : "false", last.hash, known[run.steps]);
                fflush(stdout);
            } catch (const std::exception &error) {
                failed(v, n, parts, error.what());
            }
        }
    }
}

// GPUs of which each reaches the memory of the next and the one before.
static int reachable() {
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    int chain = std::min(devices, 1);
    for (; chain < devices; ++chain) {
        int up, down;
        CHECK(cudaDeviceCanAccessPeer(&up, chain - 1, chain));
        CHECK(cudaDeviceCanAccessPeer(&down, chain, chain - 1));
        if (!up || !down) break;
        CHECK(cudaSetDevice(chain - 1));
        CHECK(cudaDeviceEnablePeerAccess(chain, 0));
        CHECK(cudaSetDevice(chain));
        CHECK(cudaDeviceEnablePeerAccess(chain - 1, 0));
    }
    if (chain < devices) fprintf(stderr, "GPU %d has no peer access: %d of %d are used\n", chain, chain, devices);
    return chain;
}

int main(int argc, char **argv) {
    const double began = now();
    const bool checks = argc > 1 && !strcmp(argv[1], "check");
    const int n = argc > 1 ? atoi(argv[1]) : 192;
    const double limit = argc > 2 ? atof(argv[2]) : 1e9;
    const bool graphs = argc < 4 || !strcmp(argv[3], "graph");
    if (!checks && (n < 4 || n > 1024)) {
        fprintf(stderr, "usage: layouts check | layouts N [SECONDS [graph|streams]]\n");
        return 2;
    }
    int devices;
    try {
        devices = reachable();
    } catch (const std::exception &error) {
        fprintf(stderr, "%s\n", error.what());
        return 2;
    }
    if (devices == 0) {
        fprintf(stderr, "there is no GPU\n");
        return 2;
    }
    if (checks) {
        // One whose planes divide evenly among up to four, and one whose do not.
        for (const int size : {24, 21}) compare(size, std::min(devices, size / 2));
        return FAILED;
    }
    long long base = 0;
    std::map<long long, u64> known;
    for (int parts = 1; parts <= std::min(devices, n / 2); parts *= 2) {
        try {
            bandwidth(n, parts);
            if (parts == 2) between(n);
        } catch (const std::exception &error) {
            failed(VARIANTS[0], n, parts, error.what());
        }
        for (const Variant &v : variants(parts)) {
            if (now() - began > limit) {
                printf("{\"kind\": \"left_out\", \"layout\": \"%s\", \"halo\": \"%s\", \"order\": \"%s\", \"gpus\": %d, \"n\": %d}\n", v.name(), v.halo(), v.order(),
                       parts, n);
                fflush(stdout);
                continue;
            }
            try {
                measure(v, n, parts, graphs, base, known);
            } catch (const std::exception &error) {
                failed(v, n, parts, error.what());
            }
        }
    }
    return FAILED;
}
