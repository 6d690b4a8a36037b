package window_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	akita "github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"heddle/components/clock"
	"heddle/components/core"
	"heddle/internal/tools"
	"heddle/sim"
	"heddle/sim/choose"
	"heddle/sim/window"
)

// waves are a VCD file, read back: by name, a signal's values and the times from which it has them.
type waves struct {
	signals map[string]*wave
	last    uint64
}

type wave struct {
	bits   int
	times  []uint64
	values []string // of a number: its digits
}

// at is the value at a time; empty: it has none yet.
func (w *wave) at(now uint64) string {
	i, found := slices.BinarySearch(w.times, now)
	if !found {
		i--
	}
	if i < 0 {
		return ""
	}
	return w.values[i]
}

// readVCD reads a file as IEEE 1364 says it is, and holds it to that: scopes are closed, no two variables share a name
// or a code, times rise, and values fit.
func readVCD(t *testing.T, path string) *waves {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	w, codes, scopes := &waves{signals: map[string]*wave{}}, map[string]*wave{}, []string{}
	head, body, ok := strings.Cut(string(data), "$enddefinitions $end\n")
	require.True(t, ok)
	for _, line := range strings.Split(head, "\n") {
		switch f := strings.Fields(line); {
		case len(f) == 0:
		case f[0] == "$scope":
			scopes = append(scopes, f[2])
		case f[0] == "$upscope":
			scopes = scopes[:len(scopes)-1]
		case f[0] == "$var":
			name := strings.Join(append(slices.Clone(scopes), f[4]), ".")
			require.NotContains(t, w.signals, name)
			require.NotContains(t, codes, f[3])
			bits, err := strconv.Atoi(f[2])
			require.NoError(t, err)
			if f[1] == "string" {
				bits = 0
			}
			w.signals[name] = &wave{bits: bits}
			codes[f[3]] = w.signals[name]
		}
	}
	require.Empty(t, scopes)
	w.values(t, body, codes)
	return w
}

func (w *waves) values(t *testing.T, body string, codes map[string]*wave) {
	t.Helper()
	for _, line := range strings.Split(body, "\n") {
		if line == "" || line[0] == '$' {
			continue
		}
		value, code, apart := strings.Cut(line, " ")
		switch {
		case line[0] == '#':
			now, err := strconv.ParseUint(line[1:], 10, 64)
			if err != nil || now <= w.last && w.last != 0 {
				t.Fatalf("line %q after %d", line, w.last)
			}
			w.last = now
			continue
		case !apart:
			value, code = line[:1], line[1:]
		default:
			value = line[1:len(value)]
		}
		s := codes[code]
		if s == nil || (line[0] == 's') != (s.bits == 0) || s.bits > 0 && len(value) > s.bits {
			t.Fatalf("line %q", line)
		}
		if s.bits > 0 {
			n, err := strconv.ParseUint(value, 2, 64)
			if err != nil {
				t.Fatalf("line %q", line)
			}
			value = strconv.FormatUint(n, 10)
		}
		s.times, s.values = append(s.times, w.last), append(s.values, value)
	}
}

// witness records the activity of caches, memory and core 0 in a window, independently of the window's own code.
type witness struct {
	m      *sim.Machine
	spec   window.Spec
	now    uint64
	sees   map[string]map[uint64]string // by signal and cycle
	handle clock.Handle
}

func attend(t *testing.T, m *sim.Machine, s window.Spec) *witness {
	t.Helper()
	d, err := m.System.AddObserver("witness", m.Cores[0].ClockHandle().Domain().Period())
	require.NoError(t, err)
	w := &witness{m: m, spec: s, sees: map[string]map[uint64]string{}}
	if s.Cores.Has(0) {
		m.Cores[0].AcceptHook(&passes{w, 0})
	}
	w.handle = d.Add(w)
	w.handle.WakeAt(s.Cycles.First)
	return w
}

func (w *witness) see(at uint64, value any, format string, args ...any) {
	name := fmt.Sprintf(format, args...)
	if w.sees[name] == nil {
		w.sees[name] = map[uint64]string{}
	}
	w.sees[name][at] = fmt.Sprint(value)
}

// passes is a witness's hook at a core.
type passes struct {
	*witness
	core int
}

var stageOf = map[*akita.HookPos]string{
	core.HookPosFetch: "fetch", core.HookPosDecode: "decode", core.HookPosStage: "stage", core.HookPosIssue: "issue",
	core.HookPosDispatch: "dispatch", core.HookPosExecute: "execute", core.HookPosMemory: "memory",
	core.HookPosCommit: "commit",
}

func (p *passes) Func(ctx akita.HookCtx) {
	e := ctx.Item.(*core.HookEvent)
	if !p.spec.Warps.Has(uint64(e.Warp)) || !p.spec.Cycles.Has(e.Cycle) {
		return
	}
	slices := p.m.Cores[p.core].Slices()
	at := fmt.Sprintf("%s.slice%d.%s.", p.m.CorePath(p.core), e.Warp%slices, stageOf[ctx.Pos])
	before, _ := strconv.ParseUint(p.sees[at+"warps"][e.Cycle], 10, 64)
	p.see(e.Cycle, before|1<<e.Warp, "%s", at+"warps")
	p.see(e.Cycle, 1, "%s", at+"valid")
	if before == 0 {
		p.see(e.Cycle, e.Warp, "%s", at+"warp")
		if ctx.Pos == core.HookPosFetch || ctx.Pos == core.HookPosDecode {
			p.see(e.Cycle, e.PC, "%s", at+"pc")
		}
	}
}

