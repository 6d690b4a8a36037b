package compose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heddle/components/accel"
	"heddle/graph"
	"heddle/kernels/activeset"
	"heddle/kernels/direction"
	"heddle/kernels/host"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

// layoutSize is a workload's key for one of the sizes of layouts.
type layoutSize struct {
	key, name string
	text      func(s layout.Sizes) string
	given     func(s layout.Sizes) bool // reports whether it differs from the default, for which 0 stands too
	set       func(to *layout.Sizes, from layout.Sizes)
}

var sizes = []layoutSize{
	sizeKey("block_vertices", "block", func(s *layout.Sizes) *int { return &s.BlockVertices }),
	sizeKey("block_by", "by", func(s *layout.Sizes) *layout.By { return &s.BlockBy }),
	sizeKey("block_equal", "equal", func(s *layout.Sizes) *layout.Equal { return &s.BlockEqual }),
	sizeKey("virtual_degree", "virtual", func(s *layout.Sizes) *int { return &s.VirtualDegree }),
	sizeKey("shard_vertices", "shard", func(s *layout.Sizes) *int { return &s.ShardVertices }),
	sizeKey("ell_width", "ell", func(s *layout.Sizes) *int { return &s.ELLWidth }),
	sizeKey("dia_diagonals", "dia", func(s *layout.Sizes) *int { return &s.Diagonals }),
}

func sizeKey[T comparable](key, name string, of func(s *layout.Sizes) *T) layoutSize {
	var none T
	all := layout.DefaultSizes()
	usual := *of(&all)
	return layoutSize{
		key: key, name: name,
		text:  func(s layout.Sizes) string { return fmt.Sprint(cmp.Or(*of(&s), usual)) },
		given: func(s layout.Sizes) bool { return *of(&s) != none && *of(&s) != usual },
		set:   func(to *layout.Sizes, from layout.Sizes) { *of(to) = *of(&from) },
	}
}

// sized instantiates the plan's layout with the plan's sizes, and returns an error for sizes that it does not have.
func (p *Plan) sized() error {
	all := layout.DefaultSizes()
	for i := range sizes {
		x := &sizes[i]
		if !x.given(p.Sizes) {
			continue
		}
		if !slices.Contains(p.Layout.Keys, x.key) {
			return refuseUnused("layout."+x.key, " = %s: has no effect on layout %s: expected %s, the default; others are for "+
				"%s",
				x.text(p.Sizes), p.Layout.Name, x.text(all), heeding(x.key))
		}
		x.set(&all, p.Sizes)
	}
	if p.Layout.Sized != nil {
		p.Layout = p.Layout.Sized(all)
	}
	return nil
}

// ordered sets the order of the layout's slots, and returns an error if it has none.
func (p *Plan) ordered() error {
	if p.Layout.Columns == nil && p.SlotOrder != "" && p.SlotOrder != workload.Auto {
		return refuseUnused("layout.slot_order", " = %s: layout %s has no slots: expected auto, the default; others are for "+
			"ell-csr and ell-coo", p.SlotOrder, p.Layout.Name)
	}
	p.arrange()
	return nil
}

// accepts returns an error for graphs whose layout would be too large.
func (p *Plan) accepts(g *graph.Graph) (err error) {
	switch {
	case p.Layout.Accepts != nil:
		err = p.Layout.Accepts(g)
	case p.Schedule.Shards:
		err = p.Layout.Shards.Accepts(g)
	}
	for i := range sizes {
		if x := &sizes[i]; err != nil && slices.Contains(p.Layout.Keys, x.key) {
			return refuse("layout."+x.key, " = %s under layout %s: %v", x.text(p.Sizes), p.Layout.Name, err)
		}
	}
	return err
}

// heeding lists the layouts to which a key applies.
func heeding(key string) string {
	var names []string
	for _, l := range layout.Layouts() {
		if slices.Contains(l.Keys, key) {
			names = append(names, l.Name)
		}
	}
	return strings.Join(names, ", ")
}

