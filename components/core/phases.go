package core

import "heddle/isa"

// Phases attributes instructions, resident warp-cycles and scheduler-cycles to the phases of the program.
//
// A warp-cycle belongs to the phase of the instruction that the warp waits for, which is known when the wait ends:
// while its next instruction waits for a register, the instruction that writes it; while issued control (a branch, a
// barrier, …) is unresolved, that instruction; in all other cycles, the instruction that it issues next. Cycles after
// its last instruction belong to that one's phase, and the cycle of issue to the issued instruction's.
//
// A scheduler-cycle belongs to the phase that the next warp to issue has waited for, by the same rule; if that warp did
// not wait, to the phase of its instruction. Cycles after the scheduler's last instruction, and before its first warp
// starts, are other. Cycles of warps that fetch leaves waiting behind others therefore count as warp-cycles, not as
// scheduler-cycles.
//
// Intervals between such events are booked by the count of cycles, so the result does not depend on how many cycles the
// core sleeps through.
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

// Describe returns the name and the description of a phase's statistic.
func (*PhaseTime) Describe(i int) (name, doc string) {
	return isa.Phase(i).String() + ".scheduler_cycles", "Cycles of schedulers in: " + isa.Phase(i).Doc() + "."
}

// Describe returns the name and the description of a phase's statistic.
func (*PhaseCycles) Describe(i int) (name, doc string) {
	return isa.Phase(i).String() + ".warp_cycles", "Cycles of resident warps in: " + isa.Phase(i).Doc() + "."
}

// Describe returns the name and the description of a phase's statistic.
func (*PhaseInstrs) Describe(i int) (name, doc string) {
	return isa.Phase(i).String() + ".warp_instrs", "Issued instructions of: " + isa.Phase(i).Doc() + "."
}

// bookPhase books a warp's time up to now, a count of cycles.
func (p *pipe) bookPhase(w *warp, of isa.Phase, now uint64) {
	p.Phases.Cycles[of] += now - w.since
	w.since, w.waited = now, of
}

// issuedPhase books the issue of an instruction by the warp in the current cycle.
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

// bookIdle books the slices' time after their last instructions, at the end of a launch.
func (c *Core) bookIdle() {
	for i := range c.slices {
		c.bookTime(&c.slices[i], isa.PhaseOther, c.Cycles)
	}
}

// resolved books the time up to the resolution of a warp's control instruction.
func (c *Core) resolved(i int) {
	w := &c.warps[i]
	c.bookPhase(w, w.phase, c.Cycles)
}

// Add adds the counts of another core or launch.
func (p *Phases) Add(o *Phases) {
	for i := range isa.NumPhases {
		p.Time[i] += o.Time[i]
		p.Cycles[i] += o.Cycles[i]
		p.Instrs[i] += o.Instrs[i]
	}
}

// Since returns the counts since an earlier copy.
func (p Phases) Since(before *Phases) Phases {
	for i := range isa.NumPhases {
		p.Time[i] -= before.Time[i]
		p.Cycles[i] -= before.Cycles[i]
		p.Instrs[i] -= before.Instrs[i]
	}
	return p
}
