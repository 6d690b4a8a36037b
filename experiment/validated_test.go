package experiment_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/internal/fit"
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
  workload.algorithm.seed: [1, 2]
`), nil)
	require.NoError(t, err)
	points, err := experiment.Points(l, nil)
	require.NoError(t, err)
	require.Len(t, points, 6)
	list := experiment.NotValidated(points)
	require.Equal(t, []experiment.Unvalidated{{Key: "l1d.mshrs", Values: []string{"7", "9"}}}, list)
	require.Equal(t, "not validated against RTL: l1d.mshrs 7 9 (docs/results/validation.md)",
		experiment.UnvalidatedNote(list, "log.txt"))
}

// However many keys a machine or a sweep has that were not compared, the note takes three lines of 80 columns; derived
// keys are in it only if nothing else is.
func TestUnvalidatedNoteIsShort(t *testing.T) {
	const columns, prefix = 80, "heddle: note: "
	for _, set := range []string{
		"machine: gpu-60sm", "machine: {extends: gpu-60sm-graphpeg, core: {warps: 60}}",
		"machine: {extends: vortex-rtl-a, core: {warps: 64}}",
	} {
		l, err := config.ParseWith("x.yaml", []byte(set+`
name: x
graph: {grid: {width: 4, height: 4}}
workload: {algorithm: bfs}
sweep:
  machine.l1d.mshrs: [17, 7, 9, 19, 21, 22, 23, 25, 26, 27, 28, 29, 30, 31, 33, 34, 35, 36, 37, 38, 39, 40, 41]
`), nil)
		require.NoError(t, err)
		points, err := experiment.Points(l, nil)
		require.NoError(t, err)
		list := experiment.NotValidated(points)
		require.NotEmpty(t, list)
		note := experiment.UnvalidatedNote(list, "results/an-experiment-of-mine/log.txt")
		require.NotContains(t, note, "alu_blocks")
		require.LessOrEqual(t, len(fit.Lines(prefix+note, columns)), 3, note)
		if strings.Contains(set, "rtl") {
			require.Contains(t, note, "core.warps 64, l1d.mshrs 17 7 9 (23 values)")
		}
	}
	derived := []experiment.Unvalidated{{Key: "core.lsu_queue", Values: []string{"16"}, Derived: true}}
	require.Contains(t, experiment.UnvalidatedNote(derived, "log.txt"), "core.lsu_queue 16")
	require.Empty(t, experiment.UnvalidatedNote(nil, "log.txt"))
}
