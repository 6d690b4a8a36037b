package window

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heddle/components/probe"
)

// Perfetto is an export in Chrome's trace format, for ui.perfetto.dev and chrome://tracing: a process for every core,
// with tracks for each warp's state, for the instructions in its units, and for the state of its graph unit; and one
// for caches and memory, with counters. A cycle appears as a nanosecond.
type Perfetto struct {
	*file
	from    uint64
	some    bool   // an event
	buf     []byte // the event that is being written
	warps   [][]*lane
	units   []*lane
	states  []shownState
	levels  []shownLevel
	lanes   []*lane            // those that have been in a state
	busy    map[track][]uint64 // by core and unit: for each of its tracks, the cycle from which it is free
	flows   []flow
	counted uint64 // cycle
	begun   bool
}

// lane is a track with a state.
type lane struct {
	track
	title string
	name  string // of the state; empty: none
	from  uint64
	known bool // to the file
}

// shownState is a unit's state with a track, shownLevel a number with a counter, flow a number whose growth has a
// counter.
type (
	shownState struct {
		*lane
		of probe.Signal
	}
	shownLevel struct {
		pid  int
		name string
		of   func() float64
	}
	flow struct {
		name   string
		of     func() uint64
		before uint64
	}
)

// track is a thread of a process.
type track struct{ pid, tid int }

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

// NewPerfetto creates a file of at most limit bytes for a window that begins at cycle first.
func NewPerfetto(path string, limit int, first uint64) (*Perfetto, error) {
	f, err := create(path, limit)
	if err != nil {
		return nil, err
	}
	f.write(first, []byte("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"), 0)
	p := &Perfetto{file: f, from: first, busy: map[track][]uint64{}}
	p.title(track{0, 0}, "process_name", "caches and memory")
	return p, nil
}

// event begins an event, with its name, phase and track.
func (p *Perfetto) event(name string, phase byte, t track) {
	p.buf = p.buf[:0]
	if p.some {
		p.buf = append(p.buf, ",\n"...)
	}
	p.buf = appendText(append(p.buf, `{"name":`...), name)
	p.buf = append(append(p.buf, `,"ph":"`...), phase, '"')
	p.number("pid", t.pid)
	p.number("tid", t.tid)
}

func (p *Perfetto) number(key string, n int) {
	p.buf = append(append(append(p.buf, `,"`...), key...), `":`...)
	p.buf = strconv.AppendInt(p.buf, int64(n), 10)
}

// time writes a number of cycles as microseconds with three digits: nanoseconds.
func (p *Perfetto) time(key string, cycles uint64) {
	p.number(key, int(cycles/1000))
	rest := cycles % 1000
	p.buf = append(p.buf, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
}

// emit writes the event, wholly or not at all.
func (p *Perfetto) emit(now uint64) {
	p.buf = append(p.buf, '}')
	p.file.write(now, p.buf, len(closing))
	p.some = true
}

// appendText appends a JSON string.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			text, err := json.Marshal(s)
			if err != nil {
				panic(fmt.Sprintf("BUG: window: %v", err))
			}
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// title names a track, or its process.
func (p *Perfetto) title(t track, what, name string) {
	p.event(what, 'M', t)
	p.buf = appendText(append(p.buf, `,"args":{"name":`...), name)
	p.buf = append(p.buf, '}')
	p.emit(p.from)
}

// state sets the state of a track in the cycle; empty: none.
func (p *Perfetto) state(l *lane, state string, now uint64) {
	if l.name == state {
		return
	}
	if !l.known {
		l.known = true
		p.lanes = append(p.lanes, l)
		p.title(l.track, "thread_name", l.title)
	}
	p.slice(l, now)
	l.name, l.from = state, now
}

// slice writes the state that ends before a cycle.
func (p *Perfetto) slice(l *lane, at uint64) {
	if l.name != "" && at > l.from {
		p.span(l.name, l.track, l.from, at)
		p.emit(at)
	}
}

// span begins an event that lasts.
func (p *Perfetto) span(name string, t track, from, to uint64) {
	p.event(name, 'X', t)
	p.time("ts", from)
	p.time("dur", to-from)
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

func (*Perfetto) discard(*Inst, uint64) {}

// start finds a track of the unit that has nothing else.
func (p *Perfetto) start(i *Inst, at uint64) {
	t := track{i.core + 1, unitTracks * (1 + int(i.unit()))}
	lanes := p.busy[t]
	for i.lane = 0; i.lane < len(lanes) && lanes[i.lane] > at; i.lane++ {
	}
	if i.lane == len(lanes) {
		lanes = append(lanes, 0)
		p.title(track{t.pid, t.tid + i.lane}, "thread_name", fmt.Sprintf("%s %d", i.unit(), i.lane))
	}
	lanes[i.lane] = all.Last
	p.busy[t] = lanes
}

// retire writes an execution, from its start in the unit or the window until write-back.
func (p *Perfetto) retire(i *Inst, _ uint64) {
	t := track{i.core + 1, unitTracks * (1 + int(i.unit()))}
	from := max(i.executes, p.from)
	if i.lane >= len(p.busy[t]) || i.since <= from { // it was written back when the window began
		return
	}
	p.busy[t][i.lane] = i.since
	t.tid += i.lane
	p.span(i.text(), t, from, i.since)
	p.buf = hex8(append(p.buf, `,"args":{"lanes":"`...), i.mask)
	p.buf = hex8(append(p.buf, `","pc":"`...), i.pc)
	p.buf = strconv.AppendInt(append(p.buf, `","warp":`...), int64(i.warp), 10)
	p.buf = append(p.buf, '}')
	p.emit(i.since)
}

// hex8 writes a word with all its digits.
func hex8(b []byte, w uint32) []byte {
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[w>>shift&15])
	}
	return b
}

