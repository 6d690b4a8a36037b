package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"heddle/configs"
	"heddle/internal/experiment"
	"heddle/internal/schema"
	"heddle/sim"
)

// runFlags are the settings of heddle run.
type runFlags struct {
	overrides machineFlags
	out       string
	jobs      int
	maxCycles uint64
	heartbeat time.Duration
	json      bool
	dryRun    bool
}

func newRun() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run EXPERIMENT",
		Short: "Run an experiment: every point it asks for, checked, with a table",
		Long: `Run an experiment: a YAML file, or one that heddle ships. Every point is simulated on a
machine of its own, its result compared with a reference on the host, and its counts
with conservation laws. Progress goes to stderr, the table to stdout; summary.csv,
summary.json, config.resolved.yaml and log.txt go to results/<name>.

The same experiment gives the same cycles on every machine, whatever --jobs is.

` + exitHelp,
		Example: `  heddle run configs/experiments/quickstart.yaml
  heddle run quickstart --set graph.file=../shared/graphs/cnr-2000.txt.gz
  heddle run weaver-table-size --jobs 4 --set machine.core.warps=16
  heddle run my.yaml --json | jq '.points[] | [.axes, .cycles, .speedup]'`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.out, "out", "results", "`directory` under which the results' directory is made")
	fl.IntVar(&f.jobs, "jobs", runtime.NumCPU(), "points that run at the same time")
	fl.Uint64Var(&f.maxCycles, "max-cycles", 0, "stop a point after that many cycles (0: no limit)")
	fl.DurationVar(&f.heartbeat, "heartbeat", 10*time.Second, "time between progress lines when stderr is no terminal")
	fl.BoolVar(&f.json, "json", false, "print summary.json on stdout instead of the table")
	fl.BoolVar(&f.dryRun, "dry-run", false, "list the points and run none")
	f.overrides.add(c)
	return c
}

func (f *runFlags) run(c *cobra.Command, name string) error {
	l, err := configs.LoadExperiment(name, os.Environ(), f.overrides.set)
	if err != nil {
		return err
	}
	points, err := experiment.Points(l, f.overrides.set)
	if err != nil {
		return err
	}
	if f.dryRun {
		for i, p := range points {
			fmt.Fprintf(c.OutOrStdout(), "%4d  %s\n", i+1, experiment.Label(p.Axes))
		}
		return nil
	}
	if f.jobs < 1 {
		return fmt.Errorf("--jobs %d: expected at least 1", f.jobs)
	}
	r := &experiment.Runner{Points: points, Jobs: f.jobs, MaxCycles: f.maxCycles}
	g, err := r.Graph(0)
	if err != nil {
		return err
	}
	if !f.json {
		experiment.Describe(c.OutOrStdout(), &points[0], g)
	}
	s, err := newSession(c, f, l, r)
	if err != nil {
		return err
	}
	return s.run(c)
}

// session is one run of an experiment and the files it leaves.
type session struct {
	flags   *runFlags
	runner  *experiment.Runner
	name    string
	dir     string
	log     *os.File
	start   time.Time
	version string

	mu       sync.Mutex
	outcomes []experiment.Outcome
	watch    watcher
	writeErr error
}

// watcher is an observer that must be ended.
type watcher interface {
	experiment.Observer
	Close()
}

func newSession(c *cobra.Command, f *runFlags, l *schema.Loaded[configs.Experiment], r *experiment.Runner) (*session, error) {
	s := &session{flags: f, runner: r, name: l.Value.Name, dir: filepath.Join(f.out, l.Value.Name), start: time.Now(), version: version()}
	s.outcomes = make([]experiment.Outcome, len(r.Points))
	for i := range s.outcomes {
		s.outcomes[i].Err = errNotRun
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, err
	}
	if err := experiment.WriteFile(filepath.Join(s.dir, "config.resolved.yaml"), l.AnnotatedYAML()); err != nil {
		return nil, err
	}
	var err error
	if s.log, err = os.Create(filepath.Join(s.dir, "log.txt")); err != nil {
		return nil, err
	}
	s.logf("heddle %s, %s %s, %d points, %d at a time", s.version, runtime.GOOS, runtime.GOARCH, len(r.Points), f.jobs)
	stderr := c.ErrOrStderr()
	if file, ok := stderr.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		s.watch = experiment.NewBars(r.Points, stderr)
	} else {
		s.watch = experiment.NewHeartbeat(r.Points, io.MultiWriter(stderr, s.log), f.heartbeat)
	}
	r.Observer = s
	return s, nil
}

