package graph

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The generators' output is fixed: results with a seed must stay comparable
// for ever, on every machine.
func TestGoldenHashes(t *testing.T) {
	for _, c := range []struct {
		hash string
		set  []string
	}{
		{"4daac068b36ee4ded77cb5aedf9f29c15999c6331135b6fa10cf11137f75e1ef", []string{"file=facebook_combined"}},
		{"66467bcdcdb470a8bf923df5ddf770e29e10d7138da70feda92af47b9f8c47c6", []string{"rmat.scale=10"}},
		{"4420cf864654598c8be440cb87e24551900c9d7fa911cb115f8d10af32753e24", []string{"rmat.scale=9", "rmat.edge_factor=7", "rmat.a=0.3", "rmat.b=0.3", "rmat.c=0.3", "rmat.shuffle_ids=false", "rmat.seed=42"}},
		{"a13c7fd5bcb0de4e559e9a79f0319caf35f967e6d761902d1b5ab42ba92eb57d", []string{"powerlaw_cluster.vertices=1000", "powerlaw_cluster.edges_per_step=5", "powerlaw_cluster.triangle_probability=0.7"}},
		{"ffd89583a5938b37445cf7c072d6eda75b96e625fdae9e802fcf6b7e450bd7d2", []string{"erdos_renyi.vertices=1000", "erdos_renyi.edges=5000"}},
		{"b354877ae3f335004a1462df20d358313fae19a988c69f86c9ebcf7d02ca7100", []string{"erdos_renyi.vertices=100", "erdos_renyi.edges=4000"}},
		{"22509e78ce921cdc9b385ae85a11a165d92ccf11b6dd7a01c1e5b76b881fb8f9", []string{"grid.width=40", "grid.height=30", "grid.remove=0.3", "grid.rewire=0.05"}},
		{"f42282f48dc750c97f05bfad8f88b501ebc7360993536724d03a4568e4eaded7", []string{"bipartite.left=50", "bipartite.right=200", "bipartite.edges=3000", "bipartite.seed=9"}},
		{"f1ed11c74fe18ba52d4a8a03b95956f1892a86d7351c748b4439db383023354c", []string{"like.name=soc-orkut", "like.shrink=3000", "like.gini=0"}},
		{"4e3402eb7be736bb503e5926326730a4b709844abe2278035acdafd404a7b9c2", []string{"like.name=com-amazon", "like.shrink=100", "like.gini=0"}},
		{"cdb79635ce4e2128ad4a413858cf0bab73ea41d446a8f84b98dc56de158c5c42", []string{"like.name=com-amazon", "like.shrink=100"}},
		{"3fac681c3590a00e6230303fe342cf3f8d9c99d734a9498fd06786828196e126", []string{"like.name=road_usa", "like.shrink=20000", "like.seed=3"}},
		{"8a60f5a1a85f8bebb9047c46d98397fe1df0ac48718c839f5f6cf3d057819fb1", []string{"rmat.scale=10", "clean.drop_self_loops=true", "clean.symmetrise=true", "clean.drop_duplicates=true", "clean.compact_ids=true", "weights.from=random", "reorder.order=random"}},
	} {
		g := load(t, c.set...)
		require.Equal(t, c.hash, g.Hash(), "%v", c.set)
		require.Equal(t, c.hash, load(t, c.set...).Hash())
	}
}

func TestSeedsMatter(t *testing.T) {
	for section, set := range map[string][]string{
		"rmat": {"rmat.scale=6"}, "powerlaw_cluster": {"powerlaw_cluster.vertices=50", "powerlaw_cluster.edges_per_step=3"},
		"erdos_renyi": {"erdos_renyi.vertices=50", "erdos_renyi.edges=100"}, "grid": {"grid.width=9", "grid.height=9", "grid.remove=0.5"},
		"bipartite": {"bipartite.left=9", "bipartite.right=9", "bipartite.edges=20"},
		"like":      {"like.name=web-wikipedia", "like.shrink=2000"},
	} {
		one, two := load(t, set...), load(t, append(set, section+".seed=2")...)
		require.NotEqual(t, one.Hash(), two.Hash(), section)
		require.Contains(t, two.Record.Source, "seed: 2", section)
	}
}

