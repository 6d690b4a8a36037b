package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/isa"
	"heddle/sim"
)

// heddle runs the command line and returns its output, its messages and its exit code.
func heddle(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&err)
	code = run(context.Background(), root)
	return out.String(), err.String(), code
}

// source writes an assembly file.
func source(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.s")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

const (
	exit0 = "_start: sw zero, 0x88(zero)\n tmc zero\n"
	hello = "../kernels/asm/hello.s"
)

func TestExecPrintsTheConsoleOnStdout(t *testing.T) {
	out, errs, code := heddle(t, "exec", hello, "--functional", "--warps", "2", "--threads", "3")
	require.Equal(t, exitOK, code)
	require.Equal(t, "core 0 warp 0: sum of squares 5\ncore 0 warp 1: sum of squares 50\n", out)
	require.Regexp(t, `^\d+ warp instructions, \d+ thread instructions`, errs)
}

func TestExecJSON(t *testing.T) {
	out, errs, code := heddle(t, "exec", hello, "--functional", "--json", "--cores", "2", "--warps", "1", "--threads", "1")
	require.Equal(t, exitOK, code)
	require.Empty(t, errs)
	var r map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Nil(t, r["cycles"])
	require.Zero(t, r["exit_code"])
	require.Equal(t, "core 0 warp 0: sum of squares 0\ncore 1 warp 0: sum of squares 1\n", r["console"])
	sum := 0.0
	for name, n := range r["stats"].(map[string]any) {
		if strings.HasPrefix(name, "warp_instrs.") {
			sum += n.(float64)
		}
	}
	require.Equal(t, r["warp_instrs"], sum)
}

// Every way in which a run can end has its exit code and message.
func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		name, src string
		args      []string
		code      int
		says      string
	}{
		{"done", exit0, nil, exitOK, "2 warp instructions"},
		{"returned", "li t0, 7\n sw t0, 0x88(zero)\n tmc zero", nil, exitFailed, "the program returned 7"},
		{"no exit code", "tmc zero", nil, exitFailed, "ended without storing an exit code at 0x88"},
		{"trap", "_start: nop\n.word 0", nil, exitFailed, "illegal instruction: 0x00000000 is no instruction of this machine\n  at pc 0x80000004 <_start+0x4>: .word 0x00000000\n  core 0, warp 0"},
		{"limit", "j .", []string{"--max-instrs", "1000"}, exitNoProgress, "instruction limit reached: 1000 warp instructions"},
		{"deadlock", "_start: li t1, 2\n bar zero, t1\n tmc zero", nil, exitNoProgress, "core 0 warp 0, next pc 0x80000008 <_start+0x8>: at barrier 0: 1 of 2 warps have arrived"},
		{"no unit", "weaver.dec.id a0", nil, exitFailed, "this machine has no weaver unit"},
		{"bad source", "frob", nil, exitUsage, `x.s:1:1: unknown instruction "frob"`},
		{"bad shape", exit0, []string{"--threads", "33"}, exitUsage, "threads = 33: expected 1..32"},
		{"bad flag", exit0, []string{"--frob"}, exitUsage, "unknown flag: --frob"},
		{"bad define", exit0, []string{"-D", "A"}, exitUsage, "--define A: expected NAME=NUMBER"},
		{"bad base", exit0, []string{"--base", "2"}, exitUsage, "--base 2: expected an address that is a multiple of 4"},
		{"bad table", exit0, []string{"--weaver", "--weaver-st-entries", "0"}, exitUsage, "st_entries = 0: expected 1..65536"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, errs, code := heddle(t, append([]string{"exec", source(t, c.src), "--functional"}, c.args...)...)
			require.Equal(t, c.code, code, errs)
			require.Contains(t, errs, c.says)
		})
	}
}

func TestOneMachineMustBeChosen(t *testing.T) {
	for _, args := range [][]string{{"exec", hello}, {"exec", hello, "--functional", "--machine", "vortex-rtl-a"}} {
		_, errs, code := heddle(t, args...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, "choose one: --functional, or --machine NAME")
	}
	_, errs, code := heddle(t, "exec", hello, "--machine", "vortex-rtl-a", "--warps", "2")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "--warps is for --functional")
}

