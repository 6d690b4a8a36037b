package compose

import "heddle/sim"

// Kinds of kernels that a run launches: the names, or prefixes of names, under which launches are stored.
const (
	KernelInit     = "init"
	KernelGather   = "gather" // edges
	KernelApply    = "apply"  // vertices
	KernelSplit    = "split"  // waiting vertices
	KernelSeed     = "seed"   // first vertices of a round
	KernelCompact  = "compact"
	KernelTopology = "topology"
	KernelRegister = "register"
	KernelLoop     = "loop" // between the kernels of a fused run
)

// InitStep is the step of launches before the first super-step, which has number 1.
const InitStep = 0

// Launched is a launch of a program.
type Launched struct {
	Step   int // number of traversals of edges so far, including one that the launch belongs to
	Kernel string
	sim.Result
	Traversal *Step // the traversal of which it is the first gather; nil: none
	Part      bool  // part of a launch that another entry stands for
}

// traversed calls add for the launches of a traversal of edges in order. part distinguishes several launches of a
// gather.
func (s *Step) traversed(p *Plan, add func(kind, part string, r sim.Result, gatherOf *Step)) {
	if s.Compacted(p) {
		add(KernelCompact, "", s.Compact, nil)
	}
	if s.Prepared(p) {
		add(KernelTopology, "", s.Topology, nil)
	}
	if s.Registered(p) {
		add(KernelRegister, "", s.Register, nil)
	}
	part := func(n int) string {
		if names := p.Schedule.Launches; len(names) > 0 {
			return "-" + names[n]
		}
		return ""
	}
	add(KernelGather, part(0), s.Gather, s)
	for n, r := range s.More {
		add(KernelGather, part(n+1), r, nil)
	}
}

// Launched returns the launches of a run in order, or the parts of a fused run's launch. Those of a super-step that
// failed are missing.
func (r *Result) Launched() []Launched {
	b := &launchList{loops: r.Loops}
	b.add(InitStep, KernelInit, r.Init, nil)
	b.between(0)
	for i := range r.Steps {
		s, n := &r.Steps[i], i+1
		for _, res := range s.Splits {
			b.add(n, r.Plan.sifting(), res, nil)
		}
		s.traversed(r.Plan, func(kind, part string, res sim.Result, gatherOf *Step) {
			if kind == KernelGather { // others have one name both ways
				kind += "-" + s.Way() + part
			}
			b.add(n, kind, res, gatherOf)
		})
		if r.Plan.Algorithm.Applies() {
			b.add(n, KernelApply, s.Apply, nil)
		}
		b.between(n)
	}
	for _, res := range r.Splits {
		b.add(len(r.Steps)+1, r.Plan.sifting(), res, nil)
	}
	return b.list
}

// launchList accumulates a run's launches.
type launchList struct {
	list  []Launched
	loops []Loop // not listed yet
}

func (b *launchList) add(step int, kernel string, r sim.Result, gatherOf *Step) {
	b.list = append(b.list, Launched{Step: step, Kernel: kernel, Result: r, Traversal: gatherOf})
}

// between appends the device's loops after done super-steps.
func (b *launchList) between(done int) {
	for ; len(b.loops) > 0 && b.loops[0].Step == done; b.loops = b.loops[1:] {
		b.add(done, KernelLoop, b.loops[0].Result, nil)
	}
}

// sifting returns the kind of the kernel that selects waiting vertices or seeds.
func (p *Plan) sifting() string {
	if p.Order.Piles {
		return KernelSplit
	}
	return KernelSeed
}
