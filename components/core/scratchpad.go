package core

import (
	"math/bits"

	"heddle/components/queue"
	"heddle/isa"
)

// scratchpad is the timing of the core's scratchpad: the RTL's VX_local_mem with the adapters around it, register by
// register. The lanes of an access separate at its entry and join again at its end, so lanes of several accesses are in
// flight at once, and the low lanes of a later access overtake high lanes of an earlier one that wait for their banks.
// It holds no data: accesses take effect when they enter, in order.
//
// The cost of a step is proportional to the number of requests that move; sets of lanes or banks are masks. An access
// without bank conflicts keeps its lanes together as long as nothing blocks it: it is then one conflictFree, called a
// train, whose position follows from the cycle, and a step costs almost nothing. When something blocks a train, all
// trains are split into requests at their current stages, until the scratchpad is empty.
type scratchpad struct {
	banks  uint32 // number of banks less 1; there are as many as lanes
	slices bool   // arbiters have two levels, the first over slices of sliceSize
	held   int    // lane requests in flight
	packed queue.Timed[packed]

	trains [trainSlots]conflictFree // by the cycle of entry, modulo trainSlots
	parted bool                     // trains have been split into the requests below

	in       padAccess
	requests pairs[padRequest]            // by lane
	want     [padLanes]uint32             // by bank: lanes whose first request addresses it
	wanted   uint32                       // banks wanted by some lane
	joining  [padSlices]pairs[padRequest] // by slice of lanes: by bank
	bank     pairs[padRequest]            // by bank
	wrote    uint32                       // banks that wrote in cycle wroteAt
	wroteAt  uint64                       //
	word     [padLanes]uint16             // by bank: the word that it wrote
	read     uint32                       // banks with data in their output register
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
	lanes  uint32           // lanes that are still at the entry
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

// packed is the joint answer to some lanes of a load.
type packed struct {
	access int16
	lanes  uint32
}

func newScratchpad(lanes int, of *queue.Owner) scratchpad {
	return scratchpad{banks: uint32(lanes - 1), slices: levels(lanes) > 0,
		packed: queue.NewTimed[packed](2, of, "scratchpad answers")}
}

// idle reports whether a step would do nothing.
func (s *scratchpad) idle() bool { return s.held == 0 }

// closed reports whether the access that entered last is still at the entry.
func (s *scratchpad) closed() bool { return s.in.lanes != 0 }

// enter admits an access of these lanes. Addresses may be offsets in the scratchpad or include its base, which vanishes
// in 16 bits. The access reaches the lanes' buffers in the next cycle.
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
		return // no conflicts, and no read after a write to the same bank: a train
	default:
		s.part(now)
		return
	}
	s.in = t.padAccess
	t.lanes = 0
}

// next returns the cycle of the next step with an effect, if that follows from time alone and is before at; else at.
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

// step runs one cycle, back to front. It reports whether anything changed, so that the next cycle can differ, and
// whether a lane waited for a bank that took another's request.
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

// stepParted is step for lanes that move separately.
func (s *scratchpad) stepParted(now uint64) (moved, conflict bool) {
	s.latchReady()
	moved = s.pack(now)
	moved = s.deliver() || moved
	moved = s.serve(now) || moved
	granted, conflict := s.arbitrate()
	return s.accept() || granted || moved, conflict
}

// conflictFree is an access whose lanes move together, called a train.
type conflictFree struct {
	padAccess
	entered uint64
}

// trainSlots exceeds the number of cycles that a train is in flight.
const trainSlots = 8

// aged reports whether the train exists and entered age cycles ago.
func (t *conflictFree) aged(now, age uint64) bool { return t.lanes != 0 && t.entered+age == now }

// at returns the train that entered age cycles ago, or nil.
func (s *scratchpad) at(now, age uint64) *conflictFree {
	if t := &s.trains[(now-age)%trainSlots]; t.aged(now, age) {
		return t
	}
	return nil
}

// toBank returns the number of cycles from entry until a train's banks are accessed; toPack, until its answer.
func (s *scratchpad) toBank() uint64 { return 3 + s.level() }
func (s *scratchpad) toPack() uint64 { return 5 + 2*s.level() }

// level returns the latency of a crossbar's second level.
func (s *scratchpad) level() uint64 {
	if s.slices {
		return 1
	}
	return 0
}

// ends returns the number of cycles from entry until train t ends: for a store, until it has written.
func (s *scratchpad) ends(t *conflictFree) uint64 {
	if t.write {
		return s.toBank()
	}
	return s.toPack()
}

// run retires trains that have reached their end.
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

// part splits all trains into requests, at their stages at the end of cycle now.
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

// place puts a request into the stage that it occupies age cycles after its entry.
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

// latchReady latches which buffers are full: their ready flags are registers.
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

// pack answers one load per cycle: that of the lowest lane with an answer, for all lanes with an answer of the same
// load.
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

// deliver moves read data from banks to lanes; each lane takes that of the lowest bank.
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

// deliverTo moves the data of some banks to their lanes, at most one per lane.
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

// serve accesses a word in each bank. A bank stalls one cycle before it reads a word written in the cycle before, and
// while the data of its last read has not been taken.
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

// arbitrate grants each bank the first request of the lowest lane that wants it.
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

// arbitrateSlices arbitrates in two levels: within each slice of lanes, then among the slices.
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

// grant moves the first request of lane l on, and returns the lane's bit if it has another.
func (s *scratchpad) grant(b, l int, to *pairs[padRequest]) (next uint32) {
	to.push(b, s.requests.pop(l))
	if s.want[b] &^= 1 << l; s.want[b] == 0 {
		s.wanted &^= 1 << b
	}
	return s.requests.some & (1 << l)
}

// recordAddresses enters the banks wanted by lanes with a new first request.
func (s *scratchpad) recordAddresses(lanes uint32) {
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		b := uint32(s.requests.of[l][0].word) & s.banks
		s.want[b] |= 1 << l
		s.wanted |= 1 << b
	}
}

// accept moves lanes of the access at the entry into their buffers. The access stays there until its last lane has a
// slot.
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

// pairs is a set of two-entry buffers, one for each of up to 32 lanes or banks.
type pairs[T any] struct {
	some, full uint32 // buffers with at least one entry, and with two
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
