package reproduce_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/config"
	"heddle/kernels/workload"
	"heddle/report/reproduce"
)

// at is a made-up point: two schedules compared over two algorithms, and an axis.
func at(schedule, algorithm, ticks string, cycles uint64) reproduce.Point {
	machine := map[string]string{"vertex": "plain", "weaver": "unit"}[schedule]
	return reproduce.Point{
		Reading: config.Described, Experiment: "e", Counts: true, Cycles: cycles, Seconds: 1,
		Together: [][]string{{"workload.schedule", "machine"}, {"workload.algorithm"}, {latency, "machine.core.warps"}},
		Axes: map[string]string{"workload.schedule": schedule, "machine": machine, "workload.algorithm": algorithm,
			latency: ticks, "machine.core.warps": "4" + ticks},
		Config: map[string]string{"machine.atomics.mode": "l2", "machine.core.threads": "4"},
		Stats:  map[string]float64{"edges": 10, "l1d.reads": float64(cycles) / 2, "nothing": 0},
	}
}

// points: the weaver is 2 times as fast on bfs, 8 times on cc; its cycles grow by 10 a unit of latency.
func points() (list []reproduce.Point) {
	for i, latency := range []string{"10", "20", "40"} {
		grow := []uint64{0, 100, 300}[i]
		list = append(list,
			at("vertex", "bfs", latency, 2*(1000+grow)), at("weaver", "bfs", latency, 1000+grow),
			at("vertex", "cc", latency, 8*(1000+grow)), at("weaver", "cc", latency, 1000+grow))
	}
	return list
}

func pack(c config.Check) *config.Pack {
	if c.Measure == "" {
		c.Measure = "speedup"
	}
	if c.Metric == "" {
		c.Metric = "cycles"
	}
	c.Decides, c.Variants = true, []workload.Choice{"quick"}
	return &config.Pack{
		Name: "p/x", Checks: []config.Check{c}, Readings: described,
		Published: map[string]config.Published{"four": {Name: "four", Value: 4, Where: "§1", Unit: "×"}},
	}
}

// tunedBy returns the check with keys of which each option has its best.
func tunedBy(c config.Check, keys ...string) config.Check {
	c.Tuned = keys
	return c
}

// alike returns the check with values that count as one.
func alike(c config.Check, values ...string) config.Check {
	c.Alike = values
	return c
}

// described is the only reading of most made-up packs.
var described = map[config.Variant][]config.Reading{
	config.Quick: {{ReadingHead: config.ReadingHead{Name: config.Described, Says: "as it is"}}},
}

var weaverOver = config.Quantity{Of: []string{"workload.schedule=weaver"}, Over: []string{"workload.schedule=vertex"},
	Across: all}

// all are the keys in which the made-up points differ, but for schedules; warps follow from the latency.
var all = []string{"workload.algorithm", latency}

const latency = "machine.core.weaver.table_latency"

