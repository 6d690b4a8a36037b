package traces_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/experiment/config"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/kernels/algorithm"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
	"heddle/sim"
	"heddle/sim/stats"
	"heddle/traces"
)

// recording is a device whose launches are recorded.
type recording struct {
	*host.Timed
	to *traces.Recorder
}

func (d recording) Launch(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error) {
	d.to.Begin(p, arg)
	r, err := d.Timed.Launch(ctx, p, arg)
	if err == nil {
		err = d.to.End(d.Machine, r)
	}
	return r, err
}

func machine(t testing.TB, preset string, set ...string) configs.Machine {
	l, err := configs.LoadMachine(preset, nil, set)
	require.NoError(t, err)
	return l.Value
}

func shapeOf(m *configs.Machine) traces.Shape {
	return traces.Shape{Cores: m.Sockets * m.CoresPerSocket, Warps: m.Core.Warps, Threads: m.Core.Threads}
}

func testGraph(t testing.TB, scale int) *graph.Graph {
	g, err := graph.Load(graphspec.Graph{RMAT: &graphspec.RMAT{Scale: scale, EdgeFactor: 8, A: .57, B: .19, C: .19,
		ShuffleIDs: true, Seed: 3}, Clean: graphspec.Clean{DropSelfLoops: true, Symmetrise: true, DropDuplicates: true},
		Weights: graphspec.Weights{From: graphspec.RandomWeights, Min: 1, Max: 64}})
	require.NoError(t, err)
	return g
}

func testWorkload(t testing.TB, algorithm, schedule string, steps int) workload.Workload {
	p, err := parse("vortex-1c4w4t-weaver", fmt.Sprintf("algorithm: %s, schedule: %s, max_iterations: %d", algorithm,
		schedule, steps))
	require.NoError(t, err)
	return p.Workload
}

func parse(machine, workload string) (config.Experiment, error) {
	return config.Parse("test", []byte("name: t\nmachine: "+machine+
		"\ngraph: {grid: {width: 2, height: 2}}\nworkload: {"+workload+"}\n"))
}

// cpu is the processor time that the process has taken.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// clocked is a device that adds up the processor time of its launches.
type clocked struct {
	host.Device
	spent time.Duration
}

func (d *clocked) Launch(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error) {
	start := cpu()
	r, err := d.Device.Launch(ctx, p, arg)
	d.spent += cpu() - start
	return r, err
}

// execute runs a workload, and records it if there is a path. It returns the processor time of its launches.
func execute(t testing.TB, cfg configs.Machine, g *graph.Graph, w workload.Workload, path string) (compose.Result,
	stats.Tree, time.Duration) {
	var rec *traces.Recorder
	opt := sim.Options{}
	if path != "" {
		var err error
		rec, err = traces.NewRecorder(path, traces.Meta{Shape: shapeOf(&cfg)})
		require.NoError(t, err)
		opt.Source = rec.Source
	}
	d, err := host.NewTimed(cfg, opt)
	require.NoError(t, err)
	var dev host.Device = d
	if rec != nil {
		require.NoError(t, rec.Attach(d.Machine))
		dev = recording{d, rec}
	}
	on := &clocked{Device: dev}
	res, err := compose.Run(context.Background(), on, g, w)
	require.NoError(t, err)
	require.True(t, res.Verified)
	if rec != nil {
		require.NoError(t, rec.Close())
	}
	return res, d.Machine.Statistics(), on.spent
}

func replay(t testing.TB, cfg configs.Machine, path string) (cycles uint64, tree stats.Tree, r *traces.Replayer,
	took time.Duration) {
	f, err := traces.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r, err = traces.NewReplayer(f, shapeOf(&cfg))
	require.NoError(t, err)
	m, err := sim.New(cfg, sim.Options{Source: r.Source})
	require.NoError(t, err)
	require.NoError(t, r.Attach(m))
	start := cpu()
	for i := range f.Meta.Launches {
		p, arg, err := r.Begin(i)
		require.NoError(t, err)
		res, err := m.Launch(context.Background(), p, arg)
		require.NoError(t, err)
		require.NoError(t, r.End())
		cycles += res.Cycles
	}
	took = cpu() - start
	require.NoError(t, m.CheckInvariants())
	return cycles, m.Statistics(), r, took
}

