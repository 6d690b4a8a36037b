package cmd

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/graphit/looptest"
	"heddle/graphit/programs"
	"heddle/internal/testenv"
)

// gtWord matches a word of a GraphIt program: a comment, blanks, a string, a label, a name, a number or a sign.
var gtWord = regexp.MustCompile(`%[^\n]*|\s+|"[^"\n]*"|#\w+#|[A-Za-z_]\w*|\d+(?:\.\d+)?|->|min=|max=|\+=|[<>=!]=|.`)

// gtWords are words that may stand for each other.
var gtWords = [][]string{
	{"int", "uint", "float", "double", "bool", "uint_64"},
	{"apply", "applyModified", "applyUpdatePriority", "where", "filter"},
	{"from", "to", "srcFilter", "dstFilter"},
	{"size", "getVertexSetSize", "getVertices", "getOutDegrees", "max", "sum", "pop", "finished"},
	{"+", "-", "*", "/", "==", "!=", "<", ">="},
	{"=", "+=", "min=", "max="},
	{"0", "1", "-1", "2.5", "4294967296", "1e300", "99", "true", "argv[2]", "\"a\"", "2"},
	{"while", "if"},
	{"VERTEX_BASED", "EDGE_ONLY", "TWC", "TWCE", "STRICT", "WM", "CM", "PUSH", "PULL", "FUSED", "SIDEWAYS"},
	{"ENABLED", "DISABLED", "BITMAP", "BOOLMAP", "MAYBE"},
	{"configDelta", "configDirection", "configLoadBalance", "configKernelFusion", "configSpeed"},
}

// gtMutant draws a program, with its schedule if it has one, from another one: a word or two are replaced by others
// that may stand for them, or by a name that the program has, a line is left out, repeated or moved.
func gtMutant(r *rand.Rand, src string) string {
	words := gtWord.FindAllString(src, -1)
	var names []string
	for _, m := range regexp.MustCompile(`(?:const|func|var|extern|Schedule) (\w+)`).FindAllStringSubmatch(src, -1) {
		names = append(names, m[1])
	}
	var known []int // places of words that others may stand for
	for i, w := range words {
		if slices.Contains(names, w) || slices.ContainsFunc(gtWords,
			func(c []string) bool { return slices.Contains(c, w) }) {
			known = append(known, i)
		}
	}
	for range 1 + r.IntN(4)/3 {
		i := known[r.IntN(len(known))]
		others := names
		if c := slices.IndexFunc(gtWords, func(c []string) bool { return slices.Contains(c, words[i]) }); c >= 0 {
			others = gtWords[c]
		}
		words[i] = others[r.IntN(len(others))]
	}
	lines := strings.Split(strings.Join(words, ""), "\n")
	i, j := r.IntN(len(lines)), r.IntN(len(lines))
	switch r.IntN(12) {
	case 0:
		lines[i], lines[j] = lines[j], lines[i]
	case 1, 2:
		lines[i] = ""
	case 3:
		lines[i] += "\n" + lines[j]
	}
	return strings.Join(lines, "\n")
}

// gtSchedule draws a schedule for a program's labels. One in three or so has something wrong in it.
func gtSchedule(r *rand.Rand, src string) string {
	pick := func(wrong string, right ...string) string {
		if r.IntN(24) == 0 {
			return wrong
		}
		return right[r.IntN(len(right))]
	}
	labels := []string{}
	for _, m := range regexp.MustCompile(`#(\w+)#`).FindAllStringSubmatch(src, -1) {
		if labels = append(labels, m[1]); labels[0] == "loop" && m[1] == "step" {
			labels = append(labels, "loop:step", "loop:step")
		}
	}
	if len(labels) == 0 {
		labels = []string{"s1"}
	}
	var b strings.Builder
	for _, name := range []string{"a", "b"} {
		fmt.Fprintf(&b, "SimpleGPUSchedule %s;\n", name)
		for range r.IntN(3) {
			blocks := pick("0", "4096", "7", `"argv[3]"`)
			fmt.Fprintf(&b, "%s.config%s;\n", name, pick("Speed(FAST)", "LoadBalance(TWCE)", "LoadBalance(EDGE_ONLY)",
				"LoadBalance(EDGE_ONLY, BLOCKED, "+blocks+")", "LoadBalance(CM)",
				"Direction(PULL)", "Direction(PULL, BITMAP)", "Direction(PUSH)", "FrontierCreation(UNFUSED_BITMAP)",
				"FrontierCreation(FUSED)", "Deduplication(ENABLED)", "Deduplication(DISABLED)",
				"Delta("+pick("2.5", "1", "16", `"argv[3]"`)+")", "KernelFusion("+pick("MAYBE", "ENABLED")+")"))
		}
	}
	fmt.Fprintf(&b, "HybridGPUSchedule h(INPUT_VERTEXSET_SIZE, %s, a, b);\n", pick("2", "0.1", "1"))
	for range 1 + r.IntN(2) {
		fmt.Fprintf(&b, "program->applyGPUSchedule(%q, %s);\n", pick("nowhere", labels...), pick("c", "a", "h"))
	}
	if r.IntN(3) == 0 {
		label := pick("nowhere", labels...)
		fmt.Fprintf(&b, "program->configApply%s;\n", pick(`Direction("`+label+`", "Sideways")`,
			`Direction("`+label+`", "DensePull")`, `NumSSG("`+label+`", "fixed-vertex-count", 4)`,
			`PriorityUpdateDelta("`+label+`", 2)`))
	}
	return b.String()
}

