package cache

import (
	"fmt"

	"heddle/components/count"
	"heddle/components/mem"
	"heddle/components/probe"
	"heddle/components/queue"
)

// bank is the logic of one bank. step runs one cycle.
type bank struct {
	in       inputs
	second   int16 // with sector_pairs: MSHR entry of the second sector of an answer whose first was taken; or none
	st0, st1 *operation
	waiting  cause // why the last cycle accepted nothing; 0: it did not have to wait

	front   front
	tags    tags
	mshr    mshr
	rsp     queue.Queue[response]    // core_rsp_queue
	mreq    queue.Queue[mem.Request] // mem_req_queue
	flush   bankFlush
	atomics atomics
	refill  uint64 // first cycle in which the replays of the last fill are accepted
	filled  int    // tag index of the last fill's line, which its replays hit; passing: it was not kept

	owner           *queue.Owner
	id              int
	memoryPort      int
	bankBits        int
	sets            int
	writeBackPolicy bool   // write-back
	resend          bool   // a write's replay is sent to memory again
	pairs           bool   // two neighbouring sectors are asked for in one request
	flushSteps      int    // steps of a flush's walk: sets, or lines with write-back
	lineMask        uint32 // address bits of a line
	lineShift       int
	replayDelay     uint64
	mreqAlmost      int // occupancy at which mreq counts as almost full
	forwardFlush    bool
	keeps           Keeps
	lone            uint32  // in functional execution, with pairs: the sector asked for last, and alone; or invalid
	readOnly        *[]span // lines that nobody writes

	watch probe.Watch // nil: no observer
	stats Stats
}

// operation is the content of a pipeline stage.
type operation struct {
	kind kind
	id   int16 // MSHR entry of a request, or of an atomic's replay
	step int32 // step of a flush's walk
	request
}

type kind uint8

const (
	bubble   kind = iota
	creq          // a request on its first pass (RTL: creq)
	replayed      // a request, after its fill
	fill
	passed // the next level's answer to a request passed on, which carries no line
	flushSet
)

// response is a response and its port.
type response struct {
	mem  mem.Response
	port uint8
}

// inputs are the signals into a bank besides the offered request.
type inputs struct {
	fill               int16 // MSHR entry that memory's answer names; none: no answer
	responseBlocked    bool  // stage 1's response has no slot at its port, and the bank has no queue
	memoryBackPressure bool  // memory cannot send until the bank takes a fill
}

// cause is the set of reasons for which a bank accepts nothing; the lowest bit counts.
type cause uint8

const (
	mshrFull cause = 1 << iota
	memoryQueueFull
	responseQueueFull
)

// waited returns the counter of the cycles lost to a cause.
func (s *Stats) waited(why cause) *count.Span {
	switch {
	case why&mshrFull != 0:
		return &s.MSHRFull
	case why&memoryQueueFull != 0:
		return &s.MemoryQueueFull
	default:
		return &s.ResponseQueueFull
	}
}

// actions is the set of actions of a bank in a cycle.
type actions uint8

const (
	moved       actions = 1 << iota // something moved, so the next cycle can differ
	tookRequest                     // accepted the request
	tookFill                        // accepted memory's answer
	walked                          // finished the flush's walk
)

func (d actions) has(what actions) bool { return d&what != 0 }