var errNotRun = errors.New("not run")

func (s *session) logf(format string, args ...any) {
	fmt.Fprintf(s.log, "%s  %s\n", time.Now().UTC().Format(time.RFC3339), fmt.Sprintf(format, args...))
}

func (s *session) run(c *cobra.Command) error {
	outcomes := s.runner.Run(c.Context())
	s.watch.Close()
	s.mu.Lock()
	s.outcomes = outcomes
	s.mu.Unlock()
	summary, err := s.write()
	if err != nil {
		return err
	}
	s.logf("done in %.1f s, peak memory %d MiB", summary.Host.Seconds, summary.Host.PeakRSSBytes>>20)
	if err := s.log.Close(); err != nil {
		return err
	}
	if s.flags.json {
		text, err := os.ReadFile(filepath.Join(s.dir, "summary.json"))
		if err != nil {
			return err
		}
		_, err = c.OutOrStdout().Write(text)
		return errors.Join(err, s.verdict(outcomes))
	}
	experiment.WriteTable(c.OutOrStdout(), s.runner.Points, outcomes)
	fmt.Fprintf(c.OutOrStdout(), "%.1f s on the host, peak memory %d MiB; results in %s\n", summary.Host.Seconds, summary.Host.PeakRSSBytes>>20, s.dir)
	return s.verdict(outcomes)
}

// verdict is the run's error: the first point's that failed, and how many did.
func (s *session) verdict(outcomes []experiment.Outcome) error {
	var first error
	failures := 0
	for i, o := range outcomes {
		if o.Err == nil {
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
		return &codeError{code.code, fmt.Errorf("%w\n(%d of %d points failed; all are in %s)", code.err, failures, len(outcomes), filepath.Join(s.dir, "summary.json"))}
	}
	return first
}

// failure gives a point's error its exit code. What is wrong with a configuration has been
// said before points run, so an error of no other kind is a failed run.
func (s *session) failure(point int, err error) error {
	err = failed(fmt.Errorf("point %s: %w", experiment.Label(s.runner.Points[point].Axes), err))
	var code *codeError
	if errors.As(err, &code) && code.code == exitUsage {
		code.code = exitFailed
	}
	return err
}

// Started, Running and Finished pass on how the run goes; what is finished is written at once.
func (s *session) Started(point int, edges uint64) {
	s.mu.Lock()
	s.logf("begun: %s", experiment.Label(s.runner.Points[point].Axes))
	s.mu.Unlock()
	s.watch.Started(point, edges)
}

// Running is told how far a point is.
func (s *session) Running(point int, p sim.Progress) { s.watch.Running(point, p) }

// Finished is told of a point's end.
func (s *session) Finished(o experiment.Outcome) {
	s.watch.Finished(o)
	s.mu.Lock()
	s.outcomes[o.Point] = o
	label := experiment.Label(s.runner.Points[o.Point].Axes)
	var crash *experiment.Crash
	switch {
	case errors.As(o.Err, &crash):
		s.logf("crashed: %s: %v\n%s", label, o.Err, crash.Stack)
	case o.Err != nil:
		s.logf("failed: %s: %v", label, o.Err)
	default:
		s.logf("verified: %s: %d cycles in %.2f s", label, o.Cycles, o.Seconds)
	}
	s.mu.Unlock()
	_, err := s.write()
	s.mu.Lock()
	s.writeErr = errors.Join(s.writeErr, err)
	s.mu.Unlock()
}

// write replaces the summaries by what there is now.
func (s *session) write() (*experiment.Summary, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	host := experiment.HostSummary{Seconds: time.Since(s.start).Seconds(), PeakRSSBytes: peakRSS(), Jobs: s.flags.jobs}
	sum := s.runner.Summarise(s.name, s.version, s.outcomes, host)
	return sum, sum.Write(s.dir, s.runner.Points)
}

// peakRSS is the most memory the process has had.
func peakRSS() uint64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return uint64(u.Maxrss) << 10
}

// version says which build this is: the commit, or without one the program's own hash.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+changes"
		}
	}
	if v == "" || modified != "" {
		modified += "+exe." + executableHash()
	}
	return cmp.Or(v, info.Main.Version) + modified
}

// executableHash tells builds without a commit apart.
func executableHash() string {
	name, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	f, err := os.Open(name)
	if err != nil {
		return "unknown"
	}
	defer f.Close() //nolint:errcheck // read only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%.6x", h.Sum(nil))
}
