package core

import (
	"math/bits"

	"heddle/components/queue"
	"heddle/isa"
)

// scratchpad is the timing of the core's scratchpad: VX_local_mem of the RTL with the adapters
// around it, register by register. The lanes of an access part at its entry and meet again
// at its end, so those of several accesses are under way at once, and the low lanes of a
// later one overtake the high lanes of an earlier one that wait for their banks. Data is not
// in here: accesses take effect when they enter, in order.
//
// A step is a cycle, and costs as much as there are requests that move in it. Sets of lanes
// or of banks are masks. Lanes of an access in which each has a bank of its own stay together
// as long as nothing is in their way: then the access is a train, whose position follows from the
// cycle, and a step costs next to nothing. When something is in the way of one, all are parted
// into requests where they are, until the scratchpad is empty.
type scratchpad struct {
	banks  uint32 // less 1; as many as lanes
	slices bool   // arbiters have two levels, the first over slices of sliceSize
	held   int    // requests of lanes that are in here
	packed queue.Timed[packed]

	trains [trainSlots]conflictFree // by the cycle of their entry
	parted bool                     // into the requests that follow

	in       padAccess
	requests pairs[padRequest]            // by lane
	want     [padLanes]uint32             // by bank: lanes whose first request is for it
	wanted   uint32                       // banks that some lane wants
	joining  [padSlices]pairs[padRequest] // by slice of lanes: by bank
	bank     pairs[padRequest]            // by bank
	wrote    uint32                       // banks that wrote in cycle wroteAt
	wroteAt  uint64                       //
	word     [padLanes]uint16             // by bank: what it wrote
	read     uint32                       // banks with something in their output register
	out      [padLanes]padAnswer          // by bank
	parting  [padSlices]pairs[padAnswer]  // by slice of banks: by lane
	answers  pairs[padAnswer]             // by lane
}

const (
	padLanes   = 32
	sliceSize  = 8 // RTL: MAX_FANOUT
	sliceLanes = uint32(1<<sliceSize - 1)
	padSlices  = padLanes / sliceSize
)

// padAccess is an access to the scratchpad.
type padAccess struct {
	access int16
	write  bool
	lanes  uint32           // those that have not gone on
	word   [padLanes]uint16 // by lane
}

// padRequest is the request of one lane.
type padRequest struct {
	access int16
	word   uint16
	lane   uint8
	write  bool
}

// padAnswer is the answer to one lane.
type padAnswer struct {
	access int16
	lane   uint8
}

// packed are lanes of a load that are answered together.
type packed struct {
	access int16
	lanes  uint32
}

func newScratchpad(lanes int, of *queue.Owner) scratchpad {
	return scratchpad{banks: uint32(lanes - 1), slices: levels(lanes) > 0, packed: queue.NewTimed[packed](2, of, "scratchpad answers")}
}

// idle reports whether a step would do nothing.
func (s *scratchpad) idle() bool { return s.held == 0 }

// closed reports whether the access that entered last has not left the entry.
func (s *scratchpad) closed() bool { return s.in.lanes != 0 }

// enter begins with an access of these lanes, whose addresses are offsets in the scratchpad or
// have the scratchpad's base, of which nothing is left in 16 bits. It is at the lanes'
// buffers in the next cycle.
func (s *scratchpad) enter(access int16, write bool, lanes uint32, addr *isa.Lanes, now uint64) {
	t := &s.trains[now%trainSlots]
	banks := uint32(0)
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		w := uint16(addr[l]) / 4
		t.word[l] = w
		banks |= 1 << (uint32(w) & s.banks)
	}
	t.access, t.write, t.lanes, t.entered = access, write, lanes, now
	n := bits.OnesCount32(lanes)
	s.held += n
	switch before := &s.trains[(now-1)%trainSlots]; {
	case s.parted:
	case n == bits.OnesCount32(banks) && (write || !before.write || !before.aged(now, 1)):
		return // alone in its banks, and none of them writes in the cycle before: a train
	default:
		s.part(now)
		return
	}
	s.in = t.padAccess
	t.lanes = 0
}

// next returns the cycle of the next step that does something, if that follows from time alone
// and is before at; else at.
func (s *scratchpad) next(now, at uint64) uint64 {
	at = s.packed.Next(now, at)
	if s.held == 0 || s.parted {
		return at
	}
	for i := range s.trains {
		if t := &s.trains[i]; t.lanes != 0 {
			at = min(at, max(now+1, t.entered+s.ends(t)))
		}
	}
	return at
}

// step does a cycle, back to front. It reports whether that changed something, so that the next
// one can, and whether a lane waited for a bank that took another's request.
func (s *scratchpad) step(now uint64) (moved, conflict bool) {
	if !s.parted {
		if s.packed.Closed(now) && s.at(now, s.toPack()) != nil {
			s.part(now - 1)
		} else {
			return s.run(now), false
		}
	}
	moved, conflict = s.stepParted(now)
	s.parted = s.held > 0
	return moved, conflict
}

