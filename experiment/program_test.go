package experiment_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/internal/testenv"
	"heddle/internal/tools"
	"heddle/kernels/program"
)

const ownBFS = small + `workload:
  algorithm: bfs
  source: 3
  program: bfs.c
  host: {graph: [csr], arrays: ["level[vertices] = 0xFFFFFFFF", "more[1]"], init: [begin], steps: [expand], until: more, result: level, check: bfs}
`

// TestOwnProgram: a program of the user's own is a workload as others are: beside them in a comparison, verified, in
// parts, by several threads, recorded and replayed, and going on where it was killed.
func TestOwnProgram(t *testing.T) {
	testenv.NeedSlow(t, "it simulates programs that GCC compiles")
	tools.Need(t, program.DefaultCompiler)
	t.Run("compared", func(t *testing.T) {
		p := points(t, ownBFS+"compare: {workload.program: [heddle, bfs.c]}\n", "graph.erdos_renyi.edges=90")
		require.Equal(t, "program=heddle", experiment.Label(p[0].Axes))
		require.Equal(t, "program bfs.c", p[1].Kernel())
		o := runPoints(t, p)
		for i := range o {
			require.NoError(t, o[i].Err)
			require.True(t, o[i].Verified)
		}
		levels := func(i int) uint64 { return count(t, &o[i], "super_steps") }
		require.GreaterOrEqual(t, levels(1), uint64(3))
		require.LessOrEqual(t, levels(1)-levels(0), uint64(1), "a queue that is empty is seen before a super-step")
		require.Equal(t, count(t, &o[0], "edges"), count(t, &o[1], "edges"),
			"each walks the rows of the vertices that it reaches")
		own := count(t, &o[1], "kernel.program.cycles")
		require.Equal(t, count(t, &o[1], "device_cycles"), own)
		require.Zero(t, count(t, &o[0], "kernel.program.cycles"))
		require.Equal(t, levels(1)+1, count(t, &o[1], "launch.count"))
		require.Equal(t, "program/begin", o[1].Steps[0].Kernel)
	})
	t.Run("in part", func(t *testing.T) {
		whole := runPoints(t, points(t, ownBFS))[0]
		part := runPoints(t, points(t, ownBFS+"region: {from: 2, to: 2, outside: timed}\n"))[0]
		require.NoError(t, part.Err)
		require.True(t, part.Verified)
		require.Equal(t, uint64(1), count(t, &part, "super_steps"))
		require.Equal(t, whole.Steps[2].Cycles, count(t, &part, "device_cycles"))
		ended := runPoints(t, points(t, ownBFS+"stop: {max_edges: 40}\n"))[0]
		require.NoError(t, ended.Err)
		require.Equal(t, experiment.PartialEdges, ended.Partial)
	})
	t.Run("by threads", func(t *testing.T) {
		p := points(t, ownBFS, "machine.sockets=3", "machine.l2={}")
		run := func(threads int) experiment.Outcome {
			r := &experiment.Runner{Points: p, Threads: threads, Observer: silent{}}
			o := r.Run(context.Background())[0]
			require.NoError(t, o.Err)
			o.Seconds, o.Building = 0, 0
			return o
		}
		require.Equal(t, run(1), run(3))
	})
	t.Run("recorded", func(t *testing.T) {
		path, executed := recordPoint(t, strings.Replace(ownBFS, "machine: vortex-1c4w4t", "machine: "+recordedMachine,
			1))
		o := runPoints(t, points(t, replayOf(path, recordedMachine)))[0]
		require.NoError(t, o.Err)
		require.Equal(t, executed.Cycles, o.Cycles)
		require.Equal(t, executed.Stats, o.Stats)
		require.Equal(t, executed.Steps, o.Steps)
	})
	t.Run("killed", func(t *testing.T) {
		goesOn(t, rand.New(rand.NewPCG(2, 9)),
			points(t, ownBFS, "graph.erdos_renyi.vertices=150", "graph.erdos_renyi.edges=220", "machine.sockets=2",
				"machine.l2={}"), true)
	})
	t.Run("sampled", func(t *testing.T) {
		o := runPoints(t, points(t, ownBFS+"sample: {period: 700, interval: 200, warm_up: 100}\n",
			"graph.erdos_renyi.vertices=2000", "graph.erdos_renyi.edges=9000"))[0]
		require.NoError(t, o.Err)
		require.True(t, o.Verified)
	})
}

// TestACheckCountsNowhere: who checks by a kernel, or not at all, has the same cycles and statistics.
func TestACheckCountsNowhere(t *testing.T) {
	tools.Need(t, program.DefaultCompiler)
	text := small + `workload:
  program: lookup.c
  host: {graph: [csr], parameters: [queries = 300], arrays: ["found[300] = 0xFFFFFFFF"], steps: [search]CHECK}
`
	with := runPoints(t, points(t, strings.Replace(text, "CHECK", ", check_kernel: verify", 1)))[0]
	without := runPoints(t, points(t, strings.Replace(text, "CHECK", "", 1)))[0]
	require.NoError(t, with.Err)
	require.NoError(t, without.Err)
	require.True(t, with.Verified)
	require.False(t, without.Verified)
	require.Equal(t, experiment.Unchecked, without.Replay)
	require.True(t, without.Counts())
	require.Equal(t, with.Stats, without.Stats)
	require.Equal(t, with.Steps, without.Steps)
	wrong := runPoints(t, points(t, strings.Replace(text, "steps: [search]CHECK",
		"steps: [verify], check_kernel: verify", 1)))[0]
	require.Error(t, wrong.Err, "nothing was searched: an error of verify ends the run")
}

// TestAProgramIsPartOfAPoint: stored results of a program are not mixed with those of its successor.
func TestAProgramIsPartOfAPoint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.s")
	write := func(instruction string) {
		require.NoError(t, os.WriteFile(file, []byte("_start: "+instruction+"\n sw zero, 0x88(zero)\n tmc zero\n"),
			0o644))
	}
	text := small + "workload: {program: " + file + "}\n"
	hash := func() string { return points(t, text)[0].Config.Workload.Host.SHA256 }
	write("nop")
	first := hash()
	require.Len(t, first, 64)
	require.Equal(t, first, hash())
	write("addi t0, zero, 1")
	require.NotEqual(t, first, hash())
	_, err := tryPoints(t, text, "workload.host.sha256="+first)
	require.ErrorContains(t, err, "workload.host.sha256: "+file+" is ")
	_, err = tryPoints(t, text, "workload.host.steps=[a]")
	require.ErrorContains(t, err, "workload.host.steps: a: ")
	o := runPoints(t, points(t, text))[0]
	require.NoError(t, o.Err)
	require.Equal(t, experiment.Unchecked, o.Replay)
}

func count(t *testing.T, o *experiment.Outcome, name string) uint64 {
	t.Helper()
	s, ok := o.Stats.Get(name)
	require.True(t, ok, name)
	n, ok := s.Uint()
	require.True(t, ok, name)
	return n
}
