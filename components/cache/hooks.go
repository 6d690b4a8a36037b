package cache

import (
	"github.com/sarchlab/akita/v3/sim"

	"heddle/components/mem"
)

// Positions at which a cache calls its hooks, with a *HookEvent as the item. A cache without hooks pays one comparison.
var (
	HookPosRequest  = &sim.HookPos{Name: "cache request"}  // taken from a port
	HookPosResponse = &sim.HookPos{Name: "cache response"} // given to a port
	HookPosMemory   = &sim.HookPos{Name: "cache memory"}   // sent to the next level
)

// HookEvent is a message at a hook position. It is valid only during the call.
type HookEvent struct {
	Cycle   uint64
	Port    int         // of requests and responses
	Request mem.Request // of a response, only the tag
}

// hook calls the hooks, if there are any.
func (c *Cache) hook(pos *sim.HookPos, port int, r mem.Request) {
	if c.NumHooks() != 0 {
		c.callHooks(pos, port, r)
	}
}

func (c *Cache) callHooks(pos *sim.HookPos, port int, r mem.Request) {
	c.event = HookEvent{c.ClockHandle().Domain().Cycle(), port, r}
	c.InvokeHook(sim.HookCtx{Domain: c, Pos: pos, Item: &c.event})
}
