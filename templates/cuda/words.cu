{# What CUDA has words of its own for. -#}
{% component prelude(resident) -%}
{% if resident -%}
// Thread blocks that a processor shall hold at the same time: on sm_75, no more than its 1024 threads.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
#define RESIDENT(blocks) ((blocks) < 4 ? (blocks) : 4)
#else
#define RESIDENT(blocks) (blocks)
#endif

{% endif -%}
{%- endcomponent prelude %}

{% component quotient() -%}
// above / below, in a few operations: within two units of the last place where no value on the way is beyond the range of numbers.
[[maybe_unused]] static __device__ __forceinline__ double quotient(const double above, const double below)
{
    double near;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(near) : "d"(below));
    near = fma(fma(-below, near, 1.0), near, near);
    near = fma(fma(-below, near, 1.0), near, near);
    return above * near;
}
{%- endcomponent quotient %}

{% component again(@real) -%}
// The value. What is computed from it is computed again, and need not lie in a register since it was first computed: the compiler
// knows nothing of a value that went through here.
static __device__ __forceinline__ {{ real }} again({{ real }} value)
{
    asm volatile("" : "+{% if real == "float" %}f{% else %}d{% endif %}"(value));
    return value;
}
{%- endcomponent again %}

{# The table of neighbours and the number of the cell, as what the compiler knows nothing of: the assembler sees through an empty statement, so
   0 is added, the sign of a count. -#}
{% component place_again() -%}
const int *slots = near;
        int place = cell;
        int none = count;
        asm volatile("" : "+r"(none));
        none >>= 31;
        slots += none, place += none;
{%- endcomponent place_again %}

{% component halves(@inline, @real, @half_scale, @moments) -%}
typedef unsigned short uint16_t;
{{ inline }} {{ real }} widened(const uint16_t value)
{
    {{ real }} wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value));
    return wide * (1 / {{ half_scale }});
}
{%- if not moments %}

{{ inline }} uint16_t narrowed(const {{ real }} value)
{
    uint16_t narrow;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow) : "f"(value * {{ half_scale }}));
    return narrow;
}
{%- endif %}
{%- endcomponent halves %}

{% component bits() -%}
static __device__ __forceinline__ unsigned bits_of(const float value)
{
    return __float_as_uint(value);
}

static __device__ __forceinline__ float float_of(const unsigned bits)
{
    return __uint_as_float(bits);
}
{%- endcomponent bits %}

{% component narrowed_cut() -%}
// Two numbers that have been cut in 16 bits each, without digits beyond these, the first in the lower half.
static __device__ __forceinline__ unsigned narrowed(const unsigned first, const unsigned second)
{
    const float low = float_of(first & ~0x1fffu), high = float_of(second & ~0x1fffu);
    unsigned both;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    asm("{ .reg .b16 a, b; cvt.rn.f16.f32 a, %1; cvt.rn.f16.f32 b, %2; mov.b32 %0, {a, b}; }"
        : "=r"(both) : "f"(low), "f"(high));
#else
    asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(both) : "f"(low), "f"(high));
#endif
    return both;
}
{%- endcomponent narrowed_cut %}

{# How the threads of a thread block work on something together. -#}
{% component together(@lanes) -%}
#define BARRIER __syncthreads();
#define LANES_BARRIER __syncwarp();
#define SET_BITS(place, bits) atomicOr(&(place), bits)
#define ADD(place, value) atomicAdd(&(place), value)
#define SHUFFLE(value, lane, width) __shfl_sync(~0u, value, lane, width)

static constexpr int LANES = {{ lanes }};  // threads that run in step
typedef unsigned Votes;  // a bit for each of them

static __device__ __forceinline__ Votes votes_for(const int vote)
{
    return __ballot_sync(~0u, vote);
}

static __device__ __forceinline__ int votes_before(const Votes votes, const int lane)
{
    return __popc(votes & ((1u << lane) - 1));
}

static __device__ __forceinline__ int number_of(const Votes votes)
{
    return __popc(votes);
}

// Where in a grid of cells and directions, cells first, the work of a thread block is. Each direction has code of its own. Of a grid
// that runs all at once, thread blocks that are on the same processor, as those are dealt out in turn, get one direction or two, so
// that the processor need not fetch the code of all from memory; a larger grid goes from direction to direction.
static __device__ __forceinline__ int place_of_block()
{
    unsigned processors;
    asm("mov.u32 %0, %%nsmid;" : "=r"(processors));
    const unsigned blocks = gridDim.x * gridDim.y, block = blockIdx.y * gridDim.x + blockIdx.x;
    if (blocks > 12 * processors) return block;
    const unsigned processor = block % processors, whole = blocks / processors, more = blocks % processors;
    return processor * whole + (processor < more ? processor : more) + block / processors;
}
{%- endcomponent together %}
