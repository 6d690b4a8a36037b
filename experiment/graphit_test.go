package experiment_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/graphit/programs"
)

const gtBFS = small + `workload:
  program: bfs.gt
  arguments: ["3"]
`

// noted are the notes on an experiment.
func noted(t *testing.T, text string) []string {
	l := mustLoad(t, text)
	p, err := experiment.Points(l, nil)
	require.NoError(t, err)
	return experiment.Notes(&l.Value, p)
}

// TestGraphIt: a GraphIt program is a workload as others are: its schedules are swept and compared by label, beside
// units and composed kernels; verified, in parts, by several threads, recorded and replayed.
func TestGraphIt(t *testing.T) {
	t.Run("compared", func(t *testing.T) {
		p := points(t, gtBFS+`compare:
  - {name: own}
  - {name: label, schedules: {loop:step: {load_balance: TWCE, frontier_creation: FUSED}}}
  - {name: hybrid, schedules: {"loop:step": {threshold: 0.1, below: {load_balance: CM}, above: {direction: [PULL, BITMAP]}}}}
  - {name: unit, schedules: {loop:step: {load_balance: WEAVER}}, machine.core.weaver: {}}
  - {name: base, schedule: weaver, machine.core.weaver: {}}
  - {name: composed, program: heddle, arguments: [], algorithm: bfs-parents, source: 3}
`, "graph.erdos_renyi.edges=90")
		require.Equal(t, "program bfs.gt", p[0].Kernel())
		require.Empty(t, experiment.Unlike(p))
		l, err := config.Schema.Load(schema.Input{File: "stored", Data: []byte(p[1].YAML())})
		require.NoError(t, err, "a stored configuration is read again")
		require.Equal(t, p[1].Config.Workload, l.Value.Workload)
		o := runPoints(t, p)
		edges := count(t, &o[5], "edges")
		cycles := map[uint64]int{}
		for i := range o {
			require.NoError(t, o[i].Err)
			require.True(t, o[i].Verified)
			require.Equal(t, count(t, &o[i], "device_cycles"),
				count(t, &o[i], "kernel.gather.cycles")+count(t, &o[i], "kernel.init.cycles")+count(t, &o[i],
					"kernel.apply.cycles"))
			if i != 2 {
				require.Equal(t, edges, count(t, &o[i], "edges"), "each walks the rows of the vertices that it reaches")
			}
			cycles[o[i].Cycles]++
		}
		require.Equal(t, o[3].Cycles, o[4].Cycles, "a schedule's word is the key's value")
		require.Len(t, cycles, 5)
		require.Equal(t, "gt/loop:step/gather-push", o[0].Steps[0].Kernel)
		require.NotZero(t, count(t, &o[2], "frontier.pulls"))
	})
	t.Run("fused", func(t *testing.T) {
		p := points(t, gtBFS+"compare:\n  - {name: own}\n  - {name: fused, schedules: {loop: {kernel_fusion: ENABLED}}}\n")
		o := runPoints(t, p)
		for i := range o {
			require.NoError(t, o[i].Err)
			require.True(t, o[i].Verified)
		}
		require.EqualValues(t, 1, count(t, &o[1], "launch.count"))
		require.Greater(t, count(t, &o[0], "launch.count"), uint64(3))
		require.Equal(t, count(t, &o[0], "edges"), count(t, &o[1], "edges"))
		require.Equal(t, count(t, &o[0], "super_steps"), count(t, &o[1], "super_steps"))
		require.Zero(t, count(t, &o[0], "kernel.loop.cycles"))
		require.NotZero(t, count(t, &o[1], "kernel.loop.cycles"))
		require.Equal(t, count(t, &o[1], "device_cycles"),
			count(t, &o[1], "kernel.gather.cycles")+count(t, &o[1], "kernel.loop.cycles"))
		require.Empty(t, noted(t, gtBFS+"  schedules: {loop: {kernel_fusion: ENABLED}}\n"))
		require.Equal(t,
			[]string{"configKernelFusion: the loop loop of bfs.gt stays the host's, and every operator a launch: " +
				"direction.alpha is 1.5: expected a whole number up to 1048576, by which the device multiplies edges"},
			noted(t, gtBFS+"  schedules: {loop: {kernel_fusion: ENABLED}}\n  direction: hybrid\n  alpha: 1.5\n"))
		require.Empty(t, noted(t, gtBFS+"  schedules: {loop: {kernel_fusion: ENABLED}}\n  direction: hybrid\n"))
		for set, want := range map[string]string{
			"region.from=2":        "region: the loop loop of bfs.gt is one launch",
			"sample.period=100000": "sample.period: ",
		} {
			_, err := tryPoints(t, gtBFS, "workload.graphit.schedules={loop: {kernel_fusion: ENABLED}}", set)
			require.ErrorContains(t, err, want)
		}
		r := &experiment.Runner{Points: p, Observer: experiment.Quiet{}}
		_, err := r.Record(t.Context(), 1, t.TempDir()+"/x.trace", "test")
		require.ErrorContains(t, err, "the loop loop of bfs.gt is one launch")
	})
	t.Run("swept by label", func(t *testing.T) {
		p := points(t, gtBFS+`sweep:
  workload.graphit.schedules: [{loop:step: {load_balance: VERTEX_BASED}}, {loop:step: {load_balance: CM}}]
exclude: [{workload.graphit.schedules: {loop:step: {load_balance: CM}}}]
`)
		require.Len(t, p, 1)
		require.Equal(t, "schedules={loop:step: {load_balance: VERTEX_BASED}}", experiment.Label(p[0].Axes))
	})
	t.Run("by a file", func(t *testing.T) {
		dir := t.TempDir()
		name, schedule := filepath.Join(dir, "my.gt"), filepath.Join(dir, "pull.sched")
		src, err := programs.Source("bfs")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(name, src, 0o644))
		require.NoError(t, os.WriteFile(schedule,
			[]byte(`SimpleGPUSchedule s; s.configDirection(PULL, BOOLMAP); program->applyGPUSchedule("loop:step", s);`),
			0o644))
		text := strings.Replace(gtBFS, "bfs.gt", name, 1) + "sweep: {workload.graphit.schedule_file: [\"\", " + schedule +
			"]}\n"
		p := points(t, text)
		o := runPoints(t, p)
		require.NoError(t, o[0].Err)
		require.NoError(t, o[1].Err)
		require.Zero(t, count(t, &o[0], "frontier.pulls"))
		require.NotZero(t, count(t, &o[1], "frontier.pulls"))
		require.NotEqual(t, p[0].Config.Workload.Host.SHA256, p[1].Config.Workload.Host.SHA256)
		require.NoError(t, os.WriteFile(name, append(src, '\n'), 0o644))
		_, err = tryPoints(t, text, "workload.host.sha256="+p[0].Config.Workload.Host.SHA256)
		require.ErrorContains(t, err, "the program, or its schedule, has changed")
	})
	t.Run("in part", func(t *testing.T) {
		whole := runPoints(t, points(t, gtBFS))[0]
		part := runPoints(t, points(t, gtBFS+"region: {from: 2, to: 2, outside: timed}\n"))[0]
		require.NoError(t, part.Err)
		require.True(t, part.Verified)
		require.Equal(t, uint64(1), count(t, &part, "super_steps"))
		require.Equal(t, whole.Steps[1].Cycles, count(t, &part, "device_cycles"))
		ended := runPoints(t, points(t, gtBFS+"stop: {max_edges: 40}\n"))[0]
		require.NoError(t, ended.Err)
		require.Equal(t, experiment.PartialEdges, ended.Partial)
		limited := runPoints(t, points(t, gtBFS, "workload.max_iterations=2"))[0]
		require.ErrorContains(t, limited.Err, "more than 2 operators over edges")
	})
	t.Run("by threads", func(t *testing.T) {
		p := points(t, gtBFS, "machine.sockets=3", "machine.l2={}")
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
		path, executed := recordPoint(t, strings.Replace(gtBFS, "machine: vortex-1c4w4t", "machine: "+recordedMachine,
			1))
		o := runPoints(t, points(t, replayOf(path, recordedMachine)))[0]
		require.NoError(t, o.Err)
		require.Equal(t, executed.Cycles, o.Cycles)
		require.Equal(t, executed.Stats, o.Stats)
	})
}

