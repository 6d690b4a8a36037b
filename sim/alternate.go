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

// Alternation says which parts of a launch are simulated in time, by warp instructions of all cores together: the first
// Begin, and then of every Period the last Warm + Measure, of which the warm-up is not measured. What lies between them
// is executed without time. The first periods are shorter, so that short launches have intervals too: what is left out
// grows by half from Warm + Measure on. Where the pace of a kernel goes up and down over more than Measure, intervals are
// as long as it takes to show all of that.
type Alternation struct {
	Begin, Period, Warm, Measure uint64
}

// Validate refuses an alternation that has nothing to measure, or nothing to leave out.
func (a *Alternation) Validate() error {
	if a.Begin == 0 || a.Measure == 0 || a.Period < 2*(a.Warm+a.Measure) {
		return errors.New("alternation: expected a beginning, something to measure, and a period of at least twice what is simulated in it")
	}
	return nil
}

// Sampled holds what is known of a launch of which parts were simulated in time.
type Sampled struct {
	Result             // of the whole launch; its cycles are those of the beginning
	Begin     Interval // all of the launch, if it was over within
	Intervals []Interval
	Rest      Stretch // behind the last interval
}

// Whole reports whether all of the launch was simulated in time.
func (s *Sampled) Whole() bool {
	return len(s.Intervals) == 0 && s.Rest.WarpInstrs == 0 && s.Begin.WarpInstrs == s.WarpInstrs
}

// Interval is a part of a launch that was measured.
type Interval struct {
	Pace
	Counts stats.Part // of the machine, in the interval: launches have thousands

	Length uint64  // the warp instructions that were asked for
	Before Stretch // what was executed without time since the interval before
	Warm   Pace    // what was simulated in time between that and the interval
}

// Stretch is a part of a launch that was executed without time: its cycles are estimated.
type Stretch struct {
	Pace
	First, Last Pace // near its ends
}

// Pace is a number of cycles and the work executed in them.
type Pace struct{ Cycles, WarpInstrs uint64 }

// Alternate executes a program as Launch does, in time and without by turns. What of it was simulated in time, and how
// long the rest is estimated to take, says how long all of it would have taken: package sampled.
func (m *Machine) Alternate(ctx context.Context, p *isa.Program, arg uint32, a Alternation) (Sampled, error) {
	if err := a.Validate(); err != nil {
		return Sampled{}, err
	}
	m.assembleUntimed()
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

// alternator switches a machine's time off and on again.
type alternator struct {
	m      *Machine
	handle clock.Handle
	Alternation
	at      stage
	until   uint64 // warp instructions, for the stages that end with some
	level   int    // of the caches, that is coming to rest
	sampled Sampled
	next    Interval   // what comes before it
	begin   Pace       // where the interval, or the warm-up, has begun
	counts  stats.Tree // where the interval has begun
	marks   [marks + 1]Pace
	marked  int
	quiet   bool   // cores were in the cycle before
	span    uint64 // warp instructions of the next stretch
	length  uint64 // and of the next interval

	rhythms map[uint64]*rhythm // by the program's code, which is compiled anew when a run goes on from a checkpoint
	rhythm  *rhythm            // of the program that runs
}

// marks is how many moments of a stretch are noted behind its beginning.
const marks = 3

// stage is the condition for which an alternator waits.
type stage uint8

const (
	idle      stage = iota
	measuring       // for the end of an interval
	draining        // for cores to be quiet
	settling        // for a level's caches to be at rest
	executing       // for the end of what is executed without time
	warmingUp       // for the beginning of an interval
)

// lookEvery is how often it looks in time, in cycles: intervals end within as many.
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

// codeOf tells programs apart.
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
	for _, u := range t.m.untimed {
		u.Reset()
	}
	t.m.setUntimed(false)
}

// finish ends what is under way when the program has ended. What was simulated counts, even as a warm-up: it is how
// the launch ends.
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

// pace is where the machine is.
func (t *alternator) pace(now clock.Cycle) Pace { return Pace{now, t.m.Arch.Stats().WarpInstrs} }

func (p Pace) since(before Pace) Pace {
	return Pace{p.Cycles - before.Cycles, p.WarpInstrs - before.WarpInstrs}
}

// mark notes where windows of a stretch begin and end that have a pace of their own: one near its beginning, when what
// the change has disturbed is over, and one at its end, each as long as an interval.
func (t *alternator) mark(now clock.Cycle) {
	p, start := t.pace(now), t.marks[0].WarpInstrs
	for at := [marks + 1]uint64{0, start + t.Warm, start + t.Warm + t.length, t.until - min(t.length, t.until)}; t.marked <= marks && p.WarpInstrs >= at[t.marked]; t.marked++ {
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

// Tick goes on to the next stage when its time has come.
func (t *alternator) Tick(now clock.Cycle) bool {
	if t.at == idle {
		return false
	}
	if !t.m.working() {
		if t.at != measuring && t.at != warmingUp { // what is left in caches goes on
			t.finish(now)
			t.m.setUntimed(false)
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

// fit has the interval behind a stretch be as long as the kernel's rhythm asks. If the stretch's windows were for
// another length, all of it is near the interval.
func (t *alternator) fit() {
	t.rhythm.end()
	if n := t.rhythm.length(t.next.Before.WarpInstrs); n != t.length {
		t.length, t.next.Before.Last = n, t.next.Before.Pace
	}
	t.next.Length = t.length
}

// drain has cores fetch nothing more.
func (t *alternator) drain() {
	for _, c := range t.m.Cores {
		c.Hold()
	}
	t.at = draining
}

// drained reports whether cores are quiet, and has the L1s come to rest then. They must be quiet in two cycles: at the
// end of the first, warps may come to a device-wide barrier, at which a core has its L1D forget.
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

// settled reports whether a level is at rest, and goes on to the next one. When all are, no time passes any more.
func (t *alternator) settled(now clock.Cycle) bool {
	if slices.ContainsFunc(t.m.level(t.level), func(c *cache.Cache) bool { return !c.AtRest() }) {
		return false
	}
	if t.level++; t.level < t.m.levels() {
		t.hold()
		return true
	}
	t.m.setUntimed(true)
	for _, u := range t.m.untimed {
		u.Lend()
	}
	t.marks[0], t.marked = t.pace(now), 1
	t.rhythm.begin(t.marks[0])
	t.span = max(t.span, t.Warm+t.length)
	t.at, t.until = executing, t.m.Arch.Stats().WarpInstrs+t.span
	t.span = min(t.span*3/2, t.Period-min(t.Period, t.Warm+t.length))
	return true
}

// warmUp has time go on.
func (t *alternator) warmUp() {
	for _, u := range t.m.untimed {
		u.Return()
	}
	t.m.setUntimed(false)
	t.at, t.until = warmingUp, t.m.Arch.Stats().WarpInstrs+t.Warm
}

// hold has a level's caches come to rest. Those before it are.
func (t *alternator) hold() {
	for _, c := range t.m.level(t.level) {
		c.Hold()
	}
}

// levels is how many levels of caches there are, of which the first are all L1s.
func (m *Machine) levels() int { return 1 + len(m.Caches) - 2*m.cfg.Sockets }

// level returns a level's caches.
func (m *Machine) level(n int) []*cache.Cache {
	if n == 0 {
		return m.Caches[:2*m.cfg.Sockets]
	}
	at := 2*m.cfg.Sockets + n - 1
	return m.Caches[at : at+1]
}

// setUntimed has all caches answer in no time, or in time.
func (m *Machine) setUntimed(on bool) {
	for _, c := range m.Caches {
		c.SetUntimed(on)
	}
}
