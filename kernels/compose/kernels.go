package compose

import (
	"heddle/isa"
	"heddle/kernels/activeset"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
)

// Kernels holds the kernels of a plan. Arrays are indexed by direction.
type Kernels struct {
	Init         *ir.Kernel
	Compact      [2]*ir.Kernel // before a gather: lists the vertices that walk their rows; may be nil
	Topology     [2]*ir.Kernel // before a gather: of the layout; may be nil
	Lists        [2]*ir.Kernel // before a gather: of the schedule; may be nil
	Gather       [2]*ir.Kernel // nil if the plan does not use the direction
	Apply        *ir.Kernel    // nil: nothing to apply
	Split        *ir.Kernel    // selects waiting vertices; nil: none wait
	Seed         *ir.Kernel    // begins a round; nil: the algorithm has no rounds
	Back         *ir.Kernel    // the gather of the way back; nil: there is none
	Again        *ir.Kernel    // before Back: of the schedule; may be nil
	TopologyBack *ir.Kernel    // before Again: of the layout; may be nil
}

// pass is a kernel that traverses edges.
type pass struct {
	kernel *ir.Kernel
	dir    direction.Direction
}

// passes returns the kernels that traverse edges.
func (k *Kernels) passes() (list []pass) {
	for d, gather := range k.Gather {
		if gather != nil {
			list = append(list, pass{gather, direction.Direction(d)})
		}
	}
	if k.Back != nil {
		list = append(list, pass{k.Back, direction.Push})
	}
	return list
}

// All returns the kernels. Their order is that of their addresses, and of the jumps in a driver.
func (k *Kernels) All() (all []*ir.Kernel) {
	for _, x := range []*ir.Kernel{
		k.Init, k.Compact[direction.Push], k.Compact[direction.Pull],
		k.Topology[direction.Push], k.Topology[direction.Pull], k.Lists[direction.Push], k.Lists[direction.Pull],
		k.Gather[direction.Push], k.Gather[direction.Pull], k.Apply, k.Split, k.Seed, k.TopologyBack, k.Again, k.Back,
	} {
		if x != nil {
			all = append(all, x)
		}
	}
	return all
}

// Build builds the plan's kernels for the cores of a machine.
func (p *Plan) Build(machine schedule.Core) (ks Kernels, err error) {
	core, err := p.core(machine)
	if err != nil {
		return ks, err
	}
	if p.Algorithm.Init != nil { // an operator has none
		if ks.Init, err = p.init(); err != nil {
			return ks, err
		}
	}
	for _, d := range p.Direction.Uses {
		if ks.Gather[d], err = p.gather(d, core); err != nil {
			return ks, err
		}
		if p.Compacts(d) {
			if ks.Compact[d], err = p.compact(d); err != nil {
				return ks, err
			}
		}
		if ks.Topology[d], ks.Lists[d], err = p.before(d, core); err != nil {
			return ks, err
		}
	}
	if p.Algorithm.Applies() {
		if ks.Apply, err = p.apply(core); err != nil {
			return ks, err
		}
	}
	switch {
	case p.Order.Piles:
		ks.Split, err = p.split()
	case p.Algorithm.Seed != nil:
		ks.Seed, err = p.seed()
	case p.Algorithm.Back != nil:
		back := p.back()
		if ks.TopologyBack, ks.Again, err = back.before(direction.Push, core); err != nil {
			return ks, err
		}
		ks.Back, err = back.gather(direction.Push, core)
	}
	return ks, err
}

// before builds the kernels that precede a gather: of the layout and of the schedule; nil if not needed.
func (p *Plan) before(d direction.Direction, core schedule.Core) (topology, register *ir.Kernel, err error) {
	if p.Prepares(d) {
		if topology, err = p.topology(d, core); err != nil {
			return nil, nil, err
		}
	}
	if p.Registers() {
		register, err = p.register(d, core)
	}
	return topology, register, err
}

// kernel returns an empty kernel with the plan's launch parameters.
func (p *Plan) kernel(name string) *emit.Kernel {
	k := emit.New(name)
	k.Launch(p.Warps, 0)
	k.UseLists(p.Schedule.ListOps())
	return k
}

