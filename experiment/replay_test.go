package experiment_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/sim"
	"heddle/traces"
)

// silent is told how a run goes.
type silent struct{}

func (silent) Started(int, uint64)         {}
func (silent) Running(int, sim.Progress)   {}
func (silent) Finished(experiment.Outcome) {}

func runPoints(t *testing.T, p []experiment.Point) []experiment.Outcome {
	t.Helper()
	return (&experiment.Runner{Points: p, Jobs: 1, Check: true, Observer: silent{}}).Run(context.Background())
}

const traced = `
name: traced
machine: {extends: vortex-1c4w4t-weaver, cores_per_socket: 2, core: {warps: 8}}
graph: {powerlaw_cluster: {vertices: 97, edges_per_step: 3}, clean: {symmetrise: true}}
`

// recordPoint executes a point with and without a recorder, and returns its outcome.
func recordPoint(t *testing.T, text string) (path string, executed experiment.Outcome) {
	t.Helper()
	p := points(t, text)
	path = filepath.Join(t.TempDir(), "t.trace")
	executed = runPoints(t, p)[0]
	require.NoError(t, executed.Err)
	r := &experiment.Runner{Points: p, Check: true, Observer: silent{}}
	o, err := r.Record(context.Background(), 0, path, "test")
	require.NoError(t, err)
	require.Equal(t, executed.Cycles, o.Cycles)
	require.Equal(t, executed.Stats, o.Stats)
	return path, executed
}

// replayOf is the experiment that replays a file on a machine.
func replayOf(path, machine string) string {
	return fmt.Sprintf("name: again\nmachine: %s\nworkload: {trace: %q}\n", machine, path)
}

const recordedMachine = "{extends: vortex-1c4w4t-weaver, cores_per_socket: 2, core: {warps: 8}}"

// On the machine that it was recorded on, a replay comes to the cycles and to every statistic of the execution.
func TestReplayIsTheExecution(t *testing.T) {
	for _, w := range []string{
		"{algorithm: pagerank, schedule: vertex, max_iterations: 3}", "{algorithm: pagerank, schedule: edge, max_iterations: 3}",
		"{algorithm: pagerank, schedule: warp, max_iterations: 3}", "{algorithm: pagerank, schedule: cta, max_iterations: 3}",
		"{algorithm: pagerank, schedule: weaver, max_iterations: 3}", "{algorithm: pagerank, kernel: handwritten, schedule: weaver, max_iterations: 2}",
		"{algorithm: bfs, schedule: vertex}", "{algorithm: bfs, schedule: edge}", "{algorithm: bfs, schedule: warp}", "{algorithm: bfs, schedule: cta}", "{algorithm: bfs, schedule: weaver}",
		"{algorithm: bfs, schedule: vertex, direction: hybrid, launch_overhead: 77, step_overhead: 1234}", "{algorithm: sssp, schedule: warp, order: near-far}",
		"{algorithm: sssp, schedule: vertex, order: buckets, active_set: qnb-bitmap}", "{algorithm: pagerank-delta, schedule: cta, direction: pull}",
	} {
		t.Run(w, func(t *testing.T) {
			path, executed := recordPoint(t, traced+"workload: "+w+"\n")
			o := runPoints(t, points(t, replayOf(path, recordedMachine)))[0]
			require.NoError(t, o.Err)
			require.Equal(t, executed.Cycles, o.Cycles)
			require.Equal(t, executed.Stats, o.Stats)
			require.Equal(t, executed.Steps, o.Steps)
			require.Equal(t, experiment.Replayed, o.Replay)
			require.False(t, o.Verified)
			require.True(t, o.Counts())
		})
	}
}

