package lower

import (
	"heddle/graphit"
	"heddle/graphit/graphir"
	"heddle/kernels/ir"
	"heddle/kernels/softfloat"
)

// Numbers of two words: doubles, computed in software, and integers of 64 bits. A vector of them is two arrays, of the
// lower and of the upper words. Where threads meet, a sum of integers is two atomic additions, and everything else is
// done under a lock of the element's.

// pair is the words of a number.
type pair = softfloat.Double

// pairVariable is a variable of two words.
type pairVariable struct{ hi, lo *ir.Variable }

func (v *pairVariable) get() pair { return pair{Hi: v.hi.Get(), Lo: v.lo.Get()} }

func (v *pairVariable) set(p pair) {
	v.hi.Set(p.Hi)
	v.lo.Set(p.Lo)
}

// Names of the upper words, and of the locks.
func highName(v *graphit.Var) string   { return vectorName(v) + ".high" }
func lockName(v *graphit.Var) string   { return vectorName(v) + ".lock" }
func scalarHigh(v *graphit.Var) string { return scalarName(v) + ".high" }

// locked reports whether a vector's elements have locks: an operator over edges reduces to them otherwise than by a sum
// of integers.
func (l *lowering) locked(v *graphit.Var) bool {
	reduces := func(list []graphir.Access) bool {
		for _, a := range list {
			if a.Vector == v && a.Op != "" && a.Op != "=" && (a.Op != "+=" || v.Type.Of.IsReal()) {
				return true
			}
		}
		return false
	}
	for _, op := range l.program.Edges {
		if reduces(op.Accesses) {
			return true
		}
	}
	for _, op := range l.program.Vertices {
		if reduces(op.Accesses) {
			return true
		}
	}
	return false
}

func (w *writer) isWide(t *graphit.Type) bool { return w.program.Wide(t) }

func (w *writer) zero() pair { return pair{Hi: w.U32(0), Lo: w.U32(0)} }

func (w *writer) variable(p pair) *pairVariable { return &pairVariable{w.Var(p.Hi), w.Var(p.Lo)} }

// arguments evaluates a call's arguments; those of two words are passed by the parameters.
func (w *writer) arguments(x *graphit.Call) (args []ir.Value) {
	var given []pair
	for i, a := range x.Args {
		t := x.Func.Params[i].Type
		if w.isWide(t) {
			given, args = append(given, w.wideAs(a, t)), append(args, nil)
			continue
		}
		given, args = append(given, pair{}), append(args, w.as(a, t))
	}
	for i, p := range x.Func.Params {
		if args[i] == nil {
			w.pairs[p] = given[i]
		}
	}
	return args
}

// callWide emits a function's body, whose parameters are given, and returns its result.
func (w *writer) callWide(f *graphit.Func) pair {
	if x := f.Single(); x != nil {
		return w.wideAs(x, f.Result.Type)
	}
	out := w.variable(w.zero())
	w.pairVars[f.Result] = out
	w.block(f.Body, assignedIn(f.Body))
	return out.get()
}

func (w *writer) declareWide(v *graphit.Var, assigned bool) {
	value := w.zero()
	if v.Init != nil {
		value = w.wideAs(v.Init, v.Type)
	}
	if assigned {
		w.pairVars[v] = w.variable(value)
		delete(w.pairs, v)
	} else {
		w.pairs[v] = value
	}
}

func (w *writer) loadWide(v *graphit.Var, at ir.Value) pair {
	return pair{Hi: w.Load(ir.U32, w.Addr(highName(v)), at), Lo: w.Load(ir.U32, w.Addr(vectorName(v)), at)}
}

func (w *writer) storeWide(v *graphit.Var, at ir.Value, p pair) {
	w.Store(w.Addr(highName(v)), at, p.Hi)
	w.Store(w.Addr(vectorName(v)), at, p.Lo)
}

