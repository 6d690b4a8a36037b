package cache

import "heddle/components/count"

// Stats are the counters of a cache, or of one of its banks.
type Stats struct {
	Reads        uint64 `stat:"reads" unit:"requests" doc:"Reads that a bank accepted."`
	Writes       uint64 `stat:"writes" unit:"requests" doc:"Writes that a bank accepted."`
	ReadHits     uint64 `stat:"read_hits" unit:"requests" doc:"Reads whose line was there."`
	ReadMisses   uint64 `stat:"read_misses" unit:"requests" doc:"Reads whose line was not there; with those of atomics, fills + merges."`
	WriteHits    uint64 `stat:"write_hits" unit:"requests" doc:"Writes whose line was there."`
	WriteMisses  uint64 `stat:"write_misses" unit:"requests" doc:"Writes whose line was not there."`
	Merges       uint64 `stat:"merges" unit:"requests" doc:"Misses that joined an outstanding fill."`
	Pairs        uint64 `stat:"pairs" unit:"requests" doc:"Of the misses that asked for a sector, those that went along with their neighbour's (sector_pairs)."`
	Fills        uint64 `stat:"fills" unit:"lines" doc:"Lines brought in."`
	Replays      uint64 `stat:"replays" unit:"requests" doc:"Requests that went through the pipeline again, after their fill."`
	Evictions    uint64 `stat:"evictions" unit:"lines" doc:"Valid lines that a fill replaced."`
	WriteResends uint64 `stat:"write_resends" unit:"requests" doc:"Writes sent to the next level again as they were replayed."`
	Writebacks   uint64 `stat:"writebacks" unit:"lines" doc:"Lines sent to the next level because they were written here."`
	Flushes      uint64 `stat:"flushes" unit:"requests" doc:"Flushes answered, or sent on."`

	Atomics       uint64 `stat:"atomics" unit:"requests" doc:"Atomics that a bank accepted."`
	AtomicsPassed uint64 `stat:"atomics.passed" unit:"requests" doc:"Atomics sent on to the level that performs them."`
	AtomicHits    uint64 `stat:"atomics.hits" unit:"requests" doc:"Atomics performed here whose line was there."`
	AtomicMisses  uint64 `stat:"atomics.misses" unit:"requests" doc:"Atomics performed here whose line was not there."`
	AtomicOps     uint64 `stat:"atomics.operations" unit:"operations" doc:"Operations performed here: a lane's, or a word's with atomics.combine."`
	AtomicWrites  uint64 `stat:"atomics.writes" unit:"requests" doc:"Atomics performed here that wrote."`
	AtomicWaits   uint64 `stat:"atomics.wait_cycles" unit:"cycles" doc:"What atomics waited for earlier ones of their line, summed over atomics."`
	Invalidations uint64 `stat:"invalidations" unit:"lines" doc:"Valid lines that an atomic threw out on its way."`

	FlushCycles       count.Span `stat:"flush_cycles" unit:"cycles" doc:"From a flush's arrival until its walk is over."`
	MSHRFull          count.Span `stat:"stall.mshr" unit:"bank-cycles" doc:"A bank refused a request for want of an MSHR."`
	MemoryQueueFull   count.Span `stat:"stall.memory_queue" unit:"bank-cycles" doc:"A bank refused a request, or held back the replay of a write that goes on again, because its memory queue was almost full."`
	ResponseQueueFull count.Span `stat:"stall.response_queue" unit:"bank-cycles" doc:"A bank's pipeline stood still: its response queue was full."`
	BankConflicts     uint64     `stat:"bank_conflicts" unit:"requests" doc:"Requests that lost a cycle to another's at the same bank, or at the arbiter of a shared input."`
}
