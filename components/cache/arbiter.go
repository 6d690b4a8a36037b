package cache

import "math/bits"

// arbiter is the RTL's round-robin arbiter ("R"): after a grant the next index has the highest priority, initially
// index 0.
type arbiter struct{ next uint }

// pick returns the requester to serve; there must be one. Only grant advances the arbiter: a requester that is not
// served is picked again.
func (a *arbiter) pick(requests uint64) int {
	if later := requests >> (a.next & 63) << (a.next & 63); later != 0 {
		return first(later)
	}
	return first(requests)
}

func (a *arbiter) grant(i int) { a.next = uint(i+1) & 63 }

// maxPorts is the number of members of a set, which is one word.
const maxPorts = 64

// bit returns the set with the one member i.
func bit(i int) uint64 { return 1 << (uint(i) & (maxPorts - 1)) }

// first returns the lowest member of a set, which must not be empty.
func first(set uint64) int { return bits.TrailingZeros64(set) & (maxPorts - 1) }
