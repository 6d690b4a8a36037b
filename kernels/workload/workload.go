// Package workload describes a computation and how its work is distributed: the keys below workload in
// docs/reference/configuration.md.
package workload

import (
	"fmt"
	"slices"
	"strings"

	"heddle/components/accel"
	"heddle/configs/schema"
	"heddle/internal/registry"
	"heddle/kernels/algorithm"
	"heddle/kernels/feature"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
)

// Workload is an algorithm and how its work is distributed.
//
// Its keys are in groups, its fields are not: most code reads fields of several groups, and the
// order of fields is that of stored configurations (schema.Schema.Canonical). A
// group's main key may be written in its place, as schedule: twce. The alternative, a scalar schedule beside a section
// with the schedule's other keys, would need two names for one thing; and a list or mapping as a main key could not be
// told from the group, but no main key is one.
type Workload struct {
	Trace          string         `key:"trace" default:""`
	Program        string         `key:"program" default:"heddle"`
	Arguments      []string       `key:"graphit.arguments" default:""`
	ScheduleFile   string         `key:"graphit.schedule_file" default:""`
	Schedules      schema.Mapping `key:"graphit.schedules" default:"{}"`
	Float          bool           `key:"graphit.float" default:"false"`
	Host           HostProgram    `key:"host"`
	Kernel         Choice         `key:"kernel" default:"compiled" oneof:"compiled,handwritten"`
	Algorithm      Algorithm      `key:"algorithm.name" main:"true" default:"pagerank"`
	Recipe         Choice         `key:"recipe.name" main:"true" default:"none"`
	ScaleFree      float64        `key:"recipe.scale_free" default:"8" min:"0" max:"1e9" unit:""`
	Schedule       Schedule       `key:"schedule.name" main:"true" default:"vertex"`
	Layout         Layout         `key:"layout.name" main:"true" default:"auto"`
	Direction      Choice         `key:"direction.name" main:"true" default:"auto" oneof:"auto,push,pull,hybrid"`
	ActiveSet      Choice         `key:"frontier.set" main:"true" default:"auto"`
	Dedup          Choice         `key:"frontier.dedup" default:"auto" oneof:"auto,none,bitmap,bytemap,monotonic"`
	Order          Choice         `key:"order.name" main:"true" default:"none" oneof:"none,near-far,buckets"`
	Delta          int            `key:"order.delta" default:"0" min:"0" max:"2147483647" unit:""`
	Buckets        int            `key:"order.buckets" default:"8" min:"1" max:"1024" unit:"buckets"`
	Scan           Choice         `key:"schedule.scan" default:"shuffle" oneof:"shuffle,scratchpad"`
	Skip           Choice         `key:"schedule.skip" default:"early" oneof:"early,filtered"`
	Settled        bool           `key:"direction.settled" default:"false"`
	Sum            Choice         `key:"compiler.sum" default:"register" oneof:"register,memory,atomic"`
	Ahead          bool           `key:"compiler.ahead" default:"true"`
	Unroll         Choice         `key:"compiler.unroll" default:"1" oneof:"1,2,4,8,auto"`
	Spill          Choice         `key:"compiler.spill" default:"memory" oneof:"memory,registers"`
	Coefficient    Choice         `key:"compiler.coefficient" default:"hardware"`
	BlockVertices  int            `key:"layout.block_vertices" default:"16384" min:"1" max:"134217728" unit:"vertices"`
	BlockBy        Choice         `key:"layout.block_by" default:"destination" oneof:"destination,source,both"`
	ShardVertices  int            `key:"layout.shard_vertices" default:"4096" min:"1" max:"134217728" unit:"vertices"`
	VirtualDegree  int            `key:"layout.virtual_degree" default:"8" min:"1" max:"134217728" unit:"edges"`
	ELLWidth       int            `key:"layout.ell_width" default:"0" min:"0" max:"65536" unit:"slots"`
	SlotOrder      Choice         `key:"layout.slot_order" default:"auto" oneof:"auto,rows,columns"`
	Diagonals      int            `key:"layout.dia_diagonals" default:"0" min:"0" max:"32" unit:"diagonals"`
	WarpsPerCore   int            `key:"schedule.warps_per_core" default:"0" min:"0" max:"64" unit:"warps"`
	CTAThreads     int            `key:"schedule.cta_threads" default:"0" min:"0" max:"2048" unit:"threads"`
	Fusion         Choice         `key:"compiler.fusion" default:"none" oneof:"none,loop"`
	HybridRule     Choice         `key:"direction.rule" default:"beamer" oneof:"beamer,sep-graph"`
	Alpha          float64        `key:"direction.alpha" default:"14" min:"0" max:"1e9" unit:""`
	Beta           float64        `key:"direction.beta" default:"24" min:"0" max:"1e9" unit:""`
	Width          int            `key:"algorithm.width" default:"16" min:"1" max:"256" pow2:"true" unit:"numbers"`
	Source         int            `key:"algorithm.source" default:"-1" min:"-1" max:"2147483647" unit:""`
	Target         int            `key:"algorithm.target" default:"-1" min:"-1" max:"2147483647" unit:""`
	Seed           uint64         `key:"algorithm.seed" default:"1" unit:""`
	Iterations     int            `key:"max_iterations" default:"0" min:"0" max:"1000000" unit:"super-steps"`
	Damping        float64        `key:"algorithm.damping" default:"0.85" min:"0" max:"1" unit:""`
	Tolerance      float64        `key:"algorithm.tolerance" default:"0" min:"0" max:"1e9" unit:""`
	Threshold      float64        `key:"algorithm.threshold" default:"0.01" min:"1e-9" max:"1" unit:""`
	Features       Features       `key:"features"`
	LaunchOverhead int            `key:"launch_overhead" default:"2000" min:"0" max:"1000000000" unit:"cycles"`
	Variant        Choice         `key:"schedule.variant" default:"own" oneof:"own,graphit,sep-graph,gunrock"`
	StepOverhead   int            `key:"step_overhead" default:"0" min:"0" max:"1000000000" unit:"cycles"`
	BlockEqual     Choice         `key:"layout.block_equal" default:"vertices" oneof:"vertices,edges"`
}

