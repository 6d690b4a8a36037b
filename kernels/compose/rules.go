package compose

import (
	"heddle/kernels/algorithm"
	"heddle/kernels/emit"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
)

// fact is a set of properties of a plan, in the terms of which rules refuse combinations.
type fact uint64

// Properties of plans, by the choice that has them; the last ones follow from several choices.
const (
	dense       fact = 1 << iota // all vertices are active in every super-step
	needsSet                     // a vertex's value does not show whether it is active
	hooks                        // the destination is selected when a contribution is added
	hasBody                      // the edge function does more than add a contribution
	ordered                      // values grow along edges
	pushOnly                     // there is no pull
	sumsOften                    // a vertex's contributions depend on how often it is in the frontier
	seeded                       // rounds begin at vertices that have not been active
	goesBack                     // there is a way back over the super-steps
	testsSource                  // a vertex's value shows whether it is active
	weighsEdges                  // edges have a coefficient

	walksRows   // schedule: rows rather than slots
	sharesRows  // several threads walk some row
	ownsRows    // one thread walks each row
	shares      // threads exchange values
	fillsLists  // the graph unit walks lists of vertices
	hasFarList  // one of which is for near-far
	unitsRead   // the graph unit reads the rows
	twoWays     // layout: rows by source and by destination
	ownArrays   // arrays that csr and csc do not have
	contributes // each edge's contribution is stored before it is added
	gaps        // some slots are not used
	apart       // the slots of a row's edges are not consecutive
	unslotted   // edges without slots are in no row
	twoParts    // rows are in two parts
	virtual     // rows belong to virtual vertices
	unlisted    // virtual vertices are not found by their vertex
	splitsRows  // rows are parts of rows of csr or csc

	counted     // frontier: a counter, which has no members
	listed      // a queue
	queued      // a queue that a kernel makes of a map
	inQueue     // either of these queues
	queuesDests // a queue of destinations
	unitsLists  // a graph unit's lists
	dedups      // duplicates are removed
	exact       // all of them
	piles       // order: near-far or buckets
	nearFar
	buckets

	hybrid // direction: it changes between super-steps
	counts // by what the device counts
	oneWay // all edges are walked from the same end, on the way back too
	pushes
	pulls

	scansOther  // a scan other than the default
	skipsLate   // skip filtered
	settles     // settled destinations are skipped
	sumsOther   // a sum other than in a register
	readsLate   // the next edge is not read ahead
	coefficient // a coefficient other than the default

	rowsFit    // the layout has rows for all directions
	listsRows  // waiting vertices can be kept in queues
	filters    // a condition excludes destinations that cannot change
	dropsEdges // the unit drops edges of such destinations
	bounded    // a bound determines which destinations can still improve
	sumsAlone  // threads of some kernel own their destinations

	byShards   // schedule: a thread block takes a shard
	inShards   // layout: shards
	sideBySide // whose windows lie side by side
	eachTells  // each contribution decides on its own whether it changes its destination
	toSource   // contributions go to the sources
	vectors    // vertices have vectors

	byOutputs    // frontier: a word for each edge that has been walked
	numbersEdges // schedule: walked edges have numbers
)

// rule refuses the plans that have all of some properties and none of others.
type rule struct {
	all, none fact
	why       string
}

func (r *rule) broken(p fact) bool { return p&r.all == r.all && p&r.none == 0 }

// unusedKey refuses a key's value that no other choice of the plan reads: only the default is accepted then.
type unusedKey struct {
	key string
	rule
}

