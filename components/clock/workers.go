package clock

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// workerPool is the goroutines that tick, one of which is the engine's. All workers begin an instant together, and the
// engine's goroutine awaits the end. In an instant, each worker
//
//   - shows its ends of links between shards what the other ends did in the instant before (post), and
//   - ticks those of its domains that are due.
//
// If units have requested Finish, the engine's goroutine then calls it, for one unit after the other.
//
// An instant takes a few microseconds, and passing a cache line between processors a tenth of one. So workers spin; a
// worker's domains are its own; and what others need to know of them is in one line. As links are shown late, the next
// instant is the earliest in which a domain ticks or what has been posted may wake one. If nothing ticks then, there
// was no instant. Domains are assigned by their recent cost. They move rarely, as that transfers their state from one
// processor's caches to another's.
type workerPool struct {
	s       *System
	domains []*Domain // without observers, in the order in which their units finish
	clocks  []*Domain // the first domain of each clock
	left    sync.WaitGroup
	workers []*worker // worker 0 is the engine's goroutine

	reported bool  // the reports are of the domains' present state
	posted   bool  // the last instant's posts have not been delivered
	posts    Femto // the instant of the posts
	count    int   // number of instants, to time a sample of them
	patience int   // number of polls before other goroutines get the processor
	// lowered and wakes are what the reports' next and wakes would be of what has been done while units finished.
	lowered [mostClocks]Femto
	wakes   Femto

	_      [lineBytes]byte
	begun  atomic.Uint64     // number of instants begun
	over   bool              // there is no next instant: the goroutines end
	timed  bool              // this instant is timed
	before Femto             // the instant of the posts to deliver; Never: there are none
	at     Femto             // the instant
	cycles [mostClocks]Cycle // by clock: the cycle that ticks in this instant; Never: none
	_      [lineBytes]byte
}

// mostClocks is the number of clocks up to which workers tick.
const mostClocks = 4

// observing is the index of an observer's clock.
const observing = -1

// worker is one goroutine of the pool. It alone writes it in an instant.
type worker struct {
	number  int
	domains []*Domain
	fault   any // value of a panic
	_       [lineBytes]byte
	ended   atomic.Uint64     // number of instants that it has ended
	late    bool              // units of its domains have requested Finish
	posted  bool              // its domains have used links between shards
	ticked  [mostClocks]bool  // by clock: some of its domains have ticked
	next    [mostClocks]Femto // by clock: the earliest instant at which one of its domains ticks
	wakes   Femto             // the earliest instant at which its post may wake a unit
	_       [lineBytes]byte
}

// newWorkerPool returns a pool, or nil if there are too many clocks.
func newWorkerPool(s *System) *workerPool {
	c, workers := &workerPool{s: s}, s.poolSize()
	if workers <= runtime.GOMAXPROCS(0) {
		c.patience = spins
	}
	c.domains = s.domains[:len(s.domains)-s.observers]
	for i, d := range c.domains {
		if !s.dealt || d.worker >= workers { // in later runs, domains stay with their workers
			d.worker = i * workers / len(c.domains)
		}
		if d.shards != nil && d != d.shards[0] {
			d.clock = d.shards[0].clock
			continue
		}
		d.clock = len(c.clocks)
		c.clocks = append(c.clocks, d)
	}
	s.dealt = true
	if len(c.clocks) > mostClocks {
		return nil
	}
	for w := range workers {
		c.workers = append(c.workers, &worker{number: w})
	}
	c.share()
	for _, w := range c.workers[1:] {
		c.left.Add(1)
		go c.work(w)
	}
	return c
}

// dismiss ends the goroutines.
func (c *workerPool) dismiss() {
	c.settle()
	c.over = true
	c.begun.Add(1)
	c.left.Wait()
}

// work is the loop of a worker's goroutine.
func (c *workerPool) work(w *worker) {
	defer c.left.Done()
	for n := uint64(1); ; n++ {
		c.await(&c.begun, n)
		if c.over {
			return
		}
		c.safely(w)
		w.ended.Store(n)
	}
}

// safely records a panic for the engine's goroutine to raise.
func (c *workerPool) safely(w *worker) {
	defer func() {
		if w.fault == nil {
			w.fault = recover()
		}
	}()
	c.tick(w)
}

