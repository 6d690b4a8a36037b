// Package examples_test builds examples as their readers would.
package examples_test

import (
	"encoding/csv"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// page is docs/guide/extending.md.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/guide/extending.md")
	require.NoError(t, err)
	return string(text)
}

// block matches a snippet of a page: its language, the rest of that line, its text.
var block = regexp.MustCompile("(?s)```(\\w+)(?: (\\S+))?\n(.*?)```")

// root is heddle's directory.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	require.NoError(t, err)
	return dir
}

// shell runs lines as a reader would type them, in an empty directory. Of the network they need what tests have needed
// anyway, the module proxy: go mod tidy reads go.mod files of modules that heddle's own build does not ask for.
func shell(t *testing.T, dir, lines string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds another command")
	}
	c := exec.Command("sh", "-e", "-c", regexp.MustCompile(`-pgo=\S+`).ReplaceAllString(lines, "-pgo=off -ldflags=-w"))
	c.Dir = dir
	c.Env = append(os.Environ(), "HEDDLE="+root(t), "GOFLAGS=", "GOWORK=off")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// TestPage: snippets of docs/guide/extending.md are parts of the files that it names, and its commands work as they are
// written, in a module of its own: nothing of heddle's tree is changed, and nothing internal can be imported. The
// heddle that they build is then tested.
func TestPage(t *testing.T) {
	testenv.NeedSlow(t, "it follows the guide in a module of its own")
	commands, snippets, dir := 0, 0, t.TempDir()
	for _, m := range block.FindAllStringSubmatch(page(t), -1) {
		switch m[1] {
		case "go":
			snippets++
			file := filepath.Join(root(t), "examples", "mine", m[2])
			if strings.HasPrefix(m[2], "example_") { // of package heddle
				file = filepath.Join(root(t), m[2])
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Contains(t, string(text), m[3], "docs/guide/extending.md and %s", m[2])
		case "sh":
			commands++
			out := shell(t, dir, m[3])
			for _, says := range []string{"│ yes ", "widest paths from the source",
				"Requests answered, each of a warp.", "rd = the core's next number"} {
				require.Contains(t, out, says)
			}
			profile := regexp.MustCompile(`-pgo=\$HEDDLE(\S+)`).FindStringSubmatch(m[3])
			_, err := os.Stat(filepath.Join(root(t), profile[1]))
			require.NoError(t, err)
		default:
			t.Errorf("a snippet in %q: nothing tests it", m[1])
		}
	}
	require.Equal(t, 1, commands)
	require.Greater(t, snippets, 8)
	t.Run("outside", func(t *testing.T) { runOutside(t, filepath.Join(dir, "mine", "heddle")) })
}

// outside builds a folder as a module of its own.
func outside(t *testing.T, folder string) (command string) {
	t.Helper()
	dir := t.TempDir()
	shell(t, dir, `cp -r $HEDDLE/examples/`+folder+`/* $HEDDLE/go.sum .
go mod init example.com/mine
go mod edit -require=heddle@v0.0.0 -replace=heddle=$HEDDLE
go build -mod=mod -pgo=off -o heddle .`)
	return filepath.Join(dir, "heddle")
}

// run runs a command in the working directory, and returns its output and exit code.
func run(t *testing.T, command string, args ...string) (out string, code int) {
	t.Helper()
	text, err := exec.Command(command, args...).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(text), exit.ExitCode()
	}
	require.NoError(t, err, "%s", text)
	return string(text), 0
}

// runOutside tests a heddle with a schedule, a layout, an algorithm, a graph unit and a statistic of its own.
// Everything that heddle's have, they have.
func runOutside(t *testing.T, command string) {
	t.Chdir(t.TempDir())
	x := &extended{t, command, filepath.Join(filepath.Dir(command), "mine.yaml")}
	x.runs()
	x.parts()
	x.lists()
	x.refuses()
}

// extended is a heddle with additions of a module outside, and the experiment that uses them.
type extended struct {
	*testing.T
	command, yaml string
}

// good runs a command that must succeed, and returns its output.
func (x *extended) good(args ...string) string {
	x.Helper()
	out, code := run(x.T, x.command, args...)
	require.Zero(x, code, "%s", out)
	return out
}

// refused runs a command that must be refused with a message.
func (x *extended) refused(says string, args ...string) {
	x.Helper()
	out, code := run(x.T, x.command, args...)
	require.Equal(x, 2, code, "%s", out)
	require.Contains(x, out, says)
}

