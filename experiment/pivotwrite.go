package experiment

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	terminal "heddle/internal/fit"
)

// PivotFormats lists the formats of Pivot.Write.
var PivotFormats = []string{"table", "latex", "markdown", "csv", "json"}

// Write writes the matrix in one of PivotFormats. Labels of keys and values stand for them in tables for people.
func (p *Pivot) Write(w io.Writer, format string, labels map[string]string) error {
	switch format {
	case "csv":
		return p.writeCSV(w)
	case "json":
		return p.writeJSON(w)
	}
	head, rows := p.texts(labels)
	switch format {
	case "table":
		fmt.Fprintln(w, p.Title(labels))
		p.writeTable(w, head, rows)
		return nil
	case "latex":
		_, err := io.WriteString(w, p.latex(head, rows))
		return err
	case "markdown":
		_, err := io.WriteString(w, p.markdown(head, rows))
		return err
	}
	return fmt.Errorf("--format %s: expected one of %s", format, strings.Join(PivotFormats, ", "))
}

// valueTitle names the value in tables.
func (p *Pivot) valueTitle(labels map[string]string) string {
	if l, ok := labels[p.Value]; ok {
		return l
	}
	return p.Value
}

// Title names the matrix's value and its columns.
func (p *Pivot) Title(labels map[string]string) string {
	title := p.valueTitle(labels)
	if p.Paired {
		title = "difference in " + title + " to the first column, in pairs of one seed,"
	}
	if len(p.ColumnKeys) == 0 {
		return title
	}
	return title + " by " + strings.Join(ShortKeys(p.ColumnKeys), ", ")
}

// texts returns the heads of columns and the cells, those of means last, all with the same number of decimals.
func (p *Pivot) texts(labels map[string]string) (head []string, rows [][]string) {
	short := map[string]map[string]string{}
	for _, key := range slices.Concat(p.RowKeys, p.ColumnKeys) {
		var values []string
		for _, s := range p.settings {
			if v, ok := settingOf(s, key); ok {
				values = append(values, v)
			}
		}
		short[key] = ShortValues(key, values)
	}
	name := func(key, value string) string {
		if l, ok := labels[value]; ok {
			return l
		}
		if s, ok := short[key][value]; ok {
			return s
		}
		return value
	}
	for i, title := range ShortKeys(slices.Concat(p.RowKeys, p.ColumnKeys))[:len(p.RowKeys)] {
		if l, ok := labels[p.RowKeys[i]]; ok {
			title = l
		}
		head = append(head, title)
	}
	if len(head) == 0 {
		head = append(head, "")
	}
	for _, values := range p.Columns {
		var parts []string
		for i, v := range values {
			parts = append(parts, name(p.ColumnKeys[i], v))
		}
		if len(parts) == 0 {
			parts = []string{p.valueTitle(labels)}
		}
		head = append(head, strings.Join(parts, " "))
	}
	for r, values := range p.Rows {
		var row []string
		for i, v := range values {
			row = append(row, name(p.RowKeys[i], v))
		}
		if len(row) == 0 {
			row = []string{p.valueTitle(labels)}
		}
		rows = append(rows, append(row, p.cellTexts(p.Cells[r])...))
	}
	if p.Mean != nil {
		row := make([]string, max(1, len(p.RowKeys)))
		row[0] = "geomean"
		rows = append(rows, append(row, p.cellTexts(p.Mean)...))
	}
	return head, rows
}

func (p *Pivot) cellTexts(cells []Cell) (out []string) {
	decimals := p.decimals()
	for _, c := range cells {
		if math.IsNaN(c.Value) {
			out = append(out, missing)
			continue
		}
		s := strconv.FormatFloat(c.Value, 'f', decimals, 64)
		if c.Half > 0 {
			s += " ± " + strconv.FormatFloat(c.Half, 'f', decimals, 64)
		}
		out = append(out, s)
	}
	return out
}

// wholePart matches the digits before the point of a number.
var wholePart = regexp.MustCompile(`(^|[ -])\d{4,}`)

// grouped puts commas between the thousands of a cell's numbers, for people.
func grouped(cell string) string {
	return wholePart.ReplaceAllStringFunc(cell, func(found string) string {
		digits := strings.TrimLeft(found, " -")
		n, err := strconv.ParseUint(digits, 10, 64)
		if err != nil { // of more than 19 digits
			return found
		}
		return strings.TrimSuffix(found, digits) + Thousands(n)
	})
}

// mayBeNone reports whether a cell is a mean speedup over seeds that is not significant.
func (p *Pivot) mayBeNone(c *Cell) bool {
	return p.Value == "speedup" && !p.Paired && Estimate{c.Value, c.Half, c.N}.alike()
}

