package feature

import (
	"math"
	"math/bits"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// Group writes what is done for the k features of one vertex or edge, by the lanes that share it: one, or feature-aware
// as many as k, rounded up to a power of two, but no more than a warp has; with thread blocks, those of as many warps
// as it takes. Those beyond k compute with the last feature, and store nothing.
type Group struct {
	*emit.Kernel
	K       int
	size    int // lanes
	lanes   int // of them, in a warp; a power of two
	threads int // of the core that run the kernel
	lane    ir.Value
	plan    *Plan
}

// unrolled is how many features of a lane are code of their own, and stay in registers; more are a loop.
const unrolled = 8

// GroupLanes returns how many lanes share a property of k features.
func (p *Plan) GroupLanes() int {
	switch warps := p.BlockWarps(); {
	case !p.Aware:
		return 1
	case warps > 1:
		return warps * p.Lanes
	default:
		return min(1<<bits.Len(uint(p.K-1)), p.Lanes)
	}
}

// BlockWarps returns how many warps share an edge or a vertex: as many as it takes for a feature a lane, and more until
// they divide the core's, or all of these. 1: a warp's lanes have several features each, or are enough.
func (p *Plan) BlockWarps() int {
	if !p.Aware || !p.Block || p.K <= p.Lanes {
		return 1
	}
	n := min((p.K+p.Lanes-1)/p.Lanes, p.Warps)
	for p.Warps%n != 0 {
		n++
	}
	return n
}

// Group makes the group of lanes that a lane belongs to.
func (p *Plan) Group(k *emit.Kernel) *Group {
	g := &Group{Kernel: k, K: p.K, size: p.GroupLanes(), threads: p.Warps * p.Lanes, plan: p}
	g.lanes = min(g.size, p.Lanes)
	g.lane = k.U32(0)
	switch {
	case g.together():
		k.Together(p.Warps, g.warps())
		warp := k.Rem(k.WarpID(), k.U32(uint32(g.warps())))
		g.lane = k.Add(k.Mul(warp, k.U32(uint32(p.Lanes))), k.LaneID())
	case g.size > 1:
		g.lane = k.And(k.LaneID(), k.U32(uint32(g.size-1)))
	}
	return g
}

// warps returns how many warps the group has a part of.
func (g *Group) warps() int { return g.size / g.lanes }

// together reports whether the group is a thread block of several warps.
func (g *Group) together() bool { return g.size > g.lanes }

// shift is log2 of a group's lanes, of those that are in a warp.
func (g *Group) shift() ir.Value { return g.U32(uint32(bits.TrailingZeros(uint(g.lanes)))) }

// rounds is how many features a lane has, at most.
func (g *Group) rounds() int { return (g.K + g.size - 1) / g.size }

// Index is a feature: its number, which a lane beyond the last has too, and which of its lane's it is.
type Index struct {
	F     ir.Value
	base  ir.Value // with more, F
	more  uint32
	round int      // in a loop: -1
	there ir.Value // whether the lane's number is a feature's; nil: it is
}

// Place is where the properties of a vertex or an edge are, or a row of its matrix: the offset in bytes of k words.
type Place struct{ Bytes ir.Value }

// Of is the place of vertex or edge n: of a vertex, that of its first set of features.
func (g *Group) Of(n ir.Value) Place {
	return Place{g.Mul(n, g.U32(uint32(4*g.K*max(1, g.plan.Sets))))}
}

// set is the place of a later set of a vertex.
func (g *Group) set(at Place, n int) Place {
	if n == 0 {
		return at
	}
	return Place{g.Kernel.Add(at.Bytes, g.U32(uint32(4*g.K*n)))}
}

// at is a lane's feature of a round that is known now.
func (g *Group) at(round int) Index {
	more := uint32(round * g.size)
	f := g.Add(g.lane, g.U32(more))
	if (round+1)*g.size <= g.K {
		return Index{F: f, base: g.lane, more: more, round: round}
	}
	there := g.Lt(f, g.U32(uint32(g.K)))
	f = g.Select(there, f, g.U32(uint32(g.K-1)))
	return Index{F: f, base: f, round: round, there: there}
}

// every runs body for all features of a lane.
func (g *Group) every(body func(i Index)) {
	if g.rounds() <= unrolled {
		for n := range g.rounds() {
			body(g.at(n))
		}
		return
	}
	whole := g.K / g.size * g.size // as many as all lanes have
	g.For(g.lane, g.Add(g.lane, g.U32(uint32(whole))), g.U32(uint32(g.size)), func(f ir.Value) { body(Index{F: f, base: f, round: -1}) })
	if whole < g.K {
		i := g.at(g.rounds() - 1)
		i.round = -1
		body(i)
	}
}

// Each runs body once for each feature: what it stores at a feature nobody else stores.
func (g *Group) Each(body func(i Index)) {
	g.every(func(i Index) {
		if i.there == nil {
			body(i)
			return
		}
		g.When(i.there, func() { body(i) })
	})
}

// Feature is a value of each feature.
type Feature struct {
	kept []ir.Value // by round
	of   func(i Index) ir.Value
}

// Let is a value of each feature, which is computed once, unless a lane has many: then it is computed wherever it is
// asked for. So it may read what the group stores at that feature only until it is stored.
func (g *Group) Let(value func(i Index) ir.Value) Feature {
	x := Feature{of: value}
	if g.rounds() <= unrolled {
		for n := range g.rounds() {
			x.kept = append(x.kept, value(g.at(n)))
		}
	}
	return x
}

// At is the value of a feature.
func (x Feature) At(i Index) ir.Value {
	if i.round >= 0 && x.kept != nil {
		return x.kept[i.round]
	}
	return x.of(i)
}

// join has each lane know what join makes of a value of all lanes of the group: by shuffles (ONYX, Fig. 5.4), and
// across warps by the scratchpad.
func (g *Group) join(x ir.Value, join func(x, y ir.Value) ir.Value) ir.Value {
	for d := 1; d < g.lanes; d *= 2 {
		x = join(x, g.ShflXor(x, g.U32(uint32(d))))
	}
	return g.across(x, join)
}

// across joins what the group's warps have, one word each, which is the same in all lanes of a warp. A lane has words
// of its own, so that no two are in one bank.
func (g *Group) across(x ir.Value, join func(x, y ir.Value) ir.Value) ir.Value {
	if !g.together() {
		return x
	}
	pad, mine := g.Shared("exchange", g.threads), g.ThreadInCore()
	first := g.Sub(mine, g.Sub(g.lane, g.LaneID()))
	g.Kernel.Store(pad, mine, x)
	g.meet(g.Kernel.Load(ir.U32, pad, mine))
	all := g.Kernel.Load(x.Type, pad, first)
	for n := 1; n < g.warps(); n++ {
		all = join(all, g.Kernel.Load(x.Type, pad, g.Add(first, g.U32(uint32(n*g.lanes)))))
	}
	g.Barrier() // nobody stores anew before all have read
	return all
}

// meet is the thread block's barrier between stores and loads of what other warps have stored. A barrier waits for no
// store: one that another issue slice's warps keep from the load-store unit would come behind their loads. So a lane
// reads something before it, back, and has to wait for that: a warp's accesses take effect in their order.
func (g *Group) meet(back ir.Value) {
	g.When(g.Kernel.Any(g.Eq(back, g.U32(math.MaxUint32))), g.Fence)
	g.Barrier()
}

// alike has the compiler know that a group's lanes agree, where the group is whole warps.
func (g *Group) alike(p ir.Value) ir.Value {
	if g.together() {
		return g.Kernel.Any(p)
	}
	return p
}

// Sum adds up a value of all features; all lanes have the same sum.
func (g *Group) Sum(value func(i Index) ir.Value) ir.Value {
	sum := g.Var(g.F32(0))
	g.every(func(i Index) {
		x := value(i)
		if i.there != nil {
			x = g.Select(i.there, x, g.F32(0))
		}
		sum.Set(g.Add(sum.Get(), x))
	})
	return g.join(sum.Get(), g.Add)
}

// hostSum is what Sum computes, in the order of its additions: a lane's features, then lanes, then warps.
func (p *Plan) hostSum(x []float32) (sum float32) {
	size := p.GroupLanes()
	lanes := make([]float32, size)
	for f, y := range x {
		lanes[f%size] += y
	}
	warp := min(size, p.Lanes)
	for first := 0; first < size; first += warp {
		of := lanes[first : first+warp]
		for d := 1; d < warp; d *= 2 {
			for l := 0; l < warp; l += 2 * d {
				of[l] += of[l+d]
			}
		}
		sum += of[0]
	}
	return sum
}

// Max is the greatest of a value of all features, in all lanes.
func (g *Group) Max(value func(i Index) ir.Value) ir.Value {
	most := g.Var(g.F32(float32(math.Inf(-1))))
	g.every(func(i Index) { most.Set(g.Kernel.Max(most.Get(), value(i))) }) // the last feature counts several times
	return g.join(most.Get(), g.Kernel.Max)
}

// Pick is the value of feature n, in all lanes. A lane that does not have it computes it, unless the group's other
// lanes of its warp do: then x must be of what the group has not stored itself.
func (g *Group) Pick(x Feature, n ir.Value) ir.Value {
	if g.size == 1 || x.kept == nil || g.rounds() > 1 || g.together() {
		return x.of(Index{F: n, base: n, round: -1})
	}
	first := g.And(g.LaneID(), g.U32(^uint32(g.size-1)))
	return g.ShflIdx(x.kept[0], g.Add(first, n))
}

// Any reports whether something holds for a feature, in all lanes (any_feature_updated, §5.3).
func (g *Group) Any(holds func(i Index) ir.Value) ir.Value {
	found := g.Var(g.U32(0))
	g.every(func(i Index) {
		x := holds(i)
		if i.there != nil {
			x = g.And(x, i.there)
		}
		found.Set(g.Or(found.Get(), g.ToU32(x)))
	})
	some := g.Ne(found.Get(), g.U32(0))
	switch {
	case g.size == 1:
		return some
	case g.together():
		return g.alike(g.Ne(g.across(g.Ballot(some), g.Or), g.U32(0)))
	}
	first := g.And(g.LaneID(), g.U32(^uint32(g.size-1)))
	return g.Ne(g.And(g.Shr(g.Ballot(some), first), g.U32(uint32(1<<g.size-1))), g.U32(0))
}

// Normalise divides by the sum of all features (§5.3); where that is not above 0, it leaves them. above reports whether
// it is.
func (g *Group) Normalise(x Feature) (divided Feature, above ir.Value) {
	sum := g.Sum(x.At)
	above = g.Gt(sum, g.F32(0))
	by := g.Select(above, sum, g.F32(1))
	return g.Let(func(i Index) ir.Value { return g.Div(x.At(i), by) }), g.alike(above)
}

// Damping is workload.damping.
func (g *Group) Damping() ir.Value { return g.Float(WordDamping) }

// Once runs body in one lane of the group.
func (g *Group) Once(body func()) {
	if g.size == 1 {
		body()
		return
	}
	g.When(g.Eq(g.lane, g.U32(0)), body)
}

// word is where feature i of an array is, as the base and the index that the memory instructions take. What does not
// depend on the place comes first, as it is the same for all edges.
func (g *Group) word(array string, at Place, i Index) (base, index ir.Value) {
	return g.Add(g.Address(g.Addr(array), i.base), at.Bytes), g.U32(i.more)
}

// Load reads a feature of a vertex's or an edge's.
func (g *Group) Load(array string, at Place, i Index) ir.Value {
	base, index := g.word(array, at, i)
	return g.Kernel.Load(ir.F32, base, index)
}

// Word reads the word of a vertex, or of an edge, of an array that has one for each; in all lanes.
func (g *Group) Word(array string, at Place) ir.Value {
	return g.Kernel.Load(ir.F32, g.Addr(array), g.Div(at.Bytes, g.U32(uint32(4*g.K))))
}

// Store writes one. It stands in Each.
func (g *Group) Store(array string, at Place, i Index, x ir.Value) {
	base, index := g.word(array, at, i)
	g.Kernel.Store(base, index, x)
}

// AddTo adds to one, which others may do too. It stands in Each.
func (g *Group) AddTo(array string, at Place, i Index, x ir.Value) {
	base, index := g.word(array, at, i)
	g.AtomicAddF(base, index, x)
}

// inScratchpad stores value number n of every lane's features, a word a lane side by side; words: of all values.
func (g *Group) inScratchpad(n, words int, x Feature) Feature {
	base := g.Shared("left", words)
	word := func(i Index) ir.Value {
		at := g.Add(g.ThreadInCore(), g.U32(uint32(n*g.plan.spare())))
		threads := uint32(g.threads)
		if i.round >= 0 {
			return g.Kernel.Add(at, g.U32(uint32(i.round)*threads))
		}
		return g.Kernel.Add(at, g.Mul(g.Div(i.F, g.U32(uint32(g.size))), g.U32(threads)))
	}
	g.every(func(i Index) { g.Kernel.Store(base, word(i), x.At(i)) })
	return Feature{of: func(i Index) ir.Value { return g.Kernel.Load(ir.F32, base, word(i)) }}
}
