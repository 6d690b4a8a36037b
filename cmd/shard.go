package cmd

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/experiment/slurm"
	"heddle/internal/files"
	"heddle/internal/fit"
)

// clusterFlags holds the flags that distribute an experiment over processes and hosts.
type clusterFlags struct {
	launcher string
	tasks    int
	sbatch   []string
	poll     time.Duration
	shardOf  string

	shard experiment.Shard
}

// Launchers.
const (
	localLauncher = "local"
	slurmLauncher = "slurm"
)

func (f *clusterFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.shardOf, "shard", "",
		"run the `i/n`-th part of the points, such as 2/8, into shards/ of the results' directory; heddle results "+
			"merge puts them together")
	fl.StringVar(&f.launcher, "launcher", localLauncher,
		"local: here. slurm: as a Slurm job array, waiting for its end; the same command resumes it")
	fl.IntVar(&f.tasks, "tasks", 0,
		"tasks of the Slurm job array, each of which runs --jobs points at a time (0: one for each 8 points, at "+
			"most 64)")
	fl.StringArrayVar(&f.sbatch, "sbatch", nil,
		"`option` for sbatch, such as --sbatch=--partition=long; over the estimates of memory and time")
	fl.DurationVar(&f.poll, "poll", 5*time.Second, "time between questions to Slurm of how its tasks do")
}

func (f *clusterFlags) check(c *cobra.Command) (err error) {
	if f.shardOf != "" {
		if f.shard, err = experiment.ParseShard(f.shardOf); err != nil {
			return fmt.Errorf("--shard %w", err)
		}
	}
	switch {
	case f.launcher != localLauncher && f.launcher != slurmLauncher:
		return fmt.Errorf("--launcher %q: expected %s or %s", f.launcher, localLauncher, slurmLauncher)
	case f.shard.N > 0 && f.launcher == slurmLauncher:
		return errors.New("--shard beside --launcher slurm: expected one of them, since the launcher makes shards")
	case f.tasks < 0 || f.tasks > experiment.MaxShards:
		return fmt.Errorf("--tasks %d: expected 0..%d", f.tasks, experiment.MaxShards)
	case f.poll < 100*time.Millisecond:
		return fmt.Errorf("--poll %v: expected at least 100ms", f.poll)
	}
	if f.launcher != slurmLauncher {
		for _, name := range []string{"tasks", "sbatch", "poll"} {
			if c.Flags().Changed(name) {
				return fmt.Errorf("--%s: expected --launcher slurm beside it", name)
			}
		}
	}
	return nil
}

// mine excludes the points that other shards run, or that the experiment's own results already have.
func (f *runFlags) mine(l *schema.Loaded[config.Experiment], r *experiment.Runner) error {
	if f.shard.N == 0 {
		return nil
	}
	dir := filepath.Join(f.out, l.Value.Name)
	if err := experiment.Align(dir, l.Value, r, experiment.Search{Reuse: f.reuse}, false); err != nil {
		return err
	}
	stored := experiment.Stored(dir)
	r.Elsewhere = map[int]bool{}
	for i := range r.Points {
		o, ok := stored[i]
		class := experiment.Class(o.Err)
		r.Elsewhere[i] = !f.shard.Has(i) || ok && experiment.Final(class) && (class == "" || !f.retry)
	}
	return nil
}

// shardLine prints the summary of a shard; a table would lack baselines in other shards.
func (s *session) shardLine(w io.Writer) {
	mine, stored, failed := 0, 0, 0
	for i, o := range s.outcomes {
		if s.runner.Elsewhere[i] {
			continue
		}
		mine++
		switch {
		case errors.Is(o.Err, experiment.ErrNotRun):
		case o.Err != nil:
			failed++
			fallthrough
		default:
			stored++
		}
	}
	fmt.Fprintf(w, "shard %s: %d of its %d points have ended, %d of them failed; results in %s\nheddle results "+
		"merge %s/* puts shards together\n",
		s.flags.shard, stored, mine, failed, s.dir, quoted(filepath.Dir(s.dir)))
}

