package samplecheck

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// drawnGraphs are the families that Drawn draws from, by size: that of 1 has some 10,000 edges, and rmat of 1 4,000 to
// 22,000, as its edges a vertex follow from the size's digits.
var drawnGraphs = []struct {
	name string
	keys func(size float64) string
}{
	{"rmat", func(x float64) string {
		return fmt.Sprintf("rmat: {scale: %d, edge_factor: %d}, clean: {symmetrise: true}", 10+int(math.Log2(x)),
			4+int(40*x)%19)
	}},
	{"power law", func(x float64) string {
		return fmt.Sprintf("powerlaw_cluster: {vertices: %d, edges_per_step: 5}", int(2000*x))
	}},
	{"uniform", func(x float64) string {
		return fmt.Sprintf("erdos_renyi: {vertices: %d, edges: %d}", int(2000*x), int(10000*x))
	}},
	{"grid", func(x float64) string {
		return fmt.Sprintf("grid: {width: %d, height: %d, remove: 0.2}", int(60*math.Sqrt(x)), int(50*math.Sqrt(x)))
	}},
	{"long grid", func(x float64) string {
		return fmt.Sprintf("grid: {width: %d, height: 20, remove: 0.1}", int(150*x))
	}},
}

type schedule struct{ machine, name string }

// inSoftware are schedules on machines without units, the only ones of algorithms on features; onUnits are others on
// machines that have their units.
var inSoftware = []schedule{
	{"vortex-1c32w32t-slice", "vertex"}, {"vortex-1c32w32t-slice", "warp"}, {"vortex-1c32w32t-slice", "edge"},
	{"vortex-6c32w32t", "vertex"}, {"vortex-6c32w32t", "warp"}, {"vortex-6c32w32t", "strict"},
	{"gpu-16sm", "vertex"}, {"gpu-16sm", "warp"}, {"gpu-16sm", "cta"},
}

var onUnits = []schedule{
	{"vortex-6c32w32t-weaver", "weaver"}, {"vortex-6c32w32t-eghw", "eghw"}, {"vortex-6c32w32t-graphpeg", "peg"},
}

// Drawn draws n cases of many super-steps: graph, algorithm, and schedule with machine. Traversals are drawn on grids
// alone: elsewhere they end after a few steps, of which nothing is left out. Sizes are drawn by their logarithm, from 1
// to the largest, on features to its root. The same arguments draw the same cases.
func Drawn(seed uint64, n int, largest float64) (all []Case) {
	r, every := rand.New(rand.NewPCG(seed, 41)), slices.Concat(inSoftware, onUnits)
	for len(all) < n {
		algorithm := []string{"pagerank", "pagerank", "bfs", "sssp", "cc", "lp", "als", "bp", "mmr", "mml"}[r.IntN(10)]
		families, on := drawnGraphs, every[r.IntN(len(every))]
		size := math.Pow(largest, r.Float64())
		set := []string{"workload.algorithm=" + algorithm}
		switch algorithm {
		case "pagerank":
			set = append(set, "workload.max_iterations=20")
		case "bfs", "sssp", "cc":
			families = drawnGraphs[len(drawnGraphs)-2:]
		default:
			on = inSoftware[r.IntN(len(inSoftware))]
			size = math.Sqrt(size) // they take several times as long
			set = append(set, fmt.Sprint("workload.features.count=", 1+r.IntN(4)),
				fmt.Sprint("workload.features.aware=", r.IntN(2) > 0),
				fmt.Sprint("workload.features.change_driven=", r.IntN(2) > 0))
		}
		g := families[r.IntN(len(families))]
		all = append(all, Case{Graph: g.name, Keys: g.keys(size), Set: append(set, "machine="+on.machine,
			"workload.schedule="+on.name)})
	}
	return all
}
