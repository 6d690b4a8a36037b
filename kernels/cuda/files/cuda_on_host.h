// CUDA on a host without a GPU: executes a kernel's thread blocks warp by warp, so that a program can be built by g++
// alone and its results, barriers and masks be checked.
//
// Every thread of a block is a fibre. It runs until it meets others: at a vote, a shuffle or __syncwarp the lanes of
// its mask, at a barrier the threads of its block, at grid_barrier all blocks. A mask that names a lane which does not
// come, or leaves out the calling one, and a barrier that a thread misses end the program with a message. Threads run
// in ascending or descending order (HEDDLE_ORDER=descending) from one meeting to the next, so that a missing barrier
// shows in the results of one of the orders.
//
// This is no model of a GPU's memory: atomics are plain operations, since threads do not run at the same time.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#define __global__
#define __device__
#define __restrict__ __restrict
#define __launch_bounds__(threads, blocks)

namespace on_host {

constexpr int lanes_of_warp = 32;
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t stack_bytes = 256 << 10;
#else
constexpr size_t stack_bytes = 64 << 10;
#endif

// Fibre is a thread's stack and where on it the thread stands.
struct Fibre {
    char* stack = nullptr;
#if defined(__x86_64__)
    void* at = nullptr;
#else
    ucontext_t at;
#endif
    void* fake = nullptr; // of AddressSanitizer
};

struct Dim {
    unsigned x = 0, y = 0, z = 0;
};

// What a thread waits for.
enum class Wait { nothing, lanes, block, grid, ended };

struct Thread {
    Dim index, block;
    Fibre fibre;
    Wait wait = Wait::nothing;
    int kind = 0;               // of the meeting of lanes
    uint32_t mask = 0;          // its lanes
    uint32_t value = 0;         // what this lane brings
    uint32_t values[lanes_of_warp]; // what all of them have brought
    unsigned barrier = 0, threads = 0; // of the barrier of the block, and how many threads wait there
    uint32_t* scratchpad = nullptr;
};

inline Thread* current = nullptr;
inline Dim block_size, grid_size;
inline uint64_t edges = 0; // counted by COUNT_EDGE
inline uint64_t atomics = 0; // of lanes, in memory and in the scratchpad
inline bool descending = false;
inline const char* kernel_name = "";
inline std::function<void()> body;
inline Fibre scheduler;
inline std::vector<char*> free_stacks;

[[noreturn]] inline void fail(const Thread* t, const char* what, long detail = 0)
{
    fprintf(stderr, "%s: block %u, thread %u: ", kernel_name, t->block.x, t->index.x);
    fprintf(stderr, what, detail);
    fprintf(stderr, "\n");
    _Exit(3);
}

#if defined(__x86_64__)
extern "C" void heddle_switch_fibre(void** from, void* to);
// Saves the registers that a call preserves, and continues on the other stack.
asm(R"(
.text
.globl heddle_switch_fibre
.type heddle_switch_fibre, @function
heddle_switch_fibre:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size heddle_switch_fibre, .-heddle_switch_fibre
)");
#endif

// go continues another fibre until it comes back here. ends: this one will not be continued.
inline void go(Fibre& from, Fibre& to, bool ends = false)
{
#if defined(__SANITIZE_ADDRESS__)
    static const void* bottom;
    static size_t size;
    if (&to == &scheduler) {
        __sanitizer_start_switch_fiber(ends ? nullptr : &from.fake, bottom, size);
    } else {
        __sanitizer_start_switch_fiber(&from.fake, to.stack, stack_bytes);
    }
#else
    (void)ends;
#endif
#if defined(__x86_64__)
    heddle_switch_fibre(&from.at, to.at);
#else
    swapcontext(&from.at, &to.at);
#endif
#if defined(__SANITIZE_ADDRESS__)
    if (&from == &scheduler) {
        __sanitizer_finish_switch_fiber(from.fake, nullptr, nullptr);
    } else {
        __sanitizer_finish_switch_fiber(from.fake, &bottom, &size);
    }
#endif
}

inline void entry()
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
    body();
    current->wait = Wait::ended;
    go(current->fibre, scheduler, true);
}

