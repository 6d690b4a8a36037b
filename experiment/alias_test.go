package experiment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
