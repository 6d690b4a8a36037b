package isa

import (
	"fmt"
	"strings"
)

// decoder groups rows by opcode and funct3, so that a lookup tests few rows.
var decoder [1 << 10][]*Row

func bucket(w uint32) uint32 { return w&0x7F | w>>12&7<<7 }

// enter adds a row to the decoder.
func enter(r *Row) {
	for f3 := uint32(0); f3 < 8; f3++ {
		w := r.Enc.Match | f3<<12
		if w&r.Enc.Mask == r.Enc.Match {
			b := bucket(w)
			decoder[b] = append(decoder[b], r)
		}
	}
}

// Decode decodes one instruction; ok is false when no row matches or a field
// holds a reserved value.
func Decode(w uint32) (in Inst, ok bool) {
	for _, r := range decoder[bucket(w)] {
		if w&r.Enc.Mask == r.Enc.Match {
			in = Inst{Row: r, Raw: w}
			for _, o := range r.Format {
				if !o.get(w, &in) {
					return Inst{}, false
				}
			}
			return in, true
		}
	}
	return Inst{}, false
}

// Encode returns the instruction word of in; Raw is ignored.
func Encode(in *Inst) (uint32, error) {
	w := in.Enc.Match
	for _, o := range in.Format {
		b, err := o.put(in)
		if err != nil {
			return 0, fmt.Errorf("%s: %s: %w", in.Name, o.Name, err)
		}
		w |= b
	}
	return w, nil
}

// RMNames are the rounding modes as assembly spells them.
var RMNames = [8]string{RNE: "rne", RTZ: "rtz", RDN: "rdn", RUP: "rup", RMM: "rmm", RMDynamic: "dyn"}

// Text disassembles the instruction at pc in the assembler's syntax, without pseudo-instructions. The result assembles
// to the same word, except for the register field that selects a .n form: any register does, x1 is written.
func (in *Inst) Text(pc uint32) string {
	var s strings.Builder
	s.WriteString(in.Name)
	for _, o := range in.Format {
		if o.Kind == KindSuffix {
			s.WriteString(in.suffix(o))
		}
	}
	sep := " "
	for _, o := range in.Format {
		t := in.operandText(o, pc)
		if t == "" {
			continue
		}
		s.WriteString(sep + t)
		sep = ", "
	}
	return s.String()
}

func (in *Inst) suffix(o *Operand) string {
	if o == aqrl {
		return [4]string{"", ".rl", ".aq", ".aqrl"}[in.Order&3]
	}
	if in.Neg != 0 {
		return ".n"
	}
	return ""
}

// FenceName spells the sets of a fence: "iorw, rw".
func fenceName(imm int32) string {
	set := func(v int32) string {
		s := ""
		for i, c := range "iorw" {
			if v&(8>>i) != 0 {
				s += string(c)
			}
		}
		if s == "" {
			return "0"
		}
		return s
	}
	return set(imm>>4) + ", " + set(imm)
}

func (in *Inst) operandText(o *Operand, pc uint32) string {
	switch o.Kind {
	case KindX, KindF:
		return o.reg(in).String()
	case KindMem:
		return fmt.Sprintf("%d(%s)", in.Imm, o.reg(in))
	case KindAddr:
		return fmt.Sprintf("(%s)", o.reg(in))
	case KindTarget:
		return fmt.Sprintf("0x%x", pc+uint32(in.Imm))
	case KindCSR:
		return CSRName(in.CSR)
	case KindFence:
		return fenceName(in.Imm)
	case KindImm:
		if o == immU {
			return "0x" + hex(uint32(in.Imm)>>12)
		}
		return itoa(int(in.Imm))
	case KindRM:
		if in.RM == RMDynamic {
			return ""
		}
		return RMNames[in.RM]
	}
	return ""
}

// Disassemble returns the text of any word: an instruction, or ".word".
func Disassemble(w, pc uint32) string {
	in, ok := Decode(w)
	if !ok {
		return fmt.Sprintf(".word 0x%08x", w)
	}
	return in.Text(pc)
}

func hex(v uint32) string { return fmt.Sprintf("%x", v) }
