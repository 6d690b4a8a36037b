package cache

import "heddle/components/mem"

// atomics is a bank's unit for atomics. An atomic takes effect when it finds its line in stage 1; the rest is timing:
// the operations of one line follow one another, those of different lines proceed in parallel unless each occupies the
// bank. An atomic keeps its MSHR entry until its result has left.
type atomics struct {
	performer mem.Performer // nil: a later level performs atomics
	interval  uint64        // cycles of one operation
	occupies  uint64        // cycles of the bank that one operation takes
	busy      uint64        // first cycle that no operation has taken of the bank
	under     []performing  // in progress, in the order in which they end
	effect    effect        // of this cycle's atomic, if acts
	acts      bool          // an atomic takes effect in this cycle
}

// effect is an atomic that takes effect at the end of this cycle, after all accesses that left cores in the cycle.
type effect struct {
	name uint32
	addr uint32
	line uint32
}

// performing is an atomic whose operations are in progress.
type performing struct {
	done uint64
	line uint32
	id   int16
}

// free returns the first cycle from now on in which the line is free.
func (a *atomics) free(line uint32, now uint64) uint64 {
	for i := len(a.under) - 1; i >= 0; i-- {
		if a.under[i].line == line {
			return max(now, a.under[i].done)
		}
	}
	return now
}

// begin books the operations of an atomic, and returns the first cycle of the first and the cycle after the last. The
// bank's cycles are taken in the order of arrival, also by an atomic whose line is not free yet: those behind it do not
// wait for its line.
func (a *atomics) begin(line uint32, operations, now uint64) (start, done uint64) {
	start = a.free(line, now)
	if a.occupies > 0 {
		at := max(a.busy, now)
		start, a.busy = max(start, at), at+a.occupies*operations
	}
	return start, start + max(a.interval, a.occupies)*operations
}

// insert keeps the order; of two that end together the older one leaves first.
func (a *atomics) insert(p performing) {
	i := len(a.under)
	a.under = append(a.under, p)
	for ; i > 0 && a.under[i-1].done > p.done; i-- {
		a.under[i] = a.under[i-1]
	}
	a.under[i] = p
}

// next returns the cycle in which the first result can leave; ok is false if no atomic is in progress.
func (a *atomics) next() (at uint64, ok bool) {
	if len(a.under) == 0 {
		return 0, false
	}
	return a.under[0].done, true
}

// performing reports whether atomics are in progress.
func (b *bank) performing() bool { return len(b.atomics.under) > 0 }

// performs reports whether this bank performs the operation itself.
func (b *bank) performs(op mem.Op) bool { return op == mem.Atomic && b.atomics.performer != nil }

// finishAtomic sends the first result that is ready, ahead of the pipeline's responses.
func (b *bank) finishAtomic(now uint64) bool {
	if at, ok := b.atomics.next(); !ok || at > now || b.rsp.Full() {
		return false
	}
	id := b.atomics.under[0].id
	b.atomics.under = append(b.atomics.under[:0], b.atomics.under[1:]...)
	r := &b.mshr.entries[id]
	b.rsp.Push(response{mem.Response{Tag: r.mem.Tag}, r.port})
	b.mshr.release(id)
	return true
}

// commitAtomic performs a hit; a miss waits for its line like a read's.
func (b *bank) commitAtomic(now uint64, op *operation) {
	if b.tags.lookup(op.line) {
		b.stats.AtomicHits++
		b.perform(now, op)
		return
	}
	b.stats.AtomicMisses++
	b.missLine(op)
}

// perform schedules the atomic's effect for the end of the cycle and its result for the end of its operations.
func (b *bank) perform(now uint64, op *operation) {
	operations := uint64(op.mem.Atomic.Operations())
	start, done := b.atomics.begin(op.line, operations, now)
	b.stats.AtomicOps += operations
	b.stats.AtomicWaits += start - now
	b.atomics.insert(performing{done, op.line, op.id})
	b.atomics.effect, b.atomics.acts = effect{op.mem.Atomic.Name(), op.mem.Addr, op.line}, true
}

// finish applies the effect of the cycle's atomic. If it writes, that is a write like any other.
func (b *bank) finish() {
	if !b.atomics.acts {
		return
	}
	b.atomics.acts = false
	e := &b.atomics.effect
	if !b.atomics.performer.Perform(e.name) {
		return
	}
	b.stats.AtomicWrites++
	if b.writeBackPolicy {
		b.tags.write(e.line)
		return
	}
	b.mreq.Push(mem.Request{Addr: e.addr, Op: mem.Write})
}

// passAtomic sends an atomic on to the level that performs it. The line must leave this cache, as it would be stale
// afterwards.
func (b *bank) passAtomic(op *operation) {
	b.stats.AtomicsPassed++
	out := b.tags.drop(op.line)
	if out.valid {
		b.stats.Invalidations++
	}
	b.writeBack(out)
	b.pass(op)
}
