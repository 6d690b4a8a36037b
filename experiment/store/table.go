package store

import (
	"bufio"
	"cmp"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"heddle/sim/stats"
)

// Kind is the type of a column.
type Kind int

// Kinds of columns. The values of a column of kind Any, as a query returns, differ in type.
const (
	Any Kind = iota
	Text
	Integer
	Number
	Truth
)

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
}

// Table is an exported table. Values are string, int64, float64 or bool; nil if absent.
type Table struct {
	Columns []Column
	Rows    [][]any
}

// intervalOf is the suffix of columns with half the 95 % confidence intervals of another column's estimates.
const intervalOf = "_ci95"

// Wide returns a table with a row for each point: axes, results, and all statistics.
func Wide(points []Point) *Table {
	w := newWide()
	for i := range points {
		w.collect(&points[i])
	}
	w.makeColumns()
	for i := range points {
		w.Rows = append(w.Rows, w.row(&points[i]))
	}
	return &w.Table
}

// wideTable builds a table of points. see must be called for all points, then head, which fixes the columns, then row.
type wideTable struct {
	Table
	index map[string]int // index of each column by name

	// Axes and statistics of the points, in the order of their first occurrence.
	axes    []string
	seen    map[string]bool
	values  []Column
	sampled bool
	last    stats.Packed   // statistics of the previous point
	cycles  map[int]result // by position, for speedups
}

func newWide() *wideTable {
	return &wideTable{index: map[string]int{}, seen: map[string]bool{}, cycles: map[int]result{}}
}

// collect collects the axes and statistics of a point.
func (w *wideTable) collect(p *Point) {
	for _, a := range p.Axes {
		if !w.seen[a.Key] {
			w.seen[a.Key] = true
			w.axes = append(w.axes, a.Key)
		}
	}
	w.sampled = w.sampled || p.Half != 0
	if p.Counts() {
		w.cycles[p.Position] = result{p.Cycles, p.Half, p.Partial}
	}
	if p.Half == 0 && p.Stats.SameNames(w.last) {
		return
	}
	w.last = p.Stats
	for _, s := range p.Stats.Tree() {
		w.value("stats."+s.Name, kindOf(s))
		if s.Half != 0 {
			w.value("stats."+s.Name+intervalOf, Number)
		}
	}
}

func (w *wideTable) value(name string, kind Kind) {
	if !w.seen[name] {
		w.seen[name] = true
		w.values = append(w.values, Column{name, kind})
	}
}

// makeColumns creates the columns.
func (w *wideTable) makeColumns() {
	w.column("point", Integer)
	for _, key := range w.axes {
		w.column(key, Text)
	}
	for _, c := range []Column{
		{"cycles", Integer}, {"cycles" + intervalOf, Number}, {"speedup", Number}, {"speedup" + intervalOf, Number},
		{"verified", Truth}, {"replay", Text}, {"partial", Text}, {"failure", Text}, {"error", Text},
		{"host_seconds", Number}, {"finished", Text}, {"graph", Text}, {"version", Text}, {"identity", Text},
	} {
		if w.sampled || !strings.HasSuffix(c.Name, intervalOf) {
			w.column(c.Name, c.Kind)
		}
	}
	for _, c := range w.values {
		w.column(c.Name, c.Kind)
	}
}

func (w *wideTable) column(name string, kind Kind) {
	if _, ok := w.index[name]; !ok {
		w.index[name] = len(w.Columns)
		w.Columns = append(w.Columns, Column{name, kind})
	}
}

