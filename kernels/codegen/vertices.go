package codegen

import "heddle/kernels/ir"

// vertices makes the Weaver pass on values that a kernel derives from vertices, so that they are computed once for each
// vertex instead of each edge: the address of an array's element, or its offset in the array. Both are even, which
// makes it cheap to test whether a lane has received an edge. If the kernel does not use vertices, zeros are
// registered; if it uses the vertex itself, nothing changes.
func vertices(k *ir.Kernel) {
	w := weaverUses{k: k, use: users(k)}
	k.Body.Walk(w.see)
	if w.other {
		return
	}
	passed := w.offsets
	if w.base != nil && !w.several {
		passed = w.addresses
	} else {
		w.base = nil
	}
	for _, i := range passed { // the value replaces the vertex; simplify drops the addition
		*i = ir.Instr{ID: i.ID, Op: ir.OpAdd, Type: ir.U32, Args: []ir.Value{w.vertexOf(i), k.Const(ir.U32, 0)},
			Phase: i.Phase, Pos: i.Pos}
	}
	w.register(k.Body)
}

// weaverUses describes how a kernel uses the vertices that it receives from the Weaver.
type weaverUses struct {
	k         *ir.Kernel
	use       [][]*ir.Instr
	offsets   []*ir.Instr // vertices, shifted
	shift     ir.Value    // the shift of all offsets
	addresses []*ir.Instr // offsets, added to base
	base      ir.Value
	several   bool // there are several bases, or other uses of offsets
	other     bool // there are other uses of vertices
}

func (w *weaverUses) see(i *ir.Instr) {
	switch i.Op {
	case ir.OpWeaverDecID, ir.OpWeaverSkip:
		w.other = true
	case ir.OpWeaverVID:
		for _, u := range w.use[i.ID] {
			w.offset(u, i)
		}
	}
}

// offset classifies a use of a vertex.
func (w *weaverUses) offset(u, vertex *ir.Instr) {
	if u.Op != ir.OpShl || u.Args[0] != vertex || w.shift != nil && u.Args[1] != w.shift {
		w.other = true
		return
	}
	if c, ok := u.Args[1].IsConst(); !ok || c&31 == 0 {
		w.other = true
		return
	}
	w.shift = u.Args[1]
	w.offsets = append(w.offsets, u)
	for _, x := range w.use[u.ID] {
		w.address(x, u)
	}
}

// address classifies a use of an offset.
func (w *weaverUses) address(x, offset *ir.Instr) {
	array := x.Op == ir.OpAdd && x.Args[1] == offset && x.Args[0].Op == ir.OpParam && w.k.Params[x.Args[0].Imm].Aligned
	if !array || w.base != nil && x.Args[0] != w.base {
		w.several = true
		return
	}
	w.base = x.Args[0]
	w.addresses = append(w.addresses, x)
}

// vertexOf returns the vertex that an offset or an address is derived from.
func (w *weaverUses) vertexOf(i *ir.Instr) ir.Value {
	if i.Op == ir.OpAdd {
		i = i.Args[1]
	}
	return i.Args[0]
}

// register changes the registrations in a block.
func (w *weaverUses) register(b *ir.Block) {
	for n := 0; n < len(b.Instrs); n++ {
		i := b.Instrs[n]
		for _, x := range i.Blocks {
			w.register(x)
		}
		if i.Op == ir.OpWeaverReg {
			before := w.value(i)
			insert(b, n, before...)
			n += len(before)
		}
	}
}

// value computes the value that one registration passes on.
func (w *weaverUses) value(i *ir.Instr) (before []*ir.Instr) {
	i.Imm, w.k.Phase = ir.RegistersEven, i.Phase
	if w.shift == nil {
		i.Args[0] = w.k.Const(ir.U32, 0)
		return nil
	}
	add := func(op ir.Op, args ...ir.Value) {
		i.Args[0] = w.k.New(op, ir.U32, args...)
		before = append(before, i.Args[0])
	}
	if i.Args[0].Type != ir.U32 {
		add(ir.OpBitcast, i.Args[0])
	}
	add(ir.OpShl, i.Args[0], w.shift)
	if w.base != nil {
		add(ir.OpAdd, w.base, i.Args[0])
	}
	return before
}