// Tags has the names that keys had before they were grouped, and the longest lists of values.
func (Workload) Tags() map[string]string { return tags }

var tags = map[string]string{
	"graphit.arguments":     `was:"arguments"`,
	"graphit.schedule_file": `was:"schedule_file"`,
	"graphit.schedules":     `was:"schedules"`,
	"graphit.float":         `was:"float"`,
	"recipe.name":           `oneof:"none,datadriven,strict,gunrock,sepgraph,hwwl,graphpeg"`,
	"recipe.scale_free":     `was:"scale_free"`,
	"frontier.set": `was:"active_set" oneof:"auto,queue,bitmap,bytemap,counter,list,qnb-bitmap,qnb-bytemap,` +
		`rqnb-bitmap,rqnb-bytemap,outputs"`,
	"frontier.dedup":          `was:"dedup"`,
	"order.delta":             `was:"delta"`,
	"order.buckets":           `was:"buckets"`,
	"schedule.scan":           `was:"scan"`,
	"schedule.skip":           `was:"skip"`,
	"direction.settled":       `was:"settled"`,
	"compiler.sum":            `was:"sum"`,
	"compiler.ahead":          `was:"ahead"`,
	"compiler.unroll":         `was:"unroll"`,
	"compiler.spill":          `was:"spill"`,
	"compiler.coefficient":    `was:"coefficient" oneof:"hardware,software-division,software"`,
	"layout.block_vertices":   `was:"block_vertices"`,
	"layout.block_by":         `was:"block_by"`,
	"layout.shard_vertices":   `was:"shard_vertices"`,
	"layout.virtual_degree":   `was:"virtual_degree"`,
	"layout.ell_width":        `was:"ell_width"`,
	"layout.slot_order":       `was:"slot_order"`,
	"layout.dia_diagonals":    `was:"dia_diagonals"`,
	"schedule.warps_per_core": `was:"warps_per_core"`,
	"schedule.cta_threads":    `was:"cta_threads"`,
	"compiler.fusion":         `was:"fusion"`,
	"direction.rule":          `was:"hybrid_rule"`,
	"direction.alpha":         `was:"alpha"`,
	"direction.beta":          `was:"beta"`,
	"algorithm.width":         `was:"width"`,
	"algorithm.source":        `was:"source"`,
	"algorithm.target":        `was:"target"`,
	"algorithm.seed":          `was:"seed"`,
	"algorithm.damping":       `was:"damping"`,
	"algorithm.tolerance":     `was:"tolerance"`,
	"algorithm.threshold":     `was:"threshold"`,
}

// Docs describes the keys.
func (Workload) Docs() map[string]string { return docs }

