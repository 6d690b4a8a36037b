package core

import (
	"math/bits"

	"heddle/components/queue"
	"heddle/isa"
)

// slice is an issue slice: the warps of one residue, and their path to the units and back. occupied has a bit for each
// buffer that is not empty, so that empty ones cost nothing.
type slice struct {
	*pipe
	in         string   // prefix of names: core and slice
	index      int      // of the core's slices
	members    uint64   // the slice's warps
	selector   selector // chooses among members
	groups     groups   // two-level arbiter; empty: selector chooses
	issueDelay uint64   // cycles through the scoreboard's arbiter

	occupied uint64 // non-empty buffers
	issued   line   // behind the scoreboard's arbiter
	bypass   bypass
	collect  collectors
	operands line                 // behind the collectors' arbiter
	dispatch [isa.NumUnits]buffer // before the units
	alu      line                 // integer operations
	mul      line                 // multiplier, pipelined
	div      line                 // divider
	vote     line                 // votes and shuffles, if they have a latency of their own
	computed buffer               // the ALU's results at the commit arbiter
	result   [isa.NumUnits]line   // results of the other units
	entered  [isa.NumUnits]line   // register before an ALU or FPU that is narrow or shared (RTL: PARTIAL_BW)
	gathered [isa.NumUnits]line   // register behind it, before the commit arbiter
	releases scoreboardReleases   // written back, or certain to be, and still in the scoreboard
	forward  forwarding           // issued, and their results are forwarded

	besideNext  bool                   // the ALU's output switch prefers mul, div and vote to alu
	fpuHeld     int                    // operations in the FPU
	fpuFreed    int                    // operations that left the FPU in this cycle
	booked      cycle                  // activity of the scheduler since bookedSince
	bookedSince uint64                 //
	waits       [len(boardUnits)]uint8 // by unit: warps that wait for it
	since       uint64                 // value of Cycles up to which phases are booked
	blamed      uint32                 // with a profile: row of the instruction that holds up issue
	sharing     *sharing               // nil: SharedStalls are not counted
}

// Bits of occupied.
const (
	bitIssued = iota
	bitOperands
	bitALU
	bitMul
	bitDiv
	bitVote
	bitComputed
	bitBypass
	bitDispatch                                   // first of one bit per unit
	bitResult   = bitDispatch + int(isa.NumUnits) // first of one bit per unit
	bitEntered  = bitResult + int(isa.NumUnits)   // first of one bit per unit
	bitGathered = bitEntered + int(isa.NumUnits)  // first of one bit per unit
)

const (
	besideALU   = 1<<bitMul | 1<<bitDiv | 1<<bitVote
	unitBits    = 1<<isa.NumUnits - 1
	resultBits  = 1<<bitComputed | unitBits<<bitResult | unitBits<<bitGathered
	executeBits = besideALU | 1<<bitALU | 1<<(bitDispatch+int(isa.ALU)) | 1<<(bitDispatch+int(isa.FPU)) |
		unitBits<<bitEntered
)