func (p *Perfetto) tick(l *look) {
	if !p.begun {
		p.begun = true
		p.begin(l)
	}
	for n, warps := range l.warps {
		for w, state := range warps {
			p.state(p.warps[n][w], state, l.now)
		}
	}
	for n, state := range l.units {
		p.state(p.units[n], state, l.now)
	}
	for i := range p.states {
		p.state(p.states[i].lane, p.states[i].of.Text(), l.now)
	}
	if l.now%countEvery == 0 && l.now > p.counted {
		p.counters(l)
	}
}

// begin names the tracks, and begins to count.
func (p *Perfetto) begin(l *look) {
	for n, c := range l.m.Cores {
		p.title(track{n + 1, 0}, "process_name", c.Name())
		p.warps = append(p.warps, nil)
		for w := range l.warps[n] {
			p.warps[n] = append(p.warps[n], &lane{track: track{n + 1, warpTracks + w},
				title: fmt.Sprintf("warp %d", w)})
		}
		p.units = append(p.units, &lane{track: track{n + 1, unitState}, title: "graph unit"})
	}
	p.flow(l)
	p.counted = l.now
	for _, u := range l.m.Signals() {
		switch {
		case u.Graph && l.spec.Cores.Has(uint64(u.Core)):
			p.probes(u.Core+1, "", u.Signals)
		case u.Core < 0 && u.Unit == strings.ToLower(l.m.Memory.Name()):
			p.probes(0, u.Unit+" ", u.Signals)
		}
	}
	if l.step > 0 {
		p.stepped(l)
	}
}

// probes adds tracks and counters for a unit's signals. A graph unit's own state has a track already.
func (p *Perfetto) probes(pid int, prefix string, signals probe.List) {
	for _, s := range signals {
		switch {
		case s.Detail, s.Name == "fsm", s.Name == "state", s.Name == "pending":
		case s.States != nil:
			p.states = append(p.states, shownState{&lane{track: track{pid, moreStates + len(p.states)},
				title: prefix + strings.TrimSuffix(s.Name, ".state")}, s})
		default:
			p.levels = append(p.levels, shownLevel{pid, prefix + s.Name, func() float64 { return float64(s.Read()) }})
		}
	}
}

// stepped shows a super-step's active vertices. Between launches the window has not gone on.
func (p *Perfetto) stepped(l *look) {
	if now := l.m.Instant(); p.begun && l.spec.Cycles.Has(now) {
		p.counter(0, now, "super-step", float64(l.step))
		p.counter(0, now, "frontier vertices", float64(l.frontier))
		p.counter(0, now, "frontier edges", float64(l.outgoing))
	}
}

// flow selects the counts shown as rates, and those of caches and memory shown as levels.
func (p *Perfetto) flow(l *look) {
	add := func(name string, of func() uint64) { p.flows = append(p.flows, flow{name, of, of()}) }
	for _, c := range l.m.Caches {
		add(c.Name()+" requests/cycle", func() uint64 { s := c.Stats(); return s.Reads + s.Writes + s.Atomics })
		add(c.Name()+" fills/cycle", func() uint64 { return c.Stats().Fills })
		p.levels = append(p.levels, shownLevel{0, c.Name() + " pending",
			func() float64 { return float64(c.Pending()) }})
	}
	add(l.m.Memory.Name()+" bytes/cycle", l.m.Memory.Bytes)
	p.levels = append(p.levels, shownLevel{0, l.m.Memory.Name() + " pending",
		func() float64 { return float64(l.m.Memory.Pending()) }})
}

// counters writes the levels, and the flows since the last call.
func (p *Perfetto) counters(l *look) {
	for i := range p.flows {
		f := &p.flows[i]
		n := f.of()
		p.counter(0, l.now, f.name, float64(n-f.before)/float64(l.now-p.counted))
		f.before = n
	}
	p.counted = l.now
	for i := range p.levels {
		v := &p.levels[i]
		p.counter(v.pid, l.now, v.name, v.of())
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
	p.event(name, 'C', track{pid, 0})
	p.time("ts", now)
	p.buf = strconv.AppendFloat(append(p.buf, `,"args":{"value":`...), v, 'f', -1, 64)
	p.buf = append(p.buf, '}')
	p.emit(now)
}

// close ends the states that last.
func (p *Perfetto) close(at uint64) error {
	slices.SortFunc(p.lanes, func(a, b *lane) int { return cmp.Or(a.pid-b.pid, a.tid-b.tid) })
	for _, l := range p.lanes {
		p.slice(l, at)
	}
	p.file.finish([]byte(closing))
	return p.file.close()
}
