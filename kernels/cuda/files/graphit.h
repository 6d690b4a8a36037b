// What programs exported from GraphIt share beyond heddle.h: sets of vertices, priority queues, arguments, and the
// comparison with what heddle's evaluator has computed.
#pragma once

#include "heddle.h"

#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

namespace heddle {

// Members are the vertices of a set: a list on the host, or what an operator's arrays on the device hold. An operator
// saves them before it changes these arrays.
struct Members {
    Words list; // ascending, each once
    bool listed = true;
    uint32_t size = 0;            // on the device: entries of the list; of a map 1 if it has any vertex
    Array queue;                  // on the device, each vertex once; none: they are not there as a list
    std::function<Words()> fetch; // reads them from the device

    const Words& get()
    {
        if (!listed) {
            list = fetch();
            std::sort(list.begin(), list.end());
            list.erase(std::unique(list.begin(), list.end()), list.end());
            listed = true;
        }
        return list;
    }
    void save()
    {
        get();
        queue = Array{};
        fetch = nullptr;
    }
};

// Set is a set of vertices. It never changes: add makes another one.
class Set {
public:
    Set() : members(std::make_shared<Members>()) {}
    explicit Set(Words list) : Set() { members->list = std::move(list); }
    // all returns the set of all vertices.
    static Set all(uint32_t vertices) { return Set(all_vertices(vertices)); }
    // make returns an empty set, or that of all vertices.
    static Set make(int64_t n, uint32_t vertices, const char* at)
    {
        if (n != 0 && n != int64_t(vertices)) {
            fail(std::string(at) + ": new vertexset(" + std::to_string(n) + "): expected 0, or the number of vertices");
        }
        return n == 0 ? Set() : all(vertices);
    }

    bool empty() const { return members->listed ? members->list.empty() : members->size == 0; }
    int32_t size() const { return int32_t(list().size()); }
    const Words& list() const { return members->get(); }

    void add(int64_t v, uint32_t vertices, const char* at)
    {
        if (v < 0 || v >= int64_t(vertices)) {
            fail(std::string(at) + ": addVertex(" + std::to_string(v) + "): the graph has vertices 0 to " +
                std::to_string(vertices - 1));
        }
        Words more = list();
        const auto place = std::lower_bound(more.begin(), more.end(), uint32_t(v));
        if (place == more.end() || *place != uint32_t(v)) {
            more.insert(place, uint32_t(v));
        }
        *this = Set(std::move(more));
    }

    // copy_to writes the vertices into an array on the device, and returns how many there are.
    uint32_t copy_to(Device& device, const Array& room) const
    {
        if (members->queue.at != nullptr) {
            device.copy(room, members->queue, members->size);
            return members->size;
        }
        device.write(room, list());
        return uint32_t(list().size());
    }
    // place returns a list on the device: the one that an operator has made, or a copy in an array.
    std::pair<Array, uint32_t> place(Device& device, const Array& room) const
    {
        if (members->queue.at != nullptr) {
            return {members->queue, members->size};
        }
        return {room, copy_to(device, room)};
    }

