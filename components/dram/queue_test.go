package dram

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	ring "heddle/components/queue"
)

// TestQueueIsByAge: whatever comes and leaves, requests are in the order of their arrival, those of
// one clock in the order in which they came, and the queue counts its requests by bank and clock.
func TestQueueIsByAge(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := preset(t, "hbm2-2gbps")
		state, buses := newBankState(s, newTimingTable(nil, allCommands)), s.CommandBus.table()
		q := newQueue(readQueue, 1+r.IntN(20), &buses)
		var want []*entry
		requestClocks := uint64(0)
		for clock := range uint64(300) {
			for range r.IntN(3) {
				if n := len(want); n > 0 && (q.full() || r.IntN(2) == 0) {
					i := r.IntN(n)
					q.remove(want[i], clock)
					want = slices.Delete(want, i, i+1)
					continue
				}
				e := &entry{request: request{arrival: clock - min(clock, r.Uint64N(20)), bank: &state.banks[r.IntN(4)],
					row: uint32(r.IntN(2))}}
				at := len(want)
				for at > 0 && want[at-1].arrival > e.arrival {
					at--
				}
				want = slices.Insert(want, at, e)
				q.insert(e, clock)
			}
			requireQueue(t, &q, want, state)
			require.Equal(t, requestClocks, q.requestClocks(clock))
			requestClocks += uint64(len(want))
		}
	}
}

func requireQueue(t *testing.T, q *queue, want []*entry, state *bankState) {
	t.Helper()
	require.Equal(t, len(want), q.len())
	var older *entry
	inBank := map[*bank]uint16{}
	e := q.oldest
	for _, w := range want {
		require.Same(t, w, e)
		require.True(t, e.older == older)
		inBank[e.bank]++
		older, e = e, e.younger
	}
	require.Nil(t, e)
	require.True(t, q.youngest == older)
	for i := range state.banks {
		b := &state.banks[i]
		require.Equal(t, inBank[b], *q.inBank(b))
	}
}

// TestPlan: a request's next command follows from the open row, and is listed with the bus that carries it from the
// clock at which it may issue.
func TestPlan(t *testing.T) {
	s := preset(t, "hbm2-2gbps")
	state, buses := newBankState(s, newTimingTable(nil, allCommands)), s.CommandBus.table()
	b := &state.banks[5]
	for cmd := range numCommands {
		b.ready[cmd] = 100 + uint64(cmd)
	}
	for _, c := range []struct {
		open  uint32
		write bool
		next  Command
		bus   uint8
	}{
		{closedRow, false, ACT, rowBus}, {closedRow, true, ACT, rowBus}, {8, false, PRE, rowBus}, {8, true, PRE, rowBus},
		{7, false, RD, columnBus}, {7, true, WR, columnBus},
	} {
		q, e := newQueue(writeQueue, 1, &buses), entry{request: request{bank: b, row: 7, write: c.write}}
		b.row = c.open
		q.insert(&e, 0)
		require.Equal(t, c.next, e.next)
		require.Equal(t, c.bus, e.bus)
		require.Equal(t, b.ready[c.next], e.notBefore)
		want := [maxBuses]uint64{never, never}
		want[c.bus] = b.ready[c.next]
		require.Equal(t, want, q.before)
		require.Equal(t, c.open == 7, q.wants(b, b.row))
		require.Equal(t, c.open == 7, q.hitWaits(b, 0))
		require.False(t, q.wants(&state.banks[6], 7))
		q.remove(&e, 0)
	}
}

// TestCompletions: the earliest first; of those of one clock merged writes, then reads, then
// writes, each in the order in which they came.
func TestCompletions(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 0))
		c := newCompletions(64, nil)
		kinds := []*ring.Timed[Done]{&c.merged, &c.reads, &c.writes}
		type completion struct {
			Done
			kind int
		}
		var want []completion
		var last [3]uint64
		for id := range uint64(500) {
			if len(want) > 0 && (len(want) == 64 || r.IntN(2) == 0) {
				first := slices.MinFunc(want, func(a, b completion) int {
					if a.Clock != b.Clock {
						return int(a.Clock) - int(b.Clock)
					}
					return (a.kind-b.kind)*1000 + int(a.ID) - int(b.ID)
				})
				require.Equal(t, first.Clock, c.next)
				require.Equal(t, first.Done, c.pop())
				want = slices.DeleteFunc(want, func(d completion) bool { return d == first })
				continue
			}
			kind := r.IntN(3)
			last[kind] += r.Uint64N(4)
			d := Done{ID: id, Clock: last[kind], Write: kind != 1}
			c.add(kinds[kind], d)
			want = append(want, completion{d, kind})
		}
	}
}