var docs = map[string]string{
	"trace": "A file written by heddle trace record, relative to the working directory. Its " +
		"instructions are replayed, and nothing is computed: there is no graph, and the other " +
		"keys stay at their defaults. See docs/reference/traces.md.",
	"program": "heddle: a built-in kernel, by the choices below. Otherwise a user's program, on " +
		"which the choices below have no effect: C (.c, which needs a RISC-V compiler), assembly " +
		"(.s), or an ELF file, relative to the working directory, or the name of a shipped " +
		"program. workload.host describes its inputs and launches; see docs/guide/programs.md. " +
		"Or a GraphIt program (.gt), which is its own host program; see docs/guide/graphit.md.",
	"graphit": "A GraphIt program's arguments, schedules and numbers. For GraphIt programs (.gt) " +
		"only.",
	"graphit.arguments": "The arguments of a GraphIt program (.gt) from argv[2] on; argv[1] is " +
		"the graph. An argument that names a vertex refers to its number in the graph as read, " +
		"like source.",
	"graphit.schedule_file": "A file with a schedule that replaces that of a GraphIt program, " +
		"relative to the working directory.",
	"graphit.schedules": "Schedules of a GraphIt program by label, each of which replaces that " +
		"of the program or of schedule_file for the label: {loop:step: {load_balance: TWCE, " +
		"direction: [PULL, BITMAP], frontier_creation: FUSED, deduplication: ENABLED, delta: 16, " +
		"kernel_fusion: DISABLED}}, with the words of the language's config functions, one or a " +
		"list; for two schedules by the size of the input, {threshold: 0.1, below: {…}, above: " +
		"{…}}; swarm: {delta: 4} has the settings for machines of Swarm tiles. Properties of an " +
		"operator without a schedule follow workload's choices. " +
		"docs/guide/graphit.md.",
	"graphit.float": "true: a GraphIt program's double is computed as float, which is faster. false: in " +
		"software, since the machine has 32-bit numbers only.",
	"host": "The host side of workload.program. It has no effect without a program.",
	"kernel": "compiled: composed of the choices below. handwritten: assembly, as a yardstick; " +
		"only pagerank under vertex, edge and weaver, with the other choices at auto.",
	"algorithm": "The algorithm, its parameters and its input beside the graph.",
	"algorithm.name": "The algorithm. pagerank: f32; the rank of a vertex without out-edges is " +
		"not passed on, as in GAP and GraphIt. pagerank-delta: the same by changes, of which a " +
		"vertex sends those above threshold. bfs: levels. bfs-parents: a tree. sssp: " +
		"Bellman-Ford over a frontier. cc: label propagation. cc-soman: hooking of roots to " +
		"roots and pointer jumping, all edges in each super-step. spmv: f32, once. in-degree: " +
		"once. spmm, graphsum: operators of a graph convolution, f32, once; vertices have width " +
		"numbers. k-core: core numbers by peeling, push only. k-core-counted: the same, with a " +
		"first super-step in which all vertices push to count degrees. stcon: whether a path " +
		"joins source and target, from both ends. colouring: of a graph without self-loops, by " +
		"independent sets, push only; it uses as many colours as super-steps. bc: betweenness " +
		"centrality from one source, forward in any direction and then back through the " +
		"super-steps, which pushes and needs rows by source. At most 3.4e38 shortest paths. " +
		"triangles: the number of triangles of which each vertex is the least, by merging the " +
		"rows of both ends of each edge, once; needs a graph with both directions of every edge, " +
		"without self-loops and duplicates.",
	"recipe": "A published implementation, as a set of choices.",
	"recipe.name": "A published implementation, which sets schedule, direction, frontier, " +
		"frontier.dedup and order, sepgraph schedule.variant too, and sepgraph and graphpeg " +
		"direction.rule, alpha and beta; a contradicting value of one of these keys is refused. " +
		"docs/design/kernels.md lists the settings, heddle kernel choices the simplifications. " +
		"Source: GraphPEG §2.1 and §4.4.",
	"recipe.scale_free": "The ratio of a vertex's degree, in or out, to the mean degree from " +
		"which on recipes sepgraph and graphpeg take a graph as scale-free. Roads and meshes " +
		"reach 2 to 4, social graphs and crawls 11 and more. 0: every graph is. Source: ours, as " +
		"none is published.",
	"schedule": "Distribution of edges over lanes.",
	"schedule.name": "Mapping of edges to lanes. vertex: each lane walks the row of its vertex. " +
		"edge: each lane handles an edge, all edges in turn. warp, cta: the lanes of a warp or " +
		"of a core share their rows by a scan and binary searches. twc: vertices are sorted by " +
		"degree into three queues in memory, and three launches follow, in which a thread, a " +
		"warp or a thread block walks a row (TWC: Merrill et al., PPoPP 2012; GRAssembler §2.2). " +
		"twce: each row is split into parts for a whole thread block, for a warp, and a rest for " +
		"a thread, by way of queues in the scratchpad (ETWC: UGF §5.2.2). strict: all warps get " +
		"equally many edges, by a scan over the device and binary searches (load-balanced " +
		"partitioning, Davidson et al., IPDPS 2014). shard: a thread block takes a shard of the " +
		"layouts gshard and gshard-windows, sums up in the scratchpad, and writes the windows " +
		"of its vertices (CuSha, HPDC 2014). {units} Source: GRAssembler §2.2, " +
		"SparseWeaver §III-A.",
	"layout": "Arrangement of the graph's edges in memory.",
	"layout.name": "Layout of the edges in memory. csr: rows by source. csc: by destination. " +
		"csr-csc: both. coo: both ends of every edge. block-coo: both ends, block by block of " +
		"destinations, sources or both (EdgeBlocking: UGF §5.2.3); a vertex has a row in each " +
		"block. edge-blocking: the same without rows, for edge; all threads of the device finish " +
		"a block before any begins the next (UGF's Algorithm 3). gshard: both ends, shard by shard of destinations, with the value that each edge " +
		"brings, which a kernel writes before each gather (CuSha, HPDC 2014, as in GRAssembler " +
		"§6.5; its sums in the scratchpad are schedule shard's). gshard-windows: gshard, for " +
		"schedule shard, with the windows of a shard's vertices side by side. virtual: csr or csc with rows split into " +
		"virtual vertices of at most virtual_degree edges; virtual-coalesced: the same with " +
		"edges dealt to virtual vertices in turn, for vertex and hwwl (Tigr, ASPLOS 2018). " +
		"ell-csr, ell-coo: an equal number of slots for each row, and further edges in rows, or " +
		"as both ends of each, handled edge by edge. dia-coo: the fullest diagonals of the " +
		"matrix, and a rest as in ell-coo. auto: coo for edge, otherwise the rows that the " +
		"direction walks.",
	"direction": "The end of edges at which kernels walk.",
	"direction.name": "push: active sources walk their out-edges. pull: destinations walk their " +
		"in-edges. hybrid: chosen for each super-step by the frontier. auto: pull for pagerank, " +
		"spmv, in-degree, spmm and graphsum, otherwise push.",
	"frontier": "The active vertices of a super-step.",
	"frontier.set": "Data structure of the frontier, the active vertices. counter: only their " +
		"number; every vertex is walked. list: the graph units' vertex-lists, under peg and " +
		"hwwl; with any other set under these schedules, a kernel registers the active vertices " +
		"before each gather. qnb-bitmap, qnb-bytemap: a map, from which a kernel makes a queue " +
		"before each push (UGF: UNFUSED_BITMAP, UNFUSED_BOOLMAP; GRAssembler: QnB). rqnb-bitmap, " +
		"rqnb-bytemap: a map; before each pull a kernel makes a queue of the destinations that " +
		"can still change (RQnB), for bfs, bfs-parents, bc and sssp with settled. outputs: a word for " +
		"each edge that is walked, its vertex or none, from which a kernel makes a queue before each push, under " +
		"strict (Gunrock 1.1). auto: counter " +
		"where all vertices are active, list for push under peg and hwwl, queue for push except " +
		"under edge, otherwise bytemap. Source: GRAssembler §5.2.",
	"frontier.dedup": "Mechanism that prevents a queue, a list or that of outputs from taking a vertex twice. " +
		"monotonic: the number of the super-step in which the vertex was last added. auto: " +
		"monotonic for sssp and cc, none for the others, whose sums let one lane win. Source: " +
		"UGF.",
	"order": "Order in which active vertices are processed.",
	"order.name": "Order of active vertices. near-far: those below a threshold first; the others " +
		"wait on a pile that is processed when none is left (Davidson et al., IPDPS 2014). " +
		"buckets: Δ-stepping; the others wait in buckets of width delta, of which the first " +
		"non-empty one is next (Meyer and Sanders 2003; eager, as in GraphIt, CGO 2020). Only " +
		"sssp with a queue, a list or qnb.",
	"order.delta": "Distance between near-far's thresholds, or width of a bucket. 0: 32 × mean " +
		"weight / mean degree, as Davidson et al. advise.",
	"order.buckets": "Number of open buckets with order buckets, each with room for all " +
		"vertices; vertices beyond them are kept together and distributed when the open ones are " +
		"empty. Source: Julienne (SPAA 2017), where it is 128.",
	"schedule.scan": "Means by which the lanes of a warp exchange degrees under warp, cta, twc, " +
		"twce and strict.",
	"schedule.skip": "The time at which a kernel under weaver, in the direction pull, tells the " +
		"unit to drop the remaining edges of a vertex (bfs, bfs-parents). early: at each edge " +
		"that decides the vertex, as soon as its source is known to be active (ours). filtered: " +
		"every edge first tests whether its vertex is decided, and if so drops the rest and " +
		"continues with the next. Source: SparseWeaver Fig. 9, lines 17 and 18.",
	"direction.settled": "true: sssp in pull does not walk destinations that no active vertex " +
		"can improve in a super-step, those whose distance is at most the least distance of an " +
		"active vertex plus the least weight, which the host looks up at no cost; with skip " +
		"filtered, it drops the rest of their edges. Source: ours; SparseWeaver §V-A has a " +
		"destination filter in SSSP without saying which.",
	"compiler": "How kernels are compiled: by heddle's own compiler, from all other choices.",
	"compiler.sum": "Accumulation by a thread that alone updates a vertex: under vertex and hwwl " +
		"in the direction pull, and on the way back of bc; all other sums are atomics. register: " +
		"in a register between one load and one store for each row (ours, the best that software " +
		"does). memory: a plain load, operation and store for each edge, into which GRAssembler " +
		"§5.1 turns an atomic. atomic: an atomic for each edge.",
	"compiler.ahead": "true: a thread that walks a row reads the next edge while it waits for " +
		"the current one, and with sum register adds the previous one meanwhile (vertex and " +
		"hwwl). false: the plain loop, one edge after the other. Source: ours; no paper has it " +
		"in its baseline's listing.",
	"compiler.unroll": "Number of edges that a thread handles at a time in loops over edges " +
		"under software schedules and hwwl: their loads are in flight together before the first " +
		"is used, past stores to other arrays, and the remainder of a row is handled one edge at " +
		"a time. ahead has no effect then. auto: as nvcc unrolls such loops (SASS of nvcc 13.0, " +
		"-O3, sm_90). Where a thread walks a row: 16, 8, then 4 if it sums up in a register, " +
		"else 4. 1 where a row may be left early, where a loop has no constant step (edge, " +
		"virtual-coalesced, columns), and where lanes share a loop (warp, cta, strict, parts of " +
		"twc and twce). Under any schedule and unit, auto also computes values behind the first " +
		"test behind which they are needed, so that warps without work end soon, and has no loop " +
		"in a scan over a warp. 1: as in recorded results. Source: ours.",
	"compiler.spill": "Storage for values of a kernel that do not fit into the 32 integer " +
		"registers. memory: each thread's stack; values that an instruction or two can compute " +
		"are recomputed. registers: free float registers (fmv.w.x, fmv.x.w), then the stack; " +
		"nvcc spills nothing in such kernels, as threads may have 255 registers. Source: ours.",
	"compiler.coefficient": "Computation of 1/√(outdegree·indegree) in graphsum. hardware: in " +
		"f32, by the core's fsqrt.s and fdiv.s. software-division: literally 1.0 / sqrtf(x): a " +
		"root in f32, and a division in double by integer instructions, as the core has no " +
		"doubles (RV32F). software: 1.0 / sqrt(x), all in double by integer instructions. In C " +
		"these take 16, 329 and 1,389 instructions (kernels/c/counted), in kernels about 4, 306 " +
		"and 1,550. Source: ours. SparseWeaver §V-I says that the coefficient is costly, but " +
		"neither which one nor by which code; the software readings were chosen after the " +
		"outcome of hardware was known to be far from the published 6.15.",
	"layout.block_vertices": "Vertices of a block, by number, under the layouts block-coo and " +
		"edge-blocking; other layouts refuse any value but the default. The values of a block's vertices should fit a " +
		"cache: 16,384 words are 64 KiB. Source: UGF, Algorithm 2, where the programmer chooses.",
	"layout.block_by": "The vertices that blocks of block-coo and edge-blocking divide: destinations, " +
		"as in UGF's Algorithm 2, so that sums stay in a cache; sources, so that the values that " +
		"edges bring do; or both, in blocks of equal size at either end, grouped by blocks of " +
		"the end that the direction walks. Within a block, edges are sorted by the other end; " +
		"with both, by the end that the direction walks. Rows belong to that end: schedules " +
		"other than edge push with destination, pull with source, and either with both. Source: " +
		"GRAssembler §5.2 (blocking by diverse partitioning policies).",
	"layout.block_equal": "What is divided equally among the blocks of block-coo and edge-blocking. vertices: each has " +
		"layout.block_vertices. edges: as many blocks, which begin where their share of all edges does, at the end " +
		"that forms them; the edges of a vertex at that end are in one block. Source: GRAssembler §5.2, " +
		"\"standard (edge or vertex)\", after Gluon (PLDI 2018).",
	"layout.shard_vertices": "Destinations of a shard, by number, under the layouts gshard and " +
		"gshard-windows; other layouts refuse any value but the default. Source: CuSha, HPDC " +
		"2014, §3: as many as fit into a thread block's shared memory, here the 16 KiB of a core's " +
		"scratchpad.",
	"layout.virtual_degree": "Largest number of edges of a virtual vertex under the layouts " +
		"virtual and virtual-coalesced; other layouts refuse any value but the default. Source: " +
		"Tigr's published code (Part_Size in github.com/AutomataLab/Tigr, shared/globals.hpp).",
	"layout.ell_width": "Slots of each row under the layouts ell-csr and ell-coo; other layouts " +
		"refuse any value but the default. Further edges are in the rest. 0: the graph's mean " +
		"degree, rounded up to a power of two. At most 134,217,728 slots in all. Source: " +
		"GRAssembler §2.3 has a constant number without giving it.",
	"layout.slot_order": "Order of the slots of ell-csr and ell-coo in memory. columns: the " +
		"first slots of all rows, then the second, and so on, so that threads that each walk a " +
		"row read neighbouring words (Bell and Garland, SC 2009). rows: the slots of a row side " +
		"by side (GRAssembler, Fig. 2), for threads that share rows. auto: columns where a " +
		"thread walks a row alone (vertex, hwwl), otherwise rows.",
	"layout.dia_diagonals": "Largest number of diagonals of the layout dia-coo, which takes the " +
		"fullest; other layouts refuse any value but the default. Other edges, and parallel " +
		"ones, are in the rest. 0: the diagonals with at least half as many edges as the graph " +
		"has vertices, and at least one. Source: ours; GRAssembler's Fig. 2 has the two beside " +
		"the main one.",
	"schedule.warps_per_core": "Warps of each core that run the kernels. 0: all of the " +
		"machine's. Source: GraphPEG §3.1: only a few thread blocks run on an SM at a time, in " +
		"an unstated number.",
	"schedule.cta_threads": "Threads of a thread block under cta, twc and twce, whose threads " +
		"share their rows, shard, and edge with variant gunrock: whole warps, and as many blocks in each core as fit " +
		"its warps. 0: all threads of a core form one block; with variants sep-graph and gunrock, blocks of 256, " +
		"where they fit. Source: " +
		"GraphPEG §2.1 (cooperative blocks) and SparseWeaver Table I share by thread block, for which CUDA " +
		"allows up to 1,024 threads; neither gives a size.",
	"schedule.variant": "Whose code cta, twc, twce and edge have. gunrock: edge as Gunrock's advance over all edges, " +
		"which its PageRank is (AE_advance/kernel.cuh in 1.1), on layout coo: blocks of 256 threads go through the " +
		"pairs, with a barrier behind each edge of a thread, and scan the number of their outputs at every eighth. " +
		"sep-graph: cta as SEP-Graph's cooperative blocks " +
		"(cta_scheduler_hybrid.cuh, fine grain), which GraphPEG compares with: rows of at least a block's threads are " +
		"walked by the block, those of at least a warp's lanes by the warp, and others too, row by row; where the " +
		"first edge decides a vertex in pull, a thread walks its row, as its BFS has it. " +
		"graphit: as GraphIt's runtime for GPUs, which UGF evaluates (load_balance.h). twce: 8 threads share the rest of a row, without a queue (STAGE_1_SIZE; UGF, " +
		"Algorithm 1, has Stage_gran[0], of no value), atomics give chunks their places, and warps take " +
		"them as they come. twc: a warp shares its lanes' small rows, with a scan and searches. cta: a " +
		"thread searches all of the block's sums for each edge. Its block scan has 2 · log2(warps) + 6 " +
		"barriers. twc's launches are always four. All chosen after outcomes of own were known.",
	"compiler.fusion": "Location of the loop over super-steps. none: on the host, which launches " +
		"each kernel. loop: on the device (kernel fusion): a run is one launch, in which all " +
		"warps go from kernel to kernel with device-wide barriers between them, and one lane " +
		"exchanges the frontier and decides what comes next. Not with the graph units' " +
		"vertex-lists, settled and hybrid, and only for complete runs: no region, no sample. " +
		"Source: UGF §2.5.2 and §5.2.1.",
	"direction.rule": "Rule by which hybrid decides. beamer: see alpha and beta. sep-graph: it " +
		"pulls when more than 1/alpha of the edges that have not been pushed along leave the " +
		"frontier, and stays there while the frontier has more than 1/beta of the vertices, " +
		"whether it grows or not. Source: SEP-Graph's code (PPoPP 2019, hybrid_policy.h), where " +
		"alpha is 15 and beta 18.",
	"direction.alpha": "hybrid pulls when a growing frontier has more than 1/alpha of the edges " +
		"of vertices not yet reached (bfs), or of all edges. Source: Beamer et al., SC 2012.",
	"direction.beta": "hybrid pushes again when a frontier that does not grow has fewer than " +
		"1/beta of the vertices. Source: Beamer et al., SC 2012.",
	"algorithm.width": "Numbers of a vertex in spmm and graphsum. Under vertex each has a thread " +
		"of its own; under other schedules, the lane of an edge handles them in turn. Source: " +
		"SparseWeaver §V-I: 16.",
	"algorithm.source": "Vertex at which bfs, sssp, stcon and bc begin, by its number in the " +
		"graph as it was read or generated, wherever graph.clean.compact_ids and graph.reorder " +
		"move it. -1: drawn from the largest component: the first of up to 64 draws from which a " +
		"tenth of the edges can be reached, or else the one that reaches the most.",
	"algorithm.target": "Vertex that stcon searches for from the source, by its number in the " +
		"graph as it was read or generated. -1: drawn from the largest component.",
	"algorithm.seed": "Seed of random choices: source and target; the vectors of spmv, spmm and " +
		"graphsum; the priorities in colouring.",
	"max_iterations": "Largest number of super-steps. 0: one for pagerank; for algorithms that " +
		"end by themselves, no limit. Ranks and features are verified after any number. The " +
		"result of a stopped run of bfs, bfs-parents, stcon, k-core and colouring must equal " +
		"that of the reference at that point; that of sssp and cc, which may use a value within " +
		"the super-step that computes it, must lie between that and the end. The table says yes " +
		"(stopped after N). bc and cc-soman have no limit. For a user's program with host.until, " +
		"and for the edge operators of a GraphIt program, it is a limit beyond which the point " +
		"fails.",
	"algorithm.damping": "PageRank's d; less than 1 with pagerank-delta.",
	"algorithm.tolerance": "PageRank has converged when Σ|change of a rank| is at most this. 0: " +
		"never, and the sum is not computed. pagerank-delta ends then, or when no change is " +
		"above threshold.",
	"algorithm.threshold": "A vertex sends the change of its rank in pagerank-delta if it " +
		"exceeds this fraction of the rank. Source: Ligra (PageRankDelta.C, epsilon2); GraphIt " +
		"has 0.1.",
	"features": "Choices of algorithms on features of vertices and edges (ONYX: L. Vaz, Towards " +
		"Feature-Aware Graph Processing on the GPU, SFU 2021): lp, als, bp, mmr, mml and " +
		"aggregate. Not for other algorithms.",
	"launch_overhead": "Host time for each kernel launch, which is included in cycles, and shown " +
		"separately in launch.overhead_cycles. 2000 is about 2 µs.",
	"step_overhead": "Host time for each super-step beyond its launches: the copy of a word by which the host " +
		"learns whether, and with what, to go on. Every super-step pays it, also where their number is fixed; a " +
		"fused loop has none, and a loop that is one launch on Swarm pays one. Included in launch.overhead_cycles. An " +
		"H200's host takes some 3.5 µs for a launch and 8.4 µs (5.8 to 11.2) for a look.",
}

