package asm

import (
	"encoding/binary"
	"math"
	"strconv"
)

// directives maps each to its handler. Those that only inform a linker or a
// debugger are accepted and do nothing.
var directives map[string]func(a *assembler, t token, args [][]token, end int) error

func init() {
	directives = map[string]func(*assembler, token, [][]token, int) error{
		".section": (*assembler).sectionDir,
		".word":    data(4), ".long": data(4), ".4byte": data(4), ".int": data(4),
		".half": data(2), ".short": data(2), ".2byte": data(2), ".byte": data(1),
		".float": (*assembler).floats,
		".space": (*assembler).space, ".zero": (*assembler).space, ".skip": (*assembler).space,
		".balign": align(false), ".align": align(true), ".p2align": align(true),
		".asciz": text("\x00"), ".string": text("\x00"), ".ascii": text(""),
		".equ": (*assembler).equ, ".set": (*assembler).equ,
		".insn": (*assembler).insn,
	}
	for _, s := range []string{".text", ".data", ".bss", ".rodata", ".sdata", ".sbss"} {
		directives[s] = func(a *assembler, t token, args [][]token, _ int) error {
			if len(args) > 0 {
				return errAt(args[0][0].col, "%s takes nothing", t.text)
			}
			a.enter(t.text)
			return nil
		}
	}
	for _, s := range []string{".globl", ".global", ".local", ".weak", ".type", ".size", ".file", ".ident", ".attribute", ".option", ".p2alignl"} {
		directives[s] = func(*assembler, token, [][]token, int) error { return nil }
	}
}

func (a *assembler) directive(t token, toks []token, end int) error {
	f := directives[t.text]
	if f == nil {
		return errAt(t.col, "unknown directive %s", t.text)
	}
	args, err := arguments(toks, end)
	if err != nil {
		return err
	}
	return f(a, t, args, end)
}

// arguments splits tokens at the commas outside parentheses.
func arguments(toks []token, end int) ([][]token, error) {
	if len(toks) == 0 {
		return nil, nil
	}
	var out [][]token
	start, depth := 0, 0
	for i := 0; i <= len(toks); i++ {
		if i < len(toks) {
			switch {
			case toks[i].is("("):
				depth++
			case toks[i].is(")"):
				depth--
			}
			if !toks[i].is(",") || depth > 0 {
				continue
			}
		}
		if i == start {
			col := end
			if i < len(toks) {
				col = toks[i].col
			}
			return nil, errAt(col, "an operand is missing")
		}
		out = append(out, toks[start:i])
		start = i + 1
	}
	return out, nil
}

func (a *assembler) sectionDir(t token, args [][]token, end int) error {
	if len(args) == 0 || args[0][0].kind != tokIdent {
		return errAt(end, ".section needs a name")
	}
	a.enter(args[0][0].text)
	return nil
}

// conditional handles .if and its kin, and swallows lines that are not to be
// assembled.
func (a *assembler) conditional(toks []token, end int) (done bool, err error) {
	outer := len(a.conds) == 0 || a.conds[len(a.conds)-1].active
	if len(toks) == 0 || toks[0].kind != tokIdent {
		return !outer, nil
	}
	t, rest := toks[0], toks[1:]
	switch t.text {
	case ".if", ".ifdef", ".ifndef":
		on := false
		if outer {
			on, err = a.condition(t, rest, end)
		}
		a.conds = append(a.conds, condition{active: outer && on, taken: on, outer: outer, line: a.line})
		return true, err
	case ".else", ".endif":
		n := len(a.conds)
		if n == 0 {
			return true, errAt(t.col, "%s without .if", t.text)
		}
		c := &a.conds[n-1]
		if t.text == ".endif" {
			a.conds = a.conds[:n-1]
		} else {
			c.active, c.taken = c.outer && !c.taken, true
		}
		return true, nil
	}
	return !outer, nil
}

func (a *assembler) condition(t token, rest []token, end int) (bool, error) {
	if t.text == ".if" {
		v, err := a.constant(rest, end)
		return v != 0, err
	}
	if len(rest) != 1 || rest[0].kind != tokIdent {
		return false, errAt(t.col, "%s needs one symbol", t.text)
	}
	s := a.symbols[rest[0].text]
	return (s != nil && s.defined) == (t.text == ".ifdef"), nil
}

