package graph

import (
	"crypto/sha256"
	"math"
	"slices"
	"sync"

	"heddle/internal/enum"
)

// WeightKind is the type of the words in Weights.
type WeightKind uint8

// Kinds of weights.
const (
	NoWeights    WeightKind = iota // every edge counts 1
	IntWeights                     // int32
	FloatWeights                   // IEEE 754 binary32
)

var kindNames = enum.Of[WeightKind]("weight kind", "none", "int", "float")

func (k WeightKind) String() string { return kindNames.Name(k) }

// MarshalText is for JSON.
func (k WeightKind) MarshalText() ([]byte, error) { return kindNames.Marshal(k) }

// UnmarshalText is for JSON.
func (k *WeightKind) UnmarshalText(text []byte) error { return kindNames.Unmarshal(text, k) }

// ordered maps a weight's word so that unsigned comparison orders weights.
func (k WeightKind) ordered(w uint32) uint32 {
	switch {
	case k == IntWeights, k == FloatWeights && w>>31 == 0:
		return w ^ 1<<31
	case k == FloatWeights:
		return ^w
	}
	return w
}

// word is the inverse of ordered.
func (k WeightKind) word(key uint32) uint32 {
	switch {
	case k == IntWeights, k == FloatWeights && key>>31 == 1:
		return key ^ 1<<31
	case k == FloatWeights:
		return ^key
	}
	return key
}

// Adjacency lists, for each vertex, the other ends of its edges: row v is
// IDs[Offsets[v]:Offsets[v+1]]. It is CSR if rows are the edges that leave v,
// CSC if they are those that enter it.
type Adjacency struct {
	Offsets []uint32 // one more than vertices
	IDs     []uint32
	Weights []uint32 // parallel to IDs; nil without weights
}

// Vertices is the number of rows.
func (a *Adjacency) Vertices() int { return len(a.Offsets) - 1 }

// Edges is the number of entries.
func (a *Adjacency) Edges() int { return len(a.IDs) }

// Degree is the length of row v.
func (a *Adjacency) Degree(v int) int { return int(a.Offsets[v+1] - a.Offsets[v]) }

// Row returns the other ends of v's edges.
func (a *Adjacency) Row(v int) []uint32 { return a.IDs[a.Offsets[v]:a.Offsets[v+1]] }

// weight is the word of edge e.
func (a *Adjacency) weight(e uint32) uint32 {
	if a.Weights == nil {
		return 0
	}
	return a.Weights[e]
}

// COO is a list of individual edges.
type COO struct {
	Sources, Destinations []uint32
	Weights               []uint32 // nil without weights
}

// Graph is a directed graph. An undirected one has both directions of every edge.
type Graph struct {
	out    Adjacency
	kind   WeightKind
	Record Record   // how it came about
	names  []string // of the vertices; nil: they have none
	read   asRead

	derived derived
}

// derived caches results computed from a graph on demand.
type derived struct {
	mu   sync.Mutex
	hash *[sha256.Size]byte
	in   *Adjacency
	rows map[*Adjacency][]uint32
}

// Names are the vertices' names, if they had names in the file; else nil.
func (g *Graph) Names() []string { return g.names }

// Vertices is the number of vertices.
func (g *Graph) Vertices() int { return g.out.Vertices() }

// Edges is the number of directed edges.
func (g *Graph) Edges() int { return g.out.Edges() }

// changed discards the results derived from the former graph.
func (g *Graph) changed() {
	g.derived.mu.Lock()
	defer g.derived.mu.Unlock()
	g.derived.hash, g.derived.in, g.derived.rows = nil, nil, nil
}

// Bytes returns the memory that the graph takes at present; it grows when its CSC, or the row of each edge, is first
// requested.
func (g *Graph) Bytes() uint64 {
	g.derived.mu.Lock()
	defer g.derived.mu.Unlock()
	sum := g.out.bytes() + 4*uint64(len(g.read.number))
	if in := g.derived.in; in != nil && in != &g.out {
		sum += in.bytes()
	}
	for _, rows := range g.derived.rows {
		sum += 4 * uint64(len(rows))
	}
	return sum
}

