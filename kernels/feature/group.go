package feature

import (
	"math"
	"math/bits"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// Group emits code over the k features of one vertex or edge for the lanes that share it: one lane, or feature-aware as
// many as k, rounded up to a power of two, but no more than a warp has; with thread blocks, the lanes of as many warps
// as needed. Lanes beyond k compute with the last feature, and store nothing.
type Group struct {
	*emit.Kernel
	K       int
	size    int // lanes
	lanes   int // lanes per warp; a power of two
	threads int // threads of the core that run the kernel
	lane    ir.Value
	plan    *Plan

	// In a walk of a whole row (Walk.Row): the sums in registers by property, nil if they are in memory; whether some
	// additions go there all the same; and whether no other thread adds to the vertex.
	sums  map[string][]*ir.Variable
	mixed bool
	alone bool
}

// unrolled is the maximum number of features per lane that are unrolled and kept in registers; more are a loop.
const unrolled = 8

// GroupLanes returns the number of lanes that share a property of k features.
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

// BlockWarps returns the number of warps that share an edge or a vertex: as many as needed for one feature per lane,
// increased until it divides the core's warps, or all of these. 1: a warp suffices, or its lanes have several features
// each.
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

// Group returns the group of lanes that a lane belongs to.
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

// warps returns the number of warps that the group spans.
func (g *Group) warps() int { return g.size / g.lanes }

// together reports whether the group is a thread block of several warps.
func (g *Group) together() bool { return g.size > g.lanes }

// shift returns log2 of a group's lanes within a warp.
func (g *Group) shift() ir.Value { return g.U32(uint32(bits.TrailingZeros(uint(g.lanes)))) }

// rounds returns the maximum number of features per lane.
func (g *Group) rounds() int { return (g.K + g.size - 1) / g.size }

// Index identifies a feature: its number, also in a lane beyond the last, and its round within the lane.
type Index struct {
	F     ir.Value
	base  ir.Value // with more, F
	more  uint32
	round int      // in a loop: -1
	there ir.Value // whether the lane's number is a feature's; nil: always
}

// Place is the location of the properties of a vertex or an edge, or of a row of its matrix: the offset in bytes of k
// words.
type Place struct {
	Bytes ir.Value
	row   int // of its matrix, if that is a constant; otherwise -1
}

// Of returns the place of vertex or edge n; for a vertex, that of its first set of features.
func (g *Group) Of(n ir.Value) Place {
	return Place{Bytes: g.Mul(n, g.U32(uint32(4*g.K*max(1, g.plan.Sets))))}
}

// set returns the place of a later set of a vertex.
func (g *Group) set(at Place, n int) Place {
	if n == 0 {
		return at
	}
	return Place{Bytes: g.Kernel.Add(at.Bytes, g.U32(uint32(4*g.K*n)))}
}

// at returns a lane's feature in a round that is known at compile time.
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

// every executes body for all features of a lane.
func (g *Group) every(body func(i Index)) {
	if g.rounds() <= unrolled {
		for n := range g.rounds() {
			body(g.at(n))
		}
		return
	}
	whole := g.K / g.size * g.size // rounds in which all lanes have a feature
	g.For(g.lane, g.Add(g.lane, g.U32(uint32(whole))), g.U32(uint32(g.size)),
		func(f ir.Value) { body(Index{F: f, base: f, round: -1}) })
	if whole < g.K {
		i := g.at(g.rounds() - 1)
		i.round = -1
		body(i)
	}
}

// Each executes body once for each feature; only this lane stores at that feature.
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
	kept []ir.Value // per round
	of   func(i Index) ir.Value
}

// Let returns a value per feature that is computed once, unless a lane has many: then it is recomputed at each use. So
// it may read memory that the group stores at that feature only until it is stored.
func (g *Group) Let(value func(i Index) ir.Value) Feature {
	x := Feature{of: value}
	if g.rounds() <= unrolled {
		for n := range g.rounds() {
			x.kept = append(x.kept, value(g.at(n)))
		}
	}
	return x
}

// At returns the value of a feature.
func (x Feature) At(i Index) ir.Value {
	if i.round >= 0 && x.kept != nil {
		return x.kept[i.round]
	}
	return x.of(i)
}

// join combines a value over all lanes of the group, in each of them: by shuffles (ONYX, Fig. 5.4), and across warps
// through the scratchpad.
func (g *Group) join(x ir.Value, join func(x, y ir.Value) ir.Value) ir.Value {
	for d := 1; d < g.lanes; d *= 2 {
		x = join(x, g.ShflXor(x, g.U32(uint32(d))))
	}
	return g.across(x, join)
}

