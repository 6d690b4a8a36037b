package graphit

import (
	"fmt"
	"slices"
	"strings"
)

// host copies main, and the functions that it calls.
type host struct {
	*elaborator
	scope  *names
	out    *[]Stmt // where statements go that must precede the present one
	result string  // the name of the result of the function that is inlined; "": none, or unused
	drops  bool    // it is unused
}

func (h *host) emit(s ...Stmt) { *h.out = append(*h.out, s...) }

// constant rewrites the first value of a constant.
func (h *host) constant(v *Var) {
	var pre []Stmt
	h.out = &pre
	switch x := v.Init.(type) {
	case *Braces:
		v.Init = nil
		h.fillBraces(v, x)
		h.first = append(h.first, pre...)
		return
	case *New:
		if v.Type.Kind == Vector {
			v.Init = nil
		}
	}
}

func (h *host) block(list []Stmt) (out []Stmt) {
	in := *h
	in.scope, in.out = &names{outer: h.scope}, &out
	for _, s := range list {
		in.statement(s)
	}
	return out
}

// looped is a loop's body.
func (h *host) looped(list []Stmt) []Stmt {
	h.loops++
	defer func() { h.loops-- }()
	return h.block(list)
}

func (h *host) statement(s Stmt) {
	h.copy(s.Position())
	at := stmt{Pos: h.pos(s.Position()), Label: s.LabelOf()}
	switch s := s.(type) {
	case *VarStmt:
		h.variable(at, s.Var)
	case *Assign:
		h.assigned(at, s)
	case *ExprStmt:
		h.do(at, s.X)
	case *If:
		cond := h.expr(s.Cond)
		h.emit(&If{at, cond, h.block(s.Then), h.elseOf(s.Else), s.IsElif})
	case *While:
		h.emit(&While{at, h.pure(s.Cond), h.looped(s.Body)})
	case *For:
		from, to := h.expr(s.From), h.expr(s.To)
		in := *h
		in.scope = &names{outer: h.scope}
		v := in.declare(s.Var)
		h.emit(&For{stmt: at, Var: v, From: from, To: to, Body: in.looped(s.Body), Parallel: s.Parallel})
	case *Print:
		p := &Print{stmt: at}
		for _, x := range s.Args {
			p.Args = append(p.Args, h.expr(x))
		}
		h.emit(p)
	case *Delete:
		x := h.expr(s.X)
		if n, ok := x.(*Name); ok && h.globals[n.Name] != nil && h.globals[n.Name].Type.Kind == Vector {
			return
		}
		h.emit(&Delete{at, x})
	case *Break:
		h.emit(&Break{at})
	}
}

// elseOf copies the other side of a condition: what an elif's condition calls comes before it.
func (h *host) elseOf(list []Stmt) []Stmt {
	out := h.block(list)
	if len(out) > 1 {
		if last, ok := out[len(out)-1].(*If); ok {
			last.IsElif = false
		}
	}
	return out
}

// pure copies a condition that is computed again, and so calls no function of the program.
func (h *host) pure(x Expr) Expr {
	n := len(*h.out)
	y := h.expr(x)
	if len(*h.out) > n {
		h.errorf(x.Position(), "a call of a function of the program in a loop's condition: expected a variable")
	}
	return y
}

// declare makes a variable of main of one of a function's: it has a name of its own.
func (h *host) declare(v *Var) *Var {
	name := v.Name
	if len(h.calls) > 0 {
		name = h.unique(name)
	}
	out := &Var{Name: name, Type: v.Type, Label: v.Label, Pos: h.pos(v.Pos)}
	h.scope.set(v.Name, &Name{node: node{Pos: out.Pos}, Name: name})
	return out
}

// isArgument reports whether an expression is argv[n].
func isArgument(x Expr) bool {
	i, ok := x.(*Index)
	if !ok {
		return false
	}
	n, ok := i.X.(*Name)
	return ok && n.Name == "argv"
}

func (h *host) variable(at stmt, v *Var) {
	if v.Type.Kind == Vector {
		h.local(v)
		return
	}
	var init Expr
	if v.Init != nil {
		if v.Type.Kind == VertexSet {
			init = h.output(v.Init)
		} else {
			init = h.expr(v.Init)
		}
		if k := v.Type.Kind; (k == Int || k == Uint || k == Vertex) && isArgument(init) {
			init = &Call{node: node{Pos: init.Position()}, Name: "atoi", Args: []Expr{init}}
		}
	}
	out := h.declare(v)
	out.Init = init
	h.emit(&VarStmt{at, out})
}