func TestExecTimed(t *testing.T) {
	out, errs, code := heddle(t, "exec", hello, "--machine", "vortex-rtl-a", "--set", "core.warps=2")
	require.Equal(t, exitOK, code, errs)
	require.Equal(t, "core 0 warp 0: sum of squares 14\ncore 0 warp 1: sum of squares 126\n", out)
	require.Regexp(t, `^\d+ cycles, IPC 0\.\d+, \d+ warp instructions`, errs)

	out, _, code = heddle(t, "exec", hello, "--machine", "vortex-1c4w4t", "--json")
	require.Equal(t, exitOK, code)
	var r map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Greater(t, r["cycles"], 1000.0)
}

// TestExecCheck: a run that keeps the invariants is one like others; one that does not has failed.
func TestExecCheck(t *testing.T) {
	out, errs, code := heddle(t, "exec", hello, "--machine", "vortex-rtl-m6", "--check")
	require.Equal(t, exitOK, code, errs)
	plain, _, _ := heddle(t, "exec", hello, "--machine", "vortex-rtl-m6")
	require.Equal(t, plain, out)
	_, errs, code = heddle(t, "exec", hello, "--functional", "--check")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "--check is for timed machines")

	err := failed(&sim.InvariantsError{Broken: []error{&sim.BrokenInvariant{Place: "L2", Invariant: "an invariant",
		Detail: "1, 2"}}})
	var e *codeError
	require.ErrorAs(t, err, &e)
	require.Equal(t, exitFailed, e.code)
	require.ErrorContains(t, err, "please report this\nL2: invariant violated: an invariant: 1, 2")
}

func TestTimedRunsEnd(t *testing.T) {
	for _, c := range []struct {
		name, src, says string
		args            []string
		code            int
	}{
		{"limit", "j .", "cycle limit reached: 5000 cycles", []string{"--max-cycles", "5000"}, exitNoProgress},
		{"trap", "_start: li t0, 2\n lw t1, 0(t0)", "misaligned access", nil, exitFailed},
		{"deadlock", "_start: li t1, 2\n bar zero, t1\n tmc zero", "Core0 warp 0: core 0 warp 0, next pc 0x80000008 <_start+0x8>: at barrier 0: 1 of 2 warps have arrived", nil, exitNoProgress},
		{"unknown machine", "tmc zero", "no machine \"frob\": expected a file, or one of", []string{"--machine", "frob"}, exitUsage},
		{"unknown key", "tmc zero", "did you mean core.warps?", []string{"--set", "core.wraps=2"}, exitUsage},
		{"impossible", "tmc zero", "core.warps", []string{"--set", "core.warps=100"}, exitUsage},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, errs, code := heddle(t, append([]string{"exec", source(t, c.src), "--machine", "vortex-rtl-a"},
				c.args...)...)
			require.Equal(t, c.code, code, errs)
			require.Contains(t, errs, c.says)
		})
	}
}

func TestConfig(t *testing.T) {
	for _, m := range configs.MachineNames() {
		_, errs, code := heddle(t, "config", "check", m)
		require.Equal(t, exitOK, code, errs)
	}
	out, _, code := heddle(t, "config", "show", "vortex-8c32w32t", "--set", "core.warps=16")
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "sockets: 8")
	require.Contains(t, out, "warps: 16 # --set core.warps")
	out, _, code = heddle(t, "config", "schema", "--json")
	require.Equal(t, exitOK, code)
	require.True(t, json.Valid([]byte(out)))
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	root := newRoot()
	var errs bytes.Buffer
	root.SetArgs([]string{"exec", source(t, "j ."), "--functional"})
	root.SetOut(&errs)
	root.SetErr(&errs)
	require.Equal(t, exitInterrupted, run(ctx, root))
	require.Contains(t, errs.String(), "interrupted")
}

