// Package graphir is the intermediate representation of GraphIt programs (UGF, Table 4.1): a host program whose
// operators run over edges or vertices, each annotated with the passes' results.
//
// It knows no machine: graphit/lower lowers operators to one, and graphit/eval defines their semantics.
package graphir

import "heddle/graphit"

// Program is a program.
type Program struct {
	File *graphit.File
	// Vectors have one number per vertex, or a fixed size.
	Vectors []*graphit.Var
	// Scalars are the program's other globals: numbers, booleans, queues.
	Scalars []*graphit.Var
	// Isolated is the number of vertices of a program without a graph, from a constant that is new vertexset(n); -1: it
	// has a graph.
	Isolated int
	Weighted bool // edges have weights that functions may read
	Main     []Stmt
	Edges    []*EdgeSetIterator   // in source order
	Vertices []*VertexSetIterator // in source order
	Notes    []Note               // schedule settings that have no meaning here
	// Structs are vectors that lie in one array, element by element (fuseFields).
	Structs [][]*graphit.Var
	// Float computes doubles as floats, and Narrow integers of 64 bits in 32, where larger ones are refused.
	Float, Narrow bool
}

// Wide reports whether a type's numbers take two words of the machine.
func (p *Program) Wide(t *graphit.Type) bool {
	return t.Kind == graphit.Double && !p.Float || t.Wide && !p.Narrow
}

// Note is a remark on the schedule.
type Note struct {
	Pos     graphit.Pos
	Text    string
	Program bool // its position is in the program, not in the schedule
	// OnHost is set if the CPU backend honours the setting.
	OnHost bool
}

// Stmt is a statement of the host program.
type Stmt interface{ Position() graphit.Pos }

// At is a statement's position.
type At struct {
	Pos graphit.Pos
	// Path is its label after those of the enclosing statements, as in "s0:s1"; "": unlabelled.
	Path string
}

// Position is where the statement begins.
func (a *At) Position() graphit.Pos { return a.Pos }

// Statements of the host.
type (
	// Host is a statement that only the host executes: variables, assignments, print, delete, break, calls.
	Host struct {
		At
		Stmt graphit.Stmt
	}
	// If is a conditional.
	If struct {
		At
		Cond       graphit.Expr
		Then, Else []Stmt
	}
	// While is a loop with a condition.
	While struct {
		At
		Cond graphit.Expr
		Body []Stmt
		Fusion
		// Ordered is set if the loop is over a queue's buckets, which a CPU may fuse.
		Ordered *Ordered
	}
	// For is a counting loop.
	For struct {
		At
		Var      *graphit.Var
		From, To graphit.Expr
		Body     []Stmt
		Fusion
	}
)

// Fusion is a loop's part of the schedule.
type Fusion struct {
	// NeedsFusion is set if the whole loop is to run on the device (UGF, §5.2.1).
	NeedsFusion bool
	// Fused is the position of that setting in the schedule.
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

// FusedLoop returns the path of the loop that its schedule fuses; "": none.
func (p *Program) FusedLoop() (path string) {
	p.Visit(func(s Stmt) {
		if at, f := FusionOf(s); f != nil && f.NeedsFusion {
			path = at
		}
	})
	return path
}

// Representation is the memory representation of a set of vertices.
type Representation uint8

// Representations.
const (
	Sparse Representation = iota // a list
	Bitmap
	Boolmap
)

func (r Representation) String() string { return [...]string{"SPARSE", "BITMAP", "BOOLMAP"}[r] }

// Direction is push or pull.
type Direction uint8

// Directions.
const (
	Push Direction = iota
	Pull
)

func (d Direction) String() string { return [...]string{"PUSH", "PULL"}[d] }

// Output is an operator's output: the destination of the vertices that it changes.
type Output uint8

// Outputs.
const (
	NoOutput Output = iota
	Modified        // applyModified: the changed vertices form a set
	Priority        // applyUpdatePriority: they enter the queue
)

// EdgeSetIterator applies a function to edges.
type EdgeSetIterator struct {
	At
	Name       string        // name in kernels: its path, or edges and a number
	Transposed bool          // its edges are those of the transposed graph
	Input      graphit.Expr  // the set that the edges leave; nil: all
	SrcFilter  *graphit.Func // nil: none
	DstFilter  *graphit.Func // nil: none
	Apply      *graphit.Func
	Output     Output
	Tracked    *graphit.Var // the vector whose changes determine the output
	To         graphit.Expr // the variable assigned the output; nil: none
	Declares   *graphit.Var // the variable, if the statement declares it
	Dedup      bool         // the program requests it: the third argument of applyModified

	Metadata // from its schedule; from the schedule for large inputs, if there are two
	Accesses []Access
	// Settings of CPU schedules for the CPU backend; "" and nil: none.
	PriorityUpdate, Parallelization string
	MergeThreshold, OpenBuckets     *graphit.Arg
	Segments                        *graphit.Arg // of the edges, by ranges of their sources (cache segments)
	// Swarm is the schedule for machines of Swarm tiles; nil: none.
	Swarm *graphit.SimpleSwarmSchedule
	// Hybrid holds the two schedules of an operator that chooses one whenever it runs; nil: only Metadata applies.
	Hybrid *Hybrid
}

// Segmented reports whether a pull goes through segments of its edges one after the other: of all edges, for each of
// which the function does the same in any order.
func (e *EdgeSetIterator) Segmented() bool {
	return e.Segments != nil && e.Input == nil && e.SrcFilter == nil && e.DstFilter == nil && e.Output == NoOutput
}

// Hybrid chooses by the size of the input.
type Hybrid struct {
	Threshold graphit.Arg // as a fraction of all vertices
	Above     Metadata    // for inputs at or above the threshold; Metadata is for those below
}

// Metadata holds the annotations of an operator over edges (UGF, Table 4.1), and how its work is distributed.
type Metadata struct {
	IsAllEdges           bool
	RequiresOutput       bool
	ApplyDeduplication   bool
	OutputRepresentation Representation
	CanReuseFrontier     bool
	IsEdgeParallel       bool
	Direction            Direction
	Hybrid               bool // push and pull by Beamer's rule, from GraphIt's CPU schedules
	PullInputFrontier    Representation
	LoadBalance          string // UGF's name; "": chosen automatically
	Blocking             *graphit.Arg
	DedupType            string // UGF's name; "": chosen automatically
	Delta                *graphit.Arg
	Given                map[string]bool // the settings that a schedule specifies
	deltaAt              graphit.Pos
}

// Access is an access of an operator's functions to a vector.
type Access struct {
	Vector *graphit.Var
	Index  Place
	Op     string // "": a read; otherwise =, +=, min= or max=
	Shared bool   // several threads may access the element, and at least one writes
	Atomic bool   // it must be an atomic operation
	Pos    graphit.Pos
}

// Place is the vertex whose element is accessed.
type Place uint8

// Places.
const (
	AtSource Place = iota
	AtDestination
	AtVertex // the argument of a function over vertices
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
	Filters       bool // the function's result selects the output
	To            graphit.Expr
	Declares      *graphit.Var
	Accesses      []Access
}
