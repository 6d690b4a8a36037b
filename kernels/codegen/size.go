package codegen

import (
	"math/bits"

	"heddle/kernels/ir"
)

// number returns the machine's number that a root stands for.
func (s Size) number(k *ir.Kernel, op ir.Op) (n uint32, ok bool) {
	if s.Lanes == 0 {
		return 0, false
	}
	warps := s.Warps
	if k.Warps > 0 {
		warps = k.Warps
	}
	switch op {
	case ir.OpNumLanes:
		return uint32(s.Lanes), true
	case ir.OpNumWarps:
		return uint32(warps), true
	case ir.OpNumCores:
		return uint32(s.Cores), true
	case ir.OpNumThreads:
		return uint32(s.Cores * warps * s.Lanes), true
	}
	return 0, false
}

// fix makes the machine's numbers constants. Induction recognises loops over a grid by them, so that it comes first.
func (s Size) fix(k *ir.Kernel) {
	for _, r := range k.Roots {
		if n, ok := s.number(k, r.Op); ok {
			r.Op, r.Imm = ir.OpConst, n
		}
	}
	simplify(k)
}

// byLanes multiplies a register by the number of lanes.
func (l *lowering) byLanes(r reg) {
	n, ok := l.o.Size.number(l.k, ir.OpNumLanes)
	switch {
	case ok && n == 1:
	case ok && bits.OnesCount32(n) == 1:
		l.emit("slli", r, r, 0, int32(bits.TrailingZeros32(n)))
	default:
		l.emit("mul", r, r, l.rootOf(ir.OpNumLanes), 0)
	}
}
