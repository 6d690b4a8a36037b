package asm

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"

	"heddle/isa"
)

var regs = isa.RegNames()

var csrNames = func() map[string]uint16 {
	m := map[string]uint16{}
	for _, c := range isa.CSRs {
		m[c.Name] = c.Num
	}
	return m
}()

// instruction assembles one line: a row of isa, or a pseudo-instruction.
func (a *assembler) instruction(t token, toks []token, end int) error {
	if a.sec.size%4 != 0 {
		return errAt(t.col, "instruction at an address that is not a multiple of 4 (use .balign 4)")
	}
	args, err := arguments(toks, end)
	if err != nil {
		return err
	}
	lines, err := a.expand(t, args, end)
	if err != nil {
		return err
	}
	for _, line := range lines {
		args, err := arguments(line[1:], end)
		if err != nil {
			return err
		}
		if err := a.one(line[0], args, end, t.col); err != nil {
			return err
		}
	}
	return nil
}

// expand replaces a pseudo-instruction by its expansion.
func (a *assembler) expand(t token, args [][]token, end int) ([][]token, error) {
	name := strings.ToLower(t.text)
	if name == "li" {
		return a.loadImmediate(t, args, end)
	}
	plain := append([]token{t}, joinArgs(args)...)
	if imm := toImmediate[name]; imm != "" && len(args) == 3 && !isRegister(args[2]) {
		plain[0].text = imm
		return [][]token{plain}, nil
	}
	if tpl, ok := symbolTemplates[pseudoKey{name, len(args)}]; ok && !isMemory(args[1]) {
		return tpl.fill(args), nil
	}
	if name == "jalr" && len(args) == 2 && isRegister(args[1]) {
		return template{{{kind: tokIdent, text: "jalr", col: t.col}, {kind: tokIdent, text: "$0"},
			{kind: tokPunct, text: ","},
			{kind: tokPunct, text: "("}, {kind: tokIdent, text: "$1"}, {kind: tokPunct, text: ")"}}}.fill(args), nil
	}
	if tpl, ok := templates[pseudoKey{name, len(args)}]; ok {
		return tpl.fill(args), nil
	}
	return [][]token{plain}, nil
}

// joinArgs puts the commas back.
func joinArgs(args [][]token) []token {
	var out []token
	for i, arg := range args {
		if i > 0 {
			out = append(out, token{kind: tokPunct, text: ",", col: arg[0].col})
		}
		out = append(out, arg...)
	}
	return out
}

func isRegister(arg []token) bool {
	if len(arg) != 1 || arg[0].kind != tokIdent {
		return false
	}
	_, ok := regs[strings.ToLower(arg[0].text)]
	return ok
}

// isMemory reports whether an operand is imm(reg) or (reg).
func isMemory(arg []token) bool {
	n := len(arg)
	return n >= 3 && arg[n-1].is(")") && arg[n-3].is("(") && arg[n-2].kind == tokIdent
}

// loadImmediate is li: one instruction where one is enough.
func (a *assembler) loadImmediate(t token, args [][]token, end int) ([][]token, error) {
	if len(args) != 2 {
		return nil, errAt(t.col, "li needs a register and a number")
	}
	v, err := a.constant(args[1], end)
	if err != nil {
		return nil, err
	}
	if v < math.MinInt32 || v > math.MaxUint32 {
		return nil, errAt(args[1][0].col, "%d does not fit 32 bits", v)
	}
	n := int64(int32(v))
	imm := func(v int64) []token { return []token{{kind: tokNumber, val: v, col: args[1][0].col}} }
	if n == lo(n) {
		return templates[pseudoKey{"%li", 1}].fill([][]token{args[0], imm(n)}), nil
	}
	big := templates[pseudoKey{"%li", 2}]
	if r, ok := regs[strings.ToLower(args[0][0].text)]; lo(n) == 0 && ok && r != 0 { // of x0, GNU as adds 0
		big = big[:1]
	}
	return big.fill([][]token{args[0], imm(hi(n)), imm(lo(n))}), nil
}

