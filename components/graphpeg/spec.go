package graphpeg

import (
	"fmt"

	"heddle/components/accel"
)

// Spec holds the parameters of a GraphPEG. A 0, where allowed, is derived from the core; see Derived.
type Spec struct {
	ALWTEntries      int    `key:"alwt_entries" default:"24" min:"1" max:"65536" unit:"entries" doc:"Entries of the adjacency list working table. GraphPEG §4.2: 24; many stand for its unlimited table."`
	EdgeBufferBytes  int    `key:"edge_buffer_bytes" default:"2KiB" min:"256" max:"64KiB" unit:"bytes" doc:"Scratchpad for gathered edges: a ring of slots that hold the fields the kernel wants. GraphPEG §4.2: 2 KB."`
	ScratchpadLimit  int    `key:"scratchpad_limit" default:"48KiB" min:"1KiB" max:"64KiB" unit:"bytes"`
	VertexLists      int    `key:"vertex_lists" default:"4" min:"2" max:"16" unit:"lists" doc:"Vertex-lists of a core (ours: the paper uses at least three, for near-far)."`
	ListRegion       int    `key:"list_region" default:"4MiB" min:"1KiB" max:"256MiB" pow2:"true" unit:"bytes" doc:"Global memory of each list of each core, for what does not fit on chip; overflow ends the run (ours)."`
	BufferLatency    int    `key:"buffer_latency" default:"0" min:"0" max:"1000" unit:"cycles" doc:"From a pop's being served to its answer. 0: the scratchpad's (ours)."`
	PopOrder         string `key:"pop_order" default:"ring" oneof:"ring,arrival" doc:"ring: edges leave in the order in which they were requested. arrival: as their data comes (ours)."`
	FERelease        string `key:"fe_release" default:"issue" oneof:"issue,return" doc:"When an entry that fetches edges becomes free. issue: with its last request; return: with its last answer (ours: only the first fits Tables 4 and 5)."`
	Spill            string `key:"spill" default:"line" oneof:"line,vertex"`
	DonationPriority string `key:"donation_priority" default:"fi" oneof:"fi,donation" doc:"What takes a table entry when only one is free: the next vertex, or edges that another core has donated (ours)."`
	BypassL1         bool   `key:"bypass_l1" default:"true" doc:"The unit's requests go to the L2. GraphPEG §3.3.1: \"by default\". false: through the L1D."`
	TLBEntries       int    `key:"tlb_entries" default:"0" min:"0" max:"1024" unit:"entries"`
	TLBPage          int    `key:"tlb_page" default:"64KiB" min:"1KiB" max:"2MiB" pow2:"true" unit:"bytes" doc:"Bytes of a page of the unit's TLB (ours)."`
	TLBWalk          int    `key:"tlb_walk" default:"200" min:"1" max:"10000" unit:"cycles" doc:"From a miss in the unit's TLB until the page is held; one walk at a time (ours)."`
	RequestQueue     int    `key:"request_queue" default:"0" min:"0" max:"64" unit:"requests" doc:"Instructions that wait for the unit; when it is full, the core's SFU waits. 0: one a warp (ours). Each pop waits in an entry of its own."`
	Model            Model  `key:"model" default:"go" oneof:"go,rtl"`
}

// Docs has the long descriptions of keys.
func (Spec) Docs() map[string]string {
	return map[string]string{
		"scratchpad_limit": "Scratchpad that the unit uses; what the edge buffer leaves is shared equally by the " +
			"vertex-lists. GraphPEG §3.1, §4.2: all 48 KB; §4.4: 8, 16, 32 KB too.",
		"spill": "How the oldest vertices of a list that is full on chip go to memory. line: a line of them " +
			"in a request (ours). vertex: a request for each (GraphPEG §3.3.1: the unit spills extra " +
			"vertices into the global memory directly; it does not say that they are gathered).",
		"tlb_entries": "Pages that a TLB on the unit's way to memory holds, fully associative, the one not used " +
			"for longest replaced. 0: none, addresses are physical, as those of the cores always are, which have " +
			"no TLB. GraphPEG §3.3.1: the unit's addresses are translated in the TLB; the paper prints no size " +
			"and no time. A walk of tlb_walk cycles accesses no memory; requests to pages that are held pass it.",
		"model": "What simulates the unit, in the same cycles. go: heddle's model. rtl: the SystemVerilog of " +
			"rtl/graphpeg by Verilator, in a process for each core (ours); needs verilator, g++ and make, " +
			"pop_order ring, no TLB, and ctrlproc.policy none or ef.",
	}
}