// Every kind of statement, where it holds and where it does not.
func TestStatements(t *testing.T) {
	const far = "between -1e9 -1e8" // never holds
	value := func(of ...string) config.Quantity { return config.Quantity{Of: of, Measure: "value", Across: all} }
	of := func(across ...string) config.Quantity { return config.Quantity{Measure: "value", Across: across} }
	options := func(reduce workload.Choice, differs string) config.Check {
		return config.Check{Quantity: of("workload.algorithm"), Among: []string{"workload.schedule", latency},
			Reduce: reduce, Differs: differs, Holds: far}
	}
	for _, c := range []struct {
		name  string
		check config.Check
		ours  float64
		holds reproduce.Verdict
	}{
		{"geomean", config.Check{Quantity: weaverOver, Reduce: "geomean", Holds: "between 3.99 4.01"}, 4, reproduce.Yes},
		{"geomean, too little", config.Check{Quantity: weaverOver, Reduce: "geomean", Holds: ">= 4.5", Partly: ">= 4.1"}, 4, reproduce.No},
		{"geomean, partly", config.Check{Quantity: weaverOver, Reduce: "geomean", Holds: ">= 4.5", Partly: ">= 3"}, 4, reproduce.Partly},
		{"published", config.Check{Quantity: weaverOver, Reduce: "mean", Published: "four", Holds: "within 0.25"}, 5, reproduce.Yes},
		{"published, too far", config.Check{Quantity: weaverOver, Reduce: "mean", Published: "four", Holds: "within 0.2"}, 5, reproduce.No},
		{"ordering", config.Check{Quantity: weaverOver, Reduce: "min", Holds: ">= 1"}, 2, reproduce.Yes},
		{"ordering, not", config.Check{Quantity: weaverOver, Reduce: "max", Holds: "<= 1"}, 8, reproduce.No},
		{"one algorithm", config.Check{Quantity: config.Quantity{Of: []string{"workload.schedule=weaver", "workload.algorithm=cc"}, Over: weaverOver.Over, Across: all}, Reduce: "max", Holds: ">= 8"}, 8, reproduce.Yes},
		{"by configuration", config.Check{Quantity: config.Quantity{Of: []string{"workload.schedule=weaver", "machine.core.threads=4|8"}, Over: weaverOver.Over, Across: all}, Reduce: "min", Holds: ">= 2"}, 2, reproduce.Yes},
		{"ratio of a statistic", config.Check{Quantity: config.Quantity{Metric: "l1d.reads", Measure: "ratio", Of: []string{"workload.schedule=vertex"}, Over: []string{"workload.schedule=weaver"}, Across: all}, Reduce: "max", Holds: "<= 8"}, 8, reproduce.Yes},
		{"sum over algorithms", config.Check{Quantity: config.Quantity{Of: weaverOver.Of, Over: weaverOver.Over, Sum: []string{"workload.algorithm"}, Across: []string{latency}}, Reduce: "mean", Holds: ">= 5"}, 5, reproduce.Yes},
		{"quotient", config.Check{Quantity: config.Quantity{Metric: "l1d.reads", Per: "edges", Measure: "value", Of: []string{"workload.schedule=weaver"}, Across: all}, Reduce: "min", Holds: ">= 50"}, 50, reproduce.Yes},
		{"sum", config.Check{Quantity: config.Quantity{Metric: "edges + l1d.reads", Measure: "value", Of: []string{"workload.schedule=weaver"}, Across: all}, Reduce: "min", Holds: ">= 510"}, 510, reproduce.Yes},
		{"sum that lacks one", config.Check{Quantity: config.Quantity{Metric: "edges+none", Measure: "value", Across: append([]string{"workload.schedule"}, all...)}, Reduce: "min", Holds: ">= 510"}, 0, reproduce.NotRun},
		{"difference", config.Check{Quantity: config.Quantity{Measure: "difference", Of: []string{"workload.schedule=vertex", "workload.algorithm=bfs"}, Over: []string{"workload.schedule=weaver"}, Across: all}, Reduce: "max", Holds: "<= 1300"}, 1300, reproduce.Yes},
		{"line", config.Check{Quantity: value("workload.schedule=weaver"), Along: latency, Reduce: "r2", Holds: ">= 0.99"}, 1, reproduce.Yes},
		{"flat", config.Check{Quantity: value("workload.schedule=weaver"), Along: latency, Reduce: "spread", Holds: "<= 1.3"}, 1.3, reproduce.Yes},
		{"flat, not", config.Check{Quantity: value("workload.schedule=weaver"), Along: latency, Reduce: "spread", Holds: "<= 1.05"}, 1.3, reproduce.No},
		{"rises", config.Check{Quantity: value("workload.schedule=weaver"), Along: latency, Reduce: "tau", Holds: ">= 1"}, 1, reproduce.Yes},
		{"falls, not", config.Check{Quantity: value("workload.schedule=weaver"), Along: latency, Reduce: "tau", Holds: "<= -1"}, 1, reproduce.No},
		{"first", config.Check{Quantity: value("workload.schedule=weaver"), Along: latency, Reduce: "first", Holds: far}, 1000, reproduce.No},
		{"last", config.Check{Quantity: value("workload.schedule=weaver"), Along: latency, Reduce: "last", Holds: far}, 1300, reproduce.No},
		{"slowest option", options("slowest", ""), 5.2, reproduce.No},
		{"second option", options("second", ""), 1.1, reproduce.No},
		{"slowest option, each with its best latency", tunedBy(options("slowest", ""), latency), 4, reproduce.No},
		{"second option, each with its best latency", tunedBy(options("second", ""), latency), 4, reproduce.No},
		{"second option, with others", config.Check{Quantity: of(latency, "workload.algorithm"), Among: []string{"workload.schedule"}, Reduce: "second", Holds: far}, 4, reproduce.No},
		{"second option, most", config.Check{Quantity: of(latency, "workload.algorithm"), Among: []string{"workload.schedule"}, Reduce: "most-second", Holds: far}, 8, reproduce.No},
		{"second option is of another schedule, not", options("second-differs", "workload.schedule"), 0, reproduce.No},
		{"second option is of another latency", options("second-differs", latency), 1, reproduce.No},
		{"second option is of another latency, which counts as one", alike(options("second-differs", latency), "10", "20"), 0, reproduce.No},
		{"second option is of another latency, not of those that count as one", alike(options("second-differs", latency), "20", "40"), 1, reproduce.No},
		{"the best of some options", config.Check{Quantity: of("workload.algorithm"), Among: []string{"workload.schedule", latency},
			Reduce: "restricted", Within: []string{"workload.schedule=vertex"}, Holds: far}, 4, reproduce.No},
		{"the best of no options", config.Check{Quantity: of("workload.algorithm"), Among: []string{"workload.schedule", latency},
			Reduce: "restricted", Within: []string{"workload.schedule=edge"}, Holds: far}, 0, reproduce.NotRun},
		{"one option", config.Check{Quantity: value("workload.schedule=weaver"), Among: []string{"workload.schedule"}, Reduce: "second", Holds: far}, 0, reproduce.NotRun},
		{"fewer options than there must be", config.Check{Quantity: of(latency, "workload.algorithm"), Among: []string{"workload.schedule"}, Options: 4, Reduce: "second", Holds: far}, 0, reproduce.NotRun},
		{"over one place of an axis", config.Check{Quantity: config.Quantity{Measure: "ratio", Of: []string{"workload.schedule=weaver", latency + "=40"}, Over: []string{"workload.schedule=weaver", latency + "=10"}, Across: all}, Reduce: "geomean", Holds: ">= 1.29"}, 1.3, reproduce.Yes},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pack(c.check)
			o, err := reproduce.Evaluate(p, config.Quick, points())
			require.NoError(t, err)
			if c.holds != reproduce.NotRun {
				require.NotNil(t, o.Checks[0].Readings[0].Ours)
				require.InDelta(t, c.ours, *o.Checks[0].Readings[0].Ours, 1e-9)
			}
			require.Equal(t, c.holds, o.Checks[0].Readings[0].Holds)
			require.Equal(t, c.holds, o.Holds)
			require.NoError(t, reproduce.Check(p, config.Quick, points(), true))
		})
	}
}

