package cpu

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
	"heddle/internal/testenv"
)

// counting counts its buckets: they must not be fused.
const counting = head + `
func lower(src : Vertex, dst : Vertex, w : int)
    pq.updatePriorityMin(dst, a[dst], a[src] + w);
end
func far(v : Vertex)
    a[v] = 1000000;
end
func main()
    vertices.apply(far);
    a[2] = 0;
    pq = new priority_queue{Vertex}(int)(false, false, a, 1, 2, false, 2);
    #loop# while (pq.finished() == false)
        var now : vertexset{Vertex} = pq.dequeue_ready_set();
        #one# edges.from(now).applyUpdatePriority(lower);
        total[0] += 1;
    end
end
`

// TestMutations: each pass's results matter to the program: without them the result is wrong, threads race, or the
// loops are not those that the schedule requires. Pass dedup is tested on machines (graphit/lower): a set here has no
// vertex twice, whatever the pass decides.
func TestMutations(t *testing.T) {
	testenv.NeedLong(t, "it compiles a program for each mutation, with the race detector")
	g := load(t, "rmat.scale=12", "rmat.edge_factor=8", "clean.symmetrise=true", "weights.from=random",
		"weights.max=40")
	bc, cc := program(t, "bc"), program(t, "cc")
	pull := "\nschedule:\nSimpleGPUSchedule s; s.configDirection(PULL, BOOLMAP); " +
		"program->applyGPUSchedule(\"loop:step\", s);"
	push := "\nschedule:\nSimpleGPUSchedule s; s.configDirection(PUSH); program->applyGPUSchedule(\"search:step\", s);"
	edges := func(change func(op *graphir.EdgeSetIterator)) func(p *graphir.Program) {
		return func(p *graphir.Program) {
			for _, op := range p.Edges {
				change(op)
			}
		}
	}
	for _, c := range []struct {
		pass, source string
		mutate       func(p *graphir.Program)
		// The mutation's effect; if neither, the program ends with an error.
		wrong, races bool
		loses        string // of the program in Go
	}{
		{pass: "schedule", source: cc + pull, loses: "input []uint32", mutate: edges(func(op *graphir.EdgeSetIterator) {
			op.Given, op.Direction, op.PullInputFrontier = map[string]bool{"direction": true}, graphir.Push,
				graphir.Sparse
		})},
		{pass: "frontier", source: cc + pull, loses: "words := m.spareWords()", mutate: edges(func(op *graphir.EdgeSetIterator) {
			op.OutputRepresentation = graphir.Sparse
		})},
		{pass: "dependence", source: bc + push, races: true, mutate: edges(func(op *graphir.EdgeSetIterator) {
			for i := range op.Accesses {
				op.Accesses[i].Index = graphir.AtSource
			}
		})},
		{pass: "liveness", source: bc, mutate: edges(func(op *graphir.EdgeSetIterator) { op.CanReuseFrontier = true })},
		{pass: "ordered", source: counting, wrong: true, mutate: func(p *graphir.Program) {
			q := p.Scalars[slices.IndexFunc(p.Scalars, func(v *graphit.Var) bool { return v.Name == "pq" })]
			p.Visit(func(s graphir.Stmt) {
				if loop, ok := s.(*graphir.While); ok {
					loop.Ordered = &graphir.Ordered{Queue: q, Vector: p.QueueVector(q), Op: p.Edges[0]}
				}
			})
		}},
	} {
		t.Run(c.pass, func(t *testing.T) {
			t.Parallel()
			require.True(t, slices.ContainsFunc(graphir.Passes, func(p graphir.Pass) bool { return p.Name == c.pass }))
			f := parse(t, "p.gt", c.source)
			if c.loses != "" {
				p, err := Build(f, nil)
				require.NoError(t, err)
				src, err := Body(p, false)
				require.NoError(t, err)
				require.Contains(t, string(src), c.loses)
				c.mutate(p)
				src, err = Body(p, false)
				require.NoError(t, err)
				require.NotContains(t, string(src), c.loses)
				return
			}
			o := Options{Args: []string{"p.gt", "graph", "2"}, Threads: 1, MaxSteps: 100000}
			if c.races {
				if !detects() {
					t.Skip("no race detector")
				}
				o.race, o.Threads = true, 4
			}
			r, err := Run(context.Background(), g, f, o)
			require.NoError(t, err)
			require.True(t, r.Verified)
			o.mutate = c.mutate
			_, err = Run(context.Background(), g, parse(t, "p.gt", c.source), o)
			switch {
			case c.races:
				require.ErrorContains(t, err, "DATA RACE")
			case c.wrong:
				require.ErrorIs(t, err, eval.ErrCheck)
			default: // a set that is no more is read
				require.ErrorContains(t, err, "nil pointer")
			}
		})
	}
}
