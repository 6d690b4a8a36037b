package accel

import (
	"fmt"

	"heddle/components/clock"
	"heddle/components/count"
)

// MaxQueue is the largest number of requests that may wait for a unit.
const MaxQueue = 64

// Lengths counts cycles by length of a unit's queue.
type Lengths [MaxQueue + 1]uint64

// Describe returns the name and the description of a length's statistic.
func (*Lengths) Describe(i int) (name, doc string) {
	return fmt.Sprintf("length_%02d", i), fmt.Sprintf("Cycles with %d requests in the queue.", i)
}

// queue counts the states of a queue whether or not its ends are awake. The order of their actions within a cycle does
// not matter.
type queue struct {
	length  count.By
	lengths Lengths
	held    count.Span // a request in front of it
}

func (q *queue) enter(now clock.Cycle) {
	q.length.Set(q.lengths[:], q.length.Is()+1, now)
	q.held.Set(false, now)
}

func (q *queue) leave(now clock.Cycle) { q.length.Set(q.lengths[:], q.length.Is()-1, now) }

func (q *queue) refuse(now clock.Cycle) { q.held.Set(true, now) }

func (q *queue) settle(now clock.Cycle) {
	q.length.Settle(q.lengths[:], now)
	q.held.Settle(now)
}
