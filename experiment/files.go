package experiment

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"heddle/experiment/store"
	"heddle/internal/files"
	"heddle/sim/stats"
)

// Summary holds the contents of summary.json except for its points, which are written one at a time because there may
// be many. Scripts read it: keys are only ever added.
type Summary struct {
	Experiment string         `json:"experiment"`
	Version    string         `json:"version"`
	Part       string         `json:"part,omitempty"`     // the counted part of each run, in words; absent: all of it
	Groups     []GroupSummary `json:"groups,omitempty"`   // present with seeds
	Geomeans   []MeanSummary  `json:"geomeans,omitempty"` // of speedups, one for each variant of compare
	// Unlike lists differences between compared points that no axis names.
	Unlike   []string    `json:"unlike,omitempty"`
	Warnings []string    `json:"warnings,omitempty"` // about results that mean less than they seem to
	Host     HostSummary `json:"host"`

	// NotValidated lists keys of machines with values that have not been compared with the RTL.
	NotValidated []string `json:"not_validated,omitempty"`
	About

	runner   *Runner
	outcomes []Outcome
	steps    *store.Store // source of the points' super-steps; nil: the outcomes have them
}

// PointSummary is one point of summary.json. Without a verified result, the counts are those up to its end.
type PointSummary struct {
	Point        int               `json:"point"` // its number, from 1
	Axes         map[string]string `json:"axes"`
	Graph        string            `json:"graph"` // content hash
	Cycles       uint64            `json:"cycles"`
	WarpInstrs   uint64            `json:"warp_instrs"`
	ThreadInstrs uint64            `json:"thread_instrs"`
	// CyclesCI95 is half the 95 % confidence interval of sampled cycles; absent: they are exact.
	CyclesCI95  float64  `json:"cycles_ci95,omitempty"`
	Speedup     *float64 `json:"speedup"` // null: there is no baseline with a result
	SpeedupCI95 float64  `json:"speedup_ci95,omitempty"`
	Verified    bool     `json:"verified"`
	// Replay is the verdict on a result that is not verified: a replayed trace, or a program without a check.
	Replay string `json:"replay,omitempty"`
	// Partial is the reason for which the run ended early: max_edges, region or max_iterations=N.
	Partial     string  `json:"partial,omitempty"`
	Failure     string  `json:"failure,omitempty"` // class of the error
	Error       string  `json:"error,omitempty"`
	HostSeconds float64 `json:"host_seconds"`
	// Building is the part of HostSeconds that built the layout's arrays; absent if an earlier run simulated the point.
	Building   float64               `json:"layout_seconds,omitempty"`
	Stats      map[string]stats.Stat `json:"stats"`
	SuperSteps []StepSummary         `json:"super_steps,omitempty"`
	// Kernel names the resolved choices: algorithm/schedule/layout/direction/active set.
	Kernel string `json:"kernel"`
	Config string `json:"config"` // resolved, YAML
}

// StepSummary is one launch of a kernel in a super-step.
type StepSummary struct {
	Step   int    `json:"step"` // from 1; 0: before the first
	Kernel string `json:"kernel"`
	Cycles uint64 `json:"cycles"`
	// CI95 is half the 95 % confidence interval; absent: the cycles are exact.
	CI95  float64               `json:"cycles_ci95,omitempty"`
	Stats map[string]stats.Stat `json:"stats"`
}

// GroupSummary summarises the verified points of a group that differ in the seed alone.
type GroupSummary struct {
	Axes    map[string]string `json:"axes"`
	Points  []int             `json:"points"` // numbers of points, from 1
	Cycles  Estimate          `json:"cycles"`
	Speedup *Estimate         `json:"speedup"` // null: there is no baseline with a result
}

// MeanSummary is the geometric mean of a variant's speedups over the sweep.
type MeanSummary struct {
	Axes    map[string]string `json:"axes"`
	Speedup float64           `json:"speedup"`
	Points  int               `json:"points"` // with a verified speedup
	Of      int               `json:"of"`
	Over    []string          `json:"over"` // keys in which these points differ
}