    std::shared_ptr<Members> members;
};

// pop takes the last set off a list.
inline Set pop(std::vector<Set>& list, const char* at)
{
    if (list.empty()) {
        fail(std::string(at) + ": the list is empty");
    }
    Set last = list.back();
    list.pop_back();
    return last;
}

// Frontier knows which sets an operator's arrays hold: the active one, and the one before it until the operator runs
// again. So a set that an operator passes to itself stays on the device.
class Frontier {
public:
    // holds reports whether the arrays hold a set as the active one. It saves the sets that the operator is going to
    // overwrite, if the program still has them.
    bool holds(const Set& set)
    {
        save(before);
        if (set.members == active.lock()) {
            return true;
        }
        save(active);
        return false;
    }
    // run begins a run that walks no set of its own.
    void run() { save(before); }
    // enter_loop begins a loop on the device, in whose rounds the arrays are overwritten.
    void enter_loop(const Set& from)
    {
        from.members->save();
        active.reset();
        before.reset();
    }
    // left ends a run that makes no set.
    void left()
    {
        before = active;
        active.reset();
    }
    // made_list returns the set that is now the active one, as a list; once: it has no vertex twice.
    Set made_list(Device& device, const Array& queue, uint32_t size, bool once)
    {
        Set set = made(size, [&device, queue, size] { return device.read(queue, size); });
        if (once) {
            set.members->queue = queue;
        }
        return set;
    }
    // made_map returns the set that is now the active one, as a map.
    Set made_map(bool some, std::function<Words()> fetch) { return made(some, std::move(fetch)); }

private:
    static void save(std::weak_ptr<Members>& set)
    {
        if (const auto members = set.lock()) {
            members->save();
        }
        set.reset();
    }
    Set made(uint32_t size, std::function<Words()> fetch)
    {
        Set set;
        set.members->listed = false;
        set.members->size = size;
        set.members->fetch = std::move(fetch);
        before = active;
        active = set.members;
        return set;
    }

    std::weak_ptr<Members> active, before;
};

// Bucket returns the beginning of the bucket that a priority is in.
inline int64_t bucket_of(int64_t priority, int64_t delta)
{
    const int64_t rest = priority % delta;
    return priority - rest - (rest < 0 ? delta : 0);
}

// Queue is a priority queue: vertices wait by flags, and are taken bucket by bucket, the lowest priorities first.
class Queue {
public:
    // take returns the waiting vertices whose priorities are less than below, and find the least priority of a vertex
    // that waits.
    std::function<Set()> take;
    std::function<std::optional<int64_t>()> find;

    explicit Queue(int64_t greatest) : greatest(greatest) {}

    // begin makes one vertex wait, or all.
    void begin(Device& device, const Array& waits, int64_t source, int64_t width, uint32_t vertices, const char* at)
    {
        if (source >= int64_t(vertices)) {
            fail(std::string(at) + ": new priority_queue: there is no vertex " + std::to_string(source));
        }
        Words flags(vertices, source < 0 ? 1 : 0);
        if (source >= 0) {
            flags[size_t(source)] = 1;
        }
        device.write(waits, flags);
        delta = width;
        begun = false;
        current = below = 0;
        ready.reset();
    }
    bool finished()
    {
        if (!ready) {
            Set next = take_next();
            if (next.empty()) {
                return true;
            }
            ready = next;
        }
        return false;
    }
    Set dequeue_ready_set()
    {
        if (ready) {
            Set next = *ready;
            ready.reset();
            return next;
        }
        return take_next();
    }
    // enter begins the bucket of a priority.
    void enter(int64_t first)
    {
        begun = true;
        current = first;
        below = std::min(current + delta, greatest);
    }

    int64_t current = 0, below = 0, delta = 1; // of the bucket: first priority, and the first beyond it

private:
    Set take_next()
    {
        for (bool again = false;; again = true) {
            if (begun) {
                Set next = take();
                if (!next.empty()) {
                    return next;
                }
            }
            const auto least = again ? std::nullopt : find();
            if (!least) {
                return Set();
            }
            enter(bucket_of(*least, delta));
        }
    }

