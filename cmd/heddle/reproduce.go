package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"heddle/configs"
	"heddle/internal/experiment"
	"heddle/internal/files"
	"heddle/internal/reproduce"
	"heddle/internal/schema"
)

// reproduceFlags are the settings of heddle reproduce.
type reproduceFlags struct {
	runFlags
	quick, full bool
	graphs      string
	record      string
	strict      bool
}

func newReproduce() *cobra.Command {
	var f reproduceFlags
	c := &cobra.Command{
		Use:   "reproduce [PACK]",
		Short: "Hold a paper's statement up against what this simulator does",
		Long: `Hold a published statement up against what this simulator does. Without PACK, list the packs.

A pack (one that heddle ships, or a file) has experiments, what the paper states, and rules
by which that holds. Its experiments run as heddle run runs them: every point verified, and
stored, so that the same command continues. Printed are our numbers beside those that the paper's
text or tables print, and whether the statement holds; the figures, as SVG, outcome.json, and a
report of each experiment go to results/reproduce/PACK/VARIANT. The environment's HEDDLE_ variables do not
apply: a pack is what it is, but for --set.

--quick, the default, takes about a minute on two processors: scaled-down graphs and machines, as the
pack says. --full takes hours, and needs graphs in --graphs; those that are not there are named and left out.

Exit codes: 0 every point is verified, whether the statement holds or not; 1 a point failed; 2 wrong
command line or pack; 3 no progress (deadlock) or limit reached; 4 with --strict: the statement does
not hold wholly; 130 interrupted.`,
		Example: `  heddle reproduce
  heddle reproduce sparseweaver/fig10
  heddle reproduce sparseweaver/fig10 --full --graphs ~/graphs --time-limit 2h
  heddle reproduce sparseweaver/fig13 --json | jq .holds
  heddle reproduce ./my-pack.yaml --jobs 1
  heddle reproduce sparseweaver/fig13 --record docs`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return f.list(c)
			}
			return f.run(c, args[0])
		},
	}
	f.add(c)
	fl := c.Flags()
	fl.BoolVar(&f.quick, "quick", false, "the quick variant (the default)")
	fl.BoolVar(&f.full, "full", false, "the full variant")
	fl.StringVar(&f.graphs, "graphs", "graphs", "`directory` with the graphs of full variants")
	fl.BoolVar(&f.json, "json", false, "print the outcome, or the list of packs, as JSON")
	fl.StringVar(&f.record, "record", "", "put the outcome into reproduction.md, and what it is made of, in that `directory`")
	fl.BoolVar(&f.strict, "strict", false, "exit code 4 unless the statement holds wholly")
	c.MarkFlagsMutuallyExclusive("quick", "full")
	c.MarkFlagsMutuallyExclusive("set", "record")
	return c
}

// packs loads all that heddle ships.
func packs() (list []*configs.Pack, err error) {
	for _, name := range configs.PackNames() {
		p, err := configs.LoadPack(name)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func (f *reproduceFlags) list(c *cobra.Command) error {
	if f.record != "" {
		return f.write()
	}
	all, err := packs()
	if err != nil {
		return err
	}
	var list []reproduce.Summary
	for _, p := range all {
		list = append(list, reproduce.Summarise(p))
	}
	if f.json {
		return printJSON(c.OutOrStdout(), list)
	}
	t := newTable(c.OutOrStdout(), "pack", "of", "statement", "quick")
	for _, s := range list {
		t.AppendRow(table.Row{s.Pack, s.Paper + ", " + s.Figure, s.Statement, fmt.Sprintf("%d s", s.QuickSeconds)})
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 3, WidthMax: 90, WidthMaxEnforcer: text.WrapSoft}})
	t.Render()
	return nil
}

func (f *reproduceFlags) variant() configs.Variant {
	if f.full {
		return configs.Full
	}
	return configs.Quick
}

func (f *reproduceFlags) run(c *cobra.Command, name string) error {
	if err := f.check(); err != nil {
		return err
	}
	p, err := configs.LoadPack(name)
	if err != nil {
		return err
	}
	parts, absent, err := f.layOut(p)
	if err != nil {
		return err
	}
	for _, a := range absent {
		fmt.Fprintf(c.ErrOrStderr(), "heddle: %s is not there: left out (--graphs names the directory)\n", a)
	}
	if f.memoryLimit > 0 {
		debug.SetMemoryLimit(int64(f.memoryLimit))
	}
	f.out = f.dir(p)
	r := &reproduction{flags: f, pack: p}
	for i := range parts {
		if err := r.run(c, &parts[i]); err != nil {
			return err
		}
	}
	return r.end(c, absent)
}

