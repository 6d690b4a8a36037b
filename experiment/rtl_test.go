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
	testenv.NeedSlow(t, "Verilator and g++ build the unit")
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
			sameModels(t, "weaver", "core.weaver.model", algorithm, unit)
		}
	}
	goesOn(t, rand.New(rand.NewPCG(40, 2)), points(t, small, "machine=vortex-1c4w4t-weaver", "workload.schedule=weaver",
		"workload.algorithm=bfs", "machine.core.weaver.model=rtl"), false)
}

// TestTheGraphPEGInSystemVerilog: the same of the GraphPEG, whose lists go on too.
func TestTheGraphPEGInSystemVerilog(t *testing.T) {
	testenv.NeedSlow(t, "Verilator and g++ build the unit")
	lists := []string{"core.graphpeg.alwt_entries=4", "core.graphpeg.edge_buffer_bytes=512",
		"core.graphpeg.scratchpad_limit=2KiB", "core.graphpeg.list_region=64KiB", "cores_per_socket=2", "ctrlproc.interval=100"}
	units := [][]string{
		lists,
		append(lists, "core.graphpeg.spill=vertex", "core.graphpeg.fe_release=return",
			"core.graphpeg.donation_priority=donation", "core.graphpeg.buffer_latency=1", "core.graphpeg.vertex_lists=3",
			"core.threads=8"),
		{"core.graphpeg.bypass_l1=false", "ctrlproc.policy=none"},
	}
	for _, unit := range units[:testenv.Cases(t, 1, uint64(len(units)))] { // a build of half a minute for each, kept
		for _, algorithm := range []string{"pagerank", "bfs", "sssp"} {
			sameModels(t, "graphpeg", "core.graphpeg.model", algorithm, unit)
		}
	}
	set := []string{"machine=vortex-1c4w4t-graphpeg", "workload.schedule=graphpeg", "workload.algorithm=bfs",
		"machine.core.graphpeg.model=rtl"}
	for _, s := range lists {
		set = append(set, "machine."+s)
	}
	goesOn(t, rand.New(rand.NewPCG(40, 3)), points(t, small, set...), false)
}

// TestTheControlProcessorInSystemVerilog: the same of the control processor, of six cores that donate to each other.
func TestTheControlProcessorInSystemVerilog(t *testing.T) {
	testenv.NeedSlow(t, "Verilator and g++ build the control processor")
	policies := [][]string{
		{"ctrlproc.policy=ef+vl", "ctrlproc.group=2", "ctrlproc.latency=3"},
		{"core.graphpeg.model=rtl"},
	}
	for _, policy := range policies[:testenv.Cases(t, 1, 2)] { // a build for each, kept
		set := append([]string{"cores_per_socket=6", "ctrlproc.interval=10"}, policy...)
		donated := 0.0
		for _, algorithm := range []string{"pagerank", "bfs"} {
			o := sameModels(t, "graphpeg", "ctrlproc.model", algorithm, set)
			taken, ok := o.Stats.Get("ctrlproc.donations.taken")
			require.True(t, ok)
			donated += taken.Float()
		}
		require.NotZero(t, donated, "%s: nothing was donated", policy)
	}
	set := []string{"machine=vortex-1c4w4t-graphpeg", "machine.cores_per_socket=6", "workload.schedule=graphpeg",
		"workload.algorithm=bfs", "machine.ctrlproc.model=rtl", "machine.ctrlproc.interval=10"}
	goesOn(t, rand.New(rand.NewPCG(40, 4)), points(t, small, set...), false)
}

// sameModels runs an algorithm by both models, which a key of the machine chooses, of a unit of vortex-1c4w4t. It
// returns the outcome.
func sameModels(t *testing.T, unit, key, algorithm string, machine []string) *experiment.Outcome {
	for _, name := range []string{"verilator", "g++", "make"} {
		tools.Need(t, name)
	}
	set := []string{"machine=vortex-1c4w4t-" + unit, "workload.schedule=" + unit, "workload.algorithm=" + algorithm}
	for _, s := range machine {
		set = append(set, "machine."+s)
	}
	p := points(t, small+"compare: {machine."+key+": [go, rtl]}\n", set...)
	require.NotEqual(t, p[0].Key(), p[1].Key(), "results are kept by model")
	run := &experiment.Runner{Points: p, Jobs: 1, Check: true, Observer: experiment.Quiet{}}
	o := run.Run(context.Background())
	for i := range o {
		require.NoError(t, o[i].Err)
		require.True(t, o[i].Verified)
	}
	require.Equal(t, o[0].Cycles, o[1].Cycles, "%s %s", algorithm, machine)
	require.Equal(t, o[0].Stats, o[1].Stats, "%s %s", algorithm, machine)
	require.Equal(t, o[0].Steps, o[1].Steps, "%s %s", algorithm, machine)
	return &o[1]
}
