package clock

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// workerPool is the goroutines that tick with the engine's, each its own domains, and then those that others have not
// come to. In each instant in which several have some they begin together and wait until the last is through. An
// instant is a few microseconds, so they spin.
//
// Who has which domain follows what they have cost lately: a domain that moves has to be brought from one processor's
// caches to another's, so they move only now and then.
type workerPool struct {
	s       *System
	_       [64]byte
	begun   atomic.Uint64 // how many instants have begun
	_       [64]byte
	left    sync.WaitGroup
	workers []*worker // by worker; worker 0 is the engine's goroutine
	over    bool      // the next instant is none: all go

	domains []*Domain // what they tick, the dearest first
	count   int       // of instants, to time some
	timed   bool      // this one

	patience int // how often to look before others have the processor
}

// worker is one of them.
type worker struct {
	ticked atomic.Uint64 // of the instants begun, how many it is through with
	_      [64]byte
	next   atomic.Int64 // of those due
	due    []*Domain    // in this instant
	fault  any          // what it has panicked with
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
	if !s.dealt { // later, they stay where they are
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

// work ticks with the others.
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

// tickSafely leaves it to the engine's goroutine to tell what it panics with.
func (c *workerPool) tickSafely(w int) {
	defer func() {
		if c.workers[w].fault == nil {
			c.workers[w].fault = recover()
		}
	}()
	c.tickDue(w)
}

// tickDue ticks worker w's domains, and then what others have not come to.
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

// trial finds out whether ticking together pays: not when little is due in each instant. In every period
// some instants are ticked by all, some by one, and then the rest by whoever was faster.
type trial struct {
	instant  int
	begun    time.Time
	together bool
	all      time.Duration // what the timed instants took all of them
}

// Instants of a trial: before what is timed, since caches are not what they will be and others may be napping; timed,
// with all and with one; and of the period.
const (
	trialLead   = 32
	trialTimed  = 96
	trialPeriod = 8192
)

// choose reports whether the next instant is ticked together.
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

// tick ticks the domains that are due, if they are several workers' and it pays. It reports whether it did.
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

// Of how many instants one is timed, and after how many domains move.
const (
	timedEvery = 16
	shareEvery = 1024
)

// uneven is by how much what a worker has to do may exceed the mean before domains move.
const uneven = 1.05

// share gives workers with little to do domains of those with much.
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

// best returns the domain of a worker that makes a difference smallest when it goes; nil: none makes it smaller.
func best(domains []*Domain, of int, difference time.Duration) (found *Domain) {
	left := difference
	for _, d := range domains {
		if after := (difference - 2*d.cost).Abs(); d.worker == of && after < left {
			found, left = d, after
		}
	}
	return found
}

// How often one looks before it lets other goroutines have the processor, and then other processes: some fifty
// microseconds. With fewer processors than workers there is no point in looking: who one waits for is not running.
const (
	spins  = 100_000
	yields = 200
	nap    = 20 * time.Microsecond
)

// await waits until a count has come to n.
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
