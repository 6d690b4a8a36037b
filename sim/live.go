package sim

import (
	"math"

	akita "github.com/sarchlab/akita/v3/sim"

	"heddle/components/clock"
	"heddle/sim/stats"
)

// Observation of a running machine. These functions may be called by the callback of BeforeBatches, and while nothing
// runs; they change no cycle and no count.

// BeforeBatches makes the simulating goroutine call f before every batch of some thousand cycles. Time stands still
// until f returns.
func (m *Machine) BeforeBatches(f func()) { m.System.BeforeBatches(f) }

// Progress returns the machine's progress.
func (m *Machine) Progress() Progress { return m.progress(m.domain.After() - 1) }

// progress returns the progress at a cycle. What is emulated takes none, and counts.
func (m *Machine) progress(now clock.Cycle) Progress {
	p := Progress{now, m.Arch.Stats()}
	if m.emulated != nil {
		more := m.emulated.Stats()
		p.Stats = p.Stats.Plus(&more)
	}
	return p
}

// Launches returns the number of launches begun.
func (m *Machine) Launches() uint64 { return m.launches }

// Live returns all counts up to this instant, including those of sleeping units.
func (m *Machine) Live() stats.Tree {
	m.settle()
	return m.Statistics()
}

// LiveSums is Live without the statistics of single cores, caches and channels: a quarter of the work or less.
func (m *Machine) LiveSums() stats.Tree {
	m.settle()
	return m.sums()
}

// OuterLevel is a cache behind the L1s.
type OuterLevel struct {
	Name      string `json:"name"`       // prefix of its counts: l2
	ReadBytes int    `json:"read_bytes"` // bytes moved by a read: a line of the level before
}

// OuterLevels lists the caches behind the L1s, from the cores outwards.
func (m *Machine) OuterLevels() (all []OuterLevel) {
	if m.tasks != nil {
		return nil
	}
	line := m.cfg.L1D.LineBytes
	for _, c := range m.Caches[2*m.cfg.Sockets:] {
		all = append(all, OuterLevel{levelOf(c), line})
		line = c.Spec().LineBytes
	}
	return all
}

// Filled returns how often counts have filled the caches behind the L1s: the lines brought in, as a multiple of those
// that a level holds, of the level where that is least. Without such a cache it is infinite: L1s begin a launch empty.
func (m *Machine) Filled(counts stats.Tree) float64 {
	least := math.Inf(1)
	for _, c := range m.Caches[2*m.cfg.Sockets:] {
		if fills, ok := counts.Get(levelOf(c) + ".fills"); ok {
			spec := c.Spec()
			least = min(least, fills.Float()*float64(spec.LineBytes)/float64(spec.Bytes))
		}
	}
	return least
}

// Components lists the machine's parts, from the cores outwards.
func (m *Machine) Components() (all []akita.Component) {
	for i, c := range m.Cores {
		all = append(all, c)
		if m.Units != nil {
			if u, ok := m.Units[i].(akita.Component); ok {
				all = append(all, u)
			}
		}
	}
	if m.tasks != nil {
		all = append(all, m.tasks)
	}
	if m.Control != nil {
		all = append(all, m.Control)
	}
	for _, c := range m.Concentrators {
		all = append(all, c)
	}
	for _, c := range m.Caches {
		all = append(all, c)
	}
	return append(all, m.Memory.(akita.Component), m.System)
}

// buffered is a component with buffers of its own.
type buffered interface {
	Buffers(see func(name string, n, capacity int))
}

// Buffers calls see with the name, occupancy and capacity of all buffers and links.
func (m *Machine) Buffers(see func(name string, n, capacity int)) {
	for _, c := range m.Components() {
		if b, ok := c.(buffered); ok {
			b.Buffers(see)
		}
	}
	for _, l := range m.links {
		see(l.Name(), l.Len(), l.Capacity())
	}
}