// A curve is no line, and noise neither rises nor falls.
func TestSeriesThatDoNotFit(t *testing.T) {
	list := points()
	for i := range list {
		list[i].Cycles = []uint64{1000, 5000, 1000}[i/4]
	}
	of := config.Quantity{Measure: "value", Of: []string{"workload.schedule=weaver"}, Across: all}
	o, err := reproduce.Evaluate(pack(config.Check{Quantity: of, Along: latency, Reduce: "r2", Holds: ">= 0.9"}),
		config.Quick, list)
	require.NoError(t, err)
	require.Equal(t, reproduce.No, o.Holds)
	o, err = reproduce.Evaluate(pack(config.Check{Quantity: of, Along: latency, Reduce: "tau", Holds: ">= 0.5"}),
		config.Quick, list)
	require.NoError(t, err)
	require.Zero(t, *o.Checks[0].Readings[0].Ours)
}

// The worst series counts.
func TestWorstSeries(t *testing.T) {
	list := points()
	for i := range list {
		if list[i].Axes["workload.algorithm"] == "cc" {
			list[i].Cycles = 1000
		}
	}
	of := config.Quantity{Measure: "value", Of: []string{"workload.schedule=weaver"}, Across: all}
	o, err := reproduce.Evaluate(pack(config.Check{Quantity: of, Along: latency, Reduce: "spread", Holds: "<= 1.1"}),
		config.Quick, list)
	require.NoError(t, err)
	require.InDelta(t, 1.3, *o.Checks[0].Readings[0].Ours, 1e-9)
	require.Equal(t, 6, o.Checks[0].Readings[0].Values)
}

