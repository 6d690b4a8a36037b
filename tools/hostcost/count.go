package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// simulating is the function within which instructions are counted: the work before and after it (reading a graph,
// compiling a kernel, checking and storing a result) is not part of simulation.
const simulating = "heddle/components/clock.(*System).Run"

// deterministic makes Go execute the same instructions each time: no garbage collector, no second thread of Go code, no
// signals. Go must not use rdtscp either, which valgrind rejects on some processors that have it.
var deterministic = []string{"GODEBUG=asyncpreemptoff=1,cpu.rdtscp=off", "GOGC=off", "GOMAXPROCS=1"}

// cost is the work of a workload, and its cost on the host.
type cost struct {
	WarpInstrs uint64 `json:"warp_instrs"`
	Cycles     uint64 `json:"cycles"`
	HostInstrs uint64 `json:"host_instrs"`
	// Unprofiled is the number of host instructions of a program that was compiled without the profile; 0: unknown.
	Unprofiled uint64 `json:"-"`
	// Parts are the host instructions a warp instruction of each of the parts; zeros: unknown.
	Parts [len(parts)]uint64 `json:"-"`
}

func (c cost) perWarpInstr() float64 { return float64(c.HostInstrs) / float64(c.WarpInstrs) }
func (c cost) perCycle() float64     { return float64(c.HostInstrs) / float64(c.Cycles) }

// counter runs workloads with one program.
type counter struct {
	root    string // root of the module, which workloads' file names are relative to
	program string
	config  string // graph.yaml
	dir     string // for the output of runs
	whole   bool
	keep    string // directory for callgrind's files; empty: they are removed
}

// count runs a workload under callgrind.
func (c *counter) count(ctx context.Context, w *workload) (cost, error) {
	dir, err := os.MkdirTemp(c.dir, "")
	if err != nil {
		return cost{}, err
	}
	profile := filepath.Join(dir, "callgrind.out")
	if c.keep != "" {
		profile = filepath.Join(c.keep, "callgrind.out."+strings.NewReplacer(" ", "-", ",", "").Replace(w.name))
	}
	args := append([]string{
		"--tool=callgrind", "--callgrind-out-file=" + profile, "--toggle-collect=" + simulating, c.program,
	}, w.args(c.whole, c.config, dir)...)
	out, _, err := c.run(ctx, deterministic, "valgrind", args)
	if err != nil {
		return cost{}, err
	}
	result, err := simulated(out)
	if err != nil {
		return cost{}, err
	}
	data, err := os.ReadFile(profile)
	if err != nil {
		return cost{}, err
	}
	if result.HostInstrs, err = collected(data); err != nil {
		return cost{}, err
	}
	sum, err := byPart(data)
	if err != nil {
		return cost{}, err
	}
	result.Parts = perWarpInstr(sum, result.WarpInstrs)
	return result, nil
}

// seconds runs a workload without callgrind and returns its processor time.
func (c *counter) seconds(ctx context.Context, w *workload) (time.Duration, error) {
	dir, err := os.MkdirTemp(c.dir, "")
	if err != nil {
		return 0, err
	}
	_, took, err := c.run(ctx, deterministic, c.program, w.args(c.whole, c.config, dir))
	return took, err
}

// exitLimit is heddle's exit code for a run ended by a limit, such as a workload's cycles.
const exitLimit = 3

// run runs a command at the module's root, with additional environment variables, and returns its output and processor
// time.
func (c *counter) run(ctx context.Context, env []string, name string, args []string) ([]byte, time.Duration, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = c.root, append(os.Environ(), env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != exitLimit {
		return nil, 0, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, tail(errs.String(), 10))
	}
	return out, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// tail returns the last lines of a text.
func tail(text string, lines int) string {
	l := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(l[max(0, len(l)-lines):], "\n")
}

// simulated reads the counts of a run from the JSON of heddle exec or heddle run.
func simulated(out []byte) (cost, error) {
	var result struct {
		cost
		Points []struct {
			cost
			Failure string `json:"failure"`
		} `json:"points"`
	}
	if err := json.Unmarshal(out, &result); err != nil {
		return cost{}, fmt.Errorf("the result: %w", err)
	}
	c := result.cost
	if len(result.Points) == 1 {
		c = result.Points[0].cost
		if f := result.Points[0].Failure; f != "" && f != "limit" {
			return cost{}, errors.New("the point failed: " + f)
		}
	}
	if c.WarpInstrs == 0 || c.Cycles == 0 {
		return cost{}, errors.New("the result has no warp instructions or no cycles")
	}
	return c, nil
}

var totals = regexp.MustCompile(`(?m)^totals: (\d+)$`)

// collected reads the number of instructions from callgrind's file. Where Go's scheduler has run another goroutine in
// the middle of a run, callgrind takes that for the end of simulating, and what follows for the run: then the results
// that are written as JSON have been counted.
func collected(profile []byte) (uint64, error) {
	if bytes.Contains(profile, []byte(" encoding/json.")) {
		return 0, errors.New("something interrupted the run, and what followed it was counted: count it again, on a " +
			"host that does less besides")
	}
	m := totals.FindSubmatch(profile)
	if m == nil {
		return 0, errors.New("callgrind's file has no line of totals")
	}
	n, err := strconv.ParseUint(string(m[1]), 10, 64)
	if err == nil && n == 0 {
		err = fmt.Errorf("no instruction was counted: is there still a function %s?", simulating)
	}
	return n, err
}