func (p *Pivot) writeTable(w io.Writer, head []string, rows [][]string) {
	header := make([]any, len(head))
	for i, h := range head {
		header[i] = h
	}
	t, marked := terminal.New(w, header...), false
	for i, cells := range rows {
		if p.Mean != nil && i == len(rows)-1 {
			t.AppendSeparator()
		}
		row := make(table.Row, len(cells))
		for k, c := range cells {
			if row[k] = c; k >= max(1, len(p.RowKeys)) {
				row[k] = grouped(c)
				if i < len(p.Cells) && p.mayBeNone(&p.Cells[i][k-max(1, len(p.RowKeys))]) {
					row[k], marked = alikeMark+grouped(c), true
				}
			}
		}
		t.AppendRow(row)
	}
	var right []table.ColumnConfig
	for n := max(1, len(p.RowKeys)) + 1; n <= len(head); n++ {
		right = append(right, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	t.Render()
	if marked {
		fmt.Fprintln(w, alikeNote)
	}
}

func (p *Pivot) markdown(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + strings.ReplaceAll(c, "|", `\|`) + " |")
		}
		b.WriteString("\n")
	}
	line(head)
	b.WriteString("|")
	for i := range head {
		b.WriteString(map[bool]string{true: " --- |", false: " ---: |"}[i < max(1, len(p.RowKeys))])
	}
	b.WriteString("\n")
	for _, row := range rows {
		line(row)
	}
	return b.String()
}

// inLaTeX escapes characters that are special in LaTeX.
var inLaTeX = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`, "#", `\#`, "%",
	`\%`, "_", `\_`, "^", `\textasciicircum{}`, "~", `\textasciitilde{}`, "–", "--", "…", `\dots{}`)

// latex returns a table for the packages booktabs and siunitx: numbers align at their decimal points.
func (p *Pivot) latex(head []string, rows [][]string) string {
	var b strings.Builder
	names := max(1, len(p.RowKeys))
	b.WriteString("% \\usepackage{booktabs,siunitx}\n\\begin{tabular}{" + strings.Repeat("l", names))
	decimals := p.decimals()
	for c := names; c < len(head); c++ {
		digits, half := 1, 0
		for _, row := range rows {
			number, interval, _ := strings.Cut(row[c], " ± ")
			whole, _, _ := strings.Cut(number, ".")
			digits = max(digits, len(strings.TrimPrefix(whole, missing)))
			halfWhole, _, _ := strings.Cut(interval, ".")
			half = max(half, len(halfWhole))
		}
		format := fmt.Sprintf("%d.%d", digits, decimals)
		if half > 0 {
			format += fmt.Sprintf("\\pm%d.%d", half, decimals)
		}
		fmt.Fprintf(&b, "S[table-format=%s]", format)
	}
	b.WriteString("}\n\\toprule\n")
	line := func(cells []string) { b.WriteString(strings.Join(cells, " & ") + " \\\\\n") }
	var top []string
	for i, h := range head {
		if h = inLaTeX.Replace(h); i >= names {
			h = "{" + h + "}"
		}
		top = append(top, h)
	}
	line(top)
	b.WriteString("\\midrule\n")
	for r, row := range rows {
		if p.Mean != nil && r == len(rows)-1 {
			b.WriteString("\\midrule\n")
		}
		var cells []string
		for i, c := range row {
			switch {
			case i < names:
				c = inLaTeX.Replace(c)
			case c == missing:
				c = "{--}"
			default:
				c = strings.ReplaceAll(c, " ± ", " \\pm ")
			}
			cells = append(cells, c)
		}
		line(cells)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	return b.String()
}

// writeCSV writes full keys and values, and numbers with all their digits.
func (p *Pivot) writeCSV(w io.Writer) error {
	head := slices.Clone(p.RowKeys)
	for _, values := range p.Columns {
		head = append(head, strings.Join(values, " "))
	}
	out := csv.NewWriter(w)
	if err := out.Write(head); err != nil {
		return err
	}
	for r, values := range p.Rows {
		row := slices.Clone(values)
		for _, c := range p.Cells[r] {
			text := ""
			if !math.IsNaN(c.Value) {
				text = strconv.FormatFloat(c.Value, 'f', -1, 64)
			}
			row = append(row, text)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// pivotCell is a cell for scripts.
type pivotCell struct {
	Row    map[string]string `json:"row"`
	Column map[string]string `json:"column"`
	Value  *float64          `json:"value"` // null: no point has a result
	CI95   float64           `json:"ci95,omitempty"`
	Points int               `json:"points"`
}

func (p *Pivot) writeJSON(w io.Writer) error {
	named := func(keys, values []string) map[string]string {
		of := map[string]string{}
		for i, key := range keys {
			of[key] = values[i]
		}
		return of
	}
	cells := []pivotCell{}
	for r := range p.Rows {
		for c := range p.Columns {
			at := &p.Cells[r][c]
			cell := pivotCell{Row: named(p.RowKeys, p.Rows[r]), Column: named(p.ColumnKeys, p.Columns[c]), CI95: at.Half,
				Points: at.N}
			if !math.IsNaN(at.Value) {
				cell.Value = &at.Value
			}
			cells = append(cells, cell)
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"value": p.Value, "rows": p.RowKeys, "columns": p.ColumnKeys, "cells": cells})
}
