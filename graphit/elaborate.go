package graphit

import (
	"fmt"
	"slices"
	"strings"
)

// elaborate replaces what the language has beyond its core by the core's constructs, so that neither the evaluator nor
// a back end knows them:
//
//   - A program of exported functions alone gets a main, which calls them in their order.
//   - Functions of the program that main calls are inlined there.
//   - Vectors of main become constants of the program, given their values where main declares them.
//   - A functor becomes a function for each list of what it captures.
//   - A function of edges whose result selects the output assigns to a vector that is tracked.
//   - A function of vertices that prints becomes a loop of the host.
//   - Neighbours and intersections read the graph's rows as vectors.
//
// A program without any of these is left as it is. Errors have the position of the construct in the program.
func (c *checker) elaborate(f *File) {
	e := &elaborator{checker: c, f: f, byName: map[string]*Func{}, globals: map[string]*Var{}, taken: map[string]bool{},
		made: map[string]*Func{}, numbered: map[string]int{}}
	for _, fn := range f.Funcs {
		if e.byName[fn.Name] == nil {
			e.byName[fn.Name] = fn
		}
		e.reserve(fn)
	}
	for _, v := range f.Globals {
		if e.globals[v.Name] == nil {
			e.globals[v.Name] = v
		}
		e.taken[v.Name] = true
	}
	if !e.needed() {
		return
	}
	e.externs()
	e.program()
}

// elaborator rewrites a program.
type elaborator struct {
	*checker
	f       *File
	byName  map[string]*Func
	globals map[string]*Var
	taken   map[string]bool // names of variables and functions
	// numbered are the numbers with which names were last made unique: a program may have very many of one name.
	numbered map[string]int
	made     map[string]*Func // functions that stand for others, by what they stand for
	added    []*Func
	first    []Stmt // what main begins with
	calls    []*Func
	loops    int // of main around a statement
	copied   int // expressions and statements
	rows     *rows
	launch   bool // main has run an operator
	place    Pos  // of copies; the zero Pos: that of the original
}

// maxCopied is the largest number of expressions and statements of an elaborated program.
const maxCopied = 1 << 17

func (e *elaborator) copy(at Pos) {
	if e.copied++; e.copied > maxCopied {
		e.errorf(at, "the program is too large: it has more than %d expressions, with those of the functions that main "+
			"calls and of functors", maxCopied)
	}
}

// reserve takes the names that a function uses.
func (e *elaborator) reserve(fn *Func) {
	e.taken[fn.Name] = true
	Declared(fn, func(v *Var) { e.taken[v.Name] = true })
	for _, v := range fn.Captures {
		e.taken[v.Name] = true
	}
}

// unique returns a name that nothing has yet.
func (e *elaborator) unique(name string) string {
	s := name
	for n := max(2, e.numbered[name]); e.taken[s] || builtins[s] != nil; n++ {
		s = fmt.Sprintf("%s_%d", name, n)
		e.numbered[name] = n
	}
	e.taken[s] = true
	return s
}

// needed reports whether a program has any of the constructs.
func (e *elaborator) needed() bool {
	main := e.byName["main"]
	if main == nil {
		return slices.ContainsFunc(e.f.Funcs, func(fn *Func) bool { return fn.Exports })
	}
	found := false
	look := func(x Expr) {
		switch x := x.(type) {
		case *Bind, *Braces:
			found = true
		case *Index:
			n, ok := x.X.(*Name)
			found = found || ok && e.byName[n.Name] != nil
		case *Call:
			found = found || len(x.Captures) > 0 || elaborated[x.Name]
		case *Method:
			found = found || elaborated[x.Name] || x.Name == "apply" && e.returns(x.Args) ||
				x.Name == "applyModified" && e.returns(x.Args)
		case *New:
			found = found || x.Of.Kind == Vector
		}
	}
	for _, v := range e.f.Globals {
		WalkExpr(v.Init, look)
		found = found || v.Type.Kind == EdgeSet && v.Init == nil
	}
	for _, fn := range e.f.Funcs {
		found = found || fn.Extern || len(fn.Captures) > 0
		Walk(fn.Body, look)
	}
	Walk(main.Body, func(x Expr) {
		c, ok := x.(*Call)
		found = found || ok && e.byName[c.Name] != nil
		m, ok := x.(*Method)
		found = found || ok && m.Name == "apply" && len(m.Args) == 1 && e.prints(e.named(m.Args[0]))
	})
	each(main.Body, func(s Stmt) { found = found || e.needs(s) })
	return found
}

// elaborated are functions and methods of the language that are replaced.
var elaborated = map[string]bool{"atomicAdd": true, "intersectNeighbor": true, "intersection": true, "getNgh": true,
	"getOutDegree": true, "relabel": true, updateExtern: true}

// needs reports whether a statement of main is replaced.
func (e *elaborator) needs(s Stmt) bool {
	switch s := s.(type) {
	case *VarStmt:
		return s.Var.Type.Kind == Vector || s.Var.Init != nil && isArgument(s.Var.Init) && s.Var.Type.isInteger()
	case *Assign:
		n, ok := s.X.(*Name)
		v := e.globals[nameOf(n)]
		return ok && v != nil && (v.Type.Kind == Vector || v.Type.Kind == EdgeSet || v.Type.Kind == VertexSet)
	}
	return false
}