// build initialises the slice, which must not move afterwards: its buffers point to occupied.
func (sl *slice) build(p *pipe, in string, index int) {
	s, of := &p.spec, &p.self
	width := s.Issue.Dispatch
	*sl = slice{
		pipe: p, in: of.Unit + ": " + in, index: index, issueDelay: s.issueDelay(),
		issued:   queue.NewTimed[flightID](2*width*int(s.issueDelay()), of, in+"issued"),
		bypass:   newBypass(s, of, in),
		collect:  newCollectors(s.Collectors, of.Unit+": "+in),
		operands: queue.NewTimed[flightID](2*width, of, in+"operands"),
		alu:      queue.NewTimed[flightID](max(1, s.Latency.ALU-1), of, in+"integer unit"),
		mul:      queue.NewTimed[flightID](s.Latency.Mul, of, in+"multiplier"),
		div:      queue.NewTimed[flightID](s.divisions(), of, in+"divider"),
		vote:     queue.NewTimed[flightID](max(1, s.Latency.Vote), of, in+"vote unit"),
		computed: queue.New[flightID](2, of, in+"ALU result"),
	}
	for u := range isa.NumUnits {
		sl.dispatch[u] = queue.New[flightID](2, of, in+isa.Unit(u).String()+" dispatch")
		sl.dispatch[u].Flag(&sl.occupied, bitDispatch+int(u))
	}
	sl.result[isa.FPU] = queue.NewTimed[flightID](s.FPUQueue, of, in+"FPU result")
	sl.result[isa.SFU] = queue.NewTimed[flightID](2*3, of, in+"SFU result") // response, switch and gather buffers
	sl.result[isa.LSU] = queue.NewTimed[flightID](2, of, in+"LSU result")
	for _, u := range commitOrder {
		sl.result[u].Flag(&sl.occupied, bitResult+int(u))
	}
	for _, u := range sliceUnits {
		sl.entered[u] = queue.NewTimed[flightID](1+min(1, p.blocks[u]), of, in+u.String()+" entry")
		sl.entered[u].Flag(&sl.occupied, bitEntered+int(u))
		sl.gathered[u] = queue.NewTimed[flightID](1, of, in+u.String()+" gather")
		sl.gathered[u].Flag(&sl.occupied, bitGathered+int(u))
	}
	sl.computed.Flag(&sl.occupied, bitComputed)
	sl.issued.Flag(&sl.occupied, bitIssued)
	sl.bypass.operands.Flag(&sl.occupied, bitBypass)
	sl.operands.Flag(&sl.occupied, bitOperands)
	sl.alu.Flag(&sl.occupied, bitALU)
	sl.mul.Flag(&sl.occupied, bitMul)
	sl.div.Flag(&sl.occupied, bitDiv)
	sl.vote.Flag(&sl.occupied, bitVote)
}

// issueDelay returns the cycles through the scoreboard's arbiter.
func (s *Spec) issueDelay() uint64 { return 1 + levels(s.Warps/s.Issue.Slices) }

// divisions returns the number of divisions that a slice can have in flight.
func (s *Spec) divisions() int {
	if s.IDiv == DividerSerial {
		return 1
	}
	return s.Latency.Div
}

// commit writes back one instruction per cycle, with fixed priority among units; a slice that dispatches more writes
// back as many, of different units. It reports whether it has freed a result slot that the load-store unit may wait
// for.
func (sl *slice) commit(now uint64) (room bool) {
	if sl.occupied&resultBits == 0 {
		return false
	}
	if sl.bypass.commits>>(now%64)&1 == 0 {
		room = sl.writeBack(now)
	}
	if sl.lanes[isa.ALU]|sl.lanes[isa.FPU] != 0 {
		sl.gatherPackets(now)
	}
	return room
}

// writeBack commits results of the units, or of the registers behind them.
func (sl *slice) writeBack(now uint64) (room bool) {
	left := sl.spec.Issue.Dispatch
	if id := sl.firstOfALU(now); id != noFlight {
		sl.moved = true
		sl.retire(id, now)
		if left--; left == 0 {
			return false
		}
	}
	for _, u := range commitOrder {
		q := &sl.result[u]
		if sl.lanes[u] != 0 && u == isa.FPU {
			q = &sl.gathered[u]
		}
		if !q.Ready(now) {
			continue
		}
		if u == isa.LSU {
			room = q.Full()
		} else {
			sl.moved = true // earlier stages may have waited for the slot
		}
		sl.retire(q.Take(now), now)
		if u == isa.FPU && sl.lanes[u] == 0 {
			sl.fpuFreed++
		}
		if left--; left == 0 {
			return room
		}
	}
	return room
}

// firstOfALU removes and returns the ALU's result to be written back; noFlight: none.
func (sl *slice) firstOfALU(now uint64) flightID {
	switch narrow := sl.lanes[isa.ALU] != 0; {
	case narrow && sl.gathered[isa.ALU].Ready(now):
		return sl.gathered[isa.ALU].Take(now)
	case !narrow && !sl.computed.Empty():
		return sl.computed.Take(now)
	}
	return noFlight
}

