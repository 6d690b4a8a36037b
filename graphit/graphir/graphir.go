// Package graphir is the intermediate representation of GraphIt programs (UGF, Table 4.1): a host program whose
// operators run over edges or vertices, each with what passes have found out about it.
//
// It knows no machine: what becomes of an operator there is in graphit/lower, what it means in graphit/eval.
package graphir

import "heddle/graphit"

// Program is a program.
type Program struct {
	File *graphit.File
	// Vectors have a number for each vertex, or a fixed size.
	Vectors []*graphit.Var
	// Scalars are the program's other constants: numbers, truth values, queues.
	Scalars  []*graphit.Var
	Weighted bool // edges have weights that functions may read
	Main     []Stmt
	Edges    []*EdgeSetIterator   // in the order of the text
	Vertices []*VertexSetIterator // in the order of the text
	Notes    []Note               // on its schedule: what has no meaning here
}

// Note is a remark on the schedule.
type Note struct {
	Pos  graphit.Pos
	Text string
	// OnHost says that the backend for CPUs follows it.
	OnHost bool
}

// Stmt is a statement of the host program.
type Stmt interface{ Position() graphit.Pos }

// At is where a statement is.
type At struct {
	Pos graphit.Pos
	// Path is its label behind those around it, as "s0:s1"; "": it has none.
	Path string
}

// Position is where the statement begins.
func (a *At) Position() graphit.Pos { return a.Pos }

// Statements of the host.
type (
	// Host is a statement that the host runs alone: variables, assignments, print, delete, break, calls.
	Host struct {
		At
		Stmt graphit.Stmt
	}
	// If chooses.
	If struct {
		At
		Cond       graphit.Expr
		Then, Else []Stmt
	}
	// While repeats.
	While struct {
		At
		Cond graphit.Expr
		Body []Stmt
		Fusion
		// Ordered is there if the loop is over a queue's buckets, which may be fused on a CPU.
		Ordered *Ordered
	}
	// For counts.
	For struct {
		At
		Var      *graphit.Var
		From, To graphit.Expr
		Body     []Stmt
		Fusion
	}
)

// Fusion holds a loop's part of the schedule.
type Fusion struct {
	// NeedsFusion has the loop be the device's (UGF, §5.2.1).
	NeedsFusion bool
	// Fused is where the schedule says so.
	Fused graphit.Pos
}

// FusionOf returns the path of a loop and its part of the schedule; nil: the statement is no loop.
func FusionOf(s Stmt) (path string, f *Fusion) {
	switch s := s.(type) {
	case *While:
		return s.Path, &s.Fusion
	case *For:
		return s.Path, &s.Fusion
	}
	return "", nil
}

// FusedLoop is the path of a loop that its schedule has be the device's; "": there is none.
func (p *Program) FusedLoop() (path string) {
	p.Visit(func(s Stmt) {
		if at, f := FusionOf(s); f != nil && f.NeedsFusion {
			path = at
		}
	})
	return path
}

// Representation is how a set of vertices lies in memory.
type Representation uint8

// Representations.
const (
	Sparse Representation = iota // a list
	Bitmap
	Boolmap
)

func (r Representation) String() string { return [...]string{"SPARSE", "BITMAP", "BOOLMAP"}[r] }

// Direction is who changes whom.
type Direction uint8

// Directions.
const (
	Push Direction = iota
	Pull
)

func (d Direction) String() string { return [...]string{"PUSH", "PULL"}[d] }

// What an operator over edges does with the vertices that it changes.
type Output uint8

// Outputs.
const (
	NoOutput Output = iota
	Modified        // applyModified: they are a set
	Priority        // applyUpdatePriority: they go to the queue
)

// EdgeSetIterator applies a function to edges.
type EdgeSetIterator struct {
	At
	Name       string        // of kernels: its path, or edges and a number
	Transposed bool          // edges are those of the transposed graph
	Input      graphit.Expr  // the set that edges leave; nil: all
	SrcFilter  *graphit.Func // nil: none
	DstFilter  *graphit.Func // nil: none
	Apply      *graphit.Func
	Output     Output
	Tracked    *graphit.Var // the vector whose changes make the output
	To         graphit.Expr // that takes the output: a variable; nil: none
	Declares   *graphit.Var // the variable, if the statement declares it
	Dedup      bool         // the program asks for it: the third argument of applyModified

	Metadata // of its schedule; of the schedule for large inputs, if there are two
	Accesses []Access
	// What schedules for CPUs say to the backend for them; "" and nil: nothing.
	PriorityUpdate, Parallelization string
	MergeThreshold, OpenBuckets     *graphit.Arg
	// Hybrid are the two schedules of an operator that chooses whenever it runs; nil: Metadata is all.
	Hybrid *Hybrid
}

// Hybrid chooses by the input's size.
type Hybrid struct {
	Threshold graphit.Arg // as a part of all vertices
	Above     Metadata    // of inputs with at least as many vertices; Below is the operator's own
}

// Metadata is what is known of an operator over edges (UGF, Table 4.1), and how its work is dealt out.
type Metadata struct {
	IsAllEdges           bool
	RequiresOutput       bool
	ApplyDeduplication   bool
	OutputRepresentation Representation
	CanReuseFrontier     bool
	IsEdgeParallel       bool
	Direction            Direction
	Hybrid               bool // push and pull by Beamer's rule, of GraphIt's schedules for CPUs
	PullInputFrontier    Representation
	LoadBalance          string // UGF's word; "": whatever suits
	Blocking             *graphit.Arg
	DedupType            string // UGF's word; "": whatever suits
	Delta                *graphit.Arg
	Given                map[string]bool // the settings that a schedule has given
	deltaAt              graphit.Pos
}

// Access is an access of an operator's functions to a vector.
type Access struct {
	Vector *graphit.Var
	Index  Place
	Op     string // "": it is read; otherwise =, +=, min= or max=
	Shared bool   // threads may meet there, and at least one writes
	Atomic bool   // it must be an atomic operation
	Pos    graphit.Pos
}

// Place is the vertex whose element is accessed.
type Place uint8

// Places.
const (
	AtSource Place = iota
	AtDestination
	AtVertex // a vertex function's own
	Elsewhere
)

func (p Place) String() string { return [...]string{"src", "dst", "v", "elsewhere"}[p] }

// VertexSetIterator applies a function to vertices, or keeps those for which it holds.
type VertexSetIterator struct {
	At
	Name          string
	Input         graphit.Expr // nil: all
	IsAllVertices bool
	IsParallel    bool
	Apply         *graphit.Func
	Filters       bool // the function's result says who is in the output
	To            graphit.Expr
	Declares      *graphit.Var
	Accesses      []Access
}
