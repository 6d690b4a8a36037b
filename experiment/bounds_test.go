package experiment_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/isa/emu"
)

// TestProgramOutOfRange: with checks, an access of a user's program to memory that nothing is in is named, with the
// array before it and the source line. Checks change no cycles, and pass a program that stays within its arrays.
func TestProgramOutOfRange(t *testing.T) {
	text, err := os.ReadFile("../kernels/program/examples/in-degree.s")
	require.NoError(t, err)
	run := func(source string, check bool) experiment.Outcome {
		file := filepath.Join(t.TempDir(), "mine.s")
		require.NoError(t, os.WriteFile(file, []byte(source), 0o644))
		p := points(t, small+"workload:\n  program: "+file+"\n  algorithm: bfs\n  host: {graph: [coo], arrays: "+
			"[\"degree[vertices]\"], steps: [count], result: degree, check: in-degree}\n")
		r := &experiment.Runner{Points: p, Check: check, Observer: silent{}}
		return r.Run(context.Background())[0]
	}
	right, plain := run(string(text), true), run(string(text), false)
	require.NoError(t, right.Err)
	require.True(t, right.Verified)
	require.Equal(t, plain.Cycles, right.Cycles)

	const at = "  lw   s3, hd_block_degree(s0)\n"
	trapped := run(strings.Replace(string(text), at, at+"  lw   t0, 2(s3)\n", 1), false)
	require.ErrorContains(t, trapped.Err, "mine.s:")
	var trap *emu.Trap
	require.ErrorAs(t, trapped.Err, &trap)
	for access, source := range map[string]string{
		"an atomic": strings.Replace(string(text), at, at+"  addi s3, s3, 0x7f0\n", 1),
		"a load":    strings.Replace(string(text), at, at+"  lw   t0, 0x7f0(s3)\n", 1),
		"a store":   strings.Replace(string(text), at, at+"  sw   zero, 0x7f0(s3)\n", 1),
	} {
		require.NotEqual(t, string(text), source)
		o := run(source, true)
		var out *experiment.OutOfRangeError
		require.ErrorAs(t, o.Err, &out, access)
		require.Regexp(t, regexp.MustCompile(`mine\.s:\d+: `+access+` at 0x[0-9a-f]{8}, 2,\d{3} bytes behind the `+
			`beginning of degree, which has \d+: expected an address in an array`), o.Err.Error())
		require.Contains(t, o.Err.Error(), "core 0, warp ")
		require.False(t, o.Verified)
		if access != "an atomic" { // memory has no bounds: it is not noticed
			require.NoError(t, run(source, false).Err)
		}
	}
}
