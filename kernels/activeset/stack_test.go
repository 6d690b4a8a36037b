package activeset_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/kernels/activeset"
	"heddle/kernels/emit"
	"heddle/kernels/emit/emittest"
	"heddle/kernels/ir"
)

// TestKept: the vertices of all super-steps are still there, and can be walked once more.
func TestKept(t *testing.T) {
	none, err := activeset.DedupByName("none")
	require.NoError(t, err)
	for _, name := range []string{"queue", "list", "outputs"} {
		c, err := activeset.ByName(name)
		require.NoError(t, err)
		m, s := emittest.New(2, 2, 4), c.Kept().New(vertices, 1000, none)
		for _, a := range s.Arrays() {
			a.Addr = m.Place(make([]uint32, a.Words))
		}
		m.SetUp(t, "peg", accel.Edges{})
		require.NoError(t, s.Start(m, []uint32{1}))
		add := addDoubled(t, c)
		var steps [][]uint32
		for want := []uint32{1}; len(want) > 0; want = after(want) {
			require.Equal(t, want, unique(s.Active(m)))
			steps = append(steps, want)
			if s, ok := s.(activeset.Compacter); ok {
				m.Run(t, compactKernel(t, c.Kept(), none), arguments(m, s.(activeset.State), c, 0, want))
				s.Compacted(m)
			}
			require.Equal(t, want, unique(s.Active(m)))
			m.Run(t, add, arguments(m, s, c, 0, want))
			n, err := s.Next(m)
			require.NoError(t, err)
			require.Len(t, after(want), int(n))
		}
		require.Len(t, steps, 7)
		walk := walkPast(t, c)
		for i := len(steps) - 1; i >= 0; i-- {
			s.(activeset.Keeper).Again(i)
			args := arguments(m, s, c, 0, nil)
			args["times"] = m.Place(make([]uint32, vertices))
			m.Run(t, walk, args)
			want := make([]uint32, vertices)
			for _, v := range steps[i] {
				want[v] = 1
			}
			require.Equal(t, want, m.Words(args["times"], vertices))
		}
	}
}

// addDoubled has every active vertex v add 2v and 2v+1, once.
func addDoubled(t *testing.T, c *activeset.Choice) *ir.Kernel {
	none, err := activeset.DedupByName("none")
	require.NoError(t, err)
	k := emit.New("test")
	set := c.Kept().In(k, none)
	if c.Queue {
		set = c.Kept().Compacted(k, set)
	}
	walk(k, c, set, func(v ir.Value) {
		for i := range uint32(2) {
			next := k.Add(k.Add(v, v), k.U32(i))
			k.When(k.Lt(next, k.Count("vertices")), func() { set.Add(next) })
		}
	})
	kernel, err := k.Build()
	require.NoError(t, err)
	return kernel
}

func walk(k *emit.Kernel, c *activeset.Choice, set activeset.Set, body func(v ir.Value)) {
	if c.OfUnit {
		k.ListVertices(k.U32(activeset.InList), body)
		return
	}
	k.Strided(set.Places(), func(place ir.Value) { body(set.Vertex(place)) })
}

// walkPast counts how often each vertex of a super-step before is walked.
func walkPast(t *testing.T, c *activeset.Choice) *ir.Kernel {
	k := emit.New("test")
	set := c.Back().In(k, nil)
	require.Nil(t, set.Holds(nil))
	k.Strided(set.Places(), func(place ir.Value) { k.AtomicAdd(k.Addr("times"), set.Vertex(place), k.U32(1)) })
	kernel, err := k.Build()
	require.NoError(t, err)
	return kernel
}

// TestNotKept: sets that visit every vertex are unchanged, and the backward pass tests every vertex.
func TestNotKept(t *testing.T) {
	counter, err := activeset.ByName("counter")
	require.NoError(t, err)
	for _, c := range activeset.Choices() {
		if !c.Lists && !c.Outputs {
			require.Same(t, c, c.Kept())
			require.Same(t, counter, c.Back())
		}
	}
}
