// Copies listed values of an array to the same places of another array, which may lie on another GPU; or packs them
// into a contiguous array, or unpacks them from one. One warp moves the values of one place. Value k of a place (begins
// <= k < ends) lies at place + offsets[k], and in the packed array at firsts + k - begins. Values have 2, 4, 8 or 16
// bytes.

template <typename Value>
__device__ void move(const long long *places, const long long *firsts, const int *begins, const int *ends, const int *offsets,
                     int count, int packs, int unpacks, const Value *__restrict__ src, Value *__restrict__ dst) {
    const int at = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (at >= count) return;
    const long long place = places[at], first = firsts[at] - begins[at];
    for (int k = begins[at] + threadIdx.x % 32; k < ends[at]; k += 32) {
        const long long there = place + offsets[k], packed = first + k;
        dst[packs ? packed : there] = src[unpacks ? packed : there];
    }
}

#define MOVE(bytes, Value) \
    extern "C" __global__ void __launch_bounds__(256) move_##bytes( \
        const long long *places, const long long *firsts, const int *begins, const int *ends, const int *offsets, int count, \
        int packs, int unpacks, const Value *__restrict__ src, Value *__restrict__ dst) { \
        move(places, firsts, begins, ends, offsets, count, packs, unpacks, src, dst); \
    }

MOVE(2, unsigned short)
MOVE(4, unsigned int)
MOVE(8, unsigned long long)
MOVE(16, uint4)
