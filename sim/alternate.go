package sim

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"

	"heddle/components/cache"
	"heddle/components/clock"
	"heddle/components/core"
	"heddle/isa"
	"heddle/sim/stats"
)

// Alternation selects the parts of a launch that are simulated in time, in warp instructions of all cores together: the
// first Begin, and then of every Period the last Warm + Measure, of which the warm-up is not measured. The parts
// between are executed functionally. The first periods are shorter, so that short launches have intervals too: the
// functional parts grow by half each, from Warm + Measure on. Where the pace of a kernel varies over more than Measure,
// intervals are as long as it takes to cover the variation.
type Alternation struct {
	Begin, Period, Warm, Measure uint64
}

// Validate returns an error for an alternation without measured or without functional parts.
func (a *Alternation) Validate() error {
	if a.Begin == 0 || a.Measure == 0 || a.Period < 2*(a.Warm+a.Measure) {
		return errors.New("alternation: expected a beginning, a measured part, and a period of at least twice its " +
			"simulated parts")
	}
	return nil
}

// Sampled is the result of a launch of which parts were simulated in time.
type Sampled struct {
	Result             // of the whole launch; its cycles are those of Begin
	Begin     Interval // all of the launch, if it ended within Begin
	Intervals []Interval
	Rest      Stretch // after the last interval
}

// Whole reports whether all of the launch was simulated in time.
func (s *Sampled) Whole() bool {
	return len(s.Intervals) == 0 && s.Rest.WarpInstrs == 0 && s.Begin.WarpInstrs == s.WarpInstrs
}

// Interval is a measured part of a launch.
type Interval struct {
	Pace
	Counts stats.Part // of the machine during the interval, packed: a launch may have thousands of intervals

	Length uint64  // requested number of warp instructions
	Before Stretch // executed functionally since the interval before
	Warm   Pace    // simulated in time between Before and the interval
}

// Stretch is a functionally executed part of a launch: its cycles are estimated.
type Stretch struct {
	Pace
	First, Last Pace // near its ends
}

// Pace is a number of cycles and the work executed in them.
type Pace struct{ Cycles, WarpInstrs uint64 }

// Alternate executes a program as Launch does, alternating between timed and functional execution. Package sampled
// estimates the time of the whole launch from the result.
func (m *Machine) Alternate(ctx context.Context, p *isa.Program, arg uint32, a Alternation) (Sampled, error) {
	if err := a.Validate(); err != nil {
		return Sampled{}, err
	}
	if m.tasks != nil {
		return Sampled{}, errTiles("no launch is sampled")
	}
	m.assembleFunctional()
	if m.alternator == nil {
		d, err := m.System.AddObserver("alternation", corePeriod)
		if err != nil {
			return Sampled{}, err
		}
		m.alternator = &alternator{m: m, rhythms: map[uint64]*rhythm{}}
		m.alternator.handle = d.Add(m.alternator)
	}
	t := m.alternator
	r, err := m.launch(ctx, p, arg, func() {
		for _, c := range m.Cores {
			c.Start()
		}
		t.start(p, a)
	})
	t.end()
	s := t.sampled
	s.Result, s.Cycles = r, s.Begin.Cycles
	return s, err
}

// alternator switches a machine between timed and functional execution. Its stages are, in a cycle,
//
//	measuring → draining → settling → executing → warmingUp → measuring
//
// draining holds the cores until they are quiet; settling holds the caches until they are at rest, level by level, then
// switches caches and cores to functional execution; executing ends with the switch back to timed execution.
type alternator struct {
	m      *Machine
	handle clock.Handle
	Alternation
	at      stage
	until   uint64 // count of warp instructions that ends the stage
	level   int    // level of caches that is coming to rest
	sampled Sampled
	next    Interval   // interval under construction
	begin   Pace       // pace at the beginning of the interval or warm-up
	counts  stats.Tree // counts at the beginning of the interval
	marks   [marks + 1]Pace
	marked  int
	quiet   bool   // cores were quiet in the cycle before
	span    uint64 // warp instructions of the next stretch
	length  uint64 // of the next interval

	rhythms map[uint64]*rhythm // by hash of the code, as a resumed run recompiles its programs
	rhythm  *rhythm            // of the current program
}

// marks is the number of marks in a stretch, besides its beginning.
const marks = 3

