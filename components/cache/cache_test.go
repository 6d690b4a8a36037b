package cache

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/clock"
	"heddle/components/count"
	"heddle/components/mem"
	"heddle/components/queue"
	"heddle/internal/testenv"
)

func read(at clock.Cycle, line, tag uint32) timed {
	return timed{at, mem.Request{Addr: line * 64, Tag: tag, Op: mem.Read}}
}

func write(at clock.Cycle, line uint32) timed {
	return timed{at, mem.Request{Addr: line*64 + 12, Op: mem.Write}}
}

func flushAt(at clock.Cycle, tag uint32) timed {
	return timed{at, mem.Request{Tag: tag, Op: mem.Flush}}
}

// A request pushed in 99 is accepted in T = 100. The memory's latency is from when
// it reads the request to when it pushes the answer.
const pushed, accepted = 99, 100

func one(t *testing.T, change func(*Spec), latency clock.Cycle, todo ...timed) *machine {
	s := DefaultSpec()
	s.Bytes = 4 << 10 // 16 sets
	if change != nil {
		change(&s)
	}
	lists := make([][]timed, s.Ports)
	lists[0] = todo
	return run(t, plan{specs: []Spec{s}, todo: lists, latency: fixed(latency)})
}

func TestLatencyOfAMissAndAHit(t *testing.T) {
	m := one(t, nil, 10, read(pushed, 5, 1), read(199, 5, 2))
	require.Equal(t, []arrival{{5 * 64, accepted + 3}}, m.mem.seen, "a miss's request is visible at T+3")
	const fill = accepted + 3 + 10 + 1 // the memory answers 10 cycles later; 1 cycle of link
	require.Equal(t, []arrival{{1, fill + 4}, {2, 200 + 3}}, m.sources[0].got, "after a fill F+4; a hit T+3")
}

// TestSectorPairs: of two misses in turn, the second goes along if it is the first's neighbour. The answer is taken in
// two cycles, before both replays.
func TestSectorPairs(t *testing.T) {
	pairs := func(s *Spec) { s.Sectors, s.SectorPairs, s.MemoryBuffer = 2, true, true }
	for _, c := range []struct{ first, second uint32 }{{4, 5}, {5, 4}} {
		m := one(t, pairs, 10, read(pushed, c.first, 1), read(pushed+1, c.second, 2))
		require.Equal(t, []arrival{{c.first * 64, accepted + 4}}, m.mem.seen)
		const fill = accepted + 4 + 10 + 1
		require.Equal(t, []arrival{{1, fill + 4 + 1}, {2, fill + 4 + 2}}, m.sources[0].got)
		require.Equal(t, Sent{Reads: 1}, m.levels[0].Sent())
	}
	m := one(t, pairs, 10, read(pushed, 5, 1), read(pushed+1, 6, 2), read(pushed+8, 4, 3))
	require.Len(t, m.mem.seen, 3, "5 and 6 are in two ways, and 4 comes when 5 has left")
	m = one(t, pairs, 10, read(pushed, 4, 1), read(pushed+1, 5, 2), read(pushed+2, 5, 3), read(pushed+3, 4, 4))
	require.Len(t, m.mem.seen, 1, "others join the misses")
	require.Len(t, m.sources[0].got, 4)
}

// Every register that a Spec can add costs one cycle.
func TestLatencyOfTheRegistersAround(t *testing.T) {
	for name, c := range map[string]struct {
		change        func(*Spec)
		hit, toMemory clock.Cycle
		fromFill      clock.Cycle
	}{
		"bare":            {nil, 3, 3, 4},
		"response buffer": {func(s *Spec) { s.ResponseBuffer = true }, 4, 3, 5},
		"memory buffer":   {func(s *Spec) { s.MemoryBuffer = true }, 3, 4, 4},
		"two ports":       {func(s *Spec) { s.Ports = 2 }, 3, 3, 4},
		"three ports":     {func(s *Spec) { s.Ports = 3 }, 4, 4, 4},
		"shared input":    {func(s *Spec) { s.Ports, s.Inputs = 2, []uint8{0, 0} }, 4, 4, 4},
		"four banks":      {func(s *Spec) { s.Banks = 4 }, 3, 3, 4},
		"block-RAM tags":  {func(s *Spec) { s.ReplayDelay = 2 }, 3, 3, 5},
	} {
		m := one(t, c.change, 10, read(pushed, 5, 1), read(199, 5, 2))
		require.Equal(t, accepted+c.toMemory, m.mem.seen[0].at, name)
		fill := m.mem.seen[0].at + 11
		require.Equal(t, []arrival{{1, fill + c.fromFill}, {2, 200 + c.hit}}, m.sources[0].got, name)
	}
}

