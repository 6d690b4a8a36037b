package ir

import "heddle/isa"

// Word addresses are base + 4·index, where base is a u32 and a multiple of 4, and index is an i32 or a u32, or nil for
// base itself. Byte addresses are base + index.

// Load reads a word as a value of type t.
func (b *Builder) Load(t Type, base, index Value) Value { return b.add(OpLoad, t, base, index) }

// Store writes a word.
func (b *Builder) Store(base, index, v Value) { b.add(OpStore, None, base, index, v) }

// LoadByte reads a byte as a u32.
func (b *Builder) LoadByte(base, index Value) Value { return b.add(OpLoadByte, U32, base, index) }

// StoreByte writes the low byte of v.
func (b *Builder) StoreByte(base, index, v Value) { b.add(OpStoreByte, None, base, index, v) }

// Address returns the address of word index of an array, for use as a base.
func (b *Builder) Address(base, index Value) Value {
	return b.Add(base, b.AsU32(b.Shl(index, b.U32(2))))
}

// Atomics read a word, write its combination with v, and return the old value, indivisibly. An unused result is
// dropped.

// AtomicAdd stores the sum.
func (b *Builder) AtomicAdd(base, index, v Value) Value { return b.atomic(OpAtomicAdd, base, index, v) }

// AtomicMin stores the smaller value.
func (b *Builder) AtomicMin(base, index, v Value) Value { return b.atomic(OpAtomicMin, base, index, v) }

// AtomicMax stores the larger value.
func (b *Builder) AtomicMax(base, index, v Value) Value { return b.atomic(OpAtomicMax, base, index, v) }

// AtomicAnd stores the bitwise and.
func (b *Builder) AtomicAnd(base, index, v Value) Value { return b.atomic(OpAtomicAnd, base, index, v) }

// AtomicOr stores the bitwise or.
func (b *Builder) AtomicOr(base, index, v Value) Value { return b.atomic(OpAtomicOr, base, index, v) }

// AtomicXor stores the bitwise exclusive or.
func (b *Builder) AtomicXor(base, index, v Value) Value { return b.atomic(OpAtomicXor, base, index, v) }

// AtomicXchg stores v.
func (b *Builder) AtomicXchg(base, index, v Value) Value {
	return b.atomic(OpAtomicXchg, base, index, v)
}

// AtomicCAS stores v if the word equals expected.
func (b *Builder) AtomicCAS(base, index, expected, v Value) Value {
	return b.add(OpAtomicCAS, same(v), base, index, expected, v)
}

// AtomicAddF stores the float sum.
func (b *Builder) AtomicAddF(base, index, v Value) Value {
	return b.add(OpAtomicAddF, F32, base, index, v)
}

func (b *Builder) atomic(op Op, base, index, v Value) Value {
	return b.add(op, same(v), base, index, v)
}

// Fence waits until the warp's memory operations so far are visible to all.
func (b *Builder) Fence() { b.add(OpFence, None) }

// Call calls code that is not the kernel's, for each active lane, with the address of the lane's frame: see
// codegen.CallFrame. Memory may have changed behind it.
func (b *Builder) Call(frame, code Value) { b.add(OpCall, None, frame, code) }

// Variable is a mutable variable, one per lane.
type Variable struct {
	b *Builder
	v *Var
}

// Var declares a variable.
func (b *Builder) Var(init Value) *Variable {
	v := b.k.NewVar(same(init))
	b.add(OpVar, None, init).Var = v
	return &Variable{b, v}
}

// Named gives the variable a name for readers of the kernel, which need not be unique.
func (v *Variable) Named(name string) *Variable {
	v.v.Name = name
	return v
}

// Noted attaches a sentence for readers of the kernel to the variable's declaration.
func (v *Variable) Noted(sentence string) *Variable {
	v.v.Note = sentence
	return v
}

// Note attaches a sentence for readers of the kernel to a value, and returns the value.
func (b *Builder) Note(sentence string, v Value) Value {
	if v.Op.Kind() != KindRoot {
		v.Note = sentence
	}
	return v
}

// Label gives a value a name for readers of the kernel, unless it has one, and returns it.
func (b *Builder) Label(name string, v Value) Value {
	if v.Name == "" && v.Op.Kind() != KindRoot {
		v.Name = name
	}
	return v
}

// Get returns the variable's current value.
func (v *Variable) Get() Value {
	i := v.b.add(OpGet, v.v.Type)
	i.Var = v.v
	return i
}

// Set assigns to it in the active lanes.
func (v *Variable) Set(x Value) {
	if same(x) != v.v.Type {
		v.b.errorf("set of a variable of type %s to a value of type %s", v.v.Type, same(x))
	}
	v.b.add(OpSet, None, x).Var = v.v
}

// Scalar makes the kernel one of a core of one lane and one warp, as those of Swarm tiles: a task.
func (b *Builder) Scalar() { b.k.Scalar = true }

// Task enqueues a task, of a Swarm machine: the code at an address with a timestamp and arguments, of which those that
// are nil have any value.
func (b *Builder) Task(code, timestamp Value, args ...Value) {
	if !b.k.Scalar || len(args) > isa.SwarmArgs {
		b.errorf("a task with %d arguments: expected at most %d, in a kernel that is a task", len(args), isa.SwarmArgs)
		return
	}
	operands := make([]Value, 2+isa.SwarmArgs)
	operands[0], operands[1] = code, timestamp
	copy(operands[2:], args)
	b.add(OpTask, None, operands...)
}

// TaskWord returns the word of the argument block that stands for a task's argument of that number, or, of the number
// isa.SwarmArgs, for its timestamp: such words are in registers when the task begins, and not in memory.
func TaskWord(n int) int { return n }

// TaskWords is the number of these words, with which the block of a kernel that is a task begins.
const TaskWords = 8
