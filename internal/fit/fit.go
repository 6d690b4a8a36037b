// Package fit renders tables that fit a terminal: long texts are wrapped, and columns for which there is no room are
// dropped, with a note below.
package fit

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// NoRoom begins the note below a table from which columns were dropped.
const NoRoom = "no room for:"

// Writer is a writer with an explicit width.
type Writer struct {
	io.Writer
	Columns int // 0: unlimited
}

// Columns returns the width of w: its explicit one, or its terminal's; 0: unlimited.
func Columns(w io.Writer) int {
	switch w := w.(type) {
	case Writer:
		return w.Columns
	case interface{ Fd() uintptr }: // a file, or a wrapper of one
		if columns, _, err := term.GetSize(int(w.Fd())); err == nil {
			return columns
		}
	}
	return 0
}

// Table is a table and the permitted ways to narrow it.
type Table struct {
	table.Writer
	Configs []table.ColumnConfig
	Names   []string // of the columns
	Widths  []int    // the columns' widest cells; only for columns that may be wrapped
	// the columns' longest words, which are kept whole if they take up to half of the room; nil: short ones
	Words []int
	Drop  []int // columns, from 0, in the order in which they are left out

	tight bool // there is nothing left to drop: words are broken
}

// narrow is the minimum width to which a column is wrapped; tightest, where there is nothing left to drop.
const narrow, tightest = 16, 8

// Render writes the table.
func (t *Table) Render(w io.Writer) {
	limit := Columns(w)
	wrapped := slices.Clone(t.Widths)
	gone := make([]bool, len(t.Names))
	dropped := 0
	out := t.text(wrapped, gone)
	for limit > 0 && longest(strings.Split(out, "\n")) > limit {
		over := longest(strings.Split(out, "\n")) - limit
		widest := -1
		for i, n := range wrapped {
			if !gone[i] && n > t.least(i, limit) && (widest < 0 || n > wrapped[widest]) {
				widest = i
			}
		}
		switch {
		case widest >= 0:
			step := max(1, wrapped[widest]-second(wrapped, gone, widest))
			wrapped[widest] = max(t.least(widest, limit), wrapped[widest]-min(over, step))
		case dropped < len(t.Drop):
			gone[t.Drop[dropped]] = true
			dropped++
			wrapped = slices.Clone(t.Widths) // dropping a column may have made room
		case !t.tight:
			t.tight = true
		default:
			limit = 0
		}
		out = t.text(wrapped, gone)
	}
	if !t.tight {
		out = t.restore(out, limit, wrapped, gone)
	}
	fmt.Fprintln(w, out)
	var without []string
	for _, i := range slices.Backward(t.Drop) {
		if gone[i] {
			without = append(without, t.Names[i])
		}
	}
	if len(without) > 0 {
		note := fmt.Sprintf(NoRoom+" %s (--columns 0 shows all)", strings.Join(without, ", "))
		fmt.Fprintln(w, text.WrapSoft(note, max(narrow, Columns(w))))
	}
}

// restore puts back dropped columns for which there is room since wider ones have gone, the last dropped first.
func (t *Table) restore(out string, limit int, wrapped []int, gone []bool) string {
	for _, i := range slices.Backward(t.Drop) {
		if !gone[i] {
			continue
		}
		gone[i] = false
		if with := t.text(wrapped, gone); longest(strings.Split(with, "\n")) <= limit {
			out = with
		} else {
			gone[i] = true
		}
	}
	return out
}

// least returns the minimum width of a column.
func (t *Table) least(i, limit int) int {
	if t.tight {
		return tightest
	}
	if i < len(t.Words) {
		return max(narrow, min(t.Words[i], limit/2))
	}
	return narrow
}

// second returns the width of the second widest column.
func second(wrapped []int, gone []bool, widest int) int {
	most := tightest
	for i, n := range wrapped {
		if i != widest && !gone[i] {
			most = max(most, min(n, wrapped[widest]))
		}
	}
	return most
}

func (t *Table) text(wrapped []int, gone []bool) string {
	configs := make([]table.ColumnConfig, len(t.Names))
	for i := range configs {
		configs[i].Number = i + 1
		for _, c := range t.Configs {
			if c.Number == i+1 {
				configs[i] = c
			}
		}
		configs[i].Hidden = gone[i]
		if i < len(wrapped) && wrapped[i] < t.Widths[i] {
			configs[i].WidthMax, configs[i].WidthMaxEnforcer = wrapped[i], wrap
		}
	}
	t.SetColumnConfigs(configs)
	t.SetOutputMirror(nil)
	return t.Writer.Render()
}

// wrap breaks a cell between words; words that are too long, such as kernels' names and keys, preferably after a slash
// or an underscore.
func wrap(cell string, columns int) string {
	if longest(strings.Fields(cell)) <= columns {
		return text.WrapSoft(cell, columns)
	}
	const thin = "\u2009" // a space that no cell has
	cell = strings.NewReplacer("/", "/"+thin, "_", "_"+thin).Replace(cell)
	return strings.ReplaceAll(text.WrapSoft(cell, columns), thin, "")
}
