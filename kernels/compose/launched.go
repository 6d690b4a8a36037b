package compose

import "heddle/sim"

// Kinds of kernels that a run launches: the names, or how the names begin, by which launches are booked and stored.
const (
	KernelInit     = "init"
	KernelGather   = "gather" // the edges
	KernelApply    = "apply"  // the vertices
	KernelSplit    = "split"  // vertices that have waited
	KernelSeed     = "seed"   // a round's first vertices
	KernelCompact  = "compact"
	KernelTopology = "topology"
	KernelRegister = "register"
	KernelLoop     = "loop" // of a fused run: what the device does between kernels
)

// InitStep is the step of what comes before the first super-step: these count from 1.
const InitStep = 0

// Launched is a launch of a program's.
type Launched struct {
	Step   int // the traversals of edges before it, and itself if it belongs to one
	Kernel string
	sim.Result
	Traversal *Step // that it is the (first) gather of; nil: none
	Part      bool  // it is a part of a launch, of which another part is booked as the launch
}

// traversed lists what a traversal of edges has launched, in order: the kind of each kernel and, of one of several
// launches of a gather, which.
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

// Launched lists the launches of a run in their order, or the parts of a fused run's. What a super-step that has failed
// had launched is not among them.
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

// launchList lists a run's launches.
type launchList struct {
	list  []Launched
	loops []Loop // that are not listed
}

func (b *launchList) add(step int, kernel string, r sim.Result, gatherOf *Step) {
	b.list = append(b.list, Launched{Step: step, Kernel: kernel, Result: r, Traversal: gatherOf})
}

// between adds what the device has done by itself when so many super-steps were done.
func (b *launchList) between(done int) {
	for ; len(b.loops) > 0 && b.loops[0].Step == done; b.loops = b.loops[1:] {
		b.add(done, KernelLoop, b.loops[0].Result, nil)
	}
}

// sifting is the kernel that finds the vertices to continue with.
func (p *Plan) sifting() string {
	if p.Order.Piles {
		return KernelSplit
	}
	return KernelSeed
}
