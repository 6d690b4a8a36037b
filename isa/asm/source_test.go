package asm_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
)

// sourceWriter writes random sources. It knows no values: masks keep operands in their ranges.
type sourceWriter struct {
	*rand.Rand
	strings.Builder
	section  string
	faulty   bool
	repeated int // depth of blocks whose statements are assembled any number of times
	params   []string
	inMacro  bool
	names    int
	redefine []string // names of numbers that are known, and may change
	constant []string // from .equiv
	forward  []string // names of numbers that only the end defines
	derived  []string // names defined by those, and of .eqv, which GNU as takes only in data
	macros   []writtenMacro
	labels   map[string][]string // by section
}

type writtenMacro struct {
	name   string
	params int
}

func (g *sourceWriter) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch g.IntN(12) {
	case 0:
		text += " # ; a comment"
	case 1:
		text = "/* ; */" + text
	case 2:
		g.WriteString("\t" + text + " ; ")
		return
	}
	g.WriteString("  " + text + "\n")
}

func (g *sourceWriter) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g *sourceWriter) fresh(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

func (g *sourceWriter) literal() string {
	switch g.IntN(12) {
	case 0:
		return g.pick("0x7fffffffffffffff", "0x8000000000000000", "0xffffffffffffffff", "0x80000000", "0x7fffffff",
			"4294967295",
			"18446744073709551615", "0x800", "0xfffff800")
	case 1:
		return fmt.Sprintf("0x%x", g.Uint64()>>g.IntN(64))
	case 2:
		return fmt.Sprintf("0b%b", g.IntN(64))
	case 3:
		return fmt.Sprintf("0%o", g.IntN(512))
	case 4:
		return g.pick("'a", "'a'", "'0'", `'\n'`, "'#'", "';'", `'\\'`, `'"'`, "','")
	}
	return fmt.Sprint(g.IntN(20))
}

// known is an expression whose value is known where it stands.
func (g *sourceWriter) known(depth int) string { return g.expression(depth, g.redefine, g.constant) }

// late is one that may name what is only defined later.
func (g *sourceWriter) late(depth int) string {
	return g.expression(depth, g.redefine, g.constant, g.forward, g.forward, g.derived)
}

func (g *sourceWriter) expression(depth int, names ...[]string) string {
	space := g.pick("", "", " ")
	if depth == 0 || g.IntN(5) == 0 {
		from := names[g.IntN(len(names))]
		switch {
		case g.repeated > 0 && len(g.params) > 0 && g.IntN(3) == 0:
			return g.pick(g.params...)
		case len(from) > 0 && g.IntN(2) == 0:
			return g.pick(from...)
		}
		return g.literal()
	}
	sub := func() string { return g.expression(depth-1, names...) }
	switch g.IntN(12) {
	case 0, 1:
		return g.pick("-", "~", "!", "+", "- ") + sub()
	case 2, 3:
		return "(" + space + sub() + space + ")"
	case 4:
		return sub() + space + g.pick("/", "%") + space + "((" + sub() + ")|1)"
	case 5, 6:
		return sub() + space + g.pick("<<", ">>") + space + "((" + sub() + ")&63)"
	case 7:
		return sub() + space + g.pick("&&", "||") + space + sub()
	case 8:
		return sub() + space + g.pick("==", "!=", "<>", "<", ">", "<=", ">=") + space + sub()
	}
	return sub() + space + g.pick("+", "-", "*", "&", "|", "^", "!") + space + sub()
}

// masked is an expression of so many bits.
func (g *sourceWriter) masked(bits int, expression string) string {
	return fmt.Sprintf("(%s)&0x%x", expression, uint64(1)<<bits-1)
}

func (g *sourceWriter) statement(depth int) {
	switch g.IntN(10) {
	case 0, 1:
		g.symbol()
	case 2, 3:
		g.data()
	case 4:
		g.space()
	case 5:
		if g.repeated == 0 {
			g.label()
		} else {
			g.data()
		}
	case 6, 7:
		if g.section == ".text" {
			g.instruction()
		} else {
			g.data()
		}
	case 8:
		if depth < 2 {
			g.block(depth + 1)
		}
	case 9:
		if g.repeated == 0 && depth == 0 {
			g.enter()
		}
	}
}

func (g *sourceWriter) enter() {
	to := g.pick(".text", ".data", ".rodata", ".bss")
	if to == g.section {
		return
	}
	switch g.IntN(4) {
	case 0:
		g.line(".section %s", to)
	case 1:
		flags, kind := "aw", "@progbits"
		switch to {
		case ".text":
			flags = "ax"
		case ".rodata":
			flags = "a"
		case ".bss":
			kind = "@nobits"
		}
		g.line(`.section %s,"%s",%s`, to, flags, kind)
	case 2:
		if to != ".bss" {
			g.line(".pushsection %s", to)
			back := g.section
			g.section = to
			g.data()
			g.section = back
			g.line(".popsection")
			return
		}
		fallthrough
	default:
		if to == ".rodata" {
			g.line(".section .rodata")
		} else {
			g.line("%s", to)
		}
	}
	g.section = to
}

func (g *sourceWriter) symbol() {
	switch n := g.IntN(8); {
	case n < 4 || g.repeated > 0:
		name := g.fresh("k")
		if len(g.redefine) > 0 && (g.repeated > 0 || g.IntN(2) == 0) {
			name = g.pick(g.redefine...)
		} else if g.repeated > 0 {
			return
		}
		g.line("%s", fmt.Sprintf(g.pick("%s = %s", ".set %s, %s", ".equ %s,%s", "%s=%s"), name, g.known(3)))
		if !strings.Contains(strings.Join(g.redefine, " ")+" ", name+" ") {
			g.redefine = append(g.redefine, name)
		}
	case n == 4:
		name := g.fresh("c")
		g.line(".equiv %s, %s", name, g.known(3))
		g.constant = append(g.constant, name)
	case n == 5:
		// Of what never changes: within parentheses GNU as takes what the names meant at the .eqv, elsewhere what they
		// mean now.
		name := g.fresh("e")
		g.line(".eqv %s, %s", name, g.expression(2, g.constant))
		g.derived = append(g.derived, name)
	case n == 6:
		g.forward = append(g.forward, g.fresh("f"))
	default:
		name := g.fresh("d")
		g.line("%s = %s", name, g.late(2))
		g.derived = append(g.derived, name)
	}
}

func (g *sourceWriter) label() {
	name := g.fresh(g.pick("l", ".Ll"))
	g.line("%s:", name)
	if g.labels == nil {
		g.labels = map[string][]string{}
	}
	g.labels[g.section] = append(g.labels[g.section], name)
}

// address is a label of some section with an offset, or empty.
func (g *sourceWriter) address() string {
	list := g.labels[g.pick(".text", ".data", ".rodata", ".bss")]
	if len(list) == 0 {
		return "_start"
	}
	return g.pick(list...) + g.pick("", "+4", " - 2", "+("+g.masked(8, g.known(1))+")")
}

func (g *sourceWriter) data() {
	if g.section == ".bss" {
		if g.IntN(3) == 0 {
			g.line("%s %s", g.pick(".byte", ".half", ".word"), g.masked(0, g.known(2)))
			return
		}
		g.space()
		return
	}
	wide := fmt.Sprintf("%s %s, %s", g.pick(".8byte", ".quad", ".dword"), g.late(4), g.known(4))
	switch g.IntN(9) {
	case 0:
		g.line("%s %s,%s", g.pick(".byte", ".byte"), g.masked(8, g.known(3)), g.masked(7, g.late(2)))
	case 1:
		g.line("%s %s", g.pick(".half", ".short", ".2byte", ".hword"), g.masked(16, g.known(3)))
	case 2:
		g.line("%s %s, %s", g.pick(".word", ".long", ".int", ".4byte"), g.masked(32, g.known(3)),
			g.masked(31, g.late(3)))
	case 3:
		g.line(".word %s", g.address())
	case 4:
		if list := g.labels[g.section]; len(list) > 0 {
			a, b := g.pick(list...), g.pick(list...)
			g.line("%s", fmt.Sprintf(g.pick(".word %s - %s", ".word (%s-%s)*3", ".8byte %s < %s", ".word . - %[1]s"), a,
				b))
			return
		}
		g.line("%s", wide)
	case 5:
		g.line("%s", g.pick(`.asciz "a;b#c", "\"\\\n\101\x42"`, `.ascii "x" "y"`, `.string ""`, `.float 1.5, -2.25e3`,
			`.double 0.1`))
	default:
		g.line("%s", wide)
	}
}

func (g *sourceWriter) space() {
	fill := ""
	if g.section != ".bss" && g.IntN(2) == 0 {
		fill = ", " + g.masked(8, g.known(2))
	}
	size := g.masked(g.IntN(6), g.known(2))
	switch g.IntN(7) {
	case 0:
		g.line("%s %s%s", g.pick(".skip", ".space"), size, fill)
	case 1:
		g.line(".zero %s", size)
	case 2:
		if g.section == ".bss" {
			g.line(".fill %s, %s", size, g.masked(2, g.known(1)))
		} else {
			g.line(".fill %s, %d, %s", size, g.IntN(9), g.known(2))
		}
	case 3:
		g.line(".org . + (%s)%s", size, fill)
	case 4:
		g.line(". = . + (%s)", size)
	case 5:
		g.line(".balign %d<<(%s)%s", g.leastAlign(), g.masked(2, g.known(1)), fill)
	default:
		g.line("%s (%s) + %d%s", g.pick(".align", ".p2align"), g.masked(1, g.known(1)),
			bits.Len(uint(g.leastAlign()))-1, g.pick("", fill, ",,3", fill))
	}
}

// leastAlign is 8 in code: GNU as leaves out what aligns to 4 bytes there, even behind a byte.
func (g *sourceWriter) leastAlign() int {
	if g.section == ".text" || g.inMacro {
		return 8
	}
	return 1
}

func (g *sourceWriter) instruction() {
	g.line(".balign 8")
	reg := func() string { return g.pick("a0", "t1", "x5", "s11", "zero") }
	switch g.IntN(11) {
	case 0:
		g.line("%s %s, %s, %s", g.pick("addi", "andi", "sltiu", "add"), reg(), reg(), g.masked(11, g.known(3)))
	case 1:
		g.line("addi %s, %s, (%s) - 2048", reg(), reg(), g.masked(11, g.known(2)))
	case 2:
		g.line("%s %s, %s, %s", g.pick("slli", "srai", "srl"), reg(), reg(), g.masked(5, g.known(2)))
	case 3:
		g.line("%s %s, %s(%s)", g.pick("lw", "sb", "lhu"), reg(), g.masked(11, g.known(2)), reg())
	case 4:
		g.line("csrrw %s, %s, %s", reg(), g.masked(12, g.known(2)), reg())
	case 5:
		g.line("csrrwi %s, 0x340, %s", reg(), g.masked(5, g.known(2)))
	case 6:
		g.line("li %s, %s", reg(), g.masked(32, g.known(3)))
	case 7:
		g.line("lui %s, %s", reg(), g.masked(20, g.known(2)))
	case 8:
		number := g.masked(31, g.late(2))
		g.line("lui a0, %%hi(%s)", number)
		g.line("%s", fmt.Sprintf(g.pick("addi a0, a0, %%lo(%s)", "lw a1, %%lo(%s)(a0)", "sw a1, %%lo(%s)(a0)"), number))
	case 9:
		g.line("%s", fmt.Sprintf(g.pick("la a0, %s", "lla a1, %s", "lw a0, %s", "sw a0, %s, t0", "lui a0, %%hi(%s)",
			"addi a0, a0, %%lo(%s)"),
			g.address()))
	default:
		if g.IntN(2) == 0 {
			g.line("j 1f")
			return
		}
		g.line("%s", g.pick("1: bnez a0, 1b", "1: j 1b", "call _start", "beq a0, a1, .", "jal t0, _start",
			"tail _start", "bgeu a0, a1, .+8"))
	}
}

// block is a condition, a repetition, or a macro and its invocation.
func (g *sourceWriter) block(depth int) {
	inner := func() {
		for range 1 + g.IntN(3) {
			g.statement(depth)
		}
	}
	params, repeated := g.params, g.repeated
	defer func() { g.params, g.repeated = params, repeated }()
	g.repeated++ // what a condition leaves out must not be missed
	switch g.IntN(6) {
	case 0:
		g.line("%s %s", g.pick(".if", ".ifne", ".ifeq", ".ifgt", ".ifge", ".iflt", ".ifle"), g.known(3))
		inner()
		if g.IntN(2) == 0 {
			g.line(".elseif %s", g.known(2))
			inner()
		}
		if g.IntN(2) == 0 {
			g.line(".else")
			inner()
		}
		g.line(".endif")
	case 1:
		g.line("%s %s", g.pick(".ifdef", ".ifndef"), g.pick(append(g.redefine, "nowhere")...))
		inner()
		g.line(".endif")
	case 2:
		g.line(".rept %s", g.masked(2, g.known(1)))
		inner()
		g.line(".endr")
	case 3:
		g.params = append(g.params, `\v`)
		g.line(".irp v%s", g.pick(",1,2,3", " 1 2", ", 7 , (1 + 2) , -3", ""+","+g.literal(), `, "4 + 1", 'x`))
		inner()
		g.line(".endr")
	case 4:
		g.params = append(g.params, `\c`)
		g.line(".irpc c, %s", g.pick("012", "7", "55"))
		inner()
		g.line(".endr")
	default:
		g.macro(inner)
	}
}

// macro defines one, or invokes those that are there.
func (g *sourceWriter) macro(inner func()) {
	if g.repeated == 1 && (len(g.macros) == 0 || g.IntN(3) == 0) {
		m := writtenMacro{g.fresh("m"), g.IntN(4)}
		head := ".macro " + m.name
		g.params = nil
		for i := range m.params {
			p := fmt.Sprintf("p%d", i)
			g.params = append(g.params, `\`+p)
			head += g.pick(" ", ", ") + p + g.pick("=7", "=(1+1)", "=3")
		}
		g.line("%s", head)
		if g.IntN(3) == 0 {
			g.line(`n\@\(): .byte \@`)
		}
		g.inMacro = true // invoked in any section
		inner()
		g.inMacro = false
		g.line(".endm")
		g.macros = append(g.macros, m)
	}
	if len(g.macros) == 0 || g.section == ".bss" {
		return
	}
	m := g.macros[g.IntN(len(g.macros))]
	args := make([]string, 0, m.params)
	for i := range g.IntN(m.params + 1) {
		args = append(args, g.pick(g.literal(), g.literal(), "(1 + 2)", "2 * 3", `"5 - 4"`, "-1",
			fmt.Sprintf("p%d=6", i), ""))
	}
	text := strings.Join(args, g.pick(",", ", ", " , "))
	if strings.HasSuffix(strings.TrimSpace(text), ",") {
		text += "1"
	}
	g.line("%s %s", m.name, text)
}

// fault is a mistake.
func (g *sourceWriter) fault() {
	if g.section == ".bss" {
		g.line(".data")
		g.section = ".data"
	}
	g.line("%s", g.pick(
		".word nowhere", "dup: .byte 1; dup: .byte 1", ".equiv twice, 1\n.equiv twice, 2", ".equiv once, 1\nonce = 2",
		".byte 1/0", ".8byte 1 % (3 - 3)",
		".8byte 1 << 64", ".8byte 1 >> (0 - 1)", ".frobnicate 1", ".if nowhere\n.endif", ".rept 2\n.byte 1", ".macro unended",
		".if 1", ".endif",
		".else", ".endm", ".endr", ".byte 256", ".half 65536", ".word 0x100000000", ".org . - 1", ".skip 1 +", ".8byte (1",
		".8byte 1)", ".8byte 1 2", ".8byte 09", ".8byte 0b12", ".balign 3", ".word 1b + ,", ".rept -1\n.endr", ".popsection",
		".macro bad(a)\n.endm", ".macro m9 a:req\n.byte \\a\n.endm\nm9", ".macro m8 a\n.byte \\a\n.endm\nm8 1, 2",
		".macro m7 a\n.endm\nm7 b=1",
		".macro m6\n.endm\n.macro m6\n.endm", ".macro m5\nm5\n.endm\nm5", ".purgem nothing", ".err", `.error "x"`,
		".balign 8\naddi a0, a0, 2048", ".balign 8\nslli a0, a0, 32", ".balign 8\nlui a0, 0x100000",
		".balign 8\ncsrr a0, 0x1000",
		".balign 8\nfrobnicate a0", ".balign 8\nadd a0, a1", ".8byte x\nx = y\ny = x", ".8byte -_start", ".8byte _start * 2",
		`.asciz "abc`,
		".byte 'a' 'b'", ".fill -1", ".fill 1, 9", ".eqv a9, 1\n.eqv a9, 2", ".if 1\n.else\n.else\n.endif", ".word \\x",
	))
}
