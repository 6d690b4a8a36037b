package isa

import (
	"fmt"
	"strconv"
)

// Inst is one decoded instruction. Fields its row does not use are zero, which
// reads as x0 and so is harmless.
type Inst struct {
	*Row
	Raw               uint32
	Imm               int32  // immediate; branch and jump offset; fence's pred|succ; zimm
	CSR               uint16 // CSR number
	Rd, Rs1, Rs2, Rs3 Reg
	RM                uint8 // rounding mode field, 0..4 or RMDynamic
	Order             uint8 // atomics: bit 1 aq, bit 0 rl
	Neg               uint8 // .n form of split and pred: its register field, 0 = plain
}

// Format lists an instruction's operands in the order they are written.
type Format []*Operand

// Has reports whether the format contains the operand.
func (f Format) Has(o *Operand) bool {
	for _, x := range f {
		if x == o {
			return true
		}
	}
	return false
}

// Immediate reports whether an immediate takes the place of rs2.
func (f Format) Immediate() bool { return f.Has(immI) || f.Has(shamt) }

// Operand finds the one of that name.
func (r *Row) Operand(name string) (o *Operand, ok bool) {
	for _, o := range r.Format {
		if o.Name == name {
			return o, true
		}
	}
	return nil, false
}

// String gives the operands as docs and error messages show them.
func (f Format) String() string {
	s := ""
	for _, o := range f {
		if o.Kind == KindSuffix {
			continue
		}
		if s != "" {
			s += ", "
		}
		s += o.Name
	}
	return s
}

// Kind is the syntax of an operand.
type Kind uint8

// Kinds of operand.
const (
	KindX      Kind = iota // integer register
	KindF                  // float register
	KindImm                // an expression
	KindTarget             // an address; encoded relative to the instruction
	KindMem                // imm(reg)
	KindAddr               // (reg)
	KindCSR                // CSR name or number
	KindRM                 // rounding mode; may be left out: dyn
	KindFence              // a subset of "iorw"; may be left out: iorw
	KindSuffix             // part of the mnemonic: .aq .rl .aqrl or .n
)

// Operand is one operand: its syntax and the position of its bits.
type Operand struct {
	Name string // as docs show it
	Kind Kind
	Doc  string

	reg func(*Inst) *Reg             // the register field, for KindX, F, Mem, Addr
	get func(w uint32, i *Inst) bool // decode; false: reserved value
	put func(i *Inst) (uint32, error)
}

// Scale turns the number as written into the immediate that Inst holds: lui and
// auipc are written with the upper 20 bits.
func (o *Operand) Scale(v int64) (int64, error) {
	if o != immU {
		if v < -1<<31 || v > 1<<32-1 {
			return 0, fmt.Errorf("%d does not fit 32 bits", v)
		}
		return v, nil
	}
	if v < 0 || v > 0xFFFFF {
		return 0, fmt.Errorf("%d is out of range 0..1048575", v)
	}
	return v << 12, nil
}

// Check reports whether the operand's value in i can be encoded.
func (o *Operand) Check(i *Inst) error {
	_, err := o.put(i)
	return err
}

// Reg returns where the operand keeps its register.
func (o *Operand) Reg(i *Inst) *Reg { return o.reg(i) }

// cut returns bits hi..lo of w.
func cut(w uint32, hi, lo uint) uint32 { return w << (31 - hi) >> (31 - hi + lo) }
func sext(v uint32, n uint) int32      { return int32(v<<(32-n)) >> (32 - n) }
func itoa(n int) string                { return strconv.Itoa(n) }

// register makes a register operand whose five bits start at lo.
func register(name string, lo uint, base Reg, field func(*Inst) *Reg) *Operand {
	k := KindX
	if base == F {
		k = KindF
	}
	return &Operand{
		Name: name, Kind: k, reg: field,
		get: func(w uint32, i *Inst) bool { *field(i) = base + Reg(cut(w, lo+4, lo)); return true },
		put: func(i *Inst) (uint32, error) {
			r := *field(i)
			if r-base > 31 {
				return 0, fmt.Errorf("%s is not %s register", r, map[Reg]string{0: "an integer", F: "a float"}[base])
			}
			return uint32(r-base) << lo, nil
		},
	}
}

func fRd(i *Inst) *Reg  { return &i.Rd }
func fRs1(i *Inst) *Reg { return &i.Rs1 }
func fRs2(i *Inst) *Reg { return &i.Rs2 }
func fRs3(i *Inst) *Reg { return &i.Rs3 }

