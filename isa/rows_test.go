package isa

import (
	"encoding/binary"
	goflag "flag" // this package has a flag of its own
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/arch/riscv64/riscv64asm"
)

var update = goflag.Bool("update", false, "rewrite testdata")

// values is where operand values come from: random ones for the round trips,
// fixed ones for the golden file.
type values interface {
	reg(o *Operand) Reg       // number, without F
	signed(bits uint) int32   // an immediate of so many bits
	unsigned(bits uint) int32 //
}

// operandSetters says for each operand how to fill it; an operand that is
// missing here fails every test of the rows that use it.
var operandSetters = map[*Operand]func(*Inst, values){
	immI: func(in *Inst, v values) { in.Imm = v.signed(12) },
	immS: func(in *Inst, v values) { in.Imm = v.signed(12) },
	memI: func(in *Inst, v values) { in.Imm, in.Rs1 = v.signed(12), v.reg(rs1) },
	memS: func(in *Inst, v values) { in.Imm, in.Rs1 = v.signed(12), v.reg(rs1) },
	immU: func(in *Inst, v values) { in.Imm = v.signed(20) << 12 },

	branchTo: func(in *Inst, v values) { in.Imm = v.signed(12) * 2 },
	jumpTo:   func(in *Inst, v values) { in.Imm = v.signed(20) * 2 },
	shamt:    func(in *Inst, v values) { in.Imm = v.unsigned(5) },
	zimm:     func(in *Inst, v values) { in.Imm = v.unsigned(5) },
	fenceSet: func(in *Inst, v values) { in.Imm = v.unsigned(8) },
	csr:      func(in *Inst, v values) { in.CSR = uint16(v.unsigned(12)) },
	aqrl:     func(in *Inst, v values) { in.Order = uint8(v.unsigned(2)) },
	negRs2:   func(in *Inst, v values) { in.Neg = uint8(v.unsigned(5)) },
	negRd:    func(in *Inst, v values) { in.Neg = uint8(v.unsigned(5)) },
	rm: func(in *Inst, v values) {
		in.RM = [8]uint8{RNE, RTZ, RDN, RUP, RMM, RMDynamic, RNE, RMDynamic}[v.unsigned(3)]
	},
	rdIn: func(in *Inst, v values) { in.Rd = v.reg(rd); in.Rs3 = in.Rd },
	addr: func(in *Inst, v values) { in.Rs1 = v.reg(rs1) },
}

func fillOperands(row *Row, v values) (*Inst, error) {
	in := &Inst{Row: row}
	for _, o := range row.Format {
		set := operandSetters[o]
		switch {
		case set != nil:
			set(in, v)
		case o.Kind == KindX:
			*o.reg(in) = v.reg(o)
		case o.Kind == KindF:
			*o.reg(in) = F + v.reg(o)
		default:
			return nil, fmt.Errorf("%s: this test cannot fill operand %q", row.Name, o.Name)
		}
	}
	return in, nil
}

// randomValues prefers the ends of each range, where encoders go wrong.
type randomValues struct{ *rand.Rand }

func (r randomValues) reg(*Operand) Reg { return Reg(r.unsigned(5)) }

func (r randomValues) signed(bits uint) int32 { return sext(uint32(r.unsigned(bits)), bits) }

func (r randomValues) unsigned(bits uint) int32 {
	top := int32(1)<<bits - 1
	switch r.IntN(8) {
	case 0:
		return 0
	case 1:
		return top // -1 as a signed number
	case 2:
		return top >> 1 // the largest signed number
	case 3:
		return top>>1 + 1 // the smallest
	case 4:
		return 1 << r.IntN(int(bits)) // one bit: its place shows
	}
	return r.Int32N(top + 1)
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x6865646464)) }

func TestEveryRowRoundTripsFromOperands(t *testing.T) {
	v := randomValues{newRand(1)}
	for _, row := range All() {
		for range 600 {
			in, err := fillOperands(row, v)
			require.NoError(t, err)
			w, err := Encode(in)
			require.NoError(t, err, "%+v", in)
			in.Raw = w
			got, ok := Decode(w)
			require.True(t, ok, "%s: 0x%08x does not decode", row.Name, w)
			require.Equal(t, *in, got, "0x%08x", w)
		}
	}
}

