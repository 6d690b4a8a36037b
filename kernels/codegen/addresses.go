package codegen

import "heddle/kernels/ir"

// addresses brings the address of every memory instruction into one argument plus a constant that fits its immediate;
// atomics have no immediate.
func addresses(k *ir.Kernel) { addressBlock(k, k.Body) }

func addressBlock(k *ir.Kernel, b *ir.Block) {
	var out []*ir.Instr
	for _, i := range b.Instrs {
		if i.Op.Memory() {
			out = append(out, address(k, i)...)
		}
		for _, n := range i.Blocks {
			addressBlock(k, n)
		}
		out = append(out, i)
	}
	b.Instrs = out
}

// address rewrites one instruction, and returns the instructions that compute its address.
func address(k *ir.Kernel, i *ir.Instr) (before []*ir.Instr) {
	k.Phase = i.Phase
	add := func(op ir.Op, t ir.Type, x, y ir.Value) ir.Value {
		n := k.New(op, t, x, y)
		before = append(before, n)
		return n
	}
	shift := uint32(2)
	if i.Op == ir.OpLoadByte || i.Op == ir.OpStoreByte {
		shift = 0
	}
	base, imm := constantPart(i.Args[0])
	imm += i.Imm
	if x := i.Args[1]; x != nil {
		index, c := constantPart(x)
		imm += c << shift
		if index != nil && shift > 0 {
			index = add(ir.OpShl, index.Type, index, k.Const(ir.U32, shift))
		}
		if index != nil && index.Type != ir.U32 {
			n := k.New(ir.OpBitcast, ir.U32, index)
			before = append(before, n)
			index = n
		}
		switch {
		case base == nil:
			base = index
		case index != nil:
			base = add(ir.OpAdd, ir.U32, base, index)
		}
	}
	if base == nil {
		base = k.Const(ir.U32, 0)
	}
	if i.Op.Atomic() || int32(imm) < -2048 || int32(imm) > 2047 {
		base = add(ir.OpAdd, ir.U32, base, k.Const(ir.U32, imm))
		imm = 0
	}
	i.Args[0], i.Args[1], i.Imm = base, nil, imm
	return before
}

// constantPart splits a constant off a sum; rest is nil if there is none.
func constantPart(v ir.Value) (rest ir.Value, c uint32) {
	if c, ok := v.IsConst(); ok {
		return nil, c
	}
	if v.Op == ir.OpAdd {
		if c, ok := v.Args[1].IsConst(); ok {
			rest, d := constantPart(v.Args[0])
			return rest, c + d
		}
	}
	return v, 0
}
