package ir

import "heddle/isa"

// If executes then in the lanes with p and els, which may be nil, in the others. The order of the two sides is
// unspecified.
func (b *Builder) If(p Value, then, els func()) {
	i := b.add(OpIf, None, p)
	i.Blocks = []*Block{b.in(then), b.in(els)}
}

// Loop is a loop that lanes may leave (BreakIf) or continue (ContinueIf).
type Loop struct {
	b    *Builder
	loop Value
}

// While repeats body as long as cond holds. A lane in which it does not waits for the others.
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

// For executes body with i = from, from+step, … as long as i < below. All three are evaluated once.
func (b *Builder) For(from, below, step Value, body func(i Value)) {
	b.ForLoop(from, below, step, func(i Value, _ *Loop) { body(i) })
}

// ForLoop is a For with a Loop for BreakIf and ContinueIf.
func (b *Builder) ForLoop(from, below, step Value, body func(i Value, l *Loop)) {
	f := b.add(OpFor, None, from, below, step)
	b.loops = append(b.loops, f)
	f.Blocks = []*Block{b.in(func() {
		body(b.add(OpIndex, same(from)), &Loop{b, f})
	})}
	b.loops = b.loops[:len(b.loops)-1]
}

// BreakIf makes lanes with p leave the loop.
func (l *Loop) BreakIf(p Value) { l.leave(OpBreak, p) }

// ContinueIf makes lanes with p skip the rest of the loop's body.
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

// AllLanes executes body in all lanes of the warp, including those inactive because of an If or because they have left
// a loop. Values that body uses from outside must be defined in all lanes: they must not be computed where only some
// lanes are active.
func (b *Builder) AllLanes(body func()) {
	i := b.add(OpAllLanes, None)
	i.Blocks = []*Block{b.in(body)}
}

// Phase attributes body to a phase of the program. It does not change the code.
func (b *Builder) Phase(p isa.Phase, body func()) {
	outer := b.k.Phase
	b.k.Phase = p
	body()
	b.k.Phase = outer
}

// Edge marks that a lane which executes it handles an edge.
func (b *Builder) Edge() { b.add(OpEdge, None) }

// BlockEdge marks that a thread block, all of whose lanes must execute it, handles an edge.
func (b *Builder) BlockEdge() { b.add(OpBlockEdge, None) }

// Ballot returns the mask of active lanes with p.
func (b *Builder) Ballot(p Value) Value { return b.add(OpBallot, U32, p) }

// Any reports whether some active lane has p.
func (b *Builder) Any(p Value) Value { return b.add(OpAny, Pred, p) }

// All reports whether every active lane has p.
func (b *Builder) All(p Value) Value { return b.add(OpAll, Pred, p) }

// Shuffles return x of another lane, which must be active; a lane whose source lies beyond the warp's lanes keeps its
// own value. n is taken modulo 64.

// ShflIdx is x of lane n.
func (b *Builder) ShflIdx(x, n Value) Value { return b.binary(OpShflIdx, x, n) }

// ShflUp is x of lane - n.
func (b *Builder) ShflUp(x, n Value) Value { return b.binary(OpShflUp, x, n) }

// ShflDown is x of lane + n.
func (b *Builder) ShflDown(x, n Value) Value { return b.binary(OpShflDown, x, n) }

// ShflXor is x of lane ^ n.
func (b *Builder) ShflXor(x, n Value) Value { return b.binary(OpShflXor, x, n) }

// Barrier waits for all warps of the thread block, by default all warps of the core. All must reach it, so it is not
// allowed where only some lanes are active.
func (b *Builder) Barrier() { b.add(OpBarrier, None) }

// DeviceBarrier waits for all warps of all cores, and makes all their writes visible.
func (b *Builder) DeviceBarrier() { b.add(OpDeviceBarrier, None) }

// The methods below use the vertex-lists of the core's GraphPEG or hardware worklist; a list is identified by its
// number. Inactive lanes receive nothing.

