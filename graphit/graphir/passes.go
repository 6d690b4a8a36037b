package graphir

import (
	"fmt"
	"slices"
	"strings"

	"heddle/graphit"
)

// Pass is a step of the compiler over a program.
type Pass struct {
	Name string
	Doc  string
	run  func(b *builder, s *graphit.Schedule)
}

// Passes in order: the schedule's settings come first, since everything else depends on them.
var Passes = []Pass{
	{"schedule", "gives each label its schedule: load balance, direction, delta", schedules},
	{"frontier", "chooses how each operator's output lies in memory (UGF, §2.5.1)", frontiers},
	{"dependence", "finds the accesses at which threads may meet, and makes those that write there atomic (UGF, §5.1.2)", dependence},
	{"dedup", "finds the outputs that a vertex could be in twice (UGF, §2.4.3)", dedup},
	{"liveness", "finds the outputs that may take the memory of the input, which nobody reads any more (UGF, §5.1.1)", liveness},
	{"ordered", "finds the loops over a queue's buckets that need not wait for a bucket's end (GraphIt, CGO 2020, §3.3)", ordered},
	{"fusion", "marks the loops that are to be one launch (UGF, §5.2.1)", fusion},
}

// Run runs the passes with a schedule; nil: the program's own. after is called after each pass, unless nil.
func (p *Program) Run(s *graphit.Schedule, after func(pass Pass)) (err error) {
	b := &builder{p: p}
	defer b.catch(&err)
	if s == nil {
		s = p.File.Schedule
	}
	if s == nil {
		s = &graphit.Schedule{File: p.File.Name}
	}
	for _, pass := range Passes {
		pass.run(b, s)
		if after != nil {
			after(pass)
		}
	}
	return nil
}

// scheduleError panics with an error in a schedule.
func scheduleError(s *graphit.Schedule, at graphit.Pos, format string, args ...any) {
	panic(&graphit.Error{File: s.File, Pos: at, Msg: fmt.Sprintf(format, args...)})
}

// schedules is the first pass.
func schedules(b *builder, s *graphit.Schedule) {
	for i := range s.CPU {
		if change := changes[s.CPU[i].Name]; change != nil {
			change(b, s, &s.CPU[i])
		}
	}
	for _, op := range b.p.Edges {
		op.Given = map[string]bool{}
	}
	for i := range s.GPU {
		a := &s.GPU[i]
		inRange(s, a)
		op, loop := b.labelled(s, a.Label, a.Pos)
		if loop != nil {
			continue // handled by pass fusion
		}
		if a.Hybrid != nil {
			above := op.Metadata
			above.Given = map[string]bool{}
			above.simple(a.Hybrid.Above)
			op.simple(a.Hybrid.Below)
			op.Hybrid = &Hybrid{a.Hybrid.Threshold, above}
			continue
		}
		if a.Simple.KernelFusion != nil && a.Simple.KernelFusion.Args[0].Text == "ENABLED" {
			scheduleError(s, a.Pos, "configKernelFusion: %s is no loop", a.Label)
		}
		op.simple(a.Simple)
	}
	for i := range s.CPU {
		b.cpu(s, &s.CPU[i])
	}
	for i := range s.Swarm {
		b.swarm(s, &s.Swarm[i])
	}
	for _, op := range b.p.Edges {
		if op.Delta != nil && op.Output != Priority {
			scheduleError(s, op.deltaAt, "%s: a delta is for applyUpdatePriority", op.Path)
		}
	}
}

