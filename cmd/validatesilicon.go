package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/configs"
	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/experiment/silicon"
	"heddle/internal/files"
	"heddle/internal/fit"
	"heddle/internal/plain"
	"heddle/report"
)

// siliconHelp documents validate --silicon.
const siliconHelp = `With --silicon, compare the ranking of software schedules with times measured on a GPU:
docs/results/silicon.md has the rules, and the results of an H100 and heddle's machines. FILE is
CSV with a line of these names, in any order; other columns are ignored:

  variant      of the program, such as "as is"
  graph        name of a graph
  n, m         its vertices, and edges in both directions, symmetrised, without
               self-loops and duplicates
  alg          pr-push, pr-pull, spmv: one gather of PageRank or SpMV over all edges;
               bfs, cc, sssp: whole runs, from the vertex of most edges, the first
  config       of the GPU, such as sm6
  sched        vertex, warp, cta, twc, twce, strict, edge, as workload.schedule
               describes them
  super_steps  done; a note lists the points where simulation has others
  launches     kernels that were launched
  us_med, us_min, us_p90
               microseconds: median, least, 90th percentile of some tens of runs
  us_null      microseconds of as many empty launches
  block        threads of a thread block, which simulation has too (workload.cta_threads); without
               this column 1024

To measure a GPU: go run ./tools/silicon writes such kernels as CUDA C++, and a script that
builds, checks and measures them. Or write your own, check their results, replay
a recorded sequence of launches warm, and the same sequence of empty kernels for us_null.

A graph is the file in --graphs that is called as it is, with anything after a dot, _ or -;
else one that heddle ships; else, for rmat and a number, an R-MAT graph of that scale, with
the smallest edge factor of a power of two that allows for m; for grid and a number, a grid of
that width; for ws and a number, a small world of that scale. It must have n vertices and m
edges. sssp has random integer weights, 1 to 64. A functional run of the whole workload comes
before the one that counts, as times on silicon are those of warm repetitions.

docs/results/silicon/h100.csv: an NVIDIA H100 on 2026-11-25 under CUDA kernels written from the
schedules' descriptions, checked against the host; medians of 21 replays. full1024 and full256:
the whole chip, in blocks of 1024 or 256 threads; sm6, sm60: 6 or 60 blocks of 1024, one an SM.
"vertex not unrolled", of PageRank alone: vertex mapping's loop under #pragma unroll 1. Weights
of sssp are not known.

docs/results/silicon/h100-heddle.csv: the same kind of GPU on 2026-11-26 under heddle's own
kernels, exported as CUDA (heddle kernel export --cuda), on 20 graphs: the same program, source
and weights on both sides. h100-durations.csv: again, on 7 graphs; configurations that end in
-kernels have the kernels' own durations (DURATIONS=1 of measure.sh), which have no launches in
them: us_null is 0.

Points run as heddle run runs them, and are stored in silicon/MACHINE/GRAPH below --out, an
ordinary experiment of all algorithms and schedules: the same command continues, and another
choice of schedules or configurations simulates the missing points.
`

// siliconFlags are those of validate --silicon.
type siliconFlags struct {
	runFlags
	file, graphDir, scatter, cycles string
	machines, variants, configs     []string
	graphs, algorithms, schedules   []string
	unrolls                         []string
}

