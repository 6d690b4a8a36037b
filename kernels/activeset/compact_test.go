package activeset_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/kernels/activeset"
	"heddle/kernels/emit"
	"heddle/kernels/emit/emittest"
	"heddle/kernels/ir"
)

// TestCompact: the list has each active vertex once, on machines of any shape and for any number of vertices, and a
// kernel that walks it sees these.
func TestCompact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	for _, name := range []string{"qnb-bitmap", "qnb-bytemap"} {
		c, err := activeset.ByName(name)
		require.NoError(t, err)
		compact, walk := compactKernel(t, c), walkKernel(t, c)
		for _, shape := range emittest.Shapes() {
			for _, n := range []int{1, 2, 31, 32, 33, 77, 200} {
				m, s := emittest.New(shape[0], shape[1], shape[2]), c.New(n, 1000, nil)
				args := map[string]uint32{"vertices": uint32(n), "times": m.Place(make([]uint32, n))}
				for _, a := range s.Arrays() {
					a.Addr = m.Place(make([]uint32, a.Words))
					args[a.Role(0)] = a.Addr
				}
				want := make([]uint32, n)
				var active []uint32
				for v := range want {
					if want[v] = uint32(r.IntN(2) * r.IntN(2)); want[v] > 0 {
						active = append(active, uint32(v))
					}
				}
				require.NoError(t, s.Start(m, active))
				m.Run(t, compact, args)
				s.(activeset.Compacter).Compacted(m)
				require.EqualValues(t, len(active), s.Words()["active.size"])
				args["active.size"] = s.Words()["active.size"]
				m.Run(t, walk, args)
				require.Equal(t, want, m.Words(args["times"], n), "%v, %d vertices", shape, n)
			}
		}
	}
}

func compactKernel(t *testing.T, c *activeset.Choice) *ir.Kernel {
	k := emit.New("compact")
	activeset.Compact(k, c.In(k, nil).Holds)
	kernel, err := k.Build()
	require.NoError(t, err)
	return kernel
}

// walkKernel counts how often each vertex of the list is walked.
func walkKernel(t *testing.T, c *activeset.Choice) *ir.Kernel {
	k := emit.New("walk")
	set := activeset.Compacted(k, c.In(k, nil))
	k.Strided(set.Places(), func(place ir.Value) { k.AtomicAdd(k.Addr("times"), set.Vertex(place), k.U32(1)) })
	kernel, err := k.Build()
	require.NoError(t, err)
	return kernel
}
