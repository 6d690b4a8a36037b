package monitor

import (
	"fmt"
	"path"
	"strings"
	"time"

	"heddle/sim"
	"heddle/sim/stats"
)

const (
	historyRows  = 1024                   // of a machine: over six minutes at slowest
	historySteps = 2048                   // super-steps of a machine
	fastest      = 50 * time.Millisecond  // between rows at first
	slowest      = 400 * time.Millisecond // and when the rows have filled up three times
	overhead     = 50                     // minimum ratio of the interval between rows to the time of recording one
)

// history holds a machine's counts at instants of the last minutes. It belongs to the goroutine that simulates
// the machine: that records rows before batches of cycles, and reads them for requests at the desk, so there is no
// lock.
//
// Rows are totals. Dropping one joins the intervals on both sides of it, and nothing counted is lost but with the
// oldest.
type history struct {
	m      *sim.Machine
	begun  time.Time
	every  time.Duration // between rows
	due    time.Duration // when the next one is, since begun
	counts []stats.Stat  // of each row, without values
	column []int         // of the machine's statistics: which are counts
	levels []sim.OuterLevel
	peak   float64 // bytes a cycle that the DRAM can move; 0: no limit, or no DRAM
	rows   ring[row]
	steps  ring[superStep]
}

// row holds the totals at an instant.
type row struct {
	at     time.Duration // since begun
	cycle  uint64        // of the machine's clock
	totals []uint64
}

// superStep is the beginning of a super-step. The host program counts its active vertices.
type superStep struct {
	Seconds  float64 `json:"seconds"`
	Cycle    uint64  `json:"cycle"`
	Number   int     `json:"super_step"` // from 1
	Vertices uint64  `json:"vertices"`   // that are active
	Edges    uint64  `json:"edges"`      // that leave them
}

func newHistory(m *sim.Machine, begun time.Time) *history {
	h := &history{
		m: m, begun: begun, every: fastest, levels: m.OuterLevels(),
		rows: newRing[row](historyRows), steps: newRing[superStep](historySteps),
	}
	m.ObserveSteps(h.step)
	return h
}

// look records a row if one is due.
func (h *history) look() {
	if time.Since(h.begun) >= h.due {
		h.record()
	}
}

// record appends a row. The first is the start of the series: at the machine's first cycle, or that of the checkpoint
// from which it resumed.
func (h *history) record() {
	at := time.Since(h.begun)
	h.append(at, h.m.Progress().Cycle, h.m.LiveSums())
	h.due = at + max(h.every, overhead*(time.Since(h.begun)-at))
}

// catchUp records a row of a machine that pauses, where the last one is of an earlier cycle.
func (h *history) catchUp() {
	if h.rows.n == 0 || h.rows.at(h.rows.n-1).cycle != h.m.Progress().Cycle {
		h.record()
	}
}

func (h *history) append(at time.Duration, cycle uint64, now stats.Tree) {
	if h.column == nil {
		h.choose(now)
	}
	if h.rows.full() && h.every < slowest {
		h.rows.thin()
		h.every *= 2
	}
	r := h.rows.push()
	r.at, r.cycle = at, cycle
	if r.totals == nil {
		r.totals = make([]uint64, len(h.column))
	}
	for i, c := range h.column {
		r.totals[i], _ = now[c].Uint()
	}
}

// choose selects the counts from which ratios are computed. It omits cycles, which does not advance during a launch:
// every row has the clock.
func (h *history) choose(now stats.Tree) {
	if p, ok := now.Get("dram.peak_bytes_per_cycle"); ok {
		h.peak = p.Float()
	}
	for i, s := range now {
		if _, ok := s.Uint(); ok && s.Name != "cycles" {
			h.column, h.counts = append(h.column, i), append(h.counts, s)
		}
	}
}

func (h *history) step(n int, vertices, edges uint64) {
	*h.steps.push() = superStep{time.Since(h.begun).Seconds(), h.m.Progress().Cycle, n, vertices, edges}
}

// series are intervals that follow each other. Interval i is from instant i-1 to instant i.
type series struct {
	From    instant          `json:"from"`    // where the first interval begins
	Seconds []float64        `json:"seconds"` // where each interval ends, since the machine began
	Cycles  []uint64         `json:"cycles"`  // and at which cycle of its clock
	Counts  []column         `json:"counts"`
	Steps   []superStep      `json:"steps"`
	Levels  []sim.OuterLevel `json:"levels"`
	Peak    float64          `json:"dram_peak_bytes_per_cycle"` // 0: no limit, or no DRAM
	Names   []string         `json:"names"`                     // all that counts can be of
}

type instant struct {
	Seconds float64 `json:"seconds"`
	Cycle   uint64  `json:"cycle"`
}

// column is a statistic over time.
type column struct {
	Name   string   `json:"name"`
	Unit   string   `json:"unit"`
	Doc    string   `json:"doc"`
	Values []uint64 `json:"values"` // counted in each interval
}

// usual are the counts that the page draws.
var usual = []string{
	"core.issue.instructions", "warp_instrs", "thread_instrs", "edges", "core.scheduler.*", "l1d.reads", "l1d.writes",
	"l1d.read_misses", "l2.reads", "l2.writes", "l3.reads", "l3.writes", "dram.bytes",
}

// series returns the counts that patterns select: names, in which * stands for any part.
func (h *history) series(patterns []string) (series, error) {
	s := series{
		Seconds: []float64{}, Cycles: []uint64{}, Counts: []column{}, Steps: []superStep{}, Names: []string{},
		Levels: append([]sim.OuterLevel{}, h.levels...), Peak: h.peak,
	}
	for i := range h.steps.n {
		s.Steps = append(s.Steps, *h.steps.at(i))
	}
	for _, c := range h.counts {
		s.Names = append(s.Names, c.Name)
	}
	if h.rows.n == 0 {
		return s, nil
	}
	s.From = instant{h.rows.at(0).at.Seconds(), h.rows.at(0).cycle}
	for i := 1; i < h.rows.n; i++ {
		s.Seconds, s.Cycles = append(s.Seconds, h.rows.at(i).at.Seconds()), append(s.Cycles, h.rows.at(i).cycle)
	}
	for i, c := range h.counts {
		wanted, err := matches(patterns, c.Name)
		if err != nil {
			return series{}, err
		}
		if wanted {
			s.Counts = append(s.Counts, column{c.Name, c.Unit, c.Doc, h.values(i)})
		}
	}
	return s, nil
}

func (h *history) values(i int) []uint64 {
	values := make([]uint64, 0, h.rows.n)
	for j := 1; j < h.rows.n; j++ {
		values = append(values, h.rows.at(j).totals[i]-h.rows.at(j - 1).totals[i])
	}
	return values
}

func matches(patterns []string, name string) (bool, error) {
	for _, p := range patterns {
		ok, err := path.Match(strings.TrimSpace(p), name)
		if err != nil {
			return false, errAsked{fmt.Errorf("keys=%s: expected a statistic's name, in which * may stand for any part",
				p)}
		}
		if ok {
			return true, nil
		}
	}
	return false, nil
}
