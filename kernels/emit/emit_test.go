package emit_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/kernels/emit"
	"heddle/kernels/emit/emittest"
	"heddle/kernels/ir"
)

func everyShape(t *testing.T, test func(t *testing.T, m *emittest.Machine)) {
	for _, s := range emittest.Shapes() {
		t.Run(fmt.Sprint(s), func(t *testing.T) { test(t, emittest.New(s[0], s[1], s[2])) })
	}
}

// Every number has one thread.
func TestStrided(t *testing.T) {
	everyShape(t, func(t *testing.T, m *emittest.Machine) {
		k := emit.New("test")
		k.Strided(k.Count("n"), func(i ir.Value) { k.AtomicAdd(k.Addr("times"), i, k.Add(i, k.U32(1))) })
		kernel, err := k.Build()
		require.NoError(t, err)
		for _, n := range []int{0, 1, 5, 24, 100} {
			times := m.Place(make([]uint32, n+1))
			m.Run(t, kernel, map[string]uint32{"n": uint32(n), "times": times})
			got := m.Words(times, n+1)
			for i := range n {
				require.EqualValues(t, i+1, got[i])
			}
			require.Zero(t, got[n])
		}
	})
}

// A warp's lanes take neighbouring numbers, a core's warps take turns with the other cores'.
func TestStridedSpreads(t *testing.T) {
	const cores, warps, lanes, n = 3, 2, 4, 30
	m := emittest.New(cores, warps, lanes)
	k := emit.New("test")
	k.Strided(k.Count("n"), func(i ir.Value) {
		k.Store(k.Addr("who"), i, k.Add(k.Mul(k.WarpID(), k.U32(10)), k.CoreID()))
	})
	kernel, err := k.Build()
	require.NoError(t, err)
	who := m.Place(make([]uint32, n))
	m.Run(t, kernel, map[string]uint32{"n": n, "who": who})
	for i, got := range m.Words(who, n) {
		require.EqualValues(t, i/lanes/cores%warps*10+i/lanes%cores, got, i)
	}
}

func TestWipe(t *testing.T) {
	everyShape(t, func(t *testing.T, m *emittest.Machine) {
		k := emit.New("test")
		k.Wipe(k.Addr("words"), k.Count("n"))
		kernel, err := k.Build()
		require.NoError(t, err)
		at := m.Place(slices.Repeat([]uint32{7}, 40))
		m.Run(t, kernel, map[string]uint32{"n": 39, "words": at})
		require.Equal(t, append(make([]uint32, 39), 7), m.Words(at, 40))
	})
}

func TestSearches(t *testing.T) {
	m := emittest.New(1, 2, 4)
	for _, row := range [][]uint32{{0}, {0, 0, 0}, {0, 1, 1, 1, 4, 9, 9}, {0, 3, 5, 7, 9, 11, 13, 20}} {
		k := emit.New("test")
		k.Strided(k.U32(32), func(i ir.Value) {
			at := k.LastNotAbove(i, k.Count("n"), func(j ir.Value) ir.Value { return k.Load(ir.U32, k.Addr("row"), j) })
			k.Store(k.Addr("out"), i, at)
			known := k.FirstAbove(i, len(row), func(j ir.Value) ir.Value { return k.Load(ir.U32, k.Addr("row"), j) })
			k.Store(k.Addr("above"), i, known)
		})
		kernel, err := k.Build()
		require.NoError(t, err)
		out, above := m.Place(make([]uint32, 32)), m.Place(make([]uint32, 32))
		m.Run(t, kernel, map[string]uint32{"n": uint32(len(row)), "row": m.Place(row), "out": out, "above": above})
		for key, got := range m.Words(above, 32) {
			want := slices.IndexFunc(row, func(x uint32) bool { return x > uint32(key) })
			if want < 0 {
				want = len(row) - 1
			}
			require.EqualValues(t, want, got, "above %d in %v", key, row)
		}
		for key, got := range m.Words(out, 32) {
			want := 0
			for i, x := range row {
				if x <= uint32(key) {
					want = i
				}
			}
			require.EqualValues(t, want, got, "%d in %v", key, row)
		}
	}
}

func TestWarpSum(t *testing.T) {
	everyShape(t, func(t *testing.T, m *emittest.Machine) {
		k := emit.New("test")
		sum := k.WarpSum(k.ToF32(k.Add(k.GlobalThread(), k.U32(1))), m.Threads)
		k.When(k.Eq(k.LaneID(), k.U32(0)), func() { k.AtomicAddF(k.Addr("sum"), nil, sum) })
		kernel, err := k.Build()
		require.NoError(t, err)
		at := m.Place([]uint32{0})
		m.Run(t, kernel, map[string]uint32{"sum": at})
		n := m.Cores * m.Warps * m.Threads
		require.Equal(t, float32(n*(n+1)/2), math.Float32frombits(m.Words(at, 1)[0]))
	})
}

// TestReductions: atomic sums of all threads and sums of a thread that has the value alone
// come to the same, and both tell of changes.
func TestReductions(t *testing.T) {
	two := math.Float32bits(2)
	for _, c := range []struct {
		r                *emit.Reduction
		first, term, end uint32
		changes          bool
	}{
		{emit.AddF32, 0, two, math.Float32bits(2 * 24), false},
		{emit.AddU32, 0, 3, 3 * 24, false},
		{emit.MinU32, 5, 3, 3, true},
		{emit.MinU32, 3, 5, 3, false},
		{emit.MinU32, 3, 3, 3, false},
		{emit.ClaimU32, math.MaxUint32, 7, 7, true},
		{emit.ClaimU32, 8, 7, 8, false},
		{emit.PathsF32, 0, two, math.Float32bits(2 * 24), true},
		{emit.FollowU32, 6, 7, 7, true},
		{emit.FollowU32, 7, 7, 7, false},
		{emit.FollowU32, 5, 7, 5, false},
		{emit.FollowU32, 6, 0, 6, false},
	} {
		for _, how := range []string{"atomic", "alone", "alone, not ahead", "plain"} {
			k := emit.New("test")
			changed := func() { k.AtomicAdd(k.Addr("changes"), nil, k.U32(1)) }
			term := k.Param("term", c.r.Type)
			each := func(do func()) { k.For(k.U32(0), k.U32(24), k.U32(1), func(ir.Value) { do() }) }
			switch how {
			case "atomic":
				c.r.Atomic(k, k.Addr("value"), k.U32(1), term, changed)
			case "plain":
				k.When(k.Eq(k.GlobalThread(), k.U32(0)), func() {
					each(func() { c.r.Plain(k, k.Addr("value"), k.U32(1), term, changed) })
				})
			default:
				k.When(k.Eq(k.GlobalThread(), k.U32(0)), func() {
					o := c.r.Own(k, k.Addr("value"), k.U32(1), how == "alone")
					each(func() { o.Take(func() ir.Value { return term }) })
					o.End(k.U32(1), changed)
				})
			}
			kernel, err := k.Build()
			require.NoError(t, err)
			m := emittest.New(2, 3, 4)
			value, changes := m.Place([]uint32{99, c.first}), m.Place([]uint32{0})
			m.Run(t, kernel, map[string]uint32{"value": value, "changes": changes, "term": c.term})
			require.Equal(t, []uint32{99, c.end}, m.Words(value, 2), "%s %s", c.r.Name, how)
			require.Equal(t, c.changes, m.Words(changes, 1)[0] == 1, "%s %s", c.r.Name, how)
		}
	}
}