// gtSources are the programs that mutants are drawn from.
func gtSources(t *testing.T) (list []string) {
	for _, name := range programs.Names() {
		src, err := programs.Source(name)
		require.NoError(t, err)
		list = append(list, string(src))
	}
	for _, m := range []map[string]string{looptest.Programs, looptest.Language} {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			list = append(list, m[name])
		}
	}
	return list
}

// gtBegun matches what a program may be refused for when it has begun to run: values, arguments, and its end.
var gtBegun = regexp.MustCompile(`the graph has vertices|atoi: expected a whole number|the vector has elements|` +
	`has been deleted, or was never given|the list \w+ is empty|operators over \w+ have run|has gone round|the result ` +
	`is wrong|instruction limit|: an int holds|: a uint holds|by 0|reads as not reached|depends on|asks for argv|` +
	`there is no queue yet|expected 0, or the number of vertices|edges race|for ever|context deadline|its elements have|` +
	`by roundings|does not hold`)

// gtBlock matches the size of a block, which may be an argument that gt check does not know.
var gtBlock = regexp.MustCompile(`block-\d+`)

// gtMutants runs gt check and gt run of programs that are drawn, and counts those that both refuse and that run.
type gtMutants struct {
	*rand.Rand
	dir          string
	refused, ran int
	odd          []string // of each program for which the two differ, why
}

// execute runs the command line for a while, and returns its messages.
func (m *gtMutants) execute(args ...string) (says string, code int) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&errs)
	code = run(ctx, root)
	return errs.String(), code
}

// try checks and runs a program.
func (m *gtMutants) try(t *testing.T, src, graph string) {
	file := filepath.Join(m.dir, "p.gt")
	require.NoError(t, os.WriteFile(file, []byte(src), 0o600))
	checked, code := m.execute("gt", "check", file)
	says, failed := m.execute("gt", "run", file, graph, "1", "4", "2", "3", "--functional", "--max-steps", "60",
		"--max-cycles", "300000")
	says, checked = gtBlock.ReplaceAllString(says, "block-N"), gtBlock.ReplaceAllString(checked, "block-N")
	switch begun := gtBegun.MatchString(says); {
	case code == 0 && failed == 0:
		m.ran++
	case code != 0 && failed != 0 && (strings.HasSuffix(says, checked) || begun):
		m.refused++
	case code != 0 || !begun:
		m.odd = append(m.odd, fmt.Sprintf("%s\ngt check: %s\ngt run: %s", src, checked, says))
	}
}

// TestGtCheckRefusesWhatRunRefuses: of programs and schedules that are drawn, gt check refuses those that gt run
// refuses before anything has run, with the same message, place and mark, and no others.
func TestGtCheckRefusesWhatRunRefuses(t *testing.T) {
	m := gtMutants{Rand: rand.New(rand.NewPCG(testenv.Seed(t, 43), 1)), dir: t.TempDir()}
	graph := filepath.Join(m.dir, "4.wel")
	require.NoError(t, os.WriteFile(graph, []byte("0 1 3\n1 0 3\n1 2 4\n2 1 4\n2 3 1\n3 2 1\n3 4 2\n4 3 2\n"), 0o600))
	sources := gtSources(t)
	cases := testenv.Cases(t, 150, 5000)
	for range cases {
		src := sources[m.IntN(len(sources))]
		what := m.IntN(3) // the program, its schedule, or both
		if what < 2 {
			src = gtMutant(m.Rand, src)
		}
		if what > 0 && !strings.Contains(src, "schedule:") {
			src += "\nschedule:\n" + gtSchedule(m.Rand, src)
		}
		m.try(t, src, graph)
	}
	require.Empty(t, m.odd, "%d of %d: %s", len(m.odd), cases, strings.Join(m.odd, "\n====\n"))
	require.Greater(t, m.refused, int(cases)/4)
	require.Greater(t, m.ran, int(cases)/20)
	t.Log(m.refused, "refused by both,", m.ran, "run")
}