// inRange refuses numbers outside a setting's range.
func inRange(s *graphit.Schedule, a *graphit.Applied) {
	check := func(r graphit.Range, arg graphit.Arg, at graphit.Pos, what string) {
		if wrong := r.Wrong(arg); wrong != "" {
			scheduleError(s, at, "%s of %s: %s", what, a.Label, wrong)
		}
	}
	simple := []*graphit.SimpleGPUSchedule{a.Simple}
	if h := a.Hybrid; h != nil {
		check(graphit.Thresholds, h.Threshold, a.Pos, "the threshold")
		simple = []*graphit.SimpleGPUSchedule{h.Below, h.Above}
	}
	for _, x := range simple {
		if x.LoadBalance != nil && len(x.LoadBalance.Args) == 3 {
			if x.LoadBalance.Args[0].Text != "EDGE_ONLY" {
				scheduleError(s, x.LoadBalance.Pos, "configLoadBalance: BLOCKED is for EDGE_ONLY, not %s",
					x.LoadBalance.Args[0].Text)
			}
			check(graphit.Blocks, x.LoadBalance.Args[2], x.LoadBalance.Pos,
				"configLoadBalance: the vertices of a block")
		}
		if x.Delta != nil {
			check(graphit.Deltas, x.Delta.Args[0], x.Delta.Pos, "configDelta")
		}
	}
}

// labelled returns the operator over edges, or the loop, that has a label.
func (b *builder) labelled(s *graphit.Schedule, label string, at graphit.Pos) (*EdgeSetIterator, *Fusion) {
	i := slices.IndexFunc(b.p.Edges, func(op *EdgeSetIterator) bool { return op.Path == label })
	if i >= 0 {
		return b.p.Edges[i], nil
	}
	var known []string
	var found *Fusion
	b.p.Visit(func(x Stmt) {
		if path, loop := FusionOf(x); loop != nil {
			known = append(known, path)
			if path == label && label != "" {
				found = loop
			}
		}
		if op, ok := x.(*EdgeSetIterator); ok {
			known = append(known, op.Path)
		}
	})
	if found != nil {
		return nil, found
	}
	known = slices.DeleteFunc(known, func(s string) bool { return s == "" })
	if len(known) == 0 {
		scheduleError(s, at, "there is no statement %s: the program has no labels of operators over edges or of loops",
			label)
	}
	scheduleError(s, at, "there is no operator over edges or loop %s: expected one of %s", label,
		strings.Join(known, ", "))
	return nil, nil
}

// Visit calls f with every statement of the host program.
func (p *Program) Visit(f func(s Stmt)) { visit(p.Main, f) }

func visit(list []Stmt, f func(s Stmt)) {
	for _, s := range list {
		f(s)
		switch s := s.(type) {
		case *If:
			visit(s.Then, f)
			visit(s.Else, f)
		case *While:
			visit(s.Body, f)
		case *For:
			visit(s.Body, f)
		}
	}
}

// simple applies a SimpleGPUSchedule to an operator.
func (m *Metadata) simple(s *graphit.SimpleGPUSchedule) {
	if x := s.LoadBalance; x != nil {
		m.Given["load_balance"] = true
		m.LoadBalance = x.Args[0].Text
		m.IsEdgeParallel = m.LoadBalance != "VERTEX_BASED"
		if len(x.Args) == 3 {
			m.Blocking = &x.Args[2]
		}
	}
	if x := s.Direction; x != nil {
		m.Given["direction"] = true
		m.Direction = Push
		if x.Args[0].Text == "PULL" {
			m.Direction, m.PullInputFrontier = Pull, Boolmap
		}
		if len(x.Args) == 2 && x.Args[1].Text == "BITMAP" {
			m.PullInputFrontier = Bitmap
		}
	}
	if x := s.FrontierCreation; x != nil {
		m.Given["frontier_creation"] = true
		m.OutputRepresentation = map[string]Representation{"FUSED": Sparse, "UNFUSED_BITMAP": Bitmap,
			"UNFUSED_BOOLMAP": Boolmap}[x.Args[0].Text]
	}
	if x := s.Deduplication; x != nil {
		m.Given["deduplication"] = true
		m.ApplyDeduplication = x.Args[0].Text == "ENABLED"
		if len(x.Args) == 2 {
			m.DedupType = x.Args[1].Text
		}
	}
	if x := s.Delta; x != nil {
		m.Given["delta"] = true
		m.Delta, m.deltaAt = &x.Args[0], x.Pos
	}
}