// Registers reports whether a kernel of the schedule precedes each gather, to register vertices with a unit or to sort
// them: not where the active set is the unit's own list, and where all vertices are active only if the unit's lists
// have not been filled by earlier kernels (relist, relistVirtual), or if the schedule always needs the kernel.
func (p *Plan) Registers() bool {
	before := p.Schedule.Preparation()
	switch {
	case before == nil, p.Set.OfUnit:
		return false
	case !p.Algorithm.Dense, before.Always:
		return true
	case p.Schedule.Unit.HasLists():
		return p.operator
	}
	return !p.Layout.Summed()
}

// relist appends a vertex to a unit's list for the next super-step, if all vertices are active in it.
func (p *Plan) relist(k *emit.Kernel, v ir.Value) {
	if p.Schedule.Unit.HasLists() && p.Algorithm.Dense && p.Layout.Virtual == nil {
		k.ListPush(v, k.U32(activeset.OutList))
	}
}

// relistVirtual does the same for virtual vertices, which the lists hold in place of vertices.
func (p *Plan) relistVirtual(k *emit.Kernel) {
	if p.Schedule.Unit.HasLists() && p.Algorithm.Dense && p.Layout.Virtual != nil {
		rows := p.Layout.In(k, p.Direction.Uses[0], p.Weights).RowCount()
		k.Strided(rows, func(row ir.Value) { k.ListPush(row, k.U32(activeset.OutList)) })
	}
}

// init builds the kernel that sets the initial values of vertices.
func (p *Plan) init() (*ir.Kernel, error) {
	k := p.kernel("init")
	k.Phase(isa.PhaseInit, func() {
		if p.Algorithm.Vector != "" {
			k.Strided(k.Mul(k.Count("vertices"), k.U32(uint32(p.width()))), func(i ir.Value) { p.Algorithm.Init(k, i) })
		}
		k.Strided(k.Count("vertices"), func(v ir.Value) {
			if p.Algorithm.Vector == "" {
				p.Algorithm.Init(k, v)
			}
			p.relist(k, v)
		})
		p.relistVirtual(k)
	})
	return k.Build()
}

// apply builds the kernel that ends a super-step for every vertex.
func (p *Plan) apply(core schedule.Core) (*ir.Kernel, error) {
	k := p.kernel("apply")
	k.Phase(isa.PhaseApply, func() {
		p.applyAll(k, core)
		p.relistVirtual(k)
	})
	return k.Build()
}

func (p *Plan) applyAll(k *emit.Kernel, core schedule.Core) {
	if !p.Residual {
		k.Strided(k.Count("vertices"), p.applyTo(k, nil))
		return
	}
	sum := k.Var(k.F32(0))
	k.Strided(k.Count("vertices"), p.applyTo(k, func(change ir.Value) { sum.Set(k.Add(sum.Get(), change)) }))
	all := k.WarpSum(sum.Get(), core.Lanes)
	k.When(k.Eq(k.LaneID(), k.U32(0)), func() { k.AtomicAddF(k.Addr("residual"), nil, all) })
}

// applyTo returns the function that ends a super-step for a vertex.
func (p *Plan) applyTo(k *emit.Kernel, residual func(change ir.Value)) func(v ir.Value) {
	if sends := p.Algorithm.Sends; sends != nil {
		set := p.set().In(k, p.Dedup)
		return func(v ir.Value) { k.When(sends(k, v, residual), func() { set.Add(v) }) }
	}
	return func(v ir.Value) {
		p.Algorithm.Apply(k, v, residual)
		p.relist(k, v)
	}
}

// split builds the kernel that activates the waiting vertices below the new threshold.
func (p *Plan) split() (*ir.Kernel, error) {
	k := p.kernel("split")
	set := p.set().In(k, p.Dedup)
	k.Phase(isa.PhaseInit, set.Clear)
	k.Phase(isa.PhaseApply, func() {
		values := k.Addr(p.Algorithm.Into)
		p.Order.Split(p.Set, k, set, func(v ir.Value) ir.Value { return k.Load(ir.U32, values, v) })
	})
	return k.Build()
}

