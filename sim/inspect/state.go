package inspect

import (
	"fmt"

	"heddle/components/core"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/sim"
)

// Scope selects the cores and warps to show, by their numbers.
type Scope struct {
	Core, Warp func(n int) bool
}

// State is the state of a machine.
type State struct {
	Stopped string   `json:"stopped"`
	Cycle   *uint64  `json:"cycle"` // null: functional
	Cores   []Core   `json:"cores"`
	Pending []string `json:"pending"` // contents of caches, links and memory
}

// Core is the state of a core.
type Core struct {
	Core     int                `json:"core"`
	Active   uint64             `json:"active"` // warps, a bit each
	Barriers []emu.BarrierState `json:"barriers"`
	Warps    []Warp             `json:"warps"`
	Pipeline *core.Dump         `json:"pipeline,omitempty"` // nil: functional. Its warps are with the warps
	Unit     string             `json:"unit,omitempty"`
	Holds    any                `json:"holds,omitempty"` // by the unit
}

// Hex is a word that is displayed in base 16.
type Hex uint32

// MarshalText writes it.
func (h Hex) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "0x%08x", uint32(h)), nil }

// Warp is the state of a warp that has not ended.
type Warp struct {
	Warp      int            `json:"warp"`
	State     string         `json:"state"`
	PC        Hex            `json:"pc"` // of the next instruction to take effect
	Symbol    string         `json:"symbol"`
	Inst      string         `json:"inst"`
	Lanes     Hex            `json:"lanes"`
	Fcsr      uint32         `json:"fcsr"`
	Splits    []isa.Split    `json:"ipdom"`
	Registers []Register     `json:"registers"` // without those that are 0 in all lanes
	Pipeline  *core.WarpDump `json:"pipeline,omitempty"`
}

// Register has a value in each lane, active or not.
type Register struct {
	Name  string `json:"reg"`
	Lanes []Hex  `json:"lanes"`
}

// dumper is a graph unit that can show its state.
type dumper interface{ Dump() any }

// Take returns the state of a timed machine at the end of a cycle.
func Take(m *sim.Machine, s Scope) *State {
	now := m.Instant()
	st := &State{Cycle: &now, Pending: m.Pending()}
	for n, c := range m.Cores {
		if !s.Core(n) {
			continue
		}
		d := c.Dump()
		k := architecture(m.Arch, n, s)
		for i := range k.Warps {
			k.Warps[i].Pipeline = &d.Warps[k.Warps[i].Warp]
		}
		d.Warps = nil
		k.Pipeline = &d
		if m.Units != nil {
			k.Unit = m.UnitPath(n)
			if u, ok := m.Units[n].(dumper); ok {
				k.Holds = u.Dump()
			}
		}
		st.Cores = append(st.Cores, k)
	}
	return st
}

// TakeFunctional returns the state of a functional machine.
func TakeFunctional(m *emu.Machine, s Scope) *State {
	st := &State{}
	for n := range m.Cores() {
		if !s.Core(n) {
			continue
		}
		k := architecture(m, n, s)
		for _, u := range m.Core(n).Units() {
			if d, ok := u.(dumper); ok {
				k.Unit, k.Holds = u.Name(), d.Dump()
			}
		}
		st.Cores = append(st.Cores, k)
	}
	return st
}

// architecture is the architectural state of a core.
func architecture(m *emu.Machine, n int, s Scope) Core {
	c := m.Core(n)
	k := Core{Core: n, Active: c.Active(), Barriers: c.Barriers()}
	for i := range m.Warps() {
		if c.Active()>>i&1 != 0 && s.Warp(i) {
			k.Warps = append(k.Warps, warp(m, c.Warp(i), i))
		}
	}
	return k
}

func warp(m *emu.Machine, w *emu.Warp, i int) Warp {
	k := Warp{
		Warp: i, State: w.StateName(), PC: Hex(w.PC()), Inst: m.TextAt(w.PC()), Lanes: Hex(w.Mask()), Fcsr: w.Fcsr(),
		Splits: w.IPDOM().Splits(),
	}
	if s := m.SymbolAt(w.PC()); s != "" {
		k.Symbol = s[2 : len(s)-1]
	}
	for r := range isa.Reg(isa.NumRegs) {
		x, some := Register{Name: r.String()}, false
		for l := range m.Threads() {
			v := w.Reg(r, l)
			x.Lanes, some = append(x.Lanes, Hex(v)), some || v != 0
		}
		if some {
			k.Registers = append(k.Registers, x)
		}
	}
	return k
}
