package codegen

import "heddle/kernels/ir"

// lastLane is the field of a shuffle's operand for the highest allowed lane. Segments are not used.
const lastLane = 31 << 6

// shuffles brings the operand of every shuffle into the form of the instruction. As ir's shuffles use the low six bits,
// the lane stays the same.
func shuffles(k *ir.Kernel) { shuffleBlock(k, k.Body, intervals{}) }

func shuffleBlock(k *ir.Kernel, b *ir.Block, s intervals) {
	for n := 0; n < len(b.Instrs); n++ {
		i := b.Instrs[n]
		for _, x := range i.Blocks {
			shuffleBlock(k, x, s)
		}
		if i.Op >= ir.OpShflIdx && i.Op <= ir.OpShflXor {
			before := shuffleOperand(k, i, s)
			insert(b, n, before...)
			n += len(before)
		}
	}
}

func shuffleOperand(k *ir.Kernel, i *ir.Instr, s intervals) (before []*ir.Instr) {
	k.Phase = i.Phase
	by := i.Args[1]
	add := func(op ir.Op, c uint32) {
		by = k.New(op, by.Type, by, k.Const(by.Type, c))
		before = append(before, by)
	}
	switch c, ok := by.IsConst(); {
	case ok:
		by = k.Const(by.Type, c&63|lastLane)
	case s.of(by).hi <= 63:
		add(ir.OpAdd,
			lastLane) // an addition rather than an or, so that it merges with constants that are added already
	default:
		add(ir.OpAnd, 63)
		add(ir.OpOr, lastLane)
	}
	i.Args[1] = by
	return before
}
