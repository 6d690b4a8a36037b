// Command mine is heddle with parts of its own: a schedule, a layout, two algorithms, a graph unit and a statistic.
// docs/guide/extending.md takes it apart.
package main

import (
	"heddle"
	"heddle/cmd"
)

func main() {
	cmd.Main(heddle.WithSchedule(vector), heddle.WithLayout(aligned), heddle.WithAlgorithm(widest),
		heddle.WithFeatures(restart),
		heddle.WithUnit(&ticket, dynamic), heddle.WithStatistic(heddle.Derived{
			Name: "dram.bytes_per_edge", Unit: "bytes/edge", Doc: "Bytes over the DRAM's data buses for each edge handled.",
			Over: []string{"dram.bytes"}, Under: []string{"edges"},
		}))
}
