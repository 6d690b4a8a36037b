package asm

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// directives maps each directive to its handler, which gets the rest of the line.
var directives map[string]func(a *assembler, t token, after source) error

type handler = func(a *assembler, t token, args [][]token, end int) error

func init() {
	directives = map[string]func(*assembler, token, source) error{
		".section": sectionDir, ".pushsection": pushSection,
		".popsection": listed((*assembler).popSection), ".previous": listed((*assembler).previousSection),
		".comm": listed(common), ".lcomm": listed(common),
		".byte": listed(data(1)), ".2byte": listed(data(2)), ".half": listed(data(2)), ".hword": listed(data(2)),
		".short": listed(data(2)), ".4byte": listed(data(4)), ".word": listed(data(4)), ".long": listed(data(4)),
		".int": listed(data(4)), ".8byte": listed(data(8)), ".dword": listed(data(8)), ".quad": listed(data(8)),
		".float": listed(floats(32)), ".single": listed(floats(32)), ".double": listed(floats(64)),
		".space": listed((*assembler).space), ".zero": listed((*assembler).space), ".skip": listed((*assembler).space),
		".fill": listed((*assembler).fill), ".org": listed((*assembler).org),
		".balign": withGaps(align(false)), ".align": withGaps(align(true)), ".p2align": withGaps(align(true)),
		".asciz": listed(text("\x00")), ".string": listed(text("\x00")), ".ascii": listed(text("")),
		".equ": equ(assigned(false)), ".set": equ(assigned(false)), ".equiv": equ(assigned(true)),
		".eqv":  equ((*assembler).deferExpr),
		".insn": listed((*assembler).insn), ".option": option,
		".exitm": listed((*assembler).exitMacro), ".purgem": (*assembler).purge,
		".err": failing, ".error": failing,
	}
	for _, s := range []string{".text", ".data", ".bss", ".rodata", ".sdata", ".sbss"} {
		directives[s] = func(a *assembler, t token, after source) error {
			if after.text != "" {
				return errAt(after.col, "%s takes nothing: for a part of a section use .section with a name of its own",
					t.text)
			}
			a.enter(a.section(t.text))
			return nil
		}
	}
	// They inform a linker or a debugger: the image is the same without.
	for _, s := range strings.Fields(`.globl .global .local .weak .hidden .internal .protected .type .size .file .ident .loc .attribute
		.addrsig .addrsig_sym .p2alignl .cfi_startproc .cfi_endproc .cfi_def_cfa .cfi_def_cfa_offset .cfi_def_cfa_register
		.cfi_offset .cfi_rel_offset .cfi_restore .cfi_remember_state .cfi_restore_state .cfi_adjust_cfa_offset
		.cfi_sections .cfi_personality .cfi_lsda .cfi_undefined .cfi_same_value .cfi_return_column .cfi_signal_frame
		.cfi_escape .cfi_window_save .title .sbttl .list .nolist .eject .psize .line .version .print .warning`) {
		directives[s] = func(*assembler, token, source) error { return nil }
	}
}

// listed returns a handler for a directive with a list of operands, none of them empty.
func listed(f handler) func(*assembler, token, source) error {
	return func(a *assembler, t token, after source) error {
		toks, err := tokens(after)
		if err != nil {
			return err
		}
		args, err := arguments(toks, after.end())
		if err != nil {
			return err
		}
		return f(a, t, args, after.end())
	}
}

// withGaps returns a handler for a directive whose operands may be left empty.
func withGaps(f handler) func(*assembler, token, source) error {
	return func(a *assembler, t token, after source) error {
		toks, err := tokens(after)
		if err != nil {
			return err
		}
		return f(a, t, separated(toks), after.end())
	}
}

// failing is .err and .error: errors raised by the source itself.
func failing(_ *assembler, t token, after source) error {
	if after.text == "" {
		return errAt(t.col, "%s", t.text)
	}
	return errAt(t.col, "%s: %s", t.text, after.text)
}

// option accepts an .option that does not affect the machine's instructions.
func option(_ *assembler, t token, after source) error {
	switch after.text {
	case "push", "pop", "pic", "nopic", "relax", "norelax", "norvc", "csr-check", "no-csr-check":
		return nil
	}
	return errAt(after.col, "%s %s is not supported: expected push, pop, pic, nopic, relax, norelax or norvc (there are "+
		"no compressed instructions)",
		t.text, after.text)
}