// gatherPackets moves results of units with fewer lanes than a warp into the registers behind them, if they arrived in
// an earlier cycle.
func (sl *slice) gatherPackets(now uint64) {
	if g := &sl.gathered[isa.ALU]; sl.gathersOwn(isa.ALU) && !g.Full() && !sl.computed.Empty() {
		g.Push(sl.computed.Take(now), now+1)
		sl.moved = true
	}
	if g := &sl.gathered[isa.FPU]; sl.gathersOwn(isa.FPU) && !g.Full() && sl.result[isa.FPU].Ready(now) {
		g.Push(sl.result[isa.FPU].Take(now), now+1)
		sl.fpuFreed++
		sl.moved = true
	}
}

// gathersOwn reports whether the results of the slice's own unit go through a register of the slice alone.
func (sl *slice) gathersOwn(u isa.Unit) bool { return sl.lanes[u] != 0 && sl.blocks[u] == 0 }

// sliceUnits are the units that every slice has its own of, unless slices share them.
var sliceUnits = [...]isa.Unit{isa.ALU, isa.FPU}

// commitOrder is the order of commit after the ALU: the RTL's numbering of units.
var commitOrder = [...]isa.Unit{isa.LSU, isa.SFU, isa.FPU}

// retire writes an instruction back. A partial result only takes the turn.
func (sl *slice) retire(id flightID, now uint64) {
	f := &sl.all[id]
	if f.op == nil {
		sl.end(id)
		return
	}
	sl.moved = true
	sl.hook(HookPosCommit, now, f.warp, f.op)
	sl.releases.put(&sl.flights, id, now+commitToRelease)
}

// execute runs the slice's ALU and FPU. It returns the warp whose branch has been resolved; -1: none.
func (sl *slice) execute(now uint64) (branch int) {
	branch = -1
	if sl.occupied&executeBits != 0 {
		branch = sl.finishALU(now)
		for _, u := range sliceUnits {
			sl.startUnit(u, now)
		}
	}
	sl.fpuHeld -= sl.fpuFreed // visible from the next cycle on
	sl.fpuFreed = 0
	return branch
}

// startUnit starts the oldest instruction before a unit, if the unit has a slot. In a unit with fewer lanes than a warp
// it comes from the entry register, which then takes the next packet from the dispatch buffer; enterBlocks fills the
// register of a unit that slices share.
func (sl *slice) startUnit(u isa.Unit, now uint64) {
	q := &sl.dispatch[u]
	if sl.lanes[u] == 0 {
		if !q.Empty() && sl.unitTakes(u, *q.Front()) {
			sl.start(u, q.Take(now), now)
		}
		return
	}
	e := &sl.entered[u]
	if e.Ready(now) && sl.unitTakes(u, *e.Front()) {
		sl.start(u, e.Take(now), now)
	}
	if sl.blocks[u] == 0 && !q.Empty() && !e.Full() {
		e.Push(sl.packet(q, now), now+1)
		sl.moved = true
	}
}

// unitTakes reports whether a unit has a slot for an instruction or packet.
func (sl *slice) unitTakes(u isa.Unit, id flightID) bool {
	if u == isa.FPU {
		return sl.fpuHeld < sl.spec.FPUQueue
	}
	return !sl.pipeline(sl.all[id].class).Full()
}

// pipeline returns the ALU's pipeline for a class.
func (sl *slice) pipeline(class isa.Class) *line {
	switch class {
	case isa.ClassMul:
		return &sl.mul
	case isa.ClassDiv:
		return &sl.div
	case isa.ClassVote:
		if sl.spec.Latency.Vote != 0 {
			return &sl.vote
		}
	}
	return &sl.alu
}

// start starts an instruction or packet.
func (sl *slice) start(u isa.Unit, id flightID, now uint64) {
	f := &sl.all[id]
	sl.moved = true
	sl.hook(HookPosExecute, now, f.warp, f.op)
	if u == isa.FPU {
		sl.fpuHeld++
		sl.result[isa.FPU].Insert(id, now+sl.latency[f.class])
		return
	}
	sl.pipeline(f.class).Push(id, now+sl.latency[f.class]-1)
}