func (w *wideTable) row(p *Point) []any {
	row := make([]any, len(w.Columns))
	set := func(name string, v any) { row[w.index[name]] = v }
	set("point", int64(p.Position+1))
	for _, a := range p.Axes {
		set(a.Key, a.Value)
	}
	set("cycles", int64(p.Cycles))
	if p.Half != 0 {
		set("cycles"+intervalOf, p.Half)
	}
	if s, ok := speedup(p, w.cycles); ok {
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
	for _, s := range p.Stats.Tree() {
		set("stats."+s.Name, valueOf(s))
		if s.Half != 0 {
			set("stats."+s.Name+intervalOf, s.Half)
		}
	}
	return row
}

// result is the part of a point that speedups need.
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

// Speedup is the baseline's cycles over a point's, with half the 95 % confidence interval, assuming the worst case of
// opposite errors; 0: it is exact.
type Speedup struct{ Value, Half float64 }

// speedup returns a point's speedup; ok is false unless it and its baseline have results of complete runs, or of parts
// that ended for the same reason.
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

// Speedups returns the speedups of all points that have one, by position.
func Speedups(points []Point) map[int]Speedup {
	out, cycles := map[int]Speedup{}, countedResults(points)
	for i := range points {
		if s, ok := speedup(&points[i], cycles); ok {
			out[points[i].Position] = s
		}
	}
	return out
}

// Select returns a copy with the columns that keep accepts.
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

// Formats lists the formats of Table.Write.
var Formats = []string{"csv", "json", "parquet"}

// Write writes the table in one of the Formats.
func (t *Table) Write(w io.Writer, format string) error {
	return write(w, format, t.Columns, func(row func([]any) error) error {
		for _, r := range t.Rows {
			if err := row(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// Export writes the table Wide of all points in one of the Formats, with or without statistics. It reads the points
// twice rather than holding them in memory.
func (s *Store) Export(w io.Writer, format string, statistics bool) error {
	return s.snapshot(func(tx *sql.Tx) error {
		all := func(visit func(p *Point) error) error {
			return everyPoint(tx, Want{Stats: statistics}, s.rebased(visit))
		}
		t := newWide()
		if err := all(func(p *Point) error { t.collect(p); return nil }); err != nil {
			return err
		}
		t.makeColumns()
		return write(w, format, t.Columns, func(row func([]any) error) error {
			return all(func(p *Point) error { return row(t.row(p)) })
		})
	})
}

// rowWriter writes a table row by row; end completes it.
type rowWriter interface {
	row([]any) error
	end() error
}

func write(w io.Writer, format string, columns []Column, rows func(row func([]any) error) error) error {
	buffered := bufio.NewWriter(w)
	var out rowWriter
	var err error
	switch format {
	case "csv":
		out, err = newCSV(buffered, columns)
	case "json":
		out, err = newJSON(buffered, columns)
	case "parquet":
		out, err = newParquet(buffered, columns)
	default:
		err = fmt.Errorf("format %q: expected one of %v", format, Formats)
	}
	if err != nil {
		return err
	}
	if err := rows(out.row); err != nil {
		return err
	}
	return cmp.Or(out.end(), buffered.Flush())
}

type csvWriter struct {
	*csv.Writer
	record []string
}

func newCSV(w io.Writer, columns []Column) (*csvWriter, error) {
	out := &csvWriter{csv.NewWriter(w), make([]string, len(columns))}
	for i, c := range columns {
		out.record[i] = c.Name
	}
	return out, out.Write(out.record)
}

func (w *csvWriter) row(row []any) error {
	for i, v := range row {
		w.record[i] = text(v)
	}
	return w.Write(w.record)
}

func (w *csvWriter) end() error {
	w.Flush()
	return w.Error()
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

// jsonWriter writes a list of objects whose keys are in the order of the columns.
type jsonWriter struct {
	io.Writer
	names [][]byte
	line  []byte
	rows  int
}

func newJSON(w io.Writer, columns []Column) (*jsonWriter, error) {
	out := &jsonWriter{Writer: w, names: make([][]byte, len(columns))}
	for i, c := range columns {
		name, err := json.Marshal(c.Name)
		if err != nil {
			return nil, err
		}
		out.names[i] = name
	}
	_, err := io.WriteString(w, "[")
	return out, err
}

func (w *jsonWriter) row(row []any) error {
	b := w.line[:0]
	if w.rows++; w.rows > 1 {
		b = append(b, ',')
	}
	b = append(b, "\n  {"...)
	for k, v := range row {
		if k > 0 {
			b = append(b, ", "...)
		}
		value, err := json.Marshal(v)
		if err != nil {
			return err
		}
		b = append(append(append(b, w.names[k]...), ": "...), value...)
	}
	w.line = append(b, '}')
	_, err := w.Write(w.line)
	return err
}

func (w *jsonWriter) end() error {
	_, err := io.WriteString(w, "\n]\n")
	return err
}

// parquetWriter writes row groups in which every column is optional.
type parquetWriter struct {
	*parquet.Writer
	order []int // index of the column for each parquet column: those are sorted by name
	rows  int
}

// groupRows is the number of rows of a row group, which is held in memory.
const groupRows = 1000

func newParquet(w io.Writer, columns []Column) (*parquetWriter, error) {
	group := parquet.Group{}
	for _, c := range columns {
		if c.Kind == Any {
			return nil, fmt.Errorf("column %s: parquet needs columns of one type", c.Name)
		}
		group[c.Name] = parquet.Compressed(parquet.Optional(nodes[c.Kind]()), &parquet.Zstd)
	}
	out := &parquetWriter{order: make([]int, len(columns))}
	for i := range out.order {
		out.order[i] = i
	}
	slices.SortFunc(out.order, func(a, b int) int { return cmp.Compare(columns[a].Name, columns[b].Name) })
	out.Writer = parquet.NewWriter(w, parquet.NewSchema("points", group))
	return out, nil
}

func (w *parquetWriter) row(row []any) error {
	values := make(parquet.Row, len(row))
	for place, i := range w.order {
		values[place] = parquet.NullValue().Level(0, 0, place)
		if row[i] != nil {
			values[place] = parquet.ValueOf(row[i]).Level(0, 1, place)
		}
	}
	if _, err := w.WriteRows([]parquet.Row{values}); err != nil {
		return err
	}
	if w.rows++; w.rows%groupRows == 0 {
		return w.Flush()
	}
	return nil
}

func (w *parquetWriter) end() error { return w.Close() }

var nodes = map[Kind]func() parquet.Node{
	Text:    parquet.String,
	Integer: func() parquet.Node { return parquet.Leaf(parquet.Int64Type) },
	Number:  func() parquet.Node { return parquet.Leaf(parquet.DoubleType) },
	Truth:   func() parquet.Node { return parquet.Leaf(parquet.BooleanType) },
}
