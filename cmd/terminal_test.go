package cmd

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/experiment/config"
)

// Tables are as wide as --columns; columns that have no room are named.
func TestTablesFitTheTerminal(t *testing.T) {
	someResults(t)
	for _, args := range [][]string{
		{"run", "e.yaml", "--quiet"}, {"results", "list"}, {"results", "list", "a"}, {"results", "show", "a", "1"},
		{"results", "show", "a", "1", "--steps"}, {"config", "list"}, {"reproduce"}, {"kernel", "choices"},
		{"config", "schema", "core"}, {"config", "schema"}, {"stats", "describe"}, {"isa"}, {"graph", "fetch"},
		{"run", "--help"}, {"tune", "--help"}, {"graph", "--help"},
	} {
		wide, errs, code := heddle(t, args...)
		require.Equal(t, exitOK, code, errs)
		require.NotContains(t, wide, "no room for")
		out, errs, code := heddle(t, append(args, "--columns", "80")...)
		require.Equal(t, exitOK, code, errs)
		for _, line := range strings.Split(out, "\n") {
			// 64 digits; to be copied
			if strings.HasPrefix(line, "graph     sha256 ") || strings.HasPrefix(line, "  heddle ") {
				continue
			}
			require.LessOrEqual(t, utf8.RuneCountInString(line), 80, "%v\n%s", args, out)
		}
	}
	out, errs, _ := heddle(t, "run", "e.yaml", "--quiet", "--columns", "80")
	require.Empty(t, errs, "no progress")
	require.Contains(t, out, "verified")
	require.Regexp(t, `no room for: (.|\n)*edges/cycle\s+\(--columns\s+0\s+shows\s+all\)`, out)
	require.NotContains(t, out, "results in")
	_, errs, code := heddle(t, "results", "list", "--columns", "-3")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "--columns -3: expected 0..10000")
}

func TestConfigOfAPoint(t *testing.T) {
	someResults(t)
	out, errs, code := heddle(t, "config", "show", "e.yaml", "--point", "2")
	require.Equal(t, exitOK, code, errs)
	require.True(t, strings.HasPrefix(out, "# Point 2 of e.yaml: schedule=edge damping=0.5\nname: a\n"), out)
	require.Equal(t, results(t, "show", "a", "2", "--config"), out[strings.Index(out, "\n")+1:],
		"the stored configuration")
	_, errs, code = heddle(t, "config", "show", "e.yaml", "--point", "5")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "--point 5: expected 1..4")
	_, errs, code = heddle(t, "config", "show", "vortex-1c4w4t", "--point", "1")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "a machine has no points")
}

func TestSchemaFilter(t *testing.T) {
	out, errs, code := heddle(t, "config", "schema", "alwt")
	require.Equal(t, exitOK, code, errs)
	require.Equal(t,
		"machine.core.graphpeg.alwt_entries\n    integer, entries; 1..65536; default 24\n    Entries of the adjacency list "+
			"working table. GraphPEG §4.2: 24; many stand for its unlimited\n    table.\n", out)
	_, errs, code = heddle(t, "config", "schema", "no_such")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, `no key has "no_such" in its path`)
}

// The first sentence of every preset's file describes it.
func TestConfigList(t *testing.T) {
	out, errs, code := heddle(t, "config", "list")
	require.Equal(t, exitOK, code, errs)
	for _, n := range configs.MachineNames() {
		require.NotEmpty(t, configs.AboutMachine(n), n)
		require.Contains(t, out, "machine    "+n+" ")
	}
	for _, n := range config.Names() {
		require.NotEmpty(t, config.About(n), n)
	}
}

func TestCompletion(t *testing.T) {
	someResults(t)
	for _, c := range []struct{ typed, want string }{
		{"run quick", "quickstart\n"}, {"config draw vortex-rtl-m", "vortex-rtl-m6\n"},
		{"run x --set machine.core.weaver.table", "machine.core.weaver.table_latency=\n"},
		{"reproduce graphpeg/fig7", "graphpeg/fig7\n"}, {"results show ", "a\nb\n"},
		{"run x --launcher s", "slurm\n"}, {"exec x.s --machine vortex-rtl-m", "vortex-rtl-m6\n"},
	} {
		out, _, code := heddle(t, append([]string{"__complete"}, strings.Split(c.typed, " ")...)...)
		require.Equal(t, exitOK, code)
		require.True(t, strings.HasPrefix(out, c.want), "%s: %s", c.typed, out)
	}
}

// A dry run lists the known points, and changes nothing.
func TestDryRunKnowsPoints(t *testing.T) {
	someResults(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "4 points known"},
		{[]string{"--set", "name=other"}, "4 points known (4 from a)"},
		{[]string{"--set", "name=other", "--out", "none"}, "4 points, 4 to run"},
		{[]string{"--set", "name=other", "--out", "none", "--results", "results"}, "4 points known (4 from a)"},
		{[]string{"--fresh"}, "4 points, 4 to run"},
		{[]string{"--set", "machine.l1d.ways=1"}, "4 points, 4 to run"},
	} {
		out, errs, code := heddle(t, append([]string{"run", "e.yaml", "--dry-run"}, c.args...)...)
		require.Equal(t, exitOK, code, errs)
		require.Contains(t, out, c.says, "%v", c.args)
	}
	require.NoDirExists(t, "none")
	require.NoDirExists(t, "results/other")
	require.NoError(t, os.RemoveAll("results/a"))
	out, errs, code := heddle(t, "run", "e.yaml", "--dry-run")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "4 points, 4 to run")
	require.NoDirExists(t, "results/a")
	for _, args := range [][]string{
		{"--recheck", "1"}, {"--recheck", "0%"}, {"--recheck", "101%"}, {"--recheck", "1%", "--fresh"},
		{"--reuse-version", "abc"}, {"--reuse-version", "0123456", "--fresh"}, {"--results", "e.yaml"},
	} {
		_, errs, code := heddle(t, append([]string{"run", "e.yaml"}, args...)...)
		require.Equal(t, exitUsage, code, "%v", args)
		require.Contains(t, errs, "expected", "%v", args)
	}
}

// --set of a key that every point sets itself has no effect, which a warning reports.
func TestSetThatHasNoEffect(t *testing.T) {
	someResults(t)
	const says = "--set workload.algorithm.damping=0.6 has no effect: the experiment's compare or sweep sets " +
		"workload.algorithm.damping\n"
	for set, want := range map[string]string{"workload.algorithm.damping=0.6": says,
		"sweep={workload.algorithm.damping: [0.5]}": "",
		"machine.l1d.ways=1":                        ""} {
		_, errs, code := heddle(t, "run", "e.yaml", "--dry-run", "--fresh", "--set", set)
		require.Equal(t, exitOK, code, errs)
		require.Equal(t, want, strings.TrimPrefix(errs, "heddle: warning: "))
	}
}
