package cache

import (
	"fmt"

	"heddle/components/mem"
	"heddle/components/probe"
)

// bank is the logic of one bank. Step does a cycle; time is only a number that
// orders the entries of its queues.
type bank struct {
	tags    tags
	mshr    mshr
	st0     operation
	st1     operation
	rsp     queue[response]    // core_rsp_queue
	mreq    queue[mem.Request] // mem_req_queue
	flush   bankFlush
	atomics atomics
	refill  uint64 // first cycle in which the replays of the last fill are accepted

	of           *owner
	id           int
	memoryPort   int
	bankBits     int
	sets         int
	back         bool   // write-back
	resend       bool   // a write's replay goes to memory again
	walk         int    // steps of a flush's walk: sets, or lines
	lineMask     uint32 // address bits of a line
	lineShift    int
	replayDelay  uint64
	rspDelay     uint64 // cycles that an entry stays in rsp
	mreqDelay    uint64
	mreqPlaces   int // of mreq, for what requests send
	forwardFlush bool

	watch   probe.Watch // nil: nobody is told
	stats   Stats
	waiting *uint64 // the counter that stands for why the last cycle accepted nothing
	last    uint64  // the last cycle that is counted
}

// operation is what a pipeline stage holds.
type operation struct {
	kind kind
	id   int16 // the MSHR entry of a request, or of an atomic's replay
	step int32 // of a flush's walk
	request
}

type kind uint8

const (
	bubble   kind = iota
	creq          // a request, for the first time
	replayed      // a request, after its fill
	fill
	passed // the next level's answer that brings no line
	flushSet
)

// response is an answer and the port it goes to.
type response struct {
	mem  mem.Response
	port uint8
}

// inputs is what is offered to a bank in a cycle.
type inputs struct {
	request *request // nil: none
	fill    int16    // the MSHR entry that memory answers; none
	held    bool     // the answer of stage 1 has no place behind the bank, and none in it
	pressed bool     // memory is held up until the bank takes a fill
}

// result is what a bank did in a cycle.
type result struct {
	request  bool // accepted
	fill     bool // accepted
	active   bool // something moved, so the next cycle can differ from this one
	flushEnd bool // the flush's walk is over
}

// status is what the RTL's registered flags say during a cycle: they do not see
// what the cycle itself changes.
type status struct {
	rspFull, mreqAlmostFull, mshrFull bool
	mshrEmpty, empty                  bool // for a flush
}

func newBank(of *owner, s *Spec, id int) *bank {
	in := fmt.Sprintf("bank %d, ", id)
	b := &bank{
		tags: newTags(s, id), mshr: newMSHR(s.MSHRs),
		rsp: newQueue[response](max(1, s.ResponseQueue), of, in+"responses"), mreqPlaces: s.MemoryQueue,
		// A replay that writes must not wait for a next level that itself waits for the
		// fills behind the replay.
		mreq: newQueue[mem.Request](s.MemoryQueue+s.MSHRs, of, in+"memory requests"),
		of:   of, id: id, memoryPort: id % s.MemoryPorts, bankBits: s.bankBits(), sets: s.Sets(), lineMask: ^uint32(s.LineBytes - 1),
		lineShift:   s.lineShift(),
		replayDelay: uint64(s.ReplayDelay), forwardFlush: s.ForwardFlush, back: s.WritePolicy == Back, walk: s.Sets(),
		resend: s.ResendWrites && s.WritePolicy == Through,
	}
	if b.back {
		b.walk *= s.Ways
	}
	if s.ResponseBuffer {
		b.rspDelay = 1
	}
	if s.MemoryBuffer {
		b.mreqDelay = 1
	}
	return b
}

// idle tells that a cycle without inputs changes nothing.
func (b *bank) idle() bool {
	return b.st0.kind == bubble && b.st1.kind == bubble && b.mshr.replay == none && b.flush.state == flushIdle && len(b.atomics.under) == 0
}

// step does one cycle.
func (b *bank) step(now uint64, in *inputs) (out result) {
	if b.waiting != nil {
		b.settle(now - 1)
		b.waiting = nil
	}
	b.last = now
	sent := len(b.atomics.under) > 0 && b.finishAtomic(now)
	st := b.status()
	st.rspFull = st.rspFull || in.held
	out.active = b.pipeline(now, in, &st, &out) || sent
	if b.flush.state != flushIdle {
		changed, end := b.flush.advance(b, &st)
		out.active, out.flushEnd = out.active || changed, end
	}
	return out
}

// pipeline moves the stages, last first, unless stage 1 is held up. It returns
// whether anything moved.
func (b *bank) pipeline(now uint64, in *inputs, st *status, out *result) (moved bool) {
	if b.st1.kind != bubble {
		if !b.commit(now, st) {
			b.wait(&b.stats.ResponseQueueFull)
			return false
		}
		b.st1.kind, moved = bubble, true
	}
	if b.st0.kind != bubble {
		b.st1, moved = b.st0, true
		b.st0.kind = bubble
	}
	return b.accept(now, in, st, out) || moved
}

