package core

import "math/bits"

// policies are the warp scheduling policies of fetch and issue. To add one, write a function, best in a file of its
// own, and add a row here.
var policies = [...]struct {
	name            string
	schedule, issue chooser
}{
	{"vortex", lowest, cyclic},
	{"rr", roundRobin, roundRobin},
	{"gto", greedyFetch, greedyThenOldest},
	{"two-level", twoLevel, twoLevel},
}

// chooser picks a warp of the non-empty set v.ready; -1 means that the policy admits none of them. It is called only
// when the picked warp can proceed. Called again with the same sets, it must return the same and leave the same state.
type chooser func(s *selector, v view) int

// selector is a place where warps are chosen: the fetch stage, or an issue slice.
type selector struct {
	choose               chooser
	first, stride, warps int    // its warps are first, first+stride, … below warps
	next                 int    // the warp after the one chosen last
	chosen               int    // the warp chosen last
	greedy               int    // gto at fetch: the warp with precedence
	active               uint64 // two-level: the active set
	size                 int    // two-level: of the active set
	launched             *launchOrder
}

// launchOrder is the order in which a core's warps were launched.
type launchOrder struct {
	rank    [64]uint32 // by warp: larger is later; 0: never
	last    uint32     // the largest
	ever    uint64     // the warps that have been launched
	turning bool       // from warp first on, and after the last from warp 0 on, each was launched after the one before
	first   int
}

// launch notes the launch of warp w. Warps are usually launched in the order of their numbers, which saves comparing
// ranks.
func (o *launchOrder) launch(w int) {
	o.last++
	o.rank[w] = o.last
	o.ever |= 1 << w
	turns, before := 0, uint32(0)
	o.first = 0
	for i, rank := range o.rank {
		if rank == 0 {
			continue
		}
		if rank < before {
			turns++
			o.first = i
		}
		before = rank
	}
	o.turning = turns == 0 || turns == 1 && before < o.rank[bits.TrailingZeros64(o.ever)]
}

// oldest returns the warp of a non-empty set that was launched first.
func (o *launchOrder) oldest(set uint64) int {
	if o.turning {
		if later := set >> o.first; later != 0 {
			return o.first + bits.TrailingZeros64(later)
		}
		return bits.TrailingZeros64(set)
	}
	oldest := bits.TrailingZeros64(set)
	for m := set & (set - 1); m != 0; m &= m - 1 {
		if w := bits.TrailingZeros64(m); o.rank[w] < o.rank[oldest] {
			oldest = w
		}
	}
	return oldest
}

// view is the input of a policy: sets of warps.
type view struct {
	ready uint64 // can be chosen
	away  uint64 // will not be ready soon: ended, held by a barrier, or waiting for memory or a graph unit
	idle  uint64 // without an instruction
}

func newSelector(choose chooser, size, first, stride, warps int, launched *launchOrder) selector {
	return selector{choose: choose, size: size, first: first, stride: stride, warps: warps, next: first, chosen: first,
		launched: launched}
}

// pick asks the policy for a warp; -1: none.
func (s *selector) pick(v view) int {
	w := s.choose(s, v)
	if w < 0 {
		return w
	}
	s.chosen = w
	if s.next = w + s.stride; s.next >= s.warps {
		s.next = s.first
	}
	return w
}

// lowest is the RTL's policy at fetch: fixed priority.
func lowest(_ *selector, v view) int { return bits.TrailingZeros64(v.ready) }

// cyclic is the RTL's policy at issue (VX_cyclic_arbiter): the preference rotates; if the preferred warp is not ready,
// the lowest ready one is chosen.
func cyclic(s *selector, v view) int {
	if v.ready>>s.next&1 != 0 {
		return s.next
	}
	return bits.TrailingZeros64(v.ready)
}

// roundRobin chooses the next ready warp after the one chosen last.
func roundRobin(s *selector, v view) int {
	if later := v.ready >> s.next; later != 0 {
		return s.next + bits.TrailingZeros64(later)
	}
	return bits.TrailingZeros64(v.ready)
}

// greedyThenOldest stays with a warp until it is not ready, then chooses the one launched first (Rogers et al., MICRO
// 2012, §4).
func greedyThenOldest(s *selector, v view) int {
	if v.ready>>s.chosen&1 != 0 {
		return s.chosen
	}
	return s.launched.oldest(v.ready)
}

// greedyFetch is greedyThenOldest for fetch, where a chosen warp is never ready in the next cycle: it keeps its
// precedence until it is away.
func greedyFetch(s *selector, v view) int {
	if v.away>>s.greedy&1 != 0 {
		s.greedy = s.launched.oldest(v.ready)
	}
	if v.ready>>s.greedy&1 != 0 {
		return s.greedy
	}
	return s.launched.oldest(v.ready)
}

// twoLevel takes the warps of a small active set in turn (Gebhart et al., ISCA 2011, §4.1). A warp leaves the set on a
// long stall, and a ready one replaces it. If no warp of the set can go, those without an instruction leave too:
// otherwise they could wait for fetch while fetch waits for a warp outside the set whose buffer is full.
func twoLevel(s *selector, v view) int {
	s.active &^= v.away
	if s.active&v.ready == 0 {
		s.active &^= v.idle
	}
	for out := v.ready &^ s.active; out != 0 && bits.OnesCount64(s.active) < s.size; out = v.ready &^ s.active {
		s.active |= 1 << roundRobin(s, view{ready: out})
	}
	if v.ready &= s.active; v.ready == 0 {
		return -1
	}
	return roundRobin(s, v)
}
