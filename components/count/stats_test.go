package count

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A level that is set only in some cycles has the sum over all cycles, whenever it is settled.
func TestLevelCountsCyclesThatAreSleptThrough(t *testing.T) {
	for seed := range uint64(200) {
		draw := rand.New(rand.NewPCG(seed, 1))
		var every, some, steps Level
		told, n, want := 0, 0, uint64(0)
		for now := range uint64(300) {
			if draw.IntN(5) == 0 {
				n = draw.IntN(9)
			}
			every.Set(n, now)
			if n != told || draw.IntN(4) == 0 {
				some.Set(n, now)
				steps.Add(n-told, now)
			}
			told = n
			want += uint64(n)
			if draw.IntN(10) == 0 {
				for _, l := range []*Level{&every, &some, &steps} {
					l.Settle(now + 1)
					require.Equal(t, want, l.Count(), "seed %d, cycle %d", seed, now)
				}
			}
		}
	}
}

// The same holds for By.
func TestByCountsCyclesThatAreSleptThrough(t *testing.T) {
	for seed := range uint64(200) {
		draw := rand.New(rand.NewPCG(seed, 1))
		var every, some By
		var everyCounts, someCounts, want [5]uint64
		told, is := 0, 0
		for now := range uint64(300) {
			if draw.IntN(5) == 0 {
				is = draw.IntN(len(want))
			}
			every.Set(everyCounts[:], is, now)
			if is != told || draw.IntN(4) == 0 {
				some.Set(someCounts[:], is, now)
			}
			told = is
			require.Equal(t, is, some.Is())
			want[is]++
			if draw.IntN(10) == 0 {
				every.Settle(everyCounts[:], now+1)
				some.Settle(someCounts[:], now+1)
				require.Equal(t, want, everyCounts, "seed %d, cycle %d", seed, now)
				require.Equal(t, want, someCounts, "seed %d, cycle %d", seed, now)
			}
		}
	}
}

// byUnit is an array of counts.
type byUnit [3]Level

// parts are statistics within statistics.
type parts struct {
	Held Span
	Of   byUnit
}

// counts is a unit's statistics with counts of all kinds.
type counts struct {
	Events uint64
	Causes [2]uint64
	Waits  Span
	Open   Level
	Parts  parts
}

// In finds all counts of cycles, at any depth, without a list.
func TestInFindsAllCounts(t *testing.T) {
	var s counts
	s.Events, s.Causes = 3, [2]uint64{4, 5}
	s.Waits.Set(true, 10)
	s.Open.Set(2, 10)
	s.Parts.Held.Set(true, 20)
	s.Parts.Of[2].Set(3, 20)
	found := In(&s)
	found.Settle(30)
	require.Equal(t, "{Events:3 Causes:[4 5] Waits:20 Open:40 Parts:{Held:10 Of:[0 0 30]}}", fmt.Sprintf("%+v", s))
	found.Settle(30)
	require.EqualValues(t, 20, s.Waits.Count(), "nothing is counted twice")
	found.Settle(31)
	require.EqualValues(t, 21, s.Waits.Count())
	require.EqualValues(t, 33, s.Parts.Of[2].Count())
}

// Sum adds all counts, and leaves its second argument unchanged.
func TestSumAddsAllCounts(t *testing.T) {
	var s, sum counts
	s.Events, s.Causes = 3, [2]uint64{4, 5}
	s.Waits.Set(true, 10)
	s.Open.Set(2, 10)
	s.Parts.Held.Set(true, 20)
	s.Parts.Of[2].Set(3, 20)
	In(&s).Settle(30)
	before := s
	for range 2 {
		Sum(&sum, &s)
	}
	require.Equal(t, "{Events:6 Causes:[8 10] Waits:40 Open:80 Parts:{Held:20 Of:[0 0 60]}}", fmt.Sprintf("%+v", sum))
	require.Equal(t, before, s)
	In(&sum).Settle(100)
	require.EqualValues(t, 40, sum.Waits.Count(), "a sum does not go on")
}

func TestWhatIsNoCountIsABug(t *testing.T) {
	var s struct{ Name string }
	require.PanicsWithValue(t, "BUG: count: a statistic is a string", func() { In(&s) })
}