// Features are the choices of algorithms on features.
type Features struct {
	Count     int     `key:"count" default:"4" min:"1" max:"128" unit:"features"`
	Sets      int     `key:"sets" default:"1" min:"1" max:"8" unit:"sets"`
	Aware     bool    `key:"aware" default:"true"`
	Changes   bool    `key:"change_driven" default:"true"`
	Epsilon   float64 `key:"epsilon" default:"0.001" min:"0" max:"1e9" unit:""`
	Lambda    float64 `key:"lambda" default:"0.05" min:"0.001" max:"1e9" unit:""`
	Unsent    Choice  `key:"unsent" default:"lost" oneof:"lost,kept"`
	Group     Choice  `key:"group" default:"warp" oneof:"warp,block"`
	Vertices  Choice  `key:"vertices" default:"all" oneof:"all,touched"`
	Solver    Choice  `key:"solver" default:"elimination" oneof:"elimination,inverse"`
	Retracts  Choice  `key:"retraction" default:"merged" oneof:"merged,separate"`
	Pipelined bool    `key:"pipelined" default:"false"`
	Folding   Choice  `key:"folding" default:"registers" oneof:"none,scratchpad,registers"`
	Coupling  Choice  `key:"coupling" default:"edge" oneof:"edge,graph"`
}

