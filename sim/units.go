package sim

import (
	"fmt"

	"heddle/components/accel"
	"heddle/components/core"
	"heddle/components/weaver"
	"heddle/configs"
	"heddle/isa/emu"
	"heddle/sim/stats"
)

// graphUnit makes the graph unit that the configuration plugs into core n; nil: none.
func graphUnit(cfg *configs.Core, n int) (accel.Unit, error) {
	name := fmt.Sprintf("Core%d", n)
	switch {
	case cfg.Weaver != nil:
		s := cfg.Weaver.Derived(cfg.Warps, cfg.Threads, core.ScratchpadLatency)
		return weaver.New(name+".Weaver", s, cfg.Warps, cfg.Threads)
	}
	return nil, nil
}

// graphUnits makes those of all cores; none: nil.
func graphUnits(cfg *configs.Machine) (units []accel.Unit, err error) {
	for n := range cfg.Sockets * cfg.CoresPerSocket {
		u, err := graphUnit(&cfg.Core, n)
		if err != nil || u == nil {
			return nil, err
		}
		units = append(units, u)
	}
	return units, nil
}

// architecture tells the architectural machine what is plugged into core n.
func (m *Machine) architecture(n int) []emu.Unit {
	if m.Units == nil {
		return nil
	}
	return []emu.Unit{m.Units[n].Architecture()}
}

// plug plugs core n's unit into its socket.
func (m *Machine) plug(n int, c *core.Core) {
	if m.Units == nil {
		return
	}
	u := m.Units[n]
	u.Join(m.domain, u)
	c.Plug(accel.Plug(c.Name()+".accel", c.Place(), u))
}

// unitStats lists what each core's graph unit has counted; name is the units'.
func (m *Machine) unitStats() (name string, each []stats.Tree) {
	for _, u := range m.Units {
		name = u.Architecture().Name()
		each = append(each, stats.Walk("", u.Statistics(m.domain.Cycle())))
	}
	return name, each
}
