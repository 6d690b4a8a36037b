package experiment_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/kernels/reference"
	"heddle/kernels/workload"
	"heddle/sim"
)

// points puts an experiment into a file and returns its points.
func points(t *testing.T, text string, set ...string) []experiment.Point {
	t.Helper()
	p, err := tryPoints(t, text, set...)
	require.NoError(t, err)
	return p
}

// tryPoints is points, of an experiment that may be refused.
func tryPoints(t *testing.T, text string, set ...string) ([]experiment.Point, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "e.yaml")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	l, err := config.Load(name, nil, set)
	if err != nil {
		return nil, err
	}
	return experiment.Points(l, set)
}

const small = `
name: small
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 40, edges: 100}}
`

// machineWith is a preset with a unit that may be given warps of 8 threads: those like a GPU have lanes for more.
func machineWith(t *testing.T, unit string) string {
	t.Helper()
	for _, name := range configs.MachinesWith(accel.KindNamed(unit)) {
		if !strings.HasPrefix(name, "gpu-") {
			return name
		}
	}
	require.Fail(t, "no machine with "+unit)
	return ""
}

func TestPointsAreACrossProduct(t *testing.T) {
	p := points(t, small+`
compare: {workload.schedule: [vertex, edge], machine: [vortex-1c4w4t, vortex-rtl-c]}
sweep:
  workload.algorithm.damping: [0.5, 0.85]
  machine.l1d.bytes: [8KiB, 32KiB]
`)
	require.Len(t, p, 8)
	var got []string
	for _, x := range p {
		got = append(got, experiment.Label(x.Axes))
	}
	require.Equal(t, "schedule=vertex machine=vortex-1c4w4t damping=0.5 bytes=8KiB", got[0])
	require.Equal(t, "schedule=edge machine=vortex-rtl-c damping=0.5 bytes=8KiB", got[1])
	require.Equal(t, "schedule=vertex machine=vortex-1c4w4t damping=0.5 bytes=32KiB", got[2])
	require.Equal(t, "schedule=edge machine=vortex-rtl-c damping=0.85 bytes=32KiB", got[7])
	for i, b := range []int{0, 0, 2, 2, 4, 4, 6, 6} {
		require.Equal(t, b, p[i].Baseline)
	}
	last := p[7].Config
	require.Equal(t, workload.EdgeSchedule, last.Workload.Schedule)
	require.Equal(t, 8, last.Machine.Core.Warps)
	require.Equal(t, 32<<10, last.Machine.L1D.Bytes)
}

// --set holds at every point, also inside a machine that is an axis.
func TestSetHoldsAtEveryPoint(t *testing.T) {
	for _, p := range points(t, small+"sweep: {machine: [vortex-1c4w4t, vortex-rtl-c]}\n", "machine.core.threads=2",
		"machine.l1d.ways=2") {
		require.Equal(t, 2, p.Config.Machine.Core.Threads)
		require.Equal(t, 2, p.Config.Machine.L1D.Ways)
	}
}

// A recipe's keys are refused where they have other values, with the place; those that no recipe sets, and those
// that say the same, are not.
func TestRecipeAndItsKeys(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"workload: {recipe: gunrock, algorithm: bfs, schedule: vertex}\n", `e.yaml:5:55: workload.schedule: vertex: recipe gunrock sets strict: leave one of them out`},
		{"workload: {recipe: gunrock, algorithm: bfs}\nsweep: {workload.frontier.dedup: [bytemap, none]}\n", `at the point dedup=none: point workload.frontier.dedup: workload.frontier.dedup: none: recipe gunrock sets bytemap`},
		{"workload: {recipe: graphpeg, algorithm: bfs}\n", "workload.schedule: peg: the machine's cores have no GraphPEG"},
		{"workload: {recipe: sepgraph, algorithm: bfs, layout: csr}\n", "the layout has only the others"},
		{"workload: {recipe: strict, kernel: handwritten}\n", "workload.kernel: handwritten: its recipe is fixed: expected none, found strict"},
	} {
		l, err := loaded(t, small+c.text)
		require.NoError(t, err)
		_, err = experiment.Points(l, nil)
		require.ErrorContains(t, err, c.says)
	}
	p := points(t, small+"workload: {algorithm: bfs}\ncompare: {workload.recipe: [datadriven, gunrock, sepgraph]}\n",
		"workload.direction=auto")
	require.Equal(t, "bfs/strict/csr/push/outputs+bytemap/shuffle", p[1].Kernel())
	require.Equal(t, "bfs/cta/csr-csc/hybrid/qnb-bytemap/shuffle/sep-graph/rule-sep-graph, and on a graph that is "+
		"not scale-free bfs/vertex/csr/push/queue+none", p[2].Kernel())
	for _, o := range (&experiment.Runner{Points: p, Jobs: 1, Observer: experiment.Quiet{}}).Run(context.Background()) {
		require.NoError(t, o.Err)
		require.True(t, o.Verified)
	}
}