func nameOf(n *Name) string {
	if n == nil {
		return ""
	}
	return n.Name
}

// each calls f with all statements of a list and within it.
func each(list []Stmt, f func(s Stmt)) {
	for _, s := range list {
		f(s)
		switch s := s.(type) {
		case *If:
			each(s.Then, f)
			each(s.Else, f)
		case *While:
			each(s.Body, f)
		case *For:
			each(s.Body, f)
		}
	}
}

// named returns the function that an expression names, a functor with or without what it captures; nil: none.
func (e *elaborator) named(x Expr) *Func {
	switch x := x.(type) {
	case *Name:
		return e.byName[x.Name]
	case *Bind:
		return e.byName[x.Name]
	case *Index:
		if n, ok := x.X.(*Name); ok {
			return e.byName[n.Name]
		}
	}
	return nil
}

// returns reports whether an operator's function is one of edges that has a result.
func (e *elaborator) returns(args []Expr) bool {
	if len(args) == 0 {
		return false
	}
	fn := e.named(args[0])
	return fn != nil && len(fn.Params) > 1 && fn.Result != nil
}

// prints reports whether a function prints.
func (e *elaborator) prints(fn *Func) (found bool) {
	if fn == nil || len(fn.Params) != 1 || fn.Result != nil {
		return false
	}
	each(fn.Body, func(s Stmt) {
		_, ok := s.(*Print)
		found = found || ok
	})
	return found
}

// externs refuses functions without a body.
func (e *elaborator) externs() {
	for _, fn := range e.f.Funcs {
		if !fn.Extern {
			continue
		}
		if fn.Native = e.f.Natives[fn.Name]; fn.Native == nil {
			fn.Native = e.native(fn)
		}
		if fn.Native == nil {
			e.errorf(fn.Pos, "extern %s: expected a function with this signature, in GraphIt or in C (--extern FILE.gt, "+
				"FILE.c; or beside the program, %s), or in Go (heddle.WithExtern)", Signature(fn), ExternFile(e.f.Name))
		}
	}
}

// Signature is a function's first line as a program has it.
func Signature(fn *Func) string {
	list := func(vars []*Var) string {
		var out []string
		for _, v := range vars {
			out = append(out, v.Name+" : "+v.Type.String())
		}
		return strings.Join(out, ", ")
	}
	s := "func " + fn.Name
	if len(fn.Captures) > 0 {
		s += "[" + list(fn.Captures) + "]"
	}
	s += "(" + list(fn.Params) + ")"
	if fn.Result != nil {
		s += " -> " + fn.Result.Name + " : " + fn.Result.Type.String()
	}
	return s
}

// ExternFile is the name of the file beside a program that has its extern functions.
func ExternFile(program string) string { return strings.TrimSuffix(program, ".gt") + ".extern.gt" }

// Link gives a program's extern functions the bodies that another file has, with that file's constants and further
// functions.
func (f *File) Link(with *File) (err error) {
	p := &parser{file: with.Name}
	defer p.catch(&err)
	for _, fn := range with.Funcs {
		fn.File = with.Name
		i := slices.IndexFunc(f.Funcs, func(x *Func) bool { return x.Name == fn.Name })
		switch {
		case fn.Extern:
		case i < 0:
			f.Funcs = append(f.Funcs, fn)
		case !f.Funcs[i].Extern:
			p.errorf(fn.Pos, "func %s: %s has a function of this name", fn.Name, f.Name)
		default:
			if want, got := types(f.Funcs[i]), types(fn); want != got {
				p.errorf(fn.Pos, "%s: expected %s, as %s declares it", Signature(fn), Signature(f.Funcs[i]), f.Name)
			}
			f.Funcs[i] = fn
		}
	}
	f.Globals = append(f.Globals, with.Globals...)
	for _, el := range with.Elements {
		if !slices.ContainsFunc(f.Elements, func(x *Element) bool { return x.Name == el.Name }) {
			f.Elements = append(f.Elements, el)
		}
	}
	return nil
}

// types are the types of a function's parameters and of its result.
func types(fn *Func) string {
	var out []string
	for _, v := range fn.Params {
		out = append(out, v.Type.String())
	}
	if fn.Result != nil {
		out = append(out, "->", fn.Result.Type.String())
	}
	return strings.Join(out, " ")
}

// program rewrites all functions.
func (e *elaborator) program() {
	e.order()
	main := e.byName["main"]
	if main == nil {
		main = e.exported()
		e.f.Funcs = append(e.f.Funcs, main)
	}
	h := &host{elaborator: e, scope: &names{}}
	for _, v := range e.f.Globals {
		h.constant(v)
	}
	body := h.block(main.Body)
	main.Body = append(e.first, body...)
	for _, fn := range e.f.Funcs {
		if fn == main || len(fn.Captures) > 0 || fn.Native == nil && e.onHost(fn) {
			continue
		}
		e.added = append(e.added, e.function(fn, fn.Name, nil))
	}
	e.f.Funcs = append(e.added, main)
}

