package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"heddle/configs/schema"
	"heddle/kernels/workload"
)

// PublishedTable is a table of numbers as a paper prints it.
type PublishedTable struct {
	Name     string   `key:"name" required:"true" doc:"Name in packs."`
	Of       string   `key:"of" required:"true" doc:"Part of the paper, such as Table 4."`
	Quantity string   `key:"quantity" required:"true" lines:"true" doc:"The quantity of a cell."`
	Where    string   `key:"where" required:"true" doc:"Lines that print it."`
	Columns  []string `key:"columns" required:"true" doc:"Names of the columns."`
	Over     string   `key:"over" default:""`
	Rows     []string `key:"rows" required:"true"`
	Why      string   `key:"why" default:"" lines:"true" doc:"Why cells of it have no number of ours."`
}

// Docs describes the keys.
func (PublishedTable) Docs() map[string]string {
	return map[string]string{
		"over": "The column by which the others of a row are divided, which are the published numbers then.",
		"rows": "A row each: its name, and a number for each column, or a word where the paper has none.",
	}
}

// Validate returns an error for rows that do not fit.
func (t PublishedTable) Validate() error {
	seen := map[string]bool{}
	for _, row := range t.Rows {
		words := strings.Fields(row)
		if len(words) != 1+len(t.Columns) || seen[words[0]] {
			return &schema.FieldError{Key: "rows", Msg: fmt.Sprintf("%q: expected a name that no other row has, and %d "+
				"words", row, len(t.Columns))}
		}
		seen[words[0]] = true
	}
	if t.Over != "" && !slices.Contains(t.Columns, t.Over) {
		return &schema.FieldError{Key: "over", Msg: fmt.Sprintf("%q: expected one of the columns", t.Over)}
	}
	return nil
}

// PublishedCell is a number of a table.
type PublishedCell struct {
	Row, Column string
	Value       float64
}

// Cells lists the published numbers.
func (t *PublishedTable) Cells() (list []PublishedCell) {
	for _, row := range t.Rows {
		words := strings.Fields(row)
		by := 1.0
		if i := slices.Index(t.Columns, t.Over); i >= 0 {
			by = parsed(words[1+i])
		}
		for i, c := range t.Columns {
			if v := parsed(words[1+i]) / by; c != t.Over && !math.IsNaN(v) {
				list = append(list, PublishedCell{words[0], c, v})
			}
		}
	}
	return list
}

// parsed is the number that a word is, NaN if it is none.
func parsed(word string) float64 {
	v, err := strconv.ParseFloat(word, 64)
	if err != nil || math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}

// Item is a table, a figure or a mechanism of a paper of which no number is compared, or not all.
type Item struct {
	Of   string `key:"of" required:"true" doc:"Part of the paper."`
	What string `key:"what" required:"true" lines:"true" doc:"Its contents."`
	Why  string `key:"why" required:"true" lines:"true" doc:"What is compared instead, or why nothing is."`
}

// Cells compares the cells of a published table with those of a figure of the pack.
type Cells struct {
	Table    string            `key:"table" required:"true" doc:"Name of the published table."`
	Figure   string            `key:"figure" required:"true" doc:"Name of the pack's figure that has our numbers."`
	Rows     []string          `key:"rows" default:""`
	Columns  []string          `key:"columns" default:"" doc:"The same of the table's columns and the figure's series."`
	Flip     bool              `key:"flip" default:"false" doc:"The table's rows are the figure's series, and its columns the figure's columns."`
	Variants []workload.Choice `key:"variants" default:"quick, full" oneof:"quick,full" doc:"Where they are compared."`
}

// Docs describes the keys.
func (Cells) Docs() map[string]string {
	return map[string]string{
		"rows": "ROW=COLUMN: the figure's column that has the numbers of the table's row. None: rows have the names of " +
			"columns, or cannot be compared.",
	}
}

// Validate returns an error for pairs without both names.
func (c Cells) Validate() error {
	for _, l := range []struct {
		key  string
		list []string
	}{{"rows", c.Rows}, {"columns", c.Columns}} {
		for _, pair := range l.list {
			if a, b, ok := strings.Cut(pair, "="); !ok || a == "" || b == "" {
				return &schema.FieldError{Key: l.key, Msg: fmt.Sprintf("%q: expected OF-THE-TABLE=OF-THE-FIGURE", pair)}
			}
		}
	}
	return nil
}

// Place returns the figure's column and series of a cell.
func (c *Cells) Place(cell PublishedCell) (column, series string) {
	row, col := renamed(c.Rows, cell.Row), renamed(c.Columns, cell.Column)
	if c.Flip {
		return col, row
	}
	return row, col
}

func renamed(pairs []string, name string) string {
	for _, p := range pairs {
		if a, b, _ := strings.Cut(p, "="); a == name {
			return b
		}
	}
	return name
}

var (
	tableSchema = schema.New[PublishedTable]("")
	itemSchema  = schema.New[Item]("")
	cellsSchema = schema.New[Cells]("")
)

// Table finds a published table.
func (p *Pack) Table(name string) *PublishedTable {
	for i := range p.Tables {
		if p.Tables[i].Name == name {
			return &p.Tables[i]
		}
	}
	return nil
}

func (p *Pack) loadTables(file string, parts map[string]*schema.Node, bad *[]error) {
	for i, l := range loadList(tableSchema, file, "tables", parts["tables"], bad) {
		if p.Table(l.Value.Name) != nil {
			at, _ := l.Origin("name")
			*bad = append(*bad, fmt.Errorf("%s: tables[%d].name: %s stands twice", at, i, l.Value.Name))
		}
		p.Tables = append(p.Tables, l.Value)
	}
	for _, l := range loadList(itemSchema, file, "items", parts["items"], bad) {
		p.Items = append(p.Items, l.Value)
	}
}

func (p *Pack) loadCells(file string, n *schema.Node, bad *[]error) {
	for i, l := range loadList(cellsSchema, file, "cells", n, bad) {
		if p.Table(l.Value.Table) == nil {
			at, _ := l.Origin("table")
			*bad = append(*bad, fmt.Errorf("%s: cells[%d].table: no table %q in %s", at, i, l.Value.Table,
				publishedFile))
		}
		if !slices.ContainsFunc(p.Figures, func(f PackFigure) bool { return f.Name == l.Value.Figure }) {
			at, _ := l.Origin("figure")
			*bad = append(*bad, fmt.Errorf("%s: cells[%d].figure: the pack has no figure %q", at, i, l.Value.Figure))
		}
		p.Cells = append(p.Cells, l.Value)
	}
}
