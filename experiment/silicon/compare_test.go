package silicon

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/fit"
)

// campaign has rows of two algorithms on one graph: schedule, median, empty launches. The least time is 1 less, the
// 90th percentile 1 more.
func campaign(t *testing.T, rows ...string) *Campaign {
	t.Helper()
	var b strings.Builder
	b.WriteString(head)
	for _, r := range rows {
		var alg, sched string
		var med, null float64
		_, err := fmt.Sscanf(r, "%s %s %f %f", &alg, &sched, &med, &null)
		require.NoError(t, err)
		fmt.Fprintf(&b, "as is,g,4,6,2,%s,full,%s,3,4,1,16,%g,%g,%g,%g,0\n", alg, sched, med, med-1, med+1, null)
	}
	c, err := Read("x.csv", strings.NewReader(b.String()))
	require.NoError(t, err)
	return c
}

func simulated(cycles map[string]uint64) map[Key]Simulated {
	all := map[Key]Simulated{}
	for name, n := range cycles {
		alg, sched, _ := strings.Cut(name, " ")
		w := Key{"m", "auto", "g", alg, sched}
		all[w] = Simulated{Key: w, Cycles: n, Overhead: 100, Launches: 10, SuperSteps: 3}
	}
	return all
}

func TestCompare(t *testing.T) {
	c := campaign(t, "bfs edge 12 2", "bfs vertex 42 2", "bfs warp 22 2", "cc vertex 9 1", "cc edge 5 1",
		"sssp vertex 5 1")
	r := c.Compare("m", "auto", Against{"as is", "full"}, simulated(map[string]uint64{
		"bfs vertex": 4000, "bfs warp": 1000, "bfs edge": 2000, "cc vertex": 800, "cc edge": 400, "sssp vertex": 7}))
	require.Len(t, r.Cases, 2, "sssp has one schedule, and compares nothing")
	bfs := &r.Cases[0]
	require.Equal(t, "bfs", bfs.Algorithm)
	require.Equal(t, []string{"vertex", "warp", "edge"}, []string{bfs.Points[0].Schedule, bfs.Points[1].Schedule,
		bfs.Points[2].Schedule})
	// silicon without launches: 40, 20, 10; heddle: 4000, 1000, 2000
	require.InDelta(t, 1.0/3, float64(bfs.Tau), 1e-12)
	require.Equal(t, Pairs{2, 3}, bfs.Pairs)
	require.InDelta(t, 2, float64(bfs.Regret), 1e-12, "warp takes 20, edge 10")
	require.Equal(t, "warp", bfs.Pick)
	require.Equal(t, "edge", bfs.Best)
	require.InDelta(t, 6.0/76, float64(bfs.Launches), 1e-12)
	require.InDelta(t, 2, float64(bfs.Points[1].Speedup.Silicon), 1e-12)
	require.InDelta(t, 4, float64(bfs.Points[1].Speedup.Heddle), 1e-12)
	// ratios: 100, 50, 200, then 100, 100 cycles a microsecond: 100 in the geometric mean
	require.InDelta(t, 10, float64(r.Nanoseconds), 1e-9)
	require.InDelta(t, 40, float64(bfs.Points[0].Scaled), 1e-9)
	require.InDelta(t, 10, float64(bfs.Points[1].Scaled), 1e-9)
	require.InDelta(t, (0+0.5+1)/3, float64(bfs.MAPE), 1e-9)
	require.InDelta(t, 20.0/70, float64(bfs.WMAPE), 1e-9)
	s := r.Summary
	require.Equal(t, []int{2, 3}, []int{s.Cases, s.Of})
	require.InDelta(t, 2.0/3, float64(s.Tau), 1e-12, "of 1/3 and 1")
	require.Equal(t, Pairs{3, 4}, s.Pairs)
	require.InDelta(t, math.Sqrt2, float64(s.Regret), 1e-12)
	require.InDelta(t, 2, float64(s.Worst), 1e-12)
	require.InDelta(t, 20.0/82, float64(s.WMAPE), 1e-9)
	require.InDelta(t, 1, float64(s.FloorTau), 1e-12)
	require.Equal(t, Pairs{4, 4}, s.Floor)
	var vertex, warp, edge = r.Schedules[0], r.Schedules[1], r.Schedules[2]
	require.InDelta(t, 1, float64(vertex.Ratio), 1e-9)
	require.InDelta(t, 0.5, float64(warp.Ratio), 1e-9)
	require.InDelta(t, math.Sqrt2, float64(edge.Ratio), 1e-9)
	require.InDelta(t, 1, float64(edge.Least), 1e-9)
	require.InDelta(t, 2, float64(edge.Most), 1e-9)
	require.InDelta(t, 3.0/17, float64(edge.Launches), 1e-12)
}

// TestNoise: a ranking that silicon's own spread turns round is not one that a simulator can be held to.
func TestNoise(t *testing.T) {
	c := campaign(t, "bfs vertex 10 1", "bfs edge 11.5 1")
	c.Rows[0].Times = Times{10, 9, 20, 1} // edge: 10.5 to 12.5
	r := c.Compare("m", "auto", Against{"as is", "full"}, simulated(map[string]uint64{"bfs vertex": 1, "bfs edge": 2}))
	require.InDelta(t, 1, float64(r.Summary.Tau), 0)
	require.InDelta(t, -1, float64(r.Summary.FloorTau), 0)
	require.Equal(t, Pairs{0, 1}, r.Summary.Floor)
}

