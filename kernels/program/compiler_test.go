package program_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/internal/tools"
	"heddle/kernels/program"
)

const inC = `{parameters: [n = 1], steps: [k], arrays: ["a[1]"]}`

// TestCompilerIsLimited: a macro that grows a thousandfold takes no more memory than the limit says.
func TestCompilerIsLimited(t *testing.T) {
	tools.Need(t, program.DefaultCompiler)
	file := filepath.Join(t.TempDir(), "bomb.c")
	text := "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(x)))\nvoid k(unsigned *block) { " +
		"B(B(A(A(block[0]++;)))) }\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	err := tryRun(t, file, inC, "")
	require.ErrorContains(t, err, "bomb.c cannot be built: the compiler takes more than 1024 MiB of memory")
}

// TestCompilerEndsWithItsRun: the compiler's processes end when the run is cancelled.
func TestCompilerEndsWithItsRun(t *testing.T) {
	dir := t.TempDir()
	cc, pid := filepath.Join(dir, "cc"), filepath.Join(dir, "pid")
	require.NoError(t, os.WriteFile(cc, []byte("#!/bin/sh\nsleep 300 &\necho $! >"+pid+".new\nmv "+pid+".new "+pid+
		"\nwait\n"), 0o755))
	t.Setenv(program.Compiler, cc)
	file := filepath.Join(dir, "k.c")
	require.NoError(t, os.WriteFile(file, []byte("void k(unsigned *block) { block[0]++; }\n"), 0o644))
	w := testWorkload(t, file, inC)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := program.Open(ctx, &w)
		done <- err
	}()
	require.Eventually(t, func() bool { _, err := os.Stat(pid); return err == nil }, time.Minute, 10*time.Millisecond)
	cancel()
	select {
	case err := <-done:
		require.ErrorContains(t, err, "context canceled")
	case <-time.After(time.Minute):
		t.Fatal("the run waits for the compiler's processes")
	}
	text, err := os.ReadFile(pid)
	require.NoError(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return ended(n) }, time.Minute, 10*time.Millisecond)
}

// ended reports whether a process is gone, or waits for its parent to notice.
func ended(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || strings.Contains(string(stat), ") Z ")
}
