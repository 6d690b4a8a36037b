// What every exported program shares: a graph's file, arrays on the device, launches, measurement and the report. It
// builds with nvcc for a GPU, and with g++ alone for the host (cuda_on_host.h).
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#if defined(__CUDACC__)
#include <cooperative_groups.h>
#if defined(HEDDLE_CUPTI)
#include <cupti.h>
#endif
#define SCRATCHPAD(name) extern __shared__ uint32_t name[]
#define COUNT_EDGE() (void)0
// Waits for some neighbouring warps of the thread block, which share a numbered barrier.
__device__ inline void barrier_of_warps(unsigned number, unsigned threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
// Waits for all threads of the grid, which must have been launched cooperatively.
__device__ inline void grid_barrier() { cooperative_groups::this_grid().sync(); }
#else
#include "cuda_on_host.h"
#endif

// The blocks of a multiprocessor for which nvcc has to leave registers: 2 of 1024 threads fill an H100's.
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1
#endif

// The lanes of a warp that has no idle ones.
constexpr uint32_t ALL_LANES = 0xffffffffu;

// Division as RISC-V has it: by 0 it gives the greatest number, and the dividend as the remainder.
template <class T> __device__ inline T quotient(T x, T y) { return y == 0 ? T(-1) : T(x / y); }
template <class T> __device__ inline T modulo(T x, T y) { return y == 0 ? x : T(x % y); }
// The bytes of an array of words, and an address some bytes further on.
__device__ inline uint8_t* bytes(uint32_t* words) { return reinterpret_cast<uint8_t*>(words); }
__device__ inline const uint8_t* bytes(const uint32_t* words) { return reinterpret_cast<const uint8_t*>(words); }
template <class T> __device__ inline T* advance(T* at, uint32_t by)
{
    return reinterpret_cast<T*>(reinterpret_cast<char*>(at) + by);
}

namespace heddle {

using Words = std::vector<uint32_t>;

constexpr uint32_t none = UINT32_MAX;

[[noreturn]] inline void fail(const std::string& message)
{
    fprintf(stderr, "%s\n", message.c_str());
    exit(2);
}

#if defined(__CUDACC__)
inline void check_cuda(cudaError_t e, const char* what)
{
    if (e != cudaSuccess) {
        fail(std::string(what) + ": " + cudaGetErrorString(e));
    }
}
#endif

// File reads little-endian words, and ends the program where the file does.
class File {
public:
    explicit File(const std::string& name) : name(name), file(fopen(name.c_str(), "rb"))
    {
        if (file == nullptr) {
            fail(name + ": cannot be opened: expected a file that heddle kernel export has written (--graph FILE)");
        }
        fseek(file, 0, SEEK_END);
        left = uint64_t(ftell(file));
        fseek(file, 0, SEEK_SET);
    }
    ~File() { fclose(file); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void read(void* to, uint64_t n)
    {
        if (n > left || fread(to, 1, n, file) != n) {
            fail(name + ": the file is too short");
        }
        left -= n;
    }
    template <class T> T number()
    {
        T x;
        read(&x, sizeof x);
        return x;
    }
    std::string text(uint64_t n)
    {
        if (n > left) {
            fail(name + ": the file is too short");
        }
        std::string s(n, ' ');
        read(&s[0], n);
        return s;
    }
    Words words(uint64_t n)
    {
        if (n > left / 4) {
            fail(name + ": the file is too short");
        }
        Words w(n);
        read(w.data(), 4 * n);
        return w;
    }

    const std::string name;

private:
    FILE* file;
    uint64_t left;
};

// Rows are a graph's edges by one of their ends: row v is ids[offsets[v]] to ids[offsets[v+1]-1].
struct Rows {
    Words offsets, ids, weights;
};

// Graph is a directed graph, from an .hgr file.
class Graph {
public:
    explicit Graph(const std::string& name)
    {
        File f(name);
        if (f.text(8) != std::string("\x89HGR\r\n\x1a\n", 8) || f.number<uint32_t>() != 1) {
            fail(name + ": expected an .hgr file of version 1 (heddle graph convert writes one)");
        }
        kind = f.number<uint32_t>();
        const auto n = f.number<uint64_t>(), m = f.number<uint64_t>();
        if (n == 0 || n > 1u << 27 || m > 1u << 29 || kind > 2) {
            fail(name + ": expected 1 to 2^27 vertices, up to 2^29 edges, and weights of kind 0, 1 or 2");
        }
        vertices = uint32_t(n);
        edges = uint32_t(m);
        f.text(32); // the hash
        f.text(f.number<uint32_t>());
        f.text(4); // the checksum of the head
        out.offsets = f.words(n + 1);
        out.ids = f.words(m);
        if (kind != 0) {
            out.weights = f.words(m);
        }
        if (out.offsets[0] != 0 || out.offsets[n] != m || !std::is_sorted(out.offsets.begin(), out.offsets.end())) {
            fail(name + ": the offsets of its rows do not ascend from 0 to the number of edges");
        }
        for (uint32_t id : out.ids) {
            if (id >= vertices) {
                fail(name + ": an edge leads to vertex " + std::to_string(id) + ", which there is not");
            }
        }
    }

    uint32_t vertices = 0, edges = 0;
    uint32_t kind = 0; // of the weights: none, integers, floats
    Rows out;          // by source

    uint32_t degree(uint32_t v) const { return out.offsets[v + 1] - out.offsets[v]; }
    double weight(uint32_t e) const
    {
        float f;
        switch (kind) {
        case 0:
            return 1;
        case 1:
            return double(float(int32_t(out.weights[e])));
        }
        memcpy(&f, &out.weights[e], sizeof f);
        return double(f);
    }

    // in returns the edges by destination; sources ascend in each row.
    const Rows& in() const
    {
        if (transposed == nullptr) {
            transposed = std::make_unique<Rows>();
            Rows& t = *transposed;
            t.offsets.assign(vertices + 1, 0);
            t.ids.resize(edges);
            t.weights.resize(out.weights.size());
            for (uint32_t id : out.ids) {
                t.offsets[id + 1]++;
            }
            for (uint32_t v = 0; v < vertices; v++) {
                t.offsets[v + 1] += t.offsets[v];
            }
            Words next(t.offsets.begin(), t.offsets.end() - 1);
            for (uint32_t v = 0; v < vertices; v++) {
                for (uint32_t e = out.offsets[v]; e < out.offsets[v + 1]; e++) {
                    const uint32_t at = next[out.ids[e]]++;
                    t.ids[at] = v;
                    if (!t.weights.empty()) {
                        t.weights[at] = out.weights[e];
                    }
                }
            }
        }
        return *transposed;
    }

    // row_of_each returns the row of each edge.
    Words row_of_each(const Rows& rows) const
    {
        Words list(edges);
        for (uint32_t v = 0; v < vertices; v++) {
            std::fill(list.begin() + rows.offsets[v], list.begin() + rows.offsets[v + 1], v);
        }
        return list;
    }

private:
    mutable std::unique_ptr<Rows> transposed;
};

// Extra is what a program needs beyond the graph: arrays of its layout and algorithm that heddle has prepared for one
// graph, by name.
class Extra {
public:
    Extra(const std::string& name, const Graph& graph)
    {
        File f(name);
        if (f.text(8) != "HEDDLE-1") {
            fail(name + ": expected the arrays that heddle kernel export --cuda has written");
        }
        if (f.number<uint32_t>() != graph.vertices || f.number<uint32_t>() != graph.edges) {
            fail(name + ": these arrays belong to another graph: expected the one that the program was exported with");
        }
        for (auto n = f.number<uint32_t>(); n > 0; n--) {
            const std::string array = f.text(f.number<uint32_t>());
            arrays[array] = f.words(f.number<uint32_t>());
        }
    }
    const Words& array(const std::string& name) const
    {
        const auto at = arrays.find(name);
        if (at == arrays.end()) {
            fail("the file of arrays has no " + name + ": export the program again");
        }
        return at->second;
    }
    uint32_t number(const std::string& name) const { return array(name).at(0); }

private:
    std::map<std::string, Words> arrays;
};

// Array is an array of words on the device.
struct Array {
    uint32_t* at = nullptr;
    size_t words = 0;
    template <class T> operator T*() const { return reinterpret_cast<T*>(at); }
};

// rotate passes the roles of arrays on: each becomes what the next one was.
template <class... A> void rotate(A&... arrays)
{
    Array list[] = {arrays...};
    constexpr size_t n = sizeof...(A);
    size_t i = 0;
    ((arrays = list[(i++ + n - 1) % n]), ...);
}

// Options are those of the command line.
struct Options {
    std::string graph = "graph.hgr", extra = "arrays.bin", result;
    int64_t source = -1; // as it is numbered in the .hgr file; -1: the one that was exported
    int repeat = 21;
    unsigned blocks = 0; // 0: as many as are resident on the GPU, or the machine's cores on the host
    bool kernels = false;
    bool check = true;
    bool csv = false;
    bool replay = false;
    bool durations = false; // the row is of the kernels' own durations
    std::string variant = "heddle kernel export", config;
    std::string expected = "expected.bin"; // of GraphIt programs
    std::vector<std::string> arguments;    // of GraphIt programs: argv[2] and following
};

inline const char* usage =
    "usage: %s [--graph FILE] [--arrays FILE] [--source V] [--repeat N]\n"
    "    [--blocks N] [--kernels] [--replay] [--no-check] [--result FILE]\n"
    "    [--csv [--durations] [--variant TEXT] [--config TEXT]]\n"
    "\n"
    "Runs once and checks the result, then times runs, and prints a JSON object.\n"
    "\n"
    "  --graph FILE    the graph, .hgr (graph.hgr)\n"
    "  --arrays FILE   arrays of layouts and algorithms that need some (arrays.bin)\n"
    "  --source V      the vertex to begin with (the one that was exported)\n"
    "  --repeat N      timed runs (21)\n"
    "  --blocks N      thread blocks (as many as are resident)\n"
    "  --kernels       also time each kernel\n"
    "  --replay        also time a run as a CUDA graph, if the host takes no part in it\n"
    "  --no-check      do not compare the result with the reference\n"
    "  --result FILE   write the result's words, little-endian\n"
    "  --csv           print a row as heddle validate --silicon reads it, in place of\n"
    "                  JSON; of PageRank, one gather. --csv --help prints its columns\n"
    "  --durations     that row is of the kernels' own durations, as the GPU records them,\n"
    "                  in place of the time that a run takes (build with make CUPTI=1)\n"
    "  --variant TEXT, --config TEXT   its columns of these names\n"
    "\n"
    "Exit codes: 0 the result is right; 1 it is wrong; 2 wrong command line or input;\n"
    "3 threads miss each other at a barrier, vote or shuffle (program-host).\n";

inline const char* csv_columns =
    "variant,graph,n,m,maxdeg,alg,config,sched,super_steps,launches,grid,regs,us_med,us_min,us_p90,us_null,us_cold,"
    "layout,direction,point,result,repeat,block,spilled,gpu,multiprocessors,clock_mhz,toolkit,us_replay";

inline const char* graphit_usage =
    "\n"
    "Of a GraphIt program, with arguments behind its flags (argv[2] and following; those\n"
    "that it was exported with):\n"
    "\n"
    "  --expected FILE  what its vectors should hold (expected.bin); without that file,\n"
    "                   and for another graph or other arguments, nothing is checked\n";

// parse reads the command line; arguments are a GraphIt program's, those that it was exported with.
inline Options parse(int argc, char** argv, const std::vector<std::string>* arguments = nullptr)
{
    Options o;
    size_t given = 0;
    if (arguments != nullptr) {
        o.arguments = *arguments;
        o.variant = "heddle gt build";
    }
    for (int i = 1; i < argc; i++) {
        const std::string flag = argv[i];
        const auto value = [&]() -> std::string {
            if (i + 1 == argc) {
                fail(flag + ": expected a value");
            }
            return argv[++i];
        };
        const auto number = [&](long least, long most) {
            const std::string text = value();
            char* end;
            const long n = strtol(text.c_str(), &end, 10);
            if (text.empty() || *end != 0 || n < least || n > most) {
                fail(flag + " " + text + ": expected a number from " + std::to_string(least) + " to " +
                    std::to_string(most));
            }
            return n;
        };
        if (flag == "--graph") {
            o.graph = value();
        } else if (flag == "--arrays") {
            o.extra = value();
        } else if (flag == "--result") {
            o.result = value();
        } else if (flag == "--source") {
            o.source = number(0, (1 << 27) - 1);
        } else if (flag == "--repeat") {
            o.repeat = int(number(0, 1000000));
        } else if (flag == "--blocks") {
            o.blocks = unsigned(number(1, 1 << 20));
        } else if (flag == "--kernels") {
            o.kernels = true;
        } else if (flag == "--replay") {
            o.replay = true;
        } else if (flag == "--no-check") {
            o.check = false;
        } else if (flag == "--csv") {
            o.csv = true;
        } else if (flag == "--durations") {
            o.durations = true;
        } else if (flag == "--variant") {
            o.variant = value();
        } else if (flag == "--config") {
            o.config = value();
        } else if (flag == "--expected" && arguments != nullptr) {
            o.expected = value();
        } else if (flag.compare(0, 2, "--") != 0 && arguments != nullptr) {
            o.arguments.resize(std::max(o.arguments.size(), given + 1));
            o.arguments[given++] = flag;
        } else if (flag == "--help" && o.csv) {
            puts(csv_columns);
            exit(0);
        } else {
            if (flag != "--help") {
                fail(flag + ": there is no such flag (--help lists them)");
            }
            printf(usage, argv[0]);
            if (arguments != nullptr) {
                fputs(graphit_usage, stdout);
            }
            exit(0);
        }
    }
    return o;
}

#if defined(__CUDACC__)
__global__ void empty_kernel() {}
#else
inline void empty_kernel() {}
#endif

// Clock measures a stretch of the device's time in milliseconds.
class Clock {
public:
#if defined(__CUDACC__)
    Clock()
    {
        check_cuda(cudaEventCreate(&from), "cudaEventCreate");
        check_cuda(cudaEventCreate(&to), "cudaEventCreate");
    }
    ~Clock()
    {
        cudaEventDestroy(from);
        cudaEventDestroy(to);
    }
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
    void start(cudaStream_t stream = nullptr) { check_cuda(cudaEventRecord(from, stream), "cudaEventRecord"); }
    void stop(cudaStream_t stream = nullptr) { check_cuda(cudaEventRecord(to, stream), "cudaEventRecord"); }
    double milliseconds()
    {
        float ms;
        check_cuda(cudaEventSynchronize(to), "cudaEventSynchronize");
        check_cuda(cudaEventElapsedTime(&ms, from, to), "cudaEventElapsedTime");
        return ms;
    }

private:
    cudaEvent_t from, to;
#else
    void start() { from = std::chrono::steady_clock::now(); }
    void stop() { to = std::chrono::steady_clock::now(); }
    double milliseconds() { return std::chrono::duration<double, std::milli>(to - from).count(); }

private:
    std::chrono::steady_clock::time_point from, to;
#endif
};

// Recorder records how long each kernel runs on the device, without the gaps between kernels. On a GPU that is CUPTI's
// record of it, from the first block's begin to the last one's end.
class Recorder {
public:
    void start()
    {
        list.clear();
#if defined(HEDDLE_CUPTI)
        static bool registered = false;
        if (!registered) {
            check(cuptiActivityRegisterCallbacks(lend, take_back), "cuptiActivityRegisterCallbacks");
            registered = true;
        }
        check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "cuptiActivityEnable");
#elif defined(__CUDACC__)
        fail("--durations: the program was built without CUPTI: build it again with make CUPTI=1");
#endif
        on = true;
    }

    // stop returns the durations since start in milliseconds, in the order of launches, of which there were n.
    std::vector<double> stop(uint64_t n)
    {
        on = false;
#if defined(HEDDLE_CUPTI)
        check_cuda(cudaDeviceSynchronize(), "a kernel");
        check(cuptiActivityFlushAll(0), "cuptiActivityFlushAll");
        check(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "cuptiActivityDisable");
#endif
        if (list.size() != n) {
            fail("--durations: " + std::to_string(list.size()) + " of " + std::to_string(n) + " kernels were recorded");
        }
        std::sort(list.begin(), list.end());
        std::vector<double> ms;
        for (const auto& x : list) {
            ms.push_back(x.second);
        }
        return ms;
    }

    // add is for the host, which records its kernels itself.
    void add(double ms)
    {
        if (on) {
            list.emplace_back(list.size(), ms);
        }
    }

private:
    static inline std::vector<std::pair<uint64_t, double>> list; // begin and milliseconds
    bool on = false;

#if defined(HEDDLE_CUPTI)
    static constexpr size_t room = 1 << 20;

    static void check(CUptiResult e, const char* what)
    {
        if (e != CUPTI_SUCCESS) {
            const char* text = "";
            cuptiGetResultString(e, &text);
            fail(std::string(what) + ": " + text);
        }
    }
    static void CUPTIAPI lend(uint8_t** buffer, size_t* size, size_t* records)
    {
        *buffer = static_cast<uint8_t*>(aligned_alloc(8, room));
        *size = room;
        *records = 0; // as many as fit
    }
    static void CUPTIAPI take_back(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid)
    {
        CUpti_Activity* record = nullptr;
        while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
            if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
                // All later versions of the record begin as this one does.
                const auto* k = reinterpret_cast<const CUpti_ActivityKernel4*>(record);
                list.emplace_back(k->start, double(k->end - k->start) / 1e6);
            }
        }
        free(buffer);
    }
#endif
};

