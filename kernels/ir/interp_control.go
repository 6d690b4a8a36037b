package ir

import (
	"math/bits"
	"slices"
)

func (w *warp) control(i *Instr, mask uint32) uint32 {
	switch i.Op {
	case OpIf:
		return w.sides(i, mask)
	case OpLoop:
		return w.loop(i, mask)
	case OpFor:
		return w.forLoop(i, mask)
	case OpWeaverEdges:
		return w.weaverEdges(i, mask)
	case OpListEdges, OpListVertices, OpEghwEdges:
		w.takeFromList(i, mask)
	case OpBreak:
		off := w.lanes(i.Args[0], mask)
		w.left[i.Loop.ID] |= off
		return mask &^ off
	case OpContinue:
		off := w.lanes(i.Args[0], mask)
		w.skipped[i.Loop.ID] |= off
		return mask &^ off
	case OpAllLanes:
		w.block(i.Blocks[0], ones(w.n))
	}
	return mask
}

// sides executes an If: the side with more lanes first, as split does. Kernels can observe the order only if one side's
// AllLanes changes a variable that the other reads.
func (w *warp) sides(i *Instr, mask uint32) uint32 {
	on := w.lanes(i.Args[0], mask)
	off := mask &^ on
	if bits.OnesCount32(off) > bits.OnesCount32(on) {
		return w.block(i.Blocks[1], off) | w.block(i.Blocks[0], on)
	}
	return w.block(i.Blocks[0], on) | w.block(i.Blocks[1], off)
}

// loop executes a loop and returns the lanes that reach its exit; lanes that leave an enclosing loop do not.
func (w *warp) loop(i *Instr, mask uint32) uint32 {
	w.left[i.ID], w.skipped[i.ID] = 0, 0
	on := mask
	if g := i.Args[0]; g != nil {
		on = w.lanes(g, mask)
		w.left[i.ID] = mask &^ on
	} else {
		on = w.block(i.Blocks[0], on)
	}
	for on != 0 {
		on = w.block(i.Blocks[1], on) | w.skipped[i.ID]
		w.skipped[i.ID] = 0
		on = w.block(i.Blocks[2], on)
		on = w.block(i.Blocks[0], on)
	}
	return w.left[i.ID]
}

func (w *warp) forLoop(i *Instr, mask uint32) uint32 {
	w.left[i.ID], w.skipped[i.ID] = 0, 0
	index, less := make([]uint32, w.n), ops[OpLt].eval
	for l := range index {
		index[l] = w.get(i.Args[0], l)
	}
	for on := mask; ; {
		for m := on; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			if less(i.Args[0].Type, Pred, [3]uint32{index[l], w.get(i.Args[1], l)}) == 0 {
				w.left[i.ID] |= 1 << l
				on &^= 1 << l
			}
		}
		if on == 0 {
			return w.left[i.ID]
		}
		w.index = slices.Clone(index)
		on = w.block(i.Blocks[0], on) | w.skipped[i.ID]
		w.skipped[i.ID] = 0
		for m := on; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			index[l] += w.get(i.Args[2], l)
		}
	}
}
