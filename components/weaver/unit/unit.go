// Package unit registers the Weaver.
package unit

import (
	"heddle/components/accel"
	"heddle/components/weaver"
	"heddle/isa"
	"heddle/kernels/schedule"
	"heddle/units"
)

func init() {
	units.Register(units.Unit{
		Instructions: isa.ExtensionOf("weaver"),
		Key:          "weaver", Part: "Weaver", Title: "Weaver", Rank: 1,
		Doc:       "SparseWeaver's work distribution unit (HPCA 2025, §III); absent: none.",
		New:       func() accel.Spec { return new(weaver.Spec) },
		Schedules: []*schedule.Schedule{dealt},
		Exec:      "give every core a Weaver unit",
		Flags: []units.Flag{
			{Name: "weaver-st-entries", Doc: "slots of the Weaver's table, 1..65536", Value: entries},
			{Name: "weaver-mask-by-unit", Doc: "weaver.dec.id sets the thread mask", Value: maskByUnit},
		},
	})
}

func entries(s accel.Spec) any { return &s.(*weaver.Spec).STEntries }

func maskByUnit(s accel.Spec) any { return &s.(*weaver.Spec).MaskByUnit }
