package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"heddle/internal/commits"
)

// profileIters multiplies the iterations of a micro-program for the profile, so that it weighs as much as a point.
const profileIters = 20

// profile runs the workloads without counting, and records the CPU profile by which the compiler optimises heddle. The
// profiled program is itself optimised by the previous profile, as the compiler's documentation recommends.
func (o *options) profile(ctx context.Context, list []*workload, now *counter) error {
	var err error
	if now.program, err = commits.Build(ctx, now.root, now.dir); err != nil {
		return err
	}
	args := []string{"tool", "pprof", "-proto", "-focus=" + regexp.QuoteMeta(simulating)}
	for i, w := range list {
		longer := *w
		longer.program.iters *= profileIters
		out, err := os.MkdirTemp(now.dir, "")
		if err != nil {
			return err
		}
		file := filepath.Join(now.dir, fmt.Sprint(i, ".prof"))
		env := []string{"CPUPROFILE=" + file}
		_, took, err := now.run(ctx, env, now.program, longer.args(w.point.cycles == 0, now.config, out))
		if err != nil {
			return err
		}
		fmt.Printf("%-20s %6.2f processor seconds\n", w.name, took.Seconds())
		args = append(args, file)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	merged, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go tool pprof: %w", err)
	}
	return os.WriteFile(filepath.Join(now.root, "cmd", "heddle", "default.pgo"), merged, 0o644)
}
