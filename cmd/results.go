package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/experiment/store"
	"heddle/internal/files"
	"heddle/internal/fit"
	"heddle/internal/plain"
	"heddle/report"
	"heddle/sim/stats"
)

// resultsFlags holds the flags of heddle results.
type resultsFlags struct {
	shared bool // explain by shared stalls
	whatIf bool // explain by simulating with ideal parts
	out    string
	json   bool
	stats  string // of show
	values string // of diff
	all    bool
	rows   bool // samples
	config bool
	steps  bool
	format string
	file   string
	into   string // of merge
	chosen string // statistics of export

	baseline string
	dryRun   bool // of gc
}

func newResults() *cobra.Command {
	var f resultsFlags
	c := &cobra.Command{
		Use:   "results",
		Short: "List, show, compare and export results",
		Long: `List, show, compare and export results. NAME is that of an experiment, whose results are in
results/NAME, or the path of such a directory or of a results.sqlite. Tables and columns:
docs/guide/results.md.`,
	}
	c.PersistentFlags().StringVar(&f.out, "out", "results", "`directory` of the results' directories")
	c.AddCommand(f.list(), f.show(), f.table(), f.diff(), f.export(), f.merge(), f.sql(), f.gc())
	return c
}

// command returns a subcommand of heddle results.
func (f *resultsFlags) command(use, short, example string, args cobra.PositionalArgs,
	run func(w io.Writer, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example, Args: args,
		RunE: func(c *cobra.Command, args []string) error { return run(c.OutOrStdout(), args) },
	}
}

func (f *resultsFlags) addJSON(c *cobra.Command) *cobra.Command {
	c.Flags().BoolVar(&f.json, "json", false, "as JSON")
	return c
}

func (f *resultsFlags) list() *cobra.Command {
	c := f.addJSON(f.command("list [NAME]", "List the experiments that have results, or the points of one",
		"  heddle results list\n  heddle results list quickstart\n  heddle results list quickstart --json | jq '.[] "+
			"| [.point, .cycles]'",
		cobra.MaximumNArgs(1), func(w io.Writer, args []string) error {
			if len(args) == 1 {
				return f.listPoints(w, args[0])
			}
			if f.baseline != "" {
				return fmt.Errorf("--baseline %s: expected the name of an experiment with it", f.baseline)
			}
			return f.listExperiments(w)
		}))
	addBaseline(c, &f.baseline)
	return c
}

func (f *resultsFlags) show() *cobra.Command {
	c := f.addJSON(f.command("show NAME POINT",
		"Show one point, numbered from 1: its axes, results and statistics",
		"  heddle results show quickstart 3\n  heddle results show quickstart 3 --stats '^dram' --all\n  heddle "+
			"results show quickstart 3 --steps\n  heddle results show quickstart 3 --config > point.yaml\n  heddle "+
			"results show quickstart 3 --samples --stats '^(ipc|edges)$'",
		cobra.ExactArgs(2), f.showPoint))
	c.Flags().StringVar(&f.stats, "stats", "", "only statistics whose name matches the `regexp`")
	addBaseline(c, &f.baseline)
	c.Flags().BoolVar(&f.all, "all", false, "also the statistics of each core, cache and DRAM channel")
	c.Flags().BoolVar(&f.steps, "steps", false,
		"the kernels of each super-step instead of the whole point's statistics: frontier, edges, imbalance, "+
			"atomics, barriers, shuffles, phases")
	c.Flags().BoolVar(&f.rows, "samples", false,
		"show the intervals of its run (stats.interval) instead; --stats chooses columns")
	c.Flags().BoolVar(&f.config, "config", false, "print the point's configuration, which heddle run takes")
	return c
}

func (f *resultsFlags) diff() *cobra.Command {
	c := f.addJSON(f.command("diff A B", "Compare the points that two results have in common, by their axes",
		"  heddle results diff results/quickstart results/quickstart/results-20260102T030405.000Z.sqlite\n"+
			"  heddle results diff before after --stats '^(cycles|l1d\\.)'",
		cobra.ExactArgs(2), f.compare))
	c.Flags().StringVar(&f.values, "stats", "^(cycles|verified|replay|failure|graph)$",
		"list these values and statistics, a `regexp`; all count")
	return c
}