// seed builds the kernel that activates the first vertices of a round.
func (p *Plan) seed() (*ir.Kernel, error) {
	k := p.kernel("seed")
	g := &gather{Kernel: k, Plan: p, set: p.set().In(k, p.Dedup)}
	k.Phase(isa.PhaseInit, g.set.Clear)
	k.Phase(isa.PhaseApply, func() {
		k.Strided(k.Count("vertices"), func(v ir.Value) {
			k.When(p.Algorithm.Seed(k, v), func() { g.activateInOrder(v, nil) })
		})
	})
	return k.Build()
}

// gather builds the kernel that handles the edges of a super-step.
func (p *Plan) gather(d direction.Direction, core schedule.Core) (*ir.Kernel, error) {
	g := p.begin("gather-"+p.way(d), d)
	if before := p.Algorithm.Before; before != nil {
		before(g.Kernel)
	}
	if !p.Algorithm.Dense {
		g.Phase(isa.PhaseInit, func() { g.clear(p.Schedule) })
	}
	g.Phase(isa.PhaseRegistration, func() { p.Schedule.Walk(g.makeSite(core), g.visitor()) })
	if after := p.Algorithm.After; after != nil {
		g.Phase(isa.PhaseGatherSum, func() { after(g.Kernel) })
	}
	return g.Kernel.Build()
}

// clear clears the set that the super-step after next will fill, in the first launch of a gather.
func (g *gather) clear(s *schedule.Schedule) {
	if len(s.Launches) > 0 {
		g.When(g.Eq(g.Count(schedule.LaunchWord), g.U32(0)), g.set.Clear)
		return
	}
	g.set.Clear()
}

// Compacts reports whether a kernel before each gather of a direction lists the vertices that walk their rows.
func (p *Plan) Compacts(d direction.Direction) bool {
	if d == direction.Pull {
		return p.Set.Reverse
	}
	return p.Set.Queue
}

// compact builds the kernel that lists the vertices that walk their rows.
func (p *Plan) compact(d direction.Direction) (*ir.Kernel, error) {
	k := p.kernel("compact-" + p.way(d))
	set := p.set()
	holds := set.In(k, p.Dedup).Holds
	if d == direction.Pull {
		holds = func(v ir.Value) ir.Value { return p.destinationFilter()(k, v) }
	}
	k.Phase(isa.PhaseRegistration, func() { set.Compact(k, p.Dedup, holds) })
	return k.Build()
}

// register builds the kernel by which the schedule prepares the vertices that walk their rows.
func (p *Plan) register(d direction.Direction, core schedule.Core) (*ir.Kernel, error) {
	g := p.begin("register-"+p.way(d), d)
	g.Phase(isa.PhaseRegistration, func() { p.Schedule.Prepare(g.makeSite(core), g.visitor()) })
	return g.Kernel.Build()
}

func (p *Plan) begin(name string, d direction.Direction) *gather {
	k := p.kernel(name)
	k.Unroll = p.unroll(d)
	if k.UnrollShared = k.Unroll; p.Unroll == UnrollAuto {
		k.UnrollShared = nil // as nvcc
	}
	set := p.set().In(k, p.Dedup)
	if p.Compacts(d) {
		set = p.set().Compacted(k, set)
	}
	return &gather{Kernel: k, Plan: p, dir: d, set: set}
}

func (g *gather) makeSite(core schedule.Core) *schedule.Site {
	if core.Block > 0 {
		g.Launch(core.Warps, core.Block)
	}
	view := g.Layout.In(g.Kernel, g.dir, g.Weights)
	g.site = &schedule.Site{
		Kernel: g.Kernel, View: view, Rows: g.Layout.Rows(g.dir), Dir: g.dir, Set: g.walked(view),
		Virtual: g.Layout.Virtual != nil, Scan: g.Scan, Core: core,
		All: g.Algorithm.Dense && g.Layout.Summed(), Ahead: g.readsAhead(g.dir), Unrolled: g.Plan.Unroll == UnrollAuto,
		Decides: g.dir == direction.Pull && g.Algorithm.Settles(),
		// All vertices may have taken what they can while some are active, and a program can pass an empty frontier.
		Width: g.width(), Empty: g.Set.Reverse && g.dir == direction.Pull || g.operator,
	}
	if g.stores() {
		g.site.Numbered = func(edges ir.Value) {
			g.When(g.Eq(g.GlobalThread(), g.U32(0)), func() { activeset.CountOutputs(g.Kernel, edges) })
		}
	}
	if rest := g.Layout.Rest; rest != nil {
		g.site.Rest = &schedule.Rest{View: rest.In(g.Kernel, g.dir, g.Weights), Bare: rest.Bare}
	}
	return g.site
}

