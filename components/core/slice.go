package core

import (
	"math/bits"

	"heddle/isa"
)

// slice is one issue slice: the warps of one residue, and their way to the units and back. Its buffers are asked
// only when they hold something: occupied has a bit for each.
type slice struct {
	*pipe
	in         string   // the core and the slice, for names
	members    uint64   // its warps
	selector   selector // chooses among them
	groups     groups   // of them; empty: selector chooses
	issueDelay uint64   // through the scoreboard's arbiter

	occupied uint64 // buffers that are not empty
	issued   buffer // behind the scoreboard's arbiter
	express  express
	collect  collectors
	operands buffer               // behind the collectors' arbiter
	dispatch [isa.NumUnits]buffer // before the units
	alu      line                 // integer operations
	mul      line                 // multiplier, pipelined
	div      line                 // divider
	computed buffer               // the ALU's results before the commit arbiter
	result   [isa.NumUnits]line   // those of the other units
	releases releases             // written back, or sure to be: what the scoreboard does not see yet

	muldivNext  bool                    // the switch behind them prefers them to alu
	fpuHeld     int                     // operations the FPU holds
	fpuFreed    int                     // of them, those that left in this cycle
	booked      cycle                   // what its scheduler has done since bookedSince
	bookedSince uint64                  //
	waits       [len(boardUnits)]awaits // by unit
	since       uint64                  // cycles booked when the time began that belongs to no phase yet
}

// Bits of occupied.
const (
	bitIssued = iota
	bitOperands
	bitALU
	bitMul
	bitDiv
	bitComputed
	bitExpress
	bitDispatch                                    // and the units behind it
	bitResult   = bitDispatch + uint(isa.NumUnits) // and the units behind it
)

const (
	resultBits  = 1<<bitComputed | (1<<isa.NumUnits-1)<<bitResult
	executeBits = 1<<bitALU | 1<<bitMul | 1<<bitDiv | 1<<(bitDispatch+uint(isa.ALU)) | 1<<(bitDispatch+uint(isa.FPU))
)

func newSlice(p *pipe, in string) slice {
	s := &p.spec
	width := s.Issue.Dispatch
	sl := slice{
		pipe: p, in: in, issueDelay: 1 + levels(s.Warps/s.Issue.Slices),
		issued:   newBuffer(2*width*int(1+levels(s.Warps/s.Issue.Slices)), bitIssued, &p.self, in+"issued"),
		express:  newExpress(s, &p.self, in),
		collect:  newCollectors(s.Collectors, in),
		operands: newBuffer(2*width, bitOperands, &p.self, in+"operands"),
		alu:      newLine(max(1, s.Latency.ALU-1), bitALU, &p.self, in+"integer unit"),
		mul:      newLine(s.Latency.Mul, bitMul, &p.self, in+"multiplier"),
		div:      newLine(s.divisions(), bitDiv, &p.self, in+"divider"),
		computed: newBuffer(2, bitComputed, &p.self, in+"ALU result"),
	}
	for u := range isa.NumUnits {
		sl.dispatch[u] = newBuffer(2, uint(bitDispatch+u), &p.self, in+isa.Unit(u).String()+" dispatch")
	}
	sl.result[isa.FPU] = newLine(s.FPUQueue, bitResult+uint(isa.FPU), &p.self, in+"FPU result")
	sl.result[isa.SFU] = newLine(2*3, bitResult+uint(isa.SFU), &p.self, in+"SFU result") // response, switch and gather buffers
	sl.result[isa.LSU] = newLine(2, bitResult+uint(isa.LSU), &p.self, in+"LSU result")
	return sl
}

// divisions is how many a slice can have under way.
func (s *Spec) divisions() int {
	if s.IDiv == DividerSerial {
		return 1
	}
	return s.Latency.Div
}

func (sl *slice) put(b *buffer, id flightID) {
	b.put(id)
	sl.occupied |= b.bit
}

func (sl *slice) take(b *buffer, now uint64) flightID {
	id := b.take(now)
	if b.n == 0 {
		sl.occupied &^= b.bit
	}
	return id
}

func (sl *slice) send(l *line, id flightID, at uint64) {
	l.put(&sl.flights, id, at)
	sl.occupied |= l.bit
}

func (sl *slice) receive(l *line) flightID {
	id := l.take(&sl.flights)
	if l.n == 0 {
		sl.occupied &^= l.bit
	}
	return id
}

// commit writes back an instruction a cycle, units in fixed priority; a slice that
// dispatches more writes back as many, of different units. It reports whether the load-store unit, which had none,
// has a place for its results now.
func (sl *slice) commit(now uint64) (room bool) {
	if sl.occupied&resultBits == 0 || sl.express.commits>>(now%64)&1 != 0 {
		return false
	}
	left := sl.spec.Issue.Dispatch
	if sl.computed.n != 0 {
		sl.moved = true
		sl.retire(sl.take(&sl.computed, now), now)
		if left--; left == 0 {
			return false
		}
	}
	for _, u := range commitOrder {
		q := &sl.result[u]
		if q.first > now {
			continue
		}
		if u == isa.LSU {
			room = q.full()
		} else {
			sl.moved = true // producers may have waited for the place
		}
		sl.retire(sl.receive(q), now)
		q.freedAt = now
		if u == isa.FPU {
			sl.fpuFreed++
		}
		if left--; left == 0 {
			return room
		}
	}
	return room
}

// commitOrder is the RTL's numbering of the units, behind the ALU.
var commitOrder = [...]isa.Unit{isa.LSU, isa.SFU, isa.FPU}