// TestGraphItRefused: mistakes are reported with the key, before anything runs.
func TestGraphItRefused(t *testing.T) {
	for _, c := range []struct{ set, says string }{
		{"workload.program=bfx.gt", "workload.program: bfx.gt: no such file, and none of the programs that are shipped: bc, bfs"},
		{"workload.graphit.schedule_file=none", "workload.graphit.schedule_file: open none: no such file"},
		{"workload.graphit.schedules={loop:step: {load_balance: TWCX}}", "workload.graphit.schedules: loop:step.load_balance: expected one of VERTEX_BASED"},
		{"workload.graphit.schedules={loop:stop: {load_balance: CM}}", "workload.graphit.schedules: there is no operator over edges or loop loop:stop"},
		{"workload.graphit.schedules={loop:step: {load: CM}}", "workload.graphit.schedules: loop:step.load: unknown key: expected one of load_balance"},
		{"workload.graphit.schedules={loop:step: {below: {}, threshold: 1}}", "workload.graphit.schedules: loop:step: a hybrid needs threshold, below and above"},
		{"workload.graphit.schedules=[]", "workload.graphit.schedules: expected a mapping"},
		{"workload.graphit.arguments=", "workload.graphit.arguments: bfs.gt:17:33 asks for argv[2]: expected 1 arguments, found 0"},
		{"workload.compiler.fusion=loop", "workload.compiler.fusion = loop"},
		{"workload.recipe=hwwl", "workload.recipe = hwwl"},
		{"workload.host.graph=csc", "workload.host: bfs.gt is its own host program: expected none of its keys, found graph"},
		{"workload.program=heddle", "workload.graphit: it is for GraphIt programs (.gt), and workload.program is heddle: expected none of its keys, found arguments"},
		{"workload.schedule=weaver", "workload.schedule: weaver: the machine's cores have no Weaver"},
	} {
		_, err := tryPoints(t, gtBFS, c.set)
		require.ErrorContains(t, err, c.says, c.set)
	}
	for _, c := range []struct{ set, says string }{
		{"workload.graphit.arguments=99", "addVertex(99): the graph has vertices 0 to 39"},
		{"workload.graphit.arguments=x", `atoi: expected a whole number of 32 bits, found "x"`},
		{"workload.graphit.schedules={loop:step: {load_balance: WEAVER}}", "the schedule needs a machine whose cores have a Weaver"},
	} {
		name := filepath.Join(t.TempDir(), "e.yaml")
		require.NoError(t, os.WriteFile(name, []byte(gtBFS), 0o644))
		l, err := config.Load(name, nil, []string{c.set})
		require.NoError(t, err)
		p, err := experiment.Points(l, []string{c.set})
		require.NoError(t, err)
		r := &experiment.Runner{Points: p, Observer: silent{}}
		require.ErrorContains(t, r.Vet(context.Background(), l, nil), c.says, c.set)
	}
}

// TestGraphItMemory: a program's memory is estimated before it runs, from small graphs where nothing depends on the
// graph.
func TestGraphItMemory(t *testing.T) {
	estimate := func(program string, vertices string) uint64 {
		name := filepath.Join(t.TempDir(), "e.yaml")
		require.NoError(t, os.WriteFile(name, []byte(small), 0o644))
		set := []string{"workload.program=" + program, "graph.erdos_renyi.vertices=" + vertices,
			"graph.erdos_renyi.edges=8000000", "workload.schedule=vertex"}
		l, err := config.Load(name, nil, set)
		require.NoError(t, err)
		p, err := experiment.Points(l, set)
		require.NoError(t, err)
		r := &experiment.Runner{Points: p, Observer: silent{}}
		require.NoError(t, r.Vet(context.Background(), l, nil))
		return r.EstimateMemory(nil).Point(0)
	}
	few, many := estimate("cc.gt", "1000000"), estimate("cc.gt", "3000000")
	require.InDelta(t, 2e6*(12+8+4*4+64+8), float64(many-few), 2e6*60)
	require.Greater(t, estimate("spmv.gt", "3000000"), many, "it has three vectors, of reals")
}
