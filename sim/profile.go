package sim

import (
	"maps"
	"slices"

	"heddle/components/core"
	"heddle/isa"
)

// Profile has all cores count by instruction of a program from now on. It changes no cycle.
func (m *Machine) Profile(p *isa.Program) {
	for _, c := range m.Cores {
		c.Profile(p)
	}
}

// Profiled returns what has been counted since Profile, of all cores, in order of address; none is what belongs to no
// instruction of the program. It adds up to Machine.Statistics: core.issue.instructions, core.scheduler.*, thread_instrs.
func (m *Machine) Profiled() (rows []core.InstructionCounts, none core.InstructionCounts) {
	at := map[uint32]*core.InstructionCounts{}
	for _, c := range m.Cores {
		for i, r := range c.InstructionCounts() {
			if i == 0 {
				none.Add(&r)
				continue
			}
			if at[r.PC] == nil {
				at[r.PC] = &core.InstructionCounts{PC: r.PC}
			}
			at[r.PC].Add(&r)
		}
	}
	for _, pc := range slices.Sorted(maps.Keys(at)) {
		rows = append(rows, *at[pc])
	}
	return rows, none
}
