package codegen

import "heddle/kernels/ir"

// hoist moves loop-invariant computations before the loop. A lane that does not enter the loop executes them in vain.
func hoist(k *ir.Kernel) { hoistBlock(k, k.Body) }

func hoistBlock(k *ir.Kernel, b *ir.Block) {
	for n := 0; n < len(b.Instrs); n++ {
		i := b.Instrs[n]
		for _, x := range i.Blocks {
			hoistBlock(k, x)
		}
		if isLoop(i) {
			h := newHoister(k, i)
			for _, x := range i.Blocks {
				h.block(x, false)
			}
			insert(b, n, h.moved...)
			n += len(h.moved)
		}
	}
}

type hoister struct {
	made  []bool // by ID: values computed in the loop
	set   []bool // by ID: variables created or set in the loop
	moved []*ir.Instr
}

func newHoister(k *ir.Kernel, loop *ir.Instr) *hoister {
	h := &hoister{made: make([]bool, k.Instr), set: make([]bool, k.Vars)}
	for _, b := range loop.Blocks {
		b.Walk(func(i *ir.Instr) {
			h.made[i.ID] = true
			if i.Op == ir.OpVar || i.Op == ir.OpSet {
				h.set[i.Var.ID] = true
			}
		})
	}
	return h
}

// block moves instructions out of a block of the loop. maybe: not every iteration reaches the block.
func (h *hoister) block(b *ir.Block, maybe bool) {
	var stay []*ir.Instr
	for _, i := range b.Instrs {
		if h.fixed(i) && !(maybe && slow[i.Op]) {
			h.made[i.ID] = false
			h.moved = append(h.moved, i)
			continue
		}
		if i.Op == ir.OpIf {
			for _, x := range i.Blocks {
				h.block(x, true)
			}
		}
		stay = append(stay, i)
	}
	b.Instrs = stay
}

// slow lists operations that must not be executed in vain.
var slow = map[ir.Op]bool{ir.OpDiv: true, ir.OpRem: true, ir.OpSqrt: true}

func (h *hoister) fixed(i *ir.Instr) bool {
	if i.Op == ir.OpGet {
		return !h.set[i.Var.ID]
	}
	if i.Op.Kind() != ir.KindPure {
		return false
	}
	for _, a := range i.Args {
		if h.made[a.ID] {
			return false
		}
	}
	return true
}
