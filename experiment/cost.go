package experiment

import (
	"fmt"
	"io"
	"strings"
	"time"

	terminal "heddle/internal/fit"
)

// secondsPerLaneEdge divided by the lanes of a warp is the host time of a simulated edge, used until points of the
// experiment have been measured: 6 µs with 32 lanes (PageRank on vortex-6c32w32t and facebook_combined), 50 to 100 µs
// with 4.
const secondsPerLaneEdge = 2e-4

// Cost is the expected cost of an experiment's points.
type Cost struct {
	Points  []PointCost `json:"points"`
	Edges   uint64      `json:"edges"`   // in the points that are not stored
	Seconds float64     `json:"seconds"` // of one processor, for those points
	Basis   string      `json:"basis"`   // source of the rate

	// MemoryBytes is the expected peak of points that run concurrently, of which GraphBytes are graphs.
	// AvailableBytes is the memory limit of this process; null: unknown.
	MemoryBytes    uint64  `json:"memory_bytes"`
	GraphBytes     uint64  `json:"graph_bytes"`
	AvailableBytes *uint64 `json:"available_bytes"`
}

// PointCost is the expected cost of a point.
type PointCost struct {
	Axes    map[string]string `json:"axes"`
	Edges   uint64            `json:"edges"` // handled in all super-steps; generators: before duplicates are dropped
	Seconds float64           `json:"seconds"`
	Stored  bool              `json:"stored"`
	Memory  uint64            `json:"memory_bytes"` // in a process of its own; 0: the point is stored

	label string
}

// EstimateCost estimates host time from the edges that each point handles. done holds the stored points, whose rate
// replaces the default.
func (r *Runner) EstimateCost(done map[int]Outcome) (*Cost, error) {
	c := &Cost{Basis: "a rate measured on other points, which may be several times too high or too low"}
	seconds, edges, times := 0.0, 0.0, r.timesHandled(done)
	for i := range r.Points {
		n, err := r.edges(i)
		if err != nil {
			return nil, err
		}
		if x, ok := times[r.Points[i].work().costKey()]; ok {
			n = uint64(x*float64(n) + 0.5)
		}
		o, stored := done[i]
		stored = stored && Final(Class(o.Err))
		if stored && o.Counts() {
			seconds, edges = seconds+o.Seconds, edges+float64(n)
		}
		c.Points = append(c.Points, PointCost{Axes: axesMap(&r.Points[i], ""), Edges: n, Stored: stored,
			label: Label(r.Points[i].Axes)})
	}
	if edges > 0 {
		c.Basis = "the points that are stored"
	}
	for i := range c.Points {
		p, rate := &c.Points[i], secondsPerLaneEdge/float64(r.Points[i].Config.Machine.Core.Threads)
		if edges > 0 {
			rate = seconds / edges
		}
		if p.Seconds = rate * float64(p.Edges); !p.Stored {
			c.Edges, c.Seconds = c.Edges+p.Edges, c.Seconds+p.Seconds
		}
	}
	return c, nil
}

// AddMemory adds the host memory that points need when jobs of them run concurrently.
func (c *Cost) AddMemory(e *MemoryEstimate, room Room, jobs int) {
	for _, i := range e.todo {
		c.Points[i].Memory = e.Point(i)
	}
	c.MemoryBytes, c.GraphBytes = e.Whole(jobs, room.Idle)
	if room.Known {
		c.AvailableBytes = &room.Bytes
	}
}

// timesHandled returns, by work.costKey, the ratio of the edges that stored points handled to those that edges
// expected: above 1 where vertices become active again (sssp, cc), below 1 where some never do.
func (r *Runner) timesHandled(done map[int]Outcome) map[string]float64 {
	handled, said := map[string]float64{}, map[string]float64{}
	for i := range r.Points {
		o := done[i]
		s, ok := o.Stats.Get("edges")
		if !ok || !o.Verified || !r.Points[i].Config.Region.Whole() {
			continue
		}
		n, err := r.edges(i)
		if a := r.Points[i].work().costKey(); err == nil {
			handled[a], said[a] = handled[a]+s.Float(), said[a]+float64(n)
		}
	}
	times := map[string]float64{}
	for a, n := range said {
		if n > 0 {
			times[a] = handled[a] / n
		}
	}
	return times
}

// edges estimates how many edges a point handles; for a trace, the edges of its graph. A graph file is read for it,
// a generated graph is not made.
func (r *Runner) edges(i int) (uint64, error) {
	cfg := &r.Points[i].Config
	w := r.Points[i].work()
	if w.graph() == noGraph {
		l, err := r.graphs.trace(cfg.Workload.Trace)
		return uint64(l.about.Edges), err
	}
	n, ok := cfg.Graph.NominalEdges()
	if !ok {
		g, err := r.graphs.describe(cfg.Graph)
		if err != nil {
			return 0, err
		}
		n = uint64(g.about.Edges)
	}
	return n * w.superSteps(), nil
}

// Write prints the points with their cost, and the totals.
func (c *Cost) Write(w io.Writer, jobs int) {
	todo := 0
	var b strings.Builder
	for i, p := range c.Points {
		when := "stored"
		if !p.Stored {
			when, todo = "about "+duration(p.Seconds), todo+1
		}
		if p.Memory > 0 {
			when += " and " + Bytes(p.Memory)
		}
		fmt.Fprintf(&b, "%4d  %s  %s edges, %s\n", i+1, p.label, Thousands(p.Edges), when)
	}
	fmt.Fprintf(&b, "%d points, %d to run: %s edges, about %s of one processor, %s with --jobs %d (from %s)\n",
		len(c.Points), todo, Thousands(c.Edges), duration(c.Seconds),
		duration(c.Seconds/float64(max(1, min(jobs, todo)))), jobs, c.Basis)
	terminal.Print(w, b.String()) //nolint:errcheck // a failed write to the terminal has no remedy
	if c.MemoryBytes > 0 && todo > 0 {
		terminal.Print(w, c.memoryText(jobs)+"\n") //nolint:errcheck // the same
	}
}

func (c *Cost) memoryText(jobs int) string {
	s := fmt.Sprintf("memory: up to about %s with --jobs %d, graphs %s of it", Bytes(c.MemoryBytes), jobs,
		Bytes(c.GraphBytes))
	if c.AvailableBytes != nil {
		s += fmt.Sprintf("; %s are available", Bytes(*c.AvailableBytes))
	}
	return s
}

func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