// signed checks an immediate of n bits that must be a multiple of step.
func signed(v int32, n uint, step int32) error {
	lo, hi := int32(-1)<<(n-1), int32(1)<<(n-1)-1
	if v < lo || v > hi {
		return fmt.Errorf("%d is out of range %d..%d", v, lo, hi)
	}
	if v%step != 0 {
		return fmt.Errorf("%d is not a multiple of %d", v, step)
	}
	return nil
}

func unsigned(v int32, n uint) error {
	if v < 0 || v>>n != 0 {
		return fmt.Errorf("%d is out of range 0..%d", v, int32(1)<<n-1)
	}
	return nil
}

// immediate makes a KindImm-like operand from its decoder and encoder.
func immediate(name string, k Kind, dec func(w uint32) int32, enc func(v int32) (uint32, error)) *Operand {
	return &Operand{
		Name: name, Kind: k,
		get: func(w uint32, i *Inst) bool { i.Imm = dec(w); return true },
		put: func(i *Inst) (uint32, error) { return enc(i.Imm) },
	}
}

// memory makes an imm(rs1) operand from its immediate part.
func memory(imm *Operand) *Operand {
	return &Operand{
		Name: "imm(rs1)", Kind: KindMem, reg: fRs1,
		get: func(w uint32, i *Inst) bool { return imm.get(w, i) && rs1.get(w, i) },
		put: func(i *Inst) (uint32, error) { return both(imm, rs1, i) },
	}
}

func both(a, b *Operand, i *Inst) (uint32, error) {
	x, err := a.put(i)
	if err != nil {
		return 0, err
	}
	y, err := b.put(i)
	return x | y, err
}

// The operands.
var (
	rd  = register("rd", 7, 0, fRd)
	rs1 = register("rs1", 15, 0, fRs1)
	rs2 = register("rs2", 20, 0, fRs2)
	rs3 = register("rs3", 27, 0, fRs3)
	fd  = register("fd", 7, F, fRd)
	fs1 = register("fs1", 15, F, fRs1)
	fs2 = register("fs2", 20, F, fRs2)
	fs3 = register("fs3", 27, F, fRs3)

	// rdIn is a destination that is also read (amocas): it shows as Rs3 too.
	rdIn = &Operand{Name: "rd", Kind: KindX, reg: fRd,
		get: func(w uint32, i *Inst) bool { rd.get(w, i); i.Rs3 = i.Rd; return true },
		put: rd.put}

	immI = immediate("imm", KindImm,
		func(w uint32) int32 { return int32(w) >> 20 },
		func(v int32) (uint32, error) { return uint32(v) << 20, signed(v, 12, 1) })
	immS = immediate("imm", KindImm,
		func(w uint32) int32 { return sext(cut(w, 31, 25)<<5|cut(w, 11, 7), 12) },
		func(v int32) (uint32, error) {
			return cut(uint32(v), 11, 5)<<25 | cut(uint32(v), 4, 0)<<7, signed(v, 12, 1)
		})
	shamt = immediate("shamt", KindImm,
		func(w uint32) int32 { return int32(cut(w, 24, 20)) },
		func(v int32) (uint32, error) { return uint32(v) << 20 & 0x1F00000, unsigned(v, 5) })
	// immU is written as the upper 20 bits, as assemblers do, and held shifted.
	immU = immediate("imm20", KindImm,
		func(w uint32) int32 { return int32(w &^ 0xFFF) },
		func(v int32) (uint32, error) {
			if v&0xFFF != 0 {
				return 0, fmt.Errorf("0x%x has low bits set", uint32(v))
			}
			return uint32(v), nil
		})
	branchTo = immediate("target", KindTarget,
		func(w uint32) int32 {
			return sext(cut(w, 31, 31)<<12|cut(w, 7, 7)<<11|cut(w, 30, 25)<<5|cut(w, 11, 8)<<1, 13)
		},
		func(v int32) (uint32, error) {
			u := uint32(v)
			return cut(u, 12, 12)<<31 | cut(u, 10, 5)<<25 | cut(u, 4, 1)<<8 | cut(u, 11, 11)<<7, signed(v, 13, 2)
		})
	jumpTo = immediate("target", KindTarget,
		func(w uint32) int32 {
			return sext(cut(w, 31, 31)<<20|cut(w, 19, 12)<<12|cut(w, 20, 20)<<11|cut(w, 30, 21)<<1, 21)
		},
		func(v int32) (uint32, error) {
			u := uint32(v)
			return cut(u, 20, 20)<<31 | cut(u, 10, 1)<<21 | cut(u, 11, 11)<<20 | cut(u, 19, 12)<<12, signed(v, 21, 2)
		})
	zimm = immediate("zimm", KindImm,
		func(w uint32) int32 { return int32(cut(w, 19, 15)) },
		func(v int32) (uint32, error) { return uint32(v) << 15 & 0xF8000, unsigned(v, 5) })

	memI = memory(immI)
	memS = memory(immS)
	addr = &Operand{Name: "(rs1)", Kind: KindAddr, reg: fRs1, get: rs1.get, put: rs1.put}

	csr = &Operand{Name: "csr", Kind: KindCSR,
		get: func(w uint32, i *Inst) bool { i.CSR = uint16(w >> 20); return true },
		put: func(i *Inst) (uint32, error) {
			if i.CSR > 0xFFF {
				return 0, fmt.Errorf("CSR number 0x%x is out of range 0..0xfff", i.CSR)
			}
			return uint32(i.CSR) << 20, nil
		}}

	rm = &Operand{Name: "rm", Kind: KindRM,
		get: func(w uint32, i *Inst) bool {
			i.RM = uint8(cut(w, 14, 12))
			return i.RM <= RMM || i.RM == RMDynamic
		},
		put: func(i *Inst) (uint32, error) {
			if i.RM > RMM && i.RM != RMDynamic {
				return 0, fmt.Errorf("rounding mode %d is reserved", i.RM)
			}
			return uint32(i.RM) << 12, nil
		}}

	fenceSet = immediate("pred, succ", KindFence,
		func(w uint32) int32 { return int32(cut(w, 27, 20)) },
		func(v int32) (uint32, error) { return uint32(v) << 20, unsigned(v, 8) })

	aqrl = &Operand{Name: ".aq.rl", Kind: KindSuffix,
		get: func(w uint32, i *Inst) bool { i.Order = uint8(cut(w, 26, 25)); return true },
		put: func(i *Inst) (uint32, error) { return uint32(i.Order&3) << 25, nil }}

	// negRs2 and negRd: any register but x0 in that field selects the .n form.
	negRs2 = negated(20)
	negRd  = negated(7)
)