// local makes a constant of the program of a vector of main's.
func (h *host) local(v *Var) {
	name := v.Name
	if h.globals[name] != nil || len(h.calls) > 0 || h.hidden(name) {
		name = h.unique(name)
	}
	g := &Var{Name: name, Type: v.Type, Const: true, Pos: v.Pos}
	value := v.Init
	h.global(g)
	defer h.scope.set(v.Name, &Name{node: node{Pos: v.Pos}, Name: name})
	if isLiteral(value) && h.loops == 0 {
		g.Init = value
		return
	}
	if value == nil && h.loops > 0 {
		value = &Number{node: node{Pos: v.Pos}, Text: "0"}
	}
	if value != nil {
		h.whole(g, value, v.Pos)
	}
}

// hidden reports whether a function has a parameter or a variable of a name, which would hide a constant.
func (h *host) hidden(name string) (found bool) {
	for _, fn := range h.f.Funcs {
		if h.byName[name] != nil {
			return true
		}
		Declared(fn, func(v *Var) { found = found || v.Name == name && v.Type.Kind != Vector })
	}
	return found
}

func isLiteral(x Expr) bool {
	switch x := x.(type) {
	case *Number, *Truth:
		return true
	case *Unary:
		return isLiteral(x.X)
	}
	return false
}

// whole gives a vector its values.
func (h *host) whole(v *Var, value Expr, at Pos) {
	switch x := value.(type) {
	case *Braces:
		h.fillBraces(v, x)
		return
	case *New:
		if x.Of.Kind == Vector {
			if h.loops > 0 || h.launch {
				h.fill(v, &Number{node: node{Pos: at}, Text: "0"}, at)
			}
			return
		}
	}
	y := h.expr(value)
	if n, ok := y.(*Name); ok && h.globals[n.Name] != nil && h.globals[n.Name].Type.Kind == Vector {
		if n.Name != v.Name {
			h.copyVector(v, h.globals[n.Name], at)
		}
		return
	}
	if m, ok := y.(*Method); ok && (m.Name == "getOutDegrees" || m.Name == "getOutDegreesUint") {
		if v.Init == nil && h.loops == 0 && !h.launch {
			v.Init = m
			return
		}
		kept := &Var{Name: h.unique("out_degrees"), Type: v.Type, Const: true, Pos: at, Init: m}
		h.global(kept)
		h.copyVector(v, kept, at)
		return
	}
	h.fill(v, y, at)
}

// fillBraces assigns the elements of a vector one by one.
func (h *host) fillBraces(v *Var, x *Braces) {
	if v.Type.Kind != Vector || v.Type.Element != "" || v.Type.Width > 0 || len(x.List) != v.Type.Size {
		h.errorf(x.Pos, "%s is %s: it cannot take %d elements", v.Name, v.Type, len(x.List))
	}
	for i, y := range x.List {
		at := node{Pos: y.Position()}
		h.emit(&Assign{stmt{Pos: at.Pos}, &Index{node: at, X: &Name{node: at, Name: v.Name},
			I: &Number{node: at, Text: fmt.Sprint(i), Int: int64(i)}}, "=", h.expr(y)})
	}
}

// fill gives all elements a value.
func (h *host) fill(v *Var, value Expr, at Pos) {
	if !h.isConstant(value) {
		value = h.keep(value, &Var{Name: v.Name + "_value", Type: v.Type.Of}, nil)
	}
	h.elements(v, Source(value), at)
}

func (h *host) copyVector(to, from *Var, at Pos) { h.elements(to, from.Name, at) }

// elements gives every element of a vector a value: the one with its number of another vector, or the same. Vectors
// with an element for each vertex are written by an operator, others by the host.
func (h *host) elements(v *Var, value string, at Pos) {
	within := ""
	if v.Type.Width > 0 {
		within = fmt.Sprintf("for j in 0:%d %s[v][j] = %%s; end", v.Type.Width, v.Name)
	} else {
		within = v.Name + "[v] = %s;"
	}
	if g := h.globals[value]; g != nil && g.Type.Kind == Vector {
		value += "[v]"
		if g.Type.Width > 0 {
			value += "[j]"
		}
	}
	text := fmt.Sprintf(within, value)
	if v.Type.Element == "" {
		h.hostLoop(fmt.Sprintf("for v in 0:%d %s end", v.Type.Size, text), at)
		return
	}
	fn := h.parsed(at, "func %s(v : %s) %s end", h.unique("set_"+v.Name), v.Type.Element, text)
	h.launch = true
	h.emit(&ExprStmt{stmt{Pos: at}, &Method{node{Pos: at}, h.everything(at), "apply",
		[]Expr{&Name{node: node{Pos: at}, Name: fn.Name}}}})
}