// tick runs a worker's part of an instant.
func (c *workerPool) tick(w *worker) {
	s := c.s
	if c.before != Femto(Never) {
		for from := range c.workers {
			s.posts[1-s.turn][from].boxes[w.number].deliver(c.before)
		}
	}
	post := &s.posts[s.turn][w.number]
	post.clear()
	w.late, w.ticked = false, [mostClocks]bool{}
	for _, d := range w.domains {
		if d.at == c.at {
			c.tickOne(d)
			w.ticked[d.clock] = true
		} else if cycle := c.cycles[d.clock]; cycle != Never {
			d.cycle = cycle
		}
		w.late = w.late || d.late
	}
	w.wakes, w.posted = post.wakes, !post.empty()
	c.report(w)
}

func (c *workerPool) tickOne(d *Domain) {
	if !c.timed {
		d.tick()
		return
	}
	start := time.Now()
	d.tick()
	d.cost += time.Since(start)
}

// report notes when the worker's domains tick next.
func (c *workerPool) report(w *worker) {
	w.next = noInstants
	for _, d := range w.domains {
		w.next[d.clock] = min(w.next[d.clock], d.at)
	}
}

// reportAll makes the reports anew, when nothing is posted.
func (c *workerPool) reportAll() {
	c.lowered, c.wakes = noInstants, Femto(Never)
	for _, w := range c.workers {
		w.wakes = Femto(Never)
		c.report(w)
	}
	c.reported = true
}

// noInstants are times that are never reached.
var noInstants = [mostClocks]Femto{Femto(Never), Femto(Never), Femto(Never), Femto(Never)}

// nextInstant returns the next instant, from the reports.
func (c *workerPool) nextInstant() Femto {
	t := min(c.wakes, slices.Min(c.lowered[:]))
	for _, w := range c.workers {
		t = min(t, w.wakes, slices.Min(w.next[:]))
	}
	for _, d := range c.s.domains[len(c.domains):] {
		t = min(t, d.at)
	}
	return t
}

// pays reports whether the next instant is for all workers; if not, the engine's goroutine ticks all domains.
func (c *workerPool) pays() bool {
	if !c.s.insists && !c.s.trial.choose() {
		c.settle()
		return false
	}
	return true
}

// instant runs an instant. It reports whether any domain has ticked.
func (c *workerPool) instant(t Femto) (ticked bool) {
	if c.count++; c.count%shareEvery == 0 {
		c.settle()
		c.share()
	}
	if !c.reported {
		c.reportAll()
	}
	for k, d := range c.clocks {
		c.cycles[k] = c.cycle(k, d, t)
	}
	c.at, c.timed = t, c.count%timedEvery == 0
	c.lowered, c.wakes = noInstants, Femto(Never)
	if c.before = Femto(Never); c.posted {
		c.before, c.posted = c.posts, false
	}
	c.s.turn = 1 - c.s.turn
	c.run()
	return c.conclude(t)
}

// conclude is what the engine's goroutine does when all workers have ticked.
func (c *workerPool) conclude(t Femto) (ticked bool) {
	late := false
	c.posts = t
	for _, w := range c.workers {
		late, c.posted = late || w.late, c.posted || w.posted
		for k := range c.clocks {
			if w.ticked[k] {
				ticked = true
				c.keepTime(k, t)
			}
		}
	}
	if late {
		c.s.finish(c.domains)
		c.posted = true
	}
	return ticked
}

// keepTime sets the domains of a clock that ticks to its cycle, if only what was posted has made it tick: else workers
// have done so.
func (c *workerPool) keepTime(clock int, t Femto) {
	if c.cycles[clock] != Never {
		return
	}
	c.cycles[clock] = Cycle(t / c.clocks[clock].period)
	for _, d := range c.domains {
		if d.clock == clock {
			d.cycle = c.cycles[clock]
		}
	}
}

// run makes all workers tick.
func (c *workerPool) run() {
	n := c.begun.Add(1)
	c.tick(c.workers[0])
	for _, w := range c.workers[1:] {
		c.await(&w.ended, n)
		if w.fault != nil {
			panic(w.fault)
		}
	}
}

// settle delivers what the last instant's posts hold, for those who look at the domains between instants. The reports
// are then of another state.
func (c *workerPool) settle() {
	if c.posted {
		c.s.deliver(c.posts)
		c.posted = false
	}
	c.reported = false
}

// cycle returns the cycle of a clock, of which d is a domain, that ticks at an instant; Never: none does.
func (c *workerPool) cycle(clock int, d *Domain, t Femto) Cycle {
	ticks := c.lowered[clock] == t
	for _, w := range c.workers {
		ticks = ticks || w.next[clock] == t
	}
	if !ticks {
		return Never
	}
	return Cycle(t / d.period)
}

