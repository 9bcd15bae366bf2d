// Signals between GPUs of several processes: numbers in memory that both reach. What a GPU has written before it signals, the other reads after
// its wait.

extern "C" __global__ void signal(int *flag, int value) {
    __threadfence_system();
    *(volatile int *)flag = value;
}

// Waits until the flag has this value, and sets it to the next.
extern "C" __global__ void await_signal(int *flag, int value, int next) {
    while (*(volatile int *)flag != value) {
#if __CUDA_ARCH__ >= 700
        __nanosleep(100);
#endif
    }
    __threadfence_system();
    *(volatile int *)flag = next;
}
