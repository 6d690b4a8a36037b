package experiment_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/store"
	"heddle/sim/stats"
)

const frontier = small + `
workload: {source: 3}
compare:
  workload.schedule: [vertex, edge, warp, weaver]
  machine: [vortex-1c4w4t, vortex-1c4w4t, vortex-1c4w4t, vortex-1c4w4t-weaver]
sweep: {workload.algorithm: [bfs, sssp]}
`

// TestSuperStepsAddUp: the statistics of super-steps add up to those of the run.
func TestSuperStepsAddUp(t *testing.T) {
	r := &experiment.Runner{Points: points(t, frontier), Jobs: 2, Observer: experiment.Quiet{}}
	for i, o := range r.Run(context.Background()) {
		require.NoError(t, o.Err)
		label := experiment.Label(r.Points[i].Axes)
		require.Equal(t, 0, o.Steps[0].Step)
		require.Equal(t, "init", o.Steps[0].Kernel)
		sums := map[string]uint64{}
		for _, s := range o.Steps {
			for _, x := range s.Stats {
				n, _ := x.Uint()
				sums[x.Name] += n
			}
			var share float64
			for _, p := range experiment.Phases(s.Stats) {
				share += p.Share
			}
			require.InDelta(t, 1, share, 1e-9, "%s, step %d", label, s.Step)
		}
		for _, name := range []string{
			"warp_instrs", "thread_instrs", "edges", "atomics", "barriers", "shuffles", "scratchpad.accesses",
			"core.phase.gather_sum.warp_cycles", "core.phase.gather_sum.scheduler_cycles", "core.phase.init.warp_instrs", "frontier.vertices", "frontier.edges",
		} {
			want, ok := o.Stats.Get(name)
			require.True(t, ok, name)
			require.EqualValues(t, want.Float(), sums[name], "%s: %s", label, name)
			if strings.HasPrefix(name, "core.phase.") || name == "frontier.edges" || name == "atomics" {
				require.NotZero(t, sums[name], "%s: %s", label, name)
			}
		}
		gather := o.Steps[1]
		one, _ := gather.Stats.Get("frontier.vertices")
		require.EqualValues(t, 1, one.Float(), "%s: the source", label)
		most, ok := gather.Stats.Get("imbalance.lanes")
		require.True(t, ok)
		require.Greater(t, most.Float(), 1.0)
	}
}

// TestLaunchesThatDoNotAddUp are found.
func TestLaunchesThatDoNotAddUp(t *testing.T) {
	whole := stats.Tree{stats.Count("atomics", "", "", 7), stats.Count("cycles", "", "", 100),
		stats.Ratio("imbalance", "", "", 1, 3)}
	steps := []store.Step{{Stats: stats.Tree{stats.Count("atomics", "", "", 3),
		stats.Ratio("imbalance", "", "", 1, 2)}}, {Stats: stats.Tree{stats.Count("atomics", "", "", 4)}}}
	require.NoError(t, experiment.CheckSteps(whole, steps))
	steps[1].Stats[0] = stats.Count("atomics", "", "", 5)
	require.EqualError(t, experiment.CheckSteps(whole, steps),
		"launches: invariant violated: they add up to the run: atomics: 7, and together they have 8")
}

// TestPhasesInResults: the table, the summary.
func TestPhasesInResults(t *testing.T) {
	r := &experiment.Runner{Points: points(t, frontier), Jobs: 2, Observer: experiment.Quiet{}}
	out := r.Run(context.Background())
	var b bytes.Buffer
	experiment.WritePhases(&b, r.Points, out)
	require.Regexp(t, `algorithm +│ +other +│ +init +│ +registration +│ +schedule +│ +edge_access +│ +gather_sum +│ +apply +│ +scheduler-cycles`, b.String())
	require.Regexp(t, `weaver +│ vortex-1c4w4t-weaver │ sssp +│( +\d+\.\d % │){7} +[0-9,]+ │`,
		b.String())

	b.Reset()
	experiment.WriteTable(&b, r.Points, out)
	require.Regexp(t, `lane/warp/core max:mean`, b.String())
	lanes, _ := out[0].Stats.Get("imbalance.lanes")
	require.Contains(t, b.String(), fmt.Sprintf(" %.1f/", lanes.Float()))
	require.Regexp(t, `\d\.\d/\d\.\d/1\.0 │`, b.String(), "there is one core")

	dir := t.TempDir()
	require.NoError(t, r.Summarise("small", "v", out, experiment.HostSummary{}).Write(dir))
	text, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	require.NoError(t, err)
	var raw struct {
		Points []struct {
			Kernel string
			Steps  []struct {
				Step   int
				Kernel string
				Cycles uint64
				Stats  map[string]float64
			} `json:"super_steps"`
		}
		Unlike []string
	}
	require.NoError(t, json.Unmarshal(text, &raw))
	require.Equal(t, "bfs/edge/coo/push/bytemap", raw.Points[1].Kernel)
	require.Len(t, raw.Points[1].Steps, len(out[1].Steps))
	step := raw.Points[1].Steps[1]
	require.Equal(t, "gather-push", step.Kernel)
	require.Equal(t, out[1].Steps[1].Cycles, step.Cycles)
	require.EqualValues(t, 1, step.Stats["frontier.vertices"])
	require.NotZero(t, step.Stats["core.phase.schedule.scheduler_cycles"])
	require.Equal(t, []string{
		"workload.frontier of schedule=edge is bytemap, and of the baseline queue",
		"workload.frontier.dedup of schedule=edge is none, and of the baseline monotonic",
		"workload.layout of schedule=edge is coo, and of the baseline csr",
	}, raw.Unlike)
}

// TestUnlike: keys that are equal, or named by an axis, are not listed.
func TestUnlike(t *testing.T) {
	same := strings.Replace(frontier, "{source: 3}", "{source: 3, active_set: bytemap, layout: coo}", 1)
	require.Empty(t, experiment.Unlike(points(t, same)))
	named := small + "workload: {algorithm: bfs}\ncompare: {workload.schedule: [vertex, edge], workload.frontier: " +
		"[queue, bytemap], workload.layout: [coo, coo]}\n"
	require.Empty(t, experiment.Unlike(points(t, named)))
	require.Empty(t, experiment.Unlike(points(t,
		small+"workload: {algorithm: bfs}\nsweep: {workload.schedule: [vertex, edge]}\n")), "nothing is compared")
}

// TestPhasesOfHandwrittenKernels: they have their marks in assembly.
func TestPhasesOfHandwrittenKernels(t *testing.T) {
	r := &experiment.Runner{Jobs: 2, Observer: experiment.Quiet{}, Points: points(t, small+`
workload: {kernel: handwritten}
compare: {workload.schedule: [vertex, edge, weaver], machine: [vortex-1c4w4t, vortex-1c4w4t, vortex-1c4w4t-weaver]}
`)}
	for i, o := range r.Run(context.Background()) {
		require.NoError(t, o.Err)
		for _, p := range experiment.Phases(o.Stats.Tree()) {
			if p.Name == "other" {
				require.Less(t, p.Share, 0.1)
			} else {
				require.Equal(t, i == 1 && p.Name == "registration", p.Instrs == 0, "%d: %s", i, p.Name)
			}
		}
	}
}