// Device holds arrays and launches kernels on thread blocks that each stand for a core.
class Device {
public:
    Device(const Options& options, unsigned cores, unsigned threads) : threads(threads), blocks(options.blocks)
    {
#if defined(__CUDACC__)
        check_cuda(cudaGetDevice(&device), "cudaGetDevice");
        check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
        (void)cores;
#else
        if (blocks == 0) {
            blocks = cores;
        }
#endif
    }

    // admit limits the number of blocks to those that are resident together, of every kernel.
    template <class... P> void admit(void (*kernel)(P...), size_t scratchpad_bytes)
    {
#if defined(__CUDACC__)
        const void* f = reinterpret_cast<const void*>(kernel);
        if (scratchpad_bytes > 48 << 10) {
            check_cuda(cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, int(scratchpad_bytes)),
                "the scratchpad does not fit this GPU's shared memory");
        }
        int each = 0;
        check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, f, int(threads), scratchpad_bytes),
            "occupancy");
        const unsigned most = unsigned(each) * unsigned(properties.multiProcessorCount);
        if (most == 0) {
            fail("a thread block does not fit this GPU: export a machine with fewer warps or less scratchpad");
        }
        resident = std::min(resident, most);
        cudaFuncAttributes attributes;
        check_cuda(cudaFuncGetAttributes(&attributes, f), "cudaFuncGetAttributes");
        registers = std::max(registers, attributes.numRegs);
        spilled = std::max(spilled, int(attributes.localSizeBytes));