func negated(lo uint) *Operand {
	return &Operand{Name: ".n", Kind: KindSuffix,
		get: func(w uint32, i *Inst) bool { i.Neg = uint8(cut(w, lo+4, lo)); return true },
		put: func(i *Inst) (uint32, error) { return uint32(i.Neg&31) << lo, nil }}
}

// Formats of the standard instruction types; an extension writes its own where
// none of these fits.
var (
	fmtR    = Format{rd, rs1, rs2}
	fmtI    = Format{rd, rs1, immI}
	fmtSh   = Format{rd, rs1, shamt}
	fmtU    = Format{rd, immU}
	fmtB    = Format{rs1, rs2, branchTo}
	fmtLoad = Format{rd, memI}
	fmtAMO  = Format{aqrl, rd, rs2, addr}
	fmtFR   = Format{fd, fs1, fs2, rm}
	fmtFR4  = Format{fd, fs1, fs2, fs3, rm}
)

// Formats of instruction types for encodings that no row describes (.insn).
var (
	FormatR    = fmtR
	FormatR4   = Format{rd, rs1, rs2, rs3}
	FormatI    = fmtI
	FormatIMem = fmtLoad
	FormatS    = Format{rs2, memS}
	FormatB    = fmtB
	FormatU    = fmtU
	FormatJ    = Format{rd, jumpTo}
)

// TakesSuffix reports whether the mnemonic may end in .aq, .rl, .aqrl or .n.
func (r *Row) TakesSuffix(s string) bool {
	if s == ".n" {
		return r.Format.Has(negRs2) || r.Format.Has(negRd)
	}
	return r.Format.Has(aqrl)
}

// Encodings by instruction type: the fields that are fixed.

func encOp(op uint32) Encoding { return Encoding{op, 0x7F} }

func encI(op, f3 uint32) Encoding { return Encoding{op | f3<<12, 0x707F} }

func encR(op, f3, f7 uint32) Encoding { return Encoding{op | f3<<12 | f7<<25, 0xFE00707F} }

func encFixed(w uint32) Encoding { return Encoding{w, 0xFFFFFFFF} }

// with fixes the register field that starts at lo to v.
func (e Encoding) with(lo uint, v uint32) Encoding {
	return Encoding{e.Match | v<<lo, e.Mask | 31<<lo}
}

// plainFM fixes a fence's fm field to 0: the other values but fence.tso's are reserved.
func (e Encoding) plainFM() Encoding { return Encoding{e.Match, e.Mask | 0xF<<28} }

func (e Encoding) rd0() Encoding  { return e.with(7, 0) }
func (e Encoding) rs10() Encoding { return e.with(15, 0) }
func (e Encoding) rs20() Encoding { return e.with(20, 0) }