    int64_t greatest;
    std::optional<Set> ready;
    bool begun = false;
};

// Elements of vectors, as the host reads and writes them.
template <class T> T get(const Device& device, const Array& vector, int64_t n, const char* at)
{
    if (n < 0 || n >= int64_t(vector.words)) {
        fail(std::string(at) + ": there is no element " + std::to_string(n));
    }
    T x;
    const uint32_t word = device.read(Array{vector.at + n, 1})[0];
    memcpy(&x, &word, sizeof x);
    return x;
}
template <class T> void set(Device& device, const Array& vector, int64_t n, T x, const char* at)
{
    if (n < 0 || n >= int64_t(vector.words)) {
        fail(std::string(at) + ": there is no element " + std::to_string(n));
    }
    uint32_t word;
    memcpy(&word, &x, sizeof word);
    device.write(Array{vector.at + n, 1}, Words{word});
}
// in_row returns the number of an element of a vector of vectors of width numbers.
inline int64_t in_row(int64_t row, int64_t column, int64_t width, const char* at)
{
    if (column < 0 || column >= width) {
        fail(std::string(at) + ": an element has no number " + std::to_string(column));
    }
    return row * width + column;
}
template <class T> T greatest(const Device& device, const Array& vector, const char* at)
{
    std::optional<T> most;
    for (uint32_t word : device.read(vector)) {
        T x;
        memcpy(&x, &word, sizeof x);
        most = most ? std::max(*most, x) : x;
    }
    if (!most) {
        fail(std::string(at) + ": max of a vector that is empty");
    }
    return *most;
}

// row_starts returns where the vertices' rows begin in row_targets, which are all neighbours.
inline Words row_starts(const Graph& g)
{
    Words starts(g.vertices);
    for (uint32_t v = 1; v < g.vertices; v++) {
        starts[v] = starts[v - 1] + g.degree(v - 1);
    }
    return starts;
}
inline Words row_targets(const Graph& g) { return g.out.ids; }

template <class T> T sum(const Device& device, const Array& vector)
{
    double total = 0;
    for (uint32_t word : device.read(vector)) {
        T x;
        memcpy(&x, &word, sizeof x);
        total += double(x);
    }
    return T(total);
}

// filled returns the words of a vector whose elements are all the same.
template <class T> Words filled(size_t n, T x)
{
    uint32_t word;
    memcpy(&word, &x, sizeof word);
    return Words(n, word);
}

// divide is the host's division of integers.
template <class T> T divide(T x, T y, const char* at)
{
    if (y == 0) {
        fail(std::string(at) + ": a division by 0");
    }
    return T(x / y);
}

// edges_of returns the number of edges in some rows.
inline uint64_t edges_of(const Rows& rows, const Words& list)
{
    uint64_t n = 0;
    for (uint32_t v : list) {
        n += rows.offsets[v + 1] - rows.offsets[v];
    }
    return n;
}

// argument returns the number that argv[n] is.
inline int32_t argument(const Options& options, size_t n, const char* at)
{
    if (n < 2 || n - 2 >= options.arguments.size()) {
        fail(std::string(at) + ": the program asks for argv[" + std::to_string(n) + "]: expected " +
            std::to_string(n - 1) + " arguments or more");
    }
    const std::string& text = options.arguments[n - 2];
    char* end;
    const long x = strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != 0 || x < INT32_MIN || x > INT32_MAX) {
        fail(std::string(at) + ": argv[" + std::to_string(n) + "] = " + text + ": expected a whole number of 32 bits");
    }
    return int32_t(x);
}

// print writes a line of the program's output to stderr: stdout has the report.
template <class... A> void print(const A&... values)
{
    std::ostringstream line;
    size_t n = 0;
    ((line << (n++ > 0 ? " " : "") << std::boolalpha << values), ...);
    fprintf(stderr, "%s\n", line.str().c_str());
}

// Result is a vector when the program has ended.
struct Result {
    const char* name;
    Words words;
};

