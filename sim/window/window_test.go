package window_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	akita "github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"heddle/components/core"
	"heddle/components/eghw"
	"heddle/components/graphpeg"
	"heddle/components/hwwl"
	"heddle/components/weaver"
	"heddle/configs"
	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/micro"
	"heddle/sim"
	"heddle/sim/choose"
	"heddle/sim/window"
)

const megabytes = 64 << 20

// vertices is how many the graph of the units' programs has. Vertex v has v mod 5 edges, but for vertex 7 with 30.
const vertices = 40

// graphOf is the text behind a unit's program: its set-up, and the graph.
var graphOf = map[string]func() string{
	"peg": func() string {
		edges, text := graphText()
		return text + fmt.Sprintf("\nheddle.peg: .word 0, 0, 15, %d, offsets, %d, others, weights, 0, 1, 0x40000000, %d, list, 0\n", vertices, edges, vertices)
	},
	"eghw": func() string {
		edges, text := graphText()
		return text + fmt.Sprintf("\nheddle.eghw: .word %d, offsets, %d, others, weights\n", vertices, edges)
	},
	"hwwl": func() string {
		_, text := graphText()
		return text + fmt.Sprintf("\nheddle.peg: .word 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x40000000, %d, list, 0\n",
			vertices)
	},
}

func graphText() (edges int, text string) {
	offsets, others, weights, list := "offsets: .word 0", "others: .word 0", "weights: .word 0", "list: .word 0"
	for v := range vertices {
		degree := v % 5
		if v == 7 {
			degree = 30
		}
		for range degree {
			others, weights = others+fmt.Sprintf(", %d", (v+3*edges)%vertices), weights+fmt.Sprintf(", %d", edges)
			edges++
		}
		offsets += fmt.Sprintf(", %d", edges)
		if v > 0 {
			list += fmt.Sprintf(", %d", v)
		}
	}
	return edges, "\n.data\n.balign 64\n" + strings.Join([]string{offsets, others, weights, list}, "\n.balign 64\n")
}

// program is a micro-program, or a unit's: weaver, peg, eghw, or hwwl.
func program(t *testing.T, name string) *isa.Program {
	t.Helper()
	if data := graphOf[name]; data != nil {
		src, err := os.ReadFile("../testdata/" + name + ".s")
		require.NoError(t, err)
		p, err := asm.Assemble(name+".s", append(src, data()...),
			asm.Options{Base: 0x80000000, Defines: map[string]int64{"VERTICES": vertices, "SLOW": 30}})
		require.NoError(t, err)
		return p
	}
	if name != "weaver" {
		p, err := micro.Program(name, 2)
		require.NoError(t, err)
		return p
	}
	src, err := os.ReadFile("../testdata/weaver.s")
	require.NoError(t, err)
	p, err := asm.Assemble("weaver.s", src, asm.Options{Base: 0x80000000,
		Defines: map[string]int64{"VERTICES": 40, "SKIP": 0}})
	require.NoError(t, err)
	return p
}

func assemble(t *testing.T, machine string) *sim.Machine {
	t.Helper()
	name, set, _ := strings.Cut(machine, "+")
	l, err := configs.LoadMachine(name, nil, strings.Fields(set))
	require.NoError(t, err)
	m, err := sim.New(l.Value, sim.Options{Check: true})
	require.NoError(t, err)
	return m
}

// observed is a run with a window.
type observed struct {
	m      *sim.Machine
	res    sim.Result
	log    log
	trace  trace
	vcd    *waves
	saw    *witness
	notes  []string
	commit releases
}

// releases is a hook that notes when instructions of the window's warps are done.
type releases struct {
	spec window.Spec
	at   []uint64
}

func (r *releases) Func(ctx akita.HookCtx) {
	if e := ctx.Item.(*core.HookEvent); ctx.Pos == core.HookPosCommit && r.spec.Warps.Has(uint64(e.Warp)) {
		r.at = append(r.at, e.Cycle+core.WriteBack)
	}
}

