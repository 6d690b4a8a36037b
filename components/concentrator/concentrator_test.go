package concentrator

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"heddle/components/clock"
	"heddle/components/count"
	"heddle/components/mem"
	"heddle/configs/schema"
)

const ns = clock.Femto(1_000_000)

// asker sends requests and takes the answers.
type asker struct {
	at    clock.Handle
	req   *clock.Link[mem.Request]
	rsp   *clock.Link[mem.Response]
	todo  []mem.Request
	begin clock.Cycle
	deaf  func(clock.Cycle) bool // takes no answer in this cycle
	sent  []clock.Cycle
	got   []arrival
}

type arrival struct {
	tag uint32
	at  clock.Cycle
}

func (a *asker) Tick(now clock.Cycle) bool {
	if a.rsp.Ready() && (a.deaf == nil || !a.deaf(now)) {
		a.got = append(a.got, arrival{a.rsp.Pop().Tag, now})
	}
	if n := len(a.sent); n < len(a.todo) && now >= a.begin && !a.req.Full() {
		a.req.Push(a.todo[n])
		a.sent = append(a.sent, now)
	}
	return len(a.sent) < len(a.todo) || a.rsp.Len() > 0
}

// server answers a port's requests in order, each after its latency, which can be another for each.
type server struct {
	at      clock.Handle
	req     *clock.Link[mem.Request]
	rsp     *clock.Link[mem.Response]
	latency func() clock.Cycle
	deaf    func(clock.Cycle) bool
	busy    []arrival
	seen    []mem.Request
	when    []clock.Cycle
}

func (s *server) Tick(now clock.Cycle) bool {
	if s.req.Ready() && (s.deaf == nil || !s.deaf(now)) {
		r := s.req.Pop()
		s.seen, s.when = append(s.seen, r), append(s.when, now)
		if r.Op != mem.Write {
			s.busy = append(s.busy, arrival{r.Tag, now + s.latency()})
		}
	}
	if len(s.busy) > 0 && s.busy[0].at <= now && !s.rsp.Full() {
		s.rsp.Push(mem.Response{Tag: s.busy[0].tag})
		s.busy = s.busy[1:]
	}
	return len(s.busy) > 0 || s.req.Len() > 0
}

// talker sends messages, in consecutive cycles if it can, and takes what an echo returns.
type talker struct {
	at         clock.Handle
	said, told *clock.Link[int]
	todo, sent int
	got        []arrival
}

func (w *talker) Tick(now clock.Cycle) bool {
	if w.told.Ready() {
		w.got = append(w.got, arrival{uint32(w.told.Pop()), now})
	}
	if w.sent < w.todo && now >= 10 && !w.said.Full() {
		w.said.Push(w.sent)
		w.sent++
	}
	return w.sent < w.todo || w.told.Len() > 0
}

// echo returns a talker's messages.
type echo struct {
	at       clock.Handle
	from, to *clock.Link[int]
}

func (e *echo) Tick(clock.Cycle) bool {
	if !e.from.Ready() || e.to.Full() {
		return e.from.Len() > 0
	}
	e.to.Push(e.from.Pop())
	return true
}

// plan is a concentrator and all around it.
type plan struct {
	spec         Spec
	messages     []int // of each talker
	todo         [][]mem.Request
	latency      func() clock.Cycle
	deaf, closed func(clock.Cycle) bool // askers take no answers, servers no requests
	order        func(int) []int        // of registration
	forced       bool                   // the concentrator ticks in every cycle
}

// bench is the test bench that a plan describes.
type bench struct {
	s       *clock.System
	c       *Concentrator
	askers  []*asker
	servers []*server
	talkers []*talker
	echoes  []*echo
	links   []interface{ Traffic() (uint64, uint64) }
}

func defaults() Spec {
	return Spec{Sockets: 1, Ports: 1, Request: 1, Response: 1, RequestQueue: 2, LineCycles: 1, Outstanding: 64}
}

func fixed(n clock.Cycle) func() clock.Cycle { return func() clock.Cycle { return n } }

// prod wakes the concentrator in every cycle until all is over.
type prod struct{ b *bench }

