package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/internal/fit"
	"heddle/internal/live"
	"heddle/internal/plain"
	"heddle/internal/resources"
	"heddle/internal/version"
	"heddle/sim"
)

// runFlags holds the flags of heddle run.
type runFlags struct {
	overrides   machineFlags
	out         string
	jobs        int
	threads     int
	checkpoint  time.Duration
	maxCycles   uint64
	invariants  bool
	timeLimit   time.Duration
	memoryLimit memorySize
	heartbeat   time.Duration
	fresh       bool
	retry       bool
	json        bool
	dryRun      bool
	report      bool
	phases      bool
	quiet       bool
	steps       bool // outcomes keep their super-steps
	results     []string
	reuse       []string
	recheck     percentage
	grows       bool // points are added while it runs, by a search
	monitor     monitorFlags
	clusterFlags
}

func newRun() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run EXPERIMENT",
		Short: "Run an experiment",
		Long: `Run an experiment: a YAML file, or one that heddle ships. Every point is simulated on a
machine of its own, its result compared with a reference on the host, and its counts
with conservation invariants. Progress goes to stderr, the table to stdout; results.sqlite,
summary.csv, summary.json, config.resolved.yaml and log.txt go to results/<name>.

Every point is stored when it ends, wholly or not at all. A run that was interrupted or
killed continues where it stopped when the same command is given again: points that have
ended do not run again, except those that reached a limit (or with --retry, failed), and a
point of more than ten minutes resumes from its last checkpoint.

An experiment may grow: add values, variants or seeds, and only their points are simulated.
A point is identified by its configuration, the content of its graph and the parts of heddle
that determine cycles, wherever it was simulated: earlier forms of the experiment and verified
results of other experiments in the same folder count (and in --results DIR). Points that the
experiment no longer has stay stored, in no table, until heddle results gc. After an update of heddle
that changes cycles, --reuse-version accepts results from before; --recheck 1% simulates a
part of the known points again, and fails if one differs; --fresh simulates everything.

The same experiment gives the same cycles on every machine, whatever --jobs is.

` + exitHelp,
		Example: `  heddle run configs/experiments/quickstart.yaml
  heddle run quickstart --set name=cnr --set graph.file=cnr-2000.txt.gz
  heddle run weaver-table-size --jobs 4 --set machine.core.warps=16
  heddle run my.yaml --time-limit 10m --memory-limit 8GiB
  heddle run my.yaml --dry-run
  heddle run my.yaml --results /shared/results --recheck 1%
  heddle run schedules --phases
  heddle run my.yaml --fresh
  heddle run my.yaml --json | jq '.points[] | [.axes, .cycles, .speedup]'`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.add(c)
	f.clusterFlags.add(c)
	f.monitor.add(c)
	fl := c.Flags()
	fl.BoolVar(&f.json, "json", false, "print summary.json on stdout instead of the table")
	fl.BoolVarP(&f.quiet, "quiet", "q", false,
		"no progress, and of the results the table alone; warnings and errors still go to stderr")
	fl.BoolVar(&f.report, "report", false, "make the report too, as heddle report does")
	fl.BoolVar(&f.phases, "phases", false, "below the table, where time went: the share of each phase of the kernels")
	fl.BoolVar(&f.dryRun, "dry-run", false, "list the points and their expected cost, and run none")
	return c
}

