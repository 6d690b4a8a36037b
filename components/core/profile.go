package core

import (
	"math/bits"

	"heddle/isa"
)

// InstructionCounts are the counts of a core for one instruction of a program. Over the rows of a profile, Issued sums
// to Stats.Issued and Stalls, cause by cause, to Stats.Scheduler.
type InstructionCounts struct {
	PC       uint32
	Issued   uint64 // by warps
	Squashed uint64 // those of Issued behind a trap, which have no effect
	Lanes    uint64 // lanes that executed it
	Stalls   Causes // issue slots left empty because of this instruction; none under issued
}

// Profile holds a core's counts by instruction of a program. A row is created when its instruction is first met; two
// indices lead from an address in the program to its row.
type Profile struct {
	rows  []InstructionCounts // the first is for no instruction: all warps have ended, or one is outside the program
	pages []*profilePage      // by address, from base on; nil: no instruction met yet
	base  uint32
}

// profilePage maps the instructions of a page to their rows; 0: none yet.
type profilePage [profileBytes / 4]uint32

// profileBytes is the size of a page in bytes.
const profileBytes = 4096

// NewProfile returns an empty profile of a program.
func NewProfile(p *isa.Program) *Profile {
	first, last := uint32(0), uint32(0)
	for _, s := range p.Segments { // in order of address
		if !s.Executable || len(s.Data) == 0 {
			continue
		}
		if last == 0 {
			first = s.Addr
		}
		last = s.Addr + uint32(len(s.Data)) - 1
	}
	return &Profile{
		rows: make([]InstructionCounts, 1), base: first &^ (profileBytes - 1),
		pages: make([]*profilePage, last/profileBytes-first/profileBytes+1),
	}
}

// Profile makes the core count into p from now on. It changes no cycle.
func (c *Core) Profile(p *Profile) {
	c.settleAll()
	c.profile, c.observed = p, p != nil || c.slices[0].sharing != nil
	for i := range c.slices {
		c.slices[i].blamed = 0
	}
}

// Rows returns the counts up to the core's last settling, in no order. The first row is that of no instruction.
func (p *Profile) Rows() []InstructionCounts { return p.rows }

// row returns the index of an instruction's row.
func (p *Profile) row(pc uint32) uint32 {
	n := (pc - p.base) / profileBytes
	if n >= uint32(len(p.pages)) {
		return 0
	}
	if p.pages[n] == nil {
		p.pages[n] = new(profilePage)
	}
	at := &p.pages[n][pc%profileBytes/4]
	if *at == 0 {
		*at = uint32(len(p.rows))
		p.rows = append(p.rows, InstructionCounts{PC: pc &^ 3})
	}
	return *at
}

// issued counts an issued instruction and its lanes: the current mask is final, as nothing behind an instruction that
// could change it is fetched before that is resolved.
func (p *Profile) issued(pc, lanes uint32) {
	r := &p.rows[p.row(pc)]
	r.Issued++
	r.Lanes += uint64(bits.OnesCount32(lanes))
}

// squashed counts an issued instruction that has no effect. Its warp's mask is the one it issued with.
func (p *Profile) squashed(pc, lanes uint32) {
	r := &p.rows[p.row(pc)]
	r.Squashed++
	r.Lanes -= uint64(bits.OnesCount32(lanes))
}

// blame records the instruction for which the slice's scheduler issues no more, from this cycle on.
func (sl *slice) blame(now uint64) {
	row := uint32(0)
	if pc, ok := sl.culprit(now); ok {
		row = sl.profile.row(pc)
	}
	if row != sl.blamed {
		sl.settle()
		sl.blamed = row
	}
}

// culprit returns the instruction that the cycle's cause refers to: the one held up by a unit or the collectors, or the
// one that waits for its registers, for fetch, or for resolution. ok is false if there is none.
func (sl *slice) culprit(now uint64) (pc uint32, ok bool) {
	active := sl.active & sl.members
	switch b := &sl.booked; {
	case int(b.issued) == sl.spec.Issue.Dispatch || b.cause == drained:
		return 0, false
	case b.cause < waitsMemory:
		return sl.heldInstruction(now)
	case b.cause == inactive:
		return sl.lowest(sl.ready & sl.members)
	case b.cause <= waitsUnit && sl.atIssue&sl.members != 0:
		return sl.lowest(sl.atIssue & sl.members)
	case b.cause == waitsUnit:
		return sl.lowest(active &^ sl.atBarrier)
	case b.cause == ibufferEmpty:
		return sl.lowest(active &^ (sl.atBarrier | sl.awaitingUnit))
	}
	return sl.lowest(active)
}

// heldInstruction returns the instruction that backPressure refers to.
func (sl *slice) heldInstruction(now uint64) (pc uint32, ok bool) {
	if id, ok := sl.furthest(now); ok {
		return sl.all[id].op.PC(), true
	}
	if !sl.issued.Empty() {
		return sl.all[*sl.issued.Front()].op.PC(), true
	}
	return sl.lowest(sl.atIssue & sl.members)
}

// lowest returns the current instruction of the lowest of some warps.
func (sl *slice) lowest(warps uint64) (pc uint32, ok bool) {
	if warps == 0 {
		return 0, false
	}
	i := bits.TrailingZeros64(warps)
	switch w := &sl.warps[i]; {
	case w.issueHead != nil:
		return w.issueHead.PC(), true
	case !w.ibuffer.Empty():
		return (*w.ibuffer.Front()).PC(), true
	case (sl.branching|sl.stalled)>>i&1 != 0: // unresolved control, or a fetch in flight
		return w.fetching, true
	default:
		return w.fetchPC, true
	}
}

// Add adds another core's counts of the instruction.
func (r *InstructionCounts) Add(o *InstructionCounts) {
	r.Issued += o.Issued
	r.Squashed += o.Squashed
	r.Lanes += o.Lanes
	for k, n := range o.Stalls {
		r.Stalls[k] += n
	}
}
