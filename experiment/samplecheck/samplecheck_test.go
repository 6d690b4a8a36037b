package samplecheck

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// smallWorld writes the edges of a ring of vertices that are joined to so many neighbours on each side, a tenth of
// which edges lead elsewhere (Watts and Strogatz, Nature 1998).
func smallWorld(t *testing.T, vertices, neighbours int) string {
	r := rand.New(rand.NewPCG(1, 4))
	var b strings.Builder
	for v := range vertices {
		for n := range neighbours {
			to := (v + n + 1) % vertices
			if r.IntN(10) == 0 {
				to = r.IntN(vertices)
			}
			fmt.Fprintln(&b, v, to)
		}
	}
	name := filepath.Join(t.TempDir(), "ring.txt")
	require.NoError(t, os.WriteFile(name, []byte(b.String()), 0o644))
	return name
}

// TestPhases: where all vertices have equally many edges, all warps of a core register vertices at the same time, and
// then all walk edges, at a third of the pace. An interval shows one or the other, unless it is as long as both.
func TestPhases(t *testing.T) {
	testenv.NeedSlow(t, "it simulates runs whole and sampled")
	keys := "file: " + smallWorld(t, 32768, 7) +
		", clean: {symmetrise: true, drop_self_loops: true, drop_duplicates: true}"
	row, err := Do(t.Context(), &Case{"small world", keys, []string{
		"machine=vortex-6c32w32t-weaver", "workload.algorithm=pagerank", "workload.schedule=weaver", "workload.max_iterations=3",
	}}, "sample.period=1000")
	require.NoError(t, err)
	t.Logf("%.0f: %.0f ± %.0f, %+.1f %%", row.Whole.Cycles, row.Sampled.Cycles, row.Sampled.Half, 100*row.Error())
	require.True(t, row.Holds())
	require.Less(t, math.Abs(row.Error()), 0.12)
}
