package heddle

import (
	"errors"
	"path/filepath"

	"heddle/experiment"
	"heddle/experiment/store"
)

// Results holds the results of an experiment's points.
type Results struct {
	Name    string // the experiment's name
	Version string // of the program that ran it
	Points  []PointResult
}

// PointResult is the outcome of one point.
type PointResult struct {
	Point int       // number in the experiment, from 1
	Axes  []Setting // compare's, then the sweep's, then the seed
	// Cycles is the time of the whole run, or of its region: the device's cycles plus the host's launch overhead. CI95
	// is half the width of its 95 % confidence interval, if estimated (sample); 0: exact.
	Cycles uint64
	CI95   float64
	// Speedup is the baseline's cycles over these; 0: no baseline.
	Speedup float64
	// Verified is set if the result equals the reference's, and no invariant was violated.
	Verified bool
	// Partial is the reason why a run ended early, as requested ("max_edges", "region"; "max_iterations=3": its state
	// up to then is verified), and Replay the name of a replayed trace's result, which is not verified; "": neither.
	Partial, Replay string
	// Failure is the class of a failure ("wrong result", "no progress", "limit", "out of memory", "interrupted",
	// "crash", "error"), and Err its error; "" and nil: none.
	Failure string
	Err     error
	Graph   string  // content hash of the graph
	Config  string  // all keys, as YAML
	Seconds float64 // host time
	Stats   Statistics
	Steps   []Step
}

// Step holds the cycles of one kernel in one super-step.
type Step struct {
	Step   int // from 1; 0: before the first
	Kernel string
	Cycles uint64
	CI95   float64 // half the width of the cycles' 95 % confidence interval; 0: exact
	Stats  Statistics
}

// Label returns a readable name of the point: schedule=weaver damping=0.85.
func (r *PointResult) Label() string { return experiment.Label(r.Axes) }

// Axis returns the value of an axis by key; "": no such axis.
func (r *PointResult) Axis(key string) string {
	for _, a := range r.Axes {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}

// Stat returns the value of a statistic by name; ok is false if the point does not have it.
func (r *PointResult) Stat(name string) (value float64, ok bool) {
	s, ok := r.Stats.Get(name)
	return s.Float(), ok
}

// OpenResults reads the results of completed points from a directory that heddle run, or Run, has written, even while
// it is running. A directory without results, or with those of a newer or too old program, is an error.
func OpenResults(dir string) (*Results, error) {
	s, err := store.OpenRead(filepath.Join(dir, store.File))
	if err != nil {
		return nil, err
	}
	e, _, err := s.Experiment()
	points, errPoints := s.Points()
	if err = errors.Join(err, errPoints, s.Close()); err != nil {
		return nil, err
	}
	return newResults(e.Name, e.Version, points), nil
}

func newResults(name, version string, points []store.Point) *Results {
	r := &Results{Name: name, Version: version}
	speedups := store.Speedups(points)
	for i := range points {
		p := newPointResult(&points[i])
		if s, ok := speedups[points[i].Position]; ok {
			p.Speedup = s.Value
		}
		r.Points = append(r.Points, p)
	}
	return r
}

func newPointResult(p *store.Point) PointResult {
	r := PointResult{
		Point: p.Position + 1, Cycles: p.Cycles, CI95: p.Half, Verified: p.Verified, Partial: p.Partial,
		Replay:  p.Replay,
		Failure: p.Failure, Graph: p.Graph, Config: p.Config, Seconds: p.Seconds, Stats: p.Stats.Tree(),
	}
	if p.Failure != "" {
		r.Err = &experiment.StoredError{Failure: p.Failure, Message: p.Error}
	}
	for _, a := range p.Axes {
		r.Axes = append(r.Axes, Setting(a))
	}
	for _, s := range p.Steps {
		r.Steps = append(r.Steps, Step{s.Step, s.Kernel, s.Cycles, s.Half, s.Stats})
	}
	return r
}
