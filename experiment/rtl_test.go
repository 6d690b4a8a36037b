package experiment_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/internal/testenv"
	"heddle/internal/tools"
)

// TestTheWeaverInSystemVerilog has the cycles and all statistics of the Go model, and its points go on from
// checkpoints.
func TestTheWeaverInSystemVerilog(t *testing.T) {
	for _, name := range []string{"verilator", "g++", "make"} {
		tools.Need(t, name)
	}
	units := [][]string{
		nil,
		{"core.weaver.prefetch=false", "core.weaver.skip_empty=false", "core.weaver.st_row=8",
			"core.weaver.mask_by_unit=true"},
		{"core.weaver.st_entries=20", "core.weaver.table_latency=30", "core.weaver.request_queue=1",
			"sockets=2", "core.threads=8"},
		{"core.weaver.st_row=1", "core.weaver.table_latency=2", "core.weaver.prefetch=false"},
	}
	for _, unit := range units[:testenv.Cases(t, 2, uint64(len(units)))] { // a build of seconds for each, kept
		for _, algorithm := range []string{"pagerank", "bfs", "sssp"} {
			set := []string{"machine=vortex-1c4w4t-weaver", "workload.schedule=weaver",
				"workload.algorithm=" + algorithm}
			for _, s := range unit {
				set = append(set, "machine."+s)
			}
			p := points(t, small+"compare: {machine.core.weaver.model: [go, rtl]}\n", set...)
			require.NotEqual(t, p[0].Key(), p[1].Key(), "results are kept by model")
			run := &experiment.Runner{Points: p, Jobs: 1, Check: true, Observer: experiment.Quiet{}}
			o := run.Run(context.Background())
			for i := range o {
				require.NoError(t, o[i].Err)
				require.True(t, o[i].Verified)
			}
			require.Equal(t, o[0].Cycles, o[1].Cycles, "%s %s", algorithm, unit)
			require.Equal(t, o[0].Stats, o[1].Stats, "%s %s", algorithm, unit)
			require.Equal(t, o[0].Steps, o[1].Steps, "%s %s", algorithm, unit)
		}
	}
	goesOn(t, rand.New(rand.NewPCG(40, 2)), points(t, small, "machine=vortex-1c4w4t-weaver", "workload.schedule=weaver",
		"workload.algorithm=bfs", "machine.core.weaver.model=rtl"), false)
}
