package silicon

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heddle/graph/graphspec"
	"heddle/internal/plain"
)

// Limits of a file of measurements.
const (
	MaxBytes = 16 << 20
	MaxRows  = 100_000
	maxName  = 80
)

// Times are those of a row, in microseconds.
type Times struct {
	Median float64 `json:"us_med"`
	Min    float64 `json:"us_min"`
	P90    float64 `json:"us_p90"`
	Null   float64 `json:"us_null"` // of as many empty launches
}

// Net is the time without launches; not above 0 where nothing is left to compare.
func (t *Times) Net() float64 { return t.Median - t.Null }

// Row is one measurement: a graph, an algorithm and a schedule, under one of the GPU's configurations and one of the
// variants of the program.
type Row struct {
	Variant, Graph, Algorithm, Config, Schedule string
	SuperSteps, Launches                        int
	Block                                       int // threads of a thread block
	Times
}

// Graph is a graph that was measured, symmetrised and without self-loops and duplicates.
type Graph struct {
	Name            string
	Vertices, Edges int // edges in both directions
	line            int
}

// Campaign is a file of measurements.
type Campaign struct {
	File   string
	Rows   []Row
	Graphs []Graph // in the file's order
}

// ParseError is an error at a place of a file.
type ParseError struct {
	File         string
	Line, Column int // from 1; the column counts bytes
	Err          error
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %v", plain.Line(e.File), e.Line, e.Column, e.Err)
}

func (e *ParseError) Unwrap() error { return e.Err }

// columns are those that a file must have, in any order; others but blockColumn are ignored.
var columns = []string{
	"variant", "graph", "n", "m", "alg", "config", "sched", "super_steps", "launches", "us_med", "us_min", "us_p90",
	"us_null",
}

// blockColumn is a column that a file may have. Without it, blocks have MaxBlock threads.
const blockColumn = "block"

// MaxBlock is the largest number of threads of a CUDA thread block.
const MaxBlock = 1024

// reader reads a file row by row.
type reader struct {
	file   string
	csv    *csv.Reader
	at     map[string]int // columns
	record []string
	seen   map[string]int // rows, with their lines
	graphs map[string]int // their indices
	limit  *io.LimitedReader
}

