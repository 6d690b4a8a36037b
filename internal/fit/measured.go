package fit

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"heddle/internal/plain"
)

// measured is a table of arbitrary text that fits its writer. The last columns are dropped first.
type measured struct {
	table.Writer
	w       io.Writer
	names   []string
	widths  []int
	words   []int // longest words
	kept    int   // number of columns in front that are never dropped
	configs []table.ColumnConfig
}

// New returns a table that Render fits to w's width, with each cell on one line if there is room.
func New(w io.Writer, header ...any) table.Writer { return Keeping(w, 1, header...) }

// Keeping is New for a table whose first kept columns are never dropped.
func Keeping(w io.Writer, kept int, header ...any) table.Writer {
	t := &measured{Writer: table.NewWriter(), w: w, kept: kept}
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(table.Row(header))
	return t
}

// Width returns the width that the columns of these rows take in a table, with the lines between them.
func Width(rows [][]any) (sum int) {
	var widest []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widest) {
				widest = append(widest, 0)
			}
			widest[i] = max(widest[i], text.StringWidthWithoutEscSequences(plain.Line(fmt.Sprint(cell))))
		}
	}
	for _, n := range widest {
		sum += n + len(" | ")
	}
	return sum + 1
}

// AppendRow adds a row, each cell on one line.
func (t *measured) AppendRow(row table.Row, config ...table.RowConfig) {
	t.Writer.AppendRow(t.measure(plainRow(row)), config...)
}

// AppendHeader adds a header row.
func (t *measured) AppendHeader(row table.Row, config ...table.RowConfig) {
	row = plainRow(row)
	for _, cell := range row {
		t.names = append(t.names, fmt.Sprint(cell))
	}
	t.Writer.AppendHeader(t.measure(row), config...)
}

func (t *measured) measure(row table.Row) table.Row {
	for i, cell := range row {
		if i == len(t.widths) {
			t.widths, t.words = append(t.widths, 0), append(t.words, 0)
		}
		words := fmt.Sprint(cell)
		t.widths[i] = max(t.widths[i], text.StringWidthWithoutEscSequences(words))
		t.words[i] = max(t.words[i], longest(strings.Fields(words)))
	}
	return row
}

// SetColumnConfigs sets the alignment of columns.
func (t *measured) SetColumnConfigs(configs []table.ColumnConfig) { t.configs = configs }

// Render writes the table.
func (t *measured) Render() string {
	f := Table{Writer: t.Writer, Configs: t.configs, Names: t.names, Widths: t.widths, Words: t.words}
	for i := len(t.names) - 1; i >= t.kept; i-- {
		f.Drop = append(f.Drop, i)
	}
	f.Render(t.w)
	return ""
}

func plainRow(row table.Row) table.Row {
	out := make(table.Row, len(row))
	for i, cell := range row {
		if s, ok := cell.(string); ok {
			cell = plain.Line(s)
		}
		out[i] = cell
	}
	return out
}