// add adds the flags for running points.
func (f *runFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.out, "out", "results", "`directory` under which the results' directory is made")
	fl.IntVar(&f.jobs, "jobs", resources.Processors(), "number of points that run concurrently")
	fl.IntVar(&f.threads, "threads", 0, "processors that simulate one point, without an effect on results (0: "+
		"run.threads of the experiment, or the processors that --jobs leaves)")
	fl.DurationVar(&f.checkpoint, "checkpoint", 0,
		"time between checkpoints of a point, from which it goes on if the run is killed, such as 10m; 0 for none "+
			"(default: run.checkpoint of the experiment)")
	fl.Lookup("jobs").DefValue = "as many as processors" // documentation must not depend on the host
	fl.Uint64Var(&f.maxCycles, "max-cycles", 0, "stop a point after that many cycles (0: no limit)")
	fl.BoolVar(&f.invariants, "check", false,
		"check the invariants of every message between units, and that a program of your own accesses no memory but its "+
			"own (without it: the units' counts only)")
	fl.DurationVar(&f.timeLimit, "time-limit", 0, "stop a point after that time on the host, such as 10m (0: no limit)")
	fl.Var(&f.memoryLimit, "memory-limit", "stop the point begun last when the process has more memory, such as "+
		"8GiB, `size` (0: no limit)")
	fl.BoolVar(&f.fresh, "fresh", false, "simulate all points anew, also known ones; an existing store is renamed to "+
		"results-<time>.sqlite")
	fl.StringArrayVar(&f.results, "results", nil, "also take verified results of known points from the experiments in "+
		"this `directory`, such as one of a team")
	fl.StringArrayVar(&f.reuse, "reuse-version", nil, "accept results of another `version` of heddle (a commit, or a "+
		"model as heddle results show prints it) as if nothing that matters had changed; they keep its name")
	fl.Var(&f.recheck, "recheck", "simulate this `share` of the known points again, such as 1% (at least one; the "+
		"same ones each time), and fail if cycles or a statistic differ")
	fl.BoolVar(&f.retry, "retry", false, "run failed points again, whatever the reason")
	fl.DurationVar(&f.heartbeat, "heartbeat", 10*time.Second, "time between progress lines when stderr is no terminal")
	f.overrides.add(c)
}

func (f *runFlags) run(c *cobra.Command, name string) error {
	l, err := loadExperiment(name, f.overrides.set)
	if err != nil {
		return err
	}
	points, err := experiment.Points(l, f.overrides.set)
	if err != nil {
		return err
	}
	if err := cmp.Or(f.check(), f.clusterFlags.check(c)); err != nil {
		return err
	}
	for _, note := range experiment.Notes(&l.Value, points) {
		warnOf(c, note)
	}
	for _, set := range f.overrides.set {
		warnOf(c, overridden(set, points))
	}
	if err := experiment.CheckSampling(points); err != nil {
		return err
	}
	f.share(c, l.Value.Run.Threads)
	r := f.runner(points)
	room := f.limitMemory()
	if f.dryRun {
		return f.list(c, name, l, r, room)
	}
	var lost error
	if f.launcher == slurmLauncher {
		if lost, err = f.launch(c, name, l, r); err != nil {
			return err
		}
		r.Elsewhere = allOf(points)
	}
	if err := f.mine(l, r); err != nil {
		return err
	}
	var about strings.Builder
	if err := r.DescribePoint(&about, 0); err != nil {
		return experiment.AtOrigin(l, err)
	}
	if err := f.monitor.listen(); err != nil {
		return err
	}
	s, err := newSession(c, f, l, r, room)
	if err != nil {
		return err
	}
	if !f.json && !f.quiet {
		_ = fit.Print(c.OutOrStdout(), about.String()+s.memory) // a failed write has no remedy
	}
	s.page = f.monitor.serve(c, l.Value.Name, len(points), len(r.Done), points)
	s.page.join(r)
	return cmp.Or(lost, s.run(c))
}

// search returns where results of points are looked for, for results in dir.
func (f *runFlags) search(dir string) experiment.Search {
	if f.fresh {
		return experiment.Search{}
	}
	folder := filepath.Dir(dir)
	if f.shard.N > 0 {
		folder = f.out
	}
	folders := append([]string{folder}, f.results...)
	return experiment.Search{Folders: folders, Reuse: f.reuse, Grows: f.grows}
}

// allOf marks all points.
func allOf(points []experiment.Point) map[int]bool {
	all := map[int]bool{}
	for i := range points {
		all[i] = true
	}
	return all
}

// maxThreads bounds --threads.
const maxThreads = 64

// share sets the processors of a point to --threads, or else to the experiment's value. Unless --jobs is given, it sets
// the number of concurrent points to the number that the processors permit.
func (f *runFlags) share(c *cobra.Command, threads int) {
	if f.threads == 0 {
		f.threads = threads
	}
	if f.threads > 0 && !c.Flags().Changed("jobs") {
		f.jobs = max(1, f.jobs/f.threads)
	}
}

