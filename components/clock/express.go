package clock

// express carries values through a trailing unit by times instead of moves. The unit passes values on in order, one a
// cycle, and holds all of them up while it finds no slot for the first answer. So the cycle in which the leader can
// take an answer is known when it sends the value, a fixed delay later, unless the leader leaves so many answers that
// the unit stalls; when it has taken one, the times of the others follow. Neither the unit's cycles are run nor do the
// links hold anything, until the unit no longer trails or its state is read (Trailing.Settle, Trailing.End).
//
// Then hold puts the values where they would be, by running the unit's cycles since the first of them was sent. Values
// that were sent or taken before change nothing in those cycles.
type express struct {
	on     bool  // the values are under way here
	able   bool  // the links are deep enough for a value a cycle, and the values fit the ring
	delay  Cycle // from sending a value to the first cycle in which its answer can be taken
	inside Cycle // the part of it in the unit, from the cycle in which it takes the value
	behind Cycle // the part from the unit to the leader
	room   uint  // slots of the link to the unit
	slots  uint  // slots of the link to the leader
	taken  Cycle // the last cycle in which an answer was taken

	stalled bool  // the unit finds no slot for an answer
	freed   bool  // but will in the next cycle, as one was taken in cycle taken
	since   Cycle // the first cycle of the stall

	head, tail uint // counts of values taken and sent
	ring       [expressSlots]passing
}

// expressSlots bounds the values under way.
const expressSlots = 32

// passing is a value on the express.
type passing struct {
	addr, tag uint32
	due       Cycle // first cycle in which its answer can be taken, unless the unit stalls
	passed    bool  // the unit had passed it on, and counted it, before the express began
}

// prepare computes what is fixed.
func (x *express) prepare(t *Trailing) {
	x.inside, x.behind = t.unit.Through(), t.out.cycles
	x.delay = t.in.cycles + x.inside + x.behind
	x.room, x.slots = uint(t.in.capacity), uint(t.out.capacity)
	x.able = t.in.capacity > uint64(t.in.cycles) && t.out.capacity > uint64(t.out.cycles) &&
		x.room+x.slots+uint(x.inside) < expressSlots
}

func (x *express) at(i uint) *passing { return &x.ring[i%expressSlots] }

// passes returns the cycle in which the unit passes on the i-th value, unless it stalls.
func (x *express) passes(i uint) Cycle { return x.at(i).due - x.behind }

// notice notes that the unit finds no slot for an answer in cycle now, or has found none before. An answer that is
// taken in a cycle still occupies its slot then.
func (x *express) notice(now Cycle) {
	if next := x.head + x.slots; x.tail > next && !x.stalled {
		if at := x.passes(next); at <= now {
			x.stalled, x.since = true, at
		}
	}
}

// resume computes the times after a stall that has ended: the unit passes the first answer on in the cycle after one
// was taken, and one that is behind it in the unit follows at once. It takes the others from then on.
func (t *Trailing) resume() {
	x := &t.express
	x.stalled, x.freed = false, false
	next := x.taken + 1
	t.unit.Stalled(x.since, next)
	x.at(x.head + x.slots - 1).due = next + x.behind
	for i := x.head + x.slots; i != x.tail; i++ {
		at := x.passes(i)
		if at < x.since+x.inside { // the unit had taken it
			at += x.taken + 1 - x.since
		} else {
			at = max(at, next+x.inside)
			next = at - x.inside + 1
		}
		x.at(i).due = at + x.behind
	}
}

// Express reports whether what is under way goes by times: the leader then uses Send, Due, Answer and Take.
func (t *Trailing) Express() bool { return t.express.on }

// Run runs the unit's cycles up to the one before now, unless that is left to the express, which it begins. The leader
// calls it at the beginning of each of its cycles, before it takes an answer.
func (t *Trailing) Run(now Cycle) {
	x := &t.express
	if x.on {
		if x.freed {
			t.resume()
		}
		x.notice(now)
		return
	}
	t.CatchUp(now - 1)
	if x.able && t.last < now && t.in.first >= now && !t.out.FullAt(now) && t.unit.Flows() {
		t.board(now)
	}
}

// Full reports to the leader whether there is no slot towards the unit in its cycle now.
func (t *Trailing) Full(now Cycle) bool {
	x := &t.express
	if !x.on {
		return t.in.FullAt(now)
	}
	if x.tail-x.head < x.room {
		return false
	}
	if x.stalled {
		now = x.since
	}
	return x.passes(x.tail-x.room) >= now+x.inside
}

// board begins the express, and moves all values under way to it.
func (t *Trailing) board(now Cycle) {
	x := &t.express
	x.on, x.head, x.tail, x.taken = true, 0, 0, t.out.freedIn
	t.unit.Board(t, now)
}

// Aboard adds a value that the unit, or a link, hands over, in order. due is the first cycle in which its answer can be
// taken, and passed is set if the unit has passed it on.
func (t *Trailing) Aboard(addr, tag uint32, due Cycle, passed bool) {
	x := &t.express
	*x.at(x.tail) = passing{addr, tag, due, passed}
	x.tail++
}

// Send sends a value in the leader's cycle now, on the express. After a stall it may wait behind others in the link.
func (t *Trailing) Send(addr, tag uint32, now Cycle) {
	x, due := &t.express, now+t.express.delay
	if x.tail != x.head {
		due = max(due, x.at(x.tail-1).due+1)
	}
	t.Aboard(addr, tag, due, false)
}

// Due returns the first cycle in which an answer on the express can be taken; Never: none is under way.
func (t *Trailing) Due() Cycle {
	x := &t.express
	if x.head == x.tail {
		return Never
	}
	return x.at(x.head).due
}

// nextDue is Next on the express.
func (t *Trailing) nextDue(now Cycle, awaits bool) Cycle {
	if x := &t.express; awaits && (!x.stalled || x.freed) {
		return now + 1
	}
	if due := t.Due(); due > now {
		return due
	}
	return Never // the leader does not take the answer that is there
}

// Answer returns the tag of the first answer on the express.
func (t *Trailing) Answer() uint32 { return t.express.at(t.express.head).tag }

// Take removes the first answer on the express, which must be due, in the leader's cycle now.
func (t *Trailing) Take(now Cycle) {
	x := &t.express
	if p := x.at(x.head); !p.passed {
		t.unit.Passed(p.addr)
	}
	x.head++
	x.taken, x.freed = now, x.stalled
}

// hold ends the express: it runs the unit's cycles, with the values that are under way, up to the one before now.
func (t *Trailing) hold(now Cycle) {
	x := &t.express
	stalled := x.freed && x.taken == now // up to now
	switch {
	case stalled:
		x.head-- // the answer that was taken is part of it
		x.at(x.head).passed = true
	case x.freed:
		t.resume()
	}
	x.on, x.stalled, x.freed = false, false, false
	t.out.freedIn = Never
	t.replay(now)
	if stalled {
		t.out.DropAt(now)
	}
	t.out.freedIn = x.taken
}

// replay is the part of hold that runs the unit's cycles.
func (t *Trailing) replay(now Cycle) {
	x := &t.express
	for begun := false; x.head != x.tail; x.head++ {
		p := x.at(x.head)
		if p.passed {
			t.unit.PutAnswer(p.tag, p.due-x.behind)
			continue
		}
		sent := p.due - x.delay
		if !begun {
			t.last, begun = min(sent, now)-1, true
		}
		t.CatchUp(min(sent, now) - 1)
		t.unit.PutRequest(p.addr, p.tag, sent)
	}
	t.CatchUp(now - 1)
}
