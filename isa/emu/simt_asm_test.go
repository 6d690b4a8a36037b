package emu_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/emu"
)

// A small assembler, so that these tests can be read, and depend on isa.Encode
// only. Statements end with a newline or `;`. Beside the rows it knows labels,
// `.word v`, and `li rd, v` and `la rd, label`, which are always two words.

var (
	registers = isa.RegNames()
	suffixes  = map[string]func(*isa.Inst){
		".n":    func(i *isa.Inst) { i.Neg = 1 },
		".aq":   func(i *isa.Inst) { i.Order = 2 },
		".rl":   func(i *isa.Inst) { i.Order = 1 },
		".aqrl": func(i *isa.Inst) { i.Order = 3 },
	}
)

type assembler struct {
	labels map[string]uint32
	words  []uint32
}

// statement is one line: a mnemonic and its operands, placed at pc.
type statement struct {
	pc   uint32
	name string
	args []string
}

func assemble(src string) (*isa.Program, error) {
	a := assembler{labels: map[string]uint32{}}
	var list []statement
	pc := uint32(emu.CodeBase)
	for _, line := range strings.FieldsFunc(src, func(c rune) bool { return c == '\n' || c == ';' }) {
		line, _, _ = strings.Cut(line, "#")
		for {
			label, rest, found := strings.Cut(line, ":")
			if !found {
				break
			}
			a.labels[strings.TrimSpace(label)], line = pc, rest
		}
		name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" {
			continue
		}
		s := statement{pc: pc, name: name}
		for _, x := range strings.Split(args, ",") {
			if x = strings.TrimSpace(x); x != "" {
				s.args = append(s.args, x)
			}
		}
		list = append(list, s)
		pc += s.size()
	}
	for _, s := range list {
		if err := a.statement(s); err != nil {
			return nil, fmt.Errorf("%s %s: %w", s.name, strings.Join(s.args, ", "), err)
		}
	}
	return a.program(), nil
}

func (s *statement) size() uint32 {
	if s.name == "li" || s.name == "la" {
		return 8
	}
	return 4
}

func (a *assembler) program() *isa.Program {
	data := make([]byte, 0, 4*len(a.words))
	for _, w := range a.words {
		data = binary.LittleEndian.AppendUint32(data, w)
	}
	p := &isa.Program{
		Entry:    emu.CodeBase,
		Segments: []isa.Segment{{Addr: emu.CodeBase, Data: data, Size: uint32(len(data)), Executable: true}},
	}
	for name, addr := range a.labels {
		p.Symbols = append(p.Symbols, isa.Symbol{Name: name, Addr: addr})
	}
	slices.SortFunc(p.Symbols, func(x, y isa.Symbol) int { return cmp.Compare(x.Addr, y.Addr) })
	return p
}

func (a *assembler) statement(s statement) error {
	switch s.name {
	case ".word":
		v, err := a.value(s.args[0])
		a.words = append(a.words, v)
		return err
	case "li", "la":
		v, err := a.value(s.args[1])
		if err != nil {
			return err
		}
		hi := (v + 0x800) &^ 0xFFF
		if err := a.statement(statement{s.pc, "lui", []string{s.args[0], fmt.Sprint(hi >> 12)}}); err != nil {
			return err
		}
		return a.statement(statement{s.pc + 4, "addi", []string{s.args[0], s.args[0], fmt.Sprint(int32(v - hi))}})
	}
	in, err := a.instruction(s)
	if err != nil {
		return err
	}
	w, err := isa.Encode(in)
	a.words = append(a.words, w)
	return err
}

func (a *assembler) instruction(s statement) (*isa.Inst, error) {
	in := &isa.Inst{Row: isa.Lookup(s.name), RM: isa.RMDynamic}
	for suffix, set := range suffixes {
		if base, found := strings.CutSuffix(s.name, suffix); found && in.Row == nil {
			in.Row = isa.Lookup(base)
			set(in)
		}
	}
	if in.Row == nil {
		return nil, fmt.Errorf("no such instruction")
	}
	args := s.args
	for _, o := range in.Format {
		if o.Kind == isa.KindSuffix || o.Kind == isa.KindRM && len(args) == 0 {
			continue
		}
		if len(args) == 0 {
			return nil, fmt.Errorf("operand %s is missing", o.Name)
		}
		if err := a.operand(in, o, args[0], s.pc); err != nil {
			return nil, err
		}
		args = args[1:]
	}
	if len(args) > 0 {
		return nil, fmt.Errorf("too many operands")
	}
	return in, nil
}

func (a *assembler) operand(in *isa.Inst, o *isa.Operand, text string, pc uint32) error {
	imm, reg := text, text
	if i := strings.IndexByte(text, '('); i >= 0 { // imm(reg) or (reg)
		imm, reg = text[:i], strings.Trim(text[i:], "()")
	}
	if o.Kind == isa.KindX || o.Kind == isa.KindF || o.Kind == isa.KindMem || o.Kind == isa.KindAddr {
		r, ok := registers[reg]
		if !ok {
			return fmt.Errorf("%q is no register", reg)
		}
		*o.Reg(in) = r
		if o.Name == "rd" && in.Name == "amocas.w" {
			in.Rs3 = r
		}
	}
	if o.Kind == isa.KindX || o.Kind == isa.KindF || o.Kind == isa.KindAddr {
		return nil
	}
	if o.Kind == isa.KindRM {
		in.RM = uint8(slices.Index(isa.RMNames[:], text))
		return nil
	}
	v, err := a.value(imm)
	switch {
	case o.Kind == isa.KindTarget:
		in.Imm = int32(v - pc)
	case o.Kind == isa.KindCSR:
		in.CSR = uint16(v)
	case o.Name == "imm20":
		in.Imm = int32(v << 12)
	default:
		in.Imm = int32(v)
	}
	return err
}

// value is a number, a label or the name of a CSR.
func (a *assembler) value(s string) (uint32, error) {
	if v, ok := a.labels[s]; ok {
		return v, nil
	}
	for i := range isa.CSRs {
		if isa.CSRs[i].Name == s {
			return uint32(isa.CSRs[i].Num), nil
		}
	}
	v, err := strconv.ParseInt(s, 0, 64)
	return uint32(v), err
}

// load assembles src and loads it into a new machine. A test that goes astray
// must fail, not hang, so there is always a limit.
func load(t *testing.T, cfg emu.Config, src string) *emu.Machine {
	t.Helper()
	if cfg.MaxInstrs == 0 {
		cfg.MaxInstrs = 100_000
	}
	p, err := assemble(src)
	require.NoError(t, err)
	m, err := emu.New(cfg)
	require.NoError(t, err)
	m.Load(p)
	return m
}
