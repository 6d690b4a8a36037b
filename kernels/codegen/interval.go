package codegen

import (
	"math/bits"

	"heddle/kernels/ir"
)

// interval bounds the unsigned value of an integer, inclusively.
type interval struct{ lo, hi uint64 }

const maxWord = 1<<32 - 1

var anything = interval{0, maxWord}

// intervals computes bounds of integers from their operations.
type intervals map[ir.Value]interval

func (s intervals) of(v ir.Value) interval {
	x, ok := s[v]
	if !ok {
		x = s.find(v)
		s[v] = x
	}
	return x
}

func (s intervals) find(v ir.Value) interval {
	switch v.Op {
	case ir.OpConst:
		return interval{uint64(v.Imm), uint64(v.Imm)}
	case ir.OpLaneID:
		return interval{0, 31}
	case ir.OpConvert:
		if v.Args[0].Type == ir.Pred {
			return interval{0, 1}
		}
	case ir.OpBitcast:
		if v.Args[0].Type.Int() {
			return s.of(v.Args[0])
		}
	case ir.OpSelect:
		a, b := s.of(v.Args[1]), s.of(v.Args[2])
		return interval{min(a.lo, b.lo), max(a.hi, b.hi)}
	case ir.OpShr:
		if v.Type == ir.U32 { // for i32, the shift is arithmetic
			return arithmetic(v.Op, s.of(v.Args[0]), s.of(v.Args[1]))
		}
	case ir.OpAdd, ir.OpSub, ir.OpShl, ir.OpAnd, ir.OpOr:
		return arithmetic(v.Op, s.of(v.Args[0]), s.of(v.Args[1]))
	}
	return anything
}

func arithmetic(op ir.Op, a, b interval) interval {
	switch op {
	case ir.OpAdd:
		switch sum := (interval{a.lo + b.lo, a.hi + b.hi}); {
		case sum.hi <= maxWord:
			return sum
		case sum.lo > maxWord: // it always wraps, as when a negative number is added
			return interval{sum.lo - maxWord - 1, sum.hi - maxWord - 1}
		}
	case ir.OpSub:
		if a.lo >= b.hi {
			return interval{a.lo - b.hi, a.hi - b.lo}
		}
	case ir.OpShl:
		if b.lo == b.hi && a.hi<<(b.lo&31) <= maxWord {
			return interval{a.lo << (b.lo & 31), a.hi << (b.lo & 31)}
		}
	case ir.OpShr:
		if b.lo == b.hi {
			return interval{a.lo >> (b.lo & 31), a.hi >> (b.lo & 31)}
		}
	case ir.OpAnd:
		return interval{0, min(a.hi, b.hi)}
	case ir.OpOr:
		return interval{max(a.lo, b.lo), 1<<bits.Len64(a.hi|b.hi) - 1}
	}
	return anything
}