// runs runs the experiments, and checks the derived statistic and the unit's.
func (x *extended) runs() {
	features := x.good("run", filepath.Join(filepath.Dir(x.command), "features.yaml"), "--check")
	require.Equal(x, 12, strings.Count(features, "│ yes "), "%s", features)
	table := x.good("run", x.yaml, "--check")
	require.Equal(x, 6, strings.Count(table, "│ yes "), "%s", table)
	require.Contains(x, x.good("run", x.yaml, "--check"), "6 of 6 points known")
	text, err := os.ReadFile("results/mine/summary.csv")
	require.NoError(x, err)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(x, err)
	value := func(row []string, name string) float64 {
		for i, head := range rows[0] {
			if head == name {
				n, err := strconv.ParseFloat(row[i], 64)
				require.NoError(x, err)
				return n
			}
		}
		x.Fatalf("summary.csv has no column %s", name)
		return 0
	}
	for _, row := range rows[1:] {
		ratio := value(row, "stats.dram.bytes_per_edge")
		require.InDelta(x, value(row, "stats.dram.bytes")/value(row, "stats.edges"), ratio, 1e-9)
		require.Equal(x, row[1] == "ticket", value(row, "stats.ticket.requests") > 0)
	}
	require.Contains(x, x.good("results", "sql", "mine",
		"SELECT count(*) FROM statistics JOIN names ON names.id = statistics.name WHERE names.name = 'dram.bytes_per_edge'"),
		"6")
	x.good("report", "mine")
}

// parts runs on several cores and processors, with the same counts; a part of a run, the search of the fastest, a trace
// and its replay.
func (x *extended) parts() {
	several := []string{"run", x.yaml, "--check", "--set", "graph.rmat.scale=5", "--set", "machine.sockets=2", "--set",
		"machine.l2={}",
		"--set", "compare={}", "--set", "sweep={workload.schedule: [vector, ticket]}", "--set", "workload.algorithm=widest",
		"--set", "stats.interval=1000", "--set", "stats.keys=dram.bytes_per_edge, edges"}
	x.good(append(several, "--set", "name=one", "--threads", "1")...)
	x.good(append(several, "--set", "name=two", "--threads", "2")...)
	require.Contains(x, x.good("results", "diff", "one", "two"), "2 points are the same in everything, 0 differ")

	one := []string{"--set", "compare={}", "--set", "sweep={}", "--set", "workload.algorithm=widest", "--set",
		"workload.schedule=ticket"}
	require.Contains(x, x.good(append([]string{"run", x.yaml, "--check", "--set", "name=part", "--set", "region.from=2"},
		one...)...), "│ yes ")
	found := x.good(append([]string{"tune", x.yaml, "--points", "6", "--schedules", "all", "--only",
		"schedule=vertex,vector,ticket", "--only", "fusion=none"}, one...)...)
	require.Contains(x, found, "aligned")
	x.good(append([]string{"trace", "record", x.yaml, "-o", "ticket.trace"}, one...)...)
	require.NoError(x, os.WriteFile("replay.yaml",
		[]byte("name: replay\nmachine: {extends: vortex-1c4w4t, core: {ticket: {delay: 4}}}\nworkload: {trace: "+
			"ticket.trace}\n"), 0o644))
	require.Contains(x, x.good("run", "replay.yaml", "--check"), "│ replayed ")
}

// lists checks that pages and lists have the additions.
func (x *extended) lists() {
	schema := x.good("config", "schema")
	for _, line := range []string{", vector, weaver", "ticket", "dia-coo, gshard, gshard-windows, aligned", ", widest",
		"machine.core.ticket.delay"} {
		require.Contains(x, schema, line)
	}
	pages := x.good("config", "schema", "--markdown")
	for _, text := range []string{
		"`vector`: a warp walks the row of a vertex, its lanes side by side.", "`ticket`: each thread walks the row of the next vertex that no thread of its core has taken.",
		"`aligned`: rows by source that each begin at a multiple of 16 words", "`widest`: widest paths from the source", "A dispenser of numbers in every core; absent: none.",
	} {
		require.Contains(x, pages, text)
	}
	require.Contains(x, x.good("isa", "ticket.next"), "rd = the core's next number")
	require.Contains(x, x.good("isa", "--markdown"), "bit 16 ticket present")
	described := x.good("stats", "describe", "--machine", "vortex-1c4w4t", "--set", "core.ticket.delay=2",
		"ticket|bytes_per_edge")
	require.Contains(x, described, "Requests answered, each of a warp.")
	require.Contains(x, described, "Bytes over the DRAM's data buses for each edge handled.")
	require.Contains(x, x.good("stats", "describe", "--markdown"), "`dram.bytes_per_edge` | bytes/edge")
	require.Contains(x, x.good("kernel", "choices"), "widest paths from the source")
	require.Contains(x, x.good("kernel", "show", "widest/vector/aligned/push/queue+none"), "kernel gather-push")
	require.Contains(x, x.good("exec", "--help"), "--ticket")
}

