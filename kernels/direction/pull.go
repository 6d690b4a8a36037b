package direction

var pull = &Policy{
	Name: "pull",
	Doc:  "destinations walk their in-edges, and take from active sources",
	Uses: []Direction{Pull},
	next: func(*Frontier, Thresholds) Direction { return Pull },
}
