package graphit

// names are what names stand for in a scope; the outer ones follow.
type names struct {
	outer *names
	of    map[string]Expr
}

func (n *names) find(name string) (Expr, bool) {
	for s := n; s != nil; s = s.outer {
		if x, ok := s.of[name]; ok {
			return x, true
		}
	}
	return nil, false
}

func (n *names) set(name string, x Expr) {
	if n.of == nil {
		n.of = map[string]Expr{}
	}
	n.of[name] = x
}

// own makes a name stand for itself, as a local variable that hides others does.
func (n *names) own(v *Var) { n.set(v.Name, nil) }

// pos is the position of a copy.
func (e *elaborator) pos(at Pos) Pos {
	if e.place != (Pos{}) {
		return e.place
	}
	return at
}

// replaced returns the copy of a name; x itself copied if it stands for itself.
func (e *elaborator) replaced(x *Name, in *names) Expr {
	if y, ok := in.find(x.Name); ok && y != nil {
		return e.again(y, x.Pos)
	}
	return &Name{node: node{Pos: e.pos(x.Pos)}, Name: x.Name}
}

// again copies an expression that a name stands for: its names are those of main, or of constants.
func (e *elaborator) again(x Expr, at Pos) Expr {
	was := e.place
	if e.place == (Pos{}) && !isLiteral(x) {
		e.place = at
	}
	defer func() { e.place = was }()
	return e.parts(x, func(y Expr) Expr { return e.again(y, at) })
}

// parts copies an expression, whose parts f copies.
func (e *elaborator) parts(x Expr, f func(Expr) Expr) Expr {
	if x == nil {
		return nil
	}
	e.copy(x.Position())
	at := node{Pos: e.pos(x.Position())}
	all := func(list []Expr) (out []Expr) {
		for _, y := range list {
			out = append(out, f(y))
		}
		return out
	}
	optional := func(y Expr) Expr {
		if y == nil {
			return nil
		}
		return f(y)
	}
	switch x := x.(type) {
	case *Name:
		return &Name{node: at, Name: x.Name}
	case *Number:
		return &Number{at, x.Text, x.Real, x.Int, x.Val}
	case *Text:
		return &Text{at, x.Value}
	case *Truth:
		return &Truth{at, x.Value}
	case *Unary:
		return &Unary{at, x.Op, f(x.X)}
	case *Binary:
		return &Binary{at, x.Op, f(x.X), f(x.Y)}
	case *Index:
		return &Index{at, f(x.X), f(x.I), optional(x.J)}
	case *Bind:
		return &Bind{at, x.Name, all(x.Args)}
	case *Braces:
		return &Braces{at, all(x.List)}
	case *Call:
		return &Call{node: at, Name: x.Name, Captures: all(x.Captures), Args: all(x.Args)}
	case *Method:
		return &Method{at, f(x.X), x.Name, all(x.Args)}
	case *New:
		return &New{at, x.Of, all(x.Args)}
	case *Load:
		return &Load{at, f(x.Arg)}
	}
	panic("BUG: graphit: an expression without a copy")
}

// in has errors name the file of a function, until the function that it returns is called.
func (c *checker) in(fn *Func) func() {
	was := c.file
	if fn.File != "" {
		c.file = fn.File
	}
	return func() { c.file = was }
}

// function copies a function of edges or vertices, under another name, in which some names stand for others.
func (e *elaborator) function(fn *Func, name string, stands *names) *Func {
	defer e.in(fn)()
	out := &Func{Name: name, Pos: e.pos(fn.Pos), Counts: fn.Counts, File: fn.File, Native: fn.Native}
	in := &device{e, &names{outer: stands}}
	for _, p := range fn.Params {
		in.scope.own(p)
		out.Params = append(out.Params, &Var{Name: p.Name, Type: p.Type, Pos: e.pos(p.Pos)})
	}
	if r := fn.Result; r != nil {
		in.scope.own(r)
		out.Result = &Var{Name: r.Name, Type: r.Type, Pos: e.pos(r.Pos)}
	}
	out.Body = in.block(fn.Body)
	return out
}

// device copies what runs for edges and vertices.
type device struct {
	*elaborator
	scope *names
}

func (d *device) block(list []Stmt) (out []Stmt) {
	in := &device{d.elaborator, &names{outer: d.scope}}
	for _, s := range list {
		if made := in.statement(s); made != nil {
			out = append(out, made)
		}
	}
	return out
}

