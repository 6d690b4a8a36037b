// Package samplecheck compares sampled runs with the same runs simulated whole.
package samplecheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"gonum.org/v1/gonum/stat"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/internal/resources"
	"heddle/internal/tolerance"
)

// Case is a run that is simulated whole, and sampled.
type Case struct {
	Graph, Keys string   // of the graph: its name, and its keys
	Set         []string // KEY=VALUE, of the computation
}

// Graphs are of different kinds: skewed, denser and less skewed, clustered, uniform, and like a road network.
var graphs = []struct{ name, keys string }{
	{"rmat 17, 16 edges a vertex", "rmat: {scale: 17, edge_factor: 16}"},
	{"rmat 16, 32 edges, a 0.45", "rmat: {scale: 16, edge_factor: 32, a: 0.45, b: 0.22, c: 0.22}"},
	{"power law, clustered", "powerlaw_cluster: {vertices: 100000, edges_per_step: 10}"},
	{"uniform", "erdos_renyi: {vertices: 131072, edges: 1048576}"},
	{"grid", "grid: {width: 160, height: 160, remove: 0.2}"},
}

// Pairs are an algorithm and a schedule, on a machine that has its unit.
var pairs = [][]string{
	{"machine=vortex-6c32w32t", "workload.algorithm=pagerank", "workload.schedule=vertex", "workload.max_iterations=3"},
	{"machine=vortex-6c32w32t", "workload.algorithm=bfs", "workload.schedule=warp"},
	{"machine=vortex-6c32w32t-weaver", "workload.algorithm=sssp", "workload.schedule=weaver"},
	{"machine=graphpeg-15sm", "workload.algorithm=pagerank", "workload.schedule=peg", "workload.max_iterations=3"},
}

// Cases are all pairs on all graphs.
func Cases() (all []Case) {
	for _, g := range graphs {
		for _, p := range pairs {
			all = append(all, Case{g.name, g.keys, p})
		}
	}
	return all
}

// Computation describes the computation.
func (c *Case) Computation() string {
	var parts []string
	for _, key := range []string{"workload.algorithm", "workload.schedule"} {
		for _, s := range c.Set {
			if v, ok := strings.CutPrefix(s, key+"="); ok {
				parts = append(parts, v)
			}
		}
	}
	return strings.Join(parts, ", ")
}

// Run is the outcome of one simulation.
type Run struct {
	Cycles, Half float64
	Instrs       uint64  // of warps
	Seconds      float64 // of host processors
	Launches     int
	Timed        int // launches without an interval
}

// Row is a case with its outcomes.
type Row struct {
	Case
	Whole, Sampled Run
	Refused        bool // the sampled run: it would have told too little
}

// Error is how far the estimate is off, as a part of the truth.
func (r *Row) Error() float64 { return r.Sampled.Cycles/r.Whole.Cycles - 1 }

// Holds reports whether the confidence interval holds the truth.
func (r *Row) Holds() bool { return tolerance.Within(r.Sampled.Cycles, r.Whole.Cycles, r.Sampled.Half) }

// Faster is how many times less host time the sampled run took.
func (r *Row) Faster() float64 { return r.Whole.Seconds / max(r.Sampled.Seconds, 1e-3) }

// Do runs a case whole, and sampled as a KEY=VALUE says: sample.period=1000.
func Do(ctx context.Context, c *Case, sample string) (r Row, err error) {
	r.Case = *c
	if r.Whole, err = one(ctx, c, "sample.period=0"); err == nil {
		r.Sampled, err = one(ctx, c, sample)
	}
	if errors.As(err, new(*experiment.UnsampledError)) {
		r.Refused, err = true, nil
	}
	return r, err
}