// job describes a submitted job array, in a file beside the results.
type job struct {
	Job   string `json:"job"`
	Tasks int    `json:"tasks"` // number of shards
	Array []int  `json:"array"` // numbers of the submitted tasks
}

const slurmDir = "slurm"

// launch runs the points that are not stored by Slurm, waits for the job to end, and merges the results. The error of
// missing points is that of lost.
func (f *runFlags) launch(c *cobra.Command, name string, l *schema.Loaded[config.Experiment],
	r *experiment.Runner) (lost error, err error) {
	s := &launch{flags: f, c: c, dir: filepath.Join(f.out, l.Value.Name), loaded: l, runner: r, name: name}
	if f.fresh {
		if err := s.fresh(); err != nil {
			return nil, err
		}
	}
	if err := experiment.Align(s.dir, l.Value, r, f.search(s.dir), true); err != nil {
		return nil, err
	}
	was, err := s.job()
	if err != nil {
		return nil, err
	}
	if was != nil {
		if err := s.wait(was, "is in the queue already"); err != nil {
			return nil, err
		}
	}
	if err := s.gather(); err != nil {
		return nil, err
	}
	if todo, _ := s.missing(); len(todo) > 0 {
		j, err := s.submit(todo)
		if err != nil {
			return nil, err
		}
		if err := s.wait(j, "submitted"); err != nil {
			return nil, err
		}
		if err := s.gather(); err != nil {
			return nil, err
		}
		lost = s.lost(j)
	}
	return lost, s.over()
}

// launch is an experiment that Slurm runs.
type launch struct {
	flags  *runFlags
	c      *cobra.Command
	name   string // as given on the command line
	dir    string
	loaded *schema.Loaded[config.Experiment]
	runner *experiment.Runner
}

func (s *launch) say(format string, args ...any) {
	_ = fit.Print(s.c.ErrOrStderr(), fmt.Sprintf(format+"\n", args...)) // a failed write has no remedy
}

// fresh removes the files of an earlier launch, and renames its store.
func (s *launch) fresh() error {
	was, err := s.job()
	if err != nil {
		return err
	}
	if was != nil {
		state, err := slurm.Queue(s.c.Context(), was.Job)
		if err != nil {
			return err
		}
		if len(state) > 0 {
			return fmt.Errorf("--fresh: slurm job %s of this experiment has not ended (%s): scancel %s ends it",
				was.Job, state, was.Job)
		}
	}
	if err := experiment.PutAside(s.dir); err != nil {
		return err
	}
	s.flags.fresh = false
	return errors.Join(os.RemoveAll(filepath.Join(s.dir, experiment.ShardDir)),
		os.RemoveAll(filepath.Join(s.dir, slurmDir)))
}

func (s *launch) jobFile() string { return filepath.Join(s.dir, slurmDir, "job.json") }

// job returns the job that was submitted last; nil: none.
func (s *launch) job() (*job, error) {
	text, err := files.Read(s.jobFile(), 1<<20)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j := &job{}
	if err := json.Unmarshal(text, j); err != nil || j.Job == "" || j.Tasks < 1 {
		return nil, fmt.Errorf("%s: expected a file written by heddle run --launcher slurm; remove it if no job of this "+
			"experiment runs", s.jobFile())
	}
	return j, nil
}

// missing returns the points that are to run, without a final outcome, and those of them that have no outcome at all.
func (s *launch) missing() (todo, absent []int) {
	stored := experiment.Stored(s.dir)
	for i := range s.runner.Points {
		o, ok := stored[i]
		class := experiment.Class(o.Err)
		if !ok || !experiment.Final(class) || class != "" && s.flags.retry {
			todo = append(todo, i)
		}
		if !ok {
			absent = append(absent, i)
		}
	}
	return todo, absent
}

// Defaults of --tasks: the number of points for each task, and the largest number of tasks.
const (
	pointsPerTask = 8
	mostTasks     = 64
)