// Docs describes the keys.
func (Features) Docs() map[string]string {
	return map[string]string{
		"count": "Features of a vertex, and of an edge if edges have features. Source: ONYX §7.3 " +
			"(4), §7.6 (1 to 128).",
		"sets": "For lp: number of label sets of a vertex, each of count labels, which are " +
			"propagated side by side with weights of their own: the first with the graph's, the " +
			"others with random weights. More than one needs a schedule that provides edges' " +
			"numbers, and folding scratchpad or registers. Source: ONYX Fig. 2.1d (P), without a " +
			"number.",
		"aware": "true: a group of lanes shares an edge or a vertex, a lane for each feature; " +
			"group applies if there are more features than lanes in a warp. false: one lane computes " +
			"all features of an edge or vertex, as other frameworks do. Source: ONYX §5.1 (FA and " +
			"NFA).",
		"change_driven": "true: only vertices that have changed send, and they send the change. " +
			"false: every vertex sends its value in every super-step. Source: ONYX §4.2 (CD and " +
			"NCD).",
		"epsilon": "A vertex has changed if one of its features has changed by more than this; a " +
			"run ends when none has. Source: ONYX Fig. 4.2, without a number.",
		"lambda": "For als: the value added to the diagonal of each matrix. Source: Zhou et al., " +
			"AAIM 2008, which ONYX follows, has 0.03 to 0.065.",
		"unsent": "Treatment of changes of at most epsilon, with change_driven. lost: they are " +
			"never sent, as in ONYX Fig. 4.2, line 32, where every vertex records its value as the " +
			"previous one in each super-step. kept: they are sent once they exceed epsilon together " +
			"with later ones (ours).",
		"group": "The lanes that share an edge or a vertex with more features than a warp has " +
			"lanes, with aware. warp: a warp, whose lanes handle several features each; under any " +
			"schedule. block: a thread block with a lane for each feature, of as many warps as that " +
			"takes and as divide a core's; under the schedules vertex and edge, in which a block " +
			"takes the role of a thread, since ONYX then disables its balancing of edges. Source: " +
			"ONYX §5.1 and §5.1.1 (block).",
		"vertices": "The vertices for which vertex functions run, with change_driven. all: every " +
			"vertex, as in ONYX Fig. 4.2, line 45. touched: those that an edge has changed, which " +
			"edges mark by an atomic (Fig. 5.1, lines 68 to 72), and those that have changed " +
			"themselves; not for lp, whose vertices change without edges.",
		"solver": "For als: computation of a vertex's factors from its matrix and ratings. " +
			"elimination: the system is solved (ours; a third of the operations). inverse: the " +
			"matrix is inverted and multiplied by the ratings. Source: ONYX Fig. 2.1b and §5.3 " +
			"(inverse).",
		"retraction": "For bp with change_driven: removal of an old message from a product. " +
			"merged: one atomic adds the difference of the logarithms (ours). separate: one atomic " +
			"removes the old message and another adds the new one. Source: ONYX §4.2 (separate).",
		"pipelined": "true: the features of a lane's edge are computed after the lane has " +
			"received its next edge, whose reads are then in flight. Source: ONYX §5.2, Fig. 5.3, " +
			"where it is always so. Needs aware.",
		"folding": "Division of the functions of vertices, and of edges, into kernels. none: " +
			"each is a kernel of its own, which passes values to later ones in memory. scratchpad: " +
			"they form one kernel, which passes values in the core's scratchpad, as ONYX generates " +
			"it (§6.2.1). registers: one kernel with values in registers, as in hand-written code " +
			"(§7.7); the default, since without aware the scratchpad would have to hold all features " +
			"of every lane.",
		"coupling": "For bp: how many matrices there are. edge: one an edge, as ONYX's §2.2.2 says, drawn so that " +
			"beliefs converge. graph: one for all edges, as Kang et al. have it (LDMTA 2010), which ONYX's bp " +
			"follows, and as its Table 7.1, and what was out of memory in Table 7.4, leave room for.",
	}
}