// reservedField reports whether a word of the row holds a reserved rounding mode,
// the one field value that a row's mask does not exclude.
func reservedField(row *Row, w uint32) bool {
	f3 := w >> 12 & 7
	return row.Format.Has(rm) && (f3 == 5 || f3 == 6)
}

func TestEveryRowRoundTripsFromWords(t *testing.T) {
	r := newRand(2)
	for _, row := range All() {
		for range 600 {
			w := r.Uint32()&^row.Enc.Mask | row.Enc.Match
			in, ok := Decode(w)
			if reservedField(row, w) {
				require.False(t, ok, "%s: 0x%08x has a reserved rounding mode", row.Name, w)
				continue
			}
			require.True(t, ok, "%s: 0x%08x", row.Name, w)
			require.Equal(t, row.Name, in.Name, "0x%08x", w)
			back, err := Encode(&in)
			require.NoError(t, err)
			require.Equal(t, w, back, "%s: 0x%08x came back as 0x%08x", row.Name, w, back)
		}
	}
}

// Bits that neither the mask nor an operand covers would be don't-cares: a word
// with them set would decode and not come back. The round trip from words finds
// them by chance, this test for certain.
func TestEveryBitOfARowIsFixedOrAnOperand(t *testing.T) {
	for _, row := range All() {
		covered := row.Enc.Mask
		for bit := range 32 {
			w := row.Enc.Match | 1<<bit&^row.Enc.Mask
			if in, ok := Decode(w); ok && in.Row == row {
				if back, err := Encode(&in); err == nil && back == w {
					covered |= 1 << bit
				}
			}
		}
		assert.Equal(t, uint32(0xFFFFFFFF), covered, "%s: bits 0x%08x are in no operand", row.Name, ^covered)
	}
}

// A value that does not fit must be an error, not another instruction.
func TestEncodeRefusesWhatDoesNotFit(t *testing.T) {
	for _, c := range []struct {
		in   Inst
		want string
	}{
		{Inst{Row: Lookup("addi"), Imm: 2048}, "2048 is out of range -2048..2047"},
		{Inst{Row: Lookup("addi"), Imm: -2049}, "-2049 is out of range -2048..2047"},
		{Inst{Row: Lookup("sw"), Imm: 2048}, "2048 is out of range"},
		{Inst{Row: Lookup("slli"), Imm: 32}, "32 is out of range 0..31"},
		{Inst{Row: Lookup("srai"), Imm: -1}, "-1 is out of range 0..31"},
		{Inst{Row: Lookup("csrrwi"), Imm: 32}, "32 is out of range 0..31"},
		{Inst{Row: Lookup("lui"), Imm: 0x1001}, "0x1001 has low bits set"},
		{Inst{Row: Lookup("beq"), Imm: 4096}, "4096 is out of range -4096..4095"},
		{Inst{Row: Lookup("beq"), Imm: 3}, "3 is not a multiple of 2"},
		{Inst{Row: Lookup("jal"), Imm: 1 << 20}, "1048576 is out of range"},
		{Inst{Row: Lookup("jal"), Imm: -1<<20 - 2}, "-1048578 is out of range"},
		{Inst{Row: Lookup("csrrw"), CSR: 0x1000}, "CSR number 0x1000 is out of range"},
		{Inst{Row: Lookup("fence"), Imm: 256}, "256 is out of range 0..255"},
		{Inst{Row: Lookup("fadd.s"), Rd: F, Rs1: F, Rs2: F, RM: 5}, "rounding mode 5 is reserved"},
		{Inst{Row: Lookup("add"), Rd: F + 1}, "ft1 is not an integer register"},
		{Inst{Row: Lookup("fadd.s"), Rd: 3, Rs1: F, Rs2: F}, "gp is not a float register"},
	} {
		_, err := Encode(&c.in)
		assert.ErrorContains(t, err, c.want, c.in.Name)
	}
}

// goldenValues give every field of the golden file a value of its own, so that
// exchanged fields show.
type goldenValues struct{ variant int32 }

func (goldenValues) reg(o *Operand) Reg {
	return map[string]Reg{"rd": 10, "rs1": 11, "rs2": 12, "rs3": 13, "fd": 10, "fs1": 11, "fs2": 12, "fs3": 13}[o.Name]
}

func (goldenValues) signed(bits uint) int32 { return -0x123 }