func (p prod) Tick(clock.Cycle) bool {
	p.b.c.ClockHandle().Wake()
	for _, a := range p.b.askers {
		if len(a.sent) < len(a.todo) {
			return true
		}
	}
	for _, s := range p.b.servers {
		if len(s.busy) > 0 || s.req.Len() > 0 {
			return true
		}
	}
	return p.b.c.Waits() != nil
}

func build(t testing.TB, p plan) *bench {
	b := &bench{s: clock.NewSystem("Clock", sim.NewSerialEngine())}
	d, err := b.s.AddDomain("core", ns)
	require.NoError(t, err)
	for range p.todo {
		b.askers = append(b.askers, &asker{})
	}
	for range min(p.spec.Ports, len(p.todo)) {
		b.servers = append(b.servers, &server{latency: p.latency, deaf: p.closed})
	}
	for _, n := range p.messages {
		b.talkers, b.echoes = append(b.talkers, &talker{todo: n}), append(b.echoes, &echo{})
	}
	b.register(t, d, p)
	for i, w := range b.talkers {
		b.talk(t, i, w, b.echoes[i])
	}
	for i, a := range b.askers {
		a.todo, a.deaf, a.begin = p.todo[i], p.deaf, 10
		a.req = clock.NewLink[mem.Request](fmt.Sprint("req", i), p.spec.RequestEntries(), clock.Cycle(p.spec.Request),
			a.at, b.c.ClockHandle())
		a.rsp = clock.NewLink[mem.Response](fmt.Sprint("rsp", i), p.spec.Outstanding, clock.Cycle(p.spec.Response),
			b.c.ClockHandle(), a.at)
		b.c.ConnectRequester(i, a.req, a.rsp)
		b.links = append(b.links, a.req, a.rsp)
		a.at.Wake()
	}
	for i, s := range b.servers {
		s.req = clock.NewLink[mem.Request](fmt.Sprint("to", i), 2, 1, b.c.ClockHandle(), s.at)
		s.rsp = clock.NewLink[mem.Response](fmt.Sprint("from", i), 2, 1, s.at, b.c.ClockHandle())
		b.c.ConnectPort(i, s.req, s.rsp)
		b.links = append(b.links, s.req, s.rsp)
	}
	if p.forced {
		d.Add(prod{b}).Wake()
	}
	return b
}

// talk connects a talker and its echo.
func (b *bench) talk(t testing.TB, i int, w *talker, e *echo) {
	link := func(name string, from, to clock.Handle) *clock.Link[int] {
		l := clock.NewLink[int](fmt.Sprint(name, i), 2, 1, from, to)
		b.links = append(b.links, l)
		return l
	}
	c := b.c.ClockHandle()
	w.said, e.from = link("said", w.at, c), link("report", c, e.at)
	e.to, w.told = link("command", e.at, c), link("told", c, w.at)
	port := i % b.c.NextPorts()
	require.NoError(t, CarryThere(b.c, port, w.said, e.from))
	CarryBack(b.c, port, e.to, w.told)
	w.at.Wake()
}

// register puts all units on the clock, in the plan's order.
func (b *bench) register(t testing.TB, d *clock.Domain, p plan) {
	var add []func()
	for _, a := range b.askers {
		add = append(add, func() { a.at = d.Add(a) })
	}
	for _, s := range b.servers {
		add = append(add, func() { s.at = d.Add(s) })
	}
	for i, w := range b.talkers {
		add = append(add, func() { w.at = d.Add(w) }, func() { b.echoes[i].at = d.Add(b.echoes[i]) })
	}
	add = append(add, func() {
		var err error
		b.c, err = New("Concentrator0", p.spec, len(p.todo), d)
		require.NoError(t, err)
	})
	order := rand.New(rand.NewPCG(0, 0)).Perm
	if p.order != nil {
		order = p.order
	}
	for _, i := range order(len(add)) {
		add[i]()
	}
}

func run(t testing.TB, p plan) *bench {
	b := build(t, p)
	require.NoError(t, b.s.Run())
	require.NoError(t, b.c.CheckInvariants())
	return b
}

// reads are n reads of an asker, with tags that say whose they are.
func reads(of uint32, n uint32) (list []mem.Request) {
	for i := range n {
		list = append(list, mem.Request{Addr: of<<16 | i*64, Tag: i})
	}
	return list
}

