package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/experiment/tune"
	"heddle/internal/files"
	"heddle/internal/fit"
	"heddle/internal/version"
	"heddle/kernels/workload"
)

// tuneFlags holds the flags of heddle tune.
type tuneFlags struct {
	runFlags
	only       []string
	schedules  string
	whole      bool
	quick      bool
	take       string   // file of a study whose results are reused
	hints      []string // kernels to try after the schedules, if the space has them
	exhaustive bool
	points     int
	budget     time.Duration
	count      bool // only count the schedules of a GraphIt program
}

func newTune() *cobra.Command {
	var f tuneFlags
	c := &cobra.Command{
		Use:   "tune EXPERIMENT",
		Short: "Search for the fastest kernel on a graph, an algorithm and a machine",
		Long: `Search for the fastest of heddle's kernels for an experiment's algorithm, graph and
machine: over schedules, directions, active sets, layouts, dedup, order, scan, blocks of
edges, unrolling, warps of a core and sizes of thread blocks; the experiment's other keys
do not change. The search begins with each schedule and the choices that suit it. Each
round changes one choice of the better half at a time and keeps the better half of the
results, until one is left; the search ends when no change of one choice makes the best
faster. A candidate is abandoned once it takes longer than the best so far. Every
candidate's result is checked, as heddle run does. With --quick the search ends earlier:
after each choice only the better half of the schedules remains, and once one is left, it
ends when no change of one choice makes that one faster. In an experiment with a sample,
candidates are estimated, and those that may be the best are simulated whole in the end.
On a machine with a graph unit, its schedules are searched.

The search is the same on any host, whatever --jobs is. Candidates are stored as they
end, as points of results/<name>-tune; the same command continues after an interruption.
Results of other experiments in results are reused, with the same outcome.
In that directory, best.yaml is an experiment that compares the best with the experiment's
own choices, and tune.json contains the printed tables.

An experiment with compare and sweep is a search at each of its points, each in a
directory of its own, which first tries the best of other graphs. Each schedule, with the
choices that suit it, is simulated to its end, or to four times the cycles of the best.
study.json and study.md there compare the best of each variant with that of the first.

For a GraphIt program (workload.program: bfs.gt), tune searches the schedules that the
scheduling language has for the machine, label after label: load balance, EdgeBlocking,
direction, frontier creation, deduplication and delta, each alone, and then two schedules
between which the input's size decides. With several labels it repeats this as long as it
finds anything faster.

` + exitHelp,
		Example: `  heddle tune my.yaml
  heddle tune quickstart --set workload.algorithm=bfs --only schedule=warp,cta,strict
  heddle tune my.yaml --points 40
  heddle tune my.yaml --budget 30m --json
  heddle run results/my-tune/best.yaml
  heddle tune hardware-vs-tuned --quick
  heddle tune cc.yaml --set workload.program=cc.gt --count`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.tune(c, args[0]) },
	}
	f.add(c)
	f.addSearch(c)
	return c
}

// addSearch adds the flags that select and limit the search.
func (f *tuneFlags) addSearch(c *cobra.Command) {
	fl := c.Flags()
	fl.BoolVar(&f.json, "json", false, "print tune.json instead of the tables")
	fl.StringArrayVar(&f.only, "only", nil, "search only those values of a choice, `KEY=VALUE,VALUE` (may be repeated)")
	fl.StringVar(&f.schedules, "schedules", string(tune.Suited),
		"schedules to search: of the machine's graph unit, or software schedules if it has none (auto), software, "+
			"or all")
	fl.BoolVar(&f.whole, "whole", false, "simulate each schedule, with the choices that suit it, to its end or to "+
		"four times the cycles of the best")
	fl.StringVar(&f.take, "take", "", "with compare or sweep: reuse results of the `study.json` of another run for "+
		"equal axes, and search for the rest")
	fl.BoolVar(&f.quick, "quick", false, "search less: leave slow schedules sooner, and do not return to them")
	fl.BoolVar(&f.count, "count", false, "of a GraphIt program: only count the schedules of each label")
	fl.BoolVar(&f.exhaustive, "exhaustive", false, "simulate every candidate to its end")
	fl.IntVar(&f.points, "points", 0, "simulate at most that many candidates (0: no limit)")
	fl.DurationVar(&f.budget, "budget", 0, "begin no candidate after that time on the host, such as 30m (0: no limit)")
}

