package activeset

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// AddFar puts v on the far pile, once between two splits (near-far: Davidson, Baxter,
// Garland, Owens, IPDPS 2014).
func (c *Choice) AddFar(k *emit.Kernel, v ir.Value) { c.addFar(k, v, FarList) }

func (c *Choice) addFar(k *emit.Kernel, v ir.Value, list uint32) {
	period := k.Count("far.period")
	k.When(k.Lt(k.AtomicMax(k.Addr("far.added"), v, period), period), func() {
		if c.OfUnit {
			k.ListPush(v, k.U32(list))
			return
		}
		place := k.AtomicAdd(k.Addr("far.count"), k.U32(0), k.U32(1))
		k.Store(k.Addr("far.next"), place, v)
	})
}

// Near reports whether a value is below the threshold.
func Near(k *emit.Kernel, value ir.Value) ir.Value { return k.Lt(value, k.Count("far.threshold")) }

// Split emits the kernel that goes through the far pile when the threshold has risen: what
// is below it now becomes active, what was below it before has been so, the rest stays. The
// unit's list that is split cannot be pushed to: the rest goes to the one that is read in a
// super-step, which is empty then.
func (c *Choice) Split(k *emit.Kernel, near Set, value func(v ir.Value) ir.Value) {
	sort := func(v ir.Value) {
		x := value(v)
		k.When(k.Ge(x, k.Count("far.before")), func() {
			k.If(Near(k, x), func() { near.Add(v) }, func() { c.addFar(k, v, InList) })
		})
	}
	if c.OfUnit {
		k.ListVertices(k.U32(FarList), sort)
		return
	}
	k.Strided(k.Count("far.size"), func(i ir.Value) { sort(k.Load(ir.U32, k.Addr("far.queue"), i)) })
}

// Far is the host's side of the pile.
type Far struct {
	piles     []*Array
	count     *Array
	added     *Array
	delta     uint32
	threshold uint32
	before    uint32 // the threshold before
	size      uint32 // of the pile that is split
	period    int    // splits so far
	ofUnit    bool   // the piles are a vertex-list
}

// NewFar starts with an empty pile, and a threshold of delta.
func (c *Choice) NewFar(vertices int, delta uint32) *Far {
	f := &Far{added: &Array{Name: "far.added", Words: vertices, Roles: []string{"far.added"}}, delta: delta, threshold: delta, ofUnit: c.OfUnit}
	if !f.ofUnit {
		f.piles = rotating("far", vertices, "far.next", "far.queue")
		f.count = &Array{Name: "far.count", Words: 1, Roles: []string{"far.count"}}
	}
	return f
}

// Arrays are placed, and zeroed, before the first super-step.
func (f *Far) Arrays() []*Array {
	if f.ofUnit {
		return []*Array{f.added}
	}
	return append([]*Array{f.count, f.added}, f.piles...)
}

// Places are the addresses of the arrays by the kernels' names.
func (f *Far) Places() map[string]uint32 {
	places := map[string]uint32{}
	for _, a := range f.Arrays() {
		places[a.Role(f.period)] = a.Addr
	}
	return places
}

// Words are parameters by their names.
func (f *Far) Words() map[string]uint32 {
	return map[string]uint32{"far.threshold": f.threshold, "far.before": f.before, "far.size": f.size, "far.period": uint32(f.period + 1)}
}

// Delta is how far apart thresholds are.
func (f *Far) Delta() uint32 { return f.delta }

// Rise raises the threshold, for a split; more is false if the pile is empty.
func (f *Far) Rise(m Memory) (more bool) {
	if f.ofUnit {
		f.size = uint32(m.Lists().Size(FarList))
	} else {
		f.size = take(m, f.count)
	}
	f.before = f.threshold
	if f.threshold += f.delta; f.threshold < f.before {
		f.threshold = ^uint32(0)
	}
	f.period++
	return f.size > 0
}

// Split is told that the pile has been split.
func (f *Far) Split(m Memory) {
	if f.ofUnit {
		m.Lists().Swap(InList, FarList)
	}
}