// rules lists the combinations that are refused. The first broken rule is reported.
var rules = []rule{
	{byShards, inShards, "a thread block takes a shard: layout gshard or gshard-windows"},
	{sideBySide, byShards, "only a thread block that has a shard writes its windows one after the other: schedule shard"},
	{byShards | eachTells, 0,
		"the schedule sums up what reaches a vertex before it looks at the vertex, and the algorithm looks at each " +
			"contribution: another schedule"},
	{byShards | vectors, 0,
		"the scratchpad has a word for each of a shard's vertices, and the algorithm sums up vectors: another schedule"},
	{byShards | toSource, 0, "the schedule sums up for destinations, and the algorithm's contributions go to sources"},
	{walksRows, rowsFit,
		"the schedule walks rows, by source for push and by destination for pull, and the layout has only the others"},
	{dense, counted, "all vertices of the algorithm are active in every super-step: frontier counter"},
	{needsSet | counted, 0, "the value of a vertex does not show whether it is active, so a counter is not enough"},
	{hooks, counted, "every edge is visited in each super-step: frontier counter"},
	{listed, walksRows,
		"the schedule tests for every edge whether its vertex is active, which a queue cannot answer"},
	{listed | pulls, 0, "pull tests for every edge whether its source is active, which a queue cannot answer"},
	{listed | unslotted, 0,
		"edges without slots in the layout are in no row, so each is tested for an active vertex, which a queue " +
			"cannot answer"},
	{hybrid | counted, 0, "hybrid decides by the set of active vertices, which a counter does not have"},
	{twoWays | oneWay, 0, "a run in one direction needs one of csr and csc"},
	{dedups, listed | byOutputs, "only a queue can have a vertex twice: dedup none"},
	{piles, ordered, "near-far and buckets need values that grow along edges, which only distances do"},
	{piles, listsRows,
		"near-far and buckets keep vertices that wait in queues: frontier queue, list or qnb, and direction push"},
	{byOutputs, numbersEdges, "the schedule gives edges no numbers, by which their outputs are stored: schedule strict"},
	{byOutputs | pulls, 0, "pull tests for every edge whether its source is active, which outputs cannot answer"},
	{byOutputs | unslotted, 0,
		"edges without slots in the layout are in no row, so each is tested for an active vertex, which outputs " +
			"cannot answer"},
	{byOutputs | twoParts, 0, "rows are in two parts of the layout, whose edges are numbered each for itself"},
	{byOutputs | virtual | sumsOften, exact,
		"a vertex that is listed several times would have its virtual vertices listed as often: dedup bitmap or " +
			"monotonic"},
	{queued, walksRows, "the schedule walks edges rather than a list of vertices: frontier bitmap or bytemap"},
	{queued, queuesDests | pushes,
		"pull walks destinations, of which qnb has no list: frontier rqnb, bitmap or bytemap"},
	{queuesDests, pulls, "push walks active vertices, and rqnb lists destinations: frontier qnb"},
	{queuesDests | pulls, filters,
		"no filter determines which destinations can still change: frontier bitmap or bytemap; " +
			"rqnb is for bfs, bfs-parents, bc and sssp with settled"},
	{settles | counted, 0, "settled follows from the set of active vertices, which a counter does not have"},
	{unitsLists, fillsLists, "only graph units walk their lists: schedule peg or hwwl"},
	{pushOnly | pulls, 0, "the algorithm has no pull: direction push"},
	{nearFar | unitsLists, hasFarList,
		"near-far needs three lists, and a hardware worklist has two: frontier queue"},
	{unitsRead | ownArrays, 0,
		"the graph unit reads rows as csr and csc have them, and the layout has arrays of its own"},
	{splitsRows, walksRows,
		"virtual vertices split rows, and the schedule walks the edges, which are those of csr or csc: layout coo, " +
			"csr or csc"},
	{apart | sharesRows, 0,
		"the numbers of a row's edges are apart, so that only a thread that walks it alone finds them: layout " +
			"virtual, or slot_order rows; virtual-coalesced and columns are for vertex and hwwl"},
	{unitsLists | virtual, 0,
		"a unit walks the vertices of its list directly, and the layout's rows belong to virtual vertices: " +
			"frontier queue, bitmap or bytemap"},
	{listed | virtual | sumsOften, exact,
		"a vertex that is in the queue several times would have its virtual vertices listed as often: dedup bitmap " +
			"or monotonic"},
	{inQueue | unlisted, 0,
		"a queue has vertices in no order of blocks, in several of which each has edges: frontier counter, bitmap " +
			"or bytemap"},
	{contributes | hooks, 0,
		"the layout stores each edge's contribution before it is added, and the algorithm selects the destination " +
			"only then"},
	{contributes | counted | testsSource, 0,
		"with a counter, the test for an active source reads its value, which may have changed since contributions " +
			"were stored: frontier bitmap or bytemap"},
}