func (d *device) statement(s Stmt) Stmt {
	d.copy(s.Position())
	at := stmt{Pos: d.pos(s.Position()), Label: s.LabelOf()}
	switch s := s.(type) {
	case *VarStmt:
		if s.Var.Type.Kind == VertexSet && d.neighbours(s.Var) {
			return nil
		}
		v := &Var{Name: s.Var.Name, Type: s.Var.Type, Label: s.Var.Label, Pos: d.pos(s.Var.Pos)}
		if s.Var.Init != nil {
			v.Init = d.expr(s.Var.Init)
		}
		d.scope.own(v)
		return &VarStmt{at, v}
	case *Assign:
		return &Assign{at, d.expr(s.X), s.Op, d.expr(s.Value)}
	case *ExprStmt:
		if c, ok := s.X.(*Call); ok {
			if a := d.reduction(c); a != nil {
				a.stmt = at
				return a
			}
		}
		return &ExprStmt{at, d.expr(s.X)}
	case *If:
		return &If{at, d.expr(s.Cond), d.block(s.Then), d.block(s.Else), s.IsElif}
	case *While:
		return &While{at, d.expr(s.Cond), d.block(s.Body)}
	case *For:
		f := &For{stmt: at, Var: &Var{Name: s.Var.Name, Type: s.Var.Type, Pos: d.pos(s.Var.Pos)}, From: d.expr(s.From),
			To: d.expr(s.To), Parallel: s.Parallel}
		in := &device{d.elaborator, &names{outer: d.scope}}
		in.scope.own(f.Var)
		f.Body = in.block(s.Body)
		return f
	case *Print:
		p := &Print{stmt: at}
		for _, x := range s.Args {
			p.Args = append(p.Args, d.expr(x))
		}
		return p
	case *Delete:
		return &Delete{at, d.expr(s.X)}
	case *Break:
		return &Break{at}
	}
	panic("BUG: graphit: a statement without a copy")
}

// reduction is atomicAdd(VECTOR, INDEX, VALUE), or a writeMin or writeMax whose result is dropped; nil: neither.
func (e *elaborator) reductionOf(c *Call, expr func(Expr) Expr) *Assign {
	op := map[string]string{"atomicAdd": "+=", "writeAdd": "+=", "writeMin": "min=", "writeMax": "max="}[c.Name]
	if op == "" || e.byName[c.Name] != nil {
		return nil
	}
	e.count(c.Pos, c.Name, len(c.Args), 3, 3)
	return &Assign{X: &Index{node: node{Pos: e.pos(c.Pos)}, X: expr(c.Args[0]), I: expr(c.Args[1])}, Op: op,
		Value: expr(c.Args[2])}
}

func (d *device) reduction(c *Call) *Assign { return d.reductionOf(c, d.expr) }

func (d *device) expr(x Expr) Expr {
	switch x := x.(type) {
	case *Name:
		return d.replaced(x, d.scope)
	case *Bind, *Index:
		if name := d.instance(x, d.expr, nil); name != "" {
			return &Name{node: node{Pos: d.pos(x.Position())}, Name: name}
		}
	case *Call:
		if y := d.intersects(x); y != nil {
			return y
		}
		if len(x.Captures) > 0 {
			b := &Bind{x.node, x.Name, x.Captures}
			call := d.parts(&Call{node: x.node, Name: x.Name, Args: x.Args}, d.expr).(*Call)
			call.Name = d.instance(b, d.expr, nil)
			return call
		}
	case *Method:
		if y := d.degree(x); y != nil {
			return y
		}
	}
	return d.parts(x, d.expr)
}

// instance returns the name of the function that a functor becomes for what it captures; "": x is no functor. expr
// copies what it captures, and keep, of the host, stores a value in a constant that functions read.
func (e *elaborator) instance(x Expr, expr func(Expr) Expr, keep func(x Expr, of *Var, fn *Func) Expr) string {
	fn := e.named(x)
	if fn == nil {
		return ""
	}
	var args []Expr
	switch x := x.(type) {
	case *Bind:
		args = x.Args
	case *Index:
		args = []Expr{x.I}
	default:
		return ""
	}
	if len(fn.Captures) != len(args) {
		e.errorf(x.Position(), "%s captures %d variables in [], found %d", fn.Name, len(fn.Captures), len(args))
	}
	stands, key := &names{}, fn.Name
	for i, a := range args {
		c := fn.Captures[i]
		value := expr(a)
		if !e.isConstant(value) {
			if keep == nil || c.Type.Kind == Vector {
				e.errorf(a.Position(), "%s: %s is captured: expected a vector, a constant of the program or a number", fn.Name,
					Source(a))
			}
			value = keep(value, c, fn)
		}
		stands.set(c.Name, value)
		key += "|" + Source(value)
	}
	made := e.made[key]
	if made == nil {
		if len(e.calls) > maxDepth || slicesHas(e.calls, fn) {
			e.errorf(x.Position(), "function %s calls itself", fn.Name)
		}
		e.calls = append(e.calls, fn)
		at := e.place
		e.place = Pos{}
		made = e.function(fn, e.unique(fn.Name+"_of"), stands)
		e.place = at
		e.calls = e.calls[:len(e.calls)-1]
		e.made[key], e.byName[made.Name] = made, made
		e.added = append(e.added, made)
	}
	return made.Name
}

func slicesHas(list []*Func, fn *Func) bool {
	for _, f := range list {
		if f == fn {
			return true
		}
	}
	return false
}

// isConstant reports whether a functor may read an expression as it is: a constant of the program, or a literal.
func (e *elaborator) isConstant(x Expr) bool {
	switch x := x.(type) {
	case *Name:
		return e.globals[x.Name] != nil
	case *Number, *Truth:
		return true
	case *Unary:
		return e.isConstant(x.X)
	}
	return false
}
