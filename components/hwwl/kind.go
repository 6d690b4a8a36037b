package hwwl

import (
	"heddle/components/accel"
	"heddle/isa"
)

func init() {
	accel.Register(accel.Kind{
		Instructions: isa.ExtensionOf("hwwl"),
		Key:          "hwwl", Part: "HWWL", Title: "hardware worklist", Rank: 3,
		Doc:  "The hardware worklist that GraphPEG is compared with (ACM TACO 2021, §4.4, after MICRO 2014); absent: none. Of the control processor it uses the network only.",
		New:  func() accel.Spec { return new(Spec) },
		Exec: "give every core a hardware worklist; the program carries its set-up at the symbol heddle.peg",
	})
}
