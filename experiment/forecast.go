package experiment

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"heddle/sim"
)

// Forecast observes a run and estimates how long it will still take, by how fast the work done so far went: what points
// were expected to cost, and what those that have ended, and those that run, have taken for it. It calls nobody while
// it is locked.
type Forecast struct {
	list  []Point
	start time.Time

	mu      sync.Mutex
	work    []float64 // of each point, as expected: seconds at a rate that may be far off, but is so for all
	queue   []int     // points that have not begun, in their order
	jobs    int
	points  int // that this process runs, or has
	ended   int
	spent   float64 // seconds of points that have ended, for
	done    float64 // that much work
	running map[int]*status
}

// status is how far a point is.
type status struct {
	point   int
	started time.Time
	edges   uint64 // in all; 0: not known
	now     sim.Progress
}

// left estimates the time until the point is done.
func (s *status) left(at time.Time) (d time.Duration, ok bool) {
	if s.edges == 0 || s.now.Edges == 0 {
		return 0, false
	}
	spent := at.Sub(s.started)
	rest := float64(s.edges-min(s.edges, s.now.Edges)) / float64(s.now.Edges)
	return time.Duration(float64(spent) * rest).Round(time.Second), true
}

func (s *status) rate(at time.Time) float64 {
	if t := at.Sub(s.started).Seconds(); t > 0 {
		return float64(s.now.Cycle) / t / 1e3
	}
	return 0
}

// NewForecast makes one for the points that are not done. Stored points with counts say how fast work goes.
func (r *Runner) NewForecast() *Forecast {
	f := &Forecast{
		list: r.Points, start: time.Now(), work: make([]float64, len(r.Points)), jobs: max(1, r.Jobs),
		running: map[int]*status{},
	}
	for i := range r.Points {
		rate := secondsPerLaneEdge / float64(r.Points[i].Config.Machine.Core.Threads)
		o, ok := r.Done[i]
		if !ok && r.Elsewhere[i] {
			continue
		}
		f.points++
		if !ok {
			f.queue = append(f.queue, i)
			f.work[i] = rate * float64(r.expected(i))
			continue
		}
		f.ended++
		if s, counted := o.Stats.Get("edges"); counted && o.Counts() {
			f.spent, f.done = f.spent+o.Seconds, f.done+rate*s.Float()
		}
	}
	return f
}

// expected is about how many edges a point handles, as far as that is known without reading a graph.
func (r *Runner) expected(i int) uint64 {
	cfg := &r.Points[i].Config
	n := uint64(0)
	if w := r.Points[i].work(); w.graph() != noGraph {
		_, edges, _ := r.graphs.size(cfg.Graph)
		n = edges * w.superSteps()
	} else if l, err := r.graphs.trace(cfg.Workload.Trace); err == nil {
		n = uint64(l.about.Edges)
	}
	if most := cfg.Stop.MaxEdges; most > 0 {
		n = min(n, most)
	}
	return n
}

// Started is told of a point's beginning. One that is run again begins anew.
func (f *Forecast) Started(point int, edges uint64) { f.begun(point, edges, time.Now()) }

func (f *Forecast) begun(point int, edges uint64, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[point] = &status{point: point, started: at, edges: edges}
	if i := slices.Index(f.queue, point); i >= 0 {
		f.queue = slices.Delete(f.queue, i, i+1)
	}
}

// Resumed is told that a point has taken some time already.
func (f *Forecast) Resumed(point int, before time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.running[point]; s != nil {
		s.started = s.started.Add(-before)
	}
}

// Running is told how far a point is.
func (f *Forecast) Running(point int, p sim.Progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.running[point]; s != nil {
		s.now = p
	}
}

// Finished is told of a point's end.
func (f *Forecast) Finished(o Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.running, o.Point)
	f.ended++
	if o.Counts() {
		f.spent, f.done = f.spent+o.Seconds, f.done+f.work[o.Point]
	}
}

// progress tells the part of a running point that is done: by the edges that it will handle, or those that it is
// expected to.
func (f *Forecast) progress(point int, now sim.Progress, edges uint64, lanes int) float64 {
	all := float64(edges)
	if edges == 0 {
		all = f.work[point] * float64(lanes) / secondsPerLaneEdge
	}
	if all == 0 {
		return 0
	}
	return min(float64(now.Edges)/all, almost)
}

// almost is how far a point seems to be that handles more edges than was expected.
const almost = 0.95

// enough of a point's work has to be done to go by it.
const enough = 0.01

// left estimates the time until all points are done; ok is false while nothing has been measured. f is locked.
func (f *Forecast) left(at time.Time) (d time.Duration, ok bool) {
	spent, done := f.spent, f.done
	part := map[int]float64{}
	for i, s := range f.running {
		part[i] = f.progress(i, s.now, s.edges, f.list[i].Config.Machine.Core.Threads)
		if part[i] >= enough {
			spent, done = spent+at.Sub(s.started).Seconds(), done+part[i]*f.work[i]
		}
	}
	if done == 0 {
		return 0, false
	}
	rate, free := spent/done, make([]float64, f.jobs) // seconds until each job is free
	job := 0
	for i, s := range f.running {
		elapsed := at.Sub(s.started).Seconds()
		rest := max(0, rate*f.work[i]-elapsed)
		if part[i] >= enough {
			rest = elapsed * (1 - part[i]) / part[i]
		}
		free[job%f.jobs] += rest
		job++
	}
	for _, i := range f.queue {
		least := 0
		for j := range free {
			if free[j] < free[least] {
				least = j
			}
		}
		free[least] += rate * f.work[i]
	}
	last := 0.0
	for _, t := range free {
		last = max(last, t)
	}
	return time.Duration(last * float64(time.Second)), true
}

// view is a run at one time. It does not change.
type view struct {
	at      time.Time
	points  int
	ended   int
	running []status // in the points' order
	left    time.Duration
	known   bool // left is
}

// view takes a picture of the run.
func (f *Forecast) view(at time.Time) (v view) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v.at, v.points, v.ended = at, f.points, f.ended
	v.left, v.known = f.left(at)
	for _, point := range slices.Sorted(maps.Keys(f.running)) {
		v.running = append(v.running, *f.running[point])
	}
	return v
}

// text says how far the experiment is.
func (v *view) text() string {
	s := fmt.Sprintf("%d of %d points done, %d running", v.ended, v.points, len(v.running))
	if v.known {
		s += ", about " + v.left.Round(time.Second).String() + " left in all"
	}
	return s
}