func (a *Adjacency) bytes() uint64 { return 4 * uint64(len(a.Offsets)+len(a.IDs)+len(a.Weights)) }

// WeightKind returns the type of the edges' weights.
func (g *Graph) WeightKind() WeightKind { return g.kind }

// CSR returns the edges by source, each row sorted by destination, then weight.
// It is the graph itself: not to be changed.
func (g *Graph) CSR() *Adjacency { return &g.out }

// CSC returns the edges by destination, each row sorted by source, then weight. It is made once, and of a graph in
// which every edge has its reverse it is the CSR: not to be changed.
func (g *Graph) CSC() *Adjacency {
	g.derived.mu.Lock()
	defer g.derived.mu.Unlock()
	if g.derived.in == nil {
		g.derived.in = g.out.transpose()
		if g.derived.in.equal(&g.out) {
			g.derived.in = &g.out
		}
	}
	return g.derived.in
}

// Transpose returns the graph with every edge reversed. It shares the edges with this one.
func (g *Graph) Transpose() *Graph {
	return &Graph{out: *g.CSC(), kind: g.kind, Record: g.Record, names: g.names, read: g.read,
		derived: derived{in: &g.out}}
}

func (a *Adjacency) equal(b *Adjacency) bool {
	return slices.Equal(a.Offsets, b.Offsets) && slices.Equal(a.IDs, b.IDs) && slices.Equal(a.Weights, b.Weights)
}

// Rows returns the row of each edge of the graph's CSR or CSC. They are made once: not to be changed.
func (g *Graph) Rows(of *Adjacency) []uint32 {
	g.derived.mu.Lock()
	defer g.derived.mu.Unlock()
	rows, ok := g.derived.rows[of]
	if !ok {
		if g.derived.rows == nil {
			g.derived.rows = map[*Adjacency][]uint32{}
		}
		rows = of.Rows()
		g.derived.rows[of] = rows
	}
	return rows
}

// COOBySource returns the edges sorted by source, for push.
func (g *Graph) COOBySource() COO {
	return COO{Sources: g.Rows(&g.out), Destinations: g.out.IDs, Weights: g.out.Weights}
}

// COOByDestination returns the edges sorted by destination, for pull.
func (g *Graph) COOByDestination() COO {
	in := g.CSC()
	return COO{Sources: in.IDs, Destinations: g.Rows(in), Weights: in.Weights}
}

// Float returns the weight of a kind's word as a number.
func (k WeightKind) Float(word uint32) float64 {
	switch k {
	case IntWeights:
		return float64(int32(word))
	case FloatWeights:
		return float64(math.Float32frombits(word))
	}
	return 1
}

// Rows returns the row of each entry, which COO stores and CSR implies.
func (a *Adjacency) Rows() []uint32 {
	rows := make([]uint32, len(a.IDs))
	for v := range a.Vertices() {
		r := rows[a.Offsets[v]:a.Offsets[v+1]]
		for i := range r {
			r[i] = uint32(v)
		}
	}
	return rows
}

// transpose swaps rows and ids. It is one pass of a stable counting sort, so
// rows come out sorted.
func (a *Adjacency) transpose() *Adjacency {
	t := &Adjacency{Offsets: make([]uint32, len(a.Offsets)), IDs: make([]uint32, len(a.IDs))}
	if a.Weights != nil {
		t.Weights = make([]uint32, len(a.IDs))
	}
	for _, u := range a.IDs {
		t.Offsets[u+1]++
	}
	shiftStarts(t.Offsets)
	for v := range a.Vertices() {
		for e := a.Offsets[v]; e < a.Offsets[v+1]; e++ {
			u := a.IDs[e]
			at := t.Offsets[u+1]
			t.Offsets[u+1] = at + 1
			t.IDs[at] = uint32(v)
			if t.Weights != nil {
				t.Weights[at] = a.Weights[e]
			}
		}
	}
	return t
}

// compare orders the words of weights.
func (k WeightKind) compare(a, b uint32) int {
	x, y := k.ordered(a), k.ordered(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