// TestLaunches: they are left out on both sides, or in on both.
func TestLaunches(t *testing.T) {
	rows := []string{"bfs vertex 100 90", "bfs edge 60 10"} // 10 and 50 without launches
	sims := simulated(map[string]uint64{"bfs vertex": 1000, "bfs edge": 5000})
	slow := sims[Key{"m", "auto", "g", "bfs", "vertex"}]
	slow.Launches = 90 // 10,000 with launches, and 6,000 of edge
	sims[slow.Key] = slow
	r := campaign(t, rows...).Compare("m", "auto", Against{"as is", "full"}, sims)
	require.InDelta(t, 1, float64(r.Summary.Tau), 0)
	require.InDelta(t, 1, float64(r.Summary.WithTau), 0)
	slow.Launches = 0
	sims[slow.Key] = slow
	r = campaign(t, rows...).Compare("m", "auto", Against{"as is", "full"}, sims)
	require.InDelta(t, 1, float64(r.Summary.Tau), 0, "launches do not count")
	require.InDelta(t, -1, float64(r.Summary.WithTau), 0)

	// of a gather, the file has the number of measured launches
	rows[0], rows[1] = strings.Replace(rows[0], "bfs", "pr-pull", 1), strings.Replace(rows[1], "bfs", "pr-pull", 1)
	c := campaign(t, rows...)
	c.Rows[0].Launches = 90
	r = c.Compare("m", "auto", Against{"as is", "full"}, simulated(map[string]uint64{"pr-pull vertex": 1000,
		"pr-pull edge": 5000}))
	require.InDelta(t, 1, float64(r.Summary.WithTau), 0)
}

// TestLeftOut: rows without a simulation, or without a time of their own, are not compared.
func TestLeftOut(t *testing.T) {
	c := campaign(t, "bfs vertex 10 1", "bfs warp 10 10", "bfs edge 20 1", "bfs cta 7 1")
	sims := simulated(map[string]uint64{"bfs vertex": 10, "bfs warp": 1, "bfs edge": 5})
	r := c.Compare("m", "auto", Against{"as is", "full"}, sims)
	require.Equal(t, []string{"g bfs warp"}, r.Left)
	require.Len(t, r.Cases[0].Points, 2)
	require.InDelta(t, -1, float64(r.Summary.Tau), 0)
	require.Empty(t, c.Compare("m", "1", Against{"as is", "full"}, sims).Cases, "of another unrolling")
	require.Empty(t, c.Compare("m", "auto", Against{"as is", "part"}, sims).Cases)
	require.Empty(t, r.Steps)
	for w, s := range sims {
		s.SuperSteps = 4
		sims[w] = s
	}
	require.Equal(t, []Steps{{"g", "bfs", Range{3, 3}, Range{4, 4}}},
		c.Compare("m", "auto", Against{"as is", "full"}, sims).Steps)
}

// TestReport writes tables that fit, and pages.
func TestReport(t *testing.T) {
	c := campaign(t, "bfs edge 12 2", "bfs vertex 42 2", "bfs warp 22 2", "cc vertex 9 1", "cc edge 5 1")
	var sims []Simulated
	for _, unroll := range []string{"auto", "1"} {
		for i, alg := range []string{"bfs vertex", "bfs warp", "bfs edge", "cc vertex", "cc edge"} {
			alg, sched, _ := strings.Cut(alg, " ")
			sims = append(sims, Simulated{Key: Key{"vortex-6c32w32t", unroll, "g", alg, sched}, Cycles: uint64(100 + i),
				SuperSteps: 9})
		}
	}
	r := c.NewReport(sims, []Against{{"as is", "full"}})
	require.Len(t, r.Comparisons, 2)
	r.Absent, r.Failed = []string{"h"}, 3
	var b bytes.Buffer
	require.NoError(t, r.Write(fit.Writer{Writer: &b, Columns: 80}))
	text := b.String()
	for _, l := range strings.Split(text, "\n") {
		require.LessOrEqual(t, len([]rune(l)), 80, l)
	}
	for _, says := range []string{
		"vortex-6c32w32t beside full, as is; unroll auto/1", "tau (noise)", "regret", "no such graph: h", "3 points",
		"do not share", "bfs on g 3 and 9; cc on g 3 and 9.",
	} {
		require.Contains(t, strings.Join(strings.Fields(text), " "), says)
	}
	page := string(r.Markdown("# Head\n"))
	require.True(t, strings.HasPrefix(page, "# Head\n\n| machine, unroll | beside |"), page)
	require.Contains(t, page, "| bfs | g | 2.0/1.0/1.0 | 4.0/1.0/1.0 |")
	require.Contains(t, page, "\n## vortex-6c32w32t beside full, as is\n")
	require.Contains(t, string(r.Cycles()), "\nvortex-6c32w32t,1,g,cc,edge,104,0,0,9\n")
}
