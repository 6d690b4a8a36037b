// Package weaver is the Weaver unit of SparseWeaver (HPCA 2025, §III): kernels register (vertex, first edge, degree)
// triples and decode (vertex, edge) pairs, one per lane, until no work is left.
//
// State is the unit's pure logic: its tables and the effect of each FSM state on them, without time. FSM is the paper's
// state machine on top, cycle by cycle; Weaver is the clocked component around the FSM; Functional drives the same
// State for isa/emu. This package knows no core.
package weaver

import "fmt"

// Spec holds the parameters of a Weaver. A 0, where allowed, is derived from the core; see Derived.
type Spec struct {
	STEntries    int   `key:"st_entries" default:"512" min:"1" max:"65536" unit:"entries" doc:"Slots of the Sparse Workload Information Table; with warps·threads, how far work is shared. SparseWeaver §V: 512."`
	DTEntries    int   `key:"dt_entries" default:"1024" min:"1" max:"65536" unit:"words"`
	TableLatency int   `key:"table_latency" default:"0" min:"0" max:"10000" unit:"cycles" doc:"From the start of a table read to the use of what was read. 0: the scratchpad's. SparseWeaver Fig. 13: 10 to 160."`
	STRow        int   `key:"st_row" default:"0" min:"0" max:"64" unit:"slots" doc:"Consecutive slots that a read of the ST returns. 0: threads, as the storage is banked by lane (ours)."`
	Prefetch     bool  `key:"prefetch" default:"true" doc:"Reads the next row of the ST while one is decoded (ours)."`
	SkipEmpty    bool  `key:"skip_empty" default:"true"`
	MaskByUnit   bool  `key:"mask_by_unit" default:"false" doc:"weaver.dec.id sets the warp's thread mask to the lanes that got an edge; unchanged if none did. SparseWeaver §III-C; false: the kernel tests for -1."`
	RequestQueue int   `key:"request_queue" default:"0" min:"0" max:"64" unit:"requests" doc:"Requests that wait for the unit, served in the order of their arrival; when it is full, the core's SFU waits. 0: one a warp (ours)."`
	Model        Model `key:"model" default:"go" oneof:"go,rtl"`
}

// Docs has the long descriptions of keys.
func (Spec) Docs() map[string]string {
	return map[string]string{
		"dt_entries": "Words of the Dense Work ID Table, a row of threads words for each warp; more than " +
			"warps·threads are not used. SparseWeaver §V says 512, which cannot hold 32 rows of 32; ours: " +
			"1024.",
		"skip_empty": "Passes over the slots of a row that are not valid or have degree 0 in the cycle in which " +
			"an entry is loaded, and reads no row without a valid slot (ours). Otherwise every slot takes " +
			"its turn through S3, S4 and S2.",
		"model": "What simulates the unit, in the same cycles. go: heddle's model. rtl: the SystemVerilog of " +
			"rtl/weaver by Verilator, in a process for each core (ours); needs verilator, g++ and make, " +
			"and powers of two as threads and st_row.",
	}
}

// DefaultSpec returns the configuration of the paper.
func DefaultSpec() Spec {
	return Spec{STEntries: 512, DTEntries: 1024, Prefetch: true, SkipEmpty: true, Model: ModelGo}
}

// Derived returns the spec with every 0 replaced by its value for a core of that shape.
func (s Spec) Derived(warps, threads, scratchpadLatency int) Spec {
	fill := func(v *int, derived int) {
		if *v == 0 {
			*v = derived
		}
	}
	fill(&s.TableLatency, scratchpadLatency)
	fill(&s.STRow, threads)
	fill(&s.RequestQueue, warps)
	return s
}

// Fits checks the spec for a core of that shape; key is the key with the wrong value.
func (s Spec) Fits(warps, threads int) (key, msg string, ok bool) {
	if s.STEntries < 1 || s.STEntries > 1<<16 {
		return "st_entries", fmt.Sprintf("%d: expected 1..65536", s.STEntries), false
	}
	if need := warps * threads; s.DTEntries < need {
		return "dt_entries", fmt.Sprintf("%d: expected at least warps × threads = %d, one row a warp", s.DTEntries,
			need), false
	}
	if s.Model == ModelRTL {
		for _, v := range []struct {
			key string
			n   int
		}{{"core.threads", threads}, {"core.weaver.st_row", s.STRow}} {
			if v.n&(v.n-1) != 0 {
				return "model", fmt.Sprintf("rtl: %s = %d: expected a power of two, as its tables are banked by lane", v.key, v.n),
					false
			}
		}
	}
	return "", "", true
}

// Check returns the result of Fits as an error.
func (s Spec) Check(warps, threads int) error {
	if key, msg, ok := s.Fits(warps, threads); !ok {
		return fmt.Errorf("weaver %s = %s", key, msg)
	}
	return nil
}

// identity returns the CSRs that programs read on a core of that shape.
func (s Spec) identity(warps, threads int) identity {
	return identity{uint32(min(s.STEntries, warps*threads))}
}