func newBank(of *queue.Owner, s *Spec, id int) *bank {
	in := fmt.Sprintf("bank %d, ", id)
	b := &bank{
		in: inputs{fill: none}, second: none, front: front{beside: invalid}, st0: new(operation), st1: new(operation),
		tags: newTags(s, id), mshr: newMSHR(s.MSHRs),
		rsp: queue.New[response](max(1, s.ResponseQueue), of, in+"responses"), mreqAlmost: s.MemoryQueue - 2,
		// A replay that writes must not wait for a next level that itself waits for the fills behind the replay: one
		// more slot per MSHR prevents that, or one per line of a way.
		mreq:  queue.New[mem.Request](s.MemoryQueue+s.MSHRs*s.sectors(), of, in+"memory requests"),
		owner: of, id: id, keeps: s.Keeps, readOnly: new([]span), memoryPort: id % s.MemoryPorts, bankBits: s.bankBits(), sets: s.Sets(),
		lineMask:    ^uint32(s.LineBytes - 1),
		lineShift:   s.lineShift(),
		replayDelay: uint64(s.ReplayDelay), forwardFlush: s.ForwardFlush, writeBackPolicy: s.WritePolicy == Back,
		flushSteps: s.Sets(),
		resend:     s.ResendWrites && s.WritePolicy == Through,
		pairs:      s.SectorPairs, lone: invalid,
	}
	if b.writeBackPolicy {
		b.flushSteps *= s.Ways * s.sectors()
	}
	return b
}

// idle reports whether a cycle without inputs changes nothing.
func (b *bank) idle() bool {
	return b.st0.kind == bubble && b.st1.kind == bubble && b.mshr.replay == none && b.flush.state == flushIdle &&
		!b.performing()
}

// busy reports whether the pipeline holds an operation.
func (b *bank) busy() bool { return b.st0.kind|b.st1.kind != bubble }

// step runs one cycle with the offered request, or nil.
func (b *bank) step(now uint64, r *request) actions {
	b.endWait(now)
	if b.flush.state != flushIdle || b.performing() {
		return b.stepBesides(now, r)
	}
	return b.pipeline(now, r)
}

// stepBesides is step with atomics in progress or a flush, which sees the state at the end of the cycle before.
func (b *bank) stepBesides(now uint64, r *request) (out actions) {
	if b.finishAtomic(now) {
		out = moved
	}
	free, drained := b.mshr.empty(), !b.busy() && b.mreq.Len() == 0
	out |= b.pipeline(now, r)
	return out | b.flush.advance(b, free, drained)
}

// pipeline moves the stages, last first, unless stage 1 is blocked.
func (b *bank) pipeline(now uint64, r *request) (out actions) {
	refusal := b.refusal()
	if b.st1.kind != bubble {
		if !b.commit(now) {
			b.wait(now, responseQueueFull)
			return 0
		}
		b.st1.kind, out = bubble, moved
	}
	if b.st0.kind != bubble {
		b.st0, b.st1, out = b.st1, b.st0, moved
	}
	// Priority at stage 0: replay > fill > flush > request. Replays come first because they never miss, fills next
	// because misses wait for them. A pending replay blocks the others even in a cycle in which it is not ready itself.
	switch {
	case b.mshr.replay != none:
		return out | b.acceptReplay(now, refusal)
	case b.in.fill != none:
		return out | b.acceptFill(now)
	case b.flush.state == flushWalk:
		return out | b.acceptFlush(refusal)
	case r != nil:
		return out | b.acceptRequest(now, r, refusal)
	}
	return out
}

// refusal returns why a request cannot be accepted in this cycle. The RTL's registered flags decide, which do not see
// stage 1's actions in the same cycle.
func (b *bank) refusal() (why cause) {
	if b.mshr.full() {
		why = mshrFull
	}
	if b.mreq.Len() >= b.mreqAlmost {
		why |= memoryQueueFull
	}
	return why
}

// endWait ends the wait that the cycle before has recorded.
func (b *bank) endWait(now uint64) {
	if b.waiting != 0 {
		b.stats.waited(b.waiting).Set(false, now)
		b.waiting = 0
	}
}

// wait records a cycle without progress; the following cycles repeat it until the bank is stepped again.
func (b *bank) wait(now uint64, why cause) {
	b.stats.waited(why).Set(true, now)
	b.waiting = why
}

// commit is stage 1. It returns false if the operation cannot leave it.
func (b *bank) commit(now uint64) bool {
	switch op := b.st1; op.kind {
	case creq:
		if op.mem.Op == mem.Read {
			return b.commitRead(op)
		}
		return b.commitRequest(now, op)
	case replayed:
		return b.commitReplay(now, op)
	case fill:
		b.commitFill(op)
	case flushSet:
		b.commitFlushStep(int(op.step))
	}
	return true
}

