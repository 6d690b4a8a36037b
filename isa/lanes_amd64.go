package isa

import "golang.org/x/sys/cpu"

// vectors reports whether the processor has the vector instructions that this package uses.
var vectors = cpu.X86.HasAVX2

// vectorLoops, vectorTests and vectorAtomics are those of lanes_amd64.s, by the name of the scalar function. Divisions
// have none.
var (
	vectorLoops = map[string]LaneLoop{
		"add": addLanes, "sub": subLanes, "and": andLanes, "or": orLanes, "xor": xorLanes,
		"sll": sllLanes, "srl": srlLanes, "sra": sraLanes, "slt": sltLanes, "sltu": sltuLanes,
		"mul": mulLanes, "mulh": mulhLanes, "mulhu": mulhuLanes, "mulhsu": mulhsuLanes,
	}
	vectorTests = map[string]LaneTest{
		"equal": equalLanes, "notEqual": notEqualLanes, "less": lessLanes, "notLess": notLessLanes, "below": belowLanes, "notBelow": notBelowLanes,
	}
	vectorAtomics = map[string]AMOLoop{
		"amoswap": amoswapLanes, "add": amoaddLanes, "xor": amoxorLanes, "and": amoandLanes, "or": amoorLanes,
		"amomin": amominLanes, "amomax": amomaxLanes, "amominu": amominuLanes, "amomaxu": amomaxuLanes,
		"amofadd": amofaddLanes,
	}
)

//go:noescape
func addLanes(d, a, b *Lanes, mask uint32)

//go:noescape
func subLanes(d, a, b *Lanes, mask uint32)

//go:noescape
func andLanes(d, a, b *Lanes, mask uint32)

//go:noescape
func orLanes(d, a, b *Lanes, mask uint32)

//go:noescape
func xorLanes(d, a, b *Lanes, mask uint32)

//go:noescape
func sllLanes(d, a, b *Lanes, mask uint32)

//go:noescape
func srlLanes(d, a, b *Lanes, mask uint32)

//go:noescape
func sraLanes(d, a, b *Lanes, mask uint32)

//go:noescape
func sltLanes(d, a, b *Lanes, mask uint32)

//go:noescape
func sltuLanes(d, a, b *Lanes, mask uint32)

//go:noescape
func mulLanes(d, a, b *Lanes, mask uint32)

//go:noescape
func mulhLanes(d, a, b *Lanes, mask uint32)

//go:noescape
func mulhuLanes(d, a, b *Lanes, mask uint32)

//go:noescape
func mulhsuLanes(d, a, b *Lanes, mask uint32)

//go:noescape
func equalLanes(a, b *Lanes) uint32

//go:noescape
func notEqualLanes(a, b *Lanes) uint32

//go:noescape
func lessLanes(a, b *Lanes) uint32

//go:noescape
func notLessLanes(a, b *Lanes) uint32

//go:noescape
func belowLanes(a, b *Lanes) uint32

//go:noescape
func notBelowLanes(a, b *Lanes) uint32

//go:noescape
func fillLanes(d *Lanes, v, mask uint32)

//go:noescape
func keepLanes(d, s *Lanes, mask uint32)

//go:noescape
func oddLanes(a *Lanes) uint32

//go:noescape
func addressLanes(d, base *Lanes, offset, mask uint32) (first, differ uint32)

//go:noescape
func gatherLanes(d *Lanes, table *[TableBytes]byte, at *Lanes, mask uint32)

//go:noescape
func scatterLanes(d *Lanes, table *[TableBytes]byte, at *Lanes, mask uint32)

//go:noescape
func matchLanes(a *Lanes, v, care uint32) uint32

//go:noescape
func amoswapLanes(d *Lanes, table *[TableBytes]byte, at, s *Lanes, mask uint32)

//go:noescape
func amoaddLanes(d *Lanes, table *[TableBytes]byte, at, s *Lanes, mask uint32)

//go:noescape
func amoxorLanes(d *Lanes, table *[TableBytes]byte, at, s *Lanes, mask uint32)

//go:noescape
func amoandLanes(d *Lanes, table *[TableBytes]byte, at, s *Lanes, mask uint32)

//go:noescape
func amoorLanes(d *Lanes, table *[TableBytes]byte, at, s *Lanes, mask uint32)

//go:noescape
func amominLanes(d *Lanes, table *[TableBytes]byte, at, s *Lanes, mask uint32)

//go:noescape
func amomaxLanes(d *Lanes, table *[TableBytes]byte, at, s *Lanes, mask uint32)

//go:noescape
func amominuLanes(d *Lanes, table *[TableBytes]byte, at, s *Lanes, mask uint32)

//go:noescape
func amomaxuLanes(d *Lanes, table *[TableBytes]byte, at, s *Lanes, mask uint32)

//go:noescape
func amofaddLanes(d *Lanes, table *[TableBytes]byte, at, s *Lanes, mask uint32)