// stage is the condition that an alternator waits for.
type stage uint8

const (
	idle      stage = iota
	measuring       // for the end of an interval
	draining        // for cores to be quiet
	settling        // for a level's caches to be at rest
	executing       // for the end of functional execution
	warmingUp       // for the beginning of an interval
)

// lookEvery is the number of cycles between checks in timed execution: intervals end within as many.
const lookEvery = 16

func (t *alternator) start(p *isa.Program, a Alternation) {
	t.Alternation, t.sampled, t.next = a, Sampled{}, Interval{}
	code := codeOf(p)
	if t.rhythm = t.rhythms[code]; t.rhythm == nil {
		t.rhythm = &rhythm{window: a.Measure}
		t.rhythms[code] = t.rhythm
	}
	t.length = t.rhythm.length(a.Measure)
	t.span = a.Warm + t.length
	t.measure(t.m.domain.After()-1, a.Begin)
	t.handle.Wake()
}

// codeOf returns a hash that identifies a program.
func codeOf(p *isa.Program) uint64 {
	h := fnv.New64a()
	for _, s := range p.Segments {
		h.Write(s.Data)
	}
	return h.Sum64()
}

// end ends a launch.
func (t *alternator) end() {
	t.finish(max(t.begin.Cycles, t.m.lastCycle()))
	for _, u := range t.m.functional {
		u.Reset()
	}
	t.m.setFunctional(false)
}

// finish ends the current part when the program has ended. A timed part counts, even as a warm-up: it is how the launch
// ends.
func (t *alternator) finish(now clock.Cycle) {
	switch t.at {
	case measuring, warmingUp:
		t.measured(now)
	case draining, settling:
		last := &t.sampled.Begin
		if n := len(t.sampled.Intervals); n > 0 {
			last = &t.sampled.Intervals[n-1]
		}
		more := t.pace(now).since(t.begin)
		last.Cycles, last.WarpInstrs = last.Cycles+more.Cycles, last.WarpInstrs+more.WarpInstrs
		last.Counts = last.Counts.Plus(t.m.Statistics().Since(t.counts))
	case executing:
		t.sampled.Rest = t.stretch(t.m.domain.After() - 1)
	}
	t.at = idle
}

// measure begins an interval.
func (t *alternator) measure(now clock.Cycle, instrs uint64) {
	t.at, t.begin, t.counts = measuring, t.pace(now), t.m.Statistics()
	t.until = t.begin.WarpInstrs + instrs
}

// measured ends it.
func (t *alternator) measured(now clock.Cycle) {
	counts := t.m.Statistics()
	t.next.Pace, t.next.Counts = t.pace(now).since(t.begin), stats.PackPart(counts.Since(t.counts))
	t.begin, t.counts = t.pace(now), counts
	switch {
	case t.sampled.Begin.Counts.Len() == 0:
		t.sampled.Begin = t.next
	case t.next.WarpInstrs > 0:
		t.sampled.Intervals = append(t.sampled.Intervals, t.next)
	}
	t.next = Interval{}
}

// pace returns the machine's current pace.
func (t *alternator) pace(now clock.Cycle) Pace { return Pace{now, t.m.Arch.Stats().WarpInstrs} }

func (p Pace) since(before Pace) Pace {
	return Pace{p.Cycles - before.Cycles, p.WarpInstrs - before.WarpInstrs}
}

// mark records the bounds of windows of a stretch whose pace is measured: one near its beginning, after the disturbance
// of the switch, and one at its end, each as long as an interval.
func (t *alternator) mark(now clock.Cycle) {
	p, start := t.pace(now), t.marks[0].WarpInstrs
	for at := [marks + 1]uint64{0, start + t.Warm, start + t.Warm + t.length,
		t.until - min(t.length, t.until)}; t.marked <= marks && p.WarpInstrs >= at[t.marked]; t.marked++ {
		t.marks[t.marked] = p
	}
}

// stretch returns the work executed up to now.
func (t *alternator) stretch(now clock.Cycle) Stretch {
	p := t.pace(now)
	s := Stretch{Pace: p.since(t.marks[0])}
	s.First, s.Last = s.Pace, s.Pace
	if t.marked > 2 {
		s.First = t.marks[2].since(t.marks[1])
	}
	if t.marked > 3 {
		s.Last = p.since(t.marks[3])
	}
	return s
}

