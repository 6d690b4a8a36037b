package codegen

import (
	"math/bits"

	"heddle/kernels/ir"
)

// simplify folds constants, applies identities, merges common values, and drops unused ones.
func simplify(k *ir.Kernel) {
	s := &simplifier{k: k, to: map[ir.Value]ir.Value{}, known: []map[key]ir.Value{{}}}
	s.block(k.Body)
	dead(k)
}

// key identifies a pure instruction: two with the same key compute the same value.
type key struct {
	op      ir.Op
	t       ir.Type
	a, b, c int
}

type simplifier struct {
	k     *ir.Kernel
	to    map[ir.Value]ir.Value
	known []map[key]ir.Value // values by block, innermost last
}

func (s *simplifier) block(b *ir.Block) {
	var out []*ir.Instr
	for _, i := range b.Instrs {
		s.update(i)
		if i.Op.Kind() == ir.KindPure {
			if v := s.pure(i); v != i {
				s.to[i] = v
				continue
			}
		}
		s.inner(i)
		if i.Op == ir.OpIf {
			if c, ok := i.Args[0].IsConst(); ok {
				out = append(out, i.Blocks[1-c&1].Instrs...)
				continue
			}
		}
		out = append(out, i)
	}
	b.Instrs = out
}

// update replaces arguments by the values that they were merged with.
func (s *simplifier) update(i *ir.Instr) {
	for n, a := range i.Args {
		if v, ok := s.to[a]; ok {
			i.Args[n] = v
		}
	}
	if i.Grid != nil {
		if v, ok := s.to[i.Grid.Safe]; ok {
			i.Grid.Safe = v
		}
	}
}

// inner simplifies an instruction's blocks. AllLanes may run in lanes that have not computed the values outside.
func (s *simplifier) inner(i *ir.Instr) {
	known := s.known
	if i.Op == ir.OpAllLanes {
		s.known = nil
	}
	for n, b := range i.Blocks {
		outer := s.known
		s.known = append(s.known[:len(s.known):len(s.known)], map[key]ir.Value{})
		s.block(b)
		if n > 0 || !i.TestFirst() {
			s.known = outer
		}
	}
	s.known = known
}

// pure returns the value of an instruction: itself, or an equal one.
func (s *simplifier) pure(i *ir.Instr) ir.Value {
	for {
		if v := s.fold(i); v != nil {
			return v
		}
		next := s.identity(i)
		if next == nil {
			break
		}
		if next.Pos != fresh {
			return next
		}
		*i = ir.Instr{ID: i.ID, Op: next.Op, Type: next.Type, Args: next.Args, Imm: next.Imm, Phase: i.Phase,
			Pos: i.Pos}
	}
	k := keyOf(i)
	for _, m := range s.known {
		if v, ok := m[k]; ok {
			return v
		}
	}
	s.known[len(s.known)-1][k] = i
	return i
}

// fresh marks instructions that identity proposes as replacements.
const fresh = "fresh"

func keyOf(i *ir.Instr) key {
	k := key{op: i.Op, t: i.Type}
	for n, p := range []*int{&k.a, &k.b, &k.c} {
		if n < len(i.Args) {
			*p = i.Args[n].ID + 1
		}
	}
	return k
}

// fold computes an instruction whose arguments are constants.
func (s *simplifier) fold(i *ir.Instr) ir.Value {
	var a [3]uint32
	for n, x := range i.Args {
		c, ok := x.IsConst()
		if !ok {
			return nil
		}
		a[n] = c
	}
	return s.k.Const(i.Type, i.Eval(a))
}

// like returns an instruction that replaces another one.
func like(op ir.Op, t ir.Type, args ...ir.Value) *ir.Instr {
	return &ir.Instr{Op: op, Type: t, Args: args, Pos: fresh}
}

var commutes = map[ir.Op]bool{ir.OpAdd: true, ir.OpMul: true, ir.OpMulHi: true, ir.OpAnd: true, ir.OpOr: true,
	ir.OpXor: true,
	ir.OpMin: true, ir.OpMax: true, ir.OpEq: true, ir.OpNe: true}

// inverse maps comparisons of integers to their negations.
var inverse = map[ir.Op]ir.Op{ir.OpEq: ir.OpNe, ir.OpNe: ir.OpEq, ir.OpLt: ir.OpGe, ir.OpGe: ir.OpLt, ir.OpGt: ir.OpLe,
	ir.OpLe: ir.OpGt}

// mirrored maps comparisons to those with swapped arguments.
var mirrored = map[ir.Op]ir.Op{ir.OpLt: ir.OpGt, ir.OpGt: ir.OpLt, ir.OpLe: ir.OpGe, ir.OpGe: ir.OpLe}

// identity returns a simpler form of the instruction, an existing value or a replacement; nil: none.
func (s *simplifier) identity(i *ir.Instr) ir.Value {
	if len(i.Args) == 2 {
		if v := s.order(i); v != nil {
			return v
		}
	}
	if i.Op == ir.OpSelect {
		return s.selects(i)
	}
	if i.Op == ir.OpBitcast && i.Args[0].Op == ir.OpBitcast {
		if x := i.Args[0].Args[0]; x.Type == i.Type {
			return x
		}
		return like(ir.OpBitcast, i.Type, i.Args[0].Args[0])
	}
	if i.Op == ir.OpNot {
		return s.not(i)
	}
	if len(i.Args) != 2 || i.Args[0].Type == ir.F32 {
		return nil
	}
	if c, ok := i.Args[1].IsConst(); ok {
		return s.withConst(i, c)
	}
	return s.twice(i)
}