func TestRMAT(t *testing.T) {
	g := load(t, "rmat.scale=14")
	require.Equal(t, 1<<14, g.Vertices())
	require.Equal(t, 16<<14, g.Edges())
	s := g.Summarise()
	require.Greater(t, s.Out.Max, 20*int(s.Out.Mean), "skewed")
	require.Greater(t, s.In.Max, 20*int(s.In.Mean))

	// Level by level, source bits are independent with P(0) = a + b; a vertex
	// with k ones in its number has out-degree m (a+b)^(scale-k) (c+d)^k.
	flat := load(t, "rmat.scale=10", "rmat.edge_factor=100", "rmat.a=0.5", "rmat.b=0.2", "rmat.c=0.2",
		"rmat.shuffle_ids=false")
	m := float64(flat.Edges())
	for _, v := range []struct{ vertex, ones int }{{0, 0}, {1, 1}, {512, 1}, {3, 2}, {1 << 4, 1}} {
		want := m * math.Pow(0.7, float64(10-v.ones)) * math.Pow(0.3, float64(v.ones))
		require.InDelta(t, want, flat.CSR().Degree(v.vertex), 5*math.Sqrt(want), "out %d", v.vertex)
		require.InDelta(t, want, flat.CSC().Degree(v.vertex), 5*math.Sqrt(want), "in %d", v.vertex)
	}

	// Unequal b and c distinguish sources from destinations.
	skew := load(t, "rmat.scale=10", "rmat.edge_factor=100", "rmat.a=0.5", "rmat.b=0.4", "rmat.c=0.05",
		"rmat.shuffle_ids=false")
	require.InDelta(t, m*math.Pow(0.9, 10), skew.CSR().Degree(0), 5*math.Sqrt(m*math.Pow(0.9, 10)))
	require.InDelta(t, m*math.Pow(0.55, 10), skew.CSC().Degree(0), 5*math.Sqrt(m*math.Pow(0.55, 10)))

	// Shuffling renumbers, and does nothing else.
	plain := load(t, "rmat.scale=10", "rmat.shuffle_ids=false").CSR().degrees()
	require.Equal(t, plain, load(t, "rmat.scale=10").CSR().degrees())
}

// clustering is the mean local clustering coefficient of a symmetric simple graph.
func clustering(g *Graph) float64 {
	sum := 0.0
	for v := range g.Vertices() {
		row, closed := g.CSR().Row(v), 0
		for _, u := range row {
			for _, w := range g.CSR().Row(int(u)) {
				if _, both := slices.BinarySearch(row, w); both {
					closed++
				}
			}
		}
		if d := len(row); d > 1 {
			sum += float64(closed) / float64(d*(d-1))
		}
	}
	return sum / float64(g.Vertices())
}

func TestPowerlawCluster(t *testing.T) {
	set := []string{"powerlaw_cluster.vertices=5000", "powerlaw_cluster.edges_per_step=8",
		"powerlaw_cluster.triangle_probability="}
	withP := func(p string) *Graph { return load(t, set[0], set[1], set[2]+p) }
	open, closed := withP("0"), withP("0.9")
	random := load(t, "erdos_renyi.vertices=5000", "erdos_renyi.edges=39936")
	for _, g := range []*Graph{open, closed, random} {
		s := g.Summarise()
		require.Equal(t, 2*8*(5000-8), s.Edges)
		require.Zero(t, s.SelfLoops+s.Duplicates)
		require.True(t, s.Symmetric)
	}
	require.Equal(t, 1, closed.Summarise().Components)
	require.GreaterOrEqual(t, slices.Min(closed.CSR().degreeList()[8:]), 8)

	require.Greater(t, clustering(closed), 20*clustering(random))
	require.Greater(t, clustering(closed), 5*clustering(open))

	// Preferential attachment: the tail falls as degree^-3 (Barabási and
	// Albert), so that vertices beyond k are about (m/k)² of all; G(n, m) has
	// none far from its mean.
	require.Greater(t, open.CSR().degrees().Max, 150)
	require.Less(t, random.CSR().degrees().Max, 45)
	for _, k := range []int{16, 32, 64} {
		beyond := 0
		for _, d := range open.CSR().degreeList() {
			if d >= k {
				beyond++
			}
		}
		want := 5000 * float64(8*9) / float64(k*(k+1))
		require.InEpsilon(t, want, beyond, 0.25, "degree %d or more", k)
	}
}

