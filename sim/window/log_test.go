package window_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/internal/scripts"
	"heddle/sim"
	"heddle/sim/choose"
	"heddle/sim/window"
)

// logged is a run's log.
func logged(t *testing.T, machine, prog, spec, filter string, limit int) (lines, notes []string) {
	t.Helper()
	m := assemble(t, machine)
	s, err := window.Parse(spec)
	require.NoError(t, err)
	f, err := choose.ParseFilter(filter)
	require.NoError(t, err)
	var to bytes.Buffer
	l, err := window.NewLog("", &to, limit, m, s, f)
	require.NoError(t, err)
	r, err := window.Attach(m, s, l)
	require.NoError(t, err)
	res, err := m.Run(context.Background(), program(t, prog))
	require.NoError(t, err)
	notes, err = r.Close()
	require.NoError(t, err)
	without := assemble(t, machine)
	want, err := without.Run(context.Background(), program(t, prog))
	require.NoError(t, err)
	require.Equal(t, want, res)
	require.Equal(t, without.Statistics(), m.Statistics())
	if to.Len() == 0 {
		return nil, notes
	}
	require.LessOrEqual(t, to.Len(), limit)
	return strings.Split(strings.TrimSuffix(to.String(), "\n"), "\n"), notes
}

// TestLog plays scripts: a command is MACHINE PROGRAM WINDOW FILTER, and below it is the log.
func TestLog(t *testing.T) {
	scripts.Play(t, "testdata/*.txt", func(t *testing.T, commands []string) (out []string) {
		for _, c := range commands {
			out = append(out, c)
			if c == "" || c[0] == '#' {
				continue
			}
			f := strings.Fields(c)
			lines, _ := logged(t, strings.ReplaceAll(f[0], "/", " "), f[1], f[2], f[3], megabytes)
			for _, l := range lines {
				out = append(out, scripts.Indent+l)
			}
		}
		return out
	})
}

// TestLogCounts: there are as many lines of a kind as the machine has counted.
func TestLogCounts(t *testing.T) {
	o := observe(t, "vortex-1c4w4t-graphpeg", "peg", "", megabytes)
	lines, _ := logged(t, "vortex-1c4w4t-graphpeg", "peg", "", "*", megabytes)
	count, last := map[string]uint64{}, 0
	for _, l := range lines {
		f := strings.Fields(l)
		now, err := strconv.Atoi(f[0])
		require.NoError(t, err)
		require.GreaterOrEqual(t, now, last, l)
		last = now
		unit, _, _ := strings.Cut(f[1], ".warp")
		count[unit+" "+f[2]]++
	}
	s := o.m.Cores[0].Counts()
	require.Equal(t, s.Issued, count["socket0.core0 issue:"])
	require.Equal(t, s.Committed, count["socket0.core0 commit:"])
	for n, c := range o.m.Caches {
		k, at := c.Stats(), strings.ToLower(c.Name())
		require.Equal(t, k.Fills, count[at+" fill:"], n)
		require.Equal(t, k.Evictions, count[at+" evict:"])
		require.Equal(t, k.Merges, count[at+" merge:"])
		require.Positive(t, count[at+" request:"])
	}
	commands := uint64(0)
	for _, d := range o.m.Memory.Stats() {
		for _, n := range d.Commands {
			commands += n
		}
	}
	require.Equal(t, commands, count["memory cmd:"])
}

// TestLogIsBounded: a log ends before it exceeds its limit, with a line that reports it.
func TestLogIsBounded(t *testing.T) {
	lines, notes := logged(t, "vortex-1c4w4t", "ld_rand", "", "*", window.MinBytes)
	require.NotEmpty(t, lines)
	require.Len(t, notes, 1)
	require.Contains(t, notes[0], "the log ends at cycle")
	lines, _ = logged(t, "vortex-1c4w4t", "ld_rand", "cycles=900..950,warps=1..2", "core0", window.MinBytes)
	for _, l := range lines {
		require.Regexp(t, `^9[0-4]\d|950 socket0\.core0\.warp[12] `, l)
	}
}

func TestLogRefuses(t *testing.T) {
	for filter, says := range map[string]string{
		"wever=fsm":         "wever=fsm: the machine has no unit wever; did you mean weaver?; it has core0, weaver, l1i, l1d, dram, host",
		"weaver=fms":        "weaver=fms: weaver has no events fms; did you mean fsm?; it has fsm, take, answer",
		"l2=fill":           "l2=fill: the machine has no unit l2",
		"core0=issue+comit": "core0 has no events comit; did you mean commit?",
		"core0.warp4=issue": "core0.warp4=issue: no such warp: there are 4, numbered from 0",
		"dram.warp0=cmd":    "no such warp: there are 0",
	} {
		f, err := choose.ParseFilter(filter)
		require.NoError(t, err)
		_, err = window.NewLog(filepath.Join(t.TempDir(), "log"), nil, megabytes, assemble(t, "vortex-1c4w4t-weaver"),
			window.Everything(), f)
		require.ErrorContains(t, err, says)
	}
	for _, filter := range []string{"", "=", "core0=issue,", "core0..warp1", "core0=+", "[=issue", "warp1"} {
		f, err := choose.ParseFilter(filter)
		if filter == "warp1" { // of any unit
			require.NoError(t, err)
			require.True(t, f[0].Warp(1))
			require.False(t, f[0].Warp(2))
			continue
		}
		require.ErrorContains(t, err, "expected UNIT=KIND", filter)
	}
}

func FuzzFilter(f *testing.F) {
	f.Add("core0.warp3=issue,weaver=fsm,core*.graphpeg=alwt,l2=fill,dram=cmd")
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := choose.ParseFilter(text)
		for i := range rules {
			_ = fmt.Sprint(err, rules[i].Unit("socket0.core0.weaver"), rules[i].Warp(3), rules[i].Kind("fsm"))
		}
	})
}

// TestLogOnThreads: a window shows the same on however many threads the machine is simulated. Who looks has one of them
// do the work of all.
func TestLogOnThreads(t *testing.T) {
	read := func(threads int) string {
		l, err := configs.LoadMachine("vortex-6c32w32t-graphpeg", nil, []string{"core.warps=4", "core.threads=8"})
		require.NoError(t, err)
		m, err := sim.New(l.Value, sim.Options{Threads: threads})
		require.NoError(t, err)
		f, err := choose.ParseFilter("*")
		require.NoError(t, err)
		s, err := window.Parse("cycles=0..2000")
		require.NoError(t, err)
		var to bytes.Buffer
		log, err := window.NewLog("", &to, megabytes, m, s, f)
		require.NoError(t, err)
		r, err := window.Attach(m, s, log)
		require.NoError(t, err)
		_, err = m.Run(context.Background(), program(t, "peg"))
		require.NoError(t, err)
		_, err = r.Close()
		require.NoError(t, err)
		return to.String()
	}
	want := strings.Split(read(1), "\n")
	require.Greater(t, len(want), 100)
	for _, threads := range []int{2, 3} {
		for i, line := range strings.Split(read(threads), "\n") {
			require.Equal(t, want[i], line, "%d threads", threads)
		}
	}
}