// OwnKernel is the program name of a workload without a user's program.
const OwnKernel = "heddle"

// Choice is the name of one of several alternatives.
type Choice string

// Alias returns the key of the unit that a text names otherwise: graphpeg for peg; else the text itself.
func (Choice) Alias(text string) string { return accel.KeyOf(text) }

// Choices that this package or experiments refer to.
const (
	Auto               = "auto" // chosen to suit the other settings; also a layout
	Compiled    Choice = "compiled"
	Handwritten Choice = "handwritten"
)

// Algorithm names the algorithm.
type Algorithm string

// Names returns the names of all algorithms.
func (Algorithm) Names() (names []string) {
	for _, a := range algorithm.Algorithms() {
		names = append(names, a.Name)
	}
	for _, a := range feature.Algorithms() {
		names = append(names, a.Name)
	}
	return names
}

// Explain appends the descriptions of registered algorithms.
func (Algorithm) Explain(doc string) string {
	for _, a := range algorithm.Algorithms()[algorithm.Own:] {
		doc += " " + a.Name + ": " + a.Doc + "."
	}
	doc += " On features, as workload.features says, until no feature changes by more than its epsilon:"
	for i, a := range feature.Algorithms() {
		if i > 0 {
			doc += ";"
		}
		doc += " " + a.Name + ": " + a.Doc
	}
	doc += "."
	return doc
}