#else
        (void)kernel;
        (void)scratchpad_bytes;
#endif
    }

    // settle determines the number of blocks once all kernels are admitted.
    void settle(bool cooperative)
    {
#if defined(__CUDACC__)
        if (blocks == 0) {
            blocks = resident;
        }
        if (cooperative && blocks > resident) {
            fail("--blocks " + std::to_string(blocks) + ": kernels with barriers of the grid need all blocks to be "
                "resident: expected at most " + std::to_string(resident));
        }
#else
        (void)cooperative;
#endif
    }

    unsigned warps() const { return blocks * (threads / 32); }

    // place returns an array with contents. Kernels may read some words behind its end, whose values they do not use.
    Array place(const Words& contents)
    {
        Array a = reserve(contents.size());
        write(a, contents);
        return a;
    }

    // reserve returns an array of zeros.
    Array reserve(size_t words)
    {
        Array a{nullptr, words};
#if defined(__CUDACC__)
        check_cuda(cudaMalloc(&a.at, 4 * (words + behind)), "cudaMalloc");
#else
        a.at = static_cast<uint32_t*>(malloc(4 * (words + behind)));
#endif
        Array all{a.at, words + behind};
        zero(all);
        return a;
    }

    void zero(const Array& a)
    {
#if defined(__CUDACC__)
        check_cuda(cudaMemsetAsync(a.at, 0, 4 * a.words, stream), "cudaMemset");
#else
        memset(a.at, 0, 4 * a.words);
#endif
    }

    void write(const Array& a, const Words& contents)
    {
        transfers++;
        if (contents.empty()) {
            return;
        }
#if defined(__CUDACC__)
        check_cuda(cudaMemcpy(a.at, contents.data(), 4 * contents.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
#else
        memcpy(a.at, contents.data(), 4 * contents.size());
#endif
    }

    // copy copies the first words of an array.
    void copy(const Array& to, const Array& from, size_t words)
    {
        if (words == 0) {
            return;
        }
#if defined(__CUDACC__)
        check_cuda(cudaMemcpyAsync(to.at, from.at, 4 * words, cudaMemcpyDeviceToDevice, stream), "cudaMemcpy");
#else
        memcpy(to.at, from.at, 4 * words);
#endif
    }

    Words read(const Array& a) const { return read(a, a.words); }
    Words read(const Array& a, size_t words) const
    {
        transfers++;
        Words w(words);
        if (words == 0) {
            return w;
        }
#if defined(__CUDACC__)
        check_cuda(cudaMemcpy(w.data(), a.at, 4 * words, cudaMemcpyDeviceToHost), "a kernel, or reading its result");
#else
        memcpy(w.data(), a.at, 4 * words);
#endif
        return w;
    }

    // take returns the first word of an array and zeroes it: the one word that the host reads after a super-step.
    uint32_t take(const Array& a)
    {
        reads++;
        const uint32_t word = read(a, 1)[0];
        zero(Array{a.at, 1});
        return word;
    }

    // peek is take without the zeroing.
    uint32_t peek(const Array& a)
    {
        reads++;
        return read(a, 1)[0];
    }

    // launch runs a kernel on all blocks; cooperative: it waits for all blocks within.
    template <class... P, class... A>
    void launch(const char* name, void (*kernel)(P...), size_t scratchpad_bytes, bool cooperative, A... args)
    {
        launches++;
        Clock* clock = nullptr;
        if (timed) {
            clocks[name].push_back(std::make_unique<Clock>());
            clock = clocks[name].back().get();
            clock->start();
        }
        std::tuple<P...> values{static_cast<P>(args)...};
#if defined(__CUDACC__)
        std::apply([&](auto&... v) {
            void* list[] = {(void*)&v..., nullptr}; // of whatever they point to
            const void* f = reinterpret_cast<const void*>(kernel);
            const dim3 grid(blocks), block(threads);
            check_cuda(cooperative ? cudaLaunchCooperativeKernel(f, grid, block, list, scratchpad_bytes, stream)
                                   : cudaLaunchKernel(f, grid, block, list, scratchpad_bytes, stream),
                name);
        }, values);
#else
        (void)cooperative;
        Clock duration;
        duration.start();
        on_host::run_grid(name, blocks, threads, scratchpad_bytes, [&] { std::apply(kernel, values); });
        duration.stop();
        recorder.add(duration.milliseconds());
#endif
        if (clock != nullptr) {
            clock->stop();
        }
    }

    void wait() const
    {
#if defined(__CUDACC__)
        check_cuda(cudaDeviceSynchronize(), "a kernel");
#endif
    }

    // replay records a run's launches as a graph, and returns the times of its repetitions in milliseconds. The run
    // must have no transfers between host and device.
    template <class R, class B> std::vector<double> replay(R run, B begin, int repeat)
    {
        std::vector<double> ms;
        Clock clock;
#if defined(__CUDACC__)
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        begin();
        check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
        check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
        run();
        check_cuda(cudaStreamEndCapture(stream, &graph), "recording a run as a graph");
        const cudaStream_t recorded = stream;
        stream = nullptr;
        // Without flags, by a call that CUDA 11 and 12 both have.
        check_cuda(cudaGraphInstantiateWithFlags(&executable, graph, 0), "cudaGraphInstantiate");
        for (int i = 0; i < repeat; i++) {
            begin();
            clock.start(recorded);
            check_cuda(cudaGraphLaunch(executable, recorded), "cudaGraphLaunch");
            clock.stop(recorded);
            ms.push_back(clock.milliseconds());
        }
        check_cuda(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
        check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
        check_cuda(cudaStreamDestroy(recorded), "cudaStreamDestroy");
#else
        for (int i = 0; i < repeat; i++) {
            begin();
            clock.start();
            run();
            clock.stop();
            ms.push_back(clock.milliseconds());
        }
#endif
        return ms;
    }

    // nothing launches as many empty kernels, and reads as many words, as a run.
    void nothing(uint64_t empty_launches, uint64_t words, const Array& word)
    {
        for (uint64_t i = 0; i < std::max(empty_launches, words); i++) {
            if (i < empty_launches) {
#if defined(__CUDACC__)
                empty_kernel<<<blocks, threads>>>();
#else
                empty_kernel();
#endif
            }
            if (i < words) {
                read(word, 1);
            }
        }
    }

    std::string name() const
    {
#if defined(__CUDACC__)
        return properties.name;
#else
        return "host (g++)";
#endif
    }
    unsigned multiprocessors() const
    {
#if defined(__CUDACC__)
        return unsigned(properties.multiProcessorCount);
#else
        return 0;
#endif
    }
    int clock_mhz() const
    {
        int khz = 0;
#if defined(__CUDACC__)
        cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device);
#endif
        return khz / 1000;
    }
    std::string toolkit() const
    {
#if defined(__CUDACC__)
        int runtime = 0, driver = 0;
        cudaRuntimeGetVersion(&runtime);
        cudaDriverGetVersion(&driver);
        return "CUDA " + std::to_string(runtime / 1000) + "." + std::to_string(runtime % 1000 / 10) + ", driver for " +
            std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
#else
        return std::string("g++ ") + __VERSION__;
#endif
    }

    // gather_begins and gather_ends enclose the launches that handle the edges of a super-step.
    void gather_begins()
    {
        gather_launches -= launches;
        gather_bounds.push_back(launches);
        if (timed_gathers) {
            gathers.push_back(std::make_unique<Clock>());
            gathers.back()->start();
        }
    }
    void gather_ends()
    {
        gather_launches += launches;
        gather_bounds.push_back(launches);
        if (timed_gathers) {
            gathers.back()->stop();
        }
    }

    unsigned threads, blocks;
    int registers = 0, spilled = 0; // of the kernels, at most: registers and bytes of local memory of a thread
    uint64_t launches = 0, reads = 0, gather_launches = 0;
    mutable uint64_t transfers = 0; // between host and device
    bool timed_gathers = false;
    std::vector<std::unique_ptr<Clock>> gathers;
    std::vector<uint64_t> gather_bounds; // numbers of launches at which gathers began and ended, in turn
    Recorder recorder;
    bool timed = false; // launches are timed, one by one
    std::map<std::string, std::vector<std::unique_ptr<Clock>>> clocks;
    size_t behind = 64; // words behind an array's end

private:
#if defined(__CUDACC__)
    int device = 0;
    cudaStream_t stream = nullptr; // the default one, except while a graph is recorded
    cudaDeviceProp properties;
    unsigned resident = UINT32_MAX;
#endif
};

// Outcome is how a run ended.
struct Outcome {
    uint32_t steps = 0;
    bool ended = false; // no vertex is active
    std::vector<float> residuals;
};

// Verdict is the comparison of a result with its reference.
struct Verdict {
    uint64_t wrong = 0;
    std::string message; // of the first wrong value
    std::string reference;

    void compare(const char* quantity, uint32_t v, double got, double want, double bound)
    {
        const bool same = got == want || (std::isnan(got) && std::isnan(want));
        if (same || std::fabs(got - want) <= bound) {
            return;
        }
        if (wrong++ == 0) {
            char text[200];
            snprintf(text, sizeof text, "%s of vertex %u is %.9g, and should be %.9g, give or take %.3g", quantity, v,
                got, want, bound);
            message = text;
        }
    }
    void equal(const char* quantity, const Words& got, const Words& want)
    {
        for (uint32_t v = 0; v < want.size(); v++) {
            compare(quantity, v, got[v], want[v], 0);
        }
    }
};

// Buckets hold waiting vertices by value: bucket n those from n * delta on. Some buckets are open; vertices beyond them
// are in one more, and are distributed when those are empty (Julienne, SPAA 2017; eager, as in GraphIt, CGO 2020).
class Buckets {
public:
    Buckets(uint32_t delta, uint32_t open) : width(delta), open(open), spills(open) {}

    // What kernels are given.
    uint32_t threshold() const { return clamp((current + 1) * width); }
    uint32_t before() const { return clamp(done); }
    uint32_t size() const { return entries; }
    uint32_t delta() const { return uint32_t(width); }
    uint32_t first() const { return uint32_t(lowest); }
    uint32_t limit() const { return uint32_t(std::min<uint64_t>(lowest + open, UINT32_MAX - 1)); }
    uint32_t spill() const { return spills; }
    uint32_t split() const { return slot; }

    // rise goes to the next bucket that has vertices, and reports whether there is one.
    bool rise(Device& d, const Array& counts, const Array& least)
    {
        Words n = d.read(counts);
        d.reads++;
        for (uint32_t s = uint32_t(current - lowest) + 1; s < open; s++) {
            if (n[s] > 0) {
                current = lowest + s;
                done = current * width;
                take(d, counts, n, s);
                return true;
            }
        }
        if (n[spills] == 0) {
            return false;
        }
        done = uint64_t(limit()) * width;
        lowest = current = ~d.take(least);
        take(d, counts, n, spills);
        spills = open + (spills + 1 - open) % 2;
        return true;
    }

private:
    static uint32_t clamp(uint64_t x) { return uint32_t(std::min<uint64_t>(x, UINT32_MAX)); }
    void take(Device& d, const Array& counts, Words& n, uint32_t s)
    {
        slot = s;
        entries = n[s];
        n[s] = 0;
        d.write(counts, n);
    }

    uint64_t width, lowest = 0, current = 0, done = 0;
    uint32_t open, spills, slot = 0, entries = 0;
};

// Program is what a point has for measure.
struct Program {
    const char *point, *algorithm, *schedule, *layout, *direction;
    bool dense; // all vertices are active in every super-step
    std::function<void()> reset;               // before a run, not timed
    std::function<Outcome()> run;              // timed
    std::function<Words()> result;             // after a run
    std::function<Verdict(const Words&, const Outcome&)> verify;
    std::function<void()> checked; // after the run that is checked; none: nothing to do
};

inline double quantile(std::vector<double> times, double q)
{
    std::sort(times.begin(), times.end());
    return times[std::min(times.size() - 1, size_t(q * double(times.size() - 1) + 0.5))];
}

// escape returns a text as JSON has it.
inline std::string escape(const std::string& text)
{
    std::string s = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') {
            s += '\\';
        }
        s += c == '\n' ? ' ' : c;
    }
    return s + "\"";
}

