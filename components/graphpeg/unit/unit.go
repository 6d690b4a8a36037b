// Package unit registers GraphPEG.
package unit

import (
	"heddle/components/accel"
	"heddle/components/graphpeg"
	"heddle/isa"
	"heddle/kernels/schedule"
	"heddle/units"
)

func init() {
	units.Register(units.Unit{
		Instructions: isa.ExtensionOf("peg"),
		Key:          "graphpeg", Part: "GraphPEG", Title: "GraphPEG", Rank: 2,
		Doc:       "GraphPEG's edge-gathering unit (ACM TACO 2021, §3); absent: none. A core has one graph unit at most.",
		New:       func() accel.Spec { return new(graphpeg.Spec) },
		Schedules: []*schedule.Schedule{gathered},
		Exec:      "give every core a GraphPEG unit; the program carries its set-up at the symbol heddle.peg",
	})
}
