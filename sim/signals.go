package sim

import (
	"fmt"
	"strings"

	"heddle/components/probe"
)

// Shown holds the signals of a unit of the machine.
type Shown struct {
	Core    int    // whose unit it is; -1: no core's
	Unit    string // by its place: socket0.core1.weaver
	Signals probe.List
	Graph   bool // it is a graph unit
}

// shows is a unit that shows something.
type shows interface{ Signals() probe.List }

// Signals returns the signals of all units, from the cores outwards: first each core and its graph unit, then caches,
// then memory.
func (m *Machine) Signals() (all []Shown) {
	add := func(core int, unit string, from any) {
		if u, ok := from.(shows); ok {
			all = append(all, Shown{core, unit, u.Signals(), core >= 0 && unit != m.CorePath(core)})
		}
	}
	for n, c := range m.Cores {
		add(n, m.CorePath(n), c)
		if m.Units != nil {
			add(n, m.UnitPath(n), m.Units[n])
		}
	}
	for _, c := range m.Caches {
		add(-1, strings.ToLower(c.Name()), c)
	}
	add(-1, strings.ToLower(m.Memory.Name()), m.Memory)
	return all
}

// CorePath is a core's place: socket0.core1.
func (m *Machine) CorePath(n int) string {
	return fmt.Sprintf("socket%d.core%d", n/m.cfg.CoresPerSocket, n)
}

// UnitPath is the path of a core's graph unit: socket0.core1.weaver.
func (m *Machine) UnitPath(n int) string {
	_, kind, _ := strings.Cut(m.Units[n].Name(), ".")
	return m.CorePath(n) + "." + strings.ToLower(kind)
}

// ObserveSteps makes the driver of kernels call f at the beginning of each super-step, with its number from 1, its
// active vertices, and the edges that leave them. Earlier observers stay registered.
func (m *Machine) ObserveSteps(f func(step int, vertices, edges uint64)) {
	m.steps = append(m.steps, f)
}

// BeginStep notifies the observers of super-steps.
func (m *Machine) BeginStep(n int, vertices, edges uint64) {
	for _, f := range m.steps {
		f(n, vertices, edges)
	}
}

// Teller is a unit that reports events.
type Teller interface {
	Kinds() []probe.Kind
	Watch(probe.Watch)
}

// Telling is a unit that reports events, with its name in the machine.
type Telling struct {
	Core int // whose unit it is; -1: no core's
	Unit string
	Teller
}

// Tellers returns the units that report events: graph units, caches, memory.
func (m *Machine) Tellers() (all []Telling) {
	add := func(core int, unit string, from any) {
		if u, ok := from.(Teller); ok {
			all = append(all, Telling{core, unit, u})
		}
	}
	for n := range m.Units {
		add(n, m.UnitPath(n), m.Units[n])
	}
	for _, c := range m.Caches {
		add(-1, strings.ToLower(c.Name()), c)
	}
	add(-1, strings.ToLower(m.Memory.Name()), m.Memory)
	return all
}

// Instant is the core cycle that the current instant is in.
func (m *Machine) Instant() uint64 { return m.domain.After() - 1 }