// Points that are not verified count for nothing, and are named.
func TestUnverified(t *testing.T) {
	list := points()
	for i := range list {
		list[i].Counts, list[i].Failure = i == 0, "limit: 3"
	}
	o, err := reproduce.Evaluate(pack(config.Check{Quantity: weaverOver, Reduce: "geomean", Holds: ">= 1"}),
		config.Quick, list)
	require.NoError(t, err)
	require.Len(t, o.Failures, 11)
	require.Equal(t, reproduce.NotRun, o.Holds)
	require.Nil(t, o.Checks[0].Readings[0].Ours)
	require.NotEmpty(t, o.Checks[0].Readings[0].Explanation)
	var b bytes.Buffer
	o.Write(&b, &config.Pack{})
	require.Contains(t, b.String(), "FAILED described: e")
	require.Contains(t, b.String(), "not run")
}

func TestOverall(t *testing.T) {
	check := func(holds string, decides bool) config.Check {
		c := config.Check{Says: "x", Quantity: weaverOver, Reduce: "geomean", Holds: holds, Decides: decides,
			Variants: []workload.Choice{"quick"}}
		c.Metric, c.Measure = "cycles", "speedup"
		return c
	}
	for _, c := range []struct {
		checks []config.Check
		holds  reproduce.Verdict
	}{
		{[]config.Check{check(">= 1", true), check(">= 2", true)}, reproduce.Yes},
		{[]config.Check{check(">= 1", true), check(">= 9", true)}, reproduce.Partly},
		{[]config.Check{check(">= 8", true), check(">= 9", true)}, reproduce.No},
		{[]config.Check{check(">= 1", true), check(">= 9", false)}, reproduce.Yes},
		{[]config.Check{check(">= 1", false)}, reproduce.NotRun},
	} {
		o, err := reproduce.Evaluate(&config.Pack{Checks: c.checks, Readings: described}, config.Quick, points())
		require.NoError(t, err)
		require.Equal(t, c.holds, o.Holds)
	}
}

// A pack whose conditions choose nothing, or too much, is refused before anything runs.
func TestConditionsThatChooseNothing(t *testing.T) {
	for _, c := range []struct {
		check config.Check
		says  string
	}{
		{config.Check{Quantity: config.Quantity{Of: []string{"workload.schedule=edge"}, Over: weaverOver.Over, Across: all}}, "no point of the quick variant meets [workload.schedule=edge]"},
		{config.Check{Quantity: config.Quantity{Of: weaverOver.Of, Over: []string{"workload.schedule=edge"}}}, "has a partner that meets [workload.schedule=edge]"},
		{config.Check{Quantity: config.Quantity{Of: weaverOver.Of, Over: []string{"workload.algorithm=bfs|cc"}}}, "more than one partner"},
		{config.Check{Quantity: config.Quantity{Measure: "value", Across: append([]string{"workload.schedule"}, all...)}, Along: "workload.algorithm", Reduce: "tau"}, "has no numbers"},
	} {
		require.ErrorContains(t, reproduce.Check(pack(c.check), config.Quick, points(), true), c.says)
	}
}

