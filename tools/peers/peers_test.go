package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/isa/micro"
)

// folder returns a folder with stand-ins for the simulators: scripts.
func folder(t *testing.T, scripts map[string]string) string {
	dir := t.TempDir()
	for name, text := range scripts {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	return dir
}

func table(t *testing.T, args []string, run, cycles, heddle string) (string, error) {
	o := options{pairs: 2, longer: 1, limit: 10 * time.Second}
	if err := o.parse(args, run, cycles); err != nil {
		return "", err
	}
	var out strings.Builder
	err := o.main(context.Background(), filepath.Join(folder(t, map[string]string{"heddle": heddle}), "heddle"), &out)
	return out.String(), err
}

const (
	ours    = `echo '{"cycles": 49357, "warp_instrs": 21693}'`
	pattern = `cycles *[=:]? *(\d+)`
)

// Both simulators run in turn with heddle, on the program's image; the last count that they print is theirs.
func TestTable(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	dir := folder(t, map[string]string{
		"simx-a":   `echo simx >>` + log + `; test -s "$1" && echo "cycles: 5"; echo "PERF: instrs=7, cycles=54293, IPC=1"`,
		"rtlsim-a": `echo rtl >>` + log + `; test "${1##*/}" = alu_chain.bin && echo "cycles = 49357"`,
		"simx-c":   `echo cycles=71586`,
	})
	out, err := table(t, []string{dir}, "^alu_chain$", pattern, `echo heddle "$@" >>`+log+"; "+ours)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 4, out)
	a, c := strings.Fields(lines[2]), strings.Fields(lines[3])
	assert.Equal(t, []string{"a", "alu_chain", "300"}, a[:3])
	assert.Equal(t, []string{"49357", "54293", "49357", "+0.0", "+10.0"}, a[8:])
	// no rtlsim: neither its seconds nor its ratio, and the recorded cycles
	assert.Equal(t, "–", c[5])
	assert.Equal(t, "–", c[7])
	assert.Equal(t, []string{"71586", "76282", "-35.3", "-6.2"}, c[9:])
	for _, l := range lines {
		assert.LessOrEqual(t, len([]rune(l)), 120)
	}

	order, err := os.ReadFile(log)
	require.NoError(t, err)
	var first []string
	for l := range strings.Lines(string(order)) {
		first = append(first, strings.Fields(l)[0])
	}
	assert.Equal(t, "heddle simx rtl heddle simx rtl heddle heddle", strings.Join(first, " "))
	assert.Contains(t, string(order), "-D ITERS=300 --machine vortex-rtl-a --json")
}

// As Vortex builds them, its simulators print no cycles: they leave them where they run, not in the user's folder.
// What an earlier run has left does not count.
func TestStatistics(t *testing.T) {
	leave := "echo Running $1...; printf 'DRAM:\n  memory_system_cycles: 54087\n  row_hits_0: 12\n' >" + statistics
	out, err := table(t, []string{folder(t, map[string]string{"simx-a": leave})}, "^alu_chain$", pattern, ours)
	require.NoError(t, err)
	assert.Contains(t, out, " 54087 ")
	assert.NoFileExists(t, statistics)

	dir := folder(t, map[string]string{"simx-a": leave, "rtlsim-a": "echo Running $1..."})
	_, err = table(t, []string{dir}, "^alu_chain$", pattern, ours)
	assert.ErrorContains(t, err, "neither its output nor ramulator.stats.log has cycles")
}

// A simulator's failure in one program is reported after the rows of the others.
func TestFailure(t *testing.T) {
	simx := `case $1 in *ld_rand*) echo timeout >&2; exit 1;; *) echo cycles=7;; esac`
	o := options{pairs: 1, longer: 1, limit: 10 * time.Second}
	require.NoError(t, o.parse([]string{folder(t, map[string]string{"simx-d": simx})}, "^(ld|st)_", pattern))
	var out strings.Builder
	err := o.main(context.Background(), filepath.Join(folder(t, map[string]string{"heddle": ours}), "heddle"), &out)
	assert.ErrorContains(t, err, "ld_rand on d: ")
	assert.ErrorContains(t, err, "exit status 1\ntimeout")
	assert.NotContains(t, err.Error(), "st_coal")
	assert.Contains(t, out.String(), "st_coal")
	assert.NotContains(t, out.String(), "ld_rand")
}