// TestLatency: a request sent in 10 is seen by the concentrator in 11 and by the server in 12; the
// answer goes back the same way.
func TestLatency(t *testing.T) {
	for _, c := range []struct {
		change func(*Spec)
		want   clock.Cycle
	}{
		{func(*Spec) {}, 17},
		{func(s *Spec) { s.Request = 5 }, 21},
		{func(s *Spec) { s.Response = 5 }, 21},
	} {
		s := defaults()
		c.change(&s)
		b := run(t, plan{spec: s, todo: [][]mem.Request{reads(0, 1), nil}, latency: fixed(3)})
		require.Equal(t, []arrival{{0, c.want}}, b.askers[0].got)
	}
}

// order returns the senders of the first server's requests, in order.
func order(b *bench) (who []uint32) {
	for _, r := range b.servers[0].seen {
		who = append(who, r.Addr>>16)
	}
	return who
}

func TestArbiters(t *testing.T) {
	s := defaults()
	todo := [][]mem.Request{reads(0, 4), reads(1, 4), reads(2, 4)}
	require.Equal(t, []uint32{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2},
		order(run(t, plan{spec: s, todo: todo, latency: fixed(1)})))
	s.Arbiter = Priority
	require.Equal(t, []uint32{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2},
		order(run(t, plan{spec: s, todo: todo, latency: fixed(1)})))
}

// TestAPortTakesARequestACycle, and two ports two, each always from the same requesters.
func TestAPortTakesARequestACycle(t *testing.T) {
	todo := [][]mem.Request{reads(0, 50), reads(1, 50), reads(2, 50)}
	s := defaults()
	b := run(t, plan{spec: s, todo: todo, latency: fixed(1)})
	require.EqualValues(t, 149, b.servers[0].when[149]-b.servers[0].when[0])
	require.EqualValues(t, 148*2+1, b.c.Stats().Conflicts, "two lose each cycle, until two and then one are left")
	s.Ports = 2
	b = run(t, plan{spec: s, todo: todo, latency: fixed(1)})
	require.Len(t, b.servers[1].seen, 50)
	require.EqualValues(t, 99, b.servers[0].when[99]-b.servers[0].when[0])
	require.EqualValues(t, 49, b.servers[1].when[49]-b.servers[1].when[0])
}

// TestLinesOccupyAPort: answers are as far apart as the one before takes; only reads bring lines.
func TestLinesOccupyAPort(t *testing.T) {
	read, atomic := mem.Request{Op: mem.Read}, mem.Request{Op: mem.Atomic}
	flush, write := mem.Request{Op: mem.Flush}, mem.Request{Op: mem.Write}
	s := defaults()
	s.LineCycles = 5
	todo := []mem.Request{read, read, atomic, flush, read, write, atomic, atomic}
	b := run(t, plan{spec: s, todo: [][]mem.Request{todo, nil, nil}, latency: fixed(1)})
	var at []clock.Cycle
	for _, a := range b.askers[0].got {
		at = append(at, a.at-b.askers[0].got[0].at)
	}
	require.Equal(t, []clock.Cycle{0, 5, 10, 11, 12, 17, 18}, at)
	counts := b.c.Stats()
	require.EqualValues(t, 3*4, counts.Busy.Count(), "the second read, the atomic behind it, and that behind the third")

	s.Ports = 2
	b = run(t, plan{spec: s, todo: [][]mem.Request{reads(0, 9), reads(1, 9)}, latency: fixed(1)})
	for _, a := range b.askers {
		require.EqualValues(t, 8*5, a.got[8].at-a.got[0].at, "ports have lines of their own")
	}
}

// TestAnswersDoNotWaitForOthersTakers: one requester that takes no answers blocks only itself.
func TestAnswersDoNotWaitForOthersTakers(t *testing.T) {
	s := defaults()
	s.Outstanding = 4
	p := plan{spec: s, todo: [][]mem.Request{reads(0, 40), reads(1, 40)}, latency: fixed(1)}
	b := build(t, p)
	b.askers[0].deaf = func(now clock.Cycle) bool { return now < 5000 }
	require.NoError(t, b.s.Run())
	require.NoError(t, b.c.CheckInvariants())
	require.Less(t, b.askers[1].got[39].at, clock.Cycle(500))
	require.Greater(t, b.askers[0].got[0].at, clock.Cycle(4999))
	counts := b.c.Stats()
	require.NotZero(t, counts.NoEntry.Count())
}

