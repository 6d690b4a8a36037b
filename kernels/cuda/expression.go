package cuda

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"heddle/kernels/ir"
)

// Precedences of C++ operators; a higher one binds tighter.
const (
	precSelect = iota
	precOr
	precAnd
	precBitOr
	precBitXor
	precBitAnd
	precEqual
	precOrder
	precShift
	precSum
	precProduct
	precUnary
	precPrimary
)

// expression is C++ text that has the value of an instruction.
type expression struct {
	text string
	prec int
	// deps are the variables, or memory, whose writers the text must not be moved across.
	deps []int
	hint string // the name of a constant with this value; "": none
}

// operators are those of operations with two arguments.
var operators = map[ir.Op]struct {
	operator string
	prec     int
}{
	ir.OpAdd: {"+", precSum}, ir.OpSub: {"-", precSum}, ir.OpMul: {"*", precProduct}, ir.OpDiv: {"/", precProduct},
	ir.OpRem: {"%", precProduct}, ir.OpAnd: {"&", precBitAnd}, ir.OpOr: {"|", precBitOr}, ir.OpXor: {"^", precBitXor},
	ir.OpShl: {"<<", precShift}, ir.OpShr: {">>", precShift}, ir.OpEq: {"==", precEqual}, ir.OpNe: {"!=", precEqual},
	ir.OpLt: {"<", precOrder}, ir.OpLe: {"<=", precOrder}, ir.OpGt: {">", precOrder}, ir.OpGe: {">=", precOrder},
}

// mixes are operators whose operands are parenthesised unless they are plain, since few readers know their precedence.
var mixes = map[string]bool{"&": true, "|": true, "^": true, "<<": true, ">>": true, "&&": true, "||": true}

// of returns the expression for a value that is used by another instruction.
func (p *printer) of(v ir.Value) expression {
	if e, ok := p.known[v.ID]; ok {
		return e
	}
	if v.Op.Kind() != ir.KindRoot {
		p.fail(v, "a value is used where it has not been printed")
	}
	return p.root(v)
}

// text returns a value's expression, in parentheses unless it binds at least as tight as prec.
func (p *printer) text(v ir.Value, prec int) string { return p.of(v).within(prec) }

func (e expression) within(prec int) string {
	if e.prec < prec {
		return "(" + e.text + ")"
	}
	return e.text
}

// root returns the expression of a constant, a parameter, a scratchpad array, or a thread's identity.
func (p *printer) root(v ir.Value) expression {
	switch v.Op {
	case ir.OpConst:
		return expression{text: constant(v.Type, v.Imm, true), prec: precPrimary}
	case ir.OpParam:
		return expression{text: identifier(p.kernel.Params[v.Imm].Name), prec: precPrimary}
	case ir.OpShared:
		return expression{text: sharedName(p.kernel.Shared[v.Imm]), prec: precPrimary}
	}
	id, ok := identities[v.Op]
	if !ok {
		p.fail(v, "%s: CUDA has no such unit", v.Op)
	}
	return expression{text: id.name, prec: precPrimary}
}

// identities are a thread's numbers: the name of the constant, and its value; "": the name is the value.
var identities = map[ir.Op]struct{ name, value string }{
	ir.OpLaneID:       {"lane", "threadIdx.x % 32"},
	ir.OpWarpID:       {"warp", "threadIdx.x / 32"},
	ir.OpCoreID:       {"blockIdx.x", ""},
	ir.OpThreadInCore: {"threadIdx.x", ""},
	ir.OpGlobalThread: {"thread", "blockIdx.x * blockDim.x + threadIdx.x"},
	ir.OpSpreadThread: {"thread_spread", "(threadIdx.x / 32 * gridDim.x + blockIdx.x) * 32 + threadIdx.x % 32"},
	ir.OpNumLanes:     {"32u", ""},
	ir.OpNumWarps:     {"warps", "blockDim.x / 32"},
	ir.OpNumCores:     {"gridDim.x", ""},
	ir.OpNumThreads:   {"threads", "gridDim.x * blockDim.x"},
	ir.OpAllMask:      {"ALL_LANES", ""},
}

// constant returns a constant's text. An unsigned one that stands alone has a suffix.
func constant(t ir.Type, bits uint32, alone bool) string {
	switch t {
	case ir.F32:
		f := math.Float32frombits(bits)
		if f == 0 && !math.Signbit(float64(f)) {
			return "0.0f"
		}
		if f != f || math.IsInf(float64(f), 0) {
			return fmt.Sprintf("__uint_as_float(0x%08xu)", bits)
		}
		s := strconv.FormatFloat(float64(f), 'g', -1, 32)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s + "f"
	case ir.I32:
		if bits == 1<<31 {
			return "INT32_MIN"
		}
		return strconv.Itoa(int(int32(bits)))
	case ir.Pred:
		return strconv.FormatBool(bits != 0)
	}
	switch {
	case bits == math.MaxUint32:
		return "UINT32_MAX"
	case bits > 0xFFFFFF:
		return fmt.Sprintf("0x%xu", bits)
	case alone:
		return strconv.Itoa(int(bits)) + "u"
	}
	return strconv.Itoa(int(bits))
}

