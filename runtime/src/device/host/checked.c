// Appended to a kernel source that is compiled with checks: the functions that the compiler calls before each load and
// store, and the function that calls a kernel.
//
// The compiler flags (`checked.rs`) select the address sanitizer for operating system kernels: the compiler calls the
// functions below and links no library of its own. They know the arrays of the current launch. The first invalid access
// ends the kernel.

#include <setjmp.h>
#include <stdint.h>
#include <string.h>

// An array of a launch, or other memory that the launch may access; declared identically in `checked.rs`.
typedef struct {
    const char *begin;
    size_t bytes;
    int32_t argument;  // index among the arguments; -1: not an array
    int32_t written;   // whether the kernel may write there
    int32_t size;      // bytes of a real whose set bits mark it as never written; 0: other types
} LbmcArray;

// A detected error; declared identically in `checked.rs`.
enum { LBMC_FINE, LBMC_OUTSIDE, LBMC_READ_ONLY, LBMC_UNWRITTEN, LBMC_INDEX };
typedef struct {
    int32_t kind;
    int32_t store;     // whether the access was a store
    int32_t argument;  // index of the array, or of the nearest one if outside all; -1: no array
    int32_t line;      // source line of an index
    int64_t at;        // byte offset in the array, or the index
    char type[64];     // type of the indexed array
} LbmcFault;

static __thread const LbmcArray *lbmc_arrays;
static __thread int32_t lbmc_count;
static __thread LbmcFault *lbmc_fault;
static __thread jmp_buf lbmc_out;

#define LBMC_PLAIN __attribute__((no_sanitize("kernel-address", "undefined")))
#define LBMC_HOOK LBMC_PLAIN __attribute__((visibility("hidden")))

// Calls a kernel. Afterwards `fault->kind` is `LBMC_FINE` if it ran to its end.
LBMC_PLAIN void lbmc_checked(
    void (*kernel)(void *const *), void *const *args, const LbmcArray *arrays, const int32_t count, LbmcFault *fault)
{
    lbmc_arrays = arrays;
    lbmc_count = count;
    lbmc_fault = fault;
    fault->kind = LBMC_FINE;
    if (setjmp(lbmc_out) == 0) kernel(args);
    lbmc_arrays = 0;
}

// Memory of the shared object itself: constant tables.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

LBMC_PLAIN static void lbmc_wrong(const int kind, const int store, const LbmcArray *array, const char *address)
{
    lbmc_fault->kind = kind;
    lbmc_fault->store = store;
    lbmc_fault->argument = array ? array->argument : -1;
    lbmc_fault->at = array ? address - array->begin : 0;
    longjmp(lbmc_out, 1);
}

// `copied`: the access is part of a copy, which may read values that were never written.
LBMC_PLAIN static void lbmc_access(const char *address, const size_t bytes, const int store, const int copied)
{
    if (!lbmc_arrays) return;
    const LbmcArray *next = 0;
    size_t nearest = SIZE_MAX;
    for (int32_t i = 0; i < lbmc_count; ++i) {
        const LbmcArray *const array = lbmc_arrays + i;
        if (address >= array->begin && address + bytes <= array->begin + array->bytes) {
            if (store && !array->written) lbmc_wrong(LBMC_READ_ONLY, store, array, address);
            if (store || copied || array->size == 0 || bytes != (size_t)array->size) return;
            for (size_t byte = 0; byte < bytes; ++byte) {
                if (address[byte] != (char)0xff) return;
            }
            lbmc_wrong(LBMC_UNWRITTEN, store, array, address);
        }
        const size_t away = address < array->begin ? (size_t)(array->begin - address) : (size_t)(address - array->begin) - array->bytes;
        if (array->argument >= 0 && (address < array->begin || address + bytes > array->begin + array->bytes) && away < nearest) {
            nearest = away;
            next = array;
        }
    }
    const char *const here = __builtin_frame_address(0);
    const int on_stack = address >= here && address < here + ((size_t)8 << 20);
    const int of_source = address >= __ehdr_start && address < _end;
    if (!on_stack && !of_source) lbmc_wrong(LBMC_OUTSIDE, store, next, address);
}

#define LBMC_ACCESS(size) \
    LBMC_HOOK void __asan_load##size##_noabort(const char *address) { lbmc_access(address, size, 0, 0); } \
    LBMC_HOOK void __asan_store##size##_noabort(const char *address) { lbmc_access(address, size, 1, 0); }
LBMC_ACCESS(1)
LBMC_ACCESS(2)
LBMC_ACCESS(4)
LBMC_ACCESS(8)
LBMC_ACCESS(16)
LBMC_HOOK void __asan_loadN_noabort(const char *address, const size_t bytes) { lbmc_access(address, bytes, 0, 1); }
LBMC_HOOK void __asan_storeN_noabort(const char *address, const size_t bytes) { lbmc_access(address, bytes, 1, 1); }
LBMC_HOOK void __asan_handle_no_return(void) {}

// The source calls this function instead of `memcpy`.
#undef memcpy
LBMC_HOOK void *lbmc_copy(void *to, const void *from, const size_t bytes)
{
    lbmc_access(from, bytes, 0, 1);
    lbmc_access(to, bytes, 1, 1);
    return memmove(to, from, bytes);
}

// Descriptor of an index into an array of known size, in the layout of the compiler's sanitizer library.
typedef struct {
    const char *file;
    uint32_t line, column;
    const struct { uint16_t kind, info; char name[]; } *array, *index;
} LbmcIndexed;

LBMC_HOOK void __ubsan_handle_out_of_bounds(const LbmcIndexed *of, const uintptr_t index)
{
    if (!lbmc_arrays) return;
    lbmc_fault->kind = LBMC_INDEX;
    lbmc_fault->store = 0;
    lbmc_fault->argument = -1;
    lbmc_fault->line = (int32_t)of->line;
    lbmc_fault->at = (int64_t)index;
    memset(lbmc_fault->type, 0, sizeof lbmc_fault->type);
    strncpy(lbmc_fault->type, of->array->name, sizeof lbmc_fault->type - 1);
    longjmp(lbmc_out, 1);
}
