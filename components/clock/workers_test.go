package clock_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/clock"
	"heddle/internal/testenv"
)

// station takes numbers from its incoming links and pushes others to its outgoing ones, each link in cycles that are
// drawn for it; it sleeps when it waits for a link or for such a cycle. What it adds to a sum that all share it does at
// the end of the instant.
type station struct {
	at    clock.Handle
	seed  uint64
	in    []*clock.Link[uint64]
	out   []*clock.Link[uint64]
	due   []clock.Cycle // by outgoing link: when it pushes next, if there is a slot
	until clock.Cycle
	sum   *uint64
	got   uint64
	log   []string
}

// drawn is a number below n for a link and a cycle.
func (s *station) drawn(link int, now clock.Cycle, n uint64) uint64 {
	return rand.New(rand.NewPCG(s.seed+uint64(link), now)).Uint64N(n)
}

func (s *station) Tick(now clock.Cycle) (again bool) {
	did := false
	for i, l := range s.in {
		if !l.Ready() {
			continue
		}
		if s.drawn(i, now, 4) == 0 {
			again = true
			continue
		}
		s.note(now, "backed up ", i, l.BackedUp())
		s.got = s.got*31 + l.Pop()
		s.note(now, "took from ", i, s.got)
		did = true
	}
	next := clock.Never
	for i, l := range s.out {
		if now >= s.due[i] && now < s.until && s.room(l, i, now) {
			s.got += s.drawn(i, now, 1000)
			l.Push(s.got)
			s.note(now, "pushed to ", i, s.got)
			s.due[i] = now + 1 + s.drawn(-i-1, now, 7)
			did = true
		}
		if s.due[i] > now {
			next = min(next, s.due[i])
		}
	}
	if did {
		s.at.Finish()
	}
	if next < s.until {
		s.at.WakeAt(next)
	}
	return again
}

// room asks for one slot, or for two.
func (s *station) room(l *clock.Link[uint64], i int, now clock.Cycle) bool {
	if l.Capacity() > 1 && s.due[i]%2 == 0 {
		return l.Room(2)
	}
	return !l.Full()
}

func (s *station) note(now clock.Cycle, what string, i int, v any) {
	s.log = append(s.log, fmt.Sprint(now, " ", what, i, ": ", v))
}

func (s *station) Finish(now clock.Cycle) {
	*s.sum = *s.sum*7 + s.got
	s.note(now, "sum ", 0, *s.sum)
}

// network has stations on a clock of so many shards, and on a slower one, which as many goroutines as workers tick.
func network(t *testing.T, seed uint64, shards, workers int) (logs [][]string) {
	r := rand.New(rand.NewPCG(seed, 1))
	s := newSystem()
	if shards > 1 {
		s.SetWorkers(workers)
		if seed%3 != 0 { // else in turn with one goroutine for all
			s.Insist()
		}
	}
	domains := []*clock.Domain{addDomain(t, s, "core", ns)}
	for len(domains) < shards {
		domains = append(domains, domains[0].Shard())
	}
	slow := addDomain(t, s, "memory", ns*13/8)
	var stations []*station
	sum := uint64(1)
	n := 2 + r.IntN(12)
	for i := range n {
		st := &station{seed: seed<<20 + uint64(i)<<10, until: 300 + r.Uint64N(300), sum: &sum}
		d := domains[i*shards/n]
		if i%4 == 3 {
			d = slow
		}
		st.at = d.Add(st)
		stations = append(stations, st)
	}
	for range n * 2 {
		a, b := stations[r.IntN(n)], stations[r.IntN(n)]
		l := clock.NewLink[uint64]("l", 1+r.IntN(4), 1+r.Uint64N(4), a.at, b.at)
		a.out, a.due, b.in = append(a.out, l), append(a.due, 0), append(b.in, l)
	}
	for _, st := range stations {
		st.at.Wake()
	}
	for range 2 { // twice: one pool ends, and another begins
		require.NoError(t, s.Run())
		for _, st := range stations {
			st.note(st.at.Domain().After(), "comes after ", 0, s.Now())
			st.until += 200
			st.at.Wake()
		}
	}
	for _, st := range stations {
		logs = append(logs, st.log)
	}
	require.Greater(t, len(slices.Concat(logs...)), 200)
	return logs
}

// TestShardsAreOneClock: units on shards of a clock, ticked by several goroutines, behave exactly as on one.
func TestShardsAreOneClock(t *testing.T) {
	for seed := range testenv.Cases(t, 12, 600) {
		want := network(t, seed, 1, 1)
		for _, shards := range []int{2, 3, 7} {
			for _, workers := range []int{2, 3} {
				got := network(t, seed, shards, workers)
				for i, log := range want {
					require.Len(t, got[i], len(log))
					for k, line := range log {
						require.Equal(t, line, got[i][k], "seed %d: %d shards, %d workers: station %d", seed, shards,
							workers, i)
					}
				}
			}
		}
	}
}

// TestPanicOfAWorker: Run panics with the value of a panic on another goroutine.
func TestPanicOfAWorker(t *testing.T) {
	s := newSystem()
	s.SetWorkers(2)
	s.Insist()
	first := addDomain(t, s, "core", ns)
	second := first.Shard()
	a := add(first, func(now clock.Cycle) bool { return now < 100 })
	b := add(second, func(now clock.Cycle) bool {
		if now == 50 {
			panic("BUG: b @50")
		}
		return true
	})
	a.at.Wake()
	b.at.Wake()
	require.PanicsWithValue(t, "BUG: b @50", func() { _ = s.Run() })
}