// Read reads a file of measurements, which is not trusted; name is the file's in errors.
func Read(name string, from io.Reader) (*Campaign, error) {
	limited := &io.LimitedReader{R: from, N: MaxBytes + 1}
	r := &reader{
		file: name, csv: csv.NewReader(limited), seen: map[string]int{}, graphs: map[string]int{}, limit: limited,
	}
	r.csv.ReuseRecord = true
	if err := r.header(); err != nil {
		return nil, err
	}
	c := &Campaign{File: name}
	for {
		err := r.next()
		if err == io.EOF { //nolint:errorlint // as encoding/csv has it
			break
		}
		if err == nil && len(c.Rows) == MaxRows {
			err = r.wrong(0, "expected at most %d rows", MaxRows)
		}
		if err == nil {
			err = r.row(c)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(c.Rows) == 0 {
		return nil, &ParseError{name, 1, 1, errors.New("no rows below the names of the columns")}
	}
	return c, nil
}

// next reads a record.
func (r *reader) next() (err error) {
	r.record, err = r.csv.Read()
	var bad *csv.ParseError
	switch {
	case r.limit.N == 0:
		return &ParseError{r.file, 1, 1, fmt.Errorf("expected at most %d MiB", MaxBytes>>20)}
	case errors.As(err, &bad):
		return &ParseError{r.file, bad.Line, bad.Column, bad.Err}
	case err != nil && err != io.EOF: //nolint:errorlint // as encoding/csv has it
		return fmt.Errorf("%s: %w", plain.Line(r.file), err)
	}
	return err
}

// wrong is an error at a field of the record.
func (r *reader) wrong(field int, format string, args ...any) error {
	line, column := r.csv.FieldPos(field)
	return &ParseError{r.file, line, column, fmt.Errorf(format, args...)}
}

func (r *reader) header() error {
	switch err := r.next(); {
	case err == io.EOF: //nolint:errorlint // as encoding/csv has it
		return &ParseError{r.file, 1, 1, fmt.Errorf("empty: expected the columns %s", strings.Join(columns, ","))}
	case err != nil:
		return err
	}
	r.at = map[string]int{}
	for i, name := range r.record {
		name = strings.TrimPrefix(name, "\ufeff") // of spreadsheets
		if _, twice := r.at[name]; twice && (name == blockColumn || slices.Contains(columns, name)) {
			return r.wrong(i, "column %s stands twice", name)
		}
		r.at[name] = i
	}
	for _, name := range columns {
		if _, ok := r.at[name]; !ok {
			return r.wrong(len(r.record)-1, "no column %s: expected %s", name, strings.Join(columns, ","))
		}
	}
	return nil
}

// row reads the record as a measurement.
func (r *reader) row(c *Campaign) error {
	var row Row
	var g Graph
	err := errors.Join(
		r.text("variant", &row.Variant), r.name("graph", &row.Graph), r.oneOf("alg", &row.Algorithm, algorithmNames()),
		r.text("config", &row.Config), r.oneOf("sched", &row.Schedule, Schedules),
		r.count("n", &g.Vertices, graphspec.MaxVertices), r.count("m", &g.Edges, graphspec.MaxEdges),
		r.count("super_steps", &row.SuperSteps, math.MaxInt32), r.count("launches", &row.Launches, math.MaxInt32),
		r.time("us_med", &row.Median), r.time("us_min", &row.Min), r.time("us_p90", &row.P90),
		r.time("us_null", &row.Null))
	if row.Block = MaxBlock; err == nil && r.has(blockColumn) {
		err = r.count(blockColumn, &row.Block, MaxBlock)
	}
	if err != nil {
		return err
	}
	if !(row.Min <= row.Median && row.Median <= row.P90) || row.Min <= 0 {
		return r.wrong(r.at["us_med"], "us_min %g, us_med %g, us_p90 %g: expected times above 0 that do not fall",
			row.Min, row.Median, row.P90)
	}
	line, _ := r.csv.FieldPos(0)
	key := strings.Join([]string{row.Variant, row.Graph, row.Algorithm, row.Config, row.Schedule}, "\x00")
	if first, twice := r.seen[key]; twice {
		return r.wrong(0, "%s, %s, %s, %s, %s stands in line %d already", row.Variant, row.Graph, row.Algorithm,
			row.Config, row.Schedule, first)
	}
	r.seen[key] = line
	i, known := r.graphs[row.Graph]
	if !known {
		i = len(c.Graphs)
		r.graphs[row.Graph] = i
		c.Graphs = append(c.Graphs, Graph{row.Graph, g.Vertices, g.Edges, line})
	}
	if was := &c.Graphs[i]; g.Vertices != was.Vertices || g.Edges != was.Edges {
		return r.wrong(r.at["n"], "%s has %d vertices and %d edges, and %d and %d in line %d", row.Graph, g.Vertices,
			g.Edges, was.Vertices, was.Edges, was.line)
	}
	c.Rows = append(c.Rows, row)
	return nil
}

// has reports whether the file has a column.
func (r *reader) has(column string) bool {
	_, ok := r.at[column]
	return ok
}

// text takes a name of the user's own.
func (r *reader) text(column string, to *string) error {
	i := r.at[column]
	v := r.record[i]
	if v == "" || len(v) > maxName || !plain.Is(v) || strings.TrimSpace(v) != v || strings.ContainsAny(v, ",|") {
		return r.wrong(i, "%s %q: expected a text of 1 to %d bytes without , and |", column, cut(v), maxName)
	}
	*to = strings.Clone(v)
	return nil
}

// fileName matches names of graphs, which become parts of paths.
var fileName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)

func (r *reader) name(column string, to *string) error {
	if i := r.at[column]; !fileName.MatchString(r.record[i]) {
		return r.wrong(i, "%s %q: expected letters, digits and . _ + -, the first no . + or -", column,
			cut(r.record[i]))
	}
	return r.text(column, to)
}

func (r *reader) oneOf(column string, to *string, known []string) error {
	i := r.at[column]
	k := slices.Index(known, r.record[i])
	if k < 0 {
		return r.wrong(i, "%s %q: expected one of %s", column, cut(r.record[i]), strings.Join(known, ", "))
	}
	*to = known[k]
	return nil
}

func (r *reader) count(column string, to *int, most int) error {
	i := r.at[column]
	n, err := strconv.Atoi(r.record[i])
	if err != nil || n < 1 || n > most {
		return r.wrong(i, "%s %q: expected an integer 1..%d", column, cut(r.record[i]), most)
	}
	*to = n
	return nil
}

// maxMicroseconds is some eleven days.
const maxMicroseconds = 1e12

func (r *reader) time(column string, to *float64) error {
	i := r.at[column]
	v, err := strconv.ParseFloat(r.record[i], 64)
	if err != nil || !(v >= 0 && v <= maxMicroseconds) {
		return r.wrong(i, "%s %q: expected microseconds, 0..%g", column, cut(r.record[i]), maxMicroseconds)
	}
	*to = v
	return nil
}

// cut keeps a message short.
func cut(s string) string {
	if len(s) > maxName {
		return strings.ToValidUTF8(s[:maxName], "") + "…"
	}
	return s
}

// Schedules are those that a GPU may have been measured under, in the order of tables.
var Schedules = []string{"vertex", "warp", "cta", "twc", "twce", "strict", "edge"}

// Variants are the names of variants, in the file's order.
func (c *Campaign) Variants() []string { return c.distinct(func(r *Row) string { return r.Variant }) }

// Configs are the names of configurations, in the file's order.
func (c *Campaign) Configs() []string { return c.distinct(func(r *Row) string { return r.Config }) }

// Algorithms are those that were measured, in the order of tables.
func (c *Campaign) Algorithms() []string {
	return inOrder(c.distinct(func(r *Row) string { return r.Algorithm }), algorithmNames())
}

// Block returns the threads of a thread block in the rows that are compared with, which must be the same in all: cycles
// depend on them.
func (c *Campaign) Block(against []Against) (threads int, err error) {
	var first *Row
	for i := range c.Rows {
		r := &c.Rows[i]
		switch {
		case !slices.Contains(against, Against{r.Variant, r.Config}):
		case first == nil:
			first = r
		case r.Block != first.Block:
			return 0, fmt.Errorf("%s: thread blocks of %s have %d threads, and those of %s %d: expected the same, as "+
				"points are simulated with as many (workload.cta_threads); compare them one at a time", c.File,
				first.Config, first.Block, r.Config, r.Block)
		}
	}
	if first == nil {
		return MaxBlock, nil
	}
	return first.Block, nil
}

// Schedules are those that were measured, in the order of tables.
func (c *Campaign) Schedules() []string {
	return inOrder(c.distinct(func(r *Row) string { return r.Schedule }), Schedules)
}

func (c *Campaign) distinct(of func(*Row) string) (names []string) {
	seen := map[string]bool{}
	for i := range c.Rows {
		if n := of(&c.Rows[i]); !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	return names
}

// inOrder are those of all that are among some.
func inOrder(some, all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !slices.Contains(some, s) })
}
