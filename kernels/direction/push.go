package direction

var push = &Policy{
	Name: "push",
	Doc:  "active sources walk their out-edges, and give to the destinations",
	Uses: []Direction{Push},
	next: func(*Frontier, Thresholds) Direction { return Push },
}
