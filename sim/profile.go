package sim

import (
	"maps"
	"slices"

	"heddle/components/core"
	"heddle/isa"
)

// Profile holds a machine's counts by instruction of one of the programs that it was launched with.
type Profile struct {
	Program *isa.Program
	cores   []*core.Profile
}

// profiles are those of all programs, in the order of their first launches.
type profiles struct{ all []*Profile }

// Profile makes the machine count by instruction of each program launched from now on. It changes no cycle.
func (m *Machine) Profile() { m.profiles = &profiles{} }

// Profiles returns the counts since Profile.
func (m *Machine) Profiles() []*Profile {
	if m.profiles == nil {
		return nil
	}
	m.settle()
	return m.profiles.all
}

// enter makes the cores count for a program that is about to be launched.
func (x *profiles) enter(m *Machine, p *isa.Program) {
	if x == nil {
		return
	}
	i := slices.IndexFunc(x.all, func(one *Profile) bool { return one.Program == p })
	if i < 0 {
		i = len(x.all)
		one := &Profile{Program: p}
		for range m.Cores {
			one.cores = append(one.cores, core.NewProfile(p))
		}
		x.all = append(x.all, one)
	}
	for n, c := range m.Cores {
		c.Profile(x.all[i].cores[n])
	}
}

// Counts returns the counts of all cores, in order of address; none are those that belong to no instruction of the
// program. Those of all programs add up to Machine.Statistics: core.issue.instructions, core.scheduler.*,
// thread_instrs.
func (p *Profile) Counts() (rows []core.InstructionCounts, none core.InstructionCounts) {
	at := map[uint32]*core.InstructionCounts{}
	for _, c := range p.cores {
		for i, r := range c.Rows() {
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