func (f *tuneFlags) tune(c *cobra.Command, name string) error {
	if f.points < 0 || f.budget < 0 {
		return errors.New("--points, --budget: expected a number that is not negative")
	}
	if k := tune.Kinds(f.schedules); k != tune.Suited && k != tune.Software && k != tune.Every {
		return fmt.Errorf("--schedules %s: expected auto, software or all", f.schedules)
	}
	if err := f.check(); err != nil {
		return err
	}
	l, err := f.load(name, f.overrides.set)
	if err != nil {
		return err
	}
	if l.Value.Workload.Kind() == workload.KindGraphIt {
		return f.program(c, l)
	}
	if f.count {
		return errors.New("--count: expected a GraphIt program: heddle kernel list --count counts heddle's own kernels")
	}
	if len(l.Value.Compare)+len(l.Value.Sweep) > 0 {
		return f.study(c, name, l)
	}
	if f.take != "" {
		return errors.New("--take: expected an experiment with compare or sweep: it takes searches of some of its " +
			"points")
	}
	l.Value.Name += "-tune"
	o, _, err := f.search(c, l, f.overrides.set, "")
	if err != nil {
		return err
	}
	best := filepath.Join(f.out, l.Value.Name, bestFile)
	if f.json {
		return printJSON(c.OutOrStdout(), o)
	}
	o.Write(c.OutOrStdout())
	fmt.Fprintf(c.OutOrStdout(), "heddle run %s runs the best beside the first\n", best)
	return nil
}

// load loads an experiment, and returns an error if it cannot be searched.
func (f *tuneFlags) load(name string, set []string) (*schema.Loaded[config.Experiment], error) {
	l, err := loadExperiment(name, set)
	if err != nil {
		return nil, err
	}
	if len(l.Value.Seeds) > 0 {
		return nil, errors.New("seeds: expected none: a search is of one graph (--set seeds=[], or sweep the " +
			"graph's seed)")
	}
	if err := experiment.Tunable(&l.Value); err != nil {
		return nil, err
	}
	return l, nil
}

// Files of a search in its results directory.
const (
	bestFile  = "best.yaml"       // an experiment that compares the best candidate with the first
	tuneFile  = "tune.json"       // the outcome
	triedFile = "candidates.json" // the settings of each point, in order
)

// wholeSetting makes a candidate of a sampled search be simulated completely.
var wholeSetting = experiment.Setting{Key: "sample.period", Value: "0"}

// search searches the choices of an experiment without axes. of names it in a study.
func (f *tuneFlags) search(c *cobra.Command, l *schema.Loaded[config.Experiment], set []string,
	of string) (*tune.Outcome, *tuning, error) {
	axes := tune.Axes(&l.Value.Machine, tune.Kinds(f.schedules))
	only := f.only
	if l.Value.Sample.On() { // fused runs cannot be sampled
		only = append([]string{"fusion=none"}, only...)
	}
	for _, o := range only {
		if err := tune.Restrict(axes, o); err != nil {
			return nil, nil, err
		}
	}
	space, err := tune.NewSpace(l.Value.Workload, &l.Value.Machine, axes)
	if err != nil {
		return nil, nil, err
	}
	f.share(c, l.Value.Run.Threads)
	search := &tune.Search{
		Space: space, First: space.Find(l.Value.Workload), Whole: f.whole, Quick: f.quick, Hints: space.Named(f.hints),
	}
	t := &tuning{flags: f, loaded: l, set: set, numbers: map[string]int{}, search: search}
	t.session = &session{flags: &f.runFlags, experiment: &l.Value, name: l.Value.Name,
		dir: filepath.Join(f.out, l.Value.Name), version: version.Text()}
	if err := t.begin(c); err != nil {
		return nil, nil, err
	}
	if !f.json && of == "" {
		fmt.Fprintf(c.OutOrStdout(), "%s: %d candidates\n", l.Value.Name, len(space.Candidates))
	}
	defer inOrder(c.Context())()
	t.watch = newTuneWatch(t.name, progressTo(c), f.heartbeat)
	o, err := t.run(c)
	return o, t, err
}