func one(ctx context.Context, c *Case, sample string) (Run, error) {
	e, err := config.ParseWith("sampling",
		[]byte("name: sampling\ngraph: {"+c.Keys+", weights: {from: random}}\n"),
		append(slices.Clone(c.Set), sample))
	if err != nil {
		return Run{}, err
	}
	points, err := experiment.Points(e, nil)
	if err != nil {
		return Run{}, err
	}
	before := resources.ProcessorSeconds()
	o := (&experiment.Runner{Points: points, Observer: experiment.Quiet{}}).Run(ctx)[0]
	if o.Err != nil {
		return Run{}, fmt.Errorf("%s, %s: %w", c.Graph, c.Computation(), o.Err)
	}
	instrs, _ := o.Stats.Get("warp_instrs")
	r := Run{Cycles: float64(o.Cycles), Half: o.Half, Instrs: uint64(instrs.Float()),
		Seconds: resources.ProcessorSeconds() - before, Launches: len(o.Steps)}
	for i := range o.Steps {
		if o.Steps[i].Half == 0 {
			r.Timed++
		}
	}
	return r, nil
}

// Summary summarises all rows.
type Summary struct {
	Mean, Worst float64 // of the errors' sizes
	Held, Of    int     // confidence intervals that hold the truth
	Refused     int     // runs, which do not count otherwise
	Whole       int     // runs of which nothing was left out, whose intervals of 0 hold by themselves: likewise
	Faster      float64 // in the geometric mean, on the half of the runs with more warp instructions
}

// Summarise adds up rows.
func Summarise(rows []Row) (s Summary) {
	all := len(rows)
	rows = slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Refused })
	s.Refused = all - len(rows)
	rows = slices.DeleteFunc(rows, func(r Row) bool { return r.Sampled.Half == 0 && r.Sampled.Cycles == r.Whole.Cycles })
	s.Of, s.Whole = len(rows), all-s.Refused-len(rows)
	for i := range rows {
		size := math.Abs(rows[i].Error())
		s.Mean += size / float64(len(rows))
		s.Worst = max(s.Worst, size)
		if rows[i].Holds() {
			s.Held++
		}
	}
	larger := slices.Clone(rows)
	slices.SortStableFunc(larger, func(a, b Row) int { return int(int64(b.Whole.Instrs>>10) - int64(a.Whole.Instrs>>10)) })
	larger = larger[:(len(larger)+1)/2]
	faster := make([]float64, len(larger))
	for i := range larger {
		faster[i] = larger[i].Faster()
	}
	s.Faster = 1
	if len(faster) > 0 {
		s.Faster = stat.GeometricMean(faster, nil)
	}
	return s
}

// Write writes rows and their summary; as Markdown if so.
func Write(w io.Writer, rows []Row, markdown bool) {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(table.Row{"graph", "computation", "cycles", "estimate", "±", "error", "held", "launches",
		"faster"})
	for i := range rows {
		r := &rows[i]
		if r.Refused {
			t.AppendRow(table.Row{r.Graph, r.Computation(), experiment.Thousands(uint64(r.Whole.Cycles)), "refused"})
			continue
		}
		held := "yes"
		if !r.Holds() {
			held = "no"
		}
		t.AppendRow(table.Row{
			r.Graph, r.Computation(), experiment.Thousands(uint64(r.Whole.Cycles)),
			experiment.Thousands(uint64(r.Sampled.Cycles)),
			fmt.Sprintf("%.1f %%", 100*r.Sampled.Half/r.Sampled.Cycles), fmt.Sprintf("%+.1f %%", 100*r.Error()), held,
			fmt.Sprintf("%d of %d", r.Sampled.Timed, r.Sampled.Launches),
			fmt.Sprintf("%.1f×", r.Faster()),
		})
	}
	var right []table.ColumnConfig
	for _, n := range []int{3, 4, 5, 6, 8, 9} {
		right = append(right, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	if markdown {
		t.RenderMarkdown()
	} else {
		t.Render()
	}
	s := Summarise(rows)
	if s.Refused > 0 {
		fmt.Fprintf(w, "\n%d of %d runs were refused.\n", s.Refused, len(rows))
	}
	fmt.Fprintf(w, "\nError %.1f %% in the mean and %.1f %% at worst; %d of %d intervals hold the truth; %.1f times "+
		"less host time on the larger half.\n",
		100*s.Mean, 100*s.Worst, s.Held, s.Of, s.Faster)
	if s.Whole > 0 {
		fmt.Fprintf(w, "\n%d runs left nothing out, and count for none of these.\n", s.Whole)
	}
}
