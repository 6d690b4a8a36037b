package eghw

import (
	"cmp"
	"fmt"

	"heddle/components/accel"
	"heddle/isa/emu"
)

// Spec holds the parameters of edge-generating hardware. A 0, where allowed, is derived from the core; see Derived.
type Spec struct {
	BufferEntries    int  `key:"buffer_entries" default:"0" min:"0" max:"4096" unit:"edges" doc:"Ready edges that the scratchpad holds. 0: four a lane, or what a pop and a line need if that is more (ours)."`
	OutstandingLines int  `key:"outstanding_lines" default:"4" min:"1" max:"64" unit:"lines"`
	Lookahead        int  `key:"lookahead" default:"0" min:"0" max:"64" unit:"vertices"`
	EdgesPerRead     int  `key:"edges_per_read" default:"0" min:"0" max:"64" unit:"edges" doc:"Edges that the unit takes from a line that it has read. 0: all that lie there. 1: edge by edge, each with a read of its own (ours)."`
	WriteWords       int  `key:"write_words" default:"3" min:"1" max:"8" unit:"words" doc:"Scratchpad words written for an edge: base, other end, weight. SparseWeaver §V-H: the edge data is stored into the buffer."`
	ReadWords        int  `key:"read_words" default:"3" min:"1" max:"8" unit:"words" doc:"Scratchpad words read for an edge that is popped. SparseWeaver §V-H."`
	BufferLatency    int  `key:"buffer_latency" default:"0" min:"0" max:"1000" unit:"cycles" doc:"From the last read of a pop to its answer. 0: the scratchpad's (ours)."`
	BypassL1         bool `key:"bypass_l1" default:"false" doc:"The unit's requests go to the L2. false: through the L1D, as the core's loads of the same arrays would (ours)."`
	RequestQueue     int  `key:"request_queue" default:"0" min:"0" max:"64" unit:"requests" doc:"Instructions that wait for the unit; when it is full, the core's SFU waits. 0: one a warp (ours). Each pop waits in an entry of its own."`
}

// Docs has the long descriptions of keys.
func (Spec) Docs() map[string]string {
	return map[string]string{
		"outstanding_lines": "Reads under way, and also those whose edges have not been written to the buffer. Few: " +
			"SparseWeaver §V-H's unit does not conceal the latency of its reads (the number is ours).",
		"lookahead": "Vertices whose offsets are known or asked for. 0: outstanding_lines. 1: those of the next " +
			"vertex are asked for when all edges of the last have been (ours).",
	}
}

// DefaultSpec returns the configuration's defaults.
func DefaultSpec() Spec { return Spec{OutstandingLines: 4, WriteWords: 3, ReadWords: 3} }

// Shape describes the core that contains a unit.
type Shape = accel.Shape

// vertexEntries returns the number of vertices that may be pushed before all edges of them are popped: one per thread.
func vertexEntries(s *Shape) int { return s.Warps * s.Threads }

// minEntries returns the least number of entries: while the buffer holds threads-1 edges, which no pop may take, the
// next line must fit.
func minEntries(s *Shape) int { return s.Threads - 1 + s.LineBytes/4 }

// entries returns buffer_entries, or its value for 0.
func (s Spec) entries(shape Shape) int {
	if s.BufferEntries == 0 {
		return max(4*shape.Threads, minEntries(&shape))
	}
	return s.BufferEntries
}

// ScratchpadBytes returns the bytes of a core's scratchpad that the two buffers use. An edge takes write_words words.
func (s Spec) ScratchpadBytes(shape Shape) int {
	return 4 * (s.entries(shape)*s.WriteWords + vertexEntries(&shape))
}

// Derived returns the spec with every 0 replaced by its value for a core of that shape.
func (s Spec) Derived(shape Shape, scratchpadLatency int) Spec {
	s.BufferEntries = s.entries(shape)
	if s.BufferLatency == 0 {
		s.BufferLatency = scratchpadLatency
	}
	if s.Lookahead == 0 {
		s.Lookahead = s.OutstandingLines
	}
	if s.EdgesPerRead == 0 {
		s.EdgesPerRead = shape.LineBytes / 4
	}
	if s.RequestQueue == 0 {
		s.RequestQueue = shape.Warps
	}
	return s
}

// Fits checks the spec for a core of that shape; key is the key with the wrong value. An accepted spec cannot deadlock.
func (s Spec) Fits(shape Shape) (key, msg string, ok bool) {
	if s.OutstandingLines < 1 {
		return "outstanding_lines", fmt.Sprintf("%d: expected at least 1", s.OutstandingLines), false
	}
	if s.WriteWords < 1 || s.ReadWords < 1 {
		return "write_words", fmt.Sprintf("%d, and read_words = %d: expected at least 1", s.WriteWords, s.ReadWords),
			false
	}
	if n, need := s.entries(shape), minEntries(&shape); n < need {
		return "buffer_entries", fmt.Sprintf(
			"%d: %d lanes and lines of %d bytes need %d, or a pop could wait for ever", n, shape.Threads,
			shape.LineBytes, need), false
	}
	if n, has := s.ScratchpadBytes(shape), cmp.Or(shape.ScratchpadBytes, emu.DefaultScratchpadBytes); n > has {
		return "buffer_entries", fmt.Sprintf(
			"%d: edges and a vertex a thread take %d bytes of a scratchpad that has %d (core.scratchpad_bytes)",
			s.entries(shape), n, has), false
	}
	return "", "", true
}

// Check returns the result of Fits as an error; the spec must be derived.
func (s Spec) Check(shape Shape) error {
	if key, msg, ok := s.Fits(shape); !ok {
		return fmt.Errorf("eghw %s = %s", key, msg)
	}
	if min(s.BufferEntries, s.BufferLatency, s.Lookahead, s.EdgesPerRead, s.RequestQueue) < 1 ||
		s.RequestQueue > accel.MaxQueue {
		return fmt.Errorf("eghw buffer_entries %d, buffer_latency %d, lookahead %d, edges_per_read %d, request_queue %d: "+
			"expected at least 1 (Spec.Derived), and a queue of at most %d",
			s.BufferEntries, s.BufferLatency, s.Lookahead, s.EdgesPerRead, s.RequestQueue, accel.MaxQueue)
	}
	return nil
}
