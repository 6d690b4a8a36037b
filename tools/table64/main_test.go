package main

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

const document = "../../docs/results/ugf-table6.4.md"

// TestRow computes a drawn row of the document's tables again.
func TestRow(t *testing.T) {
	testenv.NeedLong(t, "it simulates SSSP twice, and compiles a program: 90 seconds of a processor")
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	list := rows()
	r := list[rand.N(len(list))]
	t.Log(r.kind, r.delta)
	c, err := r.count(t.Context())
	require.NoError(t, err)
	operations, traffic := c.lines()
	require.Contains(t, string(text), "\n"+operations+"\n")
	require.Contains(t, string(text), "\n"+traffic+"\n")
}

// TestDocument holds that the document is the page, with as many rows as there are.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	for _, part := range strings.Split(strings.ReplaceAll(page, "%%", "%"), "%s") {
		require.Contains(t, string(text), part)
	}
	require.Contains(t, string(text), outcome(read(t, string(text))))
	require.Equal(t, 2*len(rows()), strings.Count(string(text), ", delta "))
}

// read returns the counts in a document's tables that its outcome follows from.
func read(t *testing.T, text string) (list []*counts) {
	number := func(cell string) float64 {
		x, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
		require.NoError(t, err)
		return x
	}
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) < 2 {
			continue
		}
		kind, _, ok := strings.Cut(strings.TrimSpace(cells[1]), ", delta ")
		switch {
		case !ok:
		case len(list) < len(rows()):
			c := &counts{row: row{kind: kind}, edges: number(cells[2])}
			c.alone.walked, c.host.rounds, c.host.walked = uint64(number(cells[5])), number(cells[7]), number(cells[8])
			list = append(list, c)
		default:
			c := list[0]
			list = append(list[1:], c)
			c.host.cycles, c.fused.cycles = number(cells[6]), number(cells[7])
		}
	}
	return list
}
