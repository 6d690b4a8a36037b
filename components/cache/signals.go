package cache

import (
	"fmt"

	"heddle/components/probe"
)

var (
	kindNames  = [...]string{bubble: "none", creq: "request", replayed: "replay", fill: "fill", passed: "passed", flushSet: "flush"}
	flushNames = [...]string{flushIdle: "idle", flushMSHR: "mshr", flushWalk: "walk", flushEmpty: "empty", flushDone: "done"}
)

// Signals are what the cache shows: what is pending, and each bank's two stages.
func (c *Cache) Signals() (l probe.List) {
	most := 4 * c.spec.Banks * (c.spec.MSHRs + c.spec.RequestQueue + c.spec.ResponseQueue + c.spec.MemoryQueue + 1)
	l.Count("pending", most, c.Pending)
	for i, b := range c.banks {
		l = append(l, b.signals().Under(fmt.Sprintf("bank%d", i))...)
	}
	return l
}

func (b *bank) signals() (l probe.List) {
	l.Count("mshrs", len(b.mshr.state), func() int { return b.mshr.used })
	l.State("st0", kindNames[:], func() int { return int(b.st0.kind) })
	l.State("st1", kindNames[:], func() int { return int(b.st1.kind) })
	l.State("flush", flushNames[:], func() int { return int(b.flush.state) })
	l.Count("responses", len(b.rsp.ring), func() int { return b.rsp.n })
	l.Hide()
	l.Count("memory", len(b.mreq.ring), func() int { return b.mreq.n })
	l.Hide()
	return l
}
