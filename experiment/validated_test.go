package experiment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/config"
)

// Each value of a sweep that was not compared with the RTL is named once, whatever else differs.
func TestNotValidated(t *testing.T) {
	l, err := config.ParseWith("x.yaml", []byte(`
name: x
machine: {extends: vortex-rtl-a}
graph: {grid: {width: 4, height: 4}}
workload: {algorithm: bfs}
sweep:
  machine.l1d.mshrs: [16, 7, 9]
  workload.seed: [1, 2]
`), nil)
	require.NoError(t, err)
	points, err := experiment.Points(l, nil)
	require.NoError(t, err)
	require.Len(t, points, 6)
	require.Equal(t, []string{"l1d.mshrs 7 9"}, experiment.NotValidated(points))
}