func observe(t *testing.T, machine, prog, spec string, limit int) (o observed) {
	t.Helper()
	o.m = assemble(t, machine)
	s, err := window.Parse(spec)
	require.NoError(t, err)
	o.commit.spec = s
	for n, c := range o.m.Cores {
		if s.Cores.Has(uint64(n)) {
			c.AcceptHook(&o.commit)
		}
	}
	dir := t.TempDir()
	k, err := window.NewKonata(filepath.Join(dir, "k"), limit, o.m.Cores[0].NumWarps(), s.Cycles.First)
	require.NoError(t, err)
	p, err := window.NewPerfetto(filepath.Join(dir, "p"), limit, s.Cycles.First)
	require.NoError(t, err)
	z, err := window.NewPerfetto(filepath.Join(dir, "p.gz"), limit, s.Cycles.First)
	require.NoError(t, err)
	shown := "*"
	if len(o.m.Cores) > 2 { // there are many
		shown = "socket0.core0.*,socket0.l1?.*,*pending,memory.*"
	}
	every, err := choose.ParseList([]string{shown})
	require.NoError(t, err)
	v, err := window.NewVCD(filepath.Join(dir, "v"), limit, o.m, s, every)
	require.NoError(t, err)
	r, err := window.Attach(o.m, s, k, p, v, z)
	require.NoError(t, err)
	o.saw = attend(t, o.m, s)
	o.res, err = o.m.Run(context.Background(), program(t, prog))
	require.NoError(t, err)
	require.NoError(t, o.m.CheckInvariants())
	o.notes, err = r.Close()
	require.NoError(t, err)
	o.log, o.trace = readKonata(t, filepath.Join(dir, "k")), readPerfetto(t, filepath.Join(dir, "p"))
	o.vcd = readVCD(t, filepath.Join(dir, "v"))
	unpack(t, filepath.Join(dir, "p.gz"), filepath.Join(dir, "unpacked"))
	if len(o.notes) == 0 {
		require.Equal(t, o.trace, readPerfetto(t, filepath.Join(dir, "unpacked")))
	} else {
		require.GreaterOrEqual(t, len(readPerfetto(t, filepath.Join(dir, "unpacked")).slices), len(o.trace.slices))
	}
	for _, name := range []string{"k", "p", "v", "p.gz"} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(limit))
	}
	return o
}

// part is a stage, or a wait, in a log.
type part struct {
	name     string
	from, to uint64
}

type instr struct {
	thread       int
	label        string
	stages, wait []part
	retired      bool
}

// log is a file in Konata's format.
type log struct {
	first, last uint64
	instrs      map[int]*instr
}

// readKonata reads a log, and checks the properties of any log: every instruction begins once, is in one stage at a
// time until it retires, with no gap, and waits within a stage.
func readKonata(t *testing.T, path string) log {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	require.Equal(t, "Kanata\t0004", lines[0])
	l := log{instrs: map[int]*instr{}}
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, line := range lines[1:] {
		f := strings.Split(line, "\t")
		if f[0] == "C=" || f[0] == "C" {
			l.last += uint64(number(f[1]))
			if f[0] == "C=" {
				l.first = l.last
			}
			continue
		}
		i := l.instrs[number(f[1])]
		if (f[0] != "I") != (i != nil) {
			t.Fatalf("line %q", line)
		}
		switch f[0] {
		case "I":
			l.instrs[number(f[1])] = &instr{thread: number(f[3])}
		case "L":
			i.label += f[3]
		case "S":
			if i.retired {
				t.Fatalf("line %q", line)
			}
			list := &i.stages
			if f[2] == "1" {
				list = &i.wait
			} else {
				i.end(t, l.last)
			}
			*list = append(*list, part{f[3], l.last, 0})
		case "E":
			w := &i.wait[len(i.wait)-1]
			if f[2] != "1" || f[3] != w.name || w.to != 0 || l.last <= w.from {
				t.Fatalf("line %q", line)
			}
			w.to = l.last
		case "R":
			i.end(t, l.last)
			i.retired = true
		default:
			t.Fatalf("line %q", line)
		}
	}
	for _, i := range l.instrs {
		if !i.retired {
			i.stages[len(i.stages)-1].to = l.last
		}
		if n := len(i.wait); n > 0 && i.wait[n-1].to == 0 {
			i.wait[n-1].to = l.last
		}
		i.check(t)
	}
	return l
}

