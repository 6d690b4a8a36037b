package experiment_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
)

const searched = `
name: searched
machine: vortex-1c4w4t-weaver
graph: {erdos_renyi: {vertices: 90, edges: 200}, clean: {symmetrise: true}, weights: {from: random}}
`

// TestStoppedPoints: a run that max_iterations stops is verified and partial, and says after which super-step and with
// how many vertices active; one that is over before is not partial.
func TestStoppedPoints(t *testing.T) {
	for _, w := range []string{
		"algorithm: bfs", "algorithm: bfs, direction: hybrid", "algorithm: bfs-parents, schedule: weaver", "algorithm: cc, schedule: edge",
		"algorithm: sssp, order: near-far, delta: 20", "algorithm: sssp, order: buckets, delta: 3", "algorithm: k-core, fusion: loop",
		"algorithm: colouring", "algorithm: bfs, active_set: counter, fusion: loop",
	} {
		t.Run(w, func(t *testing.T) {
			text := searched + "workload: {source: 3, max_iterations: 2, " + w + "}\n"
			o := runPart(t, text)
			require.NoError(t, o.Err)
			require.True(t, o.Verified && o.Counts())
			require.Equal(t, "max_iterations=2", o.Partial)
			require.EqualValues(t, 2, value(t, &o, "super_steps"))
			require.Positive(t, value(t, &o, "frontier.left"))
			require.Contains(t, o.StoppedText(), "stopped after 2 super-steps with ")

			o = runPart(t, text, "workload.max_iterations=100")
			require.NoError(t, o.Err)
			require.True(t, o.Verified)
			require.Empty(t, o.Partial+o.StoppedText())
			require.Zero(t, value(t, &o, "frontier.left"))
		})
	}
}

// TestStoppedSpeedups: speedups are relative to points stopped at the same super-step, which the table names.
func TestStoppedSpeedups(t *testing.T) {
	p := points(t, searched+"workload: {algorithm: bfs, source: 3, max_iterations: 2}\ncompare: {workload.schedule: "+
		"[vertex, warp]}\n")
	outcomes := runPoints(t, p)
	_, ok := experiment.Speedup(p, outcomes, 1)
	require.True(t, ok)
	var b bytes.Buffer
	experiment.WriteTable(&b, p, outcomes)
	require.Equal(t, 2, strings.Count(b.String(), "yes (stopped after 2)"), b.String())

	p = points(t, searched+"workload: {algorithm: bfs, source: 3}\ncompare: {workload.max_iterations: [0, 2, 3]}\n")
	outcomes = runPoints(t, p)
	for i := 1; i < 3; i++ {
		require.True(t, outcomes[i].Verified)
		_, ok = experiment.Speedup(p, outcomes, i)
		require.False(t, ok, "of a whole run and a part of one")
	}
	b.Reset()
	experiment.WriteTable(&b, p, outcomes)
	require.Contains(t, b.String(), "yes (stopped after 3)")

	p = points(t, searched+"workload: {algorithm: bfs, source: 3, max_iterations: 2}\nseeds: [1, 2]\n")
	b.Reset()
	experiment.WriteTable(&b, p, runPoints(t, p))
	require.Contains(t, b.String(), "yes (stopped after 2) │")
}

// TestStoppedAndInPart: a region within the executed part counts alone; where a region or max_edges ends the run, that
// is why it is partial, and nothing is verified.
func TestStoppedAndInPart(t *testing.T) {
	text := searched + "workload: {algorithm: sssp, source: 3, max_iterations: 3}\n"
	o := runPart(t, text, "region.from=2", "region.to=2")
	require.NoError(t, o.Err)
	require.True(t, o.Verified)
	require.Equal(t, "max_iterations=3", o.Partial)
	require.EqualValues(t, 1, value(t, &o, "super_steps"))

	o = runPart(t, text, "region.to=2", "region.verify=false")
	require.NoError(t, o.Err)
	require.Equal(t, experiment.PartialRegion, o.Partial)
	require.False(t, o.Verified)

	o = runPart(t, text, "stop.max_edges=5")
	require.NoError(t, o.Err)
	require.Equal(t, experiment.PartialEdges, o.Partial)
	require.False(t, o.Verified)

	o = runPart(t, text, "region.from=9")
	require.ErrorContains(t, o.Err, "region.from = 9: the run was over after 3 super-steps")
}

// TestStoppedReplay: a replay of a run that was stopped is one, too.
func TestStoppedReplay(t *testing.T) {
	path, executed := recordPoint(t, traced+"workload: {algorithm: bfs, schedule: warp, max_iterations: 2}\n")
	require.Equal(t, "max_iterations=2", executed.Partial)
	o := runPoints(t, points(t, replayOf(path, recordedMachine)))[0]
	require.NoError(t, o.Err)
	require.Equal(t, executed.Stats, o.Stats)
	require.Equal(t, executed.Partial, o.Partial)
	require.Equal(t, "replayed (stopped after 2)", experiment.Verdict(o.Verified, o.Replay, o.Partial, ""))
}

// TestNoMaxIterations: a run that cannot be verified when stopped is refused when points are laid out, by the key's
// place.
func TestNoMaxIterations(t *testing.T) {
	for _, algorithm := range []string{"bc", "cc-soman"} {
		_, err := tryPoints(t, searched+"workload: {algorithm: "+algorithm+", max_iterations: 2}\n")
		require.ErrorContains(t, err, ":5:")
		require.ErrorContains(t, err, "workload.max_iterations = 2: what "+algorithm+
			" has come to before its end cannot be verified")
	}
}
