// An emulated HIP runtime: two GPUs whose memory is that of the host and whose kernels run on it, complete when their launch returns.
//
// The threads of a thread block are fibers, which run one at a time. Thread blocks run one after another. A thread runs until it ends or
// waits: for its thread block at a barrier, or for the lanes of its wave at a vote, a shuffle or a barrier of the wave. Threads that
// wait go on once all have arrived; where they cannot all arrive at the same line, the launch fails. Odd turns go through the threads
// backwards, so that a value which is read before it must have been written is not always there. Memory is 0xff before it is written.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <setjmp.h>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#include "kernels.h"
#undef threadIdx
#undef blockIdx
#undef blockDim
#undef gridDim

namespace {

constexpr int GPUS = 2, LANES = 64, MOST_THREADS = 1024;
constexpr std::size_t SHARED_BYTES = 64 << 10, STACK_BYTES = 256 << 10, PAGE = 4096;
constexpr unsigned char UNWRITTEN = 0xff;

enum Error {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_CONFIGURATION = 9,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    LAUNCH_FAILURE = 719,
};

enum class Wait { None, Block, Wave, Ballot, Shuffle, End };

// A fiber runs one thread of each thread block, again and again. It begins in a context of its own; from then on it and the scheduler jump to
// and fro, which takes no call of the system.
struct Fiber {
    jmp_buf place;
    char *stack;
    bool begun;
    Wait wait;
    int line;
    // What it gives to others at a vote or a shuffle, and what it gets.
    unsigned long long given, got;
    int lane, width;
};

struct Module {
    void *object;
    // Where variables of thread blocks begin and end.
    char **shared;
};

struct Function {
    void (*packed)(void **);
    Module *module;
};

struct Event {
    std::chrono::steady_clock::time_point at;
};

// What runs at present. One launch runs at a time.
std::mutex alone;
Emulation state;
std::vector<Fiber> fibers;
jmp_buf scheduler;
int current, threads;
std::size_t dynamic_bytes;
const Function *function;
void **values;
std::string failure;
alignas(64) char dynamic_shared[SHARED_BYTES];

void wait_for(Wait wait, int line)
{
    Fiber &fiber = fibers[current];
    fiber.wait = wait, fiber.line = line;
    if (_setjmp(fiber.place) == 0) _longjmp(scheduler, 1);
}

void fiber_main()
{
    for (;;) {
        function->packed(values);
        wait_for(Wait::End, 0);
    }
}

void barrier(int line)
{
    wait_for(Wait::Block, line);
}

void wave_barrier(int line)
{
    wait_for(Wait::Wave, line);
}

unsigned long long ballot(int vote, int line)
{
    fibers[current].given = vote != 0;
    wait_for(Wait::Ballot, line);
    return fibers[current].got;
}

void shuffle(void *value, std::size_t bytes, int lane, int width, int line)
{
    Fiber &fiber = fibers[current];
    fiber.given = 0, fiber.lane = lane, fiber.width = width;
    std::memcpy(&fiber.given, value, bytes);
    wait_for(Wait::Shuffle, line);
    std::memcpy(value, &fiber.got, bytes);
}

// Runs a thread until it waits or ends.
void run(int thread)
{
    current = thread;
    state.thread = { unsigned(thread), 0, 0 };
    if (_setjmp(scheduler) != 0) return;
    Fiber &fiber = fibers[thread];
    if (fiber.begun) _longjmp(fiber.place, 1);
    fiber.begun = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fiber.stack;
    context.uc_stack.ss_size = STACK_BYTES;
    context.uc_link = nullptr;
    makecontext(&context, fiber_main, 0);
    setcontext(&context);
}

void fail(int from, int to)
{
    static const char *const NAMES[] = { "", "a barrier", "a barrier of the wave", "a vote", "a shuffle", "the end" };
    const Fiber &first = fibers[from];
    for (int thread = from; thread < to; ++thread) {
        const Fiber &fiber = fibers[thread];
        if (fiber.wait == first.wait && fiber.line == first.line) continue;
        const auto place = [](const Fiber &fiber) {
            return std::string(NAMES[int(fiber.wait)]) + (fiber.wait == Wait::End ? "" : " in line " + std::to_string(fiber.line));
        };
        failure = "threads do not work together: thread " + std::to_string(from) + " is at " + place(first) + ", thread "
            + std::to_string(thread) + " at " + place(fiber);
        return;
    }
}

bool at_one_place(int from, int to)
{
    for (int thread = from + 1; thread < to; ++thread) {
        if (fibers[thread].wait != fibers[from].wait || fibers[thread].line != fibers[from].line) return false;
    }
    return true;
}

// Lets the threads of a wave go on that have all arrived where they exchange something; false if they have not.
bool release_wave(int from, int to)
{
    const Wait wait = fibers[from].wait;
    if (wait == Wait::Block || wait == Wait::End || !at_one_place(from, to)) return false;
    unsigned long long votes = 0;
    for (int thread = from; thread < to; ++thread) votes |= fibers[thread].given << (thread - from);
    for (int thread = from; thread < to; ++thread) {
        Fiber &fiber = fibers[thread];
        if (wait == Wait::Ballot) fiber.got = votes;
        if (wait == Wait::Shuffle) {
            const int own = thread - from, source = own / fiber.width * fiber.width + (fiber.lane & (fiber.width - 1));
            fiber.got = from + source < to ? fibers[from + source].given : ~0ull;
        }
    }
    for (int thread = from; thread < to; ++thread) fibers[thread].wait = Wait::None;
    return true;
}

bool run_block()
{
    char *const *shared = function->module->shared;
    if (shared[0]) std::memset(shared[0], UNWRITTEN, shared[1] - shared[0]);
    std::memset(dynamic_shared, UNWRITTEN, dynamic_bytes);
    for (int thread = 0; thread < threads; ++thread) fibers[thread].wait = Wait::None, fibers[thread].line = 0;
    for (int turn = 0;; ++turn) {
        for (int number = 0; number < threads; ++number) {
            const int thread = turn % 2 ? threads - 1 - number : number;
            if (fibers[thread].wait == Wait::None) run(thread);
        }
        bool goes_on = false;
        for (int from = 0; from < threads; from += LANES) {
            goes_on |= release_wave(from, from + LANES < threads ? from + LANES : threads);
        }
        if (goes_on) continue;
        if (!at_one_place(0, threads)) {
            fail(0, threads);
            return false;
        }
        if (fibers[0].wait == Wait::End) return true;
        for (int thread = 0; thread < threads; ++thread) fibers[thread].wait = Wait::None;
    }
}

void make_fibers()
{
    if (!fibers.empty()) return;
    fibers.resize(MOST_THREADS);
    for (Fiber &fiber : fibers) {
        // A stack that is too small ends the program rather than another stack.
        char *memory = static_cast<char *>(
            mmap(nullptr, STACK_BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        if (memory == MAP_FAILED) std::abort();
        mprotect(memory, PAGE, PROT_NONE);
        fiber.stack = memory + PAGE;
    }
    state.barrier = barrier, state.wave_barrier = wave_barrier, state.ballot = ballot, state.shuffle = shuffle;
    state.dynamic_shared = dynamic_shared;
}

thread_local int device;

}  // namespace

extern "C" {

const char *hipGetErrorString(int error)
{
    switch (error) {
    case SUCCESS: return "hipSuccess";
    case OUT_OF_MEMORY: return "hipErrorOutOfMemory";
    case NOT_FOUND: return "hipErrorNotFound";
    case LAUNCH_FAILURE: return failure.c_str();
    default: return "an error of the emulated HIP runtime";
    }
}

int hipGetDeviceCount(int *count)
{
    *count = GPUS;
    return SUCCESS;
}

int hipSetDevice(int number)
{
    if (number < 0 || number >= GPUS) return INVALID_DEVICE;
    device = number;
    return SUCCESS;
}

int hipDeviceGetAttribute(int *value, int attribute, int)
{
    switch (attribute) {
    case 57: *value = 2048; return SUCCESS;
    case 63: *value = 4; return SUCCESS;
    case 74: *value = SHARED_BYTES; return SUCCESS;
    case 87: *value = LANES; return SUCCESS;
    default: return INVALID_VALUE;
    }
}

int hipDeviceGetName(char *name, int length, int)
{
    std::snprintf(name, length, "emulated GPU of AMD");
    return SUCCESS;
}

int hipDeviceGetUuid(char *uuid, int number)
{
    std::memset(uuid, number, 16);
    return SUCCESS;
}

int hipGetDevicePropertiesR0600(char *properties, int)
{
    std::memset(properties, UNWRITTEN, 1472);
    std::strcpy(properties + 1160, "gfx90a:sramecc+:xnack-");
    return SUCCESS;
}

int hipMemGetInfo(std::size_t *free, std::size_t *total)
{
    *total = *free = std::size_t(2) << 30;
    return SUCCESS;
}

int hipMalloc(void **memory, std::size_t bytes)
{
    *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!*memory) return OUT_OF_MEMORY;
    std::memset(*memory, UNWRITTEN, bytes);
    return SUCCESS;
}

int hipFree(void *memory)
{
    std::free(memory);
    return SUCCESS;
}

int hipMemcpyAsync(void *to, const void *from, std::size_t bytes, int, void *)
{
    std::memcpy(to, from, bytes);
    return SUCCESS;
}

int hipMemsetAsync(void *memory, int byte, std::size_t bytes, void *)
{
    std::memset(memory, byte, bytes);
    return SUCCESS;
}

int hipStreamCreateWithFlags(void **stream, unsigned)
{
    *stream = new int(device);
    return SUCCESS;
}

int hipStreamSynchronize(void *)
{
    return SUCCESS;
}

int hipStreamDestroy(void *stream)
{
    delete static_cast<int *>(stream);
    return SUCCESS;
}

int hipEventCreate(Event **event)
{
    *event = new Event();
    return SUCCESS;
}

int hipEventRecord(Event *event, void *)
{
    event->at = std::chrono::steady_clock::now();
    return SUCCESS;
}

int hipEventSynchronize(Event *)
{
    return SUCCESS;
}

int hipEventElapsedTime(float *milliseconds, Event *from, Event *to)
{
    *milliseconds = std::chrono::duration<float, std::milli>(to->at - from->at).count();
    return SUCCESS;
}

int hipEventDestroy(Event *event)
{
    delete event;
    return SUCCESS;
}

int hipModuleLoadData(Module **module, const char *code)
{
    std::uint64_t size;
    std::memcpy(&size, code, sizeof size);
    char path[] = "/tmp/lbmc-hip-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0) return INVALID_IMAGE;
    const bool written = write(file, code + sizeof size, size) == ssize_t(size);
    close(file);
    void *object = written ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    unlink(path);
    if (!object) return INVALID_IMAGE;
    *static_cast<Emulation **>(dlsym(object, "emulation")) = &state;
    *module = new Module { object, static_cast<char **>(dlsym(object, "hip_shared_ends")) };
    return SUCCESS;
}

int hipModuleGetFunction(Function **function, Module *module, const char *name)
{
    void *packed = dlsym(module->object, (std::string(name) + "_packed").c_str());
    if (!packed) return NOT_FOUND;
    *function = new Function { reinterpret_cast<void (*)(void **)>(packed), module };
    return SUCCESS;
}

int hipModuleUnload(Module *module)
{
    dlclose(module->object);
    delete module;
    return SUCCESS;
}

int hipModuleLaunchKernel(const Function *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
    unsigned block_z, unsigned shared, void *, void **parameters, void **)
{
    const std::lock_guard<std::mutex> lock(alone);
    if (grid_x == 0 || grid_y == 0 || grid_z != 1 || block_x == 0 || block_x > MOST_THREADS || block_y != 1 || block_z != 1
        || shared > SHARED_BYTES) {
        return INVALID_CONFIGURATION;
    }
    make_fibers();
    function = kernel, values = parameters, threads = int(block_x), dynamic_bytes = shared;
    state.block_size = { block_x, 1, 1 }, state.grid_size = { grid_x, grid_y, 1 };
    for (unsigned y = 0; y < grid_y; ++y) {
        for (unsigned x = 0; x < grid_x; ++x) {
            state.block = { x, y, 0 };
            if (run_block()) continue;
            // Threads wait for what does not come: the next launch begins anew.
            for (Fiber &fiber : fibers) fiber.begun = false;
            return LAUNCH_FAILURE;
        }
    }
    return SUCCESS;
}

}  // extern "C"
