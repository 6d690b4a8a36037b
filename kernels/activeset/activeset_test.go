package activeset_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/kernels/activeset"
	"heddle/kernels/emit"
	"heddle/kernels/emit/emittest"
	"heddle/kernels/ir"
)

const vertices = 77

// TestSuperSteps: vertices added in a super-step are active in the next, for any number of super-steps.
func TestSuperSteps(t *testing.T) {
	for _, c := range activeset.Choices() {
		for _, d := range activeset.Dedups() {
			t.Run(c.Name+"/"+d.Name, func(t *testing.T) { superSteps(t, c, d) })
		}
	}
}

// superSteps has every active vertex v add 2v and 2v+1, each twice, and 0 to begin with
// nothing to add; so 1 is followed by 2 and 3, then by 4 to 7.
func superSteps(t *testing.T, c *activeset.Choice, d *activeset.Dedup) {
	kernel := addNext(t, c, d)
	m := emittest.New(2, 2, 4)
	s := c.New(vertices, 1000, d)
	for _, a := range s.Arrays() {
		a.Addr = m.Place(make([]uint32, a.Words))
	}
	m.SetUp(t, "peg", accel.Edges{})
	require.NoError(t, s.Start(m, []uint32{1, 5}))
	want := []uint32{1, 5}
	for step := 0; len(want) > 0; step++ {
		if !c.Sized {
			require.Equal(t, want, unique(s.Active(m)), "super-step %d", step)
		}
		m.Run(t, kernel, arguments(m, s, c, step, want))
		want = after(want)
		n, err := s.Next(m)
		require.NoError(t, err)
		require.Equal(t, len(want) > 0, n > 0, "super-step %d", step)
		checkSize(t, c, d, int(n), want)
	}
}

// checkSize: a counter counts every addition, an exact dedup only the first. Without one,
// vertices that are there twice add the next ones twice as often.
func checkSize(t *testing.T, c *activeset.Choice, d *activeset.Dedup, n int, want []uint32) {
	switch {
	case c.Sized:
		require.Equal(t, 2*len(want), n)
	case (c.Lists || c.Outputs) && d.Name == "none":
		require.GreaterOrEqual(t, n, 2*len(want))
	case c.Lists && d.Name == "bytemap":
		require.GreaterOrEqual(t, n, len(want))
	case c.Lists:
		require.Equal(t, len(want), n)
	}
}

// addNext is the kernel. A set that only counts is told by a map of the test's.
func addNext(t *testing.T, c *activeset.Choice, d *activeset.Dedup) *ir.Kernel {
	k := emit.New("test")
	set := c.In(k, d)
	set.Clear()
	walk(k, c, set, func(v ir.Value) {
		holds := set.Holds(v)
		if holds == nil {
			holds = k.Ne(k.Load(ir.U32, k.Addr("active"), v), k.U32(0))
		}
		k.When(holds, func() {
			for i := range uint32(4) {
				next := k.Add(k.Add(v, v), k.U32(i/2))
				k.When(k.Lt(next, k.Count("vertices")), func() { set.Add(next) })
			}
		})
	})
	kernel, err := k.Build()
	require.NoError(t, err)
	return kernel
}

func arguments(m *emittest.Machine, s activeset.State, c *activeset.Choice, step int,
	active []uint32) map[string]uint32 {
	flags := make([]uint32, vertices)
	for _, v := range active {
		flags[v] = 1
	}
	args := map[string]uint32{"vertices": vertices, "step": uint32(step + 1), "active": m.Place(flags)}
	for _, a := range s.Arrays() {
		args[a.Role(step)] = a.Addr
	}
	for name, w := range s.Words() {
		args[name] = w
	}
	return args
}

func after(active []uint32) (next []uint32) {
	for _, v := range active {
		for _, x := range []uint32{2 * v, 2*v + 1} {
			if x < vertices {
				next = append(next, x)
			}
		}
	}
	return unique(next)
}

func unique(v []uint32) []uint32 {
	slices.Sort(v)
	return slices.Compact(v)
}

// A queue that is overrun says so.
func TestOverflow(t *testing.T) {
	queue, err := activeset.ByName("queue")
	require.NoError(t, err)
	none, err := activeset.DedupByName("none")
	require.NoError(t, err)
	m, s := emittest.New(1, 1, 1), queue.New(3, 4, none)
	for _, a := range s.Arrays() {
		a.Addr = m.Place(make([]uint32, a.Words))
	}
	require.NoError(t, s.Start(m, []uint32{0}))
	size := s.Arrays()[slices.IndexFunc(s.Arrays(), func(a *activeset.Array) bool { return a.Role(0) == "next.size" })]
	m.WriteWords(size.Addr, []uint32{7})
	n, err := s.Next(m)
	require.NoError(t, err)
	require.EqualValues(t, 7, n)
	m.WriteWords(size.Addr, []uint32{8})
	_, err = s.Next(m)
	require.ErrorContains(t, err, "added 8 vertices to a queue with room for 7")
}

func TestChoices(t *testing.T) {
	for _, c := range activeset.Choices() {
		require.NotEmpty(t, c.Doc)
		found, err := activeset.ByName(c.Name)
		require.NoError(t, err)
		require.Same(t, c, found)
	}
	for _, d := range activeset.Dedups() {
		require.NotEmpty(t, d.Doc)
		found, err := activeset.DedupByName(d.Name)
		require.NoError(t, err)
		require.Same(t, d, found)
	}
	_, err := activeset.ByName("heap")
	require.ErrorContains(t, err, `no active set "heap"`)
	_, err = activeset.DedupByName("sort")
	require.ErrorContains(t, err, fmt.Sprintf("no dedup %q", "sort"))
}