// Expected is what heddle's evaluator has computed for one graph and one list of arguments: whole numbers, or those for
// which edges race; real numbers, and how far off their roundings may be; and what filters have kept.
class Expected {
public:
    Expected(const Options& options, const Graph& graph)
    {
        if (!options.check) {
            return;
        }
        if (!std::ifstream(options.expected)) {
            missing = "none: there is no " + options.expected;
            return;
        }
        File f(options.expected);
        if (f.text(8) != "HEDDLE-R") {
            fail(options.expected + ": expected the file that heddle gt build --cuda has written");
        }
        const auto n = f.number<uint32_t>(), m = f.number<uint32_t>();
        const auto hash = f.number<uint64_t>();
        std::vector<std::string> arguments(f.number<uint32_t>());
        for (auto& a : arguments) {
            a = f.text(f.number<uint32_t>());
        }
        if (n != graph.vertices || m != graph.edges || hash != digest(graph)) {
            missing = "none: " + options.expected + " is of another graph";
        } else if (arguments != options.arguments) {
            missing = "none: " + options.expected + " is of other arguments";
        }
        vectors.resize(f.number<uint32_t>());
        for (auto& v : vectors) {
            v.name = f.text(f.number<uint32_t>());
            v.real = f.number<uint32_t>() != 0;
            const auto length = f.number<uint32_t>();
            if (v.real) {
                for (uint32_t i = 0; i < length; i++) {
                    v.reals.push_back(f.number<double>());
                    v.bounds.push_back(f.number<double>());
                }
            } else {
                v.words = f.words(length);
                for (auto raced = f.number<uint32_t>(); raced > 0; raced--) {
                    const auto element = f.number<uint32_t>();
                    v.any[element] = f.words(f.number<uint32_t>());
                }
            }
        }
        filters.resize(f.number<uint32_t>());
        for (auto& x : filters) {
            x.kept = f.words(f.number<uint32_t>());
            x.undecided = f.words(f.number<uint32_t>());
        }
    }

    // check compares all vectors, and what each filter has kept.
    Verdict check(const std::vector<Result>& results, const std::vector<Words>& kept) const
    {
        Verdict verdict;
        verdict.reference = missing.empty() ? "heddle's evaluator" : missing;
        if (!missing.empty() || vectors.empty()) {
            return verdict;
        }
        for (size_t i = 0; i < filters.size(); i++) {
            Words differ;
            if (i < kept.size()) {
                std::set_symmetric_difference(filters[i].kept.begin(), filters[i].kept.end(), kept[i].begin(),
                    kept[i].end(), std::back_inserter(differ));
            } else {
                differ = filters[i].undecided; // within a fused loop nobody sees what is kept
            }
            for (uint32_t v : differ) {
                if (std::binary_search(filters[i].undecided.begin(), filters[i].undecided.end(), v)) {
                    verdict.reference = "none: rounding has decided otherwise for vertex " + std::to_string(v) +
                        " in filter " + std::to_string(i + 1);
                    return verdict;
                }
                verdict.compare("1 if a filter keeps it: that", v, 0, 1, 0);
            }
        }
        for (size_t i = 0; i < results.size(); i++) {
            compare(verdict, vectors.at(i), results[i]);
        }
        return verdict;
    }

private:
    struct Vector {
        std::string name;
        bool real = false;
        std::vector<double> reals, bounds;
        Words words;
        std::map<uint32_t, Words> any;
    };
    struct Filter {
        Words kept, undecided;
    };

    static void compare(Verdict& verdict, const Vector& want, const Result& got)
    {
        const size_t length = want.real ? want.reals.size() : want.words.size();
        if (want.name != got.name || length != got.words.size()) {
            fail("the expected vectors are another program's");
        }
        for (uint32_t n = 0; n < length; n++) {
            if (want.real) {
                float x;
                memcpy(&x, &got.words[n], sizeof x);
                const double bound = want.bounds[n]; // an unknown one accepts nothing else
                verdict.compare(got.name, n, double(x), want.reals[n], std::isfinite(bound) ? bound : 0);
                continue;
            }
            const auto any = want.any.find(n);
            if (any == want.any.end() ||
                std::find(any->second.begin(), any->second.end(), got.words[n]) == any->second.end()) {
                verdict.compare(got.name, n, double(int32_t(got.words[n])), double(int32_t(want.words[n])), 0);
            }
        }
    }

    // digest tells graphs apart (FNV-1a, by words).
    static uint64_t digest(const Graph& graph)
    {
        uint64_t h = 14695981039346656037u;
        for (const Words* list : {&graph.out.offsets, &graph.out.ids, &graph.out.weights}) {
            for (uint32_t word : *list) {
                h = (h ^ word) * 1099511628211u;
            }
        }
        return h;
    }

    std::string missing;
    std::vector<Vector> vectors;
    std::vector<Filter> filters;
};

} // namespace heddle