// submit distributes points over tasks, and submits the job.
func (s *launch) submit(todo []int) (*job, error) {
	n := s.flags.tasks
	if n == 0 {
		n = min(mostTasks, (len(s.runner.Points)+pointsPerTask-1)/pointsPerTask)
	}
	j := &job{Tasks: min(n, len(s.runner.Points))}
	of := map[int][]int{}
	for _, i := range todo {
		of[i%j.Tasks+1] = append(of[i%j.Tasks+1], i)
	}
	for task := 1; task <= j.Tasks; task++ {
		if len(of[task]) > 0 {
			j.Array = append(j.Array, task)
		}
	}
	a, err := s.array(j, of)
	if err != nil {
		return nil, err
	}
	if j.Job, err = a.Submit(s.c.Context()); err != nil {
		return nil, err
	}
	s.say("slurm job %s: %d points in %d tasks, for each: processors %d, memory %s, time %v", j.Job, len(todo),
		len(j.Array),
		a.CPUs, experiment.Bytes(a.Memory), a.Time.Round(time.Minute))
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	return j, files.Write(s.jobFile(), append(text, '\n'))
}

// Margins over the estimates of memory and time, since Slurm ends a task that exceeds its request.
const (
	memoryMargin = 1.5
	leastMemory  = 256 << 20
	timeMargin   = 5
	leastTime    = 15 * time.Minute
)

// askedMemory returns the bytes to request for a task, with a margin over its estimate.
func askedMemory(estimate uint64) uint64 {
	return max(leastMemory, uint64(memoryMargin*float64(estimate)))
}

// array returns the job array with the resources of its tasks, by the estimates of the dry run.
func (s *launch) array(j *job, of map[int][]int) (*slurm.Array, error) {
	f := s.flags
	jobs := 1
	if s.c.Flags().Changed("jobs") {
		jobs = f.jobs
	}
	if err := s.runner.Vet(s.c.Context(), s.loaded, nil); err != nil {
		return nil, failed(err)
	}
	cost, err := s.runner.EstimateCost(experiment.Stored(s.dir))
	if err != nil {
		return nil, err
	}
	a := &slurm.Array{
		Name: "heddle-" + s.loaded.Value.Name, Tasks: j.Array, CPUs: jobs * max(1, f.threads), Options: f.sbatch,
		Memory: askedMemory(0), Time: leastTime,
	}
	for _, points := range of {
		seconds := 0.0
		for _, i := range points {
			seconds += cost.Points[i].Seconds
		}
		whole, _ := s.runner.EstimateMemoryOf(points).Whole(jobs, 0)
		a.Memory = max(a.Memory, askedMemory(whole))
		a.Time = max(a.Time, time.Duration(timeMargin*seconds/float64(jobs)*float64(time.Second)))
	}
	if a.Dir, err = os.Getwd(); err != nil {
		return nil, err
	}
	logs, err := filepath.Abs(filepath.Join(s.dir, slurmDir))
	if err != nil {
		return nil, err
	}
	a.Log, a.Script = filepath.Join(logs, "%A-%a.log"), filepath.Join(logs, "task.sh")
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, err
	}
	script, err := s.script(j, jobs)
	if err != nil {
		return nil, err
	}
	return a, os.WriteFile(a.Script, []byte(script), 0o755)
}

// script returns the script of a task: the same command, for a shard.
func (s *launch) script(j *job, jobs int) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	words := []string{
		"exec", quoted(self), "run", quoted(s.name), fmt.Sprintf(`--shard "$SLURM_ARRAY_TASK_ID"/%d`, j.Tasks),
		fmt.Sprintf("--jobs=%d", jobs),
	}
	here := []string{
		"launcher", "tasks", "sbatch", "poll", "jobs", "fresh", "report", "json", "phases", "set", "serve", "open",
		"dry-run", "results", "reuse-version",
	}
	s.c.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains(here, flag.Name) {
			words = append(words, "--"+flag.Name+"="+quoted(flag.Value.String()))
		}
	})
	for _, set := range s.flags.overrides.set {
		words = append(words, "--set", quoted(set))
	}
	for _, dir := range s.flags.results {
		words = append(words, "--results", quoted(dir))
	}
	for _, v := range s.flags.reuse {
		words = append(words, "--reuse-version", quoted(v))
	}
	return "#!/bin/sh\n# Made by heddle run --launcher slurm: a task of its job array.\n" + strings.Join(words, " ") +
		"\n", nil
}