// HostSummary is the cost of the experiment on the host.
type HostSummary struct {
	Seconds      float64 `json:"seconds"`
	PeakRSSBytes uint64  `json:"peak_rss_bytes"`
	Jobs         int     `json:"jobs"`
}

// Summarise returns the summary of the outcomes so far.
func (r *Runner) Summarise(name, version string, outcomes []Outcome, host HostSummary) *Summary {
	s := &Summary{
		Experiment: name, Version: version, Part: Part(&r.Points[0].Config), Host: host,
		About: r.about(outcomes), Unlike: Unlike(r.Points), NotValidated: unvalidatedTexts(NotValidated(r.Points)),
		runner: r, outcomes: outcomes,
	}
	s.Warnings = Warnings(r.Points, outcomes, s.Graphs)
	if seeded(r.Points) {
		for _, g := range Groups(r.Points) {
			group := GroupSummary{Axes: axesMap(&r.Points[g[0]], SeedKey), Cycles: g.cycles(outcomes)}
			for _, i := range g {
				group.Points = append(group.Points, i+1)
			}
			if speedup := g.speedup(r.Points, outcomes); speedup.N > 0 {
				group.Speedup = &speedup
			}
			s.Groups = append(s.Groups, group)
		}
	}
	for _, m := range Geomeans(r.Points, outcomes) {
		x := MeanSummary{Axes: map[string]string{}, Speedup: m.Speedup, Points: m.Points, Of: m.Of,
			Over: append([]string{}, m.Over...)}
		for _, a := range m.Variant {
			x.Axes[a.Key] = a.Value
		}
		s.Geomeans = append(s.Geomeans, x)
	}
	return s
}

// axesMap returns the axes of a point as a map, without one key.
func axesMap(p *Point, without string) map[string]string {
	m := map[string]string{}
	for _, a := range p.Axes {
		if a.Key != without {
			m[a.Key] = a.Value
		}
	}
	return m
}

// Point summarises one point.
func (s *Summary) Point(i int, steps []store.Step) *PointSummary {
	p, at := s.figures(i), &s.runner.Points[i]
	p.Kernel, p.Config = at.Kernel(), at.YAML()
	for _, s := range steps {
		p.SuperSteps = append(p.SuperSteps, StepSummary{s.Step, s.Kernel, s.Cycles, s.Half, s.Stats.Map()})
	}
	return p
}

// figures summarises a point without its super-steps, kernel and configuration.
func (s *Summary) figures(i int) *PointSummary {
	at, o := &s.runner.Points[i], &s.outcomes[i]
	p := &PointSummary{
		Point: i + 1, Axes: axesMap(at, ""), Graph: o.Graph, Cycles: o.Cycles, CyclesCI95: o.Half,
		Verified: o.Verified && o.Err == nil, Partial: o.Partial,
		HostSeconds: o.Seconds, Building: o.Building, Stats: o.Stats.Tree().Map(),
	}
	if o.Err == nil {
		p.Replay = o.Replay
	}
	if x, ok := Speedup(s.runner.Points, s.outcomes, i); ok {
		p.Speedup, p.SpeedupCI95 = &x, speedupHalf(s.runner.Points, s.outcomes, i)
	}
	p.WarpInstrs, p.ThreadInstrs = countOf(o, "warp_instrs"), countOf(o, "thread_instrs")
	if o.Err != nil {
		p.Failure, p.Error = Class(o.Err), o.Err.Error()
	}
	return p
}

func countOf(o *Outcome, name string) uint64 {
	s, _ := o.Stats.Get(name)
	return uint64(s.Float())
}