func (f *resultsFlags) export() *cobra.Command {
	c := f.command("export NAME", "Write all points as one table: csv, json or parquet with all statistics, latex "+
		"or markdown for a paper",
		"  heddle results export quickstart > quickstart.csv\n"+
			"  heddle results export quickstart --format latex --stats ipc,l1d.hit_rate\n"+
			"  heddle results export quickstart --format parquet --file quickstart.parquet\n"+
			"  heddle results export quickstart --samples > timeline.csv",
		cobra.ExactArgs(1), f.write)
	c.Flags().BoolVar(&f.rows, "samples", false,
		"write the intervals of all points' runs (stats.interval) instead: a row an interval")
	c.Flags().StringVar(&f.format, "format", "csv", "csv, json, parquet, latex or markdown")
	c.Flags().StringVar(&f.chosen, "stats", "",
		"with latex or markdown: `statistics` beside cycles and speedup, NAME,NAME")
	c.Flags().StringVar(&f.file, "file", "", "write to a `file` instead of stdout")
	addBaseline(c, &f.baseline)
	return c
}

func (f *resultsFlags) sql() *cobra.Command {
	return f.addJSON(f.command("sql NAME QUERY", "Query the store by a SELECT, read-only",
		`  heddle results sql quickstart 'SELECT point, cycles, verified FROM points'
  heddle results sql quickstart "SELECT point, value FROM stats WHERE name = 'l1d.hit_rate' ORDER BY value"
  heddle results sql quickstart 'SELECT name, unit, doc FROM names' --json`,
		cobra.ExactArgs(2), f.query))
}

func (f *resultsFlags) merge() *cobra.Command {
	c := f.addJSON(f.command("merge A B...", "Put the points of several results of one experiment together, as of "+
		"its shards (heddle run --shard)",
		"  heddle results merge results/my/shards/*\n  heddle results merge here/my there/my --into all/my",
		cobra.MinimumNArgs(1), f.mergeResults))
	c.Flags().StringVar(&f.into, "into", "", "the `directory` for all points, which may have some already; default: "+
		"that of the experiment's name below --out")
	return c
}

func (f *resultsFlags) mergeResults(w io.Writer, args []string) error {
	m, err := experiment.Merge(f.into, f.out, f.paths(args))
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(w, map[string]any{"experiment": m.Name, "directory": m.Dir, "points": m.Points,
			"stored": m.Stored, "new": m.New, "failed": m.Failed})
	}
	fmt.Fprintf(w, "%d of the %d points of %s are stored in %s, %d of them new, %d failed\n", m.Stored, m.Points,
		m.Name, m.Dir, m.New, m.Failed)
	return nil
}

// paths returns the directories or stores of names.
func (f *resultsFlags) paths(names []string) (paths []string) {
	for _, name := range names {
		paths = append(paths, strings.TrimSuffix(f.path(name), string(filepath.Separator)+store.File))
	}
	return paths
}

