package swarm

import "fmt"

// Spec holds the parameters of a machine of Swarm tiles beyond the number of tiles and of their cores. The defaults are
// those of MICRO 2015, Table 3, as far as it gives them. Each key's doc says where its value comes from: "as a second
// description has it" and "UGF" are confirmed; "MICRO 2015 (unconfirmed)" is quoted from memory of the paper, which
// could not be read here; "ours" is assumed.
//
// Simplified against the description: coherence is MSI, without an exclusive state, so that a first write after a
// read asks the directory; coalescers and splitters move tasks without traffic in the caches; cores have no instruction
// misses; an undo log entry is restored where the abort happens, while the access waits.
type Spec struct {
	TaskQueue   int     `key:"task_queue" default:"64" min:"2" max:"4096" unit:"entries"`
	CommitQueue int     `key:"commit_queue" default:"16" min:"1" max:"256" unit:"entries"`
	TaskOp      int     `key:"task_op" default:"5" min:"1" max:"1000" unit:"cycles"`
	Mapping     Mapping `key:"mapping" default:"random" oneof:"random,hint,local"`
	Seed        int     `key:"seed" default:"1" min:"0" max:"1000000" unit:""`

	Signatures    Signatures `key:"signatures" default:"bloom" oneof:"bloom,exact"`
	SignatureBits int        `key:"signature_bits" default:"2048" min:"8" max:"65536" unit:"bits"`
	SignatureWays int        `key:"signature_ways" default:"8" min:"1" max:"16" unit:"functions"`
	TileCheck     int        `key:"tile_check" default:"5" min:"0" max:"1000" unit:"cycles"`
	TimeCompare   int        `key:"time_compare" default:"1" min:"0" max:"1000" unit:"cycles"`
	Rollback      int        `key:"rollback" default:"7" min:"0" max:"1000" unit:"cycles"`

	CommitInterval int `key:"commit_interval" default:"200" min:"1" max:"100000" unit:"cycles"`
	PreemptAfter   int `key:"preempt_after" default:"8" min:"1" max:"100000" unit:"updates"`

	SpillAt    int `key:"spill_at" default:"85" min:"1" max:"100" unit:"%"`
	SpillTasks int `key:"spill_tasks" default:"15" min:"1" max:"4096" unit:"tasks"`
	SpillTask  int `key:"spill_task" default:"12" min:"1" max:"1000" unit:"cycles"`

	LineBytes int `key:"line_bytes" default:"64" min:"4" max:"256" unit:"bytes"`
	L1Bytes   int `key:"l1_bytes" default:"16KiB" min:"64" max:"1MiB" unit:"bytes"`
	L1Ways    int `key:"l1_ways" default:"8" min:"1" max:"64" unit:"ways" doc:"MICRO 2015 (unconfirmed): 8."`
	L1Latency int `key:"l1_latency" default:"2" min:"1" max:"1000" unit:"cycles"`
	L2Bytes   int `key:"l2_bytes" default:"256KiB" min:"64" max:"64MiB" unit:"bytes"`
	L2Ways    int `key:"l2_ways" default:"8" min:"1" max:"64" unit:"ways" doc:"MICRO 2015 (unconfirmed): 8."`
	L2Latency int `key:"l2_latency" default:"7" min:"1" max:"1000" unit:"cycles" doc:"MICRO 2015 (unconfirmed): 7."`
	L3Bytes   int `key:"l3_bytes" default:"1MiB" min:"64" max:"64MiB" unit:"bytes"`
	L3Ways    int `key:"l3_ways" default:"16" min:"1" max:"64" unit:"ways" doc:"MICRO 2015 (unconfirmed): 16."`
	L3Latency int `key:"l3_latency" default:"9" min:"1" max:"1000" unit:"cycles" doc:"MICRO 2015 (unconfirmed): 9."`

	HopLatency int `key:"hop_latency" default:"3" min:"1" max:"1000" unit:"cycles"`
	LinkBytes  int `key:"link_bytes" default:"32" min:"8" max:"256" unit:"bytes"`

	MemoryLatency     int `key:"memory_latency" default:"120" min:"1" max:"100000" unit:"cycles"`
	MemoryControllers int `key:"memory_controllers" default:"4" min:"1" max:"64" unit:"controllers"`
	MemoryInterval    int `key:"memory_interval" default:"8" min:"1" max:"64" unit:"cycles"`
}