// Replays leave one a cycle, in order of arrival.
func TestLatencyOfReplays(t *testing.T) {
	m := one(t, nil, 20, read(pushed, 5, 1), read(100, 5, 2), read(101, 5, 3), read(102, 5, 4))
	const fill = accepted + 3 + 20 + 1
	require.Equal(t, []arrival{{1, fill + 4}, {2, fill + 5}, {3, fill + 6}, {4, fill + 7}}, m.sources[0].got)
	require.Equal(t, uint64(3), m.levels[0].Stats().Merges)
}

// Without a response queue the link's slots are all there are, and hits still stream.
func TestTheLinkCanBeTheResponseQueue(t *testing.T) {
	todo := []timed{read(pushed, 5, 0)}
	for i := range uint32(20) {
		todo = append(todo, read(200, 5, i+1))
	}
	accept := func(slots int) (last clock.Cycle) {
		s := DefaultSpec()
		s.Bytes, s.ResponseQueue, s.Ports = 4<<10, slots, 1
		m := run(t, plan{specs: []Spec{s}, todo: [][]timed{todo}, latency: fixed(10),
			deaf: func(now clock.Cycle) bool { return now > 190 && now < 250 }})
		for _, at := range m.sources[0].sent {
			if at < 250 {
				last = at
			}
		}
		require.Len(t, m.sources[0].got, len(todo))
		return last
	}
	require.Equal(t, accept(0)+1, accept(1), "a slot fewer")
	m := one(t, func(s *Spec) { s.ResponseQueue = 0 }, 10, todo...)
	for i, a := range m.sources[0].got[1:] {
		require.Equal(t, arrival{uint32(i + 1), 201 + 3 + clock.Cycle(i)}, a)
	}
}

func TestHitsStreamOneACycle(t *testing.T) {
	todo := []timed{read(pushed, 5, 0)}
	for i := range uint32(50) {
		todo = append(todo, read(200, 5, i+1))
	}
	got := one(t, nil, 10, todo...).sources[0].got
	for i := range got[1:] {
		require.Equal(t, arrival{uint32(i + 1), 201 + 3 + clock.Cycle(i)}, got[i+1])
	}
}

func TestWritesGoThrough(t *testing.T) {
	m := one(t, nil, 10, write(pushed, 5), read(150, 5, 1), write(199, 5))
	require.Equal(t, []arrival{{5*64 + 12, accepted + 3}, {5 * 64, 154}, {5*64 + 12, 203}}, m.mem.seen)
	require.Len(t, m.sources[0].got, 1)
	s := m.levels[0].Stats()
	require.Equal(t, [2]uint64{1, 1}, [2]uint64{s.WriteMisses, s.WriteHits})
}

// After reset the banks invalidate a set a cycle: 16 cycles, from cycle 1 on.
func TestInitialisation(t *testing.T) {
	m := one(t, nil, 10, read(1, 5, 1))
	require.Equal(t, 16, m.levels[0].spec.InitCycles())
	require.Equal(t, clock.Cycle(17+3), m.mem.seen[0].at, "accepted in 17")
}

// A flush at the port in t: the cache notices (t), tells the banks (t+1), they wait
// (t+2), walk 16 sets (t+3 … t+18), say so (t+19), and the flush is accepted in t+20.
// Lines are invalid then, and requests behind it wait.
func TestLatencyOfAFlush(t *testing.T) {
	m := one(t, nil, 10, read(50, 5, 1), flushAt(pushed, 2), read(pushed, 5, 3))
	const done = accepted + 4 + 16
	require.Equal(t, arrival{2, done + 3}, m.sources[0].got[1])
	require.Equal(t, done+1+3, int(m.mem.seen[1].at), "the read behind it misses")
	s := m.levels[0].Stats()
	require.Equal(t, []uint64{1, 4 + 16}, []uint64{s.Flushes, s.FlushCycles.Count()})
}

