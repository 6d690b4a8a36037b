package dram

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// variants are the presets, each also with the knobs that change the controller's decisions.
func variants(t testing.TB) []Spec {
	changes := []struct {
		name   string
		change func(*Spec)
	}{
		{"", func(*Spec) {}},
		{"closed", func(s *Spec) { s.PagePolicy = ClosedPage }},
		{"fcfs", func(s *Spec) { s.Scheduler = FCFS }},
		{"row hit first", func(s *Spec) { s.Scheduler = RowHitFirst }},
		{"rowhit", func(s *Spec) { s.Scheduler = FRFCFSRowHit }},
		{"xor", func(s *Spec) { s.Mapping = RoBaRaCoChXor }},
		{"banks first", func(s *Spec) { s.Mapping = RoCoBaRaCh }},
		{"small queues", func(s *Spec) { s.ReadQueue, s.WriteQueue, s.DrainHigh, s.DrainLow = 3, 2, 2, 0 }},
		{"frequent refresh", func(s *Spec) { s.Refresh, s.Timing.REFI = true, 3*(s.Timing.RFC+s.Timing.RP) }},
	}
	var all []Spec
	for _, s := range timedPresets(t) {
		for _, c := range changes {
			v := s
			v.Channels = 1
			v.Preset += " " + c.name
			c.change(&v)
			all = append(all, v)
		}
	}
	return all
}

// traffic is a random load of a channel: bursts and pauses, hot and cold lines.
type traffic struct {
	random  lcg
	offered uint64
	pause   uint64
}

// next returns a request, mostly of a few rows so that all of hits, conflicts,
// forwards and merges happen.
func (w *traffic) next(s Spec) Request {
	n := w.random.next()
	lines := uint64(s.Columns * s.Ranks * s.BankGroups * s.Banks * 8)
	line := w.random.next() % lines
	if n%4 == 0 {
		line = w.random.next() % 64
	}
	return Request{ID: w.offered, Line: line, Write: n>>3%3 == 0}
}

// play offers n requests and runs until all are done. It calls seen for every
// completion. With skip it ticks only where NextEvent says.
func play(t testing.TB, c *Channel, n uint64, skip bool, seen func(Done)) uint64 {
	w := traffic{random: 7}
	head := w.next(c.spec)
	clock := uint64(0)
	for left := n; left > 0; {
		c.Tick(clock)
		for d, ok := c.PopDone(clock); ok; d, ok = c.PopDone(clock) {
			left--
			seen(d)
		}
		for w.offered < n && clock >= w.pause && c.Enqueue(clock, head) {
			w.offered++
			if w.random.next()%200 == 0 {
				w.pause = clock + w.random.next()%500
			}
			head = w.next(c.spec)
		}
		if left == 0 {
			break
		}
		next := c.NextEvent(clock)
		if w.offered < n {
			next = min(next, max(w.pause, clock+1))
		}
		require.NotEqual(t, never, next, "stuck at clock %d", clock)
		if !skip {
			next = clock + 1
		}
		clock = next
	}
	return clock
}

// TestInvariants: every command is legal by the independent checker, each request is answered once, counts add up, and
// no more data move than the bus carries.
func TestInvariants(t *testing.T) {
	testenv.NeedSlow(t, "it is a campaign")
	const requests = 4000
	for _, spec := range variants(t) {
		t.Run(spec.Preset, func(t *testing.T) {
			c, check := newChannel(t, spec), newChecker(spec)
			open := openRanks{}
			c.Trace = func(i Issue) {
				require.NoError(t, check.check(i))
				open.see(i)
			}
			seen := make([]int, requests)
			end := play(t, c, requests, true, func(d Done) { seen[d.ID]++ })
			for id, n := range seen {
				require.Equal(t, 1, n, "completions of request %d", id)
			}
			stats := c.Stats(end)
			checkCounts(t, spec, stats, requests, end)
			require.Equal(t, open.until(end), stats.OpenRanks.Count())
			if spec.PagePolicy == ClosedPage {
				for i := range c.state.ranks {
					assert.Zero(t, c.state.ranks[i].open, "rows open at the end")
				}
			}
		})
	}
}

