// Command silicon exports a campaign for a GPU: CUDA programs of algorithms × schedules × layouts × directions, graphs,
// and a script that builds, checks and measures all of them where there is a GPU and no Go.
package main

import (
	"bufio"
	"cmp"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/kernels/compose"
	"heddle/kernels/cuda"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

//go:embed measure.sh check.sh
var scripts embed.FS

// options are those of the command line.
type options struct {
	points string
	warps  int
	graphs []string
	out    string
	unroll string

	all       bool // the points are all combinations
	only      string
	draw      int
	seed      uint64
	graphIt   bool // the standard points are GraphIt programs
	unchecked bool // without the reference results of GraphIt programs
}

func main() {
	var o options
	flag.StringVar(&o.points, "points", "", "`file` with a line for each program: algorithm schedule layout direction "+
		"[frontier [variant]] (default: PageRank push and pull, BFS, SSSP, CC, SpMV × software schedules)")
	flag.IntVar(&o.warps, "warps", mostWarps, "warps of a thread block")
	flag.StringVar(&o.unroll, "unroll", "1", "workload.compiler.unroll: 1 leaves unrolling to nvcc")
	flag.BoolVar(&o.all, "all", false, "without -points: every legal combination of algorithm, software schedule, layout "+
		"and direction, and again with the loop as one launch, each with one of its frontiers and other choices drawn: "+
		"thousands, of one graph, for check.sh")
	flag.StringVar(&o.only, "only", "", "of -all, the programs whose names match this regular `expression`")
	flag.IntVar(&o.draw, "draw", 1, "of -all, choices to draw for each combination; 0: all there are")
	flag.Uint64Var(&o.seed, "seed", 1, "draws the choices of -all")
	flag.BoolVar(&o.graphIt, "graphit", false, "without -points: heddle's GraphIt programs × software schedules, and "+
		"again with their loop as one launch")
	flag.BoolVar(&o.unchecked, "unchecked", false, "do not compute the reference results of GraphIt programs, which "+
		"takes long on "+
		"large graphs: they are not checked")
	flag.Usage = func() {
		fmt.Fprint(os.Stderr, `usage: go run ./tools/silicon [flags] FOLDER GRAPH...

Writes FOLDER: programs, a library that they share, graphs, points.txt and two scripts
for a machine with a GPU and nvcc:

  sh FOLDER/measure.sh result.csv   measures and checks
  sh FOLDER/check.sh checked.csv    only checks, several programs at once

A GRAPH is a file of any format that heddle reads, or one of rmatN and wsN (2^N vertices)
and gridN (N×N vertices). All are symmetrised, without self-loops and duplicates, with
random weights 1 to 64. BFS and SSSP begin at the vertex of most edges.

A line of -points can also be a GraphIt program, a file or one of heddle gt list:

  gt PROGRAM [SCHEDULE.gt] [fused] [KEY=VALUE]... [ARGUMENT]...

fused has the loop labelled loop be one launch, KEY is one of heddle gt run --workload,
and the argument SOURCE is the vertex of most edges: gt bfs hybrid.gt SOURCE.

  go run ./tools/silicon campaign facebook_combined rmat16 grid256 ws16 graphs/wiki-Vote.txt.gz
  go run ./tools/silicon -points my.txt campaign web.hgr
  go run ./tools/silicon -graphit campaign facebook_combined rmat16 grid256
  go run ./tools/silicon -all -warps 4 campaign rmat8

`)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	o.out, o.graphs = flag.Arg(0), flag.Args()[1:]
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.main(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "silicon:", err)
		os.Exit(1)
	}
}

// mostWarps is the largest number of warps of a CUDA block.
const mostWarps = 32

func (o *options) main(ctx context.Context) error {
	if o.warps < 1 || o.warps > mostWarps {
		return fmt.Errorf("-warps %d: expected 1 to %d", o.warps, mostWarps)
	}
	points, err := o.readPoints()
	if err != nil {
		return err
	}
	graphs, err := o.writeGraphs(ctx)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, p := range points {
		text, err := o.writePoint(ctx, p, graphs)
		if o.all && errors.As(err, new(*compose.KeyError)) { // of a value that the plan does not have
			fmt.Fprintf(os.Stderr, "left out: %v\n", err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name(), err)
		}
		lines.WriteString(text)
	}
	for _, name := range []string{"heddle.h", "cuda_on_host.h", "graphit.h"} {
		if err := write(filepath.Join(o.out, "library", name), cuda.LibraryFile(name)); err != nil {
			return err
		}
	}
	if err := write(filepath.Join(o.out, "points.txt"), []byte(lines.String())); err != nil {
		return err
	}
	fmt.Printf("%s: %d programs, %d graphs, %d points\n", o.out, len(points), len(graphs), len(points)*len(graphs))
	for _, name := range []string{"measure.sh", "check.sh"} {
		text, err := scripts.ReadFile(name)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(o.out, name), text); err != nil {
			return err
		}
	}
	return nil
}

