package cache

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"

	"heddle/components/probe"
)

var (
	kindNames = [...]string{bubble: "none", creq: "request", replayed: "replay", fill: "fill", passed: "passed",
		flushSet: "flush"}
	flushNames = [...]string{flushIdle: "idle", flushMSHR: "mshr", flushWalk: "walk", flushEmpty: "empty",
		flushDone: "done"}
)

// Signals returns the signals of the cache: pending requests, and each bank's stages and queues.
func (c *Cache) Signals() (l probe.List) {
	c.trailing.Observe()
	most := arbiterEntries*len(c.shared) + 4*c.spec.Banks*(c.spec.MSHRs+c.spec.RequestQueue+
		c.spec.ResponseQueue+c.spec.MemoryQueue+1)
	l.Count("pending", most, c.Pending)
	for i, b := range c.banks {
		l = append(l, b.signals().Under(fmt.Sprintf("bank%d", i))...)
	}
	return l
}

func (b *bank) signals() (l probe.List) {
	l.Count("mshrs", len(b.mshr.entries), func() int { return b.mshr.used })
	l.State("st0", kindNames[:], func() int { return int(b.st0.kind) })
	l.State("st1", kindNames[:], func() int { return int(b.st1.kind) })
	l.State("flush", flushNames[:], func() int { return int(b.flush.state) })
	l.Count("responses", b.rsp.Capacity(), func() int { return b.rsp.Len() })
	l.Hide()
	l.Count("memory", b.mreq.Capacity(), func() int { return b.mreq.Len() })
	l.Hide()
	return l
}

// Kinds returns the kinds of the cache's events.
func (*Cache) Kinds() []probe.Kind {
	return []probe.Kind{
		{Name: "request", Doc: "a request is taken from a port"},
		{Name: "response", Doc: "an answer goes to a port"},
		{Name: "memory", Doc: "a request goes to the next level"},
		{Name: "miss", Doc: "a request does not find its line, and asks for it"},
		{Name: "merge", Doc: "a request does not find its line, which has been asked for"},
		{Name: "fill", Doc: "a line comes in"},
		{Name: "evict", Doc: "a line goes out for one that comes in"},
	}
}

// Watch makes the cache report its events to the observer. Those at the ports come from a hook.
func (c *Cache) Watch(to probe.Watch) {
	c.AcceptHook(&ports{to})
	for _, b := range c.banks {
		b.watch = to
	}
}

// ports is a hook that reports messages at the ports.
type ports struct{ watch probe.Watch }

// Func implements sim.Hook.
func (p *ports) Func(ctx sim.HookCtx) {
	e, ok := ctx.Item.(*HookEvent)
	switch {
	case !ok:
	case ctx.Pos == HookPosRequest:
		p.watch("request", -1, "port %d: %s %08x", e.Port, e.Request.Op, e.Request.Addr)
	case ctx.Pos == HookPosResponse:
		p.watch("response", -1, "port %d: tag %x", e.Port, e.Request.Tag)
	case ctx.Pos == HookPosMemory:
		p.watch("memory", -1, "%s %08x", e.Request.Op, e.Request.Addr)
	}
}

// tell reports a request in stage 1.
func (b *bank) tell(kind string, op *operation) {
	b.watch(kind, -1, "bank %d: %s %08x, of port %d", b.id, op.mem.Op, op.mem.Addr, op.port)
}

// tellFill reports the arrival of a line, and the evictions for it.
func (b *bank) tellFill(op *operation, out []victim) {
	b.watch("fill", -1, "bank %d: line %08x", b.id, op.line<<b.lineShift)
	for _, v := range out {
		how := "clean"
		if v.dirty {
			how = "dirty"
		}
		b.watch("evict", -1, "bank %d: line %08x, %s", b.id, v.line<<b.lineShift, how)
	}
}