// UseLists selects the instructions that access the lists; by default, a GraphPEG's.
func (b *Builder) UseLists(ops ListOps) {
	for _, name := range []string{ops.Pop, ops.Push} {
		if name != "" {
			b.unitRow(name)
		}
	}
	b.k.Lists = ops
}

// unitRow returns an instruction of a graph unit; nil if the name is unknown, which is recorded as an error.
func (b *Builder) unitRow(name string) *isa.Row {
	if r := isa.Lookup(name); r != nil && r.Class == isa.ClassUnit {
		return r
	}
	b.errorf("%q is no instruction of a graph unit", name)
	return nil
}

// ListEdges pops the edges of a list's vertices from a GraphPEG, one per lane at a time, until no core has any, and
// executes body in the lanes that received one. body must not leave an enclosing loop.
func (b *Builder) ListEdges(list Value, body func(src, dst, weight, number Value)) {
	b.take(OpListEdges, func() {
		body(b.item(isa.PegSrc), b.item(isa.PegDst), b.item(isa.PegWt), b.item(isa.PegIdx))
	}, list)
}

// ListVertices pops the vertices of a list in the same way.
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

// EghwPush pushes a vertex to the core's edge-generating hardware. The unit accepts one vertex per thread until its
// edges have all been popped.
func (b *Builder) EghwPush(v Value) { b.Unit("eghw.push", v) }

// Unit executes an instruction of the core's graph unit, by name, with the values of rs1 and rs2, which may be nil
// where the instruction has no such operand. It returns the instruction's result; nil: it has none.
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

// EghwEdges pops the edges of the pushed vertices from edge-generating hardware, one per lane at a time, until none is
// left, and executes body in the lanes that received one. Inactive lanes receive nothing. body must not leave an
// enclosing loop.
func (b *Builder) EghwEdges(body func(base, other, weight Value)) {
	b.take(OpEghwEdges, func() { body(b.item(eghwBase), b.item(eghwOther), b.item(eghwWeight)) })
}

// Fields of an edge that OpEghwEdges returns: the unit's function codes (isa) from the pop on.
const (
	eghwBase   uint8 = 0 // EghwPop itself
	eghwOther        = isa.EghwGetOther - isa.EghwPop
	eghwWeight       = isa.EghwGetWt - isa.EghwPop
)

// WeaverReg registers a vertex with its first edge and degree in slot ThreadInCore, which must be below WeaverCapacity.
// vid is passed through uninterpreted, but must be below 2³¹.
func (b *Builder) WeaverReg(vid, loc, deg Value) { b.add(OpWeaverReg, None, vid, loc, deg) }

// WeaverSkip drops the remaining edges of the vertex.
func (b *Builder) WeaverSkip(vid Value) { b.add(OpWeaverSkip, None, vid) }

// WeaverDecID requests an edge for each active lane and returns its vertex, or -1. It does not work on machines whose
// Weaver sets the thread mask; WeaverEdges works on all.
func (b *Builder) WeaverDecID() Value { return b.add(OpWeaverDecID, I32) }

// WeaverDecLoc returns the number of the edge that the warp's last WeaverDecID assigned to the lane.
func (b *Builder) WeaverDecLoc() Value { return b.add(OpWeaverDecLoc, U32) }

// WeaverEdges requests edges from the Weaver, one per lane at a time, until none is left, and executes body with the
// edge's vertex, as registered, and number. body is the same with mask_by_unit and without. Inactive lanes receive no
// edges.
func (b *Builder) WeaverEdges(body func(vid, loc Value, l *Loop)) {
	w := b.add(OpWeaverEdges, None)
	b.loops = append(b.loops, w)
	w.Blocks = []*Block{b.in(func() {
		vid := b.add(OpWeaverVID, U32)
		body(vid, b.add(OpWeaverLoc, U32), &Loop{b, w})
	})}
	b.loops = b.loops[:len(b.loops)-1]
}
