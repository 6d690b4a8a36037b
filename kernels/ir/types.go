package ir

import "heddle/isa"

// Type is the type of a value.
type Type uint8

// Types. A Pred is 0 or 1.
const (
	None Type = iota
	I32
	U32
	F32
	Pred
)

var typeNames = [...]string{None: "none", I32: "i32", U32: "u32", F32: "f32", Pred: "pred"}

func (t Type) String() string { return typeNames[t] }

// Int reports whether the type is i32 or u32.
func (t Type) Int() bool { return t == I32 || t == U32 }

// Value is the result of an instruction: every use names the instruction itself.
type Value = *Instr

// Instr is one instruction.
type Instr struct {
	ID   int // dense in its kernel
	Op   Op
	Type Type    // of its value; None: it has none
	Args []Value // an argument may be nil where the op's row says so
	// Imm is, of OpConst, the bits; of memory, bytes added to the address; of OpParam and OpShared, which one; of
	// OpListItem, the field of an edge; of OpWeaverReg, 0 or RegistersEven; of OpUnitDo and OpUnitAsk, the instruction,
	// an isa.Op.
	Imm    uint32
	Var    *Var // OpVar, OpGet, OpSet
	Blocks []*Block
	Loop   Value // OpBreak, OpContinue: which loop
	Phase  isa.Phase
	Pos    string // where it was built, for messages

	// Hints of the compiler's passes; they change nothing of the meaning.
	Grid *Grid // OpLoop
	// Copies, of an OpFor, is how many steps of a loop one step of it does, one after the other: their loads may overlap.
	Copies int
}

// RegistersEven says that what is registered as a vertex is even, whatever else it is.
const RegistersEven = 1

// Grid says of a loop in which lanes take neighbouring elements that, as long as Next
// is below Safe in a lane, no lane of the warp leaves: Next < Safe is the same in all.
type Grid struct {
	Next *Var
	Safe Value
}

// Block is a list of instructions.
type Block struct{ Instrs []*Instr }

// Var is a mutable variable, one per lane.
type Var struct {
	ID   int
	Type Type
}

// Param is a word of the argument block.
type Param struct {
	Name    string
	Type    Type
	Word    int  // at byte 4·Word of the block
	Aligned bool // the address of words
}

// Shared is an array in the core's scratchpad.
type Shared struct {
	Name   string
	Offset int // bytes from the scratchpad's start
	Words  int
}

// Kernel is a program in this representation.
type Kernel struct {
	Name   string
	Params []Param
	Shared []Shared
	// Roots are the values known before anything runs, in all lanes: constants, parameters,
	// addresses of shared arrays, who a lane is. They are in no block.
	Roots []*Instr
	Body  *Block
	// Lists are the instructions for its core's vertex-lists; none: a GraphPEG's.
	Lists ListOps

	// Warps are those of a core that run it; 0: all that the machine has.
	Warps int
	// Block is how many neighbouring warps of a core a barrier is for (a thread block's), a divisor of Warps; 0: all
	// that run it.
	Block int

	Instr int // number of IDs of instructions given out
	Vars  int // and of variables
	// Phase is that of instructions that are made: the builder's current one, or that of
	// the instruction for whose sake a pass makes them.
	Phase isa.Phase
}

// ListOps names instructions that take a vertex from a list and put one there. Some name the list, in rs2.
type ListOps struct{ Pop, Push string }

// pegLists are a GraphPEG's, which holds edges too.
var pegLists = ListOps{"peg.popv", "peg.push"}

// ListRows are the kernel's.
func (k *Kernel) ListRows() (pop, push *isa.Row) {
	ops := k.Lists
	if ops == (ListOps{}) {
		ops = pegLists
	}
	return unitRow(ops.Pop), unitRow(ops.Push)
}

// unitRow is the instruction of a graph unit of that name.
func unitRow(name string) *isa.Row {
	if r := isa.Lookup(name); r != nil && r.Class == isa.ClassUnit {
		return r
	}
	panic("BUG: ir: " + name + " is no instruction of a graph unit")
}

// UnitRow is the instruction of an OpUnitDo or OpUnitAsk.
func (i *Instr) UnitRow() *isa.Row { return isa.All()[i.Imm] }

// SharedBytes is how much of the scratchpad the kernel uses.
func (k *Kernel) SharedBytes() int {
	n := 0
	for _, s := range k.Shared {
		n = max(n, s.Offset+4*s.Words)
	}
	return n
}

// New makes an instruction that is in no block yet.
func (k *Kernel) New(op Op, t Type, args ...Value) *Instr {
	i := &Instr{ID: k.Instr, Op: op, Type: t, Args: args, Phase: k.Phase}
	k.Instr++
	return i
}

// NewVar makes a variable.
func (k *Kernel) NewVar(t Type) *Var {
	v := &Var{ID: k.Vars, Type: t}
	k.Vars++
	return v
}

// Root returns the root with these properties, and makes it if there is none.
func (k *Kernel) Root(op Op, t Type, imm uint32) Value {
	for _, r := range k.Roots {
		if r.Op == op && r.Type == t && r.Imm == imm {
			return r
		}
	}
	r := k.New(op, t)
	r.Imm = imm
	k.Roots = append(k.Roots, r)
	return r
}

// Const returns a constant.
func (k *Kernel) Const(t Type, bits uint32) Value { return k.Root(OpConst, t, bits) }

// IsConst reports whether the value is a constant, and its bits.
func (i *Instr) IsConst() (bits uint32, ok bool) {
	if i == nil || i.Op != OpConst {
		return 0, false
	}
	return i.Imm, true
}

// TestFirst tells of a loop whose body follows its test always, so that it knows the
// test's values: one without a guard.
func (i *Instr) TestFirst() bool { return i.Op == OpLoop && i.Args[0] == nil }

// Walk calls f for every instruction of the block and the blocks in it, before its own blocks.
func (b *Block) Walk(f func(*Instr)) {
	for _, i := range b.Instrs {
		f(i)
		for _, n := range i.Blocks {
			n.Walk(f)
		}
	}
}

// Fields says which fields of an edge the body of a ListEdges reads, as bits; the destination if none. Of an EghwEdges
// the base is always read.
func Fields(i *Instr) (fields uint32) {
	of := map[Value]uint32{}
	for _, x := range i.Blocks[0].Instrs {
		if x.Op == OpListItem {
			of[x] = 1 << x.Imm
		}
	}
	i.Blocks[0].Walk(func(x *Instr) {
		for _, a := range x.Args {
			fields |= of[a]
		}
	})
	switch {
	case i.Op == OpEghwEdges:
		return fields | 1<<eghwBase // which a pop returns
	case fields == 0:
		return 1 << isa.PegDst
	}
	return fields
}

// Fields says the same of all that the kernel takes; 0: it takes no edges.
func (k *Kernel) Fields() (fields uint32) {
	k.Body.Walk(func(i *Instr) {
		if i.Op == OpListEdges || i.Op == OpEghwEdges {
			fields |= Fields(i)
		}
	})
	return fields
}