func (b *bank) status() (st status) {
	st.rspFull, st.mreqAlmostFull, st.mshrFull = b.rsp.full(), b.mreq.n >= b.mreqPlaces-2, b.mshr.full()
	if b.flush.state != flushIdle {
		st.mshrEmpty, st.empty = b.mshr.empty(), b.st0.kind == bubble && b.st1.kind == bubble && b.mreq.n == 0
	}
	return st
}

// wait counts a cycle without progress; settle counts those in which the bank is not stepped.
func (b *bank) wait(counter *uint64) {
	*counter++
	b.waiting = counter
}

// settle counts the cycles up to this one in which the bank was not stepped, because they were all like its last one.
func (b *bank) settle(upTo uint64) {
	if b.waiting != nil {
		*b.waiting += upTo - b.last
		b.last = upTo
	}
}

// commit is stage 1. It returns false if the operation cannot leave it.
func (b *bank) commit(now uint64, st *status) bool {
	op := &b.st1
	switch op.kind {
	case creq:
		return b.commitRequest(now, op, st)
	case replayed:
		return b.commitReplay(now, op, st)
	case fill:
		b.commitFill(now, op)
	case flushSet:
		b.commitFlushStep(now, int(op.step))
	}
	return true
}

func (b *bank) commitRequest(now uint64, op *operation, st *status) bool {
	switch op.mem.Op {
	case mem.Read:
		return b.commitRead(now, op, st)
	case mem.Write:
		b.commitWrite(now, op)
		return true
	case mem.Atomic:
		if b.performs(mem.Atomic) {
			b.commitAtomic(now, op)
		} else {
			b.passAtomic(now, op)
		}
		return true
	default:
		return b.commitFlush(now, op, st)
	}
}

func (b *bank) commitRead(now uint64, op *operation, st *status) bool {
	way := b.tags.find(op.line)
	if way < 0 {
		b.stats.ReadMisses++
		b.missLine(now, op)
		return true
	}
	b.tags.touch(way)
	if st.rspFull {
		return false
	}
	b.stats.ReadHits++
	b.mshr.release(op.id)
	b.rsp.push(response{mem.Response{Tag: op.mem.Tag}, op.port}, now+b.rspDelay)
	return true
}

// missLine joins the request to the line's outstanding fill, or asks for it.
func (b *bank) missLine(now uint64, op *operation) {
	if head := b.mshr.pending(op.line); head != none {
		b.stats.Merges++
		b.mshr.join(head, op.id)
		if b.watch != nil {
			b.tell("merge", op)
		}
		return
	}
	if b.watch != nil {
		b.tell("miss", op)
	}
	b.mshr.miss(op.id)
	b.ask(now, op, mem.Read)
}

func (b *bank) commitWrite(now uint64, op *operation) {
	if b.back {
		b.commitWriteBack(now, op)
		return
	}
	hit := b.tags.lookup(op.line)
	if hit {
		b.stats.WriteHits++
	} else {
		b.stats.WriteMisses++
	}
	b.mreq.push(mem.Request{Addr: op.mem.Addr, Op: mem.Write}, now+b.mreqDelay)
	if !hit {
		if head := b.mshr.pending(op.line); head != none {
			b.mshr.join(head, op.id)
			return
		}
	}
	b.mshr.release(op.id)
}

// commitWriteBack: a hit is written here, a miss brings the line in first.
func (b *bank) commitWriteBack(now uint64, op *operation) {
	if b.tags.lookup(op.line) {
		b.stats.WriteHits++
		b.tags.write(op.line)
		b.mshr.release(op.id)
		return
	}
	b.stats.WriteMisses++
	b.missLine(now, op)
}

// writeBack sends a line that leaves to the next level, if that has an older one.
func (b *bank) writeBack(now uint64, v victim) {
	if v.dirty {
		b.stats.Writebacks++
		b.mreq.push(mem.Request{Addr: v.line << b.lineShift, Op: mem.Write}, now+b.mreqDelay)
	}
}

func (b *bank) commitFlush(now uint64, op *operation, st *status) bool {
	if b.forwardFlush && op.mem.Op == mem.Flush {
		b.stats.Flushes++
		b.pass(now, op)
		return true
	}
	if !b.respond(now, op, st) {
		return false
	}
	b.stats.Flushes++
	b.mshr.release(op.id)
	return true
}

// pass sends the request itself on to the next level.
func (b *bank) pass(now uint64, op *operation) {
	b.mshr.pass(op.id)
	b.ask(now, op, op.mem.Op)
}

// ask sends a request to memory whose answer names its MSHR entry.
func (b *bank) ask(now uint64, op *operation, as mem.Op) {
	r := op.mem
	r.Addr, r.Op, r.Tag = r.Addr&b.lineMask, as, uint32(op.id)<<b.bankBits|uint32(b.id)
	b.mreq.push(r, now+b.mreqDelay)
}

