// What GPUs do over time, as CSV: a library that the CUDA driver loads into any program, by the CUPTI Activity API.
//
//   gcc -shared -fPIC -O2 timeline.c -o timeline.so -I$CUDA/include -I$CUDA/extras/CUPTI/include -L$CUDA/extras/CUPTI/lib64 -lcupti
//   CUDA_INJECTION64_PATH=$PWD/timeline.so TIMELINE=run.csv LD_LIBRARY_PATH=$CUDA/extras/CUPTI/lib64 lbmc run CASE
//
// A row for each kernel, also for those of a graph, each copy and each fill: device, context, stream, begin and end in ns, name, thread
// blocks, bytes, graph, its node, and the call that launched it, which all nodes of one launch of a graph have in common. TIMELINE names the
// file, TIMELINE_RECORDS how many rows it may have (1 000 000): the last ones. benchmarks/timeline.py draws it. CUDA 12 and 13.

#include <cuda.h>
#include <cupti.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Records of a version of CUPTI; later ones are longer, and begin with the same fields.
#if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 Kernel;
#else
typedef CUpti_ActivityKernel9 Kernel;
#endif
#if CUPTI_API_VERSION >= 26
typedef CUpti_ActivityMemcpy6 Copy;
#else
typedef CUpti_ActivityMemcpy5 Copy;
#endif
typedef CUpti_ActivityMemcpyPtoP4 PeerCopy;
typedef CUpti_ActivityMemset4 Fill;

typedef struct {
    uint64_t start, end, node, bytes;
    int64_t blocks;
    uint32_t device, context, stream, graph, launch, name;
} Record;

enum { BUFFER = 1 << 20, NAMES = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Record *records;
static size_t room, limit = 1000000;
static uint64_t count, untimed, dropped, written = UINT64_MAX;
static char *names[NAMES];
static uint32_t named;
static const char *path;

static int failed(CUptiResult result, const char *call) {
    const char *reason = "";
    if (result == CUPTI_SUCCESS) return 0;
    cuptiGetResultString(result, &reason);
    fprintf(stderr, "timeline: %s: %s (%d)\n", call, reason, (int)result);
    return 1;
}

#define FAILED(call) failed(call, #call)

// The number of a name: text, since the driver may forget that of a module that is unloaded.
static uint32_t number_of(const char *name) {
    static uint32_t last;
    if (!name) name = "";
    if (last < named && !strcmp(names[last], name)) return last;
    for (uint32_t at = 0; at < named; at++) {
        if (!strcmp(names[at], name)) return last = at;
    }
    if (named == NAMES || !(names[named] = strdup(name))) return 0;
    return last = named++;
}

static void add(Record record, const char *name) {
    if (record.start == 0 || record.end < record.start) {
        untimed++;
        return;
    }
    if (count >= room && room < limit) {
        size_t more = room ? 2 * room : 65536;
        if (more > limit) more = limit;
        Record *grown = realloc(records, more * sizeof *records);
        if (grown) {
            records = grown;
            room = more;
        } else if (room) {
            // It is too late to grow once old records have been overwritten.
            limit = room;
        }
    }
    if (!room) return;
    record.name = number_of(name);
    records[count++ % room] = record;
}

static const char *copy_name(unsigned kind) {
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return "[copy from host]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return "[copy to host]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD: return "[copy inside]";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP: return "[copy to peer]";
    default: return "[copy]";
    }
}

// What all kinds of records have in common.
#define COMMON(of) \
    .start = (of)->start, .end = (of)->end, .device = (of)->deviceId, .context = (of)->contextId, .stream = (of)->streamId, \
    .graph = (of)->graphId, .node = (of)->graphNodeId, .launch = (of)->correlationId

static void take(const CUpti_Activity *activity) {
    switch (activity->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
        const Kernel *of = (const Kernel *)activity;
        add((Record){COMMON(of), .blocks = (int64_t)of->gridX * of->gridY * of->gridZ}, of->name);
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
        const Copy *of = (const Copy *)activity;
        add((Record){COMMON(of), .bytes = of->bytes}, copy_name(of->copyKind));
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
        const PeerCopy *of = (const PeerCopy *)activity;
        add((Record){COMMON(of), .bytes = of->bytes}, copy_name(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP));
        break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
        const Fill *of = (const Fill *)activity;
        add((Record){COMMON(of), .bytes = of->bytes}, "[fill]");
        break;
    }
    default: break;
    }
}

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *most) {
    *buffer = malloc(BUFFER);
    *size = *buffer ? BUFFER : 0;
    *most = 0;
}

static void CUPTIAPI completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    CUpti_Activity *activity = NULL;
    size_t lost = 0;
    (void)size;
    pthread_mutex_lock(&lock);
    while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &activity) == CUPTI_SUCCESS) take(activity);
    if (cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS) dropped += lost;
    pthread_mutex_unlock(&lock);
    free(buffer);
}

// All that is known so far, in the place of what has been written before.
static void write_all(void) {
    pthread_mutex_lock(&lock);
    FILE *file = path && written != count ? fopen(path, "w") : NULL;
    if (path && written != count && !file) perror("timeline: write TIMELINE");
    if (file) {
        const uint64_t first = count > room ? count - room : 0;
        fprintf(file, "# untimed %llu, dropped %llu, left out %llu\n", (unsigned long long)untimed, (unsigned long long)dropped,
                (unsigned long long)first);
        fprintf(file, "device,context,stream,start,end,name,blocks,bytes,graph,node,launch\n");
        for (uint64_t at = first; at < count; at++) {
            const Record *of = &records[at % room];
            fprintf(file, "%u,%u,%u,%llu,%llu,%s,%lld,%llu,%u,%llu,%u\n", of->device, of->context, of->stream,
                    (unsigned long long)of->start, (unsigned long long)of->end, named ? names[of->name] : "", (long long)of->blocks,
                    (unsigned long long)of->bytes, of->graph, (unsigned long long)of->node, of->launch);
        }
        if (fclose(file)) perror("timeline: write TIMELINE");
        written = count;
    }
    pthread_mutex_unlock(&lock);
}

static void flush(void) {
    // Should the driver be gone already, what has come is written first.
    write_all();
    FAILED(cuptiActivityFlushAll(1));
    write_all();
}

// Contexts take what has not been flushed with them.
static void CUPTIAPI called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data) {
    (void)user, (void)id;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && ((const CUpti_CallbackData *)data)->callbackSite == CUPTI_API_ENTER) flush();
}

// The driver calls this when it is initialised.
__attribute__((visibility("default"))) int InitializeInjection(void) {
    static int begun;
    CUpti_SubscriberHandle subscriber;
    const char *most = getenv("TIMELINE_RECORDS");
    if (begun++) return 1;
    path = getenv("TIMELINE");
    if (!path) path = "timeline.csv";
    if (most && strtoull(most, NULL, 10) > 0) limit = strtoull(most, NULL, 10);
    atexit(flush);
    if (FAILED(cuptiActivityRegisterCallbacks(requested, completed))) return 1;
    FAILED(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    FAILED(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
    FAILED(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2));
    FAILED(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
    if (!FAILED(cuptiSubscribe(&subscriber, called, NULL))) {
        const CUpti_CallbackDomain driver = CUPTI_CB_DOMAIN_DRIVER_API;
        FAILED(cuptiEnableCallback(1, subscriber, driver, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease));
        FAILED(cuptiEnableCallback(1, subscriber, driver, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2));
    }
    return 1;
}
