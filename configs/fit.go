package configs

import (
	"fmt"

	"heddle/components/accel"
	"heddle/components/balance"
	"heddle/components/cache"
	"heddle/components/concentrator"
	"heddle/components/core"
	"heddle/components/ctrlproc"
	"heddle/components/swarm"
	"heddle/configs/schema"
	"heddle/isa/emu"
)

// Validate refuses machines whose parts do not fit; each part has checked itself.
func (m Machine) Validate() error {
	rules := fits
	if m.Swarm != nil { // which has none of the other parts
		rules = []func(*Machine) (key, why string){coresSuffice, tilesFit}
	}
	for _, rule := range rules {
		if key, why := rule(&m); key != "" {
			return &schema.FieldError{Key: key, Msg: why}
		}
	}
	return nil
}

// fits are the rules between parts. One that is broken returns the key to change and why.
var fits = []func(*Machine) (key, why string){
	coresSuffice, levelsInOrder, socketPortFits, wiresHold, linesGrow, pairsFit, writesPass, portsSuffice, atomicsMeet,
	memoryFits, unitFits, controlFits,
}

func coresSuffice(m *Machine) (key, why string) {
	if n := m.Sockets * m.CoresPerSocket; n > emu.MaxCores {
		return "cores_per_socket", fmt.Sprintf("%d: %d sockets have %d cores, and a machine has at most %d",
			m.CoresPerSocket, m.Sockets, n, emu.MaxCores)
	}
	return "", ""
}

// tilesFit: Swarm's cores are scalar and have caches of their own, and no graph unit.
func tilesFit(m *Machine) (key, why string) {
	switch {
	case m.Core.Warps != 1 || m.Core.Threads != 1:
		return "swarm", fmt.Sprintf("a Swarm core has one warp of one thread: expected core.warps = 1 and core.threads = 1, "+
			"not %d and %d", m.Core.Warps, m.Core.Threads)
	case m.Sockets > swarm.MaxTiles:
		return "sockets", fmt.Sprintf("%d: expected at most %d Swarm tiles", m.Sockets, swarm.MaxTiles)
	case m.Core.Unit.Spec != nil:
		return "swarm", "a Swarm core has no graph unit: expected one of the two"
	case m.L2 != nil || m.L3 != nil || m.Concentrator != nil:
		return "swarm", "its tiles have caches of their own: expected no l2, l3 and concentrator"
	}
	if key, msg, ok := m.Swarm.Fits(); !ok {
		return "swarm." + key, msg
	}
	return "", ""
}

// level is one cache level and its key.
type level struct {
	key  string
	spec *cache.Spec
}

// levels are those that a data request can meet, from the core outwards.
func (m *Machine) levels() []level {
	l := []level{{"l1d", &m.L1D}}
	if m.L2 != nil {
		l = append(l, level{"l2", m.L2})
	}
	if m.L3 != nil {
		l = append(l, level{"l3", m.L3})
	}
	return l
}

func levelsInOrder(m *Machine) (key, why string) {
	if m.L3 != nil && m.L2 == nil {
		return "l3", "a machine with an L3 has an L2 before it: call it l2, or add one"
	}
	if m.Concentrator != nil && m.L2 == nil {
		return "concentrator", "it is in front of an L2: give the machine one"
	}
	return "", ""
}

// socketPortFits: the arbiter is one of the registers between an L1I, which has one less, and the L2.
func socketPortFits(m *Machine) (key, why string) {
	const least = 3
	switch {
	case !m.SocketPort:
		return "", ""
	case m.L2 == nil:
		return "socket_port", "true: without an L2 the L1s reach memory, each by a port"
	case m.Concentrator != nil:
		return "socket_port", "true: a concentrator takes every L1 by a port of its own"
	case m.ToL2.Request < least:
		return "to_l2.request", fmt.Sprintf("%d: with socket_port expected at least %d, of which one is the arbiter's",
			m.ToL2.Request, least)
	}
	return "", ""
}

// wiresHold: a way holds a value in each of its registers.
func wiresHold(m *Machine) (key, why string) {
	for _, w := range []struct {
		key string
		Wires
	}{{"to_l1d", m.ToL1D}, {"to_l2", m.ToL2}, {"to_l3", m.ToL3}, {"to_memory", m.ToMemory}} {
		for _, x := range []struct {
			key             string
			registers, hold int
		}{{"request", w.Request, w.RequestEntries}, {"response", w.Response, w.ResponseEntries}} {
			if x.hold != 0 && x.hold < x.registers {
				return w.key + "." + x.key + "_entries",
					fmt.Sprintf("%d, and %s.%s is %d: expected one for each register, or 0", x.hold, w.key, x.key,
						x.registers)
			}
		}
	}
	return "", ""
}

