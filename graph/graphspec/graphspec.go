// Package graphspec describes a graph as a user writes it: its source, and the preparation before a kernel sees it.
// It reads and makes none.
package graphspec

import (
	"errors"
	"fmt"
	"strings"

	"heddle/configs/schema"
	"heddle/internal/enum"
)

// Limits of a graph. A layout indexes edges with 32-bit words, and the arrays
// must fit the simulated address space of 4 GiB.
const (
	MaxVertices = 1 << 27
	MaxEdges    = 1 << 29
)

// Graph is the source of a graph, a file or one of the generators, and the steps that prepare it for kernels, which
// are taken in the order of the fields.
type Graph struct {
	File string `key:"file" default:""`

	RMAT            *RMAT            `key:"rmat"`
	PowerlawCluster *PowerlawCluster `key:"powerlaw_cluster"`
	ErdosRenyi      *ErdosRenyi      `key:"erdos_renyi"`
	Grid            *Grid            `key:"grid" doc:"2-D grid with noise, road-like; both directions of every edge."`
	Bipartite       *Bipartite       `key:"bipartite"`
	Like            *Like            `key:"like"`

	IDs     IDs     `key:"ids" default:"auto" oneof:"auto,keep,names"`
	Clean   Clean   `key:"clean" doc:"Clean-up, in the order of its keys."`
	Weights Weights `key:"weights" doc:"Edge weights."`
	Reorder Reorder `key:"reorder" doc:"Renumbering of the vertices; edges keep their weights."`
}

// Docs has the long descriptions of keys.
func (Graph) Docs() map[string]string {
	return map[string]string{
		"rmat": "R-MAT / Graph500 Kronecker graph; edges are directed. Source: Chakrabarti et al., SDM " +
			"2004; Graph500 specification.",
		"powerlaw_cluster": "Growing graph with power-law degrees and triangles; both directions of every edge. Source: " +
			"Holme and Kim, Phys. Rev. E 65, 2002; NetworkX powerlaw_cluster_graph.",
		"erdos_renyi": "G(n, m): m different edges without self-loops, all sets equally likely; both directions of " +
			"every edge.",
		"bipartite": "Random bipartite graph: different edges from left to right, all sets equally likely.",
		"like": "Stand-in for a graph of the papers: a random graph with its published counts, labelled as " +
			"a stand-in wherever it is named. Source: Chung and Lu, Annals of Combinatorics 6, 2002; road " +
			"networks: a perturbed lattice.",
		"file": "A graph in a file: edge list (SNAP, Network Repository), table (edge list with a header or " +
			"with names for vertices: CSV, TSV), LINQS, MatrixMarket, DIMACS .gr, METIS .graph, Galois " +
			".gr, GAPBS .sg and .wsg, Ligra or heddle .hgr; as it is or compressed by gzip, xz, bzip2 or " +
			"zstd; told apart by their contents (docs/reference/graphs.md): a path with a dot or a " +
			"slash, relative to where heddle runs. Or the name of a graph that heddle ships: " +
			"facebook_combined.",
		"ids": "Meaning of vertices in an edge list. auto: names if the first edge has some, numbered in " +
			"the order of their first appearance; of numbers, 0..n-1 or 1..n if a comment '# Nodes: n' " +
			"says so, else the vertices are the numbers that occur, in their order. keep: the number is " +
			"the vertex, up to the largest one. names: numbers are names, too.",
	}
}

// RMAT draws each edge by descending into quadrants of the adjacency matrix.
type RMAT struct {
	Scale      int     `key:"scale" required:"true" min:"1" max:"27" unit:"log2 vertices" doc:"The graph has 2^scale vertices."`
	EdgeFactor int     `key:"edge_factor" default:"16" min:"1" max:"4096" unit:"edges per vertex"`
	A          float64 `key:"a" default:"0.57" min:"0" max:"1" unit:"probability"`
	B          float64 `key:"b" default:"0.19" min:"0" max:"1" unit:"probability"`
	C          float64 `key:"c" default:"0.19" min:"0" max:"1" unit:"probability"`
	ShuffleIDs bool    `key:"shuffle_ids" default:"true"`
	Seed       uint64  `key:"seed" default:"1" unit:"" doc:"Seed."`
}

