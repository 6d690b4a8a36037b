package asm

import (
	"strings"

	"heddle/isa"
)

// insnForms are the .insn types: which numbers come first, at which bit, and
// the operands after them. r with three sources is r4.
var insnForms = map[string]struct {
	fields []insnField
	format isa.Format
}{
	"r":  {[]insnField{opcode, funct3, {25, 7, "funct7"}}, isa.FormatR},
	"r4": {[]insnField{opcode, funct3, {25, 2, "funct2"}}, isa.FormatR4},
	"i":  {[]insnField{opcode, funct3}, isa.FormatI},
	"i(": {[]insnField{opcode, funct3}, isa.FormatIMem},
	"s":  {[]insnField{opcode, funct3}, isa.FormatS},
	"b":  {[]insnField{opcode, funct3}, isa.FormatB},
	"u":  {[]insnField{opcode}, isa.FormatU},
	"j":  {[]insnField{opcode}, isa.FormatJ},
}

type insnField struct {
	lo, bits uint
	name     string
}

var opcode, funct3 = insnField{0, 7, "opcode"}, insnField{12, 3, "funct3"}

// opcodes are the names that GNU as accepts in the first field.
var opcodes = map[string]int64{
	"LOAD": 0x03, "LOAD_FP": 0x07, "CUSTOM_0": 0x0B, "MISC_MEM": 0x0F, "OP_IMM": 0x13, "AUIPC": 0x17,
	"STORE": 0x23, "STORE_FP": 0x27, "CUSTOM_1": 0x2B, "AMO": 0x2F, "OP": 0x33, "LUI": 0x37,
	"MADD": 0x43, "MSUB": 0x47, "NMADD": 0x4F, "NMSUB": 0x4B, "OP_FP": 0x53, "CUSTOM_2": 0x5B,
	"BRANCH": 0x63, "JALR": 0x67, "JAL": 0x6F, "SYSTEM": 0x73, "CUSTOM_3": 0x7B,
}

// insn assembles `.insn type fields…, operands…`.
func (a *assembler) insn(t token, args [][]token, end int) error {
	if len(args) == 0 || len(args[0]) < 2 {
		return errAt(t.col, "expected .insn type opcode, …")
	}
	typ := args[0][0]
	args[0] = args[0][1:] // the type and the first field are not parted by a comma
	name := strings.ToLower(typ.text)
	switch {
	case name == "r" && len(args) == 7:
		name = "r4"
	case name == "i" && args[len(args)-1][len(args[len(args)-1])-1].is(")"):
		name = "i("
	case name == "sb":
		name = "b"
	case name == "uj":
		name = "j"
	}
	form, ok := insnForms[name]
	if !ok || strings.HasSuffix(typ.text, "(") {
		return errAt(typ.col, "unknown .insn type %q: expected r, r4, i, s, b, u or j", typ.text)
	}
	if len(args) < len(form.fields) {
		return errAt(end, ".insn %s needs more operands", typ.text)
	}
	row := &isa.Row{Name: ".insn " + typ.text, Format: form.format}
	for i, f := range form.fields {
		v, err := a.insnField(f, args[i], end)
		if err != nil {
			return err
		}
		row.Enc.Match |= v << f.lo
	}
	in := isa.Inst{Row: row}
	late, err := a.operands(&in, integerNames(args[len(form.fields):]), end, t.col)
	if err != nil {
		return err
	}
	return a.encoded(in, late, t.col)
}

func (a *assembler) insnField(f insnField, arg []token, end int) (uint32, error) {
	v, ok := opcodes[arg[0].text]
	if !ok || f != opcode || len(arg) != 1 {
		var err error
		if v, err = a.constant(arg, end); err != nil {
			return 0, err
		}
	}
	if v < 0 || v>>f.bits != 0 {
		return 0, errAt(arg[0].col, "%s %d does not fit %d bits", f.name, v, f.bits)
	}
	return uint32(v), nil
}

// integerNames replaces float registers by the integer registers of the same
// number: in .insn a register is just a number.
func integerNames(args [][]token) [][]token {
	out := make([][]token, len(args))
	for i, arg := range args {
		out[i] = arg
		if r, ok := regs[strings.ToLower(arg[0].text)]; ok && len(arg) == 1 && r >= isa.F {
			out[i] = []token{{kind: tokIdent, text: (r - isa.F).String(), col: arg[0].col}}
		}
	}
	return out
}