// onHost reports whether only main can call a function, which is then inlined.
func (e *elaborator) onHost(fn *Func) bool {
	found := fn.Exports
	set := func(v *Var) {
		switch v.Type.Kind {
		case VertexSet, EdgeSet, Vector, List, String, PriorityQueue:
			found = true
		}
	}
	for _, v := range fn.Params {
		set(v)
	}
	if fn.Result != nil {
		set(fn.Result)
	}
	each(fn.Body, func(s Stmt) {
		switch s := s.(type) {
		case *Print:
			found = found || e.prints(fn)
		case *VarStmt:
			found = found || s.Var.Type.Kind == Vector
		}
	})
	Walk(fn.Body, func(x Expr) {
		switch x := x.(type) {
		case *Method:
			found = found || operators[x.Name]
		case *Call:
			callee := e.byName[x.Name]
			found = found || callee != nil && callee != fn && !slices.Contains(e.calls, callee) && e.within(callee)
		}
	})
	return found
}

// within is onHost for a function that another one calls, which a recursive one cannot repeat.
func (e *elaborator) within(fn *Func) bool {
	e.calls = append(e.calls, fn)
	defer func() { e.calls = e.calls[:len(e.calls)-1] }()
	return e.onHost(fn)
}

var operators = map[string]bool{"apply": true, "applyModified": true, "applyUpdatePriority": true, "where": true,
	"filter": true}

// exported returns the main of a program that has exported functions only: it calls them in their order. Their edges
// are the graph, numbers are the arguments from argv[2] on, and vectors are zero.
func (e *elaborator) exported() *Func {
	main := &Func{Name: "main", Pos: Pos{1, 1}}
	e.byName["main"] = main
	next := int64(2)
	argv := func(n int64, at node) Expr {
		return &Index{node: at, X: &Name{node: at, Name: "argv"}, I: &Number{node: at, Text: fmt.Sprint(n), Int: n}}
	}
	for _, fn := range e.f.Funcs {
		if !fn.Exports {
			continue
		}
		call := &Call{node: node{Pos: fn.Pos}, Name: fn.Name}
		for _, v := range fn.Params {
			at := node{Pos: v.Pos}
			switch v.Type.Kind {
			case EdgeSet:
				call.Args = append(call.Args, &Load{at, argv(1, at)})
			case Int, Uint, Vertex:
				call.Args = append(call.Args, &Call{node: at, Name: "atoi", Args: []Expr{argv(next, at)}})
				next++
			case Vector:
				g := &Var{Name: e.unique(v.Name), Type: v.Type, Const: true, Pos: v.Pos}
				e.global(g)
				call.Args = append(call.Args, &Name{node: at, Name: g.Name})
			default:
				e.errorf(v.Pos, "export func %s: a parameter of type %s cannot be given on the command line: expected edges, a "+
					"whole number or a vector", fn.Name, v.Type)
			}
		}
		main.Body = append(main.Body, &ExprStmt{stmt{Pos: fn.Pos}, call})
	}
	return main
}

// global adds a constant.
func (e *elaborator) global(v *Var) {
	e.globals[v.Name] = v
	e.f.Globals = append(e.f.Globals, v)
}

// order puts the graph before what is made of it, where main gives both their values.
func (e *elaborator) order() {
	slices.SortStableFunc(e.f.Globals, func(a, b *Var) int {
		rank := func(v *Var) int {
			if v.Type.Kind == EdgeSet && v.Init == nil {
				return 0
			}
			return 1
		}
		return rank(a) - rank(b)
	})
}

// graph returns the name of the program's edges; "": it has none.
func (e *elaborator) graph() string {
	for _, v := range e.f.Globals {
		if v.Type.Kind == EdgeSet {
			return v.Name
		}
	}
	return ""
}

// everything is the set of all vertices, by which an operator is over them.
func (e *elaborator) everything(at Pos) Expr {
	if g := e.graph(); g != "" {
		return &Method{node{Pos: at}, &Name{node: node{Pos: at}, Name: g}, "getVertices", nil}
	}
	for _, v := range e.f.Globals {
		if v.Type.Kind == VertexSet {
			return &Name{node: node{Pos: at}, Name: v.Name}
		}
	}
	e.errorf(at, "there is no graph: expected const edges : edgeset{Edge}(Vertex,Vertex) = load(argv[1]);")
	return nil
}

// parsed reads functions that the elaboration writes, with the position of what they stand for.
func (e *elaborator) parsed(at Pos, format string, args ...any) *Func {
	f, err := Parse(e.f.Name, fmt.Appendf(nil, format, args...))
	if err != nil {
		panic(fmt.Sprintf("BUG: graphit: %v", err))
	}
	e.place = at
	fn := e.function(f.Funcs[0], f.Funcs[0].Name, nil)
	e.place = Pos{}
	e.byName[fn.Name] = fn
	e.added = append(e.added, fn)
	return fn
}
