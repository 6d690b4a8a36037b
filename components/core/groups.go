package core

import "math/bits"

// groups is the scoreboard's arbiter of a slice with many warps (RTL: stream_arb with more
// inputs than 1.5 MAX_FANOUT): an arbiter for each group of eight, with a buffer of
// its own, and one behind them.
type groups struct {
	of       []group
	next     int    // the group that is preferred, if it has something
	owed     int    // instructions selected that are not booked as issued yet
	selected uint64 // groups with a selected instruction
}

// group is the warps of one first-level arbiter.
type group struct {
	members  uint64
	selector selector
	selected buffer
}

// groupSize is RTL's MAX_FANOUT.
const groupSize = 8

// newGroups makes the groups of slice i, if its arbiter has two levels. Policies other than the
// RTL's choose among all the slice's warps.
func newGroups(s *Spec, i int, of *owner, in string, started *[64]uint32) (g groups) {
	n := s.Warps / s.Issue.Slices
	if levels(n) == 0 || s.Issue.Policy != 0 {
		return g
	}
	for first := 0; first < n; first += groupSize {
		last := min(n, first+groupSize)
		one := group{selected: newBuffer(2*s.Issue.Dispatch, 0, of, in+"selected")}
		for k := first; k < last; k++ {
			one.members |= 1 << (k*s.Issue.Slices + i)
		}
		one.selector = newSelector(policies[s.Issue.Policy].issue, 0, first*s.Issue.Slices+i, s.Issue.Slices, last*s.Issue.Slices, started)
		g.of = append(g.of, one)
	}
	return g
}

// issueGroups is issue for a slice with groups. Several can select in a cycle; what they
// select is booked as issued at the rate at which it leaves.
func (sl *slice) issueGroups(now uint64) {
	g := &sl.groups
	if g.selected != 0 {
		sl.join(now)
	}
	ready := sl.ready & sl.members
	b := cycle{ready: uint8(bits.OnesCount64(ready)), cause: sl.heldUp(ready, now)}
	if ready != 0 {
		b.selected = sl.selectWarps(now)
		g.owed += int(b.selected)
	}
	if g.owed > 0 {
		n := min(g.owed, sl.spec.Issue.Dispatch)
		b.issued = uint8(n)
		g.owed -= n
		sl.moved = true // what is booked now is not what a sleeper repeats
	}
	sl.did(b)
}

// join lets the groups' selections through, the preferred group's or else the lowest's.
func (sl *slice) join(now uint64) {
	g := &sl.groups
	for range sl.spec.Issue.Dispatch {
		if g.selected == 0 || sl.issued.closed(now) {
			return
		}
		from := g.next
		if g.selected>>from&1 == 0 {
			from = bits.TrailingZeros64(g.selected)
		}
		b := &g.of[from].selected
		id := b.take(now)
		if b.n == 0 {
			g.selected &^= 1 << from
		}
		sl.all[id].at = now + 1
		sl.put(&sl.issued, id)
		if g.next = from + 1; g.next == len(g.of) {
			g.next = 0
		}
		sl.moved = true
	}
}

// heldUp is why the slice issues no more than it does.
func (sl *slice) heldUp(ready uint64, now uint64) cause {
	if ready != 0 || sl.issued.closed(now) {
		return sl.backPressure(now)
	}
	return sl.nothingReady()
}

// selectWarps selects warps of each group and returns how many.
func (sl *slice) selectWarps(now uint64) (n uint8) {
	for i := range sl.groups.of {
		g := &sl.groups.of[i]
		for range sl.spec.Issue.Dispatch {
			ready := sl.ready & g.members
			if ready == 0 || g.selected.closed(now) {
				break
			}
			g.selected.put(sl.issueWarp(sl, g.selector.pick(view{ready: ready}), now))
			sl.groups.selected |= 1 << i
			n++
		}
	}
	return n
}
