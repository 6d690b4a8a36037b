package graphpeg

import (
	"heddle/components/accel"
	"heddle/isa"
	"heddle/isa/emu"
)

// dialect is the instruction set that the unit executes.
type dialect struct {
	name     string
	presence uint32
	traits   []accel.Traits // by function
	// read translates an instruction to GraphPEG's function and list.
	read func(e *Engine, r *emu.UnitRequest) (fn uint8, list uint32)
}

// peg is GraphPEG's own instruction set. A warp with an outstanding pop must not issue any other of these instructions:
// peg.get depends on the pop without naming a register of it.
var peg = dialect{name: "peg", presence: isa.HasPeg, traits: pegTraits(),
	read: func(_ *Engine, r *emu.UnitRequest) (uint8, uint32) {
		return r.Fn, listOf(r)
	}}

func pegTraits() []accel.Traits {
	t := make([]accel.Traits, isa.PegPush+1)
	for f := range isa.PegPush {
		t[f] = accel.Traits{Answered: true, Exclusive: f >= isa.PegPop}
	}
	return t
}

// hwwl is the instruction set of a hardware worklist, which is a GraphPEG in vertex-list mode (§3.3.1): its
// instructions name no list.
var hwwl = dialect{
	name: "hwwl", presence: isa.HasHWWL,
	traits: []accel.Traits{isa.HwwlPop: {Answered: true, Exclusive: true}, isa.HwwlPush: {}},
	read: func(e *Engine, r *emu.UnitRequest) (uint8, uint32) {
		if r.Fn == isa.HwwlPush {
			return isa.PegPush, e.setup.Out
		}
		return isa.PegPopV, e.setup.In
	},
}

// AsWorklist makes an unused unit execute the instructions of a hardware worklist.
func (e *Engine) AsWorklist() { e.dialect = &hwwl }

// WorkSize returns the length of the input list.
func (e *Engine) WorkSize() int {
	if !e.configured {
		return 0
	}
	return e.lists[e.setup.In].size()
}

// Shift moves up to n vertices from the end of the input list to the end of another unit's, in cycle now and in zero
// time. It returns the number moved: lines in flight from memory cannot be moved.
func (e *Engine) Shift(now uint64, to *Engine, n int) (moved int) {
	e.Settle(now)
	to.Settle(now)
	from, into := &e.lists[e.setup.In], &to.lists[to.setup.In]
	for moved < n {
		v, ok := from.last()
		if !ok && from.spilled == 0 {
			break
		}
		if !ok {
			from.reload(e.mem)
			continue
		}
		if err := into.append(v, to.mem); err != nil {
			from.push(v)
			to.fail("list %d: %v", to.setup.In, err)
			break
		}
		moved++
	}
	e.VerticesGiven += uint64(moved)
	to.VerticesTaken += uint64(moved)
	return moved
}
