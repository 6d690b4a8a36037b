package clock

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// workerPool is the goroutines that tick besides the engine's. Each ticks its own domains, and then steals those that
// other workers have not begun. In each instant in which several have work they begin together and wait for the last.
// An instant takes a few microseconds, so they spin.
//
// Domains are assigned by their recent cost. They move rarely, as a move transfers their state from one processor's
// caches to another's.
type workerPool struct {
	s       *System
	_       [64]byte
	begun   atomic.Uint64 // number of instants begun
	_       [64]byte
	left    sync.WaitGroup
	workers []*worker // worker 0 is the engine's goroutine
	over    bool      // no next instant: the goroutines end

	domains []*Domain // the domains ticked, in order of decreasing cost
	count   int       // number of instants, to time a sample of them
	timed   bool      // this instant is timed

	patience int // number of polls before other goroutines get the processor
}

// worker is one goroutine of the pool.
type worker struct {
	ticked atomic.Uint64 // number of instants that it has completed
	_      [64]byte
	next   atomic.Int64 // index of the next element of due to tick
	due    []*Domain    // its domains in this instant
	fault  any          // value of a panic
	_      [64]byte
}

func newWorkerPool(s *System) *workerPool {
	c, workers := &workerPool{s: s}, s.poolSize()
	if workers <= runtime.GOMAXPROCS(0) {
		c.patience = spins
	}
	c.domains = slices.Clone(s.domains[:len(s.domains)-s.observers])
	for range workers {
		c.workers = append(c.workers, &worker{due: make([]*Domain, 0, len(c.domains))})
	}
	if !s.dealt { // in later runs, domains stay with their workers
		s.dealt = true
		for i, d := range c.domains {
			d.worker = i * workers / len(c.domains)
		}
	}
	c.share()
	for w := 1; w < workers; w++ {
		c.left.Add(1)
		go c.work(w)
	}
	return c
}

// dismiss ends the goroutines.
func (c *workerPool) dismiss() {
	c.over = true
	c.begun.Add(1)
	c.left.Wait()
}

// work is the loop of worker w's goroutine.
func (c *workerPool) work(w int) {
	defer c.left.Done()
	for n := uint64(1); ; n++ {
		c.await(&c.begun, n)
		if c.over {
			return
		}
		c.tickSafely(w)
		c.workers[w].ticked.Store(n)
	}
}

// tickSafely records a panic for the engine's goroutine to raise.
func (c *workerPool) tickSafely(w int) {
	defer func() {
		if c.workers[w].fault == nil {
			c.workers[w].fault = recover()
		}
	}()
	c.tickDue(w)
}

// tickDue ticks worker w's domains, and then those that other workers have not begun.
func (c *workerPool) tickDue(w int) {
	for k := range c.workers {
		from := c.workers[(w+k)%len(c.workers)]
		for {
			i := int(from.next.Add(1)) - 1
			if i >= len(from.due) {
				break
			}
			c.tickOne(from.due[i])
		}
	}
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

// trial measures whether concurrent ticking pays, which it does not when little is due in each instant. In every period
// some instants are ticked by all workers and some by one, and the rest by whichever was faster.
type trial struct {
	instant  int
	begun    time.Time
	together bool
	all      time.Duration // host time of the instants ticked by all
}

// Numbers of instants in a trial: before the timed ones, as caches must warm up and workers may be napping; timed, once
// with all workers and once with one; and in a period.
const (
	trialLead   = 32
	trialTimed  = 96
	trialPeriod = 8192
)

// choose reports whether the next instant is ticked concurrently.
func (t *trial) choose() bool {
	switch t.instant++; t.instant % trialPeriod {
	case 0:
		t.together = true
	case trialLead, trialLead + trialTimed + trialLead:
		t.begun = time.Now()
	case trialLead + trialTimed:
		t.all = time.Since(t.begun)
		t.together = false
	case 2 * (trialLead + trialTimed):
		t.together = t.all < time.Since(t.begun)
	}
	return t.together
}

// tick ticks the domains that are due, if they belong to several workers and concurrency pays. It reports whether it
// has.
func (c *workerPool) tick(t Femto) bool {
	if !c.s.insists && !c.s.trial.choose() {
		return false
	}
	for _, m := range c.workers {
		m.due = m.due[:0]
		m.next.Store(0)
	}
	for _, d := range c.domains {
		if d.at == t {
			m := c.workers[d.worker]
			m.due = append(m.due, d)
		}
	}
	busy := 0
	for _, m := range c.workers {
		if len(m.due) > 0 {
			busy++
		}
	}
	if busy < 2 {
		return false
	}
	if c.count++; c.count%shareEvery == 0 {
		c.share()
	}
	c.timed = c.count%timedEvery == 0
	n := c.begun.Add(1)
	c.tickDue(0)
	for _, m := range c.workers[1:] {
		c.await(&m.ticked, n)
		if m.fault != nil {
			panic(m.fault)
		}
	}
	return true
}

// Intervals, in instants, between timed instants and between reassignments of domains.
const (
	timedEvery = 16
	shareEvery = 1024
)

// uneven is the ratio of the largest load to the mean above which domains move.
const uneven = 1.05

// share moves domains from loaded to less loaded workers.
func (c *workerPool) share() {
	slices.SortStableFunc(c.domains, func(a, b *Domain) int { return cmp.Compare(b.cost, a.cost) })
	load := make([]time.Duration, len(c.workers))
	total := time.Duration(0)
	for _, d := range c.domains {
		load[d.worker] += d.cost
		total += d.cost
	}
	for range c.domains {
		most := slices.Index(load, slices.Max(load))
		least := slices.Index(load, slices.Min(load))
		if float64(load[most])*float64(len(load)) < uneven*float64(total) {
			break
		}
		d := best(c.domains, most, load[most]-load[least])
		if d == nil {
			break
		}
		load[most] -= d.cost
		load[least] += d.cost
		d.worker = least
	}
	for _, d := range c.domains {
		d.cost /= 2
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
