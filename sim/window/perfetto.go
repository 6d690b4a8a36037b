package window

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle/components/probe"
	"heddle/sim"
)

// Perfetto is an export in Chrome's trace format, which ui.perfetto.dev and chrome://tracing show: a process for
// every core, with a track for each warp's state, for what its units execute, and for the state of its graph unit;
// and one for caches and memory, with counters. A cycle is shown as a nanosecond.
type Perfetto struct {
	*file
	from    uint64
	some    bool // an event
	tracks  map[track]*span
	busy    map[track][]uint64 // by core and unit: for each of its tracks, the cycle from which it is free
	names   []string           // of counted
	before  []uint64
	counted uint64 // cycle
	states  []shownState
	levels  []shownLevel
}

// shownState is a state of a unit that has a track, shownLevel a number that has a counter.
type (
	shownState struct {
		track
		title string
		of    probe.Signal
	}
	shownLevel struct {
		pid  int
		name string
		of   probe.Signal
	}
)

// track is a thread of a process.
type track struct{ pid, tid int }

// span is a state that has not ended.
type span struct {
	name string
	from uint64
}

// Numbers of tracks. Process 0 is memory's, process n+1 core n's.
const (
	warpTracks = 1
	unitState  = 90
	unitTracks = 100  // times one more than the unit's number
	moreStates = 1000 // and on: further states of graph units, and banks of memory
)

// countEvery is the interval of counters, in cycles.
const countEvery = 16

// closing ends the file.
const closing = "\n]}\n"

// NewPerfetto creates a file for a window that begins at a cycle; it grows no larger than so many bytes.
func NewPerfetto(path string, limit int, first uint64) (*Perfetto, error) {
	f, err := create(path, limit)
	if err != nil {
		return nil, err
	}
	f.write(first, []byte("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"), 0)
	p := &Perfetto{file: f, from: first, tracks: map[track]*span{}, busy: map[track][]uint64{}}
	p.name(track{0, 0}, "process_name", "caches and memory")
	return p, nil
}

