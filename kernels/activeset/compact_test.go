package activeset_test

import (
	"maps"
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
		compact, walk := compactKernel(t, c, nil), walkKernel(t, c)
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

// TestOutputs: the list has every vertex among the outputs, and an exact dedup leaves each once, of any number of
// outputs; the host counts those with a vertex, and next to none is left for the step after.
func TestOutputs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	c, err := activeset.ByName("outputs")
	require.NoError(t, err)
	for _, d := range activeset.Dedups() {
		compact, walk, store := compactKernel(t, c, d), walkKernel(t, c), storeOutputs(t)
		for _, shape := range emittest.Shapes() {
			for _, n := range []int{1, 2, 31, 32, 33, 300} {
				m, s := emittest.New(shape[0], shape[1], shape[2]), c.New(77, 300, d)
				args := map[string]uint32{"vertices": 77, "step": 2, "times": m.Place(make([]uint32, 77))}
				for _, a := range s.Arrays() {
					a.Addr = m.Place(make([]uint32, a.Words))
					args[a.Role(0)] = a.Addr
				}
				words, times, some := make([]uint32, n), make([]uint32, 77), uint32(0)
				for i := range words {
					if words[i] = activeset.NoOutput; r.IntN(3) > 0 {
						words[i] = uint32(r.IntN(77))
						times[words[i]]++
						some++
					}
				}
				args["words"], args["count"] = m.Place(words), uint32(n)
				m.Run(t, store, args)
				counted, err := s.Next(m)
				require.NoError(t, err)
				require.Equal(t, some, counted)
				maps.Copy(args, s.Words())
				m.Run(t, compact, args)
				s.(activeset.Compacter).Compacted(m)
				maps.Copy(args, s.Words())
				m.Run(t, walk, args)
				for v, got := range m.Words(args["times"], 77) {
					if least := min(times[v], 1); d.Exact() {
						require.Equal(t, least, got)
					} else {
						require.LessOrEqual(t, least, got)
						require.LessOrEqual(t, got, times[v])
					}
				}
				none, err := s.Next(m)
				require.NoError(t, err)
				require.Zero(t, none)
			}
		}
	}
}

// storeOutputs stores words as the outputs of as many edges.
func storeOutputs(t *testing.T) *ir.Kernel {
	k := emit.New("store")
	activeset.CountOutputs(k, k.Count("count"))
	k.Strided(k.Count("count"), func(i ir.Value) {
		activeset.Output(k, i, k.Load(ir.U32, k.Addr("words"), i))
	})
	kernel, err := k.Build()
	require.NoError(t, err)
	return kernel
}

func compactKernel(t *testing.T, c *activeset.Choice, d *activeset.Dedup) *ir.Kernel {
	k := emit.New("compact")
	c.Compact(k, d, c.In(k, d).Holds)
	kernel, err := k.Build()
	require.NoError(t, err)
	return kernel
}

// walkKernel counts how often each vertex of the list is walked.
func walkKernel(t *testing.T, c *activeset.Choice) *ir.Kernel {
	k := emit.New("walk")
	set := c.Compacted(k, c.In(k, nil))
	k.Strided(set.Places(), func(place ir.Value) { k.AtomicAdd(k.Addr("times"), set.Vertex(place), k.U32(1)) })
	kernel, err := k.Build()
	require.NoError(t, err)
	return kernel
}

// TestOutputsFit: more edges than there is room for their outputs, or more listed vertices than the list has room for,
// are an error, whether the vertices of all super-steps are kept or not.
func TestOutputsFit(t *testing.T) {
	outputs, err := activeset.ByName("outputs")
	require.NoError(t, err)
	for _, c := range []*activeset.Choice{outputs, outputs.Kept()} {
		for _, d := range activeset.Dedups() {
			m, s := emittest.New(1, 1, 1), c.New(7, 20, d)
			var size, list *activeset.Array
			words := uint64(0)
			for _, a := range s.Arrays() {
				a.Addr = m.Place(make([]uint32, a.Words))
				switch a.Role(0) {
				case "next.outputs":
					words = uint64(a.Words)
				case "compact.size", "stack.top":
					size = a
				case "active.queue", "stack":
					list = a
				}
			}
			require.GreaterOrEqual(t, words, uint64(20))
			for _, x := range []struct {
				listed int
				edges  uint64
				fails  string
			}{
				{list.Words, words, ""}, {list.Words, words + 1, "edges, and room for the outputs of"},
				{list.Words + 1, 1, "vertices to a queue with room for"},
			} {
				m.WriteWords(size.Addr, []uint32{uint32(x.listed)})
				s.(activeset.Compacter).Compacted(m)
				err := s.(activeset.Walked).Fits(x.edges)
				if x.fails == "" {
					require.NoError(t, err)
				} else {
					require.Error(t, err)
					require.Regexp(t, x.fails, err.Error())
				}
			}
		}
	}
}
