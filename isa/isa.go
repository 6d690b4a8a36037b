// Package isa declares every instruction of the simulated machine once.
//
// One Row per instruction holds its name, encoding, operands, execution class
// and meaning. Encoding, decoding, disassembly, assembly, execution and
// docs/reference/isa.md all follow from the rows; there is no second list to keep in step.
//
// An extension is one file that declares its rows, and one line in extensions. A graph unit may bring its own (Extend).
//
// This package knows no machine: no warps scheduled, no memory, no time. It
// imports nothing else of heddle.
package isa

// Row is one instruction.
type Row struct {
	Name   string    // assembly mnemonic, without suffixes
	Enc    Encoding  // the bits that identify it
	Format Format    // its operands, in the order they are written
	Class  Class     // which functional unit executes it, and with which latency
	Sem    Semantics // its effect
	Doc    string    // one line for docs/reference/isa.md

	Ext *Extension // set when the tables are built
	Op  Op         // set when the tables are built: index in All()
}

// Op numbers the rows densely, in the order of All. It is stable within one
// build only: files name instructions by their encoding or mnemonic.
type Op uint16

// Encoding identifies an instruction: word&Mask == Match.
type Encoding struct{ Match, Mask uint32 }

// Extension is a named group of rows, declared in one file.
type Extension struct {
	Name string // "RV32I", "weaver"
	Doc  string // description and reference
	Rows []Row
	// Presence is the bit of the units CSR that is set if cores have the graph unit of these instructions; 0: they
	// belong to no unit.
	Presence uint32

	// Optional extensions are instructions only of machines that are configured to have them.
	Optional bool

	wrong error // why UnitExtension could not make it
}

// extensions lists every instruction of the machine.
var extensions = []*Extension{
	&rv32i, &rv32m, &rv32a, &rv32f, &zicsr, &zifencei, &zicond, &zba, &machineMode,
	&vortex, &weaver, &peg, &eghw, &hwwl, &swarm,
}

// Extensions returns the extensions in their fixed order.
func Extensions() []*Extension { return extensions }

// All returns every row; All()[r.Op] == r.
func All() []*Row { return all }

// Lookup returns the row with this mnemonic, or nil.
func Lookup(name string) *Row { return byName[name] }

var (
	all    []*Row
	byName = map[string]*Row{}
)

func init() {
	for _, x := range extensions {
		for i := range x.Rows {
			enroll(x, &x.Rows[i])
		}
	}
	describeUnits()
}

// enroll enters a row of an extension into the tables.
func enroll(x *Extension, r *Row) {
	r.Ext, r.Op = x, Op(len(all))
	all = append(all, r)
	byName[r.Name] = r
	enter(r)
}

// Class groups instructions that share a functional unit and a latency. The names are those of Vortex's RTL where it
// has one.
type Class uint8

// Classes.
const (
	ClassALU    Class = iota // integer arithmetic, lui, auipc
	ClassBranch              // branches and jumps
	ClassMul
	ClassDiv
	ClassVote // vote and shuffle: cross-lane, executed by the ALU
	ClassLoad
	ClassStore
	ClassAtomic
	ClassFence
	ClassFMA   // fadd, fsub, fmul, fused multiply-add
	ClassFNCP  // fsgnj, fmin, fmax, compare, move, classify
	ClassFCvt  // conversions between integer and float
	ClassFDiv  //
	ClassFSqrt //
	ClassCSR
	ClassWarp // warp control: tmc, wspawn, split, join, bar, pred
	ClassUnit // a request to a graph unit behind the accelerator socket
	NumClasses
)

// Unit is a functional unit of the core.
type Unit uint8

// Functional units.
const (
	ALU Unit = iota
	FPU
	LSU
	SFU
	NumUnits
)

var classes = [NumClasses]struct {
	name string
	unit Unit
}{
	ClassALU: {"alu", ALU}, ClassBranch: {"branch", ALU}, ClassMul: {"mul", ALU}, ClassDiv: {"div", ALU}, ClassVote: {"vote", ALU},
	ClassLoad: {"load", LSU}, ClassStore: {"store", LSU}, ClassAtomic: {"atomic", LSU}, ClassFence: {"fence", LSU},
	ClassFMA: {"fma", FPU}, ClassFNCP: {"fncp", FPU}, ClassFCvt: {"fcvt", FPU}, ClassFDiv: {"fdiv", FPU}, ClassFSqrt: {"fsqrt", FPU},
	ClassCSR: {"csr", SFU}, ClassWarp: {"warp", SFU}, ClassUnit: {"unit", SFU},
}

var unitNames = [NumUnits]string{"ALU", "FPU", "LSU", "SFU"}

func (c Class) String() string { return classes[c].name }

// Unit returns the functional unit that executes the class.
func (c Class) Unit() Unit { return classes[c].unit }

func (u Unit) String() string { return unitNames[u] }

// Reg is a register of one thread: 0..31 are x0..x31, 32..63 are f0..f31.
type Reg uint8

// F is added to the number of a float register.
const F Reg = 32

// NumRegs is the number of architectural registers of a thread, x and f.
const NumRegs = 64

var xNames = [32]string{
	"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
	"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
}

var fNames = [32]string{
	"ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5",
	"fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
}

// String returns the ABI name.
func (r Reg) String() string {
	if r < F {
		return xNames[r]
	}
	return fNames[r-F]
}

// RegNames maps every accepted spelling (ABI names, xN, fN, fp) to its register.
func RegNames() map[string]Reg {
	m := map[string]Reg{"fp": 8}
	for i := Reg(0); i < 32; i++ {
		m[xNames[i]], m["x"+itoa(int(i))] = i, i
		m[fNames[i]], m["f"+itoa(int(i))] = F+i, F+i
	}
	return m
}
