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

// LoadExperiment reads an experiment: file is the path of a YAML file, which contains a dot or a slash, or the name of
// one that heddle ships (ExperimentPresets). settings are KEY=VALUE pairs that override it at all of its points. The
// environment is not read. The error has a line for each mistake, with file, line, key and the expected value.
func LoadExperiment(file string, settings ...string) (*Experiment, error) {
	l, err := config.Load(file, nil, settings)
	if err != nil {
		return nil, err
	}
	return laidOut(l, settings)
}

// ParseExperiment is LoadExperiment for YAML given as text; messages refer to it by name.
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

// ExperimentPresets returns the names of the experiments that heddle ships, sorted.
func ExperimentPresets() []string { return config.Names() }

// Name returns the experiment's name.
func (e *Experiment) Name() string { return e.loaded.Value.Name }

// YAML returns all keys, each with a comment on the origin of its value.
func (e *Experiment) YAML() []byte { return e.loaded.AnnotatedYAML() }

// Point is one simulation of an experiment.
type Point struct{ p *experiment.Point }

// Points returns an experiment's points: those of the sweep, each with all variants of compare and all seeds.
func (e *Experiment) Points() []Point {
	points := make([]Point, len(e.points))
	for i := range e.points {
		points[i] = Point{&e.points[i]}
	}
	return points
}

// Axes returns the point's values: those of compare, then the sweep's, then the seed.
func (p Point) Axes() []Setting { return p.p.Axes }

// Label returns a readable name of the point: schedule=weaver damping=0.85.
func (p Point) Label() string { return experiment.Label(p.p.Axes) }

// Config returns the point's configuration, with all axes resolved.
func (p Point) Config() ExperimentConfig { return p.p.Config }

// Kernel returns the point's choices, with auto resolved: algorithm/schedule/layout/direction/active set.
func (p Point) Kernel() string { return p.p.Kernel() }

// Baseline returns the index in Points of the point that the speedup is relative to; -1: nothing is compared.
func (p Point) Baseline() int { return p.p.Baseline }