// commitRequest is commit for requests other than reads.
func (b *bank) commitRequest(now uint64, op *operation) bool {
	switch op.mem.Op {
	case mem.Write:
		b.commitWrite(op)
		return true
	case mem.Atomic:
		if b.performs(mem.Atomic) {
			b.commitAtomic(now, op)
		} else {
			b.passAtomic(op)
		}
		return true
	default:
		return b.commitFlush(op)
	}
}

func (b *bank) commitRead(op *operation) bool {
	way := b.tags.find(op.line)
	if way < 0 {
		b.stats.ReadMisses++
		b.missLine(op)
		return true
	}
	b.tags.touch(way)
	if !b.respond(op) {
		return false
	}
	b.stats.ReadHits++
	b.mshr.release(op.id)
	return true
}

// missLine joins the request to the line's outstanding fill, or requests the line.
func (b *bank) missLine(op *operation) {
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
	if b.pairs && b.mshr.alongside(op.id, op.line^1) {
		b.stats.Pairs++
		return
	}
	b.ask(op, mem.Read)
}

func (b *bank) commitWrite(op *operation) {
	if b.writeBackPolicy {
		b.commitWriteBack(op)
		return
	}
	hit := b.tags.lookup(op.line)
	if hit {
		b.stats.WriteHits++
	} else {
		b.stats.WriteMisses++
	}
	b.mreq.Push(mem.Request{Addr: op.mem.Addr, Op: mem.Write})
	if !hit {
		if head := b.mshr.pending(op.line); head != none {
			b.mshr.join(head, op.id)
			return
		}
	}
	b.mshr.release(op.id)
}

// commitWriteBack writes a hit here; a miss fetches the line first.
func (b *bank) commitWriteBack(op *operation) {
	if b.tags.lookup(op.line) {
		b.stats.WriteHits++
		b.tags.write(op.line)
		b.mshr.release(op.id)
		return
	}
	b.stats.WriteMisses++
	b.missLine(op)
}

// writeBack sends an evicted line to the next level if it is dirty.
func (b *bank) writeBack(v victim) {
	if v.dirty {
		b.stats.Writebacks++
		b.mreq.Push(mem.Request{Addr: v.line << b.lineShift, Op: mem.Write})
	}
}

func (b *bank) commitFlush(op *operation) bool {
	if b.forwardFlush && op.mem.Op == mem.Flush {
		b.stats.Flushes++
		b.pass(op)
		return true
	}
	if !b.respond(op) {
		return false
	}
	b.stats.Flushes++
	b.mshr.release(op.id)
	return true
}

// pass forwards the request itself to the next level.
func (b *bank) pass(op *operation) {
	b.mshr.pass(op.id)
	b.ask(op, op.mem.Op)
}

// ask sends a request to memory with a tag that names its MSHR entry.
func (b *bank) ask(op *operation, as mem.Op) {
	r := op.mem
	r.Addr, r.Op, r.Tag = r.Addr&b.lineMask, as, uint32(op.id)<<b.bankBits|uint32(b.id)
	b.mreq.Push(r)
}

func (b *bank) commitReplay(now uint64, op *operation) bool {
	if op.mem.Op == mem.Flush || op.mem.Op == mem.Atomic && !b.performs(mem.Atomic) {
		return b.respond(op)
	}
	at := b.filled
	if b.pairs { // the last answer may have brought two
		at = b.tags.find(op.line)
	}
	if at == passing && b.keeps == All || at != passing && !b.tags.holds(at, op.line) {
		panic(b.bug(now, "a replay without its line"))
	}
	if at != passing {
		b.tags.touch(at)
	}
	switch op.mem.Op {
	case mem.Write:
		b.replayWrite(op)
		return true
	case mem.Atomic:
		b.perform(now, op)
		return true
	}
	return b.respond(op)
}