inline void prepare(Fibre& f)
{
    if (free_stacks.empty()) {
        free_stacks.push_back(static_cast<char*>(malloc(stack_bytes)));
    }
    f.stack = free_stacks.back();
    free_stacks.pop_back();
#if defined(__x86_64__)
    auto top = reinterpret_cast<uintptr_t>(f.stack + stack_bytes) & ~uintptr_t(15);
    auto* slot = reinterpret_cast<void**>(top) - 2; // a call leaves the stack at 8 below a multiple of 16
    *slot = reinterpret_cast<void*>(&entry);
    f.at = slot - 6; // six registers
    memset(f.at, 0, 6 * sizeof(void*));
#else
    getcontext(&f.at);
    f.at.uc_stack.ss_sp = f.stack;
    f.at.uc_stack.ss_size = stack_bytes;
    f.at.uc_link = nullptr;
    makecontext(&f.at, &entry, 0);
#endif
}

// meet makes the current thread wait.
inline void meet(Wait wait)
{
    Thread* t = current;
    t->wait = wait;
    go(t->fibre, scheduler);
}

// resume lets a thread run until it waits.
inline void resume(Thread& t)
{
    if (t.fibre.stack == nullptr) {
        prepare(t.fibre);
    }
    t.wait = Wait::nothing;
    current = &t;
    go(scheduler, t.fibre);
    current = nullptr;
    if (t.wait == Wait::ended) {
        free_stacks.push_back(t.fibre.stack);
        t.fibre.stack = nullptr;
    }
}

// lanes makes the lanes of a mask meet, each with a value; afterwards all have all values.
inline Thread& lanes(int kind, uint32_t mask, uint32_t value)
{
    Thread* t = current;
    if ((mask >> (t->index.x % lanes_of_warp) & 1) == 0) {
        fail(t, "its lane is not in the mask 0x%lx", long(mask));
    }
    t->kind = kind;
    t->mask = mask;
    t->value = value;
    meet(Wait::lanes);
    return *t;
}

// Block is the threads of a block.
struct Block {
    std::vector<Thread> threads;
    std::vector<uint32_t> scratchpad;

    Block(unsigned number, size_t scratchpad_bytes)
        : threads(block_size.x), scratchpad(scratchpad_bytes / 4 + 1, 0xA5A5A5A5u) // as if of an earlier kernel
    {
        for (unsigned i = 0; i < block_size.x; i++) {
            threads[i].index.x = i;
            threads[i].block.x = number;
            threads[i].scratchpad = scratchpad.data();
        }
    }

    template <class F> void each(unsigned n, F f)
    {
        for (unsigned i = 0; i < n; i++) {
            f(descending ? n - 1 - i : i);
        }
    }

    // joined lets lanes go on that have all met, and reports whether there are any.
    bool joined(Thread* warp)
    {
        bool any = false;
        for (int l = 0; l < lanes_of_warp; l++) {
            Thread& first = warp[l];
            if (first.wait != Wait::lanes) {
                continue;
            }
            bool all = true;
            for (int o = 0; o < lanes_of_warp; o++) {
                Thread& other = warp[o];
                if ((first.mask >> o & 1) == 0) {
                    continue;
                }
                if (other.wait == Wait::lanes && (other.mask != first.mask || other.kind != first.kind)) {
                    fail(&other, "its mask or its call differs from that of lane %ld of its warp", l);
                }
                all = all && other.wait == Wait::lanes;
            }
            if (!all) {
                continue;
            }
            for (int o = 0; o < lanes_of_warp; o++) {
                if (first.mask >> o & 1) {
                    for (int s = 0; s < lanes_of_warp; s++) {
                        warp[o].values[s] = warp[s].value;
                    }
                }
            }
            const uint32_t mask = first.mask;
            for (int o = 0; o < lanes_of_warp; o++) {
                if (mask >> o & 1) {
                    warp[o].wait = Wait::nothing;
                }
            }
            any = true;
        }
        return any;
    }

    // run_warp runs a warp's lanes until all have ended or wait for other warps.
    void run_warp(Thread* warp)
    {
        do {
            each(lanes_of_warp, [&](unsigned l) {
                if (warp[l].wait == Wait::nothing) {
                    resume(warp[l]);
                }
            });
        } while (joined(warp));
        for (int l = 0; l < lanes_of_warp; l++) {
            if (warp[l].wait == Wait::lanes) {
                fail(&warp[l], "not all lanes of its mask 0x%lx come to the vote, shuffle or __syncwarp",
                    long(warp[l].mask));
            }
        }
    }

