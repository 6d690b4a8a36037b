package report

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/experiment/store"
)

// history is the time series of a point's run.
type history struct {
	point *Point
	rows  []interval
	names []string // of the samples, in order
	ratio map[string]bool
}

// interval is some cycles of a run, with its statistics.
type interval struct {
	start, stop float64
	values      map[string]float64
}

const (
	maxHistories = maxLines // points whose runs are shown
	maxIntervals = 400      // of a run, in a figure
	maxSteps     = 120
	maxTracks    = 16 // figures over time
)

// readHistories reads the histories of the first runs from the store. They are optional: a failure to read them is
// noted in the page.
func (r *Result) readHistories(dir string) {
	err := r.tryHistories(filepath.Join(dir, store.File))
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, store.ErrEmpty) {
		r.Unread = err.Error()
	}
}

func (r *Result) tryHistories(file string) error {
	s, err := store.OpenRead(file)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // read only
	for i, p := range r.Points {
		if len(r.histories) == maxHistories {
			break
		}
		if !p.counts() {
			continue
		}
		t, err := s.Timeline(i)
		if err != nil {
			return err
		}
		if len(t.Rows) > 0 {
			h := history{point: p, ratio: map[string]bool{}}
			h.read(t)
			r.histories = append(r.histories, h)
		}
	}
	return nil
}

// read takes over a table of samples.
func (h *history) read(t *store.Table) {
	for _, c := range t.Columns[2:] {
		h.names = append(h.names, c.Name)
		h.ratio[c.Name] = c.Kind == store.Number
	}
	for _, row := range t.Rows {
		start, _ := asFloat(row[0])
		stop, _ := asFloat(row[1])
		one := interval{start, stop, map[string]float64{}}
		for i, v := range row[2:] {
			if x, ok := asFloat(v); ok && drawable(x) {
				one.values[h.names[i]] = x
			}
		}
		if drawable(start) && drawable(stop) && stop > start {
			h.rows = append(h.rows, one)
		}
	}
	h.rows = coarser(h.rows, h.ratio)
}

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// coarser puts neighbours together, so that a figure can be drawn: sums of counts, and means of ratios by cycles.
func coarser(rows []interval, ratio map[string]bool) []interval {
	n := (len(rows) + maxIntervals - 1) / maxIntervals
	if n <= 1 {
		return rows
	}
	var out []interval
	for some := range slices.Chunk(rows, n) {
		one := interval{some[0].start, some[len(some)-1].stop, map[string]float64{}}
		for _, r := range some {
			for name, v := range r.values {
				if ratio[name] {
					v *= (r.stop - r.start) / (one.stop - one.start)
				}
				one.values[name] += v
			}
		}
		out = append(out, one)
	}
	return out
}

// sameAs maps counts to the ratio per cycle that shows the same information.
var sameAs = map[string]string{"warp_instrs": "ipc", "edges": edgesPerCycle, "dram.bytes": bytesPerCycle}

const causes = "core.scheduler."

// timelines are plots over the cycles of runs.
func timelines(r *Result) (figures []Figure) {
	var names []string
	ratio := map[string]bool{}
	for _, h := range r.histories {
		for _, n := range h.names {
			if !slices.Contains(names, n) && !strings.HasPrefix(n, causes) && !slices.Contains(h.names, sameAs[n]) {
				names = append(names, n)
				ratio[n] = h.ratio[n]
			}
		}
	}
	for _, n := range names[:min(len(names), maxTracks)] {
		figures = append(figures, r.track(n, ratio[n]))
	}
	slices.SortStableFunc(figures, func(a, b Figure) int { return cmp.Compare(trackOrder(a.ID), trackOrder(b.ID)) })
	for i := range r.histories {
		if f, ok := r.histories[i].causes(); ok {
			figures = append(figures, f)
		}
	}
	return figures
}

// trackOrder puts the IPC first, and tracks without a title of their own last.
func trackOrder(id string) int {
	name := strings.TrimPrefix(id, "timeline-")
	switch i := slices.IndexFunc(metrics, func(m metric) bool { return m.Name == name }); {
	case name == "ipc":
		return -1
	case i >= 0:
		return i
	}
	return len(metrics)
}

