package core

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"heddle/isa"
)

// Counts returns the counts up to the core's last cycle.
func (c *Core) Counts() Stats {
	c.settleAll()
	return c.Stats
}

// Waits describes, for every warp that has not ended, its position and the reason of its wait, and the contents of the
// load-store unit.
func (c *Core) Waits() (out []string) {
	for m := c.source.Active(); m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		out = append(out, fmt.Sprintf("%s warp %d: %s", c.Name(), i, c.wait(i)))
	}
	switch c.sync.state {
	case syncNone:
	case syncSignal:
		out = append(out, c.Name()+": tells the other cores that it is at a barrier")
	default:
		out = append(out, c.Name()+": waits for the end of all it has sent, and for its L1s to forget their lines")
	}
	l := &c.lsu
	if !l.idle() {
		out = append(out, fmt.Sprintf("%s load-store unit: %d loads outstanding, %d of %d batches free, %d in its queue, "+
			"fence %v",
			c.Name(), l.loads, len(l.coalescer.free), len(l.coalescer.tags), l.requests.Len(), l.fence))
	}
	return out
}

// Where returns the next program counters of the warps that have not ended, grouped by address.
func (c *Core) Where() (out []string) {
	at := map[uint32][]string{}
	for m := c.source.Active(); m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		pc := c.warps[i].trace.PC()
		at[pc] = append(at[pc], strconv.Itoa(i))
	}
	for _, pc := range slices.Sorted(maps.Keys(at)) {
		out = append(out, fmt.Sprintf("%s: next pc 0x%08x: warps %s", c.Name(), pc, strings.Join(at[pc], " ")))
	}
	return out
}

// wait describes one warp.
func (c *Core) wait(i int) string {
	w := &c.warps[i]
	where := fmt.Sprintf("next pc 0x%08x, %d instructions in flight", w.trace.PC(), w.pending)
	switch {
	case w.trace.Waiting():
		return w.trace.DescribeWait()
	case w.issueHead != nil && w.board.wanted&w.board.all != 0:
		return fmt.Sprintf("%s: %s waits for %s", where, w.issueHead.Text(w.trace.PC()),
			registerNames(w.board.wanted&w.board.all))
	case w.issueHead != nil && w.board.waits == waitsUnit:
		return fmt.Sprintf("%s: %s waits for the graph unit to answer an earlier request", where,
			w.issueHead.Text(w.trace.PC()))
	case w.issueHead != nil:
		return fmt.Sprintf("%s: %s waits to issue", where, w.issueHead.Text(w.trace.PC()))
	case c.stalled>>i&1 != 0:
		return where + ": waits for an instruction, or for control to be resolved"
	}
	return where
}

func registerNames(set uint64) string {
	s := ""
	for ; set != 0; set &= set - 1 {
		s += " " + isa.Reg(bits.TrailingZeros64(set)).String()
	}
	return s[1:]
}
