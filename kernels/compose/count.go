package compose

import (
	"slices"
	"strings"

	"heddle/kernels/activeset"
	"heddle/kernels/algorithm"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
)

// Factor is a kind of choice in GRAssembler's Table 3 (PACT '22), with the options that heddle has.
type Factor struct {
	Name      string   `json:"name"`
	Count     int      `json:"count"`     // as Table 3 counts: a number or a switch counts as two
	Published int      `json:"published"` // GRAssembler's count
	Options   []string `json:"options"`
}

// Factors returns the factors whose product is 4,480 in the table, for software schedules. Which combinations are legal
// depends on the algorithm.
func Factors() []Factor {
	var schedules, layouts, sets, directions, dedups, orders []string
	for _, s := range schedule.Software() {
		schedules = append(schedules, s.Name)
	}
	for _, l := range layout.Layouts() {
		if name := family(l); !slices.Contains(layouts, name) {
			layouts = append(layouts, name)
		}
	}
	for _, s := range activeset.Choices() {
		if !s.OfUnit {
			sets = append(sets, s.Name)
		}
	}
	for _, d := range direction.Policies() {
		if len(d.Uses) == 1 {
			directions = append(directions, d.Name)
		}
	}
	for _, d := range activeset.Dedups() {
		dedups = append(dedups, d.Name)
	}
	for _, o := range activeset.Orders() {
		orders = append(orders, o.Name)
	}
	all := func(name string, published int, options []string) Factor {
		return Factor{name, len(options), published, options}
	}
	two := func(name string, options ...string) Factor { return Factor{name, 2, 2, options} }
	return []Factor{
		all("schedule", 7, schedules), all("layout", 5, layouts), all("active set", 4, sets),
		all("direction", 2, directions),
		two("dedup", dedups...), two("order", orders...),
		two("CTA size", "cta_threads: a number"), two("blocking", "block_vertices: a number"),
	}
}

// family returns the name under which Table 3 counts a layout: rows by source and by destination are one layout, the
// format of a layout's rest does not count, and blocks count as blocking.
func family(l *layout.Layout) string {
	first, rest, _ := strings.Cut(l.Name, "-")
	switch {
	case first == "csc":
		return "csr"
	case first == "block":
		return rest
	}
	return first
}

// Product multiplies the factors.
func Product(factors []Factor) (ours, published int) {
	ours, published = 1, 1
	for _, f := range factors {
		ours, published = ours*f.Count, published*f.Published
	}
	return ours, published
}

// Counted is the number of kernels for an algorithm.
type Counted struct {
	Algorithm string `json:"algorithm"`
	// Software counts legal combinations with software schedules, where each number that applies (CTA size, a layout's
	// sizes) counts as two.
	Software int `json:"software"`
	Choices  int `json:"choices"` // legal combinations with all schedules, the variants of All at their defaults
	All      int `json:"all"`     // with all variants: scan, skip, sum, ahead, coefficient
	Fused    int `json:"fused"`   // those of All that can be fused too
}

// Count counts the legal combinations, by algorithm.
func Count() (list []Counted) {
	for _, a := range algorithm.Algorithms() {
		list = append(list, Counted{Algorithm: a.Name})
	}
	of := func(p *Plan) *Counted {
		return &list[slices.IndexFunc(list, func(c Counted) bool { return c.Algorithm == p.Algorithm.Name })]
	}
	plans, fused := AllAndFused()
	for _, p := range plans {
		of(p).count(p)
	}
	for _, p := range fused {
		of(p).Fused++
	}
	return list
}

func (c *Counted) count(p *Plan) {
	c.All++
	if p.Scan != schedule.Scans()[0] || p.Skip != schedule.Skips()[0] || p.Settled || p.Sum != emit.Summings()[0] ||
		!p.Ahead || p.Coefficient != algorithm.Hardware {
		return
	}
	c.Choices++
	if p.Schedule.Unit != nil || p.Set.OfUnit {
		return
	}
	n := 1
	if p.Schedule.ByBlocks(p.Variant) {
		n *= 2
	}
	for range p.Layout.Keys {
		n *= 2
	}
	c.Software += n
}