// unitKey is the graph unit of that name in a core.
func unitKey(name string) string {
	if u := accel.KindNamed(name); u != nil && unitKeys[name] == "" {
		return u.Key + ": {}"
	}
	return unitKeys[name]
}

// unitKeys are those with on-chip lists, which are soon full.
var unitKeys = map[string]string{
	"peg":  "scratchpad_bytes: 48KiB, graphpeg: {scratchpad_limit: 3KiB}",
	"hwwl": "hwwl: {bytes: 1KiB, interval: 64}",
}

// point reads a workload for a machine of two cores with a graph unit.
func point(unit, workload string) (config.Experiment, error) {
	return parse("{extends: vortex-1c4w4t, cores_per_socket: 2, core: {warps: 8, "+unitKey(unit)+
		"}, ctrlproc: {interval: 64}}", workload)
}

// equals checks that recording changes nothing, and that a replay comes to the cycles and to every statistic.
func equals(t *testing.T, cfg configs.Machine, g *graph.Graph, w workload.Workload) {
	path := filepath.Join(t.TempDir(), "t.trace")
	plain, want, _ := execute(t, cfg, g, w, "")
	recorded, same, _ := execute(t, cfg, g, w, path)
	require.Equal(t, plain.Times, recorded.Times)
	require.Equal(t, want, same)
	cycles, got, r, _ := replay(t, cfg, path)
	require.Equal(t, plain.Times.Cycles, cycles)
	require.Equal(t, want, got)
	require.Zero(t, r.Others)
}

// All algorithms and schedules there are, in both directions and orders, as far as they go together: without
// testenv.LongVariable, every seventh of these.
func TestReplayEqualsExecution(t *testing.T) {
	g, nth := testGraph(t, 4), 0
	ran := map[string]int{}
	for _, s := range schedule.All() {
		for _, a := range algorithm.Algorithms() {
			for _, as := range []string{
				"direction: pull", "direction: push", "direction: push, order: near-far",
				"direction: push, order: buckets, active_set: qnb-bytemap", "direction: pull, active_set: rqnb-bitmap",
			} {
				p, err := point(s.UnitName(), fmt.Sprintf("algorithm: %s, schedule: %s, %s", a.Name, s.Name, as))
				if err == nil {
					_, err = compose.NewPlan(p.Workload)
				}
				if err != nil {
					continue
				}
				if nth++; nth%7 > 0 && testenv.Long(t) == 0 {
					continue
				}
				if a.Dense {
					p.Workload.Iterations = 2
				}
				ran[s.Name]++
				ran[a.Name]++
				t.Run(a.Name+"/"+s.Name+"/"+as, func(t *testing.T) { equals(t, p.Machine, g, p.Workload) })
			}
		}
	}
	for _, s := range schedule.All() {
		require.Greater(t, ran[s.Name], 2, s.Name)
	}
	for _, a := range algorithm.Algorithms() {
		require.Positive(t, ran[a.Name], a.Name)
	}
}

// For all kinds of machines: where atomics are performed, how lanes are batched, line sizes, the arrangement of cores,
// and whether units set masks.
func TestReplayEqualsExecutionOnAllKindsOfMachines(t *testing.T) {
	g := testGraph(t, 6)
	kernels := []string{"bfs/vertex", "cc/weaver", "sssp/cta"}
	for i, set := range [][]string{
		{"atomics.mode=simx25"}, {"atomics.mode=simx24"}, {"atomics.combine=true", "l2={}"},
		{"core.threads=32", "core.warps=4", "l2={}", "sockets=2"}, {"core.threads=1", "core.warps=8"},
		{"core.weaver.mask_by_unit=true", "core.threads=8"}, {"core.weaver.st_entries=8"},
		{"core.fetch_width=2", "core.issue.policy=gto", "core.lsu_queue=8", "sockets=2", "cores_per_socket=2", "l2={}"},
		{"memory.preset=vortex-harness", "core.idiv=dpi"}, {"l1d.write_policy=back", "l2={}", "l3={}"},
	} {
		cfg := machine(t, "vortex-1c4w4t-weaver", set...)
		for _, kernel := range []string{kernels[i%3], kernels[(i+1)%3]} {
			algorithm, schedule, _ := strings.Cut(kernel, "/")
			t.Run(kernel+" "+strings.Join(set, " "), func(t *testing.T) {
				equals(t, cfg, g, testWorkload(t, algorithm, schedule, 0))
			})
		}
	}
}
