package cache

import "heddle/components/mem"

// estimate is the timing of functionally executed accesses. A bank begins one operation per cycle, and no request while
// its MSHRs or its queue to memory are full; a memory port sends one request per cycle; misses wait for their line, and
// everything waits for the walk of a flush. The crossbars of requests and responses are omitted: a bank serves requests
// in the order of arrival, and responses always find a slot.
type estimate struct {
	banks    [maxPorts]*bankEstimate
	hit      uint64 // cycles from a bank's beginning to the response
	to, from uint64 // latency to the next level, and back

	walks, walked uint64 // the last flush's walk: its first cycle, and the one after its last
}

// bankEstimate is the estimate of one bank.
type bankEstimate struct {
	*estimate
	begins mem.Calendar
	mshrs  mem.Entries   // of misses
	queue  mem.Entries   // to memory, including the bank's share of the link's capacity
	port   *mem.Calendar // to memory
	there  []uint64      // by tag entry: cycle in which the line arrives
	second uint64        // cycle in which the bank has the last answer's second sector, if it has one

	atomics mem.Calendar // the bank's cycles that operations of atomics take
}

// maxOperations is the most operations of an atomic: one a lane.
const maxOperations = 32

// Cycles between stages without contention.
const (
	bankToAnswer = 3 // two stages, and the response queue
	bankToMemory = 1 // the memory queue
	flushToWalk  = 3 // from a flush to the banks' first step, and from the last step to its acceptance
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
			atomics: mem.NewCalendar(b.atomics.occupies * maxOperations),
		}
	}
}

// begin returns the cycle in which the bank begins a request that arrives at cycle at.
func (b *bankEstimate) begin(at uint64) uint64 {
	if at >= b.walks && at < b.walked {
		at = b.walked
	}
	return b.begins.Take(max(at, b.mshrs.First(), b.queue.First()), 1)
}

// find returns the cycle in which a request that begins at cycle at can use a line that the bank holds or has
// requested.
func (b *bankEstimate) find(where int, at uint64) uint64 { return max(at, b.there[where]) }

// send sends a request to the next level, and returns the cycle of its answer.
func (b *bankEstimate) send(next mem.Warmer, a mem.Access, at uint64) uint64 {
	taken, answered := next.Warm(a, b.port.Take(at+bankToMemory, 1)+b.to)
	b.queue.Take(taken)
	return answered + b.from
}

// ask sends a request to the next level, and returns the cycle in which the bank begins the fill and replay of its
// answer.
func (b *bankEstimate) ask(next mem.Warmer, a mem.Access, at uint64) uint64 {
	return b.begins.Take(b.send(next, a, at), 2)
}

// keep occupies an MSHR until the response has left.
func (b *bankEstimate) keep(until uint64) { b.mshrs.Take(until + b.hit) }

// write sends a write to the next level.
func (b *bankEstimate) write(next mem.Warmer, addr uint32, at uint64) {
	b.send(next, mem.Access{Op: mem.Write, Addr: addr}, at)
}

// walk returns the cycle in which the walk of a flush that arrives at cycle at ends. A flush that arrives during a walk
// shares it.
func (e *estimate) walk(at, steps uint64) uint64 {
	if at < e.walks || at >= e.walked {
		e.walks, e.walked = at, at+flushToWalk+steps
	}
	return e.walked
}
