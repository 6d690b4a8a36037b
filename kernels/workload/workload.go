// Package workload describes a computation and how its work is distributed: the keys below workload in
// docs/reference/configuration.md.
package workload

import (
	"fmt"
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
type Workload struct {
	Trace          string         `key:"trace" default:"" doc:"A file of heddle trace record, relative to where heddle runs: what it holds is replayed, and nothing computed. Then there is no graph, and the other keys stay at their defaults. See docs/reference/traces.md."`
	Program        string         `key:"program" default:"heddle" doc:"heddle: a kernel of heddle's own, by the choices below. Else a program of yours: C (.c, which takes a RISC-V compiler), assembly (.s), or an ELF file; relative to where heddle runs, or the name of one that is shipped. workload.host says what it is handed and how it is launched. The choices below have no effect on it. See docs/guide/programs.md. Or a program in GraphIt (.gt), to which host has nothing to say: docs/guide/graphit.md."`
	Arguments      []string       `key:"arguments" default:"" doc:"What a GraphIt program (.gt) is given as argv[2] and on: argv[1] is the graph. One that names a vertex means the vertex read with that number, as source. Other programs have none."`
	ScheduleFile   string         `key:"schedule_file" default:"" doc:"A file with the schedule of a GraphIt program, in place of the program's own; relative to where heddle runs. Other programs have none."`
	Schedules      schema.Mapping `key:"schedules" default:"{}" doc:"Schedules of a GraphIt program by label, each in place of what the program or schedule_file says of that label: {loop:step: {load_balance: TWCE, direction: [PULL, BITMAP], frontier_creation: FUSED, deduplication: ENABLED, delta: 16, kernel_fusion: DISABLED}}, with the words of the language's config functions, one or a list; of two schedules by the input's size {threshold: 0.1, below: {…}, above: {…}}. What no schedule says of an operator is as schedule and the choices below say. docs/guide/graphit.md."`
	Float          bool           `key:"float" default:"false" doc:"A GraphIt program's double is computed as float: the machine's numbers have 32 bits. false: such a program is refused."`
	Host           HostProgram    `key:"host" doc:"What the host does around workload.program. Without a program nothing of it has an effect."`
	Kernel         Choice         `key:"kernel" default:"compiled" oneof:"compiled,handwritten" doc:"compiled: composed of the choices below. handwritten: assembly, the yardstick; only pagerank under vertex, edge and weaver, with the other choices at auto."`
	Algorithm      Algorithm      `key:"algorithm" default:"pagerank" doc:"What is computed. pagerank: f32; what a vertex without out-edges holds is not passed on, as in GAP and GraphIt. pagerank-delta: the same by changes, of which a vertex sends those that are above threshold. bfs: levels. bfs-parents: a tree. sssp: Bellman-Ford over a frontier. cc: label propagation. cc-soman: hooking of roots to roots and pointer jumping, all edges in each super-step. spmv: f32, once. in-degree: once. spmm, graphsum: operators of a graph convolution, f32, once; vertices have width numbers. k-core: core numbers by peeling, push only. k-core-counted: the same, with a first super-step in which all vertices push to count degrees. stcon: whether a path joins source and target, from both ends. colouring: of a graph without self-loops, by independent sets, push only; colours are as many as super-steps. bc: betweenness centrality from one source, forward, in any direction, and then back through the super-steps, which pushes and needs rows by source. Up to 3.4e38 shortest paths. triangles: how many triangles each vertex is the least of, by a merge of both ends' rows for each edge, once; of a graph with both directions of every edge, without self-loops and duplicates."`
	Recipe         Choice         `key:"recipe" default:"none" oneof:"none,datadriven,strict,gunrock,sepgraph,hwwl,graphpeg" doc:"A published implementation: it sets schedule, direction, active_set, dedup and order, and one of these that says something else is refused. docs/design/kernels.md says what each sets, heddle kernel choices what it simplifies. Source: GraphPEG §2.1 and §4.4."`
	ScaleFree      float64        `key:"scale_free" default:"8" min:"0" max:"1e9" unit:"" doc:"Recipes sepgraph and graphpeg take a graph as scale-free if a vertex has at least that many times the mean degree, in or out. Roads and meshes have 2 to 4 times, social graphs and crawls 11 and more. 0: every graph is. Source: ours, as none is published."`
	Schedule       Schedule       `key:"schedule" default:"vertex" doc:"Which lane handles which edge. vertex: each lane walks its vertex's row. edge: an edge a lane, all edges in turn. warp, cta: a warp's or a core's lanes share their rows by a scan and binary searches. twc: vertices are sorted by degree into three queues in memory, and three launches follow, in which a thread, a warp and a thread block walk a row (TWC: Merrill et al., PPoPP 2012; GRAssembler §2.2). twce: each row is cut into what a whole thread block takes at a time, what a warp takes, and a rest for a thread, by way of queues in the scratchpad (ETWC: UGF §5.2.2). strict: all warps get equally many edges, by a scan over the device and binary searches (load-balanced partitioning, Davidson et al., IPDPS 2014). {units} Source: GRAssembler §2.2, SparseWeaver §III-A."`
	Layout         Layout         `key:"layout" default:"auto" doc:"How edges lie in memory. csr: rows by source. csc: by destination. csr-csc: both. coo: both ends of every edge. block-coo: both ends, block by block of destinations, sources or both (EdgeBlocking: UGF §5.2.3); a vertex has a row in each block. gshard: both ends, shard by shard of destinations, and what each edge brings, which a kernel before each gather writes beside it (CuSha, HPDC 2014, as GRAssembler §6.5 has it: without its sums in the scratchpad). virtual: csr or csc with rows cut into virtual vertices of at most virtual_degree edges; virtual-coalesced: with their edges dealt out in turn, for vertex and hwwl (Tigr, ASPLOS 2018). ell-csr, ell-coo: equally many slots for each row, and edges beyond them in rows, or both ends of each, gone through edge by edge. dia-coo: the fullest diagonals of the matrix, and a rest as ell-coo's. auto: coo for edge, else the rows that the direction walks."`
	Direction      Choice         `key:"direction" default:"auto" oneof:"auto,push,pull,hybrid" doc:"Who walks. push: active sources their out-edges. pull: destinations their in-edges. hybrid: either, by the frontier, each super-step. auto: pull for pagerank, spmv, in-degree, spmm and graphsum, else push."`
	ActiveSet      Choice         `key:"active_set" default:"auto" oneof:"auto,queue,bitmap,bytemap,counter,list,qnb-bitmap,qnb-bytemap,rqnb-bitmap,rqnb-bytemap" doc:"Data structure of the active vertices. counter: only their number; every vertex is walked. list: the graph units' vertex-lists, under peg and hwwl; under them, a kernel registers the vertices of any other set before each gather. qnb-bitmap, qnb-bytemap: a map is filled, and before each push a kernel makes a queue of it (UGF: UNFUSED_BITMAP, UNFUSED_BOOLMAP; GRAssembler: QnB). rqnb-bitmap, rqnb-bytemap: before each pull it makes a queue of the destinations that can still take something (RQnB), for bfs, bfs-parents, bc and sssp with settled. auto: counter where all are active, list for push under peg and hwwl, queue for push except under edge, else bytemap. Source: GRAssembler §5.2."`
	Dedup          Choice         `key:"dedup" default:"auto" oneof:"auto,none,bitmap,bytemap,monotonic" doc:"What keeps a queue or list from taking a vertex twice. monotonic: the number of the super-step in which it was added last. auto: monotonic for sssp and cc, none for the others, whose sums let one lane win. Source: UGF."`
	Order          Choice         `key:"order" default:"none" oneof:"none,near-far,buckets" doc:"Which active vertices go first. near-far: those below a threshold; the others wait on a pile that is gone through when none is left (Davidson et al., IPDPS 2014). buckets: Δ-stepping; the others wait in buckets of delta, and the first that is not empty is next (Meyer and Sanders 2003; eager, as GraphIt has it, CGO 2020). Only sssp with a queue, a list or qnb."`
	Delta          int            `key:"delta" default:"0" min:"0" max:"2147483647" unit:"" doc:"How far apart near-far's thresholds are, and how wide a bucket is. 0: 32 × mean weight / mean degree, as Davidson et al. advise."`
	Buckets        int            `key:"buckets" default:"8" min:"1" max:"1024" unit:"buckets" doc:"Buckets that are open at a time under order buckets, in each of which all vertices have room; what lies behind them is kept together, and dealt out when they are empty. Source: Julienne (SPAA 2017), where it is 128."`
	Scan           Choice         `key:"scan" default:"shuffle" oneof:"shuffle,scratchpad" doc:"By what the lanes of a warp exchange degrees under warp, cta, twc, twce and strict."`
	Skip           Choice         `key:"skip" default:"early" oneof:"early,filtered" doc:"When a kernel under weaver, in the direction pull, tells the unit to drop what is left of a vertex's edges (bfs, bfs-parents). early: with each edge that decides the vertex, as soon as its source is known to be active (ours). filtered: every edge asks first whether its vertex is decided by now, and if so sends it and goes on with the next. Source: SparseWeaver Fig. 9, lines 17 and 18."`
	Settled        bool           `key:"settled" default:"false" doc:"Destinations of sssp in pull that nothing can improve in a super-step are not walked, and with skip filtered the rest of their edges is dropped: those whose distance is not above the least one of an active vertex and the least weight, which the host looks up at no cost. Source: ours; SparseWeaver §V-A has a destination filter in SSSP and does not say which."`
	Sum            Choice         `key:"sum" default:"register" oneof:"register,memory,atomic" doc:"How a thread sums up what reaches a vertex that it alone has: under vertex and hwwl in the direction pull, and on bc's way back; all other sums are atomics. register: in a register between a load and a store a row (ours, the best that software does). memory: a plain load, operation and store an edge, as GRAssembler §5.1 makes of an atomic. atomic: an atomic an edge."`
	Ahead          bool           `key:"ahead" default:"true" doc:"A thread that walks a row reads the next edge, and in a register sums up what the last one brought, while it waits for this one (vertex and hwwl). false: the plain loop, one edge after the other. Source: ours; no paper has it in its baseline's listing."`
	Coefficient    Choice         `key:"coefficient" default:"hardware" oneof:"hardware,software-division,software" doc:"How graphsum computes 1/√(outdegree·indegree). hardware: in f32, by the core's fsqrt.s and fdiv.s. software-division: 1.0 / sqrtf(x) to the letter: a root in f32, and a division in double by integer instructions, as the core has no doubles (RV32F). software: 1.0 / sqrt(x), all of it in double by integer instructions. In C these take 16, 329 and 1,389 instructions (kernels/c/counted), in kernels some 4, 306 and 1,550. Source: ours. SparseWeaver §V-I says that the coefficient is a cost, and neither which nor by what code; the readings in software were chosen when it was known that hardware's outcome is far from the published 6.15."`
	BlockVertices  int            `key:"block_vertices" default:"16384" min:"1" max:"134217728" unit:"vertices" doc:"Vertices of a block under the layout block-coo, by their numbers; other layouts have none, and refuse other values. What a block's vertices hold had better fit a cache: 16,384 words are 64 KiB. Source: UGF, Algorithm 2, where it is the programmer's."`
	BlockBy        Choice         `key:"block_by" default:"destination" oneof:"destination,source,both" doc:"What is in a block's vertices under the layout block-coo: destinations, as in UGF's Algorithm 2, so that sums stay in a cache; sources, so that what edges bring does; or both, in blocks of as many at either end, those of one block of the end that the direction walks after the other. Within a block edges are sorted by the end that blocks are not of; of both, by the one that the direction walks. Rows are of that end: schedules other than edge push with destination, pull with source, and either with both. Source: GRAssembler §5.2 (blocking by diverse partitioning policies)."`
	ShardVertices  int            `key:"shard_vertices" default:"4096" min:"1" max:"134217728" unit:"vertices" doc:"Destinations of a shard under the layout gshard, by their numbers; other layouts have none, and refuse other values. Source: CuSha, HPDC 2014, §3: as many as fit into a thread block's shared memory, here the 16 KiB of a core's scratchpad."`
	VirtualDegree  int            `key:"virtual_degree" default:"8" min:"1" max:"134217728" unit:"edges" doc:"Edges of a virtual vertex at most under the layouts virtual and virtual-coalesced; other layouts have none, and refuse other values. Source: Tigr's published code (Part_Size in github.com/AutomataLab/Tigr, shared/globals.hpp)."`
	ELLWidth       int            `key:"ell_width" default:"0" min:"0" max:"65536" unit:"slots" doc:"Slots of each row under the layouts ell-csr and ell-coo; other layouts have none, and refuse other values. Edges beyond are the rest's. 0: the graph's mean degree, rounded up to a power of two. Slots in all are at most 134,217,728. Source: GRAssembler §2.3 has a constant number, and does not say which."`
	SlotOrder      Choice         `key:"slot_order" default:"auto" oneof:"auto,rows,columns" doc:"How slots of ell-csr and ell-coo lie in memory. columns: the first slots of all rows, then the second, and so on, so that threads that walk a row each read neighbouring words (Bell and Garland, SC 2009). rows: a row's slots side by side (GRAssembler, Fig. 2), for threads that share rows. auto: columns where a thread walks a row alone (vertex, hwwl), else rows."`
	Diagonals      int            `key:"dia_diagonals" default:"0" min:"0" max:"32" unit:"diagonals" doc:"Diagonals of the matrix that the layout dia-coo has at most, the fullest; other layouts have none, and refuse other values. Edges of others, and parallel ones, are the rest's. 0: those that have at least half as many edges as the graph has vertices, and at least one. Source: ours; GRAssembler's Fig. 2 has the two beside the main one."`
	WarpsPerCore   int            `key:"warps_per_core" default:"0" min:"0" max:"64" unit:"warps" doc:"Warps of a core that run the kernels. 0: all that the machine has. Source: GraphPEG §3.1: only a few thread blocks run on an SM at a time; how many, it does not say."`
	CTAThreads     int            `key:"cta_threads" default:"0" min:"0" max:"2048" unit:"threads" doc:"Threads of a thread block under cta, twc and twce, which share their rows: whole warps, and as many blocks in each core as its warps make up. 0: all threads of a core are one block. Source: GraphPEG §2.1 (cooperative blocks) and SparseWeaver Table I share by thread block, of which CUDA allows up to 1,024 threads; neither gives a size."`
	Fusion         Choice         `key:"fusion" default:"none" oneof:"none,loop" doc:"Who has the loop over super-steps. none: the host, which launches each kernel. loop: the device (kernel fusion): a run is one launch, in which all warps go from kernel to kernel with device-wide barriers between them, and one lane exchanges the active set and decides what comes next. Not with the graph units' vertex-lists, settled and hybrid, and for a run as a whole: no region, no sample. Source: UGF §2.5.2 and §5.2.1."`
	HybridRule     Choice         `key:"hybrid_rule" default:"beamer" oneof:"beamer,sep-graph" doc:"By what hybrid decides. beamer: see alpha and beta. sep-graph: it pulls when more than 1/alpha of the edges that have not been pushed along leave the frontier, and stays there while that has more than 1/beta of the vertices, whether it grows or not. Source: SEP-Graph's code (PPoPP 2019, hybrid_policy.h), where alpha is 15 and beta 18."`
	Alpha          float64        `key:"alpha" default:"14" min:"0" max:"1e9" unit:"" doc:"hybrid pulls when a growing frontier has more than 1/alpha of the edges of vertices not yet reached (bfs), or of all edges. Source: Beamer et al., SC 2012."`
	Beta           float64        `key:"beta" default:"24" min:"0" max:"1e9" unit:"" doc:"hybrid pushes again when a frontier that does not grow has fewer than 1/beta of the vertices. Source: Beamer et al., SC 2012."`
	Width          int            `key:"width" default:"16" min:"1" max:"256" pow2:"true" unit:"numbers" doc:"Numbers of a vertex in spmm and graphsum. vertex gives each a thread of its own; other schedules have a lane go through them for its edge. Source: SparseWeaver §V-I: 16."`
	Source         int            `key:"source" default:"-1" min:"-1" max:"2147483647" unit:"" doc:"Vertex that bfs, sssp, stcon and bc begin at, by its number in the graph as it was read or generated, wherever graph.clean.compact_ids and graph.reorder move it. -1: drawn from the largest component: the first of up to 64 draws from which a tenth of the edges can be reached, or else the one of them that reaches the most."`
	Target         int            `key:"target" default:"-1" min:"-1" max:"2147483647" unit:"" doc:"Vertex that stcon looks for from the source, by its number in the graph as it was read or generated. -1: drawn from the largest component."`
	Seed           uint64         `key:"seed" default:"1" unit:"" doc:"Seed of what is drawn: source and target; the vectors of spmv, spmm and graphsum; who goes first in colouring."`
	Iterations     int            `key:"max_iterations" default:"0" min:"0" max:"1000000" unit:"super-steps" doc:"Super-steps at most. 0: one of pagerank; of algorithms that end by themselves as many as it takes. Ranks and features are verified after any number. What a stopped run of bfs, bfs-parents, stcon, k-core and colouring has come to must be what the reference has by then; that of sssp and cc, which may use a value in the super-step that brings it, between that and the end. The table says yes (stopped after N). bc and cc-soman have none. Of a program of yours with host.until, and of the operators over edges of a GraphIt program, a limit: beyond it the point fails."`
	Damping        float64        `key:"damping" default:"0.85" min:"0" max:"1" unit:"" doc:"PageRank's d; less than 1 with pagerank-delta."`
	Tolerance      float64        `key:"tolerance" default:"0" min:"0" max:"1e9" unit:"" doc:"PageRank has converged when Σ|change of a rank| is not above it. 0: never, and the sum is not computed. pagerank-delta ends then, or when no change is above threshold."`
	Threshold      float64        `key:"threshold" default:"0.01" min:"1e-9" max:"1" unit:"" doc:"A vertex sends its rank's change in pagerank-delta if that is more than this part of its rank. Source: Ligra (PageRankDelta.C, epsilon2); GraphIt has 0.1."`
	Features       Features       `key:"features" doc:"Of algorithms on features of vertices and edges (ONYX: L. Vaz, Towards Feature-Aware Graph Processing on the GPU, SFU 2021): lp, als, bp, mmr, mml and aggregate. Others have none of it."`
	LaunchOverhead int            `key:"launch_overhead" default:"2000" min:"0" max:"1000000000" unit:"cycles" doc:"What the host costs for each kernel launch; counted in cycles, and apart in launch.overhead_cycles. 2000 is about 2 µs."`
}

// Features are the choices of algorithms on features.
type Features struct {
	Count     int     `key:"count" default:"4" min:"1" max:"128" unit:"features" doc:"Features of a vertex, and of an edge where it has some. Source: ONYX §7.3 (4), §7.6 (1 to 128)."`
	Sets      int     `key:"sets" default:"1" min:"1" max:"8" unit:"sets" doc:"Of lp: sets of count labels each that a vertex has, propagated side by side, each by weights of its own: the first by the graph's, others by weights that are drawn. With more than one it needs a schedule that hands out edges' numbers, and folding scratchpad or registers. Source: ONYX Fig. 2.1d (P), which does not say how many."`
	Aware     bool    `key:"aware" default:"true" doc:"true: a group of lanes shares an edge or a vertex, a lane a feature; of more features than a warp has lanes, as group says. false: one lane computes all features of an edge or vertex, as other frameworks do. Source: ONYX §5.1 (FA and NFA)."`
	Changes   bool    `key:"change_driven" default:"true" doc:"true: only vertices that have changed send anything, and what they send is the change. false: every vertex sends what it holds in every super-step. Source: ONYX §4.2 (CD and NCD)."`
	Epsilon   float64 `key:"epsilon" default:"0.001" min:"0" max:"1e9" unit:"" doc:"A vertex has changed if a feature has by more than this; a run ends when none has. Source: ONYX Fig. 4.2, which does not say how much."`
	Lambda    float64 `key:"lambda" default:"0.05" min:"0.001" max:"1e9" unit:"" doc:"Of als: what is added to the diagonal of each matrix. Source: Zhou et al., AAIM 2008, which ONYX follows, has 0.03 to 0.065."`
	Unsent    Choice  `key:"unsent" default:"lost" oneof:"lost,kept" doc:"What becomes of a change that is not above epsilon, with change_driven. lost: it is never sent, as in ONYX Fig. 4.2, line 32, where every vertex notes its value as the previous one in each super-step. kept: it is sent when it has become large enough together with later ones (ours)."`
	Group     Choice  `key:"group" default:"warp" oneof:"warp,block" doc:"Who shares an edge or a vertex of more features than a warp has lanes, with aware. warp: the lanes of a warp, each of which has several; under any schedule. block: a thread block of a feature a lane, as many warps as that takes and as divide a core's; under the schedules vertex and edge, in which a block does what a thread does else, since ONYX switches its balancing of edges off then. Source: ONYX §5.1 and §5.1.1 (block)."`
	Vertices  Choice  `key:"vertices" default:"all" oneof:"all,touched" doc:"For which vertices functions of vertices run, with change_driven. all: for every one, as in ONYX Fig. 4.2, line 45. touched: for those at which an edge has changed something, which edges mark by an atomic (Fig. 5.1, lines 68 to 72), and those that have changed themselves; not lp, whose vertices change without edges."`
	Solver    Choice  `key:"solver" default:"elimination" oneof:"elimination,inverse" doc:"Of als: how a vertex's factors come of its matrix and its ratings. elimination: the system is solved (ours; a third of the operations). inverse: the matrix is inverted, and the ratings are multiplied by that. Source: ONYX Fig. 2.1b and §5.3 (inverse)."`
	Retracts  Choice  `key:"retraction" default:"merged" oneof:"merged,separate" doc:"Of bp with change_driven: how an old message is taken out of a product. merged: one atomic adds the difference of the logarithms (ours). separate: one takes the old message out and another puts the new one in. Source: ONYX §4.2 (separate)."`
	Pipelined bool    `key:"pipelined" default:"false" doc:"true: the features of a lane's edge are computed once the lane has its next one, whose reads are on their way meanwhile. Source: ONYX §5.2, Fig. 5.3, where it is always so. Needs aware."`
	Folding   Choice  `key:"folding" default:"registers" oneof:"none,scratchpad,registers" doc:"How functions of vertices, and of edges, become kernels. none: each is a kernel of its own, and leaves values for later ones in memory. scratchpad: they are one kernel, and leave values in the core's scratchpad, as ONYX generates it (§6.2.1). registers: one kernel, and values stay in registers, as by hand (§7.7); the default, since not feature-aware the scratchpad would have to hold all features of every lane."`
}

// OwnKernel is the program name of a workload without a user's program.
const OwnKernel = "heddle"

// HasProgram reports whether the workload runs a user's program.
func (w *Workload) HasProgram() bool { return w.Program != OwnKernel }

// HasFeatures reports whether the workload's algorithm is one on features (package feature).
func (w *Workload) HasFeatures() bool {
	_, err := feature.ByName(string(w.Algorithm))
	return err == nil && !w.HasProgram() && w.Trace == ""
}

// Composed reports whether heddle composes kernels from the workload's choices, for an algorithm of package algorithm.
func (w *Workload) Composed() bool {
	return w.Trace == "" && !w.HasProgram() && w.Kernel == Compiled && !w.HasFeatures()
}

// GraphItSuffix is the suffix of GraphIt programs' names.
const GraphItSuffix = ".gt"

// IsGraphIt reports whether the workload runs a GraphIt program.
func (w *Workload) IsGraphIt() bool { return strings.HasSuffix(w.Program, GraphItSuffix) }

// Choice is the name of one of several alternatives.
type Choice string

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

// Explain appends the descriptions of the graph units' schedules and of registered ones.
func (Schedule) Explain(doc string) string {
	var text []string
	for _, s := range schedule.Software()[schedule.Own:] {
		text = append(text, s.Name+": "+s.Doc+".")
	}
	for _, u := range accel.Registered() {
		for _, s := range schedule.OfUnit(u.Name) {
			text = append(text, s.Name+": "+s.Doc+".")
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
		return accel.KindNamed(x.Unit)
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
