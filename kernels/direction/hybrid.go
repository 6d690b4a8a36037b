package direction

// hybrid switches by one of the rules. The host decides, from counts that it reads back at no cost.
var hybrid = &Policy{
	Name: "hybrid",
	Doc:  "push or pull by the size of the frontier, each super-step",
	Uses: []Direction{Push, Pull},
	next: func(f *Frontier, t Thresholds) Direction {
		if t.Rule == SEPGraph {
			return sepGraph(f, t)
		}
		return beamer(f, t)
	},
}

// beamer is the rule of Beamer, Asanović and Patterson (Direction-Optimizing Breadth-First Search, SC 2012, §5): to
// pull when the frontier grows and has more than 1/alpha of the unexplored edges, back to push when it shrinks and has
// fewer than 1/beta of the vertices.
func beamer(f *Frontier, t Thresholds) Direction {
	switch {
	case f.Before == Push && f.Growing && float64(f.Edges)*t.Alpha > float64(f.Unexplored):
		return Pull
	case f.Before == Pull && !f.Growing && float64(f.Vertices)*t.Beta < float64(f.AllVertices):
		return Push
	}
	return f.Before
}

// sepGraph is the rule of SEP-Graph's code for traversals (PPoPP 2019; github.com/SEP-Graph/sep-graph,
// hybrid_policy.h): to pull when more than 1/alpha of the edges not yet pushed along leave the frontier, staying there
// while the frontier has more than 1/beta of the vertices; growth of the frontier does not matter. Its count of those
// edges is unsigned: where vertices push again it wraps below 0 to a large value, and the rule chooses push. The first
// super-step is a push.
func sepGraph(f *Frontier, t Thresholds) Direction {
	switch {
	case f.First:
		return Push
	case f.Before == Pull && float64(f.Vertices)*t.Beta > float64(f.AllVertices):
		return Pull
	case f.Unpushed >= 0 && float64(f.Edges)*t.Alpha > float64(f.Unpushed):
		return Pull
	}
	return Push
}