// Banks but the first say so 3 cycles later: their pipeline must be empty.
func TestLatencyOfAFlushOfTwoBanks(t *testing.T) {
	m := one(t, func(s *Spec) { s.Banks = 2 }, 10, flushAt(pushed, 2))
	require.Equal(t, arrival{2, accepted + 4 + 8 + 3 + 3}, m.sources[0].got[0])
}

// Flushes at two inputs end with one walk. Behind an arbiter the second is seen when the first has gone on.
func TestFlushesOfASharedInput(t *testing.T) {
	walks := func(inputs []uint8) uint64 {
		s := DefaultSpec()
		s.Ports, s.Bytes, s.Inputs = 2, 4<<10, inputs
		lists := [][]timed{{flushAt(pushed, 1)}, {flushAt(pushed, 2)}}
		m := run(t, plan{specs: []Spec{s}, todo: lists, latency: fixed(5)})
		require.Equal(t, uint64(2), m.levels[0].Stats().Flushes)
		return m.flushCycles() / uint64(s.Sets())
	}
	require.Equal(t, uint64(1), walks(nil))
	require.Equal(t, uint64(2), walks([]uint8{0, 0}))
}

// flushCycles returns the first level's count of flush cycles.
func (m *machine) flushCycles() uint64 {
	s := m.levels[0].Stats()
	return s.FlushCycles.Count()
}

// Behind an arbiter that prefers the first port, the second waits for as long as that asks.
func TestPriorityOfAnInput(t *testing.T) {
	for _, priority := range []bool{false, true} {
		s := DefaultSpec()
		s.Ports, s.Bytes, s.Inputs, s.PriorityInputs = 2, 4<<10, []uint8{0, 0}, priority
		lists := make([][]timed, 2)
		for p := range lists {
			lists[p] = append(lists[p], read(50, 5, 0))
			for i := range uint32(4) {
				lists[p] = append(lists[p], read(pushed, 5, i+1))
			}
		}
		m := run(t, plan{specs: []Spec{s}, todo: lists, latency: fixed(5)})
		last := [2]clock.Cycle{m.sources[0].got[4].at, m.sources[1].got[4].at}
		require.Equal(t, map[bool][2]clock.Cycle{false: {110, 111}, true: {107, 111}}[priority], last)
	}
}

func TestAForwardedFlushWaitsForMemory(t *testing.T) {
	m := one(t, func(s *Spec) { s.ForwardFlush = true }, 10, flushAt(pushed, 2))
	require.Equal(t, accepted+4+16+3, int(m.mem.seen[0].at))
	require.Equal(t, arrival{2, m.mem.seen[0].at + 11 + 4}, m.sources[0].got[0])
	require.Zero(t, m.levels[0].Stats().Fills)
}

// Two ports, one bank: they take turns, beginning with port 0.
func TestPortsTakeTurns(t *testing.T) {
	s := DefaultSpec()
	s.Ports, s.Bytes = 2, 4<<10
	lists := make([][]timed, 2)
	for p := range lists {
		lists[p] = append(lists[p], read(50, 5, 0))
		for i := range uint32(4) {
			lists[p] = append(lists[p], read(pushed, 5, i+1))
		}
	}
	m := run(t, plan{specs: []Spec{s}, todo: lists, latency: fixed(5)})
	for p, src := range m.sources {
		for i, a := range src.got[1:] {
			require.Equal(t, clock.Cycle(accepted+3+2*i+p), a.at, "port %d", p)
		}
	}
	// Before the last pair the other port waits in every cycle.
	require.Equal(t, uint64(1+7), m.levels[0].Stats().BankConflicts)
}

// Two banks answer one port: round robin on the responses, none is lost.
func TestBanksTakeTurns(t *testing.T) {
	s := DefaultSpec()
	s.Ports, s.Banks, s.MemoryPorts = 2, 2, 2
	var lists [2][]timed
	for i := range uint32(40) {
		lists[0] = append(lists[0], read(pushed, i%4, i))
		lists[1] = append(lists[1], read(pushed, 1-i%2, i))
	}
	m := run(t, plan{specs: []Spec{s}, todo: lists[:], latency: fixed(7)})
	for _, src := range m.sources {
		require.Len(t, src.got, 40)
	}
	require.Equal(t, 4, m.mem.ops[mem.Read])
}

