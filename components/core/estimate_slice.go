package core

import (
	"heddle/components/mem"
	"heddle/isa/emu"
)

// estimatedSlice estimates an issue slice and its units. Nothing issues while instructions that wait for a unit fill
// the buffers before it.
type estimatedSlice struct {
	selector
	ready   uint64      // warps with an instruction that has its registers
	next    uint64      // first cycle in which one can issue
	due     uint64      // cycle of the next issue; never: none possible
	waits   mem.Entries // instructions that wait for a unit other than the load-store unit
	fpu     mem.Entries
	alu     mem.Server
	divider mem.Server
	serial  bool // the divider is not pipelined

	queue  [maxQueued]queuedAccess // for the load-store unit; a ring
	head   uint8
	queued uint8
	room   uint8
}

// queuedAccess is a memory access or fence that waits for the load-store unit, which it reaches at cycle at.
type queuedAccess struct {
	at   uint64
	op   *emu.Op
	warp int
	made emu.Access
}

// dispatched is the number of instructions of a slice that can wait for a unit behind the collectors: the dispatch
// buffer's, and those of the buffer behind the collectors' arbiter. maxQueued is a power of two that covers the largest
// number of collectors.
const (
	dispatched = 4
	maxQueued  = 32
)

func (s *estimatedSlice) build(c *Core, i int) {
	spec := &c.spec
	s.selector = newSelector(policies[spec.Issue.Policy].issue, spec.Issue.Active, i, spec.Issue.Slices, spec.Warps,
		&c.launchOrder)
	s.room = uint8(spec.Collectors + dispatched)
	s.waits, s.fpu = make(mem.Entries, s.room), make(mem.Entries, spec.FPUQueue)
	s.serial = spec.IDiv == DividerSerial
}

func (s *estimatedSlice) begin() { s.ready, s.queued, s.due = 0, 0, never }

// plan computes the cycle of the slice's next issue.
func (s *estimatedSlice) plan() {
	s.due = never
	if s.ready != 0 && s.queued < s.room {
		s.due = s.next
	}
}

// join adds a warp that is ready from cycle at on.
func (s *estimatedSlice) join(i int, at uint64) {
	if s.ready == 0 {
		s.next = max(s.next, at)
	}
	s.ready |= 1 << i
	s.plan()
}

// issue removes and returns the warp that issues.
func (s *estimatedSlice) issue(away, idle uint64) int {
	i := s.chooseOne(view{ready: s.ready, away: away, idle: idle})
	s.ready &^= 1 << i
	s.next = s.due + 1
	s.plan()
	return i
}

// wait records an instruction that waits for its unit until cycle begin.
func (s *estimatedSlice) wait(begin uint64) {
	s.waits.Take(begin)
	s.hold(s.waits.First())
}

// hold prevents issue before a cycle.
func (s *estimatedSlice) hold(until uint64) {
	s.next = max(s.next, until)
	s.plan()
}

// put queues a memory access or fence that reaches the load-store unit at cycle at.
func (s *estimatedSlice) put(i int, op *emu.Op, at uint64) *queuedAccess {
	q := &s.queue[(s.head+s.queued)%maxQueued]
	q.at, q.op, q.warp = at, op, i
	s.queued++
	s.plan()
	return q
}

// front returns the oldest queued access.
func (s *estimatedSlice) front() *queuedAccess { return &s.queue[s.head%maxQueued] }

// take removes the oldest queued access at cycle at.
func (s *estimatedSlice) take(at uint64) *queuedAccess {
	q := s.front()
	s.head++
	if s.queued--; s.queued == s.room-1 {
		s.hold(at + 1)
	}
	return q
}
