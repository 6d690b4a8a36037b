package compose

import (
	"strconv"

	"heddle/kernels/direction"
	"heddle/kernels/emit"
)

// Unrolling is how many edges at a time a thread handles: a number, or as nvcc would have it.
type Unrolling string

// UnrollAuto unrolls loops over edges as nvcc does.
const UnrollAuto Unrolling = "auto"

// Unrollings lists them, the default first.
func Unrollings() []Unrolling { return []Unrolling{"1", "2", "4", "8", UnrollAuto} }

func (u Unrolling) given() bool { return u != "" && u != "1" }

// nvcc's, of release 13.0 at -O3 for sm_90, as the SASS of kernels with such loops shows. Loops whose body only reads, and
// sums up in a register: sixteen edges at a time, then eight, then four, and up to three alone.
var (
	nvccReads  = []int{16, 8, 4}
	nvccWrites = []int{4}
)

// unroll is how many edges at a time threads handle in a kernel that handles them in a direction.
func (p *Plan) unroll(d direction.Direction) []int {
	switch n, err := strconv.Atoi(string(p.Unroll)); {
	case p.Unroll == UnrollAuto:
		return p.nvcc(d)
	case err == nil && n > 1:
		return []int{n}
	}
	return nil
}

// nvcc unrolls no loop that may be left early, and none whose step it does not know, as of one over all edges of the graph.
func (p *Plan) nvcc(d direction.Direction) []int {
	switch {
	case !p.Schedule.Rows, p.Layout.Strided, p.leaves(d):
		return nil
	case p.sumsInRegister(d):
		return nvccReads
	}
	return nvccWrites
}

// leaves reports whether a thread may drop the rest of the row that it walks.
func (p *Plan) leaves(d direction.Direction) bool {
	return p.Schedule.Owns && d == direction.Pull && p.Algorithm.Settles()
}

// sumsInRegister reports whether a thread keeps what it sums up in a register.
func (p *Plan) sumsInRegister(d direction.Direction) bool {
	return p.owns(d) && p.Sum == emit.InRegister && !p.Algorithm.Sum.EachTells
}

// readsAhead reports whether a thread that walks a row reads the next edge meanwhile: several at a time need not.
func (p *Plan) readsAhead(d direction.Direction) bool { return p.Ahead && len(p.unroll(d)) == 0 }
