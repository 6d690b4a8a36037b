package experiment

import (
	"cmp"
	"fmt"
	"slices"

	"heddle/components/cache"
	"heddle/configs"
	"heddle/experiment/config"
	"heddle/graph/graphspec"
	"heddle/internal/resources"
	"heddle/kernels/compose"
)

// Memory of a process and of a point besides graphs and arrays, measured: the program and its runtime; a core with its
// ports and queues, a warp with registers for 32 lanes, a line of a cache with its tag and replacement state. The
// host's reference for a point has some arrays of 8 bytes a vertex.
const (
	processBytes   = 56 << 20
	pointBytes     = 16 << 10 // each point of the experiment: its configuration and its result
	coreBytes      = 160 << 10
	warpBytes      = 14 << 10
	cacheLineBytes = 40
	checkBytes     = 64 // a vertex
)

// footprint is the memory of a plan's arrays: so much, so much a vertex, and so much an edge.
type footprint struct{ base, vertex, edge float64 }

func (f *footprint) of(vertices, edges uint64) uint64 {
	return uint64(max(0, f.base+f.vertex*float64(vertices)+f.edge*float64(edges)))
}

// fit finds a footprint by those of three graphs: the second has other vertices than the first, the third other edges.
func fit(bytes [3]uint64) footprint {
	b := [3]float64{float64(bytes[0]), float64(bytes[1]), float64(bytes[2])}
	f := footprint{vertex: (b[1] - b[0]) / (standIns[1].vertices - standIns[0].vertices),
		edge: (b[2] - b[0]) / (standIns[2].edges - standIns[0].edges)}
	f.base = b[0] - f.vertex*standIns[0].vertices - f.edge*standIns[0].edges
	return f
}

// need is the memory of a point besides its graph's CSR.
type need struct {
	own     footprint // of each point's
	derived footprint // the graph's, for all points on it: its CSC, the rows of its edges
}

// fitNeeds fits a rehearsal's memory on each of the stand-ins.
func fitNeeds(of [3]compose.Memory) *need {
	var own, derived [3]uint64
	for i, m := range of {
		own[i], derived[i] = m.Own, m.Derived
	}
	return &need{own: fit(own), derived: fit(derived)}
}

// MemoryEstimate is the host memory that points are expected to need, more likely too high than too low.
type MemoryEstimate struct {
	todo   []int    // in the order in which they begin
	points int      // of the experiment, all of which are kept
	own    []uint64 // of each of all points
	graphs []string // of each of all points, by name
	bytes  map[string]uint64
	grows  []bool // of each of all points: it allocates as it goes
}

// heapGrowth is the size of a heap before it is collected over its live size, if allocation continues (GOGC=100).
// Points allocate their memory as they begin, but for sampled ones, which read all statistics in each interval, and
// tasks of Swarm tiles.
const heapGrowth = 2

// EstimateMemory estimates the memory of the points that are not done. Vet comes first.
func (r *Runner) EstimateMemory(done map[int]Outcome) *MemoryEstimate {
	var todo []int
	for i := range r.Points {
		if o, ok := done[i]; !r.Elsewhere[i] && (!ok || !Final(Class(o.Err))) {
			todo = append(todo, i)
		}
	}
	return r.EstimateMemoryOf(todo)
}