// checkpoints returns the settings of --checkpoint, or else those of the experiment.
func (s *session) checkpoints(c *cobra.Command) experiment.Checkpoints {
	every := time.Duration(s.experiment.Run.Checkpoint * float64(time.Minute))
	if c.Flags().Changed("checkpoint") {
		every = s.flags.checkpoint
	}
	return experiment.Checkpoints{
		Dir: filepath.Join(s.dir, experiment.CheckpointDir), Every: every, Say: s.say, Log: s.note,
		Binary: sync.OnceValue(func() string { return s.version + " " + version.Executable() }),
	}
}

// limitMemory makes the garbage collector keep the process within its memory limit, which it returns.
func (f *runFlags) limitMemory() experiment.Room {
	room := experiment.NewRoom(uint64(f.memoryLimit))
	switch {
	case f.memoryLimit > 0:
		debug.SetMemoryLimit(int64(f.memoryLimit))
	case room.Known && debug.SetMemoryLimit(-1) == math.MaxInt64: // GOMEMLIMIT is not set
		debug.SetMemoryLimit(int64(room.Bytes / 10 * 9))
	}
	return room
}

func (f *runFlags) runner(points []experiment.Point) *experiment.Runner {
	return &experiment.Runner{
		Points: points, Jobs: f.jobs, Threads: f.threads, MaxCycles: f.maxCycles, Check: f.invariants,
		TimeLimit: f.timeLimit, MemoryLimit: uint64(f.memoryLimit),
	}
}

// command reconstructs the command line without `--set name=` and some flags; name is its argument, "" of a command
// without.
func (f *runFlags) command(c *cobra.Command, name string, without ...string) string {
	without = append(without, "set", "fresh", "dry-run")
	words := []string{c.CommandPath()}
	if name != "" {
		words = append(words, quoted(name))
	}
	c.Flags().Visit(func(flag *pflag.Flag) {
		if slices.Contains(without, flag.Name) {
			return
		}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			for _, value := range list.GetSlice() {
				words = append(words, "--"+flag.Name+"="+quoted(value))
			}
			return
		}
		word := "--" + flag.Name
		if value := flag.Value.String(); value == "" || value != flag.NoOptDefVal {
			word += "=" + quoted(value)
		}
		words = append(words, word)
	})
	for _, s := range f.overrides.set {
		if !strings.HasPrefix(s, "name=") {
			words = append(words, "--set", quoted(s))
		}
	}
	return strings.Join(words, " ")
}

// unquoted matches words that a shell does not change.
var unquoted = regexp.MustCompile(`^[\w./:=,@%+-]+$`)

