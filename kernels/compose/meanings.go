package compose

import (
	"heddle/kernels/activeset"
	"heddle/kernels/algorithm"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
)

// Meaning describes a choice that kernels are composed of.
type Meaning struct{ Key, Name, Doc string }

// Meanings lists all choices, key by key.
func Meanings() (list []Meaning) {
	add := func(key, name, doc string) { list = append(list, Meaning{"workload." + key, name, doc}) }
	for _, x := range algorithm.Algorithms() {
		add("algorithm", x.Name, x.Doc)
	}
	for _, x := range recipes {
		add("recipe", x.Name, x.Doc)
	}
	for _, x := range schedule.All() {
		add("schedule", x.Name, x.Doc)
	}
	for _, x := range layout.Layouts() {
		add("layout", x.Name, x.Doc)
	}
	for _, x := range direction.Policies() {
		add("direction", x.Name, x.Doc)
	}
	for _, x := range activeset.Choices() {
		add("frontier", x.Name, x.Doc)
	}
	for _, x := range activeset.Dedups() {
		add("frontier.dedup", x.Name, x.Doc)
	}
	for _, x := range activeset.Orders() {
		add("order", x.Name, x.Doc)
	}
	for _, x := range emit.Summings() {
		add("compiler.sum", string(x), x.Doc())
	}
	for _, x := range algorithm.Coefficients() {
		add("compiler.coefficient", x.Name, x.Doc)
	}
	return list
}
