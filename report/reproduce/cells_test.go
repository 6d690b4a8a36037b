package reproduce

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/config"
)

func ptr(v float64) *float64 { return &v }

// A table's cells are divided by the column that it names, words are none, and rows that do not fit are refused.
func TestPublishedTable(t *testing.T) {
	table := config.PublishedTable{Columns: []string{"A", "B", "C"}, Over: "A", Rows: []string{"x 2 4 OOM", "y 4 2 8"}}
	require.NoError(t, table.Validate())
	require.Equal(t, []config.PublishedCell{{Row: "x", Column: "B", Value: 2}, {Row: "y", Column: "B", Value: 0.5},
		{Row: "y", Column: "C", Value: 2}}, table.Cells())
	for _, rows := range [][]string{{"x 1 2"}, {"x 1 2 3", "x 1 2 3"}, {""}} {
		table.Rows = rows
		require.ErrorContains(t, table.Validate(), "expected a name")
	}
	table.Rows, table.Over = nil, "D"
	require.ErrorContains(t, table.Validate(), "one of the columns")
}

// Cells find our number by the names of the figure's columns and series, either way round; full overrules quick.
func TestCells(t *testing.T) {
	table := config.PublishedTable{Name: "t", Of: "Table 1", Quantity: "speedup", Columns: []string{"K", "U"},
		Rows: []string{"BFS 2 1", "SSSP 0.5 4"}, Why: "no time"}
	figure := func(values ...*float64) *Outcome {
		return &Outcome{Figures: []FigureOutcome{{Name: "f", Columns: []string{"kron", "usa"}, Series: []string{"bfs", "sssp"},
			Values: [][]*float64{{values[0], values[1]}, {values[2], values[3]}}}}}
	}
	p := &config.Pack{Name: "p/x", Tables: []config.PublishedTable{table}, Cells: []config.Cells{{Table: "t", Figure: "f",
		Rows: []string{"BFS=bfs", "SSSP=sssp"}, Columns: []string{"K=kron", "U=usa"}, Flip: true}}}
	p.Cells[0].Variants = append(p.Cells[0].Variants, "quick", "full")
	all := []recorded{{pack: p, outcomes: [2]*Outcome{figure(ptr(2.2), ptr(0.9), ptr(1), nil),
		figure(nil, ptr(0.6), nil, nil)}}}
	tables := tablesOf(all)
	require.Len(t, tables, 1)
	require.Equal(t, []pair{{2, 2.2}, {1, 1}, {0.5, 0.6}}, tables[0].pairs(), "SSSP on K is full's, on U there is none")
	require.Equal(t, sides{near: 3, null: 1, sided: 2, right: 2, above: 1}, sided(tables[0].pairs()))

	var b bytes.Buffer
	everyCell(&b, tables)
	require.Contains(t, b.String(), "| p | Table 1 | speedup | 4 | 3 |")
	require.Contains(t, b.String(), "| no time |")
	page := string(all[0].details(tables))
	require.Contains(t, page, "| SSSP | 0.5 / 0.6 *f* | 4 / – |")
}

// A study names the number that a knob moves most, and sorts knobs by it.
func TestSensitivity(t *testing.T) {
	knobs := []config.Knob{{Name: "small", Low: []string{"a=1"}, High: []string{"a=2"}},
		{Name: "large", Low: []string{"b=1"}}, {Name: "nothing", Low: []string{"c=1"}}}
	check := func(says string, published float64, ours ...float64) CheckOutcome {
		c := CheckOutcome{Says: says, Mark: Evidence, Decides: true, Published: ptr(published)}
		for _, v := range ours {
			c.Readings = append(c.Readings, Number{Ours: ptr(v)})
		}
		return c
	}
	o := &Outcome{Pack: "p/x", Variant: config.Quick, Readings: []ReadingOutcome{{Name: config.Described},
		{Name: "small low"}, {Name: "small high"}, {Name: "large low"}}}
	o.Checks = []CheckOutcome{check("first", 2, 1, 0.8, 1.2, 4), check("second", 3, 2, 2, 2, 2)}
	s := NewSensitivity(&config.Pack{Name: "p/x"}, knobs, o)
	require.Len(t, s.Knobs, 2, "an end that changes nothing is left out")
	require.Equal(t, []string{"large", "small"}, []string{s.Knobs[0].Name, s.Knobs[1].Name})
	require.InDelta(t, 4, s.Knobs[0].Moves, 1e-9)
	require.Equal(t, "first", s.Knobs[0].Of)
	require.InDelta(t, 2, s.Knobs[0].Ends[0].Shift, 1e-9, "of 4 and 1")
	require.InDelta(t, 1.5, s.Knobs[1].Moves, 1e-9, "1.2 over 0.8")
	require.InDelta(t, math.Sqrt(2*1.5), s.Median, 1e-9, "factors of 2 and 1.5")

	dir := t.TempDir()
	require.NoError(t, s.Save(dir))
	read, err := ReadSensitivity(dir, "p/x", config.Quick)
	require.NoError(t, err)
	require.Equal(t, s, read)
	read, err = ReadSensitivity(dir, "p/y", config.Quick)
	require.NoError(t, err)
	require.Nil(t, read)
	require.Contains(t, string(s.tornado()), "large")
}