func (w *writer) assignWide(s *graphit.Assign) {
	t := s.X.TypeOf()
	if n, ok := s.X.(*graphit.Name); ok {
		v := w.pairVars[n.Var]
		if v == nil {
			refuse(s.Pos, "%s: a constant of the program cannot be assigned by many threads: expected a vector[1]", n.Name)
		}
		v.set(w.combineWide(s.Op, v.get(), w.wideAs(s.Value, t), t))
		return
	}
	x := s.X.(*graphit.Index)
	v := x.X.(*graphit.Name).Var
	value, at := w.wideAs(s.Value, t), w.place(x)
	tracked := w.changed != nil && v == w.tracked
	shared := w.atomic != nil && w.atomic(x.Pos)
	switch {
	case s.Op == "=":
		w.storeWide(v, at, value)
		w.told(tracked, nil)
	case s.Op == "+=" && !t.IsReal() && shared:
		old := w.AtomicAdd(w.Addr(vectorName(v)), at, value.Lo)
		carry := w.ToU32(w.Lt(w.Add(old, value.Lo), old))
		w.AtomicAdd(w.Addr(highName(v)), at, w.Add(value.Hi, carry))
		w.told(tracked, w.notZero(value, t))
	default:
		w.reduceWide(v, at, s.Op, value, shared, func(p ir.Value) { w.told(tracked, p) })
	}
}

func (w *writer) notZero(p pair, t *graphit.Type) ir.Value {
	hi := p.Hi
	if t.IsReal() {
		hi = w.Shl(hi, w.U32(1))
	}
	return w.Ne(w.Or(hi, p.Lo), w.U32(0))
}

// reduceWide combines an element with a value, and calls changed with whether that has changed it.
func (w *writer) reduceWide(v *graphit.Var, at ir.Value, op string, value pair, shared bool, changed func(p ir.Value)) {
	t := v.Type.Of
	better := func() ir.Value {
		if op == "+=" {
			return w.notZero(value, t)
		}
		return w.betterWide(op, w.loadWide(v, at), value, t)
	}
	update := func() { w.storeWide(v, at, w.combineWide(op, w.loadWide(v, at), value, t)) }
	if !shared {
		w.When(better(), func() {
			update()
			changed(nil)
		})
		return
	}
	did := w.Var(w.U32(0))
	w.When(better(), func() { // most are not, and need no lock
		w.holding(w.Addr(lockName(v)), at, func() {
			w.When(better(), func() {
				update()
				did.Set(w.U32(1))
			})
		})
	})
	changed(w.Ne(did.Get(), w.U32(0)))
}

// holding emits what a lane does while it holds an element's lock. Lanes of a warp take it one after the other: a lane
// that has it goes on to release it before the others try again.
func (w *writer) holding(locks, at ir.Value, body func()) {
	done := w.Var(w.U32(0))
	w.Loop(func(l *ir.Loop) {
		w.When(w.Eq(w.AtomicXchg(locks, at, w.U32(1)), w.U32(0)), func() {
			body()
			w.Fence()
			w.AtomicXchg(locks, at, w.U32(0))
			done.Set(w.U32(1))
		})
		l.BreakIf(w.Ne(done.Get(), w.U32(0)))
	})
}

// wideWritten emits writeMin or writeMax, and returns whether the element has changed.
func (w *writer) wideWritten(x *graphit.Call) ir.Value {
	v := x.Args[0].(*graphit.Name).Var
	at, value := w.index(x.Args[1]), w.wideAs(x.Args[2], v.Type.Of)
	did := w.Var(w.U32(0))
	w.reduceWide(v, at, graphit.Writes(x), value, w.atomic(x.Pos), func(p ir.Value) {
		if p == nil {
			did.Set(w.U32(1))
		} else {
			did.Set(w.ToU32(p))
		}
	})
	p := w.Ne(did.Get(), w.U32(0))
	w.told(w.changed != nil && v == w.tracked, p)
	return p
}

func (w *writer) betterWide(op string, old, value pair, t *graphit.Type) ir.Value {
	if op == "max=" {
		return w.lessWide(old, value, t)
	}
	return w.lessWide(value, old, t)
}

func (w *writer) combineWide(op string, old, value pair, t *graphit.Type) pair {
	switch op {
	case "+=":
		return w.arithmeticWide("+", old, value, t, graphit.Pos{})
	case "min=", "max=":
		return w.select2(w.betterWide(op, old, value, t), value, old)
	}
	return value
}

func (w *writer) select2(p ir.Value, x, y pair) pair {
	return pair{Hi: w.Select(p, x.Hi, y.Hi), Lo: w.Select(p, x.Lo, y.Lo)}
}

