package ir

import "heddle/isa"

// Op is an operation.
type Op uint8

// Operations.
const (
	// Roots.
	OpConst Op = iota
	OpParam
	OpShared
	OpLaneID
	OpWarpID
	OpCoreID
	OpThreadInCore
	OpGlobalThread
	OpSpreadThread
	OpNumLanes
	OpNumWarps
	OpNumCores
	OpNumThreads
	OpWeaverCapacity
	OpAllMask

	// Arithmetic.
	OpAdd
	OpSub
	OpMul
	OpMulHi
	OpDiv
	OpRem
	OpAnd
	OpOr
	OpXor
	OpShl
	OpShr
	OpMin
	OpMax
	OpNeg
	OpNot
	OpAbs
	OpSqrt
	OpFMA

	OpEq
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe

	OpSelect
	OpConvert
	OpBitcast

	// Memory.
	OpLoad
	OpStore
	OpLoadByte
	OpStoreByte
	OpAtomicAdd
	OpAtomicMin
	OpAtomicMax
	OpAtomicAnd
	OpAtomicOr
	OpAtomicXor
	OpAtomicXchg
	OpAtomicCAS
	OpAtomicAddF
	OpFence

	// Variables.
	OpVar
	OpGet
	OpSet

	// Control.
	OpIf
	OpLoop
	OpFor
	OpIndex
	OpBreak
	OpContinue
	OpAllLanes
	OpEdge
	OpBlockEdge

	// Warp, core, device.
	OpBallot
	OpAny
	OpAll
	OpShflIdx
	OpShflUp
	OpShflDown
	OpShflXor
	OpBarrier
	OpDeviceBarrier

	// Weaver.
	OpWeaverReg
	OpWeaverSkip
	OpWeaverDecID
	OpWeaverDecLoc
	OpWeaverEdges
	OpWeaverVID
	OpWeaverLoc

	// Vertex-lists of a GraphPEG or a hardware worklist.
	OpListEdges
	OpListVertices
	OpListItem
	OpListPush

	// Edge-generating hardware; its loop has OpListItems.
	OpEghwEdges

	// Any instruction of a graph unit, without an answer and with one.
	OpUnitDo
	OpUnitAsk

	// A new task, on cores of Swarm tiles.
	OpTask

	// A function's code that is not the kernel's: for the address of each lane's frame, the address that is called.
	OpCall

	NumOps
)

// Kind classifies an operation by its side effects, which bound how passes may move it.
type Kind uint8

// Kinds.
const (
	KindRoot    Kind = iota // defined before the kernel runs
	KindPure                // pure: may be moved, merged, dropped
	KindLoad                // reads memory: may be dropped, not moved
	KindEffect              // writes memory, or communicates with other lanes or units: stays in place
	KindVar                 // variables
	KindControl             // has blocks, or leaves them
	KindWarp                // depends on the active lanes: may be dropped, not moved
)

// row describes an operation.
type row struct {
	name string
	kind Kind
	// sig holds the types of the arguments and, after the colon, of the value. Some letters stand for one of several
	// types, the same at each occurrence: n i32 u32 f32; i i32 u32; l i32 u32 pred; t any. Others: u u32; f f32; p
	// pred; x i32 or u32, independently; w any, independently; r the instruction's own type; - nothing. A ? before a
	// letter: may be nil.
	sig string
	// blocks is the number of its blocks.
	blocks int
	// eval computes the value in one lane from the bits of the arguments; t is the first
	// argument's type and r the value's.
	eval func(t, r Type, a [3]uint32) uint32
}

// sem returns the semantics of the instruction of that name, so that the IR and the machine agree.
func sem(name string) func(a [3]uint32) uint32 {
	r := isa.Lookup(name)
	if f, ok := r.Sem.(isa.IntOp); ok {
		return func(a [3]uint32) uint32 { return f(a[0], a[1]) }
	}
	f := r.Sem.(isa.FPOp)
	rm := uint8(isa.RNE)
	if name == "fcvt.w.s" || name == "fcvt.wu.s" {
		rm = isa.RTZ
	}
	return func(a [3]uint32) uint32 { return f(&isa.FP{RM: rm}, a[0], a[1], a[2]) }
}

