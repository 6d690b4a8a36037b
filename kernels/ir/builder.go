package ir

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
)

// Builder builds a kernel. Methods append to the current block. The first error is kept, with the position in the
// calling Go code, and Build returns it.
type Builder struct {
	k      *Kernel
	block  *Block
	loops  []Value
	params map[string]Value
	errs   []error
}

// NewBuilder starts a kernel.
func NewBuilder(name string) *Builder {
	body := &Block{}
	return &Builder{k: &Kernel{Name: name, Body: body}, block: body, params: map[string]Value{}}
}

// Build returns the kernel, verified.
func (b *Builder) Build() (*Kernel, error) {
	if len(b.errs) == 0 {
		b.errs = append(b.errs, Verify(b.k))
	}
	if err := errors.Join(b.errs...); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", b.k.Name, err)
	}
	return b.k, nil
}

// caller returns the position outside this package that called a method of the builder.
func caller() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.Contains(f.Function, "kernels/ir.(*") || !more {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
	}
}

func (b *Builder) errorf(format string, args ...any) {
	if len(b.errs) < 10 {
		b.errs = append(b.errs, fmt.Errorf("%s: %s", caller(), fmt.Sprintf(format, args...)))
	}
}

// add appends an instruction after checking its types.
func (b *Builder) add(op Op, t Type, args ...Value) *Instr {
	i := b.k.New(op, t, args...)
	i.Pos = caller()
	if err := checkTypes(i); err != nil {
		b.errorf("%v", err)
	}
	b.block.Instrs = append(b.block.Instrs, i)
	return i
}

// same returns the type of an operation's first argument.
func same(v Value) Type {
	if v == nil {
		return None
	}
	return v.Type
}

func (b *Builder) unary(op Op, x Value) Value     { return b.add(op, same(x), x) }
func (b *Builder) binary(op Op, x, y Value) Value { return b.add(op, same(x), x, y) }
func (b *Builder) compare(op Op, x, y Value) Value {
	return b.add(op, Pred, x, y)
}

// in builds a block.
func (b *Builder) in(body func()) *Block {
	outer := b.block
	inner := &Block{}
	b.block = inner
	if body != nil {
		body()
	}
	b.block = outer
	return inner
}

// I32 returns a constant.
func (b *Builder) I32(n int32) Value { return b.k.Const(I32, uint32(n)) }

// U32 returns a constant.
func (b *Builder) U32(n uint32) Value { return b.k.Const(U32, n) }

// F32 returns a constant.
func (b *Builder) F32(x float32) Value { return b.k.Const(F32, math.Float32bits(x)) }

// Bool returns a constant.
func (b *Builder) Bool(x bool) Value { return b.k.Const(Pred, flag(x)) }

// Zero returns the constant 0 of a type.
func (b *Builder) Zero(t Type) Value { return b.k.Const(t, 0) }

// Param returns the argument of that name: the next free word of the argument block, or the word assigned to the name
// before.
func (b *Builder) Param(name string, t Type) Value {
	next := 0
	for _, p := range b.k.Params {
		next = max(next, p.Word+1)
	}
	return b.param(Param{Name: name, Type: t, Word: next})
}

// ParamAt returns the argument at that word of the block.
func (b *Builder) ParamAt(name string, t Type, word int) Value {
	return b.param(Param{Name: name, Type: t, Word: word})
}

// Array is a Param that holds the address of words: a u32, and a multiple of 4.
func (b *Builder) Array(name string) Value {
	v := b.Param(name, U32)
	b.k.Params[v.Imm].Aligned = true
	return v
}

// ArrayAt is an Array at that word of the block.
func (b *Builder) ArrayAt(name string, word int) Value {
	return b.param(Param{Name: name, Type: U32, Word: word, Aligned: true})
}

func (b *Builder) param(p Param) Value {
	if v, ok := b.params[p.Name]; ok {
		if v.Type != p.Type {
			b.errorf("parameter %s is %s, and was %s before", p.Name, p.Type, v.Type)
		}
		return v
	}
	if p.Type == None || p.Type == Pred || p.Word < 0 || p.Word >= MaxParams {
		b.errorf("parameter %s: type %s at word %d: expected i32, u32 or f32 at 0..%d", p.Name, p.Type, p.Word,
			MaxParams-1)
	}
	v := b.k.Root(OpParam, p.Type, uint32(len(b.k.Params)))
	b.k.Params = append(b.k.Params, p)
	b.params[p.Name] = v
	return v
}