// Points that become one number differ in named keys only: those by which points are distinguished or chosen, or which
// the number is said to be over. A key that goes together with a named one but does not follow from it is to be named,
// too.
func TestDifferencesThatAreNotNamed(t *testing.T) {
	banks := func(seed, sockets, banks string, cycles uint64) reproduce.Point {
		return reproduce.Point{Reading: config.Described, Experiment: "e", Label: "banks=" + banks, Counts: true,
			Cycles: cycles, Together: [][]string{nil, {"machine.sockets", "machine.l2.banks"}},
			Axes:   map[string]string{"machine.sockets": sockets, "machine.l2.banks": banks, "seed": seed},
			Config: map[string]string{"workload.algorithm": "bfs"}}
	}
	var scaling []reproduce.Point
	for _, seed := range []string{"1", "2"} { // repetitions, which are put together unasked
		scaling = append(scaling, banks(seed, "20", "12", 300), banks(seed, "40", "12", 200),
			banks(seed, "60", "12", 220), banks(seed, "60", "48", 140))
	}
	over := config.Quantity{Measure: "speedup", Over: []string{"machine.sockets=20"}}
	with := func(q config.Quantity, across ...string) config.Quantity { q.Across = across; return q }
	series := config.Quantity{Measure: "value", Of: []string{"machine.sockets=20|40|60"}}
	const banksDiffer = "would become one number, but differ in machine.l2.banks, which nothing here names"
	sockets := []string{"machine.sockets"}
	for _, c := range []struct {
		name string
		pack *config.Pack
		says string
	}{
		{"figure", figure(config.PackFigure{Name: "a", Kind: "table", Quantity: over, Columns: sockets}), "figures[0]"},
		{"figure, lines", figure(config.PackFigure{Name: "a", Kind: "lines", Quantity: config.Quantity{Measure: "value"}, Columns: sockets}), "e (banks=12) and e (banks=48) " + banksDiffer},
		{"figure that shows it", figure(config.PackFigure{Name: "a", Kind: "table", Quantity: over, Columns: []string{"machine.sockets", "machine.l2.banks"}}), ""},
		{"figure whose series show it", figure(config.PackFigure{Name: "a", Kind: "table", Quantity: over, Columns: sockets, Series: []string{"machine.l2.banks"}}), ""},
		{"figure that is said to be over it", figure(config.PackFigure{Name: "a", Kind: "table", Quantity: with(over, "machine.l2.banks"), Columns: sockets}), ""},
		{"figure of one of them", figure(config.PackFigure{Name: "a", Kind: "table", Quantity: config.Quantity{Measure: "value", Of: []string{"machine.l2.banks=12"}}, Columns: sockets}), ""},
		{"mean", pack(config.Check{Quantity: config.Quantity{Of: []string{"machine.sockets=60"}, Over: over.Over}, Reduce: "geomean", Holds: ">= 1"}), banksDiffer},
		{"least", pack(config.Check{Quantity: config.Quantity{Of: []string{"machine.sockets=60"}, Over: over.Over}, Reduce: "min", Holds: ">= 1"}), banksDiffer},
		{"mean over them", pack(config.Check{Quantity: config.Quantity{Of: []string{"machine.sockets=60"}, Over: over.Over, Across: []string{"machine.l2.banks"}}, Reduce: "geomean", Holds: ">= 1"}), ""},
		{"one of them", pack(config.Check{Quantity: config.Quantity{Of: []string{"machine.sockets=60", "machine.l2.banks=48"}, Over: over.Over}, Reduce: "geomean", Holds: ">= 2"}), ""},
		{"series", pack(config.Check{Quantity: series, Along: "machine.sockets", Reduce: "tau", Holds: ">= -1"}), banksDiffer},
		{"series, worst", pack(config.Check{Quantity: with(series, "machine.l2.banks"), Along: "machine.sockets", Reduce: "last", Holds: ">= 0"}), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.pack.File = "p.yaml"
			checked := reproduce.Check(c.pack, config.Quick, scaling, true)
			_, err := reproduce.Evaluate(c.pack, config.Quick, scaling)
			if c.says == "" {
				require.NoError(t, checked)
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, checked, c.says)
			require.ErrorContains(t, err, c.says)
		})
	}
	o, err := reproduce.Evaluate(figure(config.PackFigure{Name: "a", Kind: "table",
		Quantity: with(over, "machine.l2.banks"), Columns: sockets}), config.Quick, scaling)
	require.NoError(t, err)
	require.Equal(t, []string{"machine.l2.banks"}, o.Figures[0].Over, "the keys under a mean are shown")
	require.NoError(t, reproduce.Check(pack(config.Check{Quantity: config.Quantity{Of: []string{"machine.sockets=80"},
		Over: over.Over}}), config.Quick, scaling, false), "a graph that is absent may leave a check nothing")
}

func figure(f config.PackFigure) *config.Pack {
	if f.Metric == "" {
		f.Metric = "cycles"
	}
	if f.Reduce == "" {
		f.Reduce = "geomean"
	}
	f.Variants = []workload.Choice{"quick"}
	return &config.Pack{Name: "p/x", Readings: described, PackHead: config.PackHead{Figure: "Fig. 1"},
		Figures: []config.PackFigure{f}}
}

