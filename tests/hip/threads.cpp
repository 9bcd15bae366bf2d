// What the emulated runtime says of kernels whose threads work together, and of those whose threads do not.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

extern "C" {
int hipModuleLoadData(void **module, const char *code);
int hipModuleGetFunction(void **function, void *module, const char *name);
int hipModuleLaunchKernel(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
const char *hipGetErrorString(int error);
int hiprtcCreateProgram(void **program, const char *text, const char *name, int, const char **, const char **);
int hiprtcCompileProgram(void *program, int count, const char **options);
int hiprtcGetProgramLog(void *program, char *log);
int hiprtcGetCodeSize(void *program, std::size_t *size);
int hiprtcGetCode(void *program, char *code);
}

namespace {

const char *const TEXT = R"(
extern "C" __global__ void __launch_bounds__(128) works(double *sums, int count)
{
    __shared__ double values[128];
    extern __shared__ int more[];
    const int thread = threadIdx.x;
    more[thread] = thread;
    values[thread] = thread;
    __syncthreads();
    const unsigned long long odd = __ballot(more[127 - thread] % 2);
    const double next = __shfl(values[thread], thread % 8 + 1, 8);
    if (thread < count) sums[thread] = values[127 - thread] + 1000 * (odd == 0x5555555555555555ull) + 10000 * next;
}
extern "C" __global__ void unwritten(double *sums, int)
{
    __shared__ double values[64];
    sums[threadIdx.x] = values[threadIdx.x];
}
extern "C" __global__ void early(double *sums, int)
{
    __shared__ double values[64];
    values[threadIdx.x] = 1;
    sums[threadIdx.x] = values[63 - threadIdx.x];
}
extern "C" __global__ void half_votes(double *, int count)
{
    if (int(threadIdx.x) < count) __ballot(1);
}
extern "C" __global__ void half_waits(double *, int count)
{
    if (int(threadIdx.x) < count) __syncthreads();
}
)";

void expect(bool holds, const char *what)
{
    if (holds) return;
    std::printf("not so: %s\n", what);
    std::exit(1);
}

}  // namespace

int main()
{
    void *program, *module;
    const char *options[] = { "-ffp-contract=off", "--offload-arch=gfx90a:sramecc+:xnack-" };
    hiprtcCreateProgram(&program, TEXT, "threads.hip", 0, nullptr, nullptr);
    if (hiprtcCompileProgram(program, 2, options) != 0) {
        static char log[1 << 16];
        hiprtcGetProgramLog(program, log);
        std::printf("%s\n", log);
        return 1;
    }
    std::size_t size;
    hiprtcGetCodeSize(program, &size);
    char *code = new char[size];
    hiprtcGetCode(program, code);
    expect(hipModuleLoadData(&module, code) == 0, "the code can be loaded");

    double sums[128];
    const auto launch = [&](const char *name, unsigned threads, int count) {
        void *function;
        expect(hipModuleGetFunction(&function, module, name) == 0, name);
        double *to = sums;
        void *values[] = { &to, &count };
        return hipModuleLaunchKernel(function, 1, 1, 1, threads, 1, 1, 128 * sizeof(int), nullptr, values, nullptr);
    };
    expect(launch("works", 128, 128) == 0, "threads work together");
    for (int thread = 0; thread < 128; ++thread) {
        const double next = thread / 8 * 8 + (thread % 8 + 1) % 8;
        expect(sums[thread] == 127 - thread + 1000 + 10000 * next, "votes, shuffles and shared values");
    }
    expect(launch("unwritten", 64, 0) == 0 && std::isnan(sums[0]) && std::isnan(sums[63]), "unwritten memory is no number");
    expect(launch("early", 64, 0) == 0 && std::isnan(sums[0]), "what is read too early is no number");
    for (const char *name : { "half_votes", "half_waits" }) {
        const int error = launch(name, 64, 32);
        expect(error != 0 && std::strstr(hipGetErrorString(error), "threads do not work together: thread 0"), name);
        expect(launch(name, 64, 64) == 0, "a launch after one that failed");
    }
    std::printf("as expected\n");
}
