package cmd

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	shellBlock  = regexp.MustCompile("(?s)\n```sh\n(.*?)```")
	commandLine = regexp.MustCompile(`(?m)^    (?:go run \./cmd/)?heddle ([a-z].*)$`)
	longFlag    = regexp.MustCompile(`^--([a-z0-9-]+)(=.*)?$`)
)

// TestDocumentedCommands: every command line of a document names a command that there is, with flags that it has. The
// tutorial, slow.md and others are run as well.
func TestDocumentedCommands(t *testing.T) {
	pages := []string{"../README.md", "../CONTRIBUTING.md"}
	require.NoError(t, filepath.WalkDir("../docs", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" && !strings.HasPrefix(path, "../docs/reference/cli") {
			pages = append(pages, path)
		}
		return err
	}))
	root, lines := newRoot(), 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		code := shellBlock.ReplaceAllStringFunc(strings.ReplaceAll(string(text), "\\\n", " "),
			func(block string) string {
				return strings.ReplaceAll(block, "\n", "\n    ")
			})
		for _, m := range commandLine.FindAllStringSubmatch(code, -1) {
			line, _, _ := strings.Cut(m[1], " #")
			args := word.FindAllString(line, -1)
			c, _, err := root.Find(args)
			if !assert.NoError(t, err, "%s: heddle %s", page, m[1]) ||
				!assert.NotEqual(t, root, c, "%s: heddle %s", page, m[1]) {
				continue
			}
			lines++
			c.InitDefaultHelpFlag()
			for _, a := range args {
				if f := longFlag.FindStringSubmatch(a); f != nil {
					assert.NotNil(t, c.Flag(f[1]), "%s: heddle %s: no flag --%s", page, m[1], f[1])
				}
			}
		}
	}
	require.Greater(t, lines, 80)
}

// sources lists the files of all packages but tests' by go list, which go test does not take for the test's input: it
// would for the root directory, which has another time with every commit, and no result of this package would be
// cached.
func sources(t *testing.T) []string {
	t.Helper()
	list, err := exec.Command("go", "-C", "..", "list", "-f", "{{range .GoFiles}}{{$.Dir}}/{{.}}\n{{end}}",
		"./...").Output()
	require.NoError(t, err)
	return strings.Fields(string(list))
}

// Help and messages name commands that there are.
func TestCommandsInMessages(t *testing.T) {
	groups := map[string]*cobra.Command{}
	for _, c := range newRoot().Commands() {
		if c.HasSubCommands() {
			groups[c.Name()] = c
		}
	}
	mention, seen := regexp.MustCompile(`\bheddle ([a-z]+) ([a-z]+)`), 0
	for _, path := range sources(t) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range mention.FindAllStringSubmatch(string(text), -1) {
			if group := groups[m[1]]; group != nil && m[2] != "and" {
				c, _, err := group.Find([]string{m[2]})
				assert.True(t, err == nil && c != group, "%s: %s", path, m[0])
				seen++
			}
		}
	}
	require.Greater(t, seen, 50)
}