func TestFigures(t *testing.T) {
	over := weaverOver
	over.Measure, over.Of = "speedup", nil
	o, err := reproduce.Evaluate(figure(config.PackFigure{Name: "a", Title: "A", Kind: "bars", Quantity: over,
		Columns: []string{"workload.algorithm"}, Series: []string{"workload.schedule", "machine"}, Geomean: true}),
		config.Quick, points())
	require.NoError(t, err)
	f := &o.Figures[0]
	require.Equal(t, []string{"bfs", "cc", "geomean"}, f.Columns)
	require.Equal(t, []string{"vertex", "weaver"}, f.Series, "a key that distinguishes no further points is not named")
	require.InDelta(t, 8, *f.Values[1][1], 1e-9)
	require.InDelta(t, 4, *f.Values[2][1], 1e-9)
	require.Contains(t, string(f.SVG()), "Fig. 1: A")
	require.Equal(t, "speedup", f.Metric)

	few := []reproduce.Point{{Reading: config.Described, Experiment: "e", Counts: true, Cycles: 1,
		Stats: map[string]float64{"core.phase.init.cycles": 1, "core.phase.apply.cycles": 2}}}
	o, err = reproduce.Evaluate(figure(config.PackFigure{Name: "a", Kind: "stack",
		Quantity: config.Quantity{Measure: "value"},
		Metrics:  []string{"core.phase.init.cycles", "core.phase.apply.cycles"}, Columns: []string{"experiment"}}),
		config.Quick, few)
	require.NoError(t, err)
	require.Equal(t, []string{"init", "apply"}, o.Figures[0].Series)

	one := config.Quantity{Measure: "value", Of: []string{"workload.schedule=weaver"}, Across: all}
	o, err = reproduce.Evaluate(figure(config.PackFigure{Name: "a", Kind: "lines", Quantity: one,
		Columns: []string{latency}, Series: []string{"workload.algorithm"}}), config.Quick, points())
	require.NoError(t, err)
	require.Equal(t, []string{"10", "20", "40"}, o.Figures[0].Columns)
	require.Contains(t, string(o.Figures[0].SVG()), "<path")

	o, err = reproduce.Evaluate(figure(config.PackFigure{Name: "a", Kind: "table", Quantity: one,
		Metrics: []string{"edges", "nothing", "none"}, Columns: []string{"workload.algorithm", latency}}), config.Quick,
		points())
	require.NoError(t, err)
	require.Equal(t, "bfs table_latency=10", o.Figures[0].Columns[0])
	require.Equal(t, []string{"edges", "nothing"}, o.Figures[0].Series)
	require.Zero(t, *o.Figures[0].Values[0][1])
	require.Nil(t, o.Figures[0].SVG())
}

// A saved outcome is read again, and the documentation is generated from it.
func TestSaveAndMarkdown(t *testing.T) {
	p := figure(config.PackFigure{Name: "a", Title: "A | B", Kind: "bars",
		Quantity: config.Quantity{Measure: "value", Across: []string{latency}}, Columns: []string{"workload.algorithm"},
		Series: []string{"workload.schedule"}})
	p.PackHead.Scaled, p.Statement, p.Discussion = "smaller", "it is\n  so", "because it is {{twice}}."
	p.Checks = pack(config.Check{Says: "twice", Quantity: weaverOver, Reduce: "geomean", Published: "four",
		Holds: "within 0.1"}).Checks
	p.Published = pack(config.Check{}).Published
	o, err := reproduce.Evaluate(p, config.Quick, points())
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, o.Save(dir))
	require.FileExists(t, filepath.Join(dir, "p-x-quick-a.svg"))
	again, err := reproduce.Read(dir, "p/x", config.Quick)
	require.NoError(t, err)
	require.Equal(t, o.Checks, again.Checks)
	require.True(t, again.Current(p))
	pages, err := reproduce.Pages([]*config.Pack{p}, dir, "there")
	require.NoError(t, err)
	require.Len(t, pages, 3)
	require.Contains(t, string(pages["there/scatter.svg"]), "<title>p/x: twice: published 4, ours 4</title>")
	for _, s := range []string{"| [p/x](#px) |", "| yes | not run |", "*it is so*", "because it is 4.",
		"| twice | 4 (§1) | within 0.1 | 4 (arithmetic 5) yes |",
		"| [p/x](#px) | twice | evidence | 4 | described 4 (arithmetic 5) yes | – | – |", "12 points", "(there/p-x.md)",
		"| p | 1 | 1.00 | 1.00 | 1.00 | 1 (100 %) | 0 | 1.0 (1) | 1 of 1 | 1 of 1 | – |"} {
		require.Contains(t, string(pages["reproduction.md"]), s)
	}
	for _, s := range []string{"smaller", "A | B\n\n(cycles, geomean over machine.core.warps, " +
		"machine.core.weaver.table_latency)", "![A \\| B](p-x-quick-a.svg)", "Atomics: l2"} {
		require.Contains(t, string(pages["there/p-x.md"]), s)
	}
	p.Checks[0].Says = "thrice"
	require.False(t, again.Current(p))

	none, err := reproduce.Read(dir, "p/y", config.Quick)
	require.NoError(t, err)
	require.Nil(t, none)
	for _, bad := range []string{"{", `{"figures": [{"columns": ["a"], "values": []}]}`,
		`{"figures": [{"columns": ["a"], "series": ["s"], "values": [[]]}]}`, `{"checks": [{"says": "x"}]}`, `{"checks": [{"readings": [{}, {}]}], "readings": [{}]}`} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "p-z-quick.json"), []byte(bad), 0o644))
		_, err = reproduce.Read(dir, "p/z", config.Quick)
		require.ErrorContains(t, err, "p-z-quick.json")
	}
}

