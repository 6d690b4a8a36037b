package feature

import (
	"math"
	"math/bits"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// Group writes what is done for the k features of one vertex or edge, by the lanes that share it: one, or feature-aware
// as many as k, rounded up to a power of two, but no more than a warp has. Those beyond k compute with the last
// feature, and store nothing.
type Group struct {
	*emit.Kernel
	K    int
	size int // lanes; a power of two
	lane ir.Value
}

// unrolled is how many features of a lane are code of their own, and stay in registers; more are a loop.
const unrolled = 8

// GroupLanes is how many lanes share a property of k features.
func (p *Plan) GroupLanes() int {
	if !p.Aware {
		return 1
	}
	return min(1<<bits.Len(uint(p.K-1)), p.Lanes)
}

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

// Of is the place of vertex or edge n.
func (g *Group) Of(n ir.Value) Place { return Place{g.Mul(n, g.U32(uint32(4*g.K)))} }

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
	all := sum.Get()
	for d := 1; d < g.size; d *= 2 {
		all = g.Add(all, g.ShflXor(all, g.U32(uint32(d))))
	}
	return all
}

// Max is the greatest of a value of all features, in all lanes.
func (g *Group) Max(value func(i Index) ir.Value) ir.Value {
	most := g.Var(g.F32(float32(math.Inf(-1))))
	g.every(func(i Index) { most.Set(g.Kernel.Max(most.Get(), value(i))) }) // the last feature counts several times
	all := most.Get()
	for d := 1; d < g.size; d *= 2 {
		all = g.Kernel.Max(all, g.ShflXor(all, g.U32(uint32(d))))
	}
	return all
}

// Pick is the value of feature n, in all lanes.
func (g *Group) Pick(x Feature, n ir.Value) ir.Value {
	if g.size == 1 || x.kept == nil || g.rounds() > 1 {
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
	if g.size == 1 {
		return g.Ne(found.Get(), g.U32(0))
	}
	lanes := g.Ballot(g.Ne(found.Get(), g.U32(0)))
	first := g.And(g.LaneID(), g.U32(^uint32(g.size-1)))
	return g.Ne(g.And(g.Shr(lanes, first), g.U32(uint32(1<<g.size-1))), g.U32(0))
}

// Normalise divides by the sum of all features (§5.3); where that is not above 0, it leaves them.
func (g *Group) Normalise(x Feature) Feature {
	sum := g.Sum(x.At)
	by := g.Select(g.Gt(sum, g.F32(0)), sum, g.F32(1))
	return g.Let(func(i Index) ir.Value { return g.Div(x.At(i), by) })
}

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