func (g goldenValues) unsigned(bits uint) int32 {
	return map[uint]int32{2: g.variant, 3: 5 - 3*g.variant, 8: 0x73 - 0x40*g.variant, 5: 21 * g.variant,
		12: 0x340 - 0x300*g.variant}[bits]
}

func goldenText(t *testing.T) string {
	const pc = 0x80000400
	var s strings.Builder
	for _, row := range All() {
		last := ""
		for variant := range int32(2) {
			in, err := fillOperands(row, goldenValues{variant})
			require.NoError(t, err)
			w, err := Encode(in)
			require.NoError(t, err)
			if line := fmt.Sprintf("%08x  %s\n", w, Disassemble(w, pc)); line != last {
				s.WriteString(line)
				last = line
			}
		}
	}
	return s.String()
}

// The golden file has one line per row at pc 0x80000400, two where an operand
// has forms (.n, .rl, rounding mode). It can be read against the RISC-V manual.
func TestDisassemblyGolden(t *testing.T) {
	const file = "testdata/disasm.golden"
	got := goldenText(t)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o777))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o666))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run with -update to make it")
	assert.Equal(t, string(want), got)
}

// Text promises that its output assembles to the same word, so words that
// differ in one bit must not print alike. The register that selects a .n form is
// excepted: which one it is means nothing.
func TestTextTellsWordsApart(t *testing.T) {
	r := newRand(5)
	for _, row := range All() {
		w := r.Uint32()&^row.Enc.Mask | row.Enc.Match
		for bit := range 32 {
			other := w ^ 1<<bit
			if negForm(w) && negForm(other) {
				continue
			}
			a, b := Disassemble(w, 0), Disassemble(other, 0)
			assert.NotEqual(t, a, b, "%s: 0x%08x and 0x%08x", row.Name, w, other)
		}
	}
}

func negForm(w uint32) bool {
	in, ok := Decode(w)
	return ok && in.Neg != 0
}

// word assembles an R- or R4-type word from its fields, independently of the
// rows: the tables of the design are checked with it.
func word(op, f3, f7, rd, rs1, rs2 uint32) uint32 {
	return f7<<25 | rs2<<20 | rs1<<15 | f3<<12 | rd<<7 | op
}

// The encodings of the SIMT and unit instructions as the design lists them.
func TestOwnEncodings(t *testing.T) {
	for _, c := range []struct {
		word uint32
		text string
	}{
		{word(0x0B, 0, 0, 0, 5, 0), "tmc t0"},
		{word(0x0B, 1, 0, 0, 5, 6), "wspawn t0, t1"},
		{word(0x0B, 2, 0, 7, 5, 0), "split t2, t0"},
		{word(0x0B, 2, 0, 7, 5, 1), "split.n t2, t0"},
		{word(0x0B, 3, 0, 0, 5, 0), "join t0"},
		{word(0x0B, 4, 0, 0, 5, 6), "bar t0, t1"},
		{word(0x0B, 5, 0, 0, 5, 6), "pred t0, t1"},
		{word(0x0B, 5, 0, 1, 5, 6), "pred.n t0, t1"},
		{word(0x0B, 0, 1, 7, 5, 0), "vote.all t2, t0"},
		{word(0x0B, 1, 1, 7, 5, 0), "vote.any t2, t0"},
		{word(0x0B, 2, 1, 7, 5, 0), "vote.uni t2, t0"},
		{word(0x0B, 3, 1, 7, 5, 0), "vote.ballot t2, t0"},
		{word(0x0B, 4, 1, 7, 5, 6), "shfl.up t2, t0, t1"},
		{word(0x0B, 5, 1, 7, 5, 6), "shfl.down t2, t0, t1"},
		{word(0x0B, 6, 1, 7, 5, 6), "shfl.bfly t2, t0, t1"},
		{word(0x0B, 7, 1, 7, 5, 6), "shfl.idx t2, t0, t1"},
		{word(0x0B, 7, 0, 7, 0, 0), "weaver.dec.id t2"},
		{word(0x0B, 7, 8, 7, 0, 0), "weaver.dec.loc t2"},
		{word(0x2B, 0, 28<<2|1, 0, 5, 6), "weaver.reg t0, t1, t3"}, // t3 = x28 in bits 31..27
		{word(0x2B, 0, 2, 0, 5, 0), "weaver.skip t0"},
		{word(0x2F, 2, 0b10101<<2, 7, 5, 6), "amofadd.w t2, t1, (t0)"},
		{word(0x2F, 2, 0b00101<<2, 7, 5, 6), "amocas.w t2, t1, (t0)"},
	} {
		assert.Equal(t, c.text, Disassemble(c.word, 0), "0x%08x", c.word)
	}
}

