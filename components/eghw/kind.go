package eghw

import (
	"heddle/components/accel"
	"heddle/isa"
)

func init() {
	accel.Register(accel.Kind{
		Instructions: isa.ExtensionOf("eghw"),
		Key:          "eghw", Part: "EGHW", Title: "unit of edge-generating hardware", Rank: 4,
		Doc:  "The edge-generating hardware that SparseWeaver is compared with (HPCA 2025, §V-H); absent: none.",
		New:  func() accel.Spec { return new(Spec) },
		Exec: "give every core edge-generating hardware; the program carries its set-up at the symbol heddle.eghw",
	})
}