// cpuDirections are those of configApplyDirection.
var cpuDirections = map[string]struct {
	d      Direction
	hybrid bool
}{
	"SparsePush": {Push, false}, "DensePush": {Push, false}, "DensePull": {Pull, false},
	"SparsePush-DensePull": {Push, true}, "DensePull-SparsePush": {Push, true}, "DensePush-SparsePush": {Push, false},
}

// EagerWithMerge is configApplyPriorityUpdate's value for buckets that are filled eagerly and fused.
const EagerWithMerge = "eager_priority_update_with_merge"

// priorityUpdates are the values of configApplyPriorityUpdate. Without fusion they are all equivalent here: a bucket is
// filled when the previous one has ended.
var priorityUpdates = []string{EagerWithMerge, "eager_priority_update", "lazy_priority_update",
	"constant_sum_reduce_before_update"}

// parallelizations are the values of configApplyParallelization.
var parallelizations = []string{
	"serial", "dynamic-vertex-parallel", "static-vertex-parallel", "edge-aware-dynamic-vertex-parallel",
	"edge-parallel",
}

// cpuNotes are CPU schedule options that do not affect the result, and why they have no meaning on a machine.
var cpuNotes = map[string]string{
	"configApplyParallelization": "operators run in parallel on all lanes of the machine",
	"configParForGrainSize":      "the machine has no tasks",
	"configApplyNUMA":            "the machine has one memory",
	"configApplyNumSSG":          "configLoadBalance(EDGE_ONLY, BLOCKED, vertices) cuts the graph into segments",
	"setApply":                   "load balance and frontiers are configLoadBalance's and configFrontierCreation's",
	"configBucketMergeThreshold": "buckets are not merged",
	"configNumOpenBuckets":       "how many buckets are open is workload.order.buckets",
	"configApplyPriorityUpdate":  "buckets are filled as workload.order says",
}

// changes are the options that change the host program.
var changes = map[string]func(b *builder, s *graphit.Schedule, o *graphit.CPUOption){
	"splitForLoop": (*builder).split, "fuseForLoop": (*builder).merge, "fuseApplyFunctions": (*builder).mergeFunctions,
}

// cpuRefused are options that are not supported here, and the remedy.
var cpuRefused = map[string]string{
	"setVertexSet": "sets are laid out by configFrontierCreation",
}

