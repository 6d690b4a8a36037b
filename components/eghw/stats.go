package eghw

import (
	"fmt"

	"heddle/components/accel"
)

// Stats are the counters of a unit. In functional execution the times stay 0.
type Stats struct {
	VerticesPushed    uint64 `stat:"vertices.pushed" unit:"vertices" doc:"Vertices pushed: those taken up, abandoned, and what is left in their buffer."`
	VerticesTaken     uint64 `stat:"vertices.taken" unit:"vertices" doc:"Of them, those whose offsets the unit has asked for."`
	VerticesAbandoned uint64 `stat:"vertices.abandoned" unit:"vertices" doc:"Vertices that a launch found in their buffer, and forgot."`
	Degrees           uint64 `stat:"edges.degrees" unit:"edges" doc:"Sum of their degrees; together edges.popped, edges.abandoned and what is left."`
	EdgesWritten      uint64 `stat:"edges.written" unit:"edges" doc:"Edges written to the buffer."`
	EdgesPopped       uint64 `stat:"edges.popped" unit:"edges" doc:"Edges given to lanes."`
	EdgesAbandoned    uint64 `stat:"edges.abandoned" unit:"edges" doc:"Edges that a launch found with the unit, and forgot."`

	PopsFull    uint64 `stat:"pops.full" unit:"pops" doc:"Pops in which every active lane got an edge."`
	PopsPartial uint64 `stat:"pops.partial" unit:"pops" doc:"Pops in which some did."`
	PopsEmpty   uint64 `stat:"pops.empty" unit:"pops" doc:"Pops in which none did: the end."`
	Gets        uint64 `stat:"gets" unit:"requests" doc:"eghw.get answered."`
	Pushes      uint64 `stat:"pushes" unit:"requests" doc:"eghw.push carried out."`
	PopWait     uint64 `stat:"pops.wait" unit:"warp-cycles" doc:"From a pop's reaching the unit until it is served, summed over pops."`

	OffsetLines   uint64 `stat:"lines.offsets" unit:"lines" doc:"Lines of offsets requested."`
	EdgeLines     uint64 `stat:"lines.edges" unit:"lines" doc:"Lines of other ends requested."`
	WeightLines   uint64 `stat:"lines.weights" unit:"lines" doc:"Lines of weights requested."`
	LinesAnswered uint64 `stat:"lines.answered" unit:"lines" doc:"Of all these, those that have come."`

	WordsWritten uint64 `stat:"scratchpad.written" unit:"words" doc:"Words of vertices and edges written to the scratchpad."`
	WordsRead    uint64 `stat:"scratchpad.read" unit:"words" doc:"Words read there."`
	PortBusy     uint64 `stat:"scratchpad.busy" unit:"cycles" doc:"Cycles that the port to it was taken."`

	Cycles    uint64        `stat:"cycles" unit:"cycles" doc:"Cycles counted: those of all states together, and of all queue lengths."`
	States    States        `stat:"state" unit:"cycles" doc:"Cycles by what the oldest pop waits for."`
	Queue     accel.Lengths `stat:"queue" unit:"cycles" doc:"Cycles by requests in the queue."`
	QueueFull uint64        `stat:"queue.refused" unit:"cycles" doc:"Cycles the core's SFU held a request that the full queue did not take."`
}

// States counts cycles by state.
type States [numStates]uint64

var stateDocs = [numStates]struct{ name, doc string }{
	idle:    {"idle", "No pop waits."},
	offsets: {"offsets", "The oldest pop waits for offsets of vertices: no line of edges is under way."},
	edges:   {"edges", "The oldest pop waits for a line of edges or weights."},
	writing: {"writing", "The oldest pop waits for edges that are written to the scratchpad."},
	reading: {"reading", "The oldest pop waits for the scratchpad's port, or behind other answers."},
}

// Describe returns the name and the description of a state's statistic.
func (*States) Describe(i int) (name, doc string) { return stateDocs[i].name, stateDocs[i].doc }

// Settle books the cycles up to now, during which the unit did not change.
func (e *Engine) Settle(now uint64) {
	n := now - e.last
	e.last = now
	e.Cycles += n
	e.States[e.state] += n
}

// CheckInvariants returns an error if the counts contradict each other. It may be called at any time.
func (e *Engine) CheckInvariants() error {
	for _, l := range []struct {
		invariant string
		got, want uint64
	}{
		{"vertices pushed = taken + abandoned + left", e.VerticesPushed, e.VerticesTaken + e.VerticesAbandoned + uint64(e.vertices.Len())},
		{"degrees = edges popped + abandoned + left", e.Degrees, e.EdgesPopped + e.EdgesAbandoned + e.left()},
		{"edges written = popped + in the buffer + abandoned there", e.EdgesWritten, e.EdgesPopped + uint64(e.buffer.Len()) + e.writtenAbandoned},
		{"lines asked for = answered + under way", e.linesRead(), e.LinesAnswered + uint64(e.outstanding())},
		{"lines awaited = under way", e.awaited(), uint64(e.outstanding())},
		{"words read = read_words × edges popped + vertices taken", e.WordsRead, uint64(e.spec.ReadWords)*e.EdgesPopped + e.VerticesTaken},
		{"cycles = those of all states", e.Cycles, sum(e.States[:])},
	} {
		if l.got != l.want {
			return fmt.Errorf("eghw of core %d: invariant violated: %s: %d, %d", e.shape.Core, l.invariant, l.got,
				l.want)
		}
	}
	return nil
}

// linesRead returns the number of lines requested.
func (e *Engine) linesRead() uint64 { return e.OffsetLines + e.EdgeLines + e.WeightLines }

// awaited returns the number of lines that vertices and chunks wait for.
func (e *Engine) awaited() (n uint64) {
	for i := range e.chunks.Len() {
		n += uint64(e.chunks.At(i).awaited)
	}
	for i := range e.ahead.Len() {
		n += uint64(e.ahead.At(i).awaited)
	}
	return n
}

func sum(a []uint64) (n uint64) {
	for _, v := range a {
		n += v
	}
	return n
}