// each visits all points in order, with at most one in memory.
func (s *Summary) each(visit func(*PointSummary) error) error {
	next := 0
	upTo := func(end int) error {
		for ; next < end; next++ {
			if err := visit(s.Point(next, s.outcomes[next].Steps)); err != nil {
				return err
			}
		}
		return nil
	}
	if s.steps != nil {
		if err := s.steps.Each(store.Want{Steps: true}, func(p *store.Point) error {
			// The stored row is outdated: the point was to be run again, and was not.
			if p.Position >= len(s.outcomes) || p.Failure != Class(s.outcomes[p.Position].Err) {
				return nil
			}
			if err := upTo(p.Position); err != nil {
				return err
			}
			next++
			return visit(s.Point(p.Position, p.Steps))
		}); err != nil {
			return err
		}
	}
	return upTo(len(s.outcomes))
}

// Names of the summaries in a directory of results.
const (
	summaryJSON = "summary.json"
	summaryCSV  = "summary.csv"
)

// summariesIn reports whether a directory has both.
func summariesIn(dir string) bool {
	for _, name := range []string{summaryJSON, summaryCSV} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}

// Write writes summary.json and summary.csv into a directory, each atomically.
func (s *Summary) Write(dir string) error {
	if err := writeFile(filepath.Join(dir, summaryCSV), s.csv); err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, summaryJSON), s.WriteJSON)
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := files.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	if err := cmp.Or(write(w), w.Flush()); err != nil {
		return errors.Join(err, f.Abort())
	}
	return f.Commit()
}

// WriteJSON writes summary.json with one line for each point and everything else indented.
func (s *Summary) WriteJSON(w io.Writer) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	const version = "\n  \"version\": "
	at := bytes.Index(text, []byte(version)) + 1
	at += bytes.IndexByte(text[at:], '\n') // the points follow the version
	if _, err := fmt.Fprintf(w, "%s\n  \"points\": [", text[:at]); err != nil {
		return err
	}
	separator := "\n    "
	if err := s.each(func(p *PointSummary) error {
		line, err := json.Marshal(p)
		if err == nil {
			_, err = fmt.Fprintf(w, "%s%s", separator, line)
		}
		separator = ",\n    "
		return err
	}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n  ],%s\n", text[at:])
	return err
}

// csv writes a column for each axis, the headline figures, and all statistics.
func (s *Summary) csv(out io.Writer) error {
	var most stats.Packed
	for i := range s.outcomes {
		if t := s.outcomes[i].Stats; t.Len() > most.Len() {
			most = t
		}
	}
	names := slices.Sorted(maps.Keys(most.Tree().Map()))
	w := csv.NewWriter(out)
	axes := axisKeys(s.runner.Points)
	header := append(append([]string{"point"}, axes...), "cycles", "speedup", "verified", "failure", "host_seconds",
		"replay", "partial")
	sampled := slices.ContainsFunc(s.outcomes, func(o Outcome) bool { return o.Half > 0 })
	if sampled {
		header = append(header, "cycles_ci95", "speedup_ci95")
	}
	for _, n := range names {
		header = append(header, "stats."+n)
	}
	if err := w.Write(header); err != nil {
		return err
	}
	for i := range s.outcomes {
		if err := w.Write(s.figures(i).row(&s.runner.Points[i], axes, names, sampled)); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

func (p *PointSummary) row(at *Point, axes, names []string, sampled bool) (out []string) {
	out = append(out, strconv.Itoa(p.Point))
	for _, key := range axes {
		value, _ := settingOf(at.Axes, key)
		out = append(out, value)
	}
	speedup := ""
	if p.Speedup != nil {
		speedup = strconv.FormatFloat(*p.Speedup, 'g', -1, 64)
	}
	out = append(out, strconv.FormatUint(p.Cycles, 10), speedup, strconv.FormatBool(p.Verified), p.Failure,
		strconv.FormatFloat(p.HostSeconds, 'f', 3, 64), p.Replay, p.Partial)
	if sampled {
		out = append(out, exact(p.CyclesCI95), exact(p.SpeedupCI95))
	}
	for _, n := range names {
		value := ""
		if v, ok := p.Stats[n]; ok {
			value = v.String()
		}
		out = append(out, value)
	}
	return out
}

// exact formats half a confidence interval; "" for exact values.
func exact(half float64) string {
	if half == 0 {
		return ""
	}
	return strconv.FormatFloat(half, 'g', -1, 64)
}
