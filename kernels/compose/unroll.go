package compose

import (
	"strconv"

	"heddle/kernels/algorithm"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
)

// Unrolling is the number of edges that a thread handles at a time, or UnrollAuto.
type Unrolling string

// UnrollAuto unrolls loops over edges as nvcc does, and computes values behind the tests behind which they are needed
// (codegen.Options.Sink).
const UnrollAuto Unrolling = "auto"

// Unrollings lists all values, the default first.
func Unrollings() []Unrolling { return []Unrolling{"1", "2", "4", "8", UnrollAuto} }

func (u Unrolling) given() bool { return u != "" && u != "1" }

// Unrolling by nvcc 13.0 at -O3 for sm_90, as the SASS of kernels with such loops shows: loops whose body only reads
// and accumulates in a register handle sixteen edges at a time, then eight, then four, and up to three singly. Loops
// that the lanes of a warp or a thread block run through together (warp, cta, strict, parts of twc and twce) are not
// unrolled, with shuffles in them or without: the SASS of the exported kernels of all seven schedules has each of their
// edges' atomics once, and seven times (four, and three singly) where a thread walks a row.
var (
	nvccReads  = []int{16, 8, 4}
	nvccWrites = []int{4}
)

// unroll returns the numbers of edges that threads handle at a time, for a kernel of a direction; nil: one.
func (p *Plan) unroll(d direction.Direction) []int {
	switch n, err := strconv.Atoi(string(p.Unroll)); {
	case p.Unroll == UnrollAuto:
		return p.nvcc(d)
	case err == nil && n > 1:
		return []int{n}
	}
	return nil
}

// nvcc returns nvcc's unrolling of loops in which a thread walks a row alone. It unrolls no loop that can be left
// early, none without a constant step, such as one over all edges of the graph, and none with a long body.
func (p *Plan) nvcc(d direction.Direction) []int {
	switch {
	case !p.unrolls(), !p.Schedule.Rows.Alone(), p.Layout.Strided, p.leaves(d), p.long():
		return nil
	case p.sumsInRegister(d):
		return nvccReads
	}
	return nvccWrites
}

// unrolls reports whether threads or warps loop over edges: most graph units hand them out one at a time.
func (p *Plan) unrolls() bool { return p.Schedule.Unit == nil || p.Schedule.Rows.Owned() }

// long reports whether an edge takes a hundred instructions or more.
func (p *Plan) long() bool { return p.Coefficient != algorithm.Hardware }

// refuseUnroll returns an error for numbers that have no effect, or make kernels too large.
func (p *Plan) refuseUnroll() error {
	switch {
	case !p.Unroll.given() || p.Unroll == UnrollAuto:
		return nil
	case !p.unrolls():
		return refuseUnused("compiler.unroll", " = %s: under schedule %s a graph unit hands edges out, one at a time: "+
			"expected 1, "+
			"the default, or auto", p.Unroll, p.Schedule.Name)
	case p.long():
		return refuse("compiler.unroll", " = %s: coefficient %s takes hundreds of instructions an edge, too many to have "+
			"several times: expected 1, the default, or auto", p.Unroll, p.Coefficient.Name)
	}
	return nil
}

// leaves reports whether a thread can drop the rest of the row that it walks.
func (p *Plan) leaves(d direction.Direction) bool {
	return p.Schedule.Rows.Owned() && d == direction.Pull && p.Algorithm.Settles()
}

// sumsInRegister reports whether a thread accumulates in a register.
func (p *Plan) sumsInRegister(d direction.Direction) bool {
	return p.owns(d) && p.Sum == emit.InRegister && !p.Algorithm.Sum.EachTells
}

// readsAhead reports whether a thread that walks a row reads the next edge meanwhile, which is useless when it handles
// several at a time.
func (p *Plan) readsAhead(d direction.Direction) bool { return p.Ahead && len(p.unroll(d)) == 0 }