// Longer programs have no recorded cycles: there is an error only against rtlsim.
func TestLonger(t *testing.T) {
	for _, c := range []struct {
		scripts map[string]string
		want    []string
	}{
		{map[string]string{"simx-a": "echo cycles=54000"}, []string{"49357", "54000", "–", "–", "–"}},
		{map[string]string{"simx-a": "echo cycles=54000", "rtlsim-a": "echo cycles=50000"},
			[]string{"49357", "54000", "50000", "-1.3", "+8.0"}},
	} {
		o := options{pairs: 1, longer: 7, limit: 10 * time.Second}
		require.NoError(t, o.parse([]string{folder(t, c.scripts)}, "^alu_chain$", pattern))
		var out strings.Builder
		heddle := filepath.Join(folder(t, map[string]string{"heddle": `test "$4" = ITERS=2100 && ` + ours}), "heddle")
		require.NoError(t, o.main(context.Background(), heddle, &out))
		row := strings.Fields(strings.Split(out.String(), "\n")[2])
		assert.Equal(t, []string{"a", "alu_chain", "2100"}, row[:3])
		assert.Equal(t, c.want, row[8:])
	}
}

func TestErrors(t *testing.T) {
	simx := func(script string) string { return folder(t, map[string]string{"simx-a": script}) }
	count := filepath.Join(t.TempDir(), "count")
	for _, c := range []struct {
		args             []string
		run, cycles, say string
	}{
		{nil, "", pattern, "expected one folder"},
		{[]string{t.TempDir()}, "", pattern, "holds no simulator: expected executables named simx-MACHINE"},
		{[]string{simx("")}, "(", pattern, "--run"},
		{[]string{simx("")}, "", "cycles", "0 groups in parentheses"},
		{[]string{simx("")}, "^nothing$", pattern, "no micro-program of these machines"},
		{[]string{simx("echo ready")}, "^alu_chain$", pattern, "alu_chain on a: "},
		{[]string{simx("echo ready")}, "^alu_chain$", pattern, "has cycles: expected a match of cycles"},
		{[]string{simx("echo no memory >&2; exit 3")}, "^alu_chain$", pattern, "exit status 3\nno memory"},
		{[]string{simx("echo cycles=0")}, "^alu_chain$", pattern, `"cycles=0": expected a number of cycles`},
		{[]string{simx("echo x >>" + count + "; echo cycles=$(wc -l <" + count + ")")}, "^alu_chain$", pattern,
			"2 cycles, and 1 before"},
	} {
		_, err := table(t, c.args, c.run, c.cycles, ours)
		assert.ErrorContains(t, err, c.say)
	}

	dir := simx("")
	require.NoError(t, os.Chmod(filepath.Join(dir, "simx-a"), 0o644))
	_, err := table(t, []string{dir}, "", pattern, ours)
	assert.ErrorContains(t, err, "expected an executable file")
}

// A run without end is stopped, and one that prints without end does not fill the memory.
func TestLimits(t *testing.T) {
	b := bench{options: &options{limit: 200 * time.Millisecond}, dir: t.TempDir()}
	_, err := b.run(context.Background(), []string{"sleep", "60"}, heddleCycles)
	assert.ErrorContains(t, err, "sleep: no end after 200ms (--limit)")

	var end tail
	for i := range 100_000 {
		fmt.Fprintf(&end, "cycle %d\n", i)
	}
	assert.Less(t, len(end), 3*tailBytes)
	assert.Contains(t, string(end), "cycle 99999\n")
}

// The image begins at the program's entry, without the bytes that are zero anyway.
func TestFlat(t *testing.T) {
	p, err := micro.Program("alu_chain", 3)
	require.NoError(t, err)
	image := flat(p)
	require.NotEmpty(t, image)
	assert.Equal(t, p.Segments[0].Data, image[:len(p.Segments[0].Data)])
	assert.Less(t, len(image), 4096)
}
