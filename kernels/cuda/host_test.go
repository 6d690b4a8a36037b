package cuda_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/internal/testenv"
	"heddle/kernels/algorithm"
	"heddle/kernels/compose"
	"heddle/kernels/cuda"
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

// small is the machine that programs are exported for: two cores of two warps.
var small = host.Shape{Cores: 2, Warps: 2, Threads: cuda.Lanes, ScratchpadBytes: 16 << 10, LineBytes: 64}

// odd returns a graph of an odd size with empty rows, isolated vertices and a hub, which is in the second warp from
// seed 100 on; unless it has both directions of every edge, also with self-loops and duplicates.
func odd(t testing.TB, seed uint64, symmetric bool) *graph.Graph {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	n := 131 + int(seed)%7
	var text bytes.Buffer
	edges, seen := 0, map[[2]int]bool{}
	add := func(a, b int) {
		if symmetric {
			if a, b = max(a, b), min(a, b); a == b || seen[[2]int{a, b}] {
				return
			}
			seen[[2]int{a, b}] = true
		}
		fmt.Fprintf(&text, "%d %d %d\n", a+1, b+1, 1+r.IntN(9))
		edges++
	}
	for range 3 * n {
		add(r.IntN(n*2/3), r.IntN(n*3/4)) // the last quarter is isolated
	}
	hub := 5
	if seed >= 100 {
		hub = 40
	}
	for v := range n / 2 {
		add(hub, v)
	}
	kind := "general"
	if symmetric {
		kind = "symmetric"
	}
	name := filepath.Join(t.TempDir(), "odd.mtx")
	head := fmt.Sprintf("%%%%MatrixMarket matrix coordinate integer %s\n%d %d %d\n", kind, n, n, edges)
	require.NoError(t, os.WriteFile(name, append([]byte(head), text.Bytes()...), 0o600))
	g, err := graph.Load(graphspec.Graph{File: name})
	require.NoError(t, err)
	return g
}

// base is a workload with heddle's defaults.
func base(algorithm, schedule, layout, direction string) workload.Workload {
	w := workload.Workload{
		Kernel: workload.Compiled, Algorithm: workload.Algorithm(algorithm), Schedule: workload.Schedule(schedule),
		Layout: workload.Layout(layout), Direction: workload.Choice(direction), ActiveSet: workload.Auto,
		Dedup: workload.Auto, Order: "none", Scan: "shuffle", Skip: "early", HybridRule: "beamer", Sum: "register",
		Ahead: true, Coefficient: "hardware", Alpha: 4, Beta: 4, Source: -1, Target: -1, Seed: 1, Damping: 0.85,
		Width: 4, Fusion: "none", BlockBy: "destination",
	}
	switch algorithm {
	case "pagerank":
		w.Iterations = 2
	case "pagerank-delta":
		w.Threshold, w.Tolerance = 0.05, 1e-30
	}
	return w
}

// batch is programs that one compiler run builds, each in a namespace of its own.
type batch struct {
	dir      string
	flags    []string
	outlines []*compose.Outline
	mutate   func(text string) string // nil: programs are as exported
}

// folder returns the name of a program's folder.
func (b *batch) folder(i int) string { return filepath.Join(b.dir, strconv.Itoa(i)) }

// add exports a program; the error is that of a point which has no program.
func (b *batch) add(t testing.TB, g *graph.Graph, w workload.Workload) error {
	t.Helper()
	x, err := cuda.Export(t.Context(), small, g, w)
	if err != nil {
		return err
	}
	if b.mutate != nil {
		text := b.mutate(string(x.Text))
		require.NotEqual(t, string(x.Text), text, "the mutation changes nothing")
		x.Text = []byte(text)
	}
	require.NoError(t, x.Write(t.Context(), b.folder(len(b.outlines))))
	b.outlines = append(b.outlines, x.Outline)
	return nil
}

// build builds all programs into one.
func (b *batch) build(t testing.TB) {
	t.Helper()
	var text strings.Builder
	text.WriteString("#include \"0/heddle.h\"\n")
	for i := range b.outlines {
		fmt.Fprintf(&text, "namespace n%d {\n#define main program\n#include \"%d/program.cu\"\n#undef main\n}\n", i, i)
		if i > 0 { // one for all: #pragma once goes by the file
			for _, name := range cuda.Library {
				require.NoError(t, os.Remove(filepath.Join(b.folder(i), name)))
				require.NoError(t, os.Link(filepath.Join(b.folder(0), name), filepath.Join(b.folder(i), name)))
			}
		}
	}
	text.WriteString("int main(int argc, char** argv)\n{\n    switch (atoi(argv[1])) {\n")
	for i := range b.outlines {
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
	Result     string
	Error      string
	SuperSteps int    `json:"super_steps"`
	Edges      uint64 `json:"edges_handled"`
	Atomics    uint64
}

// run runs a program with the threads in an order. The error is the program's.
func (b *batch) run(t testing.TB, i int, order string, flags ...string) (r report, values []uint32, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	flags = append([]string{strconv.Itoa(i), "--repeat", "0", "--result", "result.bin"}, flags...)
	c := exec.CommandContext(ctx, filepath.Join(b.dir, "all"), flags...)
	c.Dir, c.Env = b.folder(i), append(os.Environ(), "HEDDLE_ORDER="+order, "ASAN_OPTIONS=detect_leaks=0")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return r, nil, fmt.Errorf("%w: %s%s", err, out, stderr.Bytes())
	}
	require.NoError(t, json.Unmarshal(out, &r), "%s", out)
	data, err := os.ReadFile(filepath.Join(c.Dir, "result.bin"))
	require.NoError(t, err)
	for i := 0; i < len(data); i += 4 {
		values = append(values, binary.LittleEndian.Uint32(data[i:]))
	}
	return r, values, nil
}

