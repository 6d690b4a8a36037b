package cmd

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/internal/files"
	"heddle/internal/resources"
	"heddle/internal/version"
	"heddle/report/reproduce"
)

// reproduceFlags holds the flags of heddle reproduce.
type reproduceFlags struct {
	runFlags
	quick, full bool
	graphs      string
	record      string
	strict      bool
	sensitivity bool
}

func newReproduce() *cobra.Command {
	var f reproduceFlags
	c := &cobra.Command{
		Use:   "reproduce [PACK]",
		Short: "Reproduce published results",
		Long: `Run the experiments of a published figure or table and compare the results. Without PACK, list the packs.

A pack (one that heddle ships, or a file) has experiments, the paper's statements, and rules
by which they hold. Its experiments run as heddle run runs them: every point verified, and
stored, so that the same command continues. A paper leaves things open: a pack runs under several
readings of it, each named. Printed are our numbers under each beside those that the paper's text or
tables print, and whether the statement holds; the figures, as SVG, outcome.json, and a report of each
experiment go to results/reproduce/PACK/VARIANT. The environment's HEDDLE_ variables do not
apply: only --set changes a pack.

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
  heddle reproduce sparseweaver/fig13 --record docs/results
  heddle reproduce sparseweaver/fig10 --sensitivity`,
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
	fl.StringVar(&f.record, "record", "", "write the outcome and its data to a `directory` of documentation, and "+
		"generate reproduction.md from it; refused of a build with changes that are not committed")
	fl.BoolVar(&f.strict, "strict", false, "exit code 4 unless the statement holds wholly")
	fl.BoolVar(&f.sensitivity, "sensitivity", false, "instead of the readings, run what the paper leaves open at the "+
		"ends of its plausible range, one knob at a time (sensitivity.yaml beside the pack), and show what moves most")
	c.MarkFlagsMutuallyExclusive("quick", "full")
	c.MarkFlagsMutuallyExclusive("sensitivity", "strict")
	c.MarkFlagsMutuallyExclusive("set", "record")
	return c
}

// packs loads all shipped packs.
func packs() (list []*config.Pack, err error) {
	for _, name := range config.PackNames() {
		p, err := config.LoadPack(name)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

func (f *reproduceFlags) list(c *cobra.Command) error {
	if f.record != "" {
		return f.write(c)
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

func (f *reproduceFlags) variant() config.Variant {
	if f.full {
		return config.Full
	}
	return config.Quick
}

func (f *reproduceFlags) run(c *cobra.Command, name string) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.record != "" && !reproduce.Committed(version.Text()) {
		return fmt.Errorf("--record: this program (%s) was built with changes that are not committed, so that no one "+
			"could build it again: commit them, and build in a clean tree (go build ./cmd/heddle)", version.Text())
	}
	p, err := config.LoadPack(name)
	if err != nil {
		return err
	}
	var knobs []config.Knob
	if f.sensitivity {
		if !slices.ContainsFunc(p.Checks, func(c config.Check) bool { return c.Decides && c.Published != "" }) {
			return fmt.Errorf("%s: --sensitivity: none of its statements has a printed number that a knob could move", p.File)
		}
		if knobs, err = f.knobs(p); err != nil {
			return err
		}
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
	r := &reproduction{flags: f, pack: p, knobs: knobs, outcomes: map[string]experiment.Outcome{},
		known: map[string]experiment.GraphSummary{}}
	for i := range parts {
		if err := r.run(c, &parts[i]); err != nil {
			return err
		}
	}
	return r.end(c, absent)
}

// knobs replaces a pack's readings by the ends of its knobs' ranges. An end that changes no point is left out.
func (f *reproduceFlags) knobs(p *config.Pack) ([]config.Knob, error) {
	knobs, err := p.SensitivityKnobs()
	if err != nil {
		return nil, err
	}
	v := f.variant()
	p.Readings[v] = p.Readings[v][:1:1]
	for i := range knobs {
		for _, end := range knobs[i].Ends() {
			alone := *p
			alone.Readings = map[config.Variant][]config.Reading{v: {p.Readings[v][0], end}}
			parts, _, err := layOut(&alone, v, f.options(p))
			if err != nil {
				return nil, err
			}
			if slices.ContainsFunc(parts, func(q part) bool { return q.reading == end.Name && slices.Contains(q.same, false) }) {
				p.Readings[v] = append(p.Readings[v], end)
			}
		}
	}
	return knobs, nil
}

// dir returns the directory of a variant's results.
func (f *reproduceFlags) dir(p *config.Pack) string {
	return filepath.Join(f.out, "reproduce", filepath.FromSlash(p.Name), string(f.variant()))
}

// part is one of a pack's experiments under a reading of the paper.
type part struct {
	reading string
	loaded  *schema.Loaded[config.Experiment]
	points  []experiment.Point
	same    []bool // by point: equal to the point as described
}

// layOut expands all experiments under all readings, and validates the pack's checks against their points, before
// anything runs.
func (f *reproduceFlags) layOut(p *config.Pack) (parts []part, absent []string, err error) {
	v := f.variant()
	if !p.Has(v) {
		return nil, nil, fmt.Errorf("%s: has no %s variant", p.Name, v)
	}
	options := f.options(p)
	parts, absent, err = layOut(p, v, options)
	if err == nil && len(parts) == 0 {
		err = fmt.Errorf("%s: none of its graphs is there: %v; --graphs names their directory", p.Name, absent)
	}
	if err != nil {
		return nil, nil, err
	}
	return parts, absent, checkParts(p, v, parts, len(absent) == 0 && options.Only == nil)
}

// options returns what the command line says of a pack's experiments.
func (f *reproduceFlags) options(p *config.Pack) config.PackOptions {
	o := config.PackOptions{Graphs: f.graphs, Set: f.overrides.set, Exists: config.FileExists}
	if f.sensitivity && len(p.Studied) > 0 {
		o.Only = p.Studied
	}
	return o
}

// layOut expands the points of all experiments, those as described first.
func layOut(p *config.Pack, v config.Variant, o config.PackOptions) (parts []part, absent []string, err error) {
	list, absent, err := p.Experiments(v, o)
	if err != nil {
		return nil, nil, err
	}
	for _, l := range list {
		points, err := experiment.Points(l, o.Set)
		if err == nil {
			err = experiment.CheckSampling(points)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %s: %w", p.File, l.Value.Name, err)
		}
		parts = append(parts, part{config.Described, l, points, make([]bool, len(points))})
	}
	described, lists := slices.Clone(parts), make([][]reproduce.Point, len(parts))
	for i := range p.Readings[v][1:] {
		r := &p.Readings[v][1+i]
		for j, d := range described {
			if slices.Contains(p.Apart, d.loaded.Value.Name) {
				continue
			}
			if lists[j] == nil {
				lists[j] = d.list(nil)
			}
			under, err := d.under(r, lists[j], o.Set)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %s: reading %s: %w", p.File, d.loaded.Value.Name, r.Name, err)
			}
			parts = append(parts, under)
		}
	}
	return parts, absent, nil
}

// under returns an experiment under a reading; as lists the points as described.
func (d *part) under(r *config.Reading, as []reproduce.Point, set []string) (part, error) {
	points, err := experiment.Under(d.loaded, d.points, set,
		func(i int) []string { return reproduce.Settings(r, &as[i]) })
	u := part{r.Name, d.loaded, points, make([]bool, len(points))}
	for i := range points {
		u.same[i] = points[i].Digest() == d.points[i].Digest()
	}
	return u, err
}

// list returns the part's points for a pack, with outcomes if there are any.
func (d *part) list(outcomes []experiment.Outcome) []reproduce.Point {
	list := reproduce.NewPoints(d.reading, &d.loaded.Value, d.points, outcomes)
	for i := range list {
		list[i].Same = d.reading != config.Described && d.same[i]
	}
	return list
}

// checkParts returns an error for checks and figures that do not apply to these points, and readings that change none
// of them.
func checkParts(p *config.Pack, v config.Variant, parts []part, all bool) error {
	under := map[string][]reproduce.Point{}
	for i := range parts {
		under[parts[i].reading] = append(under[parts[i].reading], parts[i].list(nil)...)
	}
	for _, r := range p.Readings[v] {
		if r.Name != config.Described && all &&
			!slices.ContainsFunc(under[r.Name], func(p reproduce.Point) bool { return !p.Same }) {
			return fmt.Errorf("%s: reading %s changes no point of the %s variant: leave it out, or mend its rules",
				p.File, r.Name, v)
		}
		// Experiments in apart have no points under other readings.
		if err := reproduce.Check(p, v, under[r.Name], all && r.Name == config.Described); err != nil {
			return fmt.Errorf("reading %s: %w", r.Name, err)
		}
	}
	return nil
}

// reproduction is a pack's run.
type reproduction struct {
	flags    *reproduceFlags
	pack     *config.Pack
	points   []reproduce.Point
	machines []string
	graphs   []string
	version  string
	resumed  bool  // some points were stored already
	failed   error // error of the first point that failed
	knobs    []config.Knob

	outcomes map[string]experiment.Outcome // by configuration
	known    map[string]experiment.GraphSummary
}

// run runs one of the pack's experiments under one reading, reusing results of other readings.
func (r *reproduction) run(c *cobra.Command, p *part) error {
	run := r.flags.runner(p.points)
	flags := r.flags.runFlags
	flags.steps = true // for readings that adopt them
	flags.out = filepath.Join(flags.out, strings.ReplaceAll(p.reading, " ", "-"))
	s, err := newSession(c, &flags, p.loaded, run, r.flags.limitMemory())
	if err != nil {
		return err
	}
	r.resumed = r.resumed || len(run.Done) > 0
	if err := s.book.Adopt(r.outcomes, r.known); err != nil {
		return err
	}
	summary, err := s.simulate(c)
	if err != nil {
		return err
	}
	err = s.verdict(s.outcomes)
	var code *codeError
	if errors.As(err, &code) && code.code == exitInterrupted {
		return err
	}
	r.failed = errors.Join(r.failed, err)
	r.points = append(r.points, p.list(s.outcomes)...)
	r.note(p, s, summary)
	_, err = makeReport(s.dir, "", "")
	return err
}

// note records a part of the run.
func (r *reproduction) note(p *part, s *session, summary *experiment.Summary) {
	for i := range p.points {
		r.outcomes[p.points[i].Digest()] = s.outcomes[i]
	}
	maps.Copy(r.known, summary.About.Graphs)
	r.version = s.version
	if p.reading != config.Described {
		return
	}
	r.machines = append(r.machines, reproduce.Machine(&p.points[0]))
	for _, g := range reproduce.Graphs(s.outcomes, summary.Graphs) {
		r.graphs = append(r.graphs, p.loaded.Value.Name+": "+g)
	}
}

// end prints the outcome.
func (r *reproduction) end(c *cobra.Command, absent []string) error {
	o, err := reproduce.Evaluate(r.pack, r.flags.variant(), r.points)
	if err != nil {
		return err
	}
	o.Absent, o.Machines, o.Graphs, o.Version = absent, r.machines, r.graphs, r.version
	if o.Host.Jobs = r.flags.jobs; !r.resumed {
		o.Host.Processor = resources.ProcessorSeconds()
	}
	if r.flags.sensitivity {
		return errors.Join(r.failed, r.study(c, o))
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
		err = errors.Join(err, o.Save(filepath.Join(r.flags.record, recorded)), r.flags.write(c))
	}
	if r.failed == nil && r.flags.strict && o.Holds != reproduce.Yes {
		return &codeError{exitStatement, fmt.Errorf("the statement holds: %s", o.Holds)}
	}
	return errors.Join(r.failed, err)
}

// study prints the effects of knobs.
func (r *reproduction) study(c *cobra.Command, o *reproduce.Outcome) error {
	s := reproduce.NewSensitivity(r.pack, r.knobs, o)
	if err := s.Save(r.flags.out); err != nil {
		return err
	}
	if r.flags.record != "" && r.failed == nil {
		if err := errors.Join(s.Save(filepath.Join(r.flags.record, recorded)), r.flags.write(c)); err != nil {
			return err
		}
	}
	if r.flags.json {
		return printJSON(c.OutOrStdout(), s)
	}
	s.Write(c.OutOrStdout())
	_, err := fmt.Fprintf(c.OutOrStdout(), "study and chart in %s\n", r.flags.out)
	return err
}

// recorded is the directory of outcomes beside reproduction.md.
const recorded = "reproduction"

// write generates the documentation from the recorded outcomes, and names those that have to be recorded again.
func (f *reproduceFlags) write(c *cobra.Command) error {
	all, err := packs()
	if err != nil {
		return err
	}
	changed, err := reproduce.Rejudge(all, filepath.Join(f.record, recorded))
	if err != nil {
		return err
	}
	for _, name := range changed {
		fmt.Fprintf(c.ErrOrStderr(), "heddle: recorded, but not of what the pack simulates now: %s\n", name)
	}
	pages, err := reproductionDoc(f.record)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		err = errors.Join(err, files.Write(filepath.Join(f.record, filepath.FromSlash(name)), pages[name]))
	}
	return err
}

// reproductionDoc returns docs/results/reproduction.md, and the pages beside the outcomes.
func reproductionDoc(dir string) (map[string][]byte, error) {
	all, err := packs()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, recorded)
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	return reproduce.Pages(all, dir, recorded)
}