func quoted(s string) string {
	if unquoted.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// list prints the points that would run, and their expected cost.
func (f *runFlags) list(c *cobra.Command, name string, l *schema.Loaded[config.Experiment], r *experiment.Runner,
	room experiment.Room) error {
	known, err := f.known(f.shard.Dir(filepath.Join(f.out, l.Value.Name)), r)
	if err != nil {
		return err
	}
	done, err := known.Outcomes()
	if err != nil {
		return err
	}
	if err := r.Vet(c.Context(), l, nil); err != nil {
		return failed(err)
	}
	cost, err := r.EstimateCost(done)
	if err != nil {
		return err
	}
	need := r.EstimateMemory(done)
	cost.AddMemory(need, room, f.jobs)
	warning, err := need.Check(r.Points, room, f.jobs)
	warnOf(c, cmp.Or(warning, errorText(err)))
	if f.json {
		return printJSON(c.OutOrStdout(), cost)
	}
	cost.Write(c.OutOrStdout(), f.jobs)
	if known.Len() > 0 {
		fmt.Fprintln(c.OutOrStdout(), known.Text(len(r.Points)))
	}
	return nil
}

// known looks for the results of points; none with --fresh.
func (f *runFlags) known(dir string, r *experiment.Runner) (*experiment.Known, error) {
	if f.fresh {
		return &experiment.Known{}, nil
	}
	return r.Find(dir, f.search(dir), version.Model())
}

// overridden returns a warning if a key of --set has no effect, since all points that have the key set it themselves.
func overridden(set string, points []experiment.Point) string {
	key, value, _ := strings.Cut(set, "=")
	of := func(s experiment.Setting) bool { return s.Key == key }
	own := 0
	for i := range points {
		p := &points[i]
		at := slices.IndexFunc(p.Settings, of)
		switch {
		case at < 0 && config.Schema.Conditional(key): // the point may lack the unit
		case at < 0, p.Settings[at].Value == value && !slices.ContainsFunc(p.Axes, of):
			return ""
		default:
			own++
		}
	}
	if own == 0 {
		return ""
	}
	return fmt.Sprintf("--set %s has no effect: the experiment's compare or sweep sets %s", set, key)
}

// warnOf prints a warning, if there is one.
func warnOf(c *cobra.Command, warning string) {
	if warning != "" {
		remark(c.ErrOrStderr(), "warning: "+warning)
	}
}

// remark prints a line for the user, wrapped to the width of a terminal. A failed write has no remedy.
func remark(stderr io.Writer, s string) { _ = fit.Print(stderr, "heddle: "+s+"\n") }

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (f *runFlags) check() error {
	switch {
	case f.threads < 0 || f.threads > maxThreads:
		return fmt.Errorf("--threads %d: expected 0..%d", f.threads, maxThreads)
	case f.jobs < 1:
		return fmt.Errorf("--jobs %d: expected at least 1", f.jobs)
	case f.timeLimit < 0:
		return fmt.Errorf("--time-limit %v: expected a time that is not negative", f.timeLimit)
	case f.checkpoint < 0:
		return fmt.Errorf("--checkpoint %v: expected a time that is not negative", f.checkpoint)
	case f.heartbeat <= 0:
		return fmt.Errorf("--heartbeat %v: expected a time above 0", f.heartbeat)
	case f.fresh && f.recheck > 0:
		return errors.New("--recheck beside --fresh: expected one of them, since --fresh simulates all points")
	case f.recheck > 0 && f.launcher == slurmLauncher:
		return errors.New("--recheck beside --launcher slurm: expected one of them, since it is done here")
	case f.fresh && len(f.reuse) > 0:
		return errors.New("--reuse-version beside --fresh: expected one of them, since --fresh takes no results")
	}
	search := experiment.Search{Folders: f.results, Reuse: f.reuse}
	return search.Check()
}

// session is one run of an experiment and its files: newSession or open, then simulate or run. open vets the points
// before it creates the directory; simulate runs them and closes everything.
type session struct {
	flags  *runFlags
	runner *experiment.Runner
	book   *experiment.Book

	experiment *config.Experiment

	name    string
	memory  string // expected memory, for the log
	dir     string
	log     *os.File
	version string

	known map[int]experiment.Outcome // known points that have cycles; they need no vetting

	unsummarised error // why the summaries could not be written, though all results are stored

	firstFailure sync.Once // shows it

	mu       sync.Mutex
	outcomes []experiment.Outcome // of all points, after the run
	coarse   experiment.Coarse
	watch    watcher // set by observe
	page     *shown
	stop     context.CancelCauseFunc
}

// watcher is an observer that shows the progress of a run, and above it the lines that are written to it. While it is
// active, nothing else may write to the terminal.
type watcher interface {
	experiment.Observer
	experiment.Resumer
	io.Writer
	Close()
}

func newSession(c *cobra.Command, f *runFlags, l *schema.Loaded[config.Experiment], r *experiment.Runner,
	room experiment.Room) (*session, error) {
	s := &session{flags: f, runner: r, experiment: &l.Value, name: l.Value.Name,
		dir: f.shard.Dir(filepath.Join(f.out, l.Value.Name)), version: version.Text()}
	return s, s.open(c, l, room)
}

// open vets the points, and opens the results directory.
func (s *session) open(c *cobra.Command, l *schema.Loaded[config.Experiment], room experiment.Room) error {
	f, r := s.flags, s.runner
	known, err := f.known(s.dir, r)
	if err != nil {
		return err
	}
	s.known = known.Computed()
	if err := r.Vet(c.Context(), l, s.known); err != nil {
		return failed(err)
	}
	if err := s.checkMemory(c, room); err != nil {
		return err
	}
	r.Checkpoints = s.checkpoints(c)
	if s.book, err = experiment.OpenBook(s.dir, l, r, experiment.BookOptions{Fresh: f.fresh, Retry: f.retry,
		Search: f.search(s.dir), Recheck: float64(f.recheck), Steps: f.steps, Jobs: f.jobs}); err != nil {
		return err
	}
	if err := s.openFiles(c); err != nil {
		return errors.Join(err, s.book.Close())
	}
	r.Observer = s
	return nil
}

// checkMemory estimates the memory of the points that are to run, warns of a shortage, and returns an error if a point
// cannot fit.
func (s *session) checkMemory(c *cobra.Command, room experiment.Room) error {
	need := s.runner.EstimateMemory(s.known)
	warning, err := need.Check(s.runner.Points, room, s.flags.jobs)
	if err != nil {
		return err
	}
	warnOf(c, warning)
	if _, any := need.Largest(); any {
		whole, graphs := need.Whole(s.flags.jobs, room.Idle)
		s.memory = fmt.Sprintf("memory   up to about %s with --jobs %d, graphs %s of it\n", experiment.Bytes(whole),
			s.flags.jobs, experiment.Bytes(graphs))
	}
	return nil
}

// openFiles opens the log, and reports the start of the run.
func (s *session) openFiles(c *cobra.Command) (err error) {
	if s.log, err = os.OpenFile(filepath.Join(s.dir, "log.txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY,
		0o644); err != nil {
		return err
	}
	points, stderr := s.runner.Points, c.ErrOrStderr()
	s.logf("heddle %s, %s %s, %d points, %d of them stored, %d at a time", s.version, runtime.GOOS, runtime.GOARCH,
		len(points), len(s.runner.Done), s.flags.jobs)
	if list := experiment.NotValidated(points); len(list) > 0 {
		var keys []string
		for i := range list {
			keys = append(keys, list[i].String())
		}
		s.logf("not validated against RTL: %s", strings.Join(keys, ", "))
		if !s.flags.quiet {
			remark(stderr, "note: "+experiment.UnvalidatedNote(list, s.log.Name()))
		}
	}
	s.tellKnown(stderr)
	return nil
}

// tellKnown reports which points are known, and why others are not.
func (s *session) tellKnown(stderr io.Writer) {
	k := s.book.Known()
	for _, err := range k.Skipped {
		s.logf("no results are taken from a store: %v", err)
		if !s.flags.quiet {
			remark(stderr, fmt.Sprintf("warning: no results are taken from a store: %v", err))
		}
	}
	if k.Len() == 0 && k.Others == 0 {
		return
	}
	text := k.Text(len(s.runner.Points))
	if n := len(s.runner.Recheck); n > 0 {
		text += fmt.Sprintf("; %d of them are simulated again", n)
	}
	s.logf("%s", text)
	if s.flags.quiet {
		return
	}
	_ = fit.Print(stderr, text+"\n") // a failed write has no remedy
	if k.Others > 0 && k.Len() < len(s.runner.Points) {
		remark(stderr, fmt.Sprintf("note: %d results here are of another version of heddle, whose cycles may differ: "+
			"they stay stored, and --reuse-version %s accepts them", k.Others, quoted(k.Other)))
	}
}

// observe starts to show the progress.
func (s *session) observe(stderr io.Writer) {
	f := s.runner.NewForecast()
	switch {
	case s.flags.quiet:
		s.watch = experiment.NewHeartbeat(f, io.Discard, s.log, s.flags.heartbeat)
	case live.IsTerminal(stderr):
		s.watch = experiment.NewBars(f, stderr)
	default:
		s.watch = experiment.NewHeartbeat(f, stderr, s.log, s.flags.heartbeat)
	}
}

func (s *session) logf(format string, args ...any) {
	fmt.Fprintf(s.log, "%s  %s\n", time.Now().UTC().Format(time.RFC3339), plain.Lines(fmt.Sprintf(format, args...)))
}

// simulate runs the points that are not stored, and closes everything.
func (s *session) simulate(c *cobra.Command) (*experiment.Summary, error) {
	defer inOrder(c.Context())()
	ctx, stop := context.WithCancelCause(c.Context())
	defer stop(nil)
	s.stop = stop
	s.observe(progressTo(c))
	outcomes := s.runner.Run(ctx)
	s.watch.Close()
	s.page.close()
	return s.end(outcomes)
}

func (s *session) run(c *cobra.Command) error {
	summary, err := s.simulate(c)
	if err != nil {
		return err
	}
	warnOf(c, s.coarse.Text())
	next := "heddle report " + s.dir + " makes a page of them"
	if s.flags.report {
		if next, err = makeReport(s.dir, "", ""); err != nil {
			return err
		}
	}
	for _, note := range summary.Warnings {
		warnOf(c, note)
	}
	if s.flags.json {
		return errors.Join(printFile(c.OutOrStdout(), filepath.Join(s.dir, "summary.json")), s.verdict(s.outcomes))
	}
	if s.flags.shard.N > 0 {
		s.shardLine(c.OutOrStdout())
		return s.verdict(s.outcomes)
	}
	experiment.WriteTable(c.OutOrStdout(), s.runner.Points, s.outcomes)
	if s.flags.quiet {
		return s.verdict(s.outcomes)
	}
	if s.flags.phases {
		experiment.WritePhases(c.OutOrStdout(), s.runner.Points, s.outcomes)
	}
	if table := s.experiment.Report.Energy; table != config.NoEnergy {
		e := energyFlags{of: &resultsFlags{}, table: table}
		if err := e.run(c.OutOrStdout(), s.dir, nil); err != nil {
			return fmt.Errorf("report.energy: %w", err)
		}
	}
	for _, note := range summary.Unlike {
		fmt.Fprintln(c.OutOrStdout(), "different in compared points: "+note)
	}
	for _, name := range experiment.NoEffect(s.experiment, s.runner.Points, experiment.SameStats(s.outcomes)) {
		fmt.Fprintf(c.OutOrStdout(), "%s had no effect: points that differ in it alone have the same statistics\n",
			name)
	}
	fmt.Fprintf(c.OutOrStdout(), "%.1f s on the host, peak memory %d MiB; results in %s\n%s\n", summary.Host.Seconds,
		summary.Host.PeakRSSBytes>>20, s.dir, next)
	return s.verdict(s.outcomes)
}

func printFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return errors.Join(err, f.Close())
}

// end writes the summaries and closes everything. Missing summaries can be made again from the store.
func (s *session) end(outcomes []experiment.Outcome) (summary *experiment.Summary, err error) {
	summary, s.outcomes, err = s.book.End(outcomes)
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.As(err, new(*experiment.SummaryError)) {
		s.logf("%v", err)
		if err = (&codeError{exitFailed, err}); !s.flags.json {
			s.unsummarised, err = err, nil
		}
	}
	if err != nil {
		return nil, err
	}
	s.logf("done in %.1f s, peak memory %d MiB", summary.Host.Seconds, summary.Host.PeakRSSBytes>>20)
	return summary, s.log.Close()
}

// verdict returns the run's error: for points that failed, and summaries that could not be written.
func (s *session) verdict(outcomes []experiment.Outcome) error {
	return errors.Join(s.failures(outcomes), s.unsummarised)
}

// failures returns the first error of a point, with the number of failed points.
func (s *session) failures(outcomes []experiment.Outcome) error {
	var first error
	failures := 0
	for i, o := range outcomes {
		if o.Err == nil || s.runner.Elsewhere[i] && errors.Is(o.Err, experiment.ErrNotRun) {
			continue
		}
		if failures++; first == nil {
			first = s.failure(i, o.Err)
		}
	}
	if failures < 2 {
		return first
	}
	var code *codeError
	if errors.As(first, &code) && code.code != exitInterrupted {
		return &codeError{
			code.code,
			fmt.Errorf("%w\n(%d of %d points failed; heddle results list %s shows all)", code.err, failures,
				len(outcomes), s.dir),
		}
	}
	return first
}

// failure adds the exit code to a point's error. Errors of configurations are reported before points run, so an error
// of unknown kind is a failed run.
func (s *session) failure(point int, err error) error {
	err = failed(fmt.Errorf("point %s: %w", experiment.Label(s.runner.Points[point].Axes), err))
	var code *codeError
	if errors.As(err, &code) && code.code == exitUsage {
		code.code = exitFailed
	}
	return err
}

// Started logs the start of a point, and passes it on.
func (s *session) Started(point int, edges uint64) {
	s.mu.Lock()
	s.logf("begun: %s", experiment.Label(s.runner.Points[point].Axes))
	s.mu.Unlock()
	s.watch.Started(point, edges)
}

// Resumed passes on that a point continues from a checkpoint.
func (s *session) Resumed(point int, before time.Duration) { s.watch.Resumed(point, before) }

// say shows a notice about a point to the user, and logs it.
func (s *session) say(point int, notice string) {
	fmt.Fprintf(s.watch, "point %s: %s\n", experiment.Label(s.runner.Points[point].Axes), notice)
	s.note(point, notice)
}

// note logs a notice about a point.
func (s *session) note(point int, notice string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logf("%s: %s", experiment.Label(s.runner.Points[point].Axes), notice)
}

// Running passes on the progress of a point.
func (s *session) Running(point int, p sim.Progress) { s.watch.Running(point, p) }

// Finished stores the outcome of a point, and passes it on.
func (s *session) Finished(o experiment.Outcome) {
	s.watch.Finished(o)
	s.page.finished(o.Err)
	s.tellFirst(&o)
	s.mu.Lock()
	s.coarse.Add(&s.runner.Points[o.Point], &o)
	label := experiment.Label(s.runner.Points[o.Point].Axes)
	var crash *experiment.Crash
	switch {
	case errors.As(o.Err, &crash):
		s.logf("crashed: %s: %v\n%s", label, o.Err, crash.Stack)
	case o.Err != nil:
		s.logf("failed: %s: %v", label, o.Err)
	case o.Partial != "" && !o.Verified:
		s.logf("partial (%s): %s: %d cycles in %.2f s", o.Partial, label, o.Cycles, o.Seconds)
	case o.Replay != "":
		s.logf("%s: %s: %d cycles in %.2f s", o.Replay, label, o.Cycles, o.Seconds)
	default:
		s.logf("verified%s: %s: %d%s cycles in %.2f s, %.3f s of these for the layout", o.StoppedText(), label,
			o.Cycles,
			experiment.Within(o.Half, float64(o.Cycles)), o.Seconds, o.Building)
	}
	if err := s.book.Put(o); err != nil { // results of further points would be lost too
		s.logf("%v", err)
		s.stop(err)
	}
	s.mu.Unlock()
}

// tellFirst shows the first failure when it happens, since others may take hours yet. All are shown in the end.
func (s *session) tellFirst(o *experiment.Outcome) {
	class := experiment.Class(o.Err)
	if class == "" || class == experiment.Interrupted || len(s.runner.Points) == 1 || s.flags.grows {
		return // a search has failures as a matter of course
	}
	s.firstFailure.Do(func() {
		text, _, _ := strings.Cut(o.Err.Error(), "\n")
		fmt.Fprintf(s.watch, "heddle: point %s has failed, the others go on: %s\n",
			experiment.Label(s.runner.Points[o.Point].Axes), plain.Line(text))
	})
}

// percentage is a flag such as 1%, as a share of 1.
type percentage float64

func (p *percentage) String() string { return fmt.Sprintf("%g%%", 100*float64(*p)) }

// Type returns the name of the value in help.
func (p *percentage) Type() string { return "share" }

// Set parses the flag.
func (p *percentage) Set(text string) error {
	number, ok := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !ok || err != nil || !(x > 0 && x <= 100) {
		return errors.New("expected a percentage above 0 and up to 100, such as 1%")
	}
	*p = percentage(x / 100)
	return nil
}

// memorySize is a flag such as 8GiB.
type memorySize uint64

func (m *memorySize) String() string { return fmt.Sprint(uint64(*m)) }

// Type returns the name of the value in help.
func (m *memorySize) Type() string { return "size" }

// Set parses the flag.
func (m *memorySize) Set(text string) error {
	number, shift := text, 0
	for i, suffix := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n, ok := strings.CutSuffix(text, suffix); ok {
			number, shift = n, 10*(i+1)
		}
	}
	n, err := strconv.ParseUint(strings.TrimSpace(number), 10, 62)
	if err != nil || n > math.MaxInt64>>shift {
		return errors.New("expected a size such as 512MiB or 8GiB")
	}
	*m = memorySize(n << shift)
	return nil
}