// check runs a program both ways round, and compares its result with heddle's reference and, if all vertices are active
// in every super-step, its edges and atomics with those of heddle's functional machine.
func (b *batch) check(t testing.TB, i int) {
	t.Helper()
	o := b.outlines[i]
	d, err := host.NewFunctional(machineOf(small), nil)
	require.NoError(t, err)
	want, err := compose.Run(t.Context(), d, o.Graph, o.Workload)
	require.NoError(t, err)
	edges := uint64(0)
	for _, s := range want.Steps {
		edges += s.Handled()
	}
	for _, order := range []string{"ascending", "descending"} {
		r, values, err := b.run(t, i, order)
		require.NoError(t, err, order)
		require.NotEqual(t, "wrong", r.Result, "%s: %s", order, r.Error)
		require.NoError(t, o.Verify(values, &algorithm.Outcome{Steps: r.SuperSteps, Ended: want.Converged,
			Stopped: want.Stopped, Residuals: residuals(&want)}), order)
		if o.Plan.Algorithm.Exact {
			require.Equal(t, want.Values, values, order)
		}
		if o.Plan.Algorithm.Dense {
			require.Equal(t, edges, r.Edges, "%s: edges handled", order)
			require.Equal(t, d.Machine.Stats().Atomics, r.Atomics, "%s: atomics", order)
		}
	}
}

func residuals(r *compose.Result) (list []float32) {
	for i := range r.Steps {
		list = append(list, r.Steps[i].Residual)
	}
	return list
}

// TestPrograms: a program of each algorithm under each software schedule, its layout, direction, frontier and the rest
// drawn anew by HEDDLE_SEED, executed by g++ with sanitizers, computes what heddle's functional machine does. Without
// HEDDLE_LONG it is a twenty-fourth of them without sanitizers, with 0, as in .ci/run, an eighth. TestAllPrograms has
// all combinations.
func TestPrograms(t *testing.T) {
	needCompiler(t)
	all, fused := compose.AllAndFused()
	pairs, order := map[string][]*compose.Plan{}, []string{}
	for _, p := range append(all, fused...) {
		if key := p.Algorithm.Name + " " + p.Schedule.Name; p.Schedule.Unit == nil {
			if pairs[key] == nil {
				order = append(order, key)
			}
			pairs[key] = append(pairs[key], p)
		}
	}
	r := rand.New(rand.NewPCG(testenv.Seed(t, 1), 7))
	flags, share := []string{"-O0"}, 24
	switch {
	case testenv.Long(t) > 0:
		share = 1
	case testenv.Slow():
		share = 8
	}
	if testenv.Slow() {
		flags = append(flags, "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
	}
	batches := make([]*batch, 1)
	if testenv.Slow() { // a compiler on each of two processors
		batches = make([]*batch, 2)
	}
	for i := range batches {
		batches[i] = &batch{dir: t.TempDir(), flags: flags}
	}
	for n, key := range order {
		if n%share != 0 {
			continue
		}
		for {
			p := pairs[key][r.IntN(len(pairs[key]))]
			w := workloadOf(p)
			w.Unroll = workload.Choice([]string{"1", "4", "auto"}[r.IntN(3)])
			err := batches[n/share%len(batches)].add(t, odd(t, uint64(n), p.Algorithm.Undirected), w)
			if !errors.As(err, new(*compose.KeyError)) { // which a value that the plan does not have would be
				require.NoError(t, err, p.Name())
				break
			}
			t.Logf("%s: %v", p.Name(), err)
		}
	}
	w := base("in-degree", "warp", "csr", "push") // lanes once did not meet behind an unrolled loop that none enters
	w.Scan, w.Unroll = "scratchpad", "4"
	require.NoError(t, batches[0].add(t, odd(t, 0, false), w))
	for i, b := range batches {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			b.build(t)
			for i, o := range b.outlines {
				t.Run(strings.ReplaceAll(o.Plan.Name(), "/", " "), func(t *testing.T) { b.check(t, i) })
			}
		})
	}
}
