package experiment

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"heddle/sim"
)

// Forecast observes a run and estimates the time left. It scales the expected cost of the outstanding points by the
// ratio of measured to expected time of those that have ended or are running. It makes no calls while it is locked.
type Forecast struct {
	points []Point
	start  time.Time

	mu              sync.Mutex
	expected        []float64 // expected seconds of each point, at a rate that may be far off, but equally so for all
	queue           []int     // points that have not started, in order
	jobs            int
	total           int // number of points that this process runs or has stored
	ended           int
	measuredSeconds float64 // measured seconds of the points that ended
	expectedSeconds float64 // expected seconds of the same points
	running         map[int]*status
}

// status is the progress of a running point.
type status struct {
	point    int
	started  time.Time
	edges    uint64 // total; 0: unknown
	progress sim.Progress
}

// left estimates the time until the point is done.
func (s *status) left(at time.Time) (d time.Duration, ok bool) {
	if s.edges == 0 || s.progress.Edges == 0 {
		return 0, false
	}
	spent := at.Sub(s.started)
	rest := float64(s.edges-min(s.edges, s.progress.Edges)) / float64(s.progress.Edges)
	return time.Duration(float64(spent) * rest).Round(time.Second), true
}

// rate describes how many cycles a second have been simulated since the point began, in thousands if there is one.
func (s *status) rate(at time.Time) string {
	rate := 0.0
	if t := at.Sub(s.started).Seconds(); t > 0 {
		rate = float64(s.progress.Cycle) / t
	}
	if rate < 1000 {
		return fmt.Sprintf("%.0f cycles/s", rate)
	}
	return fmt.Sprintf("%.0f kcycles/s", rate/1e3)
}

// NewForecast returns a forecast for the points that are not done. Stored points calibrate it.
func (r *Runner) NewForecast() *Forecast {
	f := &Forecast{
		points: r.Points, start: time.Now(), expected: make([]float64, len(r.Points)), jobs: max(1, r.Jobs),
		running: map[int]*status{},
	}
	for i := range r.Points {
		rate := secondsPerLaneEdge / float64(r.Points[i].Config.Machine.Core.Threads)
		o, ok := r.Done[i]
		if !ok && r.Elsewhere[i] {
			continue
		}
		f.total++
		if !ok {
			f.queue = append(f.queue, i)
			f.expected[i] = rate * float64(r.expected(i))
			continue
		}
		f.ended++
		if s, counted := o.Stats.Get("edges"); counted && o.Counts() {
			f.measuredSeconds, f.expectedSeconds = f.measuredSeconds+o.Seconds, f.expectedSeconds+rate*s.Float()
		}
	}
	return f
}

// expected estimates how many edges a point handles, without reading a graph.
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

// Started records the start of a point; a point that runs again starts over.
func (f *Forecast) Started(point int, edges uint64) { f.begun(point, edges, time.Now()) }

func (f *Forecast) begun(point int, edges uint64, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[point] = &status{point: point, started: at, edges: edges}
	if i := slices.Index(f.queue, point); i >= 0 {
		f.queue = slices.Delete(f.queue, i, i+1)
	}
}

// Resumed adds the time that earlier runs of the point took.
func (f *Forecast) Resumed(point int, before time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.running[point]; s != nil {
		s.started = s.started.Add(-before)
	}
}

// Running records the progress of a point.
func (f *Forecast) Running(point int, p sim.Progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.running[point]; s != nil {
		s.progress = p
	}
}

// Finished records the end of a point.
func (f *Forecast) Finished(o Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.running, o.Point)
	f.ended++
	if o.Counts() {
		f.measuredSeconds, f.expectedSeconds = f.measuredSeconds+o.Seconds, f.expectedSeconds+f.expected[o.Point]
	}
}

// progress returns the fraction of a running point that is done, by its total number of edges or, if that is unknown,
// by the expected number.
func (f *Forecast) progress(point int, now sim.Progress, edges uint64, lanes int) float64 {
	all := float64(edges)
	if edges == 0 {
		all = f.expected[point] * float64(lanes) / secondsPerLaneEdge
	}
	if all == 0 {
		return 0
	}
	return min(float64(now.Edges)/all, almost)
}

// almost bounds the progress of a point that handles more edges than expected.
const almost = 0.95

// enough is the fraction of a point that must be done before its speed is used.
const enough = 0.01

// left estimates the time until all points are done, by assigning queued points to the job that is free first; ok is
// false while nothing has been measured. f must be locked.
func (f *Forecast) left(at time.Time) (d time.Duration, ok bool) {
	spent, done := f.measuredSeconds, f.expectedSeconds
	part := map[int]float64{}
	for i, s := range f.running {
		part[i] = f.progress(i, s.progress, s.edges, f.points[i].Config.Machine.Core.Threads)
		if part[i] >= enough {
			spent, done = spent+at.Sub(s.started).Seconds(), done+part[i]*f.expected[i]
		}
	}
	if done == 0 {
		return 0, false
	}
	rate, free := spent/done, make([]float64, f.jobs) // seconds until each job is free
	job := 0
	for i, s := range f.running {
		elapsed := at.Sub(s.started).Seconds()
		rest := max(0, rate*f.expected[i]-elapsed)
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
		free[least] += rate * f.expected[i]
	}
	last := 0.0
	for _, t := range free {
		last = max(last, t)
	}
	return time.Duration(last * float64(time.Second)), true
}

// snapshot is the progress of a run at one time. It is immutable, so it can be shown without locking the forecast.
type snapshot struct {
	at        time.Time
	total     int
	ended     int
	running   []status // in the points' order
	left      time.Duration
	leftKnown bool // whether left is valid
}

// snapshot copies the progress of the run.
func (f *Forecast) snapshot(at time.Time) (v snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v.at, v.total, v.ended = at, f.total, f.ended
	v.left, v.leftKnown = f.left(at)
	for _, point := range slices.Sorted(maps.Keys(f.running)) {
		v.running = append(v.running, *f.running[point])
	}
	return v
}

// text formats the progress of the whole experiment.
func (v *snapshot) text() string {
	s := fmt.Sprintf("%d of %d points done, %d running", v.ended, v.total, len(v.running))
	if v.leftKnown {
		s += ", about " + v.left.Round(time.Second).String() + " left in all"
	}
	return s
}