// trial measures whether concurrent ticking pays, which it does not when little is due in each instant, or when other
// programs use the processors. At the beginning of every period some instants are ticked by all workers and some by
// one, and the rest by all if they were clearly faster, and as long as they stay so.
type trial struct {
	instant  int // in the period
	period   int // in instants; doubled while the outcome stays the same
	together bool
	was      bool // the last outcome
	begun    time.Time
	all      time.Duration // host time of the instants ticked by all
	alone    time.Duration // and of as many ticked by one
}

// Numbers of instants in a trial: before the timed ones, as caches must warm up and workers may be napping; timed, once
// with all workers and once with one; in a period; and between looks at the rest.
const (
	trialLead      = 32
	trialTimed     = 96
	trialPeriod    = 8192
	trialMost      = 32 * trialPeriod
	trialLookEvery = 8 * trialTimed
)

// choose reports whether the next instant is ticked concurrently.
func (t *trial) choose() bool {
	switch t.instant++; {
	case t.instant < trialLead:
		t.together = true
	case t.instant == trialLead, t.instant == trialLead+trialTimed+trialLead:
		t.begun = time.Now()
	case t.instant == trialLead+trialTimed:
		t.all = time.Since(t.begun)
		t.together = false
	case t.instant == 2*(trialLead+trialTimed):
		t.alone = time.Since(t.begun)
		t.decide(t.all+t.all/8 < t.alone)
	case t.instant >= t.period && t.period != 0:
		t.instant = 0
	case t.together && t.instant > 2*(trialLead+trialTimed) && t.instant%trialLookEvery == 0:
		t.look()
	}
	return t.together
}

// decide ends a trial.
func (t *trial) decide(together bool) {
	t.period = min(2*t.period, trialMost)
	if together != t.was || t.period == 0 {
		t.period = trialPeriod
	}
	t.together, t.was, t.begun = together, together, time.Time{}
}

// look has one worker tick the rest of the period if all have become slower than one was.
func (t *trial) look() {
	now := time.Now()
	if !t.begun.IsZero() && now.Sub(t.begun)*trialTimed > slower*t.alone*trialLookEvery {
		t.decide(false)
	}
	t.begun = now
}

// slower is by how much: an instant may also have more work than in the trial. It, and the eighth by which all have to
// be faster, were chosen after runs on busy hosts had been seen that threads made slower.
const slower = 2

// Intervals, in instants, between timed instants and between reassignments of domains.
const (
	timedEvery = 16
	shareEvery = 1024
)

// uneven is the ratio of the largest load to the mean above which domains move.
const uneven = 1.05

// share moves domains from loaded to less loaded workers. Nothing is posted, and the reports do not hold afterwards.
func (c *workerPool) share() {
	load := make([]time.Duration, len(c.workers))
	total := time.Duration(0)
	for _, d := range c.domains {
		load[d.worker] += d.cost
		total += d.cost
	}
	byCost := slices.Clone(c.domains)
	slices.SortStableFunc(byCost, func(a, b *Domain) int { return cmp.Compare(b.cost, a.cost) })
	for range byCost {
		most := slices.Index(load, slices.Max(load))
		least := slices.Index(load, slices.Min(load))
		if float64(load[most])*float64(len(load)) < uneven*float64(total) {
			break
		}
		d := best(byCost, most, load[most]-load[least])
		if d == nil {
			break
		}
		load[most] -= d.cost
		load[least] += d.cost
		d.worker = least
	}
	for _, w := range c.workers {
		w.domains = w.domains[:0]
	}
	for _, d := range c.domains {
		d.cost /= 2
		w := c.workers[d.worker]
		w.domains = append(w.domains, d)
	}
}

// best returns the domain of worker of whose move leaves the smallest difference in load; nil: no move reduces it.
func best(domains []*Domain, of int, difference time.Duration) (found *Domain) {
	left := difference
	for _, d := range domains {
		if after := (difference - 2*d.cost).Abs(); d.worker == of && after < left {
			found, left = d, after
		}
	}
	return found
}

// Numbers of polls before a waiting goroutine yields to other goroutines, and of yields before it sleeps: about fifty
// microseconds together. With fewer processors than workers polling is useless, as the awaited worker is not running.
const (
	spins  = 100_000
	yields = 200
	nap    = 20 * time.Microsecond
)

// await waits until count reaches n.
func (c *workerPool) await(count *atomic.Uint64, n uint64) {
	for i := c.patience; count.Load() < n; i-- {
		switch {
		case i > 0:
		case i > -yields:
			runtime.Gosched()
		default:
			time.Sleep(nap)
		}
	}
}
