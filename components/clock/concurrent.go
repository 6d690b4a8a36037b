package clock

import "github.com/sarchlab/akita/v3/sim"

// concurrent is a System whose domains may tick concurrently.
type concurrent struct{ *System }

// Handle runs a batch of instants.
func (s concurrent) Handle(sim.Event) error {
	s.scheduled, s.handling = false, true
	if s.crew != nil {
		s.crew.settle() // BeforeBatches may have looked at domains, or woken units
	}
	for n := 0; n < batch && !s.stop; n++ {
		t := s.next()
		if t == Femto(Never) {
			break
		}
		s.run(t)
	}
	s.handling = false
	if !s.stop {
		s.schedule()
	}
	return nil
}

// next returns the earliest instant at which a domain may tick.
func (s concurrent) next() Femto {
	if s.crew != nil && s.crew.reported {
		return s.crew.nextInstant()
	}
	return s.nextInstant()
}

// run runs an instant. If no domain ticks, there was none.
func (s concurrent) run(t Femto) {
	before, observed := s.now, len(s.domains)-s.observers
	s.now = t
	ticked := s.together(s.domains[:observed], t)
	for _, d := range s.domains[observed:] {
		if d.at == t {
			if s.crew != nil {
				s.crew.settle()
			}
			d.tick()
			ticked = true
		}
	}
	if !ticked {
		s.now = before
	}
}

// together ticks the shards that are due. It reports whether there are any.
func (s concurrent) together(domains []*Domain, t Femto) (ticked bool) {
	if s.crew != nil && s.crew.pays() {
		return s.crew.instant(t)
	}
	s.keepTime(domains, t)
	for _, d := range domains {
		if d.at == t {
			d.tick()
			ticked = true
		}
	}
	s.finish(domains)
	s.deliver(t)
	return ticked
}

// keepTime sets all shards of a clock that ticks to the same cycle, including those whose units all sleep.
func (s concurrent) keepTime(domains []*Domain, t Femto) {
	for _, d := range domains {
		if d.at == t {
			for _, other := range d.shards {
				other.cycle = d.next
			}
		}
	}
}

// deliver delivers the posts of an instant, and empties them.
func (s *System) deliver(at Femto) {
	posts := s.posts[s.turn]
	for from := range posts {
		for to := range posts[from].boxes {
			posts[from].boxes[to].deliver(at)
		}
		posts[from].clear()
	}
}

// post returns the post of a domain's worker.
func (s *System) post(d *Domain) *post { return &s.posts[s.turn][d.worker] }

// bound notes that something in a post may wake a unit of d for a cycle.
func (s *System) bound(p *post, d *Domain, c Cycle) {
	at := &p.wakes
	if s.ending && s.crew != nil {
		at = &s.crew.wakes
	}
	*at = min(*at, Femto(c)*d.period)
}
