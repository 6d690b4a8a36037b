package samplecheck

import (
	"fmt"
	"math/rand/v2"
)

// drawnGraphs are the families that Drawn draws from. A size is drawn between 1 and 2.
var drawnGraphs = []struct {
	name string
	keys func(size float64) string
}{
	{"rmat", func(x float64) string {
		return fmt.Sprintf("rmat: {scale: 12, edge_factor: %d}, clean: {symmetrise: true}", int(6*x))
	}},
	{"power law", func(x float64) string {
		return fmt.Sprintf("powerlaw_cluster: {vertices: %d, edges_per_step: 5}", int(4000*x))
	}},
	{"uniform", func(x float64) string {
		return fmt.Sprintf("erdos_renyi: {vertices: %d, edges: %d}", int(4000*x), int(20000*x))
	}},
	{"grid", func(x float64) string {
		return fmt.Sprintf("grid: {width: %d, height: 100, remove: 0.2}", int(60*x))
	}},
	{"long grid", func(x float64) string {
		return fmt.Sprintf("grid: {width: %d, height: 20, remove: 0.1}", int(300*x))
	}},
}

// drawnOn are schedules on machines that have their units.
var drawnOn = []struct{ machine, schedule string }{
	{"vortex-1c32w32t-slice", "vertex"}, {"vortex-1c32w32t-slice", "warp"}, {"vortex-1c32w32t-slice", "edge"},
	{"vortex-6c32w32t", "vertex"}, {"vortex-6c32w32t", "warp"}, {"vortex-6c32w32t-weaver", "weaver"},
	{"vortex-6c32w32t-eghw", "eghw"}, {"vortex-6c32w32t-graphpeg", "peg"},
}

// Drawn draws n cases of many super-steps: graph, algorithm, and schedule with machine. The same seed draws the same
// ones.
func Drawn(seed uint64, n int) (all []Case) {
	r := rand.New(rand.NewPCG(seed, 41))
	for len(all) < n {
		g, on := drawnGraphs[r.IntN(len(drawnGraphs))], drawnOn[r.IntN(len(drawnOn))]
		c := Case{Graph: g.name, Keys: g.keys(1 + r.Float64()), Set: []string{"machine=" + on.machine,
			"workload.schedule=" + on.schedule}}
		switch algorithm := []string{"pagerank", "bfs", "sssp", "cc"}[r.IntN(4)]; algorithm {
		case "pagerank":
			c.Set = append(c.Set, "workload.algorithm=pagerank", "workload.max_iterations=20")
		default:
			c.Set = append(c.Set, "workload.algorithm="+algorithm)
		}
		all = append(all, c)
	}
	return all
}