// Docs has the long descriptions of keys.
func (RMAT) Docs() map[string]string {
	return map[string]string{
		"edge_factor": "Edges drawn per vertex, self-loops and duplicates included. Graph500: 16.",
		"a":           "Both ends in the lower half of the numbers. Graph500: 0.57.",
		"b":           "Source in the lower half, destination in the upper. Graph500: 0.19.",
		"c":           "Source in the upper half, destination in the lower; d is the rest. Graph500: 0.19.",
		"shuffle_ids": "Permute the vertices afterwards, as Graph500 does; without, low numbers have high degrees.",
	}
}

// PowerlawCluster is the model of Holme and Kim.
type PowerlawCluster struct {
	Vertices     int     `key:"vertices" required:"true" min:"2" max:"134217728" unit:"vertices" doc:"Vertices."`
	EdgesPerStep int     `key:"edges_per_step" required:"true" min:"1" max:"65536" unit:"edges"`
	TriangleProb float64 `key:"triangle_probability" default:"0.1" min:"0" max:"1" unit:"probability"`
	Seed         uint64  `key:"seed" default:"1" unit:"" doc:"Seed."`
}

// Docs has the long descriptions of keys.
func (PowerlawCluster) Docs() map[string]string {
	return map[string]string{
		"edges_per_step": "Edges that each new vertex brings: there are edges_per_step × (vertices - edges_per_step), " +
			"each in both directions. NetworkX: m.",
		"triangle_probability": "That an edge closes a triangle with the one before. NetworkX: p.",
	}
}

// ErdosRenyi is G(n, m).
type ErdosRenyi struct {
	Vertices int    `key:"vertices" required:"true" min:"2" max:"134217728" unit:"vertices" doc:"Vertices."`
	Edges    int    `key:"edges" required:"true" min:"0" max:"268435456" unit:"edges"`
	Seed     uint64 `key:"seed" default:"1" unit:"" doc:"Seed."`
}

// Docs has the long descriptions of keys.
func (ErdosRenyi) Docs() map[string]string {
	return map[string]string{
		"edges": "Undirected edges; each is there in both directions.",
	}
}

// Grid links each vertex to its neighbours right and below.
type Grid struct {
	Width  int     `key:"width" required:"true" min:"1" max:"134217728" unit:"vertices" doc:"Vertices of a row."`
	Height int     `key:"height" required:"true" min:"1" max:"134217728" unit:"vertices" doc:"Rows."`
	Remove float64 `key:"remove" default:"0" min:"0" max:"1" unit:"probability"`
	Rewire float64 `key:"rewire" default:"0" min:"0" max:"1" unit:"probability"`
	Seed   uint64  `key:"seed" default:"1" unit:"" doc:"Seed."`
}

// Docs has the long descriptions of keys.
func (Grid) Docs() map[string]string {
	return map[string]string{
		"remove": "That an edge is missing; about 0.35 gives the degrees of a road network.",
		"rewire": "That an edge which is not missing leads to a random vertex instead of the neighbour.",
	}
}

// Bipartite has vertices 0..left-1 on one side, the others on the other.
type Bipartite struct {
	Left  int    `key:"left" required:"true" min:"1" max:"67108864" unit:"vertices" doc:"Vertices that edges leave."`
	Right int    `key:"right" required:"true" min:"1" max:"67108864" unit:"vertices" doc:"Vertices that edges enter."`
	Edges int    `key:"edges" required:"true" min:"0" max:"268435456" unit:"edges" doc:"Edges, from left to right only."`
	Seed  uint64 `key:"seed" default:"1" unit:"" doc:"Seed."`
}