func TestPointsThatCannotRun(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"sweep: {workload.schedule: [vertex, weaver]}\n", "at the point schedule=weaver: workload.schedule: weaver: the machine's cores have no Weaver"},
		{"workload: {schedule: weaver}\n", "workload.schedule: weaver: the machine's cores have no Weaver"},
		{"workload: {warps_per_core: 8}\n", "expected 1 to 4"},
	} {
		name := filepath.Join(t.TempDir(), "e.yaml")
		require.NoError(t, os.WriteFile(name, []byte(small+c.text), 0o644))
		l, err := config.Load(name, nil, nil)
		if err == nil {
			_, err = experiment.Points(l, nil)
		}
		require.ErrorContains(t, err, c.says)
	}
}

// The order in which points run, and how many at a time, change nothing.
func TestJobsChangeNothing(t *testing.T) {
	p := points(t, small+`
compare:
  workload.schedule: [vertex, edge, weaver]
  machine: [vortex-1c4w4t, vortex-1c4w4t, vortex-1c4w4t-weaver]
sweep: {machine.l1d.bytes: [256, 16KiB]}
`)
	run := func(jobs int) []experiment.Outcome {
		r := &experiment.Runner{Points: p, Jobs: jobs, Observer: experiment.Quiet{}}
		out := r.Run(context.Background())
		for i := range out {
			require.NoError(t, out[i].Err, "%s", experiment.Label(p[i].Axes))
			require.True(t, out[i].Verified)
			out[i].Seconds, out[i].Building = 0, 0
		}
		return out
	}
	one := run(1)
	require.Equal(t, one, run(4))
	for i := range p {
		edges, ok := one[i].Stats.Get("edges")
		require.True(t, ok)
		require.Equal(t, 200.0, edges.Float(), "both directions of 100")
		s, ok := experiment.Speedup(p, one, i)
		require.True(t, ok)
		require.Equal(t, float64(one[p[i].Baseline].Cycles)/float64(one[i].Cycles), s)
	}
	require.NotEqual(t, one[0].Cycles, one[3].Cycles, "a smaller cache takes longer")
}

// Below the points of a sweep stand the geometric means of its variants.
func TestGeomeans(t *testing.T) {
	p := points(t, small+`
compare: {workload.schedule: [vertex, edge]}
sweep: {workload.algorithm.damping: [0.5, 0.6, 0.7]}
`)
	out := make([]experiment.Outcome, 6)
	for i, cycles := range []uint64{100, 50, 100, 200, 100, 12} {
		out[i] = experiment.Outcome{Cycles: cycles, Verified: true}
	}
	means := experiment.Geomeans(p, out)
	require.Len(t, means, 2)
	require.Equal(t, 1.0, means[0].Speedup)
	require.InDelta(t, math.Cbrt(2*0.5*100./12), means[1].Speedup, 1e-12)
	require.Equal(t, []experiment.Setting{{Key: "workload.schedule", Value: "edge"}}, means[1].Variant)
	out[5].Verified = false
	require.Equal(t, experiment.Geomean{Variant: means[1].Variant, Speedup: 1, Least: 0.5, Most: 2,
		Points: 2, Of: 3, Over: []string{"workload.algorithm.damping"}}, experiment.Geomeans(p, out)[1])
	var b bytes.Buffer
	experiment.WriteTable(&b, p, out)
	require.Regexp(t, `edge +│ +│ range of 2 of 3 +│ +0.50–2.00×`, b.String())
	require.Contains(t, b.String(), "\nrange    over workload.algorithm.damping\n")
	require.Empty(t, experiment.Geomeans(p[:2], out[:2]), "one point has no mean")
	require.Empty(t, experiment.Geomeans(points(t, small+"sweep: {workload.algorithm.damping: [0.5, 0.6]}\n"), out[:2]))

	b.Reset()
	p = points(t, small+"compare: {workload.schedule: [vertex, edge]}\nsweep: {workload.algorithm: [bfs, cc, sssp]}\n")
	out[5].Verified = true
	experiment.WriteTable(&b, p, out)
	require.Regexp(t, `edge +│ +│ geomean of 3 +│ +2.03×`, b.String(), "over inputs a mean")
	require.Contains(t, b.String(), "\ngeomean  over workload.algorithm\n")
}