// fits reports whether the layout has rows for all directions.
func (p *Plan) fits() bool {
	for _, d := range p.directions() {
		if !p.Layout.Fits(d) {
			return false
		}
	}
	return true
}

func (p *Plan) pulls() bool {
	for _, d := range p.Direction.Uses {
		if layout.Base(d) == layout.Destination {
			return true
		}
	}
	return false
}

func (p *Plan) pushes() bool { return slices.Contains(p.Direction.Uses, direction.Push) }

// sumsAlone reports whether threads of some kernel own their destinations, whatever the width.
func (p *Plan) sumsAlone() bool {
	if p.Algorithm.Vector != "" && p.Schedule.Rows != schedule.RowsByNumber {
		return false
	}
	if b := p.back(); b != nil && b.ownsRow(direction.Push) {
		return true
	}
	return slices.ContainsFunc(p.Direction.Uses, p.ownsRow)
}

func (p *Plan) changes() bool { return len(p.Direction.Uses) > 1 }

// Refused says why a combination is not legal.
type Refused struct {
	Plan, Why string
	unused    string // the key that the rule is about; empty: a combination
}

func (r *Refused) Error() string { return fmt.Sprintf("%s: %s", r.Plan, r.Why) }

// legal applies the rules.
func (p *Plan) legal() error {
	if r := p.breaks(); r != nil {
		return &Refused{Plan: p.Name(), Why: r.why, unused: r.key}
	}
	return nil
}

// Runs returns an error for machines that cannot run the plan.
func (p *Plan) Runs(s host.Shape) error { return p.RunsWith(s, 0) }

// RunsWith is Runs for a plan whose algorithm needs more bytes of scratchpad.
func (p *Plan) RunsWith(s host.Shape, more int) error {
	core, err := p.core(schedule.Core{Warps: s.Warps, Lanes: s.Threads})
	if err != nil {
		return err
	}
	if crosses := p.Fused || p.Schedule.As(p.Variant).AcrossCores(); crosses && s.Cores > 1 && s.BarriersSignal {
		return p.unflushed()
	}
	if p.Fused && s.Cores == 1 { // with several cores, the driver uses device-wide barriers
		if _, err := p.freeBarrier(s); err != nil {
			return err
		}
	}
	if u := p.Schedule.Unit; u != nil && s.Unit != u.Name {
		return &Refused{Plan: p.Name(), Why: "the schedule needs a machine whose cores have a " +
			accel.KindNamed(u.Name).Title}
	}
	if need := 4*p.scratchpadWords(core) + more; need > s.ScratchpadBytes {
		who := "the schedule needs"
		switch {
		case p.Schedule.Shards:
			who = fmt.Sprintf("schedule shard needs, with layout.shard_vertices %d,", p.Layout.Shards.Vertices)
		case more > 0:
			who = "the schedule and values in the scratchpad (workload.features.folding, workload.features.group) need"
		}
		return &Refused{
			Plan: p.Name(),
			Why: fmt.Sprintf("%s %d bytes of scratchpad a core, and there are %d (machine.core.scratchpad_bytes, less "+
				"what a unit takes)", who, need, s.ScratchpadBytes),
		}
	}
	return nil
}

// scratchpadWords returns the number of words of a core's scratchpad that the schedule takes.
func (p *Plan) scratchpadWords(c schedule.Core) int {
	if p.Schedule.Shards {
		return schedule.ShardWords(c, int(p.Layout.Shards.Vertices))
	}
	return p.Schedule.As(p.Variant).ScratchpadWords(c, p.Scan)
}

