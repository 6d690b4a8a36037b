package weaver

import (
	"fmt"
	"math/bits"

	"heddle/isa/emu"
)

// None is the value for a lane without an edge.
const None = ^uint32(0)

// Entry is one registration.
type Entry struct {
	VID uint32 `json:"vid"` // vertex
	Loc uint32 `json:"loc"` // number of its first edge not yet distributed
	Deg uint32 `json:"deg"` // edges from Loc on
}

// Phase is the unit's progress within a launch or epoch.
type Phase uint8

// Phases: the FSM's states S0, S1 to S7, and S8.
const (
	Registering Phase = iota
	Decoding
	Ended
)

// State is the unit's tables. Its methods are the actions of the FSM's states, without time. Names are the paper's
// (§III-B).
type State struct {
	Stats

	threads int
	phase   Phase
	st      []Entry  // Sparse Workload Information Table, by slot
	valid   []uint64 // bit per slot
	cursor  int      // next slot to decode
	dt      []uint32 // Dense Work ID Table: a row of edge numbers per warp
	ced     Entry    // Current Entry Data; Deg 0: none
	drop    bool     // a skip of the current entry is pending
	odVID   [32]uint32
	odEID   [32]uint32
	filled  uint32 // lanes of the Output Data that hold an edge
}

// NewState returns the state for a core of that shape. The spec must be valid.
func NewState(s Spec, warps, threads int) *State {
	st := &State{
		threads: threads,
		st:      make([]Entry, s.STEntries),
		valid:   make([]uint64, (s.STEntries+63)/64),
		dt:      make([]uint32, warps*threads),
	}
	st.Reset()
	return st
}

// Reset begins a launch: nothing is registered. Counts stay.
func (s *State) Reset() {
	s.Abandoned += s.left()
	s.clear()
	for i := range s.dt {
		s.dt[i] = None
	}
}

// clear starts an epoch (S0).
func (s *State) clear() {
	clear(s.valid)
	s.phase, s.cursor, s.ced = Registering, 0, Entry{}
	s.filled, s.drop = 0, false
}

// Phase returns the unit's phase.
func (s *State) Phase() Phase { return s.phase }

// Register writes one slot of the ST. The first registration after an epoch's
// end starts the next one.
func (s *State) Register(slot int, e Entry) error {
	switch s.phase {
	case Decoding:
		return fmt.Errorf(
			"weaver.reg of vertex %d at slot %d while the table is being decoded: it must come before the first weaver.dec.id "+
				"or after the last answer of -1 in all lanes",
			e.VID, slot)
	case Ended:
		s.clear()
	}
	if slot >= len(s.st) {
		return fmt.Errorf(
			"weaver.reg at slot %d (warp·threads + lane): the table has %d entries; only slots below the CSR weaver_capacity "+
				"may register",
			slot, len(s.st))
	}
	if s.isValid(slot) {
		return fmt.Errorf("weaver.reg at slot %d twice in one epoch: vertices %d and %d", slot, s.st[slot].VID, e.VID)
	}
	s.st[slot] = e
	s.valid[slot/64] |= 1 << (slot % 64)
	s.Registrations++
	s.DegreeRegistered += uint64(e.Deg)
	return nil
}

// RegisterLanes executes weaver.reg: an entry for each active lane.
func (s *State) RegisterLanes(r *emu.UnitRequest) error {
	for m := r.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		e := Entry{VID: r.A[l], Loc: r.B[l], Deg: r.C[l]}
		if err := s.Register(r.Warp*s.threads+l, e); err != nil {
			return err
		}
	}
	return nil
}

// Begin handles the first decode request of an epoch (S0 to S1).
func (s *State) Begin() { s.phase = Decoding }

// Next returns the first valid slot at or above the cursor; -1: none.
func (s *State) Next() int { return s.next(s.cursor) }

// next returns the first valid slot at or above from; -1: none.
func (s *State) next(from int) int {
	for w := from / 64; w < len(s.valid); w++ {
		set := s.valid[w]
		if w == from/64 {
			set &= ^uint64(0) << (from % 64)
		}
		if set != 0 {
			return w*64 + bits.TrailingZeros64(set)
		}
	}
	return -1
}

// Load makes the slot's entry the current one (S1, S4).
func (s *State) Load(slot int) {
	s.ced = s.st[slot]
	s.cursor = slot + 1
	s.drop = false
}

// Pass discards the current entry, and moves the cursor to slot.
func (s *State) Pass(slot int) {
	s.ced = Entry{}
	s.cursor = slot
	s.drop = false
}

// Fill assigns the current entry's next edges to the free lanes of want, lowest first (S2). It returns the lanes of
// want that are still free.
func (s *State) Fill(want uint32) (free uint32) {
	free = want &^ s.filled
	for free != 0 && s.ced.Deg > 0 {
		l := bits.TrailingZeros32(free)
		s.odVID[l], s.odEID[l] = s.ced.VID, s.ced.Loc
		s.ced.Loc++
		s.ced.Deg--
		s.filled |= 1 << l
		free &= free - 1
	}
	return free
}

// Skip marks the current entry if its vertex is vid in any lane of mask: Drop then discards its remaining edges.
func (s *State) Skip(mask uint32, vid []uint32) {
	for m := mask; m != 0 && s.ced.Deg > 0 && !s.drop; m &= m - 1 {
		if vid[bits.TrailingZeros32(m)] == s.ced.VID {
			s.SkipHits++
			s.drop = true
			return
		}
	}
	s.SkipMisses++
}

// Drop performs a pending skip (S2).
func (s *State) Drop() {
	if s.drop {
		s.EdgesDropped += uint64(s.ced.Deg)
		s.ced.Deg, s.drop = 0, false
	}
}

// Emit answers a decode request of warp for the lanes of want: it writes edge numbers to the warp's row of the DT and
// vertices to out, and frees the OD (S5, S7, S8). It returns the lanes that have an edge.
func (s *State) Emit(warp int, want uint32, out []uint32) (filled uint32) {
	row := s.dt[warp*s.threads:][:s.threads]
	for l := range row {
		row[l], out[l] = None, None
		if s.filled>>l&1 != 0 {
			row[l], out[l] = s.odEID[l], s.odVID[l]
		}
	}
	filled = s.filled
	s.filled = 0
	s.Decodes++
	s.LanesFilled += uint64(bits.OnesCount32(filled))
	switch filled {
	case want:
		s.BatchesFull++
	case 0:
		s.BatchesEmpty++
	default:
		s.BatchesPartial++
	}
	return filled
}

// End is S8: every edge has been distributed or dropped.
func (s *State) End() { s.phase = Ended }

// Row returns the edge numbers of the warp's last batch.
func (s *State) Row(warp int) []uint32 { return s.dt[warp*s.threads:][:s.threads] }

// isValid reports whether the slot has been registered.
func (s *State) isValid(slot int) bool { return s.valid[slot/64]>>(slot%64)&1 != 0 }
