package cmd

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
)

// TestUnitsHaveTwoNames: wherever a user names a unit, its key and its name mean the same.
func TestUnitsHaveTwoNames(t *testing.T) {
	t.Chdir(t.TempDir())
	shown := func(args ...string) string {
		t.Helper()
		out, errs, code := heddle(t, append([]string{"config", "show"}, args...)...)
		require.Equal(t, exitOK, code, errs)
		return regexp.MustCompile(` # .*`).ReplaceAllString(out, "") // without the values' origins
	}
	want := shown("vortex-1c4w4t-graphpeg", "--set", "core.graphpeg.alwt_entries=8")
	require.Contains(t, want, "graphpeg:")
	require.Equal(t, want, shown("vortex-1c4w4t-peg", "--set", "core.peg.alwt_entries=8"))
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	write("m.yaml", "extends: vortex-1c4w4t-peg\ncore: {peg: {alwt_entries: 8}}\n")
	require.Equal(t, want, shown("./m.yaml"))
	t.Setenv("HEDDLE_CORE__PEG__ALWT_ENTRIES", "8")
	require.Equal(t, want, shown("vortex-1c4w4t-peg"))
	require.NoError(t, os.Unsetenv("HEDDLE_CORE__PEG__ALWT_ENTRIES"))

	const experiment = `
name: NAME
machine: vortex-1c4w4t-NAME
graph: {erdos_renyi: {vertices: 60, edges: 200}}
workload: {algorithm: bfs, recipe: NAME}
sweep: {machine.core.NAME.alwt_entries: [4, 8]}
`
	for _, name := range []string{"peg", "graphpeg"} {
		write("e.yaml", strings.ReplaceAll(experiment, "NAME", name))
		_, errs, code := heddle(t, "run", "./e.yaml")
		require.Equal(t, exitOK, code, errs)
	}
	require.Equal(t, results(t, "sql", "graphpeg", "SELECT key, value FROM axes"),
		results(t, "sql", "peg", "SELECT key, value FROM axes"))
	require.Equal(t, results(t, "sql", "graphpeg", "SELECT identity, cycles FROM points"),
		results(t, "sql", "peg", "SELECT identity, cycles FROM points"), "and is known")
	table := []string{"table", "peg", "--rows", "machine.core.graphpeg.alwt_entries", "--value"}
	require.Equal(t, results(t, append(table, "peg.gets")...), results(t, append(table, "graphpeg.gets")...))
	gets := results(t, "show", "peg", "1", "--stats", `^peg\.gets$`)
	require.Contains(t, gets, "peg.gets")
	require.Equal(t, gets, results(t, "show", "peg", "1", "--stats", `^graphpeg\.gets$`))

	write("twice.yaml", "extends: vortex-1c4w4t\ncore:\n  peg: {}\n  graphpeg: {}\n")
	_, errs, _ := heddle(t, "config", "check", "./twice.yaml")
	require.Contains(t, errs, "duplicate key")
	for _, typed := range []string{"pegg", "graphpge"} {
		write("typo.yaml", "extends: vortex-1c4w4t\ncore: {"+typed+": {}}\n")
		_, errs, _ = heddle(t, "config", "check", "./typo.yaml")
		require.Regexp(t, "did you mean core.(graph)?peg\\?", errs)
	}
	for _, key := range []string{"--peg", "--graphpeg"} {
		_, errs, _ = heddle(t, "exec", "no-such.elf", "--functional", key, "--weaver")
		require.NotContains(t, errs, "unknown flag")
	}
	require.Equal(t, "core*.graphpeg=alwt", unitWords.ReplaceAllStringFunc("core*.peg=alwt", accel.KeyOf))
	require.Equal(t, "core0.peg.gets", accel.StatisticOf("core0.graphpeg.gets"))
}
