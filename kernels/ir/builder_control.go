package ir

import "heddle/isa"

// If runs then in the lanes with p and els, which may be nil, in the others. Which side
// runs first is not said.
func (b *Builder) If(p Value, then, els func()) {
	i := b.add(OpIf, None, p)
	i.Blocks = []*Block{b.in(then), b.in(els)}
}

// Loop is a loop to leave or to go on with.
type Loop struct {
	b    *Builder
	loop Value
}

// While repeats body as long as cond holds. A lane for which it does not waits for the others.
func (b *Builder) While(cond func() Value, body func()) {
	b.loop(func(l *Loop) {
		l.BreakIf(b.Not(cond()))
	}, func(*Loop) { body() })
}

// Loop repeats body until all lanes have left it with BreakIf.
func (b *Builder) Loop(body func(*Loop)) { b.loop(nil, body) }

func (b *Builder) loop(test, body func(*Loop)) {
	i := b.add(OpLoop, None, nil)
	l := &Loop{b, i}
	b.loops = append(b.loops, i)
	i.Blocks = []*Block{{}, {}, {}}
	if test != nil {
		i.Blocks[0] = b.in(func() { test(l) })
	}
	i.Blocks[1] = b.in(func() { body(l) })
	b.loops = b.loops[:len(b.loops)-1]
}

// For runs body with i = from, from+step, … as long as i < below. All three are
// computed once.
func (b *Builder) For(from, below, step Value, body func(i Value)) {
	b.ForLoop(from, below, step, func(i Value, _ *Loop) { body(i) })
}

// ForLoop is a For that can be left.
func (b *Builder) ForLoop(from, below, step Value, body func(i Value, l *Loop)) {
	f := b.add(OpFor, None, from, below, step)
	b.loops = append(b.loops, f)
	f.Blocks = []*Block{b.in(func() {
		body(b.add(OpIndex, same(from)), &Loop{b, f})
	})}
	b.loops = b.loops[:len(b.loops)-1]
}

// Unrolled is a ForLoop whose body does so many steps of a loop, one after the other. The compiler moves loads of the
// later ones before what the earlier ones do with theirs.
func (b *Builder) Unrolled(copies int, from, below, step Value, body func(i Value, l *Loop)) {
	at := len(b.block.Instrs)
	b.ForLoop(from, below, step, body)
	b.block.Instrs[at].Copies = copies
}

// BreakIf lets lanes with p leave the loop.
func (l *Loop) BreakIf(p Value) { l.leave(OpBreak, p) }

// ContinueIf lets lanes with p skip the rest of the loop's body.
func (l *Loop) ContinueIf(p Value) { l.leave(OpContinue, p) }

func (l *Loop) leave(op Op, p Value) {
	l.b.add(op, None, p).Loop = l.loop
	for _, open := range l.b.loops {
		if open == l.loop {
			return
		}
	}
	l.b.errorf("%s of a loop that has ended", op)
}

// AllLanes runs body in all lanes of the warp, also those that are off because of an
// If or have left a loop. What body uses from outside must be known in all lanes: it
// must not be computed where only some run.
func (b *Builder) AllLanes(body func()) {
	i := b.add(OpAllLanes, None)
	i.Blocks = []*Block{b.in(body)}
}

// Phase says what body is doing. It changes nothing of the code.
func (b *Builder) Phase(p isa.Phase, body func()) {
	outer := b.k.Phase
	b.k.Phase = p
	body()
	b.k.Phase = outer
}

// Edge marks that a lane which comes here handles an edge.
func (b *Builder) Edge() { b.add(OpEdge, None) }

// BlockEdge marks that a thread block whose lanes all come here handles an edge.
func (b *Builder) BlockEdge() { b.add(OpBlockEdge, None) }

// Ballot is the mask of active lanes with p.
func (b *Builder) Ballot(p Value) Value { return b.add(OpBallot, U32, p) }

// Any reports whether some active lane has p.
func (b *Builder) Any(p Value) Value { return b.add(OpAny, Pred, p) }

// All reports whether every active lane has p.
func (b *Builder) All(p Value) Value { return b.add(OpAll, Pred, p) }

// Shuffles give x of another lane, which must be active; a lane whose source is beyond
// the warp's lanes keeps its own. n is taken modulo 64.

// ShflIdx is x of lane n.
func (b *Builder) ShflIdx(x, n Value) Value { return b.binary(OpShflIdx, x, n) }

// ShflUp is x of lane - n.
func (b *Builder) ShflUp(x, n Value) Value { return b.binary(OpShflUp, x, n) }

// ShflDown is x of lane + n.
func (b *Builder) ShflDown(x, n Value) Value { return b.binary(OpShflDown, x, n) }

// ShflXor is x of lane ^ n.
func (b *Builder) ShflXor(x, n Value) Value { return b.binary(OpShflXor, x, n) }

// Barrier waits for all warps of the thread block, which is the core's unless Launch says otherwise. All must come, so
// it may not be where only some lanes are.
func (b *Builder) Barrier() { b.add(OpBarrier, None) }

// DeviceBarrier waits for all warps of all cores, and all they have written is seen.
func (b *Builder) DeviceBarrier() { b.add(OpDeviceBarrier, None) }

// What follows uses the vertex-lists of the core's GraphPEG or hardware worklist; a list is
// named by its number. Lanes that are off get nothing.

