package documents

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// step matches a step of a recipe: a shell block, or Go text with what stands before it, which says where it goes.
var step = regexp.MustCompile("(?s)(?:(?:In|in)\\s+`([^`]+)`, below `([^`]+)`|At the end of `([^`]+)`|New file `([^`]+)`):\n\n```go\n(.*?)```|```sh\n(.*?)```")

// linkedOnce does what go run does, which links the program each time, and links it only if something has changed.
const linkedOnce = `run() { go build -ldflags=-w -o heddle-of-recipes ./cmd/heddle && ./heddle-of-recipes "$@"; }
`

// TestRecipes follows the recipes of CONTRIBUTING.md as they are written, in a copy of the repository; what they have
// changed passes the test of the generated pages, once these have been made again. No recipe changes the package of that
// test, so that it is not vetted, for which all that it imports would have to be.
func TestRecipes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a changed copy of the repository")
	}
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	require.NoError(t, err)
	_, recipes, found := strings.Cut(string(text), "# Recipes\n")
	require.True(t, found)
	steps := step.FindAllStringSubmatch(recipes, -1)
	require.Equal(t, strings.Count(recipes, "\n```go\n")+strings.Count(recipes, "\n```sh\n"), len(steps), "a block that no step names")
	require.Greater(t, len(steps), 15)
	dir := copyTree(t)
	commands := ""
	for _, m := range steps { // all edits first, so that everything is compiled once
		switch {
		case m[6] != "":
			commands += m[6]
		case m[1] != "":
			edit(t, filepath.Join(dir, m[1]), func(text string) string { return below(t, m[1], text, m[2], m[5]) })
		case m[3] != "":
			edit(t, filepath.Join(dir, m[3]), func(text string) string { return text + m[5] })
		default:
			require.NoError(t, os.WriteFile(filepath.Join(dir, m[4]), []byte(m[5]), 0o644))
		}
	}
	commands += generate(t)
	const run = "go run ./cmd/heddle "
	require.Contains(t, commands, run)
	c := exec.Command("sh", "-e", "-x", "-c", linkedOnce+strings.ReplaceAll(commands, run, "run ")+"go test -vet=off ./cmd -run TestGeneratedDocsAreCurrent\n")
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-pgo=off '-gcflags=heddle/...=-N -l'", "GOWORK=off") // what compiles fast
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// generate returns the commands of make docs, for hosts without make.
func generate(t *testing.T) (commands string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^\t\./heddle (.* > docs/.*)$`).FindAllStringSubmatch(string(text), -1) {
		commands += "go run ./cmd/heddle " + m[1] + "\n"
	}
	require.Equal(t, 5, strings.Count(commands, "\n"))
	return commands
}

func edit(t *testing.T, file string, change func(string) string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(change(string(text))), 0o644))
}

// below inserts text behind the first line that has an anchor.
func below(t *testing.T, file, text, anchor, insert string) string {
	t.Helper()
	at := strings.Index(text, anchor)
	require.GreaterOrEqual(t, at, 0, "%s has no %q", file, anchor)
	end := at + strings.IndexByte(text[at:], '\n') + 1
	return text[:end] + insert + text[end:]
}

// copyTree copies the repository's files, those that are not committed yet included.
func copyTree(t *testing.T) string {
	t.Helper()
	c := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	c.Dir = root
	list, err := c.Output()
	if err != nil {
		t.Skipf("this is no git repository: %v", err)
	}
	dir := t.TempDir()
	for _, name := range bytes.Split(bytes.TrimRight(list, "\x00"), []byte{0}) {
		from, to := filepath.Join(root, string(name)), filepath.Join(dir, string(name))
		text, err := os.ReadFile(from)
		if os.IsNotExist(err) { // deleted, and not yet committed
			continue
		}
		require.NoError(t, err)
		info, err := os.Stat(from)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, text, info.Mode().Perm()))
	}
	return dir
}
