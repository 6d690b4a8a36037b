package graphpeg

import (
	"heddle/components/accel"
	"heddle/isa"
	"heddle/isa/emu"
)

// dialect is which instructions the unit executes, and what they mean.
type dialect struct {
	name     string
	presence uint32
	traits   []accel.Traits // by function
	// read returns an instruction as one of GraphPEG's, and its list.
	read func(e *Engine, r *emu.UnitRequest) (fn uint8, list uint32)
}

// peg are GraphPEG's own. A warp with an outstanding pop issues no other of them: peg.get
// names no register that it depends on.
var peg = dialect{name: "peg", presence: isa.HasPeg, traits: pegTraits(), read: func(_ *Engine, r *emu.UnitRequest) (uint8, uint32) {
	return r.Fn, listOf(r)
}}

func pegTraits() []accel.Traits {
	t := make([]accel.Traits, isa.PegPush+1)
	for f := range isa.PegPush {
		t[f] = accel.Traits{Answered: true, Exclusive: f >= isa.PegPop}
	}
	return t
}

// hwwl are those of a hardware worklist, which is a GraphPEG in vertex-list mode (§3.3.1): they
// name no list.
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

// AsWorklist makes the unit, which has not been used, execute the instructions of a hardware worklist.
func (e *Engine) AsWorklist() { e.dialect = &hwwl }

// WorkSize is how long the input list is.
func (e *Engine) WorkSize() int {
	if !e.configured {
		return 0
	}
	return e.lists[e.setup.In].size()
}

// Shift moves up to n vertices, in cycle now, from the end of the input list to the end of
// another unit's, at no cost. It returns how many could be moved: lines of a list that are on
// their way back to it cannot.
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
