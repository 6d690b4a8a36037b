package heddle

import (
	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
)

// Experiment is an experiment and its points.
type Experiment struct {
	loaded *schema.Loaded[config.Experiment]
	points []experiment.Point
}

// Setting is the value of one axis at a point: "workload.schedule", "weaver".
type Setting = experiment.Setting

// ExperimentConfig is the configuration of an experiment or a point: the keys of docs/reference/configuration.md as
// fields.
type ExperimentConfig = config.Experiment

// LoadExperiment reads an experiment: file is the path of a YAML file, which has a dot or a slash in it, or the name of
// one that heddle ships (Presets). settings are KEY=VALUE over it, at all of its points. The environment is not looked
// at. An error has a line for each mistake, with file, line, key and what was expected.
func LoadExperiment(file string, settings ...string) (*Experiment, error) {
	l, err := config.Load(file, nil, settings)
	if err != nil {
		return nil, err
	}
	return laidOut(l, settings)
}

// ParseExperiment is Load of YAML given as text; messages call it by name.
func ParseExperiment(name string, yaml []byte, settings ...string) (*Experiment, error) {
	l, err := config.ParseWith(name, yaml, settings)
	if err != nil {
		return nil, err
	}
	return laidOut(l, settings)
}

func laidOut(l *schema.Loaded[config.Experiment], settings []string) (*Experiment, error) {
	points, err := experiment.Points(l, settings)
	if err != nil {
		return nil, err
	}
	if err := experiment.CheckSampling(points); err != nil {
		return nil, err
	}
	return &Experiment{l, points}, nil
}

// ExperimentPresets lists the names of the experiments that heddle ships, sorted.
func ExperimentPresets() []string { return config.Names() }

// Name is the experiment's.
func (e *Experiment) Name() string { return e.loaded.Value.Name }

// YAML writes all keys, with a comment at each that says where its value came from.
func (e *Experiment) YAML() []byte { return e.loaded.AnnotatedYAML() }

// Point is one simulation of an experiment.
type Point struct{ p *experiment.Point }

// Points lists an experiment's points: those of the sweep, each with all variants of compare and all seeds.
func (e *Experiment) Points() []Point {
	points := make([]Point, len(e.points))
	for i := range e.points {
		points[i] = Point{&e.points[i]}
	}
	return points
}

// Axes are the point's values: those of compare, then the sweep's, then the seed.
func (p Point) Axes() []Setting { return p.p.Axes }

// Label names the point for people: schedule=weaver damping=0.85.
func (p Point) Label() string { return experiment.Label(p.p.Axes) }

// Config is the point's configuration, with no axes any more.
func (p Point) Config() ExperimentConfig { return p.p.Config }

// Kernel names what the point's choices come to, auto replaced: algorithm/schedule/layout/direction/active set.
func (p Point) Kernel() string { return p.p.Kernel() }

// Baseline is the place in Points of what its speedup is relative to; -1: nothing is compared.
func (p Point) Baseline() int { return p.p.Baseline }