// wideAs evaluates an expression as a number of two words.
func (w *writer) wideAs(x graphit.Expr, t *graphit.Type) pair {
	if f, ok := graphit.Constant(x); ok && t.IsReal() {
		return softfloat.Const(w.Builder, f)
	}
	if y, ok := x.(*graphit.Binary); ok && t.IsReal() && y.TypeOf().Kind == graphit.Float && graphit.Literal(y) {
		return w.arithmeticWide(y.Op, w.wideAs(y.X, t), w.wideAs(y.Y, t), t, y.Pos)
	}
	from := x.TypeOf()
	if !w.isWide(from) {
		return w.widened(w.expr(x), t)
	}
	p := w.wideExpr(x)
	switch {
	case from.IsReal() == t.IsReal():
		return p
	case t.IsReal(): // the upper word's value is 2^32 times as much
		upper := softfloat.Mul(w.Builder, softfloat.FromU32(w.Builder, p.Hi), softfloat.Const(w.Builder, 1<<32))
		return softfloat.Add(w.Builder, upper, softfloat.FromU32(w.Builder, p.Lo))
	}
	return w.widened(softfloat.ToI32(w.Builder, p), t)
}

// widened is a number of one word as one of two.
func (w *writer) widened(v ir.Value, t *graphit.Type) pair {
	switch {
	case !t.IsReal() && v.Type == ir.F32:
		return w.widened(w.ToI32(v), t)
	case !t.IsReal(): // none is negative
		return pair{Hi: w.U32(0), Lo: w.convert(v, ir.U32)}
	case v.Type == ir.F32:
		return softfloat.FromF32(w.Builder, v)
	case v.Type == ir.U32:
		return softfloat.FromU32(w.Builder, v)
	}
	return softfloat.FromI32(w.Builder, v)
}

// narrowed is a number of two words as one of one, for a type.
func (w *writer) narrowed(p pair, from, to *graphit.Type) ir.Value {
	switch {
	case from.IsReal() && to.IsReal():
		return softfloat.ToF32(w.Builder, p)
	case from.IsReal():
		return softfloat.ToI32(w.Builder, p)
	case to.IsReal():
		return softfloat.ToF32(w.Builder, softfloat.Add(w.Builder,
			softfloat.Mul(w.Builder, softfloat.FromU32(w.Builder, p.Hi), softfloat.Const(w.Builder, 1<<32)),
			softfloat.FromU32(w.Builder, p.Lo)))
	}
	return p.Lo
}

// wideExpr evaluates an expression whose type has two words.
func (w *writer) wideExpr(x graphit.Expr) pair {
	t := x.TypeOf()
	switch x := x.(type) {
	case *graphit.Name:
		if p, ok := w.pairs[x.Var]; ok {
			return p
		}
		if v := w.pairVars[x.Var]; v != nil {
			return v.get()
		}
		if x.Var != nil && x.Var.Global {
			return pair{Hi: w.Count(scalarHigh(x.Var)), Lo: w.Count(scalarName(x.Var))}
		}
	case *graphit.Index:
		if n, ok := x.X.(*graphit.Name); ok && n.Var != nil {
			return w.loadWide(n.Var, w.place(x))
		}
	case *graphit.Unary:
		p := w.wideAs(x.X, t)
		switch {
		case x.Op == "-" && t.IsReal():
			return softfloat.Neg(w.Builder, p)
		case x.Op == "-":
			return w.arithmeticWide("-", w.zero(), p, t, x.Pos)
		}
		return p
	case *graphit.Binary:
		return w.arithmeticWide(x.Op, w.wideAs(x.X, t), w.wideAs(x.Y, t), t, x.Pos)
	case *graphit.Call:
		return w.wideCall(x, t)
	}
	refuse(x.Position(), "%s: a machine's functions do not do this", graphit.Source(x))
	return pair{}
}

func (w *writer) wideCall(x *graphit.Call, t *graphit.Type) pair {
	if x.Func != nil && x.Func.Native != nil && x.Func.Native.Code != nil {
		return w.inC(x)
	}
	if x.Func != nil && x.Func.Native != nil {
		return w.widened(w.native(x), t)
	}
	if x.Func != nil && x.Func.Counts != nil && x.Func.Counts.By != graphit.Merge {
		return w.widened(w.intersection(x), t)
	}
	if x.Func != nil {
		for i, v := range w.arguments(x) {
			if v != nil {
				w.values[x.Func.Params[i]] = v
			}
		}
		return w.callWide(x.Func)
	}
	arg := func(i int) pair { return w.wideAs(x.Args[i], t) }
	switch x.Name {
	case "fabs":
		return softfloat.Abs(w.Builder, arg(0))
	case "max", "min":
		return w.combineWide(x.Name+"=", arg(0), arg(1), t)
	case "to_double":
		return arg(0)
	case "log":
		return softfloat.Log(w.Builder, arg(0))
	case "floor":
		return softfloat.Floor(w.Builder, arg(0))
	case "ceil":
		return softfloat.Neg(w.Builder, softfloat.Floor(w.Builder, softfloat.Neg(w.Builder, arg(0))))
	}
	refuse(x.Pos, "%s: only the host calls it: expected it in main", x.Name)
	return pair{}
}

