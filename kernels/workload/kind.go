package workload

import (
	"strings"

	"heddle/internal/enum"
	"heddle/kernels/feature"
)

// Kind is the kind of a workload: which host program launches what. Exactly one kind has a workload.
type Kind uint8

// Kinds of workload.
const (
	KindComposed    Kind = iota // kernels that are composed of the workload's choices (package compose)
	KindHandwritten             // PageRank in assembly (package pagerank)
	KindFeatures                // an algorithm on features (package featured)
	KindGraphIt                 // a program in GraphIt (package graphit/lower)
	KindProgram                 // a program of the user's own (package program)
	KindTrace                   // a recording that is replayed (package traces)
)

var kinds = enum.Of[Kind]("kind of workload", "composed", "handwritten", "features", "graphit", "program", "trace")

// Kinds are the kinds' names, in the order of their values.
func Kinds() []string { return kinds.List() }

func (k Kind) String() string { return kinds.Name(k) }

// GraphItSuffix ends the names of GraphIt programs.
const GraphItSuffix = ".gt"

// Kind is the workload's. A trace determines everything, a program all but that; an algorithm on features has no
// handwritten kernels, and refuses them.
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
		return KindHandwritten
	}
	return KindComposed
}
