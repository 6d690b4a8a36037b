package dram

import "heddle/components/mem"

// Warm opens the rows of a cache line, as an access long ago would have.
func (m *Memory) Warm(op mem.Op, addr uint32, _ bool) {
	if op.Flushes() {
		return
	}
	first := uint64(addr/m.line) * uint64(m.bursts)
	for line := first; line < first+uint64(m.bursts); line++ {
		if c := m.channels[m.mapper.Channel(line)]; c.misses(line) {
			c.open(line, m.Place().Domain().After())
		}
	}
}

// Warm opens the rows of a line's pieces, as an access long ago would have.
func (h *Harness) Warm(op mem.Op, addr uint32, _ bool) {
	if op.Flushes() {
		return
	}
	for k := range uint64(harnessPieces) {
		line := uint64(addr/harnessLineBytes) + k
		if c := h.channels[h.mapper.Channel(line)]; c.misses(line) {
			c.open(line, h.Place().Domain().After())
		}
	}
}

// misses reports whether a line's row is not open.
func (c *Channel) misses(line uint64) bool {
	at := c.mapper.Map(line)
	return c.state.banks[at.Bank].row != at.Row
}

// open opens a line's row, unless the bank has something to do, or its rank is being refreshed. Rows of a DRAM that
// closes them, and of one without rows, stay closed.
func (c *Channel) open(line uint64, now uint64) {
	if c.spec.PagePolicy != OpenPage || c.spec.Standard == Ideal {
		return
	}
	at := c.mapper.Map(line)
	b := &c.state.banks[at.Bank]
	if b.claimed || b.queued != [numQueues]uint16{} || c.refreshes > 0 || b.rank.refreshed > now {
		return
	}
	if b.row == closedRow {
		b.rank.open++
	}
	b.row = at.Row
}