// operand returns the text of one of two arguments of a binary operator. A constant beside another value needs no
// suffix.
func (p *printer) operand(v, other ir.Value, prec int) string {
	_, otherConst := p.constOf(other)
	if bits, ok := p.constOf(v); ok && !otherConst {
		return constant(v.Type, bits, false)
	}
	return p.text(v, prec)
}

// constOf returns the bits of a constant, or of a value computed from constants alone.
func (p *printer) constOf(v ir.Value) (bits uint32, ok bool) {
	if v == nil {
		return 0, false
	}
	if bits, ok = p.folded[v.ID]; ok {
		return bits, true
	}
	return v.IsConst()
}

func (p *printer) constIs(v ir.Value, bits uint32) bool {
	b, ok := p.constOf(v)
	return ok && b == bits
}

// fold returns the value of an operation on constants.
func (p *printer) fold(i *ir.Instr) (bits uint32, ok bool) {
	var args [3]uint32
	for n, a := range i.Args {
		if args[n], ok = p.constOf(a); !ok {
			return 0, false
		}
	}
	return i.Eval(args), true
}

// same returns the argument that a sum with 0, or a shift by 0, equals; nil: the operation is no such.
func (p *printer) same(i *ir.Instr) ir.Value {
	if !i.Type.Int() || p.is[i.ID] {
		return nil
	}
	switch i.Op {
	case ir.OpAdd, ir.OpSub, ir.OpShl, ir.OpShr:
		if p.constIs(i.Args[1], 0) {
			return i.Args[0]
		}
		if i.Op == ir.OpAdd && p.constIs(i.Args[0], 0) {
			return i.Args[1]
		}
	}
	return nil
}

// pure returns the expression of a pure operation.
func (p *printer) pure(i *ir.Instr) expression {
	if bits, ok := p.fold(i); ok {
		p.folded[i.ID] = bits
		return expression{text: constant(i.Type, bits, true), prec: precPrimary}
	}
	if x := p.same(i); x != nil {
		return p.of(x)
	}
	e := p.pureText(i)
	for _, a := range i.Args {
		if a != nil {
			e.deps = append(e.deps, p.of(a).deps...)
		}
	}
	return e
}

func (p *printer) pureText(i *ir.Instr) expression {
	if i.Op == ir.OpAdd && p.is[i.ID] {
		return p.address(i)
	}
	if b, ok := operators[i.Op]; ok {
		return p.binary(i, b.operator, b.prec)
	}
	args := make([]string, len(i.Args))
	for n, a := range i.Args {
		args[n] = p.text(a, precSelect)
	}
	call := func(name string) expression {
		return expression{text: name + "(" + strings.Join(args, ", ") + ")", prec: precPrimary}
	}
	switch i.Op {
	case ir.OpMin, ir.OpMax:
		return call(choose(i.Type == ir.F32, "f"+i.Op.String()+"f", i.Op.String()))
	case ir.OpMulHi:
		return call(choose(i.Type == ir.U32, "__umulhi", "__mulhi"))
	case ir.OpNeg:
		return expression{text: "-" + p.text(i.Args[0], precUnary+1), prec: precUnary}
	case ir.OpNot:
		return expression{text: choose(i.Type == ir.Pred, "!", "~") + p.text(i.Args[0], precUnary+1), prec: precUnary}
	case ir.OpAbs:
		return call("fabsf")
	case ir.OpSqrt:
		return call("sqrtf")
	case ir.OpFMA:
		return call("fmaf")
	case ir.OpSelect:
		return expression{text: p.text(i.Args[0], precSelect+1) + " ? " + p.text(i.Args[1], precSelect+1) + " : " +
			p.text(i.Args[2], precSelect+1), prec: precSelect}
	case ir.OpConvert:
		return call(conversion(i.Args[0].Type, i.Type))
	case ir.OpBitcast:
		return call(bits(i.Args[0].Type, i.Type))
	}
	p.fail(i, "%s has no CUDA", i.Op)
	return expression{}
}

