package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/report/hotspots"
)

// hotReport has n instructions of two programs, the hottest first, whose addresses go the other way.
func hotReport(n int) *hotspots.Report {
	r := &hotspots.Report{Program: "x", Time: 1000, Lanes: 4,
		Stack: []hotspots.Part{{Name: "issued", Cycles: 400, Share: 0.4}, {Name: "memory", Cycles: 600, Share: 0.6}}}
	for i := range n {
		r.Instructions = append(r.Instructions, hotspots.Instruction{
			Program: fmt.Sprint("p", i%2), PC: uint32(0x80000000 + 4*(n-i)), Text: "nop",
			Counts: hotspots.Counts{Issued: uint64(n - i), Stalled: 2, Stalls: map[string]uint64{"memory": 2}},
		})
	}
	return r
}

// TestListing is in order of programs and addresses; of many instructions it has those around the hottest.
func TestListing(t *testing.T) {
	for _, n := range []int{1, 100, maxListed, maxListed + 1, 3 * maxListed} {
		rows, part := newHotRows(hotReport(n)).listing()
		require.Equal(t, n > maxListed, part)
		if !part {
			require.Len(t, rows, n)
		} else {
			require.Len(t, rows, maxHot+2*around, "of each program, the hottest and those in front of them")
		}
		for i := 1; i < len(rows); i++ {
			before, here := rows[i-1].Place+rows[i-1].PC, rows[i].Place+rows[i].PC
			require.Less(t, before, here)
		}
		require.True(t, rows[0].Gap)
	}
}

func TestHotspotsPage(t *testing.T) {
	r := hotReport(5)
	r.Instructions[0].Symbol, r.Instructions[0].Text, r.Notes = `<b>"`, "a & b", []string{"<i>note</i>"}
	page, err := HotspotsPage(r)
	require.NoError(t, err)
	text := string(page)
	for _, want := range []string{"&lt;b&gt;&#34;", "a &amp; b", "&lt;i&gt;note", "40.0 %",
		"memory: 2 scheduler-cycles", "No phases"} {
		require.Contains(t, text, want)
	}
	require.Equal(t, 1, strings.Count(text, "<svg"))
	require.NotContains(t, text, "<script")
	r.Phases = []hotspots.Phase{{Name: "gather_sum", Share: 1, Cycles: 1000}}
	page, err = HotspotsPage(r)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(page), "<svg"))
	page, err = HotspotsPage(&hotspots.Report{}) // nothing has run
	require.NoError(t, err)
	require.NotEmpty(t, page)
}