func (a *assembler) equ(t token, args [][]token, end int) error {
	if len(args) != 2 || len(args[0]) != 1 || args[0][0].kind != tokIdent {
		return errAt(t.col, "expected %s name, value", t.text)
	}
	return a.assign(args[0][0], args[1], end)
}

// data makes .word, .half and .byte.
func data(size int) func(*assembler, token, [][]token, int) error {
	return func(a *assembler, _ token, args [][]token, end int) error {
		for _, arg := range args {
			x, err := a.wholeExpr(arg, end)
			if err != nil {
				return err
			}
			err = a.add(int64(size), end, func(s *statement, out []byte) error {
				v, err := x.eval(&s.context)
				if err != nil {
					return err
				}
				n := v.absolute()
				if limit := int64(1) << (8 * size); n < -limit/2 || n >= limit {
					return errAt(arg[0].col, "%d does not fit %d bytes", n, size)
				}
				for i := range out {
					out[i] = byte(n >> (8 * i))
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func (a *assembler) floats(_ token, args [][]token, end int) error {
	for _, arg := range args {
		s := ""
		for _, t := range arg {
			s += t.text
		}
		v, err := strconv.ParseFloat(s, 32)
		if err != nil {
			return errAt(arg[0].col, "%q is not a single-precision number", s)
		}
		err = a.add(4, end, func(_ *statement, out []byte) error {
			binary.LittleEndian.PutUint32(out, math.Float32bits(float32(v)))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func text(tail string) func(*assembler, token, [][]token, int) error {
	return func(a *assembler, t token, args [][]token, end int) error {
		for _, arg := range args {
			if len(arg) != 1 || arg[0].kind != tokString {
				return errAt(arg[0].col, "%s needs strings", t.text)
			}
			s := arg[0].text + tail
			err := a.add(int64(len(s)), end, func(_ *statement, out []byte) error { copy(out, s); return nil })
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// fillWith repeats one byte; in a section without data only zeros are possible.
func (a *assembler) fillWith(n int64, fill byte, end int) error {
	if fill == 0 {
		return a.add(n, end, nil)
	}
	return a.add(n, end, func(_ *statement, out []byte) error {
		for i := range out {
			out[i] = fill
		}
		return nil
	})
}

func (a *assembler) space(t token, args [][]token, end int) error {
	if len(args) < 1 || len(args) > 2 {
		return errAt(t.col, "expected %s size[, fill]", t.text)
	}
	n, err := a.constant(args[0], end)
	if err != nil {
		return err
	}
	fill := int64(0)
	if len(args) == 2 {
		if fill, err = a.constant(args[1], end); err != nil {
			return err
		}
	}
	if n < 0 {
		return errAt(args[0][0].col, "size %d is negative", n)
	}
	return a.fillWith(n, byte(fill), end)
}

// align makes .balign (bytes) and .align (a power of two, as on RISC-V).
func align(log bool) func(*assembler, token, [][]token, int) error {
	return func(a *assembler, t token, args [][]token, end int) error {
		if len(args) < 1 || len(args) > 2 {
			return errAt(t.col, "expected %s alignment[, fill]", t.text)
		}
		n, err := a.constant(args[0], end)
		if err != nil {
			return err
		}
		if log && n >= 0 && n < 32 {
			n = 1 << n
		}
		if n < 1 || n > sectionAlign || n&(n-1) != 0 {
			return errAt(args[0][0].col, "alignment %d: expected a power of two up to %d bytes", n, sectionAlign)
		}
		pad := -int64(a.sec.size) & (n - 1)
		if len(args) == 2 {
			fill, err := a.constant(args[1], end)
			if err != nil {
				return err
			}
			return a.fillWith(pad, byte(fill), end)
		}
		if a.sec.exec && pad%4 == 0 {
			return a.nops(pad, end)
		}
		return a.fillWith(pad, 0, end)
	}
}

func (a *assembler) nops(n int64, end int) error {
	return a.add(n, end, func(_ *statement, out []byte) error {
		for i := 0; i < len(out); i += 4 {
			binary.LittleEndian.PutUint32(out[i:], 0x00000013)
		}
		return nil
	})
}
