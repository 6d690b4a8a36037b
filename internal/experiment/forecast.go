package experiment

import (
	"fmt"
	"sync"
	"time"

	"heddle/sim"
)

// Forecast estimates how long an experiment will still take, by how fast the work done so far went: what points were
// expected to cost, and what those that have ended, and those that run, have taken for it.
type Forecast struct {
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

// NewForecast makes one for the points that are not done. Stored points with counts say how fast work goes.
func (r *Runner) NewForecast() *Forecast {
	f := &Forecast{work: make([]float64, len(r.Points)), jobs: max(1, r.Jobs), running: map[int]*status{}}
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
	if cfg.Workload.Trace == "" {
		_, edges, _ := r.graphs.size(cfg.Graph)
		n = edges * superSteps(&cfg.Workload)
	} else if l, err := r.graphs.trace(cfg.Workload.Trace); err == nil {
		n = uint64(l.about.Edges)
	}
	if most := cfg.Stop.MaxEdges; most > 0 {
		n = min(n, most)
	}
	return n
}

// begun is told of a point's beginning.
func (f *Forecast) begun(point int, s *status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[point] = s
	for i, p := range f.queue {
		if p == point {
			f.queue = append(f.queue[:i], f.queue[i+1:]...)
			return
		}
	}
}

// resumed is told that a point has taken some time already.
func (f *Forecast) resumed(s *status, before time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.started = s.started.Add(-before)
}

// moved is told how far a point is.
func (f *Forecast) moved(s *status, p sim.Progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.now = p
}

// over is told of a point's end.
func (f *Forecast) over(o *Outcome) {
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

// left estimates the time until all points are done; ok is false while nothing has been measured.
func (f *Forecast) left(at time.Time, points []Point) (d time.Duration, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	spent, done := f.spent, f.done
	part := map[int]float64{}
	for i, s := range f.running {
		part[i] = f.progress(i, s.now, s.edges, points[i].Config.Machine.Core.Threads)
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

// text says how far the experiment is.
func (f *Forecast) text(at time.Time, points []Point) string {
	d, known := f.left(at, points)
	f.mu.Lock()
	defer f.mu.Unlock()
	s := fmt.Sprintf("%d of %d points done, %d running", f.ended, f.points, len(f.running))
	if known {
		s += ", about " + d.Round(time.Second).String() + " left in all"
	}
	return s
}
