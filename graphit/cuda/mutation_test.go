package cuda_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/graphit/cuda"
	"heddle/graphit/looptest"
	"heddle/graphit/lower"
	"heddle/graphit/programs"
	"heddle/internal/testenv"
)

// once replaces the first occurrence of a text.
func once(old, new string) func(text string) string {
	return func(text string) string { return strings.Replace(text, old, new, 1) }
}

// TestMutations: programs with an error of the kind that the writer of host programs could make do not pass.
func TestMutations(t *testing.T) {
	testenv.NeedLong(t, "g++ compiles a program for each mutation")
	needCompiler(t)
	const vertices = "its vertices and the next ones"
	loop := point{vertices, looptest.Fused(looptest.Programs[vertices]), nil}
	all := []struct {
		name   string
		point  point
		mutate func(text string) string
	}{
		{"arrays of a set not exchanged", program(t, "bfs", ""), once("heddle::rotate(step", "(void)sizeof(step")},
		{"a bucket that is too wide", program(t, "k_core", ""), once("pq.below", "pq.below + 1000")},
		{"a place of a counter not zeroed", loop, once("if (thread == 0) edges0_next_size[(turn + 2) % 3] = 0;", "")},
		{"a barrier of the grid dropped", loop, once("next_queue);\n        grid_barrier();", "next_queue);")},
		{"a filter's set that is empty", program(t, "pagerank_delta", ""), once("device.take(begin_size)", "0")},
		{"a set that is not saved", program(t, "bc", ""), once("step_frontier.holds(from)", "true")},
		{"edges of the wrong graph", program(t, "bc", "", "direction=pull"), once("graph.in()", "graph.out")},
		{"a scalar of another value", program(t, "pagerank", ""), once("0.85f", "0.84f")},
	}
	b := &batch{dir: t.TempDir(), flags: []string{"-O0", "-fwrapv"}}
	for i, m := range testenv.Some(t, 3, 3, all) {
		b.mutate = m.mutate
		require.NoError(t, b.add(t, directed(t, uint64(200+i)), m.point), m.name)
	}
	b.build(t)
	for i, p := range b.points {
		_, _, err := b.run(t, i, "ascending", "--blocks", "1")
		if err == nil {
			_, _, err = b.run(t, i, "descending")
		}
		assert.Error(t, err, "%s: not found", p)
		t.Log(p, err)
	}
}

// directed is a graph in which edges have one direction.
func directed(t testing.TB, seed uint64) *graph.Graph {
	t.Helper()
	var text strings.Builder
	g := odd(t, seed)
	for v := range g.Vertices() {
		for i, u := range g.CSR().Row(v) {
			if (v+int(u))%5 > 0 || v < int(u) {
				fmt.Fprintf(&text, "%d %d %d\n", v+1, u+1, g.CSR().Weights[int(g.CSR().Offsets[v])+i])
			}
		}
	}
	return matrix(t, "general", g.Vertices(), text.String())
}

