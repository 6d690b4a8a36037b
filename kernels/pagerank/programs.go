package pagerank

import (
	"fmt"
	"strings"

	"heddle/graph"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels"
	"heddle/kernels/host"
)

// Schedule determines which lane processes which edge.
type Schedule string

// Schedules.
const (
	Vertex Schedule = "vertex" // one vertex per lane
	Edge   Schedule = "edge"   // one edge per lane, from a list sorted by target
	Weaver Schedule = "weaver" // the Weaver distributes the edges
)

// Schedules returns all schedules.
func Schedules() []Schedule { return []Schedule{Vertex, Edge, Weaver} }

// programs are the three kernels of a run. They are at different addresses, like the parts of one image, so that they
// do not evict each other from the L1I merely by having equal addresses.
type programs struct{ init, gather, apply *isa.Program }

// programBytes is the distance between programs.
const programBytes = 64 << 10

func assemble(s Schedule, shape host.Shape, residual bool) (p programs, err error) {
	var gather, apply []string
	switch s {
	case Vertex, Edge:
	case Weaver:
		if shape.Unit != "weaver" {
			return p, fmt.Errorf("pagerank: schedule weaver needs a machine whose cores have a Weaver")
		}
		if shape.MaskByUnit {
			gather = append(gather, "MASK_BY_UNIT")
		}
	default:
		return p, fmt.Errorf("pagerank: no schedule %q: expected one of %s", s, names())
	}
	if residual {
		apply = append(apply, "RESIDUAL")
	}
	for i, k := range []struct {
		p       **isa.Program
		name    string
		defines []string
	}{{&p.init, "init", nil}, {&p.gather, string(s), gather}, {&p.apply, "apply", apply}} {
		if *k.p, err = kernels.Assemble("pagerank_"+k.name, emu.CodeBase+uint32(i)*programBytes,
			k.defines...); err != nil {
			return p, err
		}
	}
	return p, nil
}

// reserved returns the regions that arrays must not overlap.
func (p *programs) reserved(harts int) []graph.Region {
	list := graph.Reserved(harts, p.init)
	for _, q := range []*isa.Program{p.gather, p.apply} {
		for _, s := range q.Segments {
			list = append(list, graph.Region{Name: "program", Addr: s.Addr, Size: uint64(s.Size)})
		}
	}
	return list
}

func names() string {
	var s []string
	for _, x := range Schedules() {
		s = append(s, string(x))
	}
	return strings.Join(s, ", ")
}
