package core

import (
	"math/bits"

	"heddle/components/queue"
)

// groups is the two-level scoreboard arbiter of a slice with many warps (RTL: stream_arb with more inputs than 1.5
// MAX_FANOUT): a buffered arbiter for each group of eight, and one behind them.
type groups struct {
	of       []group
	next     int    // the group preferred next
	owed     int    // instructions selected and not yet booked as issued
	selected uint64 // groups with a selected instruction
}

// group is the warps of one first-level arbiter.
type group struct {
	members  uint64
	selector selector
	selected buffer
}

// groupSize is the RTL's MAX_FANOUT.
const groupSize = 8

// build creates the groups of slice i, if its arbiter has two levels. g must not move afterwards, as buffers point to
// its sets. Policies other than the RTL's choose among all warps of the slice.
func (g *groups) build(s *Spec, i int, of *queue.Owner, in string, launched *launchOrder) {
	n := s.Warps / s.Issue.Slices
	if levels(n) == 0 || s.Issue.Policy != 0 {
		return
	}
	for first := 0; first < n; first += groupSize {
		last := min(n, first+groupSize)
		one := group{selected: queue.New[flightID](2*s.Issue.Dispatch, of, in+"selected")}
		for k := first; k < last; k++ {
			one.members |= 1 << (k*s.Issue.Slices + i)
		}
		one.selector = newSelector(policies[s.Issue.Policy].issue, 0, first*s.Issue.Slices+i, s.Issue.Slices,
			last*s.Issue.Slices, launched)
		one.selected.Flag(&g.selected, len(g.of))
		g.of = append(g.of, one)
	}
}

// issueGroups issues from a slice with groups. Several groups can select in one cycle; the selected instructions are
// booked as issued at the rate at which they leave.
func (sl *slice) issueGroups(now uint64) {
	g := &sl.groups
	if g.selected != 0 {
		sl.join(now)
	}
	ready := sl.ready & sl.members
	if ready == 0 && g.owed == 0 {
		sl.bookIssue(cycle{cause: sl.heldUp(0, now)}, now)
		return
	}
	b := cycle{ready: uint8(bits.OnesCount64(ready)), cause: sl.heldUp(ready, now)}
	if ready != 0 {
		b.selected = sl.selectWarps(now)
		g.owed += int(b.selected)
	}
	if g.owed > 0 {
		n := min(g.owed, sl.spec.Issue.Dispatch)
		b.issued = uint8(n)
		g.owed -= n
		sl.moved = true // the next cycle books something else, so the core must not sleep
	}
	sl.bookIssue(b, now)
}

// join moves selected instructions on, from the preferred group or else the lowest.
func (sl *slice) join(now uint64) {
	g := &sl.groups
	for range sl.spec.Issue.Dispatch {
		if g.selected == 0 || sl.issued.Closed(now) {
			return
		}
		from := g.next
		if g.selected>>from&1 == 0 {
			from = bits.TrailingZeros64(g.selected)
		}
		sl.issued.Push(g.of[from].selected.Take(now), now+1)
		if g.next = from + 1; g.next == len(g.of) {
			g.next = 0
		}
		sl.moved = true
	}
}

// heldUp returns the cause for which the slice issues no more.
func (sl *slice) heldUp(ready uint64, now uint64) cause {
	if ready != 0 || sl.issued.Closed(now) {
		return sl.backPressure(now)
	}
	return sl.nothingReady()
}

// selectWarps selects warps of each group and returns their number.
func (sl *slice) selectWarps(now uint64) (n uint8) {
	if sl.groups.selected == 0 && sl.bypassOpen() {
		if i := sl.groups.only(sl.ready & sl.members); i >= 0 {
			sl.selectAlone(i, now)
			return 1
		}
	}
	for i := range sl.groups.of {
		g := &sl.groups.of[i]
		for range sl.spec.Issue.Dispatch {
			ready := sl.ready & g.members
			if ready == 0 || g.selected.Closed(now) {
				break
			}
			g.selected.Push(sl.issueWarp(sl, g.selector.pick(view{ready: ready}), now))
			n++
		}
	}
	return n
}

// only returns the group that all of these warps belong to, or -1.
func (g *groups) only(warps uint64) int {
	for i := range g.of {
		if members := g.of[i].members; warps&members != 0 {
			if warps&^members != 0 {
				return -1
			}
			return i
		}
	}
	return -1
}

// selectAlone selects a warp of group i when no other group has one: nothing keeps its instruction from being joined in
// the next cycle.
func (sl *slice) selectAlone(i int, now uint64) {
	gs := &sl.groups
	g := &gs.of[i]
	id := sl.issueWarp(sl, g.selector.pick(view{ready: sl.ready & g.members}), now)
	if !sl.passIssued(id, now) {
		g.selected.Push(id)
	} else if gs.next = i + 1; gs.next == len(gs.of) {
		gs.next = 0
	}
}
