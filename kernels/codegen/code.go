package codegen

import (
	"strings"
	"sync"

	"heddle/isa"
	"heddle/kernels/ir"
)

// reg is a virtual register; 0 is x0.
type reg int

// label is a place in the code; 0 is none.
type label int

// inst is an instruction on virtual registers or, if row is nil, a label.
type inst struct {
	row         *isa.Row
	rd, a, b, c reg
	also        reg // registers that called code reads; 0: none
	imm         int32
	csr         uint16
	rm          uint8
	to          label // target of a branch or jump
	label       label // the label, if row is nil
	not         bool  // the .n form
	// edge marks that executing it handles an edge: 0: none; 1: one in each lane; n: one in a thread block of n warps.
	edge  uint8
	phase isa.Phase
	from  *ir.Instr // whose code it is; nil: none
	depth int       // number of enclosing loops
	entry bool      // stands for the code that all warps begin with
}

// code is a program on virtual registers.
type code struct {
	insts  []inst
	float  []bool // by register: a float register
	labels int
	args   reg   // address of the argument block; 0: not used
	pinned []reg // live in the whole program
	quick  []reg // live before the stack is set up

	preloads map[reg]isa.Reg // parameters' first registers, to which the launch has written them
	reloads  map[reg]inst    // loads of the values that are moved from there
	places   map[reg]isa.Reg // the registers of calls, which nothing else has then

	visits []visit
	task   bool // a0 to a6 hold a task's arguments
}

// visit is a piece of code that lanes waiting elsewhere execute too: they come from there and return.
type visit struct {
	begin, end label
	from       []label
}

func newCode() *code {
	return &code{float: []bool{false}, preloads: map[reg]isa.Reg{}, reloads: map[reg]inst{}, places: map[reg]isa.Reg{}}
}

func (c *code) newX() reg { c.float = append(c.float, false); return reg(len(c.float) - 1) }
func (c *code) newF() reg { c.float = append(c.float, true); return reg(len(c.float) - 1) }

func (c *code) newLabel() label { c.labels++; return label(c.labels) }

// access describes how an instruction uses its register fields.
type access struct{ rd, a, b, c, tied, rm bool }

// accesses returns the access of all instructions, by number. It is computed when the first kernel is compiled, as
// graph units can register instructions when the program starts.
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
	}{{x.a, i.a}, {x.b, i.b}, {x.c, i.c}, {x.tied, i.rd}, {true, i.also}} {
		if u.used && u.r != 0 {
			f(u.r)
		}
	}
}

// jumps reports whether an instruction always goes elsewhere.
func (i *inst) jumps() bool { return i.row != nil && (i.row.Name == "jal" || i.ends()) }

// ends reports whether an instruction ends the warp.
func (i *inst) ends() bool { return i.row.Name == "tmc" && i.a == 0 }
