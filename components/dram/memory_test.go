package dram

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"heddle/components/clock"
	"heddle/components/mem"
)

// requester sends requests as fast as its link takes them, and notes the answers.
type requester struct {
	clock.Base
	every   clock.Cycle // it sends in multiples of that many cycles
	todo    []mem.Request
	out     *clock.Link[mem.Request]
	in      *clock.Link[mem.Response]
	sent    map[uint32]clock.Cycle // reads under way, by tag
	latency []clock.Cycle
	unknown int // answers without a request
	order   []uint32
	left    *int
	system  *clock.System
}

func (r *requester) Tick(now clock.Cycle) bool {
	for r.in.Ready() {
		tag := r.in.Pop().Tag
		at, ok := r.sent[tag]
		if !ok {
			r.unknown++
			continue
		}
		delete(r.sent, tag)
		r.order = append(r.order, tag)
		r.latency = append(r.latency, now-at)
		if *r.left--; *r.left == 0 {
			r.system.Stop() // refreshes would go on for ever
		}
	}
	if len(r.todo) == 0 || r.out.Full() {
		return false
	}
	if now%r.every != 0 {
		r.ClockHandle().WakeAt(now + r.every - now%r.every)
		return false
	}
	q := r.todo[0]
	r.todo = r.todo[1:]
	if q.Op != mem.Write {
		r.sent[q.Tag] = now
	}
	r.out.Push(q)
	return len(r.todo) > 0
}

// memory is the common interface of Memory and Harness.
type memory interface {
	ClockHandle() clock.Handle
	ConnectPort(i int, in *clock.Link[mem.Request], out *clock.Link[mem.Response])
	Pending() int
}

// drive sends each port its requests and returns the ports when every read is back.
func drive(t *testing.T, make func(s *clock.System, core *clock.Domain) memory, todo [][]mem.Request) ([]*requester,
	memory) {
	t.Helper()
	return driveEvery(t, 1, make, todo)
}

// driveEvery is drive with ports that send in multiples of that many cycles.
func driveEvery(t *testing.T, every clock.Cycle, make func(s *clock.System, core *clock.Domain) memory,
	todo [][]mem.Request) ([]*requester, memory) {
	t.Helper()
	s := clock.NewSystem("Clock", sim.NewSerialEngine())
	core, err := s.AddDomain("core", 1_000_000)
	require.NoError(t, err)
	m := make(s, core)
	reads := 0
	var ports []*requester
	for i, q := range todo {
		r := &requester{Base: clock.NewBase("Requester"), every: every, todo: q, sent: map[uint32]clock.Cycle{},
			left: &reads, system: s}
		r.Join(core, r)
		r.out = clock.NewLink[mem.Request]("Request", 4, 1, r.ClockHandle(), m.ClockHandle())
		r.in = clock.NewLink[mem.Response]("Response", 2, 1, m.ClockHandle(), r.ClockHandle())
		m.ConnectPort(i, r.out, r.in)
		r.ClockHandle().Wake()
		ports = append(ports, r)
		for _, q := range q {
			if q.Op != mem.Write {
				reads++
			}
		}
	}
	require.NoError(t, s.Run())
	return ports, m
}

// requests makes n requests of each of the ports; the last is a read.
func requests(ports, n int, lines uint32) [][]mem.Request {
	rng := rand.New(rand.NewPCG(1, 2))
	todo := make([][]mem.Request, ports)
	for p := range todo {
		for i := range n {
			q := mem.Request{Addr: rng.Uint32N(lines) * 64, Tag: uint32(i)}
			if i < n-1 && rng.IntN(3) == 0 {
				q.Op = mem.Write
			}
			todo[p] = append(todo[p], q)
		}
	}
	return todo
}

func ofKind(todo [][]mem.Request, op mem.Op) (n int) {
	for _, q := range todo {
		for _, r := range q {
			if r.Op == op {
				n++
			}
		}
	}
	return n
}

func makeMemory(t *testing.T, preset string, ports int) func(*clock.System, *clock.Domain) memory {
	spec, err := Preset(preset)
	require.NoError(t, err)
	return makeMemoryOf(t, spec, ports)
}

func makeMemoryOf(t *testing.T, spec Spec, ports int) func(*clock.System, *clock.Domain) memory {
	return func(s *clock.System, _ *clock.Domain) memory {
		d, err := s.AddDomain("dram", clock.Femto(spec.TCKps)*1000)
		require.NoError(t, err)
		m, err := NewMemory("Memory", spec, 64, ports, d)
		require.NoError(t, err)
		return m
	}
}