func TestTheSummaryIsForScripts(t *testing.T) {
	r := &experiment.Runner{Points: points(t, small+"compare: {workload.schedule: [vertex, edge]}\n"), Jobs: 2,
		Observer: experiment.Quiet{}}
	out := r.Run(context.Background())
	dir := t.TempDir()
	require.NoError(t, r.Summarise("small", "v", out, experiment.HostSummary{}).Write(dir))
	text, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	require.NoError(t, err)
	var s struct {
		Experiment string
		Points     []struct {
			Axes     map[string]string
			Cycles   uint64
			Speedup  float64
			Verified bool
			Stats    map[string]float64
			Graph    string
			Config   string
		}
		experiment.About
	}
	require.NoError(t, json.Unmarshal(text, &s))
	require.Equal(t, "small", s.Experiment)
	require.Equal(t, "edge", s.Points[1].Axes["workload.schedule"])
	require.Equal(t, float64(s.Points[0].Cycles)/float64(s.Points[1].Cycles), s.Points[1].Speedup)
	require.Equal(t, float64(s.Points[1].Cycles), s.Points[1].Stats["cycles"])
	require.Equal(t, []experiment.StatisticSummary{{Name: "cycles", Unit: "cycles",
		Doc: "Of the whole run: device_cycles and launch.overhead_cycles."}}, s.Statistics[:1])
	for _, d := range s.Statistics {
		require.False(t, experiment.Single(d.Name), d.Name)
	}
	require.Contains(t, s.Points[1].Config, "schedule: edge\n")
	require.Equal(t, 40, s.Graphs[s.Points[0].Graph].Vertices)
	csv, err := os.ReadFile(filepath.Join(dir, "summary.csv"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(csv)), "\n")
	require.Len(t, lines, 3)
	require.True(t, strings.HasPrefix(lines[0],
		"point,workload.schedule,cycles,speedup,verified,failure,host_seconds,replay,partial,stats."), lines[0])
	require.Equal(t, strings.Count(lines[0], ","), strings.Count(lines[1], ","))
	left, err := filepath.Glob(filepath.Join(dir, ".tmp-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestALimitEndsAPointNotTheOthers(t *testing.T) {
	r := &experiment.Runner{Points: points(t, small+"sweep: {workload.max_iterations: [1, 200]}\n"), Jobs: 1,
		MaxCycles: 100_000, Observer: experiment.Quiet{}}
	out := r.Run(context.Background())
	require.NoError(t, out[0].Err)
	require.Equal(t, "limit", experiment.Class(out[1].Err))
	_, ok := experiment.Speedup(r.Points, out, 1)
	require.False(t, ok)

	var b bytes.Buffer
	experiment.WriteTable(&b, r.Points, out)
	require.Contains(t, b.String(), "NO: limit")
}

func TestAnInterruptEndsAllPoints(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := &experiment.Runner{Points: points(t, small+"sweep: {workload.algorithm.damping: [0.1, 0.2, 0.3]}\n"), Jobs: 2,
		Observer: experiment.Quiet{}}
	for _, o := range r.Run(ctx) {
		require.Equal(t, "interrupted", experiment.Class(o.Err))
	}
}

func TestClasses(t *testing.T) {
	require.Equal(t, "wrong result", experiment.Class(&reference.Mismatch{}))
	require.Equal(t, "no progress", experiment.Class(&sim.StallError{}))
	require.Equal(t, "crash", experiment.Class(&experiment.Crash{}))
	require.Empty(t, experiment.Class(nil))
}

// safe is a buffer that may be read while it is written.
type safe struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safe) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safe) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestHeartbeatSaysHowFarPointsAre(t *testing.T) {
	var b, log safe
	r := experiment.Runner{Points: points(t, small+"sweep: {workload.algorithm.damping: [0.1, 0.2]}\n")}
	h := experiment.NewHeartbeat(r.NewForecast(), &b, &log, 5*time.Millisecond)
	h.Started(0, 1000)
	p := sim.Progress{Cycle: 12345}
	p.Edges = 500
	h.Running(0, p)
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "500 of 1,000 edges") }, time.Minute,
		time.Millisecond)
	h.Finished(experiment.Outcome{Point: 0})
	h.Close()
	require.Contains(t, b.String(), "0 of 2 points done, 1 running, about 0s left in all; damping=0.1: 12,345 cycles")
	require.Contains(t, b.String(), "500 of 1,000 edges, about")
	require.Equal(t, log.String(), b.String())
}

func TestThousands(t *testing.T) {
	require.Equal(t, "0 7 999 1,000 123,456 1,234,567",
		strings.Join([]string{experiment.Thousands(0), experiment.Thousands(7), experiment.Thousands(999),
			experiment.Thousands(1000), experiment.Thousands(123456), experiment.Thousands(1234567)}, " "))
}