func ExampleOutcome_Write() {
	p := pack(config.Check{Says: "the weaver is faster", Quantity: weaverOver, Reduce: "geomean", Published: "four",
		Holds: "within 0.1"})
	p.Paper.Venue, p.Figure, p.Statement, p.Scaled = "V 2025", "Fig. 1", "It is four times as fast.", "all made up"
	o, err := reproduce.Evaluate(p, config.Quick, points())
	fmt.Println(err)
	o.Write(os.Stdout, p)
	// Output:
	// <nil>
	// V 2025, Fig. 1: It is four times as fast.
	// the weaver is faster: published 4 (within 0.1)
	//     described 4 (arithmetic 5) yes
	//
	// described (yes): as it is
	// scaled: all made up
	// atomics: l2
	// 12 points, 12 s, points added up
	// The statement holds: yes
}

// Each reading's points yield separate numbers; a check that a reading leaves unchanged is noted as such, and not
// counted twice.
func TestReadings(t *testing.T) {
	list := points()
	for _, p := range points() {
		p.Reading, p.Same = "slow", p.Axes["workload.schedule"] == "weaver"
		if !p.Same {
			p.Cycles, p.Sampled, p.Halves = 2*p.Cycles, true, map[string]float64{"cycles": 0.2 * float64(p.Cycles)}
		}
		list = append(list, p)
	}
	p := pack(config.Check{Says: "eight", Quantity: weaverOver, Reduce: "geomean", Published: "four", Holds: ">= 7.9",
		Partly: ">= 4"})
	p.Readings = map[config.Variant][]config.Reading{config.Quick: append(described[config.Quick][:1:1],
		config.Reading{ReadingHead: config.ReadingHead{Name: "slow", Says: "vertex mapping is slow", After: true}})}
	alone := config.Quantity{Measure: "value", Of: []string{"workload.schedule=weaver"}, Across: all}
	p.Checks = append(p.Checks, pack(config.Check{Says: "alone", Quantity: alone, Reduce: "max",
		Holds: ">= 1"}).Checks...)
	p.Checks[1].Measure = "value"
	o, err := reproduce.Evaluate(p, config.Quick, list)
	require.NoError(t, err)
	require.Equal(t, reproduce.Partly, o.Holds)
	slow := o.Checks[0].Readings[1]
	require.InDelta(t, 8, *slow.Ours, 1e-9)
	require.InDelta(t, 8*0.1/math.Sqrt(6), slow.Half, 1e-9, "six speedups, each to within 10 %")
	require.InDelta(t, 2, *slow.Ratio, 1e-9)
	require.Equal(t, []bool{true, false, false}, []bool{slow.Direction, slow.Near, slow.Same})
	require.True(t, o.Checks[0].Readings[0].Near)
	require.Zero(t, o.Checks[0].Readings[0].Half)
	require.True(t, o.Checks[1].Readings[1].Same)

	for i := range list { // of two algorithms that are added up, a reading changes the second
		list[i].Same = list[i].Reading == "slow" && list[i].Axes["workload.algorithm"] == "bfs"
	}
	p.Checks = p.Checks[:1]
	p.Checks[0].Sum, p.Checks[0].Across = []string{"workload.algorithm"}, []string{latency}
	again, err := reproduce.Evaluate(p, config.Quick, list)
	require.NoError(t, err)
	require.False(t, again.Checks[0].Readings[1].Same)
	require.Equal(t, []int{12, 6}, []int{o.Readings[0].Points, o.Readings[1].Points})
	require.Equal(t, []int{18, 6}, []int{o.Points, o.Sampled})
	require.True(t, o.Readings[1].After)
}

