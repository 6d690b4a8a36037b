package workload

import (
	"strings"

	"heddle/internal/enum"
	"heddle/kernels/feature"
)

// Kind is the kind of a workload. Every workload has exactly one.
type Kind uint8

// Kinds of workload.
const (
	KindComposed Kind = iota // kernels composed of the workload's choices (package compose)
	KindFeatures             // an algorithm on features (package featured)
	KindGraphIt              // a program in GraphIt (package graphit/lower)
	KindProgram              // a program with its own kernels: a user's (package program), or package pagerank
	KindTrace                // a recording that is replayed (package traces)
)

var kinds = enum.Of[Kind]("kind of workload", "composed", "features", "graphit", "program", "trace")

// Kinds returns the names of the kinds, in the order of their values.
func Kinds() []string { return kinds.List() }

func (k Kind) String() string { return kinds.Name(k) }

// GraphItSuffix is the suffix of GraphIt programs' names.
const GraphItSuffix = ".gt"

// Kind returns the kind of the workload. A trace takes precedence over a program, and a program over the algorithm; an
// algorithm on features refuses handwritten kernels.
func (w *Workload) Kind() Kind {
	switch {
	case w.Trace != "":
		return KindTrace
	case strings.HasSuffix(w.Program, GraphItSuffix):
		return KindGraphIt
	case w.Program != OwnKernel:
		return KindProgram
	}
	if _, err := feature.ByName(string(w.Algorithm)); err == nil {
		return KindFeatures
	}
	if w.Kernel == Handwritten {
		return KindProgram
	}
	return KindComposed
}

// HasSchedule reports whether the workload's schedule determines its kernels, and so the graph unit that they need.
func (w *Workload) HasSchedule() bool { return w.Kind() != KindProgram || w.Program == OwnKernel }

// Runs returns the file of the workload's program, or the name of heddle's own algorithm.
func (w *Workload) Runs() string {
	if w.Program == OwnKernel || w.Program == "" {
		return string(w.Algorithm)
	}
	return w.Program
}
