package emu_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/isa"
)

// generator makes random cases. Code consists of groups that belong together
// (an address and its use); branches go to group starts, forward.
type generator struct {
	t    testing.TB
	r    *rand.Rand
	rows []*isa.Row
	used map[*isa.Row]bool
	body []uint32
	cuts []int     // group starts
	todo []pending // branches without a target yet
}

// pending is a branch to be pointed at a group start.
type pending struct {
	at   int // index of the instruction
	base int // index of the instruction its offset counts from
	in   isa.Inst
}

// notInQEMU are the rows that QEMU 7.2 lacks.
var notInQEMU = []string{"amocas.w", "amofadd.w", "ecall", "ebreak"}

func newGenerator(t testing.TB, r *rand.Rand) *generator {
	g := &generator{t: t, r: r, used: map[*isa.Row]bool{}}
	for _, x := range isa.Extensions() {
		switch x.Name {
		case "RV32I", "RV32M", "RV32A", "RV32F", "Zicsr", "Zifencei":
			for i := range x.Rows {
				if !slices.Contains(notInQEMU, x.Rows[i].Name) {
					g.rows = append(g.rows, &x.Rows[i])
				}
			}
		}
	}
	return g
}

// missing returns the rows that no case has used so far.
func (g *generator) missing() (names []string) {
	for _, r := range g.rows {
		if !g.used[r] {
			names = append(names, r.Name)
		}
	}
	return names
}

func (g *generator) testCase() testCase {
	var c testCase
	c.Init.Fcsr = uint32(g.r.IntN(5))<<5 | g.r.Uint32()&31
	for i := 1; i < 32; i++ {
		c.Init.X[i] = g.value()
	}
	for i := range c.Init.F {
		c.Init.F[i] = g.value()
	}
	for i := range c.Init.Data {
		c.Init.Data[i] = g.value()
	}
	g.body, g.cuts, g.todo = g.body[:0], g.cuts[:0], g.todo[:0]
	for len(g.body) < bodyWords-4 {
		g.cuts = append(g.cuts, len(g.body))
		g.group(g.rows[g.r.IntN(len(g.rows))])
	}
	for len(g.body) < bodyWords {
		g.cuts = append(g.cuts, len(g.body))
		g.emit(isa.Inst{Row: isa.Lookup("addi")})
	}
	g.aim()
	copy(c.Body[:], g.body)
	return c
}

// interesting are values where integer and float operations change behaviour.
var interesting = []uint32{
	0, 1, 2, 3, 31, 32, 0x7FF, 0x800, 0xFFF, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE,
	0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000, 0x00800001, // subnormals, smallest normals
	0x3F800000, 0xBF800000, 0x3F800001, 0x3F7FFFFF, 0x3F000000, 0x3F000001, 0x3FC00000, 0x40200000, // ±1, ½, ties
	0x4B000000, 0x4B800000, 0x4EFFFFFF, 0x4F000000, 0xCF000000, 0xCF000001, 0x4F7FFFFF, 0x4F800000, // conversion limits
	0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, // largest, infinities
	0x7FC00000, 0xFFC00000, 0x7FC12345, 0x7F800001, 0xFFBFFFFF, 0x7FFFFFFF, // quiet and signalling NaNs
	// products that under- and overflow
	0x00FFFFFF, 0x01000000, 0x0C000000, 0x0B800001, 0x20000000, 0x1FFFFFFF, 0x5F800000,
}

func (g *generator) value() uint32 {
	switch g.r.IntN(8) {
	case 0, 1, 2:
		return interesting[g.r.IntN(len(interesting))]
	case 3: // a float of moderate size
		return g.r.Uint32()&0x807FFFFF | uint32(112+g.r.IntN(32))<<23
	case 4: // near another interesting value
		return interesting[g.r.IntN(len(interesting))] + uint32(g.r.IntN(5)) - 2
	case 5:
		return g.r.Uint32() >> (g.r.Uint32() & 31)
	}
	return g.r.Uint32()
}

// emit appends an instruction.
func (g *generator) emit(in isa.Inst) {
	g.used[in.Row] = true
	g.body = append(g.body, encode(g.t, in))
}

func (g *generator) x() isa.Reg { return isa.Reg(g.r.IntN(32)) }

// base is a register other than x0.
func (g *generator) base() isa.Reg { return isa.Reg(1 + g.r.IntN(31)) }

