package codegen

import "heddle/kernels/ir"

// vertices has the Weaver pass on what a kernel computes from vertices, so that it is
// computed once a vertex and not once an edge: the address of an array's element, or its
// distance from the array's start. Both are even, which makes it cheap to see whether a
// lane has got an edge. If nobody asks for vertices, zeros are passed on; if somebody asks
// for the vertex itself, nothing changes.
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
	for _, i := range passed { // the value becomes the vertex; simplify drops the addition
		*i = ir.Instr{ID: i.ID, Op: ir.OpAdd, Type: ir.U32, Args: []ir.Value{w.vertexOf(i), k.Const(ir.U32, 0)},
			Phase: i.Phase, Pos: i.Pos}
	}
	w.register(k.Body)
}

// weaverUses says how a kernel uses the vertices that it gets from the Weaver.
type weaverUses struct {
	k         *ir.Kernel
	use       [][]*ir.Instr
	offsets   []*ir.Instr // vertices, shifted
	shift     ir.Value    // by how much
	addresses []*ir.Instr // offsets, added to base
	base      ir.Value
	several   bool // bases, or something else is done with offsets
	other     bool // something else is done with vertices
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

// offset looks at a use of a vertex.
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

// address looks at a use of an offset.
func (w *weaverUses) address(x, offset *ir.Instr) {
	array := x.Op == ir.OpAdd && x.Args[1] == offset && x.Args[0].Op == ir.OpParam && w.k.Params[x.Args[0].Imm].Aligned
	if !array || w.base != nil && x.Args[0] != w.base {
		w.several = true
		return
	}
	w.base = x.Args[0]
	w.addresses = append(w.addresses, x)
}

// vertexOf is the vertex that an offset or an address is of.
func (w *weaverUses) vertexOf(i *ir.Instr) ir.Value {
	if i.Op == ir.OpAdd {
		i = i.Args[1]
	}
	return i.Args[0]
}

// register changes what is registered in a block.
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

// value computes what one registration passes on.
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