func (w *writer) arithmeticWide(op string, x, y pair, t *graphit.Type, at graphit.Pos) pair {
	b := w.Builder
	if t.IsReal() {
		switch op {
		case "+":
			return softfloat.Add(b, x, y)
		case "-":
			return softfloat.Sub(b, x, y)
		case "*":
			return softfloat.Mul(b, x, y)
		}
		return softfloat.Div(b, x, y)
	}
	switch op {
	case "+":
		lo := w.Add(x.Lo, y.Lo)
		return pair{Hi: w.Add(w.Add(x.Hi, y.Hi), w.ToU32(w.Lt(lo, y.Lo))), Lo: lo}
	case "-":
		return pair{Hi: w.Sub(w.Sub(x.Hi, y.Hi), w.ToU32(w.Lt(x.Lo, y.Lo))), Lo: w.Sub(x.Lo, y.Lo)}
	case "*":
		hi := w.Add(w.MulHi(x.Lo, y.Lo), w.Add(w.Mul(x.Lo, y.Hi), w.Mul(x.Hi, y.Lo)))
		return pair{Hi: hi, Lo: w.Mul(x.Lo, y.Lo)}
	}
	return w.divideWide(x, y)
}

// divideWide is a quotient of integers, bit by bit.
func (w *writer) divideWide(x, y pair) pair {
	left, rest := w.variable(x), w.variable(w.zero()) // the dividend leaves at the top, and the quotient enters below
	u64 := &graphit.Type{Kind: graphit.Uint, Wide: true}
	w.For(w.I32(0), w.I32(64), w.I32(1), func(ir.Value) {
		n, r := left.get(), rest.get()
		top := func(v ir.Value) ir.Value { return w.Shr(v, w.U32(31)) }
		r = pair{Hi: w.Or(w.Shl(r.Hi, w.U32(1)), top(r.Lo)), Lo: w.Or(w.Shl(r.Lo, w.U32(1)), top(n.Hi))}
		n = pair{Hi: w.Or(w.Shl(n.Hi, w.U32(1)), top(n.Lo)), Lo: w.Shl(n.Lo, w.U32(1))}
		fits := w.Not(w.lessWide(r, y, u64))
		rest.set(w.select2(fits, w.arithmeticWide("-", r, y, u64, graphit.Pos{}), r))
		left.set(pair{Hi: n.Hi, Lo: w.Or(n.Lo, w.ToU32(fits))})
	})
	return left.get()
}

func (w *writer) lessWide(x, y pair, t *graphit.Type) ir.Value {
	if t.IsReal() {
		return softfloat.Lt(w.Builder, x, y)
	}
	return w.Or(w.Lt(x.Hi, y.Hi), w.And(w.Eq(x.Hi, y.Hi), w.Lt(x.Lo, y.Lo)))
}

func (w *writer) comparedWide(op string, x, y pair, t *graphit.Type) ir.Value {
	equal := func() ir.Value {
		if t.IsReal() {
			return softfloat.Eq(w.Builder, x, y)
		}
		return w.And(w.Eq(x.Hi, y.Hi), w.Eq(x.Lo, y.Lo))
	}
	switch op {
	case "==":
		return equal()
	case "!=":
		return w.Not(equal())
	case "<":
		return w.lessWide(x, y, t)
	case ">":
		return w.lessWide(y, x, t)
	case "<=":
		return w.atMostWide(x, y, t)
	}
	return w.atMostWide(y, x, t)
}

func (w *writer) atMostWide(x, y pair, t *graphit.Type) ir.Value {
	if t.IsReal() {
		return softfloat.Le(w.Builder, x, y)
	}
	return w.Not(w.lessWide(y, x, t))
}
