package compose

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/kernels/workload"
)

// odd draws a graph: of one vertex, without edges, or of any size. Every edge is there in both directions, and once if
// that is asked.
func odd(r *rand.Rand, once bool) *graph.Graph {
	n := 1 + r.IntN(90)
	var lines []string
	for range r.IntN(3) * r.IntN(4*n) {
		a, b := 1+r.IntN(n), 1+min(r.IntN(n), r.IntN(n))
		ends := fmt.Sprintf("%d %d ", max(a, b), min(a, b))
		if a == b || once && slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, ends) }) {
			continue
		}
		lines = append(lines, fmt.Sprint(ends, r.IntN(9)))
	}
	if r.IntN(6) == 0 {
		return read(1)
	}
	return read(n, lines...)
}

// runOdd runs a plan without time. A graph without edges has no weights, and so another program.
func runOdd(t *testing.T, p *Plan, g *graph.Graph, w workload.Workload) (Result, error) {
	if g.WeightKind() == graph.NoWeights {
		return Run(t.Context(), functional(t, p), g, w)
	}
	return compiled(t, p, g).Run(t.Context(), functional(t, p), g, w)
}

// TestOddGraphs: combinations are right on graphs of one vertex, without edges, with edges that are there several
// times, and of sizes that fit nothing.
func TestOddGraphs(t *testing.T) {
	for i, p := range share(t, legal, thinned(covering, 20), 0) {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(i), 5))
			for range 3 {
				g := odd(r, p.Algorithm.NoDuplicates)
				w := workloadOf(p)
				w.Source, w.Target = r.IntN(g.Vertices()), r.IntN(g.Vertices())
				if p.Algorithm.Target && w.Source == w.Target {
					continue
				}
				res, err := runOdd(t, p, g, w)
				require.NoError(t, err, "%d vertices, %d edges, from %d", g.Vertices(), g.Edges(), w.Source)
				require.True(t, res.Verified)
			}
		})
	}
}
