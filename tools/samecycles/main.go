// Command samecycles runs a list of points with the work tree's heddle and with another commit's, and reports every
// cycle count and statistic that differs.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"heddle/internal/commits"
	"heddle/internal/resources"
)

type options struct {
	base  string
	quick bool
	run   string
	drawn int
	seed  uint64
	keep  string
	jobs  int
	rows  int
	now   string // a prebuilt program instead of the work tree's
}

func main() {
	var o options
	flag.StringVar(&o.base, "base", "", "the `commit` to compare with, or a program that was built before")
	flag.BoolVar(&o.quick, "quick", false, "minutes instead of an hour: some points of each pack, and of them the "+
		"beginning")
	flag.StringVar(&o.run, "run", "", "run only the jobs whose names match this `regexp`")
	flag.IntVar(&o.drawn, "drawn", -1, "how `many` points on drawn machines")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the drawn points")
	flag.StringVar(&o.keep, "keep", "", "keep the configurations and results of jobs that differ in this `directory`")
	flag.IntVar(&o.jobs, "jobs", resources.Processors(), "runs at the same time")
	flag.IntVar(&o.rows, "rows", 5, "differences shown of a run (0: all)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	differ, err := o.main(ctx)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "samecycles:", err)
		os.Exit(2)
	case differ:
		os.Exit(1)
	}
}

// program is one of the two programs compared.
type program struct {
	path string
	keys map[string]bool // of its configuration
}

func (o *options) main(ctx context.Context) (differ bool, err error) {
	if o.base == "" || flag.NArg() > 0 {
		return false, errors.New("expected --base COMMIT, and flags only")
	}
	root, err := commits.Root(ctx)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "samecycles-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	list, err := o.list(dir)
	if err != nil {
		return false, err
	}
	base, now, err := o.programs(ctx, root, dir)
	if err != nil {
		return false, err
	}
	c := comparison{options: o, root: root, dir: dir, base: base, now: now, ended: map[string]int{}}
	return c.all(ctx, list)
}

// list returns the jobs to run.
func (o *options) list(dir string) ([]job, error) {
	re, err := regexp.Compile(o.run)
	if err != nil {
		return nil, fmt.Errorf("--run: %w", err)
	}
	n := o.drawn
	switch {
	case n < 0 && o.quick:
		n = quickDrawn
	case n < 0:
		n = allDrawn
	}
	packs, err := packJobs(o.quick)
	if err != nil {
		return nil, err
	}
	random, err := drawn(dir, n, o.seed)
	if err != nil {
		return nil, err
	}
	var list []job
	for _, jobs := range [][]job{microJobs(), random, packs} {
		for _, j := range jobs {
			if re.MatchString(j.name) {
				list = append(list, j)
			}
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("--run %s: nothing has such a name", o.run)
	}
	return list, nil
}

// programs builds both programs, unless a prebuilt one is given.
func (o *options) programs(ctx context.Context, root, dir string) (base, now program, err error) {
	var dirs [2]string
	for i := range dirs {
		if dirs[i], err = os.MkdirTemp(dir, ""); err != nil {
			return base, now, err
		}
	}
	if info, e := os.Stat(o.base); e == nil && info.Mode().IsRegular() {
		base.path, err = filepath.Abs(o.base)
	} else {
		base.path, err = commits.BuildAt(ctx, root, o.base, dirs[0])
	}
	if err != nil {
		return base, now, err
	}
	if now.path = o.now; now.path == "" {
		now.path, err = commits.Build(ctx, root, dirs[1])
	}
	if err != nil {
		return base, now, err
	}
	if base.keys, err = keys(ctx, base.path); err != nil {
		return base, now, err
	}
	now.keys, err = keys(ctx, now.path)
	return base, now, err
}

// keys asks a program for the keys of its configuration.
func keys(ctx context.Context, program string) (map[string]bool, error) {
	out, err := exec.CommandContext(ctx, program, "config", "schema", "--json").Output()
	if err != nil {
		return nil, fmt.Errorf("%s config schema: %w", program, err)
	}
	var list []struct {
		Key string `json:"key"`
		Was string `json:"was"` // its former name, which points' configurations have
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, err
	}
	m := map[string]bool{}
	for _, k := range list {
		m[k.Key] = true
		m[k.Was] = true
	}
	return m, nil
}

// comparison runs jobs with both programs.
type comparison struct {
	*options
	root, dir string
	base, now program

	mu      sync.Mutex // guards the fields below, and the output
	done    int
	differs int
	ended   map[string]int // counts of equal runs by ending: "done", a class of failure, "refused"
}

// all compares all jobs, several at a time, and reports whether anything differs.
func (c *comparison) all(ctx context.Context, list []job) (bool, error) {
	start := time.Now()
	limit, errs := make(chan struct{}, max(1, c.jobs)), make([]error, len(list))
	var wg sync.WaitGroup
	for i := range list {
		limit <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-limit }()
			errs[i] = c.one(ctx, &list[i], len(list))
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return false, errors.New("interrupted")
	}
	if err := errors.Join(errs...); err != nil {
		return false, err
	}
	showProgress("%79s\r", "")
	fmt.Printf("%d runs with both programs in %.0f s: %d differ", len(list), time.Since(start).Seconds(), c.differs)
	for _, how := range slices.Sorted(maps.Keys(c.ended)) {
		fmt.Printf(", %d are equal (%s)", c.ended[how], how)
	}
	fmt.Println()
	return c.differs > 0, nil
}