// stepParted is step when the lanes go for themselves.
func (s *scratchpad) stepParted(now uint64) (moved, conflict bool) {
	s.latchReady()
	moved = s.pack(now)
	moved = s.deliver() || moved
	moved = s.serve(now) || moved
	granted, conflict := s.arbitrate()
	return s.accept() || granted || moved, conflict
}

// conflictFree is an access whose lanes go together.
type conflictFree struct {
	padAccess
	entered uint64
}

// trainSlots is more than the cycles in which a train is under way.
const trainSlots = 8

// aged reports whether there is a train that entered so many cycles ago.
func (t *conflictFree) aged(now, age uint64) bool { return t.lanes != 0 && t.entered+age == now }

// at returns the train that entered so many cycles ago, if there is one.
func (s *scratchpad) at(now, age uint64) *conflictFree {
	if t := &s.trains[(now-age)%trainSlots]; t.aged(now, age) {
		return t
	}
	return nil
}

// toBank is how many cycles after its entry a train is served, and toPack, answered.
func (s *scratchpad) toBank() uint64 { return 3 + s.level() }
func (s *scratchpad) toPack() uint64 { return 5 + 2*s.level() }

// level is the latency of a crossbar's second level.
func (s *scratchpad) level() uint64 {
	if s.slices {
		return 1
	}
	return 0
}

// ends returns how many cycles after its entry train t ends: a store when it has written.
func (s *scratchpad) ends(t *conflictFree) uint64 {
	if t.write {
		return s.toBank()
	}
	return s.toPack()
}

// run ends trains that are at their end.
func (s *scratchpad) run(now uint64) (moved bool) {
	if t := s.at(now, s.toBank()); t != nil && t.write {
		s.leave(t)
		moved = true
	}
	if t := s.at(now, s.toPack()); t != nil {
		s.packed.Push(packed{t.access, t.lanes}, now+1)
		s.leave(t)
		moved = true
	}
	return moved
}

func (s *scratchpad) leave(t *conflictFree) {
	s.held -= bits.OnesCount32(t.lanes)
	t.lanes = 0
}

// part makes requests of all trains, where they are at the end of cycle now.
func (s *scratchpad) part(now uint64) {
	s.parted = true
	for i := range s.trains {
		t := &s.trains[i]
		for m := t.lanes; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			s.place(padRequest{t.access, t.word[l], uint8(l), t.write}, now-t.entered)
		}
		if t.lanes != 0 && t.entered == now {
			s.in = t.padAccess
		}
		t.lanes = 0
	}
}

// place puts a request where it is so many cycles after its entry.
func (s *scratchpad) place(r padRequest, age uint64) {
	b := int(uint32(r.word) & s.banks)
	l, level := int(r.lane), s.level()
	switch age {
	case 0: // at the entry
	case 1:
		s.requests.push(l, r)
		s.recordAddresses(1 << l)
	case 1 + level:
		s.joining[l/sliceSize].push(b, r)
	case 2 + level:
		s.bank.push(b, r)
	case 3 + level:
		s.read |= 1 << b
		s.out[b] = padAnswer{r.access, r.lane}
	case 3 + 2*level:
		s.parting[b/sliceSize].push(l, padAnswer{r.access, r.lane})
	case 4 + 2*level:
		s.answers.push(l, padAnswer{r.access, r.lane})
	}
}

// latchReady takes down which buffers are full: their ready flags are registers.
func (s *scratchpad) latchReady() {
	s.requests.latchReady()
	s.bank.latchReady()
	s.answers.latchReady()
	if s.slices {
		for i := range s.joining {
			s.joining[i].latchReady()
			s.parting[i].latchReady()
		}
	}
}

// pack answers one load a cycle: that of the lowest lane with an answer, for all lanes that
// have one of it.
func (s *scratchpad) pack(now uint64) bool {
	a := &s.answers
	if a.some == 0 || s.packed.Closed(now) {
		return false
	}
	p := packed{access: a.of[bits.TrailingZeros32(a.some)][0].access}
	for m := a.some; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); a.of[l][0].access == p.access {
			p.lanes |= 1 << l
		}
	}
	for m := p.lanes; m != 0; m &= m - 1 {
		a.pop(bits.TrailingZeros32(m))
	}
	s.held -= bits.OnesCount32(p.lanes)
	s.packed.Push(p, now+1)
	return true
}

// deliver brings what banks have read to the lanes, to each lane that of the lowest bank.
func (s *scratchpad) deliver() (moved bool) {
	if !s.slices {
		return s.deliverTo(&s.answers, ^uint32(0))
	}
	busy := s.answers.closed
	for i := range s.parting {
		from := &s.parting[i]
		for m := from.some &^ busy; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			busy |= 1 << l
			s.answers.push(l, from.pop(l))
			moved = true
		}
	}
	for i := range s.parting {
		moved = s.deliverTo(&s.parting[i], sliceLanes<<(i*sliceSize)) || moved
	}
	return moved
}

