package cache

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"heddle/components/clock"
	"heddle/components/mem"
	"heddle/configs/schema"
)

const ns = clock.Femto(1_000_000)

// timed is a request that a source sends in a cycle, or as soon after as it can.
type timed struct {
	at clock.Cycle
	r  mem.Request
}

// arrival is an answer and the cycle in which it could be read.
type arrival struct {
	tag uint32
	at  clock.Cycle
}

// source sends requests into a port and takes the answers.
type source struct {
	at      clock.Handle
	req     *clock.Link[mem.Request]
	rsp     *clock.Link[mem.Response]
	todo    []timed
	sent    []clock.Cycle
	got     []arrival
	deaf    func(now clock.Cycle) bool // takes no answer in this cycle
	lead    bool                       // the cache may trail it
	led     int                        // cycles in which it did
	express int                        // of them, by times
	peek    clock.Cycle                // cycles between two looks at the cache; 0: none
}

// leads is Tick while the cache trails.
func (s *source) leads(now clock.Cycle) bool {
	s.led++
	near := s.req.Trailing()
	defer s.look(now)
	near.Run(now)
	s.takes(near, now)
	n, awaits := len(s.sent), false
	if n < len(s.todo) && s.todo[n].at <= now {
		if awaits = near.Full(now); !awaits {
			s.sends(near, s.todo[n].r, now)
			s.sent = append(s.sent, now)
		}
	}
	at := clock.Never
	if near.On {
		at = near.Next(now, awaits)
	}
	if n = len(s.sent); n < len(s.todo) && !awaits {
		at = min(at, max(now+1, s.todo[n].at))
	}
	if !near.On || s.rsp.From() <= now || near.Express() && near.Due() <= now {
		at = now + 1
	}
	if at != clock.Never {
		s.at.WakeAt(at)
	}
	return false
}

// look looks at the cache in some cycles, as a sampler does, which changes nothing.
func (s *source) look(now clock.Cycle) {
	if s.peek != 0 && now%s.peek == 0 {
		s.req.Trailing().Settle()
	}
}

// takes takes an answer of a cache that trails.
func (s *source) takes(near *clock.Trailing, now clock.Cycle) {
	if s.deaf != nil && s.deaf(now) {
		return
	}
	switch {
	case near.Express():
		if s.express++; near.Due() <= now {
			s.got = append(s.got, arrival{near.Answer(), now})
			near.Take(now)
		}
	case s.rsp.From() <= now:
		s.got = append(s.got, arrival{s.rsp.Front().Tag, now})
		s.rsp.DropAt(now)
	}
}

// sends sends a request to a cache that trails.
func (s *source) sends(near *clock.Trailing, r mem.Request, now clock.Cycle) {
	switch {
	case r.Op != mem.Read || !near.Holds(r.Addr):
		near.End()
		s.req.Push(r)
	case near.Express():
		near.Send(r.Addr, r.Tag, now)
	default:
		s.req.PushAt(r, now)
	}
}

func (s *source) Tick(now clock.Cycle) bool {
	if s.lead && s.req.Trailing().On {
		return s.leads(now)
	}
	if s.rsp.Ready() && (s.deaf == nil || !s.deaf(now)) {
		s.got = append(s.got, arrival{s.rsp.Pop().Tag, now})
	}
	if n := len(s.sent); n < len(s.todo) && s.todo[n].at <= now && !s.req.Full() {
		s.req.Push(s.todo[n].r)
		s.sent = append(s.sent, now)
	}
	return len(s.sent) < len(s.todo) || s.rsp.Len() > 0
}

// memory answers requests after a latency, in no order.
type memory struct {
	t       testing.TB
	at      clock.Handle
	req     []*clock.Link[mem.Request]
	rsp     []*clock.Link[mem.Response]
	latency func() clock.Cycle
	busy    []answer
	seen    []arrival // by address
	ops     [5]int
}

type answer struct {
	at   clock.Cycle
	port int
	r    mem.Request
}

