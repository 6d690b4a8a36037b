package cmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKernelExport: an exported program computes the right result on a machine of its shape, timed and functional,
// which its exit code reports; kernels that cannot be exported are refused, and no file is written.
func TestKernelExport(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("tiny.yaml", []byte(tiny), 0o644))
	heddle := func(args ...string) (out string, code int) {
		root := newRoot()
		var b bytes.Buffer
		root.SetOut(&b)
		root.SetErr(&b)
		root.SetArgs(args)
		code = run(context.Background(), root)
		return b.String(), code
	}
	for _, file := range []string{"p.elf", "p.bin"} {
		out, code := heddle("kernel", "export", "tiny.yaml", "--set", "workload.algorithm=bfs", "--set",
			"workload.max_iterations=0", "-o", file)
		require.Equal(t, exitOK, code, out)
		require.Regexp(t, `^`+file+`: bfs/vertex/csr/push/\S+, 50 vertices, 400 edges, \d+ super-steps, for 1 cores × 4 warps × 4 lanes\n`, out)
		require.Contains(t, out, "uses atomics: Vortex's RTL needs a configuration with extension A: amo")
		for _, machine := range [][]string{{"--machine", "vortex-1c4w4t"},
			{"--functional", "--cores", "1", "--warps", "4", "--threads", "4"}} {
			out, code = heddle(append([]string{"exec", file}, machine...)...)
			require.Equal(t, exitOK, code, out)
		}
		out, code = heddle("exec", file, "--functional", "--cores", "1", "--warps", "2", "--threads", "4")
		require.Equal(t, exitFailed, code, out)
		require.Contains(t, out, "the program returned 2", "the machine has another shape")
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitUsage, "-o FILE, --cuda DIR: expected one of them: a file or a folder to write"},
		{[]string{"-o", "x.elf", "--cuda", "x"}, exitUsage, "-o FILE, --cuda DIR: expected one of them"},
		{[]string{"--cuda", "x"}, exitUsage, "machine.core.threads = 4: CUDA's warps have 32 lanes"},
		{[]string{"--cuda", "/dev/full/x", "--set", "machine.core.threads=32"}, exitUsage, "/dev/full"},
		{[]string{"-o", "x.elf", "--set", "workload.kernel=handwritten"}, exitUsage, "workload.kernel: handwritten: expected compiled"},
		{[]string{"-o", "x.elf", "--set", "workload.algorithm=k-core", "--set", "graph.clean.symmetrise=true", "--set", "graph.clean.drop_self_loops=true"}, exitUsage, "k-core"},
		{[]string{"-o", "x.elf", "--set", "machine=vortex-1c4w4t-weaver", "--set", "workload.schedule=weaver"}, exitUsage, "weaver"},
		{[]string{"-o", "x.elf", "--point", "2"}, exitUsage, "--point 2"},
		{[]string{"-o", "x.elf", "--set", "workload.algorithm=bsf"}, exitUsage, "did you mean bfs?"},
		{[]string{"-o", "/dev/full"}, exitFailed, "/dev/full: no space left on device"},
		{[]string{"-o", filepath.Join("none", "x.elf")}, exitUsage, "none/x.elf: no such file or directory"},
	} {
		out, code := heddle(append([]string{"kernel", "export", "tiny.yaml"}, c.args...)...)
		require.Equal(t, c.code, code, "%v: %s", c.args, out)
		require.Contains(t, out, c.says, c.args)
		require.NoFileExists(t, "x.elf", c.args)
	}
}

// TestKernelExportCUDA: a folder has everything that make needs, and no file of arrays where the program needs none.
func TestKernelExportCUDA(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("tiny.yaml", []byte(tiny), 0o644))
	export := func(dir string, set ...string) string {
		args := []string{"kernel", "export", "tiny.yaml", "--cuda", dir, "--set", "machine.core.threads=32"}
		for _, s := range set {
			args = append(args, "--set", s)
		}
		out, errs, code := heddle(t, args...)
		require.Equal(t, exitOK, code, errs)
		return out
	}
	out := export("p", "workload.algorithm=bfs", "workload.max_iterations=0")
	require.Regexp(t, `^p: bfs/vertex/csr/push/\S+, 50 vertices, 400 edges\n`, out)
	require.Contains(t, out, "make -C p host && cd p && ./program-host")
	for _, name := range []string{"program.cu", "heddle.h", "cuda_on_host.h", "Makefile", "graph.hgr"} {
		require.FileExists(t, filepath.Join("p", name))
	}
	require.NoFileExists(t, filepath.Join("p", "arrays.bin"))
	export("q", "workload.algorithm=pagerank", "workload.layout=ell-csr", "workload.max_iterations=2")
	require.FileExists(t, filepath.Join("q", "arrays.bin"))
}
