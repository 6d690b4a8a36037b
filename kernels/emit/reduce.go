package emit

import (
	"errors"

	"heddle/kernels/ir"
)

// Reduction describes how the values that reach a vertex are combined.
type Reduction struct {
	Name string
	Type ir.Type
	// Combine returns the combination of the old value and a new one.
	Combine func(k *Kernel, old, new ir.Value) ir.Value
	// Swap combines in memory with one of ir.Builder's atomics, and returns the old value.
	Swap func(k *Kernel, base, index, value ir.Value) ir.Value
	// Improves reports whether new changes old; nil: every value counts as a change, and activation does not depend on
	// it. Vertices whose values change are active in the next super-step.
	Improves func(k *Kernel, old, new ir.Value) ir.Value
	// ZeroIdle is set if 0 changes nothing and is frequent, so that it is tested for before the atomic.
	ZeroIdle bool
	// Always is set if a value counts even where Improves reports no change.
	Always bool
	// Repeats is set if a word may improve several times in a super-step.
	Repeats bool
	// Onto is set, in a reduction that does not report changes, if the word's value at the start of a gather is
	// included; otherwise the reduction starts from 0.
	Onto bool
	// EachTells is set if each value determines on its own whether it counts as a change, so that a sum in a register,
	// which compares with the word's former value, cannot be tested.
	EachTells bool
}

// Reductions.
var (
	AddF32 = &Reduction{
		Name: "add.f32", Type: ir.F32,
		Combine: func(k *Kernel, old, new ir.Value) ir.Value { return k.Add(old, new) },
		Swap:    func(k *Kernel, b, i, v ir.Value) ir.Value { return k.AtomicAddF(b, i, v) },
	}
	AddU32 = &Reduction{
		Name: "add.u32", Type: ir.U32,
		Combine: func(k *Kernel, old, new ir.Value) ir.Value { return k.Add(old, new) },
		Swap:    func(k *Kernel, b, i, v ir.Value) ir.Value { return k.AtomicAdd(b, i, v) },
	}
	// CountU32 is AddU32 for values that are mostly 0.
	CountU32 = &Reduction{
		Name: "count.u32", Type: ir.U32, ZeroIdle: true,
		Combine: AddU32.Combine, Swap: AddU32.Swap,
	}
	MinU32 = &Reduction{
		Name: "min.u32", Type: ir.U32, Repeats: true,
		Combine:  func(k *Kernel, old, new ir.Value) ir.Value { return k.Min(old, new) },
		Swap:     func(k *Kernel, b, i, v ir.Value) ir.Value { return k.AtomicMin(b, i, v) },
		Improves: func(k *Kernel, old, new ir.Value) ir.Value { return k.Lt(new, old) },
	}
	// ClaimU32 sets a word that is all ones; of several concurrent values the least remains.
	ClaimU32 = &Reduction{
		Name: "claim.u32", Type: ir.U32,
		Combine: func(k *Kernel, old, new ir.Value) ir.Value {
			return k.Select(k.Eq(old, k.U32(^uint32(0))), new, old)
		},
		Swap:     func(k *Kernel, b, i, v ir.Value) ir.Value { return k.AtomicMin(b, i, v) },
		Improves: func(k *Kernel, old, _ ir.Value) ir.Value { return k.Eq(old, k.U32(^uint32(0))) },
	}
	// CountDown adds, and reports a change when the sum has come down to the number of the round.
	CountDown = &Reduction{
		Name: "countdown.u32", Type: ir.U32, Always: true,
		Combine: func(k *Kernel, old, new ir.Value) ir.Value { return k.Add(old, new) },
		Swap:    func(k *Kernel, b, i, v ir.Value) ir.Value { return k.AtomicAdd(b, i, v) },
		Improves: func(k *Kernel, old, new ir.Value) ir.Value {
			return k.Eq(k.Add(old, new), k.Count("round"))
		},
	}
	// PathsF32 adds positive numbers to a word that is initially 0, and reports a change for the first.
	PathsF32 = &Reduction{
		Name: "paths.f32", Type: ir.F32, Always: true,
		Combine:  func(k *Kernel, old, new ir.Value) ir.Value { return k.Add(old, new) },
		Swap:     func(k *Kernel, b, i, v ir.Value) ir.Value { return k.AtomicAddF(b, i, v) },
		Improves: func(k *Kernel, old, _ ir.Value) ir.Value { return k.Eq(old, k.F32(0)) },
	}
	// FollowU32 sets a word whose value is one less than the new one; all values other than 0 are equal within a
	// super-step.
	FollowU32 = &Reduction{
		Name: "follow.u32", Type: ir.U32,
		Combine: func(k *Kernel, old, new ir.Value) ir.Value {
			return k.Select(k.Eq(k.Add(old, k.U32(1)), new), new, old)
		},
		Swap:     func(k *Kernel, b, i, v ir.Value) ir.Value { return k.AtomicMax(b, i, v) },
		Improves: func(k *Kernel, old, new ir.Value) ir.Value { return k.Eq(k.Add(old, k.U32(1)), new) },
	}
)

// Check returns an error if the reduction lacks a required function.
func (r *Reduction) Check() error {
	switch {
	case r.Name == "" || r.Combine == nil || r.Swap == nil:
		return errors.New("its Sum lacks Name, Combine or Swap")
	case r.Improves == nil && (r.Always || r.Repeats):
		return errors.New("its Sum has Always or Repeats, which are about what Improves tells, and no Improves")
	}
	return nil
}

// Tells reports whether the reduction can detect that a value changed.
func (r *Reduction) Tells() bool { return r.Improves != nil }

// Blind reports whether a value is combined without testing whether it would change the word.
func (r *Reduction) Blind() bool { return r.Always || !r.Tells() }