// DefaultSpec returns the configuration of the paper.
func DefaultSpec() Spec {
	return Spec{
		ALWTEntries: 24, EdgeBufferBytes: 2 << 10, ScratchpadLimit: 48 << 10, VertexLists: 4, ListRegion: 4 << 20,
		PopOrder: "ring", FERelease: "issue", Spill: "line", DonationPriority: "fi", BypassL1: true,
		TLBPage: 64 << 10, TLBWalk: 200, Model: ModelGo,
	}
}

// Shape describes the core that contains a unit.
type Shape = accel.Shape

// Derived returns the spec with every 0 replaced by its value for a core of that shape.
func (s Spec) Derived(warps, scratchpadLatency int) Spec {
	if s.BufferLatency == 0 {
		s.BufferLatency = scratchpadLatency
	}
	if s.RequestQueue == 0 {
		s.RequestQueue = warps
	}
	return s
}

// listWords returns the on-chip capacity of each list in words, a multiple of the line.
func (s Spec) listWords(line int) int {
	return (s.ScratchpadLimit - s.EdgeBufferBytes) / s.VertexLists / 4 / line * line
}

// slots returns the number of edges with that many fields that the edge buffer holds.
func (s Spec) slots(fields int) int { return s.EdgeBufferBytes / 4 / max(fields, 1) }

// regionBytes returns the size of the memory of all cores' lists, with one more region per core for donations.
func (s *Spec) regionBytes(shape *Shape) uint64 {
	return uint64(shape.Cores) * uint64(s.VertexLists+1) * uint64(s.ListRegion)
}

// minSlots returns the least number of slots: while the buffer holds threads-1 edges, which no pop may take, the next
// line must fit.
func minSlots(threads, line int) int { return threads - 1 + line }

// minListWords returns the least on-chip capacity of a list: after threads-1 vertices, which no pop may take, the next
// line must fit; and after it a line to be spilled, and a push.
func minListWords(threads, line int) int { return 2*line + 2*threads }

// Fits checks the spec for a core of that shape; key is the key with the wrong value. An accepted spec cannot deadlock.
func (s Spec) Fits(threads, lineBytes int) (key, msg string, ok bool) {
	line := lineBytes / 4
	if s.ALWTEntries < 1 || s.ALWTEntries > 1<<16 {
		return "alwt_entries", fmt.Sprintf("%d: expected 1..65536", s.ALWTEntries), false
	}
	if s.VertexLists < 2 || s.VertexLists > MaxLists {
		return "vertex_lists", fmt.Sprintf("%d: expected 2..%d", s.VertexLists, MaxLists), false
	}
	if need := minSlots(threads, line); s.slots(1) < need {
		return "edge_buffer_bytes", fmt.Sprintf(
			"%d: %d slots of one field, but %d lanes and lines of %d bytes need %d, or a pop could wait for ever",
			s.EdgeBufferBytes, s.slots(1), threads, lineBytes, need), false
	}
	if need := minListWords(threads, line); s.listWords(line) < need {
		return "scratchpad_limit", fmt.Sprintf(
			"%d: leaves %d vertices for each of %d lists on chip, but %d lanes and lines of %d bytes need %d, or a list could "+
				"wait for ever",
			s.ScratchpadLimit, max(s.listWords(line), 0), s.VertexLists, threads, lineBytes, need), false
	}
	if s.ListRegion < lineBytes || s.ListRegion%lineBytes != 0 {
		return "list_region", fmt.Sprintf("%d: expected a multiple of the line, %d bytes", s.ListRegion, lineBytes),
			false
	}
	if s.Model == ModelRTL && s.PopOrder != "ring" {
		return "model", fmt.Sprintf("rtl: pop_order = %s: there is no SystemVerilog of it: expected ring", s.PopOrder), false
	}
	if s.Model == ModelRTL && s.TLBEntries > 0 {
		return "model", fmt.Sprintf("rtl: tlb_entries = %d: there is no SystemVerilog of it: expected 0", s.TLBEntries),
			false
	}
	return "", "", true
}

// Check returns the result of Fits as an error.
func (s Spec) Check(threads, lineBytes int) error {
	if key, msg, ok := s.Fits(threads, lineBytes); !ok {
		return fmt.Errorf("graphpeg %s = %s", key, msg)
	}
	return nil
}
