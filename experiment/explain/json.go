package explain

// Document is an explanation for scripts.
type Document struct {
	A          Side       `json:"a"`
	B          Side       `json:"b"`
	Difference float64    `json:"difference"` // cycles of B less those of A
	Speedup    float64    `json:"speedup"`    // cycles of A over those of B
	Sentence   string     `json:"sentence"`
	Findings   []Finding  `json:"findings"`
	Parts      []Part     `json:"parts"`
	Evidence   []Evidence `json:"evidence"`
	Warps      []Place    `json:"warps"`
	Shared     []Place    `json:"shared"` // by cause, each empty slot shared by all warps
	Kernels    []Place    `json:"kernels"`
	Phases     []Place    `json:"phases"`
	SuperSteps []Step     `json:"super_steps"`
	Unmatched  []Step     `json:"unmatched_super_steps"`
	Note       string     `json:"note"`
	WhatIf     *WhatIf    `json:"whatif,omitempty"`
}

// Side is one of the two points.
type Side struct {
	Point  int     `json:"point"` // from 1
	Name   string  `json:"name"`
	Cycles uint64  `json:"cycles"`
	CI95   float64 `json:"cycles_ci95,omitempty"` // half the 95 % confidence interval of an estimate
}

// JSON returns the explanation as a document.
func (e *Explanation) JSON() Document {
	side := func(r *Run) Side { return Side{r.Point, r.Name, r.Cycles, r.Half} }
	return Document{A: side(&e.A), B: side(&e.B), Difference: e.difference(), Speedup: e.Speedup(),
		Sentence: e.Sentence(), Findings: orEmpty(e.Findings), Parts: orEmpty(e.Parts), Evidence: orEmpty(e.Evidence),
		Warps: orEmpty(e.Warps), Shared: orEmpty(e.Shared),
		Kernels: orEmpty(e.Kernels), Phases: orEmpty(e.Phases), SuperSteps: orEmpty(e.SuperSteps),
		Unmatched: orEmpty(e.Unmatched), Note: e.Note()}
}

// orEmpty makes a list [] rather than null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
