package graphpeg

import (
	"heddle/components/accel"
	"heddle/isa"
)

func init() {
	accel.Register(accel.Kind{
		Instructions: isa.ExtensionOf("peg"),
		Key:          "graphpeg", Part: "GraphPEG", Title: "GraphPEG", Rank: 2,
		Doc:  "GraphPEG's edge-gathering unit (ACM TACO 2021, §3); absent: none. A core has one graph unit at most.",
		New:  func() accel.Spec { return new(Spec) },
		Exec: "give every core a GraphPEG unit; the program carries its set-up at the symbol heddle.peg",
	})
}