// On another machine the same instructions are executed, in other cycles, and the result is marked.
func TestReplayOnOtherMachines(t *testing.T) {
	same := func(t *testing.T, a, b experiment.Outcome, names ...string) {
		for _, n := range names {
			x, _ := a.Stats.Get(n)
			y, _ := b.Stats.Get(n)
			require.Equal(t, x, y, n)
		}
	}
	for _, c := range []struct{ workload, change, says string }{
		{"{schedule: vertex, max_iterations: 2}", "l1d: {bytes: 1KiB, ways: 1}", experiment.ReplayedOther},
		{"{schedule: weaver, max_iterations: 2}", "memory: {preset: ddr4-3200}", experiment.ReplayedRetime},
		{"{algorithm: bfs, schedule: vertex}", "l1d: {bytes: 1KiB, ways: 1}", experiment.ReplayedRetime},
		{"{algorithm: bfs, schedule: edge}", "l2: {}", experiment.ReplayedRetime},
		{"{algorithm: bfs, schedule: vertex}", "core: {warps: 8, lsu_queue: 1}", experiment.ReplayedRetime},
		{"{algorithm: bfs, schedule: vertex}", "atomics: {mode: simx24}", experiment.ReplayedRetime},
	} {
		t.Run(c.change, func(t *testing.T) {
			path, executed := recordPoint(t, traced+"workload: "+c.workload+"\n")
			change := "core: {warps: 8}, " + c.change
			if c.change[:4] == "core" {
				change = c.change
			}
			o := runPoints(t, points(t, replayOf(path,
				"{extends: vortex-1c4w4t-weaver, cores_per_socket: 2, "+change+"}")))[0]
			require.NoError(t, o.Err)
			require.NotEqual(t, executed.Cycles, o.Cycles)
			require.Contains(t, o.Replay, c.says)
			same(t, executed, o, "warp_instrs", "thread_instrs", "edges", "barriers", "warp_instrs.load",
				"warp_instrs.atomic", "frontier.vertices", "super_steps")
		})
	}
}

// Units that read memory read the recorded words. On a memory system with other latencies they do so by their rules, at
// other times: their answers may differ, and cores may be left with edges that no warp asks for.
func TestReplayOfUnitsThatReadMemory(t *testing.T) {
	// On 90 vertices an EGHW hands out the same edges with the slower memory.
	const peg, hwwl, eghw = "graphpeg: {scratchpad_limit: 3KiB}", "hwwl: {bytes: 1KiB, interval: 50}", "eghw: {}"
	for _, c := range []struct{ unit, workload, others string }{
		{peg, "{algorithm: pagerank, schedule: peg, max_iterations: 2}", "[1-9][0-9]*"},
		{peg, "{algorithm: bfs, schedule: peg, direction: hybrid}", "[1-9][0-9]*"},
		{peg, "{algorithm: sssp, schedule: peg, order: near-far, active_set: list}", "[1-9][0-9]*"},
		{peg, "{algorithm: cc, schedule: vertex}", ""},
		{hwwl, "{algorithm: bfs, schedule: hwwl}", "[1-9][0-9]*"},
		{hwwl, "{algorithm: cc, schedule: hwwl}", "[1-9][0-9]*"},
		{eghw, "{algorithm: pagerank, schedule: eghw, max_iterations: 2}", "[1-9][0-9]*"},
		{eghw, "{algorithm: sssp, schedule: eghw}", "[1-9][0-9]*"},
	} {
		t.Run(c.unit[:4]+c.workload, func(t *testing.T) {
			machine := "{extends: vortex-1c4w4t, cores_per_socket: 2, core: {scratchpad_bytes: 48KiB, " + c.unit +
				"}, ctrlproc: {interval: 50}, %s}"
			path, executed := recordPoint(t, fmt.Sprintf("name: x\nmachine: "+machine+
				"\ngraph: {powerlaw_cluster: {vertices: 97, edges_per_step: 3}, clean: {symmetrise: true}}\nworkload: "+
				c.workload+"\n", "l2: {}"))
			o := runPoints(t, points(t, replayOf(path, fmt.Sprintf(machine, "l2: {}"))))[0]
			require.NoError(t, o.Err)
			require.Equal(t, executed.Cycles, o.Cycles)
			require.Equal(t, executed.Stats, o.Stats)
			require.Equal(t, executed.Steps, o.Steps)
			require.Equal(t, experiment.Replayed, o.Replay)
			o = runPoints(t, points(t, replayOf(path,
				fmt.Sprintf(machine, "l2: {}, to_l2: {request: 40, response: 40}, memory: {preset: ddr4-3200}"))))[0]
			require.NoError(t, o.Err)
			require.Greater(t, o.Cycles, executed.Cycles)
			want := "^" + experiment.ReplayedRetime
			if c.others != "" {
				want += ` \(` + c.others + " of [1-9][0-9]* answers of the graph units are others"
			}
			require.Regexp(t, want, o.Replay)
			for _, name := range []string{"warp_instrs", "edges", "super_steps", "frontier.vertices"} {
				was, _ := executed.Stats.Get(name)
				is, _ := o.Stats.Get(name)
				require.Equal(t, was, is, name)
			}
		})
	}
}

