{# What HIP has words of its own for. -#}
{% component prelude(resident) -%}
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif

{% endcomponent prelude %}

{% component quotient() -%}
// above / below.
[[maybe_unused]] static __device__ __forceinline__ double quotient(const double above, const double below)
{
    return above / below;
}
{%- endcomponent quotient %}

{% component again(@real) -%}
// The value. What is computed from it is computed again, and need not lie in a register since it was first computed: the compiler
// knows nothing of a value that went through here.
static __device__ __forceinline__ {{ real }} again({{ real }} value)
{
    asm volatile("" : "+v"(value));
    return value;
}
{%- endcomponent again %}

{# The table of neighbours and the number of the cell, of which the compiler knows nothing. -#}
{% component place_again() -%}
const int *slots = near;
        int place = cell;
        asm volatile("" : "+v"(slots), "+v"(place));
{%- endcomponent place_again %}

{% component halves(@inline, @real, @half_scale, @moments) -%}
typedef unsigned short uint16_t;
{{ inline }} {{ real }} widened(const uint16_t value)
{
    return ({{ real }})__builtin_bit_cast(_Float16, value) * (1 / {{ half_scale }});
}
{%- if not moments %}

{{ inline }} uint16_t narrowed(const {{ real }} value)
{
    return __builtin_bit_cast(uint16_t, (_Float16)(value * {{ half_scale }}));
}
{%- endif %}
{%- endcomponent halves %}

{% component bits() -%}
static __device__ __forceinline__ unsigned bits_of(const float value)
{
    return __builtin_bit_cast(unsigned, value);
}

static __device__ __forceinline__ float float_of(const unsigned bits)
{
    return __builtin_bit_cast(float, bits);
}
{%- endcomponent bits %}

{% component narrowed_cut() -%}
// Two numbers that have been cut in 16 bits each, without digits beyond these, the first in the lower half.
static __device__ __forceinline__ unsigned narrowed(const unsigned first, const unsigned second)
{
    const _Float16 low = (_Float16)float_of(first & ~0x1fffu), high = (_Float16)float_of(second & ~0x1fffu);
    return __builtin_bit_cast(uint16_t, low) | (unsigned)__builtin_bit_cast(uint16_t, high) << 16;
}
{%- endcomponent narrowed_cut %}

{# How the threads of a thread block work on something together. -#}
{% component together(@lanes) -%}
#define BARRIER __syncthreads();
// Threads of a wave run in step; what each has written is seen by the others behind this.
#define LANES_BARRIER __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront"), __builtin_amdgcn_wave_barrier();
#define SET_BITS(place, bits) atomicOr(&(place), bits)
#define ADD(place, value) atomicAdd(&(place), value)
#define SHUFFLE(value, lane, width) __shfl(value, lane, width)

static constexpr int LANES = {{ lanes }};  // threads that run in step
typedef unsigned long long Votes;  // a bit for each of them

static __device__ __forceinline__ Votes votes_for(const int vote)
{
    return __ballot(vote);
}

static __device__ __forceinline__ int votes_before(const Votes votes, const int lane)
{
    return __popcll(votes & ((1ull << lane) - 1));
}

static __device__ __forceinline__ int number_of(const Votes votes)
{
    return __popcll(votes);
}

// Where in a grid of cells and directions, cells first, the work of a thread block is: from direction to direction.
static __device__ __forceinline__ int place_of_block()
{
    return blockIdx.y * gridDim.x + blockIdx.x;
}
{%- endcomponent together %}
