package documents

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/experiment/config"
)

// root is the repository, as seen from this package.
const root = "../.."

// pages returns the repository's documents by their paths from its root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && strings.HasPrefix(name, ".") && name != ".github" ||
			d.IsDir() && name == "results" && filepath.Dir(path) == root {
			return filepath.SkipDir
		}
		if filepath.Ext(name) == ".md" {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			relative, err := filepath.Rel(root, path)
			all[filepath.ToSlash(relative)] = string(text)
			return err
		}
		return nil
	}))
	require.Greater(t, len(all), 20)
	return all
}

var (
	codeBlock = regexp.MustCompile("(?ms)^(```|~~~).*?^(```|~~~)\\s*$|^(    |\t).*?$")
	inline    = regexp.MustCompile("`[^`\n]*`")
	link      = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)|(?:src|srcset|href)="([^"]+)"`)
	heading   = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *#*$`)
	anchor    = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	fenced    = regexp.MustCompile("(?ms)^```.*?^```")
	linked    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	scheme    = regexp.MustCompile(`^[a-z]+:`)
)

// slug is the anchor that GitHub, GitLab and Gitea give a heading.
func slug(heading string) string {
	heading = linked.ReplaceAllString(heading, "$1")
	var b strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// anchors returns the valid anchors of a page.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	text = fenced.ReplaceAllString(text, "")
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		s := slug(m[1])
		for i := 1; all[s]; i++ {
			s = fmt.Sprintf("%s-%d", slug(m[1]), i)
		}
		all[s] = true
	}
	for _, m := range anchor.FindAllStringSubmatch(text, -1) {
		all[m[1]] = true
	}
	return all
}

// broken returns the links of a page that lead nowhere within the repository.
func broken(pages map[string]string, page string) (bad []string) {
	known := map[string]map[string]bool{} // anchors, by page
	text := inline.ReplaceAllString(codeBlock.ReplaceAllString(pages[page], ""), "`")
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		to := m[1] + m[2]
		if scheme.MatchString(to) {
			continue
		}
		file, fragment, _ := strings.Cut(to, "#")
		target := page
		if file != "" {
			target = filepath.ToSlash(filepath.Join(filepath.Dir(page), file))
		}
		if known[target] == nil {
			known[target] = anchors(pages[target])
		}
		_, there := pages[target]
		if _, err := os.Stat(filepath.Join(root, target)); err == nil {
			there = true
		}
		if !there || strings.HasPrefix(target, "../") || fragment != "" && !known[target][fragment] {
			bad = append(bad, to)
		}
	}
	return bad
}

// TestLinks: every relative link of a document leads to a file of the repository, and its fragment to a heading there.
func TestLinks(t *testing.T) {
	all := pages(t)
	for page := range all {
		assert.Empty(t, broken(all, page), page)
	}
}

// TestBroken: the check finds broken links.
func TestBroken(t *testing.T) {
	all := map[string]string{"docs/x.md": "# One `two`: three\n# A\n# A\n[a](x.md#one-two-three) [b](#a-1) [c](https://x.org/y) [d](../README.md)\n" +
		"[e](y.md) ![f](#b) [g](../../outside.md) <img src=\"no.svg\">\n```\n# b\n[h](no.md)\n```\n"}
	require.Equal(t, []string{"y.md", "#b", "../../outside.md", "no.svg"}, broken(all, "docs/x.md"))
}

// TestREADME: the page that everybody sees first is short, and names the two commands that CI runs or this test does.
func TestREADME(t *testing.T) {
	text := pages(t)["README.md"]
	require.LessOrEqual(t, len(strings.Fields(text)), 800, "words; the rest belongs below docs/")
	commands := regexp.MustCompile(`(?m)^    (go (?:run|test) .*)$`).FindAllStringSubmatch(text, -1)
	require.Len(t, commands, 2, "run and test")
	ci, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	require.NoError(t, err)
	require.Contains(t, string(ci), "\n"+commands[1][1]+"\n", "CI runs the README's command")
	require.FileExists(t, filepath.Join(root, strings.Fields(commands[0][1])[4]))
	yaml := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(text)[1]
	l, err := config.Parse("README.md", []byte(yaml))
	require.NoError(t, err)
	shipped, err := config.Load("quickstart", nil, nil)
	require.NoError(t, err)
	require.Equal(t, shipped.Value, l, "the README's experiment is the shipped one")
}

// TestNothingPrivate: no document names things that exist only on the authors' machines.
func TestNothingPrivate(t *testing.T) {
	for page, text := range pages(t) {
		assert.NotContains(t, text, "../shared", page)
	}
}

// generated matches the pages that programs write: references, outcomes, and golden files of tests.
var generated = regexp.MustCompile(`^docs/(reference/(cli|configuration|statistics|isa)|results/(validation|ugf-table6.4|silicon|silicon-own|silicon-kept|reproduction.*)|design/speed)\.md$|/testdata/schema\.md$`)

// tables matches text that a command has written into a page, which names the command where it begins.
var tables = regexp.MustCompile("(?s)<!-- heddle [a-z ]+ -->\n.*?<!-- end -->\n")

// TestLength: the hand-written documentation has a bounded length. Of hardware-vs-tuned, only the text before the
// study's tables counts.
func TestLength(t *testing.T) {
	const longest, comparison, gpu = 45_000, "docs/results/hardware-vs-tuned.md", "docs/guide/gpu.md"
	words, all := 0, pages(t)
	prose, _, found := strings.Cut(all[comparison], "\n### Graphs\n")
	require.True(t, found)
	all[comparison] = prose
	prose, table, found := strings.Cut(all[gpu], "| measured |") // which a test of sim writes
	require.True(t, found)
	_, rest, _ := strings.Cut(table, "\n\n")
	all[gpu] = prose + rest
	for page, text := range all {
		if !generated.MatchString(page) {
			text = tables.ReplaceAllString(text, "")
			words += len(strings.Fields(text))
		}
	}
	t.Logf("%d words", words)
	require.LessOrEqual(t, words, longest, "words of all pages that are not generated: say nothing twice")
}

// sourcePath matches a file or a folder of the source in a code span, by its path from the root.
var sourcePath = regexp.MustCompile("`((?:cmd|components|configs|docs|examples|experiment|graphit|internal|" +
	"isa|kernels?|machine|register|sim|traces|units)/[a-z0-9_./-]+)`")

// TestSourcePaths: a file or folder that a page names by its path is there. The recipes make some anew.
func TestSourcePaths(t *testing.T) {
	seen := 0
	for page, text := range pages(t) {
		if generated.MatchString(page) {
			continue
		}
		if page == "CONTRIBUTING.md" {
			text, _, _ = strings.Cut(text, "# Recipes\n")
		}
		for _, m := range sourcePath.FindAllStringSubmatch(text, -1) {
			_, err := os.Stat(filepath.Join(root, m[1]))
			assert.NoError(t, err, "%s names %s", page, m[1])
			seen++
		}
	}
	require.Greater(t, seen, 60)
}