// times prints the quantiles of some times in milliseconds.
inline void times(const char* name, const std::vector<double>& ms)
{
    printf(", \"%s\": {\"median\": %.6f, \"min\": %.6f, \"p90\": %.6f}", name, quantile(ms, 0.5), quantile(ms, 0),
        quantile(ms, 0.9));
}

// Times are those of repeated runs in milliseconds.
struct Times {
    std::vector<double> whole, empty;                  // of runs, and of as many empty launches and reads
    std::vector<double> gather, gather_empty;          // of the launches that handle edges
    std::map<std::string, std::vector<double>> kernels; // of each kernel's launches
    std::vector<double> replay;                        // as a CUDA graph; none: it is not one, or was not asked for
    std::vector<double> durations;                     // of a row's kernels, which have no gaps between them
};

// total adds up clocks and forgets them.
inline double total(std::vector<std::unique_ptr<Clock>>& clocks)
{
    double sum = 0;
    for (auto& c : clocks) {
        sum += c->milliseconds();
    }
    clocks.clear();
    return sum;
}

// Run is a checked run, the first one: how it ended, and what it took.
struct Run {
    Outcome outcome;
    Verdict verdict;
    uint64_t launches, reads, transfers, gathers, edges, atomics;
    double cold, gather_cold; // milliseconds, with nothing loaded or cached: of the run, and of its gathers
};