func init() {
	for k, t := range compile([]pseudo{
		{"%li", 1, []string{"addi $0, zero, $1"}},
		{"%li", 2, []string{"lui $0, $1", "addi $0, $0, $2"}},
	}) {
		templates[k] = t
	}
}

// suffixes are the parts of a mnemonic that are operands.
var suffixes = []struct {
	text string
	set  func(*isa.Inst)
}{
	{".aqrl", func(i *isa.Inst) { i.Order = 3 }},
	{".aq", func(i *isa.Inst) { i.Order = 2 }},
	{".rl", func(i *isa.Inst) { i.Order = 1 }},
	{".n", func(i *isa.Inst) { i.Neg = 1 }},
}

// lookup finds the row of a mnemonic and applies the mnemonic's suffix.
func lookup(name string, in *isa.Inst) bool {
	if in.Row = isa.Lookup(name); in.Row != nil {
		return true
	}
	for _, s := range suffixes {
		base, ok := strings.CutSuffix(name, s.text)
		if !ok {
			continue
		}
		if row := isa.Lookup(base); row != nil && row.TakesSuffix(s.text) {
			in.Row = row
			s.set(in)
			return true
		}
	}
	return false
}

// one adds a single machine instruction. col is the column of the source line's mnemonic, for messages about its
// expansion.
func (a *assembler) one(t token, args [][]token, end, col int) error {
	in := isa.Inst{}
	if !lookup(strings.ToLower(t.text), &in) {
		return errAt(col, "unknown instruction %q", t.text)
	}
	late, err := a.operands(&in, args, end, col)
	if err != nil {
		return err
	}
	return a.encoded(in, late, col)
}

// encoded adds an instruction whose late operands are computed when symbols
// are known.
func (a *assembler) encoded(in isa.Inst, late []lateOperand, col int) error {
	return a.add(4, func(s *statement, out []byte) error {
		for _, l := range late {
			if err := l.resolve(s, &in); err != nil {
				return err
			}
		}
		w, err := isa.Encode(&in)
		if err != nil {
			return errAt(col, "%v", errors.Unwrap(err))
		}
		binary.LittleEndian.PutUint32(out, w)
		return nil
	})
}

// lateOperand is an immediate, a target or a CSR number given by an expression.
type lateOperand struct {
	o   *isa.Operand
	x   expr
	col int
}

func (l lateOperand) resolve(s *statement, in *isa.Inst) error {
	v, err := l.x.eval(&s.context)
	if err != nil {
		return err
	}
	n := v.absolute()
	switch l.o.Kind {
	case isa.KindTarget:
		n = int64(int32(uint32(n) - s.sec.addr - s.off))
	case isa.KindCSR:
		if n < 0 || n > 0xFFF {
			return errAt(l.col, "CSR number %d is out of range 0..4095", n)
		}
		in.CSR = uint16(n)
		return nil
	}
	if n, err = l.o.Scale(n); err != nil {
		return errAt(l.col, "%v", err)
	}
	in.Imm = int32(n)
	if err := l.o.Check(in); err != nil {
		return errAt(l.col, "%v", err)
	}
	return nil
}

// operands matches the written operands with the row's.
func (a *assembler) operands(in *isa.Inst, args [][]token, end, col int) ([]lateOperand, error) {
	var late []lateOperand
	in.RM = isa.RMDynamic
	i := 0
	for _, o := range in.Format {
		switch {
		case o.Kind == isa.KindSuffix:
			continue
		case i == len(args) && o.Kind == isa.KindRM:
			continue
		case o.Kind == isa.KindFence:
			n, err := fenceOperands(in, args, col)
			if err != nil {
				return nil, err
			}
			i += n
			continue
		case i == len(args):
			return nil, errAt(end, "%s needs %s", in.Name, in.Format)
		}
		l, err := a.operand(in, o, args[i], end)
		if err != nil {
			return nil, err
		}
		if l.x != nil {
			late = append(late, l)
		}
		i++
	}
	if i < len(args) {
		return nil, errAt(args[i][0].col, "%s takes only %s", in.Name, in.Format)
	}
	return late, nil
}

