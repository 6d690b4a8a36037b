package graphpeg

import (
	"fmt"

	"heddle/components/accel"
	"heddle/components/count"
)

// Stats are the counters of a GraphPEG. In functional execution the times stay 0.
type Stats struct {
	VerticesGathered uint64 `stat:"vertices.gathered" unit:"vertices" doc:"Vertices of the input list whose edges were fetched."`
	Degrees          uint64 `stat:"edges.degrees" unit:"edges" doc:"Sum of their degrees; with edges.received: edges popped, donated, abandoned, and what is left."`
	EdgesGathered    uint64 `stat:"edges.gathered" unit:"edges" doc:"Edges whose data has come into the edge buffer."`
	EdgesPopped      uint64 `stat:"edges.popped" unit:"edges" doc:"Edges given to lanes."`
	EdgesDonated     uint64 `stat:"edges.donated" unit:"edges" doc:"Edges cut off for other cores."`
	EdgesReceived    uint64 `stat:"edges.received" unit:"edges" doc:"Edges received from other cores."`
	EdgesAbandoned   uint64 `stat:"edges.abandoned" unit:"edges" doc:"Edges that a launch found in table and buffer, and forgot; in a replay also those that no warp asks for."`

	VerticesPopped    uint64 `stat:"vertices.popped" unit:"vertices" doc:"Vertices given to lanes in vertex-list mode."`
	VerticesPushed    uint64 `stat:"vertices.pushed" unit:"vertices" doc:"Vertices pushed to lists."`
	VerticesHost      uint64 `stat:"vertices.host" unit:"vertices" doc:"Vertices that the host has put into lists."`
	VerticesForgotten uint64 `stat:"vertices.forgotten" unit:"vertices" doc:"Vertices that were in lists when they were emptied."`
	VerticesGiven     uint64 `stat:"vertices.donated" unit:"vertices" doc:"Vertices of the output list given to other cores."`
	VerticesTaken     uint64 `stat:"vertices.received" unit:"vertices" doc:"Vertices received from other cores."`
	DonatedLists      uint64 `stat:"vertices.donations" unit:"donations" doc:"Times that vertices were given to other cores."`
	Spilled           uint64 `stat:"vertices.spilled" unit:"vertices" doc:"Vertices of lists that went to memory."`
	Refilled          uint64 `stat:"vertices.refilled" unit:"vertices" doc:"Vertices asked back from there."`

	PopsFull    uint64 `stat:"pops.full" unit:"pops" doc:"Pops in which every active lane got something."`
	PopsPartial uint64 `stat:"pops.partial" unit:"pops" doc:"Pops in which some did."`
	PopsEmpty   uint64 `stat:"pops.empty" unit:"pops" doc:"Pops in which none did: the end."`
	Gets        uint64 `stat:"gets" unit:"requests" doc:"peg.get answered."`
	Pushes      uint64 `stat:"pushes" unit:"requests" doc:"peg.push carried out."`

	PopWait    uint64     `stat:"pops.wait" unit:"warp-cycles" doc:"From a pop's reaching the unit until it is served, summed over pops."`
	StallShort count.Span `stat:"pops.stall_short" unit:"cycles" doc:"Cycles the oldest pop waited for edges or vertices of this core."`
	StallDone  count.Span `stat:"pops.stall_done" unit:"cycles" doc:"Cycles the oldest pop waited for other cores to end."`
	PushStalls count.Span `stat:"pushes.stalls" unit:"cycles" doc:"Cycles a push waited for room in its list, until a line had been spilled."`

	OffsetLines   uint64 `stat:"lines.offsets" unit:"lines" doc:"Lines of the vertex array requested."`
	EdgeLines     uint64 `stat:"lines.edges" unit:"lines" doc:"Lines of the edge array requested."`
	WeightLines   uint64 `stat:"lines.weights" unit:"lines" doc:"Lines of the weight array requested."`
	SpillLines    uint64 `stat:"lines.spilled" unit:"lines" doc:"Lines of lists written, or with spill vertex requests for that, and lines of vertices given away."`
	ExchangeLines uint64 `stat:"lines.exchanged" unit:"lines" doc:"Lines read to give vertices away, and to receive them."`
	LinesRead     uint64 `stat:"lines.read" unit:"lines" doc:"All lines requested: offsets, edges, weights, lists, exchanged ones."`
	LinesAnswered uint64 `stat:"lines.answered" unit:"lines" doc:"Of them, those that have come."`

	TLBRequests uint64     `stat:"tlb.requests" unit:"requests" doc:"Requests translated by the unit's TLB; 0 without one."`
	TLBMisses   uint64     `stat:"tlb.misses" unit:"requests" doc:"Walks to a page that it did not hold."`
	TLBWalks    count.Span `stat:"tlb.walks" unit:"cycles" doc:"Cycles with a walk under way."`

	Donations        uint64     `stat:"donations.given" unit:"donations" doc:"Pieces of entries cut off for other cores."`
	DonationsRefused uint64     `stat:"donations.refused" unit:"donations" doc:"Requests for a donation that found no edges in the table."`
	Receives         uint64     `stat:"donations.received" unit:"donations" doc:"Pieces from other cores that went into the table."`
	ReceivesHeld     count.Span `stat:"donations.held" unit:"cycles" doc:"Cycles that pieces from other cores waited for a free entry."`

	Cycles    uint64        `stat:"cycles" unit:"cycles" doc:"Cycles counted."`
	Statuses  Statuses      `stat:"alwt" unit:"entry-cycles" doc:"Entries of the table by status, summed over cycles."`
	Occupancy Occupancy     `stat:"alwt.used" unit:"cycles" doc:"Cycles by entries in use."`
	Queue     accel.Lengths `stat:"queue" unit:"cycles" doc:"Cycles by requests in the queue."`
	QueueFull uint64        `stat:"queue.refused" unit:"cycles" doc:"Cycles the core's SFU held a request that the full queue did not take."`
}

