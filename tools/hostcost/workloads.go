package main

import "fmt"

// workload is a simulation whose host instructions are counted.
type workload struct {
	name    string
	machine string
	goal    int // host instructions per warp instruction; 0: no goal
	program program
	point   point
	byPart  bool // the page shows its cost by part
}

// program is a micro-program (isa/micro/programs); the zero value: the workload is a point.
type program struct {
	name  string
	iters int
}

// point is a point of an experiment: graph.yaml with these keys.
type point struct {
	algorithm, schedule string
	// a random graph (Erdős–Rényi) of that many vertices and 8 times as many edges, instead of facebook_combined
	vertices int
	edges    uint64 // the quick count ends after that many edges; 0: the whole run
	cycles   uint64 // or after that many cycles of a launch
	sockets  int    // sockets of the machine; 0: its own
}

// workloads are the fixed list. Their names and sizes belong to the recorded table: a change requires recording it
// again.
var workloads = []workload{
	{name: "alu_chain", machine: "vortex-6c32w32t", goal: 1200, program: program{"alu_chain", 20}, byPart: true},
	{name: "ld_rand", machine: "vortex-6c32w32t", goal: 12000, program: program{"ld_rand", 1}, byPart: true},
	{name: "pull, small graph", machine: "vortex-6c32w32t", goal: 2800, point: point{algorithm: "pagerank", schedule: "vertex", vertices: 1024}, byPart: true},
	{name: "PageRank vertex", machine: "vortex-6c32w32t", goal: 4000, point: point{algorithm: "pagerank", schedule: "vertex", edges: 15000}, byPart: true},
	{name: "PageRank warp", machine: "vortex-6c32w32t", goal: 2600, point: point{algorithm: "pagerank", schedule: "warp", edges: 15000}},
	{name: "PageRank weaver", machine: "vortex-6c32w32t-weaver", goal: 3400, point: point{algorithm: "pagerank", schedule: "weaver", edges: 15000}},
	{name: "PageRank peg", machine: "vortex-6c32w32t-graphpeg", goal: 3800, point: point{algorithm: "pagerank", schedule: "peg", edges: 15000}},
	{name: "BFS peg", machine: "graphpeg-15sm", point: point{algorithm: "bfs", schedule: "peg", edges: 15000}},
	{name: "PageRank strict", machine: "graphpeg-60sm", point: point{algorithm: "pagerank", schedule: "strict", cycles: 3000}},
	{name: "PageRank strict, six", machine: "graphpeg-60sm", point: point{algorithm: "pagerank", schedule: "strict", cycles: 3000, sockets: 6}},
	{name: "PageRank vertex, GPU", machine: "gpu-16sm", point: point{algorithm: "pagerank", schedule: "vertex", edges: 15000}},
	{name: "PageRank warp, GPU", machine: "gpu-16sm", point: point{algorithm: "pagerank", schedule: "warp", edges: 15000}},
	{name: "lp, GPU", machine: "teslap4-2sm", point: point{algorithm: "lp", schedule: "warp", edges: 15000}},
	{name: "ld_rand, one core", machine: "vortex-1c4w4t", program: program{"ld_rand", 50}},
}

// quiet is a time between lines of progress that no run reaches: a goroutine that wakes for one, or runs while one is
// written, would be taken for the simulation's return (unpreempted).
const quiet = "1000h"

// args returns the command line of heddle that runs the workload and prints its counts as JSON. out is the directory of
// a point's results.
func (w *workload) args(whole bool, config, out string) []string {
	if w.program.name != "" {
		return []string{
			"exec", "isa/micro/programs/" + w.program.name + ".s", "-D", fmt.Sprint("ITERS=", w.program.iters),
			"--machine", w.machine, "--json", "--heartbeat", quiet,
		}
	}
	args := []string{"run", config, "--fresh", "--json", "--jobs", "1", "--heartbeat", quiet, "--out", out}
	set := func(key string, value any) { args = append(args, "--set", fmt.Sprint(key, "=", value)) }
	set("machine", w.machine)
	set("workload.algorithm", w.point.algorithm)
	set("workload.schedule", w.point.schedule)
	if w.point.sockets != 0 {
		set("machine.sockets", w.point.sockets)
	}
	if w.point.algorithm == "bfs" {
		set("workload.max_iterations", 0)
	}
	if n := w.point.vertices; n != 0 {
		set("graph.file", "")
		set("graph.erdos_renyi.vertices", n)
		set("graph.erdos_renyi.edges", 8*n)
	}
	if w.point.edges != 0 && !whole {
		set("stop.max_edges", w.point.edges)
	}
	if w.point.cycles != 0 && !whole {
		args = append(args, "--max-cycles", fmt.Sprint(w.point.cycles))
	}
	return args
}
