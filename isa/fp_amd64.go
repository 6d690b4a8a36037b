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
	"fdiv.s": func(d, a, b, _ *Lanes, mask uint32) (done, inexact uint32) { return quotientLanes(d, a, b, mask) },
	"fcvt.s.w": func(d, a, _, _ *Lanes, mask uint32) (done, inexact uint32) {
		return convertLanes(d, a, 0, 0, mask)
	},
	"fcvt.s.wu": func(d, a, _, _ *Lanes, mask uint32) (done, inexact uint32) {
		return convertLanes(d, a, signBit, 1<<31, mask)
	},
	"flt.s": func(d, a, b, _ *Lanes, mask uint32) (done, inexact uint32) { return floatLessLanes(d, a, b, mask) },
	"fle.s": func(d, a, b, _ *Lanes, mask uint32) (done, inexact uint32) { return floatAtMostLanes(d, a, b, mask) },
	"feq.s": func(d, a, b, _ *Lanes, mask uint32) (done, inexact uint32) { return floatEqualLanes(d, a, b, mask) },
	"fsgnj.s": func(d, a, b, _ *Lanes, mask uint32) (done, inexact uint32) {
		signLanes(d, a, b, signBit-1, 0, mask)
		return mask, 0
	},
	"fsgnjn.s": func(d, a, b, _ *Lanes, mask uint32) (done, inexact uint32) {
		signLanes(d, a, b, signBit-1, signBit, mask)
		return mask, 0
	},
	"fsgnjx.s": func(d, a, b, _ *Lanes, mask uint32) (done, inexact uint32) {
		signLanes(d, a, b, 1<<32-1, 0, mask)
		return mask, 0
	},
	"fmv.x.w": copyLanes,
	"fmv.w.x": copyLanes,
}

func copyLanes(d, a, _, _ *Lanes, mask uint32) (done, inexact uint32) {
	keepLanes(d, a, mask)
	return mask, 0
}

//go:noescape
func sumLanes(d, a, b *Lanes, flip, mask uint32) (done, inexact uint32)

//go:noescape
func productLanes(d, a, b *Lanes, mask uint32) (done, inexact uint32)

//go:noescape
func mulAddLanes(d, a, b, c *Lanes, flipA, flipC, mask uint32) (done, inexact uint32)

//go:noescape
func quotientLanes(d, a, b *Lanes, mask uint32) (done, inexact uint32)

//go:noescape
func convertLanes(d, a *Lanes, turn uint32, offset float64, mask uint32) (done, inexact uint32)

//go:noescape
func floatLessLanes(d, a, b *Lanes, mask uint32) (done, inexact uint32)

//go:noescape
func floatAtMostLanes(d, a, b *Lanes, mask uint32) (done, inexact uint32)

//go:noescape
func floatEqualLanes(d, a, b *Lanes, mask uint32) (done, inexact uint32)

//go:noescape
func signLanes(d, a, b *Lanes, keep, turn, mask uint32)