// openRanks sums the clocks of ranks with an open row, from the commands alone.
type openRanks struct {
	banks map[[3]int]bool // open ones, by rank, group and bank
	rank  map[int]uint64  // ranks with one: since when
	sum   uint64
}

func (o *openRanks) see(i Issue) {
	if o.banks == nil {
		o.banks, o.rank = map[[3]int]bool{}, map[int]uint64{}
	}
	at, of := [3]int{i.Rank, i.BankGroup, i.Bank}, 0
	switch i.Command {
	case ACT:
		if _, open := o.rank[i.Rank]; !open {
			o.rank[i.Rank] = i.Clock
		}
		o.banks[at] = true
		return
	case PREA:
		for b := range o.banks {
			if b[0] == i.Rank {
				delete(o.banks, b)
			}
		}
	case PRE, RDA, WRA:
		delete(o.banks, at)
	}
	for b := range o.banks {
		if b[0] == i.Rank {
			of++
		}
	}
	if since, open := o.rank[i.Rank]; open && of == 0 {
		o.sum += i.Clock - since
		delete(o.rank, i.Rank)
	}
}

func (o *openRanks) until(end uint64) uint64 {
	for r, since := range o.rank {
		o.sum += end - since
		delete(o.rank, r)
	}
	return o.sum
}

func checkCounts(t *testing.T, spec Spec, s Stats, requests, end uint64) {
	reads, writes := s.Commands[RD]+s.Commands[RDA], s.Commands[WR]+s.Commands[WRA]
	served := reads + writes
	assert.Equal(t, requests, s.Reads+s.Writes)
	assert.Equal(t, s.Reads, reads+s.Forwarded)
	assert.Equal(t, s.Writes, writes+s.Merged)
	assert.Equal(t, served, s.RowHits+s.RowMisses+s.RowConflicts)
	assert.GreaterOrEqual(t, s.Commands[ACT], s.RowMisses)
	assert.InDelta(t, 1-float64(s.Commands[ACT])/float64(served), s.RowHitRate(), 1e-12)
	assert.Equal(t, served*uint64(spec.Timing.BL), s.DataBusClocks)
	assert.LessOrEqual(t, s.DataBusClocks, end*uint64(spec.Ranks))
	assert.Positive(t, s.Forwarded, "the load meets a forward")
	if spec.Refresh {
		assert.InDelta(t, end/uint64(spec.Timing.REFI)*uint64(spec.Ranks), s.Commands[REF], 2*float64(spec.Ranks))
	}
}

// TestSkipping: ticking every clock and only where NextEvent says are the same
// to every command, completion and count.
func TestSkipping(t *testing.T) {
	specs := append(variants(t), preset(t, "ideal"))
	for _, spec := range specs {
		t.Run(spec.Preset, func(t *testing.T) {
			var logs [2][]string
			for k, skip := range []bool{false, true} {
				c := newChannel(t, spec)
				log := func(v any) { logs[k] = append(logs[k], fmt.Sprint(v)) }
				c.Trace = func(i Issue) { log(i) }
				end := play(t, c, 2000, skip, func(d Done) { log(d) })
				stats := c.Stats(end)
				// Offers are refused again each clock one asks.
				stats.ReadsFull, stats.WritesFull = 0, 0
				log(stats)
			}
			assert.Equal(t, logs[0], logs[1])
		})
	}
}

// TestLoadSkipping is TestSkipping for a reference run.
func TestLoadSkipping(t *testing.T) {
	for _, l := range testenv.Some(t, 0, 2, []load{
		{pattern: "rand", writes: true, perMyri: 1500},
		{pattern: "s256", writes: true, window: 16},
	}) {
		l.spec = configSpec(t, "r21_hbm2v_1ch")
		every := l.start(t)
		every.stepAll = true
		assert.Equal(t, every.run(t), l.start(t).run(t))
	}
}

