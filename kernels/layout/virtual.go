package layout

import (
	"heddle/graph"
	"heddle/kernels/ir"
)

// DefaultDegree is the default maximum number of edges of a virtual vertex.
const DefaultDegree = 8

// Virtual describes rows that belong to virtual vertices, each of which has some of a vertex's edges (GRAssembler,
// PACT '22, §4.2: virtual topology access).
type Virtual struct {
	// Rows returns the number of rows whose vertices are an end of edges.
	Rows func(g *graph.Graph, x End) int
	// Firsts returns the name of the array with the first row of each vertex, and the end of the last one's rows. "": a
	// vertex's rows are not contiguous, so that a queue of vertices cannot be traversed.
	Firsts func(x End) string
	// Splits is set if the rows are parts of csr's and csc's rows, so that a traversal by edge number sees no
	// difference.
	Splits bool
}

// split has virtual vertices with contiguous edges (virtual split transformation: Nodehi Sabet, Qiu, Zhao: Tigr, ASPLOS
// 2018).
var split = splitInto(DefaultDegree)

// splitInto returns split with at most degree edges per virtual vertex.
func splitInto(degree int) *Layout {
	return splitLayout(&Layout{
		Name: "virtual",
		Doc: "rows cut into virtual vertices of at most virtual_degree edges, which several threads have: csr for " +
			"push, csc for pull, and the vertex and the first edge of each virtual one (Tigr's virtual split)",
		View: func(s Site) View { return splitRows{compressed(s), splitArrays(s.Rows)} },
	}, splitInto, degree, "begins", func(offsets []uint32) (begins []uint32) {
		eachPart(offsets, degree, func(v, part int) { begins = append(begins, offsets[v]+uint32(part*degree)) })
		return append(begins, offsets[len(offsets)-1])
	})
}

// coalesced has virtual vertices whose edges interleave, so that threads that walk neighbouring virtual vertices read
// neighbouring edges (edge-array coalescing: Tigr; its published code has only this variant).
var coalesced = coalescedInto(DefaultDegree)

// coalescedInto returns coalesced with at most degree edges per virtual vertex.
func coalescedInto(degree int) *Layout {
	return splitLayout(&Layout{
		Name: "virtual-coalesced",
		Doc: "virtual, with a vertex's edges dealt out to its virtual vertices in turn, for threads that walk " +
			"one alone: the vertex of each virtual one, and which of the vertex's it is (Tigr's edge-array coalescing)",
		View:    func(s Site) View { return coalescedRows{compressed(s), splitArrays(s.Rows), degree} },
		Strided: true,
	}, coalescedInto, degree, "parts", func(offsets []uint32) (parts []uint32) {
		eachPart(offsets, degree, func(_, part int) { parts = append(parts, uint32(part)) })
		return parts
	})
}

// splitLayout completes a layout of virtual vertices; words computes its own array of that name from the rows' offsets.
func splitLayout(l *Layout, again func(degree int) *Layout, degree int, name string,
	words func(offsets []uint32) []uint32) *Layout {
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
			l.Data = append(l.Data, Array{splitArrays(x) + "." + name,
				func(g *graph.Graph) []uint32 { return words(adjacency(g, x).Offsets) }})
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

// splitArrays returns the prefix of the array names for an end's rows.
func splitArrays(x End) string {
	return [...]string{Source: "virtual-csr", Destination: "virtual-csc"}[x]
}

// adjacency returns the rows of an end's vertices.
func adjacency(g *graph.Graph, x End) *graph.Adjacency {
	if x == Source {
		return g.CSR()
	}
	return g.CSC()
}

// eachPart calls f with every vertex and the number of each part of its row, of at most degree edges. A vertex without
// edges has no part.
func eachPart(offsets []uint32, degree int, f func(v, part int)) {
	for v := range len(offsets) - 1 {
		for part := 0; part*degree < int(offsets[v+1]-offsets[v]); part++ {
			f(v, part)
		}
	}
}

// splitRows are rows of virtual vertices within csr's or csc's edges.
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

// coalescedRows are rows whose edges interleave with those of the same vertex's other rows.
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
	// A vertex with a row has at least one edge.
	parts := r.Add(r.Div(r.Sub(r.Sub(of.End, of.Begin), r.U32(1)), r.U32(uint32(r.degree))), r.U32(1))
	return Span{Begin: r.Add(of.Begin, part), End: of.End, Step: parts}
}
