// Package commits builds the heddle program: of the work tree, and of other commits to compare it with.
package commits

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Root returns the root directory of the module that the working directory belongs to.
func Root(ctx context.Context) (string, error) {
	mod, err := output(ctx, ".", "go", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	if mod == "" || mod == os.DevNull {
		return "", fmt.Errorf("no go.mod above the working directory: expected to run within heddle's source tree")
	}
	return filepath.Dir(mod), nil
}

// Build builds the program of the work tree at root into dir, with flags of go build, and returns its path.
func Build(ctx context.Context, root, dir string, flags ...string) (string, error) {
	program := filepath.Join(dir, "heddle")
	_, err := output(ctx, root, "go", slices.Concat([]string{"build", "-o", program}, flags,
		[]string{"./cmd/heddle"})...)
	return program, err
}

// BuildAt builds the program of a commit into dir, in a temporary work tree, and returns its path.
func BuildAt(ctx context.Context, root, commit, dir string, flags ...string) (program string, err error) {
	hash, err := output(ctx, root, "git", "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%q: expected a commit of %s", commit, root)
	}
	tree := filepath.Join(dir, "tree")
	if _, err := output(ctx, root, "git", "worktree", "add", "--detach", "--quiet", tree, hash); err != nil {
		return "", err
	}
	defer func() {
		// An interrupted context must not prevent the removal of the work tree.
		if _, e := output(context.WithoutCancel(ctx), root, "git", "worktree", "remove", "--force", tree); err == nil {
			err = e
		}
	}()
	return Build(ctx, tree, dir, flags...)
}

// output runs a command in a directory and returns its output.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
