package emit

import (
	"errors"

	"heddle/kernels/ir"
)

// Reduction is how what a vertex receives is summed up.
type Reduction struct {
	Name string
	Type ir.Type
	// Combine returns the sum of what is there and a value.
	Combine func(k *Kernel, old, new ir.Value) ir.Value
	// Swap sums up in memory by one of the atomics that ir.Builder has, and returns the old value.
	Swap func(k *Kernel, base, index, value ir.Value) ir.Value
	// Improves reports whether new changes old; nil: always, and nobody asks. Vertices whose values it changes are
	// active in the next super-step.
	Improves func(k *Kernel, old, new ir.Value) ir.Value
	// ZeroIdle says that 0 changes nothing and is frequent, so that it is tested for before the atomic.
	ZeroIdle bool
	// Always says that a value counts even where it changes nothing that Improves tells of.
	Always bool
	// Repeats says that a word may improve several times in a super-step.
	Repeats bool
	// Onto says that what the word holds when a gather begins counts, too, in a reduction that does not tell of
	// changes; others begin at 0.
	Onto bool
	// EachTells says that every value tells by itself whether it counts as a change, so that a sum in a register, which
	// tells by what the word was before, cannot be asked.
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
	// CountU32 is AddU32 of numbers that are mostly 0.
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
	// ClaimU32 sets a word that is all ones; several that try at once leave the least.
	ClaimU32 = &Reduction{
		Name: "claim.u32", Type: ir.U32,
		Combine: func(k *Kernel, old, new ir.Value) ir.Value {
			return k.Select(k.Eq(old, k.U32(^uint32(0))), new, old)
		},
		Swap:     func(k *Kernel, b, i, v ir.Value) ir.Value { return k.AtomicMin(b, i, v) },
		Improves: func(k *Kernel, old, _ ir.Value) ir.Value { return k.Eq(old, k.U32(^uint32(0))) },
	}
	// CountDown adds, and tells when the sum comes down to the number of the round.
	CountDown = &Reduction{
		Name: "countdown.u32", Type: ir.U32, Always: true,
		Combine: func(k *Kernel, old, new ir.Value) ir.Value { return k.Add(old, new) },
		Swap:    func(k *Kernel, b, i, v ir.Value) ir.Value { return k.AtomicAdd(b, i, v) },
		Improves: func(k *Kernel, old, new ir.Value) ir.Value {
			return k.Eq(k.Add(old, new), k.Count("round"))
		},
	}
	// PathsF32 adds numbers above 0 to one that is 0 at first, and tells who was the first.
	PathsF32 = &Reduction{
		Name: "paths.f32", Type: ir.F32, Always: true,
		Combine:  func(k *Kernel, old, new ir.Value) ir.Value { return k.Add(old, new) },
		Swap:     func(k *Kernel, b, i, v ir.Value) ir.Value { return k.AtomicAddF(b, i, v) },
		Improves: func(k *Kernel, old, _ ir.Value) ir.Value { return k.Eq(old, k.F32(0)) },
	}
	// FollowU32 sets a word that is one less than what comes; all that is not 0 is the same in a super-step.
	FollowU32 = &Reduction{
		Name: "follow.u32", Type: ir.U32,
		Combine: func(k *Kernel, old, new ir.Value) ir.Value {
			return k.Select(k.Eq(k.Add(old, k.U32(1)), new), new, old)
		},
		Swap:     func(k *Kernel, b, i, v ir.Value) ir.Value { return k.AtomicMax(b, i, v) },
		Improves: func(k *Kernel, old, new ir.Value) ir.Value { return k.Eq(k.Add(old, k.U32(1)), new) },
	}
)

// Check refuses a reduction that lacks something.
func (r *Reduction) Check() error {
	switch {
	case r.Name == "" || r.Combine == nil || r.Swap == nil:
		return errors.New("its Sum lacks Name, Combine or Swap")
	case r.Improves == nil && (r.Always || r.Repeats):
		return errors.New("its Sum has Always or Repeats, which are about what Improves tells, and no Improves")
	}
	return nil
}

// Tells says whether the reduction can tell that a value changed.
func (r *Reduction) Tells() bool { return r.Improves != nil }

// Blind says whether a value is summed up without a look at what it would change.
func (r *Reduction) Blind() bool { return r.Always || !r.Tells() }

// Often says whether several threads may be told in a super-step that a word changed.
func (r *Reduction) Often() bool { return r.Repeats }

// Atomic emits the sum where several threads may have one destination. changed emits what
// to do if the value changed; a load before the atomic saves those that would not change it.
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

// Summing is how a thread sums up what reaches a destination that it alone has.
type Summing string

// Summings.
const (
	InRegister Summing = "register"
	InMemory   Summing = "memory"
	ByAtomic   Summing = "atomic"
)

// Summings lists them.
func Summings() []Summing { return []Summing{InRegister, InMemory, ByAtomic} }

// Doc says what it is.
func (s Summing) Doc() string {
	switch s {
	case InRegister:
		return "a thread that alone has a destination keeps the sum in a register between a load and a store a row"
	case InMemory:
		return "it loads and stores the sum for every edge (GRAssembler, CGO 2024, §5.1)"
	}
	return "it uses an atomic for every edge, as where several threads have a destination"
}

// Plain emits the sum where one thread has the destination as Atomic does, with a load and a store in place of the
// atomic.
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

// Owned is the sum where one thread has the destination: the value stays in a register until it is stored behind the
// row. If nobody asks what a value changes, nobody reads what the array holds, either: it is 0, unless the reduction
// goes onto it. Then what comes may be summed up when the next comes, so that it may still be on its way.
type Owned struct {
	*Reduction
	k          *Kernel
	array, old ir.Value
	now        *ir.Variable
	last       *ir.Variable // what came last, and is summed up when the next comes; nil: nothing waits
}

// Own begins a row. ahead: what comes may still be on its way when the next is asked for.
func (r *Reduction) Own(k *Kernel, array, v ir.Value, ahead bool) *Owned {
	o := &Owned{Reduction: r, k: k, array: array}
	if r.Tells() {
		o.old = k.Load(r.Type, array, v)
		o.now = k.Var(o.old)
		return o
	}
	first := k.Zero(r.Type)
	if r.Onto {
		first = k.Load(r.Type, array, v)
	}
	o.now = k.Var(first)
	if ahead {
		o.last = k.Var(k.Zero(r.Type))
	}
	return o
}

// Take sums up one value, which next computes, and returns whether it changed anything; nil
// if it cannot tell.
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

// settle sums up what came last.
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
