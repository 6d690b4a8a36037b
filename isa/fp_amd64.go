package isa

// vectorFloats are those of fp_amd64.s, by instruction.
var vectorFloats = map[string]FPLoop{
	"fadd.s": func(d, a, b, _ *Lanes, mask uint32) (done, inexact uint32) { return sumLanes(d, a, b, 0, mask) },
	"fsub.s": func(d, a, b, _ *Lanes, mask uint32) (done, inexact uint32) {
		return sumLanes(d, a, b, signBit, mask)
	},
	"fmul.s": func(d, a, b, _ *Lanes, mask uint32) (done, inexact uint32) { return productLanes(d, a, b, mask) },
	"fmadd.s": func(d, a, b, c *Lanes, mask uint32) (done, inexact uint32) {
		return mulAddLanes(d, a, b, c, 0, 0, mask)
	},
	"fmsub.s": func(d, a, b, c *Lanes, mask uint32) (done, inexact uint32) {
		return mulAddLanes(d, a, b, c, 0, signBit, mask)
	},
	"fnmsub.s": func(d, a, b, c *Lanes, mask uint32) (done, inexact uint32) {
		return mulAddLanes(d, a, b, c, signBit, 0, mask)
	},
	"fnmadd.s": func(d, a, b, c *Lanes, mask uint32) (done, inexact uint32) {
		return mulAddLanes(d, a, b, c, signBit, signBit, mask)
	},
}

//go:noescape
func sumLanes(d, a, b *Lanes, flip, mask uint32) (done, inexact uint32)

//go:noescape
func productLanes(d, a, b *Lanes, mask uint32) (done, inexact uint32)

//go:noescape
func mulAddLanes(d, a, b, c *Lanes, flipA, flipC, mask uint32) (done, inexact uint32)