// bankOf is bankNames.of, digit by digit.
func (s *Spec) bankOf(line uint32) int {
	line >>= s.split()
	if n := uint32(s.Banks); n&(n-1) != 0 {
		sum := line % n
		if s.BankSelect == Hashed {
			for rest := line / n; rest != 0; rest /= n {
				sum += rest % n
			}
		}
		return int(sum % n)
	}
	sel := line
	if s.BankSelect == Hashed && s.Banks > 1 {
		for rest := line >> s.bankBits(); rest != 0; rest >>= s.bankBits() {
			sel ^= rest
		}
	}
	return int(sel & uint32(s.Banks-1))
}

// TestBanksOfDrawnLines: the bank of a line is what its digits say, for every number of banks.
func TestBanksOfDrawnLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(77, 1))
	for _, sel := range []BankSelect{LowBits, Hashed} {
		for banks := 1; banks <= maxPorts; banks++ {
			s := DefaultSpec()
			s.Banks, s.BankSelect, s.Sectors = banks, sel, 1<<rng.IntN(3)
			names := s.bankNames()
			for range 1000 {
				line := rng.Uint32() >> rng.IntN(32)
				require.Equal(t, s.bankOf(line), names.of(line), "line %d of %d %v banks", line, banks, sel)
			}
			require.Equal(t, s.bankOf(^uint32(0)), names.of(^uint32(0)))
		}
	}
}

func TestBankSelection(t *testing.T) {
	for _, sel := range []BankSelect{LowBits, Hashed} {
		s := DefaultSpec()
		s.Banks, s.BankSelect = 8, sel
		perBank, slot := map[int]int{}, map[[2]uint32]bool{}
		for line := range uint32(1 << 12) {
			b := s.bankOf(line)
			names := s.bankNames()
			require.Equal(t, b, names.of(line))
			perBank[b]++
			key := [2]uint32{uint32(b), line >> s.bankBits()}
			require.False(t, slot[key], "%v: two lines in one slot", sel)
			slot[key] = true
		}
		for b := range 8 {
			require.Equal(t, 512, perBank[b])
		}
		stride := map[int]bool{}
		for i := range uint32(8) {
			stride[s.bankOf(i*8)] = true
		}
		require.Len(t, stride, map[BankSelect]int{LowBits: 1, Hashed: 8}[sel])
	}
	s := DefaultSpec()
	s.Banks, s.BankSelect = 40, Hashed
	for _, stride := range []uint32{1, 2, 8, 40, 64, 1024, 1600} {
		used, slot := map[int]int{}, map[[2]uint32]bool{}
		for i := range uint32(4000) {
			used[s.bankOf(i*stride)]++
			key := [2]uint32{uint32(s.bankOf(i)), i / 40}
			require.False(t, slot[key], "two lines in one slot")
			slot[key] = true
		}
		require.Len(t, used, 40, "stride %d", stride)
		for _, n := range used {
			require.InDelta(t, 100, n, 60, "stride %d", stride)
		}
	}
}

// TestAnyNumberOfBanks: of 1,536 KB in 12 banks of 16 ways, every line has its slot, and all slots are used.
func TestAnyNumberOfBanks(t *testing.T) {
	s := DefaultSpec()
	s.Bytes, s.Ways, s.LineBytes, s.Banks = 1536<<10, 16, 128, 12
	require.NoError(t, s.Validate())
	used := map[[2]int]int{}
	lines := uint32(s.Bytes / s.LineBytes)
	for line := range lines {
		b := s.bankOf(line)
		tags := newTags(&s, b)
		used[[2]int{b, tags.set(line)}]++
	}
	require.Len(t, used, 12*64)
	for slot, n := range used {
		require.Equal(t, 16, n, "%v", slot)
	}
}

// evicts fills a line and reports whether another went out for it.
func evicts(g *tags, line uint32) bool {
	out, at := g.fill(line)
	return len(out) == 1 && g.holds(at, line)
}

