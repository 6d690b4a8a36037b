// Package compose composes a graph program from an algorithm, a schedule, a layout, an active set and a direction, runs
// it on a device, and checks the result.
//
// A program consists of an init kernel, a gather kernel for each direction, and an apply kernel if the algorithm has
// something to apply. The host launches them super-step by super-step (run), or a driver on the device does (driver).
package compose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heddle/graph"
	"heddle/kernels/activeset"
	"heddle/kernels/algorithm"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

// Plan is a combination of choices, one on every axis.
type Plan struct {
	Algorithm *algorithm.Algorithm
	Schedule  *schedule.Schedule
	Layout    *layout.Layout
	Set       *activeset.Choice
	Dedup     *activeset.Dedup
	Order     *activeset.Order
	Direction *direction.Policy
	Scan      schedule.Scan
	Skip      schedule.Skip
	Settled   bool         // pull skips vertices that nothing can improve, by a bound that the host looks up
	Sum       emit.Summing // accumulation by threads that own their destination
	Ahead     bool         // threads that walk a row read the next edge while they handle one
	Unroll    Unrolling    // of loops over edges
	Spill     Spill        // storage for values that do not fit into registers

	Coefficient *algorithm.Coefficient // computation of the coefficient, if the algorithm has one

	Sizes     layout.Sizes    // parameters of the layout; 0: the default
	SlotOrder workload.Choice // of the layout's slots: rows, columns, or else the one that suits the schedule

	Buckets int // number of open buckets, if the order has buckets

	Rule  direction.Rule // of hybrid
	alpha float64        // its threshold

	Fused  bool // the device loops over super-steps, and a run is one launch
	inLoop bool // it is the operator of a fused loop that reads the loop's set

	Warps        int // warps of each core that run the kernels; 0: all
	BlockThreads int // threads of a thread block; 0: those of all these warps

	Variant schedule.Variant // whose code the schedule has; empty: OwnCode

	Weights  graph.WeightKind // of the graph
	Residual bool             // apply sums the changes
	Width    int              // length of vertices' vectors, for algorithms that have them
	isBack   bool             // the plan of the way back
	operator bool             // an operator of a program: no earlier kernel of the plan fills the units' lists
}

// NewPlan resolves the names in a workload, and returns an error for illegal combinations. A recipe is resolved for a
// scale-free graph.
func NewPlan(w workload.Workload) (*Plan, error) {
	w, err := WithRecipe(w, true)
	if err != nil {
		return nil, err
	}
	a, err := algorithm.ByName(string(w.Algorithm))
	if err != nil {
		return nil, err
	}
	if n := w.Iterations; n > 0 && !a.Stops() {
		return nil, refuse("max_iterations", " = %d: what %s has come to before its end cannot be verified: "+
			"expected 0, as many super-steps as it takes; to count the first %d alone, without a result, give "+
			"region.to: %d and region.verify: false", n, a.Name, n, n)
	}
	return newPlan(a, w)
}

