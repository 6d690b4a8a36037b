package clock

// Trailing lets the unit on the other side of two links run a unit's cycles, as long as nothing but those links can
// change that unit: it does not tick, and its cycles are made up for before their outcome is looked at. Values, their
// times and free slots are those of a unit that ticks; no end of a link is woken.
//
// A cycle of the trailing unit sees what the other side did up to the cycle before, as through any link. So at cycle n
// the other side calls Run(n) before it acts, uses Full, PushAt and DropAt for the links' Full, Push and Pop, and finds
// its own timer. As the unit passes all values on in order and with the same delay, their times mostly suffice, and its
// cycles are not even made up for (express).
type Trailing struct {
	On   bool  // the unit trails
	last Cycle // its cycles have been run up to this one

	unit     Trailer
	in, out  *linkState // from the leader, and to it
	observed bool       // the unit is observed between cycles
	express  express
}

// Trailer is a unit that can trail.
type Trailer interface {
	// Trail runs a cycle. It reports whether the next one could differ if neither side acts until then.
	Trail(now Cycle) (again bool)
	// Trails reports whether the unit holds nothing but values from and for the links, in the cycle that has begun.
	Trails() bool
	// Resident reports whether a value that names an address keeps it trailing.
	Resident(addr uint32) bool
	// Ahead returns the number of cycles, without hindrance, until it passes on the first value that it holds; Never: it
	// holds none. Through is that of a value that it takes.
	Ahead() Cycle
	Through() Cycle
	// Flows reports whether nothing in the unit is held up. Board then hands what the unit and its links hold over to
	// the express, at the beginning of the leader's cycle now, by Aboard; of what it has not passed on, it takes back
	// the counts. Passed counts a value that has passed on the express, and Stalled the cycles from since to the one
	// before until in which no slot was free for an answer.
	Flows() bool
	Board(t *Trailing, now Cycle)
	Passed(addr uint32)
	Stalled(since, until Cycle)
	// PutRequest puts a value into the link to the unit in the leader's cycle at, and PutAnswer its answer into the link
	// back in the unit's cycle at, when the express ends.
	PutRequest(addr, tag uint32, at Cycle)
	PutAnswer(tag uint32, at Cycle)
	// TrailEnds is called when the unit no longer trails, and will tick again from the next cycle on.
	TrailEnds()
}

// NewTrailing prepares a unit that takes values from one link and passes values to the other.
func NewTrailing[In, Out any](u Trailer, in *Link[In], out *Link[Out]) *Trailing {
	t := &Trailing{unit: u, in: &in.linkState, out: &out.linkState}
	t.express.prepare(t)
	in.trailing, out.trailing = t, t
	return t
}

// Trailing returns what a unit at an end of the link has made of it; nil: both ends always tick.
func (l *linkState) Trailing() *Trailing { return l.trailing }

// Lead declares that the link's producer runs the consumer's cycles if that trails.
func (l *linkState) Lead() { l.leads = true }

// Observe keeps the unit from trailing from now on, as it is observed between cycles.
func (t *Trailing) Observe() {
	if t != nil {
		t.observed = true
		t.End()
	}
}

// Begin lets the unit trail after its tick in cycle now, if it can, and wakes the other side to take over.
func (t *Trailing) Begin(now Cycle) bool {
	if t == nil || t.observed || !t.in.trails() || !t.out.trails() || !t.in.leads || !t.unit.Trails() {
		return false
	}
	t.On, t.last = true, now
	t.in.remember(now)
	t.out.remember(now)
	t.out.consumer.wakeNext()
	return true
}

// trails reports whether a unit at one end of the link can trail the other: both tick together, and the link is not
// observed.
func (l *linkState) trails() bool { return l.cycles != 0 && !l.across && l.observe == nil }

// remember notes whether a value has been taken in this very instant, before the link was used by a trailing unit.
func (l *linkState) remember(now Cycle) {
	l.freedIn = Never
	if l.freedAt == l.s.now {
		l.freedIn = now
	}
}