// Docs has the long descriptions of keys.
func (Spec) Docs() map[string]string {
	return map[string]string{
		"task_queue": "Task queue entries for each core of a tile; a task holds one until it commits. MICRO 2015, as " +
			"a second description has it: 64.",
		"commit_queue": "Commit queue entries for each core of a tile, which hold finished tasks. MICRO 2015, as a " +
			"second description has it: 16.",
		"task_op": "Cycles of an enqueue, of a dispatch and of a finish. MICRO 2015 (unconfirmed): 5.",
		"mapping": "The tile of a new task. random: any (MICRO 2015). hint: that of the cache line of the word in its " +
			"a0, as spatial hints do with an object's address (Jeffrey et al., MICRO 2016; that a0 is the hint is " +
			"ours). local: its parent's (ours).",
		"seed": "Of the random mapping, and of the signatures' hash functions.",
		"signatures": "How a task's read and write sets are kept. bloom: signatures, with false positives (MICRO " +
			"2015). exact: as sets, without.",
		"signature_bits": "Bits of a signature, a power of two times signature_ways. MICRO 2015 (unconfirmed): 2048.",
		"signature_ways": "Hash functions (H3), each with its share of the bits. MICRO 2015 (unconfirmed): 8.",
		"tile_check":     "A check of an access against a tile's tasks. MICRO 2015 (unconfirmed): 5.",
		"time_compare": "More, for each task whose signature matches, to compare virtual times. MICRO 2015 " +
			"(unconfirmed): 1.",
		"rollback": "To restore an entry of an undo log. Not found published; ours: an access of the L2.",
		"commit_interval": "Between updates of global virtual time, at which tasks commit. MICRO 2015, as a second " +
			"description has it: 200.",
		"preempt_after": "Updates of global virtual time in which the earliest task of all waits for a core before it " +
			"aborts the tile's latest running task, which may run endlessly on values read out of order. Not " +
			"found published; ours.",
		"spill_at": "Occupancy of the task queue at which a coalescer spills idle tasks. MICRO 2015 (unconfirmed): 85 " +
			"%.",
		"spill_tasks": "Tasks that a coalescer spills at most. MICRO 2015 (unconfirmed): 15.",
		"spill_task": "Core cycles to spill or to restore a task. Not found published; ours: a task instruction and " +
			"an access of the L2.",
		"line_bytes": "Line of all caches, and the unit of conflicts; a power of two. MICRO 2015 (unconfirmed): 64.",
		"l1_bytes":   "L1D of a core. MICRO 2015 (unconfirmed): 16 KB.",
		"l1_latency": "Of a miss, before the L2 is asked; a hit takes its instruction's cycle (IPC 1). MICRO 2015 " +
			"(unconfirmed): 2.",
		"l2_bytes": "L2 of a tile, inclusive. MICRO 2015: 256 KB; and UGF (§6): 64 KB a core, in tiles of 4.",
		"l3_bytes": "L3 bank of each tile, with the directory of its lines. MICRO 2015: 1 MB; and UGF (§6): 256 KB a " +
			"core, in tiles of 4.",
		"hop_latency":        "Of a hop of the mesh, X first, then Y. MICRO 2015 (unconfirmed): 3.",
		"link_bytes":         "What a link of the mesh carries in a cycle. MICRO 2015 (unconfirmed): 256 bits.",
		"memory_latency":     "Of main memory, from its controller. MICRO 2015 (unconfirmed): 120.",
		"memory_controllers": "At the edges of the chip, by line. MICRO 2015 (unconfirmed): 4.",
		"memory_interval":    "Between lines of a controller. Not found published; ours: 16 GB/s at 2 GHz.",
	}
}

// Mapping chooses the tile of a new task.
type Mapping string

// Mappings.
const (
	MapRandom Mapping = "random"
	MapHint   Mapping = "hint"
	MapLocal  Mapping = "local"
)

// Signatures chooses how read and write sets are kept.
type Signatures string

// Signatures' kinds.
const (
	Bloom Signatures = "bloom"
	Exact Signatures = "exact"
)

// DefaultSpec returns the machine of MICRO 2015.
func DefaultSpec() Spec {
	return Spec{
		TaskQueue: 64, CommitQueue: 16, TaskOp: 5, Mapping: MapRandom, Seed: 1,
		Signatures: Bloom, SignatureBits: 2048, SignatureWays: 8, TileCheck: 5, TimeCompare: 1, Rollback: 7,
		CommitInterval: 200, PreemptAfter: 8, SpillAt: 85, SpillTasks: 15, SpillTask: 12,
		LineBytes: 64, L1Bytes: 16 << 10, L1Ways: 8, L1Latency: 2, L2Bytes: 256 << 10, L2Ways: 8, L2Latency: 7,
		L3Bytes: 1 << 20, L3Ways: 16, L3Latency: 9, HopLatency: 3, LinkBytes: 32,
		MemoryLatency: 120, MemoryControllers: 4, MemoryInterval: 8,
	}
}

// MaxTiles is the number of tiles that a directory entry names.
const MaxTiles = 64

// Fits checks conditions between keys; key is the one with the wrong value.
func (s *Spec) Fits() (key, msg string, ok bool) {
	switch {
	case !powerOfTwo(s.LineBytes):
		return "line_bytes", fmt.Sprintf("%d: expected a power of two", s.LineBytes), false
	case s.SignatureBits%s.SignatureWays != 0 || !powerOfTwo(s.SignatureBits/s.SignatureWays):
		return "signature_bits", fmt.Sprintf("%d: expected a power of two times signature_ways = %d", s.SignatureBits,
			s.SignatureWays), false
	}
	for _, c := range []struct {
		key         string
		bytes, ways int
	}{{"l1_bytes", s.L1Bytes, s.L1Ways}, {"l2_bytes", s.L2Bytes, s.L2Ways}, {"l3_bytes", s.L3Bytes, s.L3Ways}} {
		if set := s.LineBytes * c.ways; c.bytes%set != 0 || !powerOfTwo(c.bytes/set) {
			return c.key, fmt.Sprintf("%d: expected a power of two times line_bytes × ways = %d", c.bytes, set), false
		}
	}
	return "", "", true
}

func powerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }
