package graphit

// File is a program.
type File struct {
	Name     string
	Elements []*Element
	Globals  []*Var
	Funcs    []*Func
	Notes    []Remark           // of elaboration
	Schedule *Schedule          // nil: the file has none
	Natives  map[string]*Extern // the functions in C that extern functions of these names are
}

// Remark is a notice about a program.
type Remark struct {
	Pos  Pos
	Text string
}

// Element declares a type of vertices or edges.
type Element struct {
	Name string
	Pos  Pos
}

// Var declares a constant, GraphIt's word for a global, or a local variable.
type Var struct {
	Name  string
	Type  *Type
	Init  Expr // nil: none
	Const bool // written const, not var
	Label string
	Pos   Pos

	Global bool // found by Check
	// Marks is set of a vector that Check adds to find an operator's output: as often as its function returns true,
	// which may depend on the order of the edges.
	Marks bool
}

// Func is a function.
type Func struct {
	Name string
	// Captures are a functor's parameters in [], which a use binds to variables of the caller.
	Captures []*Var
	Params   []*Var
	Result   *Var // nil: none
	Body     []Stmt
	Pos      Pos
	Exports  bool
	File     string // of a function that another file than the program has; "": the program's
	// Extern marks a function without a body, which another file defines.
	Extern bool
	// Native is the function in Go or C that it is; nil: it has a body.
	Native *Extern
	// Counts is how the function that counts the common neighbours of two vertices does that; nil: another function.
	Counts *Intersection
}

// Kind is a kind of types.
type Kind uint8

// Kinds of types.
const (
	None Kind = iota
	Int
	Uint
	Float
	Double
	Bool
	String
	Vertex // an element that vertexsets are of; as good as an int
	VertexSet
	EdgeSet
	Vector
	List
	PriorityQueue
	Function
)

// Type is a type.
type Type struct {
	Kind    Kind
	Element string // of vertices, sets, and vectors with a number for each vertex
	Of      *Type  // element type of a vector, list or queue
	Size    int    // of a vector that is not of an element
	Width   int    // numbers of each element, of a vector of vectors; 0: 1
	PerEdge bool   // a vector with a number for each edge, which only Check makes
	Wide    bool   // a uint_64, computed in 32 bits: larger values are refused
	Weight  *Type  // of edges; nil: they have none
	Ends    [2]string
	Pos     Pos
}

// Expr is an expression.
type Expr interface {
	Position() Pos
	// TypeOf returns the type that Check assigned; nil before.
	TypeOf() *Type
}

type node struct {
	Pos  Pos
	Type *Type
}

func (n *node) Position() Pos { return n.Pos }
func (n *node) TypeOf() *Type { return n.Type }

// Expressions.
type (
	// Name is a variable, a function, or argv.
	Name struct {
		node
		Name string
		Var  *Var  // found by Check; nil: no variable
		Func *Func // found by Check; nil: no function
	}
	// Number is an integer or real literal.
	Number struct {
		node
		Text string
		Real bool
		Int  int64 // of integers
		Val  float64
	}
	// Text is a string.
	Text struct {
		node
		Value string
	}
	// Truth is true or false.
	Truth struct {
		node
		Value bool
	}
	// Unary is an operation on one operand: - + not.
	Unary struct {
		node
		Op string
		X  Expr
	}
	// Binary is an operation on two.
	Binary struct {
		node
		Op   string
		X, Y Expr
	}
	// Index is an element of a vector, or an argument of the command line. J is the number within the element, of a
	// vector of vectors; nil: the elements are numbers.
	Index struct {
		node
		X, I, J Expr
	}
	// Bind is a functor with its captured arguments. Check replaces it by the name of a function.
	Bind struct {
		node
		Name string
		Args []Expr
	}
	// Braces are the elements of a vector. Check replaces them by assignments.
	Braces struct {
		node
		List []Expr
	}
	// Call calls a function of the program's or of the language's.
	Call struct {
		node
		Name     string
		Captures []Expr // of a functor
		Args     []Expr
		Func     *Func // found by Check; nil: the language's
	}
	// Method is X.Name(Args).
	Method struct {
		node
		X    Expr
		Name string
		Args []Expr
	}
	// New creates a vertexset, a list or a priority queue.
	New struct {
		node
		Of   *Type
		Args []Expr
	}
	// Load reads a graph.
	Load struct {
		node
		Arg Expr
	}
)

// Stmt is a statement.
type Stmt interface {
	Position() Pos
	// LabelOf is its label; "": it has none.
	LabelOf() string
}

type stmt struct {
	Pos   Pos
	Label string
}

func (s *stmt) Position() Pos   { return s.Pos }
func (s *stmt) LabelOf() string { return s.Label }

// Statements.
type (
	// VarStmt declares a variable.
	VarStmt struct {
		stmt
		Var *Var
	}
	// Assign is X Op Value, where Op is =, +=, min= or max=.
	Assign struct {
		stmt
		X     Expr
		Op    string
		Value Expr
	}
	// ExprStmt is an expression whose value, if it has one, is dropped.
	ExprStmt struct {
		stmt
		X Expr
	}
	// If chooses; elif is an If alone in Else.
	If struct {
		stmt
		Cond       Expr
		Then, Else []Stmt
		IsElif     bool
	}
	// While repeats as long as the condition holds.
	While struct {
		stmt
		Cond Expr
		Body []Stmt
	}
	// For counts from From to below To.
	For struct {
		stmt
		Var      *Var
		From, To Expr
		Body     []Stmt
		Parallel bool // par_for: rounds may run in any order
	}
	// Print prints.
	Print struct {
		stmt
		Args []Expr
	}
	// Delete ends a set's or a queue's life.
	Delete struct {
		stmt
		X Expr
	}
	// Break leaves the innermost loop.
	Break struct{ stmt }
)
