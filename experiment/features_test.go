package experiment_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
)

// TestFeatures: algorithms on features are points like others, whose cycles do not depend on threads; and edges are
// handled as often as there are traversals, whoever computes which feature.
func TestFeatures(t *testing.T) {
	const text = `
name: features
machine: vortex-1c4w4t
graph:
  rmat: {scale: 4, edge_factor: 4}
  clean: {symmetrise: true}
  weights: {from: random}
workload: {schedule: strict, max_iterations: 2, features: {count: 3}}
compare:
  workload.features.aware: [false, true, false, true]
  workload.features.change_driven: [false, false, true, true]
sweep:
  workload.algorithm: [lp, als, bp, mmr, mml, aggregate]
`
	var cycles [2][]uint64
	var registered uint64
	for i, threads := range []string{"1", "2"} {
		p := points(t, text, "run.threads="+threads, "machine.cores_per_socket=2")
		require.Equal(t, "lp-3/strict/NFA/NCD/fold-registers", p[0].Kernel())
		require.Empty(t, experiment.Unlike(p))
		for n, o := range runPoints(t, p) {
			require.NoError(t, o.Err, "point %d", n)
			require.True(t, o.Verified)
			require.NotZero(t, count(t, &o, "edges"))
			for _, part := range []string{"gather", "apply"} {
				require.NotZero(t, count(t, &o, "kernel."+part+".cycles"), part)
			}
			registered += count(t, &o, "kernel.register.cycles")
			require.Equal(t, count(t, &o, "frontier.edges"), count(t, &o, "edges"))
			require.Equal(t, count(t, &o, "device_cycles"),
				count(t, &o, "kernel.gather.cycles")+count(t, &o, "kernel.register.cycles")+count(t, &o,
					"kernel.apply.cycles"))
			cycles[i] = append(cycles[i], o.Cycles)
		}
	}
	require.Len(t, cycles[0], 24)
	require.NotZero(t, registered) // strict scans the degrees of active vertices
	for key, says := range map[string]string{
		"workload.direction=hybrid": "in a bit-vector of its own",
		"workload.order=near-far":   "near-far", "workload.algorithm.tolerance=1": "features.epsilon",
		"workload.compiler.fusion=loop": "loop",
		"workload.features.unsent=kept": "without change_driven", "workload.algorithm=bfs": "has no features", "workload.kernel=handwritten": "handwritten",
	} {
		_, err := tryPoints(t, text, "compare={}", "sweep={}", "workload.algorithm=lp",
			"workload.features.change_driven=false", key)
		require.ErrorContains(t, err, says, key)
	}
	require.Equal(t, cycles[0], cycles[1])
}

// TestArraysTakeWhatTheirWordsDo: from 3 features to 5, bp's prior, sum and value grow by a word a feature and vertex,
// change-driven also the value that was sent; two messages an edge, and its matrix from 9 to 25 words.
func TestArraysTakeWhatTheirWordsDo(t *testing.T) {
	for _, changes := range []bool{false, true} {
		outcomes := runPoints(t, points(t, fmt.Sprintf(`
name: arrays
machine: vortex-1c4w4t
graph: {grid: {width: 3, height: 3}, clean: {symmetrise: true}, weights: {from: random}}
workload: {algorithm: bp, max_iterations: 1, features: {change_driven: %t}}
sweep: {workload.features.count: [3, 5]}
`, changes)))
		const vertices, edges, more = 9, 24, 2
		words := vertices*3*more + edges*(2*more+25-9)
		if changes {
			words += vertices * more
		}
		require.EqualValues(t, 4*words, count(t, &outcomes[1], "arrays.bytes")-count(t, &outcomes[0], "arrays.bytes"))
	}
}
