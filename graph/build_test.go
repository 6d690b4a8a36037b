package graph

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// triple is an edge as a test lists it.
type triple struct{ src, dst, weight uint32 }

// drawList draws edges whose sources are of one of several kinds of skew, some sorted by source.
func drawList(r *rand.Rand, n, m int, weighted bool) []triple {
	out := make([]triple, m)
	hub, sorted := r.IntN(3) == 0, r.IntN(3) == 0
	for i := range out {
		out[i] = triple{uint32(r.IntN(n)), uint32(r.IntN(n)), 0}
		if hub && r.IntN(4) > 0 {
			out[i].src = uint32(n / 2)
		}
		if weighted {
			out[i].weight = r.Uint32N(5) << 29 // negative ones too
		}
	}
	if sorted {
		slices.SortStableFunc(out, func(a, b triple) int { return cmp.Compare(a.src, b.src) })
	}
	return out
}

// TestBuildSortsEveryList: against sorting triples, with more and fewer edges than are put in place at once.
func TestBuildSortsEveryList(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range testenv.Cases(t, 100, 500) {
		n, m, kind := 1+r.IntN(3000), r.IntN(9000), WeightKind(r.IntN(3))
		if r.IntN(40) == 0 {
			m = directEdges + r.IntN(3*blockWords)
		}
		l := edges{vertices: n, kind: kind}
		want := drawList(r, n, m, kind != NoWeights)
		for _, e := range want {
			l.add(e.src, e.dst)
			if kind != NoWeights {
				l.weights.add(e.weight)
			}
		}
		g := l.build()
		require.Zero(t, l.len(), "taken apart")
		slices.SortFunc(want, func(a, b triple) int {
			return cmp.Or(cmp.Compare(a.src, b.src), cmp.Compare(a.dst, b.dst), kind.compare(a.weight, b.weight))
		})
		got := make([]triple, m)
		rows := g.out.Rows()
		for e := range got {
			got[e] = triple{rows[e], g.out.IDs[e], g.out.weight(uint32(e))}
		}
		require.Equal(t, want, got, "%d vertices, weights %s", n, kind)
		require.Equal(t, m > 0 && kind != NoWeights, g.out.Weights != nil)
	}
}

// TestTogetherKeepsEveryEdge: with fewer and more vertices than ranges, and ranges without edges.
func TestTogetherKeepsEveryEdge(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 60 {
		n, m := 1+r.IntN(5000), 1+r.IntN(8*blockWords)
		l := edges{vertices: n}
		want := drawList(r, n, m, true)
		for _, e := range want {
			l.add(e.src, e.dst)
			l.weights.add(e.weight)
		}
		var got []triple
		shift, last := 0, uint32(0)
		for (n-1)>>shift >= 1<<partBits {
			shift++
		}
		for _, p := range together(l.pieces(), n) {
			for i := range p.src {
				require.LessOrEqual(t, last, p.src[i]>>shift)
				last = p.src[i] >> shift
				got = append(got, triple{p.src[i], p.dst[i], p.weights[i]})
			}
		}
		require.Equal(t, counts(want), counts(got))
	}
}

// counts returns the number of occurrences of each edge in a list.
func counts(list []triple) (out []struct {
	triple
	n int
}) {
	slices.SortFunc(list, func(a, b triple) int {
		return cmp.Or(cmp.Compare(a.src, b.src), cmp.Compare(a.dst, b.dst), cmp.Compare(a.weight, b.weight))
	})
	for i, e := range list {
		if i == 0 || e != list[i-1] {
			out = append(out, struct {
				triple
				n int
			}{e, 0})
		}
		out[len(out)-1].n++
	}
	return out
}

func TestSortDigits(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var spare []uint64
	for range 200 {
		words := make([]uint64, 1+r.IntN(3000))
		mask := r.Uint64() & r.Uint64() // some digits are the same in all
		for i := range words {
			words[i] = r.Uint64()&mask | ^mask
		}
		want := slices.Sorted(slices.Values(words))
		spare = sortDigits(words, spare)
		require.Equal(t, want, words)
	}
}

// TestWordIsTheInverseOfOrdered: for every kind, at the ends of its range.
func TestWordIsTheInverseOfOrdered(t *testing.T) {
	for _, kind := range []WeightKind{NoWeights, IntWeights, FloatWeights} {
		for _, w := range []uint32{0, 1, 1<<31 - 1, 1 << 31, 1<<31 + 1, math.MaxUint32, math.Float32bits(-1.5),
			math.Float32bits(1.5)} {
			require.Equal(t, w, kind.word(kind.ordered(w)), "%s %x", kind, w)
		}
	}
}

// TestIDSets: both number ids in ascending order.
func TestIDSets(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	require.IsType(t, &bitSet{}, newIDSet(1<<23, 0))
	require.IsType(t, hashSet{}, newIDSet(1<<23+33, 1))
	for range 50 {
		highest := 1 + r.IntN(5000)
		var list [2]column
		var all []uint32
		for range 1 + r.IntN(5000) {
			id := uint32(r.IntN(highest + 1))
			list[r.IntN(2)].add(id)
			all = append(all, id)
		}
		all = append(all, uint32(highest))
		list[0].add(uint32(highest))
		slices.Sort(all)
		all = slices.Compact(all)
		for _, s := range []idSet{&bitSet{used: make([]uint64, highest/64+1)}, hashSet{}} {
			for i := range list {
				s.collect(&list[i])
			}
			require.Equal(t, len(all), s.number())
			for i := range list {
				var got column
				var want []uint32
				for _, b := range list[i].blocks() {
					for _, id := range b {
						got.add(id)
						n, _ := slices.BinarySearch(all, id)
						want = append(want, uint32(n))
					}
				}
				s.rename(&got)
				require.Equal(t, want, slices.Concat(got.blocks()...)[:len(want):len(want)])
			}
		}
	}
}

func TestColumn(t *testing.T) {
	var c column
	for i := range 3*blockWords + 7 {
		require.Equal(t, i, c.len())
		c.add(uint32(i))
	}
	for i := range c.len() {
		require.Equal(t, uint32(i), c.at(i))
	}
	c.change(func(w uint32) uint32 { return w + 1 })
	require.EqualValues(t, c.len(), c.at(c.len()-1))
	require.Len(t, c.blocks(), 4)
}
