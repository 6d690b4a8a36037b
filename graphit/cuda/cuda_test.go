package cuda_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/cuda"
	"heddle/graphit/looptest"
	"heddle/graphit/lower"
	"heddle/graphit/programs"
	"heddle/internal/testenv"
	"heddle/isa/emu"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

// needCompiler skips a test where no g++ is installed.
func needCompiler(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		if os.Getenv("HEDDLE_REQUIRE_TOOLS") != "" {
			t.Fatal(err)
		}
		t.Skip("skipped: it builds exported programs with g++, which is not installed (apt-get install g++)")
	}
}

// small is the machine that programs are exported for.
var small = host.Shape{Cores: 2, Warps: 2, Threads: 32, ScratchpadBytes: 16 << 10, LineBytes: 64}

// odd returns a graph of an odd size, with both directions of every edge, isolated vertices and a hub.
func odd(t testing.TB, seed uint64) *graph.Graph {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	n := 131 + int(seed)%7
	var text strings.Builder
	seen := map[[2]int]bool{}
	add := func(a, b int) {
		if a, b = max(a, b), min(a, b); a == b || seen[[2]int{a, b}] {
			return
		}
		seen[[2]int{a, b}] = true
		fmt.Fprintf(&text, "%d %d %d\n", a+1, b+1, 1+r.IntN(9))
	}
	for range 3 * n {
		add(r.IntN(n*2/3), r.IntN(n*3/4))
	}
	for v := range n / 2 {
		add(5, v)
	}
	return matrix(t, "symmetric", n, text.String())
}

// matrix returns the graph of a matrix of n rows.
func matrix(t testing.TB, kind string, n int, entries string) *graph.Graph {
	t.Helper()
	head := fmt.Sprintf("%%%%MatrixMarket matrix coordinate integer %s\n%d %d %d\n", kind, n, n,
		strings.Count(entries, "\n"))
	g, err := graph.Read("odd.mtx", strings.NewReader(head+entries), graph.ReadOptions{})
	require.NoError(t, err)
	return g
}

// point is a program under a schedule.
type point struct {
	name, source string
	settings     []string // of the workload
}

func (p point) String() string { return p.name + " " + strings.Join(p.settings, " ") }

// program returns one of heddle's programs, with lines of a schedule of its own instead of what it has.
func program(t testing.TB, name, schedule string, settings ...string) point {
	t.Helper()
	src, err := programs.Source(name)
	require.NoError(t, err)
	text := string(src)
	if schedule != "" {
		text, _, _ = strings.Cut(text, "\nschedule:")
		text += "\nschedule:\n" + schedule
	}
	return point{name, text, append([]string{}, settings...)}
}

func parse(t testing.TB, p point) *graphit.File {
	t.Helper()
	f, err := graphit.Parse(p.name+".gt", []byte(p.source))
	require.NoError(t, err)
	require.NoError(t, graphit.Check(f))
	return f
}

// options are those of a point's run.
func options(t testing.TB, p point) lower.Options {
	t.Helper()
	w, err := workload.Parse(p.settings)
	require.NoError(t, err)
	return lower.Options{Args: []string{p.name, "graph", "4"}, Workload: w, MaxSteps: 5000}
}

// batch is programs that one compiler run builds, each in a namespace of its own.
type batch struct {
	dir    string
	flags  []string
	points []point
	graphs []*graph.Graph
	mutate func(text string) string // nil: programs are as exported
}

func (b *batch) folder(i int) string { return filepath.Join(b.dir, strconv.Itoa(i)) }

// add exports a program; the error is that of a point which has no program.
func (b *batch) add(t testing.TB, g *graph.Graph, p point) error {
	t.Helper()
	x, err := cuda.Export(small, g, parse(t, p), options(t, p))
	if err != nil {
		return err
	}
	if b.mutate != nil {
		text := b.mutate(string(x.Text))
		require.NotEqual(t, string(x.Text), text, "the mutation changes nothing")
		x.Text = []byte(text)
	}
	require.NoError(t, x.Write(t.Context(), b.folder(len(b.points)), true), "%s", p)
	b.points, b.graphs = append(b.points, p), append(b.graphs, g)
	return nil
}

