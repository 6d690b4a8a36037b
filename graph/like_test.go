package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph/graphspec"
	"heddle/internal/testenv"
)

// A stand-in has the published numbers of vertices and edges, divided, and says what it is.
func TestStandInsHaveThePublishedCounts(t *testing.T) {
	testenv.NeedSlow(t, "it makes a stand-in of each original")
	for _, o := range graphspec.Originals {
		shrink := max(1, min(o.Edges/100_000, o.Vertices/200))
		for shrink > 1 && (&graphspec.Like{Name: o.Name, Shrink: shrink}).Validate() != nil {
			shrink /= 2
		}
		if o.Edges/shrink > 3_000_000 {
			continue // dense: only whole, or nearly
		}
		g := load(t, "like.name="+o.Name, fmt.Sprintf("like.shrink=%d", shrink))
		require.Equal(t, o.Vertices/shrink, g.Vertices(), o.Name)
		require.InDelta(t, o.Edges/shrink, g.Edges(), 2, o.Name)
		require.Contains(t, g.Record.Source, "stand-in for "+o.Name)
		require.Contains(t, g.Record.Source, "not that graph")

		clean := load(t, "like.name="+o.Name, fmt.Sprintf("like.shrink=%d", shrink), "clean.drop_duplicates=true",
			"clean.drop_self_loops=true", fmt.Sprintf("clean.symmetrise=%v", !o.Directed))
		require.Equal(t, g.Hash(), clean.Hash(), "%s: simple, and symmetric where the original is", o.Name)
	}
}

// Where the maximum degree is published, the whole stand-in's is near it: within a quarter, as it is expected to be.
func TestStandInsHaveThePublishedMaximum(t *testing.T) {
	testenv.NeedSlow(t, "it makes whole stand-ins")
	for _, name := range []string{"com-amazon", "amazon0601"} {
		o, _ := (&graphspec.Like{Name: name}).Original()
		s := load(t, "like.name="+name, "like.gini=0").Summarise()
		require.InEpsilon(t, o.MaxDegree, s.Out.Max, 0.25, name)
	}
	for _, most := range []int{100, 700, 20_000} { // of a mean of 6
		g := load(t, "like.name=com-amazon", fmt.Sprint("like.max_degree=", most), "like.gini=0")
		require.InEpsilon(t, most, g.Summarise().Out.Max, 0.25)
		require.Contains(t, g.Record.Source, fmt.Sprint("a largest degree of ", most))
	}
}

// A stand-in that is shrunk keeps the law, and so has a smaller maximum, but no vertex draws more than a quarter of
// all. Pairs that are drawn twice count once, so that maxima are somewhat below what is drawn.
func TestShrunkMaximum(t *testing.T) {
	for shrink, most := range map[int]float64{400: 12_900, 4000: 1331} { // 53244^0.676 (1 - 0.676) 24.9; a quarter
		g := load(t, "like.name=soc-twitter-2010", "like.max_degree=698112", "like.gini=0",
			fmt.Sprint("like.shrink=", shrink))
		s := g.Summarise()
		require.Less(t, float64(s.Out.Max), 1.05*most)
		require.Greater(t, float64(s.Out.Max), 0.6*most)
	}
}

// A stand-in with a Gini coefficient has it, and the median that real graphs of that coefficient have.
func TestStandInsHaveTheGini(t *testing.T) {
	median := func(degrees []int) float64 { return float64(degrees[len(degrees)/2]) }
	for _, g := range []float64{0.45, 0.6, 0.75} {
		d := degreesOf(load(t, "like.name=soc-LiveJournal1", "like.shrink=100", fmt.Sprint("like.gini=", g)))
		require.InDelta(t, g, giniOf(d), 0.04)
		require.InEpsilon(t, medianOver(g)*85702474/4847571, median(d), 0.25)
	}
	for _, cut := range []string{"500", "850", "4000"} {
		d := degreesOf(load(t, "like.name=web-uk-2005", "like.shrink=2", "like.gini=0.6", "like.max_degree="+cut))
		require.InDelta(t, 0.6, giniOf(d), 0.02, "what is cut does not lower it: %s", cut)
	}
	real := degreesOf(load(t, "file=facebook_combined", "clean.symmetrise=true"))
	require.InEpsilon(t, medianOver(giniOf(real))*2*88234/4039, median(real), 0.1)
	few := degreesOf(load(t, "like.name=soc-LiveJournal1", "like.shrink=100", "like.gini=0.6", "like.max_degree=200"))
	require.InEpsilon(t, 200, few[len(few)-1], 0.25)
	even := load(t, "like.name=soc-orkut", "like.shrink=500", "like.gini=0.6", "like.max_degree=71") // the mean
	require.Less(t, giniOf(degreesOf(even)), 0.1)
}

