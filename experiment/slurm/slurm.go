// Package slurm submits job arrays to Slurm and queries their state, through Slurm's own commands. It knows nothing of
// experiments.
package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Array is a job array to submit.
type Array struct {
	Name    string
	Dir     string        // working directory
	Tasks   []int         // numbers of the tasks: SLURM_ARRAY_TASK_ID in each
	Log     string        // output file of a task, where %A is the job's number and %a the task's
	CPUs    int           // for each task
	Memory  uint64        // for each task, in bytes
	Time    time.Duration // limit for each task
	Options []string      // for sbatch, which override the others
	Script  string        // the file that each task runs
}

// MissingError reports that one of Slurm's commands is not installed.
type MissingError struct{ Command string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is not on PATH: expected Slurm's commands on this host (a login node); for another "+
		"scheduler see docs/guide/clusters.md", e.Command)
}

var jobNumber = regexp.MustCompile(`^\d+$`)

// Submit submits the array by sbatch and returns the job's number.
func (a *Array) Submit(ctx context.Context) (job string, err error) {
	out, err := command(ctx, "sbatch", a.arguments()...)
	if err != nil {
		return "", err
	}
	job, _, _ = strings.Cut(strings.TrimSpace(out), ";") // JOB;CLUSTER with several clusters
	if !jobNumber.MatchString(job) {
		return "", fmt.Errorf("sbatch: expected the number of a job; found %q", clip(out))
	}
	return job, nil
}

func (a *Array) arguments() []string {
	const mib = 1 << 20
	minutes := max(1, (a.Time+time.Minute-1)/time.Minute)
	args := []string{
		"--parsable", "--job-name=" + a.Name, "--chdir=" + a.Dir, "--array=" + ranges(a.Tasks), "--output=" + a.Log,
		"--open-mode=append",
		"--ntasks=1", fmt.Sprintf("--cpus-per-task=%d", a.CPUs), fmt.Sprintf("--mem=%dM", (a.Memory+mib-1)/mib),
		fmt.Sprintf("--time=%d", minutes),
	}
	return append(append(args, a.Options...), a.Script)
}

// ranges formats sorted numbers for sbatch: 1-3,7.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		k := i
		for k+1 < len(numbers) && numbers[k+1] == numbers[k]+1 {
			k++
		}
		part := fmt.Sprint(numbers[i])
		if k > i {
			part += fmt.Sprintf("-%d", numbers[k])
		}
		parts = append(parts, part)
		i = k + 1
	}
	return strings.Join(parts, ",")
}

// State counts the tasks of a job that have not ended by their state in Slurm. The state of pending tasks includes the
// reason: PENDING (Resources).
type State map[string]int

// Held reports whether tasks are left and all of them are held, so that none will run until a user releases them.
func (s State) Held() bool {
	for name := range s {
		if _, why, _ := strings.Cut(name, " "); !strings.Contains(strings.ToLower(why), "held") {
			return false
		}
	}
	return len(s) > 0
}

// String lists the states, those with most tasks first.
func (s State) String() string {
	var names []string
	for name := range s {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if s[a] != s[b] {
			return s[b] - s[a]
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		state, why, _ := strings.Cut(name, " ")
		names[i] = strings.TrimSpace(fmt.Sprintf("%d %s %s", s[name], strings.ToLower(state), why))
	}
	return strings.Join(names, ", ")
}

// Queue returns the states of the tasks of a job that have not ended; none if all have.
func Queue(ctx context.Context, job string) (State, error) {
	out, err := command(ctx, "squeue", "--noheader", "--array", "--jobs="+job, "--format=%T %r")
	if err != nil {
		if strings.Contains(err.Error(), "Invalid job id") { // Slurm forgets jobs some time after they have ended
			return nil, nil
		}
		return nil, err
	}
	s := State{}
	for line := range strings.Lines(out) {
		state, why, _ := strings.Cut(strings.TrimSpace(line), " ")
		if why = strings.Trim(why, " ()"); state == "PENDING" && why != "" && why != "None" {
			state += " (" + why + ")"
		}
		if state != "" {
			s[state]++
		}
	}
	return s, nil
}

// Cancel ends the remaining tasks of a job.
func Cancel(ctx context.Context, job string) error {
	_, err := command(ctx, "scancel", job)
	return err
}

// Ended returns the reason for which Slurm ended a task, by the messages in the task's output; "" without one.
func Ended(output string) string {
	for _, c := range []struct{ says, why string }{
		{"DUE TO TIME LIMIT", "its time limit"},
		{"oom_kill event", "its memory limit"},
		{"Exceeded job memory limit", "its memory limit"},
		{"DUE TO NODE FAILURE", "the failure of its host"},
		{"DUE TO PREEMPTION", "preemption"},
		{"CANCELLED AT", "scancel, or its administrator"},
	} {
		if strings.Contains(output, c.says) {
			return c.why
		}
	}
	return ""
}

func command(ctx context.Context, name string, args ...string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &MissingError{name}
	}
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, path, args...)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		text := strings.TrimSpace(errs.String())
		if text == "" {
			text = err.Error()
		}
		return "", errors.New(name + ": " + clip(strings.TrimPrefix(text, name+": ")))
	}
	return out.String(), nil
}

// clip shortens the output of a command, so that messages stay readable.
func clip(s string) string {
	const most = 400
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.TrimSpace(s)
}