// hostLoop emits a statement that the elaboration writes.
func (h *host) hostLoop(text string, at Pos) {
	f, err := Parse(h.f.Name, []byte("func main() "+text+" end"))
	if err != nil {
		panic(fmt.Sprintf("BUG: graphit: %v", err))
	}
	h.place = at
	h.calls = append(h.calls, nil) // names of its own
	in := *h
	in.scope = &names{}
	h.emit(in.block(f.Funcs[0].Body)...)
	h.calls = h.calls[:len(h.calls)-1]
	h.place = Pos{}
}

// keep stores a value of main's in a constant that functions read.
func (h *host) keep(x Expr, of *Var, fn *Func) Expr {
	name := of.Name
	if fn != nil {
		name = fn.Name + "_" + of.Name
	}
	key := "keep|" + name + "|" + Source(x)
	made := h.made[key]
	if made == nil {
		g := &Var{Name: h.unique(name), Type: of.Type, Const: true, Pos: x.Position()}
		h.global(g)
		made = &Func{Name: g.Name}
		h.made[key] = made
	}
	at := node{Pos: x.Position()}
	h.emit(&Assign{stmt{Pos: at.Pos}, &Name{node: at, Name: made.Name}, "=", x})
	return &Name{node: at, Name: made.Name}
}

func (h *host) assigned(at stmt, s *Assign) {
	to := h.expr(s.X)
	n, ok := to.(*Name)
	if ok && h.drops && n.Name == h.result {
		return
	}
	v := h.globals[nameOf(n)]
	if ok && s.Op == "=" && v != nil {
		switch v.Type.Kind {
		case Vector:
			h.wholeOf(at, v, s)
			return
		case EdgeSet:
			if h.graphOf(v, h.expr(s.Value)) {
				return
			}
		case VertexSet:
			if m, ok := s.Value.(*Method); ok && m.Name == "getVertices" && h.loops == 0 &&
				(v.Init == nil || Source(v.Init) == Source(s.Value)) {
				v.Init = h.expr(m)
				return
			}
		}
	}
	if ok && s.Op == "=" {
		if m, isMethod := s.Value.(*Method); isMethod && operators[m.Name] {
			h.emit(&Assign{at, to, s.Op, h.output(s.Value)})
			return
		}
	}
	value := h.expr(s.Value)
	if isArgument(value) {
		value = &Call{node: node{Pos: value.Position()}, Name: "atoi", Args: []Expr{value}}
	}
	h.emit(&Assign{at, to, s.Op, value})
}

// wholeOf assigns a vector as a whole.
func (h *host) wholeOf(at stmt, v *Var, s *Assign) {
	switch s.Value.(type) {
	case *New, *Name, *Braces, *Call, *Method:
		h.whole(v, s.Value, s.Pos)
	default:
		h.errorf(at.Pos, "a vector cannot be assigned as a whole")
	}
}

// graphOf gives edges their graph; false: the assignment is another.
func (h *host) graphOf(v *Var, x Expr) bool {
	if m, ok := x.(*Method); ok && m.Name == "relabel" {
		h.f.Notes = append(h.f.Notes, Remark{m.Pos, "relabel: vertices keep their numbers: graph.order gives them others"})
		return true
	}
	if n, ok := x.(*Name); ok && h.globals[n.Name] != nil {
		x = h.globals[n.Name].Init
	}
	load, ok := x.(*Load)
	switch {
	case !ok:
		return false
	case v.Init == nil:
		v.Init = load
		return true
	}
	return Source(v.Init) == Source(load)
}

// do copies a statement that is an expression.
func (h *host) do(at stmt, x Expr) {
	switch x := x.(type) {
	case *Call:
		if fn := h.byName[x.Name]; fn != nil {
			h.inline(x, fn, true)
			return
		}
		if a := h.reductionOf(x, h.expr); a != nil {
			a.stmt = at
			h.emit(a)
			return
		}
	case *Method:
		if h.printed(x) {
			return
		}
		if x.Name == updateExtern {
			h.updated(at, x)
			return
		}
		if x.Name == "apply" || x.Name == "applyModified" {
			h.launch = true
			y := h.method(x).(*Method)
			if fn := h.edgeFunction(y); fn != nil {
				y.Args[0] = h.silent(fn, y.Args[0].Position())
			}
			h.emit(&ExprStmt{at, y})
			return
		}
	}
	h.emit(&ExprStmt{at, h.expr(x)})
}