func TestIllegalEncodings(t *testing.T) {
	for _, c := range []struct {
		word uint32
		why  string
	}{
		{0x00000000, "all zeros: defined illegal"},
		{0xFFFFFFFF, "all ones: defined illegal"},
		{0x00000001, "a compressed instruction: low bits not 11"},
		{word(0x53, 5, 0x00, 1, 2, 3), "fadd.s with reserved rm 5"},
		{word(0x53, 6, 0x0C, 1, 2, 3), "fdiv.s with reserved rm 6"},
		{word(0x43, 5, 3<<2, 1, 2, 4), "fmadd.s with reserved rm 5"},
		{word(0x53, 6, 0x60, 1, 2, 0), "fcvt.w.s with reserved rm 6"},
		{word(0x53, 0, 0x01, 1, 2, 3), "fadd.d: no double precision"},
		{word(0x43, 0, 3<<2|1, 1, 2, 4), "fmadd.d: no double precision"},
		{word(0x53, 7, 0x60, 1, 2, 2), "fcvt.l.s is RV64"},
		{word(0x53, 7, 0x2C, 1, 2, 1), "fsqrt.s with rs2≠0"},
		{word(0x53, 0, 0x70, 1, 2, 1), "fmv.x.w with rs2≠0"},
		{word(0x53, 3, 0x10, 1, 2, 3), "fsgnj has funct3 0..2"},
		{word(0x13, 1, 0x01, 1, 2, 3), "slli with shamt bit 5: RV64"},
		{word(0x13, 5, 0x21, 1, 2, 3), "srai with shamt bit 5: RV64"},
		{word(0x13, 5, 0x10, 1, 2, 3), "right shift with unknown funct7"},
		{word(0x33, 0, 0x10, 1, 2, 3), "OP with unknown funct7"},
		{word(0x33, 1, 0x20, 1, 2, 3), "funct7 0x20 only for sub and sra"},
		{word(0x2F, 3, 0, 1, 2, 3), "amoadd.d: funct3≠2"},
		{word(0x2F, 1, 0, 1, 2, 3), "amo with funct3 1"},
		{word(0x2F, 2, 0x02<<2, 1, 2, 3), "lr.w with rs2≠0"},
		{word(0x2F, 2, 0x1F<<2, 1, 2, 3), "amo with unknown funct5"},
		{word(0x67, 1, 0, 1, 2, 3), "jalr with funct3≠0"},
		{word(0x63, 2, 0, 1, 2, 3), "branch with funct3 2"},
		{word(0x63, 3, 0, 1, 2, 3), "branch with funct3 3"},
		{word(0x03, 3, 0, 1, 2, 3), "ld is RV64"},
		{word(0x03, 6, 0, 1, 2, 3), "lwu is RV64"},
		{word(0x23, 3, 0, 1, 2, 3), "sd is RV64"},
		{word(0x07, 3, 0, 1, 2, 3), "fld: no double precision"},
		{word(0x1B, 0, 0, 1, 2, 3), "addiw is RV64"},
		{word(0x73, 0, 0, 1, 0, 0), "ecall with rd≠0"},
		{word(0x73, 0, 0x08, 0, 0, 2), "sret: no supervisor mode"},
		{word(0x73, 0, 0x18, 1, 0, 2), "mret with rd≠0"},
		{word(0x73, 4, 0, 1, 2, 3), "SYSTEM with funct3 4"},
		{word(0x0F, 0, 0x10<<2, 0, 0, 0), "fence with fm≠0, not fence.tso"},
		{word(0x0F, 0, 0, 1, 0, 3), "fence with rd≠0"},
		{word(0x0F, 2, 0, 0, 2, 0), "cbo.inval: no cache-block operations"},
		{word(0x0B, 0, 0, 1, 5, 0), "tmc with rd≠0"},
		{word(0x0B, 1, 0, 1, 5, 6), "wspawn with rd≠0"},
		{word(0x0B, 3, 0, 0, 5, 1), "join with rs2≠0"},
		{word(0x0B, 6, 0, 0, 5, 6), "opcode 0x0B, funct7 0 has no funct3 6"},
		{word(0x0B, 0, 2, 1, 5, 6), "opcode 0x0B has no funct7 2"},
		{word(0x0B, 0, 1, 7, 5, 1), "vote with rs2≠0"},
		{word(0x0B, 7, 0, 7, 1, 0), "weaver.dec.id with rs1≠0"},
		{word(0x2B, 0, 3<<2|1, 1, 2, 4), "weaver.reg with rd≠0"},
		{word(0x2B, 1, 3<<2|1, 0, 2, 4), "weaver.reg with funct3≠0"},
		{word(0x2B, 0, 3<<2|2, 0, 2, 0), "weaver.skip with rs3≠0"},
		{word(0x2B, 0, 0, 0, 2, 0), "opcode 0x2B has no funct2 0"},
		{word(0x5B, 0, 0, 1, 2, 0), "peg.get with rs1≠0"},
		{word(0x5B, 0, 6, 0, 2, 0), "opcode 0x5B has no funct7 6"},
	} {
		in, ok := Decode(c.word)
		assert.False(t, ok, "0x%08x decodes as %v, but: %s", c.word, in.Row, c.why)
		assert.Equal(t, fmt.Sprintf(".word 0x%08x", c.word), Disassemble(c.word, 0))
	}
}