// Launch sets how many warps of a core run the kernel, and how many neighbouring ones form a thread block, the scope of
// barriers. 0 warps: all warps of the machine; a block of 0: all warps that run the kernel.
func (b *Builder) Launch(warps, block int) {
	if warps < 0 || block < 0 || block > 0 && (warps == 0 || warps%block != 0) {
		b.errorf("blocks of %d warps, of %d: expected a divisor", block, warps)
		return
	}
	b.k.Warps, b.k.Block = warps, block
}

// MaxParams is the maximum number of words in an argument block: a load's offset reaches 2 KiB.
const MaxParams = 512

// Shared allocates an array of words in the core's scratchpad, and returns its address. It is not zeroed.
func (b *Builder) Shared(name string, words int) Value {
	for n, s := range b.k.Shared {
		if s.Name == name {
			if s.Words != words {
				b.errorf("shared array %s has %d words, and had %d before", name, words, s.Words)
			}
			return b.k.Root(OpShared, U32, uint32(n))
		}
	}
	if words < 1 || words > maxShared/4 {
		b.errorf("shared array %s of %d words: expected 1..%d", name, words, maxShared/4)
		words = 1
	}
	b.k.Shared = append(b.k.Shared, Shared{Name: name, Offset: b.k.SharedBytes(), Words: words})
	return b.k.Root(OpShared, U32, uint32(len(b.k.Shared)-1))
}

// maxShared is the largest scratchpad, in bytes.
const maxShared = 64 << 10

// Identity and number of lanes, warps and cores, all u32.

// LaneID is the lane's number in its warp.
func (b *Builder) LaneID() Value { return b.k.Root(OpLaneID, U32, 0) }

// WarpID is the warp's number in its core.
func (b *Builder) WarpID() Value { return b.k.Root(OpWarpID, U32, 0) }

// CoreID is the core's number in the device.
func (b *Builder) CoreID() Value { return b.k.Root(OpCoreID, U32, 0) }

// ThreadInCore is warp·lanes + lane.
func (b *Builder) ThreadInCore() Value { return b.k.Root(OpThreadInCore, U32, 0) }

// GlobalThread is (core·warps + warp)·lanes + lane.
func (b *Builder) GlobalThread() Value { return b.k.Root(OpGlobalThread, U32, 0) }

// SpreadThread is (warp·cores + core)·lanes + lane: neighbouring warps' numbers are of different
// cores, so that fewer elements than the device has lanes still keep all cores busy.
func (b *Builder) SpreadThread() Value { return b.k.Root(OpSpreadThread, U32, 0) }

// NumLanes is the number of lanes of a warp.
func (b *Builder) NumLanes() Value { return b.k.Root(OpNumLanes, U32, 0) }

// NumWarps is the number of warps of a core that run the kernel.
func (b *Builder) NumWarps() Value { return b.k.Root(OpNumWarps, U32, 0) }

// NumCores is the number of cores of the device.
func (b *Builder) NumCores() Value { return b.k.Root(OpNumCores, U32, 0) }

// NumThreads is the number of lanes of the device that run the kernel.
func (b *Builder) NumThreads() Value { return b.k.Root(OpNumThreads, U32, 0) }

// WeaverCapacity returns how many lanes of a core may register: those with ThreadInCore below it.
func (b *Builder) WeaverCapacity() Value { return b.k.Root(OpWeaverCapacity, U32, 0) }

// Arithmetic. Both arguments and the result have the same type.

// Add is x + y.
func (b *Builder) Add(x, y Value) Value { return b.binary(OpAdd, x, y) }

// Sub is x - y.
func (b *Builder) Sub(x, y Value) Value { return b.binary(OpSub, x, y) }

// Mul is the low word of x·y, or the float product.
func (b *Builder) Mul(x, y Value) Value { return b.binary(OpMul, x, y) }