// random fills an instruction's operands; immediates are small or any.
func (g *generator) random(row *isa.Row) isa.Inst {
	w := row.Enc.Match | g.r.Uint32()&^row.Enc.Mask
	for {
		if in, ok := isa.Decode(w); ok && in.Row == row {
			return in
		}
		w = row.Enc.Match | g.r.Uint32()&^row.Enc.Mask // a reserved rounding mode
	}
}

// group appends one group that contains the row.
func (g *generator) group(row *isa.Row) {
	in := g.random(row)
	switch s := row.Sem.(type) {
	case isa.Load:
		g.access(in, int32(s.Size))
	case isa.Store:
		g.access(in, int32(s.Size))
	case isa.AMO:
		g.atomic(in)
	case isa.LoadReserved, isa.StoreConditional:
		g.reserved()
	case isa.Branch:
		g.branch(in)
	case isa.Jump:
		g.jump(in, s.Indirect)
	case isa.CSROp:
		g.csr(in, s)
	default:
		g.emit(in)
	}
}

// access reaches the data through x0 or through a register set just before.
func (g *generator) access(in isa.Inst, size int32) {
	at := dataAddr + int32(g.r.IntN(256))&^(size-1)
	in.Rs1, in.Imm = 0, at
	if g.r.IntN(2) == 0 {
		in.Rs1 = g.base()
		base := at + int32(g.r.IntN(512)) - 256
		in.Imm = at - base
		g.address(in.Rs1, base)
	}
	g.emit(in)
}

func (g *generator) address(r isa.Reg, a int32) {
	g.emit(isa.Inst{Row: isa.Lookup("addi"), Rd: r, Imm: a})
}

func (g *generator) atomic(in isa.Inst) {
	in.Rs1 = g.base()
	g.address(in.Rs1, dataAddr+int32(g.r.IntN(64))*4)
	g.emit(in)
}

// reserved is lr, sc and a second sc, which must fail.
func (g *generator) reserved() {
	b, d := g.base(), g.x()
	for d == b {
		d = g.x()
	}
	g.address(b, dataAddr+int32(g.r.IntN(64))*4)
	order := uint8(g.r.IntN(4))
	g.emit(isa.Inst{Row: isa.Lookup("lr.w"), Rd: d, Rs1: b, Order: order})
	g.emit(isa.Inst{Row: isa.Lookup("sc.w"), Rd: d, Rs1: b, Rs2: g.x(), Order: order})
	g.emit(isa.Inst{Row: isa.Lookup("sc.w"), Rd: g.x(), Rs1: b, Rs2: g.x()})
}

func (g *generator) branch(in isa.Inst) {
	if g.r.IntN(3) == 0 {
		in.Rs2 = in.Rs1
	}
	in.Imm = 0
	g.todo = append(g.todo, pending{len(g.body), len(g.body), in})
	g.emit(in)
}

func (g *generator) jump(in isa.Inst, indirect bool) {
	in.Imm = 0
	base := len(g.body)
	if indirect {
		in.Rs1 = g.base()
		g.emit(isa.Inst{Row: isa.Lookup("auipc"), Rd: in.Rs1})
	}
	g.todo = append(g.todo, pending{len(g.body), base, in})
	g.emit(in)
}

// aim points the branches at group starts after them.
func (g *generator) aim() {
	for _, p := range g.todo {
		first, _ := slices.BinarySearch(g.cuts, p.at+1)
		to := g.cuts[first+g.r.IntN(min(4, len(g.cuts)-first))]
		p.in.Imm = int32(to-p.base) * 4
		if p.in.Name == "jalr" {
			p.in.Imm |= int32(g.r.IntN(2)) // bit 0 of the target is dropped
		}
		g.body[p.at] = encode(g.t, p.in)
	}
}

// csr touches the float CSRs; frm only ever holds a valid mode, because a
// reserved one makes later instructions illegal.
func (g *generator) csr(in isa.Inst, s isa.CSROp) {
	in.CSR = []uint16{isa.CSRFflags, isa.CSRFrm, isa.CSRFcsr}[g.r.IntN(3)]
	switch {
	case in.CSR == isa.CSRFflags:
	case s.Swap && s.Immediate && in.CSR == isa.CSRFrm:
		in.Imm = int32(g.r.IntN(5))
	case s.Swap && s.Immediate: // fcsr = zimm: rounds to nearest
	case s.Swap:
		in.CSR = isa.CSRFflags
	default: // a read
		in.Rs1, in.Imm = 0, 0
	}
	g.emit(in)
}