// by selects the semantics by the first argument's type: i32, u32, f32 ("": not allowed).
func by(i, u, f string) func(t, _ Type, a [3]uint32) uint32 {
	var s [Pred + 1]func([3]uint32) uint32
	for t, name := range map[Type]string{I32: i, U32: u, F32: f, Pred: u} {
		if name != "" {
			s[t] = sem(name)
		}
	}
	return func(t, _ Type, a [3]uint32) uint32 { return s[t](a) }
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// compare returns a comparison in terms of less(a,b), equal(a,b) and greater(a,b); float comparisons with NaN are
// false, Ne true.
func compare(f func(less, equal, greater bool) bool) func(t, _ Type, a [3]uint32) uint32 {
	lt := by("slt", "sltu", "flt.s")
	eq := func(t Type, a [3]uint32) bool {
		if t == F32 {
			return feq(a) != 0
		}
		return a[0] == a[1]
	}
	return func(t, _ Type, a [3]uint32) uint32 {
		return flag(f(lt(t, t, a) != 0, eq(t, a), lt(t, t, [3]uint32{a[1], a[0]}) != 0))
	}
}

func minimum(t, _ Type, a [3]uint32) uint32 {
	switch t {
	case F32:
		return fmin(a)
	case I32:
		return uint32(min(int32(a[0]), int32(a[1])))
	}
	return min(a[0], a[1])
}

func maximum(t, _ Type, a [3]uint32) uint32 {
	switch t {
	case F32:
		return fmax(a)
	case I32:
		return uint32(max(int32(a[0]), int32(a[1])))
	}
	return max(a[0], a[1])
}

var fmin, fmax, feq = sem("fmin.s"), sem("fmax.s"), sem("feq.s")

var ops = [NumOps]row{
	OpConst: {name: "const", sig: ":r"}, OpParam: {name: "param", sig: ":r"}, OpShared: {name: "shared", sig: ":u"},
	OpLaneID: {name: "lane_id", sig: ":u"}, OpWarpID: {name: "warp_id", sig: ":u"}, OpCoreID: {name: "core_id", sig: ":u"},
	OpThreadInCore: {name: "thread_in_core", sig: ":u"}, OpGlobalThread: {name: "global_thread", sig: ":u"},
	OpSpreadThread: {name: "spread_thread", sig: ":u"},
	OpNumLanes:     {name: "num_lanes", sig: ":u"}, OpNumWarps: {name: "num_warps", sig: ":u"}, OpNumCores: {name: "num_cores", sig: ":u"},
	OpNumThreads: {name: "num_threads", sig: ":u"}, OpWeaverCapacity: {name: "weaver_capacity", sig: ":u"}, OpAllMask: {name: "all_mask", sig: ":u"},

	OpAdd:   {name: "add", kind: KindPure, sig: "nn:n", eval: by("add", "add", "fadd.s")},
	OpSub:   {name: "sub", kind: KindPure, sig: "nn:n", eval: by("sub", "sub", "fsub.s")},
	OpMul:   {name: "mul", kind: KindPure, sig: "nn:n", eval: by("mul", "mul", "fmul.s")},
	OpMulHi: {name: "mulhi", kind: KindPure, sig: "ii:i", eval: by("mulh", "mulhu", "")},
	OpDiv:   {name: "div", kind: KindPure, sig: "nn:n", eval: by("div", "divu", "fdiv.s")},
	OpRem:   {name: "rem", kind: KindPure, sig: "ii:i", eval: by("rem", "remu", "")},
	OpAnd:   {name: "and", kind: KindPure, sig: "ll:l", eval: by("and", "and", "")},
	OpOr:    {name: "or", kind: KindPure, sig: "ll:l", eval: by("or", "or", "")},
	OpXor:   {name: "xor", kind: KindPure, sig: "ll:l", eval: by("xor", "xor", "")},
	OpShl:   {name: "shl", kind: KindPure, sig: "ix:i", eval: by("sll", "sll", "")},
	OpShr:   {name: "shr", kind: KindPure, sig: "ix:i", eval: by("sra", "srl", "")},
	OpMin:   {name: "min", kind: KindPure, sig: "nn:n", eval: minimum},
	OpMax:   {name: "max", kind: KindPure, sig: "nn:n", eval: maximum},
	OpNeg: {name: "neg", kind: KindPure, sig: "n:n", eval: func(t, _ Type, a [3]uint32) uint32 {
		if t == F32 {
			return a[0] ^ 1<<31
		}
		return -a[0]
	}},
	OpNot: {name: "not", kind: KindPure, sig: "l:l", eval: func(t, _ Type, a [3]uint32) uint32 {
		if t == Pred {
			return a[0] ^ 1
		}
		return ^a[0]
	}},
	OpAbs:  {name: "abs", kind: KindPure, sig: "f:f", eval: func(_, _ Type, a [3]uint32) uint32 { return a[0] &^ (1 << 31) }},
	OpSqrt: {name: "sqrt", kind: KindPure, sig: "f:f", eval: by("", "", "fsqrt.s")},
	OpFMA:  {name: "fma", kind: KindPure, sig: "fff:f", eval: by("", "", "fmadd.s")},

	OpEq: {name: "eq", kind: KindPure, sig: "nn:p", eval: compare(func(_, e, _ bool) bool { return e })},
	OpNe: {name: "ne", kind: KindPure, sig: "nn:p", eval: compare(func(_, e, _ bool) bool { return !e })},
	OpLt: {name: "lt", kind: KindPure, sig: "nn:p", eval: compare(func(l, _, _ bool) bool { return l })},
	OpLe: {name: "le", kind: KindPure, sig: "nn:p", eval: compare(func(l, e, _ bool) bool { return l || e })},
	OpGt: {name: "gt", kind: KindPure, sig: "nn:p", eval: compare(func(_, _, g bool) bool { return g })},
	OpGe: {name: "ge", kind: KindPure, sig: "nn:p", eval: compare(func(_, e, g bool) bool { return g || e })},

	OpSelect: {name: "select", kind: KindPure, sig: "ptt:t", eval: func(_, _ Type, a [3]uint32) uint32 {
		if a[0]&1 != 0 {
			return a[1]
		}
		return a[2]
	}},
	OpConvert: {name: "convert", kind: KindPure, sig: "w:r", eval: convert},
	OpBitcast: {name: "bitcast", kind: KindPure, sig: "w:r", eval: func(_, _ Type, a [3]uint32) uint32 { return a[0] }},

	// base and index: word base + 4·index + Imm, or without an index base + Imm; bytes: base + index + Imm.
	OpLoad:       {name: "load", kind: KindLoad, sig: "u?x:r"},
	OpStore:      {name: "store", kind: KindEffect, sig: "u?xw:-"},
	OpLoadByte:   {name: "load_byte", kind: KindLoad, sig: "u?x:u"},
	OpStoreByte:  {name: "store_byte", kind: KindEffect, sig: "u?xx:-"},
	OpAtomicAdd:  {name: "atomic_add", kind: KindEffect, sig: "u?xi:i", eval: by("add", "add", "")},
	OpAtomicMin:  {name: "atomic_min", kind: KindEffect, sig: "u?xi:i", eval: minimum},
	OpAtomicMax:  {name: "atomic_max", kind: KindEffect, sig: "u?xi:i", eval: maximum},
	OpAtomicAnd:  {name: "atomic_and", kind: KindEffect, sig: "u?xi:i", eval: by("and", "and", "")},
	OpAtomicOr:   {name: "atomic_or", kind: KindEffect, sig: "u?xi:i", eval: by("or", "or", "")},
	OpAtomicXor:  {name: "atomic_xor", kind: KindEffect, sig: "u?xi:i", eval: by("xor", "xor", "")},
	OpAtomicXchg: {name: "atomic_xchg", kind: KindEffect, sig: "u?xi:i", eval: func(_, _ Type, a [3]uint32) uint32 { return a[1] }},
	OpAtomicCAS:  {name: "atomic_cas", kind: KindEffect, sig: "u?xii:i"}, // expected, new
	OpAtomicAddF: {name: "atomic_addf", kind: KindEffect, sig: "u?xf:f", eval: by("", "", "fadd.s")},
	OpFence:      {name: "fence", kind: KindEffect, sig: ":-"},

	OpVar: {name: "var", kind: KindVar, sig: "w:-"}, OpGet: {name: "get", kind: KindVar, sig: ":r"}, OpSet: {name: "set", kind: KindVar, sig: "w:-"},

	// If: then, else. Loop: test, body, latch; the guard, evaluated after the test, determines whether a lane enters
	// the body, or nil: all lanes enter, at the test. For: body; from, below, step.
	OpIf: {name: "if", kind: KindControl, sig: "p:-", blocks: 2}, OpLoop: {name: "loop", kind: KindControl, sig: "?p:-", blocks: 3},
	OpFor: {name: "for", kind: KindControl, sig: "iii:-", blocks: 1}, OpIndex: {name: "index", kind: KindVar, sig: ":r"},
	OpBreak: {name: "break_if", kind: KindControl, sig: "p:-"}, OpContinue: {name: "continue_if", kind: KindControl, sig: "p:-"},
	OpAllLanes: {name: "all_lanes", kind: KindControl, sig: ":-", blocks: 1},
	OpEdge:     {name: "edge", kind: KindEffect, sig: ":-"}, OpBlockEdge: {name: "block_edge", kind: KindEffect, sig: ":-"},

	OpBallot: {name: "ballot", kind: KindWarp, sig: "p:u"}, OpAny: {name: "any", kind: KindWarp, sig: "p:p"}, OpAll: {name: "all", kind: KindWarp, sig: "p:p"},
	OpShflIdx: {name: "shfl_idx", kind: KindWarp, sig: "tx:t"}, OpShflUp: {name: "shfl_up", kind: KindWarp, sig: "tx:t"},
	OpShflDown: {name: "shfl_down", kind: KindWarp, sig: "tx:t"}, OpShflXor: {name: "shfl_xor", kind: KindWarp, sig: "tx:t"},
	OpBarrier: {name: "barrier", kind: KindEffect, sig: ":-"}, OpDeviceBarrier: {name: "device_barrier", kind: KindEffect, sig: ":-"},

	OpWeaverReg: {name: "weaver_reg", kind: KindEffect, sig: "xxx:-"}, OpWeaverSkip: {name: "weaver_skip", kind: KindEffect, sig: "x:-"},
	OpWeaverDecID: {name: "weaver_dec_id", kind: KindEffect, sig: ":i"}, OpWeaverDecLoc: {name: "weaver_dec_loc", kind: KindEffect, sig: ":u"},
	OpWeaverEdges: {name: "weaver_edges", kind: KindControl, sig: ":-", blocks: 1},
	OpWeaverVID:   {name: "weaver_vid", kind: KindVar, sig: ":u"}, OpWeaverLoc: {name: "weaver_loc", kind: KindVar, sig: ":u"},

	OpListEdges: {name: "list_edges", kind: KindControl, sig: "x:-", blocks: 1}, OpListVertices: {name: "list_vertices", kind: KindControl, sig: "x:-", blocks: 1},
	OpListItem: {name: "list_item", kind: KindVar, sig: ":u"}, OpListPush: {name: "list_push", kind: KindEffect, sig: "xx:-"},

	OpEghwEdges: {name: "eghw_edges", kind: KindControl, sig: ":-", blocks: 1},

	OpUnitDo: {name: "unit_do", kind: KindEffect, sig: "?x?x:-"}, OpUnitAsk: {name: "unit_ask", kind: KindEffect, sig: "?x?x:u"},
	OpTask: {name: "task", kind: KindEffect, sig: "uu?w?w?w?w?w?w:-"}, // address, timestamp, arguments

	OpCall: {name: "call", kind: KindEffect, sig: "uu:-"},
}

func (o Op) String() string { return ops[o].name }

// Kind returns the operation's classification.
func (o Op) Kind() Kind { return ops[o].kind }

// Memory reports whether the operation has an address, in its first two arguments.
func (o Op) Memory() bool { return o >= OpLoad && o <= OpAtomicAddF }

// Atomic reports whether it is an atomic read-modify-write.
func (o Op) Atomic() bool { return o >= OpAtomicAdd && o <= OpAtomicAddF }

// Eval evaluates a pure operation in one lane.
func (i *Instr) Eval(a [3]uint32) uint32 {
	t := None
	if len(i.Args) > 0 {
		t = i.Args[0].Type
	}
	return ops[i.Op].eval(t, i.Type, a)
}

// convert between number types: floats to integers truncate and saturate, integers to
// floats round to nearest even. A Pred gives 0 or 1.
func convert(t, r Type, a [3]uint32) uint32 {
	switch {
	case t == F32 && r == I32:
		return sem("fcvt.w.s")(a)
	case t == F32 && r == U32:
		return sem("fcvt.wu.s")(a)
	case r == F32 && t == I32:
		return sem("fcvt.s.w")(a)
	case r == F32:
		return sem("fcvt.s.wu")(a)
	}
	return a[0]
}

// shuffle returns the lane, of n, that a lane's value comes from; if out of range, the lane itself. The low six bits of
// by count.
func shuffle(op Op, lane, n int, by uint32) int {
	src, b := lane, int(by&63)
	switch op {
	case OpShflIdx:
		src = b
	case OpShflUp:
		src -= b
	case OpShflDown:
		src += b
	case OpShflXor:
		src ^= b
	}
	if src < 0 || src >= n {
		return lane
	}
	return src
}

func ones(n int) uint32 { return uint32(uint64(1)<<n - 1) }
