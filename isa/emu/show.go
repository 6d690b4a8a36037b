package emu

import "heddle/isa"

// Read-only access to a machine's state, for display.

var stateNames = [...]string{
	stopped: "stopped", running: "running", atBarrier: "at a barrier", atDeviceBarrier: "at a device barrier",
	spawning: "in wspawn", polling: "waiting for its graph unit",
}

// ID returns the numbers of the warp's core and of the warp.
func (w *Warp) ID() (core, warp int) { return w.core.id, w.id }

// StateName returns the warp's state: running, or the cause of its wait.
func (w *Warp) StateName() string { return stateNames[w.state] }

// BarrierState is a barrier at which warps wait.
type BarrierState struct {
	ID      int    `json:"id"`
	Device  bool   `json:"device"`  // across cores
	Arrived uint64 `json:"arrived"` // warps of the core, a bit each
	Count   uint32 `json:"count"`   // number of warps, or cores, that it waits for
}

// Barriers lists the barriers at which warps of the core wait.
func (c *Core) Barriers() (all []BarrierState) {
	for i, b := range c.barriers {
		if b.arrived != 0 {
			all = append(all, BarrierState{i, false, b.arrived, b.count})
		}
	}
	for i := range c.m.device.m {
		if b := &c.m.device.m[i]; b.waiting[c.id] != 0 {
			all = append(all, BarrierState{i, true, b.waiting[c.id], b.count})
		}
	}
	return all
}

// Units returns the core's graph units.
func (c *Core) Units() []Unit { return c.units }

// Cores returns the number of cores; Warps and Threads their size.
func (m *Machine) Cores() int   { return m.cfg.Cores }
func (m *Machine) Warps() int   { return m.cfg.Warps }
func (m *Machine) Threads() int { return m.cfg.Threads }

// TextAt returns the instruction at an address as assembly; empty: none.
func (m *Machine) TextAt(pc uint32) string {
	p := m.Mem.page(pc >> pageBits)
	if pc&3 != 0 || p == nil {
		return ""
	}
	o, err := m.prepare(pc, p.word(pc))
	if err != nil {
		return ""
	}
	return o.Text(pc)
}

// Machine returns the warp's machine.
func (w *Warp) Machine() *Machine { return w.m }

// Program returns the program that was loaded last.
func (m *Machine) Program() *isa.Program { return m.program }