func (b *bank) replayWrite(op *operation) {
	if b.writeBackPolicy {
		b.tags.write(op.line)
	}
	if b.resend {
		b.stats.WriteResends++
		b.mreq.Push(mem.Request{Addr: op.mem.Addr, Op: mem.Write})
	}
}

// commitFill installs the line, if the cache keeps it.
func (b *bank) commitFill(op *operation) {
	b.stats.Fills++
	if b.keeps != All && !b.keepsLine(op.line) {
		b.filled = passing
		if b.watch != nil {
			b.tellFill(op, nil)
		}
		return
	}
	out, at := b.tags.fill(op.line)
	b.filled = at
	if b.watch != nil {
		b.tellFill(op, out)
	}
	b.stats.Evictions += uint64(len(out))
	for _, v := range out {
		b.writeBack(v)
	}
}

// commitFlushStep invalidates a set; with write-back a line, the first lines of all sets before the second ones.
func (b *bank) commitFlushStep(step int) {
	if !b.writeBackPolicy {
		b.tags.flush(step)
		return
	}
	b.writeBack(b.tags.remove(b.lineOf(step)))
}

// lineOf returns the tag index of a step's line, with write-back.
func (b *bank) lineOf(step int) int { return step%b.sets*b.tags.ways*b.tags.sectors + step/b.sets }

// respond answers a request, unless the response queue is full.
func (b *bank) respond(op *operation) bool {
	if b.in.responseBlocked || b.rsp.Full() {
		return false
	}
	b.rsp.Push(response{mem.Response{Tag: op.mem.Tag}, op.port})
	return true
}

// enter puts an operation into stage 0.
func (b *bank) enter(k kind, id int16, r *request) {
	b.st0.kind, b.st0.id, b.st0.request = k, id, *r
}

// acceptReplay returns moved also while the replay waits for memory: the bank must then be stepped in the next cycle,
// because the answers that end the wait through memoryBackPressure wake no bank.
func (b *bank) acceptReplay(now uint64, refusal cause) actions {
	if b.second != none {
		return b.acceptSecond(now)
	}
	if now < b.refill {
		return 0
	}
	op := b.mshr.entries[b.mshr.replay].mem.Op
	if b.resend && refusal&memoryQueueFull != 0 && !b.in.memoryBackPressure && op == mem.Write {
		b.wait(now, memoryQueueFull)
		return moved
	}
	b.stats.Replays++
	id, r := b.mshr.dequeue(b.performs(op))
	b.enter(replayed, id, r)
	return moved
}

func (b *bank) acceptFill(now uint64) actions {
	id := b.in.fill
	if !b.mshr.waits(id) {
		panic(b.bug(now, fmt.Sprintf("an answer for entry %d, which asked for nothing", id)))
	}
	b.refill = now + b.replayDelay
	k := fill
	if b.mshr.passed(id) {
		k = passed
	}
	b.enter(k, id, b.mshr.fill(id))
	if b.pairs && k == fill && b.mshr.entries[id].pair >= 0 {
		b.second = b.mshr.entries[id].pair
		return moved
	}
	return moved | tookFill
}

// acceptSecond accepts the second sector of memory's answer, right behind the first. The replays of both follow.
func (b *bank) acceptSecond(now uint64) actions {
	id := b.second
	b.second, b.refill = none, now+b.replayDelay
	b.enter(fill, id, b.mshr.fillSecond(id))
	return moved | tookFill
}

// acceptFlush enters a step of the walk. A step that may evict a line waits for a slot.
func (b *bank) acceptFlush(refusal cause) actions {
	if b.writeBackPolicy && refusal&memoryQueueFull != 0 {
		return 0
	}
	*b.st0 = operation{kind: flushSet, step: int32(b.flush.step)}
	b.flush.step++
	return moved
}

func (b *bank) acceptRequest(now uint64, r *request, refusal cause) actions {
	if refusal != 0 {
		b.wait(now, refusal)
		return 0
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
	return moved | tookRequest
}

func (b *bank) bug(now uint64, what string) string {
	return fmt.Sprintf("BUG: %s @%d: bank %d: %s", b.owner.Unit, now, b.id, what)
}
