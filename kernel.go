package heddle

import (
	"fmt"

	"heddle/graph"
	"heddle/kernels/codegen"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// Kernel is a kernel being written. It has all methods of Builder, and those that graph kernels share: Addr, Count and
// Float for parameters, When, Strided, searches and sums over a warp.
type Kernel = emit.Kernel

// Builder writes operations and control flow.
type Builder = ir.Builder

// Value is the result of an operation in a kernel.
type Value = ir.Value

// Variable is a mutable variable, as used in loops.
type Variable = ir.Variable

// Loop is a loop that lanes may leave or continue.
type Loop = ir.Loop

// Type is the type of a value.
type Type = ir.Type

// Types.
const (
	Pred = ir.Pred
	I32  = ir.I32
	U32  = ir.U32
	F32  = ir.F32
)

// NewKernel returns an empty kernel.
func NewKernel(name string) *Kernel { return emit.New(name) }

// CompiledKernel is a kernel's program, its register and instruction counts, and the kernel after all passes.
type CompiledKernel struct {
	*codegen.Compiled
	params []ir.Param
}

// CompileKernel finishes a kernel and compiles it for a machine; nil: for any machine except one whose Weaver sets the
// thread mask.
func CompileKernel(k *Kernel, m *Machine) (*CompiledKernel, error) {
	built, err := k.Build()
	if err != nil {
		return nil, err
	}
	o := codegen.Options{}
	if m != nil {
		s := m.Device().Shape()
		o.MaskByUnit, o.Zba = s.MaskByUnit, s.Zba
		o.ArgumentRegisters, o.SilentExit = s.ArgumentRegisters, s.SilentExit
	}
	c, err := codegen.Compile(built, o)
	if err != nil {
		return nil, err
	}
	return &CompiledKernel{c, built.Params}, nil
}

// Place allocates arrays in a machine's memory, each aligned to a cache line, and writes the kernel's argument block:
// the addresses of arrays and the numbers that its parameters (Addr, Count, Float) name; a float is passed as its bits.
// It returns the argument for Launch of the program, and the address of each array. A parameter that is in neither map,
// a name that is in both, and arrays that do not fit are errors.
func (c *CompiledKernel) Place(m *Machine, arrays map[string][]uint32, numbers map[string]uint32) (arg uint32,
	at map[string]uint32, err error) {
	d := m.Device()
	im := graph.NewImage(graph.ArrayBase, d.Shape().LineBytes, graph.Reserved(d.Shape().Lanes(), c.Program)...)
	at = map[string]uint32{}
	block := make([]uint32, len(c.params))
	for _, p := range c.params {
		data, isArray := arrays[p.Name]
		number, isNumber := numbers[p.Name]
		switch {
		case isArray == isNumber:
			return 0, nil, fmt.Errorf("parameter %s of kernel %s: expected it among the arrays or among the numbers",
				p.Name, c.Kernel.Name)
		case isArray:
			a, err := im.Place(p.Name, data)
			if err != nil {
				return 0, nil, err
			}
			number, at[p.Name] = a.Addr, a.Addr
		}
		block[p.Word] = number
	}
	args, err := im.Place("arguments", block)
	if err != nil {
		return 0, nil, err
	}
	im.Write(d)
	return args.Addr, at, nil
}