func TestEveryReadIsAnsweredOnce(t *testing.T) {
	for _, preset := range Presets() {
		t.Run(preset, func(t *testing.T) {
			todo := requests(3, 3000, 1<<20)
			ports, m := drive(t, makeMemory(t, preset, 3), todo)
			for _, p := range ports {
				require.Empty(t, p.sent, "reads without an answer")
				require.Zero(t, p.unknown, "answers to no request")
			}
			require.Zero(t, m.Pending())

			memory := m.(*Memory)
			var reads, writes uint64
			for i := range memory.channels {
				s := memory.Stats()[i]
				reads += s.Reads
				writes += s.Writes
			}
			require.EqualValues(t, ofKind(todo, mem.Read)*memory.bursts, reads)
			// forwarded reads and merged writes do not go over the bus, unless there is none
			line := uint64(memory.spec.LineBytes)
			require.LessOrEqual(t, memory.Bytes(), (reads+writes)*line)
			require.Greater(t, memory.Bytes(), (reads+writes)*line/2)
			require.LessOrEqual(t, writes, uint64(ofKind(todo, mem.Write)*memory.bursts))
			require.Greater(t, writes, uint64(ofKind(todo, mem.Write)*memory.bursts)-64,
				"only the messages in the last links are missing")
		})
	}
}

func TestTheHarnessAnswersEveryReadOnce(t *testing.T) {
	todo := requests(2, 3000, 1<<20)
	ports, m := drive(t, func(_ *clock.System, core *clock.Domain) memory {
		h, err := NewHarness("Memory", HarnessChannels, 2, core)
		require.NoError(t, err)
		return h
	}, todo)
	for _, p := range ports {
		require.Empty(t, p.sent)
		require.Zero(t, p.unknown)
	}
	h := m.(*Harness)
	for i := range h.banks {
		for _, slot := range h.banks[i].waiting[h.banks[i].head:] {
			require.True(t, h.requests[slot].write, "a read is under way")
		}
	}
	pieces := uint64(len(h.queue) - h.head)
	for _, c := range h.channels {
		s := c.Stats(1)
		pieces += s.Reads + s.Writes
	}
	// Writes that the links still hold are missing.
	all := uint64(harnessPieces * (ofKind(todo, mem.Read) + ofKind(todo, mem.Write)))
	require.LessOrEqual(t, pieces, all)
	require.Greater(t, pieces, all-64)
}

// A bank of the harness answers in order, whatever the DRAM does.
func TestTheHarnessAnswersABankInOrder(t *testing.T) {
	todo := requests(1, 2000, 1<<20)
	var want [HarnessChannels][]uint32
	for _, q := range todo[0] {
		if bank := q.Addr / 64 % HarnessChannels; q.Op == mem.Read {
			want[bank] = append(want[bank], q.Tag)
		}
	}
	ports, _ := drive(t, func(_ *clock.System, core *clock.Domain) memory {
		h, err := NewHarness("Memory", HarnessChannels, 1, core)
		require.NoError(t, err)
		return h
	}, todo)
	var got [HarnessChannels][]uint32
	for _, tag := range ports[0].order {
		bank := todo[0][tag].Addr / 64 % HarnessChannels
		got[bank] = append(got[bank], tag)
	}
	require.Equal(t, want, got)
	require.False(t, slices.IsSorted(ports[0].order), "the banks do not wait for each other")
}

// The harness takes a write a clock for each bank, far faster than the DRAM.
func TestTheHarnessDoesNotHoldWritesBack(t *testing.T) {
	const n = 2000
	todo := [][]mem.Request{nil, nil}
	for i := range uint32(n) {
		for p := range todo {
			todo[p] = append(todo[p], mem.Request{Addr: (2*i + uint32(p)) * 64, Tag: i, Op: mem.Write})
		}
	}
	for p := range todo {
		todo[p] = append(todo[p], mem.Request{Addr: uint32(p) * 64, Tag: n})
	}
	ports, _ := drive(t, func(_ *clock.System, core *clock.Domain) memory {
		h, err := NewHarness("Memory", HarnessChannels, 2, core)
		require.NoError(t, err)
		return h
	}, todo)
	for _, p := range ports {
		require.Greater(t, p.latency[0], clock.Cycle(harnessPieces*2*n-2*n), "the read waits for all pieces before it")
	}
}

// A flush that the caches send on is answered like a read.
func TestAFlushIsARead(t *testing.T) {
	todo := [][]mem.Request{{{Addr: 64, Op: mem.Write}, {Op: mem.Flush, Tag: 7}}}
	harness := func(_ *clock.System, core *clock.Domain) memory {
		h, err := NewHarness("Memory", HarnessChannels, 1, core)
		require.NoError(t, err)
		return h
	}
	for _, kind := range []func(*clock.System, *clock.Domain) memory{harness, makeMemory(t, "ideal", 1)} {
		ports, _ := drive(t, kind, todo)
		require.Equal(t, []uint32{7}, ports[0].order)
	}
}

