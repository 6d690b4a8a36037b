package codegen

import (
	"strings"
	"sync"

	"heddle/isa"
)

// reg is a virtual register; 0 is x0.
type reg int

// label is a place in the code; 0 is none.
type label int

// inst is an instruction on virtual registers, or, without a row, a label.
type inst struct {
	row         *isa.Row
	rd, a, b, c reg
	imm         int32
	csr         uint16
	rm          uint8
	to          label // where a branch or jump goes
	label       label // without a row: which it is
	not         bool  // the .n form
	// who handles an edge by executing it: 0, nobody; 1, each lane; more, a thread block of so many warps
	edge  uint8
	phase isa.Phase
	depth int  // loops around it
	entry bool // without a row: what all warps begin with belongs here
}

// code is a program on virtual registers.
type code struct {
	insts  []inst
	float  []bool // by register: a float register
	labels int
	args   reg   // where the argument block is; 0: nothing asks
	pinned []reg // live in all of the program
	quick  []reg // live where there is no stack yet
	visits []visit
}

// visit is a piece of code that lanes also run which wait elsewhere: they come from there and go back.
type visit struct {
	begin, end label
	from       []label
}

func newCode() *code { return &code{float: []bool{false}} }

func (c *code) newX() reg { c.float = append(c.float, false); return reg(len(c.float) - 1) }
func (c *code) newF() reg { c.float = append(c.float, true); return reg(len(c.float) - 1) }

func (c *code) newLabel() label { c.labels++; return label(c.labels) }

// access says how an instruction uses its register fields.
type access struct{ rd, a, b, c, tied, rm bool }

// accesses are those of all instructions, by their numbers; it is asked when a kernel is compiled, as a graph unit may
// bring its own when the program starts.
var accesses = sync.OnceValue(func() (all []access) {
	for _, r := range isa.All() {
		var x access
		for _, o := range r.Format {
			x.rd = x.rd || o.Name == "rd" || o.Name == "fd"
			x.a = x.a || strings.Contains(o.Name, "s1")
			x.b = x.b || strings.Contains(o.Name, "s2")
			x.rm = x.rm || o.Kind == isa.KindRM
			x.c = x.c || strings.Contains(o.Name, "s3")
		}
		_, x.tied = r.Sem.(isa.CompareSwap)
		all = append(all, x)
	}
	return all
})

// def returns the register that an instruction writes, or 0.
func (i *inst) def() reg {
	if i.row != nil && accesses()[i.row.Op].rd {
		return i.rd
	}
	return 0
}

// eachUse calls f for the registers that an instruction reads.
func (i *inst) eachUse(f func(reg)) {
	if i.row == nil {
		return
	}
	x := accesses()[i.row.Op]
	for _, u := range []struct {
		used bool
		r    reg
	}{{x.a, i.a}, {x.b, i.b}, {x.c, i.c}, {x.tied, i.rd}} {
		if u.used && u.r != 0 {
			f(u.r)
		}
	}
}

// jumps reports whether an instruction always goes elsewhere.
func (i *inst) jumps() bool { return i.row != nil && (i.row.Name == "jal" || i.ends()) }

// ends tells of the instruction that ends a warp.
func (i *inst) ends() bool { return i.row.Name == "tmc" && i.a == 0 }
