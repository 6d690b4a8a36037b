// Package featuredtest helps tests to draw random workloads on features.
package featuredtest

import (
	"math/rand/v2"

	"heddle/kernels/feature"
	"heddle/kernels/workload"
)

// Fit resets most drawn choices that would only be refused to their defaults.
func Fit(r *rand.Rand, w *workload.Workload) {
	f := &w.Features
	if r.IntN(4) == 0 {
		return
	}
	if w.Direction == "pull" {
		f.Changes = false
	}
	if f.Pipelined = f.Pipelined && f.Aware; !f.Changes {
		f.Unsent, f.Vertices, f.Retracts = "lost", "all", "merged"
	}
	if w.Algorithm != "bp" {
		f.Retracts, f.Coupling = "merged", "edge"
	}
	if w.Algorithm != "als" {
		f.Solver = "elimination"
	}
	a, err := feature.ByName(string(w.Algorithm))
	if err == nil && a.Alone {
		f.Vertices = "all"
	}
	if err == nil && !a.Sets || f.Folding == "none" {
		f.Sets = 1
	}
	if !f.Aware {
		f.Group = "warp"
	}
	if f.Group == "block" {
		schedules := []workload.Schedule{"vertex", "edge"}
		w.Schedule, f.Pipelined = schedules[r.IntN(2)], false
	}
}
