package layout

import (
	"heddle/graph"
	"heddle/kernels/ir"
)

// DefaultDegree is how many edges a virtual vertex has at most unless that is said.
const DefaultDegree = 8

// Virtual describes rows that are not the vertices' own: each is of a virtual vertex, which has some of a vertex's
// edges (GRAssembler, CGO 2024, §4.2: virtual topology access).
type Virtual struct {
	// Rows is how many there are whose vertices are an end of edges.
	Rows func(g *graph.Graph, x End) int
	// Firsts names the array that has the first row of each vertex, and where the last one's rows end. "": a vertex's
	// rows do not follow each other, so that no queue of vertices can be walked.
	Firsts func(x End) string
	// Splits says that they are parts of csr's and csc's rows, so that who goes through edges sees no difference.
	Splits bool
}

// split has virtual vertices with edges that follow each other (virtual split transformation: Nodehi Sabet, Qiu, Zhao:
// Tigr, ASPLOS 2018).
var split = splitInto(DefaultDegree)

// splitInto is split with so many edges a virtual vertex.
func splitInto(degree int) *Layout {
	return splitLayout(&Layout{
		Name: "virtual",
		Doc:  "rows cut into virtual vertices of at most virtual_degree edges, which several threads have: csr for push, csc for pull, and the vertex and the first edge of each virtual one (Tigr's virtual split)",
		View: func(s Site) View { return splitRows{compressed(s), splitArrays(s.Rows)} },
	}, splitInto, degree, "begins", func(offsets []uint32) (begins []uint32) {
		eachPart(offsets, degree, func(v, part int) { begins = append(begins, offsets[v]+uint32(part*degree)) })
		return append(begins, offsets[len(offsets)-1])
	})
}

// coalesced has virtual vertices whose edges take turns, so that threads which walk neighbouring ones read neighbouring
// edges (edge-array coalescing: Tigr; its published code has it alone).
var coalesced = coalescedInto(DefaultDegree)

// coalescedInto is coalesced with so many edges a virtual vertex.
func coalescedInto(degree int) *Layout {
	return splitLayout(&Layout{
		Name:    "virtual-coalesced",
		Doc:     "virtual, with a vertex's edges dealt out to its virtual vertices in turn, for threads that walk one alone: the vertex of each virtual one, and which of the vertex's it is (Tigr's edge-array coalescing)",
		View:    func(s Site) View { return coalescedRows{compressed(s), splitArrays(s.Rows), degree} },
		Strided: true,
	}, coalescedInto, degree, "parts", func(offsets []uint32) (parts []uint32) {
		eachPart(offsets, degree, func(_, part int) { parts = append(parts, uint32(part)) })
		return parts
	})
}

// splitLayout completes a layout of virtual vertices, whose array of that name, of the rows of offsets, words has.
func splitLayout(l *Layout, again func(degree int) *Layout, degree int, name string, words func(offsets []uint32) []uint32) *Layout {
	l.Rows = Base
	l.Sized = func(s Sizes) *Layout { return again(s.VirtualDegree) }
	l.Keys = []string{"virtual_degree"}
	l.Virtual = &Virtual{
		Rows: func(g *graph.Graph, x End) (n int) {
			eachPart(adjacency(g, x).Offsets, degree, func(int, int) { n++ })
			return n
		},
		Firsts: func(x End) string { return splitArrays(x) + ".firsts" },
		Splits: true,
	}
	for _, x := range []End{Source, Destination} {
		array := func(name string, words func(offsets []uint32) []uint32) {
			l.Data = append(l.Data, Array{splitArrays(x) + "." + name, func(g *graph.Graph) []uint32 { return words(adjacency(g, x).Offsets) }})
		}
		array(name, words)
		array("vertices", func(offsets []uint32) (vertices []uint32) {
			eachPart(offsets, degree, func(v, _ int) { vertices = append(vertices, uint32(v)) })
			return vertices
		})
		array("firsts", func(offsets []uint32) []uint32 {
			firsts := make([]uint32, len(offsets))
			eachPart(offsets, degree, func(v, _ int) { firsts[v+1]++ })
			for v := 1; v < len(firsts); v++ {
				firsts[v] += firsts[v-1]
			}
			return firsts
		})
	}
	return l
}

// splitArrays is the prefix of the names of the arrays of an end's rows.
func splitArrays(x End) string {
	return [...]string{Source: "virtual-csr", Destination: "virtual-csc"}[x]
}

// adjacency has the rows of an end's vertices.
func adjacency(g *graph.Graph, x End) *graph.Adjacency {
	if x == Source {
		return g.CSR()
	}
	return g.CSC()
}

// eachPart calls f with every vertex and part of its row of at most so many edges. A vertex without edges has none.
func eachPart(offsets []uint32, degree int, f func(v, part int)) {
	for v := range len(offsets) - 1 {
		for part := 0; part*degree < int(offsets[v+1]-offsets[v]); part++ {
			f(v, part)
		}
	}
}

// splitRows are rows of virtual vertices in csr's or csc's edges.
type splitRows struct {
	rows
	own string
}

func (r splitRows) RowCount() ir.Value { return r.Count(RowCount(r.Rows)) }

func (r splitRows) Vertex(row ir.Value) ir.Value {
	return r.Load(ir.U32, r.Addr(r.own+".vertices"), row)
}

func (r splitRows) Neighbours(row, _ ir.Value) Span {
	at := r.Addr(r.own + ".begins")
	return Span{Begin: r.Load(ir.U32, at, row), End: r.Load(ir.U32, at, r.Add(row, r.U32(1)))}
}

// coalescedRows are rows whose edges take turns with those of the same vertex's other rows.
type coalescedRows struct {
	rows
	own    string
	degree int
}

func (r coalescedRows) RowCount() ir.Value { return r.Count(RowCount(r.Rows)) }

func (r coalescedRows) Vertex(row ir.Value) ir.Value {
	return r.Load(ir.U32, r.Addr(r.own+".vertices"), row)
}

func (r coalescedRows) Neighbours(row, vertex ir.Value) Span {
	of := r.rows.Neighbours(vertex, vertex)
	part := r.Load(ir.U32, r.Addr(r.own+".parts"), row)
	// A vertex with a row has an edge.
	parts := r.Add(r.Div(r.Sub(r.Sub(of.End, of.Begin), r.U32(1)), r.U32(uint32(r.degree))), r.U32(1))
	return Span{Begin: r.Add(of.Begin, part), End: of.End, Step: parts}
}