// medianOver is the median over the mean of a log-logistic distribution.
func medianOver(gini float64) float64 { return math.Sin(math.Pi*gini) / (math.Pi * gini) }

func degreesOf(g *Graph) (all []int) {
	for v := range g.Vertices() {
		all = append(all, int(g.out.Offsets[v+1]-g.out.Offsets[v]))
	}
	slices.Sort(all)
	return all
}

func giniOf(sorted []int) float64 {
	sum, ranked := 0, 0
	for i, d := range sorted {
		sum, ranked = sum+d, ranked+(2*i+1-len(sorted))*d
	}
	return float64(ranked) / float64(sum) / float64(len(sorted))
}

// The sum of weights is the same whether all ranks are added or most are integrated.
func TestLargest(t *testing.T) {
	for _, a := range []uint{0, 100, 512, 700, 1023} {
		sum := 0.0
		for _, w := range ranks(a, 3*summed) {
			sum += w
		}
		require.InEpsilon(t, 3*summed*10/sum, largest(a, 3*summed, 10), 1e-9, a)
	}
}

// A road network is a lattice's: connected as far as its edges reach, of bounded degree and long ways.
func TestRoadStandIns(t *testing.T) {
	g := load(t, "like.name=roadNet-CA", "like.shrink=200")
	s := g.Summarise()
	require.LessOrEqual(t, s.Out.Max, 8)
	require.InDelta(t, 5533214.0/1971281, s.Out.Mean, 0.01)
	depth := bfsDepth(g)
	require.Greater(t, depth, 60, "about the root of the number of vertices, or more")
	require.Less(t, bfsDepth(load(t, "like.name=soc-orkut", "like.shrink=1000")), 6)
}

// bfsDepth is the eccentricity of vertex 0 in its component.
func bfsDepth(g *Graph) (depth int) {
	seen, level := map[uint32]bool{0: true}, []uint32{0}
	for ; len(level) > 0; depth++ {
		var next []uint32
		for _, v := range level {
			for _, u := range g.out.IDs[g.out.Offsets[v]:g.out.Offsets[v+1]] {
				if !seen[u] {
					seen[u], next = true, append(next, u)
				}
			}
		}
		level = next
	}
	return depth - 1
}

// The ends of edges are drawn in proportion to the weights.
func TestLottery(t *testing.T) {
	weights := []float64{1, 0.5, 0.25, 0.125, 0.125}
	d, r, count := newLottery(weights), newRNG(1, "test"), make([]float64, len(weights))
	const draws = 100_000
	for range draws {
		count[d.draw(&r)]++
	}
	for i, w := range weights {
		require.InDelta(t, w/2, count[i]/draws, 0.01)
	}
}

// Whatever the schema allows is refused with the key, or generated.
func TestAnyStandIn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range testenv.Cases(t, 100, 200) {
		o := graphspec.Originals[r.IntN(len(graphspec.Originals))]
		s := graphspec.Like{Name: o.Name, Shrink: 1 + r.IntN(1<<(1+r.IntN(20))), Seed: r.Uint64()}
		if r.IntN(2) == 0 {
			s.MaxDegree = r.IntN(1 << r.IntN(31))
		}
		if r.IntN(2) == 0 {
			s.Gini = 0.95 * r.Float64()
		}
		n, m := s.Size()
		err := s.Validate()
		if err != nil {
			require.ErrorContains(t, err, "expected")
			continue
		}
		if m < 50_000 {
			g, err := Load(graphspec.Graph{Like: &s})
			require.NoError(t, err)
			require.Equal(t, n, g.Vertices())
		}
	}
	err := (&graphspec.Like{Name: "nowhere", Shrink: 1}).Validate()
	require.ErrorContains(t, err, "soc-orkut")
}