// end ends the last stage.
func (i *instr) end(t *testing.T, at uint64) {
	if n := len(i.stages); n > 0 {
		s := &i.stages[n-1]
		s.to = at
		if s.to <= s.from {
			t.Fatalf("%s: stage %s", i.label, s.name)
		}
	}
}

var order = map[string]int{"F": 0, "Dc": 1, "Ib": 2, "Sb": 3, "Op": 4, "Di": 5, "Ex": 6, "Me": 7, "Cm": 8}

func (i *instr) check(t *testing.T) {
	for k, s := range i.stages {
		if _, ok := order[s.name]; !ok || k > 0 &&
			(i.stages[k-1].to != s.from || order[i.stages[k-1].name] >= order[s.name]) {
			t.Fatalf("%s: %v", i.label, i.stages)
		}
	}
	for _, w := range i.wait {
		in := false
		for _, s := range i.stages {
			in = in || (s.name == "Sb" || s.name == "Me") && s.from <= w.from && w.to <= s.to
		}
		if !in {
			t.Fatalf("%s: %v in %v", i.label, w, i.stages)
		}
	}
}

func (l *log) retired() (n uint64) {
	for _, i := range l.instrs {
		if i.retired {
			n++
		}
	}
	return n
}

// waits adds up the cycles before the scoreboard by cause.
func (l *log) waits() map[string]uint64 {
	sum := map[string]uint64{}
	for _, i := range l.instrs {
		for _, w := range i.wait {
			sum[w.name] += w.to - w.from
		}
	}
	return sum
}

// trace is a file in Chrome's format: the slices of each track, and the counters.
type trace struct {
	slices   map[string][]part // by process and thread
	counters map[string][]float64
}

