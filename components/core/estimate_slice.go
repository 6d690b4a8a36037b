package core

import (
	"heddle/components/mem"
	"heddle/isa/emu"
)

// estimatedSlice is an issue slice and its units. As long as instructions that wait for a unit fill what is before it,
// nothing issues.
type estimatedSlice struct {
	selector
	ready   uint64      // warps with an instruction that has its registers
	next    uint64      // the cycle from which one can issue
	due     uint64      // when one issues next; never: none can
	waits   mem.Entries // for other units than the load-store unit
	fpu     mem.Entries
	alu     mem.Server
	divider mem.Server
	serial  bool // it does one division after another

	queue  [maxQueued]queuedAccess // for the load-store unit; a ring
	head   uint8
	queued uint8
	room   uint8
}

// queuedAccess is a memory access or a fence that waits for the load-store unit, which it comes to in a cycle.
type queuedAccess struct {
	at   uint64
	op   *emu.Op
	warp int
	made emu.Access
}

// dispatched is how many instructions of a slice wait for a unit behind the collectors: its dispatch buffer, and the
// buffer behind the collectors' arbiter. maxQueued is a power of two, and no fewer than there are with as many
// collectors as there can be.
const (
	dispatched = 4
	maxQueued  = 32
)

func (s *estimatedSlice) build(c *Core, i int) {
	spec := &c.spec
	s.selector = newSelector(policies[spec.Issue.Policy].issue, spec.Issue.Active, i, spec.Issue.Slices, spec.Warps, &c.launchOrder)
	s.room = uint8(spec.Collectors + dispatched)
	s.waits, s.fpu = make(mem.Entries, s.room), make(mem.Entries, spec.FPUQueue)
	s.serial = spec.IDiv == DividerSerial
}

func (s *estimatedSlice) begin() { s.ready, s.queued, s.due = 0, 0, never }

// plan finds out when the slice issues next.
func (s *estimatedSlice) plan() {
	s.due = never
	if s.ready != 0 && s.queued < s.room {
		s.due = s.next
	}
}

// join has a warp be among those that are ready from a cycle on.
func (s *estimatedSlice) join(i int, at uint64) {
	if s.ready == 0 {
		s.next = max(s.next, at)
	}
	s.ready |= 1 << i
	s.plan()
}

// issue takes the warp out that issues.
func (s *estimatedSlice) issue(away, idle uint64) int {
	i := s.chooseOne(view{ready: s.ready, away: away, idle: idle})
	s.ready &^= 1 << i
	s.next = s.due + 1
	s.plan()
	return i
}

// wait has an instruction wait for its unit, up to a cycle.
func (s *estimatedSlice) wait(begin uint64) {
	s.waits.Take(begin)
	s.hold(s.waits.First())
}

// hold has nothing issue before a cycle.
func (s *estimatedSlice) hold(until uint64) {
	s.next = max(s.next, until)
	s.plan()
}

// put has a memory access or a fence wait, which comes to the load-store unit in a cycle.
func (s *estimatedSlice) put(i int, op *emu.Op, at uint64) *queuedAccess {
	q := &s.queue[(s.head+s.queued)%maxQueued]
	q.at, q.op, q.warp = at, op, i
	s.queued++
	s.plan()
	return q
}

// front returns the first that waits.
func (s *estimatedSlice) front() *queuedAccess { return &s.queue[s.head%maxQueued] }

// take takes the first out, in a cycle.
func (s *estimatedSlice) take(at uint64) *queuedAccess {
	q := s.front()
	s.head++
	if s.queued--; s.queued == s.room-1 {
		s.hold(at + 1)
	}
	return q
}