func (f *siliconFlags) addTo(c *cobra.Command) {
	f.add(c)
	fl := c.Flags()
	fl.StringVar(&f.file, "silicon", "", "compare with the times in that CSV `file`")
	fl.StringVar(&f.graphDir, "graphs", "graphs", "with --silicon: `directory` with the graphs, called as in the file")
	fl.StringArrayVar(&f.machines, "machine", []string{"vortex-6c32w32t"},
		"with --silicon: machine to compare, a `name` or file (may be repeated)")
	fl.StringSliceVar(&f.configs, "config", nil,
		"with --silicon: the file's `configurations` to compare with (default: its first)")
	fl.StringSliceVar(&f.variants, "variant", nil,
		"with --silicon: the file's `variants` to compare with (default: its first)")
	fl.StringSliceVar(&f.unrolls, "unroll", silicon.Unrollings[:1],
		"with --silicon: workload.compiler.unroll: auto, as nvcc does, or 1, or both")
	fl.StringSliceVar(&f.graphs, "graph", nil, "with --silicon: only these of the file's graphs, by `name`")
	fl.StringSliceVar(&f.algorithms, "algorithms", nil, "with --silicon: only these of the file's `algorithms`")
	fl.StringSliceVar(&f.schedules, "schedules", nil, "with --silicon: only these of the file's `schedules`")
	fl.StringVar(&f.scatter, "scatter", "",
		"with --silicon: draw the points of each machine's first comparison to that `file`, .svg, .pdf or .png")
	fl.StringVar(&f.cycles, "cycles", "", "with --silicon: write the simulated points to that `file`, as CSV")
	fl.BoolVar(&f.json, "json", false, "with --silicon: print the comparison as JSON")
}

// refuse refuses flags that mean nothing without --silicon.
func (f *siliconFlags) refuse(c *cobra.Command) (err error) {
	own := &cobra.Command{}
	(&siliconFlags{}).addTo(own)
	c.Flags().Visit(func(flag *pflag.Flag) {
		if err == nil && own.Flags().Lookup(flag.Name) != nil {
			err = fmt.Errorf("--%s: expected --silicon beside it", flag.Name)
		}
	})
	return err
}

// siliconCheck is a run of validate --silicon.
type siliconCheck struct {
	flags    *siliconFlags
	campaign *silicon.Campaign
	against  []silicon.Against
	block    int // threads of a thread block
	graphs   []siliconGraph
	report   silicon.Report // absent graphs and failures, until it is made
	points   []silicon.Simulated
	failed   error // the first point that failed
}

// siliconGraph is a graph with the key that says where it comes from.
type siliconGraph struct {
	*silicon.Graph
	source string
	from   int // vertex at which runs begin
}

// validate simulates the points that are not stored, compares, and writes.
func (f *siliconFlags) validate(c *cobra.Command, markdown string) error {
	s := &siliconCheck{flags: f}
	if err := s.prepare(c); err != nil {
		return err
	}
	for i, machine := range f.machines {
		for j, g := range s.graphs {
			remark(c.ErrOrStderr(), fmt.Sprintf("%d/%d: %s on %s", i*len(s.graphs)+j+1, len(f.machines)*len(s.graphs),
				g.Name, machineName(machine)))
			if err := s.run(c, machine, g); err != nil {
				return err
			}
		}
	}
	return errors.Join(s.write(c, markdown), s.failed)
}

// prepare reads the file and finds the graphs, before anything runs.
func (s *siliconCheck) prepare(c *cobra.Command) error {
	f := s.flags
	if err := f.check(); err != nil {
		return err
	}
	if _, ok := scatterFormats[filepath.Ext(f.scatter)]; f.scatter != "" && !ok {
		return fmt.Errorf("--scatter %s: expected a name that ends in .svg, .pdf or .png", f.scatter)
	}
	f.share(c, 0)
	in, err := os.Open(f.file)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	if s.campaign, err = silicon.Read(f.file, in); err != nil {
		return err
	}
	if err := s.choose(); err != nil {
		return err
	}
	return s.findGraphs(c)
}

