package core

import "math/bits"

// groups is the scoreboard's arbiter of a slice with many warps (RTL: stream_arb with more
// inputs than 1.5 MAX_FANOUT): an arbiter for each group of eight, with a buffer of
// its own, and one behind them.
type groups struct {
	of   []group
	next int // the group that is preferred, if it has something
	owed int // instructions selected that are not booked as issued yet
}

// group is the warps of one first-level arbiter.
type group struct {
	members  uint64
	selector selector
	selected queue[inst]
}

// groupSize is RTL's MAX_FANOUT.
const groupSize = 8

// newGroups makes the groups of slice i, if its arbiter has two levels. Policies other than the
// RTL's choose among all the slice's warps.
func (c *Core) newGroups(i int) (g groups) {
	s := &c.spec
	n := s.Warps / s.Issue.Slices
	if levels(n) == 0 || s.Issue.Policy != 0 {
		return g
	}
	for first := 0; first < n; first += groupSize {
		last := min(n, first+groupSize)
		one := group{selected: newQueue[inst](2*s.Issue.Dispatch, &c.self, "selected")}
		for k := first; k < last; k++ {
			one.members |= 1 << (k*s.Issue.Slices + i)
		}
		one.selector = newSelector(policies[s.Issue.Policy].issue, 0, first*s.Issue.Slices+i, s.Issue.Slices, last*s.Issue.Slices, &c.started)
		g.of = append(g.of, one)
	}
	return g
}

// issueGroups is issue for a slice with groups. Several can select in a cycle; what they
// select is booked as issued at the rate at which it leaves.
func (c *Core) issueGroups(sl *slice, now uint64) {
	c.join(sl, now)
	b := &sl.booked
	*b = cycle{ready: uint8(bits.OnesCount64(c.ready & sl.members)), cause: c.heldUp(sl, now)}
	for i := range sl.groups.of {
		b.selected += c.selectFrom(&sl.groups.of[i], now)
	}
	sl.groups.owed += int(b.selected)
	b.issued = uint8(min(sl.groups.owed, c.spec.Issue.Dispatch))
	sl.groups.owed -= int(b.issued)
	c.moved = c.moved || b.issued > 0 // what is booked now is not what a sleeper repeats
}

// join lets the groups' selections through, the preferred group's or else the lowest's.
func (c *Core) join(sl *slice, now uint64) {
	g := &sl.groups
	for range c.spec.Issue.Dispatch {
		from := g.next
		for i := 0; !g.of[from].selected.ready(now); i++ {
			if i == len(g.of) {
				return
			}
			from = i
		}
		if sl.issued.closed(now) {
			return
		}
		sl.issued.push(g.of[from].selected.take(now), now+1)
		if g.next = from + 1; g.next == len(g.of) {
			g.next = 0
		}
		c.moved = true
	}
}

// heldUp is why the slice issues no more than it does.
func (c *Core) heldUp(sl *slice, now uint64) cause {
	if sl.issued.closed(now) || c.ready&sl.members != 0 {
		return c.backPressure(sl, now)
	}
	return c.nothingReady(sl)
}

// selectFrom selects warps of one group and returns how many.
func (c *Core) selectFrom(g *group, now uint64) (n uint8) {
	for range c.spec.Issue.Dispatch {
		ready := c.ready & g.members
		if ready == 0 || g.selected.closed(now) {
			return n
		}
		c.issueWarp(&g.selected, g.selector.pick(view{ready: ready}), now, now+1)
		n++
	}
	return n
}
