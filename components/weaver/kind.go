package weaver

import (
	"heddle/components/accel"
	"heddle/isa"
)

func init() {
	accel.Register(accel.Kind{
		Instructions: isa.ExtensionOf("weaver"),
		Key:          "weaver", Part: "Weaver", Title: "Weaver", Rank: 1,
		Doc:  "SparseWeaver's work distribution unit (HPCA 2025, §III); absent: none.",
		New:  func() accel.Spec { return new(Spec) },
		Exec: "give every core a Weaver unit",
		Flags: []accel.Flag{
			{Name: "weaver-st-entries", Doc: "slots of the Weaver's table, 1..65536", Value: stEntries},
			{Name: "weaver-mask-by-unit", Doc: "weaver.dec.id sets the thread mask", Value: maskByUnit},
		},
	})
}

func stEntries(s accel.Spec) any { return &s.(*Spec).STEntries }

func maskByUnit(s accel.Spec) any { return &s.(*Spec).MaskByUnit }
