package monitor_test

import (
	"bytes"
	"net/http"
	"runtime/pprof"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/report/monitor"
	"heddle/sim"
)

// series is the answer of /series.
type series struct {
	From struct {
		Seconds float64
		Cycle   uint64
	}
	Seconds []float64
	Cycles  []uint64
	Counts  []struct {
		Name   string
		Values []uint64
	}
	Steps []struct {
		Cycle    uint64
		Number   int `json:"super_step"`
		Vertices uint64
		Edges    uint64
	}
	Levels []struct {
		Name      string
		ReadBytes int `json:"read_bytes"`
	}
	Peak  float64 `json:"dram_peak_bytes_per_cycle"`
	Names []string
}

func (s *series) values(name string) []uint64 {
	for _, c := range s.Counts {
		if c.Name == name {
			return c.Values
		}
	}
	return nil
}

func sum(values []uint64) (total uint64) {
	for _, v := range values {
		total += v
	}
	return total
}

// TestSeriesAddUp: the intervals of the series add up to the run's counts.
func TestSeriesAddUp(t *testing.T) {
	const name = "vortex-6c32w32t-graphpeg sockets=2 core.warps=4 core.threads=4"
	d := serve(t, monitor.Hold{End: true})
	m := machine(t, name, sim.Options{})
	out := d.start(m, finite, func() { m.BeginStep(1, 5, 9) })
	d.until("at its end", in("held"))
	var s series
	require.Equal(t, http.StatusOK, d.get("api/machines/1/series?keys=*", &s))
	require.Equal(t, http.StatusNoContent, d.post("api/machines/1/continue"))
	require.NoError(t, <-out)

	require.NotEmpty(t, s.Cycles)
	require.Zero(t, s.From.Cycle)
	require.Equal(t, m.Progress().Cycle, s.Cycles[len(s.Cycles)-1])
	require.True(t, slices.IsSorted(s.Cycles) && slices.IsSorted(s.Seconds))
	counted := 0
	for _, want := range m.LiveSums() {
		n, ok := want.Uint()
		if !ok || want.Name == "cycles" {
			require.Nil(t, s.values(want.Name))
			continue
		}
		counted++
		require.Len(t, s.values(want.Name), len(s.Cycles))
		require.Equal(t, n, sum(s.values(want.Name)), want.Name)
	}
	require.Len(t, s.Counts, counted)
	require.Len(t, s.Names, counted)
	require.Positive(t, sum(s.values("core.issue.instructions")))
	require.Len(t, s.Steps, 1)
	require.Equal(t, []uint64{1, 5, 9}, []uint64{uint64(s.Steps[0].Number), s.Steps[0].Vertices, s.Steps[0].Edges})
	require.Equal(t, "l2", s.Levels[0].Name)
	require.Equal(t, 64, s.Levels[0].ReadBytes)
	peak, _ := m.Statistics().Get("dram.peak_bytes_per_cycle")
	require.Equal(t, peak.Float(), s.Peak)
}

// A machine that pauses has its series up to the cycle that the page shows.
func TestSeriesOfAPausedMachine(t *testing.T) {
	d := serve(t, monitor.Hold{})
	d.start(machine(t, "vortex-1c4w4t", sim.Options{}), forever)
	var s series
	for len(s.Cycles) < 2 {
		require.Equal(t, http.StatusOK, d.get("api/machines/1/series", &s))
	}
	d.post("api/machines/1/pause")
	require.Equal(t, http.StatusOK, d.get("api/machines/1/series?keys=core.issue.*,+warp_instrs", &s))
	now := d.until("paused", in("paused")).Machines[0]
	require.Equal(t, now.Cycle, s.Cycles[len(s.Cycles)-1])
	require.Equal(t, now.Instrs, sum(s.values("warp_instrs")))
	require.Greater(t, len(s.Cycles), 1)
	require.NotNil(t, s.values("core.issue.instructions"))
	require.Len(t, s.Counts, 3, "those that were asked for: %v", s.Counts)
	require.Equal(t, http.StatusBadRequest, d.get("api/machines/1/series?keys=[", nil))
}

// hostRow is the process at an instant.
type hostRow struct {
	Seconds    float64
	Cycles     uint64
	Heap       uint64 `json:"heap_bytes"`
	Memory     uint64 `json:"go_bytes"`
	Goroutines uint64
}

// Cycles of the process are those of all its machines, of those that have ended too.
func TestHostOverTime(t *testing.T) {
	d := serve(t, monitor.Hold{})
	first := machine(t, "vortex-1c4w4t", sim.Options{})
	require.NoError(t, <-d.start(first, finite))
	d.start(machine(t, "vortex-1c4w4t", sim.Options{}), forever)
	d.until("far enough", beyond(1000))
	d.post("api/machines/2/pause")
	require.Equal(t, http.StatusOK, d.get("api/machines/2/waits", nil), "behind the pause")
	at := d.until("paused", in("paused")).Machines[0].Cycle
	want := first.Progress().Cycle + at
	var rows []hostRow
	require.Eventually(t, func() bool { // the pause may be behind the third
		return d.get("api/host", &rows) == http.StatusOK && len(rows) >= 3 && rows[len(rows)-1].Cycles == want
	}, patience, 50*time.Millisecond)
	last := rows[len(rows)-1]
	require.Positive(t, last.Heap)
	require.GreaterOrEqual(t, last.Memory, last.Heap)
	require.GreaterOrEqual(t, last.Goroutines, uint64(2))
	require.Less(t, rows[0].Seconds, last.Seconds)
}

// A profile's components share all of its samples, and most of them are of the machine that runs.
func TestHostProfile(t *testing.T) {
	d := serve(t, monitor.Hold{})
	d.start(machine(t, "vortex-1c4w4t", sim.Options{}), forever)
	require.Equal(t, http.StatusNotFound, d.get("api/host/profile.pb.gz", nil))
	for _, n := range []string{"0", "61", "-1", "x"} {
		require.Equal(t, http.StatusBadRequest, d.post("api/host/profile?seconds="+n))
	}
	require.Equal(t, http.StatusMethodNotAllowed, d.get("api/host/profile", nil))
	var p struct {
		Seconds, CPU float64
		Samples      int
		Components   []struct {
			Name       string
			Own, Total float64
		}
		Functions []struct {
			Name       string
			Own, Total float64
		}
	}
	require.Equal(t, http.StatusOK, d.ask(http.MethodPost, "api/host/profile?seconds=2", &p))
	require.Positive(t, p.Samples)
	all, ours := 0.0, 0.0
	for _, c := range p.Components {
		all += c.Own
		require.GreaterOrEqual(t, c.Total, c.Own, c.Name)
		require.NotContains(t, c.Name, "(")
		if c.Name != "Go runtime" {
			ours += c.Own
		}
	}
	require.InDelta(t, 1, all, 1e-9)
	require.Greater(t, ours, 0.1, "the race detector has most of it: %v", p.Components)
	require.NotEmpty(t, p.Functions)
	require.Equal(t, http.StatusOK, d.get("api/host/profile.pb.gz", nil))
}

// Whoever profiles already is not disturbed.
func TestHostProfileOnce(t *testing.T) {
	d := serve(t, monitor.Hold{})
	var b bytes.Buffer
	require.NoError(t, pprof.StartCPUProfile(&b))
	require.Equal(t, http.StatusConflict, d.post("api/host/profile?seconds=1"))
	pprof.StopCPUProfile()
	require.NotZero(t, b.Len())
	require.Equal(t, http.StatusOK, d.post("api/host/profile?seconds=1"))
}