func (m *memory) Tick(now clock.Cycle) bool {
	for i := range m.req {
		if m.req[i].Ready() && len(m.busy) < 24 {
			m.take(now, i, m.req[i].Pop())
		}
		m.give(now, i)
	}
	return len(m.busy) > 0 || m.waiting()
}

func (m *memory) waiting() bool {
	for _, l := range m.req {
		if l.Len() > 0 {
			return true
		}
	}
	return false
}

func (m *memory) take(now clock.Cycle, port int, r mem.Request) {
	m.seen = append(m.seen, arrival{r.Addr, now})
	m.ops[r.Op]++
	if r.Op == mem.Write {
		return
	}
	for _, b := range m.busy {
		if b.r.Op == mem.Read && r.Op == mem.Read {
			require.NotEqual(m.t, b.r.Addr, r.Addr, "two fills of a line at once")
		}
	}
	m.busy = append(m.busy, answer{now + m.latency(), port, r})
}

func (m *memory) give(now clock.Cycle, port int) {
	for i, b := range m.busy {
		if b.port == port && b.at <= now {
			if !m.rsp[port].Full() {
				m.rsp[port].Push(mem.Response{Tag: b.r.Tag})
				m.busy = append(m.busy[:i], m.busy[i+1:]...)
			}
			return
		}
	}
}

// prod wakes all caches in every cycle, until all is over.
type prod struct{ m *machine }

func (p prod) Tick(clock.Cycle) bool {
	for _, c := range p.m.levels {
		c.ClockHandle().Wake()
	}
	return !p.m.over()
}

// machine is sources → caches, each the next one's only requester → memory.
type machine struct {
	s       *clock.System
	d       *clock.Domain
	sources []*source
	levels  []*Cache
	mem     *memory
	links   []*clock.Link[mem.Request]
	backs   []*clock.Link[mem.Response]

	performed []uint32 // references of atomics, in order
}

// Perform performs an atomic; references that end in 0 write nothing.
func (m *machine) Perform(ref uint32) bool {
	m.performed = append(m.performed, ref)
	return ref&255 != 0
}

type plan struct {
	specs    []Spec
	todo     [][]timed // per port of the first level
	capacity int       // of links
	latency  func() clock.Cycle
	memory   clock.Femto // period
	order    func(n int) []int
	forced   bool
	long     bool        // no cache goes the short way
	lead     bool        // the first level may trail its source
	peek     clock.Cycle // of the source
	deaf     func(now clock.Cycle) bool

	meet, interval int // the level that performs atomics
	bankInterval   int
}

// fixed answers after n cycles in memory.
func fixed(n clock.Cycle) func() clock.Cycle { return func() clock.Cycle { return n } }

func build(t testing.TB, p plan) *machine {
	m := &machine{s: clock.NewSystem("Clock", sim.NewSerialEngine())}
	var err error
	m.d, err = m.s.AddDomain("core", ns)
	require.NoError(t, err)
	md := m.d
	if p.memory != 0 && p.memory != ns {
		md, err = m.s.AddDomain("memory", p.memory)
		require.NoError(t, err)
	}
	m.levels = make([]*Cache, len(p.specs))
	m.mem = &memory{t: t, latency: p.latency}
	var add []func()
	for i, s := range p.specs {
		add = append(add, func() {
			c, err := New(fmt.Sprintf("L%d", i+1), s, m.d)
			require.NoError(t, err)
			c.ReadOnly(64, 64*20)
			if p.long {
				c.fastPath = nil
			}
			m.levels[i] = c
		})
	}
	for _, todo := range p.todo {
		src := &source{todo: todo, deaf: p.deaf}
		m.sources = append(m.sources, src)
		add = append(add, func() { src.at = m.d.Add(src) })
	}
	add = append(add, func() { m.mem.at = md.Add(m.mem) })
	if p.forced {
		add = append(add, func() { m.d.Add(prod{m}).Wake() })
	}
	order := make([]int, len(add))
	for i := range order {
		order[i] = i
	}
	if p.order != nil {
		order = p.order(len(add))
	}
	for _, i := range order {
		add[i]()
	}
	m.connect(t, p)
	for _, src := range m.sources {
		src.at.Wake()
	}
	return m
}

