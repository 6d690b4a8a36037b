package activeset

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// addFar appends v to the far pile, at most once between two splits (near-far: Davidson, Baxter, Garland, Owens, IPDPS
// 2014).
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

// splitFar drains the far pile. The unit's list being split cannot be pushed to: the remainder goes to the list that a
// super-step reads, which is empty at that point.
func (c *Choice) splitFar(k *emit.Kernel, near Set, value func(v ir.Value) ir.Value) {
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

// far is the host side of the pile.
type far struct {
	piles     []*Array
	count     *Array
	added     *Array
	delta     uint32
	threshold uint32
	before    uint32 // the previous threshold
	size      uint32 // entries of the pile being split
	period    int    // splits so far
	ofUnit    bool   // the piles are vertex-lists of a graph unit
}

func (c *Choice) newFar(vertices int, delta uint32) Pile {
	f := &far{
		added: &Array{Name: "far.added", Words: vertices, Roles: []string{"far.added"}},
		delta: delta, threshold: delta, ofUnit: c.OfUnit,
	}
	if !f.ofUnit {
		f.piles = rotating("far", vertices, "far.next", "far.queue")
		f.count = &Array{Name: "far.count", Words: 1, Roles: []string{"far.count"}}
	}
	return f
}

func (f *far) Arrays() []*Array {
	if f.ofUnit {
		return []*Array{f.added}
	}
	return append([]*Array{f.count, f.added}, f.piles...)
}

func (f *far) Places() map[string]uint32 {
	places := map[string]uint32{}
	for _, a := range f.Arrays() {
		places[a.Role(f.period)] = a.Addr
	}
	return places
}

func (f *far) Words() map[string]uint32 {
	return map[string]uint32{"far.threshold": f.threshold, "far.before": f.before, "far.size": f.size,
		"far.period": uint32(f.period + 1)}
}

func (f *far) Delta() uint32 { return f.delta }

func (f *far) Rise(m Memory) (more bool) {
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

// Split makes the remainder the new far pile.
func (f *far) Split(m Memory) {
	if f.ofUnit {
		m.Lists().Swap(InList, FarList)
	}
}
