package store

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Kind is the type of a column.
type Kind int

// Kinds of columns. Any is the kind of a query's columns, whose values have kinds of their own.
const (
	Any Kind = iota
	Text
	Integer
	Number
	Truth
)

// Column is one of a table.
type Column struct {
	Name string
	Kind Kind
}

// Table is an exported table. Values are string, int64, float64, bool, or nil for none.
type Table struct {
	Columns []Column
	Rows    [][]any
}

// intervalOf ends the name of a column with half the 95 % confidence intervals of another's estimates.
const intervalOf = "_ci95"

// Wide is a table with a row a point: its axes, what it came to, and all statistics.
func Wide(points []Point) *Table {
	w := wide{at: map[string]int{}}
	w.column("point", Integer)
	for i := range points {
		for _, a := range points[i].Axes {
			w.column(a.Key, Text)
		}
	}
	sampled := slices.ContainsFunc(points, func(p Point) bool { return p.Half != 0 })
	for _, c := range []Column{
		{"cycles", Integer}, {"cycles" + intervalOf, Number}, {"speedup", Number}, {"speedup" + intervalOf, Number}, {"verified", Truth}, {"replay", Text}, {"partial", Text}, {"failure", Text}, {"error", Text}, {"host_seconds", Number}, {"finished", Text},
		{"graph", Text}, {"version", Text}, {"identity", Text},
	} {
		if sampled || !strings.HasSuffix(c.Name, intervalOf) {
			w.column(c.Name, c.Kind)
		}
	}
	for i := range points {
		for _, s := range points[i].Stats {
			kind := Number
			if _, counted := s.Uint(); counted {
				kind = Integer
			}
			w.column("stats."+s.Name, kind)
			if s.Half != 0 {
				w.column("stats."+s.Name+intervalOf, Number)
			}
		}
	}
	cycles := countedResults(points)
	for i := range points {
		w.Rows = append(w.Rows, w.row(&points[i], cycles))
	}
	return &w.Table
}

type wide struct {
	Table
	at map[string]int
}

func (w *wide) column(name string, kind Kind) {
	if _, ok := w.at[name]; !ok {
		w.at[name] = len(w.Columns)
		w.Columns = append(w.Columns, Column{name, kind})
	}
}

func (w *wide) row(p *Point, cycles map[int]result) []any {
	row := make([]any, len(w.Columns))
	set := func(name string, v any) { row[w.at[name]] = v }
	set("point", int64(p.Position+1))
	for _, a := range p.Axes {
		set(a.Key, a.Value)
	}
	set("cycles", int64(p.Cycles))
	if p.Half != 0 {
		set("cycles"+intervalOf, p.Half)
	}
	if s, ok := speedup(p, cycles); ok {
		set("speedup", s.Value)
		if s.Half != 0 {
			set("speedup"+intervalOf, s.Half)
		}
	}
	set("verified", p.Verified)
	set("replay", p.Replay)
	set("partial", p.Partial)
	set("failure", p.Failure)
	set("error", p.Error)
	set("host_seconds", p.Seconds)
	set("finished", p.Finished)
	set("graph", p.Graph)
	set("version", p.Version)
	set("identity", p.Identity)
	for _, s := range p.Stats {
		if n, counted := s.Uint(); counted {
			set("stats."+s.Name, int64(n))
		} else {
			set("stats."+s.Name, s.Float())
		}
		if s.Half != 0 {
			set("stats."+s.Name+intervalOf, s.Half)
		}
	}
	return row
}

// result is the kind of results that a speedup compares.
type result struct {
	cycles  uint64
	half    float64
	partial string
}

func countedResults(points []Point) map[int]result {
	of := map[int]result{}
	for i := range points {
		if p := &points[i]; p.Counts() {
			of[p.Position] = result{p.Cycles, p.Half, p.Partial}
		}
	}
	return of
}

// Speedup is the baseline's cycles over a point's, with half its 95 % confidence interval: as if the errors of both
// went against each other; 0: it is exact.
type Speedup struct{ Value, Half float64 }

