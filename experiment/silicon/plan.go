package silicon

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heddle/experiment"
	"heddle/graph"
	"heddle/graph/graphspec"
)

// algorithm is a measured algorithm, and heddle's counterpart.
type algorithm struct {
	name, algorithm, direction string
	gather                     bool // its gather alone is measured, of one super-step
}

// algorithms are in the order of tables.
var algorithms = []algorithm{
	{"pr-push", "pagerank", "push", true},
	{"pr-pull", "pagerank", "pull", true},
	{"bfs", "bfs", "push", false},
	{"cc", "cc", "push", false},
	{"sssp", "sssp", "push", false},
	{"spmv", "spmv", "pull", true},
}

func algorithmNames() (names []string) {
	for _, a := range algorithms {
		names = append(names, a.name)
	}
	return names
}

// algorithmNamed is one that Read has let pass.
func algorithmNamed(name string) *algorithm {
	return &algorithms[slices.IndexFunc(algorithms, func(a algorithm) bool { return a.name == name })]
}

// Unrollings are the values of workload.compiler.unroll that there are points of.
var Unrollings = []string{"auto", "1"}

// Experiment is the YAML of the points of a graph on a machine: all algorithms and schedules, whichever of them are
// compared, so that results stay those of one experiment. A machine is a preset's name or a file.
//
// A functional run comes before the one that counts, as silicon's times are those of warm repetitions.
//
// Spills go to float registers, since nvcc spills nothing of such kernels. A run begins at the vertex from, by its
// number in the graph as it was read.
//
// Cores of more threads than a thread block has on silicon run blocks of as many.
func Experiment(machine string, threads, block int, g *Graph, source string, from int) string {
	workload := fmt.Sprintf("spill: registers, source: %d", from)
	if threads > block {
		workload += fmt.Sprintf(", cta_threads: %d", block)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "name: %q\nmachine: %q\n", g.Name, machine)
	fmt.Fprintf(&b, "graph: {%s, clean: {%s}, weights: {from: random}}\n", source, cleaning)
	fmt.Fprintf(&b, "workload: {%s}\nregion: {warm_runs: 1}\n", workload)
	fmt.Fprintf(&b, "compare: {workload.schedule: [%s]}\nsweep:\n", strings.Join(Schedules, ", "))
	b.WriteString("  \"workload.algorithm, workload.direction\": [")
	for i, a := range algorithms {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "[%s, %s]", a.algorithm, a.direction)
	}
	fmt.Fprintf(&b, "]\n  workload.compiler.unroll: [%s]\n", strings.Join(Unrollings, ", "))
	return b.String()
}

// cleaning is applied to all graphs.
const cleaning = "symmetrise: true, drop_duplicates: true, drop_self_loops: true"

// KeyOf identifies the simulation of a point of such an experiment.
func KeyOf(machine, graphName string, p *experiment.Point) Key {
	w := &p.Config.Workload
	key := Key{Machine: machine, Unroll: string(w.Unroll), Graph: graphName, Schedule: string(w.Schedule)}
	for _, a := range algorithms {
		if a.algorithm == string(w.Algorithm) && a.direction == string(w.Direction) {
			key.Algorithm = a.name
		}
	}
	return key
}

// SimulatedBy returns the outcome of a point; false: it has none to compare.
func SimulatedBy(key Key, p *experiment.Point, o *experiment.Outcome) (s Simulated, ok bool) {
	if !o.Counts() {
		return s, false
	}
	count := func(name string) uint64 {
		v, _ := o.Stats.Get(name)
		return uint64(v.Float())
	}
	s = Simulated{Key: key, Cycles: count("device_cycles"), Overhead: p.Config.Workload.LaunchOverhead,
		Launches: count("launch.count"), SuperSteps: count("super_steps")}
	if algorithmNamed(key.Algorithm).gather {
		s.Cycles = count("kernel.gather.cycles")
	}
	return s, s.Cycles > 0
}