// refuses runs heddle's algorithms under the additions, these on heddle's units, and combinations that are refused.
func (x *extended) refuses() {
	x.good("run", x.yaml, "--check", "--set", "name=all", "--set", "graph.rmat.scale=6", "--set",
		"compare={workload.schedule: [warp, vector, ticket]}", "--set", "graph.clean.symmetrise=true",
		"--set", "sweep={workload.algorithm: [bfs, cc, widest]}")
	x.good("run", x.yaml, "--check", "--set", "name=units", "--set", "machine=vortex-1c4w4t-weaver", "--set",
		"workload.layout=auto", "--set", "compare={}",
		"--set", "sweep={workload.schedule: [weaver, vector, edge], workload.direction: [push, pull], workload.algorithm: "+
			"[widest]}")

	again := []string{"run", x.yaml, "--set", "name=x", "--set", "compare={}", "--set", "sweep={}"}
	x.refused("did you mean vector?", append(again, "--set", "workload.schedule=vectr")...)
	x.refused("did you mean widest?", append(again, "--set", "workload.algorithm=widset")...)
	x.refused("did you mean aligned?", append(again, "--set", "workload.layout=alined")...)
	x.refused("the layout leaves some out", append(again, "--set", "workload.schedule=edge", "--set",
		"workload.algorithm=widest", "--set", "workload.frontier=bytemap")...)
	x.refused("the layout has only the others",
		append(again, "--set", "workload.direction=pull", "--set", "workload.frontier=bytemap")...)
	x.refused("ticket: the machine's cores have no ticket dispenser; give machine.core.ticket",
		append(again, "--set", "machine=vortex-1c4w4t", "--set", "workload.schedule=ticket")...)
	x.refused("core.ticket.delay: expected an integer 1..1000 (cycles)", "config", "show", x.yaml, "--set",
		"machine.core.ticket.delay=0")
}

// TestRefused: entries that cannot be added end the command with exit code 2 and say why; none panics.
func TestRefused(t *testing.T) {
	command := outside(t, "testdata/refused")
	t.Chdir(t.TempDir())
	for which, says := range map[string]string{
		"empty":      "the entry is empty",
		"twice":      `cannot add schedule "mine": there is one of that name already`,
		"taken":      `cannot add schedule "vertex": there is one of that name already`,
		"nil-unit":   "the unit is nil, or has no Instructions",
		"bit":        "extension x has the name or the presence bit of hwwl",
		"bits":       "x has 0x30000 as its bit of the CSR units: expected one bit",
		"name":       "weaver has the name, the key or the Spec of weaver",
		"key":        "its Key is warps, which machine.core has already",
		"unit-key":   "x has the name, the key or the Spec of peg",
		"no-key":     `the unit "x" lacks a Key such as my_unit`,
		"no-new":     `the unit "x" lacks a New`,
		"another":    "says that it is x with bit 0x10000, and the instructions are of y with bit 0x20000",
		"operands":   `x.next has operands "rd, rs3": expected some of rd, rs1, rs2`,
		"encoding":   "x.more has the name or the encoding of x.next",
		"tags":       "its Spec: main.undocumented.Room: no doc",
		"counts":     "its statistics: struct { N uint64 }.N has no stat tag",
		"unit-sched": `schedule "cta": there is one of that name already`,
		"stat-name":  "expected a name of small letters, digits and underscores",
		"stat-over":  "it has no Over: expected the names of counts",
		"stat-scale": "it has Scale, and no Under: only a quotient is scaled",
		"stat-taken": `cannot add statistic "ipc": the machine has one of that name already`,
		"stat-ratio": "statistic a: ipc is a quotient: expected counts",
	} {
		out, code := run(t, command, which, "stats", "describe")
		require.Equal(t, 2, code, "%s: %s", which, out)
		require.Contains(t, out, says, which)
		require.NotContains(t, out, "panic", which)
		require.NotContains(t, out, "goroutine", which)
		require.True(t, strings.HasPrefix(out, "heddle: "), "%s: %s", which, out)
	}
	out, code := run(t, command, "good", "stats", "describe", "^edges$")
	require.Zero(t, code, "%s", out)
	out, code = run(t, command, "stat-unknown", "stats", "describe", "^(edges|a.b)$")
	require.Zero(t, code, "%s", out)
	require.Contains(t, out, "a.b is not there: this machine has no edgse")
}