// tuning is a search with the session that stores its results. The session's points are the candidates that were tried,
// in that order.
type tuning struct {
	*session
	flags   *tuneFlags
	search  *tune.Search
	loaded  *schema.Loaded[config.Experiment]
	set     []string
	numbers map[string]int // index of each point, by its settings
	room    experiment.Room
	command *cobra.Command
	graph   experiment.GraphSummary // set at the end
}

// begin opens the session, and resumes an earlier search.
func (t *tuning) begin(c *cobra.Command) error {
	t.flags.grows = true
	t.command, t.room = c, t.flags.limitMemory()
	t.runner = t.flags.runner(nil)
	if !t.flags.fresh {
		if err := t.resume(); err != nil {
			return err
		}
	}
	return t.open(c, t.loaded, t.room)
}

// maxTried bounds the size of triedFile.
const maxTried = 256 << 20

// resume restores the points of an earlier search.
func (t *tuning) resume() error {
	text, err := files.Read(filepath.Join(t.dir, triedFile), maxTried)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var tried [][]experiment.Setting
	if err == nil {
		err = json.Unmarshal(text, &tried)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: --fresh starts anew", filepath.Join(t.dir, triedFile), err)
	}
	for i, settings := range tried {
		p, err := experiment.Candidate(t.loaded, t.set, settings, i)
		if err != nil {
			return fmt.Errorf("%s: %w: --fresh starts anew", filepath.Join(t.dir, triedFile), err)
		}
		t.runner.Points = append(t.runner.Points, p)
		t.numbers[experiment.Label(settings)] = i
	}
	return nil
}

// number returns the index of a candidate's point, which it creates if necessary. With whole, the point of a sampled
// search is simulated completely.
func (t *tuning) number(candidate int, whole bool) (int, error) {
	settings := t.search.Space.Settings(candidate)
	if whole {
		settings = append(settings, wholeSetting)
	}
	label := experiment.Label(settings)
	if n, ok := t.numbers[label]; ok {
		return n, nil
	}
	n := len(t.runner.Points)
	p, err := experiment.Candidate(t.loaded, t.set, settings, n)
	if err == nil {
		err = t.runner.Grow(t.command.Context(), t.loaded, p)
	}
	if err != nil {
		return 0, failed(err)
	}
	if err := t.book.Grow(); err != nil {
		return 0, err
	}
	t.numbers[label] = n
	return n, nil
}

// keep writes triedFile, before the points run.
func (t *tuning) keep() error {
	tried := make([][]experiment.Setting, len(t.runner.Points))
	for i := range t.runner.Points {
		tried[i] = t.runner.Points[i].Axes
	}
	text, err := json.Marshal(tried)
	if err != nil {
		return err
	}
	return files.Write(filepath.Join(t.dir, triedFile), text)
}

func (t *tuning) run(c *cobra.Command) (*tune.Outcome, error) {
	ctx, stop := context.WithCancelCause(c.Context())
	defer stop(nil)
	t.stop = stop
	t.search.Evaluate = func(ctx context.Context, list []int, most uint64) ([]tune.Trial, error) {
		return t.evaluate(ctx, list, most, false)
	}
	if t.loaded.Value.Sample.On() {
		t.search.Exact = func(ctx context.Context, list []int, most uint64) ([]tune.Trial, error) {
			return t.evaluate(ctx, list, most, true)
		}
	}
	t.search.Budget.Points = t.flags.points
	if t.flags.budget > 0 {
		end := time.Now().Add(t.flags.budget)
		t.search.Budget.Spent = func() bool { return time.Now().After(end) }
	}
	find := t.search.Run
	if t.flags.exhaustive {
		find = t.search.All
	}
	_, err := find(ctx)
	t.watch.Close()
	t.tellGrown(c.ErrOrStderr())
	summary, endErr := t.end(nil)
	if endErr != nil {
		return nil, endErr
	}
	for _, g := range summary.Graphs { // all points have the same graph
		t.graph = g
	}
	if err != nil {
		return nil, err
	}
	o, found := t.search.Outcome()
	if !found {
		return nil, &codeError{exitFailed, errors.New("no candidate has a result")}
	}
	return &o, t.write(&o)
}