// speedup is a point's, if it and its baseline have results, of runs or of parts that ended alike.
func speedup(p *Point, of map[int]result) (s Speedup, ok bool) {
	base, ok := of[p.Baseline]
	if !ok || !p.Counts() || p.Partial != base.partial || p.Cycles == 0 {
		return s, false
	}
	s.Value = float64(base.cycles) / float64(p.Cycles)
	if p.Baseline != p.Position && base.cycles > 0 {
		s.Half = s.Value * (base.half/float64(base.cycles) + p.Half/float64(p.Cycles))
	}
	return s, true
}

// Speedups are those of all points that have one, by position.
func Speedups(points []Point) map[int]Speedup {
	out, cycles := map[int]Speedup{}, countedResults(points)
	for i := range points {
		if s, ok := speedup(&points[i], cycles); ok {
			out[points[i].Position] = s
		}
	}
	return out
}

// Select returns the columns that keep wants, in rows of their own.
func (t *Table) Select(keep func(name string) bool) *Table {
	out := &Table{Rows: make([][]any, len(t.Rows))}
	for i, c := range t.Columns {
		if !keep(c.Name) {
			continue
		}
		out.Columns = append(out.Columns, c)
		for k, row := range t.Rows {
			out.Rows[k] = append(out.Rows[k], row[i])
		}
	}
	return out
}

// Formats are those of Table.Write.
var Formats = []string{"csv", "json", "parquet"}

// Write writes the table in one of the Formats.
func (t *Table) Write(w io.Writer, format string) error {
	switch format {
	case "csv":
		return t.csv(w)
	case "json":
		return t.json(w)
	case "parquet":
		return t.parquet(w)
	}
	return fmt.Errorf("format %q: expected one of %v", format, Formats)
}

func (t *Table) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	record := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		record[i] = c.Name
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for _, row := range t.Rows {
		for i, v := range row {
			record[i] = text(v)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// json writes a list of objects, with the columns in their order.
func (t *Table) json(w io.Writer) error {
	b := []byte("[")
	for i, row := range t.Rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n  {"...)
		for k, v := range row {
			if k > 0 {
				b = append(b, ", "...)
			}
			name, err := json.Marshal(t.Columns[k].Name)
			if err != nil {
				return err
			}
			value, err := json.Marshal(v)
			if err != nil {
				return err
			}
			b = append(append(append(b, name...), ": "...), value...)
		}
		b = append(b, '}')
	}
	_, err := w.Write(append(b, "\n]\n"...))
	return err
}

// parquet writes one row group; every column may lack values.
func (t *Table) parquet(w io.Writer) error {
	group := parquet.Group{}
	for _, c := range t.Columns {
		if c.Kind == Any {
			return fmt.Errorf("column %s: parquet needs columns of one type", c.Name)
		}
		group[c.Name] = parquet.Compressed(parquet.Optional(nodes[c.Kind]()), &parquet.Zstd)
	}
	order := make([]int, len(t.Columns)) // parquet's columns are sorted by name
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(t.Columns[a].Name, t.Columns[b].Name) })
	out := parquet.NewWriter(w, parquet.NewSchema("points", group))
	for _, row := range t.Rows {
		values := make(parquet.Row, len(row))
		for place, i := range order {
			values[place] = parquet.NullValue().Level(0, 0, place)
			if row[i] != nil {
				values[place] = parquet.ValueOf(row[i]).Level(0, 1, place)
			}
		}
		if _, err := out.WriteRows([]parquet.Row{values}); err != nil {
			return err
		}
	}
	return out.Close()
}

var nodes = map[Kind]func() parquet.Node{
	Text:    parquet.String,
	Integer: func() parquet.Node { return parquet.Leaf(parquet.Int64Type) },
	Number:  func() parquet.Node { return parquet.Leaf(parquet.DoubleType) },
	Truth:   func() parquet.Node { return parquet.Leaf(parquet.BooleanType) },
}