// Traces that cannot be replayed are refused before anything runs, with the reason.
func TestReplaysThatAreRefused(t *testing.T) {
	path, _ := recordPoint(t, traced+"workload: {schedule: weaver}\n")
	for _, c := range []struct{ text, says string }{
		{replayOf(path, "{extends: vortex-1c4w4t-weaver, cores_per_socket: 2}"), "was recorded on 2 cores × 8 warps × 4 threads, and the machine has 2 cores × 4 warps × 4 threads"},
		{replayOf(path+"x", recordedMachine), "workload.trace: open " + path + "x: no such file"},
		{replayOf(path, recordedMachine) + "graph: {grid: {width: 3, height: 3}}\n", "graph: beside workload.trace: expected none"},
		{fmt.Sprintf("name: x\nmachine: %s\nworkload: {trace: %q, schedule: edge}\n", recordedMachine, path), "workload.schedule: edge, beside workload.trace: expected its default"},
		{"name: x\nmachine: vortex-1c4w4t\n", "graph: no source: expected one of file, rmat"},
	} {
		name := filepath.Join(t.TempDir(), "e.yaml")
		require.NoError(t, os.WriteFile(name, []byte(c.text), 0o644))
		l, err := config.Load(name, nil, nil)
		if err == nil {
			_, err = experiment.Points(l, nil)
		}
		require.ErrorContains(t, err, c.says)
	}
	for machine, says := range map[string]string{
		"{extends: vortex-1c4w4t, cores_per_socket: 2, core: {warps: 8}}":                                 "asks a graph unit (weaver) that the machine's cores do not have",
		"{extends: vortex-1c4w4t-weaver, cores_per_socket: 2, core: {warps: 8, weaver: {st_entries: 8}}}": "weaver_capacity = 32; now weaver_capacity = 8",
	} {
		o := runPoints(t, points(t, replayOf(path, machine)))[0]
		require.ErrorContains(t, o.Err, says)
		require.False(t, o.Counts())
	}
}

// A trace keeps where it comes from.
func TestProvenance(t *testing.T) {
	path, executed := recordPoint(t, traced+"workload: {algorithm: bfs}\n")
	f, err := traces.Open(path)
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	m := f.Meta
	require.Equal(t, executed.Graph, m.Graph.Hash)
	require.Equal(t, "test", m.Heddle)
	require.Contains(t, m.Config, "algorithm: bfs")
	require.Equal(t, []string{"results of atomics"}, m.Timing)
	require.NotEmpty(t, m.Layout)
	device, _ := executed.Stats.Get("device_cycles")
	require.EqualValues(t, device.Float(), m.Cycles)
	instrs := uint64(0)
	for _, l := range m.Launches {
		instrs += l.WarpInstrs
	}
	all, _ := executed.Stats.Get("warp_instrs")
	require.EqualValues(t, all.Float(), instrs)
}