// retire writes an instruction back. A part of one ends with its turn.
func (sl *slice) retire(id flightID, now uint64) {
	f := &sl.all[id]
	if f.op == nil {
		sl.end(id)
		return
	}
	sl.moved = true
	sl.hook(HookPosCommit, now, f.warp, f.op)
	sl.releases.put(&sl.flights, id, now+commitToRelease)
}

// execute moves the slice's ALU and FPU. It returns the warp whose branch is resolved; -1: none.
func (sl *slice) execute(now uint64) (branch int) {
	branch = -1
	if sl.occupied&executeBits != 0 {
		branch = sl.finishALU(now)
		if q := &sl.dispatch[isa.ALU]; q.n != 0 {
			sl.startALU(q, now)
		}
		if q := &sl.dispatch[isa.FPU]; q.n != 0 && sl.fpuHeld < sl.spec.FPUQueue {
			sl.startFPU(q, now)
		}
	}
	sl.fpuHeld -= sl.fpuFreed // seen from the next cycle on
	sl.fpuFreed = 0
	return branch
}

func (sl *slice) startFPU(q *buffer, now uint64) {
	at := now + sl.latency[sl.all[q.front()].class]
	sl.moved = true
	sl.fpuHeld++
	id := sl.packet(q, now)
	sl.hook(HookPosExecute, now, sl.all[id].warp, sl.all[id].op)
	to := &sl.result[isa.FPU]
	to.insert(&sl.flights, id, at)
	sl.occupied |= to.bit
}

// packet takes from a dispatch buffer what its unit starts in this cycle: the first
// instruction, or one of its packets, of which the last stands for the instruction. The
// others take a turn at commit and release nothing.
func (sl *slice) packet(q *buffer, now uint64) flightID {
	f := &sl.all[q.front()]
	if f.rest == 0 {
		return sl.take(q, now)
	}
	f.rest--
	return sl.part(f.warp)
}

// finishALU lets one result a cycle through the switch behind the integer unit and
// the multiplier and divider, in turn when both have one. It returns the warp whose branch that is.
func (sl *slice) finishALU(now uint64) (branch int) {
	if sl.computed.closed(now) {
		return -1
	}
	from := sl.muldiv(now)
	if sl.alu.first <= now && (from == nil || !sl.muldivNext) {
		from = &sl.alu
	}
	if from == nil {
		return -1
	}
	sl.muldivNext = from == &sl.alu
	id := sl.receive(from)
	sl.put(&sl.computed, id)
	sl.moved = true
	if f := &sl.all[id]; f.op != nil && f.class == isa.ClassBranch {
		return int(f.warp)
	}
	return -1
}

// muldiv returns what has a product or a quotient, if any. Of both, the one that was
// ready first (RTL: in turn).
func (sl *slice) muldiv(now uint64) *line {
	if sl.occupied&(1<<bitMul|1<<bitDiv) == 0 {
		return nil
	}
	switch mul, div := sl.mul.first <= now, sl.div.first <= now; {
	case div && !(mul && sl.mul.first < sl.div.first):
		return &sl.div
	case mul:
		return &sl.mul
	}
	return nil
}

func (sl *slice) startALU(q *buffer, now uint64) {
	class := sl.all[q.front()].class
	into := &sl.alu
	switch class {
	case isa.ClassMul:
		into = &sl.mul
	case isa.ClassDiv:
		into = &sl.div
	}
	if into.full() {
		return
	}
	id := sl.packet(q, now)
	sl.moved = true
	sl.hook(HookPosExecute, now, sl.all[id].warp, sl.all[id].op)
	sl.send(into, id, now+sl.latency[class]-1)
}

// next returns the first cycle after now in which the slice would do something because time has passed,
// if that is before at; else at.
func (sl *slice) next(now, at uint64) uint64 {
	if sl.issued.n != 0 {
		if ready := sl.all[sl.issued.front()].at; ready > now {
			at = min(at, ready)
		}
	}
	at = min(at, sl.express.operands.first)
	return sl.div.next(now, sl.mul.next(now, sl.alu.next(now, at)))
}

// nextBack returns the first cycle after now in which an instruction can be written back, or is seen by the
// scoreboard to have been.
func (sl *slice) nextBack(now, at uint64) uint64 {
	if sl.computed.n != 0 {
		return now + 1
	}
	for m := sl.occupied >> bitResult; m != 0; m &= m - 1 {
		at = min(at, max(now+1, sl.result[bits.TrailingZeros64(m)].first))
	}
	return min(at, sl.releases.next(now))
}

// buffers shows the slice after cycle now.
func (sl *slice) buffers(now uint64, see func(string, int, int)) {
	sl.issued.level(see)
	x := sl.underWay(now)
	sl.collect.buffers(x.stages, see)
	see(sl.operands.name, int(sl.operands.n)+x.operands, int(sl.operands.places))
	for u := range sl.dispatch {
		b, more := &sl.dispatch[u], 0
		if isa.Unit(u) == isa.ALU {
			more = x.dispatched
		}
		see(b.name, int(b.n)+more, int(b.places))
	}
	see(sl.alu.name, sl.alu.n+x.alu, sl.alu.places)
	sl.mul.level(see)
	sl.div.level(see)
	see(sl.computed.name, int(sl.computed.n)+x.computed, int(sl.computed.places))
	for _, u := range commitOrder {
		sl.result[u].level(see)
	}
	see(sl.in+"write-back", x.written, (commitToRelease+1)*sl.spec.Issue.Dispatch)
}
