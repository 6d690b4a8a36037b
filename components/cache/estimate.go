package cache

import "heddle/components/mem"

// estimate is how long accesses take that are made without time: a bank begins with one operation a cycle, and with
// no request while its MSHRs or its queue to memory are full; a memory port sends one request a cycle; misses wait for
// their line, and all for the walk of a flush. It has neither the inputs' crossbar nor the responses': who comes first
// to a bank is served first, and answers find a slot.
type estimate struct {
	banks    [maxPorts]*bankEstimate
	hit      uint64 // from a bank's beginning to the answer
	to, from uint64 // the next level, and back

	walks, walked uint64 // the last flush's walk: its first cycle, and the one behind it
}

// bankEstimate is a bank.
type bankEstimate struct {
	*estimate
	begins mem.Calendar
	mshrs  mem.Entries   // of misses
	queue  mem.Entries   // to memory, with the bank's share of the link's capacity
	port   *mem.Calendar // to memory
	there  []uint64      // by tag entry: when the line is there
}

// What lies between stages, in cycles, without anything in the way.
const (
	bankToAnswer = 3 // two stages, and the response queue
	bankToMemory = 1 // the memory queue
	flushToWalk  = 3 // a flush's way to the banks' first step, and from the last to its acceptance
)

func (e *estimate) build(c *Cache) {
	e.hit = bankToAnswer
	if c.buffered {
		e.hit++
	}
	if c.spec.ResponseBuffer {
		e.hit++
	}
	e.to, e.from = c.memory[0].req.Latency(), c.memory[0].rsp.Latency()
	if c.spec.MemoryBuffer {
		e.to++
	}
	ports := make([]mem.Calendar, c.spec.MemoryPorts)
	share := (c.memory[0].req.Capacity()*c.spec.MemoryPorts + c.spec.Banks - 1) / c.spec.Banks
	for i, b := range c.banks {
		e.banks[i] = &bankEstimate{
			estimate: e, mshrs: make(mem.Entries, c.spec.MSHRs), queue: make(mem.Entries, b.mreqAlmost+share),
			port: &ports[b.memoryPort], there: make([]uint64, len(b.tags.line)),
		}
	}
}

// begin returns when the bank begins with a request that comes at a cycle.
func (b *bankEstimate) begin(at uint64) uint64 {
	if at >= b.walks && at < b.walked {
		at = b.walked
	}
	return b.begins.Take(max(at, b.mshrs.First(), b.queue.First()), 1)
}

// find returns when a line that the bank holds, or waits for, can be used by a request with which it begins at a cycle.
func (b *bankEstimate) find(where int, at uint64) uint64 { return max(at, b.there[where]) }

// send sends a request to the next level, and returns when its answer is there.
func (b *bankEstimate) send(next mem.Warmer, a mem.Access, at uint64) uint64 {
	taken, answered := next.Warm(a, b.port.Take(at+bankToMemory, 1)+b.to)
	b.queue.Take(taken)
	return answered + b.from
}

// ask sends a request to the next level, and returns when the bank begins with what becomes of its answer: a fill and a
// replay.
func (b *bankEstimate) ask(next mem.Warmer, a mem.Access, at uint64) uint64 {
	return b.begins.Take(b.send(next, a, at), 2)
}

// keep keeps an MSHR until an answer has left that does so in a cycle.
func (b *bankEstimate) keep(until uint64) { b.mshrs.Take(until + b.hit) }

// write sends a write to the next level.
func (b *bankEstimate) write(next mem.Warmer, addr uint32, at uint64) {
	b.send(next, mem.Access{Op: mem.Write, Addr: addr}, at)
}

// walk returns when the walk of a flush that comes at a cycle is over. One that comes during a walk shares it.
func (e *estimate) walk(at, steps uint64) uint64 {
	if at < e.walks || at >= e.walked {
		e.walks, e.walked = at, at+flushToWalk+steps
	}
	return e.walked
}
