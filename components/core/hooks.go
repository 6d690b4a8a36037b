package core

import (
	"github.com/sarchlab/akita/v3/sim"

	"heddle/isa/emu"
)

// Where a core calls its hooks, with a *HookEvent as the item. A core without hooks pays a comparison.
var (
	HookPosFetch    = &sim.HookPos{Name: "core fetch"}    // given to the instruction cache
	HookPosDecode   = &sim.HookPos{Name: "core decode"}   // into the instruction buffer
	HookPosStage    = &sim.HookPos{Name: "core stage"}    // out of it, to where the scoreboard looks
	HookPosIssue    = &sim.HookPos{Name: "core issue"}    // past the scoreboard
	HookPosDispatch = &sim.HookPos{Name: "core dispatch"} // with its operands to a unit
	HookPosExecute  = &sim.HookPos{Name: "core execute"}  // taken by the unit: its last packet
	HookPosMemory   = &sim.HookPos{Name: "core memory"}   // to what answers; of a request to the graph unit that is answered instead of execute
	HookPosDiscard  = &sim.HookPos{Name: "core discard"}  // trapped at dispatch, or behind one that has; without Op: fetched in vain
	HookPosCommit   = &sim.HookPos{Name: "core commit"}   // written back; a load's last part
)

// WriteBack is the number of cycles from commit until the instruction counts as done.
const WriteBack = commitToRelease

// HookEvent is an instruction at such a place. It is valid during the call only.
type HookEvent struct {
	Cycle uint64
	Warp  int
	Op    *emu.Op // nil: of fetch, which does not know it yet
	PC    uint32  // of fetch, decode and what was fetched in vain
	Mask  uint32  // of decode: the lanes it will work on, since nothing behind control is fetched until that is resolved
}

// AcceptHook has h called at the places above.
func (c *Core) AcceptHook(h sim.Hook) {
	c.Base.AcceptHook(h)
	c.hooks = c.invoke
}

// invoke calls the hooks. Packets and parts of an instruction do not count.
func (c *Core) invoke(pos *sim.HookPos, now uint64, warp uint8, op *emu.Op) {
	if op != nil {
		c.event = HookEvent{Cycle: now, Warp: int(warp), Op: op}
		c.InvokeHook(sim.HookCtx{Domain: c, Pos: pos, Item: &c.event})
	}
}

// hookFront is hook for fetch and decode.
func (c *Core) hookFront(pos *sim.HookPos, now uint64, w int, op *emu.Op) {
	if c.hooks != nil {
		c.event = HookEvent{now, w, op, c.warps[w].fetching, c.warps[w].trace.Mask()}
		c.InvokeHook(sim.HookCtx{Domain: c, Pos: pos, Item: &c.event})
	}
}

// NumWarps is how many warps the core has room for.
func (c *Core) NumWarps() int { return len(c.warps) }

// WarpState is where warp i is when the core's last cycle is over, by the name of the statistic that such
// cycles of a warp are booked under; empty: the warp is not active. Of a warp whose instruction was before the
// scoreboard before that cycle and was not issued, it is the cause that the cycle was booked under.
func (c *Core) WarpState(i int) string {
	if c.active>>i&1 == 0 {
		return ""
	}
	return stateDocs[c.warpState(i)][0]
}

func (c *Core) warpState(i int) state {
	for _, s := range [...]struct {
		of uint64
		is state
	}{{c.atBarrier, atBarrier}, {c.atIssue, c.stagedState(i)}, {c.fenced, membar}, {c.awaitingUnit, unitWait}, {c.branching, branchResolving}} {
		if s.of>>i&1 != 0 {
			return s.is
		}
	}
	return noInstruction
}

// stagedState is the state of a warp with an instruction before the scoreboard.
func (c *Core) stagedState(i int) state {
	w := &c.warps[i]
	if w.board.waits != issued {
		return stateOf[w.board.waits]
	}
	if b := &c.slices[w.slice].booked; b.selected == 0 {
		return stateOf[b.cause]
	}
	return notSelected
}