// A statement holds in direction by its own rule, or by an effect of 5 % on the published or the stated side of 1.
func TestDirection(t *testing.T) {
	inverse := config.Quantity{Measure: "ratio", Of: weaverOver.Of, Over: weaverOver.Over, Across: all}
	for _, c := range []struct {
		name  string
		check config.Check
		is    bool
	}{
		{"its own rule", config.Check{Quantity: weaverOver, Reduce: "geomean", Holds: ">= 100", Direction: ">= 4.5"}, false},
		{"the published side", config.Check{Quantity: weaverOver, Reduce: "min", Published: "four", Holds: ">= 100"}, true},
		{"the other side", config.Check{Quantity: inverse, Reduce: "min", Published: "four", Holds: ">= 100"}, false},
		{"the stated side", config.Check{Quantity: weaverOver, Reduce: "min", Holds: ">= 100"}, true},
		{"not the stated side", config.Check{Quantity: weaverOver, Reduce: "min", Holds: "<= 0.9", Partly: "<= 5"}, false},
		{"none stated", config.Check{Quantity: weaverOver, Reduce: "min", Holds: "<= 100"}, false},
	} {
		o, err := reproduce.Evaluate(pack(c.check), config.Quick, points())
		require.NoError(t, err, c.name)
		require.Equal(t, c.is, o.Checks[0].Readings[0].Direction, c.name)
	}
}

// A reading's rules set keys of the points that meet their conditions; of two rules for one key the last one wins.
func TestSettings(t *testing.T) {
	r := config.Reading{Rules: []config.ReadingRule{
		{Set: []string{"machine.core.warps=8", "workload.algorithm.width=2"}},
		{Where: []string{"workload.schedule=vertex", "workload.algorithm=bfs|cc"}, Set: []string{"machine.core.warps=16"}},
		{Where: []string{"experiment=other"}, Set: []string{"workload.algorithm.width=4"}},
	}}
	vertex, weaver := at("vertex", "bfs", "10", 1), at("weaver", "bfs", "10", 1)
	require.Equal(t, []string{"workload.algorithm.width=2", "machine.core.warps=16"}, reproduce.Settings(&r, &vertex))
	require.Equal(t, []string{"machine.core.warps=8", "workload.algorithm.width=2"}, reproduce.Settings(&r, &weaver))
}

// A statement that does not hold as described is listed, with our number.
func TestMisses(t *testing.T) {
	p := pack(config.Check{Says: "far", Quantity: weaverOver, Reduce: "max", Published: "four", Holds: "within 0.1"})
	p.Checks = append(p.Checks, pack(config.Check{Says: "astray", Quantity: weaverOver, Reduce: "max",
		Holds: "<= 0.9"}).Checks...)
	text := page(t, p, points())
	require.Contains(t, text, "Not in direction: 1, as described (each pack's section has the reasons)</summary>\n\n"+
		"- [p/x](#px): astray: published –, ours 8\n")
	require.Contains(t, text, "- [p/x](#px): far: published 4, ours 8\n")
}

// page generates reproduction.md from the outcome of one pack.
func page(t *testing.T, p *config.Pack, list []reproduce.Point) string {
	t.Helper()
	o, err := reproduce.Evaluate(p, config.Quick, list)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, o.Save(dir))
	pages, err := reproduce.Pages([]*config.Pack{p}, dir, "there")
	require.NoError(t, err)
	return string(pages["reproduction.md"])
}

// TestPagesBeforeTheFirstNumber: a folder in which nothing is recorded yet has its page, too.
func TestPagesBeforeTheFirstNumber(t *testing.T) {
	p := pack(config.Check{Says: "twice", Quantity: weaverOver, Reduce: "geomean", Published: "four", Holds: "within 0.1"})
	pages, err := reproduce.Pages([]*config.Pack{p}, t.TempDir(), "there")
	require.NoError(t, err)
	require.Contains(t, string(pages["reproduction.md"]), "No published number has been compared.")
}