// choose checks the flags against the file, and fills in those that are not given.
func (s *siliconCheck) choose() (err error) {
	f, m := s.flags, s.campaign
	var names []string
	for _, g := range m.Graphs {
		names = append(names, g.Name)
	}
	for _, x := range []struct {
		flag        string
		given       *[]string
		known, open []string
	}{
		{"variant", &f.variants, m.Variants(), m.Variants()[:1]}, {"config", &f.configs, m.Configs(), m.Configs()[:1]},
		{"graph", &f.graphs, names, names}, {"algorithms", &f.algorithms, m.Algorithms(), m.Algorithms()},
		{"schedules", &f.schedules, m.Schedules(), m.Schedules()}, {"unroll", &f.unrolls, silicon.Unrollings, nil},
	} {
		for _, v := range *x.given {
			if !slices.Contains(x.known, v) {
				return fmt.Errorf("--%s %s: expected some of %s", x.flag, plain.Line(v), strings.Join(x.known, ", "))
			}
		}
		if len(*x.given) == 0 {
			*x.given = x.open
		}
	}
	seen := map[string]string{}
	for _, m := range f.machines {
		if other, twice := seen[machineName(m)]; twice {
			return fmt.Errorf("--machine %s: has the name of %s", m, other)
		}
		seen[machineName(m)] = m
	}
	for _, v := range f.variants {
		for _, k := range f.configs {
			s.against = append(s.against, silicon.Against{Variant: v, Config: k})
		}
	}
	s.block, err = m.Block(s.against)
	return err
}

// machineName is the name of a preset or of a machine's file.
func machineName(machine string) string {
	if base := filepath.Base(machine); base != machine || strings.Contains(machine, ".") {
		return strings.TrimSuffix(base, filepath.Ext(base))
	}
	return machine
}

// findGraphs finds each graph and holds it against the file. Those that are not there are left out.
func (s *siliconCheck) findGraphs(c *cobra.Command) error {
	for i := range s.campaign.Graphs {
		g := &s.campaign.Graphs[i]
		if !slices.Contains(s.flags.graphs, g.Name) {
			continue
		}
		source, err := silicon.Source(s.flags.graphDir, g)
		if absent := new(silicon.AbsentError); errors.As(err, &absent) {
			warnOf(c, err.Error()+": left out")
			s.report.Absent = append(s.report.Absent, g.Name)
			continue
		}
		if err != nil {
			return err
		}
		found := siliconGraph{Graph: g, source: source}
		l, err := s.parse(s.flags.machines[0], found)
		if err == nil {
			found.from, err = s.campaign.Check(g, l.Value.Graph)
		}
		if err != nil {
			return err
		}
		s.graphs = append(s.graphs, found)
	}
	if len(s.graphs) == 0 {
		return fmt.Errorf("%s: none of its graphs is in %s: --graphs names their directory", s.flags.file,
			s.flags.graphDir)
	}
	return nil
}

// run simulates those points of a graph on a machine that are compared and not stored.
func (s *siliconCheck) run(c *cobra.Command, machine string, g siliconGraph) error {
	l, err := s.parse(machine, g)
	if err != nil {
		return err
	}
	points, err := experiment.Points(l, s.flags.overrides.set)
	if err != nil {
		return err
	}
	r := s.flags.runner(points)
	r.Elsewhere = map[int]bool{}
	for i := range points {
		r.Elsewhere[i] = !s.wanted(silicon.KeyOf(machineName(machine), g.Name, &points[i]))
	}
	flags := s.flags.runFlags
	flags.out = filepath.Join(flags.out, "silicon", machineName(machine))
	session, err := newSession(c, &flags, l, r, flags.limitMemory())
	if err != nil {
		return err
	}
	if _, err = session.simulate(c); err != nil {
		return err
	}
	err = session.verdict(session.outcomes)
	var code *codeError
	if errors.As(err, &code) && code.code == exitInterrupted {
		return err
	}
	s.failed = errors.Join(s.failed, err)
	s.take(machineName(machine), g.Name, r, session.outcomes)
	return nil
}

// take keeps the results of wanted points.
func (s *siliconCheck) take(machine, graph string, r *experiment.Runner, outcomes []experiment.Outcome) {
	for i := range r.Points {
		if r.Elsewhere[i] {
			continue
		}
		key := silicon.KeyOf(machine, graph, &r.Points[i])
		if one, ok := silicon.SimulatedBy(key, &r.Points[i], &outcomes[i]); ok {
			s.points = append(s.points, one)
		} else {
			s.report.Failed++
		}
	}
}

