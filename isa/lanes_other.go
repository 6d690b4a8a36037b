//go:build !amd64

package isa

// vectors reports whether the processor has the vector instructions that this package uses.
const vectors = false

var (
	vectorLoops   map[string]LaneLoop
	vectorAtomics map[string]AMOLoop
	vectorTests   map[string]LaneTest
	vectorFloats  map[string]FPLoop
)

func fillLanes(*Lanes, uint32, uint32)                                   {}
func keepLanes(*Lanes, *Lanes, uint32)                                   {}
func oddLanes(*Lanes) uint32                                             { return 0 }
func addressLanes(*Lanes, *Lanes, uint32, uint32) (first, differ uint32) { return 0, 0 }
func gatherLanes(*Lanes, *[TableBytes]byte, *Lanes, uint32)              {}
func scatterLanes(*Lanes, *[TableBytes]byte, *Lanes, uint32)             {}
func matchLanes(*Lanes, uint32, uint32) uint32                           { return 0 }