// What follows checks the decoder against golang.org/x/arch, which was written
// by others from the manual. It decodes RV64; where RV32 differs, exceptions
// say so.

// crossChecked are the extensions that golang.org/x/arch knows.
var crossChecked = map[string]bool{"RV32I": true, "RV32M": true, "RV32A": true, "RV32F": true, "Zicsr": true,
	"Zifencei": true, "Zicond": true, "Zba": true}

// ours are rows of those extensions that golang.org/x/arch has not.
var ours = map[string]bool{
	"amofadd.w": true, // heddle's own
	"fence.tso": true, // x/arch ignores fm and shows "FENCE rw, rw"
}

// stricter lists words that golang.org/x/arch accepts under a name of ours and
// this machine refuses, each with the reason.
var stricter = []struct {
	why string
	is  func(name string, w uint32) bool
}{
	{"RV64's shamt has six bits, RV32's five", func(n string, w uint32) bool {
		return (n == "SLLI" || n == "SRLI" || n == "SRAI") && w>>25&1 == 1
	}},
	{"x/arch does not look at rm; 5 and 6 are reserved", func(n string, w uint32) bool {
		f3 := w >> 12 & 7
		return w&0x73 == 0x43 && strings.HasSuffix(n, ".S") && (f3 == 5 || f3 == 6) ||
			w&0x7F == 0x53 && strings.Contains(n, ".S") && (f3 == 5 || f3 == 6)
	}},
	{"rd and rs1 of fence are reserved; we refuse what the manual says to ignore", func(n string, w uint32) bool {
		return n == "FENCE" && w&0x000F8F80 != 0
	}},
	{"fm of fence is 0, or 8 for fence.tso; the others are reserved", func(n string, w uint32) bool {
		return n == "FENCE" && w>>28 != 0
	}},
	{"rd, rs1 and imm of fence.i are reserved; likewise", func(n string, w uint32) bool {
		return n == "FENCE.I" && w != 0x0000100F
	}},
}

func archDecode(w uint32) (riscv64asm.Inst, bool) {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], w)
	in, err := riscv64asm.Decode(b[:])
	return in, err == nil && in.Len == 4
}

// archText writes an instruction of golang.org/x/arch in a neutral form.
func archText(in riscv64asm.Inst) string {
	s := in.Op.String()
	for _, a := range in.Args {
		switch a := a.(type) {
		case nil:
		case riscv64asm.CSR:
			s += fmt.Sprintf(" csr:%d", uint16(a))
		case riscv64asm.Uimm:
			s += fmt.Sprintf(" %d", a.Imm)
		case riscv64asm.Simm:
			s += fmt.Sprintf(" %d", a.Imm)
		case riscv64asm.MemOrder:
			s += fmt.Sprintf(" set:%d", uint8(a))
		default: // registers and addresses
			s += " " + a.String()
		}
	}
	return s
}

// neutral writes our decoding in the same form. x/arch shows no rounding mode.
func neutral(in *Inst) string {
	s := strings.ToUpper(in.Name)
	if in.Format.Has(aqrl) {
		s += [4]string{"", ".RL", ".AQ", ".AQRL"}[in.Order]
	}
	for _, o := range in.Format {
		s += neutralOperand(in, o)
	}
	return s
}

