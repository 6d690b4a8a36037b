package cpu

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/kernels/reference"
)

// used is the processor time of this process.
func used(t testing.TB) time.Duration {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestSpeed measures programs beside the plain references, in pairs, one after the other: GRAPHIT_SPEED is a graph's
// settings, with spaces between, such as "rmat.scale=17 rmat.edge_factor=8". A program's time is that of a run behind
// the first, by the difference between processes that run it once and several times. On one processor it is not more
// than 3 times the reference's.
func TestSpeed(t *testing.T) {
	settings := os.Getenv("GRAPHIT_SPEED")
	if settings == "" {
		t.Skip("GRAPHIT_SPEED is not set")
	}
	g := load(t, append(strings.Fields(settings), "clean.symmetrise=true", "clean.drop_duplicates=true",
		"clean.drop_self_loops=true", "weights.from=random", "weights.max=64")...)
	t.Logf("%d vertices, %d edges", g.Vertices(), g.Edges())
	const pairs, repeats = 5, 5
	for _, c := range []struct {
		name string
		run  func(g *graph.Graph, source uint32)
	}{
		{"bfs", func(g *graph.Graph, s uint32) { reference.Levels(g.CSR(), s) }},
		{"sssp", func(g *graph.Graph, s uint32) { reference.Distances(g, s) }},           //nolint:errcheck // it has been compared
		{"delta_stepping", func(g *graph.Graph, s uint32) { reference.Distances(g, s) }}, //nolint:errcheck // it has been compared
		{"cc", func(g *graph.Graph, _ uint32) { reference.Components(g.CSR()) }},
		{"k_core", func(g *graph.Graph, _ uint32) { reference.CoreNumbers(g.CSR()) }},
		{"pagerank", func(g *graph.Graph, _ uint32) { reference.PageRank[float32](g.CSR(), 0.85, 5) }},
		{"spmv", func(g *graph.Graph, _ uint32) { reference.SpMM(g, 1, make([]float32, g.Vertices())) }},
		{"bc", func(g *graph.Graph, s uint32) { reference.CheckDependencies(g.CSR(), s, make([]float32, g.Vertices())) }}, //nolint:errcheck // they are wrong
	} {
		x, a := compiled(t, parse(t, c.name, program(t, c.name)), false), args(c.name, g)
		source := uint32(0)
		if n, err := strconv.Atoi(a[len(a)-1]); err == nil {
			source = uint32(n)
		}
		g.CSC()
		measure := func(threads int) (cpu, wall time.Duration) {
			run := func(repeat int) (time.Duration, time.Duration) {
				r, err := x.Run(context.Background(), g,
					Options{Args: a, Threads: threads, Repeat: repeat, NoCheck: true})
				require.NoError(t, err)
				_, rest, _ := strings.Cut(r.Summary, " in ")
				seconds, _, _ := strings.Cut(rest, " s")
				w, err := strconv.ParseFloat(seconds, 64)
				require.NoError(t, err)
				return r.CPU, time.Duration(w * float64(time.Second))
			}
			once, _ := run(1)
			all, wall := run(1 + repeats)
			return (all - once) / repeats, wall
		}
		var ours, both, theirs, one, two []time.Duration
		for range pairs {
			before := used(t)
			c.run(g, source)
			theirs = append(theirs, used(t)-before)
			cpu, wall := measure(1)
			ours, one = append(ours, cpu), append(one, wall)
			cpu, wall = measure(2)
			both, two = append(both, cpu), append(two, wall)
		}
		median := func(list []time.Duration) float64 { slices.Sort(list); return list[len(list)/2].Seconds() * 1000 }
		o, r, b, w1, w2 := median(ours), median(theirs), median(both), median(one), median(two)
		t.Logf("| %s | %.1f | %.1f | %.2f | %.1f | %.1f | %.1f | %.2f |", c.name, o, r, o/r, b, w1, w2, w1/w2)
		require.Less(t, o, 3*r, c.name)
	}
}
