package core

import (
	"github.com/sarchlab/akita/v3/sim"

	"heddle/isa/emu"
)

// Where a core calls its hooks, with a *HookEvent as the item. A core without hooks pays a comparison.
var (
	HookPosDecode   = &sim.HookPos{Name: "core decode"}   // into the instruction buffer
	HookPosIssue    = &sim.HookPos{Name: "core issue"}    // past the scoreboard
	HookPosDispatch = &sim.HookPos{Name: "core dispatch"} // with its operands to a unit
	HookPosCommit   = &sim.HookPos{Name: "core commit"}   // written back; a load's last part
)

// HookEvent is an instruction at such a place. It is valid during the call only.
type HookEvent struct {
	Cycle uint64
	Warp  int
	Op    *emu.Op
}

// hook calls the hooks, if there are any.
func (c *Core) hook(pos *sim.HookPos, now uint64, warp uint8, op *emu.Op) {
	if c.NumHooks() == 0 || op == nil {
		return
	}
	c.event = HookEvent{now, int(warp), op}
	c.InvokeHook(sim.HookCtx{Domain: c, Pos: pos, Item: &c.event})
}