// printed makes a loop of the host's of an operator over all vertices whose function prints.
func (h *host) printed(x *Method) bool {
	if x.Name != "apply" || len(x.Args) != 1 {
		return false
	}
	fn := h.named(x.Args[0])
	if !h.prints(fn) {
		return false
	}
	of := h.expr(x.X)
	if n, ok := of.(*Name); !ok || h.globals[n.Name] == nil || h.globals[n.Name].Type.Kind != VertexSet {
		h.errorf(x.Pos, "%s prints, and so runs on the host: expected it for all vertices", fn.Name)
	}
	at := node{Pos: x.Pos}
	v := &Var{Name: h.unique(fn.Params[0].Name), Type: &Type{Kind: Int, Pos: x.Pos}, Pos: x.Pos}
	call := &Call{node: at, Name: fn.Name, Args: []Expr{&Name{node: at, Name: v.Name}}}
	switch b := x.Args[0].(type) {
	case *Bind:
		call.Captures = b.Args
	case *Index:
		call.Captures = []Expr{b.I}
	}
	in := *h
	var body []Stmt
	in.out = &body
	h.loops++
	in.inline(call, fn, true)
	h.loops--
	h.emit(&For{stmt: stmt{Pos: x.Pos}, Var: v, From: &Number{node: at, Text: "0"},
		To: &Method{at, of, "size", nil}, Body: body})
	return true
}

// edgeFunction returns the function of an operator over edges that has a result; nil: another.
func (h *host) edgeFunction(x *Method) *Func {
	if !h.returns(x.Args) {
		return nil
	}
	return h.named(x.Args[0])
}

// silent is a function without its result, which is a variable.
func (h *host) silent(fn *Func, at Pos) Expr {
	key := "silent|" + fn.Name
	made := h.made[key]
	if made == nil {
		bare := *fn
		bare.Captures = nil
		made = h.function(&bare, h.unique(fn.Name+"_without"), nil)
		made.Body = append([]Stmt{&VarStmt{stmt{Pos: fn.Pos}, made.Result}}, made.Body...)
		made.Result = nil
		h.made[key], h.byName[made.Name] = made, made
		h.added = append(h.added, made)
	}
	return &Name{node: node{Pos: at}, Name: made.Name}
}

// output copies an expression that is a set. Edges whose function returns a truth value make a set of the
// destinations for which one is true: these are marked, in a vector that is tracked, with the number of the run.
func (h *host) output(x Expr) Expr {
	m, ok := x.(*Method)
	if !ok || m.Name != "apply" && m.Name != "applyModified" {
		return h.expr(x)
	}
	h.launch = true
	y := h.method(m).(*Method)
	fn := h.edgeFunction(y)
	if fn == nil {
		return y
	}
	at := y.Args[0].Position()
	y.Args[0] = h.silent(fn, at)
	if m.Name == "applyModified" {
		return y
	}
	bare := h.byName[y.Args[0].(*Name).Name]
	key := "output|" + bare.Name
	marks := h.made[key]
	if marks == nil {
		marks = h.marking(fn, bare)
		h.made[key] = marks
	}
	round := &Name{node: node{Pos: at}, Name: marks.Params[1].Name}
	h.emit(&Assign{stmt{Pos: at}, round, "+=", &Number{node: node{Pos: at}, Text: "1", Int: 1}})
	y.Name = "applyModified"
	y.Args = []Expr{&Name{node: node{Pos: at}, Name: marks.Name}, &Name{node: node{Pos: at}, Name: marks.Params[0].Name},
		&Truth{node{Pos: at}, true}}
	return y
}

