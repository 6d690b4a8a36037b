package sim

import (
	"context"

	"heddle/components/core"
	"heddle/components/mem"
	"heddle/isa"
)

// Execute executes a program to its end as Launch does, but without simulating time: the result has no cycles. Memory,
// the caches' lines, DRAM's open rows and the tables of graph units are left as a launch leaves them that executes
// instructions in the same order. Warps proceed in the order of estimated times, which the machine's clock then
// counts in. Nothing of it is in the statistics of cores, caches and memory; graph units count as ever.
func (m *Machine) Execute(ctx context.Context, p *isa.Program, arg uint32) (Result, error) {
	if m.traced {
		panic("BUG: sim: functional execution of a replayed trace")
	}
	if m.tasks != nil {
		return m.executeTasks(ctx, p, arg)
	}
	m.assembleFunctional()
	r, err := m.launch(ctx, p, arg, func() {
		m.setFunctional(true)
		for _, u := range m.functional {
			u.Start()
		}
	})
	m.setFunctional(false)
	r.Cycles = 0
	return r, err
}

// PrepareFunctional creates the parts that Execute needs, which its first call does otherwise: checkpoints require them
// as they were before the first launch.
func (m *Machine) PrepareFunctional() { m.assembleFunctional() }

// assembleFunctional creates the parts of functional execution, once. Machines that never use it do not have them.
func (m *Machine) assembleFunctional() {
	if m.functional != nil || m.tasks != nil {
		return
	}
	outer := m.Caches[2*m.cfg.Sockets:]
	below := mem.Warmer(m.Memory)
	for i := len(outer) - 1; i >= 0; i-- {
		outer[i].WarmInto(below, m)
		below = outer[i]
	}
	for _, c := range m.Caches[:2*m.cfg.Sockets] {
		c.WarmInto(below, m)
	}
	for n, c := range m.Cores {
		l1 := m.Caches[2*(n/m.cfg.CoresPerSocket):] // of its socket: L1I, L1D
		m.functional = append(m.functional, core.NewFunctional(c, m.outer, m.Arch.Core(n), l1[0], l1[1], m.cfg.L1D.LineBytes,
			m.look))
	}
}

// look makes the watchdog check in this cycle.
func (m *Machine) look() { m.watchdog.look() }