    // released lets groups of threads go on that have all reached a barrier, and reports whether there are any.
    bool released()
    {
        bool any = false;
        for (size_t i = 0; i < threads.size(); i++) {
            Thread& first = threads[i];
            if (first.wait != Wait::block) {
                continue;
            }
            const size_t from = i / first.threads * first.threads;
            bool all = true;
            for (size_t o = from; o < from + first.threads; o++) {
                all = all && threads[o].wait == Wait::block && threads[o].barrier == first.barrier;
            }
            for (size_t o = from; all && o < from + first.threads; o++) {
                threads[o].wait = Wait::nothing;
                any = true;
            }
        }
        return any;
    }

    // run runs the block until its threads have ended (true) or wait for other blocks.
    bool run()
    {
        do {
            each(unsigned(threads.size() / lanes_of_warp), [&](unsigned w) { run_warp(&threads[w * lanes_of_warp]); });
        } while (released());
        bool ended = true, grid = true;
        for (Thread& t : threads) {
            ended = ended && t.wait == Wait::ended;
            grid = grid && t.wait == Wait::grid;
        }
        for (Thread& t : threads) {
            if (!ended && !grid && t.wait != Wait::ended) {
                fail(&t, "waits at a barrier that other threads of its block do not reach");
            }
        }
        return ended;
    }
};

// run_grid executes a kernel, which function calls with its arguments.
inline void run_grid(const char* name, unsigned blocks, unsigned threads, size_t scratchpad_bytes,
    std::function<void()> function)
{
    const char* order = getenv("HEDDLE_ORDER");
    descending = order != nullptr && strcmp(order, "descending") == 0;
    kernel_name = name;
    body = std::move(function);
    grid_size.x = blocks;
    block_size.x = threads;
    std::vector<Block*> waiting;
    for (unsigned b = 0; b < blocks; b++) {
        auto* block = new Block(descending ? blocks - 1 - b : b, scratchpad_bytes);
        if (block->run()) {
            delete block;
        } else {
            waiting.push_back(block);
        }
    }
    while (!waiting.empty()) {
        if (waiting.size() != blocks) {
            fail(&waiting[0]->threads[0], "waits at a barrier of the grid that other blocks do not reach");
        }
        std::vector<Block*> next;
        for (Block* block : waiting) {
            for (Thread& t : block->threads) {
                t.wait = Wait::nothing;
            }
        }
        for (Block* block : waiting) {
            if (block->run()) {
                delete block;
            } else {
                next.push_back(block);
            }
        }
        if (!next.empty() && next.size() != blocks) {
            fail(&next[0]->threads[0], "waits at a barrier of the grid that other blocks do not reach");
        }
        waiting = std::move(next);
    }
}

template <class T> uint32_t to_word(T x)
{
    static_assert(sizeof(T) <= 4);
    uint32_t w = 0;
    memcpy(&w, &x, sizeof x);
    return w;
}

template <class T> T from_word(uint32_t w)
{
    T x;
    memcpy(&x, &w, sizeof x);
    return x;
}

// shuffle returns the value of lane source; of its own lane if there is no such lane.
template <class T> T shuffle(int kind, uint32_t mask, T x, int source)
{
    Thread& t = lanes(kind, mask, to_word(x));
    if (source < 0 || source >= lanes_of_warp) {
        source = int(t.index.x % lanes_of_warp);
    }
    if ((mask >> source & 1) == 0) {
        fail(&t, "takes the value of lane %ld, which is not in the mask", source);
    }
    return from_word<T>(t.values[source]);
}

inline uint32_t ballot(int kind, uint32_t mask, bool p)
{
    Thread& t = lanes(kind, mask, p);
    uint32_t set = 0;
    for (int l = 0; l < lanes_of_warp; l++) {
        set |= (mask >> l & 1 & t.values[l]) << l;
    }
    return set;
}