// record sums up the durations of a row's kernels: of all, or of the gathers alone.
inline void record(const Options& o, Device& d, const Program& p, Times& t)
{
    for (int i = 0; i < o.repeat; i++) {
        p.reset();
        d.wait();
        d.gather_bounds.clear();
        const uint64_t before = d.launches;
        d.recorder.start();
        p.run();
        const std::vector<double> all = d.recorder.stop(d.launches - before);
        double sum = 0;
        for (size_t b = 0; p.dense && b < d.gather_bounds.size(); b += 2) {
            for (uint64_t k = d.gather_bounds[b]; k < d.gather_bounds[b + 1]; k++) {
                sum += all[k - before];
            }
        }
        t.durations.push_back(p.dense ? sum : std::accumulate(all.begin(), all.end(), 0.0));
    }
}

// repeat times runs, each as a whole, then by its gathers, and last by kernels.
inline Times repeat(const Options& o, Device& d, const Program& p, const Run& first)
{
    Times t;
    Clock clock;
    const Array word = d.reserve(1);
    const auto begin = [&] {
        p.reset();
        d.wait();
    };
    const auto nothing = [&](uint64_t empty, uint64_t words) {
        clock.start();
        d.nothing(empty, words, word);
        clock.stop();
        return clock.milliseconds();
    };
    for (int i = 0; i < o.repeat; i++) {
        begin();
        clock.start();
        p.run();
        clock.stop();
        t.whole.push_back(clock.milliseconds());
        t.empty.push_back(nothing(first.launches, first.reads));
    }
    d.timed_gathers = true;
    for (int i = 0; i < o.repeat; i++) {
        begin();
        p.run();
        t.gather.push_back(total(d.gathers));
        t.gather_empty.push_back(nothing(first.gathers, 0));
    }
    d.timed_gathers = false;
    d.timed = true;
    for (int i = 0; o.kernels && i < o.repeat; i++) {
        begin();
        p.run();
        for (auto& k : d.clocks) {
            t.kernels[k.first].push_back(total(k.second));
        }
    }
    d.timed = false;
    if (o.replay && first.transfers == 0) {
        t.replay = d.replay([&] { p.run(); }, begin, o.repeat);
    }
    if (o.durations) {
        record(o, d, p, t);
    }
    return t;
}

