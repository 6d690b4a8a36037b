package experiment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/config"
	"heddle/kernels/workload"
)

// The schedule of a graph unit also goes by the unit's key in machines, and is stored under its own name.
func TestScheduleByTheNameOfItsUnit(t *testing.T) {
	text := "name: x\nmachine: " + machineWith(t, "peg") +
		"\ngraph: {rmat: {scale: 5}}\nworkload: {algorithm: bfs, schedule: "
	alias, own := points(t, text+"graphpeg}\n"), points(t, text+"peg}\n")
	require.Equal(t, workload.Schedule("peg"), alias[0].Config.Workload.Schedule)
	require.Equal(t, own[0].YAML(), alias[0].YAML())
	for _, name := range workload.Schedule("").Names() {
		require.Equal(t, name, workload.Schedule("").Alias(name))
	}
	_, err := tryPoints(t, text+"graphpegs}\n")
	require.ErrorContains(t, err, "did you mean peg?")
}

// TestExecutionOutsideByItsFormerName: untimed is functional, and points keep their identity.
func TestExecutionOutsideByItsFormerName(t *testing.T) {
	text := "name: x\nmachine: vortex-1c4w4t\ngraph: {rmat: {scale: 5}}\nworkload: {algorithm: pagerank}\n" +
		"region: {from: 2, outside: "
	former, own, timed := points(t, text+"untimed}\n"), points(t, text+"functional}\n"), points(t, text+"timed}\n")
	require.Equal(t, config.Functional, former[0].Config.Region.Outside)
	require.Equal(t, former[0].Key(), own[0].Key())
	require.NotEqual(t, own[0].Key(), timed[0].Key())
	require.Contains(t, own[0].YAML(), "outside: untimed\n")
	require.Contains(t, string(config.Schema.YAML(own[0].Config)), "outside: functional\n")
}

// TestKeyOfAnotherSection: the hint at a key that slipped a level stays near where it was written.
func TestKeyOfAnotherSection(t *testing.T) {
	for graph, want := range map[string]string{
		"{rmat: {scale: 5}, seed: 1}": "graph.rmat.seed",
		"{grid: {rows: 5}, seed: 1}":  "graph.grid.seed",
	} {
		_, err := tryPoints(t, "name: x\nmachine: vortex-1c4w4t\ngraph: "+graph+"\nworkload: {algorithm: bfs}\n")
		require.ErrorContains(t, err, "graph.seed: unknown key; did you mean "+want+"?", graph)
	}
}
