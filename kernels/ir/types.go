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
	ID   int // dense within its kernel
	Op   Op
	Type Type    // type of its value; None: no value
	Args []Value // an argument may be nil where the op's row says so
	// Imm depends on the op. OpConst: the bits; memory: bytes added to the address; OpParam and OpShared: the index;
	// OpListItem: the field of an edge; OpWeaverReg: 0 or RegistersEven; OpUnitDo and OpUnitAsk: the instruction, an
	// isa.Op.
	Imm    uint32
	Var    *Var // OpVar, OpGet, OpSet
	Blocks []*Block
	Loop   Value // OpBreak, OpContinue: the loop
	Phase  isa.Phase
	Name   string // for a reader of the kernel; "": none
	Note   string // the same, a sentence about the code that begins here
	Pos    string // position in the Go code that built it, for messages

	// Hints from the compiler's passes; they do not change the semantics.
	Grid *Grid // OpLoop
	// Copies, of an OpFor, is how many steps of a loop one step of it does, one after the other: their loads may
	// overlap.
	Copies int
}

// RegistersEven is set if the value registered as a vertex is always even.
const RegistersEven = 1

// Grid describes a loop in which lanes process neighbouring elements: as long as Next is below Safe in one lane, no
// lane of the warp leaves. Next < Safe is uniform.
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
	Name string // for a reader of the kernel; "": none
	Note string // the same, a sentence about the code that begins with its declaration
}

// Param is a word of the argument block.
type Param struct {
	Name    string
	Type    Type
	Word    int  // at byte 4·Word of the block
	Aligned bool // the address of words, a multiple of 4
}

// Shared is an array in the core's scratchpad.
type Shared struct {
	Name   string
	Offset int // bytes from the start of the scratchpad
	Words  int
}

// Kernel is a program in this representation.
type Kernel struct {
	Name   string
	Params []Param
	Shared []Shared
	// Roots are the values defined before the kernel runs, in all lanes: constants, parameters, addresses of shared
	// arrays, lane identity. They belong to no block.
	Roots []*Instr
	Body  *Block
	// Lists are the instructions for the core's vertex-lists; zero: a GraphPEG's.
	Lists ListOps

	// Scalar is set if a core of one lane and one warp runs it, so that nothing differs between lanes.
	Scalar bool
	// Warps is the number of warps of a core that run it; 0: all that the machine has.
	Warps int
	// Block is the number of neighbouring warps of a core that form a thread block, the scope of a barrier; a divisor
	// of Warps; 0: all that run it.
	Block int

	Instr int // number of instruction IDs assigned
	Vars  int // number of variable IDs assigned
	// Phase is assigned to new instructions: the builder's current phase, or that of the instruction on whose behalf a
	// pass adds them.
	Phase isa.Phase
}

// ListOps names the instructions that pop a vertex from a list and push one. Some identify the list in rs2.
type ListOps struct{ Pop, Push string }

// pegLists are the instructions of a GraphPEG, which holds edges too.
var pegLists = ListOps{"peg.popv", "peg.push"}

// ListRows returns the kernel's list instructions.
func (k *Kernel) ListRows() (pop, push *isa.Row) {
	ops := k.Lists
	if ops == (ListOps{}) {
		ops = pegLists
	}
	return unitRow(ops.Pop), unitRow(ops.Push)
}

// unitRow returns the instruction of a graph unit of that name.
func unitRow(name string) *isa.Row {
	if r := isa.Lookup(name); r != nil && r.Class == isa.ClassUnit {
		return r
	}
	panic("BUG: ir: " + name + " is no instruction of a graph unit")
}

// UnitRow returns the instruction of an OpUnitDo or OpUnitAsk.
func (i *Instr) UnitRow() *isa.Row { return isa.All()[i.Imm] }

// SharedBytes returns the scratchpad bytes that the kernel uses.
func (k *Kernel) SharedBytes() int {
	n := 0
	for _, s := range k.Shared {
		n = max(n, s.Offset+4*s.Words)
	}
	return n
}

// New returns an instruction that belongs to no block yet.
func (k *Kernel) New(op Op, t Type, args ...Value) *Instr {
	i := &Instr{ID: k.Instr, Op: op, Type: t, Args: args, Phase: k.Phase}
	k.Instr++
	return i
}

// NewVar declares a variable.
func (k *Kernel) NewVar(t Type) *Var {
	v := &Var{ID: k.Vars, Type: t}
	k.Vars++
	return v
}

// Root returns the root with these properties, creating it if necessary.
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

// IsConst reports whether the value is a constant, and returns its bits.
func (i *Instr) IsConst() (bits uint32, ok bool) {
	if i == nil || i.Op != OpConst {
		return 0, false
	}
	return i.Imm, true
}

// TestFirst reports whether the loop's body always follows its test, so that the test's values are defined in it: a
// loop without a guard.
func (i *Instr) TestFirst() bool { return i.Op == OpLoop && i.Args[0] == nil }

// Walk calls f for every instruction of the block and of nested blocks, each before its own blocks.
func (b *Block) Walk(f func(*Instr)) {
	for _, i := range b.Instrs {
		f(i)
		for _, n := range i.Blocks {
			n.Walk(f)
		}
	}
}

// Uses returns how many arguments of the block's instructions, and of those in nested blocks, are the value.
func (b *Block) Uses(v Value) (n int) {
	b.Walk(func(i *Instr) {
		for _, x := range i.Args {
			if x == v {
				n++
			}
		}
	})
	return n
}

// Fields returns the bit set of an edge's fields that the body of a ListEdges reads; if none, the destination. For an
// EghwEdges the base is always read.
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
		return fields | 1<<eghwBase // returned by the pop itself
	case fields == 0:
		return 1 << isa.PegDst
	}
	return fields
}

// Fields returns the same for all edges that the kernel pops; 0: it pops none.
func (k *Kernel) Fields() (fields uint32) {
	k.Body.Walk(func(i *Instr) {
		if i.Op == OpListEdges || i.Op == OpEghwEdges {
			fields |= Fields(i)
		}
	})
	return fields
}
