// HIP for a kernel that is compiled for the host: read before its text, by the emulated hiprtc.
//
// The threads of a thread block are fibers of one thread of the host. Each runs until it waits for others, in `Emulation`, which the
// emulated runtime provides (amdhip64.cpp).

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

struct Dim3 {
    unsigned x, y, z;
};

struct uint2 {
    unsigned x, y;
};

struct uint4 {
    unsigned x, y, z, w;
};

// What a kernel asks the runtime for. `line` is that of the text which asks.
struct Emulation {
    Dim3 thread, block, block_size, grid_size;
    void *dynamic_shared;
    void (*barrier)(int line);
    void (*wave_barrier)(int line);
    unsigned long long (*ballot)(int vote, int line);
    // Gives `value`, of so many bytes, and takes that of another lane of the same `width` lanes.
    void (*shuffle)(void *value, std::size_t bytes, int lane, int width, int line);
};

extern "C" {
// Set by the runtime when the code is loaded.
extern Emulation *emulation;
// Where variables begin and end that the threads of a thread block share; null where there are none.
extern __attribute__((weak, visibility("hidden"))) char __start_hip_shared[], __stop_hip_shared[];
}

#define __HIPCC_RTC__ 1
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
// Thread blocks run one after another, so that one of each is enough. The section is overwritten before each of them.
#define __shared__ static __attribute__((section("hip_shared")))

#define threadIdx (emulation->thread)
#define blockIdx (emulation->block)
#define blockDim (emulation->block_size)
#define gridDim (emulation->grid_size)

#define __syncthreads() emulation->barrier(__LINE__)
#define __ballot(vote) emulation->ballot(vote, __LINE__)
#define __shfl(value, lane, width) shuffled(value, lane, width, __LINE__)
#define __builtin_amdgcn_fence(...) ((void)0)
#define __builtin_amdgcn_wave_barrier() emulation->wave_barrier(__LINE__)

template <typename Value> Value shuffled(Value value, int lane, int width, int line)
{
    emulation->shuffle(&value, sizeof value, lane, width, line);
    return value;
}

inline int __ffs(int bits)
{
    return __builtin_ffs(bits);
}

inline int __popcll(unsigned long long bits)
{
    return __builtin_popcountll(bits);
}

// One thread runs at a time.
template <typename Value, typename Operand> Value atomicAdd(Value *place, Operand value)
{
    return std::exchange(*place, *place + value);
}

template <typename Value, typename Operand> Value atomicOr(Value *place, Operand value)
{
    return std::exchange(*place, *place | value);
}

template <typename Value, typename Operand> Value atomicMin(Value *place, Operand value)
{
    return std::exchange(*place, *place < value ? *place : value);
}

template <typename Value, typename Operand> Value atomicExch(Value *place, Operand value)
{
    return std::exchange(*place, value);
}

inline float __int_as_float(int bits)
{
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline long long __double_as_longlong(double value)
{
    long long bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Calls a kernel with the values that pointers lead to.
template <typename... Parameters, std::size_t... at>
void call_packed(void (*kernel)(Parameters...), void **values, std::index_sequence<at...>)
{
    kernel(*static_cast<std::remove_reference_t<Parameters> *>(values[at])...);
}

template <typename... Parameters> void call_packed(void (*kernel)(Parameters...), void **values)
{
    call_packed(kernel, values, std::index_sequence_for<Parameters...>());
}

// What the runtime looks for in the code.
#define MODULE \
    extern "C" { \
    Emulation *emulation; \
    char *hip_shared_ends[2] = { __start_hip_shared, __stop_hip_shared }; \
    }

// An entry for the runtime beside a kernel.
#define PACKED(kernel) \
    extern "C" void kernel##_packed(void **values) \
    { \
        call_packed(kernel, values); \
    }