// writePoint exports a point, and returns its lines of points.txt.
func (o *options) writePoint(ctx context.Context, p point, graphs []measured) (string, error) {
	s := host.Shape{Cores: 6, Warps: o.warps, Threads: cuda.Lanes, ScratchpadBytes: 48 << 10, LineBytes: 128}
	if p.program != nil {
		return o.writeGraphIt(ctx, s, p.program, graphs)
	}
	if err := o.writeProgram(ctx, s, p, graphs[0].graph); err != nil {
		return "", err
	}
	if p.plan != nil && len(graphs) == 1 { // arrays may be of the source that was exported
		return fmt.Sprintf("%s\t%s\tdefault\n", p.name(), graphs[0].name), nil
	}
	var lines strings.Builder
	for _, g := range graphs {
		fmt.Fprintf(&lines, "%s\t%s\t%d\n", p.name(), g.name, g.source)
	}
	return lines.String(), nil
}

func write(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o666)
}

// point is a program of the campaign.
type point struct {
	algorithm, schedule, layout, direction string
	frontier, variant                      string // empty: the default

	program *program      // nil: the four are a composed kernel
	plan    *compose.Plan // of that kernel, with further choices
}

func (p point) name() string {
	if p.plan != nil {
		return strings.Trim(strings.ReplaceAll(p.plan.Name(), "/", "-"), "-")
	}
	if p.program != nil {
		return p.program.name()
	}
	name := strings.Join([]string{p.algorithm, p.direction, p.schedule, p.layout}, "-")
	for _, s := range []string{p.frontier, p.variant} {
		if s != "" {
			name += "-" + s
		}
	}
	return name
}

// standard are the campaign's algorithms and directions.
var standard = []struct{ algorithm, direction string }{
	{"pagerank", "push"}, {"pagerank", "pull"}, {"bfs", "push"}, {"sssp", "push"}, {"cc", "push"}, {"spmv", "pull"},
}

// schedules are the software schedules.
var schedules = []string{"vertex", "warp", "cta", "twc", "twce", "strict", "edge"}

// readPoints returns the programs to export.
func (o *options) readPoints() (list []point, err error) {
	if o.all {
		return o.everyPoint()
	}
	if o.points == "" && o.graphIt {
		return standardPrograms(), nil
	}
	if o.points == "" {
		for _, x := range standard {
			for _, s := range schedules {
				layout := map[string]string{"push": "csr", "pull": "csc"}[x.direction]
				if s == "edge" {
					layout = "coo"
				}
				list = append(list, point{algorithm: x.algorithm, schedule: s, layout: layout, direction: x.direction})
			}
		}
		return list, nil
	}
	f, err := os.Open(o.points)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing is written
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		word := strings.Fields(in.Text())
		switch {
		case len(word) == 0 || strings.HasPrefix(word[0], "#"):
		case word[0] == "gt" && len(word) > 1:
			list = append(list, point{program: readProgram(word)})
		case len(word) < 4 || len(word) > 6:
			return nil, fmt.Errorf("%s, line %d: expected algorithm, schedule, layout and direction, then a frontier and "+
				"a variant if they are not the default", o.points, n)
		default:
			word = append(word, "", "")
			list = append(list, point{algorithm: word[0], schedule: word[1], layout: word[2], direction: word[3],
				frontier: word[4], variant: word[5]})
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: expected at least one line with algorithm, schedule, layout and direction", o.points)
	}
	return list, nil
}

// everyPoint returns the points of -all.
func (o *options) everyPoint() (list []point, err error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, fmt.Errorf("-only %s: %w", o.only, err)
	}
	all, fused := compose.AllAndFused()
	groups, order := map[string][]*compose.Plan{}, []string{}
	for _, p := range append(all, fused...) {
		key := fmt.Sprint(p.Algorithm.Name, p.Schedule.Name, p.Layout.Name, p.Direction.Name, p.Fused)
		if p.Schedule.Unit != nil || o.draw == 0 && !only.MatchString(point{plan: p}.name()) {
			continue
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], p)
	}
	r := rand.New(rand.NewPCG(o.seed, 0))
	for _, key := range order {
		group := groups[key]
		r.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
		if o.draw > 0 {
			group = group[:min(o.draw, len(group))]
		}
		for _, p := range group {
			if x := (point{algorithm: p.Algorithm.Name, plan: p}); only.MatchString(x.name()) {
				list = append(list, x)
			}
		}
	}
	return list, nil
}

