// Package clock advances time for the units of a machine.
//
// A System holds clock domains on one integer time base. A domain ticks its awake units once per cycle; a unit whose
// Tick returns false sleeps until it is woken or its timer expires, and when all units sleep, time jumps to the next
// timer: idle cycles cost nothing. The System is a single Akita event handler, visible to Akita's engines, monitor and
// hooks, whose cost per event (about 300 ns) is paid once for many cycles.
//
// Units communicate through Links: a value can be read only from a later cycle on, and a freed slot is visible to the
// producer only from the next cycle on. Results therefore do not depend on the order in which units tick.
//
// A clock can be split into shards, which worker goroutines tick concurrently with the same results: a link between
// shards publishes both ends' actions when the instant is over, and everything else that reaches beyond a unit is done
// at the end of the instant, by Finish.
//
// This package knows no unit.
package clock

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/sarchlab/akita/v3/sim"
)

// Femto is a point in simulated time, in femtoseconds from the start. It is an integer so that clocks of any ratio meet
// exactly.
type Femto uint64

// Cycle counts the cycles of one domain.
type Cycle = uint64

// Never is a time or cycle that is never reached.
const Never Cycle = math.MaxUint64

// batch is the largest number of instants per Akita event.
const batch = 4096

// System is a set of clock domains that run together.
type System struct {
	*sim.ComponentBase
	engine    sim.Engine
	domains   []*Domain
	observers int // number of observing domains, at the end of domains
	now       Femto
	event     event
	scheduled bool
	handling  bool
	stop      bool
	draw      *rand.Rand  // source of Scatter; nil: not scattered
	workers   int         // number of goroutines that tick; 0 and 1: only the engine's
	alone     bool        `checkpoint:"assembled"` // single-threaded, for observers
	ending    bool        // all due domains have ticked, and units finish
	posts     [2][]post   `checkpoint:"assembled"` // by worker; for instants in turn
	turn      int         `checkpoint:"assembled"` // of posts: those of the current instant
	crew      *workerPool // the workers, during Run
	trial     trial       `checkpoint:"assembled"` // of concurrent ticking, by host time
	insists   bool        `checkpoint:"assembled"` // always tick concurrently, without trials
	dealt     bool        `checkpoint:"assembled"` // domains have been assigned to workers
	most      int         `checkpoint:"assembled"` // limit on goroutines; 0: workers
}

// event is the System's only Akita event, reused for every batch.
type event struct {
	at sim.VTimeInSec
	s  *System
}

func (e *event) Time() sim.VTimeInSec { return e.at }
func (e *event) IsSecondary() bool    { return false }

// Handler returns who runs a batch of instants.
func (e *event) Handler() sim.Handler {
	if e.s.workers > 1 {
		return concurrent{e.s}
	}
	return e.s
}

// NewSystem returns a system without domains.
func NewSystem(name string, engine sim.Engine) *System {
	s := &System{ComponentBase: sim.NewComponentBase(name), engine: engine}
	s.event.s = s
	return s
}

// AddObserver adds a clock whose units tick after all others of the instant. They see its final state and must not
// change it.
func (s *System) AddObserver(name string, period Femto) (*Domain, error) {
	if period == 0 {
		return nil, fmt.Errorf("clock %s: a period of 0", name)
	}
	d := s.newDomain(name, period)
	d.clock = observing
	s.domains = append(s.domains, d)
	s.observers++
	return d, nil
}

func (s *System) newDomain(name string, period Femto) *Domain {
	return &Domain{s: s, name: name, period: period, next: Never, at: Femto(Never), timer: Never}
}

// Scatter makes domains, and the units within them, tick in a pseudo-random order instead of the order of addition.
// Tests use it to show that results do not depend on the order. It must precede the first domain.
func (s *System) Scatter(seed uint64) {
	if len(s.domains) > 0 {
		panic(fmt.Sprintf("BUG: %s @0: scattered after domain %s was added", s.Name(), s.domains[0].name))
	}
	s.draw = rand.New(rand.NewPCG(seed, seed))
}

// Now returns the current instant.
func (s *System) Now() Femto { return s.now }

// CurrentTime returns the current instant in Akita's unit, seconds. The engine's own time lags behind by up to one
// batch of instants.
func (s *System) CurrentTime() sim.VTimeInSec { return seconds(s.now) }

func seconds(t Femto) sim.VTimeInSec { return sim.VTimeInSec(float64(t) / 1e15) }

// AddDomain adds a clock with that period.
func (s *System) AddDomain(name string, period Femto) (*Domain, error) {
	if period == 0 {
		return nil, fmt.Errorf("clock %s: a period of 0", name)
	}
	d := s.newDomain(name, period)
	at := len(s.domains) - s.observers
	if s.draw != nil {
		at = s.draw.IntN(at + 1)
		d.scatter(s.draw)
	}
	s.domains = slices.Insert(s.domains, at, d)
	return d, nil
}

