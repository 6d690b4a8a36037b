package lower_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/looptest"
	"heddle/graphit/lower"
	"heddle/graphit/programs"
	"heddle/isa"
	"heddle/kernels/host"
	"heddle/kernels/workload"
	"heddle/sim"
)

// tiles is a machine of Swarm tiles.
func tiles(t testing.TB, name string, set ...string) *host.Timed {
	l, err := configs.LoadMachine(name, nil, set)
	require.NoError(t, err)
	d, err := host.NewTimed(l.Value, sim.Options{Check: true, MaxCycles: 200_000_000})
	require.NoError(t, err)
	return d
}

func onTiles(t testing.TB, d host.Device, g *graph.Graph, src, schedule string, args ...string) (lower.Result, error) {
	f := parse(t, "p.gt", src)
	o := lower.Options{Args: append([]string{"p.gt", "graph"}, args...), Workload: workload.Default()}
	if schedule != "" {
		s, err := graphit.ParseSchedule("s.gt", []byte(schedule))
		require.NoError(t, err)
		o.Schedule = s
	}
	return lower.Run(context.Background(), d, g, f, o)
}

// argumentsOf are those of the shipped programs.
var argumentsOf = map[string]string{"pagerank": "3", "pagerank_delta": "4"}

// TestShippedProgramsOnTiles: tasks compute what the reference does, on one core, on several tiles, and with the
// smallest queues and signatures that are often wrong.
func TestShippedProgramsOnTiles(t *testing.T) {
	g := load(t, "rmat.scale=7", "rmat.edge_factor=6", "weights.from=random", "clean.symmetrise=true")
	for _, name := range programs.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arg := argumentsOf[name]
			if arg == "" {
				arg = "1"
			}
			for _, d := range []*host.Timed{
				tiles(t, "swarm-1c"), tiles(t, "swarm-16c"),
				tiles(t, "swarm-4c", "swarm.task_queue=2", "swarm.commit_queue=1", "swarm.signature_bits=64"),
			} {
				r, err := onTiles(t, d, g, program(t, name), "", arg)
				require.NoError(t, err)
				require.True(t, r.Verified)
				require.NotZero(t, r.Times.Cycles)
				require.NoError(t, d.Machine.CheckInvariants())
			}
		})
	}
}

// looks counts the super-steps that have launches, as heddle run does.
type looks struct {
	host.Device
	last, n int
	begun   bool
}

func (l *looks) BeginStep(n int) error {
	l.begun, l.last = l.begun || n != l.last, n
	return host.BeginStep(l.Device, n)
}

func (l *looks) Launch(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error) {
	if l.begun {
		l.begun = false
		l.n++
	}
	return l.Device.Launch(ctx, p, arg)
}

// TestLooksOnTiles: on tiles, too, gt run counts step_overhead as often as heddle run does.
func TestLooksOnTiles(t *testing.T) {
	g := load(t, "rmat.scale=6", "weights.from=random", "clean.symmetrise=true")
	for _, name := range []string{"bfs", "pagerank", "sssp"} {
		var overheads [2]uint64
		d := &looks{}
		for i, overhead := range []int{0, 7000} {
			d = &looks{Device: tiles(t, "swarm-1c")}
			w := workload.Default()
			w.StepOverhead = overhead
			arg := argumentsOf[name]
			if arg == "" {
				arg = "1"
			}
			r, err := lower.Run(context.Background(), d, g, parse(t, name, program(t, name)),
				lower.Options{Args: []string{"p.gt", "graph", arg}, Workload: w})
			require.NoError(t, err, name)
			overheads[i] = r.Times.Overhead
		}
		require.Positive(t, d.n, name)
		require.EqualValues(t, 7000*d.n, overheads[1]-overheads[0], name)
	}
}

// TestLaunchesOfTasks: operators whose results main does not ask for are one launch, and so is a loop over a frontier
// or a queue.
func TestLaunchesOfTasks(t *testing.T) {
	g := load(t, "rmat.scale=6", "weights.from=random", "clean.symmetrise=true")
	for name, want := range map[string]uint64{
		"pagerank": 1, "pagerank_delta": 1, "spmv": 1, "bfs": 1, "sssp": 1, "cc": 2, "delta_stepping": 1, "k_core": 1,
	} {
		arg := argumentsOf[name]
		if arg == "" {
			arg = "1"
		}
		r, err := onTiles(t, tiles(t, "swarm-4c"), g, program(t, name), "", arg)
		require.NoError(t, err, name)
		require.Equal(t, want, r.Times.Launches, name)
	}
	onHost, err := onTiles(t, tiles(t, "swarm-4c"), g, program(t, "bfs"), "", "1")
	require.NoError(t, err)
	simt, err := lower.Run(context.Background(), device(t, workload.Default()), g, parse(t, "p.gt", program(t, "bfs")),
		lower.Options{Args: []string{"p.gt", "graph", "1"}, Workload: workload.Default()})
	require.NoError(t, err)
	require.Equal(t, simt.Steps, onHost.Steps, "a round is a traversal")
}

// swarmSchedules have every setting of a SimpleSwarmSchedule that tasks have.
var swarmSchedules = []string{
	"s.configLoadBalance(EDGE_BASED);", "s.configTaskGranularity(COARSE);",
	"s.configLoadBalance(EDGE_BASED); s.configTaskGranularity(COARSE);", "s.configLoopCoarsening(COARSEN_ENABLED);",
	"s.configDeduplication(DISABLED);", "s.configDirection(PUSH); s.configStride(STRIDE_OFF); s.configQueueType(PRIOQUEUE);",
}

