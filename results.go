package heddle

import (
	"errors"
	"path/filepath"

	"heddle/experiment"
	"heddle/experiment/store"
)

// Results holds the results of an experiment's points.
type Results struct {
	Name    string // of the experiment
	Version string // of the program that ran it
	Points  []PointResult
}

// PointResult is the outcome of one point.
type PointResult struct {
	Position int       // in the experiment, from 0
	Axes     []Setting // compare's, then the sweep's, then the seed
	// Cycles are those of the whole run, or of its region: of the device, and what the host costs for launches. CI95 is
	// half their 95 % confidence interval, where they are estimated (sample); 0: they are exact.
	Cycles uint64
	CI95   float64
	// Speedup is the baseline's cycles over these; 0: there is nothing to compare with.
	Speedup float64
	// Verified says that the result is the reference's, and that no invariant was broken.
	Verified bool
	// Partial says why a run ended before it was done, as asked for ("max_edges", "region"; "max_iterations=3": what it
	// had come to by then is verified), and Replay what a replayed trace's result is called, which nobody verifies; "":
	// neither.
	Partial, Replay string
	// Failure is the class of what went wrong ("wrong result", "no progress", "limit", "out of memory", "interrupted",
	// "crash", "error"), and Err what it was; "" and nil: nothing.
	Failure string
	Err     error
	Graph   string  // its content hash
	Config  string  // all keys, as YAML
	Seconds float64 // of the host
	Stats   Statistics
	Steps   []Step
}

// Step holds the cycles of one kernel in one super-step.
type Step struct {
	Step   int // from 1; 0: before the first
	Kernel string
	Cycles uint64
	CI95   float64 // half the 95 % confidence interval of the cycles; 0: they are exact
	Stats  Statistics
}

// Label names the point for people: schedule=weaver damping=0.85.
func (r *PointResult) Label() string { return experiment.Label(r.Axes) }

// Axis is the value of an axis, by its key; "": there is none of it.
func (r *PointResult) Axis(key string) string {
	for _, a := range r.Axes {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}

// Stat is the value of a statistic, by its name; ok is false if the point has none of it.
func (r *PointResult) Stat(name string) (value float64, ok bool) {
	s, ok := r.Stats.Get(name)
	return s.Float(), ok
}

// OpenResults reads the results in a directory that heddle run, or Run, has left: of the points that have ended. While
// it runs, too. An error is a directory without results, or with such of a program that is newer or too old.
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
		if s, ok := speedups[p.Position]; ok {
			p.Speedup = s.Value
		}
		r.Points = append(r.Points, p)
	}
	return r
}

func newPointResult(p *store.Point) PointResult {
	r := PointResult{
		Position: p.Position, Cycles: p.Cycles, CI95: p.Half, Verified: p.Verified, Partial: p.Partial, Replay: p.Replay,
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
