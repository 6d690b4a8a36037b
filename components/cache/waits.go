package cache

import "fmt"

// Waits describes the contents of the cache for reports of stuck machines: for each bank that is not at rest, the
// occupancy of its queues, and each MSHR in use with the reason of its wait.
func (c *Cache) Waits() (out []string) {
	c.trailing.End()
	if c.flush.state != noFlush {
		out = append(out, fmt.Sprintf("%s: a flush, banks done %b of %b", c.Name(), c.flush.done, c.allBanks))
	}
	for _, in := range c.shared {
		if n := in.buf.Len(); n > 0 {
			out = append(out, fmt.Sprintf("%s: %d of %d slots behind the arbiter of input %d taken", c.Name(), n,
				arbiterEntries, c.ports[in.port].in))
		}
	}
	for i, b := range c.banks {
		if b.atRest() && b.front.buffer.Len() == 0 {
			continue
		}
		line := fmt.Sprintf("%s bank %d: MSHRs %d of %d, responses %d of %d, to memory %d of %d",
			c.Name(), i, b.mshr.used, len(b.mshr.entries), b.rsp.Len(), b.rsp.Capacity(), b.mreq.Len(),
			b.mreq.Capacity())
		if c.buffered {
			line += fmt.Sprintf(", waiting %d of %d", b.front.buffer.Len(), b.front.buffer.Capacity())
		}
		out = append(out, line)
		out = append(out, b.mshr.describe(c.Name(), i, c.spec.lineShift())...)
	}
	return out
}

// atRest reports whether the bank holds nothing.
func (b *bank) atRest() bool {
	return b.mshr.used == 0 && b.rsp.Len() == 0 && b.mreq.Len() == 0 && !b.busy()
}

var entryWaits = [...]string{
	entryLookup: "is in the pipeline", entryHead: "waits for its line",
	entryJoined: "waits for a line that another asked for",
	entryPassed: "waits for the next level's answer", entryPerforming: "is an atomic under way",
}

func (m *mshr) describe(cache string, bank, lineShift int) (out []string) {
	for id := range m.entries {
		if r := &m.entries[id]; r.state != entryFree {
			out = append(out,
				fmt.Sprintf("%s bank %d MSHR %d: address 0x%08x, line 0x%08x, of port %d: %s", cache, bank, id,
					r.mem.Addr, r.line<<lineShift, r.port, entryWaits[r.state]))
		}
	}
	return out
}