// AbsentError is the error of a graph without a file.
type AbsentError struct{ Graph, Dir string }

func (e *AbsentError) Error() string {
	return fmt.Sprintf("%s: no file of it in %s, and heddle ships and generates none of that name", e.Graph, e.Dir)
}

// Source is the key of a graph that says where it comes from: a file in a directory that is called as the graph is, the
// rest of its name after a dot, _ or -; else one that heddle ships; else a generator, if the name is rmat and a scale,
// grid and a width, or ws (Watts and Strogatz's small world, on a grid) and a scale: those of tools/silicon.
func Source(dir string, g *Graph) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return "", err
	}
	for _, after := range []string{".", "_-"} {
		var fit []string
		for _, e := range entries {
			rest, ok := strings.CutPrefix(e.Name(), g.Name)
			if ok && !e.IsDir() && rest != "" && strings.Contains(after, rest[:1]) {
				fit = append(fit, e.Name())
			}
		}
		switch {
		case len(fit) > 1:
			return "", fmt.Errorf("%s has %s: expected one file of %s", dir, strings.Join(fit, " and "), g.Name)
		case len(fit) == 1:
			path := filepath.Join(dir, fit[0])
			if !strings.ContainsAny(path, `./\`) { // or it would be the name of a graph that heddle ships
				path = "./" + path
			}
			return fmt.Sprintf("file: %q", path), nil
		}
	}
	for _, name := range graph.Names() {
		if name == g.Name || strings.HasPrefix(name, g.Name+"_") {
			return "file: " + name, nil
		}
	}
	if m := rmatName.FindStringSubmatch(g.Name); m != nil {
		scale, _ := strconv.Atoi(m[1])
		return fmt.Sprintf("rmat: {scale: %d, edge_factor: %d}", scale, edgeFactor(scale, g.Edges)), nil
	}
	if m := gridName.FindStringSubmatch(g.Name); m != nil {
		return fmt.Sprintf("grid: {width: %s, height: %s, seed: 1}", m[1], m[1]), nil
	}
	if m := smallWorldName.FindStringSubmatch(g.Name); m != nil {
		scale, _ := strconv.Atoi(m[1])
		return fmt.Sprintf("grid: {width: %d, height: %d, rewire: 0.1, seed: 1}", 1<<((scale+1)/2), 1<<(scale/2)), nil
	}
	return "", &AbsentError{g.Name, dir}
}

var (
	rmatName       = regexp.MustCompile(`^rmat-?([1-9]|1[0-9]|2[0-7])$`)
	gridName       = regexp.MustCompile(`^grid([1-9][0-9]{0,3})$`)
	smallWorldName = regexp.MustCompile(`^ws([1-9]|1[0-9]|2[0-4])$`)
)

// edgeFactor is the smallest power of two by which an R-MAT graph may have so many edges in both directions.
func edgeFactor(scale, edges int) int {
	perVertex := (edges/2 + 1<<scale - 1) >> scale
	return min(4096, 1<<bits.Len(uint(max(perVertex, 1)-1)))
}

// Check holds a graph, as it is compared, against the file's numbers, and returns the vertex at which runs begin: that
// of most edges, the first of them.
func (c *Campaign) Check(g *Graph, spec graphspec.Graph) (from int, err error) {
	got, err := graph.Load(spec)
	if err != nil {
		return 0, err
	}
	if got.Vertices() != g.Vertices || got.Edges() != g.Edges {
		return 0, fmt.Errorf("%s:%d: %s has n = %d and m = %d, and %s, symmetrised, has %d vertices and %d edges: "+
			"expected the same graph", c.File, g.line, g.Name, g.Vertices, g.Edges, got.Record.Source, got.Vertices(),
			got.Edges())
	}
	rows, most := got.CSR(), 0
	for v := range got.Vertices() {
		if len(rows.Row(v)) > len(rows.Row(most)) {
			most = v
		}
	}
	return int(got.AsRead(uint32(most))), nil
}
