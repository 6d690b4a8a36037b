package monitor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/sim"
	"heddle/sim/stats"
)

// TestHistoryIsBounded: however long a machine runs, it has as many rows; they reach back some minutes, and the
// difference of two of them is the count of the time between.
func TestHistoryIsBounded(t *testing.T) {
	h := &history{every: fastest, rows: newRing[row](historyRows), steps: newRing[superStep](historySteps)}
	at, total := time.Duration(0), map[uint64]uint64{}
	for i := uint64(0); i < 20*historyRows; i++ {
		total[7*i] = i * i
		h.append(at, 7*i, stats.Tree{stats.Count("cycles", "", "", 7*i), stats.Count("n", "", "", i*i),
			stats.Ratio("r", "", "", 1, 2)})
		at += h.every
	}
	require.Equal(t, slowest, h.every)
	s, err := h.series([]string{"*"})
	require.NoError(t, err)
	require.Len(t, s.Cycles, historyRows-1)
	require.Len(t, s.Counts, 1)
	from := s.From.Cycle
	for i, n := range s.Counts[0].Values {
		require.Equal(t, total[s.Cycles[i]]-total[from], n)
		from = s.Cycles[i]
	}
	require.Equal(t, uint64(7*(20*historyRows-1)), from, "up to the end")
	require.Greater(t, s.Seconds[len(s.Seconds)-1]-s.From.Seconds, 300.0, "minutes")
}

// A short run keeps its beginning when rows become fewer.
func TestHistoryThins(t *testing.T) {
	h := &history{every: fastest, rows: newRing[row](historyRows)}
	for i := range uint64(historyRows + 1) {
		h.append(time.Duration(i)*fastest, i, stats.Tree{stats.Count("n", "", "", 3*i)})
	}
	s, err := h.series([]string{"n"})
	require.NoError(t, err)
	require.Zero(t, s.From.Cycle)
	require.Equal(t, uint64(2), s.Cycles[0])
	require.Equal(t, uint64(6), s.Counts[0].Values[0])
	require.Equal(t, uint64(historyRows), s.Cycles[len(s.Cycles)-1])
	require.Len(t, s.Cycles, historyRows/2)
}

// TestAttendAllocatesNothing: between rows, and without requests.
func TestAttendAllocatesNothing(t *testing.T) {
	l, err := configs.LoadMachine("vortex-1c4w4t", nil, nil)
	require.NoError(t, err)
	m, err := sim.New(l.Value, sim.Options{})
	require.NoError(t, err)
	s := New("test", 1, 0, Hold{}).Begin(t.Context(), "one", 0, m)
	s.attend()
	require.Equal(t, 1, s.past.rows.n)
	s.past.due = time.Hour
	require.Zero(t, testing.AllocsPerRun(1000, s.attend))
}