// writesPass: programs store, and every level but the L1I is on the way of it.
func writesPass(m *Machine) (key, why string) {
	for _, l := range m.levels() {
		if !l.spec.WriteEnable {
			return l.key + ".write_enable", "false: stores go through it; only an L1I can do without"
		}
	}
	return "", ""
}

// linesGrow: a line of one level is a line of the next, or a part of one. L1s share the way from there.
func linesGrow(m *Machine) (key, why string) {
	if ch := m.Core.Derived().ChannelBytes; ch > m.L1D.LineBytes {
		return "core.channel_bytes", fmt.Sprintf("%d bytes do not fit an L1D line of %d", ch, m.L1D.LineBytes)
	}
	if n := 4 * m.Core.FetchBlock; n > m.L1I.LineBytes {
		return "core.fetch_instructions", fmt.Sprintf("%d instructions are %d bytes, which do not fit an L1I line of %d",
			m.Core.FetchBlock, n, m.L1I.LineBytes)
	}
	if m.L1I.LineBytes != m.L1D.LineBytes {
		return "l1i.line_bytes", fmt.Sprintf("%d, and the L1D has lines of %d: they must be equal", m.L1I.LineBytes,
			m.L1D.LineBytes)
	}
	before := level{"l1d", &m.L1D}
	for _, l := range m.levels() {
		if l.spec.LineBytes < before.spec.LineBytes {
			return l.key + ".line_bytes", fmt.Sprintf("%d, and the lines of %s have %d: expected as much or more",
				l.spec.LineBytes, before.key, before.spec.LineBytes)
		}
		before = l
	}
	return "", ""
}

// pairsFit: a request for two sectors is one for a line of the next level.
func pairsFit(m *Machine) (key, why string) {
	levels := m.levels()
	next := func(i int) *cache.Spec {
		if i < len(levels) {
			return levels[i].spec
		}
		return nil
	}
	for i, l := range append([]level{{"l1i", &m.L1I}}, levels...) {
		switch to := next(max(1, i)); {
		case !l.spec.SectorPairs:
		case to == nil:
			return l.key + ".sector_pairs", "true: memory is asked for a line at a time: expected a cache behind it, or false"
		case to.LineBytes < 2*l.spec.LineBytes:
			return l.key + ".sector_pairs", fmt.Sprintf("true: two sectors have %d bytes, and a line of the next level %d: "+
				"expected as much or more", 2*l.spec.LineBytes, to.LineBytes)
		}
	}
	return "", ""
}

// MemoryLine is the bytes that the last cache and memory exchange.
func (m *Machine) MemoryLine() int {
	levels := m.levels()
	return levels[len(levels)-1].spec.LineBytes
}

// unitLine is the bytes that a graph unit with a port to memory asks for at once: a line of the cache that it asks.
func (m *Machine) unitLine() int {
	if m.L2 != nil && m.bypasses() > 0 {
		return m.L2.LineBytes
	}
	return m.L1D.LineBytes
}

// portsSuffice: a cache has at most cache.MaxPorts requesters.
func portsSuffice(m *Machine) (key, why string) {
	if n := m.CoresPerSocket*m.Core.Channels() + (m.units()-m.bypasses())/m.Sockets; n > cache.MaxPorts {
		return "cores_per_socket", fmt.Sprintf(
			"%d cores with %d channels each are %d requesters of an L1D, which serves at most %d", m.CoresPerSocket,
			m.Core.Channels(), n, cache.MaxPorts)
	}
	if n := m.CoresPerSocket * m.Core.FetchWidth; n > cache.MaxPorts {
		return "core.fetch_width", fmt.Sprintf("%d: %d cores are %d requesters of an L1I, which serves at most %d",
			m.Core.FetchWidth, m.CoresPerSocket, n, cache.MaxPorts)
	}
	if m.L2 == nil {
		return "", ""
	}
	if m.Concentrator != nil {
		return concentratorFits(m)
	}
	if n := m.Sockets * m.portsOfSocket(); n > cache.MaxPorts {
		who := "L1s"
		if m.bypasses() > 0 {
			who = "L1s and graph units"
		}
		return "sockets", fmt.Sprintf(
			"%d: their %s have %d ports to the L2, which serves at most %d; a concentrator in front of it is shared",
			m.Sockets, who, n, cache.MaxPorts)
	}
	return "", ""
}

