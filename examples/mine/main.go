// Command mine is heddle with parts of its own: a schedule, a layout, two algorithms, a graph unit and a statistic.
// docs/guide/extending.md takes it apart.
package main

import (
	"heddle/cmd"
	"heddle/kernel"
	"heddle/machine"
)

func main() {
	cmd.Main(kernel.WithSchedule(vector), kernel.WithLayout(aligned), kernel.WithAlgorithm(widest), kernel.WithFeatures(restart),
		machine.WithUnit(&ticket), machine.WithStatistic(machine.Derived{
			Name: "dram.bytes_per_edge", Unit: "bytes/edge", Doc: "Bytes over the DRAM's data buses for each edge handled.",
			Over: []string{"dram.bytes"}, Under: []string{"edges"},
		}))
}
