package experiment_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStepOverhead: each super-step of a loop on the host costs step_overhead, in whole runs, regions and sampled ones;
// a loop on the device costs one launch. The device's cycles are the same.
func TestStepOverhead(t *testing.T) {
	const launch, step = 300, 7000
	for _, text := range []string{
		"workload: {algorithm: bfs, schedule: vertex}", "workload: {algorithm: pagerank, schedule: warp, max_iterations: 4}",
		"workload: {algorithm: sssp, schedule: vertex, order: buckets}\nseeds: [1]",
		"workload: {algorithm: bfs, schedule: twc}", "workload: {algorithm: bc, schedule: edge}",
	} {
		text := strings.Replace(small, "}}", "}, weights: {from: random}}", 1) + text
		set := []string{"workload.launch_overhead=300", "workload.step_overhead=7000"}
		free, paid := runPart(t, text), runPart(t, text, set...)
		require.NoError(t, paid.Err)
		require.True(t, paid.Verified)
		require.Equal(t, value(t, &free, "device_cycles"), value(t, &paid, "device_cycles"))
		launches, steps := value(t, &paid, "launch.count"), value(t, &paid, "super_steps")
		require.Greater(t, steps, 1.0)
		require.InDelta(t, launch*launches+step*steps, value(t, &paid, "launch.overhead_cycles"), 0, text)
		require.Equal(t, uint64(value(t, &paid, "device_cycles")+launch*launches+step*steps), paid.Cycles)
	}
	set := []string{"workload.algorithm.name=bfs", "workload.launch_overhead=300", "workload.step_overhead=7000"}
	part := runPart(t, small, append(set, "region.from=2", "region.to=3")...)
	require.NoError(t, part.Err)
	require.InDelta(t, launch*value(t, &part, "launch.count")+step*2, value(t, &part, "launch.overhead_cycles"), 0)
	fused := runPart(t, small, append(set, "workload.compiler.fusion=loop")...)
	require.InDelta(t, launch, value(t, &fused, "launch.overhead_cycles"), 0)
	sampled := runPart(t, repeating, "sample.steps=6", "workload.launch_overhead=300", "workload.step_overhead=7000")
	require.Positive(t, sampled.Half)
	require.InDelta(t, launch*value(t, &sampled, "launch.count")+step*12, value(t, &sampled, "launch.overhead_cycles"), 0)
}