// Tick advances to the next stage when its condition holds.
func (t *alternator) Tick(now clock.Cycle) bool {
	if t.at == idle {
		return false
	}
	if !t.m.working() {
		if t.at != measuring && t.at != warmingUp { // the contents of caches stay
			t.finish(now)
			t.m.setFunctional(false)
		}
		return false
	}
	for t.step(now) {
	}
	if t.at != draining && t.at != settling {
		t.handle.WakeAt(now + lookEvery)
		return false
	}
	return true
}

// step reports whether a stage has ended.
func (t *alternator) step(now clock.Cycle) bool {
	switch t.at {
	case draining:
		return t.drained()
	case settling:
		return t.settled(now)
	}
	if t.at == executing {
		t.mark(now)
		t.rhythm.note(t.pace(now))
	}
	if t.m.Arch.Stats().WarpInstrs < t.until {
		return false
	}
	switch t.at {
	case measuring:
		t.measured(now)
		t.drain()
	case executing:
		t.next.Before = t.stretch(now)
		t.fit()
		t.begin, t.counts = t.pace(now), t.m.Statistics()
		t.warmUp()
	case warmingUp:
		t.next.Warm = t.pace(now).since(t.begin)
		t.measure(now, t.length)
	}
	return true
}

// fit sets the length of the interval after a stretch to the one that the kernel's rhythm requires. If the stretch's
// windows had another length, all of it counts as near the interval.
func (t *alternator) fit() {
	t.rhythm.end()
	if n := t.rhythm.length(t.next.Before.WarpInstrs); n != t.length {
		t.length, t.next.Before.Last = n, t.next.Before.Pace
	}
	t.next.Length = t.length
}

// drain holds the cores: they fetch nothing more.
func (t *alternator) drain() {
	for _, c := range t.m.Cores {
		c.Hold()
	}
	t.at = draining
}

// drained reports whether the cores are quiet, and then begins to hold the L1s. They must be quiet in two consecutive
// cycles: at the end of the first, warps may reach a device-wide barrier, at which a core invalidates its L1D.
func (t *alternator) drained() bool {
	quiet := !slices.ContainsFunc(t.m.Cores, func(c *core.Core) bool { return !c.Quiet() })
	if !quiet || !t.quiet {
		t.quiet = quiet
		return false
	}
	t.quiet = false
	t.at, t.level = settling, 0
	t.hold()
	return true
}

// settled reports whether a level is at rest, and holds the next one. When all are at rest, it switches to functional
// execution.
func (t *alternator) settled(now clock.Cycle) bool {
	if slices.ContainsFunc(t.m.level(t.level), func(c *cache.Cache) bool { return !c.AtRest() }) {
		return false
	}
	if t.level++; t.level < t.m.levels() {
		t.hold()
		return true
	}
	t.m.setFunctional(true)
	for _, u := range t.m.functional {
		u.Lend()
	}
	t.marks[0], t.marked = t.pace(now), 1
	t.rhythm.begin(t.marks[0])
	t.span = max(t.span, t.Warm+t.length)
	t.at, t.until = executing, t.m.Arch.Stats().WarpInstrs+t.span
	t.span = min(t.span*3/2, t.Period-min(t.Period, t.Warm+t.length))
	return true
}

// warmUp resumes timed execution.
func (t *alternator) warmUp() {
	for _, u := range t.m.functional {
		u.Return()
	}
	t.m.setFunctional(false)
	t.at, t.until = warmingUp, t.m.Arch.Stats().WarpInstrs+t.Warm
}

// hold holds a level's caches. Those of the levels before are at rest.
func (t *alternator) hold() {
	for _, c := range t.m.level(t.level) {
		c.Hold()
	}
}

// levels returns the number of levels of caches; the first comprises all L1s.
func (m *Machine) levels() int { return 1 + len(m.Caches) - 2*m.cfg.Sockets }

// level returns a level's caches.
func (m *Machine) level(n int) []*cache.Cache {
	if n == 0 {
		return m.Caches[:2*m.cfg.Sockets]
	}
	at := 2*m.cfg.Sockets + n - 1
	return m.Caches[at : at+1]
}

// setFunctional switches all caches to functional or back to timed execution.
func (m *Machine) setFunctional(on bool) {
	for _, c := range m.Caches {
		c.SetFunctional(on)
	}
}
