// Behind a kernel source that is compiled with checks: what the compiler calls before each load and store, and how kernels are called.
//
// The compiler's flags (`checked.rs`) are those of the sanitizer of addresses as kernels of operating systems use it: it calls the
// functions below and has no library of its own. They know the arrays of the launch at hand. The first access that is none of a kernel's
// business ends the kernel.

#include <setjmp.h>
#include <stdint.h>
#include <string.h>

// An array of a launch, or other memory that the caller lends; `checked.rs` declares the same.
typedef struct {
    const char *begin;
    size_t bytes;
    int32_t argument;  // its place among the arguments; -1 of memory that is no array
    int32_t written;   // whether the kernel may write there
    int32_t size;      // bytes of a real of which all bits set say that nothing was written there; 0: of other types
} LbmcArray;

// What went wrong; `checked.rs` declares the same.
enum { LBMC_FINE, LBMC_OUTSIDE, LBMC_READ_ONLY, LBMC_UNWRITTEN, LBMC_INDEX };
typedef struct {
    int32_t kind;
    int32_t store;     // whether it was a store
    int32_t argument;  // of the array, the next one where it is in none; -1: no array
    int32_t line;      // of an index
    int64_t at;        // byte in the array, or the index
    char type[64];     // of what was indexed
} LbmcFault;

static __thread const LbmcArray *lbmc_arrays;
static __thread int32_t lbmc_count;
static __thread LbmcFault *lbmc_fault;
static __thread jmp_buf lbmc_out;

#define LBMC_PLAIN __attribute__((no_sanitize("kernel-address", "undefined")))
#define LBMC_HOOK LBMC_PLAIN __attribute__((visibility("hidden")))

// Calls a kernel; says by `fault->kind` whether it came to its end.
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

// Memory of the source itself: tables.
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

// `copied`: what nothing has written may be read, for a copy of it.
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

// The source calls this one in the place of `memcpy`.
#undef memcpy
LBMC_HOOK void *lbmc_copy(void *to, const void *from, const size_t bytes)
{
    lbmc_access(from, bytes, 0, 1);
    lbmc_access(to, bytes, 1, 1);
    return memmove(to, from, bytes);
}

// An index of an array of a size that the compiler knows; the layout of what it hands over is that of its own library.
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