func (a *Adjacency) degreeList() []int {
	list := make([]int, a.Vertices())
	for v := range list {
		list[v] = a.Degree(v)
	}
	return list
}

func TestErdosRenyi(t *testing.T) {
	for _, edges := range []string{"0", "1", "2000", "2475", "2476", "4949", "4950"} { // of 100·99/2 = 4950
		g := load(t, "erdos_renyi.vertices=100", "erdos_renyi.edges="+edges)
		s := g.Summarise()
		require.Equal(t, edges, itoa(s.Edges/2))
		require.Zero(t, s.SelfLoops+s.Duplicates)
		require.True(t, s.Symmetric)
	}
	// Degrees are binomial: mean 20, variance 20·(1-20/9999).
	g := load(t, "erdos_renyi.vertices=10000", "erdos_renyi.edges=100000")
	variance := 0.0
	for _, d := range g.CSR().degreeList() {
		variance += float64((d - 20) * (d - 20))
	}
	require.InDelta(t, 20, variance/10000, 1.5)
}

func TestGrid(t *testing.T) {
	g := load(t, "grid.width=5", "grid.height=4")
	s := g.Summarise()
	require.Equal(t, 2*(4*4+5*3), s.Edges)
	require.Equal(t, []int{2, 4}, []int{s.Out.Min, s.Out.Max})
	require.Equal(t, []uint32{2, 6, 8, 12}, g.CSR().Row(7))
	require.Equal(t, 1, s.Components)

	noisy := load(t, "grid.width=200", "grid.height=200", "grid.remove=0.35")
	require.InDelta(t, 2*2*200*199*0.65, noisy.Edges(), 1000)
	long := load(t, "grid.width=200", "grid.height=200", "grid.rewire=0.1")
	require.Equal(t, 2*2*200*199, long.Edges())
	require.Zero(t, long.Summarise().SelfLoops)
	far := 0
	for v := range long.Vertices() {
		for _, u := range long.CSR().Row(v) {
			if d := int(u) - v; d != 1 && d != -1 && d != 200 && d != -200 {
				far++
			}
		}
	}
	require.InDelta(t, 0.1*2*2*200*199, far, 600)
	require.Zero(t, load(t, "grid.width=9", "grid.height=9", "grid.remove=1").Edges())
	require.Zero(t, load(t, "grid.width=1", "grid.height=1", "grid.rewire=1").Edges())
}

func TestBipartite(t *testing.T) {
	for _, edges := range []int{0, 5, 30, 59, 60} {
		g := load(t, "bipartite.left=6", "bipartite.right=10", "bipartite.edges="+itoa(edges))
		require.Equal(t, []int{16, edges}, []int{g.Vertices(), g.Edges()})
		require.Zero(t, g.Summarise().Duplicates)
		for v := range 16 {
			for _, u := range g.CSR().Row(v) {
				require.True(t, v < 6 && u >= 6, "%d>%d", v, u)
			}
		}
	}
}

// splitmix64 against the published sequence of seed 1234567.
func TestRNG(t *testing.T) {
	r := rng(1234567)
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431,
		16408922859458223821} {
		require.Equal(t, want, r.next())
	}
	count := make([]int, 6)
	for range 60000 {
		count[r.below(6)]++
	}
	for _, n := range count {
		require.InDelta(t, 10000, n, 500)
	}
	p := r.permutation(1000)
	slices.Sort(p)
	require.Equal(t, identity(1000), p)
	require.False(t, r.happens(newChance(0)))
	require.True(t, r.happens(newChance(1)))
}
