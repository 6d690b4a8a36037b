package compose

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/kernels/algorithm"
	"heddle/kernels/workload"
)

func recipe(name workload.Choice, set ...string) workload.Workload {
	w := choose(set...)
	w.Recipe, w.ScaleFree = name, 8
	return w
}

// TestRecipes: the workload of each on a scale-free graph, and on another where that differs.
func TestRecipes(t *testing.T) {
	for _, c := range []struct {
		recipe    workload.Choice
		set       []string
		on, other string
	}{
		{"datadriven", nil, "bfs/vertex/csr/push/queue+none", ""},
		{"datadriven", []string{"algorithm=sssp", "order=near-far"}, "sssp/vertex/csr/push/queue+none+near-far", ""},
		{"datadriven", []string{"algorithm=pagerank"}, "pagerank/vertex/csr/push/counter", ""},
		{"strict", nil, "bfs/strict/csr/push/queue+none/shuffle", ""},
		{"strict", []string{"algorithm=sssp", "scan=scratchpad"}, "sssp/strict/csr/push/queue+none/scratchpad", ""},
		{"gunrock", nil, "bfs/strict/csr/push/outputs+bytemap/shuffle", ""},
		{"gunrock", []string{"algorithm=sssp"}, "sssp/strict/csr/push/outputs+bytemap+near-far/shuffle", ""},
		{"gunrock", []string{"algorithm=pagerank"}, "pagerank/strict/csr/push/counter/shuffle", ""},
		{"sepgraph", nil, "bfs/cta/csr-csc/hybrid/qnb-bytemap/shuffle/sep-graph/rule-sep-graph", "bfs/vertex/csr/push/queue+none"},
		{"sepgraph", []string{"algorithm=k-core"}, "k-core/cta/csr/push/queue+none/shuffle/sep-graph", "k-core/vertex/csr/push/queue+none"},
		{"sepgraph", []string{"algorithm=sssp", "order=near-far"}, "sssp/cta/csr/push/queue+monotonic+near-far/shuffle/sep-graph", "sssp/vertex/csr/push/queue+none+near-far"},
		{"sepgraph", []string{"algorithm=pagerank"}, "pagerank/cta/csc/pull/counter/shuffle/sep-graph", "pagerank/vertex/csr/push/counter"},
		{
			"sepgraph", []string{"cta_threads=256", "ahead=false", "scan=scratchpad", "warps_per_core=16"},
			"bfs/cta/csr-csc/hybrid/qnb-bytemap/scratchpad/sep-graph/warps-16/rule-sep-graph/cta-256", "bfs/vertex/csr/push/queue+none/no-ahead/warps-16",
		},
		{"hwwl", nil, "bfs/hwwl/csr/push/list+none", ""},
		{"hwwl", []string{"algorithm=sssp", "order=near-far"}, "sssp/hwwl/csr/push/queue+monotonic+near-far", ""},
		{"graphpeg", nil, "bfs/peg/csr-csc/hybrid/bytemap/rule-sep-graph", "bfs/peg/csr/push/list+none"},
		{"graphpeg", []string{"algorithm=k-core"}, "k-core/peg/csr/push/list+none", ""},
	} {
		w := recipe(c.recipe, c.set...)
		if c.other == "" {
			c.other = c.on
		}
		require.Equal(t, [2]string{c.on, c.other}, [2]string{form(t, w, true), form(t, w, false)}, "%s %v", c.recipe,
			c.set)
	}
}

func form(t *testing.T, w workload.Workload, scaleFree bool) string {
	w, err := WithRecipe(w, scaleFree)
	require.NoError(t, err)
	require.Equal(t, NoRecipe, w.Recipe)
	p, err := NewPlan(w)
	require.NoError(t, err)
	return p.Name()
}