// wanted reports whether a point is compared with anything.
func (s *siliconCheck) wanted(w silicon.Key) bool {
	f := s.flags
	return slices.Contains(f.unrolls, w.Unroll) && slices.Contains(f.algorithms, w.Algorithm) &&
		slices.Contains(f.schedules, w.Schedule) && slices.ContainsFunc(s.campaign.Rows, func(r silicon.Row) bool {
		return r.Graph == w.Graph && r.Algorithm == w.Algorithm && r.Schedule == w.Schedule &&
			slices.Contains(s.against, silicon.Against{Variant: r.Variant, Config: r.Config})
	})
}

// parse returns the experiment of a graph on a machine. The environment does not apply, so that a machine's name
// determines it.
func (s *siliconCheck) parse(machine string, g siliconGraph) (*schema.Loaded[config.Experiment], error) {
	threads := 0
	if m, err := configs.LoadMachine(machine, nil, nil); err == nil { // or the experiment reports the error
		threads = m.Value.Core.Warps * m.Value.Core.Threads
	}
	text := silicon.Experiment(machine, threads, s.block, g.Graph, g.source, g.from)
	return config.ParseWith(machineName(machine)+" on "+g.Name, []byte(text), s.flags.overrides.set)
}

// write writes the results, as tables or JSON, and the requested files.
func (s *siliconCheck) write(c *cobra.Command, markdown string) error {
	f := s.flags
	r := s.campaign.NewReport(s.points, s.against)
	r.Absent, r.Failed = s.report.Absent, s.report.Failed
	if len(r.Comparisons) == 0 {
		return errors.Join(s.failed, fmt.Errorf("%s: nothing to compare: expected at least two schedules of an "+
			"algorithm on a graph", f.file))
	}
	var err error
	if f.json {
		err = printJSON(c.OutOrStdout(), r)
	} else if markdown == "" {
		err = r.Write(c.OutOrStdout())
	}
	if f.cycles != "" {
		err = errors.Join(err, files.Write(f.cycles, r.Cycles()))
	}
	if f.scatter != "" {
		err = errors.Join(err, f.draw(r))
	}
	if markdown != "" {
		err = errors.Join(err, files.Write(markdown, r.Markdown(f.head(c, markdown, s.block))))
	}
	return err
}

// head is the page's text before its tables.
func (f *siliconFlags) head(c *cobra.Command, markdown string, block int) string {
	picture := ""
	if f.scatter != "" {
		if path, err := filepath.Rel(filepath.Dir(markdown), f.scatter); err == nil {
			picture = fmt.Sprintf("\n![Scaled cycles over time on silicon](%s)\n", filepath.ToSlash(path))
		}
	}
	command := f.command(c, "", "out", "jobs", "threads", "columns", "json", "check", "heartbeat")
	file := f.file
	if path, err := filepath.Rel(filepath.Dir(markdown), f.file); err == nil {
		file = filepath.ToSlash(path)
	}
	return silicon.Head(strings.Join(fit.Lines(command, 110), " \\\n      "), file, block) + picture
}

// scatterFormats are the endings of --scatter.
var scatterFormats = map[string]report.Format{".svg": report.SVG, ".pdf": report.PDF, ".png": report.PNG}

// draw draws the first comparison of each machine, a panel each: more would be too wide.
func (f *siliconFlags) draw(r *silicon.Report) error {
	var first []*silicon.Comparison
	for _, c := range r.Comparisons {
		if c.Unroll == f.unrolls[0] && c.Variant == f.variants[0] && c.Config == f.configs[0] {
			first = append(first, c)
		}
	}
	picture, err := report.Draw(report.SiliconScatter(first), report.Style{}, scatterFormats[filepath.Ext(f.scatter)])
	if err != nil {
		return fmt.Errorf("--scatter %s: %w", f.scatter, err)
	}
	return files.Write(f.scatter, picture)
}
