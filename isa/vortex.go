package isa

import "math/bits"

var vortex = Extension{
	Name: "Vortex",
	Doc: "SIMT control, votes and shuffles with Vortex's encodings (opcode 0x0B). A lane's predicate is bit 0 of rs1. " +
		"Scalar operands come from the last active lane.",
	Rows: []Row{
		{Name: "tmc", Enc: encR(0x0B, 0, 0).rd0().rs20(), Format: Format{rs1}, Class: ClassWarp, Sem: Control(tmc), Doc: "active lanes = rs1; 0 ends the warp"},
		{Name: "wspawn", Enc: encR(0x0B, 1, 0).rd0(), Format: Format{rs1, rs2}, Class: ClassWarp, Sem: Control(wspawn), Doc: "when no other warp of the core runs: start warps below rs1 at rs2, lane 0"},
		{Name: "split", Enc: encR(0x0B, 2, 0), Format: Format{negRs2, rd, rs1}, Class: ClassWarp, Sem: Control(split), Doc: "rd = IPDOM depth; if lanes differ, push and run the larger side (tie: those with the predicate)"},
		{Name: "join", Enc: encR(0x0B, 3, 0).rd0().rs20(), Format: Format{rs1}, Class: ClassWarp, Sem: Control(join), Doc: "close the split that returned rs1: the other side runs, then all lanes go on"},
		{Name: "bar", Enc: encR(0x0B, 4, 0).rd0(), Format: Format{rs1, rs2}, Class: ClassWarp, Sem: Control(bar), Doc: "wait until rs2 warps have arrived at barrier rs1; bit 31 of rs1: rs2 counts cores"},
		{Name: "pred", Enc: encR(0x0B, 5, 0), Format: Format{negRd, rs1, rs2}, Class: ClassWarp, Sem: Control(pred), Doc: "active lanes &= predicate rs1, or = rs2 if no lane has it"},

		{Name: "vote.all", Enc: encR(0x0B, 0, 1).rs20(), Format: Format{rd, rs1}, Class: ClassVote, Sem: Vote(func(act, set uint32) uint32 { return flag(set == act) }), Doc: "rd = every active lane has the predicate"},
		{Name: "vote.any", Enc: encR(0x0B, 1, 1).rs20(), Format: Format{rd, rs1}, Class: ClassVote, Sem: Vote(func(_, set uint32) uint32 { return flag(set != 0) }), Doc: "rd = some active lane has the predicate"},
		{Name: "vote.uni", Enc: encR(0x0B, 2, 1).rs20(), Format: Format{rd, rs1}, Class: ClassVote, Sem: Vote(func(act, set uint32) uint32 { return flag(set == 0 || set == act) }), Doc: "rd = all active lanes agree"},
		{Name: "vote.ballot", Enc: encR(0x0B, 3, 1).rs20(), Format: Format{rd, rs1}, Class: ClassVote, Sem: Vote(func(_, set uint32) uint32 { return set }), Doc: "rd = mask of active lanes with the predicate"},

		{Name: "shfl.up", Enc: encR(0x0B, 4, 1), Format: fmtR, Class: ClassVote, Sem: Shuffle(shflUp), Doc: "rd = rs1 of lane - b; rs2 = b | c<<6 | mask<<12"},
		{Name: "shfl.down", Enc: encR(0x0B, 5, 1), Format: fmtR, Class: ClassVote, Sem: Shuffle(shflDown), Doc: "rd = rs1 of lane + b"},
		{Name: "shfl.bfly", Enc: encR(0x0B, 6, 1), Format: fmtR, Class: ClassVote, Sem: Shuffle(shflBfly), Doc: "rd = rs1 of lane ^ b"},
		{Name: "shfl.idx", Enc: encR(0x0B, 7, 1), Format: fmtR, Class: ClassVote, Sem: Shuffle(shflIdx), Doc: "rd = rs1 of lane b of the segment"},
	},
}

func tmc(w Warp, a ControlArgs) error {
	w.SetMask(a.A)
	return nil
}

func wspawn(w Warp, a ControlArgs) error { return w.Spawn(a.A, a.B) }

func bar(w Warp, a ControlArgs) error { return w.Barrier(a.A, a.B) }

func split(w Warp, a ControlArgs) error {
	s := w.IPDOM()
	w.Return(uint32(s.Depth()))
	then := a.Pred
	if a.Negated {
		then = w.Mask() &^ then
	}
	other := w.Mask() &^ then
	if then == 0 || other == 0 {
		return nil
	}
	if bits.OnesCount32(other) > bits.OnesCount32(then) {
		then, other = other, then
	}
	if err := s.Push(w.Mask(), other, w.NextPC()); err != nil {
		return err
	}
	w.SetMask(then)
	return nil
}

func join(w Warp, a ControlArgs) error {
	mask, pc, jump, err := w.IPDOM().Join(w.Mask(), a.A)
	if err != nil {
		return err
	}
	w.SetMask(mask)
	if jump {
		w.Jump(pc)
	}
	return nil
}

func pred(w Warp, a ControlArgs) error {
	on := a.Pred
	if a.Negated {
		on = w.Mask() &^ on
	}
	if on == 0 {
		on = a.B
	}
	w.SetMask(on)
	return nil
}

// Shuffles work in segments: mask's bits name a segment, c is the highest lane
// within it. A lane whose source falls outside keeps its own value.

func shflUp(lane, b, _, mask int) (int, bool) {
	src := lane - b
	return src, src >= lane&mask
}

func shflDown(lane, b, c, mask int) (int, bool) {
	src := lane + b
	return src, src <= lane&mask|c&^mask
}

func shflBfly(lane, b, c, mask int) (int, bool) {
	src := lane ^ b
	return src, src <= lane&mask|c&^mask
}

func shflIdx(lane, b, c, mask int) (int, bool) {
	src := lane&mask | b&^mask
	return src, src <= lane&mask|c&^mask
}