func TestFailureInJSON(t *testing.T) {
	out, errs, code := heddle(t, "exec", source(t, "ebreak"), "--functional", "--json")
	require.Equal(t, exitFailed, code)
	require.Empty(t, errs)
	var r map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Contains(t, r["error"], "environment call: ebreak")
}

func TestTrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.txt")
	src := source(t, "_start: li t0, 3\n tmc t0\n csrr t0, vx_tid\n slli t0, t0, 2\n lw t1, 0x100(t0)\n li t0, 1\n tmc "+
		"t0\n"+exit0[len("_start:"):])
	_, _, code := heddle(t, "exec", src, "--functional", "--trace="+file)
	require.Equal(t, exitOK, code)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	require.Len(t, lines, 9)
	require.Equal(t, "c0 w0 80000000 00000001  addi t0, zero, 3  <_start+0x0>", lines[0])
	require.Equal(t, "c0 w0 80000004 00000001  tmc t0  <_start+0x4>  mask=00000003", lines[1])
	require.Equal(t, "c0 w0 80000010 00000003  lw t1, 256(t0)  <_start+0x10> 0:100 1:104", lines[4])
}

func TestWeaverProgram(t *testing.T) {
	src := source(t, `
_start:
  csrr a0, units
  csrr a1, weaver_capacity
  slli a1, a1, 8
  or   a0, a0, a1
  sw   a0, 0x88(zero)
  tmc zero`)
	_, errs, code := heddle(t, "exec", src, "--functional", "--weaver", "--weaver-st-entries", "5")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "the program returned 1281") // capacity 5, unit bit 0
	_, errs, code = heddle(t, "exec", src, "--machine", "vortex-1c4w4t-weaver", "--set", "core.weaver.st_entries=5")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "the program returned 1281")
}

func TestAsmThenExecAndDisasm(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"hello.elf", "hello.bin"} {
		out := filepath.Join(dir, name)
		_, errs, code := heddle(t, "asm", hello, "-o", out)
		require.Equal(t, exitOK, code, errs)
		console, _, code := heddle(t, "exec", out, "--functional", "--warps", "1")
		require.Equal(t, exitOK, code)
		require.Equal(t, "core 0 warp 0: sum of squares 14\n", console)
	}
	text, _, code := heddle(t, "disasm", filepath.Join(dir, "hello.elf"))
	require.Equal(t, exitOK, code)
	require.Contains(t, text, "warp:\n  addi t0, zero, -1")

	// The output of disasm is a program again, with the same code.
	again := source(t, text)
	_, errs, code := heddle(t, "asm", again, "-o", filepath.Join(dir, "again.bin"))
	require.Equal(t, exitOK, code, errs)
	a, err := os.ReadFile(filepath.Join(dir, "again.bin"))
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(dir, "hello.bin"))
	require.NoError(t, err)
	require.Equal(t, b[:len(a)], a)
}

func TestISA(t *testing.T) {
	out, _, code := heddle(t, "isa", "split")
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "IPDOM")
	_, errs, code := heddle(t, "isa", "frob")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, `unknown instruction "frob"`)
}

func TestGeneratedDocsAreCurrent(t *testing.T) {
	b, err := os.ReadFile("../docs/reference/isa.md")
	require.NoError(t, err)
	require.Equal(t, isa.Markdown(), string(b), "run go run ./cmd/heddle isa --markdown > docs/reference/isa.md")
	b, err = os.ReadFile("../docs/reference/configuration.md")
	require.NoError(t, err)
	require.Equal(t, string(configurationDoc()), string(b),
		"run go run ./cmd/heddle config schema --markdown > docs/reference/configuration.md")
	b, err = os.ReadFile("../docs/reference/cli.md")
	require.NoError(t, err)
	require.Equal(t, string(cliDoc(newRoot())), string(b), "run go run ./cmd/heddle cli > docs/reference/cli.md")
	drawn, _, _ := heddle(t, "config", "draw", "vortex-6c32w32t-weaver")
	b, err = os.ReadFile("../docs/design/machine.svg")
	require.NoError(t, err)
	require.Equal(t, drawn, string(b),
		"run go run ./cmd/heddle config draw vortex-6c32w32t-weaver > docs/design/machine.svg")
	b, err = os.ReadFile("../docs/reference/statistics.md")
	require.NoError(t, err)
	want, err := statisticsDoc()
	require.NoError(t, err)
	require.Equal(t, string(want), string(b),
		"run go run ./cmd/heddle stats describe --markdown > docs/reference/statistics.md")
}

