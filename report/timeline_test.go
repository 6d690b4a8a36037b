package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/store"
	"heddle/report"
	"heddle/sim/stats"
)

// sampled puts a store beside a summary, whose points have so many intervals.
func sampled(t *testing.T, s *summary, config string, intervals int) (dir string) {
	t.Helper()
	dir = s.write(t, config)
	db, err := store.Open(filepath.Join(dir, store.File))
	require.NoError(t, err)
	for i := range s.Points {
		p := store.Point{Position: i, Baseline: -1, Identity: "x"}
		for k := range intervals {
			n := uint64(k + i)
			p.Samples = append(p.Samples, store.Sample{From: uint64(100 * k), To: uint64(100 * (k + 1)),
				Values: []stats.Stat{
					stats.Count("warp_instrs", "", "", 50), stats.Constant("ipc", "", "", float64(n)/100),
					stats.Count("l1d.reads", "", "", n),
					stats.Count("core.scheduler.issued", "", "", 30),
					stats.Count("core.scheduler.stall.scoreboard.memory", "", "", 10+n),
					stats.Count("core.scheduler.drained", "", "", 0),
				}})
		}
		require.NoError(t, db.Put(&p))
	}
	require.NoError(t, db.Close())
	return dir
}

func figuresOf(t *testing.T, dir string) (*report.Result, []report.Figure) {
	t.Helper()
	r, err := report.Read(dir)
	require.NoError(t, err)
	require.Empty(t, r.Unread)
	return r, report.Figures(r)
}

// Samples are lines in the middle of their intervals: ratios as they are, counts by cycle.
func TestTimelines(t *testing.T) {
	_, figures := figuresOf(t, sampled(t, fixture(), sweepConfig, 5))
	f := find(t, figures, "timeline-ipc")
	require.Len(t, f.Series, 8, "of 12 points")
	require.Equal(t, "Of 8 of 12 points. ", f.Note)
	require.Equal(t, [][2]report.Number{{50, 0.02}, {150, 0.03}, {250, 0.04}, {350, 0.05}, {450, 0.06}},
		f.Series[2].Points)
	reads := find(t, figures, "timeline-l1d-reads")
	require.Equal(t, "l1d.reads a cycle", reads.Choice)
	require.InDelta(t, 0.04, float64(reads.Series[0].Points[4][1]), 1e-12)
	for _, g := range figures {
		require.NotEqual(t, "timeline-warp_instrs", g.ID, "the IPC says the same")
		svgElements(t, g.SVG())
	}
	area := find(t, figures, "timeline-schedulers-vertex-warps-2-bytes-1kib")
	require.Equal(t, report.Area, area.Kind)
	require.Equal(t, []string{"issued", "memory"}, []string{area.Series[0].Name, area.Series[1].Name})
	for k := range 5 {
		require.InDelta(t, 1, float64(area.Series[0].Points[k][1]+area.Series[1].Points[k][1]), 1e-12)
	}
	require.InDelta(t, 30.0/44, float64(area.Series[0].Points[4][1]), 1e-12)
}

// Many intervals are put together: sums of counts, means of ratios.
func TestLongTimelines(t *testing.T) {
	_, figures := figuresOf(t, sampled(t, fixture(), sweepConfig, 1000))
	f := find(t, figures, "timeline-ipc")
	require.Len(t, f.Series[0].Points, 334)
	require.InDelta(t, 150, float64(f.Series[0].Points[0][0]), 1e-12)
	require.InDelta(t, 0.01, float64(f.Series[0].Points[0][1]), 1e-12)
	require.InDelta(t, 9.99, float64(f.Series[0].Points[333][1]), 1e-12, "the last alone")
	reads := find(t, figures, "timeline-l1d-reads")
	require.InDelta(t, 0.01, float64(reads.Series[0].Points[0][1]), 1e-12)
}

// With a store that cannot be read the page has no timelines, and a note.
func TestAStoreThatCannotBeRead(t *testing.T) {
	dir := fixture().write(t, sweepConfig)
	require.NoError(t, os.WriteFile(filepath.Join(dir, store.File),
		[]byte("this is no database, though it is long enough"), 0o644))
	r, err := report.Read(dir)
	require.NoError(t, err)
	page, err := report.Page(r, report.Figures(r))
	require.NoError(t, err)
	require.Contains(t, string(page), "How the runs went over time could not be read: ")
}

// Super-steps are bars, with the init kernel before the first.
func TestSuperSteps(t *testing.T) {
	s := fixture()
	s.Points[1]["super_steps"] = []map[string]any{
		{"step": 0, "kernel": "init", "cycles": 5}, {"step": 1, "kernel": "gather", "cycles": 7}, {"step": 1, "kernel": "apply", "cycles": 2}, {"step": 2, "kernel": "gather", "cycles": 9},
	}
	f := find(t, report.Figures(read(t, s, sweepConfig)), "steps-weaver-warps-2-bytes-1kib")
	require.Equal(t, []string{"before", "1", "2"}, f.Columns)
	require.Equal(t, []report.Number{0, 7, 9}, f.Series[1].Values)
	require.Equal(t, []report.Number{0, 2, 0}, f.Series[2].Values)
	svgElements(t, f.SVG())
}