// TestSectors: a miss brings one line of a way, and all leave with it.
func TestSectors(t *testing.T) {
	for _, policy := range []Replacement{FIFO, LRU, Random} {
		s := DefaultSpec()
		s.Sectors, s.LineBytes, s.Ways, s.Banks, s.Bytes = 4, 32, 2, 2, 2*2*4*32
		s.Replacement, s.WritePolicy = policy, Back
		require.NoError(t, s.Validate())
		require.Equal(t, 1, s.Sets())
		require.Equal(t, []int{0, 0, 0, 0, 1, 1, 1, 1, 0}, []int{s.bankOf(0), s.bankOf(1), s.bankOf(2), s.bankOf(3),
			s.bankOf(4), s.bankOf(5), s.bankOf(6), s.bankOf(7), s.bankOf(8)}, "a way's sectors are in one bank")
		g := newTags(&s, 0)
		for _, line := range []uint32{1, 3, 8} { // two sectors of a way, and one of the other
			out, at := g.fill(line)
			require.Empty(t, out)
			require.True(t, g.holds(at, line))
		}
		require.Negative(t, g.find(0), "a sector that nobody asked for")
		g.write(3)
		require.True(t, g.lookup(8))
		out, at := g.fill(16)
		require.True(t, g.holds(at, 16))
		if g.find(8) < 0 { // a random victim
			require.Equal(t, Random, policy)
			require.Equal(t, []victim{{line: 8, valid: true}}, out)
			continue
		}
		require.Equal(t, []victim{{line: 1, valid: true}, {line: 3, valid: true, dirty: true}}, out)
		require.Equal(t, victim{line: 8, valid: true}, g.drop(8))
		require.Equal(t, invalid, g.group[g.way(0, 16)^1], "a way without lines is free")
	}
}

func TestReplacement(t *testing.T) {
	// Lines of one set of 2 ways; the middle one is used again before the third.
	for policy, left := range map[Replacement][]uint32{FIFO: {2, 4}, LRU: {0, 4}} {
		s := DefaultSpec()
		s.Bytes, s.Ways, s.Replacement = 2*2*64, 2, policy
		g := newTags(&s, 0)
		g.fill(0)
		g.fill(2)
		require.True(t, g.lookup(0))
		require.True(t, evicts(&g, 4))
		for _, l := range left {
			require.True(t, g.lookup(l), "%v keeps %d", policy, l)
		}
	}
	s := DefaultSpec()
	s.Bytes, s.Ways, s.Replacement = 4*64, 4, Random
	ways := map[int]int{}
	g := newTags(&s, 0)
	for l := range uint32(4004) {
		require.Equal(t, l >= 4, evicts(&g, l), "free ways first")
		ways[slices.Index(g.line, l)]++
	}
	for w := range 4 {
		require.InDelta(t, 1000, ways[w], 120)
	}
}

// TestFIFOTakesEveryWayInTurn: whatever their number, the lines that stay are the last that came.
func TestFIFOTakesEveryWayInTurn(t *testing.T) {
	for ways := range 256 {
		ways++
		s := DefaultSpec()
		s.Ways, s.Bytes = ways, 2*ways*s.LineBytes
		require.NoError(t, s.Validate())
		g := newTags(&s, 0)
		for i := range 3*ways + 1 {
			require.Equal(t, i >= ways, evicts(&g, uint32(2*i)), "%d ways, fill %d", ways, i)
		}
		for i := range 3*ways + 1 {
			require.Equal(t, i > 2*ways, g.find(uint32(2*i)) >= 0, "%d ways, line %d", ways, i)
		}
	}
}

