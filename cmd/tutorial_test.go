package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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

// smallGraph writes small.txt, whose simulation takes no time.
func smallGraph(t *testing.T) {
	t.Helper()
	var edges strings.Builder
	for i := range 300 {
		fmt.Fprintf(&edges, "%d %d\n", i%60, (i*i+7)%60)
	}
	require.NoError(t, os.WriteFile("small.txt", []byte(edges.String()), 0o644))
}

// play runs a command line of a page, and returns what it prints.
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