// MulHi is the high word of x·y.
func (b *Builder) MulHi(x, y Value) Value { return b.binary(OpMulHi, x, y) }

// Div is x / y. Integers truncate; by zero: all ones; the smallest by -1: the smallest.
func (b *Builder) Div(x, y Value) Value { return b.binary(OpDiv, x, y) }

// Rem is x mod y with the sign of x; by zero: x.
func (b *Builder) Rem(x, y Value) Value { return b.binary(OpRem, x, y) }

// And is x and y, of integers or predicates.
func (b *Builder) And(x, y Value) Value { return b.binary(OpAnd, x, y) }

// Or is x or y, of integers or predicates.
func (b *Builder) Or(x, y Value) Value { return b.binary(OpOr, x, y) }

// Xor is x exclusive-or y, of integers or predicates.
func (b *Builder) Xor(x, y Value) Value { return b.binary(OpXor, x, y) }

// Shl is x shifted left by the low five bits of n.
func (b *Builder) Shl(x, n Value) Value { return b.binary(OpShl, x, n) }

// Shr is x shifted right by the low five bits of n: arithmetic for i32, logical for u32.
func (b *Builder) Shr(x, n Value) Value { return b.binary(OpShr, x, n) }

// Min is the smaller argument; if one float is NaN, the other.
func (b *Builder) Min(x, y Value) Value { return b.binary(OpMin, x, y) }

// Max is the larger argument; if one float is NaN, the other.
func (b *Builder) Max(x, y Value) Value { return b.binary(OpMax, x, y) }

// Neg is -x.
func (b *Builder) Neg(x Value) Value { return b.unary(OpNeg, x) }

// Not inverts all bits, or a predicate.
func (b *Builder) Not(x Value) Value { return b.unary(OpNot, x) }

// Abs is a float without its sign.
func (b *Builder) Abs(x Value) Value { return b.unary(OpAbs, x) }

// Sqrt is the square root of a float.
func (b *Builder) Sqrt(x Value) Value { return b.unary(OpSqrt, x) }

// FMA is x·y + z of floats, rounded once.
func (b *Builder) FMA(x, y, z Value) Value { return b.add(OpFMA, F32, x, y, z) }

// Comparisons return a predicate. Float comparisons with a NaN are false, except Ne.

// Eq is x = y.
func (b *Builder) Eq(x, y Value) Value { return b.compare(OpEq, x, y) }

// Ne is x ≠ y.
func (b *Builder) Ne(x, y Value) Value { return b.compare(OpNe, x, y) }

// Lt is x < y.
func (b *Builder) Lt(x, y Value) Value { return b.compare(OpLt, x, y) }

// Le is x ≤ y.
func (b *Builder) Le(x, y Value) Value { return b.compare(OpLe, x, y) }

// Gt is x > y.
func (b *Builder) Gt(x, y Value) Value { return b.compare(OpGt, x, y) }

// Ge is x ≥ y.
func (b *Builder) Ge(x, y Value) Value { return b.compare(OpGe, x, y) }

// Select is x where p, else y. Both are evaluated.
func (b *Builder) Select(p, x, y Value) Value { return b.add(OpSelect, same(x), p, x, y) }

// ToF32 converts an integer, to nearest even.
func (b *Builder) ToF32(x Value) Value { return b.add(OpConvert, F32, x) }

// ToI32 converts a float, truncating and saturating, or a predicate to 0 or 1.
func (b *Builder) ToI32(x Value) Value { return b.add(OpConvert, I32, x) }

// ToU32 converts a float, truncating and saturating, or a predicate to 0 or 1.
func (b *Builder) ToU32(x Value) Value { return b.add(OpConvert, U32, x) }

// AsI32 is the same bits as an i32.
func (b *Builder) AsI32(x Value) Value { return b.bitcast(I32, x) }

// AsU32 is the same bits as a u32.
func (b *Builder) AsU32(x Value) Value { return b.bitcast(U32, x) }

// AsF32 is the same bits as an f32.
func (b *Builder) AsF32(x Value) Value { return b.bitcast(F32, x) }

func (b *Builder) bitcast(t Type, x Value) Value {
	if same(x) == t {
		return x
	}
	return b.add(OpBitcast, t, x)
}