func TestValidate(t *testing.T) {
	require.NoError(t, DefaultSpec().Validate())
	for want, change := range map[string]func(*Spec){
		"cache bytes = 1000: expected banks × ways × sectors × line_bytes = 256 times a power of two, the sets of a bank":  func(s *Spec) { s.Bytes = 1000 },
		"cache bytes = 24576: expected banks × ways × sectors × line_bytes = 256 times a power of two, the sets of a bank": func(s *Spec) { s.Bytes = 24 << 10 },
		"cache bytes = 128: expected at least banks × ways × sectors × line_bytes = 256, one set a bank":                   func(s *Spec) { s.Bytes = 128 },
		"cache banks = 65: expected 1..64":                                        func(s *Spec) { s.Banks = 65 },
		"cache memory_ports = 2: expected 1..1":                                   func(s *Spec) { s.MemoryPorts = 2 },
		"cache memory_queue = 2: expected 3..256":                                 func(s *Spec) { s.MemoryQueue = 2 },
		"cache replay_delay = 0: expected 1..2":                                   func(s *Spec) { s.ReplayDelay = 0 },
		"cache replacement = 9: expected one of fifo, lru, random":                func(s *Spec) { s.Replacement = 9 },
		"cache write_policy = 9: expected one of through, back":                   func(s *Spec) { s.WritePolicy = 9 },
		"cache write_policy = back: with write_enable = false nothing is written": func(s *Spec) { s.WritePolicy, s.WriteEnable = Back, false },
		"cache bank_select = 9: expected one of low_bits, hashed":                 func(s *Spec) { s.BankSelect = 9 },
	} {
		s := DefaultSpec()
		change(&s)
		require.EqualError(t, s.Validate(), want)
	}
	var r Replacement
	require.NoError(t, r.UnmarshalText([]byte("lru")))
	require.Equal(t, LRU, r)
	require.EqualError(t, r.UnmarshalText([]byte("plru")),
		`cache replacement = "plru": expected one of fifo, lru, random`)
}

func TestABrokenInvariantNamesTheUnit(t *testing.T) {
	s := DefaultSpec()
	b := newBank(&queue.Owner{Unit: "L1"}, &s, 0)
	require.PanicsWithValue(t, "BUG: L1 @7: bank 0: an answer for entry 3, which asked for nothing",
		func() { b.in.fill = 3; b.step(7, nil) })
	s.WriteEnable = false
	require.PanicsWithValue(t, "BUG: L1 @100: a write to a read-only cache", func() {
		one(t, func(s *Spec) { s.WriteEnable = false }, 1, write(pushed, 1))
	})
}

// randomPlan is one or two levels with random specs, streams and memory.
func randomPlan(seed uint64) plan {
	r := rand.New(rand.NewPCG(seed, 1))
	first, second := draw(r), draw(r)
	second.Ports, second.Inputs, second.LineBytes = first.MemoryPorts, nil, first.LineBytes
	second.Bytes *= 4
	second.Fit()
	p := plan{specs: []Spec{first}, capacity: 1 + r.IntN(4),
		memory: []clock.Femto{ns, ns, 1_700_000, 300_000}[r.IntN(4)]}
	if r.IntN(2) == 0 {
		p.specs = append(p.specs, second)
	}
	p.meet, p.interval, p.bankInterval = r.IntN(len(p.specs)), 1+r.IntN(8), int(seed%4)
	for range first.Ports {
		p.todo = append(p.todo, randomStream(r))
	}
	longest, wait := 1+r.IntN(80), rand.New(rand.NewPCG(seed, 2))
	p.latency = func() clock.Cycle { return clock.Cycle(wait.IntN(longest)) }
	if n := clock.Cycle(1 + r.IntN(12)); r.IntN(2) == 0 {
		p.deaf = func(now clock.Cycle) bool { return now/n%2 == 0 }
	}
	return p
}

func randomStream(r *rand.Rand) (todo []timed) {
	at, gap, lines := clock.Cycle(0), 1+r.IntN(6), uint32(4+r.IntN(60))
	for i := range uint32(300) {
		at += clock.Cycle(r.IntN(gap))
		if r.IntN(60) == 0 {
			at += 200 // time to fall asleep
		}
		switch line := r.Uint32N(lines); {
		case r.IntN(100) == 0:
			todo = append(todo, flushAt(at, i))
		case r.IntN(100) == 0:
			todo = append(todo, timed{at, mem.Request{Tag: i, Op: mem.Invalidate}})
		case r.IntN(6) == 0:
			todo = append(todo, timed{at, mem.Request{Addr: line * 64, Tag: i,
				Atomic: mem.MakeAtomicRef(line<<8|r.Uint32N(3), 1+r.IntN(4)), Op: mem.Atomic}})
		case r.IntN(4) == 0:
			todo = append(todo, write(at, line))
		default:
			todo = append(todo, read(at, line, i))
		}
	}
	return todo
}

