package compose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heddle/components/accel"
	"heddle/graph"
	"heddle/kernels/activeset"
	"heddle/kernels/algorithm"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/host"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

// rule refuses combinations of choices: those for which broken holds.
type rule struct {
	broken func(p *Plan) bool
	why    string
}

// unusedKey refuses a key's value that no other choice of the plan reads: only the default is accepted then.
type unusedKey struct {
	key string
	rule
}

// extensionRules lists the rules that only registered layouts and operators of programs can break.
var extensionRules = []rule{
	{
		func(p *Plan) bool { return p.Layout.Gathers != "" && p.Algorithm.Body != nil },
		"the layout stores each edge's contribution before it is added, and the edge function does more than add one",
	}, {
		func(p *Plan) bool { return !p.Schedule.Rows.Walked() && p.Layout.Gaps },
		"the schedule goes through the numbers of all edges, and the layout leaves some out",
	}, {
		func(p *Plan) bool {
			return p.Schedule.Unit.HasLists() && !p.Schedule.Rows.Owned() && p.Layout.Rest != nil && !p.Layout.Rest.Bare
		},
		"the graph unit hands out a vertex once, and its row is in two parts of the layout",
	},
}

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
func (p *Plan) accepts(g *graph.Graph) error {
	if p.Layout.Accepts == nil {
		return nil
	}
	err := p.Layout.Accepts(g)
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

// rules lists the combinations that are refused. The first broken rule is reported.
var rules = []rule{
	{
		func(p *Plan) bool { return p.Schedule.Rows.Walked() && !p.fits() },
		"the schedule walks rows, by source for push and by destination for pull, and the layout has only the others",
	}, {
		func(p *Plan) bool { return p.Algorithm.Dense && !p.Set.Sized },
		"all vertices of the algorithm are active in every super-step: frontier counter",
	}, {
		func(p *Plan) bool { return p.Algorithm.NeedsSet && p.Set.Sized },
		"the value of a vertex does not show whether it is active, so a counter is not enough",
	}, {
		func(p *Plan) bool { return p.Algorithm.Hook != nil && !p.Set.Sized },
		"every edge is visited in each super-step: frontier counter",
	}, {
		func(p *Plan) bool { return p.Set.Lists && !p.Schedule.Rows.Walked() },
		"the schedule tests for every edge whether its vertex is active, which a queue cannot answer",
	}, {
		func(p *Plan) bool { return p.Set.Lists && p.pulls() },
		"pull tests for every edge whether its source is active, which a queue cannot answer",
	}, {
		func(p *Plan) bool { return p.Set.Lists && !p.Layout.Bare && p.Layout.Loose() },
		"edges without slots in the layout are in no row, so each is tested for an active vertex, which a queue " +
			"cannot answer",
	}, {
		func(p *Plan) bool { return p.changes() && p.Set.Sized },
		"hybrid decides by the set of active vertices, which a counter does not have",
	}, {
		func(p *Plan) bool { return len(p.directions()) == 1 && p.Layout.Name == "csr-csc" },
		"a run in one direction needs one of csr and csc",
	}, {
		func(p *Plan) bool { return p.Dedup.Name != "none" && !p.Set.Lists },
		"only a queue can have a vertex twice: dedup none",
	}, {
		func(p *Plan) bool { return p.Order.Piles && !p.Algorithm.Ordered },
		"near-far and buckets need values that grow along edges, which only distances do",
	}, {
		func(p *Plan) bool { return p.Order.Piles && !p.Set.Lists && (!p.Set.Queue || p.pulls()) },
		"near-far and buckets keep vertices that wait in queues: frontier queue, list or qnb, and direction push",
	}, {
		func(p *Plan) bool { return p.Set.Queue && !p.Schedule.Rows.Walked() },
		"the schedule walks edges rather than a list of vertices: frontier bitmap or bytemap",
	}, {
		func(p *Plan) bool { return p.Set.Queue && !p.Set.Reverse && !p.pushes() },
		"pull walks destinations, of which qnb has no list: frontier rqnb, bitmap or bytemap",
	}, {
		func(p *Plan) bool { return p.Set.Reverse && !p.pulls() },
		"push walks active vertices, and rqnb lists destinations: frontier qnb",
	}, {
		func(p *Plan) bool { return p.Set.Reverse && p.pulls() && p.destinationFilter() == nil },
		"no filter determines which destinations can still change: frontier bitmap or bytemap; " +
			"rqnb is for bfs, bfs-parents, bc and sssp with settled",
	}, {
		func(p *Plan) bool { return p.Settled && p.Set.Sized },
		"settled follows from the set of active vertices, which a counter does not have",
	}, {
		func(p *Plan) bool { return p.Set.OfUnit && !p.Schedule.Unit.HasLists() },
		"only graph units walk their lists: schedule peg or hwwl",
	}, {
		func(p *Plan) bool { return p.Algorithm.PushOnly && p.pulls() },
		"the algorithm has no pull: direction push",
	}, {
		func(p *Plan) bool { return p.Order.Listed && p.Set.OfUnit && !p.Schedule.Unit.HasFarList() },
		"near-far needs three lists, and a hardware worklist has two: frontier queue",
	}, {
		func(p *Plan) bool { return p.Schedule.Unit.ReadsRows() && len(p.Layout.Data) > 0 },
		"the graph unit reads rows as csr and csc have them, and the layout has arrays of its own",
	}, {
		func(p *Plan) bool { return !p.Schedule.Rows.Walked() && p.splits() },
		"virtual vertices split rows, and the schedule walks the edges, which are those of csr or csc: layout coo, " +
			"csr or csc",
	}, {
		func(p *Plan) bool { return p.Layout.Strided && p.Schedule.Rows.Shared() },
		"the numbers of a row's edges are apart, so that only a thread that walks it alone finds them: layout " +
			"virtual, or slot_order rows; virtual-coalesced and columns are for vertex and hwwl",
	}, {
		func(p *Plan) bool { return p.Set.OfUnit && p.Layout.Virtual != nil },
		"a unit walks the vertices of its list directly, and the layout's rows belong to virtual vertices: " +
			"frontier queue, bitmap or bytemap",
	}, {
		func(p *Plan) bool {
			return p.Set.Lists && p.Layout.Virtual != nil && p.Algorithm.Sum.Often() && !p.Dedup.Exact()
		},
		"a vertex that is in the queue several times would have its virtual vertices listed as often: dedup bitmap " +
			"or monotonic",
	}, {
		func(p *Plan) bool {
			return (p.Set.Lists || p.Set.Queue) && p.Layout.Virtual != nil && p.Layout.Virtual.Firsts == nil
		},
		"a queue has vertices in no order of blocks, in several of which each has edges: frontier counter, bitmap " +
			"or bytemap",
	}, {
		func(p *Plan) bool { return p.Layout.Gathers != "" && p.Algorithm.Hook != nil },
		"the layout stores each edge's contribution before it is added, and the algorithm selects the destination " +
			"only then",
	}, {
		func(p *Plan) bool { return p.Layout.Gathers != "" && p.Set.Sized && p.Algorithm.SrcFilter != nil },
		"with a counter, the test for an active source reads its value, which may have changed since contributions " +
			"were stored: frontier bitmap or bytemap",
	},
}

// unused are the keys that some combinations have no use for, in the order in which they are refused.
var unused = []unusedKey{
	{"schedule.scan", rule{
		func(p *Plan) bool { return p.Scan != schedule.Shuffle && p.Schedule.Sharing == nil },
		"the schedule scans nothing: scan shuffle, the default",
	}},
	{"schedule.skip", rule{
		func(p *Plan) bool {
			return p.Skip == schedule.Filtered &&
				!(p.Schedule.Unit.DropsEdges() && p.pulls() && (p.Algorithm.Decides() || p.Settled))
		},
		"nothing is skipped: skip early, the default; filtered is for bfs, bfs-parents and sssp with settled, under " +
			"weaver in pull",
	}},
	{"direction.settled", rule{
		func(p *Plan) bool { return p.Settled && !(p.Algorithm.Unsettled != nil && p.pulls()) },
		"no bound determines which destinations are settled: settled false, the default; true is for sssp in pull",
	}},
	{"compiler.sum", rule{
		func(p *Plan) bool { return p.Sum != emit.InRegister && !p.sumsAlone() },
		"several threads have a destination, so every sum is an atomic: sum register, the default; " +
			"memory and atomic are for vertex and hwwl in pull (triangles: in push)",
	}},
	{"compiler.ahead", rule{
		func(p *Plan) bool { return !p.Ahead && !p.Schedule.Rows.Owned() },
		"no thread walks a row alone: ahead true, the default; false is for vertex and hwwl",
	}},
	{"compiler.coefficient", rule{
		func(p *Plan) bool { return p.Coefficient != algorithm.Hardware && p.Algorithm.GatherBy == nil },
		"the algorithm has no coefficient: coefficient hardware, the default; others are for graphsum",
	}},
}

// splits reports whether rows are parts of rows of csr or csc.
func (p *Plan) splits() bool { return p.Layout.Virtual != nil && p.Layout.Virtual.Splits }

// unfused lists the combinations that need decisions of the host between launches.
var unfused = []rule{
	{
		func(p *Plan) bool { return p.Order.Buckets },
		"fusion: the host looks for the next bucket that is not empty: order none or near-far",
	}, {
		func(p *Plan) bool { return p.Set.Queue },
		"fusion: the host reads how long the list is that a kernel made of the map: frontier queue, bitmap or " +
			"bytemap",
	}, {
		func(p *Plan) bool { return p.Schedule.Unit.HasLists() },
		"fusion: the host exchanges and empties the graph units' vertex-lists between launches",
	}, {
		func(p *Plan) bool { return p.Settled },
		"fusion: the host looks up which destinations are settled, over all active vertices",
	}, {
		(*Plan).changes,
		"fusion: the host counts the edges of active vertices to decide between push and pull: give push or pull",
	}, {
		func(p *Plan) bool { return p.Algorithm.Seed != nil && !p.Set.Lists },
		"fusion: rounds end when every vertex has been active, and a map does not count them: frontier queue",
	}, {
		func(p *Plan) bool { return p.Schedule.Unit.ReadsRows() && p.Algorithm.Back != nil },
		"fusion: the host writes the graph unit's registers anew for the way back",
	},
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

// breaks returns the first rule that the plan breaks, with the key if that is unused; nil: the plan is legal.
func (p *Plan) breaks() *unusedKey {
	lists := [...][]rule{rules, extensionRules, nil}
	if p.Fused {
		lists[2] = unfused
	}
	for _, list := range lists {
		for _, r := range list {
			if r.broken(p) {
				return &unusedKey{rule: r}
			}
		}
	}
	for i := range unused {
		if unused[i].broken(p) {
			return &unused[i]
		}
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
	if crosses := p.Fused || p.Schedule.Sharing.AcrossCores(); crosses && s.Cores > 1 && s.BarriersSignal {
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
	if need := 4*p.Schedule.Sharing.ScratchpadWords(core, p.Scan) + more; need > s.ScratchpadBytes {
		who := "the schedule needs"
		if more > 0 {
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
	return cmp.Or(p.refuseUnroll(), p.blocks())
}

// blocks returns an error for thread blocks with a schedule that does not use them.
func (p *Plan) blocks() error {
	if p.BlockThreads != 0 && !p.Schedule.Sharing.ByBlocks() {
		return refuseUnused("schedule.cta_threads",
			" = %d: nothing is shared by thread blocks under schedule %s: expected 0, the default; others are for "+
				"cta, twc and twce",
			p.BlockThreads, p.Schedule.Name)
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
	switch n := p.BlockThreads; {
	case n == 0:
		return c, nil
	case n < 0 || n%c.Lanes != 0 || c.Warps%(n/c.Lanes) != 0:
		return c, refuse("schedule.cta_threads",
			" = %d: expected a multiple of %d threads, a warp, that divides the %d threads which a core has for the "+
				"kernel",
			n, c.Lanes, c.Threads())
	}
	c.Block = p.BlockThreads / c.Lanes
	return c, p.blocks()
}
