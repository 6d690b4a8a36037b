// Package unit registers edge-generating hardware.
package unit

import (
	"heddle/components/accel"
	"heddle/components/eghw"
	"heddle/isa"
	"heddle/kernels/schedule"
	"heddle/units"
)

func init() {
	units.Register(units.Unit{
		Instructions: isa.ExtensionOf("eghw"),
		Key:          "eghw", Part: "EGHW", Title: "unit of edge-generating hardware", Rank: 4,
		Doc:       "The edge-generating hardware that SparseWeaver is compared with (HPCA 2025, §V-H); absent: none.",
		New:       func() accel.Spec { return new(eghw.Spec) },
		Schedules: []*schedule.Schedule{generated},
		Exec:      "give every core edge-generating hardware; the program carries its set-up at the symbol heddle.eghw",
	})
}