// portsOfSocket is how many a socket has to the next level.
func (m *Machine) portsOfSocket() int {
	return m.L1I.MemoryPorts + m.L1D.MemoryPorts + m.bypasses()/m.Sockets
}

// concentratorFits: neither it nor the L2 has more requesters than it can serve.
func concentratorFits(m *Machine) (key, why string) {
	c := m.Concentrator
	in := min(c.Sockets, m.Sockets) * m.portsOfSocket()
	switch {
	case in > concentrator.MaxRequesters:
		return "concentrator.sockets", fmt.Sprintf("%d: they have %d ports, and a concentrator serves at most %d",
			c.Sockets, in, concentrator.MaxRequesters)
	case c.Ports > in:
		return "concentrator.ports", fmt.Sprintf("%d: there are %d requesters to use them", c.Ports, in)
	}
	if n := m.concentrators() * c.Ports; n > cache.MaxPorts {
		return "concentrator.ports", fmt.Sprintf("%d: %d concentrators have %d to the L2, which serves at most %d",
			c.Ports, m.concentrators(), n, cache.MaxPorts)
	}
	return "", ""
}

func (m *Machine) concentrators() int {
	return (m.Sockets + m.Concentrator.Sockets - 1) / m.Concentrator.Sockets
}

// atomicsMeet: atomics need a place where all cores meet.
func atomicsMeet(m *Machine) (key, why string) {
	a := m.Atomics
	if a.Mode == core.AtomicsL2 && m.L2 == nil && m.Sockets > 1 {
		return "atomics.mode", fmt.Sprintf("l2: there is no L2, and no other cache in which the atomics of all %d sockets "+
			"meet; give the machine an L2", m.Sockets)
	}
	if a.Mode != core.AtomicsL2 && (a.Combine || a.Together) {
		key = "atomics.combine"
		if a.Together {
			key = "atomics.words_together"
		}
		return key, fmt.Sprintf("true: with atomics.mode %s no operations are counted", a.Mode)
	}
	return "", ""
}

// units is how many graph units have a port to memory; bypasses, of them, to the L2.
func (m *Machine) units() int {
	if _, ok := m.Core.Unit.Spec.(accel.MemorySpec); !ok {
		return 0
	}
	return m.Sockets * m.CoresPerSocket
}

func (m *Machine) bypasses() int {
	if s, ok := m.Core.Unit.Spec.(accel.MemorySpec); !ok || !s.BypassesL1() {
		return 0
	}
	return m.units()
}

func unitFits(m *Machine) (key, why string) {
	s := m.Core.Unit.Spec
	if s == nil {
		return "", ""
	}
	key, why, ok := s.FitsCore(m.UnitShape(0))
	if b, balanced := s.(accel.BalancedSpec); ok && balanced {
		key, why, ok = b.FitsPolicy(m.CtrlProc.Policy)
	}
	if !ok {
		return "core." + accel.KindOf(s).Key + "." + key, why
	}
	return "", ""
}

// controlFits: messages that share the network have a port to share, and some of their latency behind it.
func controlFits(m *Machine) (key, why string) {
	_, polled := m.Core.Unit.Spec.(accel.BalancedSpec)
	_, own := m.Core.Unit.Spec.(balance.Own)
	if !polled && !own || m.CtrlProc.Network != ctrlproc.NetworkShared {
		return "", ""
	}
	c, latency := m.Concentrator, m.CtrlProc.Latency
	if c == nil {
		return "ctrlproc.network", "shared: messages take turns at a port of a concentrator: give the machine one, or " +
			"expected own"
	}
	if least := max(c.Request, c.Response) + 1; latency != 0 && latency < least {
		return "ctrlproc.latency", fmt.Sprintf("%d: the way to a concentrator's port, or from it, takes %d of it: with "+
			"ctrlproc.network = shared expected 0 or at least %d", latency, least-1, least)
	}
	sockets := min(c.Sockets, m.Sockets)
	if in := sockets * (m.portsOfSocket() + m.CoresPerSocket); in > concentrator.MaxRequesters {
		return "concentrator.sockets", fmt.Sprintf("%d: with ctrlproc.network = shared they have %d ports and cores, and a "+
			"concentrator serves at most %d", c.Sockets, in, concentrator.MaxRequesters)
	}
	return "", ""
}