// newPlan returns the plan for an algorithm, which need not be the workload's.
func newPlan(a *algorithm.Algorithm, w workload.Workload) (*Plan, error) {
	w = resolveFor(a, w)
	p := &Plan{Algorithm: a, Scan: schedule.Scan(w.Scan), Skip: schedule.Skip(w.Skip), Settled: w.Settled,
		Sum: emit.Summing(w.Sum), Ahead: w.Ahead, Unroll: Unrolling(w.Unroll), Spill: Spill(w.Spill), Width: w.Width,
		Rule: direction.Rule(w.HybridRule), alpha: w.Alpha, Fused: w.Fusion == LoopFusion, Warps: w.WarpsPerCore,
		BlockThreads: w.CTAThreads, Variant: schedule.Variant(w.Variant)}
	for _, err := range []error{
		find(&p.Schedule, schedule.ByName, string(w.Schedule)),
		find(&p.Layout, layout.ByName, string(w.Layout)),
		find(&p.Set, activeset.ByName, string(w.ActiveSet)),
		find(&p.Dedup, activeset.DedupByName, string(w.Dedup)),
		find(&p.Order, activeset.OrderByName, string(w.Order)),
		find(&p.Direction, direction.ByName, string(w.Direction)),
		find(&p.Coefficient, algorithm.CoefficientByName, string(w.Coefficient)),
	} {
		if err != nil {
			return nil, err
		}
	}
	p.Residual = w.Tolerance > 0 && p.Algorithm.Converges()
	if p.Algorithm.Sends != nil && float32(w.Damping) >= 1 {
		return nil, refuse("algorithm.damping", " = %v: changes that are passed on whole may never become small: expected "+
			"less than 1 with %s", w.Damping, p.Algorithm.Name)
	}
	p.Buckets = cmp.Or(w.Buckets, activeset.DefaultBuckets)
	p.Sizes = layout.Sizes{
		BlockVertices: w.BlockVertices, BlockBy: layout.By(w.BlockBy),
		BlockEqual: layout.Equal(w.BlockEqual), VirtualDegree: w.VirtualDegree,
		ShardVertices: w.ShardVertices, ELLWidth: w.ELLWidth, Diagonals: w.Diagonals,
	}
	p.SlotOrder = w.SlotOrder
	unsized := cmp.Or(p.sized(), p.ordered()) // an illegal combination takes precedence as an error
	if err := p.legal(); err != nil {
		return p, err
	}
	return p, cmp.Or(unsized, p.keys())
}

// LoopFusion is the value of workload.compiler.fusion that makes a run one launch.
const LoopFusion workload.Choice = "loop"

func find[T any](to **T, byName func(string) (*T, error), name string) (err error) {
	*to, err = byName(name)
	return err
}

// Orders of a layout's slots.
const (
	Rows    workload.Choice = "rows"
	Columns workload.Choice = "columns"
)

// arrange sets the order of the layout's slots: the requested one, or else columns for threads that each walk a row.
func (p *Plan) arrange() {
	if p.Layout.Columns != nil {
		p.Layout = p.Layout.Columns(p.SlotOrder == Columns || p.SlotOrder != Rows && p.Schedule.Rows.Owned())
	}
}

// Resolve replaces auto by the value that best suits the other choices. A workload without a recipe has the same
// kernels as before.
func Resolve(w workload.Workload) workload.Workload { return resolve(w) }

func resolve(w workload.Workload) workload.Workload {
	a, err := algorithm.ByName(string(w.Algorithm))
	if err != nil {
		return w
	}
	return resolveFor(a, w)
}

func resolveFor(a *algorithm.Algorithm, w workload.Workload) workload.Workload {
	if w.Direction == workload.Auto {
		w.Direction = "push"
		if a.Dense && !a.ToSource {
			w.Direction = "pull"
		}
	}
	if w.Layout == workload.Auto {
		w.Layout = autoLayout(a, w)
	}
	if w.ActiveSet == workload.Auto {
		w.ActiveSet = autoSet(a, w)
	}
	if w.Dedup == workload.Auto {
		w.Dedup = "none"
		if slices.Contains([]workload.Choice{"queue", "list", "outputs"}, w.ActiveSet) && a.Sum.Often() {
			w.Dedup = "monotonic"
		}
	}
	return w
}

// Choice is a key that auto resolves.
type Choice struct {
	Key string // in a workload
	Of  func(w workload.Workload) string
}

// Resolved lists the keys that auto resolves.
func Resolved() []Choice {
	return []Choice{
		{"frontier", func(w workload.Workload) string { return string(resolve(w).ActiveSet) }},
		{"frontier.dedup", func(w workload.Workload) string { return string(resolve(w).Dedup) }},
		{"layout", func(w workload.Workload) string { return string(resolve(w).Layout) }},
		{"direction", func(w workload.Workload) string { return string(resolve(w).Direction) }},
	}
}

func autoLayout(a *algorithm.Algorithm, w workload.Workload) workload.Layout {
	switch {
	case w.Schedule == "edge":
		return "coo"
	case w.Schedule == "shard":
		return "gshard"
	case w.Direction == "hybrid", w.Direction == "pull" && a.Back != nil:
		return "csr-csc"
	case w.Direction == "pull":
		return "csc"
	}
	return "csr"
}