// patience is the number of consecutive failed queries of Slurm that are tolerated, as its controller may be
// restarting.
const patience = 60

// wait waits until no task of a job is left. An interrupt does not affect the job.
func (s *launch) wait(j *job, how string) error {
	defer inOrder(s.c.Context())() // to print which job continues
	ctx, silent := s.c.Context(), 0
	report := jobReport{done: s.throughput()}
	for {
		state, err := slurm.Queue(ctx, j.Job)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			if silent++; silent == patience {
				return &codeError{
					exitFailed,
					fmt.Errorf("slurm job %s: %w\nthe job may go on; the same command waits for it again", j.Job, err),
				}
			}
		case len(state) == 0:
			return nil
		default:
			silent = 0
			report.states = state.String()
			report.running = slices.ContainsFunc(slurmRunning, func(name string) bool { return state[name] > 0 })
			s.report(j, how, &report)
			if s.complete(state, report.running) {
				s.say("slurm job %s: all points are stored; the tasks that are left (%s) are cancelled", j.Job, state)
				return slurm.Cancel(ctx, j.Job)
			}
		}
		select {
		case <-ctx.Done():
			return &codeError{
				exitInterrupted,
				fmt.Errorf("interrupted: slurm job %s goes on (scancel %s ends it); the same command waits for it "+
					"again", j.Job, j.Job),
			}
		case <-time.After(s.flags.poll):
		}
	}
}

// complete reports whether a job has nothing left to do although some tasks are left, as when a restarted controller
// holds them. Points that are run again may have ended in an earlier job.
func (s *launch) complete(state slurm.State, running bool) bool {
	if running || s.flags.retry && !state.Held() {
		return false
	}
	return len(experiment.Ended(s.dir)) >= len(s.runner.Points)
}

// gather merges the results of the tasks.
func (s *launch) gather() error {
	from, err := experiment.Shards(s.dir)
	if err != nil || len(from) == 0 {
		return err
	}
	m, err := experiment.Merge(s.dir, "", from)
	if err == nil && m.New > 0 {
		s.say("gathered %d points from %d shards: %d of %d are stored", m.New, len(from), m.Stored, m.Points)
	}
	return err
}

// lost returns an error for the points that a job has not run; nil: none.
func (s *launch) lost(j *job) error {
	_, absent := s.missing()
	if len(absent) == 0 {
		return nil
	}
	var tasks, why []string
	for _, t := range j.Array {
		if slices.ContainsFunc(absent, func(i int) bool { return i%j.Tasks+1 == t }) {
			tasks = append(tasks, fmt.Sprint(t))
			if by := s.endedBy(j, t); by != "" {
				why = append(why, fmt.Sprintf("task %d by %s", t, by))
			}
		}
	}
	text := fmt.Sprintf("%d of %d points are missing: task %s of slurm job %s ended before they did (%s has their "+
		"output)",
		len(absent), len(s.runner.Points), some(tasks), j.Job, filepath.Join(s.dir, slurmDir))
	if len(why) > 0 {
		text += "; Slurm ended " + some(why) +
			": --sbatch=--time=MINUTES, --sbatch=--mem=SIZE and --tasks give tasks more, or less to do"
	}
	return &codeError{exitFailed, errors.New(text + "; the same command submits the missing points")}
}

// some lists the first elements of a list.
func some(list []string) string {
	const most = 12
	if len(list) > most {
		list = append(list[:most:most], "…")
	}
	return strings.Join(list, ", ")
}

// endedBy returns the reason for which Slurm ended a task, by its output.
func (s *launch) endedBy(j *job, task int) string {
	const most = 1 << 20
	text, err := files.Read(filepath.Join(s.dir, slurmDir, fmt.Sprintf("%s-%d.log", j.Job, task)), most)
	if err != nil {
		return ""
	}
	return slurm.Ended(string(text))
}

// over removes the record of the job, and the shards if all results have been merged.
func (s *launch) over() error {
	err := os.Remove(s.jobFile())
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if todo, _ := s.missing(); len(todo) == 0 {
		err = cmp.Or(err, os.RemoveAll(filepath.Join(s.dir, experiment.ShardDir)))
	}
	return err
}