// cpu applies a CPU option, or notes that it has no meaning here, or refuses it.
func (b *builder) cpu(s *graphit.Schedule, o *graphit.CPUOption) {
	if changes[o.Name] != nil {
		return // done before
	}
	if why := cpuRefused[o.Name]; why != "" {
		scheduleError(s, o.Pos, "%s is for CPUs: %s", o.Name, why)
	}
	if o.Name == "fuseFields" {
		b.fields(s, o)
		return
	}
	if o.Name == "configIntersection" {
		if _, ok := graphit.Intersects(o); !ok {
			scheduleError(s, o.Pos, "%s: expected NaiveIntersection (or Hiroshi, Multiskip, Combined: merges "+
				"all), BinarySearchIntersection, HashIntersection or BitmapIntersection", o.Name)
		}
		return // done by Check
	}
	label := o.Args[0].Text
	if why := cpuNotes[o.Name]; why != "" {
		if none := b.missing(label); none != "" { // as some of GraphIt's own schedules have
			why = none
		}
		b.p.Notes = append(b.p.Notes, Note{Pos: o.Pos,
			Text: fmt.Sprintf("%s(%q): no meaning here: %s", o.Name, label, why), OnHost: b.host(s, o)})
		return
	}
	if slices.ContainsFunc(b.p.Vertices, func(v *VertexSetIterator) bool {
		return label != "" && (v.Path == label || strings.HasSuffix(v.Path, ":"+label))
	}) {
		b.p.Notes = append(b.p.Notes, Note{Pos: o.Pos,
			Text: fmt.Sprintf("%s(%q): no meaning here: it is an operator over vertices", o.Name, label)})
		return
	}
	op, _ := b.labelled(s, label, o.Pos)
	if op == nil || len(o.Args) < 2 {
		scheduleError(s, o.Pos, "%s: expected the label of an operator over edges, and a value", o.Name)
	}
	switch o.Name {
	case "configApplyDirection":
		d, ok := cpuDirections[o.Args[1].Text]
		if !ok {
			scheduleError(s, o.Pos, "%s: expected SparsePush, DensePush, DensePull or two of them with - between, found %s",
				o.Name, o.Args[1].Text)
		}
		op.Direction, op.Metadata.Hybrid, op.Given["direction"] = d.d, d.hybrid, true
		if d.d == Pull || d.hybrid {
			op.PullInputFrontier = Boolmap
		}
	case "configApplyDenseVertexSet":
		if o.Args[1].Text == "bitvector" {
			op.PullInputFrontier = Bitmap
		}
	case "configApplyPriorityUpdateDelta":
		if wrong := graphit.Deltas.Wrong(o.Args[1]); wrong != "" {
			scheduleError(s, o.Pos, "%s: %s", o.Name, wrong)
		}
		op.Delta, op.deltaAt, op.Given["delta"] = &o.Args[1], o.Pos, true
	}
}

// missing says that no statement has a label; "": one has.
func (b *builder) missing(label string) string {
	var known []string
	b.p.Visit(func(x Stmt) {
		if path := pathOf(x); path != "" {
			known = append(known, path)
		}
	})
	if slices.ContainsFunc(known, func(path string) bool { return path == label || strings.HasSuffix(path, ":"+label) }) {
		return ""
	}
	return fmt.Sprintf("there is no statement %s: expected one of %s", label, strings.Join(known, ", "))
}

// pathOf is a statement's label; "": it has none.
func pathOf(s Stmt) string {
	switch s := s.(type) {
	case *Host:
		return s.Path
	case *If:
		return s.Path
	case *While:
		return s.Path
	case *For:
		return s.Path
	case *EdgeSetIterator:
		return s.Path
	case *VertexSetIterator:
		return s.Path
	}
	return ""
}

// host applies an option that concerns only the CPU backend, and reports whether it does.
func (b *builder) host(s *graphit.Schedule, o *graphit.CPUOption) bool {
	i := slices.IndexFunc(b.p.Edges, func(op *EdgeSetIterator) bool { return op.Path == o.Args[0].Text })
	if i < 0 || len(o.Args) < 2 {
		return false
	}
	op, a := b.p.Edges[i], &o.Args[1]
	word := func(of []string) string {
		if !slices.Contains(of, a.Text) {
			scheduleError(s, o.Pos, "%s: expected one of %s, found %s", o.Name, strings.Join(of, ", "), a.Text)
		}
		return a.Text
	}
	count := func() *graphit.Arg {
		if wrong := graphit.Counts.Wrong(*a); wrong != "" {
			scheduleError(s, o.Pos, "%s: %s", o.Name, wrong)
		}
		return a
	}
	switch o.Name {
	case "configApplyPriorityUpdate":
		op.PriorityUpdate = word(priorityUpdates)
	case "configBucketMergeThreshold":
		op.MergeThreshold = count()
	case "configNumOpenBuckets":
		op.OpenBuckets = count()
	case "configApplyNumSSG":
		if len(o.Args) < 3 {
			scheduleError(s, o.Pos, "%s: expected a label, fixed-vertex-count and a number of segments", o.Name)
		}
		a = &o.Args[2]
		op.Segments = count()
	case "configApplyParallelization":
		op.Parallelization = word(parallelizations)
	default:
		return false
	}
	return true
}

