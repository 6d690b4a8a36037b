package cuda_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// nth replaces an occurrence of a text, from 0.
func nth(n int, old, new string) func(text string) string {
	return func(text string) string {
		at := 0
		for ; n > 0; n-- {
			at += strings.Index(text[at:], old) + len(old)
		}
		return text[:at] + strings.Replace(text[at:], old, new, 1)
	}
}

// TestMutations: programs with an error of the kind that a printer could make do not pass: they compute a wrong result
// in one of the orders of threads, or threads miss each other.
func TestMutations(t *testing.T) {
	testenv.NeedLong(t, "g++ compiles a program for each mutation")
	needCompiler(t)
	b := &batch{dir: t.TempDir(), flags: []string{"-O0"}}
	mutations := []struct {
		name   string
		point  [4]string
		mutate func(text string) string
	}{
		{"first barrier dropped", [4]string{"pagerank", "cta", "csr", "push"}, nth(0, "__syncthreads();", "")},
		{"second barrier dropped", [4]string{"pagerank", "cta", "csr", "push"}, nth(1, "__syncthreads();", "")},
		{"third barrier dropped", [4]string{"pagerank", "cta", "csr", "push"}, nth(2, "__syncthreads();", "")},
		{"barrier of the grid dropped", [4]string{"bfs", "strict", "csr", "push"}, nth(0, "grid_barrier();", "")},
		{"a lane left out", [4]string{"bfs", "warp", "csr", "push"}, nth(1, "_sync(ALL_LANES", "_sync(ALL_LANES >> 1")},
		{"> for >=", [4]string{"spmv", "warp", "csr", "push"}, nth(0, "lane >= distance", "lane > distance")},
		{"one step of the search too few", [4]string{"pagerank", "warp", "csr", "push"}, nth(0, " << 3)", " << 2)")},
		{"<= for <", [4]string{"sssp", "vertex", "csr", "push"}, nth(0, " < end; ", " <= end; ")},
		{"a frontier not exchanged", [4]string{"bfs", "edge", "coo", "push"}, nth(0, "heddle::rotate(", "(void)sizeof(")},
		{"a barrier that some threads miss", [4]string{"cc", "twce", "csr", "push"},
			nth(1, "__syncthreads();", "if (lane > 3) __syncthreads();")},
	}
	for _, m := range mutations {
		b.mutate = m.mutate
		w := base(m.point[0], m.point[1], m.point[2], m.point[3])
		if m.name == "third barrier dropped" { // by shuffles, the next round's first barrier would do
			w.Scan = "scratchpad"
		}
		require.NoError(t, b.add(t, odd(t, 200, m.point[0] == "cc"), w), m.name)
	}
	b.build(t)
	for i, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			_, _, up := b.run(t, i, "ascending", "--blocks", "1")
			_, _, down := b.run(t, i, "descending", "--blocks", "1")
			require.False(t, up == nil && down == nil, "not found")
			t.Log(up, down)
		})
	}
}
