package core

import (
	"cmp"
	"math/bits"

	"heddle/components/queue"
	"heddle/isa"
)

// bypass carries a slice's instructions from operand read to dispatch, and through the integer unit, while no stage in
// between can stall. The delay of such an instruction is then known when it enters, so one timed queue replaces the
// moves from stage to stage.
//
// Order and latency are those of the stages because nothing can overtake or stall. An instruction enters only when all
// stages that it skips are empty (bypassOpen), and the slice dispatches one instruction a cycle, so a later one neither
// passes an earlier one nor finds a stage occupied. The bypass ends, and materialise puts its instructions into the
// stages where they would be, when dispatch cannot take the one that is due: its unit has no free slot, or the program
// stops there.
//
// An instruction without bank conflicts that issues while no other is before the collectors enters at issue
// (passIssued), as nothing can hold it up there either. It counts as one of the buffer behind the scoreboard's arbiter
// until it would have been read; as at most one issues a cycle, that buffer is not full then, nor are those of a
// slice's groups.
//
// The integer unit is skipped (passALU) under the same conditions: no instruction is in it, before it, behind it or in
// the multiplier and divider, and it takes whole warps. Observers need no end of the bypass: bypassOccupancy recomputes
// the stages. With hooks installed the integer unit is never skipped, as each stage is an event.
type bypass struct {
	operands line // issued or read, and not dispatched, by the cycle of dispatch
	delay    int  // cycles from the read to dispatch
	open     bool // the slice dispatches at most one instruction a cycle, so order is kept

	alu     bool   // the integer unit can be skipped
	commits uint64 // a bit for each cycle, modulo 64, whose write-back slot an instruction that skipped the unit takes
}

// switchToCommit is the delay of the buffer behind the switch of integer unit, multiplier and divider, in cycles.
const switchToCommit = 1

func newBypass(s *Spec, of *queue.Owner, in string) bypass {
	x := bypass{delay: 3, open: s.Issue.Dispatch == 1}
	if s.Collectors > 1 {
		x.delay++ // the arbiter behind the collectors
	}
	x.operands = queue.NewTimed[flightID](x.delay+int(s.issueDelay()), of, in+"operands under way")
	// The switch alternates between two results that arrive together, so no earlier product or quotient may arrive with
	// a later integer result.
	x.alu = x.open && s.ALULanes == s.Threads && s.Issue.ALUs == s.Issue.Slices &&
		s.Latency.ALU <= min(s.Latency.Mul, int(s.Latency.table(s.IDiv)[isa.ClassDiv]),
			cmp.Or(s.Latency.Vote, s.Latency.ALU))
	return x
}

// bypassOpen reports whether an instruction that reads its operands now meets no other on its way to dispatch.
func (sl *slice) bypassOpen() bool {
	c := &sl.collect
	return sl.bypass.open && c.in|c.mid|c.out == 0 && sl.operands.Empty()
}

// passIssued lets an instruction that issues in this cycle skip the scoreboard's arbiter and the buffer behind it, if
// nothing else is there and its operands are in different banks. It reports whether it has.
func (sl *slice) passIssued(id flightID, now uint64) bool {
	if !sl.bypassOpen() || !sl.issued.Empty() || sl.observed || sl.all[id].op.BankConflicts() != 0 {
		return false
	}
	sl.bypass.operands.Push(id, now+sl.issueDelay+uint64(sl.bypass.delay))
	return true
}

// materialise moves the instructions on the bypass into the stages where they are at the beginning of cycle now.
func (sl *slice) materialise(now uint64) {
	c := &sl.collect
	behind := sl.issued.Len() // instructions that issued after those on the bypass
	for way := &sl.bypass.operands; !way.Empty(); {
		at := way.First()
		id := way.Pop()
		stage := sl.bypass.delay - int(at-now) // cycles since it was read
		if stage <= 0 {
			sl.issued.Push(id, at-uint64(sl.bypass.delay))
			continue
		}
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
	if sl.issued.Len() > behind {
		for range behind {
			at := sl.issued.First()
			sl.issued.Push(sl.issued.Pop(), at)
		}
	}
}

// passALU lets an instruction that is dispatched in this cycle skip the integer unit's stages, if none of them is
// occupied and no hook observes them. It reports whether it has.
func (sl *slice) passALU(id flightID, now uint64) bool {
	const others = 1<<bitALU | besideALU | 1<<bitComputed | 1<<(bitDispatch+int(isa.ALU))
	f := &sl.all[id]
	if sl.bypass.operands.Empty() || sl.occupied&others != 0 || !sl.bypass.alu || f.packetsLeft != 0 ||
		f.class == isa.ClassMul || f.class == isa.ClassDiv || sl.hooks != nil ||
		f.class == isa.ClassVote && sl.spec.Latency.Vote != 0 {
		return false
	}
	finished := now + sl.latency[f.class]
	commit := finished + switchToCommit
	sl.besideNext = true
	sl.bypass.commits |= 1 << (commit % 64)
	sl.releases.put(&sl.flights, id, commit+commitToRelease)
	if f.class == isa.ClassBranch {
		sl.resolving.put(finished, 1<<f.warp)
	}
	return true
}

// bypassOccupancy is the number of bypassing instructions that each skipped stage would hold.
type bypassOccupancy struct {
	issued                    int       // behind the scoreboard's arbiter
	stages                    [3]uint32 // of collectors, one bit each
	operands                  int       // behind the collectors' arbiter
	dispatched, alu, computed int       // before, in and behind the integer unit
	written                   int       // written back
}

// bypassOccupancy returns the occupancy of the skipped stages after cycle now.
func (sl *slice) bypassOccupancy(now uint64) (u bypassOccupancy) {
	way := &sl.bypass.operands
	for i := range way.Len() {
		stage := sl.bypass.delay - int(way.Due(i)-now-1)
		if stage > len(u.stages) {
			u.operands++
			continue
		}
		if stage <= 0 {
			if stage == 0 || len(sl.groups.of) == 0 { // else it is selected and not joined
				u.issued++
			}
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