// event is one of the format's. Times are in microseconds, with three digits: nanoseconds.
type event struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	Time  json.Number    `json:"ts,omitempty"`
	Dur   json.Number    `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Args  map[string]any `json:"args,omitempty"`
}

// micros writes a number of cycles.
func micros(cycles uint64) json.Number {
	return json.Number(fmt.Sprintf("%d.%03d", cycles/1000, cycles%1000))
}

// emit writes an event, wholly or not at all.
func (p *Perfetto) emit(now uint64, e event) {
	b, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("BUG: window @%d: %v", now, err))
	}
	if p.some {
		b = append([]byte(",\n"), b...)
	}
	p.file.write(now, b, len(closing))
	p.some = true
}

// name names a track, or its process.
func (p *Perfetto) name(t track, what, name string) {
	p.emit(p.from, event{Name: what, Phase: "M", PID: t.pid, TID: t.tid, Args: map[string]any{"name": name}})
}

// state says in which state a track is in the cycle; empty: none.
func (p *Perfetto) state(t track, title, state string, now uint64) {
	s := p.tracks[t]
	if s == nil {
		if state == "" {
			return
		}
		s = &span{}
		p.tracks[t] = s
		p.name(t, "thread_name", title)
	}
	if s.name == state {
		return
	}
	p.slice(t, s, now)
	*s = span{state, now}
}

// slice writes the state that ends before a cycle.
func (p *Perfetto) slice(t track, s *span, at uint64) {
	if s.name != "" && at > s.from {
		p.emit(at, event{Name: s.name, Phase: "X", Time: micros(s.from), Dur: micros(at - s.from), PID: t.pid, TID: t.tid})
	}
}

func (p *Perfetto) show(i *Inst, at uint64) {
	if i.stage == execute || i.stage == memory {
		p.start(i, at)
	}
}

func (p *Perfetto) enter(i *Inst, at uint64) {
	if i.stage == execute || i.stage == memory && i.executes == at {
		p.start(i, at)
	}
}

func (*Perfetto) wait(*Inst, string, uint64) {}

// start finds a track of the unit that has nothing else.
func (p *Perfetto) start(i *Inst, at uint64) {
	t := track{i.core + 1, unitTracks * (1 + int(i.unit()))}
	lanes := p.busy[t]
	for i.lane = 0; i.lane < len(lanes) && lanes[i.lane] > at; i.lane++ {
	}
	if i.lane == len(lanes) {
		lanes = append(lanes, 0)
		p.name(track{t.pid, t.tid + i.lane}, "thread_name", fmt.Sprintf("%s %d", i.unit(), i.lane))
	}
	lanes[i.lane] = all.Last
	p.busy[t] = lanes
}

// retire writes what was executed, from its start in the unit or the window until it is written back.
func (p *Perfetto) retire(i *Inst, _ uint64) {
	t := track{i.core + 1, unitTracks * (1 + int(i.unit()))}
	from := max(i.executes, p.from)
	if i.lane >= len(p.busy[t]) || i.since <= from { // it was written back when the window began
		return
	}
	p.busy[t][i.lane] = i.since
	t.tid += i.lane
	p.emit(i.since, event{Name: i.text(), Phase: "X", Time: micros(from), Dur: micros(i.since - from), PID: t.pid, TID: t.tid,
		Args: map[string]any{"warp": i.warp, "pc": fmt.Sprintf("%08x", i.pc), "lanes": fmt.Sprintf("%08x", i.mask)}})
}

func (p *Perfetto) tick(l *look) {
	for n, warps := range l.warps {
		for w, state := range warps {
			p.state(track{n + 1, warpTracks + w}, fmt.Sprintf("warp %d", w), state, l.now)
		}
	}
	for n, state := range l.units {
		p.state(track{n + 1, unitState}, "graph unit", state, l.now)
	}
	if p.names == nil {
		p.begin(l)
	}
	for i := range p.states {
		s := &p.states[i]
		p.state(s.track, s.title, s.of.Text(), l.now)
	}
	if l.now%countEvery == 0 && l.now > p.counted {
		p.counters(l)
	}
}

// begin names the cores and begins to count.
func (p *Perfetto) begin(l *look) {
	for n, c := range l.m.Cores {
		p.name(track{n + 1, 0}, "process_name", c.Name())
	}
	p.names, p.before = flows(l.m)
	p.counted = l.now
	for _, u := range l.m.Signals() {
		switch {
		case u.Graph && l.spec.Cores.Has(uint64(u.Core)):
			p.units(u.Core+1, "", u.Signals)
		case u.Core < 0 && u.Unit == strings.ToLower(l.m.Memory.Name()):
			p.units(0, u.Unit+" ", u.Signals)
		}
	}
	if l.step > 0 {
		p.stepped(l)
	}
}

// units gives what a unit shows tracks and counters. A graph unit's own state has a track already.
func (p *Perfetto) units(pid int, prefix string, signals probe.List) {
	for _, s := range signals {
		switch {
		case s.Detail, s.Name == "fsm", s.Name == "state", s.Name == "pending":
		case s.States != nil:
			p.states = append(p.states, shownState{track{pid, moreStates + len(p.states)}, prefix + strings.TrimSuffix(s.Name, ".state"), s})
		default:
			p.levels = append(p.levels, shownLevel{pid, prefix + s.Name, s})
		}
	}
}

// stepped shows a super-step's active vertices. Between launches the window has not gone on.
func (p *Perfetto) stepped(l *look) {
	if now := l.m.Instant(); p.names != nil && l.spec.Cycles.Has(now) {
		p.counter(0, now, "super-step", float64(l.step))
		p.counter(0, now, "frontier vertices", float64(l.frontier))
		p.counter(0, now, "frontier edges", float64(l.outgoing))
	}
}

// flows are what is shown as so much a cycle.
func flows(m *sim.Machine) (names []string, counts []uint64) {
	add := func(name string, n uint64) { names, counts = append(names, name), append(counts, n) }
	for _, c := range m.Caches {
		s := c.Stats()
		add(c.Name()+" requests/cycle", s.Reads+s.Writes+s.Atomics)
		add(c.Name()+" fills/cycle", s.Fills)
	}
	add(m.Memory.Name()+" bytes/cycle", m.Memory.Bytes())
	return names, counts
}

// counters shows what is there, and what has flowed since they were shown last.
func (p *Perfetto) counters(l *look) {
	names, counts := flows(l.m)
	for i, name := range names {
		p.counter(0, l.now, name, float64(counts[i]-p.before[i])/float64(l.now-p.counted))
	}
	p.before, p.counted = counts, l.now
	for _, c := range l.m.Caches {
		p.counter(0, l.now, c.Name()+" pending", float64(c.Pending()))
	}
	p.counter(0, l.now, l.m.Memory.Name()+" pending", float64(l.m.Memory.Pending()))
	for i := range p.levels {
		v := &p.levels[i]
		p.counter(v.pid, l.now, v.name, float64(v.of.Read()))
	}
	for n, warps := range l.warps {
		active, waiting := occupancy(warps)
		p.counter(n+1, l.now, "active warps", active)
		p.counter(n+1, l.now, "warps waiting for memory", waiting)
	}
}

// occupancy counts the warps of a core that are looked at and active, and those that wait for memory.
func occupancy(warps []string) (active, waiting float64) {
	for _, s := range warps {
		if s != "" {
			active++
		}
		if s == "long_scoreboard" {
			waiting++
		}
	}
	return active, waiting
}

func (p *Perfetto) counter(pid int, now uint64, name string, v float64) {
	p.emit(now, event{Name: name, Phase: "C", Time: micros(now), PID: pid, Args: map[string]any{"value": v}})
}

// close ends the states that last.
func (p *Perfetto) close(at uint64) error {
	open := slices.SortedFunc(maps.Keys(p.tracks), func(a, b track) int { return cmp.Or(a.pid-b.pid, a.tid-b.tid) })
	for _, t := range open {
		p.slice(t, p.tracks[t], at)
	}
	p.file.finish([]byte(closing))
	return p.file.close()
}
