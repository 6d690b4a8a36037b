package cmd

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"heddle/internal/tools"
	"heddle/report/hotspots"
)

// hotSource waits for memory at one instruction, 40 times.
const hotSource = `_start:
	li t1, 0x90000000
	li t3, 40
heddle.phase.edge_access:
loop:	lw t2, 0(t1)
	addi t1, t1, 64
heddle.phase.gather_sum:
use:	add t4, t4, t2	# the sum
	addi t3, t3, -1
	bnez t3, loop
heddle.phase.apply:
	sw zero, 0x88(zero)
	tmc zero
`

// TestReportText: shares add up to 100 %, the hottest instruction is the one that waits, and lines fit a terminal.
func TestReportText(t *testing.T) {
	src := source(t, hotSource)
	out, errs, code := heddle(t, "exec", src, "--machine", "vortex-1c4w4t", "--report")
	require.Equal(t, exitOK, code, errs)
	sum := 0
	stack, _, _ := strings.Cut(out, "└")
	for _, m := range regexp.MustCompile(`│ +(\d+)\.(\d) % │`).FindAllStringSubmatch(stack, -1) {
		tenths, err := strconv.Atoi(m[1] + m[2])
		require.NoError(t, err)
		sum += tenths
	}
	require.Equal(t, 1000, sum, stack)
	for _, line := range strings.Split(out, "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
	}
	require.Regexp(t, `│ memory +│ +1\.0 │ add t4, t4, t2 `, out)
	require.Contains(t, out, " use ")
	require.Contains(t, out, "│ x.s:8 ")
	require.Regexp(t, `│ edge_access +│ +\d+\.\d % │`, out)
	require.NotContains(t, out, "source lines", "a line of assembly is an instruction")

	plain, errs, _ := heddle(t, "exec", src, "--machine", "vortex-1c4w4t")
	require.Empty(t, plain)
	cycles, _, _ := strings.Cut(errs, ",")
	require.Contains(t, strings.ReplaceAll(out, ",", ""), cycles, "the same as without")

	out, _, _ = heddle(t, "exec", source(t, exit0), "--machine", "vortex-1c4w4t", "--report")
	require.Contains(t, out, "No phases: the program has no symbols heddle.phase.NAME")
}

// execReport is the report in the result that --json prints.
func execReport(t *testing.T, args ...string) (r hotspots.Report, stats map[string]float64) {
	t.Helper()
	out, errs, code := heddle(t, append([]string{"exec", "--json", "--report"}, args...)...)
	require.Contains(t, []int{exitOK, exitNoProgress, exitFailed}, code, errs)
	var all struct {
		Report *hotspots.Report
		Stats  map[string]float64
	}
	require.NoError(t, json.Unmarshal([]byte(out), &all))
	require.NotNil(t, all.Report)
	return *all.Report, all.Stats
}

func TestReportJSON(t *testing.T) {
	r, stats := execReport(t, source(t, hotSource), "--machine", "vortex-1c4w4t")
	require.EqualValues(t, stats["warp_instrs"], r.Issued())
	require.EqualValues(t, stats["core.cycles"], r.Time)
	require.Equal(t, r.Time, r.Issued()+r.Stalled()+r.Idle)
	require.EqualValues(t, stats["core.scheduler.drained"], r.Idle)
	lanes, stalls := uint64(0), map[string]uint64{}
	for i := range r.Instructions {
		lanes += r.Instructions[i].Lanes
		for n, v := range r.Instructions[i].Stalls {
			stalls[n] += v
		}
		require.True(t, i == 0 || r.Instructions[i].Time() <= r.Instructions[i-1].Time())
	}
	require.EqualValues(t, stats["thread_instrs"], lanes)
	for _, p := range r.Stack[1:] {
		if p.Name != "drained" {
			require.Equal(t, p.Cycles, stalls[p.Name], p.Statistic)
			require.EqualValues(t, stats[p.Statistic], p.Cycles)
		}
	}
	hot := r.Instructions[0]
	require.Equal(t, "add t4, t4, t2", hot.Text)
	require.Equal(t, "use", hot.Where())
	require.Equal(t, 8, hot.Line)
	require.Equal(t, "use:  add t4, t4, t2  # the sum", hot.Source)
	require.EqualValues(t, 40, hot.Issued)
}

