package accel

import (
	"fmt"

	"heddle/components/clock"
)

// MaxQueue is the most requests that may wait for a unit.
const MaxQueue = 64

// Lengths counts cycles by length of a unit's queue.
type Lengths [MaxQueue + 1]uint64

// Describe returns the name of a length's statistic, and what it says.
func (*Lengths) Describe(i int) (name, doc string) {
	return fmt.Sprintf("length_%02d", i), fmt.Sprintf("Cycles with %d requests in the queue.", i)
}

// queue counts what happens at a queue, whether its ends are awake or not. In
// what order they move within a cycle does not matter.
type queue struct {
	n       int
	last    clock.Cycle // counted up to here
	lengths Lengths
	refused clock.Cycle // since when a request is held in front of it; Never: none is
	held    uint64
}

func (q *queue) settle(now clock.Cycle) {
	q.lengths[q.n] += now - q.last
	q.last = now
}

func (q *queue) enter(now clock.Cycle) {
	q.settle(now)
	q.n++
	if q.refused != clock.Never {
		q.held += now - q.refused
		q.refused = clock.Never
	}
}

func (q *queue) leave(now clock.Cycle) {
	q.settle(now)
	q.n--
}

func (q *queue) refuse(now clock.Cycle) { q.refused = min(q.refused, now) }