func (w *witness) Tick(now clock.Cycle) bool {
	if now > w.spec.Cycles.Last {
		return false
	}
	w.now = now
	for _, c := range w.m.Caches {
		w.see(now, c.Pending(), "%s.pending", strings.ToLower(c.Name()))
	}
	w.see(now, w.m.Memory.Pending(), "memory.pending")
	if w.spec.Cores.Has(0) {
		w.core(0, now)
	}
	return now < w.spec.Cycles.Last
}

func (w *witness) core(n int, now uint64) {
	for i := range min(4, w.m.Cores[n].NumWarps()) {
		a := w.m.Arch.Core(n).Warp(i)
		w.see(now, a.PC(), "%s.warp%d.pc", w.m.CorePath(n), i)
		w.see(now, a.Mask(), "%s.warp%d.mask", w.m.CorePath(n), i)
	}
	if w.m.Units == nil {
		return
	}
	u := w.m.Units[n].(interface{ StateName() string })
	name := map[bool]string{true: "fsm", false: "state"}[strings.HasSuffix(w.m.UnitPath(n), ".weaver")]
	w.see(now, strings.ReplaceAll(u.StateName(), " ", "_"), "%s.%s", w.m.UnitPath(n), name)
}

// checkWaves: a VCD file has in every cycle the states that a witness has seen. A stage that no instruction has passed
// is not valid.
func checkWaves(t *testing.T, o *observed) {
	t.Helper()
	compared := 0
	for name, seen := range o.saw.sees {
		s := o.vcd.signals[name]
		require.NotNil(t, s, name)
		for at, value := range seen {
			if got := s.at(at); got != value && at < o.vcd.last {
				t.Fatalf("%s at %d: %s, but the machine has %s", name, at, got, value)
			}
			compared++
		}
	}
	require.Greater(t, compared, 10)
	passed := 0
	for name, s := range o.vcd.signals {
		if !strings.HasSuffix(name, ".valid") || s.bits != 1 {
			continue
		}
		for i, at := range s.times {
			if s.values[i] == "1" && o.saw.sees[name][at] != "1" {
				t.Fatalf("%s at %d: no instruction has passed", name, at)
			}
			passed++
		}
	}
	require.Positive(t, passed)
}

// TestWavesShowWarpStates: the states of warps are those of the Perfetto file.
func TestWavesShowWarpStates(t *testing.T) {
	o := observe(t, "vortex-1c4w4t-weaver", "weaver", "", megabytes)
	for w := range 4 {
		s := o.vcd.signals[fmt.Sprintf("socket0.core0.warp%d.state", w)]
		slices := o.trace.slices[fmt.Sprintf("Core0/warp %d", w)]
		require.NotEmpty(t, slices)
		for _, p := range slices {
			require.Equal(t, p.name, s.at(p.from))
			require.Equal(t, p.name, s.at(p.to-1))
		}
	}
}

// TestGTKWaveReads: GTKWave's converter takes the file, and gives back the same values.
func TestGTKWaveReads(t *testing.T) {
	to, from, dir := tools.Need(t, "vcd2fst"), tools.Need(t, "fst2vcd"), t.TempDir()
	m := assemble(t, "vortex-1c4w4t-weaver")
	v, err := window.NewVCD(filepath.Join(dir, "v"), megabytes, m, window.Everything(), nil)
	require.NoError(t, err)
	r, err := window.Attach(m, window.Everything(), v)
	require.NoError(t, err)
	_, err = m.Run(context.Background(), program(t, "weaver"))
	require.NoError(t, err)
	_, err = r.Close()
	require.NoError(t, err)
	out, err := exec.Command(to, filepath.Join(dir, "v"), filepath.Join(dir, "fst")).CombinedOutput()
	require.NoError(t, err, string(out))
	back, err := exec.Command(from, filepath.Join(dir, "fst")).Output()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "back"),
		bytes.ReplaceAll(back, []byte(" $enddefinitions"), []byte("$enddefinitions")), 0o644))
	want, got := readVCD(t, filepath.Join(dir, "v")), readVCD(t, filepath.Join(dir, "back"))
	require.Len(t, got.signals, len(want.signals))
	for name, s := range want.signals {
		require.Equal(t, s.times, got.signals[name].times, name)
		require.Equal(t, s.values, got.signals[name].values, name)
	}
}

func TestSignalsChosen(t *testing.T) {
	m, path := assemble(t, "vortex-1c4w4t-weaver"), filepath.Join(t.TempDir(), "v")
	for text, says := range map[string]string{
		"*.weaver.fms":              "*.weaver.fms: the machine has no such signal",
		"socket0.core0.weaver.fms":  "did you mean socket0.core0.weaver.fsm? (heddle inspect --list-signals)",
		"socket0.core0.weaver.fsm*": "",
		`/\.bank[0-3]\.state$/`:     "",
	} {
		patterns, err := choose.ParseList([]string{text})
		require.NoError(t, err)
		_, err = window.NewVCD(path, megabytes, m, window.Everything(), patterns)
		if says == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, says)
	}
	names := window.SignalNames(m)
	seen := map[string]bool{}
	for _, n := range names {
		require.False(t, seen[n.Name], n.Name)
		seen[n.Name] = true
	}
	for _, n := range []string{"socket0.core0.slice0.scheduler", "socket0.core0.slice0.issue.pc",
		"socket0.core0.warp3.state", "socket0.l1d.bank0.st1", "memory.channel0.bank0.state"} {
		require.Contains(t, seen, n)
	}
}