func autoSet(a *algorithm.Algorithm, w workload.Workload) workload.Choice {
	switch {
	case a.Dense, a.Hook != nil:
		return "counter"
	case w.Direction == "push" && ofLists(w):
		return "list"
	case w.Direction != "push" || w.Schedule == "edge" || w.Schedule == "shard":
		return "bytemap"
	}
	return "queue"
}

// ofLists reports whether a schedule takes vertices from a unit's lists, and the unit has enough of them for the order.
func ofLists(w workload.Workload) bool {
	s, err := schedule.ByName(string(w.Schedule))
	return err == nil && s.Unit.HasLists() && (s.Unit.HasFarList() || w.Order != "near-far")
}

// set returns the data structure of the active set, which the way back needs to be kept.
func (p *Plan) set() *activeset.Choice {
	if p.Algorithm.Back != nil {
		return p.Set.Kept()
	}
	return p.Set
}

// back returns the plan of the way back; nil: there is none. It walks the stack, or every vertex, and adds none.
func (p *Plan) back() *Plan {
	if p.Algorithm.Back == nil {
		return nil
	}
	q := *p
	q.Algorithm, q.Set, q.isBack = p.Algorithm.Back, p.Set.Back(), true
	return &q
}

// wayBack takes the place of the direction in the names of kernels of the way back.
const wayBack = "back"

// way returns the direction or wayBack, for the name of a kernel.
func (p *Plan) way(d direction.Direction) string {
	if p.isBack {
		return wayBack
	}
	return d.String()
}

// directions returns the directions in which a run handles edges, including that of the way back.
func (p *Plan) directions() []direction.Direction {
	if uses := p.Direction.Uses; p.Algorithm.Back == nil || slices.Contains(uses, direction.Push) {
		return uses
	}
	return []direction.Direction{direction.Push, direction.Pull}
}

// width returns the length of vertices' vectors.
func (p *Plan) width() int {
	if p.Algorithm.Vector == "" {
		return 1
	}
	return max(1, p.Width)
}

// walks returns how often an edge is handled: once, or once for each component of the vectors.
func (p *Plan) walks() uint64 {
	if p.Schedule.Rows == schedule.RowsByNumber {
		return uint64(p.width())
	}
	return 1
}

// Name names the choices. Parts at their defaults are left out. Names are stored with results.
func (p *Plan) Name() string {
	name := p.Algorithm.Name + "/" + p.Schedule.Name + "/" + p.Layout.Name + "/" + p.Direction.Name + "/" + p.Set.Name
	if p.Set.Lists || p.Set.Outputs {
		name += "+" + p.Dedup.Name
	}
	if p.Order.Piles {
		name += "+" + p.Order.Name
	}
	if p.Order.Buckets && p.Buckets != 0 && p.Buckets != activeset.DefaultBuckets {
		name += fmt.Sprint("-", p.Buckets)
	}
	if p.Schedule.As(p.Variant) != nil {
		name += "/" + string(p.Scan)
	}
	if p.Variant != "" && p.Variant != schedule.OwnCode {
		name += "/" + string(p.Variant)
	}
	if p.Skip == schedule.Filtered {
		name += "/skip-" + string(p.Skip)
	}
	if p.Settled {
		name += "/settled"
	}
	if p.Sum != emit.InRegister {
		name += "/sum-" + string(p.Sum)
	}
	if !p.Ahead {
		name += "/no-ahead"
	}
	if p.Unroll.given() {
		name += "/unroll-" + string(p.Unroll)
	}
	if p.Spill == SpillRegisters {
		name += "/spill-" + string(p.Spill)
	}
	if p.Coefficient != algorithm.Hardware {
		name += "/" + p.Coefficient.Name
	}
	if p.Warps > 0 {
		name += fmt.Sprintf("/warps-%d", p.Warps)
	}
	if p.changes() && p.Rule != direction.Beamer {
		name += "/rule-" + string(p.Rule)
	}
	for i := range sizes {
		if x := &sizes[i]; x.given(p.Sizes) {
			name += "/" + x.name + "-" + x.text(p.Sizes)
		}
	}
	if p.Layout.Columns != nil && p.Layout.Strided != p.Schedule.Rows.Owned() {
		name += "/" + string(p.SlotOrder)
	}
	if p.BlockThreads > 0 {
		name += fmt.Sprintf("/cta-%d", p.BlockThreads)
	}
	if p.Fused {
		name += "/fused"
	}
	return name
}

