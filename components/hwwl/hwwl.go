// Package hwwl is the hardware worklist that GraphPEG is compared with (ACM TACO 2021, §4.4, after Kim & Batten, MICRO
// 2014): each core has an on-chip queue of vertices, from which warps pop and to which they push by lane. At every
// interval, vertices are moved between cores in zero time until the queues are of equal length. Degrees play no role.
//
// A GraphPEG in vertex-list mode "works similarly" (§3.3.1), so the worklist is a GraphPEG with two lists and other
// instructions.
package hwwl

import (
	"heddle/components/accel"
	"heddle/components/clock"
	"heddle/components/count"
	"heddle/components/graphpeg"
)

// Spec holds the parameters of a worklist.
type Spec struct {
	Bytes        int  `key:"bytes" default:"48KiB" min:"1KiB" max:"256KiB" unit:"bytes" doc:"On-chip storage of a core, half for what is popped, half for what is pushed. GraphPEG §4.4: 48 KB."`
	ListRegion   int  `key:"list_region" default:"4MiB" min:"1KiB" max:"256MiB" pow2:"true" unit:"bytes" doc:"Global memory of each of the two lists of each core, for what does not fit on chip; overflow ends the run (ours)."`
	Latency      int  `key:"latency" default:"0" min:"0" max:"1000" unit:"cycles" doc:"From a pop's being served to its answer. 0: the scratchpad's (ours)."`
	Interval     int  `key:"interval" default:"512" min:"1" max:"1000000" unit:"cycles" doc:"Between two times that the cores' lists are made equally long. Ours, as the control processor's; moving costs nothing (§4.4)."`
	BypassL1     bool `key:"bypass_l1" default:"true" doc:"Spills and refills go to the L2, as GraphPEG's; false: through the L1D."`
	RequestQueue int  `key:"request_queue" default:"0" min:"0" max:"64" unit:"requests" doc:"Instructions that wait for the unit; when it is full, the core's SFU waits. 0: one a warp (ours)."`
}

// buffer is the size of the underlying GraphPEG's edge buffer, which stays empty: large enough for 32 lanes and lines
// of 1 KiB, below which a GraphPEG could deadlock.
const buffer = 2 << 10

// PEG returns the spec of the underlying GraphPEG.
func (s Spec) PEG() graphpeg.Spec {
	return graphpeg.Spec{
		ALWTEntries: 1, EdgeBufferBytes: buffer, ScratchpadLimit: s.Bytes + buffer, VertexLists: 2,
		ListRegion:    s.ListRegion,
		BufferLatency: s.Latency, BypassL1: s.BypassL1, RequestQueue: s.RequestQueue,
	}
}

// Fits checks the spec for a core of that shape; key is the key with the wrong value.
func (s Spec) Fits(threads, lineBytes int) (key, msg string, ok bool) {
	key, msg, ok = s.PEG().Fits(threads, lineBytes)
	if key == "scratchpad_limit" {
		key = "bytes"
	}
	return key, msg, ok
}

// Unit is the worklist of one core.
type Unit struct{ *graphpeg.PEG }

var _ accel.MemoryUser = Unit{}

// New returns the worklist of a core of that shape.
func New(name string, s Spec, shape graphpeg.Shape, scratchpadLatency int) (Unit, error) {
	p, err := graphpeg.New(name, s.PEG().Derived(shape.Warps, scratchpadLatency), shape)
	if err != nil {
		return Unit{}, err
	}
	p.Engine().AsWorklist()
	return Unit{p}, nil
}

// Stats are the counters of a worklist.
type Stats struct {
	Popped   uint64 `stat:"vertices.popped" unit:"vertices" doc:"Vertices given to lanes."`
	Pushed   uint64 `stat:"vertices.pushed" unit:"vertices" doc:"Vertices pushed."`
	Host     uint64 `stat:"vertices.host" unit:"vertices" doc:"Vertices that the host has put into lists."`
	Given    uint64 `stat:"vertices.donated" unit:"vertices" doc:"Vertices moved to other cores."`
	Taken    uint64 `stat:"vertices.received" unit:"vertices" doc:"Vertices moved here."`
	Spilled  uint64 `stat:"vertices.spilled" unit:"vertices" doc:"Vertices that went to memory, those moved at no cost not counted."`
	Refilled uint64 `stat:"vertices.refilled" unit:"vertices" doc:"Vertices asked back from there."`

	PopsFull    uint64     `stat:"pops.full" unit:"pops" doc:"Pops in which every active lane got a vertex."`
	PopsPartial uint64     `stat:"pops.partial" unit:"pops" doc:"Pops in which some did."`
	PopsEmpty   uint64     `stat:"pops.empty" unit:"pops" doc:"Pops in which none did: the end."`
	PopWait     uint64     `stat:"pops.wait" unit:"warp-cycles" doc:"From a pop's reaching the unit until it is served, summed over pops."`
	StallShort  count.Span `stat:"pops.stall_short" unit:"cycles" doc:"Cycles the oldest pop waited for a refill."`
	StallDone   count.Span `stat:"pops.stall_done" unit:"cycles" doc:"Cycles the oldest pop waited for other cores to end."`
	PushStalls  count.Span `stat:"pushes.stalls" unit:"cycles" doc:"Cycles a push waited for room, until a line had been spilled."`

	Cycles    uint64        `stat:"cycles" unit:"cycles" doc:"Cycles counted."`
	Queue     accel.Lengths `stat:"queue" unit:"cycles" doc:"Cycles by requests in the queue."`
	QueueFull uint64        `stat:"queue.refused" unit:"cycles" doc:"Cycles the core's SFU held a request that the full queue did not take."`
}

// Statistics returns a pointer to the counts up to a cycle.
func (u Unit) Statistics(now clock.Cycle) any {
	s := u.Stats(now)
	return &Stats{
		Popped: s.VerticesPopped, Pushed: s.VerticesPushed, Host: s.VerticesHost, Given: s.VerticesGiven,
		Taken:   s.VerticesTaken,
		Spilled: s.Spilled, Refilled: s.Refilled, PopsFull: s.PopsFull, PopsPartial: s.PopsPartial,
		PopsEmpty: s.PopsEmpty,
		PopWait:   s.PopWait, StallShort: s.StallShort, StallDone: s.StallDone, PushStalls: s.PushStalls,
		Cycles: s.Cycles, Queue: s.Queue, QueueFull: s.QueueFull,
	}
}
