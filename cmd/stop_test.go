package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var weaverRun = []string{"exec", "../sim/testdata/weaver.s", "-D", "VERTICES=40", "-D", "SKIP=0"}

func weaverExec(t *testing.T, more ...string) (out, errs string, code int) {
	t.Helper()
	return heddle(t, append(append([]string{}, weaverRun...), more...)...)
}

// A run stops in the cycle in which the instruction is issued by the log.
func TestBreak(t *testing.T) {
	timed := []string{"--machine", "vortex-1c4w4t-weaver"}
	_, log, code := weaverExec(t, append(timed, "--log", "core0.warp1=issue")...)
	require.Equal(t, exitOK, code)
	first := regexp.MustCompile(`(?m)^(\d+) socket0\.core0\.warp1 issue: 800000a0 .*<loop\+0x8>`).FindStringSubmatch(log)
	require.NotNil(t, first)
	for _, place := range []string{"loop+8,warp=1", "0x800000a0,core=0,warp=1"} {
		out, errs, code := weaverExec(t, append(timed, "--break", place, "--dump", "--window", "warps=1")...)
		require.Equal(t, exitStopped, code, errs)
		require.True(t, strings.HasPrefix(out,
			"stopped at cycle "+first[1]+": "+place+": core 0 warp 1 issues 0x800000a0 <loop+0x8>: weaver.dec.id a0\n"), out)
		require.Contains(t, out, "awaits a0 (unit)")
		require.NotContains(t, out, "  warp 0: ")
	}
	out, _, code := weaverExec(t, append(timed, "--break", "loop")...)
	require.Equal(t, exitStopped, code)
	require.Empty(t, out)
}

// A dump shows the state of the machine: at the end, the results of the program.
func TestDump(t *testing.T) {
	timed := []string{"--machine", "vortex-1c4w4t-weaver", "--dump"}
	for _, at := range []string{"400", "2900"} {
		out, errs, code := weaverExec(t, append(timed, "--json", "--at-cycle", at)...)
		require.Equal(t, exitStopped, code, errs)
		var r struct {
			Cycles uint64
			State  struct {
				Cycle uint64
				Cores []struct {
					Warps []struct {
						Warp      int
						PC        string
						Registers []struct {
							Reg   string
							Lanes []string
						}
						Pipeline struct {
							InFlight *int `json:"in_flight"`
						}
					}
					Unit  string
					Holds struct{ Phase string }
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		require.Equal(t, at, strconv.FormatUint(r.State.Cycle, 10))
		require.Len(t, r.State.Cores[0].Warps, 4)
		require.Equal(t, "socket0.core0.weaver", r.State.Cores[0].Unit)
		require.NotEmpty(t, r.State.Cores[0].Holds.Phase)
		for _, w := range r.State.Cores[0].Warps {
			require.NotNil(t, w.Pipeline.InFlight)
			for _, x := range w.Registers {
				require.Len(t, x.Lanes, 4)
			}
		}
	}
	out, _, _ := weaverExec(t, append(timed, "--at-cycle", "2872")...)
	require.Contains(t, out, "amoadd.w")     // an access under way
	require.Regexp(t, `L1D.* MSHR \d+`, out) // and its miss
	require.Contains(t, out, "ced: vid ")
}

// The functional machine stops before the same instruction, with the registers that it reads.
func TestBreakFunctional(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "a.s")
	require.NoError(t, os.WriteFile(src, []byte("_start:\n\tli t0, 5\n\tli t1, 7\nsum:\n\tadd t2, t0, t1\n\tfcvt.s.w "+
		"fa0, t2\nafter:\n\tsw zero, 0x88(zero)\n\ttmc zero\n"), 0o644))
	for _, machine := range [][]string{{"--functional"}, {"--machine", "vortex-1c4w4t"}} {
		out, errs, code := heddle(t, append([]string{"exec", src, "--break", "sum", "--dump"}, machine...)...)
		require.Equal(t, exitStopped, code, errs)
		require.Regexp(t, `(?m)^    t0   00000005`, out)
		require.Regexp(t, `(?m)^    t1   00000007`, out)
		require.NotRegexp(t, `(?m)^    t2 `, out)
	}
	out, _, code := heddle(t, "exec", src, "--functional", "--break", "after", "--dump")
	require.Equal(t, exitStopped, code)
	require.Regexp(t, `(?m)^    t2   0000000c`, out)
	require.Regexp(t, `(?m)^    fa0  12`, out)
	_, errs, code := heddle(t, "exec", src, "--functional", "--break", "0x10", "--dump")
	require.Equal(t, exitOK, code)
	require.Contains(t, errs, "--break 0x10: the run ended, and it was not executed")
}

func TestBreakRefused(t *testing.T) {
	timed := []string{"--machine", "vortex-1c4w4t-weaver"}
	for says, args := range map[string][]string{
		"--dump: expected --break PLACE or --at-cycle N":   append(timed, "--dump"),
		"has no symbol lop; did you mean loop?":            append(timed, "--break", "lop"),
		"expected core=N or warp=N":                        append(timed, "--break", "loop,lane=1"),
		"--break loop,warp=9: a core has 4 warps":          append(timed, "--break", "loop,warp=9"),
		"--break loop,core=1: the machine has 1 cores":     append(timed, "--break", "loop,core=1"),
		`--break loop+x: "x": expected an offset in bytes`: append(timed, "--break", "loop+x"),
		"--at-cycle is for timed machines":                 {"--functional", "--weaver", "--at-cycle", "5"},
	} {
		_, errs, code := weaverExec(t, args...)
		require.Equal(t, exitUsage, code, errs)
		require.Contains(t, errs, says)
	}
	_, errs, code := weaverExec(t, append(timed, "--at-cycle", "1000000")...)
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, errs, "--at-cycle 1000000: the run ended before, at cycle ")
}

// heddle inspect stops in the launch whose program has the symbol, and shows every kind of unit.
func TestLookBreak(t *testing.T) {
	for machine, shows := range map[string]string{"vortex-1c4w4t-weaver": "fsm: ", "vortex-1c4w4t-graphpeg": "efs ",
		"vortex-1c4w4t-eghw": "reserved: "} {
		small := filepath.Join(t.TempDir(), "small.yaml")
		schedule := map[string]string{"graphpeg": "peg", "weaver": "weaver",
			"eghw": "eghw"}[machine[len("vortex-1c4w4t-"):]]
		require.NoError(t, os.WriteFile(small,
			[]byte("name: t\nmachine: "+machine+
				"\ngraph: {erdos_renyi: {vertices: 64, edges: 256}}\nworkload: {algorithm: bfs, schedule: "+schedule+"}\n"), 0o644))
		out, errs, code := heddle(t, "inspect", small, "--at-cycle", "3000", "--dump")
		require.Equal(t, exitStopped, code, errs)
		require.True(t, strings.HasPrefix(out, "stopped at cycle 3000: as was asked\n"), out)
		require.Contains(t, out, shows)
		out, errs, code = heddle(t, "inspect", small, "--break", "heddle.edge", "--dump", "--json")
		require.Equal(t, exitStopped, code, errs)
		var s struct{ Stopped string }
		require.NoError(t, json.Unmarshal([]byte(out), &s))
		require.Contains(t, s.Stopped, "issues 0x")
	}
}
