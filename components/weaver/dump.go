package weaver

import "math/bits"

// Dump returns the unit's state, for display: the paper's tables (§III-B).
type Dump struct {
	FSM    string      `json:"fsm,omitempty"` // empty: a functional model
	Phase  string      `json:"phase"`
	Cursor int         `json:"cursor"` // the next slot of the ST
	ST     []SlotDump  `json:"st"`     // registered slots from the cursor on
	CED    Entry       `json:"ced"`
	Skip   bool        `json:"skip"` // of the current entry
	OD     []LaneDump  `json:"od"`   // lanes that hold an edge
	DT     []BatchDump `json:"dt"`   // by warp, those that have had a batch
}

// SlotDump is an entry of the ST.
type SlotDump struct {
	Slot int    `json:"slot"`
	VID  uint32 `json:"vid"`
	Loc  uint32 `json:"loc"`
	Deg  uint32 `json:"deg"`
}

// LaneDump is a lane of the OD.
type LaneDump struct {
	Lane int    `json:"lane"`
	VID  uint32 `json:"vid"`
	EID  uint32 `json:"eid"`
}

// BatchDump is a row of the DT.
type BatchDump struct {
	Warp  int     `json:"warp"`
	Edges []int32 `json:"edges"`
}

var phaseNames = [...]string{Registering: "registering", Decoding: "decoding", Ended: "ended"}

// Dump returns the unit's state.
func (w *Weaver) Dump() any {
	d := w.fsm.dump()
	d.FSM = w.fsm.at.String()
	return d
}

// Dump returns the unit's state.
func (u *Functional) Dump() any { return u.dump() }

func (s *State) dump() (d Dump) {
	d.Phase, d.Cursor, d.CED, d.Skip = phaseNames[s.phase], s.cursor, s.ced, s.drop
	for i := s.Next(); i >= 0; i = s.next(i + 1) {
		e := s.st[i]
		d.ST = append(d.ST, SlotDump{i, e.VID, e.Loc, e.Deg})
	}
	for m := s.filled; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		d.OD = append(d.OD, LaneDump{l, s.odVID[l], s.odEID[l]})
	}
	for w := range len(s.dt) / s.threads {
		b, some := BatchDump{Warp: w}, false
		for _, e := range s.Row(w) {
			b.Edges, some = append(b.Edges, int32(e)), some || e != None
		}
		if some {
			d.DT = append(d.DT, b)
		}
	}
	return d
}