// TestOutstanding: with one request under way at a time each takes the whole way.
func TestOutstanding(t *testing.T) {
	s := defaults()
	s.Outstanding = 1
	b := run(t, plan{spec: s, todo: [][]mem.Request{reads(0, 10)}, latency: fixed(6)})
	for i, a := range b.askers[0].got {
		require.EqualValues(t, 20+10*i, a.at)
	}
}

var specSchema = schema.New[Spec]("")

// randomPlan draws a concentrator, its requests, and the load of its neighbours.
func randomPlan(seed uint64) plan {
	r := rand.New(rand.NewPCG(seed, 1))
	d := schema.Drawing[Spec]{Rand: r, Most: map[string]int64{"ports": 5, "request": 6, "response": 6,
		"request_queue": 4, "outstanding": 9, "line_cycles": 9}}
	if r.IntN(4) == 0 {
		d.Most = map[string]int64{"request": 200, "response": 200}
	}
	spec, err := specSchema.Draw(specSchema.Default(), d)
	if err != nil {
		panic(err)
	}
	p := plan{spec: spec}
	ops := []mem.Op{mem.Read, mem.Read, mem.Read, mem.Write, mem.Atomic, mem.Flush}
	for who := range uint32(1 + r.IntN(7)) {
		var list []mem.Request
		for i := range uint32(r.IntN(120)) {
			list = append(list, mem.Request{Addr: who<<16 | i, Tag: r.Uint32N(1 << 20), Op: ops[r.IntN(len(ops))]})
		}
		p.todo = append(p.todo, list)
	}
	longest, wait := 1+r.IntN(60), rand.New(rand.NewPCG(seed, 2))
	p.latency = func() clock.Cycle { return clock.Cycle(wait.IntN(longest)) }
	n, m := clock.Cycle(1+r.IntN(12)), clock.Cycle(1+r.IntN(9))
	if r.IntN(2) == 0 {
		p.deaf = func(now clock.Cycle) bool { return now/n%2 == 0 }
	}
	if r.IntN(2) == 0 {
		p.closed = func(now clock.Cycle) bool { return now/m%3 != 0 }
	}
	if len(p.todo) > 1 && p.spec.Ports > 1 { // one source of latencies for two servers would depend on their order
		p.latency = fixed(clock.Cycle(longest))
	}
	for range max(0, r.IntN(6)-2) {
		p.messages = append(p.messages, r.IntN(90))
	}
	return p
}

// checkOrder: every request came through once, in the order of its requester, and every answer
// went to who asked, with the tag that it had.
func checkOrder(t *testing.T, p plan, b *bench) {
	got := make([][]mem.Request, len(p.todo))
	for i, s := range b.servers {
		for _, r := range s.seen {
			who := r.Addr >> 16
			require.EqualValues(t, i, int(who)%len(b.servers))
			got[who] = append(got[who], r)
		}
	}
	for who, todo := range p.todo {
		var tags []uint32
		require.Len(t, got[who], len(todo))
		for i, want := range todo {
			if want.Op != mem.Write {
				tags = append(tags, want.Tag)
			}
			require.Equal(t, want.Addr, got[who][i].Addr)
		}
		require.Len(t, b.askers[who].got, len(tags))
		for i, a := range b.askers[who].got {
			require.Equal(t, tags[i], a.tag)
		}
	}
	for i, w := range b.talkers {
		require.Len(t, w.got, p.messages[i])
		for n, a := range w.got {
			require.EqualValues(t, n, a.tag)
		}
	}
	for _, l := range b.links {
		in, out := l.Traffic()
		require.Equal(t, in, out)
	}
}

func fingerprint(b *bench) (out []string) {
	for _, a := range b.askers {
		out = append(out, fmt.Sprint(a.sent), fmt.Sprint(a.got))
	}
	for _, w := range b.talkers {
		out = append(out, fmt.Sprint(w.got))
	}
	return append(out, fmt.Sprintf("%+v", b.c.Stats()))
}