func (m *machine) connect(t testing.TB, p plan) {
	capacity := max(p.capacity, 2)
	link := func(from, to clock.Handle) (*clock.Link[mem.Request], *clock.Link[mem.Response]) {
		req := clock.NewLink[mem.Request]("req", capacity, 1, from, to)
		rsp := clock.NewLink[mem.Response]("rsp", capacity, 1, to, from)
		m.links, m.backs = append(m.links, req), append(m.backs, rsp)
		return req, rsp
	}
	for i, src := range m.sources {
		src.req, src.rsp = link(src.at, m.levels[0].ClockHandle())
		m.levels[0].ConnectPort(i, src.req, src.rsp)
		if p.lead {
			src.lead = true
			src.peek = p.peek
			src.req.Lead()
		}
	}
	if len(m.sources) == 0 {
		return // a benchmark connects its own
	}
	for l, c := range m.levels {
		for i := range c.spec.MemoryPorts {
			if l+1 < len(m.levels) {
				req, rsp := link(c.ClockHandle(), m.levels[l+1].ClockHandle())
				c.ConnectMemory(i, req, rsp)
				m.levels[l+1].ConnectPort(i, req, rsp)
				continue
			}
			req, rsp := link(c.ClockHandle(), m.mem.at)
			c.ConnectMemory(i, req, rsp)
			m.mem.req, m.mem.rsp = append(m.mem.req, req), append(m.mem.rsp, rsp)
		}
		require.NoError(t, c.Check())
	}
	if p.interval > 0 {
		m.levels[p.meet].PerformAtomics(m, p.interval, p.bankInterval)
	}
}

func (m *machine) over() bool {
	for _, s := range m.sources {
		if len(s.sent) < len(s.todo) {
			return false
		}
	}
	for _, c := range m.levels {
		if c.Pending() > 0 {
			return false
		}
	}
	for i := range m.links {
		if m.links[i].Len() > 0 {
			return false
		}
	}
	for i := range m.backs {
		if m.backs[i].Len() > 0 {
			return false
		}
	}
	return len(m.mem.busy) == 0
}

func run(t testing.TB, p plan) *machine {
	m := build(t, p)
	require.NoError(t, m.s.Run())
	require.True(t, m.over(), "deadlock or lost wake-up: %+v", m.levels[0].Stats())
	return m
}

// fit makes the capacity a possible one. Large caches have few sectors, as flushes of more lines take too long.
func fit(s *Spec) {
	for s.Sectors > 1 && s.setBytes() > 4096*s.LineBytes {
		s.Sectors /= 2
	}
	s.Fit()
}

// specs draws caches. Most are small, so that everything happens often; the others are as large as time allows.
func specs(r *rand.Rand) schema.Drawing[Spec] {
	d := schema.Drawing[Spec]{
		Rand: r, Keep: []string{"write_enable"}, Fit: fit,
		Most: map[string]int64{"bytes": 4 << 10, "line_bytes": 128, "ways": 7, "banks": 7, "mshrs": 9, "sectors": 4,
			"memory_ports": 7, "request_queue": 5, "response_queue": 4, "memory_queue": 7},
	}
	if r.IntN(4) == 0 {
		d.Most = map[string]int64{"bytes": 64 << 10}
	}
	return d
}

var cacheSchema = schema.New[Spec]("")

// draw draws a cache and its ports.
func draw(r *rand.Rand) Spec {
	s, err := cacheSchema.Draw(DefaultSpec(), specs(r))
	if err != nil {
		panic(err)
	}
	s.Ports = 1 + r.IntN(6)
	if r.IntN(2) == 0 {
		s.Inputs, s.PriorityInputs = make([]uint8, s.Ports), r.IntN(2) == 0
		for i := 1; i < s.Ports; i++ {
			s.Inputs[i] = s.Inputs[i-1] + uint8(r.IntN(2))
		}
	}
	return s
}