// checkInvariants checks the invariants of any run.
func checkInvariants(t *testing.T, p plan, m *machine) {
	for _, src := range m.sources {
		var want, got []uint32
		for _, x := range src.todo {
			if x.r.Op != mem.Write {
				want = append(want, x.r.Tag)
			}
		}
		for _, a := range src.got {
			got = append(got, a.tag)
		}
		slices.Sort(got)
		require.Equal(t, want, got, "every read and flush is answered once")
	}
	var reads, writes, atomics, dry uint64
	for _, todo := range p.todo {
		for _, x := range todo {
			reads += b2u(x.r.Op == mem.Read)
			writes += b2u(x.r.Op == mem.Write)
			atomics += b2u(x.r.Op == mem.Atomic)
			dry += b2u(x.r.Op == mem.Atomic && x.r.Atomic.Name()&255 == 0)
		}
	}
	for i, c := range m.levels {
		s := c.Stats()
		require.Equal(t, []uint64{reads, writes, atomics}, []uint64{s.Reads, s.Writes, s.Atomics}, "level %d", i+1)
		require.Equal(t, s.Reads, s.ReadHits+s.ReadMisses)
		require.Equal(t, s.Writes, s.WriteHits+s.WriteMisses)
		require.Equal(t, s.Atomics, s.AtomicHits+s.AtomicMisses+s.AtomicsPassed)
		misses := s.ReadMisses + s.AtomicMisses
		if i == p.meet {
			require.Zero(t, s.AtomicsPassed)
			require.Equal(t, atomics-dry, s.AtomicWrites)
			require.Len(t, m.performed, int(atomics))
			atomics = 0
		}
		reads, writes = s.Fills-s.Pairs, s.Writes+s.WriteResends+s.AtomicWrites // what the next level must see
		if p.specs[i].WritePolicy == Back {
			misses += s.WriteMisses
			require.LessOrEqual(t, s.Writebacks, s.Writes+s.AtomicWrites)
			writes = s.Writebacks
		}
		require.Equal(t, s.Fills, misses-s.Merges)
		require.GreaterOrEqual(t, s.Replays, misses)
	}
	require.Equal(t, []int{int(reads), int(writes)}, m.mem.ops[:2])
	require.Zero(t, m.mem.ops[mem.Atomic]+m.mem.ops[mem.Invalidate])
	for _, l := range m.links {
		in, out := l.Traffic()
		require.Equal(t, in, out)
	}
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// fingerprint is all that a run's user can see.
func fingerprint(m *machine) (out []string) {
	for _, src := range m.sources {
		out = append(out, fmt.Sprint(src.sent), fmt.Sprint(src.got))
	}
	out = append(out, fmt.Sprint(m.mem.seen), fmt.Sprint(m.performed))
	for _, c := range m.levels {
		out = append(out, fmt.Sprintf("%+v", c.Stats()))
	}
	return out
}

func TestRandomMachines(t *testing.T) {
	stalls, singles := Stats{}, 0
	for seed := range testenv.Cases(t, 100, 1800) {
		p := randomPlan(seed)
		m := run(t, p)
		checkInvariants(t, p, m)
		want := fingerprint(m)
		p = randomPlan(seed)
		p.forced = true
		require.Equal(t, want, fingerprint(run(t, p)), "seed %d, ticked in every cycle", seed)
		if slices.ContainsFunc(m.levels, func(c *Cache) bool { return c.fastPath != nil }) {
			singles++
			p = randomPlan(seed)
			p.long = true
			require.Equal(t, want, fingerprint(run(t, p)), "seed %d, the long way", seed)
		}
		for shuffle := range uint64(3) {
			p = randomPlan(seed)
			p.order = rand.New(rand.NewPCG(seed, shuffle)).Perm
			require.Equal(t, want, fingerprint(run(t, p)), "seed %d, order %d", seed, shuffle)
		}
		for _, c := range m.levels {
			s := c.Stats()
			count.Sum(&stalls, &s)
		}
	}
	for _, n := range []uint64{
		stalls.MSHRFull.Count(), stalls.MemoryQueueFull.Count(), stalls.ResponseQueueFull.Count(), stalls.BankConflicts,
		stalls.Merges, stalls.Evictions,
		stalls.FlushCycles.Count(), stalls.WriteHits, stalls.Writebacks, stalls.AtomicWaits, stalls.Invalidations,
		stalls.WriteResends,
	} {
		require.NotZero(t, n, "the machines are varied enough: %+v", stalls)
	}
	require.NotZero(t, singles, "some have the short way")
}