// frontiers: a pull tests membership, so its sets are maps: an output that the schedule leaves sparse takes the
// representation of the pull's input.
func frontiers(b *builder, _ *graphit.Schedule) {
	for _, op := range b.p.Edges {
		each(op, func(m *Metadata) {
			if (m.Direction == Pull || m.Hybrid) && m.OutputRepresentation == Sparse {
				m.OutputRepresentation = m.PullInputFrontier
			}
		})
	}
}

// each calls f with each metadata of an operator.
func each(op *EdgeSetIterator, f func(m *Metadata)) {
	f(&op.Metadata)
	if op.Hybrid != nil {
		f(&op.Hybrid.Above)
	}
}

// dependence: in push several threads may share a destination, in pull a source, if one thread has all edges of the
// other end. Where edges are distributed one by one, threads may share either end.
func dependence(b *builder, _ *graphit.Schedule) {
	for _, op := range b.p.Edges {
		op.Depend()
	}
	for _, op := range b.p.Vertices {
		written := map[*graphit.Var]bool{}
		for _, a := range op.Accesses {
			written[a.Vector] = written[a.Vector] || a.Op != ""
		}
		for i := range op.Accesses {
			a := &op.Accesses[i]
			a.Shared = written[a.Vector] && a.Index != AtVertex
			a.Atomic = a.Shared && a.Op != "" && a.Op != "="
		}
	}
}

// Depend finds the operator's shared accesses, by its direction and by the distribution of its edges.
func (op *EdgeSetIterator) Depend() {
	written := map[*graphit.Var]bool{}
	for _, a := range op.Accesses {
		written[a.Vector] = written[a.Vector] || a.Op != ""
	}
	for i := range op.Accesses {
		a := &op.Accesses[i]
		a.Shared = false
		each(op, func(m *Metadata) { a.Shared = a.Shared || written[a.Vector] && m.shares(a.Index) })
		a.Atomic = a.Shared && a.Op != ""
	}
}

// shares reports whether several threads may access an end of edges at the same time.
func (m *Metadata) shares(p Place) bool {
	if p == Elsewhere || m.IsEdgeParallel || m.Hybrid {
		return true
	}
	return (p == AtDestination) == (m.Direction == Push)
}

// dedup: a vertex can enter a list twice if its changes can be reported several times. An assignment reports only the
// first, by a compare-and-swap. Maps hold a vertex once. An output that is summed over edges must be free of
// duplicates, whatever the schedule.
func dedup(b *builder, _ *graphit.Schedule) {
	for _, op := range b.p.Edges {
		each(op, func(m *Metadata) {
			if !m.RequiresOutput || m.OutputRepresentation != Sparse {
				m.ApplyDeduplication = false
				return
			}
			switch {
			case op.repeats("+="):
				m.ApplyDeduplication = true
			case !m.Given["deduplication"]:
				m.ApplyDeduplication = op.repeats("min=", "max=")
			}
		})
	}
}

// repeats reports whether the output's vector is written by one of the operations.
func (op *EdgeSetIterator) repeats(ops ...string) bool {
	return slices.ContainsFunc(op.Accesses, func(a Access) bool {
		return (a.Vector == op.Tracked || a.Vector == nil) && slices.Contains(ops, a.Op)
	})
}

// fusion marks loops.
func fusion(b *builder, s *graphit.Schedule) {
	for i := range s.GPU {
		a := &s.GPU[i]
		_, loop := b.labelled(s, a.Label, a.Pos)
		if loop == nil {
			continue
		}
		if a.Simple == nil {
			scheduleError(s, a.Pos, "%s is a loop: expected a SimpleGPUSchedule", a.Label)
		}
		if x := a.Simple.KernelFusion; x != nil {
			loop.NeedsFusion, loop.Fused = x.Args[0].Text == "ENABLED", x.Pos
		}
	}
}