// track is a statistic over time, a line for each run.
func (r *Result) track(name string, ratio bool) Figure {
	m := metric{Name: name, Title: name}
	if i := slices.IndexFunc(metrics, func(m metric) bool { return m.Name == name }); i >= 0 {
		m = metrics[i]
	}
	if !ratio {
		m.Title += " a cycle"
	}
	f := Figure{
		ID: "timeline-" + name, Group: "timeline", Choice: m.Title, Title: capital(m.Title) + " over the run",
		Kind: Lines, Note: r.historyNote(),
		X: Scale{Name: "cycles of the machine's clock"}, Y: Scale{Name: m.Title, Percent: m.Percent},
	}
	for _, h := range r.histories {
		s := Series{Name: h.point.Label}
		for _, row := range h.rows {
			if v, ok := row.values[name]; ok {
				if !ratio {
					v /= row.stop - row.start
				}
				s.Points = append(s.Points, [2]Number{Number((row.start + row.stop) / 2), Number(v)})
			}
		}
		if len(s.Points) > 0 {
			f.Series = append(f.Series, s)
		}
	}
	return f
}

func (r *Result) historyNote() string {
	if n := len(r.Points); n > len(r.histories) {
		return fmt.Sprintf("Of %d of %d points. ", len(r.histories), n)
	}
	return ""
}

// causes splits the schedulers' cycles of a run by cause, over time.
func (h *history) causes() (f Figure, ok bool) {
	f = Figure{
		ID: "timeline-schedulers-" + h.point.Label, Group: "timeline-schedulers", Choice: h.point.Label,
		Title: "Scheduler states over the run: " + h.point.Label, Kind: Area,
		X: Scale{Name: "cycles of the machine's clock"}, Y: Scale{Name: "share of scheduler-cycles", Percent: true},
		Columns: make([]string, len(h.rows)),
	}
	for _, name := range h.names {
		part, is := strings.CutPrefix(name, causes)
		if !is || h.ratio[name] {
			continue
		}
		s, any := Series{Name: strings.TrimPrefix(strings.TrimPrefix(part, "stall."), "scoreboard.")}, false
		for _, row := range h.rows {
			share := 0.0
			if all := row.all(); all > 0 {
				share = max(0, row.values[name]) / all
			}
			any = any || share > 0
			s.Values = append(s.Values, Number(share))
		}
		if any {
			f.Series = append(f.Series, s)
		}
	}
	fix(f.Series, causeColours)
	f.Note = lump(&f)
	for i := range f.Series {
		s := &f.Series[i]
		for k, v := range s.Values {
			s.Points = append(s.Points, [2]Number{Number((h.rows[k].start + h.rows[k].stop) / 2), v})
		}
		s.Values = nil
	}
	f.Columns = nil
	return f, len(f.Series) > 0 && len(h.rows) > 1
}

// all are the interval's scheduler-cycles that were sampled.
func (i *interval) all() (sum float64) {
	for _, name := range sortedKeys(i.values) {
		if strings.HasPrefix(name, causes) {
			sum += max(0, i.values[name])
		}
	}
	return sum
}

// maxStepped bounds the points whose super-steps are shown.
const maxStepped = 24

// superSteps has a bar for each super-step of a run, of its kernels' cycles.
func superSteps(r *Result) (figures []Figure) {
	for _, p := range r.Points {
		if f, ok := p.superSteps(); ok && p.counts() && len(figures) < maxStepped {
			figures = append(figures, f)
		}
	}
	return figures
}

func (p *Point) superSteps() (f Figure, ok bool) {
	f = Figure{
		ID: "steps-" + p.Label, Group: "steps", Choice: p.Label, Title: "Cycles of the super-steps: " + p.Label,
		Kind: Stack, X: Scale{Name: "cycles"},
	}
	column, series := map[int]int{}, map[string]int{}
	for _, s := range p.SuperSteps {
		c, known := column[s.Step]
		if !known {
			if len(column) == maxSteps {
				f.Note = fmt.Sprintf("The first %d. ", maxSteps)
				break
			}
			c = len(column)
			column[s.Step] = c
			f.Columns = append(f.Columns, stepName(s.Step))
		}
		i, known := series[s.Kernel]
		if !known {
			i = len(f.Series)
			series[s.Kernel] = i
			f.Series = append(f.Series, Series{Name: s.Kernel})
		}
		of := &f.Series[i]
		of.pad(c + 1)
		of.Values[c] += Number(s.Cycles)
	}
	for i := range f.Series {
		f.Series[i].pad(len(f.Columns))
	}
	f.Note += lump(&f)
	return f, len(f.Columns) > 2
}

// stepName names super-steps, from 1; 0 is the init kernel, before the first.
func stepName(step int) string {
	if step == 0 {
		return "before"
	}
	return fmt.Sprint(step)
}

// pad appends zeros up to a length.
func (s *Series) pad(n int) {
	for len(s.Values) < n {
		s.Values = append(s.Values, 0)
	}
}
