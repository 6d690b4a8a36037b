package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// fence matches a block of docs/guide/tutorial.md.
var fence = regexp.MustCompile("(?s)```(yaml|sh)\n(.*?)```")

// words splits a command line as a shell does, as far as the tutorial needs it.
var word = regexp.MustCompile(`"[^"]*"|\S+`)

// TestTutorial runs every command of docs/guide/tutorial.md, on a graph and a machine that take no time.
func TestTutorial(t *testing.T) {
	text, err := os.ReadFile("../docs/guide/tutorial.md")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	smallGraph(t)
	commands := 0
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		if m[1] == "yaml" {
			small := strings.NewReplacer("facebook_combined", "./small.txt", "vortex-6c32w32t-weaver",
				"vortex-1c4w4t-weaver").Replace(m[2])
			require.NotEqual(t, m[2], small)
			require.NoError(t, os.WriteFile("weaver-table.yaml", []byte(small), 0o644))
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(m[2]), "\n") {
			require.NotContains(t, play(t, line), "NO: ", line)
			commands++
		}
	}
	require.Equal(t, 14, commands)
	for _, f := range []string{"report.html", "figures/over-machine-core-weaver-st_entries-cycles.svg"} {
		require.FileExists(t, filepath.Join("results", "weaver-table", f))
	}
	require.FileExists(t, "table.pdf")
}

// TestTutorialNumbers runs the commands as they are: their output has the tables of docs/guide/tutorial.md, and the
// numbers in its text.
func TestTutorialNumbers(t *testing.T) {
	testenv.NeedLong(t, "it simulates 24 points of 110,000 cycles on 6 cores; TestTutorial follows the page on a small "+
		"graph")
	data, err := os.ReadFile("../docs/guide/tutorial.md")
	require.NoError(t, err)
	text := strings.Join(strings.Fields(string(data)), " ")
	t.Chdir(t.TempDir())
	const plainRun = "heddle run ./weaver-table.yaml"
	printed := map[string]string{} // by the command
	for _, m := range fence.FindAllStringSubmatch(string(data), -1) {
		if m[1] == "yaml" {
			require.NoError(t, os.WriteFile("weaver-table.yaml", []byte(m[2]), 0o644))
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(m[2]), "\n") {
			printed[line] = play(t, line)
		}
	}
	of := func(command string) string {
		for line, out := range printed {
			if line == command || strings.HasPrefix(line, command+" ") && command != plainRun {
				return strings.Join(strings.Fields(strings.ReplaceAll(out, "│", "|")), " ")
			}
		}
		require.Fail(t, command)
		return ""
	}
	rows := 0
	for _, m := range tutorialRow.FindAllStringSubmatch(string(data), -1) {
		require.Regexp(t, fmt.Sprintf(`\| %s \| %s \| %s \| .*\b%s \|.* %s`, m[1], m[2], m[3], m[4], m[5]),
			rowOf(of(plainRun), m[1], m[2]))
		rows++
	}
	require.Equal(t, 5, rows)
	require.Equal(t, 12, strings.Count(of("heddle results sql"), "| 176468 |"))
	for command, numbers := range map[string][]string{
		"heddle results sql":                          {"176,468 operations"},
		plainRun + " --set name=weaver-table-combine": {"81,446", "83,512", "78,728", "78,622"},
		plainRun + " --set name=weaver-table-seeds":   {"128,344 ± 3,866", "126,006 ± 5,062"},
		"heddle results table weaver-table-seeds":     {"2,338 ± 1,198"},
	} {
		for _, n := range numbers {
			require.Contains(t, text, n)
			if command != "heddle results sql" {
				require.Contains(t, of(command), n)
			}
		}
	}
}

// tutorialRow matches a row of the tutorial's table of results.
var tutorialRow = regexp.MustCompile(`(?m)^\| (\d+) \| (\d+) \| ([\d,]+) \| ([\d.]+) \| (memory \d+ %) \|$`)

// rowOf returns the row of a printed table that begins with two cells.
func rowOf(table, first, second string) string {
	_, after, _ := strings.Cut(table, "| "+first+" | "+second+" |")
	line, _, _ := strings.Cut(after, "yes")
	return "| " + first + " | " + second + " |" + line
}

// smallGraph writes small.txt, whose simulation takes no time.
func smallGraph(t *testing.T) {
	t.Helper()
	var edges strings.Builder
	for i := range 300 {
		fmt.Fprintf(&edges, "%d %d\n", i%60, (i*i+7)%60)
	}
	require.NoError(t, os.WriteFile("small.txt", []byte(edges.String()), 0o644))
}

// play runs a command line of a page, and returns its output.
func play(t *testing.T, line string) string {
	t.Helper()
	args := word.FindAllString(line, -1)
	require.Equal(t, "heddle", args[0], line)
	for i, a := range args {
		args[i] = strings.Trim(a, `"`)
	}
	out, errs, code := heddle(t, args[1:]...)
	require.Equal(t, exitOK, code, "%s\n%s", line, errs)
	return out
}