// EstimateMemoryOf estimates the memory of some points.
func (r *Runner) EstimateMemoryOf(points []int) *MemoryEstimate {
	e := &MemoryEstimate{todo: points, points: len(r.Points), own: make([]uint64, len(r.Points)),
		graphs: make([]string, len(r.Points)), bytes: map[string]uint64{}, grows: make([]bool, len(r.Points))}
	for _, i := range points {
		cfg := &r.Points[i].Config
		e.own[i], e.grows[i] = machineBytes(&cfg.Machine), cfg.Sample.On()
		n := r.needs[i]
		if n == nil { // a trace, which is read as it is replayed
			continue
		}
		vertices, edges, known := r.graphs.size(cfg.Graph)
		e.own[i] += n.own.of(vertices, edges) + intervalBytes*intervals(cfg, edges)
		if cfg.Machine.Swarm != nil {
			e.own[i] += taskBytes * (vertices + edges)
			e.grows[i] = true
		}
		if cfg.Stop.MaxEdges == 0 && (cfg.Region.To == 0 || cfg.Region.Verify) {
			e.own[i] += checkBytes * vertices
		}
		weights := uint64(0)
		if cfg.Graph.Weights.From == graphspec.RandomWeights {
			weights = edges
		}
		bytes := 4*(vertices+1+edges+weights) + n.derived.of(vertices, edges)
		if !known {
			bytes = max(bytes, 8*edges+4*vertices) // as a list
		}
		key := string(graphspec.Schema.YAML(cfg.Graph))
		e.graphs[i], e.bytes[key] = key, max(bytes, e.bytes[key])
	}
	return e
}

// taskBytes is a waiting task of a machine of Swarm tiles, with its place in the queues. A loop over all edges has a
// task an edge waiting, and one over a frontier far fewer. Chosen after peaks had been seen: PageRank's 428 MiB on a
// grid of 300 by 300 and 5 GiB on roadNet-CA's stand-in are 0.73 of the estimate, delta-stepping's 184 MiB and 1.8 GiB
// a third or less.
const taskBytes = 448

// Sizes of sampled points, rough: 12 instructions an edge, on lanes of which one in two is active, and the packed
// counts of an interval. They were chosen after the peaks of three runs on one core had been seen (125, 121 and 72 MiB,
// 1.14, 0.86 and 0.71 of the estimate); TestMemoryIsAsEstimated draws others.
const (
	instrsPerEdge   = 12
	activeShare     = 2
	intervalBytes   = 2 << 10
	mostLaunchEdges = 1 << 40
)

// intervals returns about how many intervals a launch of a sampled point has that handles all edges: they are kept
// until it ends.
func intervals(cfg *config.Experiment, edges uint64) uint64 {
	if cfg.Sample.Period == 0 {
		return 0
	}
	core := &cfg.Machine.Core
	warps := uint64(cfg.Machine.Sockets*cfg.Machine.CoresPerSocket) * uint64(core.Warps)
	instrs := min(edges, mostLaunchEdges) * instrsPerEdge * activeShare / uint64(core.Threads)
	return instrs / (uint64(cfg.Sample.Period) * warps)
}

// machineBytes estimates a machine's memory before anything runs on it.
func machineBytes(m *configs.Machine) uint64 {
	cores := uint64(m.Sockets * m.CoresPerSocket)
	sum := cores * (coreBytes + uint64(m.Core.ScratchpadBytes) + warpBytes*uint64(m.Core.Warps))
	lines := func(c *cache.Spec) uint64 { return uint64(c.Bytes / c.LineBytes) }
	sum += cacheLineBytes * uint64(m.Sockets) * (lines(&m.L1I) + lines(&m.L1D))
	for _, c := range []*cache.Spec{m.L2, m.L3} {
		if c != nil {
			sum += cacheLineBytes * lines(c)
		}
	}
	return sum
}

// size is how many vertices and edges a graph has: as seen, or as many as its generator may make.
func (c *graphCache) size(spec graphspec.Graph) (vertices, edges uint64, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.entry(spec); l.seen() {
		return uint64(l.about.Vertices), uint64(l.about.Edges), true
	}
	edges, _ = spec.NominalEdges()
	if spec.Clean.Symmetrise {
		edges *= 2
	}
	return spec.NominalVertices(), edges, false
}

// Point returns the memory of a point with its graph, in a process of its own.
func (e *MemoryEstimate) Point(i int) uint64 {
	return processBytes + e.heap([]int{i}, e.own[i]+e.bytes[e.graphs[i]])
}

