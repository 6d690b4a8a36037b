package core

import "heddle/components/mem"

// synchronizer invalidates the L1s of a core, at a launch and when all its warps have reached a device-wide barrier.
// Everything that the core has sent must end first: its instructions, loads and atomics, and its stores, which the L1D
// acknowledges by taking them. The caches then walk their sets and answer.
type synchronizer struct {
	state   syncState
	waits   uint8  // caches that have not answered
	barrier bool   // for a barrier; else for a launch
	warm    bool   // launched before: the L1s may hold lines
	arrives bool   // the core arrives at the barrier at the end of this cycle
	due     uint64 // with syncSignal: when it arrives
}

type syncState uint8

const (
	syncNone syncState = iota
	syncDrain
	syncInvalidate
	syncWait
	syncSignal // on its way to the barrier
)

// maxBarrierLatency is the maximum of barrier_latency.
const maxBarrierLatency = 100_000

// The synchronizer's requests. No warp and no batch has this tag.
const (
	syncTag = ^uint32(0)
	toL1I   = 1
	toL1D   = 2
)

// working reports whether the core's next cycle may change the state.
func (s *synchronizer) working() bool { return s.state != syncNone && s.state != syncSignal }

// begin starts an invalidation, from the next cycle on.
func (s *synchronizer) begin(barrier, keepL1I bool) {
	s.state, s.barrier, s.waits = syncDrain, barrier, toL1D
	if !barrier && !keepL1I {
		s.waits |= toL1I // the launch may bring other code
	}
}

// allAtBarrier is called when all of the core's warps wait at a device-wide barrier.
func (c *Core) allAtBarrier() {
	if c.functional != nil && c.functional.on {
		c.functional.arriving = true
		return
	}
	if c.spec.DeviceBarrier == BarrierSignal {
		c.sync.state, c.sync.due = syncSignal, c.self.Now+uint64(c.spec.BarrierRegisters+c.spec.BarrierLatency)
		return
	}
	c.sync.begin(true, true)
}

// synchronize runs one cycle of the state machine.
func (c *Core) synchronize() {
	s := &c.sync
	before := s.state
	switch s.state {
	case syncNone:
		return
	case syncDrain:
		if c.inFlight == 0 && c.lsu.idle() {
			s.state = syncInvalidate
		}
	case syncInvalidate:
		s.state = c.invalidate()
	case syncWait:
		if c.answered(); s.waits == 0 {
			s.state = syncNone
			c.synchronized()
		}
	case syncSignal:
		if c.self.Now >= s.due {
			s.state = syncNone
			c.arriveAtBarrier()
		}
	}
	c.moved = c.moved || s.state != before
}

// invalidate sends the requests to the L1s, whose ports are free when nothing is in flight.
func (c *Core) invalidate() syncState {
	r := mem.Request{Op: mem.Invalidate, Tag: syncTag}
	if c.sync.waits&toL1I != 0 {
		c.front.out[0].Trailing().End()
		c.front.out[0].Push(r)
	}
	c.lsu.out[0].Push(r)
	return syncWait
}

// answered takes the caches' answers.
func (c *Core) answered() {
	s := &c.sync
	if s.waits&toL1I != 0 && c.front.in[0].Ready() {
		c.front.in[0].Pop()
		s.waits &^= toL1I
	}
	if s.waits&toL1D != 0 && c.lsu.in[0].Ready() {
		c.lsu.in[0].Pop()
		s.waits &^= toL1D
	}
}

// synchronized lets the core arrive at the barrier, or begin the launch.
func (c *Core) synchronized() {
	switch {
	case !c.sync.barrier:
		c.startNew(0)
	case c.spec.BarrierLatency > 0:
		c.sync.state, c.sync.due = syncSignal, c.self.Now+uint64(c.spec.BarrierLatency)
	default:
		c.arriveAtBarrier()
	}
}

// arriveAtBarrier makes the core arrive at the end of the cycle.
func (c *Core) arriveAtBarrier() {
	c.sync.arrives = true
	c.Base.ClockHandle().Finish()
}