template <class T, class F> T update(T* at, F next)
{
    const T old = *at;
    *at = next(old);
    atomics++;
    return old;
}

} // namespace on_host

#define threadIdx (on_host::current->index)
#define blockIdx (on_host::current->block)
#define blockDim on_host::block_size
#define gridDim on_host::grid_size

inline uint32_t __ballot_sync(uint32_t mask, bool p) { return on_host::ballot(1, mask, p); }
inline bool __any_sync(uint32_t mask, bool p) { return on_host::ballot(2, mask, p) != 0; }
inline bool __all_sync(uint32_t mask, bool p) { return on_host::ballot(3, mask, p) == mask; }
template <class T> T __shfl_sync(uint32_t mask, T x, int lane) { return on_host::shuffle(4, mask, x, lane & 31); }
template <class T> T __shfl_up_sync(uint32_t mask, T x, unsigned n)
{
    return on_host::shuffle(5, mask, x, int(threadIdx.x % 32) - int(n));
}
template <class T> T __shfl_down_sync(uint32_t mask, T x, unsigned n)
{
    return on_host::shuffle(6, mask, x, int(threadIdx.x % 32) + int(n));
}
template <class T> T __shfl_xor_sync(uint32_t mask, T x, int n)
{
    return on_host::shuffle(7, mask, x, int(threadIdx.x % 32) ^ n);
}
inline void __syncwarp(uint32_t mask) { on_host::lanes(8, mask, 0); }
inline void barrier_of_warps(unsigned number, unsigned threads)
{
    on_host::current->barrier = number;
    on_host::current->threads = threads;
    on_host::meet(on_host::Wait::block);
}
inline void __syncthreads() { barrier_of_warps(0, blockDim.x); }
inline void grid_barrier() { on_host::meet(on_host::Wait::grid); }
inline void __threadfence() {}

template <class T, class V> T atomicAdd(T* at, V v)
{
    return on_host::update(at, [&](T old) { return T(old + T(v)); });
}
template <class T, class V> T atomicMin(T* at, V v)
{
    return on_host::update(at, [&](T old) { return old < T(v) ? old : T(v); });
}
template <class T, class V> T atomicMax(T* at, V v)
{
    return on_host::update(at, [&](T old) { return old > T(v) ? old : T(v); });
}
template <class T, class V> T atomicAnd(T* at, V v)
{
    return on_host::update(at, [&](T old) { return old & T(v); });
}
template <class T, class V> T atomicOr(T* at, V v)
{
    return on_host::update(at, [&](T old) { return old | T(v); });
}
template <class T, class V> T atomicXor(T* at, V v)
{
    return on_host::update(at, [&](T old) { return old ^ T(v); });
}
template <class T, class V> T atomicExch(T* at, V v)
{
    return on_host::update(at, [&](T) { return T(v); });
}
template <class T, class V> T atomicCAS(T* at, V expected, V v)
{
    return on_host::update(at, [&](T old) { return old == T(expected) ? T(v) : old; });
}

template <class T> T min(T a, T b) { return b < a ? b : a; }
template <class T> T max(T a, T b) { return a < b ? b : a; }
inline uint32_t __umulhi(uint32_t a, uint32_t b) { return uint32_t(uint64_t(a) * b >> 32); }
inline int32_t __mulhi(int32_t a, int32_t b) { return int32_t(int64_t(a) * b >> 32); }
inline uint32_t __float_as_uint(float x) { return on_host::to_word(x); }
inline int32_t __float_as_int(float x) { return int32_t(on_host::to_word(x)); }
inline float __uint_as_float(uint32_t x) { return on_host::from_word<float>(x); }
inline float __int_as_float(int32_t x) { return on_host::from_word<float>(uint32_t(x)); }
inline uint32_t __float2uint_rz(float x)
{
    return !(x > 0) ? 0 : x >= 4294967296.0f ? UINT32_MAX : uint32_t(x);
}
inline int32_t __float2int_rz(float x)
{
    return x != x ? 0 : x >= 2147483648.0f ? INT32_MAX : x < -2147483648.0f ? INT32_MIN : int32_t(x);
}

#define SCRATCHPAD(name) uint32_t* const name = on_host::current->scratchpad
#define COUNT_EDGE() (void)on_host::edges++