// TestALoneRead: a lone read takes a channel's own latency for a line's bursts, plus the links' and the distance
// between the two clocks' edges.
func TestALoneRead(t *testing.T) {
	for _, preset := range Presets() {
		ports, m := drive(t, makeMemory(t, preset, 1), [][]mem.Request{{{Addr: 0x1000}}})
		memory := m.(*Memory)
		c, err := NewChannel(memory.spec)
		require.NoError(t, err)
		clocks := uint64(0)
		if memory.spec.Channels == 1 || memory.bursts == 1 {
			for b := range memory.bursts {
				require.True(t, c.Enqueue(0, Request{Line: uint64(0x1000/64*memory.bursts + b)}))
			}
			for left := memory.bursts; left > 0; {
				clocks++
				c.Tick(clocks)
				for _, ok := c.PopDone(clocks); ok; _, ok = c.PopDone(clocks) {
					left--
				}
			}
			ns := clocks * uint64(memory.spec.TCKps) / 1000
			require.InDelta(t, ns+2, ports[0].latency[0], 3, "%s: %d clocks of %d ps", preset, clocks,
				memory.spec.TCKps)
		}
		require.Less(t, ports[0].latency[0], clock.Cycle(200), preset)
		require.Greater(t, ports[0].latency[0], clock.Cycle(10), preset)
	}
}

// tight is a preset with the shortest queues, so that ports compete for their slots.
func tight(t *testing.T, preset string) Spec {
	s, err := Preset(preset)
	require.NoError(t, err)
	s.ReadQueue, s.WriteQueue, s.DrainHigh, s.DrainLow = 1, 1, 1, 0
	return s
}

// waker wakes a memory now and then, for nothing.
type waker struct {
	clock.Base
	rng    *rand.Rand
	memory memory
}

func (w *waker) Tick(clock.Cycle) bool {
	if w.rng.IntN(3) == 0 {
		w.memory.ClockHandle().Wake()
	}
	return true
}

// TestExtraWakesChangeNothing: who is served, and when, does not depend on how often the memory is woken.
func TestExtraWakesChangeNothing(t *testing.T) {
	for _, preset := range Presets() {
		build := makeMemoryOf(t, tight(t, preset), 3)
		todo := requests(3, 300, 1<<12)
		const every = 97 // cycles: there are clocks without a request in between, to be woken in
		want, _ := driveEvery(t, every, build, todo)
		for seed := range uint64(3) {
			got, m := driveEvery(t, every, func(s *clock.System, core *clock.Domain) memory {
				m := build(s, core)
				w := &waker{Base: clock.NewBase("Waker"), rng: rand.New(rand.NewPCG(seed, 3)), memory: m}
				w.Join(core, w)
				w.ClockHandle().Wake()
				return m
			}, todo)
			for i := range want {
				require.Equal(t, want[i].order, got[i].order, "%s, port %d", preset, i)
				require.Equal(t, want[i].latency, got[i].latency, "%s, port %d", preset, i)
			}
			require.Zero(t, m.Pending())
		}
	}
}

// TestNoPortIsOvertakenForEver: ports that compete for one channel get the same share of it, although another port is
// served by another channel all the time, and although slots become free in a rhythm.
func TestNoPortIsOvertakenForEver(t *testing.T) {
	const n, every = 600, 4
	for _, preset := range Presets() {
		spec := tight(t, preset)
		if spec.Standard == Ideal {
			continue // a fixed latency, whatever waits
		}
		// the upper half of the addresses is the second channel's
		spec.Channels, spec.Rows, spec.Mapping = 2, 64, ChRaBaRoCo
		half := uint32(spec.Ranks*spec.BankGroups*spec.Banks*spec.Rows*spec.Columns*spec.LineBytes) / 64
		rng, todo := rand.New(rand.NewPCG(4, 4)), make([][]mem.Request, every)
		for i := range uint32(n) {
			todo[0] = append(todo[0], mem.Request{Addr: rng.Uint32N(half) * 64, Tag: i})
			for p := 1; p < every; p++ {
				todo[p] = append(todo[p], mem.Request{Addr: (half + rng.Uint32N(half)) * 64, Tag: i})
			}
		}
		ports, _ := drive(t, makeMemoryOf(t, spec, every), todo)
		for p := 1; p < every; p++ {
			require.InEpsilon(t, float64(total(ports[1].latency)), float64(total(ports[p].latency)), 0.02,
				"%s: port %d", preset, p)
		}
	}
}

func total(latency []clock.Cycle) (sum clock.Cycle) {
	for _, l := range latency {
		sum += l
	}
	return sum
}