// TestSwarmSchedules: under every schedule the result is the reference's; the settings change the tasks.
func TestSwarmSchedules(t *testing.T) {
	g := load(t, "rmat.scale=6", "weights.from=random", "clean.symmetrise=true")
	for name, label := range map[string]string{
		"pagerank": "loop:step", "bfs": "loop:step", "sssp": "loop:step", "delta_stepping": "loop:step",
		"k_core": "loop:step", "bc": "search:step",
	} {
		arg := argumentsOf[name]
		if arg == "" {
			arg = "1"
		}
		cycles := map[uint64]bool{}
		for _, s := range append([]string{""}, swarmSchedules...) {
			r, err := onTiles(t, tiles(t, "swarm-4c"), g, program(t, name),
				"SimpleSwarmSchedule s; "+s+` program->applySwarmSchedule("`+label+`", s);`, arg)
			require.NoError(t, err, "%s: %s", name, s)
			require.True(t, r.Verified)
			cycles[r.Times.Cycles] = true
		}
		require.GreaterOrEqual(t, len(cycles), 2, name)
	}
	var deltas []uint64
	for _, delta := range []string{"1", "3", "64"} {
		r, err := onTiles(t, tiles(t, "swarm-4c"), g, program(t, "delta_stepping"),
			`SimpleSwarmSchedule s; s.configDelta("argv[3]"); program->applySwarmSchedule("loop:step", s);`, "1", delta)
		require.NoError(t, err)
		deltas = append(deltas, r.Times.Cycles)
	}
	require.NotEqual(t, deltas[0], deltas[2])
}

// TestLoopsOnTiles: loops of many shapes, each as a launch or as one operator after another.
func TestLoopsOnTiles(t *testing.T) {
	g := load(t, "rmat.scale=5", "rmat.edge_factor=2", "weights.from=random", "clean.symmetrise=true")
	var refused []string
	for _, name := range slices.Sorted(maps.Keys(looptest.Programs)) {
		r, err := onTiles(t, tiles(t, "swarm-4c"), g, looptest.Programs[name], "", "3")
		if err != nil && strings.Contains(err.Error(), "on tasks, ") {
			refused = append(refused, name)
			continue
		}
		require.NoError(t, err, name)
		require.True(t, r.Verified, name)
	}
	require.Equal(t, []string{"a queue of unsigned numbers", "a queue's last bucket, which ends where numbers do",
		"a queue's vertices"}, refused)
}

// TestRefusedOnTiles: what has no tasks is refused, with the line.
func TestRefusedOnTiles(t *testing.T) {
	g := load(t, "rmat.scale=5", "weights.from=random")
	odd := strings.Replace(program(t, "delta_stepping"), "        delete frontier;", "        print 1;", 1)
	_, err := onTiles(t, tiles(t, "swarm-1c"), g, odd, "", "1")
	require.ErrorContains(t, err, "p.gt:18:")
	require.ErrorContains(t, err, "on tasks, applyUpdatePriority is for loops as")
	for s, want := range map[string]string{
		"s.configDirection(PULL);":            "expected PUSH",
		"s.configStride(STRIDE_ON);":          "expected STRIDE_OFF",
		"s.configQueueType(BUCKETQUEUE);":     "expected PRIOQUEUE",
		"s.configSpatialHint(HINTS_ENABLED);": "expected HINTS_DISABLED",
		"s.configDelta(0);":                   "configDelta",
		"s.configNumCores(64);":               "configNumCores(64): the machine has 1",
		`s.configNumCores("argv[9]");`:        "argv[9]",
		"s.configDelta(2);":                   "expected configDelta(1)",
		"s.configTaskGranularity(COARSE); s":  "expected",
	} {
		f := parse(t, "p.gt", program(t, "k_core"))
		sched, err := graphit.ParseSchedule("s.gt", []byte("SimpleSwarmSchedule s; "+s+
			` program->applySwarmSchedule("loop:step", s);`))
		if err == nil {
			_, err = lower.Run(context.Background(), tiles(t, "swarm-1c"), g, f, lower.Options{
				Args: []string{"p.gt", "graph", "1"}, Workload: workload.Default(), Schedule: sched})
		}
		require.ErrorContains(t, err, want, s)
	}
}

// TestCoresOfOperators: operators use the same number of cores.
func TestCoresOfOperators(t *testing.T) {
	g := load(t, "rmat.scale=5")
	two := `SimpleSwarmSchedule s; s.configNumCores(2); program->applySwarmSchedule("search:step", s);
		SimpleSwarmSchedule u; u.configNumCores(%d); program->applySwarmSchedule("return:step", u);`
	_, err := onTiles(t, tiles(t, "swarm-4c"), g, program(t, "bc"), fmt.Sprintf(two, 4), "1")
	require.ErrorContains(t, err, "configNumCores(4): another operator has 2")
	_, err = onTiles(t, tiles(t, "swarm-4c"), g, program(t, "bc"), fmt.Sprintf(two, 2), "1")
	require.NoError(t, err)
}

// TestCoresOfASchedule: a schedule may use fewer cores than the machine has.
func TestCoresOfASchedule(t *testing.T) {
	g := load(t, "rmat.scale=6")
	cycles := func(machine, n string) uint64 {
		r, err := onTiles(t, tiles(t, machine), g, program(t, "pagerank"),
			"SimpleSwarmSchedule s; s.configNumCores("+n+`); program->applySwarmSchedule("loop:step", s);`, "2")
		require.NoError(t, err)
		return r.Times.Cycles
	}
	require.Greater(t, cycles("swarm-16c", "2"), cycles("swarm-16c", "8"))
	all, err := onTiles(t, tiles(t, "swarm-16c"), g, program(t, "pagerank"), "", "2")
	require.NoError(t, err)
	require.Equal(t, all.Times.Cycles, cycles("swarm-16c", "16"))
}
