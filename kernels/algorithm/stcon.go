package algorithm

import (
	"fmt"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// Sides of stCon: vertices reached from the source, and from the target.
const (
	fromSource = iota
	fromTarget
)

// stCon searches from both ends until the searches meet: an edge has one end on each side.
var stCon = &Algorithm{
	Name:       "stcon",
	Doc:        "whether a path joins source and target: breadth-first from both, until they meet",
	FromSource: true,
	Target:     true,
	Undirected: true,
	NeedsSet:   true,
	Once:       true,
	Arrays:     []Array{{"side", nil}, {"met", func(*Problem) []uint32 { return []uint32{0} }}},
	Result:     "side",
	Sum:        emit.ClaimU32,
	Into:       "side",
	Stop:       "met",
	Init: func(k *emit.Kernel, v ir.Value) {
		side := k.Select(k.Eq(v, k.Count("target")), k.U32(fromTarget), k.U32(none))
		set(k, "side", v, k.Select(k.Eq(v, k.Count("source")), k.U32(fromSource), side))
	},
	Gather: func(k *emit.Kernel, e *layout.Edge) ir.Value {
		mine, other := word(k, "side", e.Src), word(k, "side", e.Dst)
		meets := k.And(k.Ne(other, k.U32(none)), k.Ne(other, mine))
		k.When(meets, func() { set(k, "met", k.U32(0), k.U32(1)) })
		return mine
	},
	Check:   checkSides,
	Stopped: &Stopped{Alike: true, Check: checkSidesSoFar},
}

// checkSides verifies that the searches met if they could, and that every vertex is on a side whose end reaches it.
func checkSides(p *Problem, o *Outcome) error {
	ends := [2][]uint32{fromSource: reference.Levels(p.Graph.CSR(), p.Source),
		fromTarget: reference.Levels(p.Graph.CSR(), p.Target)}
	if joined := ends[fromSource][p.Target] != none; joined != o.Stopped {
		return fmt.Errorf("%w: a path joins %d and %d: %v, but the searches met: %v", reference.ErrWrong, p.Source,
			p.Target, joined, o.Stopped)
	}
	for v, side := range o.Result {
		reached := ends[fromSource][v] != none || ends[fromTarget][v] != none
		switch {
		case side == none && (o.Stopped || !reached):
		case side > fromTarget || ends[side][v] == none:
			return fmt.Errorf("%w: side of vertex %d is %d, which no end that reaches it has", reference.ErrWrong, v,
				int32(side))
		}
	}
	return nil
}

// checkSidesSoFar verifies a stopped run: the searches have not met, and need not have, as no path between their ends
// is shorter than twice the super-steps; and every vertex reached by an end is on the side of the nearer one. If both
// are equally near, either is correct: their meeting is detected in the next super-step.
func checkSidesSoFar(p *Problem, o *Outcome) error {
	near, other := reference.Levels(p.Graph.CSR(), p.Source), reference.Levels(p.Graph.CSR(), p.Target)
	if d := near[p.Target]; int64(d) < 2*int64(o.Steps) {
		return fmt.Errorf("%w: a path of %d edges joins %d and %d, and the searches have not met after %d super-steps",
			reference.ErrWrong, d, p.Source, p.Target, o.Steps)
	}
	level := make([]uint32, len(near))
	for v, side := range o.Result {
		level[v] = min(near[v], other[v])
		reached := level[v] != none && int(level[v]) <= o.Steps
		switch {
		case !reached && side == none:
		case reached && side == fromSource && near[v] == level[v]:
		case reached && side == fromTarget && other[v] == level[v]:
		default:
			return fmt.Errorf("%w: side of vertex %d is %d, and it is %d edges from the source and %d from the target",
				reference.ErrWrong, v, int32(side), int32(near[v]), int32(other[v]))
		}
	}
	return checkFront(o, level)
}