// TestMessagesTakeTurns: ten messages hold up the requests of a busy port for ten cycles, and its lines for the ten
// that they take when they come back.
func TestMessagesTakeTurns(t *testing.T) {
	for _, lines := range []int{1, 3} {
		s := defaults()
		s.LineCycles = lines
		last := func(messages ...int) (sent, answered clock.Cycle, b *bench) {
			todo := [][]mem.Request{reads(0, 50), nil}
			b = run(t, plan{spec: s, todo: todo, messages: messages, latency: fixed(1)})
			return b.servers[0].when[49], b.askers[0].got[49].at, b
		}
		sent, answered, b := last()
		require.Zero(t, b.c.Stats().Messages)
		later, told, b := last(10)
		require.EqualValues(t, 20, b.c.Stats().Messages)
		require.Len(t, b.talkers[0].got, 10)
		if lines == 1 {
			require.EqualValues(t, 10, later-sent)
		}
		require.EqualValues(t, 10, told-answered)
		_, told, b = last(10, 7)
		require.EqualValues(t, 34, b.c.Stats().Messages)
		require.EqualValues(t, 17, told-answered)
	}
}

// TestRandomConcentrators: nothing is lost, and neither sleeping nor the order of units is input.
func TestRandomConcentrators(t *testing.T) {
	var all Stats
	for seed := range uint64(200) {
		p := randomPlan(seed)
		b := run(t, p)
		checkOrder(t, p, b)
		want := fingerprint(b)
		p = randomPlan(seed)
		p.forced = true
		require.Equal(t, want, fingerprint(run(t, p)), "seed %d, ticked in every cycle", seed)
		for shuffle := range uint64(3) {
			p = randomPlan(seed)
			p.order = rand.New(rand.NewPCG(seed, shuffle)).Perm
			require.Equal(t, want, fingerprint(run(t, p)), "seed %d, order %d", seed, shuffle)
		}
		s := b.c.Stats()
		count.Sum(&all, &s)
	}
	for _, n := range []uint64{all.Conflicts, all.PortFull.Count(), all.NoEntry.Count(), all.Busy.Count(), all.Flushes,
		all.Messages} {
		require.NotZero(t, n, "the plans are varied enough: %+v", all)
	}
}

// TestEveryKnobCounts but sockets, which is the machine's.
func TestEveryKnobCounts(t *testing.T) {
	end := func(change func(*Spec)) (last clock.Cycle) {
		s := defaults()
		s.RequestQueue, s.Outstanding = 1, 6
		change(&s)
		b := run(t, plan{spec: s, todo: [][]mem.Request{reads(0, 90), reads(1, 30), reads(2, 60)}, latency: fixed(20),
			closed: func(now clock.Cycle) bool { return now%7 == 0 }})
		for _, a := range b.askers {
			last = max(last, a.got[len(a.got)-1].at)
		}
		return last
	}
	want := end(func(*Spec) {})
	for name, change := range map[string]func(*Spec){
		"ports": func(s *Spec) { s.Ports = 3 }, "arbiter": func(s *Spec) { s.Arbiter = Priority }, "request": func(s *Spec) { s.Request = 9 },
		"response": func(s *Spec) { s.Response = 9 }, "outstanding": func(s *Spec) { s.Outstanding = 12 }, "line_cycles": func(s *Spec) { s.LineCycles = 3 },
	} {
		require.NotEqual(t, want, end(change), name)
	}
	s := defaults()
	alone := plan{spec: s, todo: [][]mem.Request{reads(0, 90)}, latency: fixed(1)}
	two := run(t, alone).servers[0].when[89]
	alone.spec.RequestQueue = 1
	require.Equal(t, two+89, run(t, alone).servers[0].when[89], "the one slot is free every other cycle")
}

func TestValidate(t *testing.T) {
	for says, change := range map[string]func(*Spec){
		"concentrator sockets = 0: expected 1..64": func(s *Spec) { s.Sockets = 0 }, "concentrator ports = 17": func(s *Spec) { s.Ports = 17 },
		"concentrator request = 0": func(s *Spec) { s.Request = 0 }, "concentrator response = 1001": func(s *Spec) { s.Response = 1001 },
		"concentrator request_queue = 0": func(s *Spec) { s.RequestQueue = 0 }, "concentrator outstanding = 4097": func(s *Spec) { s.Outstanding = 4097 },
		"concentrator line_cycles = 0": func(s *Spec) { s.LineCycles = 0 }, "concentrator line_cycles = 257": func(s *Spec) { s.LineCycles = 257 },
		"concentrator arbiter = 2": func(s *Spec) { s.Arbiter = 2 },
	} {
		s := defaults()
		change(&s)
		require.ErrorContains(t, s.Validate(), says)
	}
	require.NoError(t, defaults().Validate())
	var a Arbiter
	require.ErrorContains(t, a.UnmarshalText([]byte("random")),
		`concentrator arbiter = "random": expected one of round_robin, priority`)
	_, err := New("Concentrator0", defaults(), MaxRequesters+1, nil)
	require.ErrorContains(t, err, "65 requesters")
	d, err := clock.NewSystem("Clock", sim.NewSerialEngine()).AddDomain("core", ns)
	require.NoError(t, err)
	c, err := New("Concentrator0", defaults(), MaxRequesters, d)
	require.NoError(t, err)
	require.ErrorContains(t, CarryThere[int](c, 0, nil, nil), "65 requesters and messages: expected at most 64")
}

