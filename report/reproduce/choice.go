package reproduce

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"heddle/experiment/config"
)

// choice is a paper's reading, chosen on half of its statements and judged on the other.
type choice struct {
	paper     string
	readings  []string
	chosen    string
	halves    [2]int // statements chosen on, and judged on
	described [2]int // of them, those that hold as described
	holds     [2]int // and under the chosen reading
	chance    float64
}

// half returns the half that a statement is in: 0 to choose on, 1 to judge on. It depends on its text alone.
func (c *claim) half() int {
	sum := sha256.Sum256([]byte(c.of.pack.Name + ": " + flow(c.settled.Says)))
	return int(sum[0] & 1)
}

// choose chooses a reading for all statements of a paper: that under which most of the first half hold, the first of
// equals, described before all.
func choose(paper string, list []claim) choice {
	o := choice{paper: paper, readings: []string{config.Described}}
	for i := range list {
		for _, r := range list[i].readings() {
			addOnce(&o.readings, r.Name)
		}
	}
	var tables [2][][]bool // by statement, then reading
	for i := range list {
		row := make([]bool, len(o.readings))
		for k, r := range o.readings {
			row[k] = list[i].under(r).Holds == Yes
		}
		h := list[i].half()
		tables[h] = append(tables[h], row)
	}
	at := 0
	for k := range o.readings {
		if column(tables[0], k) > column(tables[0], at) {
			at = k
		}
	}
	o.chosen = o.readings[at]
	for h := range tables {
		o.halves[h], o.described[h], o.holds[h] = len(tables[h]), column(tables[h], 0), column(tables[h], at)
	}
	o.chance = gainOfChance(tables[0], len(o.readings))
	return o
}

// column counts the statements that hold under a reading.
func column(table [][]bool, k int) (n int) {
	for _, row := range table {
		if row[k] {
			n++
		}
	}
	return n
}

// draws is how often a table is shuffled.
const draws = 2_000

// gainOfChance is how many more statements hold, on average, under the best reading than as described if each
// statement's outcomes are shuffled among the readings.
func gainOfChance(table [][]bool, readings int) float64 {
	draw, sum := dice(), 0
	mixed := make([][]bool, len(table))
	for range draws {
		for i, row := range table {
			mixed[i] = slices.Clone(row)
			draw.Shuffle(readings, func(a, b int) { mixed[i][a], mixed[i][b] = mixed[i][b], mixed[i][a] })
		}
		best := 0
		for k := range readings {
			best = max(best, column(mixed, k))
		}
		sum += best - column(mixed, 0)
	}
	return float64(sum) / draws
}

const choiceHead = `
## One reading for all statements of a paper

Chosen on half of a paper's statements, split by a hash of their text: the reading under which most of them hold.
Judged on the other half. *By chance*: the gain of the same choice where each statement's outcomes are shuffled among
as many readings; a gain on the first half that is not above it is no evidence. Here statements are in the quick
variant, in which all readings were run; where a reading changes nothing, or a pack was not run under it, the number is
that as described.

| paper | readings | chosen | first half: as described → chosen | by chance | other half: as described → chosen |
|---|---:|---|---:|---:|---:|
`

// choices is the table of chosen readings.
func choices(b *bytes.Buffer, list []claim) {
	b.WriteString(choiceHead)
	for _, paper := range papers(list) {
		o := choose(paper, chosen(list, func(c *claim) bool { return c.of.paper() == paper && c.settled.counted() }))
		if len(o.readings) == 1 {
			fmt.Fprintf(b, "| %s | 1 | %s | – | – | – |\n", paper, o.chosen)
			continue
		}
		fmt.Fprintf(b, "| %s | %d | %s | %d → %d of %d | %+.1f | %d → %d of %d |\n", paper, len(o.readings), o.chosen,
			o.described[0], o.holds[0], o.halves[0], o.chance, o.described[1], o.holds[1], o.halves[1])
	}
}
