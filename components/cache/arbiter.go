package cache

import "math/bits"

// arbiter is the RTL's round robin ("R"): after a grant the next index is looked
// at first. It starts with index 0.
type arbiter struct{ next uint }

// pick returns the requester that is served; there must be one. The arbiter moves
// on with grant only: one that is not taken is offered again.
func (a *arbiter) pick(requests uint64) int {
	if later := requests >> (a.next & 63) << (a.next & 63); later != 0 {
		return first(later)
	}
	return first(requests)
}

func (a *arbiter) grant(i int) { a.next = uint(i+1) & 63 }

// maxPorts is how many members a set has that is one word.
const maxPorts = 64

// bit is the set of one.
func bit(i int) uint64 { return 1 << (uint(i) & (maxPorts - 1)) }

// first returns the least of a set, which must not be empty.
func first(set uint64) int { return bits.TrailingZeros64(set) & (maxPorts - 1) }