func readPerfetto(t *testing.T, path string) trace {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var f struct {
		TraceEvents []struct {
			Name, Ph string
			Ts, Dur  json.Number
			PID, TID int
			Args     map[string]any
		}
	}
	require.NoError(t, json.Unmarshal(data, &f))
	tr := trace{map[string][]part{}, map[string][]float64{}}
	type id struct{ pid, tid int }
	names, slices := map[id]string{}, map[id][]part{}
	cycles := func(n json.Number) uint64 {
		c, err := strconv.ParseUint(strings.Replace(n.String(), ".", "", 1), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, e := range f.TraceEvents {
		at := id{e.PID, e.TID}
		switch e.Ph {
		case "M":
			if e.Name == "process_name" {
				at.tid = -1
			}
			require.NotContains(t, names, at)
			names[at] = e.Args["name"].(string)
		case "X":
			from := cycles(e.Ts)
			slices[at] = append(slices[at], part{e.Name, from, from + cycles(e.Dur)})
		case "C":
			tr.counters[e.Name] = append(tr.counters[e.Name], e.Args["value"].(float64))
		}
	}
	for at, list := range slices {
		for k := 1; k < len(list); k++ {
			if list[k-1].to > list[k].from {
				t.Fatalf("slices of a track overlap: %v, %v", list[k-1], list[k])
			}
		}
		require.Contains(t, names, at)
		name := names[id{at.pid, -1}] + "/" + names[at]
		require.NotContains(t, tr.slices, name)
		tr.slices[name] = list
	}
	return tr
}

// time adds up slices by their name, of the tracks whose name begins so.
func (tr *trace) time(track string) map[string]uint64 {
	sum := map[string]uint64{}
	for name, list := range tr.slices {
		_, thread, _ := strings.Cut(name, "/")
		if strings.HasPrefix(thread, track) {
			for _, s := range list {
				sum[s.name] += s.to - s.from
			}
		}
	}
	return sum
}

const worklists = "vortex-6c32w32t-hwwl+core.warps=4 core.threads=8"

var machines = []string{"vortex-1c4w4t-weaver", "vortex-1c4w4t-graphpeg", "vortex-1c4w4t-eghw", "vortex-rtl-m6",
	"vortex-6c32w32t"}

// programs that a machine can run.
func programs(machine string) []string {
	switch machine {
	case "vortex-1c4w4t-weaver":
		return []string{"alu_chain", "fma_chain", "ld_rand", "st_coal", "diverge", "barrier", "weaver"}
	case "vortex-1c4w4t-graphpeg":
		return []string{"peg"}
	case "vortex-1c4w4t-eghw":
		return []string{"eghw"}
	case "vortex-rtl-m6":
		return []string{"diverge", "barrier"}
	}
	return []string{"alu_chain"}
}

// TestWindowOnlyLooks: a run with a window has the cycles and counts of one without; and the log and the trace add up
// to these counts.
func TestWindowOnlyLooks(t *testing.T) {
	for _, machine := range machines {
		list := programs(machine)
		for _, prog := range testenv.Some(t, 0, len(list), list) {
			t.Run(machine+"/"+prog, func(t *testing.T) {
				t.Parallel()
				o, m := observe(t, machine, prog, "", megabytes), assemble(t, machine)
				res, err := m.Run(context.Background(), program(t, prog))
				require.NoError(t, err)
				require.Equal(t, res, o.res)
				require.Equal(t, m.Statistics(), o.m.Statistics())
				require.Empty(t, o.notes)
				checkSums(t, &o)
				checkWaves(t, &o)
			})
		}
	}
}

// checkSums compares with the cores' counts.
func checkSums(t *testing.T, o *observed) {
	committed, selected, states := uint64(0), uint64(0), map[string]uint64{}
	for _, c := range o.m.Cores {
		s := c.Counts()
		committed += s.Committed
		for k, n := range s.Warps {
			name, _ := s.Warps.Describe(k)
			states[name] += n
		}
		selected += s.Issued
	}
	require.Equal(t, committed, o.log.retired())
	waits, warps := o.log.waits(), o.trace.time("warp ")
	for _, name := range []string{"long_scoreboard", "short_scoreboard", "wait", "not_selected", "lg_throttle",
		"mio_throttle", "math_pipe_throttle", "dispatch"} {
		require.Equal(t, states[name], waits[name], name)
	}
	require.Equal(t, selected, warps["selected"])
	require.Equal(t, o.res.Cycles/16 > 3, len(o.trace.counters["Memory bytes/cycle"]) > 0)
}

// TestWindowIsAPart: a window's log is the part of the whole run's log in the window.
func TestWindowIsAPart(t *testing.T) {
	testenv.NeedSlow(t, "it simulates each window and the whole")
	for machine, prog := range map[string]string{"vortex-1c4w4t": "ld_rand", "vortex-1c4w4t-weaver": "weaver"} {
		whole := observe(t, machine, prog, "", megabytes)
		end := whole.res.Cycles
		for _, spec := range []string{"cycles=" + number(end/3) + ".." + number(end/2),
			"cycles=" + number(end/2) + ",warps=1..2", "cycles=" + number(end/4) + "..,cores=0", "warps=0..1"} {
			t.Run(machine+"/"+spec, func(t *testing.T) {
				o := observe(t, machine, prog, spec, megabytes)
				require.Equal(t, whole.res, o.res)
				done := uint64(0)
				for _, at := range o.commit.at {
					if o.commit.spec.Cycles.Has(at) {
						done++
					}
				}
				require.Equal(t, done, o.log.retired())
				require.Equal(t, clip(&whole, &o), flat(o.log.instrs, o.log.first, o.log.last))
				require.NotEmpty(t, o.log.instrs)
				require.NotEmpty(t, o.trace.time("warp "))
				checkWaves(t, &o)
			})
		}
	}
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// clip cuts the whole log to the window of another.
func clip(whole, o *observed) map[string]int {
	s, warps := o.commit.spec, o.m.Cores[0].NumWarps()
	in := map[int]*instr{}
	for id, i := range whole.log.instrs {
		if s.Warps.Has(uint64(i.thread%warps)) && s.Cores.Has(uint64(i.thread/warps)) {
			in[id] = i
		}
	}
	return flat(in, o.log.first, o.log.last)
}

// flat lists stages within cycles, with how often each is there: instructions have other numbers in other windows.
func flat(instrs map[int]*instr, first, last uint64) map[string]int {
	out := map[string]int{}
	for _, i := range instrs {
		for _, p := range append(append([]part{}, i.stages...), i.wait...) {
			if from, to := max(p.from, first), min(p.to, last); from < to {
				out[strings.Join([]string{strconv.Itoa(i.thread), p.name, number(from), number(to)}, " ")]++
			}
		}
	}
	return out
}

// TestWeaverStates: the FSM's states are on a track of their own, as long as the unit has counted, and beside
// the instructions that wait for it.
func TestWeaverStates(t *testing.T) {
	o := observe(t, "vortex-1c4w4t-weaver", "weaver", "", megabytes)
	shown, waited, counted := o.trace.time("graph unit"), o.log.waits(),
		o.m.Units[0].Statistics(o.res.Cycles+1).(*weaver.Stats)
	busy := 0
	for k, n := range counted.States {
		name := weaver.S(k).String()
		if k > 0 && k < len(counted.States)-1 { // the first and last also go on while the core is not in the window
			require.Equal(t, n, shown[name], name)
		}
		if waited[name] > 0 {
			busy++
		}
	}
	require.Greater(t, busy, 4)
}

// TestGraphPEGStates: causes of waiting pops, and the ALWT's entries, are on tracks of their own, for the cycles that
// the unit has counted; pops are beside the instructions that wait for them.
func TestGraphPEGStates(t *testing.T) {
	o := observe(t, "vortex-1c4w4t-graphpeg+core.graphpeg.alwt_entries=1 core.graphpeg.edge_buffer_bytes=512 "+
		"core.warps=8 core.threads=8", "peg", "", megabytes)
	shown, waited, counted := o.trace.time("graph unit"), o.log.waits(),
		o.m.Units[0].Statistics(o.res.Cycles+1).(*graphpeg.Stats)
	require.Equal(t, counted.StallShort.Count(), shown["offsets"]+shown["edges"]+shown["vertices"])
	require.Equal(t, counted.StallDone.Count(), shown["others"])
	require.Positive(t, waited["offsets"])
	require.Positive(t, waited["edges"])
	require.Positive(t, waited["answers"])
	entries := o.trace.time("alwt")
	for _, s := range []graphpeg.Status{graphpeg.FI, graphpeg.FE} { // with one entry none stays ready
		require.Positive(t, counted.Statuses[s])
		require.Equal(t, counted.Statuses[s], entries[s.String()], s)
	}
	require.NotEmpty(t, o.trace.counters["buffer.valid"])
}

// TestEGHWStates: the same of edge-generating hardware, whose every cycle is attributed to a state.
func TestEGHWStates(t *testing.T) {
	o := observe(t, "vortex-1c4w4t-eghw", "eghw", "", megabytes)
	shown, waited, counted := o.trace.time("graph unit"), o.log.waits(),
		o.m.Units[0].Statistics(o.res.Cycles+1).(*eghw.Stats)
	for k, n := range counted.States {
		name, _ := counted.States.Describe(k)
		if name == "idle" { // also while the core is not in the window
			continue
		}
		require.Equal(t, n, shown[name], name)
		require.Positive(t, waited[name], name)
	}
}

// TestWorklistStates: a worklist's pops wait for other cores when they wait.
func TestWorklistStates(t *testing.T) {
	o := observe(t, worklists, "hwwl", "", megabytes)
	stalled := uint64(0)
	for _, u := range o.m.Units {
		s := u.Statistics(o.res.Cycles + 1).(*hwwl.Stats)
		stalled += s.StallShort.Count() + s.StallDone.Count()
	}
	shown := o.trace.time("graph unit")
	require.Positive(t, stalled)
	require.Equal(t, stalled, shown["vertices"]+shown["others"])
}

// TestBanksHaveTracks: DRAM banks are in the states that the signals say.
func TestBanksHaveTracks(t *testing.T) {
	o, banks := observe(t, "vortex-1c4w4t", "ld_rand", "", megabytes), 0
	for name, slices := range o.trace.slices {
		bank, ok := strings.CutPrefix(name, "caches and memory/memory channel")
		if !ok || strings.HasSuffix(bank, ".mode") {
			continue
		}
		banks++
		for _, p := range slices {
			w := o.vcd.signals["memory.channel"+bank+".state"]
			require.Equal(t, p.name, w.at(p.from))
			require.Equal(t, p.name, w.at(p.to-1))
		}
	}
	require.Positive(t, banks)
	time := o.trace.time("memory channel")
	for _, state := range []string{"closed", "activating", "open"} {
		require.Positive(t, time[state], state)
	}
}

// unpack writes the contents of a gzip file.
func unpack(t *testing.T, from, to string) {
	t.Helper()
	f, err := os.Open(from)
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	b, err := io.ReadAll(z)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile(to, b, 0o644))
}

// TestAFullDiskEndsTheRun: a failed write ends the run at once, for every export.
func TestAFullDiskEndsTheRun(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no /dev/full here")
	}
	for name, open := range map[string]func(m *sim.Machine) (window.Export, error){
		"Perfetto": func(*sim.Machine) (window.Export, error) { return window.NewPerfetto(full, window.MaxBytes, 0) },
		"Konata": func(m *sim.Machine) (window.Export, error) {
			return window.NewKonata(full, window.MaxBytes, m.Cores[0].NumWarps(), 0)
		},
	} {
		m := assemble(t, "vortex-1c4w4t")
		s, err := window.Parse("")
		require.NoError(t, err)
		x, err := open(m)
		require.NoError(t, err)
		r, err := window.Attach(m, s, x)
		require.NoError(t, err)
		_, err = m.Run(context.Background(), program(t, "ld_rand"))
		var failure *window.WriteError
		require.ErrorAs(t, err, &failure, name)
		require.EqualError(t, failure, "/dev/full: no space left on device")
		_, closing := r.Close()
		require.ErrorIs(t, closing, failure)
		require.Equal(t, failure.Error(), closing.Error(), "once")
	}
}

// TestFilesAreBounded: a file ends, well formed, before it exceeds its limit, and the run reports it.
func TestFilesAreBounded(t *testing.T) {
	o := observe(t, "vortex-1c4w4t", "ld_rand", "", window.MinBytes)
	require.Len(t, o.notes, 3)
	require.Contains(t, o.notes[0], "it would have grown over 65536 bytes (--window-bytes")
	require.NotEmpty(t, o.log.instrs)
	require.NotEmpty(t, o.trace.counters)
	_, err := window.NewKonata(filepath.Join(t.TempDir(), "k"), window.MinBytes-1, 1, 0)
	require.ErrorContains(t, err, "expected 65536 to")
}

func TestAWindowAfterTheEnd(t *testing.T) {
	o := observe(t, "vortex-1c4w4t", "alu_chain", "cycles=900000000..", megabytes)
	require.Empty(t, o.log.instrs)
	require.Regexp(t, `the window begins at cycle 900000000, and the run ended before, at cycle \d+: nothing was seen`,
		o.notes[0])
}

func TestParse(t *testing.T) {
	s, err := window.Parse("cycles=10..20,warps=3")
	require.NoError(t, err)
	require.Equal(t, window.Range{First: 10, Last: 20}, s.Cycles)
	require.Equal(t, window.Range{First: 3, Last: 3}, s.Warps)
	require.Equal(t, window.Everything().Cores, s.Cores)
	for text, says := range map[string]string{
		"lanes=1": "expected cycles=A..B", "cycles=1,cycles=2": "each at most once", "cycles=5..4": "5..4 ends before it begins",
		"cycles": `"": expected a number`, "cycles=-1": `"-1": expected a number`, "warps=0..99999999999999999999": "expected a number",
	} {
		_, err := window.Parse(text)
		require.ErrorContains(t, err, says)
	}
	s, err = window.Parse("cores=7")
	require.NoError(t, err)
	require.ErrorContains(t, s.Check(2, 4), "cores=7: the machine has 2")
}

func FuzzParse(f *testing.F) {
	f.Add("cycles=10..20,warps=3")
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := window.Parse(text); err == nil {
			require.LessOrEqual(t, s.Cycles.First, s.Cycles.Last)
		}
	})
}