// TestReportPage: the page loads nothing, and shows the names of programs and sources as text.
func TestReportPage(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "<script>alert(1).s")
	require.NoError(t, os.WriteFile(src, []byte(strings.ReplaceAll(hotSource, "# the sum",
		"# </td><script>alert(2)</script>")), 0o644))
	file := filepath.Join(dir, "hot.html")
	out, errs, code := heddle(t, "exec", src, "--machine", "vortex-1c4w4t", "--report="+file)
	require.Equal(t, exitOK, code, errs)
	require.Empty(t, out)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	page := string(b)
	require.NotContains(t, page, "<script")
	require.Contains(t, page, "&lt;/td&gt;&lt;script&gt;alert(2)")
	require.Contains(t, page, "<svg")
	require.Contains(t, page, "default-src 'none'")
	require.NotRegexp(t, `(src|href)="[^#]`, page)
	require.Contains(t, page, "80000010 use")
	require.Contains(t, page, "No warp had its registers; the lowest waits for a load from memory or an atomic.")
}

// TestReportOfC: C compiled with -g has source lines too; without it the report explains how to get them.
func TestReportOfC(t *testing.T) {
	tools.Need(t, "riscv64-unknown-elf-gcc")
	dir := t.TempDir()
	build := func(opt string) string {
		c := exec.Command("../kernels/c/build.sh", dir, "../kernels/c/programs/vecadd.c")
		c.Env = append(os.Environ(), "OPT="+opt)
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
		return filepath.Join(dir, "vecadd.elf")
	}
	binary := build("-O2 -g")
	r, _ := execReport(t, binary, "--machine", "vortex-rtl-a")
	require.NotEmpty(t, r.Lines)
	text, err := os.ReadFile("../kernels/c/programs/vecadd.c")
	require.NoError(t, err)
	lines, some := strings.Split(string(text), "\n"), 0
	for _, l := range r.Lines {
		if filepath.Base(l.File) == "vecadd.c" && l.Line > 0 {
			require.Equal(t, strings.TrimSpace(strings.ReplaceAll(lines[l.Line-1], "\t", "  ")), l.Source)
			some++
		}
	}
	require.Greater(t, some, 3)
	of, sum := uint64(0), uint64(0)
	for _, l := range r.Lines {
		sum += l.Time()
	}
	for _, x := range r.Instructions {
		if x.Line > 0 && !hotspots.IsAssembly(x.File) {
			of += x.Time()
		}
	}
	require.Equal(t, of, sum)
	out, _, code := heddle(t, "exec", binary, "--machine", "vortex-rtl-a", "--report")
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "source lines:")
	require.Contains(t, out, "vecadd.c:")

	// Line tables that are broken are said to be, and the program runs.
	data, err := os.ReadFile(binary)
	require.NoError(t, err)
	broken := breakLines(t, data)
	require.NoError(t, os.WriteFile(binary, broken, 0o755))
	r, _ = execReport(t, binary, "--machine", "vortex-rtl-a")
	require.Contains(t, strings.Join(r.Notes, "\n"),
		"The line numbers cannot be read: section .debug_line: table at 0x0: version 37")
	require.Empty(t, r.Lines)

	r, _ = execReport(t, build("-O2"), "--machine", "vortex-rtl-a")
	require.Contains(t, strings.Join(r.Notes, "\n"), "compile with -g")
	strip := exec.Command("riscv64-unknown-elf-strip", binary)
	require.NoError(t, strip.Run())
	r, _ = execReport(t, binary, "--machine", "vortex-rtl-a")
	require.Empty(t, r.Instructions[0].Symbol)
	require.NotEmpty(t, r.Instructions[0].Text)
}