// TestAnyGraph: a program that was exported without a graph runs on any, and says that nothing is checked; one with a
// graph says so of another graph and of other arguments.
func TestAnyGraph(t *testing.T) {
	testenv.NeedSlow(t, "g++ compiles programs")
	needCompiler(t)
	b := &batch{dir: t.TempDir(), flags: []string{"-O0"}}
	p := program(t, "bfs", "")
	g := odd(t, 3)
	require.NoError(t, b.add(t, g, p))
	without, err := cuda.Export(small, nil, parse(t, p), options(t, p))
	require.NoError(t, err)
	with, err := os.ReadFile(filepath.Join(b.folder(0), "program.cu"))
	require.NoError(t, err)
	require.Equal(t, string(with), string(without.Text), "the text does not depend on the graph")
	b.build(t)
	other := filepath.Join(t.TempDir(), "other.hgr")
	require.NoError(t, odd(t, 4).WriteFile(t.Context(), other))
	for _, c := range []struct {
		flags             []string
		result, reference string
	}{
		{nil, "right", "heddle's evaluator"},
		{[]string{"4"}, "right", "heddle's evaluator"},
		{[]string{"9"}, "not checked", "none: expected.bin is of other arguments"},
		{[]string{"--graph", other}, "not checked", "none: expected.bin is of another graph"},
		{[]string{"--expected", "nothing"}, "not checked", "none: there is no nothing"},
	} {
		r, _, err := b.run(t, 0, "ascending", c.flags...)
		require.NoError(t, err)
		require.Equal(t, c.result, r.Result)
		require.Equal(t, c.reference, r.Reference)
	}
	for flags, want := range map[string]string{
		"1000000": "bfs.gt:19:14: addVertex(1000000): the graph has vertices 0 to 133",
		"x":       "bfs.gt:17:24: argv[2] = x: expected a whole number of 32 bits",
		"--x":     "--x: there is no such flag",
	} {
		out, err := exec.Command(filepath.Join(b.dir, "all"), "0", "--graph", filepath.Join(b.folder(0), "graph.hgr"),
			flags).CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), want)
	}
}

// TestEveryProgram: the .gt files of the repository are exported, without a graph.
func TestEveryProgram(t *testing.T) {
	layout, err := os.ReadFile(filepath.Join("..", "testdata", "layout.gt"))
	require.NoError(t, err)
	all := []point{{"layout", string(layout), nil}}
	for _, name := range programs.Names() {
		all = append(all, program(t, name, ""))
	}
	for _, p := range all {
		x, err := cuda.Export(small, nil, parse(t, p), options(t, p))
		require.NoError(t, err, p.name)
		require.Empty(t, x.Arrays, p.name)
		require.NoError(t, x.Write(t.Context(), t.TempDir(), true), p.name)
	}
}

// TestRefused: what has no CUDA is refused with its line, or named by its key.
func TestRefused(t *testing.T) {
	text := func(name string) string { return program(t, name, "").source }
	two := strings.NewReplacer("const pq : ", "const other : priority_queue{Vertex}(int);\nconst pq : ", "    pq = new",
		"    other = new priority_queue{Vertex}(int)(false, false, distance, 1, 2, false, source);\n    pq = new",
	).Replace(text("delta_stepping"))
	for _, c := range []struct {
		source   string
		settings []string
		says     string
	}{
		{text("cc"), []string{"schedule=weaver"}, "p.gt:21:16: loop:step: workload.schedule = weaver needs the graph unit"},
		{text("bfs") + "\nschedule:\n" + apply("loop:step", "configLoadBalance(HWWL)"), nil,
			"p.gt:22:16: loop:step: workload.schedule = hwwl needs the graph unit hwwl"},
		{two, nil, "p.gt:7:1: a second priority queue: a program exported as CUDA has one"},
		{text("cc"), []string{"layout=virtual"}, "p.gt: a layout of its schedule has arrays of one graph: give the graph"},
		{text("cc"), []string{"warps_per_core=40"}, "machine.core.warps = 40: a core is a CUDA block, of at most 1024"},
	} {
		p := point{"p", c.source, c.settings}
		_, err := cuda.Export(small, nil, parse(t, p), options(t, p))
		require.ErrorContains(t, err, c.says)
	}
	p := program(t, "bfs", "")
	s := small
	s.Threads = 4
	_, err := cuda.Export(s, nil, parse(t, p), options(t, p))
	require.ErrorContains(t, err, "machine.core.threads = 4: CUDA's warps have 32 lanes")
	x, err := cuda.Export(small, odd(t, 1), parse(t, p), lower.Options{Args: []string{"bfs", "g"},
		Workload: options(t, p).Workload})
	require.NoError(t, err)
	require.ErrorContains(t, x.Write(t.Context(), filepath.Join(t.TempDir(), "x"), true), "the program asks for argv[2]")
}
