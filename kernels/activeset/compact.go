package activeset

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// Sets that are filled as a map and traversed as a queue, which a separate kernel builds from the map before a gather:
// GRAssembler's QnB and RQnB (PACT '22, Table 4), UGF's unfused frontier creation (UNFUSED_BITMAP, UNFUSED_BOOLMAP).
// GRAssembler's names are GSwitch's (PPoPP 2019; filter.cuh), whose filter lists the active vertices of a bitmap for a
// forward expansion, and the inactive ones for a backward one.
var (
	qnbBitmap = compacted(bitmap, "qnb-bitmap", false,
		"a bit a vertex, of which a kernel makes a list of active vertices before each push (QnB; UNFUSED_BITMAP)")
	qnbBytemap = compacted(bytemap, "qnb-bytemap", false,
		"a byte a vertex, of which a kernel makes a list of active vertices before each push (QnB; UNFUSED_BOOLMAP)")
	rqnbBitmap = compacted(bitmap, "rqnb-bitmap", true,
		"a bit a vertex; before each pull a kernel lists destinations that can still take something (RQnB), before "+
			"each push active vertices")
	rqnbBytemap = compacted(bytemap, "rqnb-bytemap", true,
		"a byte a vertex; before each pull a kernel lists destinations that can still take something (RQnB), before "+
			"each push active vertices")
)

// compacted returns a map that kernels traverse as a queue.
func compacted(c *Choice, name string, reverse bool, doc string) *Choice {
	q := *c
	q.Name, q.Doc, q.Queue, q.Reverse = name, doc, true, reverse
	q.state = func(vertices, edges int, d *Dedup) State {
		return &compactState{
			State: c.state(vertices, edges, d),
			queue: &Array{Name: "queue", Words: vertices, Roles: []string{"active.queue"}},
			count: &Array{Name: "queue.size", Words: 1, Roles: []string{"compact.size"}},
		}
	}
	return &q
}

// Compact emits the kernel that lists the vertices for which holds reports true or, of a set of outputs, those among
// them.
func (c *Choice) Compact(k *emit.Kernel, d *Dedup, holds func(v ir.Value) ir.Value) {
	to := newListed(k, c.kept)
	if c.Outputs {
		filterOutputs(k, d, to)
		return
	}
	vertices, lane := k.Count("vertices"), k.LaneID()
	k.For(k.SpreadWarp(), vertices, k.NumThreads(), func(from ir.Value) {
		v := k.Add(from, lane)
		to.add(k, k.And(k.Lt(v, vertices), holds(k.Min(v, k.Sub(vertices, k.U32(1))))), v)
	})
}

// listed is the list within the kernel that makes it.
type listed struct {
	queue, size    string   // roles of its arrays
	first, counted ir.Value // whether the lane is the first; the lanes that it counts
}

func newListed(k *emit.Kernel, kept bool) listed {
	l := listed{queue: "active.queue", size: "compact.size", first: k.Eq(k.LaneID(), k.U32(0))}
	if kept {
		l.queue, l.size = "stack", "stack.top"
	}
	// Lane 0 counts all lanes that have a vertex; every other lane counts those before it.
	l.counted = k.Select(l.first, k.U32(^uint32(0)), k.Sub(k.Shl(k.U32(1), k.LaneID()), k.U32(1)))
	return l
}

// add appends the vertices of the lanes with yes. A warp reserves space for all its lanes with one atomic.
func (l *listed) add(k *emit.Kernel, yes, v ir.Value) {
	lanes := k.Ballot(yes)
	k.When(k.Ne(lanes, k.U32(0)), func() {
		n := k.OnesCount(k.And(lanes, l.counted))
		base := k.Var(k.U32(0))
		k.When(l.first, func() { base.Set(k.AtomicAdd(k.Addr(l.size), k.U32(0), n)) })
		place := k.Add(k.ShflIdx(base.Get(), k.U32(0)), k.Select(l.first, k.U32(0), n))
		k.When(yes, func() { k.Store(k.Addr(l.queue), place, v) })
	})
}

// Compacted returns a set within a kernel that traverses the compacted list.
func (c *Choice) Compacted(k *emit.Kernel, s Set) Set {
	if c.kept {
		return keptSet{pastSet{k}, s}
	}
	return compactSet{s, k}
}

// keptSet traverses a part of the stack, and adds as the set does.
type keptSet struct {
	pastSet
	filled Set
}

func (s keptSet) Clear()         { s.filled.Clear() }
func (s keptSet) Add(v ir.Value) { s.filled.Add(v) }

type compactSet struct {
	Set
	k *emit.Kernel
}

func (s compactSet) Places() ir.Value { return s.k.Count("active.size") }
func (s compactSet) Vertex(place ir.Value) ir.Value {
	return s.k.Load(ir.U32, s.k.Addr("active.queue"), place)
}

// Compacter is the state of a set that a kernel compacts into a list.
type Compacter interface {
	// Compacted is called after the list of a super-step has been built.
	Compacted(m Memory)
}

// compactState is the host side: the map's state and the length of the list.
type compactState struct {
	State
	queue, count *Array
	size         uint32
}

func (s *compactState) Arrays() []*Array         { return append(s.State.Arrays(), s.queue, s.count) }
func (s *compactState) Words() map[string]uint32 { return map[string]uint32{"active.size": s.size} }
func (s *compactState) Compacted(m Memory)       { s.size = take(m, s.count) }