// TestExecEGHW: a functional program gets the unit's edges by the set-up that it carries.
func TestExecEGHW(t *testing.T) {
	src := filepath.Join(t.TempDir(), "edges.s")
	require.NoError(t, os.WriteFile(src, []byte(`
_start: li a0, 1
  eghw.push a0
  eghw.pop a1
  eghw.get.other a2
  eghw.get.wt a3
  add a2, a2, a3
  sub a2, a2, a1
  addi a2, a2, -106		# 7 + 100 - 1
  sw a2, 0x88(zero)
  tmc zero
  .data
heddle.eghw: .word 2, offsets, 3, others, weights
offsets: .word 0, 2, 3
others: .word 5, 6, 7
weights: .word 98, 99, 100
`), 0o644))
	_, errs, code := heddle(t, "exec", src, "--functional", "--eghw")
	require.Zero(t, code, errs)
	_, errs, code = heddle(t, "exec", src, "--machine", "vortex-1c4w4t-eghw")
	require.Zero(t, code, errs)
	_, errs, code = heddle(t, "exec", src, "--functional", "--eghw", "--weaver")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "choose one: --weaver, --graphpeg, --hwwl, --eghw")
	_, errs, code = heddle(t, "exec", src, "--functional")
	require.NotZero(t, code)
	require.Contains(t, errs, "this machine has no eghw unit")
}

// A long run reports its progress, and at its limit the positions of its warps.
func TestALongRunSaysWhereItIs(t *testing.T) {
	file := source(t, "_start: li t0, 3\n la t1, spin\n wspawn t0, t1\nspin: j spin\n")
	const progress = `(?m)^cycle [1-9]\d*, [1-9]\d* warp instructions so far$`
	for every, says := range map[string]bool{"1ns": true, "1h": false} {
		_, errs, code := heddle(t, "exec", file, "--machine", "vortex-1c4w4t", "--max-cycles", "50000", "--heartbeat", every)
		require.Equal(t, exitNoProgress, code)
		require.Contains(t, errs, "cycle limit reached: 50000 cycles\n  Core0: next pc 0x80000010: warps 0 1 2\n")
		require.Equal(t, says, regexp.MustCompile(progress).MatchString(errs), errs)
	}
	_, errs, code := heddle(t, "exec", file, "--machine", "vortex-1c4w4t", "--heartbeat", "0s")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "--heartbeat 0s: expected a time above 0")
	_, errs, code = heddle(t, "exec", file, "--functional", "--heartbeat", "1s")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "--heartbeat is for timed machines")
}

// An unknown command of a group is a usage error, at every depth; a group by itself shows its help.
func TestUnknownCommands(t *testing.T) {
	groups := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if !c.HasSubCommands() {
			return
		}
		groups++
		path := strings.Fields(c.CommandPath())[1:]
		for _, args := range [][]string{append(slices.Clone(path), "frobnicate"),
			append([]string{"help"}, append(slices.Clone(path), "frobnicate")...)} {
			stdout, stderr, code := heddle(t, args...)
			require.Equal(t, exitUsage, code, args)
			require.Empty(t, stdout)
			require.Contains(t, stderr, `"frobnicate"`)
		}
		stdout, _, code := heddle(t, path...)
		require.Equal(t, exitOK, code, path)
		require.Contains(t, stdout, "Usage:")
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
	require.GreaterOrEqual(t, groups, 7)
}