// checked runs a program, compares the result, and writes it to a file if asked to.
inline Run checked(const Options& o, Device& d, const Program& p)
{
    p.reset();
    d.wait();
    Run r;
    r.launches = d.launches;
    r.reads = d.reads;
    r.transfers = d.transfers;
    Clock clock;
    d.timed_gathers = true;
    clock.start();
    r.outcome = p.run();
    clock.stop();
    d.wait();
    d.timed_gathers = false;
    r.cold = clock.milliseconds();
    r.gather_cold = total(d.gathers);
    r.launches = d.launches - r.launches;
    r.reads = d.reads - r.reads;
    r.transfers = d.transfers - r.transfers;
    r.gathers = d.gather_launches;
#if defined(__CUDACC__)
    r.edges = r.atomics = 0;
#else
    r.edges = on_host::edges;
    r.atomics = on_host::atomics;
#endif
    const Words values = p.result();
    if (o.check) {
        r.verdict = p.verify(values, r.outcome);
    }
    if (p.checked) {
        p.checked();
    }
    if (!o.result.empty()) {
        FILE* f = fopen(o.result.c_str(), "wb");
        if (f == nullptr || fwrite(values.data(), 4, values.size(), f) != values.size() || fclose(f) != 0) {
            fail(o.result + ": cannot be written");
        }
    }
    return r;
}

// right says how the comparison has ended.
inline const char* right(const Options& o, const Verdict& v)
{
    return !o.check || v.reference.compare(0, 4, "none") == 0 ? "not checked" : v.wrong == 0 ? "right" : "wrong";
}

// json prints the report as one object.
inline void json(const Options& o, const Device& d, const Graph& g, const Program& p, const Run& r, const Times& t)
{
    using ull = unsigned long long;
    printf("{\"point\": %s, \"graph\": %s, \"vertices\": %u, \"edges\": %u, \"device\": %s, \"multiprocessors\": %u, "
           "\"clock_mhz\": %d, \"toolkit\": %s, \"blocks\": %u, \"threads\": %u, \"registers\": %d, "
           "\"spilled_bytes\": %d, \"super_steps\": %u, \"launches\": %llu",
        escape(p.point).c_str(), escape(o.graph).c_str(), g.vertices, g.edges, escape(d.name()).c_str(),
        d.multiprocessors(), d.clock_mhz(), escape(d.toolkit()).c_str(), d.blocks, d.threads, d.registers, d.spilled,
        r.outcome.steps, ull(r.launches));
#if !defined(__CUDACC__)
    printf(", \"edges_handled\": %llu, \"atomics\": %llu", ull(r.edges), ull(r.atomics));
#endif
    printf(", \"result\": \"%s\"", right(o, r.verdict));
    if (o.check) {
        printf(", \"reference\": %s", escape(r.verdict.reference).c_str());
    }
    if (r.verdict.wrong > 0) {
        printf(", \"error\": %s, \"wrong\": %llu", escape(r.verdict.message).c_str(), ull(r.verdict.wrong));
    }
    printf(", \"ms_cold\": %.6f, \"ms_gather_cold\": %.6f, \"repeat\": %d", r.cold, r.gather_cold, o.repeat);
    if (o.repeat > 0) {
        times("ms", t.whole);
        times("ms_empty_launches", t.empty);
        times("ms_gather", t.gather);
        times("ms_gather_empty_launches", t.gather_empty);
        if (!t.replay.empty()) {
            times("ms_replay", t.replay);
        } else if (o.replay) {
            printf(", \"replay\": \"none: the host transfers words %llu times in a run\"", ull(r.transfers));
        }
        printf(", \"kernels\": {");
        bool first = true;
        for (auto& k : t.kernels) {
            printf("%s%s: {\"ms\": %.6f}", first ? "" : ", ", escape(k.first).c_str(), quantile(k.second, 0.5));
            first = false;
        }
        printf("}");
    }
    printf("}\n");
}

// csv prints a row of the columns of csv_columns, in microseconds. Of algorithms in which all vertices are active it is
// one gather.
inline void csv(const Options& o, const Device& d, const Graph& g, const Program& p, const Run& r, const Times& t)
{
    std::string graph = o.graph.substr(o.graph.find_last_of('/') + 1);
    graph = graph.substr(0, graph.find('.'));
    uint32_t most = 0;
    for (uint32_t v = 0; v < g.vertices; v++) {
        most = std::max(most, g.degree(v));
    }
    std::string name = p.algorithm;
    if (name == "pagerank") {
        name = std::string("pr-") + p.direction;
    }
    const bool gather = p.dense;
    const std::vector<double>& run = o.durations ? t.durations : gather ? t.gather : t.whole;
    const std::vector<double> none{0};
    const std::vector<double>& empty = o.durations ? none : gather ? t.gather_empty : t.empty;
    const double steps = gather ? double(r.outcome.steps) : 1;
    const auto us = [&](const std::vector<double>& ms, double q) { return quantile(ms, q) * 1000 / steps; };
    std::string replay; // of a whole run
    if (!t.replay.empty()) {
        replay = std::to_string(quantile(t.replay, 0.5) * 1000);
    }
    const std::string config = !o.config.empty() ? o.config
                                                 : "full" + std::to_string(d.threads) + (o.durations ? "-kernels" : "");
    printf("%s,%s,%u,%u,%u,%s,%s,%s,%u,%.0f,%u,%d,%.3f,%.3f,%.3f,%.3f,%.3f,%s,%s,%s,%s,%d,%u,%d,%s,%u,%d,\"%s\",%s\n",
        o.variant.c_str(), graph.c_str(), g.vertices, g.edges, most, name.c_str(), config.c_str(), p.schedule,
        gather ? 1 : r.outcome.steps, double(gather ? r.gathers : r.launches) / steps, d.blocks, d.registers,
        us(run, 0.5), us(run, 0), us(run, 0.9), us(empty, 0.5), (gather ? r.gather_cold : r.cold) * 1000 / steps,
        p.layout, p.direction, p.point, right(o, r.verdict),
        o.repeat, d.threads, d.spilled, d.name().c_str(), d.multiprocessors(), d.clock_mhz(), d.toolkit().c_str(),
        replay.c_str());
}

// measure checks a run, times others, and prints the report. It returns the program's exit code.
inline int measure(const Options& o, Device& d, const Graph& g, const Program& p)
{
    if (o.csv && o.repeat == 0) {
        fail("--csv --repeat 0: expected at least one timed run");
    }
    const Run r = checked(o, d, p);
    const Times t = repeat(o, d, p, r);
    (o.csv ? csv : json)(o, d, g, p, r, t);
    return r.verdict.wrong == 0 ? 0 : 1;
}

