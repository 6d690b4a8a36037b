// Package unit registers the hardware worklist.
package unit

import (
	"heddle/components/accel"
	"heddle/components/hwwl"
	"heddle/isa"
	"heddle/kernels/schedule"
	"heddle/units"
)

func init() {
	units.Register(units.Unit{
		Instructions: isa.ExtensionOf("hwwl"),
		Key:          "hwwl", Part: "HWWL", Title: "hardware worklist", Rank: 3,
		Doc:       "The hardware worklist that GraphPEG is compared with (ACM TACO 2021, §4.4, after MICRO 2014); absent: none. Of the control processor it uses the network only.",
		New:       func() accel.Spec { return new(hwwl.Spec) },
		Schedules: []*schedule.Schedule{taken},
		Exec:      "give every core a hardware worklist; the program carries its set-up at the symbol heddle.peg",
	})
}
