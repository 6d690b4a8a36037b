package emu_test

import (
	"testing"

	"heddle/isa"
)

// operation is one instruction on chosen operand values.
type operation struct {
	row     *isa.Row
	rm      uint8
	a, b, c uint32
}

// packed is how many operations one case holds. Operation i has float
// registers 3i..3i+2 and integer registers 1+2i and 2+2i for its operands, the
// first of them for its result, and 21+i for the flags it raises.
const packed = 10

// pack makes cases of operations. Each is followed by a swap of fflags with
// zero, so that the flags of each are seen apart.
func pack(t testing.TB, ops []operation) []testCase {
	var cases []testCase
	for start := 0; start < len(ops); start += packed {
		var c testCase
		nop := encode(t, isa.Inst{Row: isa.Lookup("addi")})
		for i := range c.Body {
			c.Body[i] = nop
		}
		for i, op := range ops[start:min(start+packed, len(ops))] {
			c.Body[2*i] = c.place(t, i, op)
			c.Body[2*i+1] = encode(t, isa.Inst{Row: isa.Lookup("csrrw"), Rd: isa.Reg(21 + i), CSR: isa.CSRFflags})
		}
		cases = append(cases, c)
	}
	return cases
}

// place gives operation i its registers and returns its word.
func (c *testCase) place(t testing.TB, i int, op operation) uint32 {
	in := isa.Inst{Row: op.row, RM: op.rm}
	values := [3]uint32{op.a, op.b, op.c}
	fields := [3]*isa.Reg{&in.Rs1, &in.Rs2, &in.Rs3}
	for _, o := range op.row.Format {
		if o.Kind != isa.KindX && o.Kind != isa.KindF {
			continue
		}
		source := -1
		for s, f := range fields {
			if o.Reg(&in) == f {
				source = s
			}
		}
		r := isa.Reg(1 + 2*i + max(source, 0))
		if o.Kind == isa.KindF {
			r = isa.F + isa.Reg(3*i+max(source, 0))
		}
		*o.Reg(&in) = r
		switch {
		case source < 0: // the result
		case o.Kind == isa.KindF:
			c.Init.F[r-isa.F] = values[source]
		default:
			c.Init.X[r] = values[source]
		}
	}
	return encode(t, in)
}

// few are the values that every triple of a fused multiply-add is made of.
var few = []uint32{
	0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800001, 0x3FC00000,
	0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC12345, 0x7F800001, 0x1F800000, 0x9F800001,
}

// directed are all combinations of interesting operands, for every arithmetic
// row of M and F in every rounding mode: NaN payloads, subnormals, ties,
// overflow, division corner cases, conversion limits.
func directed() (ops []operation) {
	for _, row := range isa.All() {
		modes := 1
		for _, o := range row.Format {
			if o.Kind == isa.KindRM {
				modes = 5
			}
		}
		sources := 0
		for _, o := range row.Format {
			if o.Kind == isa.KindX || o.Kind == isa.KindF {
				sources++
			}
		}
		sources-- // the result
		if _, ok := row.Sem.(isa.FPOp); !ok && row.Ext.Name != "RV32M" {
			continue
		}
		for rm := range uint8(modes) {
			ops = append(ops, combinations(row, rm, sources)...)
		}
	}
	return ops
}

func combinations(row *isa.Row, rm uint8, sources int) (ops []operation) {
	as, bs, cs := interesting, []uint32{0}, []uint32{0}
	switch sources {
	case 2:
		bs = interesting
	case 3:
		as, bs, cs = few, few, few
	}
	for _, a := range as {
		for _, b := range bs {
			for _, c := range cs {
				ops = append(ops, operation{row, rm, a, b, c})
			}
		}
	}
	return ops
}

func TestDirectedAgainstQEMU(t *testing.T) {
	q := startQEMU(t)
	o := newOurs(t, q.back)
	cases := pack(t, directed())
	for start := 0; start < len(cases); start += batchCases {
		check(t, q, o, cases[start:min(start+batchCases, len(cases))], nil)
	}
	t.Logf("%d cases of %d operations", len(cases), packed)
}
