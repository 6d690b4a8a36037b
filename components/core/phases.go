package core

import "heddle/isa"

// Phases counts instructions, resident warps' cycles and schedulers' cycles by what the program does.
//
// A warp's cycle belongs to what the warp waits for, which is known when the wait ends: while
// its next instruction waits for a register, to the phase of the instruction that writes
// it; while control that it has issued (a branch, a barrier, …) is not resolved, to
// that one's phase; all other cycles to the phase of the instruction that it issues next, and
// those behind its last to the last one's. An instruction's own cycle is its phase's.
//
// A scheduler's cycle belongs to what the warp that issues next from it has waited for, by the
// same rule; those in which that warp did not wait, to its instruction's phase. Those behind
// its last instruction, and before its first warp starts, are other. So warps that nobody
// fetches for, as others come first, count as time of warps, and not as time of the program.
//
// What is booked is the time between such ends, by the count of cycles, so it is the same
// however many cycles the core sleeps through.
type Phases struct {
	Time   PhaseTime   `stat:"" unit:"scheduler-cycles" doc:"Every cycle of every scheduler, under the phase of what the warp that issues next has waited for; together slices × cycles."`
	Cycles PhaseCycles `stat:"" unit:"warp-cycles" doc:"Every cycle of every resident warp, under the phase of what it waits for; together warps.resident."`
	Instrs PhaseInstrs `stat:"" unit:"warp instructions" doc:"Issued instructions, by phase."`
}

// PhaseTime are scheduler-cycles, PhaseCycles warp-cycles, and PhaseInstrs issued instructions, by phase.
type (
	PhaseTime   [isa.NumPhases]uint64
	PhaseCycles [isa.NumPhases]uint64
	PhaseInstrs [isa.NumPhases]uint64
)

// Describe returns the name of a phase's statistic, and what it says.
func (*PhaseTime) Describe(i int) (name, doc string) {
	return isa.Phase(i).String() + ".scheduler_cycles", "Cycles of schedulers in: " + isa.Phase(i).Doc() + "."
}

// Describe returns the name of a phase's statistic, and what it says.
func (*PhaseCycles) Describe(i int) (name, doc string) {
	return isa.Phase(i).String() + ".warp_cycles", "Cycles of resident warps in: " + isa.Phase(i).Doc() + "."
}

// Describe returns the name of a phase's statistic, and what it says.
func (*PhaseInstrs) Describe(i int) (name, doc string) {
	return isa.Phase(i).String() + ".warp_instrs", "Issued instructions of: " + isa.Phase(i).Doc() + "."
}

// bookPhase books a warp's time up to now, a count of cycles.
func (p *pipe) bookPhase(w *warp, of isa.Phase, now uint64) {
	p.Phases.Cycles[of] += now - w.since
	w.since, w.waited = now, of
}

// issuedPhase: the warp issues an instruction in the cycle that is being done.
func (p *pipe) issuedPhase(sl *slice, w *warp) {
	w.phase = w.issueHead.Phase()
	p.Phases.Instrs[w.phase]++
	if w.since > sl.since {
		p.bookTime(sl, w.waited, w.since)
	}
	p.bookTime(sl, w.phase, p.Cycles+1)
	p.bookPhase(w, w.phase, p.Cycles+1)
}

// bookTime books a slice's time up to now, a count of cycles.
func (p *pipe) bookTime(sl *slice, of isa.Phase, now uint64) {
	p.Phases.Time[of] += now - sl.since
	sl.since = now
}

// bookIdle books the slices' time behind their last instructions, at the end.
func (c *Core) bookIdle() {
	for i := range c.slices {
		c.bookTime(&c.slices[i], isa.PhaseOther, c.Cycles)
	}
}

// resolved: the warp goes on behind control that it has issued.
func (c *Core) resolved(i int) {
	w := &c.warps[i]
	c.bookPhase(w, w.phase, c.Cycles)
}

// Add adds what another core, or another launch, has come to.
func (p *Phases) Add(o *Phases) {
	for i := range isa.NumPhases {
		p.Time[i] += o.Time[i]
		p.Cycles[i] += o.Cycles[i]
		p.Instrs[i] += o.Instrs[i]
	}
}

// Since returns what came after an earlier count.
func (p Phases) Since(before *Phases) Phases {
	for i := range isa.NumPhases {
		p.Time[i] -= before.Time[i]
		p.Cycles[i] -= before.Cycles[i]
		p.Instrs[i] -= before.Instrs[i]
	}
	return p
}
