package swarm

import (
	"heddle/components/clock"
)

// Machine is an Engine on a clock. Nothing else of a Swarm machine is on it, so that it runs ahead to the next update
// of global virtual time, and then sleeps until the clock is there.
type Machine struct {
	clock.Base
	*Engine
	Ended func() `checkpoint:"assembled"` // called when the program has ended, in that cycle
	began clock.Cycle
}

// NewMachine returns the component of that name.
func NewMachine(name string, e *Engine) *Machine {
	return &Machine{Base: clock.NewBase(name), Engine: e}
}

// Start makes a launched program run.
func (m *Machine) Start() {
	m.began = m.ClockHandle().Domain().Cycle()
	m.ClockHandle().Wake()
}

// LastCycle returns the clock's cycle at the end of the program.
func (m *Machine) LastCycle() uint64 { return m.began + m.Cycles() }

// Tick runs to the next update.
func (m *Machine) Tick(now clock.Cycle) bool {
	if m.Done() {
		m.Ended()
		return false
	}
	m.Step()
	at := m.began + m.Cycles()
	if at <= now { // the first tick is one cycle after the start
		return true
	}
	m.ClockHandle().WakeAt(at)
	return false
}
