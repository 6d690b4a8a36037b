package documents

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// step matches a step of a recipe: a shell block, or Go text with the words before it, which name its place.
var step = regexp.MustCompile("(?s)(?:(?:In|in)\\s+`([^`]+)`, below `([^`]+)`|At the end of `([^`]+)`|New file " +
	"`([^`]+)`):\n\n```go\n(.*?)```|```sh\n(.*?)```")

// TestRecipes follows the recipes of CONTRIBUTING.md as they are written, in a copy of the repository, and makes the
// generated pages. Changes of files come first, so that everything is compiled and linked once; without
// testenv.LongVariable, only they are made, and what they change must be Go.
func TestRecipes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	require.NoError(t, err)
	_, recipes, found := strings.Cut(string(text), "# Recipes\n")
	require.True(t, found)
	steps := step.FindAllStringSubmatch(recipes, -1)
	require.Equal(t, strings.Count(recipes, "\n```go\n")+strings.Count(recipes, "\n```sh\n"), len(steps),
		"a block that no step names")
	require.Greater(t, len(steps), 15)
	dir := copyTree(t)
	commands := ""
	changed := map[string]bool{}
	for _, m := range steps {
		switch {
		case m[6] != "":
			commands += m[6]
			continue
		case m[1] != "":
			edit(t, filepath.Join(dir, m[1]), func(text string) string { return below(t, m[1], text, m[2], m[5]) })
		case m[3] != "":
			edit(t, filepath.Join(dir, m[3]), func(text string) string { return text + m[5] })
		default:
			require.NoError(t, os.WriteFile(filepath.Join(dir, m[4]), []byte(m[5]), 0o644))
		}
		changed[m[1]+m[3]+m[4]] = true
	}
	for file := range changed {
		_, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, file), nil, parser.SkipObjectResolution)
		require.NoError(t, err, file)
	}
	var edits, updates, others []string
	for _, c := range whole(commands) {
		switch {
		case !strings.HasPrefix(c, "go "):
			edits = append(edits, c)
		case strings.HasSuffix(c, " -update\n"):
			updates = append(updates, c)
		default:
			others = append(others, c)
		}
	}
	for _, list := range [][]string{edits, updates, others} {
		require.NotEmpty(t, list)
	}
	others = append(others, generate(t)...)
	testenv.NeedLong(t, "it builds a changed copy of the repository")
	const run, built = "go run ./cmd/heddle ", "./heddle-of-recipes "
	script := strings.Join(slices.Concat(edits, updates,
		[]string{"go build -ldflags=-w -o " + built + "./cmd/heddle\n"}, others), "")
	require.Greater(t, strings.Count(script, run), 10)
	c := exec.Command("sh", "-e", "-x", "-c", strings.ReplaceAll(script, run, built))
	c.Dir = dir
	// Flags that compile fast, into a build cache that serves the next copy too, wherever it is; and the tests that a
	// reader of the recipes runs.
	c.Env = append(os.Environ(), testenv.LongVariable+"=", "GOWORK=off",
		"GOFLAGS=-vet=off -trimpath -pgo=off '-gcflags=heddle/...=-N -l' -gcflags=heddle/isa=")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Run("unit", func(t *testing.T) { addedUnit(t, filepath.Join(dir, strings.TrimSpace(built))) })
}

// whole splits a script into its commands, each with the text that it reads.
func whole(script string) (commands []string) {
	end := ""
	for line := range strings.Lines(script) {
		if end == "" {
			commands = append(commands, "")
			if _, word, here := strings.Cut(line, "<<'"); here {
				end, _, _ = strings.Cut(word, "'")
			}
		} else if line == end+"\n" {
			end = ""
		}
		commands[len(commands)-1] += line
	}
	return commands
}

// TestGeneratedPages: make docs makes the pages that a test finds current.
func TestGeneratedPages(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "cmd", "main_test.go"))
	require.NoError(t, err)
	var tested []string
	for _, m := range regexp.MustCompile(`"run (go run \./cmd/heddle .* > docs/.*)"`).FindAllStringSubmatch(string(text),
		-1) {
		tested = append(tested, m[1]+"\n")
	}
	require.ElementsMatch(t, tested, generate(t))
}

// generate returns the commands of make docs, for hosts without make.
func generate(t *testing.T) (commands []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^\t\./heddle (.* > docs/.*)$`).FindAllStringSubmatch(string(text), -1) {
		commands = append(commands, "go run ./cmd/heddle "+m[1]+"\n")
	}
	require.Len(t, commands, 5)
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