// Clean describes the clean-up of the edges.
type Clean struct {
	DropSelfLoops  bool `key:"drop_self_loops" default:"false" doc:"Drop edges from a vertex to itself."`
	Symmetrise     bool `key:"symmetrise" default:"false"`
	DropDuplicates bool `key:"drop_duplicates" default:"false"`
	CompactIDs     bool `key:"compact_ids" default:"false" doc:"Drop vertices without an edge, and close up the numbers."`
}

// Docs has the long descriptions of keys.
func (Clean) Docs() map[string]string {
	return map[string]string{
		"symmetrise":      "Add the reverse of each edge that lacks it; an edge of another weight is another edge.",
		"drop_duplicates": "Keep one of several edges between the same two vertices: the one of the smallest weight.",
	}
}

// Weights describes the origin of edge weights.
type Weights struct {
	From  WeightsFrom `key:"from" default:"file" oneof:"file,unit,random"`
	Words WeightWords `key:"words" default:"int" oneof:"int,float"`
	Min   int         `key:"min" default:"1" min:"0" max:"2147483647" unit:"" doc:"Smallest random weight."`
	Max   int         `key:"max" default:"64" min:"0" max:"2147483647" unit:"" doc:"Largest random weight."`
	Seed  uint64      `key:"seed" default:"1" unit:""`
}

// Docs has the long descriptions of keys.
func (Weights) Docs() map[string]string {
	return map[string]string{
		"from":  "file: the file's, if it has any. unit: none, all edges count 1. random: integers min..max.",
		"words": "Type of the weights in a Galois file, which does not state it: integers or floats.",
		"seed": "Seed of random weights. A weight follows from the seed and the two vertices, whichever way " +
			"the edge goes and however vertices are renumbered.",
	}
}

// Reorder describes the renumbering of vertices.
type Reorder struct {
	Order Order  `key:"order" default:"none" oneof:"none,degree,random,bfs"`
	Seed  uint64 `key:"seed" default:"1" unit:"" doc:"Seed of the random permutation."`
}

// Docs has the long descriptions of keys.
func (Reorder) Docs() map[string]string {
	return map[string]string{
		"order": "degree: falling number of edges, in and out, then by number. random: a permutation. bfs: " +
			"breadth first along edges of either direction, from vertex 0, then from the lowest one not " +
			"yet reached.",
	}
}

// Schema is the typed tree of a graph by itself. It is read later than the package's variables are made, since it needs
// the names of the enumerations: the compiler does not see this dependence, which is by reflection, and a debugger's
// build initialises them in another order.
var Schema = schema.Deferred[Graph]("", func() {})

// Sources lists those of the package's Sources that are given.
func (g *Graph) Sources() []string {
	given := []bool{g.File != "", g.RMAT != nil, g.PowerlawCluster != nil, g.ErdosRenyi != nil, g.Grid != nil,
		g.Bipartite != nil, g.Like != nil}
	var names []string
	for i, name := range Sources() {
		if given[i] {
			names = append(names, name)
		}
	}
	return names
}

// Sources returns the keys of a Graph of which exactly one must be given.
func Sources() []string {
	return []string{"file", "rmat", "powerlaw_cluster", "erdos_renyi", "grid", "bipartite", "like"}
}

// Validate returns an error for a graph with several sources.
func (g *Graph) Validate() error {
	if given := g.Sources(); len(given) > 1 {
		return fmt.Errorf("%s: expected only one of them", strings.Join(given, " and "))
	}
	return nil
}

// CheckSource returns an error for a graph without a source.
func (g *Graph) CheckSource() error {
	if len(g.Sources()) == 0 {
		return errors.New(NoSource())
	}
	return nil
}

// NoSource returns the message for a graph without a source.
func NoSource() string {
	return "no source: expected one of " + strings.Join(Sources(), ", ")
}

// Validate checks the probabilities and the number of edges.
func (g *RMAT) Validate() error {
	if sum := g.A + g.B + g.C; sum > 1+1e-9 {
		return &schema.FieldError{Key: "a", Msg: fmt.Sprintf("a + b + c = %g: expected at most 1", sum)}
	}
	if e := g.EdgeFactor << g.Scale; e > MaxEdges {
		return &schema.FieldError{Key: "edge_factor", Msg: fmt.Sprintf("%d edges: expected at most %d", e, MaxEdges)}
	}
	return nil
}