// evaluate simulates candidates, reusing stored results.
func (t *tuning) evaluate(ctx context.Context, list []int, most uint64, whole bool) ([]tune.Trial, error) {
	var numbers, todo []int
	before := len(t.runner.Points)
	for _, candidate := range list {
		n, err := t.number(candidate, whole)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
		if _, ok := t.trial(candidate, n, most); !ok {
			todo = append(todo, n)
		}
	}
	if len(t.runner.Points) > before {
		if err := t.keep(); err != nil {
			return nil, err
		}
	}
	if err := t.simulateSome(ctx, todo, most); err != nil {
		return nil, err
	}
	var trials []tune.Trial
	for i, n := range numbers {
		trial, _ := t.trial(list[i], n, most)
		trials = append(trials, trial)
	}
	return trials, nil
}

// tellGrown reports the candidates that other experiments have simulated.
func (t *tuning) tellGrown(stderr io.Writer) {
	k := t.book.Known()
	if k.Grown == 0 {
		return
	}
	text := k.Text(len(t.runner.Points))
	t.logf("%s", text)
	if !t.session.flags.quiet {
		_ = fit.Print(stderr, text+"\n") // a failed write has no remedy
	}
}

// simulateSome simulates points, and abandons those with more than most cycles; 0: none.
func (t *tuning) simulateSome(ctx context.Context, todo []int, most uint64) error {
	if len(todo) == 0 {
		return nil
	}
	t.runner.Abandon = func(int) uint64 { return most }
	outcomes := t.runner.RunSome(ctx, todo)
	if err := context.Cause(ctx); err != nil {
		return failed(err)
	}
	for _, n := range todo {
		if err := outcomes[n].Err; err != nil && experiment.Class(err) != experiment.Limit {
			return t.failure(n, err)
		}
	}
	return nil
}

// trial returns the stored result of a candidate; ok reports whether it is sufficient to decide whether the candidate
// has more than most cycles; 0: any. One that has is abandoned, also if its whole result is stored: a search must not
// depend on which other points have been simulated.
func (t *tuning) trial(candidate, number int, most uint64) (trial tune.Trial, ok bool) {
	o := t.book.Outcome(number)
	trial = tune.Trial{Candidate: candidate, Cycles: o.Cycles, Half: o.Half}
	spent := t.spent(&o)
	switch {
	case o.Counts():
		ok, trial.Abandoned = true, most > 0 && spent > most
	case experiment.Class(o.Err) == experiment.Limit:
		trial.Abandoned = true
		given := t.runner.MaxCycles // in the machine's time
		ok = most > 0 && spent >= most || given > 0 && o.Cycles >= given
	}
	if trial.Abandoned && most > 0 {
		trial.Cycles, trial.Half = min(trial.Cycles, most), 0
	}
	return trial, ok
}

// spent returns the cycles of an outcome that Runner.Abandon bounds.
func (t *tuning) spent(o *experiment.Outcome) uint64 {
	host, counted := o.Stats.Get("launch.overhead_cycles")
	if n, _ := host.Uint(); counted && !t.runner.Points[o.Point].Config.Sample.On() {
		return o.Cycles - min(o.Cycles, n)
	}
	return o.Cycles
}

// write writes the files of the search.
func (t *tuning) write(o *tune.Outcome) error {
	var b bytes.Buffer
	if err := printJSON(&b, o); err != nil {
		return err
	}
	best := t.loaded.Value
	best.Name += "-best" // keeps its results apart from the candidates'
	best.Compare = o.Compare()
	if t.search.Exact != nil {
		best.Sample = config.Sample{}
	}
	return errors.Join(
		files.Write(filepath.Join(t.dir, tuneFile), b.Bytes()),
		files.Write(filepath.Join(t.dir, bestFile), config.Schema.YAML(best)),
	)
}