// gather is a kernel that traverses edges while it is being built.
type gather struct {
	*emit.Kernel
	*Plan
	dir    direction.Direction
	set    activeset.Set
	site   *schedule.Site
	output *ir.Variable    // what the edge activates, if the set is of outputs
	owned  *emit.Owned     // the sum of the current row in a register, if one thread owns its destination
	shard  *schedule.Shard // the shard whose sums are in the scratchpad
}

// owns reports whether one thread updates each sum, which then needs no atomics (GRAssembler §5.1).
func (p *Plan) owns(d direction.Direction) bool {
	return p.ownsRow(d) && (p.width() == 1 || p.Schedule.Rows == schedule.RowsByNumber)
}

// ownsRow reports whether the vertex that accumulates is the one whose row a thread walks, with all of its edges in
// that row. With virtual vertices, its edges are in several rows, and an edge outside rows can be handled by any
// thread.
func (p *Plan) ownsRow(d direction.Direction) bool {
	return p.Schedule.Rows.Owned() && p.wholeRows(d) && p.Algorithm.Hook == nil && p.Algorithm.Body == nil
}

// wholeRows reports whether a row, of both parts of the layout, has all edges that are added up at its vertex.
func (p *Plan) wholeRows(d direction.Direction) bool {
	return p.Layout.Virtual == nil && !p.Layout.Loose() && (d == direction.Push) == p.Algorithm.ToSource
}

func (g *gather) visitor() *schedule.Visitor {
	v := &schedule.Visitor{Keep: g.keep, Edge: g.edge, Enter: g.enter, Leave: g.leave}
	switch row := g.Algorithm.Row; {
	case g.sumsInRegister(g.dir):
		v.Row = g.ownedRow
	// A schedule that does not own rows walks the two parts of a layout one after the other.
	case row != nil && g.wholeRows(g.dir) && g.Layout.Rest == nil:
		v.Row = func(v ir.Value, threads int, walk func()) { row(g.Kernel, v, threads, walk) }
	}
	return v
}

// ownedRow has the sum of a row in a register while its thread walks it.
func (g *gather) ownedRow(v ir.Value, _ int, walk func()) {
	g.Phase(isa.PhaseGatherSum, func() {
		g.owned = g.Algorithm.Sum.Own(g.Kernel, g.Addr(g.Algorithm.Into), g.component(v, g.site.Component),
			g.readsAhead(g.dir))
	})
	walk()
	g.Phase(isa.PhaseGatherSum, func() { g.owned.End(g.component(v, g.site.Component), func() { g.activate(v) }) })
}

// enter sets up the sums of a shard's vertices in the scratchpad (CuSha's first stage).
func (g *gather) enter(sh *schedule.Shard) {
	sum, into := g.Algorithm.Sum, g.Addr(g.Algorithm.Into)
	sh.Each(g.site, func(i, of ir.Value) { g.Store(sh.Sums, i, sum.Partial(g.Kernel, into, of)) })
	g.shard = sh
}

// leave combines the vertices' words in memory with the sums, without atomics: no other block has the vertices (CuSha's
// third stage).
func (g *gather) leave(sh *schedule.Shard) {
	sum, into := g.Algorithm.Sum, g.Addr(g.Algorithm.Into)
	sh.Each(g.site, func(i, of ir.Value) {
		sum.Join(g.Kernel, into, of, g.Load(sum.Type, sh.Sums, i), func() { g.activate(of) })
	})
	g.shard = nil
}