// Validate checks the number of edges.
func (g *PowerlawCluster) Validate() error {
	if g.EdgesPerStep >= g.Vertices {
		return &schema.FieldError{Key: "edges_per_step",
			Msg: fmt.Sprintf("%d: expected less than vertices = %d", g.EdgesPerStep, g.Vertices)}
	}
	if e := 2 * g.EdgesPerStep * (g.Vertices - g.EdgesPerStep); e > MaxEdges {
		return &schema.FieldError{Key: "edges_per_step", Msg: fmt.Sprintf("%d edges: expected at most %d", e, MaxEdges)}
	}
	return nil
}

// Validate checks that there are as many different edges.
func (g *ErdosRenyi) Validate() error {
	if most := g.Vertices * (g.Vertices - 1) / 2; g.Edges > most {
		return &schema.FieldError{Key: "edges",
			Msg: fmt.Sprintf("%d: %d vertices have at most %d", g.Edges, g.Vertices, most)}
	}
	return nil
}

// Validate checks the number of vertices.
func (g *Grid) Validate() error {
	if n := g.Width * g.Height; n > MaxVertices {
		return &schema.FieldError{Key: "height", Msg: fmt.Sprintf("%d vertices: expected at most %d", n, MaxVertices)}
	}
	return nil
}

// Validate checks that there are as many different edges.
func (g *Bipartite) Validate() error {
	if most := g.Left * g.Right; g.Edges > most {
		return &schema.FieldError{Key: "edges",
			Msg: fmt.Sprintf("%d: between %d and %d vertices there are at most %d", g.Edges, g.Left, g.Right, most)}
	}
	return nil
}

// Validate checks the range.
func (w *Weights) Validate() error {
	if w.Min > w.Max {
		return &schema.FieldError{Key: "min", Msg: fmt.Sprintf("%d: expected at most max = %d", w.Min, w.Max)}
	}
	return nil
}

// SetSeed gives all that is random about the graph this seed; it is false when nothing is. Sections are
// replaced, not written to.
func (g *Graph) SetSeed(seed uint64) (random bool) {
	switch {
	case g.RMAT != nil:
		g.RMAT, random = seeded(g.RMAT, func(x *RMAT) { x.Seed = seed })
	case g.PowerlawCluster != nil:
		g.PowerlawCluster, random = seeded(g.PowerlawCluster, func(x *PowerlawCluster) { x.Seed = seed })
	case g.ErdosRenyi != nil:
		g.ErdosRenyi, random = seeded(g.ErdosRenyi, func(x *ErdosRenyi) { x.Seed = seed })
	case g.Grid != nil:
		g.Grid, _ = seeded(g.Grid, func(x *Grid) { x.Seed = seed })
		random = g.Grid.Remove > 0 || g.Grid.Rewire > 0
	case g.Bipartite != nil:
		g.Bipartite, random = seeded(g.Bipartite, func(x *Bipartite) { x.Seed = seed })
	case g.Like != nil:
		g.Like, random = seeded(g.Like, func(x *Like) { x.Seed = seed })
	}
	if g.Weights.From == RandomWeights {
		g.Weights.Seed, random = seed, true
	}
	if g.Reorder.Order == RandomOrder {
		g.Reorder.Seed, random = seed, true
	}
	return random
}

func seeded[T any](section *T, set func(*T)) (*T, bool) {
	own := *section
	set(&own)
	return &own, true
}