// across combines one word per warp of the group, uniform within each warp. Each lane has its own words, so that
// accesses have no bank conflict.
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
	g.Barrier() // no store before all have loaded
	return all
}

// meet is the thread block's barrier between stores and loads of words that other warps have stored. A barrier waits
// for no store: one delayed on its way to the load-store unit by another issue slice's warps would arrive after their
// loads. So each lane first loads a word, back, and waits for it: a warp's accesses take effect in order.
func (g *Group) meet(back ir.Value) {
	g.When(g.Kernel.Any(g.Eq(back, g.U32(math.MaxUint32))), g.Fence)
	g.Barrier()
}

// alike tells the compiler that a group's lanes agree, where the group is whole warps.
func (g *Group) alike(p ir.Value) ir.Value {
	if g.together() {
		return g.Kernel.Any(p)
	}
	return p
}

// Sum sums a value over all features; all lanes receive the same sum.
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

// hostSum computes Sum on the host, in the same order of additions: a lane's features, then lanes, then warps.
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

// Max returns the maximum of a value over all features, in all lanes.
func (g *Group) Max(value func(i Index) ir.Value) ir.Value {
	most := g.Var(g.F32(float32(math.Inf(-1))))
	g.every(func(i Index) { most.Set(g.Kernel.Max(most.Get(), value(i))) }) // the last feature counts several times
	return g.join(most.Get(), g.Kernel.Max)
}

// Pick returns the value of feature n, in all lanes. A lane that does not have it computes it, unless another lane of
// its warp's group has it: then x must not depend on words that the group itself has stored.
func (g *Group) Pick(x Feature, n ir.Value) ir.Value {
	if g.size == 1 || x.kept == nil || g.rounds() > 1 || g.together() {
		return x.of(Index{F: n, base: n, round: -1})
	}
	first := g.And(g.LaneID(), g.U32(^uint32(g.size-1)))
	return g.ShflIdx(x.kept[0], g.Add(first, n))
}

// Any reports whether a condition holds for some feature, in all lanes (any_feature_updated, §5.3).
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

// Normalise divides by the sum of all features (§5.3) if that is positive. above reports whether it is.
func (g *Group) Normalise(x Feature) (divided Feature, above ir.Value) {
	sum := g.Sum(x.At)
	above = g.Gt(sum, g.F32(0))
	by := g.Select(above, sum, g.F32(1))
	return g.Let(func(i Index) ir.Value { return g.Div(x.At(i), by) }), g.alike(above)
}

// Damping is workload.algorithm.damping.
func (g *Group) Damping() ir.Value { return g.Float(WordDamping) }

// Once executes body in one lane of the group.
func (g *Group) Once(body func()) {
	if g.size == 1 {
		body()
		return
	}
	g.When(g.Eq(g.lane, g.U32(0)), body)
}

// word returns the address of feature i of an array, as the base and the index of a memory instruction. The terms that
// do not depend on the place come first, as they are the same for all edges.
func (g *Group) word(array string, at Place, i Index) (base, index ir.Value) {
	return g.Add(g.Address(g.Addr(array), i.base), at.Bytes), g.U32(i.more)
}

// Load loads a feature of a vertex or an edge.
func (g *Group) Load(array string, at Place, i Index) ir.Value {
	base, index := g.word(array, at, i)
	return g.Kernel.Load(ir.F32, base, index)
}

// Word loads the word of a vertex or an edge from an array that has one for each, in all lanes.
func (g *Group) Word(array string, at Place) ir.Value {
	return g.Kernel.Load(ir.F32, g.Addr(array), g.Div(at.Bytes, g.U32(uint32(4*g.K))))
}

// Store stores a feature. It must be inside Each.
func (g *Group) Store(array string, at Place, i Index, x ir.Value) {
	base, index := g.word(array, at, i)
	g.Kernel.Store(base, index, x)
}

// AddTo adds to a feature of an edge's destination, atomically unless no other thread does. It must be inside Each.
func (g *Group) AddTo(array string, at Place, i Index, x ir.Value) {
	if at := at.row*g.K + i.round; at >= 0 && i.round >= 0 && at < len(g.sums[array]) {
		sum := g.sums[array][at]
		sum.Set(g.Add(sum.Get(), x))
		return
	}
	g.mixed = true
	base, index := g.word(array, at, i)
	if g.alone {
		g.Kernel.Store(base, index, g.Add(g.Kernel.Load(ir.F32, base, index), x))
		return
	}
	g.AtomicAddF(base, index, x)
}

// inScratchpad stores value number n of every lane's features in the scratchpad, lanes interleaved; words is the size
// of all values.
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
