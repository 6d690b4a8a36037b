package compose

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/internal/testenv"
	"heddle/kernels/host"
	"heddle/kernels/layout"
	"heddle/kernels/workload"
)

// anyGraph has 1 to 40 vertices, and of edges as many as not, none, or some, with self-loops and duplicates if the
// algorithm allows.
func anyGraph(t testing.TB, r *rand.Rand, p *Plan) *graph.Graph {
	n := 1 + r.IntN(1+r.IntN(40))
	var lines []string
	seen := map[[2]int]bool{}
	for range r.IntN(1 + r.IntN(4*n)) {
		u, v := 1+r.IntN(1+r.IntN(n)), 1+r.IntN(n)
		if u < v {
			u, v = v, u // the lower triangle of a symmetric matrix
		}
		if u == v && p.Algorithm.NoLoops || seen[[2]int{u, v}] && p.Algorithm.NoDuplicates {
			continue
		}
		seen[[2]int{u, v}] = true
		lines = append(lines, fmt.Sprintf("%d %d %d", u, v, 1+r.IntN(9)))
	}
	return matrix(t, p.Algorithm.Undirected || r.IntN(2) > 0, n, lines)
}

// matrix is the graph of n vertices whose edges a file's lines give, one way, or both if they are in its lower
// triangle.
func matrix(t testing.TB, both bool, n int, lines []string) *graph.Graph {
	kind := "general"
	if both {
		kind = "symmetric"
	}
	text := fmt.Sprintf("%%%%MatrixMarket matrix coordinate integer %s\n%d %d %d\n%s\n", kind, n, n, len(lines),
		strings.Join(lines, "\n"))
	g, err := graph.Read("t.mtx", strings.NewReader(text), graph.ReadOptions{})
	require.NoError(t, err)
	return g
}

// anySize is a size at one of its ends or between.
func anySize(r *rand.Rand) int { return []int{1, 2, 3, 5 + r.IntN(40), 1 << 27}[r.IntN(5)] }

// anySizes gives the sizes that a layout heeds any values.
func anySizes(t testing.TB, r *rand.Rand, l *layout.Layout, w *workload.Workload) {
	for _, key := range l.Keys {
		switch key {
		case "block_vertices":
			w.BlockVertices = anySize(r)
		case "block_equal":
			w.BlockEqual = []workload.Choice{"vertices", "edges"}[r.IntN(2)]
		case "block_by": // the plan's: others may not be legal
		case "shard_vertices":
			w.ShardVertices = anySize(r)
			if w.Schedule == "shard" { // whose scratchpad has a word for each
				w.ShardVertices = min(w.ShardVertices, layout.DefaultShard)
			}
		case "virtual_degree":
			w.VirtualDegree = anySize(r)
		case "ell_width":
			w.ELLWidth = min(anySize(r), 64) // more takes the interpreter long: all slots are looked at
		case "dia_diagonals":
			w.Diagonals = min(anySize(r), layout.MostDiagonals)
		default:
			require.Fail(t, "no key "+key)
		}
	}
}

// TestLayoutsOfAllSizes: layouts that are made of sizes compute the right result with any, on any graph.
func TestLayoutsOfAllSizes(t *testing.T) {
	var plans []*Plan
	for _, p := range legal() {
		if p.Layout.Sized != nil {
			plans = append(plans, p)
		}
	}
	for i := range int(testenv.Cases(t, 40, 4000)) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(i), 7))
			p := plans[r.IntN(len(plans))]
			w, g := workloadOf(p), anyGraph(t, r, p)
			w.Source = r.IntN(g.Vertices())
			anySizes(t, r, p.Layout, &w)
			if orders := []workload.Choice{workload.Auto, Rows, Columns}; p.Layout.Columns != nil {
				w.SlotOrder = orders[r.IntN(len(orders))]
				if p.Schedule.Rows.Shared() {
					w.SlotOrder = orders[r.IntN(2)]
				}
			}
			if p.Algorithm.Target {
				if g.Vertices() == 1 {
					return
				}
				w.Target = (w.Source + 1) % g.Vertices()
			}
			var d host.Device = functional(t, p)
			if i%16 == 0 {
				d = timed(t, p)
			}
			res, err := Run(t.Context(), d, g, w)
			require.NoError(t, err, "%s on %d vertices, %d edges", p.Name(), g.Vertices(), g.Edges())
			require.True(t, res.Verified)
		})
	}
}