func neutralOperand(in *Inst, o *Operand) string {
	switch o.Kind {
	case KindX:
		return fmt.Sprintf(" x%d", *o.reg(in))
	case KindF:
		return fmt.Sprintf(" f%d", *o.reg(in)-F)
	case KindMem:
		return fmt.Sprintf(" %d(x%d)", in.Imm, in.Rs1)
	case KindAddr:
		return fmt.Sprintf(" (x%d)", in.Rs1)
	case KindCSR:
		return fmt.Sprintf(" csr:%d", in.CSR)
	case KindFence:
		return fmt.Sprintf(" set:%d set:%d", in.Imm>>4&15, in.Imm&15)
	case KindImm:
		if o == immU {
			return fmt.Sprintf(" %d", uint32(in.Imm)>>12)
		}
		return fmt.Sprintf(" %d", in.Imm)
	case KindTarget:
		return fmt.Sprintf(" %d", in.Imm)
	}
	return ""
}

func TestRowsAgreeWithAnotherDecoder(t *testing.T) {
	r := newRand(3)
	for _, row := range All() {
		if !crossChecked[row.Ext.Name] {
			continue
		}
		for range 500 {
			w := r.Uint32()&^row.Enc.Mask | row.Enc.Match
			in, ok := Decode(w)
			if !ok {
				require.True(t, reservedField(row, w), "%s 0x%08x", row.Name, w)
				continue
			}
			theirs, known := archDecode(w)
			if ours[row.Name] {
				require.True(t, !known || theirs.Op == riscv64asm.FENCE, "0x%08x is %s here and %s elsewhere", w,
					row.Name, theirs)
				continue
			}
			require.True(t, known, "0x%08x is %s here, nothing elsewhere", w, neutral(&in))
			require.Equal(t, archText(theirs), neutral(&in), "0x%08x", w)
		}
	}
}

// Any word: what we decode, the other decodes to the same, and what it decodes
// under a name of ours, we decode too.
func TestWordsAgreeWithAnotherDecoder(t *testing.T) {
	names := map[string]bool{}
	opcodes := []uint32{}
	for _, row := range All() {
		opcodes = append(opcodes, row.Enc.Match&0x7F)
		if crossChecked[row.Ext.Name] && !ours[row.Name] {
			names[strings.ToUpper(row.Name)] = true
		}
	}
	baseName := func(n string) string {
		for _, suffix := range []string{".AQRL", ".AQ", ".RL"} {
			n = strings.TrimSuffix(n, suffix)
		}
		return n
	}
	used := make([]int, len(stricter))
	agreed, r := 0, newRand(4)
	for i := range 120_000 {
		w := r.Uint32() | 3 // not compressed
		if i%4 != 0 {       // and mostly with an opcode that exists
			w = w&^0x7F | opcodes[r.IntN(len(opcodes))]
		}
		if i%8 == 1 { // some rows fix rd and rs1 to x0, which chance hardly meets
			w &^= 31<<7 | 31<<15
		}
		in, ok := Decode(w)
		theirs, known := archDecode(w)
		name := baseName(theirs.Op.String())
		switch {
		case ok && crossChecked[in.Ext.Name] && !ours[in.Name]:
			require.True(t, known, "0x%08x is %s here, nothing elsewhere", w, neutral(&in))
			require.Equal(t, archText(theirs), neutral(&in), "0x%08x", w)
			agreed++
		case ok:
			require.True(t, !known || theirs.Op == riscv64asm.FENCE, "0x%08x is our own %s, and %s elsewhere", w,
				in.Name, theirs)
		case known && names[name]:
			e := explain(name, w)
			require.GreaterOrEqual(t, e, 0, "0x%08x is %s elsewhere and nothing here", w, archText(theirs))
			used[e]++
		}
	}
	assert.Greater(t, agreed, 20_000, "too few words meant something: the test has lost its point")
	for i, n := range used {
		assert.NotZero(t, n, "exception never met, so not needed: %s", stricter[i].why)
	}
}

// explain returns the entry of stricter that covers the word, or -1.
func explain(name string, w uint32) int {
	for i, e := range stricter {
		if e.is(name, w) {
			return i
		}
	}
	return -1
}