// keys returns an error for keys that have no effect in the plan.
func (p *Plan) keys() error {
	if p.Rule != direction.Beamer && !p.changes() {
		return refuseUnused("direction.rule", " = %s: nothing is decided with direction %s: expected beamer, the default; "+
			"others are for hybrid", p.Rule, p.Direction.Name)
	}
	if !p.Order.Buckets && p.Buckets != activeset.DefaultBuckets {
		return refuseUnused("order.buckets",
			" = %d: there are none with order %s: expected %d, the default; others are for order buckets", p.Buckets,
			p.Order.Name, activeset.DefaultBuckets)
	}
	return cmp.Or(p.refuseUnroll(), p.blocks(), p.variant())
}

// blocks returns an error for thread blocks with a schedule that does not use them.
func (p *Plan) blocks() error {
	if p.BlockThreads != 0 && !p.Schedule.ByBlocks(p.Variant) {
		return refuseUnused("schedule.cta_threads",
			" = %d: nothing is shared by thread blocks under schedule %s: expected 0, the default; others are for "+
				"cta, twc, twce and shard, and for edge with variant gunrock",
			p.BlockThreads, p.Schedule.Name)
	}
	return nil
}

// variant returns an error for a variant that the schedule does not have.
func (p *Plan) variant() error {
	switch {
	case !p.Schedule.Has(p.Variant):
		return refuseUnused("schedule.variant", " = %s: schedule %s has no such code here: expected own, the default; "+
			"graphit is for cta, twc and twce, sep-graph for cta, gunrock for edge", p.Variant, p.Schedule.Name)
	case p.Variant == schedule.Gunrock && !p.Layout.Listed:
		return refuse("schedule.variant", " = %s: its blocks go through a list of pairs, and layout %s is none: expected "+
			"own, or layout coo", p.Variant, p.Layout.Name)
	}
	return nil
}

// unflushed returns the error for machines on which cores would read stale data after a device-wide barrier.
func (p *Plan) unflushed() error {
	why, instead := "schedule "+p.Schedule.Name, "another workload.schedule"
	if p.Fused {
		why, instead = "fusion", "workload.compiler.fusion none"
	}
	return &KeyError{Key: "machine.core.device_barrier", Msg: fmt.Sprintf(
		" = signal: with %s, cores read behind a device-wide barrier what others have stored before it, and no "+
			"kernel has a fence there: expected flush, one core, or %s",
		why, instead)}
}

// Fits returns an error for a plan with more warps, or other thread blocks, than a machine's cores have.
func (p *Plan) Fits(machine schedule.Core) error {
	_, err := p.core(machine)
	return err
}

// BlockOf returns the number of threads of a block in a variant's code, where a core's are a multiple of it
// (SEP-Graph's FLAGS_block_size, LOG_THREADS of Gunrock's AE::KernelPolicy); 0: those of a core.
func BlockOf(v schedule.Variant) int {
	if v == schedule.SEPGraph || v == schedule.Gunrock {
		return 256
	}
	return 0
}

// core returns the part of a machine's core that the plan's kernels use.
func (p *Plan) core(machine schedule.Core) (schedule.Core, error) {
	c := machine
	if p.Warps < 0 || p.Warps > c.Warps {
		return c, refuse("schedule.warps_per_core", " = %d: expected 1 to %d, the warps of the machine's cores "+
			"(machine.core.warps), or 0 for all", p.Warps, c.Warps)
	}
	if p.Warps > 0 {
		c.Warps = p.Warps
	}
	c.Variant = p.Variant
	n := p.BlockThreads
	if own := BlockOf(p.Variant); n == 0 && own > 0 && own%c.Lanes == 0 && c.Threads()%own == 0 {
		n = own
	}
	switch {
	case n == 0:
		return c, p.variant()
	case n < 0 || n%c.Lanes != 0 || c.Warps%(n/c.Lanes) != 0:
		return c, refuse("schedule.cta_threads",
			" = %d: expected a multiple of %d threads, a warp, that divides the %d threads which a core has for the "+
				"kernel",
			n, c.Lanes, c.Threads())
	}
	c.Block = n / c.Lanes
	return c, cmp.Or(p.blocks(), p.variant())
}
