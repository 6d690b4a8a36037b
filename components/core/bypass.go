package core

import (
	"math/bits"

	"heddle/components/queue"
	"heddle/isa"
)

// bypass is the way of a slice's instructions while nothing holds them up: a collector and the integer unit then take
// them a known number of cycles, so that they need not be moved from stage to stage. The first that meets a unit
// without a slot ends it: all of them are put into the stages in which they are then.
type bypass struct {
	operands line // read and not dispatched; leaves in the cycle in which it is dispatched
	delay    int  // cycles from the read to dispatch
	open     bool // a slice dispatches one instruction a cycle, so that they keep their order

	alu     bool   // the integer unit can be passed so
	commits uint64 // cycles, modulo 64, in which an instruction that has passed it is written back
}

// switchToCommit is the buffer behind the switch of integer unit, multiplier and divider.
const switchToCommit = 1

func newBypass(s *Spec, of *queue.Owner, in string) bypass {
	x := bypass{delay: 3, open: s.Issue.Dispatch == 1}
	if s.Collectors > 1 {
		x.delay++ // the arbiter behind them
	}
	x.operands = queue.NewTimed[flightID](x.delay, of, in+"operands under way")
	// Of two results that come to the switch together the other way decides, so none may be overtaken.
	x.alu = x.open && s.ALULanes == s.Threads && s.Latency.ALU <= min(s.Latency.Mul, int(s.Latency.table(s.IDiv)[isa.ClassDiv]))
	return x
}

// bypassOpen reports whether what is read now meets nothing on its way to dispatch.
func (sl *slice) bypassOpen() bool {
	c := &sl.collect
	return sl.express.open && c.in|c.mid|c.out == 0 && sl.operands.Empty()
}

// materialise puts the instructions that are on their way to dispatch into the stages in which they are at the
// beginning of cycle now.
func (sl *slice) materialise(now uint64) {
	c := &sl.collect
	for way := &sl.express.operands; !way.Empty(); {
		at := way.First()
		id := way.Pop()
		stage := sl.express.delay - int(at-now) // cycles since it was read
		k := sl.warps[sl.all[id].warp].collector
		bit := uint32(1) << k
		switch stage {
		case 1:
			c.in, c.id[0][k] = c.in|bit, id
		case 2:
			c.mid, c.id[1][k] = c.mid|bit, id
		case 3:
			c.out, c.id[2][k] = c.out|bit, id
		default:
			sl.operands.Push(id, at)
		}
	}
}

// passALU sends an instruction that is dispatched in this cycle through the integer unit, if nothing is before it
// there, and nobody looks at its stages. It reports whether it has.
func (sl *slice) passALU(id flightID, now uint64) bool {
	const others = 1<<bitALU | 1<<bitMul | 1<<bitDiv | 1<<bitComputed | 1<<(bitDispatch+int(isa.ALU))
	f := &sl.all[id]
	if sl.express.operands.Empty() || sl.occupied&others != 0 || !sl.express.alu || f.packetsLeft != 0 || f.class == isa.ClassMul || f.class == isa.ClassDiv || sl.hooks != nil {
		return false
	}
	finished := now + sl.latency[f.class]
	commit := finished + switchToCommit
	sl.muldivNext = true
	sl.express.commits |= 1 << (commit % 64)
	sl.releases.put(&sl.flights, id, commit+commitToRelease)
	if f.class == isa.ClassBranch {
		sl.resolving.put(finished, 1<<f.warp)
	}
	return true
}

// bypassOccupancy says where the instructions are that are in no buffer of their own.
type bypassOccupancy struct {
	stages                    [3]uint32 // of collectors, a bit each
	operands                  int       // behind the collectors' arbiter
	dispatched, alu, computed int       // before, in and behind the integer unit
	written                   int       // written back
}

// bypassOccupancy returns where such instructions are after cycle now.
func (sl *slice) bypassOccupancy(now uint64) (u bypassOccupancy) {
	way := &sl.express.operands
	for i := range way.Len() {
		stage := sl.express.delay - int(way.Due(i)-now-1)
		if stage > len(u.stages) {
			u.operands++
			continue
		}
		u.stages[stage-1] |= 1 << sl.warps[sl.all[*way.At(i)].warp].collector
	}
	for m := sl.releases.cycles; m != 0; m &= m - 1 {
		at := now + 1 + (uint64(bits.TrailingZeros64(m))-now-1)%64
		for id := sl.releases.first[at%64]; id != noFlight; id = sl.all[id].next {
			switch commit := at - commitToRelease; {
			case commit <= now:
				u.written++
			case commit-switchToCommit <= now:
				u.computed++
			case commit-switchToCommit-(sl.latency[sl.all[id].class]-1) <= now:
				u.alu++
			default:
				u.dispatched++
			}
		}
	}
	return u
}
