package cuda

// native holds the code by which an exported program computes its own inputs and reference, so that it runs on any
// graph.
type native struct {
	arrays  map[string]string // contents of the algorithm's arrays
	numbers map[string]string // parameters of its kernels
	verify  string            // comparison of the result with a reference of its own
}

// natives are the algorithms whose programs compute everything by themselves, by name. Others read arrays, numbers and
// the expected result from a file.
var natives = map[string]*native{
	"pagerank": {
		arrays: map[string]string{"out_degree": "heddle::out_degrees(graph)"},
		numbers: map[string]string{"first_rank": "float(1.0 / vertices)", "base": "float((1 - DAMPING) / vertices)",
			"damping": "float(DAMPING)"},
		verify: "heddle::ranks(graph, DAMPING, values, outcome)",
	},
	"spmv": {
		arrays: map[string]string{"x": "heddle::random_vector(vertices, SEED)"},
		verify: "heddle::products(graph, heddle::random_vector(vertices, SEED), values)",
	},
	"bfs":         {verify: "heddle::same(\"level\", values, heddle::levels(graph, source, outcome))"},
	"bfs-parents": {verify: "heddle::tree(graph, source, values, outcome)"},
	"sssp":        {verify: "heddle::same(\"distance\", values, heddle::distances(graph, source))"},
	"cc":          {verify: "heddle::same(\"label\", values, heddle::components(graph))"},
	"cc-soman":    {verify: "heddle::same(\"label\", values, heddle::components(graph))"},
	"in-degree":   {verify: "heddle::same(\"degree\", values, heddle::in_degrees(graph))"},
}