// extensionRules lists the rules that only registered layouts and operators of programs can break.
var extensionRules = []rule{
	{byOutputs | gaps, 0, "the numbers of a row have gaps, of which there are no outputs: frontier queue"},
	{byOutputs | hasBody, 0,
		"an edge has one output, and the edge function may activate several vertices: frontier queue"},
	{contributes | hasBody, 0,
		"the layout stores each edge's contribution before it is added, and the edge function does more than add one"},
	{gaps, walksRows, "the schedule goes through the numbers of all edges, and the layout leaves some out"},
	{fillsLists | twoParts, ownsRows,
		"the graph unit hands out a vertex once, and its row is in two parts of the layout"},
}

// unfused lists the combinations that need decisions of the host between launches.
var unfused = []rule{
	{buckets, 0, "fusion: the host looks for the next bucket that is not empty: order none or near-far"},
	{queued, 0,
		"fusion: the host reads how long the list is that a kernel made of the map: frontier queue, bitmap or " +
			"bytemap"},
	{fillsLists, 0, "fusion: the host exchanges and empties the graph units' vertex-lists between launches"},
	{settles, 0, "fusion: the host looks up which destinations are settled, over all active vertices"},
	{hybrid, counts,
		"fusion: the host counts the edges of active vertices to decide between push and pull: give push or pull"},
	{seeded, listed,
		"fusion: rounds end when every vertex has been active, and a map does not count them: frontier queue"},
	{unitsRead | goesBack, 0, "fusion: the host writes the graph unit's registers anew for the way back"},
}

// unused are the keys that some combinations have no use for, in the order in which they are refused.
var unused = []unusedKey{
	{"schedule.scan", rule{scansOther, shares, "the schedule scans nothing: scan shuffle, the default"}},
	{"schedule.skip", rule{skipsLate, dropsEdges,
		"nothing is skipped: skip early, the default; filtered is for bfs, bfs-parents and sssp with settled, under " +
			"weaver in pull"}},
	{"direction.settled", rule{settles, bounded,
		"no bound determines which destinations are settled: settled false, the default; true is for sssp in pull"}},
	{"compiler.sum", rule{sumsOther, sumsAlone,
		"several threads have a destination, so every sum is an atomic: sum register, the default; " +
			"memory and atomic are for vertex and hwwl in pull (triangles: in push)"}},
	{"compiler.ahead", rule{readsLate, ownsRows,
		"no thread walks a row alone: ahead true, the default; false is for vertex and hwwl"}},
	{"compiler.coefficient", rule{coefficient, weighsEdges,
		"the algorithm has no coefficient: coefficient hardware, the default; others are for graphsum"}},
}

// breaks returns the first rule that the plan breaks, with the key if that is unused; nil: the plan is legal.
func (p *Plan) breaks() *unusedKey {
	facts := p.facts()
	lists := [...][]rule{rules, extensionRules, nil}
	if p.Fused {
		lists[2] = unfused
	}
	for _, list := range lists {
		for i := range list {
			if list[i].broken(facts) {
				return &unusedKey{rule: list[i]}
			}
		}
	}
	for i := range unused {
		if unused[i].broken(facts) {
			return &unused[i]
		}
	}
	return nil
}

// when returns a property if it holds.
func (f fact) when(holds bool) fact {
	if holds {
		return f
	}
	return 0
}

