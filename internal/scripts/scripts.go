// Package scripts runs the scripts of units' tests: files with commands, each followed by its expected trace.
package scripts

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the expected traces of testdata/*.txt")

// Play runs each file that matches the pattern, and compares the traces. play receives a file's commands, with comments
// and empty lines, and returns them with their traces below, in lines that begin with Indent.
func Play(t *testing.T, pattern string, play func(t *testing.T, commands []string) []string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			got := strings.Join(play(t, commands(string(want))), "\n") + "\n"
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			}
			assert.Equal(t, string(want), got)
		})
	}
}

// Indent begins the lines of traces.
const Indent = "    "

// commands returns the lines that are not traces.
func commands(text string) (list []string) {
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if !strings.HasPrefix(line, Indent) {
			list = append(list, line)
		}
	}
	return list
}
