package compose

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/kernels/host"
)

// TestFloatRegistersSuffice: where values of these gathers live on the stack, none does with float registers; of loops
// that are unrolled as nvcc would, one at most.
func TestFloatRegistersSuffice(t *testing.T) {
	shape := host.Shape{Cores: 6, Warps: 32, Threads: 32, ScratchpadBytes: 16 << 10}
	spills := func(p *Plan) (n int) {
		c, err := Compile(p, shape)
		require.NoError(t, err)
		for _, x := range c.Kernels.passes() {
			n += c.Of(x.kernel).Stats.Spills
		}
		return n
	}
	for _, algorithm := range []string{"pagerank", "bfs", "sssp", "cc", "bc"} {
		for _, s := range []string{"cta", "twce"} {
			p, err := NewPlan(choose("algorithm="+algorithm, "schedule="+s))
			require.NoError(t, err)
			p.Weights = graph.IntWeights
			require.Greater(t, spills(p), 5, p.Name())
			for u, most := range map[Unrolling]int{Unrollings()[0]: 0, UnrollAuto: 1} {
				q := *p
				q.Unroll, q.Spill = u, SpillRegisters
				n := spills(&q)
				require.LessOrEqual(t, n, most, q.Name())
				t.Log(q.Name(), n)
			}
		}
	}
}