// dir is where a variant's results go.
func (f *reproduceFlags) dir(p *configs.Pack) string {
	return filepath.Join(f.out, "reproduce", filepath.FromSlash(p.Name), string(f.variant()))
}

// part is one of a pack's experiments.
type part struct {
	loaded *schema.Loaded[configs.Experiment]
	points []experiment.Point
}

// layOut lays out all experiments, and holds the pack's checks against their points, before anything runs.
func (f *reproduceFlags) layOut(p *configs.Pack) (parts []part, absent []string, err error) {
	v := f.variant()
	if !p.Has(v) {
		return nil, nil, fmt.Errorf("%s: has no %s variant", p.Name, v)
	}
	list, absent, err := p.Experiments(v, configs.PackOptions{Graphs: f.graphs, Set: f.overrides.set, Exists: configs.FileExists})
	if err != nil {
		return nil, nil, err
	}
	if len(list) == 0 {
		return nil, nil, fmt.Errorf("%s: none of its graphs is there: %v; --graphs names their directory", p.Name, absent)
	}
	var points []reproduce.Point
	for _, l := range list {
		one, err := experiment.Points(l, f.overrides.set)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %s: %w", p.File, l.Value.Name, err)
		}
		parts = append(parts, part{l, one})
		points = append(points, reproduce.NewPoints(&l.Value, one, nil)...)
	}
	return parts, absent, reproduce.Check(p, v, points, len(absent) == 0) // checks may be of what is absent
}

// reproduction is a pack's run.
type reproduction struct {
	flags    *reproduceFlags
	pack     *configs.Pack
	points   []reproduce.Point
	machines []string
	graphs   []string
	version  string
	resumed  bool  // points had been stored
	failed   error // the first point that failed
}

// run runs one of the pack's experiments.
func (r *reproduction) run(c *cobra.Command, p *part) error {
	run := r.flags.runner(p.points)
	s, err := newSession(c, &r.flags.runFlags, p.loaded, run, r.flags.limitMemory())
	if err != nil {
		return err
	}
	r.resumed = r.resumed || len(run.Done) > 0
	summary, err := s.simulate(c.Context())
	if err != nil {
		return err
	}
	err = s.verdict(s.outcomes)
	var code *codeError
	if errors.As(err, &code) && code.code == exitInterrupted {
		return err
	}
	r.failed = errors.Join(r.failed, err)
	r.points = append(r.points, reproduce.NewPoints(&p.loaded.Value, p.points, s.outcomes)...)
	r.machines = append(r.machines, reproduce.Machine(&p.points[0]))
	for _, g := range reproduce.Graphs(summary) {
		r.graphs = append(r.graphs, p.loaded.Value.Name+": "+g)
	}
	r.version = s.version
	_, err = makeReport(s.dir, "")
	return err
}

// end says what it all came to.
func (r *reproduction) end(c *cobra.Command, absent []string) error {
	o, err := reproduce.Evaluate(r.pack, r.flags.variant(), r.points)
	if err != nil {
		return err
	}
	o.Absent, o.Machines, o.Graphs, o.Version = absent, r.machines, r.graphs, r.version
	if o.Host.Jobs = r.flags.jobs; !r.resumed {
		o.Host.Processor = processorSeconds()
	}
	if err := o.Save(r.flags.out); err != nil {
		return err
	}
	if r.flags.json {
		err = printJSON(c.OutOrStdout(), o)
	} else {
		o.Write(c.OutOrStdout(), r.pack)
		fmt.Fprintf(c.OutOrStdout(), "figures, outcome and reports in %s\n", r.flags.out)
	}
	if r.flags.record != "" && r.failed == nil {
		err = errors.Join(err, o.Save(filepath.Join(r.flags.record, recorded)), r.flags.write())
	}
	if r.failed == nil && r.flags.strict && o.Holds != reproduce.Yes {
		return &codeError{exitStatement, fmt.Errorf("the statement holds: %s", o.Holds)}
	}
	return errors.Join(r.failed, err)
}

// recorded is the directory of outcomes beside reproduction.md.
const recorded = "reproduction"

// write makes the documentation from the outcomes beside it.
func (f *reproduceFlags) write() error {
	text, err := reproductionDoc(f.record)
	if err != nil {
		return err
	}
	return files.Write(filepath.Join(f.record, "reproduction.md"), text)
}

// reproductionDoc is docs/reproduction.md.
func reproductionDoc(dir string) ([]byte, error) {
	all, err := packs()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, recorded)
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	return reproduce.Markdown(all, dir, recorded)
}