// order moves constants to the second argument.
func (s *simplifier) order(i *ir.Instr) ir.Value {
	if _, ok := i.Args[0].IsConst(); !ok {
		return nil
	}
	if commutes[i.Op] {
		return like(i.Op, i.Type, i.Args[1], i.Args[0])
	}
	if m, ok := mirrored[i.Op]; ok {
		return like(m, i.Type, i.Args[1], i.Args[0])
	}
	return nil
}

func (s *simplifier) selects(i *ir.Instr) ir.Value {
	if c, ok := i.Args[0].IsConst(); ok {
		return i.Args[2-c&1]
	}
	if i.Args[1] == i.Args[2] {
		return i.Args[1]
	}
	return nil
}

func (s *simplifier) not(i *ir.Instr) ir.Value {
	x := i.Args[0]
	if x.Op == ir.OpNot {
		return x.Args[0]
	}
	if op, ok := inverse[x.Op]; ok && x.Args[0].Type != ir.F32 {
		return like(op, ir.Pred, x.Args...)
	}
	return nil
}

// twice simplifies an operation whose arguments are the same value.
func (s *simplifier) twice(i *ir.Instr) ir.Value {
	if i.Args[0] != i.Args[1] {
		return nil
	}
	switch i.Op {
	case ir.OpSub, ir.OpXor:
		return s.k.Const(i.Type, 0)
	case ir.OpAnd, ir.OpOr, ir.OpMin, ir.OpMax:
		return i.Args[0]
	}
	return nil
}

// withConst simplifies an operation on integers or predicates whose second argument is a constant.
func (s *simplifier) withConst(i *ir.Instr, c uint32) ir.Value {
	x := i.Args[0]
	all := ^uint32(0)
	if i.Type == ir.Pred {
		all = 1
	}
	switch i.Op {
	case ir.OpAdd, ir.OpOr, ir.OpXor, ir.OpShl, ir.OpShr:
		if c == 0 {
			return x
		}
	case ir.OpSub:
		return like(ir.OpAdd, i.Type, x, s.k.Const(i.Type, -c))
	case ir.OpDiv:
		if c == 1 {
			return x
		}
		if i.Type == ir.U32 && c&(c-1) == 0 && c != 0 {
			return like(ir.OpShr, i.Type, x, s.k.Const(ir.U32, uint32(bits.TrailingZeros32(c))))
		}
	case ir.OpRem:
		if i.Type == ir.U32 && c&(c-1) == 0 && c != 0 {
			return like(ir.OpAnd, i.Type, x, s.k.Const(ir.U32, c-1))
		}
	}
	switch {
	case i.Op == ir.OpAnd && c == all:
		return x
	case i.Op == ir.OpAnd && c == 0, i.Op == ir.OpMul && c == 0:
		return s.k.Const(i.Type, 0)
	case i.Op == ir.OpOr && c == all:
		return s.k.Const(i.Type, all)
	case i.Op == ir.OpXor && i.Type == ir.Pred: // c is 1
		return like(ir.OpNot, i.Type, x)
	case i.Op == ir.OpMul && c&(c-1) == 0:
		return like(ir.OpShl, i.Type, x, s.k.Const(ir.U32, uint32(bits.TrailingZeros32(c))))
	}
	return s.again(i, c)
}

// again merges x + c with x = y + d, and consecutive shifts.
func (s *simplifier) again(i *ir.Instr, c uint32) ir.Value {
	x := i.Args[0]
	if x.Op != i.Op || len(x.Args) != 2 {
		return nil
	}
	d, ok := x.Args[1].IsConst()
	if !ok {
		return nil
	}
	switch {
	case i.Op == ir.OpAdd:
		return like(ir.OpAdd, i.Type, x.Args[0], s.k.Const(i.Type, c+d))
	case i.Op == ir.OpShl && c&31+d&31 < 32:
		return like(ir.OpShl, i.Type, x.Args[0], s.k.Const(ir.U32, c&31+d&31))
	}
	return nil
}

// dead drops unused values, and variables that are never read.
func dead(k *ir.Kernel) {
	for changed := true; changed; {
		changed = false
		use := users(k)
		read := make([]bool, k.Vars)
		k.Body.Walk(func(i *ir.Instr) {
			if i.Op == ir.OpGet {
				read[i.Var.ID] = true
			}
			if i.Grid != nil {
				read[i.Grid.Next.ID] = true
			}
		})
		sweep(k.Body, func(i *ir.Instr) bool {
			drop := isDead(i, use, read)
			changed = changed || drop
			return drop
		})
	}
}

func isDead(i *ir.Instr, use [][]*ir.Instr, read []bool) bool {
	switch i.Op {
	case ir.OpVar, ir.OpSet:
		return !read[i.Var.ID]
	case ir.OpIndex, ir.OpWeaverVID, ir.OpWeaverLoc:
		return false
	case ir.OpIf:
		return len(i.Blocks[0].Instrs)+len(i.Blocks[1].Instrs) == 0
	case ir.OpBreak, ir.OpContinue:
		return isBits(i.Args[0], 0)
	}
	switch i.Op.Kind() {
	case ir.KindPure, ir.KindLoad, ir.KindWarp, ir.KindVar:
		return len(use[i.ID]) == 0
	}
	return false
}

// sweep drops instructions, innermost blocks first.
func sweep(b *ir.Block, drop func(*ir.Instr) bool) {
	var out []*ir.Instr
	for _, i := range b.Instrs {
		for _, n := range i.Blocks {
			sweep(n, drop)
		}
		if !drop(i) {
			out = append(out, i)
		}
	}
	b.Instrs = out
}