// arguments splits tokens at the commas outside parentheses; no part may be empty.
func arguments(toks []token, end int) ([][]token, error) {
	args := separated(toks)
	next := 0 // token
	for _, arg := range args {
		if len(arg) == 0 {
			if next < len(toks) {
				end = toks[next].col
			}
			return nil, errAt(end, "an operand is missing")
		}
		next += len(arg) + 1
	}
	return args, nil
}

// separated splits tokens at the commas outside parentheses.
func separated(toks []token) (out [][]token) {
	if len(toks) == 0 {
		return nil
	}
	start, depth := 0, 0
	for i, t := range toks {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is(",") && depth <= 0:
			out = append(out, toks[start:i])
			start = i + 1
		}
	}
	return append(out, toks[start:])
}

// equ makes a handler for `name, value`.
func equ(define func(a *assembler, name token, value source) error) func(*assembler, token, source) error {
	return func(a *assembler, t token, after source) error {
		name := after.word()
		value := after.rest(len(name))
		if name == "" || isDigit(name[0]) || !strings.HasPrefix(value.text, ",") {
			return errAt(t.col, "expected %s name, value", t.text)
		}
		return define(a, token{text: name, col: after.col}, value.rest(1))
	}
}

func assigned(constant bool) func(*assembler, token, source) error {
	return func(a *assembler, name token, value source) error {
		toks, err := tokens(value)
		if err != nil {
			return err
		}
		return a.assign(name, toks, value.end(), constant)
	}
}

// assignment is name = value.
func (a *assembler) assignment(name token, value source) error {
	return assigned(false)(a, name, value)
}