// All returns every legal combination, in the order of the registries.
func All() []*Plan {
	var plans []*Plan
	each(func(p *Plan) {
		if p.breaks() == nil {
			legal := *p
			plans = append(plans, &legal)
		}
	})
	return plans
}

// AllFused returns every legal combination that can be fused.
func AllFused() []*Plan { return fusedOf(All()) }

// fusedOf returns those of the combinations that can be fused, fused.
func fusedOf(all []*Plan) (plans []*Plan) {
	for _, p := range all {
		fused := *p
		if fused.Fused = true; fused.breaks() == nil {
			plans = append(plans, &fused)
		}
	}
	return plans
}

// AllAndFused returns All and AllFused, for less work than both.
func AllAndFused() (all, fused []*Plan) {
	all = All()
	return all, fusedOf(all)
}

// ByName returns the combination with a name among those of All and AllFused; nil: none.
func ByName(name string) (found *Plan) {
	eachOf(func(p *Plan) bool {
		return strings.HasPrefix(name, p.Algorithm.Name+"/"+p.Schedule.Name+"/"+p.Layout.Name+"/"+p.Direction.Name+"/")
	}, func(p *Plan) {
		named := *p
		named.Fused = strings.HasSuffix(name, "/fused")
		if named.Name() == name && named.breaks() == nil {
			found = &named
		}
	})
	return found
}

// each calls f with every combination, which f copies to keep or change.
func each(f func(p *Plan)) { eachOf(func(*Plan) bool { return true }, f) }

// eachOf calls f with every combination whose algorithm, schedule, layout and direction wanted accepts. There is
// one Plan, whose fields change between calls.
func eachOf(wanted func(p *Plan) bool, f func(p *Plan)) {
	p := new(Plan)
	for _, a := range algorithm.Algorithms() {
		for _, s := range schedule.All() {
			for _, l := range layout.Layouts() {
				for _, d := range direction.Policies() {
					*p = Plan{Algorithm: a, Schedule: s, Layout: l, Direction: d}
					if wanted(p) {
						p.arrange()
						eachBlocks(p, f)
					}
				}
			}
		}
	}
}

// eachBlocks varies the end by which a layout forms blocks, if it does.
func eachBlocks(p *Plan, f func(p *Plan)) {
	if !slices.Contains(p.Layout.Keys, "block_by") {
		eachSet(p, f)
		return
	}
	of := layout.DefaultSizes()
	for _, of.BlockBy = range layout.Bys() {
		p.Sizes.BlockBy = of.BlockBy
		p.Layout = p.Layout.Sized(of)
		eachSet(p, f)
	}
}

func eachSet(p *Plan, f func(p *Plan)) {
	for _, p.Set = range activeset.Choices() {
		for _, p.Dedup = range activeset.Dedups() {
			for _, p.Order = range activeset.Orders() {
				eachVariant(p, f)
			}
		}
	}
}

// eachVariant varies scan, skip, settled and the choices of eachEdge. A combination that is illegal with their defaults
// is illegal with any values, and is visited once.
func eachVariant(p *Plan, f func(p *Plan)) {
	p.Scan, p.Skip, p.Settled = schedule.Scans()[0], schedule.Skips()[0], false
	p.Sum, p.Ahead, p.Coefficient = emit.Summings()[0], true, algorithm.Hardware
	if p.breaks() != nil {
		f(p)
		return
	}
	for _, p.Scan = range schedule.Scans() {
		for _, p.Skip = range schedule.Skips() {
			for _, p.Settled = range []bool{false, true} {
				eachEdge(p, f)
			}
		}
	}
}

// eachEdge varies sum, ahead and coefficient.
func eachEdge(p *Plan, f func(p *Plan)) {
	for _, p.Sum = range emit.Summings() {
		for _, p.Ahead = range []bool{true, false} {
			for _, p.Coefficient = range algorithm.Coefficients() {
				f(p)
			}
		}
	}
}