func (b *bank) commitReplay(now uint64, op *operation, st *status) bool {
	if op.mem.Op == mem.Flush || op.mem.Op == mem.Atomic && !b.performs(mem.Atomic) {
		return b.respond(now, op, st)
	}
	if !b.tags.lookup(op.line) {
		panic(b.bug(now, "a replay without its line"))
	}
	switch op.mem.Op {
	case mem.Write:
		b.replayWrite(now, op)
		return true
	case mem.Atomic:
		b.perform(now, op)
		return true
	}
	return b.respond(now, op, st)
}

func (b *bank) replayWrite(now uint64, op *operation) {
	if b.back {
		b.tags.write(op.line)
	}
	if b.resend {
		b.stats.WriteResends++
		b.mreq.push(mem.Request{Addr: op.mem.Addr, Op: mem.Write}, now+b.mreqDelay)
	}
}

// commitFill installs the line.
func (b *bank) commitFill(now uint64, op *operation) {
	b.stats.Fills++
	out := b.tags.fill(op.line)
	if b.watch != nil {
		b.tellFill(op, out)
	}
	if out.valid {
		b.stats.Evictions++
	}
	b.writeBack(now, out)
}

// commitFlushStep invalidates a set; with write-back a line, the first ways of all
// sets before the second.
func (b *bank) commitFlushStep(now uint64, step int) {
	if !b.back {
		b.tags.flush(step)
		return
	}
	b.writeBack(now, b.tags.remove(b.lineOf(step)))
}

// lineOf is the place among the tags of a step's line, with write-back.
func (b *bank) lineOf(step int) int { return step%b.sets*b.tags.ways + step/b.sets }

// respond answers a request, if the response queue was not full.
func (b *bank) respond(now uint64, op *operation, st *status) bool {
	if st.rspFull {
		return false
	}
	b.rsp.push(response{mem.Response{Tag: op.mem.Tag}, op.port}, now+b.rspDelay)
	return true
}

// accept chooses what enters stage 0: replay > fill > flush > request. Replays come
// first because they never miss, fills next because misses wait for them. Replays
// hold back the others even in the cycle in which they are not ready themselves.
func (b *bank) accept(now uint64, in *inputs, st *status, out *result) (moved bool) {
	switch {
	case b.mshr.replay != none:
		return b.acceptReplay(now, in.pressed, st)
	case in.fill != none:
		b.acceptFill(now, in.fill)
		out.fill = true
		return true
	case b.flush.state == flushWalk:
		return b.acceptFlush(st)
	case in.request != nil:
		out.request = b.acceptRequest(in.request, st)
		return out.request
	}
	return false
}

// enter puts an operation into stage 0.
func (b *bank) enter(k kind, id int16, r *request) {
	b.st0.kind, b.st0.id, b.st0.request = k, id, *r
}

// acceptReplay also returns true if the replay waits for memory: then the bank must be asked again in the next cycle,
// because answers that press it wake nobody.
func (b *bank) acceptReplay(now uint64, pressed bool, st *status) (moved bool) {
	if now < b.refill {
		return false
	}
	op := b.mshr.entries[b.mshr.replay].mem.Op
	if b.resend && st.mreqAlmostFull && !pressed && op == mem.Write {
		b.wait(&b.stats.MemoryQueueFull)
		return true
	}
	b.stats.Replays++
	id, r := b.mshr.dequeue(b.performs(op))
	b.enter(replayed, id, r)
	return true
}

func (b *bank) acceptFill(now uint64, id int16) {
	if !b.mshr.waits(id) {
		panic(b.bug(now, fmt.Sprintf("an answer for entry %d, which asked for nothing", id)))
	}
	b.refill = now + b.replayDelay
	k := fill
	if b.mshr.passed(id) {
		k = passed
	}
	b.enter(k, id, b.mshr.fill(id))
}

// acceptFlush does a step of the walk. One that may send a line waits for a place.
func (b *bank) acceptFlush(st *status) (moved bool) {
	if b.back && st.mreqAlmostFull {
		return false
	}
	b.st0 = operation{kind: flushSet, step: int32(b.flush.step)}
	b.flush.step++
	return true
}

func (b *bank) acceptRequest(r *request, st *status) bool {
	switch {
	case st.mshrFull:
		b.wait(&b.stats.MSHRFull)
		return false
	case st.mreqAlmostFull:
		b.wait(&b.stats.MemoryQueueFull)
		return false
	}
	switch r.mem.Op {
	case mem.Read:
		b.stats.Reads++
	case mem.Write:
		b.stats.Writes++
	case mem.Atomic:
		b.stats.Atomics++
	}
	b.enter(creq, b.mshr.allocate(r), r)
	return true
}

func (b *bank) bug(now uint64, what string) string {
	return fmt.Sprintf("BUG: %s @%d: bank %d: %s", b.of.unit, now, b.id, what)
}
