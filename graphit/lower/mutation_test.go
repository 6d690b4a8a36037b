package lower

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	_ "heddle/components/all"
	"heddle/configs/schema"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
	"heddle/graphit/programs"
	"heddle/isa/emu"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

const hooking = `
element Vertex end
element Edge end
const edges : edgeset{Edge}(Vertex, Vertex) = load(argv[1]);
const A : vector{Vertex}(int) = 0;
const B : vector{Vertex}(int) = 0;
func both(src : Vertex, dst : Vertex)
    A[dst] += 1;
    B[src] += 1;
end
func main()
    edges.apply(both);
end
`

// TestMutations: the passes' results determine the kernels: with any other, the result is wrong, and the check detects
// it.
func TestMutations(t *testing.T) {
	l, err := graphspec.Schema.Load(schema.Input{Set: []string{"rmat.scale=8", "rmat.edge_factor=8",
		"clean.symmetrise=true"}})
	require.NoError(t, err)
	g, err := graph.Load(l.Value)
	require.NoError(t, err)
	bc, err := programs.Source("bc")
	require.NoError(t, err)
	cc, err := programs.Source("cc")
	require.NoError(t, err)
	const scheduled = "\nschedule:\nSimpleGPUSchedule s; s.configLoadBalance(TWCE); s.configDirection(PULL, BITMAP); " +
		"program->applyGPUSchedule(\"loop:step\", s);"
	for _, c := range []struct {
		name, source string
		workload     []string
		mutate       func(op *graphir.EdgeSetIterator)
		plan         string // a part of the operator's plan that the mutation removes; "": the result is wrong instead
	}{
		{"accesses are not atomic", hooking, []string{"schedule=edge", "direction=push"}, func(op *graphir.EdgeSetIterator) {
			for i := range op.Accesses {
				op.Accesses[i].Atomic = false
			}
		}, ""},
		{"a filter is forgotten", string(bc), []string{"schedule=edge", "direction=push"}, func(op *graphir.EdgeSetIterator) {
			if op.Transposed { // on the way back
				op.DstFilter = nil
			}
		}, ""},
		{"vertices are there twice", string(bc), []string{"schedule=vertex", "active_set=queue", "dedup=none"}, func(op *graphir.EdgeSetIterator) { op.ApplyDeduplication = false }, ""},
		{"a schedule is forgotten", string(cc) + scheduled, nil, func(op *graphir.EdgeSetIterator) { op.Given = map[string]bool{} }, "twce"},
		{"a frontier's form is forgotten", string(cc) + scheduled, nil, func(op *graphir.EdgeSetIterator) { op.OutputRepresentation = graphir.Sparse }, "/bitmap"},
	} {
		for _, mutated := range []bool{false, true} {
			f, err := graphit.Parse("p.gt", []byte(c.source))
			require.NoError(t, err)
			require.NoError(t, graphit.Check(f))
			w, err := workload.Parse(c.workload)
			require.NoError(t, err)
			d, err := host.NewFunctional(emu.Config{Cores: 2, Warps: 4, Threads: 4, MaxInstrs: 50_000_000, Quantum: 7},
				nil)
			require.NoError(t, err)
			o := Options{Args: []string{"p", "g", "1"}, Output: io.Discard, Workload: w, MaxSteps: 1000}
			if mutated {
				o.mutate = c.mutate
			}
			r, err := Run(context.Background(), d, g, f, o)
			switch {
			case mutated && c.plan == "":
				require.ErrorIs(t, err, eval.ErrCheck, c.name)
				continue
			case mutated:
				require.NotContains(t, r.Plans[0], c.plan, c.name)
			case c.plan != "":
				require.Contains(t, r.Plans[0], c.plan, c.name)
			}
			require.NoError(t, err, c.name)
		}
	}
}

// TestFusedMutations: a fused loop that does anything else than the host's would is found.
func TestFusedMutations(t *testing.T) {
	l, err := graphspec.Schema.Load(schema.Input{Set: []string{"rmat.scale=7", "rmat.edge_factor=4",
		"clean.symmetrise=true", "weights.from=random", "weights.max=20"}})
	require.NoError(t, err)
	g, err := graph.Load(l.Value)
	require.NoError(t, err)
	const fuse = "\nSimpleGPUSchedule f; f.configKernelFusion(ENABLED); program->applyGPUSchedule(\"loop\", f);"
	for _, c := range []struct {
		name, program string
		mutate        func(l *compose.FusedLoop, rounds *int64)
		says          string
	}{
		{"a round too few", "pagerank", func(_ *compose.FusedLoop, rounds *int64) { *rounds-- }, "the device's loop has ended where the host's would run"},
		{"a round too many", "pagerank", func(_ *compose.FusedLoop, rounds *int64) { *rounds++ }, "where the host's ends"},
		{"counted rounds, though there are vertices", "cc", func(l *compose.FusedLoop, rounds *int64) { l.Counted, *rounds = true, 2 }, "the device's loop has ended"},
		{"buckets of another width", "delta_stepping", func(l *compose.FusedLoop, _ *int64) { l.Buckets.Delta = 2 }, "the device's bucket has queue.below"},
		{"no end of a set", "bc up", func(l *compose.FusedLoop, _ *int64) { l.Lists = nil }, "the device's list has 1 sets"},
		{"a set popped off in place of one appended", "bc up",
			func(l *compose.FusedLoop, _ *int64) { l.Lists[0].Pop = l.Lists[0].Append }, "the device's list has"},
		{"the same set again", "bc down", func(l *compose.FusedLoop, _ *int64) { l.Lists = nil }, "the device pops"},
		{"a level too few", "bc down", func(_ *compose.FusedLoop, rounds *int64) { *rounds-- }, "the device's loop has ended"},
		{"what nobody is below", "k_core", func(l *compose.FusedLoop, _ *int64) { l.Buckets.Greatest = 0 }, ""},
	} {
		for _, mutated := range []bool{false, true} {
			name, which, _ := strings.Cut(c.program, " ")
			source, err := programs.Source(name)
			require.NoError(t, err)
			text := string(source)
			if label := map[string]string{"up": "#search#", "down": "#return#"}[which]; label != "" {
				text = strings.Replace(text, label, "#loop#", 1)
			}
			if c.program != "delta_stepping" {
				text += "\nschedule:"
			}
			f, err := graphit.Parse("p.gt", []byte(text+fuse))
			require.NoError(t, err)
			require.NoError(t, graphit.Check(f))
			w, err := workload.Parse(nil)
			require.NoError(t, err)
			d, err := host.NewFunctional(emu.Config{Cores: 2, Warps: 4, Threads: 4, MaxInstrs: 50_000_000, Quantum: 7},
				nil)
			require.NoError(t, err)
			o := Options{Args: []string{"p", "g", "3"}, Output: io.Discard, Workload: w, MaxSteps: 1000}
			if mutated {
				o.fused = c.mutate
			}
			_, err = Run(context.Background(), d, g, f, o)
			if mutated {
				require.ErrorContains(t, err, c.says, c.name)
				continue
			}
			require.NoError(t, err, c.name)
		}
	}
}