func choose(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// conversion returns the function that converts a number: floats to integers truncate and saturate.
func conversion(from, to ir.Type) string {
	switch {
	case from == ir.F32 && to == ir.U32:
		return "__float2uint_rz"
	case from == ir.F32:
		return "__float2int_rz"
	}
	return typeOf(to)
}

// bits returns the function that reinterprets bits.
func bits(from, to ir.Type) string {
	switch {
	case from == ir.F32 && to == ir.U32:
		return "__float_as_uint"
	case from == ir.F32:
		return "__float_as_int"
	case to == ir.F32 && from == ir.U32:
		return "__uint_as_float"
	case to == ir.F32:
		return "__int_as_float"
	}
	return typeOf(to)
}

// binary returns the expression of an operation with two operands.
func (p *printer) binary(i *ir.Instr, operator string, prec int) expression {
	x, y := i.Args[0], i.Args[1]
	if i.Type == ir.Pred && (i.Op == ir.OpAnd || i.Op == ir.OpOr) {
		operator, prec = operator+operator, map[ir.Op]int{ir.OpAnd: precAnd, ir.OpOr: precOr}[i.Op]
	}
	left, right := prec, prec+1
	if mixes[operator] {
		left, right = precUnary, precUnary
		if prec == precAnd || prec == precOr {
			left, right = precEqual, precEqual
		}
	}
	switch bits, isConst := p.constOf(y); {
	case i.Op == ir.OpAdd && y.Op == ir.OpShl && y.Args[0] == x && p.constIs(y.Args[1], 1):
		return expression{text: p.text(x, precProduct) + " * 3", prec: precProduct}
	case (i.Op == ir.OpShl || i.Op == ir.OpShr) && !isConst: // hardware shifts by the low five bits
		return expression{text: p.text(x, left) + " " + operator + " (" + p.text(y, precUnary) + " & 31)", prec: prec}
	case i.Op == ir.OpShl && i.Type == ir.U32 && isConst && bits < 32:
		return expression{text: p.text(x, left) + " << " + constant(y.Type, bits, false), prec: prec}
	case (i.Op == ir.OpDiv || i.Op == ir.OpRem) && i.Type.Int() && !(isConst && bits != 0) && y.Op.Kind() != ir.KindRoot:
		name := choose(i.Op == ir.OpDiv, "quotient", "modulo")
		return expression{text: name + "(" + p.text(x, precSelect) + ", " + p.text(y, precSelect) + ")", prec: precPrimary}
	}
	return expression{text: p.operand(x, y, left) + " " + operator + " " + p.operand(y, x, right), prec: prec}
}

// address returns the expression of an address: an array's plus a number of words.
func (p *printer) address(i *ir.Instr) expression {
	base, offset := i.Args[0], i.Args[1]
	if !p.is[base.ID] {
		base, offset = offset, base
	}
	if words, ok := p.words(offset); ok {
		if words == "0" {
			return p.of(base)
		}
		return expression{text: p.text(base, precSum) + " + " + words, prec: precSum}
	}
	t := p.group(base.ID).element()
	return expression{text: fmt.Sprintf("advance(%s, %s)", p.text(base, precSelect), p.text(offset, precSelect)),
		prec: precPrimary, hint: t}
}

// words returns a number of bytes as a number of words, if it is written as a multiple of four.
func (p *printer) words(bytes ir.Value) (text string, ok bool) {
	if c, isConst := p.constOf(bytes); isConst && c%4 == 0 {
		return strconv.Itoa(int(int32(c) / 4)), true
	}
	if e, ok := p.quarter[bytes.ID]; ok {
		return e, true
	}
	return "", false
}

// element returns the text of the array element that a memory operation accesses.
func (p *printer) element(i *ir.Instr) string {
	base, index := i.Args[0], i.Args[1]
	g := p.group(base.ID)
	byteOp := i.Op == ir.OpLoadByte || i.Op == ir.OpStoreByte
	array := p.text(base, precPrimary)
	if byteOp && g.words {
		array = "bytes(" + p.text(base, precSelect) + ")"
	}
	if i.Imm%4 != 0 && !byteOp {
		p.fail(i, "an offset of %d bytes", int32(i.Imm))
	}
	at := "0"
	if index != nil {
		at = p.text(index, precSelect)
		if bits, ok := p.constOf(index); ok {
			at = constant(index.Type, bits, false)
		}
	}
	if offset := int32(i.Imm); offset != 0 {
		if !byteOp {
			offset /= 4
		}
		at += fmt.Sprintf(" + %d", offset)
	}
	return array + "[" + at + "]"
}

// typeOf returns the C++ type of values.
func typeOf(t ir.Type) string {
	return [...]string{ir.None: "void", ir.I32: "int32_t", ir.U32: "uint32_t", ir.F32: "float", ir.Pred: "bool"}[t]
}

// identifier returns the C++ name for a name with dots and dashes.
func identifier(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '-' {
			return '_'
		}
		return r
	}, name)
}
