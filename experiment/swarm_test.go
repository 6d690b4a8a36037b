package experiment_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/internal/testenv"
)

const tasksOn = `name: tasks
machine: swarm-16c
graph: {erdos_renyi: {vertices: 300, edges: 1500}, weights: {from: random}}
workload:
`

const (
	tasksSSSP = tasksOn + `  program: tasks-sssp.s
  host: {graph: [csr, weights], parameters: ["delta = 0"], arrays: ["dist[vertices] = 0xFFFFFFFF"], result: dist, check: sssp}
`
	tasksBFS = tasksOn + `  program: tasks-bfs.s
  host: {graph: [csr], arrays: ["level[vertices] = 0xFFFFFFFF"], result: level, check: bfs}
`
	tasksPageRank = tasksOn + `  program: tasks-pagerank.s
  max_iterations: 3
  host:
    graph: [csr]
    parameters: ["damping = 0.85", "rest = 0.15"]
    arrays: ["f32 rank[vertices]", "f32 inverse[vertices]", "f32 contribution[vertices]", "f32 sum[vertices]"]
    init: [begin]
    steps: [round]
    result: rank
    check: pagerank
`
)

// TestTaskPrograms: the programs of tasks that ship are verified on machines of all sizes, with the smallest queues and
// with hints, and their statistics are the run's.
func TestTaskPrograms(t *testing.T) {
	small := []string{"machine.swarm.task_queue=2", "machine.swarm.commit_queue=1", "machine.swarm.signature_bits=64"}
	for n, text := range []string{tasksSSSP, tasksBFS, tasksPageRank} {
		for _, set := range testenv.Some(t, n, 3, [][]string{nil, {"machine.swarm.mapping=hint"}, small}) {
			for _, o := range runPoints(t, points(t, text+"sweep: {machine: [swarm-1c, swarm-4c, swarm-16c, swarm-64c]}\n",
				set...)) {
				require.NoError(t, o.Err)
				require.True(t, o.Verified)
				require.NotZero(t, count(t, &o, "edges"))
				require.GreaterOrEqual(t, count(t, &o, "swarm.tasks.committed"), count(t, &o, "edges"))
			}
		}
	}
	// Δ: larger buckets have less order, and so more work.
	o := runPoints(t, points(t, tasksSSSP+
		"sweep: {workload.host.parameters: [[\"delta = 0\"], [\"delta = 8\"]]}\n"))
	require.NoError(t, o[0].Err)
	require.NoError(t, o[1].Err)
	require.Less(t, count(t, &o[0], "edges"), count(t, &o[1], "edges"))
}

// TestCachesAndSignaturesOfTiles: their sizes change a run's cycles; sim's program is too small for them.
func TestCachesAndSignaturesOfTiles(t *testing.T) {
	cycles := func(set ...string) uint64 {
		o := runPoints(t, points(t, tasksBFS, append([]string{"machine.swarm.commit_interval=1",
			"machine.swarm.l1_bytes=512", "machine.swarm.l2_bytes=1KiB", "machine.swarm.l3_bytes=2KiB"}, set...)...))[0]
		require.NoError(t, o.Err)
		require.True(t, o.Verified)
		return o.Cycles
	}
	plain, few := cycles(), cycles("machine.swarm.signature_bits=64")
	require.NotEqual(t, plain, few)
	for _, set := range []string{"l1_bytes=1KiB", "l1_ways=2", "l3_bytes=4KiB", "l3_ways=4"} {
		require.NotEqual(t, plain, cycles("machine.swarm."+set), set)
	}
	for _, set := range []string{"signature_ways=2", "signatures=exact"} {
		require.NotEqual(t, few, cycles("machine.swarm.signature_bits=64", "machine.swarm."+set), set)
	}
}

// TestTasksRefused: features that tiles lack are refused. Runs on them have no checkpoints, and say so.
func TestTasksRefused(t *testing.T) {
	wrong := runPoints(t, points(t, tasksBFS+"sample: {period: 700, interval: 200, warm_up: 100}\n"))[0]
	require.ErrorContains(t, wrong.Err, "machine.swarm")
	part := runPoints(t, points(t, tasksBFS+"stop: {max_edges: 40}\n"))[0]
	require.NoError(t, part.Err)
	require.Equal(t, experiment.PartialEdges, part.Partial)
	_, err := tryPoints(t, strings.Replace(tasksBFS, "program: tasks-bfs.s", "algorithm: bfs", 1))
	require.ErrorContains(t, err, "expected a GraphIt program, or one of tasks")
}

const graphItOnTiles = `name: gt
machine: swarm-4c
graph: {rmat: {scale: 6}, weights: {from: random}, clean: {symmetrise: true}}
workload: {program: delta_stepping.gt, arguments: ["1"]}
`

// TestGraphItOnTiles: GraphIt programs run on tiles as on other machines; labels have schedules for both, each of which
// counts on its machine only, and what tiles lack is refused.
func TestGraphItOnTiles(t *testing.T) {
	o := runPoints(t, points(t, graphItOnTiles+`sweep:
  workload.graphit.schedules: [{}, {loop:step: {delta: 16}}, {loop:step: {swarm: {delta: 64}}}, {loop:step: {swarm: {load_balance: EDGE_BASED}}}]
`))
	for i := range o {
		require.NoError(t, o[i].Err)
		require.True(t, o[i].Verified)
		require.NotZero(t, count(t, &o[i], "swarm.tasks.committed"))
	}
	require.Equal(t, o[0].Cycles, o[1].Cycles, "a GPU's schedule does not count on tiles")
	require.NotEqual(t, o[0].Cycles, o[2].Cycles)
	require.Less(t, count(t, &o[0], "swarm.tasks.committed"), count(t, &o[3], "swarm.tasks.committed"))
	again := runPoints(t, points(t, graphItOnTiles+"run: {threads: 2}\n"))
	require.NoError(t, again[0].Err)
	require.Equal(t, o[0].Cycles, again[0].Cycles, "any number of the host's threads")
	both := runPoints(t, points(t, graphItOnTiles+"sweep: {machine: [swarm-4c, vortex-1c4w4t]}\n"))
	for i := range both {
		require.NoError(t, both[i].Err)
		require.True(t, both[i].Verified)
	}
	_, err := tryPoints(t, graphItOnTiles, "workload.graphit.schedules={loop:step: {swarm: {direction: PULL}}}")
	require.ErrorContains(t, err, "expected PUSH")
	_, err = tryPoints(t, graphItOnTiles, "workload.graphit.schedules={loop:step: {swarm: {fusion: 1}}}")
	require.ErrorContains(t, err, "loop:step.swarm.fusion: unknown key")
}
