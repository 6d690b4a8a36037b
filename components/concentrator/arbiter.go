package concentrator

import "math/bits"

// arbiter chooses among the requesters of a port.
type arbiter struct {
	policy Arbiter
	next   int // round robin: the requester with the highest priority
}

// pick returns the requester to serve; there must be one. It is picked again until grant.
func (a *arbiter) pick(requests uint64) int {
	if later := requests >> a.next; later != 0 {
		return a.next + bits.TrailingZeros64(later)
	}
	return bits.TrailingZeros64(requests)
}

func (a *arbiter) grant(i int) {
	if a.policy == RoundRobin {
		a.next = (i + 1) & (MaxRequesters - 1)
	}
}