// build builds all programs into one.
func (b *batch) build(t testing.TB) {
	t.Helper()
	var text strings.Builder
	text.WriteString("#include \"0/graphit.h\"\n")
	for i := range b.points {
		fmt.Fprintf(&text, "namespace n%d {\n#define main program\n#include \"%d/program.cu\"\n#undef main\n}\n", i, i)
		for _, name := range cuda.Library {
			if i > 0 { // one for all: #pragma once goes by the file
				require.NoError(t, os.Remove(filepath.Join(b.folder(i), name)))
				require.NoError(t, os.Link(filepath.Join(b.folder(0), name), filepath.Join(b.folder(i), name)))
			}
		}
	}
	text.WriteString("int main(int argc, char** argv)\n{\n    switch (atoi(argv[1])) {\n")
	for i := range b.points {
		fmt.Fprintf(&text, "    case %d: return n%d::program(argc - 1, argv + 1);\n", i, i)
	}
	text.WriteString("    }\n    return 9;\n}\n")
	name := filepath.Join(b.dir, "all.cpp")
	require.NoError(t, os.WriteFile(name, []byte(text.String()), 0o600))
	flags := append([]string{"-std=c++17", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-o",
		filepath.Join(b.dir, "all"), name}, b.flags...)
	out, err := exec.Command("g++", flags...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// report holds the output of a program.
type report struct {
	Result, Reference, Error string
	SuperSteps               int    `json:"super_steps"`
	Launches                 int    `json:"launches"`
	Edges                    uint64 `json:"edges_handled"`
}

// run runs a program twice, with the threads in an order. The error is the program's.
func (b *batch) run(t testing.TB, i int, order string, flags ...string) (r report, values []uint32, err error) {
	t.Helper()
	limit := 30 * time.Second
	if b.mutate != nil { // a mutant may never end; a program of such a size takes hundredths of a second
		limit = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	flags = append([]string{strconv.Itoa(i), "--repeat", "1", "--result", "result.bin"}, flags...)
	c := exec.CommandContext(ctx, filepath.Join(b.dir, "all"), flags...)
	c.Dir, c.Env = b.folder(i), append(os.Environ(), "HEDDLE_ORDER="+order, "ASAN_OPTIONS=detect_leaks=0")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if len(out) > 0 {
		require.NoError(t, json.Unmarshal(out, &r), "%s", out)
	}
	if err != nil {
		return r, nil, fmt.Errorf("%w: %s%s", err, out, stderr.Bytes())
	}
	data, err := os.ReadFile(filepath.Join(c.Dir, "result.bin"))
	require.NoError(t, err)
	for i := 0; i < len(data); i += 4 {
		values = append(values, binary.LittleEndian.Uint32(data[i:]))
	}
	return r, values, nil
}

// decided are programs whose traversals do not depend on the order of threads.
var decided = []string{"bfs", "bc", "k_core", "pagerank", "spmv", "all edges, twice", "its vertices and the next ones"}

// check runs a program both ways round. It compares its result with the evaluator's, and its edges, where they do not
// depend on the order of threads, with those of heddle's functional machine.
func (b *batch) check(t testing.TB, i int) {
	t.Helper()
	p := b.points[i]
	d, err := host.NewFunctional(emu.Config{Cores: small.Cores, Warps: small.Warps, Threads: small.Threads,
		ScratchpadBytes: small.ScratchpadBytes}, nil)
	require.NoError(t, err)
	want, err := lower.Run(t.Context(), d, b.graphs[i], parse(t, p), options(t, p))
	require.NoError(t, err)
	edges := uint64(0)
	for k := range want.Launched {
		edges += want.Launched[k].Edges
	}
	for _, order := range []string{"ascending", "descending"} {
		r, values, err := b.run(t, i, order)
		require.NoError(t, err, "%s, %s", p, order)
		require.Equal(t, "right", r.Result, "%s, %s: %s", p, order, r.Reference)
		at := 0
		for _, v := range want.Vectors {
			at += len(v.Words)
		}
		require.Len(t, values, at)
		if slices.Contains(decided, p.name) && !pulls(want.Plans) {
			require.Equal(t, edges, r.Edges, "%s, %s: edges handled", p, order)
			require.Equal(t, want.Steps, r.SuperSteps, "%s, %s: traversals", p, order)
		}
	}
}

// pulls reports whether an operator with a set may pull: when it stops early depends on the order of threads.
func pulls(plans []string) bool {
	return slices.ContainsFunc(plans, func(plan string) bool {
		return !strings.Contains(plan, "/push/") && !strings.Contains(plan, "/counter")
	})
}

func (b *batch) checkAll(t *testing.T) {
	b.build(t)
	for i, p := range b.points {
		t.Run(p.String(), func(t *testing.T) { b.check(t, i) })
	}
}

// apply is a schedule of one label.
func apply(label string, settings ...string) string {
	text := "SimpleGPUSchedule a;\n"
	for _, s := range settings {
		text += "a." + s + ";\n"
	}
	return text + "program->applyGPUSchedule(\"" + label + "\", a);\n"
}

// hybrid are two schedules, by the size of the set.
const hybrid = `SimpleGPUSchedule a;
a.configDirection(PUSH);
SimpleGPUSchedule b;
b.configDirection(PULL, BITMAP);
HybridGPUSchedule h(INPUT_VERTEXSET_SIZE, 0.2, a, b);
program->applyGPUSchedule("loop:step", h);
`

// sample are programs under schedules of each kind.
func sample(t testing.TB) []point {
	return []point{
		program(t, "bfs", hybrid),
		program(t, "bc", apply("search:step", "configFrontierCreation(UNFUSED_BOOLMAP)")),
		program(t, "pagerank_delta", "", "schedule=warp", "layout=virtual"),
		{"a queue's vertices", looptest.Fused(looptest.Programs["a queue's vertices"]), []string{"schedule=twc"}},
		program(t, "bfs", apply("loop:step", "configDirection(PULL, BITMAP)")),
		program(t, "cc", apply("loop:step", "configLoadBalance(TWC)", "configDeduplication(ENABLED, BITMAP)")),
		program(t, "sssp", apply("loop:step", "configLoadBalance(EDGE_ONLY)")),
		program(t, "delta_stepping", "", "schedule=cta"),
		program(t, "k_core", "", "schedule=strict"),
		program(t, "pagerank", apply("loop:step", "configLoadBalance(ETWC)", "configDirection(PUSH)")),
		program(t, "spmv", "", "schedule=warp"),
		{"its vertices and the next ones", looptest.Fused(looptest.Programs["its vertices and the next ones"]), nil},
		{"a filter's set, in counted rounds", looptest.Fused(looptest.Programs["a filter's set, in counted rounds"]),
			[]string{"active_set=bitmap"}},
		{"a filter's set, in counted rounds", looptest.Programs["a filter's set, in counted rounds"], nil}, // gets empty
	}
}

// TestPrograms: programs executed by g++ with sanitizers compute what the evaluator does. One of a sample, without
// sanitizers, while the others are exported only; HEDDLE_LONG=0 has two, HEDDLE_LONG=1 all of it, and all programs
// (TestAllPrograms).
func TestPrograms(t *testing.T) {
	needCompiler(t)
	b := &batch{dir: t.TempDir(), flags: sanitized}
	rest := &batch{dir: t.TempDir()}
	built := testenv.Cases(t, 2, 100)
	if !testenv.Slow() {
		b.flags = []string{"-O0"}
	}
	for i, p := range sample(t) {
		to := b
		if uint64(i) >= built {
			to = rest
		}
		require.NoError(t, to.add(t, odd(t, uint64(i)), p), "%s", p)
	}
	b.checkAll(t)
}

// TestLanguage: constructs that Check replaces by others have CUDA.
func TestLanguage(t *testing.T) {
	testenv.NeedSlow(t, "g++ compiles a program for each construct")
	needCompiler(t)
	b := &batch{dir: t.TempDir(), flags: []string{"-O0"}}
	for i, name := range slices.Sorted(maps.Keys(looptest.Language)) {
		require.NoError(t, b.add(t, odd(t, uint64(i)), point{name, looptest.Language[name], nil}), "%s", name)
	}
	b.checkAll(t)
}

var sanitized = []string{"-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}

// axes are the choices that settings of a workload make.
var axes = [][]string{
	{"schedule=vertex", "schedule=edge", "schedule=warp", "schedule=cta", "schedule=twc", "schedule=twce",
		"schedule=strict", "schedule=shard"},
	{"direction=push", "direction=pull", "direction=hybrid"},
	{"active_set=queue", "active_set=bitmap", "active_set=bytemap", "active_set=qnb-bitmap", "active_set=qnb-bytemap",
		"active_set=rqnb-bitmap"},
	{"layout=csr-csc", "layout=coo", "layout=block-coo", "layout=virtual", "layout=ell-csr", "layout=dia-coo",
		"layout=gshard", "layout=gshard-windows"},
	{"dedup=none", "dedup=bitmap", "dedup=bytemap", "dedup=monotonic"},
	{"sum=memory", "sum=atomic"}, {"ahead=false"}, {"unroll=4"}, {"scan=scratchpad"}, {"warps_per_core=1"},
	{"cta_threads=32"},
}

// TestAllPrograms: all programs, fused too, under every software schedule and under random choices on all axes.
// HEDDLE_CUDA_ONLY=bfs runs those with that in their names.
func TestAllPrograms(t *testing.T) {
	testenv.NeedLong(t, "it builds and runs hundreds of programs, for an hour")
	needCompiler(t)
	random := rand.New(rand.NewPCG(testenv.Seed(t, 5), 6))
	var sources []point
	for _, name := range programs.Names() {
		p := program(t, name, "")
		sources = append(sources, p)
		if strings.Contains(p.source, "#loop#") {
			sources = append(sources, point{name, looptest.Fused(p.source), nil})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(looptest.Language)) {
		sources = append(sources, point{name, looptest.Language[name], nil})
	}
	for _, name := range slices.Sorted(maps.Keys(looptest.Programs)) {
		sources = append(sources, point{name, looptest.Programs[name], nil},
			point{name, looptest.Fused(looptest.Programs[name]), nil})
	}
	b, n, refused := &batch{dir: t.TempDir(), flags: sanitized}, uint64(0), 0
	try := func(p point, settings ...string) bool {
		p.settings = settings
		err := b.add(t, odd(t, n), p)
		if err != nil {
			require.True(t, refusal(err), "%s: %v", p, err)
			refused++
			return false
		}
		if n++; len(b.points) == 30 {
			b.checkAll(t)
			b = &batch{dir: t.TempDir(), flags: [][]string{sanitized, {"-O1"}}[n/30%2]}
		}
		return true
	}
	sources = slices.DeleteFunc(sources, func(p point) bool {
		return !strings.Contains(p.name, os.Getenv("HEDDLE_CUDA_ONLY"))
	})
	for _, s := range axes[0] {
		for _, p := range sources {
			require.True(t, try(p, s), "%s under %s", p.name, s)
		}
	}
	for range 8 {
		for _, p := range sources {
			for !try(p, drawn(random)...) {
			}
		}
	}
	if len(b.points) > 0 {
		b.checkAll(t)
	}
	t.Logf("%d programs; %d choices refused", n, refused)
}

// drawn draws settings on all axes.
func drawn(random *rand.Rand) (settings []string) {
	for _, axis := range axes {
		if random.IntN(2) > 0 {
			settings = append(settings, axis[random.IntN(len(axis))])
		}
	}
	return settings
}

// refusal reports whether an error is that choices do not go together.
func refusal(err error) bool {
	var at *graphit.Error
	return errors.As(err, new(*compose.KeyError)) || errors.As(err, new(*compose.Refused)) || errors.As(err, &at)
}
