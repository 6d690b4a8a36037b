package weaver

import (
	"fmt"
	"math/bits"
	"strings"

	"heddle/components/accel"
)

// Stats are the counters of a Weaver. In functional execution the times stay 0.
type Stats struct {
	Registrations    uint64 `stat:"registrations" unit:"entries" doc:"Entries registered by weaver.reg."`
	DegreeRegistered uint64 `stat:"edges.registered" unit:"edges" doc:"Sum of their degrees; together edges.issued, edges.dropped, edges.abandoned and what is left in the tables."`
	LanesFilled      uint64 `stat:"edges.issued" unit:"edges" doc:"Edges given to lanes: lanes filled."`
	EdgesDropped     uint64 `stat:"edges.dropped" unit:"edges" doc:"Edges dropped by weaver.skip."`
	Abandoned        uint64 `stat:"edges.abandoned" unit:"edges" doc:"Edges that a launch found in the tables, and forgot."`

	Decodes        uint64 `stat:"decode.requests" unit:"requests" doc:"Answers to weaver.dec.id: the three sorts of batches together."`
	BatchesFull    uint64 `stat:"batches.full" unit:"batches" doc:"Every active lane got an edge."`
	BatchesPartial uint64 `stat:"batches.partial" unit:"batches" doc:"Some active lanes got an edge."`
	BatchesEmpty   uint64 `stat:"batches.empty" unit:"batches" doc:"No lane got an edge."`
	SkipHits       uint64 `stat:"skip.hits" unit:"requests" doc:"Skips that found their vertex being decoded."`
	SkipMisses     uint64 `stat:"skip.misses" unit:"requests" doc:"Skips that did not."`

	RowsRead   uint64        `stat:"table.st_rows" unit:"rows" doc:"Rows of the ST read, prefetched ones included."`
	LocReads   uint64        `stat:"table.dt_rows" unit:"rows" doc:"Rows of the DT read by weaver.dec.loc."`
	Cycles     uint64        `stat:"cycles" unit:"cycles" doc:"Cycles counted: those of all states together, and of all queue lengths."`
	States     States        `stat:"state" unit:"cycles" doc:"Cycles in each state of the FSM (SparseWeaver Fig. 6)."`
	Queue      accel.Lengths `stat:"queue" unit:"cycles" doc:"Cycles by requests in the queue."`
	QueueFull  uint64        `stat:"queue.refused" unit:"cycles" doc:"Cycles the core's SFU held a request that the full queue did not take."`
	DecodeWait uint64        `stat:"decode.wait" unit:"warp-cycles" doc:"From a weaver.dec.id's entering the queue until its answer leaves, summed over requests."`
}

// States counts cycles by state of the FSM.
type States [numStates]uint64

// Describe returns the name and the description of a state's statistic.
func (*States) Describe(i int) (name, doc string) {
	return strings.Replace(S(i).String(), " ", "_", 1), stateDocs[i]
}

// CheckInvariants returns an error if the counts contradict each other. It may be called at any time.
func (s *State) CheckInvariants() error {
	out := s.LanesFilled + s.EdgesDropped + s.Abandoned + s.left()
	if s.DegreeRegistered != out {
		return fmt.Errorf("weaver: %d edges registered, but %d issued + %d dropped + %d abandoned + %d left = %d",
			s.DegreeRegistered, s.LanesFilled, s.EdgesDropped, s.Abandoned, s.left(), out)
	}
	if n := s.BatchesFull + s.BatchesPartial + s.BatchesEmpty; s.Decodes != n {
		return fmt.Errorf("weaver: %d decode requests answered, but %d batches", s.Decodes, n)
	}
	if n := sum(s.States[:]); s.Cycles != n {
		return fmt.Errorf("weaver: %d cycles, but its states have %d", s.Cycles, n)
	}
	return nil
}

func sum(a []uint64) (n uint64) {
	for _, v := range a {
		n += v
	}
	return n
}

// left returns the number of edges registered and neither distributed nor dropped.
func (s *State) left() uint64 {
	n := uint64(s.ced.Deg) + uint64(bits.OnesCount32(s.filled))
	for i := s.Next(); i >= 0; i = s.next(i + 1) {
		n += uint64(s.st[i].Deg)
	}
	return n
}
