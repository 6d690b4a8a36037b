package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graphit/programs"
	"heddle/internal/testenv"
)

// surveyFolder writes a folder with programs, a schedule, a test that names both, and a graph.
func surveyFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	const head = "element Vertex end\nelement Edge end\nconst edges : edgeset{Edge}(Vertex,Vertex) = " +
		"load(\"../any/4.el\");\n" +
		"const vertices : vertexset{Vertex} = edges.getVertices();\nconst A : vector{Vertex}(int) = 0;\n"
	const step = "func f(s : Vertex, d : Vertex)\n A[d] += 1;\nend\nfunc main()\n #s1# edges.apply(f);\nend\n"
	for name, text := range map[string]string{
		"test/graphs/4.el":                  "0 1\n1 2\n2 0\n3 1\n",
		"test/input/good.gt":                head + step,
		"test/input/wrong.gt":               head + "func main()\n print A;\nend\n",
		"test/input/broken.gt":              "func main(\x00",
		"test/input/endless.gt":             head + "func main()\n while true\n print 1;\n end\nend\n",
		"test/input/deep.gt":                head + "func main()\n print " + strings.Repeat("(", 5000) + ";\nend\n",
		"test/input/extern.gt":              head + "extern func g(v : Vertex);\nfunc main()\n vertices.apply(g);\nend\n",
		"test/input/extern.extern.gt":       "func g(v : Vertex)\n A[v] = 7;\nend\n",
		"test/input/lost.gt":                strings.Replace(head, "4.el", "none.el", 1) + step,
		"test/input_with_schedules/push.gt": "schedule:\n program->configApplyDirection(\"s1\", \"SparsePush\");\n",
		"test/input_with_schedules/free.gt": "schedule:\n program->configApplyDirection(\"s1\", \"SparsePush\");\n",
		"test/python/test.py": "    def good_test(self, name):\n        self.compile(\"good.gt\", name)\n" +
			"    def test_it(self):\n        self.good_test(\"push.gt\")\n",
	} {
		to := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, []byte(text), 0o600))
	}
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "loop")))
	return dir
}

// TestGtSurvey: a survey says of every program how far it comes, and why no further, and none stops it.
func TestGtSurvey(t *testing.T) {
	testenv.NeedSlow(t, "it compiles and runs programs")
	dir := surveyFolder(t)
	out, errs, code := heddle(t, "gt", "survey", dir, "--json", "--limit", "300ms")
	require.Equal(t, 0, code, errs)
	require.Empty(t, errs)
	var list []surveyed
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	got := map[string]surveyed{}
	for _, x := range list {
		got[filepath.Base(x.Program+x.Schedule)] = x
	}
	require.Len(t, got, 9)
	for name, want := range map[string]struct {
		stages string
		reason string
	}{
		"good.gt": {"pcrv", ""}, "push.gt": {"pcrv", ""}, "extern.gt": {"pcrv", ""},
		"wrong.gt":   {"p", "7:8: vector{Vertex}(int) cannot be printed"},
		"broken.gt":  {"", "unexpected character"},
		"deep.gt":    {"", "nested more than 200 deep"},
		"endless.gt": {"pc", "not done after 300ms"},
		"lost.gt":    {"pc", "the graph none.el is not in the folder"},
		"free.gt":    {"p", "a schedule alone"},
	} {
		x := got[name]
		stages := ""
		for i, b := range []bool{x.Parses, x.Checks, x.Runs, x.Verified} {
			if b {
				stages += "pcrv"[i : i+1]
			}
		}
		require.Equal(t, want.stages, stages, "%s: %s", name, x.Reason)
		require.Contains(t, x.Reason, want.reason)
	}
	out, errs, code = heddle(t, "gt", "survey", dir, "--limit", "300ms", "--markdown")
	require.Equal(t, 0, code, errs)
	require.Contains(t, out, "\ntest/input_with_schedules, with the programs that tests name:\n\n| program |")
	require.Contains(t, out, "| good + push | yes | yes | yes | yes |  |\n| **of 1** | 1 | 1 | 1 | 1 | |\n")
	require.Contains(t, out, "| wrong | yes | no | no | no | 7:8: vector{Vertex}(int) cannot be printed")
	out, errs, code = heddle(t, "gt", "survey", dir, "--match", "good", "--draw", "12", "--json")
	require.Equal(t, 0, code, errs)
	var drawn []gtDrawn
	require.NoError(t, json.Unmarshal([]byte(out), &drawn))
	require.Len(t, drawn, 1)
	require.Equal(t, 12, drawn[0].Drawn)
	require.Positive(t, drawn[0].Verified)
	require.Zero(t, drawn[0].Failed, drawn[0].Failures)
	_, _, code = heddle(t, "gt", "survey", dir, "--json", "--markdown")
	require.Equal(t, 2, code)
	out, errs, code = heddle(t, "gt", "survey", dir, "--limit", "300ms")
	require.Equal(t, 0, code, errs)
	for _, line := range strings.Split(out, "\n") {
		require.LessOrEqual(t, len([]rune(line)), 80, line)
	}
	for _, args := range [][]string{{filepath.Join(dir, "none")}, {dir, "--match", "("}, {dir, "--limit", "-1s"},
		{dir, "--match", "zzz"}} {
		_, _, code = heddle(t, append([]string{"gt", "survey"}, args...)...)
		require.Equal(t, 2, code, args)
	}
}

// TestPointed: an error of a program has its line, with a mark below the column.
func TestPointed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "p.gt")
	require.NoError(t, os.WriteFile(name, []byte("func main()\n\tprint x;\nend\n"), 0o600))
	_, errs, code := heddle(t, "gt", "check", name)
	require.Equal(t, 2, code)
	require.Contains(t, errs, "p.gt:2:8: there is no x\n     print x;\n           ^\n")
	require.Equal(t, "    …"+strings.Repeat("a", 60)+"b"+strings.Repeat("c", 99)+"…\n    "+strings.Repeat(" ", 61)+"^",
		marked(strings.Repeat("a", 500)+"b"+strings.Repeat("c", 500), 501))
	require.Empty(t, marked("abc", 9))
	require.Empty(t, marked("", 1))
}

// TestDrawnSchedules: heddle's own programs are right, or refused by name, under schedules that are drawn.
func TestDrawnSchedules(t *testing.T) {
	dir := t.TempDir()
	for _, name := range programs.Names() {
		src, err := programs.Source(name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".gt"), src, 0o600))
	}
	var text, weighted strings.Builder
	for v := range 60 {
		for _, w := range []int{(v*7 + 3) % 60, (v * 5) % 60, v / 2} {
			fmt.Fprintf(&text, "%d %d\n%d %d\n", v, w, w, v)
			fmt.Fprintf(&weighted, "%d %d %d\n%d %d %d\n", v, w, 1+(v+w)%9, w, v, 1+(v+w)%9)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "4.el"), []byte(text.String()), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "4.wel"), []byte(weighted.String()), 0o600))
	out, errs, code := heddle(t, "gt", "survey", dir, "--json", "--limit", "60s",
		"--draw", fmt.Sprint(testenv.Cases(t, 4, 200)), "--seed", fmt.Sprint(testenv.Seed(t, 1)))
	require.Equal(t, 0, code, errs)
	var list []gtDrawn
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Len(t, list, len(programs.Names()))
	for _, x := range list {
		require.Zero(t, x.Failed, "%s: %s", x.Program, strings.Join(x.Failures, "\n"))
		require.Positive(t, x.Verified, "%s: %s", x.Program, strings.Join(x.Reasons, "\n"))
	}
}