// TestATagThatIsTooWideIsABug: the requester's number would push its high bits out.
func TestATagThatIsTooWideIsABug(t *testing.T) {
	todo := [][]mem.Request{{{Tag: 1 << 30}}, nil, nil}
	require.PanicsWithValue(t, "BUG: Concentrator0 @11: requester 0: tag 0x40000000 has no room for 2 bits", func() {
		_ = build(t, plan{spec: defaults(), todo: todo, latency: fixed(1)}).s.Run()
	})
}

func TestInvariantsCanBeBroken(t *testing.T) {
	b := run(t, plan{spec: defaults(), todo: [][]mem.Request{reads(0, 3)}, latency: fixed(1)})
	b.c.stats.Answers++
	require.ErrorContains(t, b.c.CheckInvariants(),
		"Concentrator0: invariant violated: answers = reads + atomics + flushes: 4, 3")
	b.c.stats.Answers--
	b.c.requesters[0].open = 2
	require.ErrorContains(t, b.c.CheckInvariants(), "nothing is outstanding: 2, 0")
	require.Equal(t, []string{"Concentrator0: requester 0: 2 requests without an answer"}, b.c.Waits())
}

// stream asks for n lines, and counts answers.
type stream struct {
	asker
	left int
}

func (s *stream) Tick(clock.Cycle) bool {
	if s.rsp.Ready() {
		s.rsp.Pop()
	}
	if s.left > 0 && !s.req.Full() {
		s.req.Push(mem.Request{Tag: uint32(s.left) & 0xFFFF})
		s.left--
	}
	return s.left > 0 || s.rsp.Len() > 0
}

// mirror answers at once.
type mirror struct{ server }

func (m *mirror) Tick(clock.Cycle) bool {
	for m.req.Ready() && !m.rsp.Full() {
		m.rsp.Push(mem.Response{Tag: m.req.Pop().Tag})
	}
	return m.req.Len() > 0
}

// streaming is a concentrator of three requesters that ask for n lines together.
func streaming(t testing.TB, n int) *clock.System {
	s := clock.NewSystem("Clock", sim.NewSerialEngine())
	d, err := s.AddDomain("core", ns)
	require.NoError(t, err)
	c, err := New("Concentrator0", defaults(), 3, d)
	require.NoError(t, err)
	for i := range 3 {
		a := &stream{left: n / 3}
		at := d.Add(a)
		a.req = clock.NewLink[mem.Request]("req", 2, 1, at, c.ClockHandle())
		a.rsp = clock.NewLink[mem.Response]("rsp", 64, 1, c.ClockHandle(), at)
		c.ConnectRequester(i, a.req, a.rsp)
		at.Wake()
	}
	m := &mirror{}
	at := d.Add(m)
	m.req = clock.NewLink[mem.Request]("to", 4, 1, c.ClockHandle(), at)
	m.rsp = clock.NewLink[mem.Response]("from", 4, 1, at, c.ClockHandle())
	c.ConnectPort(0, m.req, m.rsp)
	return s
}

// BenchmarkConcentrator passes requests on and answers back.
func BenchmarkConcentrator(b *testing.B) {
	s := streaming(b, b.N+3)
	b.ReportAllocs()
	b.ResetTimer()
	_ = s.Run()
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	s := streaming(t, 40_000)
	require.Less(t, testing.AllocsPerRun(1, func() { require.NoError(t, s.Run()) }), 20.0,
		"of the engine, for tens of thousands of requests")
}