// packet removes the next packet from a dispatch buffer. The last packet, or the only one, is the instruction itself;
// the others take a turn at commit and release nothing.
func (sl *slice) packet(q *buffer, now uint64) flightID {
	f := &sl.all[*q.Front()]
	if f.packetsLeft == 0 {
		return q.Take(now)
	}
	f.packetsLeft--
	class := f.class
	id := sl.newPacket(f.warp)
	sl.all[id].class = class
	return id
}

// finishALU moves one result per cycle through the switch behind the integer unit and the multiplier and divider,
// alternating when both have one. It returns the warp whose branch has passed; -1: none.
func (sl *slice) finishALU(now uint64) (branch int) {
	if sl.computed.Closed(now) {
		return -1
	}
	from := sl.beside(now)
	if sl.alu.Ready(now) && (from == nil || !sl.besideNext) {
		from = &sl.alu
	}
	if from == nil {
		return -1
	}
	sl.besideNext = from == &sl.alu
	id := from.Pop()
	sl.computed.Push(id)
	sl.moved = true
	if f := &sl.all[id]; f.op != nil && f.class == isa.ClassBranch {
		return int(f.warp)
	}
	return -1
}

// beside returns the pipeline beside the integer unit with a result, or nil. If several have one, it is the one that
// was ready first, of divider and multiplier the divider (RTL: alternating).
func (sl *slice) beside(now uint64) (first *line) {
	if sl.occupied&besideALU == 0 {
		return nil
	}
	for _, q := range [...]*line{&sl.div, &sl.mul, &sl.vote} {
		if q.Ready(now) && (first == nil || q.First() < first.First()) {
			first = q
		}
	}
	return first
}

// next returns the first cycle after now in which the slice changes something because time passes, or at if that is
// earlier.
func (sl *slice) next(now, at uint64) uint64 {
	at = min(sl.issued.Next(now, at), sl.bypass.operands.First())
	return sl.vote.Next(now, sl.div.Next(now, sl.mul.Next(now, sl.alu.Next(now, at))))
}

// nextResult returns the first cycle in which an instruction can be written back, or at if that is earlier. The result
// is no later than now if one could have been already.
func (sl *slice) nextResult(now, at uint64) uint64 {
	if sl.occupied&(1<<bitComputed) != 0 {
		return now + 1
	}
	for m := sl.occupied >> bitResult & unitBits; m != 0; m &= m - 1 {
		at = min(at, sl.result[bits.TrailingZeros64(m)].First())
	}
	for m := sl.occupied >> bitGathered; m != 0; m &= m - 1 {
		at = min(at, sl.gathered[bits.TrailingZeros64(m)].First())
	}
	return at
}

// buffers reports the occupancy of the slice's buffers after cycle now; loads is the number of the LSU's results on its
// bypass path that have reached the slice.
func (sl *slice) buffers(now uint64, loads int, see func(string, int, int)) {
	x := sl.bypassOccupancy(now)
	see(sl.issued.Name(), sl.issued.Len()+x.issued, sl.issued.Capacity())
	sl.collect.buffers(x.stages, see)
	see(sl.operands.Name(), sl.operands.Len()+x.operands, sl.operands.Capacity())
	for u := range sl.dispatch {
		b, more := &sl.dispatch[u], 0
		if isa.Unit(u) == isa.ALU {
			more = x.dispatched
		}
		see(b.Name(), b.Len()+more, b.Capacity())
	}
	see(sl.alu.Name(), sl.alu.Len()+x.alu, sl.alu.Capacity())
	sl.mul.Level(see)
	sl.div.Level(see)
	if sl.spec.Latency.Vote != 0 {
		sl.vote.Level(see)
	}
	see(sl.computed.Name(), sl.computed.Len()+x.computed, sl.computed.Capacity())
	for _, u := range commitOrder {
		q, more := &sl.result[u], 0
		if u == isa.LSU {
			more = loads
		}
		see(q.Name(), q.Len()+more, q.Capacity())
	}
	for _, u := range sliceUnits {
		if sl.lanes[u] == 0 {
			continue
		}
		sl.gathered[u].Level(see)
		if sl.blocks[u] == 0 || sl.index < sl.blocks[u] {
			sl.entered[u].Level(see)
		}
	}
	see(sl.in+"write-back", x.written, (commitToRelease+1)*sl.spec.Issue.Dispatch)
}