func (a *assembler) operand(in *isa.Inst, o *isa.Operand, arg []token, end int) (lateOperand, error) {
	col := arg[0].col
	none := lateOperand{}
	switch o.Kind {
	case isa.KindX, isa.KindF:
		return none, setReg(in, o, arg)
	case isa.KindMem, isa.KindAddr:
		return a.memory(in, o, arg, end)
	case isa.KindRM:
		for m, name := range isa.RMNames {
			if name != "" && len(arg) == 1 && arg[0].text == name {
				in.RM = uint8(m)
				return none, nil
			}
		}
		return none, errAt(col, "expected a rounding mode (rne, rtz, rdn, rup, rmm, dyn), found %q", arg[0].text)
	case isa.KindCSR:
		if num, ok := csrNames[arg[0].text]; ok && len(arg) == 1 {
			in.CSR = num
			return none, nil
		}
	}
	x, err := a.wholeExpr(arg, end)
	return lateOperand{o, x, col}, err
}

func setReg(in *isa.Inst, o *isa.Operand, arg []token) error {
	r, ok := regs[strings.ToLower(arg[0].text)]
	want, base := "an integer register", isa.Reg(0)
	if o.Kind == isa.KindF {
		want, base = "a float register", isa.F
	}
	if !ok || len(arg) != 1 || r-base > 31 {
		return errAt(arg[0].col, "expected %s for %s, found %q", want, o.Name, spelled(arg))
	}
	*o.Reg(in) = r
	return nil
}

func spelled(arg []token) string {
	s := ""
	for _, t := range arg {
		s += t.text
	}
	return s
}

// memory reads imm(reg), (reg) and, for atomics, 0(reg).
func (a *assembler) memory(in *isa.Inst, o *isa.Operand, arg []token, end int) (lateOperand, error) {
	n := len(arg)
	if !isMemory(arg) {
		return lateOperand{}, errAt(arg[0].col, "expected %s, found %q", o.Name, spelled(arg))
	}
	r, ok := regs[strings.ToLower(arg[n-2].text)]
	if !ok || r >= isa.F {
		return lateOperand{}, errAt(arg[n-2].col, "expected an integer register, found %q", arg[n-2].text)
	}
	*o.Reg(in) = r
	if n == 3 {
		return lateOperand{}, nil
	}
	x, err := a.wholeExpr(arg[:n-3], end)
	if err != nil {
		return lateOperand{}, err
	}
	if o.Kind == isa.KindAddr {
		if x != number(0) {
			return lateOperand{}, errAt(arg[0].col, "%s takes an address without an offset", in.Name)
		}
		return lateOperand{}, nil
	}
	return lateOperand{o, x, arg[0].col}, nil
}

// fenceOperands reads "pred, succ", each a subset of iorw; none means all.
func fenceOperands(in *isa.Inst, args [][]token, col int) (int, error) {
	if len(args) == 0 {
		in.Imm = 0xFF
		return 0, nil
	}
	if len(args) != 2 {
		return 0, errAt(col, "fence takes nothing, or two sets like rw, rw")
	}
	for i, arg := range args {
		set, rest := int32(0), arg[0].text
		for j, c := range "iorw" {
			if r, ok := strings.CutPrefix(rest, string(c)); ok {
				set, rest = set|8>>j, r
			}
		}
		if (rest != "" && rest != "0") || len(arg) != 1 {
			return 0, errAt(arg[0].col, "expected a subset of iorw, in that order, found %q", spelled(arg))
		}
		in.Imm |= set << (4 - 4*i)
	}
	return 2, nil
}