// TestRecipesAreLegal: with any algorithm.
func TestRecipesAreLegal(t *testing.T) {
	for _, r := range recipes {
		for _, a := range algorithm.Algorithms() {
			for _, order := range []string{"none", "near-far"} {
				if order == "near-far" && !a.Ordered {
					continue
				}
				w := recipe(workload.Choice(r.Name), "algorithm="+a.Name, "order="+order)
				form(t, w, true)
				form(t, w, false)
			}
		}
	}
}

// TestScaleFree: the most edges of a vertex over the mean decide what runs, and the threshold may be moved.
func TestScaleFree(t *testing.T) {
	star, chain := tiny()["star"], tiny()["chain"] // 22 edges of 44 at one of 23 vertices; at most 2 of 22 at one of 13
	plan := func(g *graph.Graph, threshold float64) string {
		w := recipe("sepgraph")
		w.ScaleFree, w.Source, w.Target, w.Seed = threshold, -1, -1, 1
		p, err := NewPlan(choose("schedule=cta", "direction=hybrid"))
		require.NoError(t, err)
		r, err := Run(context.Background(), functional(t, p), g, w)
		require.NoError(t, err)
		require.True(t, r.Verified)
		return r.Plan.Schedule.Name + "/" + r.Plan.Direction.Name
	}
	require.Equal(t, "cta/hybrid", plan(star, 8))
	require.Equal(t, "vertex/push", plan(chain, 8))
	require.Equal(t, "vertex/push", plan(star, 11.51))
	require.Equal(t, "cta/hybrid", plan(star, 11.5))
	require.Equal(t, "cta/hybrid", plan(chain, 0))
}

// TestContradictions: a given value must equal the one that the recipe sets, on any graph.
func TestContradictions(t *testing.T) {
	for _, c := range []struct {
		recipe workload.Choice
		given  string
		says   string // "": nothing
	}{
		{"none", "schedule=cta", ""},
		{"gunrock", "schedule=strict", ""},
		{"gunrock", "direction=auto", ""},
		{"gunrock", "schedule=cta", "cta: recipe gunrock sets strict: leave one of them out"},
		// the default, but given
		{"gunrock", "schedule=vertex", "vertex: recipe gunrock sets strict: leave one of them out"},
		{"gunrock", "direction=pull", "pull: recipe gunrock sets push: leave one of them out"},
		{"gunrock", "dedup=none", "none: recipe gunrock sets bytemap: leave one of them out"},
		{"datadriven", "set=bitmap", "bitmap: recipe datadriven sets queue: leave one of them out"},
		{"datadriven", "order=none", ""},
		{"sepgraph", "schedule=cta", "cta: recipe sepgraph sets cta on a scale-free graph, else vertex: leave one of them out"},
		{"sepgraph", "dedup=bitmap", "bitmap: recipe sepgraph sets none on a graph that is not scale-free: leave one of them out"},
		{"graphpeg", "set=bitmap", ""},
		{"graphpeg", "hybrid_rule=beamer", "beamer: recipe graphpeg sets sep-graph on a scale-free graph: leave one of them out"},
		{"sepgraph", "hybrid_rule=sep-graph", ""},
		{"sepgraph", "alpha=0", "0: recipe sepgraph sets 15 on a scale-free graph: leave one of them out"},
		{"graphpeg", "beta=0", "0: recipe graphpeg sets 18 on a scale-free graph: leave one of them out"},
	} {
		key, _, _ := strings.Cut(strings.Replace(c.given, "set=", "active_set=", 1), "=")
		key = workload.Schema.Path(key)
		var says string
		for _, x := range Contradictions(recipe(c.recipe, c.given), func(k string) bool { return k == key }) {
			require.Equal(t, key, x.Key)
			says += x.Says
		}
		require.Equal(t, c.says, says, "%s %s", c.recipe, c.given)
	}
	w := recipe("gunrock", "algorithm=sssp")
	require.Equal(t, []Contradiction{{"order", "none: recipe gunrock sets near-far: leave one of them out"}},
		Contradictions(w, func(k string) bool { return k == "order" }))
	require.Empty(t, Contradictions(w, func(string) bool { return false }))
}
