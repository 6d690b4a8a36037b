package nothing

import "heddle/components/accel"

func init() {
	accel.Register(accel.Kind{
		Instructions: Instructions,
		Key:          "nothing", Part: "Nothing", Title: "unit that does nothing",
		Doc:  "A unit that does nothing; absent: none.",
		New:  func() accel.Spec { return new(Spec) },
		Exec: "give every core a unit that does nothing",
	})
}