// Has reports whether the unit's cycle has been run, or will be by the other side: its tick is then left out. After End
// a tick can follow in the same cycle that was asked for before.
func (t *Trailing) Has(now Cycle) bool { return t.On || now <= t.last }

// CatchUp runs the unit's cycles up to a cycle.
func (t *Trailing) CatchUp(upTo Cycle) {
	for t.last < upTo {
		t.last++
		if !t.unit.Trail(t.last) {
			t.last = upTo
		}
	}
}

// Holds reports whether a value that names an address keeps the unit trailing.
func (t *Trailing) Holds(addr uint32) bool { return t.unit.Resident(addr) }

// Settle runs the unit's cycles up to the present: to the one before if the clock is ticking.
func (t *Trailing) Settle() {
	if t == nil || !t.On {
		return
	}
	d := t.in.consumer.d
	if t.express.on {
		t.hold(d.cycle)
	}
	if d.inTick {
		t.CatchUp(d.cycle - 1)
	} else {
		t.CatchUp(d.cycle)
	}
}

// End makes the unit tick again from the next cycle on; it has then run this one. It may be called by the other side
// before it has acted on the link in this cycle other than by taking a value, or between instants.
func (t *Trailing) End() {
	if t == nil || !t.On {
		return
	}
	if t.express.on {
		t.hold(t.in.consumer.d.cycle)
	}
	t.CatchUp(t.in.consumer.d.cycle)
	t.On = false
	t.in.resume(t.last)
	t.out.resume(t.last)
	t.in.consumer.wakeNext()
	t.out.consumer.wakeNext()
	t.unit.TrailEnds()
}

// resume restores the state of a link both ends of which tick, in cycle now.
func (l *linkState) resume(now Cycle) {
	l.limit, l.freedAt = l.popped+l.capacity, l.s.now
	if l.freedIn == now {
		l.limit--
	}
}

// PushAt is Push in the producer's cycle now, to or from a trailing unit.
func (l *Link[T]) PushAt(v T, now Cycle) {
	l.ring[l.tail] = v
	l.pushAt(now + l.cycles)
}

func (l *linkState) pushAt(ready Cycle) {
	if l.pushed-l.popped >= l.capacity {
		l.bug(l.producer.d, "push to a full link")
	}
	l.ready[l.tail] = ready
	if l.first == Never {
		l.first = ready
		*l.filled |= l.filledBit
	}
	l.tail = l.after(l.tail)
	l.pushed++
}

// DropAt is Drop in the consumer's cycle now.
func (l *linkState) DropAt(now Cycle) {
	l.head = l.after(l.head)
	l.popped++
	l.freedIn = now
	if l.popped != l.pushed {
		l.first = l.ready[l.head]
	} else {
		l.first = Never
		*l.filled &^= l.filledBit
	}
}

// FullAt is Full in the producer's cycle now.
func (l *linkState) FullAt(now Cycle) bool {
	n := l.pushed - l.popped
	return n >= l.capacity || l.freedIn == now && n+1 >= l.capacity
}

// Next returns the first cycle after now in which a value can be read from the unit, or, if awaits is set, a slot may
// be free towards it; Never: neither happens by itself. The unit's cycles have been run up to now-1, and the leader has
// acted in now.
func (t *Trailing) Next(now Cycle, awaits bool) Cycle {
	if t.express.on {
		return t.nextDue(now, awaits)
	}
	ahead := t.unit.Ahead()
	if awaits && (ahead != 0 || !t.out.FullAt(now+1)) {
		return now + 1 // else it stands still until the leader takes a value
	}
	if first := t.out.first; first != Never {
		if first > now {
			return first
		}
		return Never
	}
	if ahead != Never {
		return now + ahead + t.out.cycles
	}
	if t.in.first != Never {
		return max(now, t.in.first) + t.unit.Through() + t.out.cycles
	}
	return Never
}