// heap returns the bytes of the heap when points have so many in use.
func (e *MemoryEstimate) heap(points []int, used uint64) uint64 {
	if slices.ContainsFunc(points, func(i int) bool { return e.grows[i] }) {
		return heapGrowth * used
	}
	return used
}

// Whole returns the peak memory with so many points side by side, and the part of it that graphs take: those of the
// points that run, and others that are kept for points to come.
func (e *MemoryEstimate) Whole(jobs int, idle uint64) (whole, graphs uint64) {
	all := uint64(0)
	for _, b := range e.bytes {
		all += b
	}
	for from := range e.todo {
		window := e.todo[from:min(from+max(1, jobs), len(e.todo))]
		sum, seen := uint64(0), map[string]bool{}
		here := uint64(0)
		for _, i := range window {
			sum += e.own[i]
			if g := e.graphs[i]; !seen[g] {
				seen[g] = true
				here += e.bytes[g]
			}
		}
		here += min(all-here, cmp.Or(idle, idleRoom))
		if heap := e.heap(window, sum+here); heap > whole {
			whole, graphs = heap, here
		}
		if from+jobs >= len(e.todo) {
			break
		}
	}
	return whole + processBytes + uint64(e.points)*pointBytes, graphs
}

// Largest is the point that needs most by itself; false: there are none to run.
func (e *MemoryEstimate) Largest() (point int, ok bool) {
	if len(e.todo) == 0 {
		return 0, false
	}
	return slices.MaxFunc(e.todo, func(a, b int) int { return cmp.Compare(e.Point(a), e.Point(b)) }), true
}

// JobsWithin is how many points side by side, of at most jobs, need no more than room; 0: not even one.
func (e *MemoryEstimate) JobsWithin(room uint64, jobs int, idle uint64) int {
	for ; jobs > 0; jobs-- {
		if whole, _ := e.Whole(jobs, idle); whole <= room {
			return jobs
		}
	}
	return 0
}

// Room is the memory that a process may have.
type Room struct {
	Bytes uint64
	Known bool
	Limit bool   // Bytes is the user's limit
	Idle  uint64 // for graphs that no point works on; 0: idleRoom
}

// NewRoom returns the memory that the host has for this process when it begins, or the user's limit, if that is less.
func NewRoom(limit uint64) Room {
	free, known := resources.Memory()
	r := Room{Bytes: free, Known: known, Idle: limit / graphShare}
	if limit > 0 && (!known || limit < free) {
		r.Bytes, r.Known, r.Limit = limit, true, true
	}
	return r
}

// Check compares the points' memory with the available memory. A point that does not fit even by itself is an error,
// unless the user has set a limit, at which it would be ended; points that do not fit side by side are a warning.
func (e *MemoryEstimate) Check(points []Point, room Room, jobs int) (warning string, err error) {
	largest, ok := e.Largest()
	if !room.Known || !ok {
		return "", nil
	}
	whole, _ := e.Whole(jobs, room.Idle)
	have := Bytes(room.Bytes) + " are available (of the host, or of this process's control group)"
	if room.Limit {
		have = "--memory-limit is " + Bytes(room.Bytes)
	}
	switch fits := e.JobsWithin(room.Bytes, jobs, room.Idle); {
	case whole <= room.Bytes:
		return "", nil
	case e.Point(largest) > room.Bytes && !room.Limit:
		return "", fmt.Errorf("the point %s needs about %s of memory, and %s: give a --memory-limit to run it all the "+
			"same, or take a smaller graph",
			Label(points[largest].Axes), Bytes(e.Point(largest)), have)
	case fits > 0:
		return fmt.Sprintf("up to about %s of memory may be needed, and %s: --jobs %d needs no more", Bytes(whole),
			have, fits), nil
	}
	return fmt.Sprintf("up to about %s of memory may be needed, and %s", Bytes(whole), have), nil
}

// Bytes writes a size for people.
func Bytes(n uint64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", max(1, n>>20))
}
