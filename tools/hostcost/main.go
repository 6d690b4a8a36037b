// Command hostcost counts the host instructions of a simulation, on a fixed list of workloads, beside those recorded in
// docs/design/speed.md.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"time"

	"heddle/internal/commits"
	"heddle/internal/resources"
)

//go:embed graph.yaml
var graphConfig []byte

type options struct {
	run    string
	full   bool
	record bool
	base   string
	pairs  int
	keep   string
	jobs   int
	pgo    bool
	plain  bool
}

func main() {
	var o options
	flag.StringVar(&o.run, "run", "", "count only workloads whose name matches this `regexp`")
	flag.BoolVar(&o.full, "full", false, "count whole runs, not only their beginnings")
	flag.BoolVar(&o.record, "record", false, "write the counts to docs/design/speed.md")
	flag.StringVar(&o.base, "base", "", "compare with the program of this `commit` instead of the recorded counts")
	flag.IntVar(&o.pairs, "pairs", 0, "with --base: also measure processor seconds, in that `many` interleaved pairs of "+
		"whole runs")
	flag.StringVar(&o.keep, "keep", "", "keep callgrind's files in this `directory`")
	flag.BoolVar(&o.pgo, "profile", false, "instead of counting, write cmd/heddle/default.pgo, the profile by which the "+
		"compiler optimises heddle")
	flag.BoolVar(&o.plain, "unprofiled", false, "compile without that profile, which takes minutes less where heddle has "+
		"been compiled without it")
	flag.IntVar(&o.jobs, "jobs", resources.Processors(), "counts at the same time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := o.main(ctx); {
	case errors.Is(err, errWorse):
		fmt.Fprintln(os.Stderr, "hostcost:", err)
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "hostcost:", err)
		os.Exit(2)
	}
}

var errWorse = errors.New("a workload takes more than 3 % more host instructions than recorded: mend it, or record " +
	"it with the reason (--record)")

func (o *options) main(ctx context.Context) error {
	list, err := o.workloads()
	if err != nil {
		return err
	}
	if _, err := exec.LookPath("valgrind"); err != nil && !o.pgo {
		return errors.New("valgrind is not installed: run .ci/install.sh")
	}
	root, err := commits.Root(ctx)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hostcost-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	now, err := o.counter(root, dir)
	if err != nil {
		return err
	}
	if o.pgo {
		return o.profile(ctx, list, now)
	}
	if now.program, err = buildUnpreempted(ctx, root, dir, o.flags()...); err != nil {
		return err
	}
	if o.base != "" {
		return o.compare(ctx, list, now)
	}
	return o.check(ctx, list, now)
}

