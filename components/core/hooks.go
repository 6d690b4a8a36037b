package core

import (
	"github.com/sarchlab/akita/v3/sim"

	"heddle/isa/emu"
)

// Positions at which a core calls its hooks, with a *HookEvent as the item. A core without hooks pays one comparison.
var (
	HookPosFetch    = &sim.HookPos{Name: "core fetch"}    // sent to the instruction cache
	HookPosDecode   = &sim.HookPos{Name: "core decode"}   // entered the instruction buffer
	HookPosStage    = &sim.HookPos{Name: "core stage"}    // moved from the buffer to the scoreboard
	HookPosIssue    = &sim.HookPos{Name: "core issue"}    // passed the scoreboard
	HookPosDispatch = &sim.HookPos{Name: "core dispatch"} // sent to a unit with its operands
	HookPosExecute  = &sim.HookPos{Name: "core execute"}  // the unit took its last packet
	// to the memory system; or an answered request to the graph unit
	HookPosMemory  = &sim.HookPos{Name: "core memory"}
	HookPosDiscard = &sim.HookPos{Name: "core discard"} // trapped, or behind a trap; without Op: fetched, not decoded
	HookPosCommit  = &sim.HookPos{Name: "core commit"}  // written back; of a load, its last part
)

// WriteBack is the number of cycles from commit until an instruction counts as done.
const WriteBack = commitToRelease

// HookEvent is an instruction at a hook position. It is valid only during the call.
type HookEvent struct {
	Cycle uint64
	Warp  int
	Op    *emu.Op // nil: at fetch, before decode
	PC    uint32  // at fetch, decode and discard without Op
	Mask  uint32  // at decode: its active lanes, as nothing behind unresolved control is fetched
}

// AcceptHook registers a hook at the positions above.
func (c *Core) AcceptHook(h sim.Hook) {
	c.Base.AcceptHook(h)
	c.hooks = c.invoke
}

// invoke calls the hooks, except for packets and partial results.
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

// NumWarps returns the core's number of warps.
func (c *Core) NumWarps() int { return len(c.warps) }

// WarpState returns the state of warp i after the core's last cycle, as the name of the statistic that counts such
// cycles; empty: the warp is not active. For a warp that was at the scoreboard before that cycle and was not issued, it
// is the state that the cycle was booked under.
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
	}{{c.atBarrier, atBarrier}, {c.atIssue, c.stagedState(i)}, {c.fenced, membar}, {c.awaitingUnit, unitWait},
		{c.branching, branchResolving}} {
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