// deliverTo does it for some banks.
func (s *scratchpad) deliverTo(to *pairs[padAnswer], banks uint32) (moved bool) {
	busy := to.closed
	for m := s.read & banks; m != 0; m &= m - 1 {
		b := bits.TrailingZeros32(m)
		a := s.out[b]
		if busy>>a.lane&1 != 0 {
			continue
		}
		busy |= 1 << a.lane
		to.push(int(a.lane), a)
		s.read &^= 1 << b
		moved = true
	}
	return moved
}

// serve reads or writes a word in each bank. A bank does not read what it wrote in the
// cycle before, and waits for a cycle; nor while what it read last has not been taken.
func (s *scratchpad) serve(now uint64) (moved bool) {
	written := s.wrote
	if s.wroteAt+1 != now {
		written = 0
	}
	s.wrote, s.wroteAt = 0, now
	for m := s.bank.some; m != 0; m &= m - 1 {
		b := bits.TrailingZeros32(m)
		r := s.bank.of[b][0]
		switch {
		case r.write:
			s.wrote |= 1 << b
			s.word[b] = r.word
			s.held--
		case s.read>>b&1 != 0:
			continue
		case written>>b&1 != 0 && s.word[b] == r.word:
			moved = true
			continue
		default:
			s.read |= 1 << b
			s.out[b] = padAnswer{r.access, r.lane}
		}
		s.bank.pop(b)
		moved = true
	}
	return moved
}

// arbitrate gives each bank the first request of the lowest lane that wants it.
func (s *scratchpad) arbitrate() (moved, conflict bool) {
	if s.slices {
		return s.arbitrateSlices()
	}
	next := uint32(0)
	for m := s.wanted &^ s.bank.closed; m != 0; m &= m - 1 {
		b := bits.TrailingZeros32(m)
		lanes := s.want[b]
		next |= s.grant(b, bits.TrailingZeros32(lanes), &s.bank)
		conflict = conflict || lanes&(lanes-1) != 0
		moved = true
	}
	s.recordAddresses(next)
	return moved, conflict
}

// arbitrateSlices does it in two levels: in each slice of the lanes, and among the slices.
func (s *scratchpad) arbitrateSlices() (moved, conflict bool) {
	granted := uint32(0)
	for i := range s.joining {
		from := &s.joining[i]
		conflict = conflict || from.some&granted != 0
		for m := from.some &^ (s.bank.closed | granted); m != 0; m &= m - 1 {
			b := bits.TrailingZeros32(m)
			granted |= 1 << b
			s.bank.push(b, from.pop(b))
			moved = true
		}
	}
	next := uint32(0)
	for m := s.wanted; m != 0; m &= m - 1 {
		b := bits.TrailingZeros32(m)
		for lanes := s.want[b]; lanes != 0; {
			l := bits.TrailingZeros32(lanes)
			slice := l / sliceSize
			others := lanes & (sliceLanes << (slice * sliceSize)) &^ (1 << l)
			if to := &s.joining[slice]; to.closed>>b&1 == 0 {
				next |= s.grant(b, l, to)
				conflict = conflict || others != 0
				moved = true
			}
			lanes &^= others | 1<<l
		}
	}
	s.recordAddresses(next)
	return moved, conflict
}

// grant moves the first request of lane l on, and returns the lane if it has another.
func (s *scratchpad) grant(b, l int, to *pairs[padRequest]) (next uint32) {
	to.push(b, s.requests.pop(l))
	if s.want[b] &^= 1 << l; s.want[b] == 0 {
		s.wanted &^= 1 << b
	}
	return s.requests.some & (1 << l)
}

// recordAddresses lets lanes whose first request is a new one want its bank.
func (s *scratchpad) recordAddresses(lanes uint32) {
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		b := uint32(s.requests.of[l][0].word) & s.banks
		s.want[b] |= 1 << l
		s.wanted |= 1 << b
	}
}

// accept parts the lanes of the access at the entry. It stays there until the last one has
// a slot.
func (s *scratchpad) accept() bool {
	in := &s.in
	lanes := in.lanes &^ s.requests.closed
	first := lanes &^ s.requests.some
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		s.requests.push(l, padRequest{in.access, in.word[l], uint8(l), in.write})
	}
	in.lanes &^= lanes
	s.recordAddresses(first)
	return lanes != 0
}

// pairs are buffers of two slots, one for each of up to 32 lanes or banks.
type pairs[T any] struct {
	some, full uint32 // those with one at least, and with two
	closed     uint32 // full when the cycle began
	of         [padLanes][2]T
}

func (p *pairs[T]) latchReady() { p.closed = p.full }

func (p *pairs[T]) push(i int, v T) {
	bit := uint32(1) << i
	if p.some&bit == 0 {
		p.some |= bit
		p.of[i][0] = v
		return
	}
	p.full |= bit
	p.of[i][1] = v
}

func (p *pairs[T]) pop(i int) T {
	bit := uint32(1) << i
	v := p.of[i][0]
	if p.full&bit == 0 {
		p.some &^= bit
		return v
	}
	p.full &^= bit
	p.of[i][0] = p.of[i][1]
	return v
}
