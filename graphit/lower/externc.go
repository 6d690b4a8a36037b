package lower

import (
	"heddle/graphit"
	"heddle/graphit/cextern"
	"heddle/kernels/ir"
	"heddle/kernels/softfloat"
)

// inC emits a call of a function in C, and returns a0 and a1. Each lane has a frame for its arguments and the results.
func (w *writer) inC(x *graphit.Call) pair {
	f := x.Func.Native.Code.(*cextern.Function)
	for i, a := range f.Args {
		w.passC(x.Args[i], a)
	}
	frame := w.frameC()
	w.Store(w.frameAt(cextern.CodeAt), nil, w.U32(f.Addr))
	w.Call(frame, w.U32(f.Image.Call))
	load := func(n uint32) ir.Value { return w.Load(ir.U32, w.frameAt(cextern.ResultAt+4*n), nil) }
	return pair{Lo: load(0), Hi: load(1)}
}

// frameC is the address of the lane's frame.
func (w *writer) frameC() ir.Value { return w.frameAt(0) }

func (w *writer) frameAt(offset uint32) ir.Value {
	lane := w.Builder.GlobalThread()
	return w.Add(w.Mul(lane, w.U32(cextern.FrameBytes)), w.U32(cextern.FrameBase+offset))
}

// passC stores an argument.
func (w *writer) passC(x graphit.Expr, a cextern.Argument) {
	put := func(word uint32, v ir.Value) { w.Store(w.frameAt(a.Offset+4*word), nil, v) }
	switch t := a.Type; {
	case t.Kind == graphit.Double && w.isWide(t):
		p := w.wideAs(x, t)
		put(0, p.Lo)
		put(1, p.Hi)
	case t.Kind == graphit.Double:
		p := softfloat.FromF32(w.Builder, w.as(x, t))
		put(0, p.Lo)
		put(1, p.Hi)
	case t.Kind == graphit.Bool:
		put(0, w.ToU32(w.as(x, t)))
	default:
		put(0, w.as(x, t))
	}
}

// fromC is the result of a function in C that has one word on the machine; nil: it has none.
func (w *writer) fromC(x *graphit.Call) ir.Value {
	p, r := w.inC(x), x.Func.Result
	if r == nil {
		return nil
	}
	switch r.Type.Kind {
	case graphit.Double:
		return softfloat.ToF32(w.Builder, p)
	case graphit.Float:
		return w.Load(ir.F32, w.frameAt(cextern.ResultAt+8), nil)
	case graphit.Int:
		return w.AsI32(p.Lo)
	case graphit.Bool:
		return w.Ne(w.And(p.Lo, w.U32(1)), w.U32(0))
	}
	return p.Lo
}

// placeC gives the device the code of functions in C, and their variables as they are now.
func (b *backend) placeC() {
	f := b.codeC()
	if f == nil {
		return
	}
	shape := b.device.Shape()
	if n := shape.Lanes(); n > cextern.MaxLanes {
		refuse(f.Decl.Pos, "%s is in C, and the machine has %d lanes: there are frames for %d", f.Decl.Name, n,
			cextern.MaxLanes)
	}
	x, _ := b.host.InC().(*cextern.Instance)
	if x == nil {
		if b.placed {
			return
		}
		made, err := cextern.NewInstance(f.Image)
		if err != nil {
			panic("BUG: lower: " + err.Error())
		}
		x = made
	}
	b.placed = true
	if x.Changed {
		x.Data(b.device.WriteWords)
		x.Changed = false
	}
}

// codeC returns one of the program's functions in C; nil: there is none.
func (b *backend) codeC() *cextern.Function {
	for _, n := range b.program.File.Natives {
		if f, ok := n.Code.(*cextern.Function); ok {
			return f
		}
	}
	return nil
}
