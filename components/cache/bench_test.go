package cache

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/clock"
	"heddle/components/mem"
)

// load keeps a port busy for n requests; next returns the next one.
type load struct {
	req  *clock.Link[mem.Request]
	rsp  *clock.Link[mem.Response]
	left int
	addr uint32
	step uint32
	mask uint32
}

func (l *load) Tick(clock.Cycle) bool {
	if l.rsp.Ready() {
		l.rsp.Pop()
	}
	if l.left > 0 && !l.req.Full() {
		l.req.Push(mem.Request{Addr: l.addr, Tag: l.addr})
		l.addr = (l.addr + l.step) & l.mask
		l.left--
	}
	return l.left > 0 || l.rsp.Len() > 0
}

// echo answers at once.
type echo struct {
	req *clock.Link[mem.Request]
	rsp *clock.Link[mem.Response]
}

func (e *echo) Tick(clock.Cycle) bool {
	for e.req.Ready() && !e.rsp.Full() {
		e.rsp.Push(mem.Response{Tag: e.req.Pop().Tag})
	}
	return e.req.Len() > 0
}

// loaded is a cache with a load on each port.
func loaded(t testing.TB, s Spec, n int, step, mask uint32) (*clock.System, []clock.Handle, *Cache) {
	m := build(t, plan{specs: []Spec{s}, todo: make([][]timed, 0), latency: fixed(1)})
	c, d := m.levels[0], m.d
	var wake []clock.Handle
	for i := range s.Ports {
		l := &load{left: n / s.Ports, step: step, mask: mask, addr: uint32(i) * step}
		at := d.Add(l)
		l.req = clock.NewLink[mem.Request]("req", 4, 1, at, c.ClockHandle())
		l.rsp = clock.NewLink[mem.Response]("rsp", 4, 1, c.ClockHandle(), at)
		c.ConnectPort(i, l.req, l.rsp)
		wake = append(wake, at)
	}
	for i := range s.MemoryPorts {
		e := &echo{}
		at := d.Add(e)
		e.req = clock.NewLink[mem.Request]("req", 4, 1, c.ClockHandle(), at)
		e.rsp = clock.NewLink[mem.Response]("rsp", 4, 1, at, c.ClockHandle())
		c.ConnectMemory(i, e.req, e.rsp)
	}
	return m.s, wake, c
}

func l2() Spec {
	s := DefaultSpec()
	s.Bytes, s.Ways, s.Banks, s.Ports, s.MemoryPorts = 1<<20, 8, 4, 4, 2
	s.ResponseBuffer, s.MemoryBuffer = true, true
	return s
}

func BenchmarkCache(b *testing.B) {
	for _, c := range []struct {
		name       string
		spec       Spec
		step, mask uint32
	}{
		{"L1/hit", DefaultSpec(), 64, 0x7FF},
		{"L1/miss", DefaultSpec(), 64, 0xFFFFFF},
		{"L2/hit", l2(), 64, 0x7FFF},
		{"L2/miss", l2(), 64, 0xFFFFFF},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, wake, _ := loaded(b, c.spec, b.N+c.spec.Ports, c.step, c.mask)
			for _, h := range wake {
				h.Wake()
			}
			b.ReportAllocs()
			b.ResetTimer()
			_ = s.Run()
		})
	}
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	for _, spec := range []Spec{DefaultSpec(), l2()} {
		s, wake, c := loaded(t, spec, 40_000, 64, 0xFFFFFF)
		for _, h := range wake {
			h.Wake()
		}
		n := testing.AllocsPerRun(1, func() { require.NoError(t, s.Run()) })
		require.NotZero(t, c.Stats().Fills)
		require.Less(t, n, 20.0, "of the engine, for tens of thousands of requests")
	}
}