// path returns the store of an experiment's name, a directory or a file.
func (f *resultsFlags) path(name string) string {
	if strings.HasSuffix(name, ".sqlite") {
		return name
	}
	if !strings.ContainsAny(name, `/\`) {
		name = filepath.Join(f.out, name)
	}
	return filepath.Join(name, store.File)
}

// open opens a store, which the caller must close.
func (f *resultsFlags) open(name string) (*store.Store, error) {
	path := f.path(name)
	s, err := store.OpenRead(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: no results: expected the name of one of %s/*, or a path", path, f.out)
	}
	if err == nil && f.baseline != "" {
		if err = experiment.Rebase(s, f.baseline); err != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return s, err
}

// points reads the points of a store, without configurations and super-steps.
func (f *resultsFlags) points(name string, want store.Want) (points []store.Point, e store.Experiment, err error) {
	s, err := f.open(name)
	if err != nil {
		return nil, e, err
	}
	defer s.Close() //nolint:errcheck // read only
	if e, _, err = s.Experiment(); err == nil {
		err = s.Each(want, func(p *store.Point) error { points = append(points, *p); return nil })
	}
	return points, e, err
}

// experimentLine is an experiment in a list.
type experimentLine struct {
	Name     string `json:"name"`
	Points   int    `json:"points"`
	Stored   int    `json:"stored"`
	Failed   int    `json:"failed"`
	Finished string `json:"finished"` // time of the last point
	Version  string `json:"version"`
	Error    string `json:"error,omitempty"`
}

func (f *resultsFlags) listExperiments(w io.Writer) error {
	paths, err := filepath.Glob(filepath.Join(f.out, "*", store.File))
	if err != nil {
		return err
	}
	lines := []experimentLine{}
	for _, p := range paths {
		lines = append(lines, f.line(p))
	}
	if f.json {
		return printJSON(w, lines)
	}
	t := newTable(w, "experiment", "points", "stored", "failed", "last finished", "version")
	for _, l := range lines {
		if l.Error != "" {
			l.Finished = l.Error
		}
		t.AppendRow(table.Row{l.Name, l.Points, l.Stored, l.Failed, l.Finished, l.Version})
	}
	t.Render()
	return nil
}

// line summarises a store. A store that cannot be read is listed with the error.
func (f *resultsFlags) line(path string) experimentLine {
	l := experimentLine{Name: filepath.Base(filepath.Dir(path))}
	s, err := store.OpenRead(path)
	if err != nil {
		l.Error = err.Error()
		return l
	}
	defer s.Close() //nolint:errcheck // read only
	e, _, err := s.Experiment()
	if err == nil {
		l.Points, l.Version = e.Points, e.Version
		l.Stored, l.Failed, l.Finished, err = s.Progress()
	}
	if err != nil {
		l.Error = err.Error()
	}
	return l
}

func (f *resultsFlags) listPoints(w io.Writer, name string) error {
	s, err := f.open(name)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // read only
	if f.json {
		return s.Export(w, "json", false)
	}
	var points []store.Point
	if err := s.Each(store.Want{}, func(p *store.Point) error { points = append(points, *p); return nil }); err != nil {
		return err
	}
	var axes [][]experiment.Setting
	for i := range points {
		axes = append(axes, settings(&points[i]))
	}
	titles, values := experiment.AxisColumns(axes)
	speedups := store.Speedups(points)
	rest := [][]any{{"cycles", "speedup", "verified", "seconds"}}
	for i := range points {
		p := &points[i]
		rest = append(rest, []any{experiment.Cycles(p.Cycles, p.Half), speedupText(speedups, p.Position), verdictText(p),
			fmt.Sprintf("%.2f", p.Seconds)})
	}
	titles, values, rest = joined(titles, values, rest, fit.Columns(w))
	header := []any{"point"}
	for _, title := range titles {
		header = append(header, title)
	}
	kept := len(header) + 3
	header = append(header, rest[0]...)
	t := fit.Keeping(w, kept, header...)
	for i := range points {
		t.AppendRow(append(append(table.Row{points[i].Position + 1}, values[i]...), rest[i+1]...))
	}
	t.SetColumnConfigs(rightFrom(kept-2, kept-1))
	t.Render()
	return nil
}

// joined puts the columns of experiment.AxisColumns into one where a table has no room for them beside the others, of
// which the last is left out: the values of each point, and the titles in the same order, side by side.
func joined(titles []string, rows, rest [][]any, columns int) ([]string, [][]any, [][]any) {
	head := make([]any, len(titles))
	for i, t := range titles {
		head[i] = t
	}
	without := make([][]any, len(rest))
	for i := range rest {
		without[i] = rest[i][:len(rest[i])-1]
	}
	own := fit.Width(append([][]any{head}, rows...)) - 1
	if columns == 0 || len(titles) < 2 || own+fit.Width(without)+fit.Width([][]any{{"point"}})-1 <= columns {
		return titles, rows, rest
	}
	text := func(cells []any) string { return strings.Trim(fmt.Sprintln(cells...), "\n") }
	texts := make([][]any, len(rows))
	for i, r := range rows {
		texts[i] = []any{text(r)}
	}
	return []string{text(head)}, texts, without
}

// settings returns the values of a stored point's axes.
func settings(p *store.Point) (axes []experiment.Setting) {
	for _, a := range p.Axes {
		axes = append(axes, experiment.Setting(a))
	}
	return axes
}

func speedupText(speedups map[int]store.Speedup, position int) string {
	if s, ok := speedups[position]; ok {
		return fmt.Sprintf("%.2f×", s.Value) + experiment.Within(s.Half, s.Value)
	}
	return "–"
}

func verdictText(p *store.Point) string {
	return experiment.Verdict(p.Verified, p.Replay, p.Partial, p.Failure)
}

func newTable(w io.Writer, header ...any) table.Writer { return fit.New(w, header...) }

// presentConfig returns a stored configuration with the present names of keys, and as it is if it is none of this
// program's.
func presentConfig(text string) string {
	e, err := config.Parse("stored configuration", []byte(text))
	if err != nil {
		return text
	}
	return string(config.Schema.YAML(e))
}

func (f *resultsFlags) showPoint(w io.Writer, args []string) error {
	match, err := regexp.Compile(f.stats)
	if err != nil {
		return fmt.Errorf("--stats: %w", err)
	}
	p, base, err := f.point(args[0], args[1])
	switch {
	case err != nil:
		return err
	case p == nil:
		return fmt.Errorf("no point %s: heddle results list %s shows which there are", args[1], args[0])
	case f.config:
		_, err := io.WriteString(w, presentConfig(p.Config))
		return err
	case f.rows:
		return f.showSamples(w, args[0], p.Position, match)
	case f.steps:
		return f.showSteps(w, p, match)
	}
	var kept []stats.Stat
	for _, s := range p.Stats.Tree() {
		if namesStatistic(match, s.Name) && (f.all || !experiment.Single(s.Name)) {
			kept = append(kept, s)
		}
	}
	both := []store.Point{*p}
	if base != nil {
		both = append(both, *base)
	}
	speedups, phases := store.Speedups(both), experiment.Phases(p.Stats.Tree())
	if p.Stats = stats.Pack(kept); f.json {
		return store.Wide([]store.Point{*p}).Write(w, "json")
	}
	printPoint(w, p, phases, speedupText(speedups, p.Position))
	return nil
}

// showSamples prints a point's intervals, with the columns that match.
func (f *resultsFlags) showSamples(w io.Writer, name string, position int, match *regexp.Regexp) error {
	s, err := f.open(name)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // read only
	all, err := s.Timeline(position)
	if err != nil {
		return err
	}
	if len(all.Rows) == 0 {
		return fmt.Errorf("point %d of %s has no samples: its experiment has stats.interval 0", position+1, name)
	}
	t := all.Select(func(c string) bool { return c == "start" || c == "stop" || match.MatchString(c) })
	if f.json {
		return t.Write(w, "json")
	}
	var header []any
	for _, c := range t.Columns {
		header = append(header, c.Name)
	}
	out := newTable(w, header...)
	for _, r := range t.Rows {
		for i, v := range r {
			if x, ok := v.(float64); ok {
				r[i] = strconv.FormatFloat(x, 'g', 4, 64)
			}
		}
		out.AppendRow(table.Row(r))
	}
	out.Render()
	return nil
}

// point reads a point by its number, from 1, and its baseline; nil if there is none.
func (f *resultsFlags) point(name, number string) (p, base *store.Point, err error) {
	s, err := f.open(name)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close() //nolint:errcheck // read only
	n, err := strconv.Atoi(number)
	if err != nil {
		return nil, nil, nil //nolint:nilerr // no point has such a number
	}
	return s.Point(n - 1)
}

func printPoint(w io.Writer, p *store.Point, phases []experiment.Phase, speedup string) {
	for _, a := range p.Axes {
		fmt.Fprintf(w, "%s = %s\n", plain.Line(a.Key), plain.Line(a.Value))
	}
	fmt.Fprintf(w, "\ncycles    %s\nspeedup   %s\nverified  %s\n", experiment.Cycles(p.Cycles, p.Half), speedup,
		plain.Line(verdictText(p)))
	if p.Error != "" {
		fmt.Fprintf(w, "error     %s\n", plain.Lines(p.Error))
	}
	fmt.Fprintf(w, "graph     sha256 %s\nprogram   %s\n", plain.Line(p.Graph), plain.Line(p.Version))
	if p.Model != "" {
		fmt.Fprintf(w, "model     %s\n", plain.Line(p.Model))
	}
	fmt.Fprintf(w, "finished  %s, after %.2f s\n\n", plain.Line(p.Finished), p.Seconds)
	printPhases(w, phases)
	t := newTable(w, "statistic", "value", "unit", "meaning")
	for _, s := range p.Stats.Tree() {
		t.AppendRow(table.Row{s.Name, s.String(), s.Unit, s.Doc})
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, Align: text.AlignRight}})
	t.Render()
}

func (f *resultsFlags) compare(w io.Writer, args []string) error {
	match, err := regexp.Compile(f.values)
	if err != nil {
		return fmt.Errorf("--stats: %w", err)
	}
	a, ofA, err := f.points(args[0], store.Want{Stats: true})
	if err != nil {
		return err
	}
	b, ofB, err := f.points(args[1], store.Want{Stats: true})
	if err != nil {
		return err
	}
	c := store.Compare(a, b, match.MatchString)
	if f.json {
		return printJSON(w, c)
	}
	fmt.Fprintf(w, "A  %s, heddle %s\nB  %s, heddle %s\n", plain.Line(f.path(args[0])), plain.Line(ofA.Version),
		plain.Line(f.path(args[1])), plain.Line(ofB.Version))
	for _, d := range experiment.ConfigDifferences(ofA.Config, ofB.Config) {
		fmt.Fprintf(w, "   %s\n", plain.Line(d))
	}
	if len(c.Differences) > 0 {
		t := newTable(w, "point", "value", "A", "B", "B / A")
		for _, d := range c.Differences {
			t.AppendRow(table.Row{d.Point, d.Name, orNone(d.A), orNone(d.B), ratioText(d.Ratio)})
		}
		t.Render()
	}
	fmt.Fprintf(w, "%d points are the same in everything, %d differ; %d only in A, %d only in B\n", c.Same, c.Differ,
		len(c.OnlyA), len(c.OnlyB))
	return nil
}

func orNone(v any) any {
	if v == nil || v == "" {
		return "–"
	}
	return v
}

func ratioText(r *float64) string {
	if r == nil {
		return "–"
	}
	return fmt.Sprintf("%.4f", *r)
}

func (f *resultsFlags) write(w io.Writer, args []string) (err error) {
	forPapers := []string{string(report.LaTeX), string(report.Markdown)}
	if slices.Contains(forPapers, f.format) {
		return f.writePaper(w, args[0])
	}
	if formats := slices.Concat(store.Formats, forPapers); !slices.Contains(formats, f.format) {
		return fmt.Errorf("--format %s: expected one of %s", f.format, strings.Join(formats, ", "))
	}
	if f.chosen != "" {
		return fmt.Errorf("--stats %s: expected --format latex or markdown with it; csv, json and parquet have all "+
			"statistics", f.chosen)
	}
	s, err := f.open(args[0])
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // read only
	if f.file == "" {
		return f.exportTable(w, s)
	}
	out, err := files.Create(f.file)
	if err != nil {
		return err
	}
	if err := f.exportTable(out, s); err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}

// exportTable writes the table of points, or of their intervals.
func (f *resultsFlags) exportTable(w io.Writer, s *store.Store) error {
	if !f.rows {
		return s.Export(w, f.format, true)
	}
	t, err := s.Timelines()
	if err != nil {
		return err
	}
	return t.Write(w, f.format)
}

// writePaper writes a table for a paper: axes, cycles, speedup and the requested statistics.
func (f *resultsFlags) writePaper(w io.Writer, name string) error {
	if f.rows {
		return fmt.Errorf("--samples: expected --format csv, json or parquet with it")
	}
	dir, err := report.Find(filepath.Dir(f.path(name)))
	if err != nil {
		return err
	}
	r, err := report.ReadOver(dir, f.baseline)
	if err != nil {
		return err
	}
	var stats []string
	if f.chosen != "" {
		stats = strings.Split(f.chosen, ",")
	}
	text, err := r.Table(stats, report.Markup(f.format))
	if err != nil {
		return err
	}
	if f.file != "" {
		return files.Write(f.file, []byte(text))
	}
	_, err = io.WriteString(w, text)
	return err
}

func (f *resultsFlags) query(w io.Writer, args []string) error {
	s, err := f.open(args[0])
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // read only
	columns, rows, err := s.Query(args[1])
	if err != nil {
		return err
	}
	if f.json {
		t := store.Table{Rows: rows}
		for _, c := range columns {
			t.Columns = append(t.Columns, store.Column{Name: c})
		}
		return t.Write(w, "json")
	}
	var header []any
	for _, c := range columns {
		header = append(header, c)
	}
	t := newTable(w, header...)
	for _, r := range rows {
		t.AppendRow(table.Row(r))
	}
	t.Render()
	return nil
}