// UseLists says by which instructions; else, a GraphPEG's.
func (b *Builder) UseLists(ops ListOps) {
	for _, name := range []string{ops.Pop, ops.Push} {
		if name != "" {
			b.unitRow(name)
		}
	}
	b.k.Lists = ops
}

// unitRow finds an instruction of a graph unit; nil: there is none of the name, which is an error.
func (b *Builder) unitRow(name string) *isa.Row {
	if r := isa.Lookup(name); r != nil && r.Class == isa.ClassUnit {
		return r
	}
	b.errorf("%q is no instruction of a graph unit", name)
	return nil
}

// ListEdges takes the edges of a list's vertices from a GraphPEG, one per lane at a time,
// until no core has any, and runs body in the lanes that got one. No loop around it can be left in body.
func (b *Builder) ListEdges(list Value, body func(src, dst, weight, number Value)) {
	b.take(OpListEdges, func() {
		body(b.item(isa.PegSrc), b.item(isa.PegDst), b.item(isa.PegWt), b.item(isa.PegIdx))
	}, list)
}

// ListVertices takes the vertices of a list, in the same way.
func (b *Builder) ListVertices(list Value, body func(v Value)) {
	b.take(OpListVertices, func() { body(b.item(0)) }, list)
}

func (b *Builder) take(op Op, body func(), args ...Value) {
	i := b.add(op, None, args...)
	loops := b.loops
	b.loops = nil
	i.Blocks = []*Block{b.in(body)}
	b.loops = loops
}

func (b *Builder) item(field uint8) Value {
	i := b.add(OpListItem, U32)
	i.Imm = uint32(field)
	return i
}

// ListPush appends a vertex to a list.
func (b *Builder) ListPush(v, list Value) { b.add(OpListPush, None, v, list) }

// EghwPush gives a vertex to the core's edge-generating hardware. Of each thread it takes one, before its edges
// have all been taken.
func (b *Builder) EghwPush(v Value) { b.Unit("eghw.push", v) }

// Unit executes an instruction of the core's graph unit, by its name, with the values of rs1 and rs2, which may be nil
// where it has none. It returns the answer; nil: it has none.
func (b *Builder) Unit(name string, args ...Value) Value {
	r := b.unitRow(name)
	if r == nil {
		return b.U32(0)
	}
	if len(args) > 2 {
		b.errorf("%s with %d values: expected those of rs1 and rs2", name, len(args))
	}
	operands := make([]Value, 2)
	copy(operands, args)
	op, t, answer := OpUnitDo, None, false
	if _, answer = r.Operand("rd"); answer {
		op, t = OpUnitAsk, U32
	}
	for n, reg := range []string{"rs1", "rs2"} {
		if _, has := r.Operand(reg); has != (operands[n] != nil) {
			b.errorf("%s %s: what it is given for %s does not fit", name, r.Format, reg)
		}
	}
	i := b.add(op, t, operands...)
	i.Imm = uint32(r.Op)
	if !answer {
		return nil
	}
	return i
}

// EghwEdges takes the edges of the pushed vertices from edge-generating hardware, one per lane at a time, until there
// are none, and runs body in the lanes that got one. Lanes that are off get nothing. No loop around it can be left in
// body.
func (b *Builder) EghwEdges(body func(base, other, weight Value)) {
	b.take(OpEghwEdges, func() { body(b.item(eghwBase), b.item(eghwOther), b.item(eghwWeight)) })
}

// Fields of an edge as OpEghwEdges gives it: isa's functions from the pop on.
const (
	eghwBase   uint8 = 0 // EghwPop itself
	eghwOther        = isa.EghwGetOther - isa.EghwPop
	eghwWeight       = isa.EghwGetWt - isa.EghwPop
)

// WeaverReg registers a vertex with its first edge and degree at slot ThreadInCore,
// which must be below WeaverCapacity. vid is passed on unread, but must be below 2³¹.
func (b *Builder) WeaverReg(vid, loc, deg Value) { b.add(OpWeaverReg, None, vid, loc, deg) }

// WeaverSkip drops the remaining edges of the vertex.
func (b *Builder) WeaverSkip(vid Value) { b.add(OpWeaverSkip, None, vid) }

// WeaverDecID takes an edge for each active lane: its vertex, or -1. It does not work on
// machines whose Weaver sets the thread mask; WeaverEdges works on all.
func (b *Builder) WeaverDecID() Value { return b.add(OpWeaverDecID, I32) }

// WeaverDecLoc is the number of the edge that the warp's last WeaverDecID gave the lane.
func (b *Builder) WeaverDecLoc() Value { return b.add(OpWeaverDecLoc, U32) }

// WeaverEdges takes edges from the Weaver, one per lane at a time, until none is left,
// and runs body with the edge's vertex, as registered, and number. With
// mask_by_unit or without, body is the same. Lanes that are off get no edges.
func (b *Builder) WeaverEdges(body func(vid, loc Value, l *Loop)) {
	w := b.add(OpWeaverEdges, None)
	b.loops = append(b.loops, w)
	w.Blocks = []*Block{b.in(func() {
		vid := b.add(OpWeaverVID, U32)
		body(vid, b.add(OpWeaverLoc, U32), &Loop{b, w})
	})}
	b.loops = b.loops[:len(b.loops)-1]
}