// PageRank is the algorithm with hand-written kernels.
const PageRank Algorithm = "pagerank"

// Layout is the name of a topology layout.
type Layout string

// Names returns the names of all layouts, and auto.
func (Layout) Names() []string {
	names := []string{Auto}
	for _, l := range layout.Layouts() {
		names = append(names, l.Name)
	}
	return names
}

// Explain appends the descriptions of registered layouts.
func (Layout) Explain(doc string) string {
	for _, l := range layout.Layouts()[layout.Own:] {
		doc += " " + l.Name + ": " + l.Doc + "."
	}
	return doc
}

// Schedule is the name of a schedule, which distributes edges over lanes.
type Schedule string

// Names returns the names of all schedules.
func (Schedule) Names() (names []string) {
	for _, s := range schedule.All() {
		names = append(names, s.Name)
	}
	return names
}

// Alias returns the name of the only schedule of the unit whose section in a machine's cores has this key, as peg for
// graphpeg; else the text itself.
func (s Schedule) Alias(text string) string {
	if slices.Contains(s.Names(), text) {
		return text
	}
	for _, u := range accel.Registered() {
		if of := schedule.OfUnit(u.Name); u.Key == text && len(of) == 1 {
			return of[0].Name
		}
	}
	return text
}

// Explain appends the descriptions of the graph units' schedules and of registered ones.
func (Schedule) Explain(doc string) string {
	var text []string
	for _, s := range schedule.Software()[schedule.Own:] {
		text = append(text, s.Name+": "+s.Doc+".")
	}
	for _, u := range accel.Registered() {
		for _, s := range schedule.OfUnit(u.Name) {
			also := ""
			if u.Key != s.Name && Schedule("").Alias(u.Key) == s.Name {
				also = "; also called " + u.Key
			}
			text = append(text, s.Name+": "+s.Doc+also+".")
		}
	}
	return strings.Replace(doc, "{units}", strings.Join(text, " "), 1)
}

// Schedules with hand-written kernels.
const (
	VertexSchedule Schedule = "vertex"
	EdgeSchedule   Schedule = "edge"
	WeaverSchedule Schedule = "weaver"
)

// Kind returns the kind of graph unit that the schedule needs; nil: none.
func (s Schedule) Kind() *accel.Kind {
	if x, err := schedule.ByName(string(s)); err == nil {
		return accel.KindNamed(x.UnitName())
	}
	return nil
}

// Schema is the typed tree of the keys below workload.
var Schema = schema.Deferred[Workload]("", registry.Close)

// Default returns a workload with all keys at their defaults.
func Default() Workload {
	l, err := Schema.Load(schema.Input{File: "defaults", Data: []byte("{}")})
	if err != nil {
		panic(fmt.Sprintf("BUG: workload: a workload of defaults: %v", err))
	}
	return l.Value
}

// Parse reads a workload from KEY=VALUE settings, the keys below workload; others are at their defaults.
func Parse(set []string) (Workload, error) {
	l, err := Schema.Load(schema.Input{Set: set})
	if err != nil {
		return Workload{}, err
	}
	return l.Value, nil
}
