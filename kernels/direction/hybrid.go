package direction

// hybrid switches as Beamer, Asanović and Patterson do (Direction-Optimizing
// Breadth-First Search, SC 2012, §5): to pull when the frontier grows and has more than
// 1/alpha of the unexplored edges, back to push when it shrinks and has fewer than
// 1/beta of the vertices. The host decides, by counts that it reads back without cost.
var hybrid = &Policy{
	Name: "hybrid",
	Doc:  "push or pull by the size of the frontier, each super-step",
	Uses: []Direction{Push, Pull},
	next: func(f *Frontier, t Thresholds) Direction {
		switch {
		case f.Before == Push && f.Growing && float64(f.Edges)*t.Alpha > float64(f.Unexplored):
			return Pull
		case f.Before == Pull && !f.Growing && float64(f.Vertices)*t.Beta < float64(f.AllVertices):
			return Push
		}
		return f.Before
	},
}