// Often reports whether several threads may observe a change of the same word in a super-step.
func (r *Reduction) Often() bool { return r.Repeats }

// Atomic emits the combination where several threads may share a destination. changed emits the code for a value that
// changed; a load before the atomic avoids those atomics that would change nothing.
func (r *Reduction) Atomic(k *Kernel, array, v, value ir.Value, changed func()) {
	switch {
	case r.ZeroIdle:
		k.When(k.Ne(value, k.Zero(r.Type)), func() { r.Swap(k, array, v, value) })
		return
	case !r.Tells():
		r.Swap(k, array, v, value)
		return
	}
	if r.Always {
		k.When(r.Improves(k, r.Swap(k, array, v, value), value), changed)
		return
	}
	k.When(r.Improves(k, k.Load(r.Type, array, v), value), func() {
		old := r.Swap(k, array, v, value)
		k.When(r.Improves(k, old, value), changed)
	})
}

// Partial returns the word at which a partial sum begins, which Collect adds to and Join combines with the word of v:
// that word itself where the reduction tells what improves it, and otherwise 0.
func (r *Reduction) Partial(k *Kernel, array, v ir.Value) ir.Value {
	if r.Tells() {
		return k.Load(r.Type, array, v)
	}
	return k.Zero(r.Type)
}

// Collect combines a value with a partial sum that several threads share. It does not test whether that changes
// anything, since the test would read what others are writing; Join sees it.
func (r *Reduction) Collect(k *Kernel, array, i, value ir.Value) {
	if r.ZeroIdle {
		k.When(k.Ne(value, k.Zero(r.Type)), func() { r.Swap(k, array, i, value) })
		return
	}
	r.Swap(k, array, i, value)
}

// Join combines the word of v, which no other thread may be using, with the partial sum of all that reaches it.
func (r *Reduction) Join(k *Kernel, array, v, partial ir.Value, changed func()) {
	if !r.Tells() {
		k.When(k.Ne(partial, k.Zero(r.Type)), func() { r.Plain(k, array, v, partial, nil) })
		return
	}
	old := k.Load(r.Type, array, v)
	k.When(k.And(k.Ne(partial, old), r.Improves(k, old, partial)), func() {
		k.Store(array, v, partial)
		changed()
	})
}

// Summing is how a thread combines the values of a destination that it alone has.
type Summing string

// Summings.
const (
	InRegister Summing = "register"
	InMemory   Summing = "memory"
	ByAtomic   Summing = "atomic"
)

// Summings returns every way to combine.
func Summings() []Summing { return []Summing{InRegister, InMemory, ByAtomic} }

// Doc returns its description.
func (s Summing) Doc() string {
	switch s {
	case InRegister:
		return "a thread that alone has a destination keeps the sum in a register between a load and a store a row"
	case InMemory:
		return "it loads and stores the sum for every edge (GRAssembler, PACT '22, §5.1)"
	}
	return "it uses an atomic for every edge, as where several threads have a destination"
}

// Plain emits the combination where one thread owns the destination: like Atomic, with a load and a store in place of
// the atomic.
func (r *Reduction) Plain(k *Kernel, array, v, value ir.Value, changed func()) {
	old := k.Load(r.Type, array, v)
	write := func() { k.Store(array, v, r.Combine(k, old, value)) }
	switch {
	case !r.Tells():
		write()
	case r.Always:
		write()
		k.When(r.Improves(k, old, value), changed)
	default:
		k.When(r.Improves(k, old, value), func() {
			write()
			changed()
		})
	}
}

// Owned is the combination where one thread owns the destination: the value stays in a register until it is stored at
// the end of the row. If changes are not tested, the array's old value is not read either: it is 0, unless the
// reduction is Onto. A value may then be combined when the next one arrives, so that its load may still be in flight.
type Owned struct {
	*Reduction
	k          *Kernel
	array, old ir.Value
	now        *ir.Variable
	last       *ir.Variable // the latest value, combined when the next arrives; nil: none pending
}

// Own begins a row. ahead: a value's load may still be in flight when the next is requested.
func (r *Reduction) Own(k *Kernel, array, v ir.Value, ahead bool) *Owned {
	o := &Owned{Reduction: r, k: k, array: array}
	if r.Tells() {
		o.old = k.Load(r.Type, array, v)
		o.now = k.Var(o.old).Named("now")
		return o
	}
	first := k.Zero(r.Type)
	if r.Onto {
		first = k.Load(r.Type, array, v)
	}
	o.now = k.Var(first).Named("total")
	if ahead {
		o.last = k.Var(k.Zero(r.Type)).Named("last")
	}
	return o
}

// Take combines one value, which next computes, and returns whether it changed anything; nil if that cannot be
// determined.
func (o *Owned) Take(next func() ir.Value) (changed ir.Value) {
	switch {
	case o.last != nil:
		o.settle()
		o.last.Set(next())
		return nil
	case !o.Tells():
		value := next()
		o.now.Set(o.Combine(o.k, o.now.Get(), value))
		return nil
	}
	value, old := next(), o.now.Get()
	changed = o.Improves(o.k, old, value)
	o.now.Set(o.Combine(o.k, old, value))
	return changed
}

// settle combines the latest value.
func (o *Owned) settle() { o.now.Set(o.Combine(o.k, o.now.Get(), o.last.Get())) }

// End ends the row of v.
func (o *Owned) End(v ir.Value, changed func()) {
	if !o.Tells() {
		if o.last != nil {
			o.settle()
		}
		o.k.Store(o.array, v, o.now.Get())
		return
	}
	o.k.When(o.k.Ne(o.now.Get(), o.old), func() {
		o.k.Store(o.array, v, o.now.Get())
		changed()
	})
}
