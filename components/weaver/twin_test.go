package weaver

import (
	"heddle/isa"
	"heddle/isa/emu"
)

// twin is a Circuit that is the Go model, with its outputs as a circuit has them, perhaps spoilt.
type twin struct {
	fsm   *FSM
	now   uint64
	spoil func(now uint64, out *Outputs)
}

// UseTwins makes units of the model rtl play twins.
func UseTwins(spoil func(now uint64, out *Outputs)) {
	SetCircuits(func(_ string, s Spec, warps, threads int) (Circuit, error) {
		return &twin{fsm: NewFSM(s, warps, threads), spoil: spoil}, nil
	})
}

func (t *twin) Close() error { return nil }

func (t *twin) Launch() error {
	t.fsm.Launch()
	return nil
}

func (t *twin) Cycle(in Inputs, out *Outputs) error {
	t.now += in.Idle + 1
	var head *emu.UnitRequest
	if in.Head != nil { // it answers with its own
		own := *in.Head
		own.Out = make([]uint32, len(own.Out))
		head = &own
	}
	f, before := t.fsm, t.fsm.Stats
	skipped, wanted := f.drop, f.filled
	step := f.Cycle(t.now, head, in.Room)
	*out = Outputs{
		Took: step.Took, RowRead: f.RowsRead > before.RowsRead, SkipHit: f.SkipHits > before.SkipHits,
		State: f.at, CED: f.ced, Skipping: f.drop, Cursor: f.cursor, Filled: f.filled, Reads: f.reads.Len(),
		Fills: true, VID: f.odVID, EID: f.odEID,
	}
	out.Dropped = skipped && !f.drop || f.EdgesDropped > before.EdgesDropped
	if step.Err != nil {
		out.Mistake = 1
	}
	if r := step.Answer; r != nil {
		out.Answered, out.Tag, out.FromDT = true, r.Tag, r.Fn == isa.WeaverDecLoc
		copy(out.Data[:], r.Out)
		if !out.FromDT {
			out.Mask = wanted
			out.SetMask = f.spec.MaskByUnit && wanted != 0
		}
	}
	if t.spoil != nil {
		t.spoil(t.now, out)
	}
	return nil
}
