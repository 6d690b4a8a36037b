package sim

import (
	"errors"
	"fmt"

	"heddle/components/accel"
	"heddle/components/balance"
	"heddle/components/clock"
	"heddle/components/concentrator"
	"heddle/components/core"
	"heddle/components/ctrlproc"
	"heddle/configs"
	"heddle/isa"
	"heddle/isa/emu"
	_ "heddle/rtl/verilated" // core.weaver.model, core.graphpeg.model and ctrlproc.model: rtl
	"heddle/sim/stats"
)

// GraphUnit makes the graph unit that the configuration plugs into core n; nil: none.
func GraphUnit(cfg *configs.Machine, n int) (accel.Unit, error) {
	spec := cfg.Core.Unit.Spec
	if spec == nil {
		return nil, nil
	}
	return spec.NewUnit(fmt.Sprintf("Core%d.%s", n, accel.KindOf(spec).Part), cfg.UnitShape(n))
}

// graphUnits makes those of all cores; none: nil.
func graphUnits(cfg *configs.Machine) (units []accel.Unit, err error) {
	for n := range cfg.Sockets * cfg.CoresPerSocket {
		u, err := GraphUnit(cfg, n)
		if err != nil || u == nil {
			return nil, err
		}
		units = append(units, u)
	}
	return units, nil
}

// architecture returns the units that the architectural machine has in core n.
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
	u.Join(c.ClockHandle().Domain(), &landing{u, m.Arch.Core(n)})
	m.Arch.Core(n).DeferUnits(u.ClockHandle().Finish)
	c.Plug(accel.Plug(c.Name()+".accel", c.ClockHandle(), u))
}

// landing is a unit whose stores others see at the end of the cycle.
type landing struct {
	accel.Unit
	core *emu.Core
}

// Finish makes the stores visible.
func (l *landing) Finish(clock.Cycle) { l.core.LandUnits() }

// unitPort returns the memory port of core n's unit, if it has one; line is the caches' line size.
func (m *Machine) unitPort(n int, line int) (p port, bypasses, ok bool) {
	if m.Units == nil {
		return p, false, false
	}
	u, ok := m.Units[n].(accel.MemoryUser)
	if !ok {
		return p, false, false
	}
	from := &source{name: fmt.Sprintf("Core%d.unit", n), count: u.Sent, line: uint32(line)}
	return port{owner: u.ClockHandle(), from: from, connect: u.ConnectMemory}, u.BypassesL1(), true
}

// balanced are the units whose work can be balanced.
func (m *Machine) balanced() (units []balance.Unit) {
	for _, u := range m.Units {
		if u, ok := u.(balance.Unit); ok {
			units = append(units, u)
		}
	}
	return units
}

// control makes the control processor, if there is work to be balanced.
func (b *builder) control() error {
	units, spec := b.m.balanced(), b.cfg.CtrlProc
	if len(units) == 0 {
		return nil
	}
	own, alone := b.cfg.Core.Unit.Spec.(balance.Own)
	if alone {
		spec.Policy = ctrlproc.PolicyNone
	}
	c, err := ctrlproc.New("CtrlProc", spec, len(units))
	if err != nil {
		return err
	}
	c.Join(b.outerShard(), c)
	switch {
	case spec.Network != ctrlproc.NetworkShared:
		there, back := b.controlWays()
		for i, u := range units {
			name := fmt.Sprintf("CtrlProc.core%d", i)
			commands := clock.NewLink[balance.Command](name+".commands", depth(back), clock.Cycle(back), c.ClockHandle(),
				u.ClockHandle())
			reports := clock.NewLink[balance.Report](name+".reports", depth(there), clock.Cycle(there), u.ClockHandle(),
				c.ClockHandle())
			c.Connect(commands, reports)
			u.ConnectBalance(commands, reports)
		}
	case b.cfg.Concentrator == nil: // of a unit that Validate does not know to be balanced
		return errors.New("ctrlproc.network = shared: the machine has no concentrator: expected own")
	}
	b.m.Control = c
	switch {
	case alone:
		return b.ideal(own.Balancer(units, c.Done))
	case spec.Policy == ctrlproc.PolicyIdeal:
		return b.ideal(ctrlproc.NewIdeal("Ideal", c, units))
	}
	return nil
}