// data makes .word, .half and .byte.
func data(size int) handler {
	return func(a *assembler, _ token, args [][]token, end int) error {
		for _, arg := range args {
			x, err := a.wholeExpr(arg, end)
			if err != nil {
				return err
			}
			err = a.add(int64(size), func(s *statement, out []byte) error {
				v, err := x.eval(&s.context)
				if err != nil {
					return err
				}
				n := v.absolute()
				if limit := int64(1) << (8 * size); size < 8 && (n < -limit/2 || n >= limit) {
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

// floats makes .float and .double.
func floats(bits int) handler {
	return func(a *assembler, _ token, args [][]token, _ int) error {
		for _, arg := range args {
			v, err := strconv.ParseFloat(spelled(arg), bits)
			if err != nil {
				return errAt(arg[0].col, "%q is not a number that %d bits hold", spelled(arg), bits)
			}
			err = a.add(int64(bits/8), func(_ *statement, out []byte) error {
				if bits == 32 {
					binary.LittleEndian.PutUint32(out, math.Float32bits(float32(v)))
				} else {
					binary.LittleEndian.PutUint64(out, math.Float64bits(v))
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

// text makes .ascii and .asciz: strings side by side are one.
func text(tail string) handler {
	return func(a *assembler, t token, args [][]token, _ int) error {
		for _, arg := range args {
			s := ""
			for _, part := range arg {
				if part.kind != tokString {
					return errAt(part.col, "%s needs strings", t.text)
				}
				s += part.text
			}
			s += tail
			err := a.add(int64(len(s)), func(_ *statement, out []byte) error { copy(out, s); return nil })
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// pattern adds n bytes that repeat a pattern; in a section without data only zeros are possible.
func (a *assembler) pattern(n int64, pattern []byte) error {
	if strings.Trim(string(pattern), "\x00") == "" {
		return a.add(n, nil)
	}
	return a.add(n, func(_ *statement, out []byte) error {
		for i := range out {
			out[i] = pattern[i%len(pattern)]
		}
		return nil
	})
}

// numbers evaluates operands that must be numbers already. Missing ones have their default.
func (a *assembler) numbers(t token, args [][]token, end int, form string, defaults ...int64) ([]int64, error) {
	if len(args) == 0 || len(args) > len(defaults) {
		return nil, errAt(t.col, "expected %s %s", t.text, form)
	}
	for i, arg := range args {
		if len(arg) == 0 {
			continue
		}
		v, err := a.constant(arg, end)
		if err != nil {
			return nil, err
		}
		defaults[i] = v
	}
	return defaults, nil
}

// fillByte checks a byte that fills space.
func fillByte(v int64, args [][]token, i int) ([]byte, error) {
	if v < math.MinInt8 || v > math.MaxUint8 {
		return nil, errAt(args[i][0].col, "%d does not fit a byte, which the space is filled with", v)
	}
	return []byte{byte(v)}, nil
}

func (a *assembler) space(t token, args [][]token, end int) error {
	v, err := a.numbers(t, args, end, "size[, fill]", 0, 0)
	if err != nil {
		return err
	}
	if v[0] < 0 {
		return errAt(args[0][0].col, "size %d is negative", v[0])
	}
	pattern, err := fillByte(v[1], args, 1)
	if err != nil {
		return err
	}
	return a.pattern(v[0], pattern)
}

// fill is .fill: copies of a number of up to 8 bytes, of which the value fills the low 4.
func (a *assembler) fill(t token, args [][]token, end int) error {
	v, err := a.numbers(t, args, end, "repeat[, size[, value]]", 0, 1, 0)
	if err != nil {
		return err
	}
	repeat, size := v[0], v[1]
	switch {
	case repeat < 0 || repeat > most.image:
		return errAt(args[0][0].col, "%d copies: expected 0 to %d", repeat, most.image)
	case size < 0 || size > 8:
		return errAt(args[1][0].col, "size %d: expected 0 to 8 bytes", size)
	}
	low := binary.LittleEndian.AppendUint64(nil, uint64(uint32(v[2])))
	return a.pattern(repeat*size, low[:size])
}

// org is .org: space up to a position in the section.
func (a *assembler) org(t token, args [][]token, end int) error {
	if len(args) < 1 || len(args) > 2 {
		return errAt(t.col, "expected %s place[, fill]", t.text)
	}
	x, err := a.wholeExpr(args[0], end)
	if err != nil {
		return err
	}
	fill := int64(0)
	if len(args) == 2 {
		if fill, err = a.constant(args[1], end); err != nil {
			return err
		}
	}
	pattern, err := fillByte(fill, args, 1)
	if err != nil {
		return err
	}
	return a.moveTo(x, pattern, args[0][0].col)
}

// moveTo pads up to a position in the section: an offset, or an address in it.
func (a *assembler) moveTo(x expr, fill []byte, col int) error {
	at := a.here()
	v, err := x.eval(&at)
	switch {
	case err != nil:
		return err
	case v.sec != nil && v.sec != a.sec:
		return errAt(col, "expected a place of section %s, found one of section %s", a.sec.name, v.sec.name)
	case v.n < int64(a.sec.size):
		return errAt(col, "offset %d lies behind: the section has %d bytes already", v.n, a.sec.size)
	}
	return a.pattern(v.n-int64(a.sec.size), fill)
}

// align makes .balign (bytes) and .align (a power of two, as on RISC-V).
func align(log bool) handler {
	return func(a *assembler, t token, args [][]token, end int) error {
		v, err := a.numbers(t, args, end, "alignment[, fill[, most]]", 0, 0, math.MaxInt64)
		if err != nil {
			return err
		}
		n := v[0]
		if log && n >= 0 && n < 32 {
			n = 1 << n
		} else if n == 0 {
			n = 1
		}
		if n < 1 || n > sectionAlign || n&(n-1) != 0 {
			return errAt(args[0][0].col, "alignment %d: expected a power of two up to %d bytes", n, sectionAlign)
		}
		pad := -int64(a.sec.size) & (n - 1)
		filled := len(args) > 1 && len(args[1]) > 0
		switch {
		case pad > v[2]:
			return nil
		case a.sec.exec && !filled:
			return a.nops(pad)
		case !filled:
			return a.pattern(pad, []byte{0})
		}
		pattern, err := fillByte(v[1], args, 1)
		if err != nil {
			return err
		}
		return a.pattern(pad, pattern)
	}
}

// nops pads code with nops, after an odd byte and a compressed nop if necessary.
func (a *assembler) nops(n int64) error {
	return a.add(n, func(_ *statement, out []byte) error {
		i := len(out) & 1
		if len(out)&2 != 0 {
			binary.LittleEndian.PutUint16(out[i:], 0x0001)
			i += 2
		}
		for ; i < len(out); i += 4 {
			binary.LittleEndian.PutUint32(out[i:], 0x00000013)
		}
		return nil
	})
}