// showProgress overwrites the line of a terminal; it prints nothing elsewhere.
func showProgress(format string, args ...any) {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		fmt.Fprintf(os.Stderr, "\r"+format, args...)
	}
}

// one runs a job with both programs and prints the differences.
func (c *comparison) one(ctx context.Context, j *job, of int) error {
	base, err := c.run(ctx, j, &c.base)
	if err != nil {
		return err
	}
	now, err := c.run(ctx, j, &c.now)
	if err != nil {
		return err
	}
	list, err := differences(base, now)
	if err != nil {
		return fmt.Errorf("%s: %w", j.name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	showProgress("%d of %d runs, %d differ", c.done, of, c.differs)
	if len(list) > 0 {
		c.differs++
		c.print(j, list)
		return c.save(j, base, now)
	}
	c.ended[ending(now)]++
	return nil
}

// refusedPrefix begins the substitute for the result of a refused run.
const refusedPrefix = "refused: "

// run runs a job with one program and returns its result.
func (c *comparison) run(ctx context.Context, j *job, p *program) ([]byte, error) {
	dir, err := os.MkdirTemp(c.dir, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	args, err := j.command(dir, p.keys)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Dir = c.root
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		return nil, fmt.Errorf("%s: %w", j.name, err)
	}
	if len(bytes.TrimSpace(out)) == 0 { // its output, without the names of its temporary files
		return []byte(refusedPrefix + withoutPlaces(strings.TrimSpace(errs.String()), dir)), nil
	}
	return out, nil
}

// print prints a run's differences.
func (c *comparison) print(j *job, list []difference) {
	showProgress("%79s\r", "")
	fmt.Printf("%s\n", j.name)
	for i, d := range list {
		if i == c.rows && c.rows > 0 {
			fmt.Printf("    and %d more (--rows 0 shows all)\n", len(list)-i)
			break
		}
		fmt.Printf("    %-45s %20s → %s\n", d.key, d.base, d.now)
	}
}

// save keeps the files needed to investigate a difference.
func (c *comparison) save(j *job, base, now []byte) error {
	if c.keep == "" {
		return nil
	}
	dir := filepath.Join(c.keep, fmt.Sprint(c.differs))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	command := "heddle " + strings.Join(j.args, " ")
	if j.yaml != "" {
		command += " point.yaml"
	}
	for name, data := range map[string][]byte{"command.txt": []byte(command + "\n"), "point.yaml": []byte(j.yaml),
		"base.json": base, "now.json": now} {
		if len(data) == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

var places = regexp.MustCompile(`(\.yaml):\d+:\d+`)

// withoutPlaces removes from a message the parts that may differ between the programs: the point's path, and the line
// numbers of its keys, since a key that only one of them knows shifts the others.
func withoutPlaces(message, dir string) string {
	return places.ReplaceAllString(strings.ReplaceAll(message, dir, "DIR"), "$1")
}
