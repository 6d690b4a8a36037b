// Package clock makes time pass for the units of a machine.
//
// A System holds clock domains on one integer time base. A domain ticks its
// awake units once a cycle; a unit whose Tick returns false sleeps until
// somebody wakes it or its timer is due, and when all sleep, time jumps to the
// next timer: idle cycles cost nothing. The System is one Akita event handler:
// Akita's engines, monitor and hooks see it, and its cost per event (about
// 300 ns) is paid once for many cycles.
//
// Units talk through Links, whose entries can be read from a later cycle on
// only; freed slots are seen by the producer from the next cycle on only. So
// no result depends on the order in which units tick.
//
// A clock can be in shards, which different processors tick at the same time. What its units do to each other
// by links is the same then: a link between shards tells its ends of each other when the instant is over. All else
// that reaches beyond a unit is left to the end of the instant, by Finish.
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

// Femto is a point in simulated time, in femtoseconds from the start. It is an
// integer so that clocks of any ratio meet exactly.
type Femto uint64

// Cycle counts the cycles of one domain.
type Cycle = uint64

// Never is a time or cycle that does not come.
const Never Cycle = math.MaxUint64

// batch is how many instants one Akita event serves.
const batch = 4096

// System is a set of clock domains that run together.
type System struct {
	*sim.ComponentBase
	engine    sim.Engine
	domains   []*Domain
	observers int // of the domains, those at the end that only look
	now       Femto
	event     event
	scheduled bool
	handling  bool
	stop      bool
	draw      *rand.Rand  // Scatter's; nil: nothing is scattered
	workers   int         // goroutines that tick; 0 and 1: the engine's own only
	alone     bool        `checkpoint:"assembled"` // it ticks them all by itself: somebody looks on who must not be called by several
	ending    bool        // all have ticked that are due, and what reaches beyond them follows
	crew      *workerPool // the others, while Run runs
	trial     trial       `checkpoint:"assembled"` // of the host
	insists   bool        `checkpoint:"assembled"` // there is no trial
	dealt     bool        `checkpoint:"assembled"` // domains have workers
	most      int         `checkpoint:"assembled"` // of the workers, how many goroutines there are; 0: as many
}

// event is the System's only Akita event, used again and again.
type event struct {
	at sim.VTimeInSec
	s  *System
}

func (e *event) Time() sim.VTimeInSec { return e.at }
func (e *event) Handler() sim.Handler { return e.s }
func (e *event) IsSecondary() bool    { return false }

// NewSystem makes a system without domains.
func NewSystem(name string, engine sim.Engine) *System {
	s := &System{ComponentBase: sim.NewComponentBase(name), engine: engine}
	s.event.s = s
	return s
}

// AddObserver adds a clock whose units tick when all others are through with the
// instant. They see it as it will be left, and change nothing.
func (s *System) AddObserver(name string, period Femto) (*Domain, error) {
	if period == 0 {
		return nil, fmt.Errorf("clock %s: a period of 0", name)
	}
	d := s.newDomain(name, period)
	s.domains = append(s.domains, d)
	s.observers++
	return d, nil
}

func (s *System) newDomain(name string, period Femto) *Domain {
	return &Domain{s: s, name: name, period: period, next: Never, at: Femto(Never), timer: Never}
}

// Scatter makes domains, and units within them, tick in an order drawn from the seed
// instead of that in which they are added: for tests that no result depends on it. It
// comes before the first domain.
func (s *System) Scatter(seed uint64) {
	if len(s.domains) > 0 {
		panic(fmt.Sprintf("BUG: %s @0: scattered after domain %s was added", s.Name(), s.domains[0].name))
	}
	s.draw = rand.New(rand.NewPCG(seed, seed))
}

// Now returns the current instant.
func (s *System) Now() Femto { return s.now }

// CurrentTime returns the current instant in Akita's unit. The engine's own
// time lags behind by up to one batch of cycles.
func (s *System) CurrentTime() sim.VTimeInSec { return seconds(s.now) }

func seconds(t Femto) sim.VTimeInSec { return sim.VTimeInSec(float64(t) / 1e15) }

