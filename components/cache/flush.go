package cache

// bankFlush is the walk of a bank (RTL: VX_bank_flush). Its state is a register: a cycle sees the value that the one
// before left.
type bankFlush struct {
	state flushState
	step  int // next step of the walk
}

type flushState uint8

const (
	flushIdle  flushState = iota
	flushMSHR             // WAIT1: until all requests are answered
	flushWalk             // FLUSH: a step per cycle, at lower priority than replays and fills
	flushEmpty            // WAIT2: until nothing is on its way to memory
	flushDone             // notifies the cache
)

// begin starts a walk from the next cycle on.
func (f *bankFlush) begin() { *f = bankFlush{state: flushMSHR} }

// advance is the transition at the end of a cycle. free reports whether the MSHRs were empty, drained whether pipeline
// and memory queue were.
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

// afterWalk returns the state after the walk. Bank 0 need not drain: in the RTL the flush itself then goes to memory
// through it, behind everything else.
func (f *bankFlush) afterWalk(b *bank) flushState {
	if b.id == 0 {
		return flushDone
	}
	return flushEmpty
}

// cacheFlush makes all banks walk (RTL: VX_cache_flush), and holds back requests meanwhile.
type cacheFlush struct {
	state    cacheFlushState
	asked    uint64 // inputs whose first request is a flush
	released uint64 // inputs whose flush may now go to its bank
	done     uint64 // banks that have finished
	closed   bool   // no input is served: the cache is held
}

type cacheFlushState uint8

const (
	noFlush     cacheFlushState = iota
	drainFlush                  // WAIT1: until the crossbar's buffers are empty
	startFlush                  // FLUSH: starts the banks
	walkFlush                   // WAIT2: until all banks are done
	acceptFlush                 // DONE: until the released flushes are accepted
)

// admits returns the inputs that may be served: all, or during a flush only the released ones.
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