// NominalEdges returns the approximate number of directed edges, before clean-up; ok is false for a file, whose size is
// known only once it is read.
func (g *Graph) NominalEdges() (edges uint64, ok bool) {
	switch {
	case g.RMAT != nil:
		return uint64(g.RMAT.EdgeFactor) << g.RMAT.Scale, true
	case g.PowerlawCluster != nil:
		p := g.PowerlawCluster
		return 2 * uint64(p.EdgesPerStep) * uint64(p.Vertices-p.EdgesPerStep), true
	case g.ErdosRenyi != nil:
		return 2 * uint64(g.ErdosRenyi.Edges), true
	case g.Grid != nil:
		w, h := uint64(g.Grid.Width), uint64(g.Grid.Height)
		return uint64(float64(2*(2*w*h-w-h)) * (1 - g.Grid.Remove)), true
	case g.Bipartite != nil:
		return uint64(g.Bipartite.Edges), true
	case g.Like != nil:
		o, _ := g.Like.Original()
		return uint64(o.Edges / g.Like.Shrink), true
	}
	return 0, false
}

// NominalVertices returns the number of vertices of a generated graph before clean-up; 0 for a file.
func (g *Graph) NominalVertices() uint64 {
	switch {
	case g.RMAT != nil:
		return 1 << g.RMAT.Scale
	case g.PowerlawCluster != nil:
		return uint64(g.PowerlawCluster.Vertices)
	case g.ErdosRenyi != nil:
		return uint64(g.ErdosRenyi.Vertices)
	case g.Grid != nil:
		return uint64(g.Grid.Width) * uint64(g.Grid.Height)
	case g.Bipartite != nil:
		return uint64(g.Bipartite.Left) + uint64(g.Bipartite.Right)
	case g.Like != nil:
		n, _ := g.Like.Size()
		return uint64(n)
	}
	return 0
}

// IDs is the meaning of the numbers in an edge list.
type IDs uint8

// AutoIDs goes by the file, KeepIDs takes numbers as they are, NamedIDs takes them for names.
const (
	AutoIDs IDs = iota
	KeepIDs
	NamedIDs
)

// WeightsFrom is the origin of weights.
type WeightsFrom uint8

// Sources of weights.
const (
	FileWeights WeightsFrom = iota
	UnitWeights
	RandomWeights
)

// WeightWords is the type of binary weights.
type WeightWords uint8

// Kinds of words.
const (
	IntWords WeightWords = iota
	FloatWords
)

// Order is an order of vertices.
type Order uint8

// Orders of vertices.
const (
	NoOrder Order = iota
	DegreeOrder
	RandomOrder
	BFSOrder
)

var (
	idsNames     = enum.Of[IDs]("ids", "auto", "keep", "names")
	weightsNames = enum.Of[WeightsFrom]("weights.from", "file", "unit", "random")
	wordsNames   = enum.Of[WeightWords]("weights.words", "int", "float")
	orderNames   = enum.Of[Order]("reorder.order", "none", "degree", "random", "bfs")
)

func (i IDs) String() string         { return idsNames.Name(i) }
func (w WeightsFrom) String() string { return weightsNames.Name(w) }
func (w WeightWords) String() string { return wordsNames.Name(w) }
func (o Order) String() string       { return orderNames.Name(o) }

// MarshalText writes the name that a configuration uses.
func (i IDs) MarshalText() ([]byte, error) { return idsNames.Marshal(i) }

// MarshalText writes the name that a configuration uses.
func (w WeightsFrom) MarshalText() ([]byte, error) { return weightsNames.Marshal(w) }

// MarshalText writes the name that a configuration uses.
func (w WeightWords) MarshalText() ([]byte, error) { return wordsNames.Marshal(w) }

// MarshalText writes the name that a configuration uses.
func (o Order) MarshalText() ([]byte, error) { return orderNames.Marshal(o) }

// UnmarshalText reads the name that a configuration uses.
func (i *IDs) UnmarshalText(text []byte) error { return idsNames.Unmarshal(text, i) }

// UnmarshalText reads the name that a configuration uses.
func (w *WeightsFrom) UnmarshalText(text []byte) error { return weightsNames.Unmarshal(text, w) }

// UnmarshalText reads the name that a configuration uses.
func (w *WeightWords) UnmarshalText(text []byte) error { return wordsNames.Unmarshal(text, w) }

// UnmarshalText reads the name that a configuration uses.
func (o *Order) UnmarshalText(text []byte) error { return orderNames.Unmarshal(text, o) }