// AddDomain adds a clock of that period.
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

// SetWorkers has so many goroutines tick the domains, several at a time. It comes before the first link.
func (s *System) SetWorkers(n int) { s.workers, s.trial.together = n, true }

// Shard returns another domain of the same clock.
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

// LimitWorkers has fewer goroutines tick than there were to be: what SetWorkers has made of the domains stays.
func (s *System) LimitWorkers(n int) { s.most = n }

// poolSize is how many goroutines tick.
func (s *System) poolSize() int {
	if s.most > 0 {
		return min(s.workers, s.most)
	}
	return s.workers
}

// Alone has one goroutine do all workers' work, from the next Run on: for observers that units call while they tick.
func (s *System) Alone() { s.alone = true }

// Insist has workers tick together where that does not pay, too: for tests that it changes nothing.
func (s *System) Insist() { s.insists = true }

// CatchUp sets the domains to the cycles that are over at the current instant, though all of
// their units may have slept through the last of them. It is for observers that want to
// know what units have counted up to now; after it nothing may tick at this instant.
func (s *System) CatchUp() {
	for _, d := range s.domains {
		d.cycle = max(d.cycle, Cycle(s.now/d.period))
	}
}

// BeforeBatches has f called before every batch of instants, by the goroutine that simulates, while
// no unit ticks. It is a hook of the engine, which costs nothing when there is none.
func (s *System) BeforeBatches(f func()) { s.engine.AcceptHook(&beforeBatches{f}) }

type beforeBatches struct{ f func() }

// Func is called by the engine around every event: a batch is one.
func (h *beforeBatches) Func(c sim.HookCtx) {
	if c.Pos == sim.HookPosBeforeEvent {
		h.f()
	}
}

// Stop ends Run after the current instant. Run may be called again.
func (s *System) Stop() { s.stop = true }

// Run lets time pass until nothing is awake and no timer is set, or until
// Stop.
func (s *System) Run() error {
	s.stop = false
	s.schedule()
	if s.poolSize() > 1 && !s.alone {
		s.crew = newWorkerPool(s)
		defer func() {
			s.crew.dismiss()
			s.crew = nil
		}()
	}
	return s.engine.Run()
}

// schedule hands the next instant to the engine.
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

// nextInstant is the earliest time at which a domain has something to do.
func (s *System) nextInstant() Femto {
	t := Femto(Never)
	for _, d := range s.domains {
		t = min(t, d.at)
	}
	return t
}

// Handle serves a batch of instants.
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

// instant ticks what is due, and then has it finish.
func (s *System) instant(t Femto) {
	observed := len(s.domains) - s.observers
	if s.workers > 1 {
		s.together(s.domains[:observed], t)
	} else {
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
	}
	for _, d := range s.domains[observed:] {
		if d.at == t {
			d.tick()
		}
	}
}

// together ticks what is due of shards.
func (s *System) together(domains []*Domain, t Femto) {
	s.keepTime(domains, t)
	if s.crew == nil || !s.crew.tick(t) {
		for _, d := range domains {
			if d.at == t {
				d.tick()
			}
		}
	}
	s.finish(domains)
}

// finish ends the instant for those who have asked for it, and then lets shards know of each other.
func (s *System) finish(domains []*Domain) {
	s.ending = true
	for _, d := range domains {
		if d.late {
			d.finish()
		}
	}
	for _, d := range domains {
		if len(d.crossed) != 0 {
			d.meet()
		}
	}
	s.ending = false
}

// keepTime has the shards of a clock that ticks be in the same cycle, those too whose units all sleep.
func (s *System) keepTime(domains []*Domain, t Femto) {
	for _, d := range domains {
		if d.at == t {
			for _, other := range d.shards {
				other.cycle = d.next
			}
		}
	}
}

// NotifyRecv and NotifyPortFree complete sim.Component; the System has no ports.
func (s *System) NotifyRecv(sim.VTimeInSec, sim.Port)     {}
func (s *System) NotifyPortFree(sim.VTimeInSec, sim.Port) {}

var _ sim.Component = (*System)(nil)