func (o *options) workloads() ([]*workload, error) {
	if flag.NArg() > 0 {
		return nil, fmt.Errorf("%q: expected flags only (--run chooses workloads)", flag.Arg(0))
	}
	if o.pgo && (o.base != "" || o.record || o.full || o.keep != "" || o.plain) {
		return nil, errors.New("--profile counts nothing: expected no other flag than --run")
	}
	if o.plain && (o.record || o.full) {
		return nil, errors.New("--unprofiled: of whole runs no such counts are recorded, and --record records both")
	}
	if o.base != "" && o.record || o.base == "" && o.pairs > 0 {
		return nil, errors.New("--base compares and records nothing; --pairs needs --base")
	}
	re, err := regexp.Compile(o.run)
	if err != nil {
		return nil, fmt.Errorf("--run: %w", err)
	}
	var list []*workload
	for i := range workloads {
		if re.MatchString(workloads[i].name) {
			list = append(list, &workloads[i])
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("--run %s: no workload has such a name", o.run)
	}
	return list, nil
}

// flags returns the flags of go build.
func (o *options) flags() []string {
	if o.plain {
		return []string{"-pgo=off"}
	}
	return []string{"-pgo=auto"} // whatever GOFLAGS says
}

// counter returns a counter without its program.
func (o *options) counter(root, dir string) (*counter, error) {
	config := filepath.Join(dir, "graph.yaml")
	if err := os.WriteFile(config, graphConfig, 0o644); err != nil {
		return nil, err
	}
	if o.keep != "" {
		keep, err := filepath.Abs(o.keep)
		if err != nil {
			return nil, err
		}
		if o.keep = keep; os.MkdirAll(keep, 0o755) != nil {
			return nil, fmt.Errorf("--keep %s: cannot be made", keep)
		}
	}
	return &counter{root: root, config: config, dir: dir, whole: o.full, keep: o.keep}, nil
}

// check counts, prints and records.
func (o *options) check(ctx context.Context, list []*workload, now *counter) error {
	file := filepath.Join(now.root, "docs", "design", "speed.md")
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	recorded, err := readPage(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	size := quick
	if o.full {
		size = whole
	}
	costs, err := o.all(ctx, list, now)
	if err != nil {
		return err
	}
	before := recorded[size]
	if o.plain {
		before = before.unprofiled()
	}
	worse := printBeside("recorded", list, costs, before)
	if !o.record {
		return worse
	}
	if !o.full {
		if err := o.alsoUnprofiled(ctx, list, costs, now); err != nil {
			return err
		}
	}
	for i, w := range list {
		if !w.byPart || o.full {
			costs[i].Parts = [len(parts)]uint64{}
		}
		recorded[size][w.name] = costs[i]
	}
	page, err := recorded.text()
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(page), 0o644)
}

// alsoUnprofiled completes the costs with those of a program without the profile, which CI counts.
func (o *options) alsoUnprofiled(ctx context.Context, list []*workload, costs []cost, now *counter) error {
	plain := *now
	dir, err := os.MkdirTemp(now.dir, "")
	if err != nil {
		return err
	}
	if plain.program, err = buildUnpreempted(ctx, now.root, dir, "-pgo=off"); err != nil {
		return err
	}
	counts, err := o.all(ctx, list, &plain)
	if err != nil {
		return err
	}
	for i := range counts {
		costs[i].Unprofiled = counts[i].HostInstrs
	}
	return nil
}

// compare counts with this work tree's program and that of another commit.
func (o *options) compare(ctx context.Context, list []*workload, now *counter) error {
	base := *now
	base.keep = ""
	dir, err := os.MkdirTemp(now.dir, "")
	if err != nil {
		return err
	}
	if base.program, err = commits.BuildAt(ctx, now.root, o.base, dir, o.flags()...); err != nil {
		return err
	}
	if err := unpreempted(base.program); err != nil {
		return err
	}
	before, err := o.all(ctx, list, &base)
	if err != nil {
		return err
	}
	costs, err := o.all(ctx, list, now)
	if err != nil {
		return err
	}
	old := table{}
	for i, w := range list {
		old[w.name] = before[i]
	}
	worse := printBeside(o.base, list, costs, old)
	if o.pairs > 0 {
		if err := o.seconds(ctx, list, &base, now); err != nil {
			return err
		}
	}
	return worse
}

// all counts the workloads, several at a time.
func (o *options) all(ctx context.Context, list []*workload, c *counter) ([]cost, error) {
	costs, errs := make([]cost, len(list)), make([]error, len(list))
	limit := make(chan struct{}, max(1, o.jobs))
	var all sync.WaitGroup
	for i, w := range list {
		limit <- struct{}{}
		all.Go(func() {
			defer func() { <-limit }()
			if costs[i], errs[i] = c.count(ctx, w); errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", w.name, errs[i])
			}
		})
	}
	all.Wait()
	return costs, errors.Join(errs...)
}

// printBeside prints costs beside earlier ones, and returns errWorse if one is above the tolerance.
func printBeside(what string, list []*workload, costs []cost, before table) (worse error) {
	fmt.Printf("%-20s %-24s %12s %10s %10s %10s %8s  %10s\n", "", "", "warp instr", "cycles", "per instr", what,
		"change", "per cycle")
	for i, w := range list {
		c := costs[i]
		fmt.Printf("%-20s %-24s %12s %10s %10s ", w.name, w.machine, thousands(c.WarpInstrs), thousands(c.Cycles),
			rounded(c.perWarpInstr()))
		old, ok := before[w.name]
		if !ok {
			fmt.Printf("%10s %8s  %10s  nothing is recorded\n", "–", "–", rounded(c.perCycle()))
			continue
		}
		d, remark := change(c, old), ""
		switch {
		case d > tolerance:
			remark, worse = "  WORSE", errWorse
		case d < -tolerance:
			remark = "  better: --record it"
		}
		if c.Cycles != old.Cycles || c.WarpInstrs != old.WarpInstrs {
			remark += fmt.Sprintf("  (simulated differently: %s cycles, %s warp instructions before)",
				thousands(old.Cycles), thousands(old.WarpInstrs))
		}
		fmt.Printf("%10s %+7.1f%%  %10s%s\n", rounded(old.perWarpInstr()), 100*d, rounded(c.perCycle()), remark)
	}
	return worse
}

// seconds prints ratios of processor seconds, from pairs of runs that alternate so that both see the same noise.
func (o *options) seconds(ctx context.Context, list []*workload, base, now *counter) error {
	full, fullBase := *now, *base
	full.whole, fullBase.whole = true, true
	fmt.Printf("\n%-20s processor seconds of the whole command, %d pairs\n", "", o.pairs)
	for _, w := range list {
		var ratios []float64
		var took [2]time.Duration
		for range o.pairs {
			for i, c := range []*counter{&fullBase, &full} {
				d, err := c.seconds(ctx, w)
				if err != nil {
					return err
				}
				took[i] = d
			}
			ratios = append(ratios, took[0].Seconds()/took[1].Seconds())
		}
		slices.Sort(ratios)
		fmt.Printf("%-20s %6.2f s before, %6.2f s now (last pair); median %.2f times as fast (%.2f to %.2f)\n", w.name,
			took[0].Seconds(), took[1].Seconds(),
			ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
	}
	return nil
}