// SetWorkers sets the number of goroutines that tick domains concurrently. It must precede the first link.
func (s *System) SetWorkers(n int) {
	s.workers, s.trial.together = n, true
	for turn := range s.posts {
		s.posts[turn] = make([]post, n)
		for i := range s.posts[turn] {
			s.posts[turn][i].boxes = make([]box, n)
		}
	}
}

// Shard adds another domain to the same clock.
func (d *Domain) Shard() *Domain {
	s := d.s
	shard := s.newDomain(d.name, d.period)
	s.domains = slices.Insert(s.domains, len(s.domains)-s.observers, shard)
	all := append(d.shards, shard)
	if d.shards == nil {
		all = []*Domain{d, shard}
	}
	for _, each := range all {
		each.shards = all
	}
	if s.draw != nil {
		shard.scatter(s.draw)
	}
	return shard
}

// LimitWorkers lowers the number of goroutines. The shards and links that SetWorkers has led to remain.
func (s *System) LimitWorkers(n int) { s.most = n }

// poolSize returns the number of goroutines that tick.
func (s *System) poolSize() int {
	if s.most > 0 {
		return min(s.workers, s.most)
	}
	return s.workers
}

// Alone makes one goroutine do all workers' work from the next Run on, for observers that units call while they tick.
func (s *System) Alone() { s.alone = true }

// Insist makes workers tick concurrently even where that is slower. Tests use it to show that results are the same.
func (s *System) Insist() { s.insists = true }

// CatchUp sets all domains to the last cycle that is over at the current instant, which their units may have slept
// through. Observers call it before they read counts; afterwards nothing may tick at this instant.
func (s *System) CatchUp() {
	for _, d := range s.domains {
		d.cycle = max(d.cycle, Cycle(s.now/d.period))
	}
}

// BeforeBatches makes the simulating goroutine call f before every batch of instants, while no unit ticks. It is a hook
// of the engine, which costs nothing if there is none.
func (s *System) BeforeBatches(f func()) { s.engine.AcceptHook(&beforeBatches{f}) }

type beforeBatches struct{ f func() }

// Func is called by the engine around every event, which is a batch.
func (h *beforeBatches) Func(c sim.HookCtx) {
	if c.Pos == sim.HookPosBeforeEvent {
		h.f()
	}
}

// Stop ends Run after the current instant. Run may be called again.
func (s *System) Stop() { s.stop = true }

// Run advances time until nothing is awake and no timer is set, or until Stop.
func (s *System) Run() error {
	s.stop = false
	s.schedule()
	if s.poolSize() > 1 && !s.alone {
		if s.crew = newWorkerPool(s); s.crew != nil {
			defer func() {
				s.crew.dismiss()
				s.crew = nil
			}()
		}
	}
	return s.engine.Run()
}

// schedule schedules the next instant with the engine.
func (s *System) schedule() {
	if s.scheduled || s.handling {
		return
	}
	if t := s.nextInstant(); t != Femto(Never) {
		s.scheduled = true
		s.event.at = max(seconds(t), s.engine.CurrentTime())
		s.engine.Schedule(&s.event)
	}
}

// nextInstant returns the earliest instant at which a domain ticks.
func (s *System) nextInstant() Femto {
	t := Femto(Never)
	for _, d := range s.domains {
		t = min(t, d.at)
	}
	return t
}

// Handle runs a batch of instants.
func (s *System) Handle(sim.Event) error {
	s.scheduled, s.handling = false, true
	for n := 0; n < batch && !s.stop; n++ {
		t := s.nextInstant()
		if t == Femto(Never) {
			break
		}
		s.now = t
		s.instant(t)
	}
	s.handling = false
	if !s.stop {
		s.schedule()
	}
	return nil
}

// instant ticks the domains that are due, and then finishes the instant.
func (s *System) instant(t Femto) {
	observed := len(s.domains) - s.observers
	late := false
	for _, d := range s.domains[:observed] {
		if d.at == t {
			d.tick()
			late = late || d.late
		}
	}
	if late {
		s.finish(s.domains[:observed])
	}
	for _, d := range s.domains[observed:] {
		if d.at == t {
			d.tick()
		}
	}
}

// finish runs the units' Finish.
func (s *System) finish(domains []*Domain) {
	s.ending = true
	for _, d := range domains {
		if d.late {
			d.finish()
		}
	}
	s.ending = false
}

// lower notes that a domain has got an earlier next cycle.
func (s *System) lower(d *Domain) {
	if s.ending && s.crew != nil && d.clock != observing {
		s.crew.lowered[d.clock] = min(s.crew.lowered[d.clock], d.at)
	}
	s.schedule()
}

// NotifyRecv and NotifyPortFree implement sim.Component; the System has no ports.
func (s *System) NotifyRecv(sim.VTimeInSec, sim.Port)     {}
func (s *System) NotifyPortFree(sim.VTimeInSec, sim.Port) {}

var _ sim.Component = (*System)(nil)
