package experiment

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/config"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/sim"
)

// fileOf writes an experiment.
func fileOf(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.yaml")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	return name
}

// estimated are points on one machine and graph that differ in their workload, vetted.
func estimated(t *testing.T, text string) *Runner {
	t.Helper()
	l, err := config.Load(fileOf(t, text), nil, nil)
	require.NoError(t, err)
	p, err := Points(l, nil)
	require.NoError(t, err)
	r := &Runner{Points: p, Jobs: 1}
	require.NoError(t, r.Vet(context.Background(), l, nil))
	return r
}

// TestArraysAreEstimated: on graphs that are not generated yet, arrays are estimated from small ones. On
// the graph itself they are at most a little more or less.
func TestArraysAreEstimated(t *testing.T) {
	r := estimated(t, `
name: x
machine: vortex-6c32w32t
graph: {erdos_renyi: {vertices: 30000, edges: 200000}, weights: {from: random}}
workload: {algorithm: bfs, schedule: vertex}
sweep:
  workload.algorithm: [bfs, pagerank, spmv]
  workload.layout: [auto, coo]
`)
	g, err := graph.Load(r.Points[0].Config.Graph)
	require.NoError(t, err)
	for i := range r.Points {
		cfg := &r.Points[i].Config
		d, err := host.NewRehearsal(&cfg.Machine)
		require.NoError(t, err)
		plan, err := compose.NewPlan(cfg.Workload)
		require.NoError(t, err)
		plan.Weights = g.WeightKind()
		c, err := compose.Compile(plan, d.Shape())
		require.NoError(t, err)
		m, err := c.Rehearse(d, g, cfg.Workload)
		require.NoError(t, err)
		n := r.needs[i]
		own, derived := n.own.of(30000, 400000), n.derived.of(30000, 400000)
		require.InEpsilon(t, float64(m.Own), float64(own), 0.05, Label(r.Points[i].Axes))
		require.InDelta(t, float64(m.Derived), float64(derived), 0.02*float64(m.Derived)+64, Label(r.Points[i].Axes))
	}
}

// TestMachinesAreEstimated: within half and twice of a machine's memory.
func TestMachinesAreEstimated(t *testing.T) {
	for _, name := range []string{"vortex-1c32w32t-slice", "vortex-6c32w32t", "graphpeg-15sm", "kepler-60sm"} {
		l, err := config.Load(fileOf(t, "name: x\nmachine: "+name+"\ngraph: {grid: {width: 4, height: 4}}\n"), nil, nil)
		require.NoError(t, err)
		is := 0.0
		for range 3 { // goroutines of earlier tests free memory as they end, and make a machine look smaller
			var before, after runtime.MemStats
			runtime.GC()
			runtime.GC() // objects in pools live through one
			runtime.ReadMemStats(&before)
			d, err := host.NewTimed(l.Value.Machine, sim.Options{})
			require.NoError(t, err)
			runtime.GC()
			runtime.GC()
			runtime.ReadMemStats(&after)
			is = max(is, float64(after.HeapAlloc)-float64(before.HeapAlloc))
			runtime.KeepAlive(d)
		}
		require.InEpsilon(t, is, float64(machineBytes(&l.Value.Machine)), 1, name)
		require.Greater(t, float64(machineBytes(&l.Value.Machine)), is/2, name)
	}
}

// TestWhole: points side by side add up, and graphs count once; those that are kept for points to come, too.
func TestWhole(t *testing.T) {
	const mib = 1 << 20
	e := &MemoryEstimate{
		todo: []int{0, 1, 2, 3}, own: []uint64{10 * mib, 20 * mib, 30 * mib, 5 * mib},
		graphs: []string{"a", "a", "b", "b"},
		bytes:  map[string]uint64{"a": 100 * mib, "b": 1000 * mib}, grows: make([]bool, 4),
	}
	whole := func(jobs int, idle uint64) [2]uint64 {
		w, g := e.Whole(jobs, idle)
		return [2]uint64{(w - processBytes) / mib, g / mib}
	}
	require.Equal(t, [2]uint64{1030, 1000}, whole(1, 1))
	require.Equal(t, [2]uint64{1130, 1100}, whole(1, 0), "the other graph, which is wanted still")
	require.Equal(t, [2]uint64{1150, 1100}, whole(2, 1))
	require.Equal(t, [2]uint64{1165, 1100}, whole(8, 1))
	largest, ok := e.Largest()
	require.True(t, ok)
	require.Equal(t, 2, largest)
	require.EqualValues(t, processBytes+1030*mib, e.Point(2))
	require.Equal(t, 2, e.JobsWithin(processBytes+1150*mib, 8, 1))
	require.Equal(t, 0, e.JobsWithin(mib, 8, 1))

	e.grows[1] = true
	require.Equal(t, [2]uint64{1030, 1000}, whole(1, 1))
	require.Equal(t, [2]uint64{2 * 1150, 1100}, whole(2, 1), "the memory of all points, until it is collected")
	require.EqualValues(t, processBytes+2*120*mib, e.Point(1))
	e.grows[1] = false

	points := make([]Point, 4)
	room := Room{Bytes: processBytes + 1150*mib, Known: true, Idle: 1}
	warning, err := e.Check(points, room, 2)
	require.NoError(t, err)
	require.Empty(t, warning)
	warning, err = e.Check(points, room, 3)
	require.NoError(t, err)
	require.Equal(t, "up to about 1.2 GiB of memory may be needed, and 1.2 GiB are available (of the host, or of this "+
		"process's control group): --jobs 2 needs no more", warning)
	room.Bytes = 500 * mib
	_, err = e.Check(points, room, 1)
	require.EqualError(t, err, "the point (the only one) needs about 1.1 GiB of memory, and 500 MiB are available (of "+
		"the host, or of this process's control group): give a --memory-limit to run it all the same, or take a smaller "+
		"graph")
	room.Limit = true
	warning, err = e.Check(points, room, 1)
	require.NoError(t, err)
	require.Equal(t, "up to about 1.1 GiB of memory may be needed, and --memory-limit is 500 MiB", warning)
	room.Known = false
	warning, err = e.Check(points, room, 1)
	require.NoError(t, err)
	require.Empty(t, warning)
}

// TestNominalVertices: as many as the generators make.
func TestNominalVertices(t *testing.T) {
	for _, g := range []graphspec.Graph{
		{RMAT: &graphspec.RMAT{Scale: 5, EdgeFactor: 2, A: 0.5, B: 0.2, C: 0.2}}, {PowerlawCluster: &graphspec.PowerlawCluster{Vertices: 20, EdgesPerStep: 2}},
		{ErdosRenyi: &graphspec.ErdosRenyi{Vertices: 7, Edges: 3}}, {Grid: &graphspec.Grid{Width: 3, Height: 4}}, {Bipartite: &graphspec.Bipartite{Left: 2, Right: 5, Edges: 3}},
	} {
		made, err := graph.Load(g)
		require.NoError(t, err)
		require.EqualValues(t, made.Vertices(), g.NominalVertices())
	}
}