// Statuses counts entry-cycles by status.
type Statuses [numStatuses]uint64

// Describe returns the name and the description of a status's statistic.
func (*Statuses) Describe(i int) (name, doc string) {
	return statusNames[i], "Entry-cycles in status " + statusNames[i] + "."
}

// Occupancy counts cycles by entries in use; the last element is for more.
type Occupancy [66]uint64

// Describe returns the name and the description of a statistic.
func (o *Occupancy) Describe(i int) (name, doc string) {
	if i == len(o)-1 {
		return "more", fmt.Sprintf("Cycles with more than %d entries in use.", i-1)
	}
	return fmt.Sprintf("entries_%02d", i), fmt.Sprintf("Cycles with %d entries in use.", i)
}

// Settle books the cycles up to now, during which the unit did not change.
func (e *Engine) Settle(now uint64) {
	n := now - e.last
	if n == 0 {
		return
	}
	e.last = now
	e.Cycles += n
	e.entryTime += n * uint64(len(e.table.entries))
	for s, k := range e.table.count {
		e.Statuses[s] += n * uint64(k)
	}
	e.Occupancy[min(e.table.used(), len(e.Occupancy)-1)] += n
}

// waits records the stalls of the unit, from cycle now on.
func (e *Engine) waits(now uint64) {
	e.StallShort.Set(e.stalled == short, now)
	e.StallDone.Set(e.stalled == undone, now)
	e.PushStalls.Set(e.pushHeld, now)
	e.ReceivesHeld.Set(e.exchange.pending, now)
	e.TLBWalks.Set(e.tlb.walking, now)
}

// CheckInvariants returns an error if the counts contradict each other. It may be called at any time.
func (e *Engine) CheckInvariants() error {
	held := uint64(0)
	for i := range e.lists {
		held += uint64(e.lists[i].size())
	}
	for _, l := range []struct {
		invariant string
		got, want uint64
	}{
		{
			"degrees + edges received = edges popped + donated + abandoned + left", e.Degrees + e.EdgesReceived,
			e.EdgesPopped + e.EdgesDonated + e.EdgesAbandoned + e.left(),
		},
		{"edges gathered = popped + in the buffer + abandoned there", e.EdgesGathered, e.EdgesPopped + uint64(e.buffer.filled) + e.gatheredAbandoned},
		{
			"vertices pushed + from the host + received = popped + gathered + forgotten + donated + in the lists",
			e.VerticesPushed + e.VerticesHost + e.VerticesTaken,
			e.VerticesPopped + e.VerticesGathered + e.VerticesForgotten + e.VerticesGiven + held,
		},
		{"lines read = answered + under way", e.LinesRead, e.LinesAnswered + uint64(e.port.inFlight)},
		{
			"lines read = offsets + edges + weights + exchanged + refills", e.LinesRead,
			e.OffsetLines + e.EdgeLines + e.WeightLines + e.ExchangeLines + e.Refilled/uint64(e.line),
		},
		{"requests translated = sent", e.TLBRequests, e.translated()},
		{"entry-cycles = entries × cycles", e.entryCycles(), e.entryTime},
	} {
		if l.got != l.want {
			return fmt.Errorf("graphpeg of core %d: invariant violated: %s: %d, %d", e.shape.Core, l.invariant, l.got,
				l.want)
		}
	}
	return nil
}

// translated returns the number of requests that have passed a TLB: all that have left, if there is one.
func (e *Engine) translated() uint64 {
	if e.tlb.entries == 0 {
		return 0
	}
	return e.LinesRead + e.SpillLines - uint64(e.port.waiting())
}

func (e *Engine) entryCycles() (n uint64) {
	for _, v := range e.Statuses {
		n += v
	}
	return n
}
