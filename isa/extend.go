package isa

import (
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strings"
)

// Custom3 is the opcode that RISC-V leaves to extensions and heddle's own do not use.
const Custom3 = 0x7B

// UnitInstruction is an instruction of a graph unit: of the R type, in one of RISC-V's opcodes for custom extensions.
// Registers that it does not name are x0.
type UnitInstruction struct {
	Name           string // unit.verb
	Fn             uint8  // which function of the unit
	Opcode         uint32
	Funct3, Funct7 uint32
	Operands       string // those of "rd, rs1, rs2" that it has; without rd, it is done when the unit has taken it
	Doc            string
}

// UnitExtension returns the extension of a graph unit; presence is its bit of the units CSR. Extend checks the result.
func UnitExtension(name, doc string, presence uint32, list ...UnitInstruction) *Extension {
	x := &Extension{Name: name, Doc: doc, Presence: presence}
	for _, i := range list {
		r := Row{Name: i.Name, Enc: encR(i.Opcode, i.Funct3, i.Funct7), Class: ClassUnit, Sem: UnitOp{name, i.Fn}, Doc: i.Doc}
		for _, o := range []struct {
			operand *Operand
			none    func(Encoding) Encoding
		}{{rd, Encoding.rd0}, {rs1, Encoding.rs10}, {rs2, Encoding.rs20}} {
			if slices.Contains(strings.Split(i.Operands, ", "), o.operand.Name) {
				r.Format = append(r.Format, o.operand)
			} else {
				r.Enc = o.none(r.Enc)
			}
		}
		if err := i.check(r.Format); err != nil && x.wrong == nil {
			x.wrong = err
		}
		x.Rows = append(x.Rows, r)
	}
	return x
}

var unitRow = regexp.MustCompile(`^[a-z][a-z0-9]*(\.[a-z0-9]+)+$`)

// custom are RISC-V's opcodes for custom extensions.
var custom = []uint32{0x0B, 0x2B, 0x5B, Custom3}

// check refuses an invalid instruction; f is the format of its operands.
func (i *UnitInstruction) check(f Format) error {
	switch {
	case !unitRow.MatchString(i.Name):
		return fmt.Errorf("instruction %q: expected a name such as unit.verb", i.Name)
	case i.Doc == "":
		return fmt.Errorf("%s has no Doc", i.Name)
	case !slices.Contains(custom, i.Opcode):
		return fmt.Errorf("%s has opcode %#x: expected one for custom extensions, such as isa.Custom3 (%#x)", i.Name,
			i.Opcode, Custom3)
	case i.Funct3 > 7 || i.Funct7 > 127:
		return fmt.Errorf("%s has funct3 %d and funct7 %d: expected at most 7 and 127", i.Name, i.Funct3, i.Funct7)
	case f.String() != i.Operands:
		return fmt.Errorf("%s has operands %q: expected some of rd, rs1, rs2", i.Name, i.Operands)
	}
	return nil
}

// ExtensionOf finds one of this package's by its name.
func ExtensionOf(name string) *Extension {
	for _, x := range extensions {
		if x.Name == name {
			return x
		}
	}
	panic("BUG: isa: no extension " + name)
}

// Extend adds the instructions of a graph unit, at program start; adding the same extension again has no effect. It
// returns an error, and adds nothing, if another extension or instruction has the same name or encoding.
func Extend(x *Extension) error {
	if slices.Contains(extensions, x) {
		return nil
	}
	if x.wrong != nil {
		return x.wrong
	}
	for _, y := range extensions {
		if y.Name == x.Name || y.Presence&x.Presence != 0 {
			return fmt.Errorf("extension %s has the name or the presence bit of %s", x.Name, y.Name)
		}
	}
	for i := range x.Rows {
		if err := x.Rows[i].fresh(x.Rows[:i]); err != nil {
			return err
		}
	}
	for i := range x.Rows {
		enroll(x, &x.Rows[i])
	}
	extensions = append(extensions, x)
	describeUnits()
	return nil
}

// fresh refuses a row that is like one that is there, or one of its extension before it.
func (r *Row) fresh(before []Row) error {
	for _, o := range all {
		if r.overlaps(o) || r.Name == o.Name {
			return fmt.Errorf("%s has the name or the encoding of %s", r.Name, o.Name)
		}
	}
	for i := range before {
		if r.overlaps(&before[i]) || r.Name == before[i].Name {
			return fmt.Errorf("%s has the name or the encoding of %s", r.Name, before[i].Name)
		}
	}
	return nil
}

// overlaps reports whether there is a word that both rows match.
func (r *Row) overlaps(o *Row) bool { return (r.Enc.Match^o.Enc.Match)&r.Enc.Mask&o.Enc.Mask == 0 }

// describeUnits documents the bits of the units CSR.
func describeUnits() {
	var with []*Extension
	for _, x := range extensions {
		if x.Presence != 0 {
			with = append(with, x)
		}
	}
	slices.SortFunc(with, func(a, b *Extension) int {
		return bits.TrailingZeros32(a.Presence) - bits.TrailingZeros32(b.Presence)
	})
	var text []string
	for _, x := range with {
		text = append(text, fmt.Sprintf("bit %d %s", bits.TrailingZeros32(x.Presence), x.Name))
	}
	for i := range CSRs {
		if CSRs[i].Num == CSRUnits {
			CSRs[i].Doc = strings.Join(text, ", ") + " present (ours)"
		}
	}
}
