package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/version"
)

// TestManual: every command that users see has a page, with its flags, and pages are the same each time.
func TestManual(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "man1")
	_, errs, code := heddle(t, "man", dir)
	require.Equal(t, exitOK, code, errs)
	text, err := os.ReadFile(filepath.Join(dir, "heddle-run.1"))
	require.NoError(t, err)
	for _, s := range []string{".TH \"HEDDLE-RUN\" \"1\"", "heddle-run - ", `\fB--dry-run\fP`} {
		require.Contains(t, string(text), s)
	}
	root := newRoot()
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			require.FileExists(t, filepath.Join(dir, "heddle-"+c.Name()+".1"))
		}
	}
	require.NoFileExists(t, filepath.Join(dir, "heddle-cli.1"), "hidden")
	_, _, code = heddle(t, "man", dir)
	require.Equal(t, exitOK, code)
	again, err := os.ReadFile(filepath.Join(dir, "heddle-run.1"))
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
}

func TestVersion(t *testing.T) {
	out, _, code := heddle(t, "--version")
	require.Equal(t, exitOK, code)
	require.Equal(t, "heddle "+version.Line()+"\n", out)
}