// keep returns the condition under which a vertex walks its row; nil: always.
func (g *gather) keep(v ir.Value) ir.Value {
	switch {
	case g.Compacts(g.dir) &&
		!g.Layout.Loose(): // the list has only such vertices, but says nothing of edges outside rows
		return nil
	case g.dir == direction.Push:
		return g.sends(v)
	case g.destinationFilter() != nil:
		return g.destinationFilter()(g.Kernel, v)
	}
	return nil
}

// destinationFilter returns the filter of destinations in the direction pull; nil: none.
func (p *Plan) destinationFilter() func(k *emit.Kernel, v ir.Value) ir.Value {
	if p.Settled {
		return p.Algorithm.Unsettled
	}
	return p.Algorithm.DstFilter
}

// sends returns the condition under which a source is active; nil: always.
func (g *gather) sends(v ir.Value) ir.Value {
	switch {
	case g.Set.Members:
		return g.set.Holds(v)
	case g.Set.Sized && g.Algorithm.SrcFilter != nil:
		return g.Algorithm.SrcFilter(g.Kernel, v)
	}
	return nil
}

// edge handles an edge, and stores what it activates if the set is of outputs.
func (g *gather) edge(e *layout.Edge, stop func()) {
	if !g.stores() {
		g.handle(e, stop)
		return
	}
	g.output = g.Var(g.U32(activeset.NoOutput)).Named("output")
	g.handle(e, stop)
	activeset.Output(g.Kernel, g.site.Number, g.output.Get())
}

// stores reports whether the gather stores what each edge activates. A later kernel appends the vertices that it
// activates.
func (g *gather) stores() bool {
	return g.Set.Outputs && !g.isBack && !g.Algorithm.Silent && g.Algorithm.Sends == nil
}

// handle handles an edge, unless the destination is already decided.
func (g *gather) handle(e *layout.Edge, stop func()) {
	if g.Skip == schedule.Filtered && g.dir == direction.Pull {
		g.If(g.destinationFilter()(g.Kernel, e.Dst), func() { g.filtered(e, nil) }, stop)
		return
	}
	g.filtered(e, stop)
}

// filtered handles an edge if its source is active. stop drops the rest of the row; nil: the caller does that.
func (g *gather) filtered(e *layout.Edge, stop func()) {
	if counts := g.counts(e); counts != nil {
		g.When(counts, func() { g.accumulate(e, stop) })
		return
	}
	g.accumulate(e, stop)
}

// counts returns the condition under which an edge of a walked row counts; nil: always, or the sum decides.
func (g *gather) counts(e *layout.Edge) ir.Value {
	a := g.Algorithm
	var ends ir.Value
	switch {
	case g.dir == direction.Pull:
		ends = g.sends(e.Src)
	case a.DstFilter != nil && (a.Asked || a.Sum.Blind()):
		ends = a.DstFilter(g.Kernel, e.Dst)
	}
	switch {
	case a.EdgeFilter == nil:
		return ends
	case ends == nil:
		return a.EdgeFilter(g.Kernel, e)
	}
	return g.And(ends, a.EdgeFilter(g.Kernel, e))
}

// accumulator returns the vertex that accumulates an edge's contribution.
func (g *gather) accumulator(e *layout.Edge) ir.Value {
	if g.Algorithm.ToSource {
		return e.Src
	}
	return e.Dst
}

// accumulate accumulates an edge's contribution.
func (g *gather) accumulate(e *layout.Edge, stop func()) {
	a := g.Algorithm
	if a.Body != nil {
		a.Body(g.Kernel, e, g.activate)
		return
	}
	if a.Hook != nil {
		to, value, useful := a.Hook(g.Kernel, e)
		g.When(useful, func() { g.addTo(to, value, func() { g.activateInOrder(to, value) }) })
		return
	}
	if a.Vector != "" {
		g.accumulateVector(e, g.contributed(e))
		return
	}
	enough := stop != nil && g.dir == direction.Pull && a.Settles() // the rest of the row has no effect
	if g.owned != nil {
		changed := g.owned.Take(func() ir.Value { return g.contributed(e) })
		if changed != nil && enough {
			g.When(changed, stop)
		}
		return
	}
	// A thread that walks the row alone would leave before the sum.
	early := a.Decides() && !g.Schedule.Rows.Owned() && !g.site.UntilDecided()
	if enough && early {
		stop() // before the sum takes two memory latencies, during which a unit would hand out more edges
	}
	value := g.contributed(e)
	to := g.accumulator(e)
	g.addTo(to, value, func() {
		g.activateInOrder(to, value)
		if enough && !early {
			stop()
		}
	})
}

