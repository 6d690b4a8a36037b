package lower

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/configs/schema"
	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
	"heddle/graphit/programs"
	"heddle/isa/emu"
	"heddle/kernels/graph"
	"heddle/kernels/graph/graphspec"
	"heddle/kernels/host"
	_ "heddle/units/all"
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

// TestMutations: what the passes have found out decides what the kernels are: with anything else the result is wrong,
// and the check says so.
func TestMutations(t *testing.T) {
	l, err := graphspec.Schema.Load(schema.Input{Set: []string{"rmat.scale=8", "rmat.edge_factor=8", "clean.symmetrise=true"}})
	require.NoError(t, err)
	g, err := graph.Load(l.Value)
	require.NoError(t, err)
	bc, err := programs.Source("bc")
	require.NoError(t, err)
	cc, err := programs.Source("cc")
	require.NoError(t, err)
	const scheduled = "\nschedule:\nSimpleGPUSchedule s; s.configLoadBalance(TWCE); s.configDirection(PULL, BITMAP); program->applyGPUSchedule(\"loop:step\", s);"
	for _, c := range []struct {
		name, source string
		workload     []string
		mutate       func(op *graphir.EdgeSetIterator)
		plan         string // what the operator's plan says, and does not with the mutation; "": its result is wrong then
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
			w, err := configs.ParseWorkload(c.workload)
			require.NoError(t, err)
			d, err := host.NewUntimed(emu.Config{Cores: 2, Warps: 4, Threads: 4, MaxInstrs: 50_000_000, Quantum: 7}, nil)
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