// workload returns a point's workload.
func (o *options) workload(p point) workload.Workload {
	w := workload.Workload{
		Kernel: workload.Compiled, Algorithm: workload.Algorithm(p.algorithm), Schedule: workload.Schedule(p.schedule),
		Layout: workload.Layout(p.layout), Direction: workload.Choice(p.direction), ActiveSet: workload.Auto,
		Dedup: workload.Auto, Order: "none", Scan: "shuffle", Skip: "early", HybridRule: "beamer", Sum: "register",
		Ahead: o.unroll == "1", Unroll: workload.Choice(o.unroll), Coefficient: "hardware", Alpha: 14, Beta: 24, Source: -1,
		Target: -1, Seed: 1, Damping: 0.85, Width: 1, Fusion: "none", BlockBy: "destination",
	}
	w.ActiveSet, w.Variant = cmp.Or(workload.Choice(p.frontier), w.ActiveSet), workload.Choice(p.variant)
	switch {
	case p.algorithm == "pagerank":
		w.Iterations = 1
	case p.algorithm == "pagerank-delta":
		w.Threshold, w.Tolerance = 0.05, 1e-30
	}
	if p.plan != nil {
		w.Width, w.Unroll = 4, workload.Choice(o.unroll)
		return p.plan.Workload(w)
	}
	return w
}

// writeProgram exports a program, which runs on any graph, or with arrays of its own on the campaign's only one.
func (o *options) writeProgram(ctx context.Context, s host.Shape, p point, g *graph.Graph) error {
	x, err := cuda.Export(ctx, s, g, o.workload(p))
	if err != nil {
		return err
	}
	if x.Arrays != nil && len(o.graphs) > 1 {
		return fmt.Errorf("its arrays are of one graph: expected an algorithm with a reference of its own, and layout csr, " +
			"csc or coo, or one graph")
	}
	if x.Arrays != nil {
		if err := write(filepath.Join(o.out, "programs", p.name(), cuda.ArraysFile), x.Arrays); err != nil {
			return err
		}
	}
	return write(filepath.Join(o.out, "programs", p.name(), cuda.ProgramFile), x.Text)
}

// measured is a graph of the campaign.
type measured struct {
	name   string
	graph  *graph.Graph
	source int // the vertex of most edges
}

// writeGraphs makes the graphs.
func (o *options) writeGraphs(ctx context.Context) (list []measured, err error) {
	if err := os.MkdirAll(filepath.Join(o.out, "graphs"), 0o777); err != nil {
		return nil, err
	}
	for _, name := range o.graphs {
		spec, short, err := specOf(name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(m measured) bool { return m.name == short }) {
			return nil, fmt.Errorf("%s: another graph is called %s too", name, short)
		}
		g, err := graph.Load(spec)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m := measured{name: short, graph: g}
		for v := range g.Vertices() {
			if g.CSR().Degree(v) > g.CSR().Degree(m.source) {
				m.source = v
			}
		}
		if err := g.WriteFile(ctx, filepath.Join(o.out, "graphs", short+".hgr.gz")); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// specOf returns the description of a graph that the command line names.
func specOf(name string) (spec graphspec.Graph, short string, err error) {
	spec.Clean = graphspec.Clean{DropSelfLoops: true, Symmetrise: true, DropDuplicates: true}
	spec.Weights = graphspec.Weights{From: graphspec.RandomWeights, Min: 1, Max: 64, Seed: 1}
	var n int
	switch {
	case scan(name, "rmat%d", &n):
		spec.RMAT = &graphspec.RMAT{Scale: n, EdgeFactor: 8, A: 0.57, B: 0.19, C: 0.19, ShuffleIDs: true, Seed: 1}
	case scan(name, "grid%d", &n):
		spec.Grid = &graphspec.Grid{Width: n, Height: n, Seed: 1}
	case scan(name, "ws%d", &n): // Watts and Strogatz's model, on a grid
		spec.Grid = &graphspec.Grid{Width: 1 << ((n + 1) / 2), Height: 1 << (n / 2), Rewire: 0.1, Seed: 1}
	default:
		spec.File = name
	}
	short, _, _ = strings.Cut(filepath.Base(name), ".")
	if strings.ContainsAny(short, ", \t") {
		return spec, "", fmt.Errorf("%s: expected a name without commas and blanks", name)
	}
	return spec, short, nil
}

// scan reports whether a name is of a format, and reads its number.
func scan(name, format string, n *int) bool {
	var rest string
	k, _ := fmt.Sscanf(name+"|", format+"%s", n, &rest)
	return k == 2 && rest == "|" && *n > 0
}
