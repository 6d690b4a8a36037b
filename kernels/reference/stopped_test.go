package reference

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
)

// paths is how distances from a vertex spread.
func paths(t *testing.T, g *graph.Graph, source uint32) *Relaxation {
	final, err := Distances(g, source)
	require.NoError(t, err)
	length, err := Lengths(g)
	require.NoError(t, err)
	first := unreached(g.Vertices())
	first[source] = 0
	return &Relaxation{Quantity: "distance", Out: g.CSR(), Length: length, First: first, Final: final}
}

// TestRelaxationFindsWhatIsWrong: of a run stopped after two super-steps, each kind of wrong value, and no right one.
func TestRelaxationFindsWhatIsWrong(t *testing.T) {
	// A short way in many edges and a long one in few: 1 → 2 → 3 → 4 → 5, 1 → 3 and 1 → 5; 5 → 6.
	g := read(t, 7, "integer", "1 2 1", "2 3 1", "3 4 1", "4 5 1", "1 3 9", "1 5 20", "5 6 2", "7 1 1")
	const none = Unreached
	r := paths(t, g, 0)
	check := func(active []uint32, values ...uint32) error {
		return r.Check(values, 2, &Undone{Active: active, Known: true})
	}
	require.NoError(t, check([]uint32{2, 3, 5}, 0, 1, 2, 10, 20, 22, none), "each super-step uses what it began with")
	require.NoError(t, check([]uint32{3}, 0, 1, 2, 3, 20, 22, none), "3 was used in the super-step that brought it")
	require.NoError(t, check([]uint32{2, 3}, 0, 1, 2, 10, 20, 22, none), "10 came of what vertex 2 had before")

	for _, c := range []struct {
		says   string
		active []uint32
		values []uint32
	}{
		{"distance of vertex 2 is 1, and comes to 2, which is more", []uint32{2, 3, 5}, []uint32{0, 1, 1, 10, 20, 22, none}},
		{"distance of vertex 2 is 3, and after 2 super-steps it is at most 2", []uint32{2, 3, 5}, []uint32{0, 1, 3, 10, 20, 22, none}},
		{"distance of vertex 5 is none, and after 2 super-steps it is at most 22", []uint32{2, 3, 5}, []uint32{0, 1, 2, 10, 20, none, none}},
		{"distance of vertex 5 is 21, which no vertex with an edge to it has brought there", []uint32{2, 3, 5}, []uint32{0, 1, 2, 10, 20, 21, none}},
		{"distance of vertex 3 is 10, and vertex 2, which is not active, has 2 and an edge of length 1 to it", []uint32{3, 5}, []uint32{0, 1, 2, 10, 20, 22, none}},
		{"distance of vertex 1 is 0, and comes to 1", []uint32{2, 3, 5}, []uint32{0, 0, 2, 10, 20, 22, none}},
		{"distance of vertex 6 is 1, and comes to", nil, []uint32{0, 1, 2, 10, 20, 22, 1}},
	} {
		err := check(c.active, c.values...)
		require.ErrorIs(t, err, ErrWrong)
		require.ErrorContains(t, err, c.says)
	}
	require.ErrorContains(t, check(nil, 0), "1 vertices, expected 7")

	// The active vertices are unknown: only the bounds and the origins of values can be checked.
	require.NoError(t, r.Check([]uint32{0, 1, 2, 10, 20, 22, none}, 2, &Undone{}))
	require.ErrorContains(t, r.Check([]uint32{0, 1, 2, 10, 20, 21, none}, 2, &Undone{}),
		"which no vertex with an edge to it has brought")
}

// TestRelaxationDoesNotWrap: vertex 2 has a value of which 2^32 less 20 edges along, as vertex 3 has it, is nothing.
func TestRelaxationDoesNotWrap(t *testing.T) {
	const none = Unreached
	r := paths(t, read(t, 4, "integer", "1 2 5", "2 3 20", "1 4 4", "4 3 6"), 0)
	waits := &Undone{Waits: true}
	require.ErrorContains(t, r.Check([]uint32{0, none - 9, 10, none}, 1, waits),
		"distance of vertex 2 is 10, which no vertex with an edge to it has brought")
	require.NoError(t, r.Check([]uint32{0, 5, 10, 4}, 1, waits))
}

// TestRelaxationOfThoseThatWait: values below the threshold are final, greater ones may be anything that a path brings.
func TestRelaxationOfThoseThatWait(t *testing.T) {
	g := read(t, 4, "integer", "1 2 2", "2 3 2", "3 4 2", "1 4 30")
	r := paths(t, g, 0)
	waits := func(settled, waiting uint32, active ...uint32) *Undone {
		return &Undone{Active: active, Known: true, Waits: true, Settled: settled, Waiting: waiting}
	}
	values := []uint32{0, 2, Unreached, 30}
	require.NoError(t, r.Check(values, 1, waits(0, 2)), "vertex 1 waits")
	require.NoError(t, r.Check(values, 1, waits(2, 4, 1)))
	require.ErrorContains(t, r.Check(values, 1, waits(4, 6)),
		"vertex 1, which is not active, has 2 and an edge of length 2 to it")
	require.ErrorContains(t, r.Check(values, 1, waits(5, 6, 1)),
		"distance of vertex 2 is none, and after 1 super-steps it is at most 4")
	require.ErrorContains(t, r.Check([]uint32{0, 2, Unreached, 29}, 1, waits(0, 2)),
		"distance of vertex 3 is 29, which no vertex")
}