// TestChecker: the checker finds a fault when a parameter is one clock longer
// than the channel knows.
func TestChecker(t *testing.T) {
	longer := map[string]func(*Timing){
		"tRP": func(t *Timing) { t.RP++ }, "tRAS": func(t *Timing) { t.RAS++ },
		"tRCD": func(t *Timing) { t.RCD++ }, "tFAW": func(t *Timing) { t.FAW++ },
		"tRRD": func(t *Timing) { t.RRDL++ }, "tCCD": func(t *Timing) { t.CCDL++ },
		"tWTR": func(t *Timing) { t.WTRL++ }, "tRTP": func(t *Timing) { t.RTP++ },
		"tWR": func(t *Timing) { t.WR++ }, "tRFC": func(t *Timing) { t.RFC++ },
		"bursts overlap": func(t *Timing) { t.BL += 5 },
	}
	for problem, change := range longer {
		t.Run(problem, func(t *testing.T) {
			spec := preset(t, "ddr4-3200")
			wrong := spec
			change(&wrong.Timing)
			c, check := newChannel(t, spec), newChecker(wrong)
			found := map[string]bool{}
			c.Trace = func(i Issue) {
				if err := check.check(i); err != nil {
					found[lastWord(err.Error())] = true
				}
			}
			play(t, c, 20_000, true, func(Done) {})
			assert.True(t, found[problem], "found only %v", found)
		})
	}
}

func lastWord(s string) string {
	for i := len(s) - 2; i >= 0; i-- {
		if s[i:i+2] == ": " {
			return s[i+2:]
		}
	}
	return s
}

// TestFCFSKeepsTheOrder: reads come back as they came; with the others they do not.
func TestFCFSKeepsTheOrder(t *testing.T) {
	for _, spec := range timedPresets(t) {
		spec.Channels = 1
		for _, spec.Scheduler = range []Scheduler{FCFS, FRFCFS, FRFCFSRowHit, RowHitFirst} {
			c, inOrder, last := newChannel(t, spec), true, uint64(0)
			w := traffic{random: 3}
			for clock, left := uint64(0), 400; left > 0; clock++ {
				c.Tick(clock)
				for d, ok := c.PopDone(clock); ok; d, ok = c.PopDone(clock) {
					inOrder = inOrder && d.ID >= last
					last = d.ID
					left--
				}
				for r := w.next(spec); w.offered < 400 &&
					c.Enqueue(clock, Request{ID: r.ID, Line: r.Line}); r = w.next(spec) {
					w.offered++
				}
			}
			require.Equal(t, spec.Scheduler == FCFS, inOrder, "%s %s", spec.Preset, spec.Scheduler)
		}
	}
}

// TestOneReadAClock: with Ramulator 2.0 reads that the write queue answers go behind those on their way, one a clock;
// with 2.1 they all go with the last of those.
func TestOneReadAClock(t *testing.T) {
	for name, want := range map[string][]uint64{"ddr4-3200-r20": {49, 50, 51, 52}, "ddr4-3200": {49, 49, 49, 49}} {
		s := preset(t, name)
		c := newChannel(t, s)
		for i := range 3 {
			require.True(t, c.Enqueue(0, Request{ID: 10, Line: lineOf(s, place{row: 1, column: i}), Write: true}))
		}
		require.True(t, c.Enqueue(0, Request{ID: 0, Line: lineOf(s, place{})}))
		var got []uint64
		for clock := uint64(1); len(got) < 4; clock++ {
			c.Tick(clock)
			for d, ok := c.PopDone(clock); ok; d, ok = c.PopDone(clock) {
				if !d.Write {
					require.Equal(t, uint64(len(got)), d.ID, "in order")
					got = append(got, clock)
				}
			}
			if clock == 24 { // the RD has issued, and its row is open too shortly to be closed for the writes
				for i := range 3 {
					require.True(t, c.Enqueue(clock,
						Request{ID: uint64(i + 1), Line: lineOf(s, place{row: 1, column: i})}))
				}
			}
		}
		require.Equal(t, want, got, name)
	}
}
