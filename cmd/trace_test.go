package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const tracedExperiment = "name: t\nmachine: vortex-1c4w4t\ngraph: {grid: {width: 5, height: 4}}\n"

// From an experiment to a trace, a look at it, and its replay on two machines.
func TestTraces(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) { require.NoError(t, os.WriteFile(name, []byte(text), 0o644)) }
	write("e.yaml", tracedExperiment)
	out, errs, code := heddle(t, "trace", "record", "e.yaml", "-o", "a.trace")
	require.Equal(t, exitOK, code, errs)
	require.Regexp(t, `cycles, verified, recorded in`, out)
	require.Regexp(t, `(?m)^blocks  .* bytes a warp instruction`, out)
	out, _, code = heddle(t, "trace", "info", "a.trace")
	require.Equal(t, exitOK, code)
	require.Regexp(t, `(?m)^graph  .*20 vertices, 62 edges`, out)
	require.Regexp(t, `(?m)^memory  .* rank$`, out)
	out, _, code = heddle(t, "trace", "dump", "a.trace", "--launch", "0", "--warp", "1", "--limit", "2")
	require.Equal(t, exitOK, code)
	require.Regexp(t, `^launch 0, core 0 warp 1: \d+ instructions\n8000\w+ 00000001  .*\n8000\w+ 00000001  .*\n$`, out)

	out, _, code = heddle(t, "trace", "dump", "a.trace")
	require.Equal(t, exitOK, code)
	write("a.txt", out)
	out, errs, code = heddle(t, "trace", "import", "a.txt", "-o", "i.trace")
	require.Equal(t, exitOK, code, errs)
	require.Regexp(t, `(?m)^recorded    experiment imported from a.txt`, out)
	out, _, code = heddle(t, "trace", "diff", "a.trace", "i.trace")
	require.Equal(t, exitOK, code, out)
	write("i.yaml", "name: i\nmachine: vortex-1c4w4t\nworkload: {trace: i.trace}\n")
	out, errs, code = heddle(t, "run", "i.yaml")
	require.Equal(t, exitOK, code, errs)
	require.Regexp(t, `│ replayed, recorded assignment re-timed │`, out)

	write("r.yaml", "name: r\nmachine: vortex-1c4w4t\nworkload: {trace: a.trace}\nsweep: {machine.l1d.bytes: [16KiB, "+
		"1KiB]}\n")
	out, errs, code = heddle(t, "run", "r.yaml")
	require.Equal(t, exitOK, code, errs)
	require.Regexp(t, `│ 16KiB .*│ replayed +│`, out)
	require.Regexp(t, `│ 1KiB .*│ replayed, other machine +│`, out)
	require.NotRegexp(t, `│ yes`, out)
	csv, err := os.ReadFile(filepath.Join("results", "r", "summary.csv"))
	require.NoError(t, err)
	require.Regexp(t, `(?m)^1,16KiB,\d+,,false,,[\d.]+,replayed,`, string(csv))
	out, _, code = heddle(t, "results", "list", "r")
	require.Equal(t, exitOK, code)
	require.Regexp(t, `replayed, other machine`, out)
	_, errs, code = heddle(t, "run", "r.yaml")
	require.Equal(t, exitOK, code)
	require.Regexp(t, `2 of 2 points known`, errs)
	out, errs, code = heddle(t, "report", "r")
	require.Equal(t, exitOK, code, errs)
	require.NotEmpty(t, out)

	// Another recording under the same name is another workload.
	_, errs, code = heddle(t, "trace", "record", "e.yaml", "-o", "b.trace", "--set", "workload.algorithm.damping=0.5")
	require.Equal(t, exitOK, code, errs)
	out, _, code = heddle(t, "trace", "diff", "a.trace", "b.trace")
	require.Equal(t, exitOK, code)
	require.Equal(t, "the traces are the same\n", out, "damping is data")
	_, errs, code = heddle(t, "trace", "record", "e.yaml", "-o", "b.trace", "--set", "workload.schedule=warp")
	require.Equal(t, exitOK, code, errs)
	out, _, code = heddle(t, "trace", "diff", "a.trace", "b.trace")
	require.Equal(t, exitFailed, code)
	require.Regexp(t, `(?s)^launch 1, core 0 warp 0, after \d+ instructions\n  A  8001.*\n  B  8001.*traces of a warp and launch differ\n$`, out)
	require.NoError(t, os.Rename("b.trace", "a.trace"))
	_, errs, code = heddle(t, "run", "r.yaml")
	require.Equal(t, exitOK, code, errs)
	require.NotContains(t, errs, "2 of 2 points known")
}

func TestTracesThatCannotBe(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("e.yaml", []byte(tracedExperiment+"compare: {workload.schedule: [vertex, edge]}\n"),
		0o644))
	require.NoError(t, os.WriteFile("no.trace",
		[]byte("this is none, though it is as long as the shortest one could be; and longer"), 0o644))
	for _, c := range []struct {
		says string
		args []string
	}{
		{"-o FILE: expected a file to write", []string{"record", "e.yaml"}},
		{"the experiment has 2 points, and one is recorded: expected 1 to 2", []string{"record", "e.yaml", "-o", "x.trace"}},
		{"--point 3", []string{"record", "e.yaml", "-o", "x.trace", "--point", "3"}},
		{"no.trace: is no trace of heddle", []string{"info", "no.trace"}},
		{"e.yaml: is no trace of heddle", []string{"dump", "e.yaml"}},
		{"no.trace:1: expected launch L, core C warp W", []string{"import", "no.trace", "-o", "x.trace"}},
		{"warps = 65: expected 1..64", []string{"import", "no.trace", "-o", "x.trace", "--warps", "65"}},
		{"-o FILE: expected a file to write", []string{"import", "no.trace"}},
		{"no such file", []string{"diff", "a.trace", "b.trace"}},
	} {
		_, errs, code := heddle(t, append([]string{"trace"}, c.args...)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, c.says)
	}
	_, _, code := heddle(t, "trace", "record", "e.yaml", "-o", "x.trace", "--point", "1", "--max-cycles", "100")
	require.Equal(t, exitNoProgress, code)
	left, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Len(t, left, 2, "an incomplete trace leaves no file")
}