// TestRelaxationOfNoLength: vertices that have a wrong value of each other, along edges without length, are found.
func TestRelaxationOfNoLength(t *testing.T) {
	g := read(t, 4, "integer", "1 2 5", "2 3 0", "3 2 0", "1 4 1")
	r := paths(t, g, 0)
	require.NoError(t, r.Check([]uint32{0, 5, 5, 1}, 2, &Undone{Known: true}))
	u := &Undone{Known: true, Waits: true, Waiting: 2, Settled: 2}
	require.NoError(t, r.Check([]uint32{0, 5, 5, 1}, 2, u))
	r.Out = read(t, 4, "integer", "1 4 1", "2 3 0", "3 2 0").CSR() // nothing brings 7 to both
	require.ErrorContains(t, r.Check([]uint32{0, 7, 7, 1}, 2, u), "distance of vertex 1 is 7, which no vertex")
}

// TestRelaxationTakesAnyOrder: edges in any order within a super-step, with any number of lanes reading a value before
// another changes it, lead to an accepted result.
func TestRelaxationTakesAnyOrder(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		n := 2 + r.IntN(30)
		var lines []string
		for range r.IntN(4 * n) {
			lines = append(lines, fmt.Sprintf("%d %d %d", 1+r.IntN(n), 1+r.IntN(n), r.IntN(8)))
		}
		if len(lines) == 0 {
			continue
		}
		x := paths(t, read(t, n, "integer", lines...), uint32(r.IntN(n)))
		values, active := slices.Clone(x.First), []int{slices.Index(x.First, 0)}
		for k := 1; k <= 6 && len(active) > 0; k++ {
			active = relax(r, x, values, active)
			u := &Undone{Known: true}
			for _, v := range active {
				u.Active = append(u.Active, uint32(v))
			}
			require.NoError(t, x.Check(values, k, u), "seed %d, super-step %d", seed, k)
			require.NoError(t, x.Check(values, k, &Undone{}), "seed %d, super-step %d", seed, k)
		}
	}
}

// relax relaxes the edges of active vertices, several at a time, and returns the vertices whose values have fallen.
func relax(r *rand.Rand, x *Relaxation, values []uint32, active []int) (next []int) {
	type edge struct{ from, to, length uint32 }
	var edges []edge
	for _, v := range active {
		x.edges(v, func(w, length uint32) { edges = append(edges, edge{uint32(v), w, length}) })
	}
	r.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	for lanes := range slices.Chunk(edges, 1+r.IntN(5)) {
		var brought []uint32
		for _, e := range lanes {
			brought = append(brought, values[e.from]+e.length)
		}
		for i, e := range lanes {
			if brought[i] < values[e.to] {
				values[e.to] = brought[i]
				if !slices.Contains(next, int(e.to)) {
					next = append(next, int(e.to))
				}
			}
		}
	}
	return next
}

func TestLevelsWithin(t *testing.T) {
	const none = Unreached
	require.Equal(t, []uint32{0, 1, none, none}, LevelsWithin([]uint32{0, 1, 2, none}, 1))
	require.Equal(t, []uint32{0, 1, 2, none}, LevelsWithin([]uint32{0, 1, 2, none}, 2))
}

func TestUndoneCheck(t *testing.T) {
	even := func(v int) bool { return v%2 == 0 }
	require.NoError(t, (&Undone{Known: true, Active: []uint32{2, 0, 2}}).Check(even, 4))
	require.ErrorContains(t, (&Undone{Known: true, Active: []uint32{0}}).Check(even, 4),
		"vertex 2 is active after the last super-step: false")
	require.ErrorContains(t, (&Undone{Known: true, Active: []uint32{0, 2, 3}}).Check(even, 4),
		"vertex 3 is active after the last super-step: true")
	require.NoError(t, (&Undone{}).Check(even, 4))
}

// TestPeel: a triangle with a tail of two, and a vertex alone. In round 0 that one leaves, in round 1 the tail, one
// vertex a super-step, in round 2 the triangle; to the end peeled, they are core numbers.
func TestPeel(t *testing.T) {
	const none = Unreached
	out := read(t, 6, "pattern", "1 2", "2 1", "2 3", "3 2", "1 3", "3 1", "3 4", "4 3", "4 5", "5 4").CSR()
	for steps, want := range [][]uint32{
		{none, none, none, none, none, 0},
		{none, none, none, none, 1, 0},
		{none, none, none, 1, 1, 0},
		{2, 2, 2, 1, 1, 0},
	} {
		core, active := Peel(out, steps)
		require.Equal(t, want, core, "%d super-steps", steps)
		require.NotEmpty(t, active)
	}
	for seed := range uint64(20) {
		var lines []string
		g := random(30, 60, seed)
		for v := range 30 {
			for _, w := range g.Row(v) {
				lines = append(lines, fmt.Sprintf("%d %d", v+1, w+1), fmt.Sprintf("%d %d", w+1, v+1))
			}
		}
		both := read(t, 30, "pattern", lines...).CSR()
		core, active := Peel(both, 1000)
		require.Empty(t, active)
		require.Equal(t, CoreNumbers(both), core)
	}
}
