package graphit

// Walk calls f with every expression of statements, the outer ones first.
func Walk(list []Stmt, f func(x Expr)) {
	for _, s := range list {
		WalkStmt(s, f)
	}
}

// WalkStmt calls f with every expression of a statement and of those within it.
func WalkStmt(s Stmt, f func(x Expr)) {
	switch s := s.(type) {
	case *VarStmt:
		WalkExpr(s.Var.Init, f)
	case *Assign:
		WalkExpr(s.X, f)
		WalkExpr(s.Value, f)
	case *ExprStmt:
		WalkExpr(s.X, f)
	case *If:
		WalkExpr(s.Cond, f)
		Walk(s.Then, f)
		Walk(s.Else, f)
	case *While:
		WalkExpr(s.Cond, f)
		Walk(s.Body, f)
	case *For:
		WalkExpr(s.From, f)
		WalkExpr(s.To, f)
		Walk(s.Body, f)
	case *Print:
		for _, x := range s.Args {
			WalkExpr(x, f)
		}
	case *Delete:
		WalkExpr(s.X, f)
	}
}

// WalkExpr calls f with an expression and all within it.
func WalkExpr(x Expr, f func(x Expr)) {
	if x == nil {
		return
	}
	f(x)
	all := func(list []Expr) {
		for _, x := range list {
			WalkExpr(x, f)
		}
	}
	switch x := x.(type) {
	case *Unary:
		WalkExpr(x.X, f)
	case *Binary:
		WalkExpr(x.X, f)
		WalkExpr(x.Y, f)
	case *Index:
		WalkExpr(x.X, f)
		WalkExpr(x.I, f)
		WalkExpr(x.J, f)
	case *Bind:
		all(x.Args)
	case *Braces:
		all(x.List)
	case *Call:
		all(x.Captures)
		all(x.Args)
	case *Method:
		WalkExpr(x.X, f)
		all(x.Args)
	case *New:
		all(x.Args)
	case *Load:
		WalkExpr(x.Arg, f)
	}
}

// Declared calls f with the parameters, the result and the variables of a function.
func Declared(fn *Func, f func(v *Var)) {
	for _, v := range fn.Params {
		f(v)
	}
	if fn.Result != nil {
		f(fn.Result)
	}
	declared(fn.Body, f)
}

func declared(list []Stmt, f func(v *Var)) {
	for _, s := range list {
		switch s := s.(type) {
		case *VarStmt:
			f(s.Var)
		case *If:
			declared(s.Then, f)
			declared(s.Else, f)
		case *While:
			declared(s.Body, f)
		case *For:
			f(s.Var)
			declared(s.Body, f)
		}
	}
}

// Writes is the reduction that a call of the language's writeMin or writeMax does; "": the call is another.
func Writes(x *Call) string {
	if x.Func != nil {
		return ""
	}
	return map[string]string{"writeMin": "min=", "writeMax": "max="}[x.Name]
}

// Isolated is the number of vertices of a constant that is new vertexset(n), in a program without a graph; -1: it is
// something else.
func (v *Var) Isolated() int {
	x, ok := v.Init.(*New)
	if !ok || x.Of.Kind != VertexSet || len(x.Args) != 1 {
		return -1
	}
	n, ok := x.Args[0].(*Number)
	if !ok || n.Real || n.Int < 0 || n.Int > maxVector {
		return -1
	}
	return int(n.Int)
}

// Main is the function that the program begins with.
func (f *File) Main() *Func {
	for _, fn := range f.Funcs {
		if fn.Name == "main" {
			return fn
		}
	}
	return nil
}

// LastArgument is the greatest n for which a program that has been checked asks for argv[n], and where; 0: it asks for
// none.
func (f *File) LastArgument() (n int, at Pos) {
	look := func(x Expr) {
		i, ok := x.(*Index)
		if !ok {
			return
		}
		name, ok := i.X.(*Name)
		if k, isNumber := i.I.(*Number); ok && isNumber && name.Name == "argv" && int(k.Int) > n {
			n, at = int(k.Int), i.Pos
		}
	}
	for _, v := range f.Globals {
		WalkExpr(v.Init, look)
	}
	for _, fn := range f.Funcs {
		Walk(fn.Body, look)
	}
	return n, at
}

// Single is the value of a function that only assigns its result; nil: it does more.
func (f *Func) Single() Expr {
	if len(f.Body) != 1 || f.Result == nil {
		return nil
	}
	a, ok := f.Body[0].(*Assign)
	if !ok || a.Op != "=" {
		return nil
	}
	if n, ok := a.X.(*Name); !ok || n.Var != f.Result {
		return nil
	}
	return a.Value
}

// Graph describes the graph that a checked program loads: its file, if the program names one, or else the number of the
// argument that does; -1: the program loads none. weighted reports whether its edges have weights.
func (f *File) Graph() (name string, argument int, weighted bool) {
	for _, v := range f.Globals {
		load, ok := v.Init.(*Load)
		if !ok {
			continue
		}
		weighted = v.Type.Weight != nil
		switch x := load.Arg.(type) {
		case *Text:
			return x.Value, 0, weighted
		case *Index:
			n, _ := x.I.(*Number)
			return "", int(n.Int), weighted
		}
		return "", 1, weighted
	}
	return "", -1, false
}

// Descending reports whether a queue that a program makes has higher priorities first: the order of its buckets is 0.
// The order is a literal.
func Descending(x *New) bool {
	n, ok := x.Args[3].(*Number)
	return ok && n.Int == 0
}

// Constant is the value of a real expression of literals alone, as C++ computes it: in doubles. false: it is another.
func Constant(x Expr) (float64, bool) {
	switch x := x.(type) {
	case *Number:
		if x.Real {
			return x.Val, true
		}
		return float64(x.Int), true
	case *Unary:
		v, ok := Constant(x.X)
		if x.Op == "-" {
			v = -v
		}
		return v, ok && (x.Op == "-" || x.Op == "+")
	case *Binary:
		a, ok := Constant(x.X)
		b, also := Constant(x.Y)
		if !ok || !also || !x.TypeOf().isReal() {
			return 0, false
		}
		switch x.Op {
		case "+":
			return a + b, true
		case "-":
			return a - b, true
		case "*":
			return a * b, true
		case "/":
			return a / b, true
		}
	}
	return 0, false
}

// Literal reports whether a float's operation has reals that are literals alone, with which C++ computes in doubles: it
// is a double's where a double is wanted.
func Literal(x Expr) bool {
	switch x := x.(type) {
	case *Number:
		return true
	case *Unary:
		return x.Op != "not" && Literal(x.X)
	case *Binary:
		switch x.Op {
		case "+", "-", "*", "/":
			return x.TypeOf().Kind == Float && Literal(x.X) && Literal(x.Y) || x.TypeOf().isInteger()
		}
		return false
	}
	return x.TypeOf().isInteger() || x.TypeOf().isCount()
}