// marking makes the function that marks destinations. Its parameters are the vector and the number of the run.
func (h *host) marking(fn, bare *Func) *Func {
	at := fn.Pos
	dst := bare.Params[1]
	vector := &Var{Name: h.unique(fn.Name + "_marks"), Const: true, Marks: true, Pos: at,
		Type: &Type{Kind: Vector, Element: dst.Type.Element, Of: tInt, Pos: at}}
	round := &Var{Name: h.unique(fn.Name + "_round"), Const: true, Pos: at, Type: &Type{Kind: Int, Pos: at}}
	h.global(vector)
	h.global(round)
	made := h.function(bare, h.unique(fn.Name+"_marking"), nil)
	name := func(s string) Expr { return &Name{node: node{Pos: at}, Name: s} }
	made.Body = append(made.Body, &If{stmt: stmt{Pos: at}, Cond: name(fn.Result.Name), Then: []Stmt{
		&Assign{stmt{Pos: at}, &Index{node: node{Pos: at}, X: name(vector.Name), I: name(dst.Name)}, "max=",
			name(round.Name)}}})
	h.byName[made.Name] = made
	h.added = append(h.added, made)
	return &Func{Name: made.Name, Params: []*Var{vector, round}}
}

// inline copies a function that main calls, and returns its result; nil: it has none, or it is dropped.
func (h *host) inline(x *Call, fn *Func, drops bool) Expr {
	if slicesHas(h.calls, fn) || len(h.calls) > maxDepth {
		h.errorf(x.Pos, "function %s calls itself", fn.Name)
	}
	if fn.Counts != nil {
		h.errorf(x.Pos, "%s: expected it in a function of edges or vertices", x.Name)
	}
	h.count(x.Pos, x.Name, len(x.Args), len(fn.Params), len(fn.Params))
	if fn.Native != nil {
		call := h.parts(&Call{node: x.node, Name: x.Name, Args: x.Args}, h.expr)
		if drops {
			h.emit(&ExprStmt{stmt{Pos: x.Pos}, call})
		}
		return call
	}
	h.count(x.Pos, x.Name+"[]", len(x.Captures), len(fn.Captures), len(fn.Captures))
	var given []Expr
	for _, a := range append(slices.Clip(x.Captures), x.Args...) {
		given = append(given, h.expr(a))
	}
	h.calls = append(h.calls, fn)
	defer func() { h.calls = h.calls[:len(h.calls)-1] }()
	in := *h
	in.scope = &names{}
	bind := func(v *Var, y Expr) {
		switch v.Type.Kind {
		case Vector, EdgeSet, VertexSet, List, String, PriorityQueue:
			in.scope.set(v.Name, y)
			return
		}
		if isLiteral(y) && v.Type.Kind != Vertex { // which tells that it is a vertex
			in.scope.set(v.Name, y)
			return
		}
		p := in.declare(v)
		p.Init = y
		h.emit(&VarStmt{stmt{Pos: x.Pos}, p})
	}
	for i, v := range append(slices.Clip(fn.Captures), fn.Params...) {
		bind(v, given[i])
	}
	in.inlined(fn.Result, drops, x.Pos)
	in.out = h.out
	inner := in
	inner.scope = &names{outer: in.scope}
	defer h.in(fn)()
	for _, s := range fn.Body {
		inner.statement(s)
	}
	if fn.Result == nil {
		return nil
	}
	return h.replaced(&Name{node: x.node, Name: fn.Result.Name}, in.scope)
}

// inlined declares the result of the function that is inlined, if it has one; a vector that is dropped has a name only.
func (h *host) inlined(r *Var, drops bool, at Pos) {
	h.drops, h.result = drops, ""
	if r == nil {
		return
	}
	if drops && r.Type.Kind == Vector {
		h.result = h.unique(r.Name)
		h.scope.set(r.Name, &Name{node: node{Pos: r.Pos}, Name: h.result})
		return
	}
	h.drops = false
	h.variable(stmt{Pos: at}, &Var{Name: r.Name, Type: r.Type, Pos: r.Pos})
}

func (h *host) expr(x Expr) Expr {
	switch x := x.(type) {
	case nil:
		return nil
	case *Name:
		return h.replaced(x, h.scope)
	case *Bind, *Index:
		if name := h.instance(x, h.expr, h.keep); name != "" {
			return &Name{node: node{Pos: x.Position()}, Name: name}
		}
	case *Call:
		if fn := h.byName[x.Name]; fn != nil {
			y := h.inline(x, fn, false)
			if y == nil {
				h.errorf(x.Pos, "%s has no result", x.Name)
			}
			return y
		}
	case *Method:
		return h.method(x)
	}
	return h.parts(x, h.expr)
}

// method copies a method's call. Functors keep what they capture before the operator.
func (h *host) method(x *Method) Expr {
	if y := h.degreeOf(x, h.expr); y != nil {
		return y
	}
	h.launch = h.launch || strings.HasPrefix(x.Name, "apply") || x.Name == "where" || x.Name == "filter"
	return h.parts(x, h.expr)
}