// facts returns the plan's properties.
func (p *Plan) facts() fact {
	f := factsOfAlgorithm(p.Algorithm) | factsOfSchedule(p.Schedule, p.Variant) | factsOfLayout(p.Layout) |
		p.factsOfFrontier() | hybrid.when(p.changes()) | counts.when(p.inLoop) | oneWay.when(len(p.directions()) == 1) |
		pushes.when(p.pushes()) | pulls.when(p.pulls()) |
		scansOther.when(p.Scan != schedule.Shuffle) | skipsLate.when(p.Skip == schedule.Filtered) |
		settles.when(p.Settled) | sumsOther.when(p.Sum != emit.InRegister) | readsLate.when(!p.Ahead) |
		coefficient.when(p.Coefficient != algorithm.Hardware)
	if a := p.Algorithm; f&pulls != 0 {
		f |= bounded.when(a.Unsettled != nil) |
			dropsEdges.when(p.Schedule.Unit.DropsEdges() && (a.Decides() || p.Settled))
	}
	return f | rowsFit.when(p.fits()) | filters.when(p.destinationFilter() != nil) |
		listsRows.when(f&listed != 0 || f&queued != 0 && f&pulls == 0) |
		sumsAlone.when(f&sumsOther != 0 && p.sumsAlone())
}

func factsOfAlgorithm(a *algorithm.Algorithm) fact {
	return dense.when(a.Dense) | needsSet.when(a.NeedsSet) | hooks.when(a.Hook != nil) | hasBody.when(a.Body != nil) |
		ordered.when(a.Ordered) | pushOnly.when(a.PushOnly) | sumsOften.when(a.Sum.Often()) | seeded.when(a.Seed != nil) |
		goesBack.when(a.Back != nil) | testsSource.when(a.SrcFilter != nil) | weighsEdges.when(a.GatherBy != nil) |
		eachTells.when(a.Sum.Always || a.Sum.EachTells) |
		vectors.when(a.Vector != "") | toSource.when(a.ToSource || a.Back != nil && a.Back.ToSource)
}

func factsOfSchedule(s *schedule.Schedule, v schedule.Variant) fact {
	return walksRows.when(s.Rows.Walked()) | sharesRows.when(s.Rows.Shared()) | ownsRows.when(s.Rows.Owned()) |
		numbersEdges.when(s.Numbers) | shares.when(s.As(v) != nil) | fillsLists.when(s.Unit.HasLists()) |
		hasFarList.when(s.Unit.HasFarList()) | unitsRead.when(s.Unit.ReadsRows()) | byShards.when(s.Shards)
}

func factsOfLayout(l *layout.Layout) fact {
	f := twoWays.when(l.Name == "csr-csc") | ownArrays.when(len(l.Data) > 0) |
		contributes.when(l.Gathers != "") | gaps.when(l.Gaps) | apart.when(l.Strided) |
		unslotted.when(!l.Bare && l.Loose()) | twoParts.when(l.Rest != nil && !l.Rest.Bare)
	if sh := l.Shards; sh != nil {
		f |= inShards | sideBySide.when(sh.Concatenated)
	}
	if v := l.Virtual; v != nil {
		f |= virtual | unlisted.when(v.Firsts == nil) | splitsRows.when(v.Splits)
	}
	return f
}

func (p *Plan) factsOfFrontier() fact {
	s, o := p.Set, p.Order
	return byOutputs.when(s.Outputs) | counted.when(s.Sized) | listed.when(s.Lists) | queued.when(s.Queue) |
		inQueue.when(s.Lists || s.Queue) | queuesDests.when(s.Reverse) |
		unitsLists.when(s.OfUnit) | dedups.when(p.Dedup.Name != "none") | exact.when(p.Dedup.Exact()) |
		piles.when(o.Piles) | nearFar.when(o.Listed) | buckets.when(o.Buckets)
}