// Bounds of rounding, as heddle's own references have them: every sum in float32 is off by at most gamma(k) of the sum
// of its terms' magnitudes (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
constexpr double unit = 0x1p-24 + 0x1p-53;
constexpr double tiny = 0x1p-150;
inline double gamma(double k) { return k * unit / (1 - k * unit); }

// ranks compares PageRank's ranks after some super-steps.
inline Verdict ranks(const Graph& g, double damping, const Words& values, const Outcome& o)
{
    Verdict verdict;
    verdict.reference = "computed in float64";
    const uint32_t n = g.vertices;
    std::vector<double> rank(n, 1.0 / n), off(n, 1.0 / n * unit), sum(n), error(n);
    const Words& in = g.in().offsets;
    for (uint32_t step = 0; step < o.steps; step++) {
        std::fill(sum.begin(), sum.end(), 0.0);
        std::fill(error.begin(), error.end(), 0.0);
        for (uint32_t u = 0; u < n; u++) {
            if (g.degree(u) == 0) {
                continue;
            }
            const double degree = g.degree(u), term = rank[u] / degree;
            // The reciprocal and the product are rounded.
            const double e = off[u] / degree * (1 + unit) * (1 + unit) + term * (2 * unit + unit * unit) + tiny;
            for (uint32_t i = g.out.offsets[u]; i < g.out.offsets[u + 1]; i++) {
                sum[g.out.ids[i]] += term;
                error[g.out.ids[i]] += e;
            }
        }
        const double base = (1 - damping) / n;
        double residual = 0, bound = 0;
        for (uint32_t v = 0; v < n; v++) {
            const uint32_t terms = in[v + 1] - in[v];
            error[v] += gamma(terms == 0 ? 0 : terms - 1) * (sum[v] + error[v]);
            const double next = base + damping * sum[v];
            double e = base * unit + damping * ((1 + unit) * error[v] + unit * sum[v]);
            e = e * (1 + unit) + unit * next + tiny;
            residual += std::fabs(next - rank[v]);
            bound += e + off[v];
            rank[v] = next;
            off[v] = e;
        }
        bound += gamma(n) * (residual + bound);
        if (step < o.residuals.size()) {
            verdict.compare("the change of ranks up to", step, double(o.residuals[step]), residual, bound);
        }
    }
    for (uint32_t v = 0; v < n; v++) {
        float got;
        memcpy(&got, &values[v], sizeof got);
        verdict.compare("rank", v, double(got), rank[v], off[v]);
    }
    return verdict;
}

// products compares y[v] = sum of weight * x[u] over the edges from u to v.
inline Verdict products(const Graph& g, const Words& x, const Words& values)
{
    Verdict verdict;
    verdict.reference = "computed in float64";
    std::vector<double> y(g.vertices), size(g.vertices);
    for (uint32_t u = 0; u < g.vertices; u++) {
        float f;
        memcpy(&f, &x[u], sizeof f);
        for (uint32_t e = g.out.offsets[u]; e < g.out.offsets[u + 1]; e++) {
            const double term = g.weight(e) * double(f);
            y[g.out.ids[e]] += term;
            size[g.out.ids[e]] += std::fabs(term);
        }
    }
    const Words& in = g.in().offsets;
    for (uint32_t v = 0; v < g.vertices; v++) {
        const double terms = in[v + 1] - in[v];
        float got;
        memcpy(&got, &values[v], sizeof got);
        verdict.compare("product", v, double(got), y[v], gamma(terms) * size[v] + terms * tiny);
    }
    return verdict;
}

// same compares whole numbers.
inline Verdict same(const char* quantity, const Words& got, const Words& want, const char* reference = "computed")
{
    Verdict verdict;
    verdict.reference = reference;
    verdict.equal(quantity, got, want);
    return verdict;
}

// unchecked is the verdict of a result that has no reference here.
inline Verdict unchecked(const Words&)
{
    Verdict verdict;
    verdict.reference = "none: compare --result with heddle's";
    return verdict;
}

inline Words all_vertices(uint32_t n)
{
    Words list(n);
    for (uint32_t v = 0; v < n; v++) {
        list[v] = v;
    }
    return list;
}

// bits_of and bytes_of return a map with a bit or a byte for every vertex.
inline Words bits_of(const Words& list, uint32_t n)
{
    Words map((n + 31) / 32);
    for (uint32_t v : list) {
        map[v / 32] |= 1u << v % 32;
    }
    return map;
}
inline Words bytes_of(const Words& list, uint32_t n)
{
    Words map((n + 3) / 4);
    for (uint32_t v : list) {
        map[v / 4] |= 1u << v % 4 * 8;
    }
    return map;
}

// count_bits and count_bytes return how many vertices a map holds.
inline uint32_t count_bits(const Words& map)
{
    uint32_t n = 0;
    for (uint32_t w : map) {
        for (; w != 0; w &= w - 1) {
            n++;
        }
    }
    return n;
}
inline uint32_t count_bytes(const Words& map)
{
    uint32_t n = 0;
    for (uint32_t w : map) {
        n += ((w & 0xff) != 0) + ((w & 0xff00) != 0) + ((w & 0xff0000) != 0) + (w >> 24 != 0);
    }
    return n;
}

// members_of_bits and members_of_bytes return the vertices that a map holds.
inline Words members_of_bits(const Words& map, uint32_t n)
{
    Words list;
    for (uint32_t v = 0; v < n; v++) {
        if (map[v / 32] >> v % 32 & 1) {
            list.push_back(v);
        }
    }
    return list;
}
inline Words members_of_bytes(const Words& map, uint32_t n)
{
    Words list;
    for (uint32_t v = 0; v < n; v++) {
        if (map[v / 4] >> v % 4 * 8 & 0xff) {
            list.push_back(v);
        }
    }
    return list;
}

// edges_of returns the number of edges that leave some vertices.
inline uint64_t edges_of(const Graph& g, const Words& list)
{
    uint64_t n = 0;
    for (uint32_t v : list) {
        n += g.degree(v);
    }
    return n;
}

// least_distance returns a lower bound of the distances that a super-step can bring.
inline uint32_t least_distance(const Graph& g, const Words& active, const Words& distance)
{
    uint32_t least = none;
    for (uint32_t v : active) {
        least = std::min(least, distance[v]);
    }
    if (g.kind == 0) {
        return least + 1;
    }
    return g.edges == 0 ? least : least + *std::min_element(g.out.weights.begin(), g.out.weights.end());
}

