package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMemoryFiles(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a@b.bin"), filepath.Join(dir, "out.bin")
	require.NoError(t, os.WriteFile(in, []byte{1, 2, 3, 4, 5}, 0o644))
	// The argument block is at --arg; bytes are added up in place.
	file := source(t, "_start: csrr a0, mscratch\n lbu a1, 4(a0)\n lw a2, 0(a0)\n add a2, a2, a1\n sw a2, 8(a0)\n"+
		"sw zero, 0x88(zero)\n tmc zero\n")
	for _, how := range [][]string{{"--functional"}, {"--machine", "vortex-rtl-a"}} {
		args := append([]string{"exec", file, "--arg", "0xa0000000", "--load", in + "@0xa0000000", "--save",
			out + "@0xa0000002+12"}, how...)
		_, errs, code := heddle(t, args...)
		require.Zero(t, code, errs)
		got, err := os.ReadFile(out)
		require.NoError(t, err)
		require.Equal(t, []byte{3, 4, 5, 0, 0, 0, 6, 2, 3, 4, 0, 0}, got)
	}
	for _, c := range []struct{ flag, value, want string }{
		{"--load", in, "--load " + in + ": expected FILE@ADDRESS"},
		{"--load", in + "@0xa0000000+5", "expected FILE@ADDRESS"},
		{"--load", in + "@-1", "expected FILE@ADDRESS"},
		{"--load", in + "@0x100000000", "expected FILE@ADDRESS"},
		{"--load", in + "@0x40", "0x40 + 5 bytes is not within 0x10000..0xfffeffff"},
		{"--load", in + "@0xfffefffe", "0xfffefffe + 5 bytes is not within"},
		{"--load", in + "@0x7ffffffe", "overlaps the program"},
		{"--load", filepath.Join(dir, "none") + "@0x10000000", "none"},
		{"--save", out + "@0xa0000000", "expected FILE@ADDRESS+BYTES"},
		{"--save", out + "@0xa0000000+x", "expected FILE@ADDRESS+BYTES"},
		{"--save", out + "@0xa0000000+0xffffffffffffffff", "is not within"},
		{"--save", out + "@0x20000000+0x70000000", "at most 1073741824 bytes"},
		{"--divergent-branch", "middle", "expected one of trap, last, first"},
		{"--perf-class", "all", "expected one of none, core, mem"},
	} {
		_, errs, code := heddle(t, "exec", file, "--functional", c.flag, c.value)
		require.Equal(t, exitUsage, code, errs)
		require.Contains(t, errs, c.want)
	}
	_, errs, code := heddle(t, "exec", file, "--functional", "--perf-class", "core")
	require.Equal(t, exitUsage, code, errs)
	require.Contains(t, errs, "--perf-class is for timed machines")
}
