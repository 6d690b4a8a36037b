package emit

import (
	"math/bits"

	"heddle/kernels/ir"
)

// Edges emits a loop over numbers of edges: from, from+step, … below an end that is at least from, all u32. If the
// kernel unrolls, body receives several numbers at a time, so that their loads are in flight together, and the
// remaining ones singly. leave skips all further iterations.
func (k *Kernel) Edges(from, below, step ir.Value, body func(at []ir.Value, leave func())) {
	for _, n := range k.Unroll {
		g := k.groups(n, from, below, step, false)
		g.loop(func(at []ir.Value, l *ir.Loop) {
			body(at, func() {
				g.rest.Set(below)
				l.BreakIf(k.Bool(true))
			})
		})
		from = g.rest.Get()
	}
	k.ForLoop(from, below, step, func(i ir.Value, l *ir.Loop) {
		body([]ir.Value{i}, func() { l.BreakIf(k.Bool(true)) })
	})
}

// Whole emits the steps of a loop from, from+step, … that end at or before below, several at a time as UnrollShared
// specifies, and returns the beginning of the first remaining step: from, if loops are not unrolled.
func (k *Kernel) Whole(from, below, step ir.Value, body func(at []ir.Value)) (rest ir.Value) {
	for _, n := range k.UnrollShared {
		g := k.groups(n, from, below, step, true)
		g.loop(func(at []ir.Value, _ *ir.Loop) { body(at) })
		from = g.rest.Get()
	}
	return from
}

// groups is a loop over groups of size steps.
type groups struct {
	k               *Kernel
	size            int
	from, end, step ir.Value
	rest            *ir.Variable // beginning of the first remaining step
	moves           bool         // the loop sets rest
}

// groups computes the end of the loop over groups of a size. With whole, all steps must end at or before below;
// otherwise they must begin before it.
func (k *Kernel) groups(size int, from, below, step ir.Value, whole bool) *groups {
	g := &groups{k: k, size: size, from: from, step: step}
	n := k.Sub(below, from)
	if c, ok := step.IsConst(); ok && bits.OnesCount32(c) == 1 && bits.OnesCount(uint(size)) == 1 {
		if !whole {
			n = k.Add(n, k.U32(c-1))
		}
		g.end = k.Add(from, k.And(n, k.U32(-c*uint32(size))))
		g.rest = k.Var(g.end)
		return g
	}
	least := k.times(step, size) // distance to below that a group needs
	if !whole {
		least = k.Add(k.times(step, size-1), k.U32(1))
	}
	g.end = k.Select(k.Ge(n, least), k.Sub(below, k.Sub(least, k.U32(1))), from)
	g.rest, g.moves = k.Var(from), true
	return g
}

// times returns a small multiple of a step.
func (k *Kernel) times(step ir.Value, n int) ir.Value { return k.Mul(step, k.U32(uint32(n))) }

// loop emits the loop over groups.
func (g *groups) loop(body func(at []ir.Value, l *ir.Loop)) {
	k := g.k
	stride := k.times(g.step, g.size)
	k.Unrolled(g.size, g.from, g.end, stride, func(i ir.Value, l *ir.Loop) {
		if g.moves { // before the body, which may leave
			g.rest.Set(k.Add(i, stride))
		}
		at := []ir.Value{i}
		for n := 1; n < g.size; n++ {
			at = append(at, k.Add(i, k.times(g.step, n)))
		}
		body(at, l)
	})
}

// EdgesOfThread emits a loop over every step-th number of an edge below n, from the first one on, which may be above n.
func (k *Kernel) EdgesOfThread(first, n, step ir.Value, body func(at []ir.Value)) {
	base := k.firstOfWarp(first, step)
	switch {
	case len(k.Unroll) == 0:
		k.For(first, n, step, func(i ir.Value) { body([]ir.Value{i}) })
		return
	case base == nil:
		k.Edges(k.Min(first, n), n, step, func(at []ir.Value, _ func()) { body(at) })
		return
	}
	// Steps in which all lanes of a warp have an edge come first, so that the lanes stay together.
	for _, size := range k.Unroll {
		g := &groups{k: k, size: size, from: base, step: step, rest: k.Var(base), moves: true}
		least := k.Add(k.times(step, size-1), k.NumLanes())
		g.end = k.Select(k.Ge(n, least), k.Sub(n, k.Sub(least, k.U32(1))), k.U32(0))
		g.loop(func(at []ir.Value, _ *ir.Loop) { body(k.Beside(at, k.LaneID())) })
		base = g.rest.Get()
	}
	k.For(k.Add(base, k.LaneID()), n, step, func(i ir.Value) { body([]ir.Value{i}) })
}

// Beside adds x to each of the steps that Edges, Whole and EdgesOfThread pass to their bodies. All but the first sum
// derive from the first, so that neighbouring words share one address register.
func (k *Kernel) Beside(at []ir.Value, x ir.Value) []ir.Value {
	sums := []ir.Value{k.Add(at[0], x)}
	for _, t := range at[1:] {
		sums = append(sums, k.Add(sums[0], t.Args[1]))
	}
	return sums
}

// firstOfWarp returns the number of the warp's first lane if each lane begins at its own number among all threads; nil:
// they do not.
func (k *Kernel) firstOfWarp(first, step ir.Value) ir.Value {
	if len(k.Unroll) == 0 || k.block != 0 || step.Op != ir.OpNumThreads {
		return nil
	}
	switch first.Op {
	case ir.OpSpreadThread:
		return k.SpreadWarp()
	case ir.OpGlobalThread:
		return k.Mul(k.Add(k.Mul(k.CoreID(), k.NumWarps()), k.WarpID()), k.NumLanes())
	}
	return nil
}
