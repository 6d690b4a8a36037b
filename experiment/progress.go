package experiment

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"heddle/internal/live"
	"heddle/internal/plain"
	"heddle/sim"
)

// Quiet is an observer that ignores everything.
type Quiet struct{}

// Started, Running and Finished do nothing.
func (Quiet) Started(int, uint64)       {}
func (Quiet) Running(int, sim.Progress) {}
func (Quiet) Finished(Outcome)          {}

// Watch observes a run and shows its progress. The writing goroutine takes snapshots of the forecast, so that no point
// waits for a terminal or a pipe.
type Watch struct {
	*Forecast
	*live.Writer
}

// NewHeartbeat returns a watch that periodically writes a line for every running point, to w and to a log.
func NewHeartbeat(f *Forecast, w, log io.Writer, every time.Duration) *Watch {
	return &Watch{f, live.New(w, every, func(now time.Time) string {
		lines := f.lines(now)
		_, _ = io.WriteString(log, lines)
		return lines
	})}
}

// lines returns a line for every running point.
func (f *Forecast) lines(now time.Time) string {
	var b strings.Builder
	v := f.snapshot(now)
	for i := range v.running {
		s := &v.running[i]
		eta := ""
		if d, ok := s.left(now); ok {
			eta = fmt.Sprintf(", %s of %s edges, about %v left", Thousands(s.progress.Edges), Thousands(s.edges), d)
		}
		fmt.Fprintf(&b, "%4.0f s  %s; %s: %s cycles, %s%s\n", now.Sub(f.start).Seconds(), v.text(),
			plain.Line(Label(f.points[s.point].Axes)), Thousands(s.progress.Cycle), s.rate(now), eta)
	}
	return b.String()
}

// NewBars returns a watch that draws a bar for every running point at the bottom of a terminal.
func NewBars(f *Forecast, w io.Writer) *Watch { return &Watch{f, live.NewTerminal(w, f.bars)} }

// bars returns a bar for every running point, as many as fit, and a line for the experiment.
func (f *Forecast) bars(now time.Time, rows, columns int) []string {
	v := f.snapshot(now)
	shown := v.running
	if most := max(0, rows-3); len(shown) > most { // three rows: "… and n more", the experiment, the cursor
		shown = shown[:most]
	}
	lines := f.table(shown, now, columns-1)
	if n := len(v.running) - len(shown); n > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", n))
	}
	return append(lines, v.text())
}

const (
	mostBar  = 40
	leastBar = 8
	around   = len(" [] ")
)

// table arranges names, bars and figures within columns. Too little room drops rates first, then the keys in names,
// then bars, and last the ends of names.
func (f *Forecast) table(points []status, now time.Time, columns int) (lines []string) {
	if len(points) == 0 {
		return nil
	}
	var full, values, long, short []string
	for i := range points {
		s := &points[i]
		axes := f.points[s.point].Axes
		full, values = append(full, plain.Line(Label(axes))), append(values, plain.Line(valuesOf(axes)))
		cycles, left := Thousands(s.progress.Cycle)+" cycles", ""
		if d, ok := s.left(now); ok {
			left = fmt.Sprintf(", %v left", d)
		}
		long, short = append(long, fmt.Sprintf("%s, %s%s", cycles, s.rate(now), left)),
			append(short, cycles+left)
	}
	names, figures := full, long
	tooLong := func() bool { return widest(names)+around+leastBar+widest(figures) > columns }
	if tooLong() {
		figures = short
	}
	if tooLong() {
		names = values
	}
	name, bar := widest(names), min(mostBar, columns-widest(names)-around-widest(figures))
	if tooLong() {
		name, bar = min(name, max(1, columns-1-widest(figures))), 0
	}
	for i := range points {
		line := text.Pad(live.Cut(names[i], name), name, ' ') + " "
		if bar > 0 {
			line += drawBar(points[i].part(), bar) + " "
		}
		lines = append(lines, line+figures[i])
	}
	return lines
}

// valuesOf names a point by its values alone.
func valuesOf(axes []Setting) string {
	var values []string
	for _, a := range axes {
		values = append(values, a.Value)
	}
	return strings.Join(values, " ")
}

// part returns the fraction of a point that is done; below 0: unknown.
func (s *status) part() float64 {
	if s.edges == 0 {
		return -1
	}
	return float64(min(s.progress.Edges, s.edges)) / float64(s.edges)
}

func widest(list []string) (n int) {
	for _, s := range list {
		n = max(n, text.StringWidthWithoutEscSequences(s))
	}
	return n
}

// drawBar draws a bar of columns characters and its frame; a negative part draws blanks.
func drawBar(part float64, columns int) string {
	if part < 0 {
		return strings.Repeat(" ", columns+len("[]"))
	}
	n := int(part * float64(columns))
	bar := strings.Repeat("=", n)
	if n > 0 && n < columns {
		bar = bar[:n-1] + ">"
	}
	return "[" + bar + strings.Repeat("-", columns-n) + "]"
}
