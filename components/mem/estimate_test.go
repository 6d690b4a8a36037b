package mem

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server begins in the order in which it is asked, never before a request comes, and never closer than they keep it.
func TestServer(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var s Server
	free := uint64(0)
	for range 10000 {
		at, interval := r.Uint64N(50000), r.Uint64N(20)
		begin := s.Take(at, interval)
		require.Equal(t, max(at, free), begin)
		free = begin + interval
	}
}

// Entries are as a sorted list of when each is free.
func TestPlaces(t *testing.T) {
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 2))
		p, sorted := make(Entries, 1+r.IntN(70)), []uint64(nil)
		sorted = append(sorted, p...)
		for n := range uint64(500) {
			until := r.Uint64N(3 * (n + 1))
			p.Take(until)
			sorted[0] = until
			slices.Sort(sorted)
			require.Equal(t, sorted[0], p.First())
			require.Equal(t, sorted[len(sorted)-1], p.Last())
		}
		require.ElementsMatch(t, sorted, p)
	}
}

// Requests in any order begin no earlier than they come, and of none of the spans that a calendar remembers are more
// cycles taken than it has; a request waits only if its span is too full for it, and then for the first that is not.
func TestCalendar(t *testing.T) {
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 3))
		longest := 1 + r.Uint64N(16)<<r.IntN(8)
		c := NewCalendar(longest)
		length := uint64(1) << (spanShift + c.longer)
		require.GreaterOrEqual(t, length, longest)
		taken, now := map[uint64]uint64{}, uint64(0)
		for range 2000 {
			now += longest/2 + r.Uint64N(longest+1)
			at, interval := now+r.Uint64N(length*spans/8), r.Uint64N(longest+1)
			span := at / length
			for taken[span]+interval > length {
				span++
			}
			want := max(at, span*length+taken[span])
			taken[span] += interval
			require.Equal(t, want, c.Take(at, interval), "seed %d", seed)
			require.LessOrEqual(t, taken[span], length)
		}
	}
}

// A request before the spans that a calendar remembers begins at once, and occupies nothing.
func TestCalendarFarBack(t *testing.T) {
	var c Calendar
	const far = spans << spanShift
	for i := range uint64(spans << spanShift) {
		require.Equal(t, far+i, c.Take(far+i, 1))
	}
	require.Equal(t, uint64(5), c.Take(5, 1))
	require.Equal(t, uint64(2*far), c.Take(2*far, 1))
}