// contributed returns an edge's contribution, computed here or by an earlier kernel.
func (g *gather) contributed(e *layout.Edge) ir.Value {
	if values := g.Layout.Gathers; values != "" {
		return g.Load(g.Algorithm.Sum.Type, g.Addr(values), e.ID)
	}
	return g.contribution(e)
}

// contribution computes an edge's contribution.
func (g *gather) contribution(e *layout.Edge) ir.Value {
	if by := g.Algorithm.GatherBy; by != nil {
		return by(g.Kernel, e, g.Coefficient)
	}
	return g.Algorithm.Gather(g.Kernel, e)
}

// addTo accumulates a contribution in element i of the result.
func (g *gather) addTo(i, value ir.Value, changed func()) {
	sum, into := g.Algorithm.Sum, g.Addr(g.Algorithm.Into)
	if sh := g.shard; sh != nil { // leave sees what has changed
		sum.Collect(g.Kernel, sh.Sums, g.Sub(i, sh.First), value)
		return
	}
	if g.owns(g.dir) && (g.Sum == emit.InMemory || g.Sum == emit.InRegister && sum.EachTells) {
		sum.Plain(g.Kernel, into, i, value, changed)
		return
	}
	sum.Atomic(g.Kernel, into, i, value, changed)
}

// component returns the index of component c of vertex v; without vectors (c nil), v.
func (g *gather) component(v, c ir.Value) ir.Value {
	if c == nil {
		return v
	}
	return g.Add(g.Mul(v, g.U32(uint32(g.width()))), c)
}

// accumulateVector accumulates factor times the source's vector: the component of the thread, or all.
func (g *gather) accumulateVector(e *layout.Edge, factor ir.Value) {
	if c := g.site.Component; c != nil || g.owned != nil { // with vectors of one number, there is no component
		g.accumulateComponent(e, factor, c)
		return
	}
	// Several components at a time, so that their loads overlap.
	step := min(unrolled, g.width())
	g.For(g.U32(0), g.U32(uint32(g.width())), g.U32(uint32(step)), func(first ir.Value) {
		terms := make([]ir.Value, step)
		for i := range terms {
			terms[i] = g.term(e, factor, g.Add(first, g.U32(uint32(i))))
		}
		for i, t := range terms {
			g.addTo(g.component(e.Dst, g.Add(first, g.U32(uint32(i)))), t, nil)
		}
	})
}

// unrolled is the number of components in a step of the loop over a vector.
const unrolled = 4

func (g *gather) accumulateComponent(e *layout.Edge, factor, c ir.Value) {
	if g.owned != nil {
		g.owned.Take(func() ir.Value { return g.term(e, factor, c) })
		return
	}
	g.addTo(g.component(e.Dst, c), g.term(e, factor, c), nil)
}

// term returns factor times component c of the source's vector.
func (g *gather) term(e *layout.Edge, factor, c ir.Value) ir.Value {
	return g.Mul(factor, g.Load(ir.F32, g.Addr(g.Algorithm.Vector), g.component(e.Src, c)))
}

// activateInOrder activates v, whose value has changed, now or later.
func (g *gather) activateInOrder(v, value ir.Value) {
	if !g.Order.Piles {
		g.activate(v)
		return
	}
	g.If(activeset.Near(g.Kernel, value), func() { g.add(v) }, func() { g.Order.Later(g.Set, g.Kernel, v, value) })
}

// activate activates v in the next super-step.
func (g *gather) activate(v ir.Value) {
	if f := g.Algorithm.Changed; f != nil {
		f(g.Kernel, v)
	}
	if !g.Algorithm.Silent {
		g.add(v)
	}
}

// add adds v to the next active set.
func (g *gather) add(v ir.Value) {
	if g.output != nil {
		g.output.Set(v)
		return
	}
	g.set.Add(v)
}
