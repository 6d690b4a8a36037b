package cache

// bankFlush is the walk of a bank (VX_bank_flush). Its states are as registers: a
// cycle sees what the one before left.
type bankFlush struct {
	state flushState
	step  int // the next one of the walk
}

type flushState uint8

const (
	flushIdle  flushState = iota
	flushMSHR             // WAIT1: until all requests are answered
	flushWalk             // FLUSH: a step a cycle, when nothing goes first
	flushEmpty            // WAIT2: until nothing is on its way to memory
	flushDone             // tells the cache
)

// begin starts a walk from the next cycle on.
func (f *bankFlush) begin() { *f = bankFlush{state: flushMSHR} }

// advance is the transition at the end of a cycle, in which the bank's MSHRs were free, or it had nothing on its way.
func (f *bankFlush) advance(b *bank, free, drained bool) actions {
	before := f.state
	switch f.state {
	case flushMSHR:
		if free {
			f.state = flushWalk
		}
	case flushWalk:
		if f.step == b.flushSteps {
			f.state = f.afterWalk(b)
		}
	case flushEmpty:
		if drained {
			f.state = flushDone
		}
	case flushDone:
		f.state = flushIdle
		return moved | walked
	}
	if f.state != before {
		return moved
	}
	return 0
}

// afterWalk: bank 0 need not be empty, because in the RTL it is the one through
// which the flush then goes to memory, behind all else.
func (f *bankFlush) afterWalk(b *bank) flushState {
	if b.id == 0 {
		return flushDone
	}
	return flushEmpty
}

// cacheFlush brings all banks to walk (VX_cache_flush), and holds back requests
// meanwhile.
type cacheFlush struct {
	state    cacheFlushState
	asked    uint64 // inputs whose first request is a flush
	released uint64 // of them, those whose flush may now go to its bank
	done     uint64 // banks that have finished
	closed   bool   // nothing is to be served
}

type cacheFlushState uint8

const (
	noFlush     cacheFlushState = iota
	drainFlush                  // WAIT1: until the crossbar's buffers are empty
	startFlush                  // FLUSH: tells the banks
	walkFlush                   // WAIT2: until all banks are done
	acceptFlush                 // DONE: until the released flushes are accepted
)

// admits returns the inputs that may be served: all, or with a flush at any of
// them only the released.
func (f *cacheFlush) admits() uint64 {
	switch {
	case f.closed:
		return 0
	case f.asked != 0:
		return f.released
	}
	return ^uint64(0)
}

// advance is the transition at the end of a cycle.
func (f *cacheFlush) advance(c *Cache) (changed bool) {
	before := f.state
	switch f.state {
	case noFlush:
		f.state = f.arrive(c)
	case drainFlush:
		if c.sets.buffered == 0 {
			f.state = startFlush
		}
	case startFlush:
		for _, b := range c.banks {
			b.flush.begin()
		}
		f.state, f.done = walkFlush, 0
		c.sets.awake = c.allBanks
	case walkFlush:
		if f.done == c.allBanks {
			f.state, f.released = acceptFlush, f.asked
		}
	case acceptFlush:
		if f.released == 0 {
			f.state = noFlush
		}
	}
	return f.state != before
}

func (f *cacheFlush) arrive(c *Cache) cacheFlushState {
	switch {
	case f.asked == 0:
		return noFlush
	case c.buffered:
		return drainFlush
	default:
		return startFlush
	}
}