// Directions chooses between push and pull by the size of the frontier: by the rule of Beamer, Asanovic and Patterson
// (SC 2012), or of SEP-Graph's code (PPoPP 2019).
class Directions {
public:
    Directions(const Graph& g, double alpha, double beta, bool sep_graph, bool once)
        : vertices(g.vertices), edges(g.edges), alpha(alpha), beta(beta), sep_graph(sep_graph), once(once)
    {
    }
    // pulls chooses the direction of the next super-step, whose frontier has that many vertices and edges leaving it.
    bool pulls(uint64_t active, uint64_t leaving)
    {
        const bool growing = first || active > before;
        const double unexplored = double(once ? edges - std::min(edges, reached) : edges);
        const double unpushed = double(int64_t(edges) - int64_t(pushed));
        if (sep_graph) {
            pull = !first && ((pull && double(active) * beta > double(vertices)) ||
                (unpushed >= 0 && double(leaving) * alpha > unpushed));
        } else if (!pull && growing && double(leaving) * alpha > unexplored) {
            pull = true;
        } else if (pull && !growing && double(active) * beta < double(vertices)) {
            pull = false;
        }
        reached += leaving;
        pushed += pull ? 0 : leaving;
        before = active;
        first = false;
        return pull;
    }

private:
    const uint64_t vertices, edges;
    const double alpha, beta;
    const bool sep_graph, once;
    bool pull = false, first = true;
    uint64_t reached = 0, pushed = 0, before = 0;
};

inline Words in_degrees(const Graph& g)
{
    Words degrees(g.vertices);
    for (uint32_t id : g.out.ids) {
        degrees[id]++;
    }
    return degrees;
}

// random_vector returns multiples of 2^-24 from 0 to 1, drawn by splitmix64.
inline Words random_vector(uint32_t n, uint64_t seed)
{
    Words x(n);
    for (uint32_t& w : x) {
        uint64_t z = seed += 0x9E3779B97F4A7C15u;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
        z = (z ^ z >> 27) * 0x94D049BB133111EBu;
        z ^= z >> 31;
        const float f = float(z >> 40) * 0x1p-24f;
        memcpy(&w, &f, sizeof w);
    }
    return x;
}

inline Words out_degrees(const Graph& g)
{
    Words degrees(g.vertices);
    for (uint32_t v = 0; v < g.vertices; v++) {
        degrees[v] = g.degree(v);
    }
    return degrees;
}

// levels compares the numbers of edges from the source; none where it is not reached, or only beyond the last
// super-step of a run that has been stopped.
inline Words levels(const Graph& g, uint32_t source, const Outcome& o)
{
    Words level(g.vertices, none);
    Words queue{source};
    level[source] = 0;
    for (size_t i = 0; i < queue.size(); i++) {
        const uint32_t u = queue[i];
        if (!o.ended && level[u] == o.steps) {
            continue;
        }
        for (uint32_t e = g.out.offsets[u]; e < g.out.offsets[u + 1]; e++) {
            const uint32_t v = g.out.ids[e];
            if (level[v] == none) {
                level[v] = level[u] + 1;
                queue.push_back(v);
            }
        }
    }
    return level;
}

// sides checks that searches from both ends have met if a path joins them, and that each vertex is on the side of an end
// that reaches it.
inline Verdict sides(const Graph& g, uint32_t source, uint32_t target, bool met, const Words& got)
{
    Verdict verdict;
    verdict.reference = "computed";
    Outcome all;
    all.ended = true;
    const Words level[2] = {levels(g, source, all), levels(g, target, all)};
    verdict.compare("whether the searches met, seen from", target, met, level[0][target] != none, 0);
    for (uint32_t v = 0; v < got.size(); v++) {
        const bool reached = level[0][v] != none || level[1][v] != none;
        if (got[v] == none ? reached && !met : got[v] > 1 || level[got[v]][v] == none) {
            verdict.compare("side", v, got[v], level[0][v] != none ? 0 : level[1][v] != none ? 1 : double(none), 0);
        }
    }
    return verdict;
}

// distances returns the lengths of shortest paths from the source (Dijkstra).
inline Words distances(const Graph& g, uint32_t source)
{
    Words distance(g.vertices, none);
    distance[source] = 0;
    std::vector<std::pair<uint64_t, uint32_t>> heap{{0, source}};
    const auto later = [](const auto& a, const auto& b) { return a.first > b.first; };
    while (!heap.empty()) {
        std::pop_heap(heap.begin(), heap.end(), later);
        const auto [length, u] = heap.back();
        heap.pop_back();
        if (length != distance[u]) {
            continue;
        }
        for (uint32_t e = g.out.offsets[u]; e < g.out.offsets[u + 1]; e++) {
            const uint64_t to = length + (g.kind == 0 ? 1 : g.out.weights[e]);
            const uint32_t v = g.out.ids[e];
            if (to < distance[v]) {
                distance[v] = uint32_t(to);
                heap.emplace_back(to, v);
                std::push_heap(heap.begin(), heap.end(), later);
            }
        }
    }
    return distance;
}

// tree compares parents with a breadth-first search: the parent of a reached vertex is one edge nearer to the source.
inline Verdict tree(const Graph& g, uint32_t source, const Words& parents, const Outcome& o)
{
    Verdict verdict;
    verdict.reference = "a breadth-first tree of computed levels";
    const Words level = levels(g, source, o);
    for (uint32_t v = 0; v < g.vertices; v++) {
        const uint32_t parent = parents[v];
        if (level[v] == none || v == source) {
            verdict.compare("the parent", v, parent, v == source ? source : none, 0);
            continue;
        }
        const bool vertex = parent < g.vertices && level[parent] != none && level[parent] + 1 == level[v];
        const uint32_t* row = g.out.ids.data();
        const bool edge = vertex && std::find(row + g.out.offsets[parent], row + g.out.offsets[parent + 1], v) !=
            row + g.out.offsets[parent + 1];
        verdict.compare("1 if the parent is one level nearer and has an edge here", v, edge, 1, 0);
    }
    return verdict;
}

// components returns the least vertex of each vertex's component, whatever the directions of edges.
inline Words components(const Graph& g)
{
    Words root(g.vertices);
    for (uint32_t v = 0; v < g.vertices; v++) {
        root[v] = v;
    }
    const auto find = [&](uint32_t v) {
        while (root[v] != v) {
            v = root[v] = root[root[v]];
        }
        return v;
    };
    for (uint32_t u = 0; u < g.vertices; u++) {
        for (uint32_t e = g.out.offsets[u]; e < g.out.offsets[u + 1]; e++) {
            const uint32_t a = find(u), b = find(g.out.ids[e]);
            root[std::max(a, b)] = std::min(a, b);
        }
    }
    for (uint32_t v = 0; v < g.vertices; v++) {
        root[v] = find(v);
    }
    return root;
}

// within compares floats with the least and the greatest that rounding may give.
inline Verdict within(const Words& least, const Words& greatest, const Words& values)
{
    Verdict verdict;
    verdict.reference = "exported bounds of heddle's reference";
    for (uint32_t v = 0; v < values.size(); v++) {
        float low, high, got;
        memcpy(&low, &least[v], sizeof low);
        memcpy(&high, &greatest[v], sizeof high);
        memcpy(&got, &values[v], sizeof got);
        if (!(got >= low && got <= high)) {
            verdict.compare("the result", v, double(got), (double(low) + double(high)) / 2,
                (double(high) - double(low)) / 2);
        }
    }
    return verdict;
}

} // namespace heddle
