package asm

import "fmt"

// pseudo is an instruction that stands for others. Its expansion is text in
// which $0, $1… are the operands.
type pseudo struct {
	name   string
	n      int // operands
	expand []string
}

// pseudos is the list of the RISC-V assembly manual, for RV32.
var pseudos = []pseudo{
	{"nop", 0, []string{"addi zero, zero, 0"}},
	{"mv", 2, []string{"addi $0, $1, 0"}},
	{"not", 2, []string{"xori $0, $1, -1"}},
	{"neg", 2, []string{"sub $0, zero, $1"}},
	{"zext.b", 2, []string{"andi $0, $1, 255"}},
	{"seqz", 2, []string{"sltiu $0, $1, 1"}},
	{"snez", 2, []string{"sltu $0, zero, $1"}},
	{"sltz", 2, []string{"slt $0, $1, zero"}},
	{"sgtz", 2, []string{"slt $0, zero, $1"}},
	{"sgt", 3, []string{"slt $0, $2, $1"}},
	{"sgtu", 3, []string{"sltu $0, $2, $1"}},

	{"beqz", 2, []string{"beq $0, zero, $1"}},
	{"bnez", 2, []string{"bne $0, zero, $1"}},
	{"blez", 2, []string{"bge zero, $0, $1"}},
	{"bgez", 2, []string{"bge $0, zero, $1"}},
	{"bltz", 2, []string{"blt $0, zero, $1"}},
	{"bgtz", 2, []string{"blt zero, $0, $1"}},
	{"bgt", 3, []string{"blt $1, $0, $2"}},
	{"ble", 3, []string{"bge $1, $0, $2"}},
	{"bgtu", 3, []string{"bltu $1, $0, $2"}},
	{"bleu", 3, []string{"bgeu $1, $0, $2"}},

	{"j", 1, []string{"jal zero, $0"}},
	{"jal", 1, []string{"jal ra, $0"}},
	{"jr", 1, []string{"jalr zero, 0($0)"}},
	{"jalr", 1, []string{"jalr ra, 0($0)"}},
	{"jalr", 3, []string{"jalr $0, $2($1)"}},
	{"ret", 0, []string{"jalr zero, 0(ra)"}},
	{"call", 1, []string{"auipc ra, %pcrel_hi($0)", "jalr ra, %pcrel_lo(.-4)(ra)"}},
	{"tail", 1, []string{"auipc t1, %pcrel_hi($0)", "jalr zero, %pcrel_lo(.-4)(t1)"}},
	{"la", 2, []string{"auipc $0, %pcrel_hi($1)", "addi $0, $0, %pcrel_lo(.-4)"}},
	{"lla", 2, []string{"auipc $0, %pcrel_hi($1)", "addi $0, $0, %pcrel_lo(.-4)"}},

	{"csrr", 2, []string{"csrrs $0, $1, zero"}},
	{"csrw", 2, []string{"csrrw zero, $0, $1"}},
	{"csrs", 2, []string{"csrrs zero, $0, $1"}},
	{"csrc", 2, []string{"csrrc zero, $0, $1"}},
	{"csrwi", 2, []string{"csrrwi zero, $0, $1"}},
	{"csrsi", 2, []string{"csrrsi zero, $0, $1"}},
	{"csrci", 2, []string{"csrrci zero, $0, $1"}},
	{"frcsr", 1, []string{"csrrs $0, fcsr, zero"}},
	{"fscsr", 1, []string{"csrrw zero, fcsr, $0"}},
	{"fscsr", 2, []string{"csrrw $0, fcsr, $1"}},
	{"frrm", 1, []string{"csrrs $0, frm, zero"}},
	{"fsrm", 1, []string{"csrrw zero, frm, $0"}},
	{"fsrm", 2, []string{"csrrw $0, frm, $1"}},
	{"fsrmi", 1, []string{"csrrwi zero, frm, $0"}},
	{"frflags", 1, []string{"csrrs $0, fflags, zero"}},
	{"fsflags", 1, []string{"csrrw zero, fflags, $0"}},
	{"fsflags", 2, []string{"csrrw $0, fflags, $1"}},
	{"fsflagsi", 1, []string{"csrrwi zero, fflags, $0"}},

	{"fmv.s", 2, []string{"fsgnj.s $0, $1, $1"}},
	{"fabs.s", 2, []string{"fsgnjx.s $0, $1, $1"}},
	{"fneg.s", 2, []string{"fsgnjn.s $0, $1, $1"}},
	{"fgt.s", 3, []string{"flt.s $0, $2, $1"}},
	{"fge.s", 3, []string{"fle.s $0, $2, $1"}},
	{"fmv.x.s", 2, []string{"fmv.x.w $0, $1"}},
	{"fmv.s.x", 2, []string{"fmv.w.x $0, $1"}},
}

// toImmediate maps register instructions that accept an immediate third operand to their immediate forms.
var toImmediate = map[string]string{
	"add": "addi", "and": "andi", "or": "ori", "xor": "xori", "slt": "slti", "sltu": "sltiu",
	"sll": "slli", "srl": "srli", "sra": "srai",
}

// bySymbol are the loads and stores that accept a symbol for their address.
// Stores and float loads need a register for it: sw rs, symbol, tmp.
var bySymbol = func() []pseudo {
	var out []pseudo
	for _, l := range []string{"lb", "lbu", "lh", "lhu", "lw"} {
		out = append(out, pseudo{l, 2, []string{"auipc $0, %pcrel_hi($1)", l + " $0, %pcrel_lo(.-4)($0)"}})
	}
	for _, s := range []string{"sb", "sh", "sw", "flw", "fsw"} {
		out = append(out, pseudo{s, 3, []string{"auipc $2, %pcrel_hi($1)", s + " $0, %pcrel_lo(.-4)($2)"}})
	}
	return out
}()

type pseudoKey struct {
	name string
	n    int
}

// template is an expansion as tokens; an operand stands as an identifier $n.
type template [][]token

var templates, symbolTemplates = compile(pseudos), compile(bySymbol)

func compile(list []pseudo) map[pseudoKey]template {
	m := map[pseudoKey]template{}
	for _, p := range list {
		var t template
		for _, text := range p.expand {
			toks, err := tokens(source{text: text})
			if err != nil {
				panic(fmt.Sprintf("BUG: asm: pseudo-instruction %s: %v", p.name, err))
			}
			t = append(t, toks)
		}
		if t != nil {
			m[pseudoKey{p.name, p.n}] = t
		}
	}
	return m
}

// fill puts the operands into the template's lines.
func (t template) fill(args [][]token) [][]token {
	var out [][]token
	for _, line := range t {
		var toks []token
		for _, x := range line {
			if x.kind == tokIdent && x.text[0] == '$' {
				toks = append(toks, args[x.text[1]-'0']...)
			} else {
				toks = append(toks, x)
			}
		}
		out = append(out, toks)
	}
	return out
}