// controlWays returns the latencies of messages from the cores to the control processor, and back.
func (b *builder) controlWays() (there, back int) {
	if n := b.cfg.CtrlProc.Latency; n != 0 {
		return n, n
	}
	way := b.below(b.cfg.L2, b.cfg.ToL2)
	if s := b.cfg.Concentrator; s != nil && b.cfg.CtrlProc.Network == ctrlproc.NetworkShared {
		return way.Request + s.Request, way.Response + s.Response
	}
	return way.Request, way.Response
}

// shareNetwork lets the messages of the cores of some sockets take turns at the ports of their concentrator.
func (b *builder) shareNetwork(c *concentrator.Concentrator, from, to int) error {
	if b.m.Control == nil || b.cfg.CtrlProc.Network != ctrlproc.NetworkShared {
		return nil
	}
	units, control, at := b.m.balanced(), b.m.Control, c.ClockHandle()
	s := b.cfg.Concentrator
	there, back := b.controlWays()
	for i := from * b.cfg.CoresPerSocket; i < to*b.cfg.CoresPerSocket; i++ {
		u, name, port := units[i], fmt.Sprintf("CtrlProc.core%d", i), i%c.NextPorts()
		said := clock.NewLink[balance.Report](name+".said", depth(s.Request), clock.Cycle(s.Request), u.ClockHandle(), at)
		reports := clock.NewLink[balance.Report](name+".reports", depth(there-s.Request), clock.Cycle(there-s.Request), at,
			control.ClockHandle())
		commands := clock.NewLink[balance.Command](name+".commands", depth(back-s.Response), clock.Cycle(back-s.Response),
			control.ClockHandle(), at)
		told := clock.NewLink[balance.Command](name+".told", depth(s.Response), clock.Cycle(s.Response), at, u.ClockHandle())
		control.Connect(commands, reports)
		u.ConnectBalance(told, said)
		if err := concentrator.CarryThere(c, port, said, reports); err != nil {
			return err
		}
		concentrator.CarryBack(c, port, commands, told)
	}
	return nil
}

// ideal puts a component that balances in zero time on a clock of its own.
func (b *builder) ideal(u balance.Ideal) error {
	d, err := b.m.System.AddObserver("ideal balancing", corePeriod)
	if err != nil {
		return err
	}
	b.m.ideal = u
	u.Join(d, u)
	return nil
}

// Hand returns the host-side interface to the cores' graph units; nil: they have none.
func (m *Machine) Hand() accel.Hand { return accel.HandOn(m.Units) }

// carry applies the set-ups that the program carries.
func (m *Machine) carry(p *isa.Program) error {
	if h := m.Hand(); h != nil {
		return h.Carry(p)
	}
	return nil
}

// startUnits is a launch, for units that begin by themselves.
func (m *Machine) startUnits() {
	for _, u := range m.Units {
		u.ClockHandle().Wake()
	}
	if m.Control != nil {
		m.Control.Start()
	}
	if m.ideal != nil {
		m.ideal.Start()
	}
}

// checkBalance checks that no edge was lost between cores.
func (m *Machine) checkBalance() error {
	if m.Control == nil {
		return nil
	}
	var donated, received [2]uint64
	for _, u := range m.balanced() {
		d, r := u.Balanced()
		for i := range d {
			donated[i] += d[i]
			received[i] += r[i]
		}
	}
	return m.Control.CheckInvariants(donated, received)
}

// unitStats returns the counts of each core's graph unit; name is the units' name.
func (m *Machine) unitStats() (name string, each []stats.Tree) {
	for _, u := range m.Units {
		name = u.Architecture().Name()
		each = append(each, stats.Walk("", u.Statistics(m.domain.Cycle())))
	}
	return name, each
}