func TestReportRefused(t *testing.T) {
	src := source(t, exit0)
	for _, c := range []struct {
		name string
		args []string
		says string
	}{
		{"functional", []string{"--functional", "--report"}, "--report says where time went: expected --machine NAME in place of --functional"},
		{"no directory", []string{"--machine", "vortex-1c4w4t", "--report=" + filepath.Join(t.TempDir(), "no", "x.html")}, "no such file or directory"},
		{"a directory", []string{"--machine", "vortex-1c4w4t", "--report=" + t.TempDir()}, "is a directory, which cannot be written over"},
		{"a space", []string{"--machine", "vortex-1c4w4t", "--report", "x.html"}, "--report=FILE: the file's name follows an equals sign"},
	} {
		out, errs, code := heddle(t, append([]string{"exec", src}, c.args...)...)
		require.Equal(t, exitUsage, code, c.name)
		require.Contains(t, errs, c.says, c.name)
		require.Empty(t, out)
		require.NotContains(t, errs, "warp instructions", "it has not run")
	}
}

// TestReportOfARunThatEndsEarly: the report after a limit covers the run up to it; that of a flat image names the parts
// that the image lacks.
func TestReportOfARunThatEndsEarly(t *testing.T) {
	r, stats := execReport(t, source(t, "_start: nop\nspin: j spin"), "--machine", "vortex-1c4w4t", "--max-cycles",
		"5000")
	require.Contains(t, strings.Join(r.Notes, "\n"), "The run ended early, at this state: cycle limit reached")
	require.EqualValues(t, stats["core.cycles"], r.Time)
	require.Equal(t, "spin", r.Instructions[0].Symbol)
	flat := filepath.Join(t.TempDir(), "x.bin")
	_, errs, code := heddle(t, "asm", source(t, exit0), "-o", flat)
	require.Equal(t, exitOK, code, errs)
	r, _ = execReport(t, flat, "--machine", "vortex-1c4w4t")
	require.Contains(t, strings.Join(r.Notes, "\n"), "neither symbols nor line numbers")
}

// TestLookReport: a point's kernels are in one report, each instruction with its kernel.
func TestLookReport(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("g.txt", []byte("0 1\n1 2\n2 3\n3 0\n0 2\n"), 0o644))
	require.NoError(t, os.WriteFile("e.yaml",
		[]byte("name: e\nmachine: vortex-1c4w4t\ngraph: {file: ./g.txt}\nworkload: {algorithm: bfs}\n"), 0o644))
	out, errs, code := heddle(t, "inspect", "./e.yaml", "--report")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "gather-push")
	require.Regexp(t, `│ gather_sum +│`, out)
	require.Regexp(t, `│ gather-push.ir:\d+ `, out)
	require.Contains(t, out, "--lines lists it")
	out, errs, code = heddle(t, "inspect", "./e.yaml", "--report=hot.html", "--lines", "--json")
	require.Equal(t, exitOK, code, errs)
	var r hotspots.Report
	require.NoError(t, json.NewDecoder(strings.NewReader(out)).Decode(&r))
	programs, listed := map[string]uint64{}, map[string]int{}
	for _, x := range r.Instructions {
		programs[x.Program] += x.Issued
		if x.Line > 0 { // --lines has that very line
			require.Regexp(t, fmt.Sprintf(`(?m)^%s:%d: +%s$`, x.File, x.Line, regexp.QuoteMeta(x.Source)), errs)
			listed[x.Program]++
		}
	}
	require.Len(t, listed, len(programs))
	shown, _, code := heddle(t, "kernel", "show", "bfs/vertex/csr/push/queue+none", "--lines")
	require.Equal(t, exitOK, code)
	require.Contains(t, shown, "\ngather-push.ir:2: ")
	for _, line := range strings.Split(strings.TrimSpace(errs), "\n") {
		if strings.Contains(line, ".ir:") {
			require.Contains(t, shown, line+"\n")
		}
	}
	require.Greater(t, len(programs), 1)
	require.Equal(t, r.WarpInstrs, r.Issued())
	require.FileExists(t, "hot.html")
	_, errs, code = heddle(t, "inspect", "./e.yaml", "--report", "--set", "sample.period=100")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "--report: expected a point that is simulated as a whole: sample.period=0")
}

// breakLines gives the first line table of an ELF file a version that there is not.
func breakLines(t *testing.T, data []byte) []byte {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(data))
	require.NoError(t, err)
	s := f.Section(".debug_line")
	require.NotNil(t, s)
	out := bytes.Clone(data)
	out[s.Offset+4] = 37
	return out
}
