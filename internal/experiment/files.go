package experiment

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"heddle/internal/files"
	"heddle/sim/stats"
)

// Summary is summary.json, for scripts. Keys stay; more may come.
type Summary struct {
	Experiment string         `json:"experiment"`
	Version    string         `json:"version"`
	Part       string         `json:"part,omitempty"` // of runs that counts, in words
	Points     []PointSummary `json:"points"`
	Groups     []GroupSummary `json:"groups,omitempty"`   // with seeds
	Geomeans   []MeanSummary  `json:"geomeans,omitempty"` // of the speedups, a variant of compare each
	Unlike     []string       `json:"unlike,omitempty"`   // what is not the same in what is compared, though no axis names it
	Host       HostSummary    `json:"host"`

	NotValidated []string `json:"not_validated,omitempty"` // keys of machines, with values that have not been compared with the RTL
	About
}

// PointSummary is one point. Of a point without a verified result the counts are those until it ended.
type PointSummary struct {
	Axes         map[string]string     `json:"axes"`
	Graph        string                `json:"graph"` // content hash
	Cycles       uint64                `json:"cycles"`
	WarpInstrs   uint64                `json:"warp_instrs"`
	ThreadInstrs uint64                `json:"thread_instrs"`
	CyclesCI95   float64               `json:"cycles_ci95,omitempty"` // half the 95 % confidence interval of sampled cycles; absent: they are exact
	Speedup      *float64              `json:"speedup"`               // null: nothing to compare with
	SpeedupCI95  float64               `json:"speedup_ci95,omitempty"`
	Verified     bool                  `json:"verified"`
	Replay       string                `json:"replay,omitempty"`  // what a replayed trace's result is called, which nobody verified
	Partial      string                `json:"partial,omitempty"` // max_edges or region: the run was ended before it was done, as asked for
	Failure      string                `json:"failure,omitempty"` // its class
	Error        string                `json:"error,omitempty"`
	HostSeconds  float64               `json:"host_seconds"`
	Building     float64               `json:"layout_seconds,omitempty"` // of these, for the layout's arrays; absent where an earlier run simulated the point
	Stats        map[string]stats.Stat `json:"stats"`
	SuperSteps   []StepSummary         `json:"super_steps,omitempty"`
	Kernel       string                `json:"kernel"` // what its choices came to: algorithm/schedule/layout/direction/active set
	Config       string                `json:"config"` // resolved, YAML
}

// StepSummary is one kernel in one super-step.
type StepSummary struct {
	Step   int                   `json:"step"` // from 1; 0: before the first
	Kernel string                `json:"kernel"`
	Cycles uint64                `json:"cycles"`
	CI95   float64               `json:"cycles_ci95,omitempty"` // half the 95 % confidence interval; absent: they are exact
	Stats  map[string]stats.Stat `json:"stats"`
}

// GroupSummary summarises the verified points of a group that differs in the seed alone.
type GroupSummary struct {
	Axes    map[string]string `json:"axes"`
	Points  []int             `json:"points"` // places in the list of points, from 0
	Cycles  Estimate          `json:"cycles"`
	Speedup *Estimate         `json:"speedup"` // null: nothing to compare with
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

// Summarise makes the summary of what there is so far.
func (r *Runner) Summarise(name, version string, outcomes []Outcome, host HostSummary) *Summary {
	s := &Summary{
		Experiment: name, Version: version, Part: Part(&r.Points[0].Config), Points: []PointSummary{}, Host: host,
		About: r.about(outcomes), Unlike: Unlike(r.Points), NotValidated: NotValidated(r.Points),
	}
	for i := range outcomes {
		s.Points = append(s.Points, r.summarise(outcomes, i))
	}
	if seeded(r.Points) {
		for _, g := range Groups(r.Points) {
			group := GroupSummary{Axes: axesMap(&r.Points[g[0]], SeedKey), Points: g, Cycles: g.cycles(outcomes)}
			if speedup := g.speedup(r.Points, outcomes); speedup.N > 0 {
				group.Speedup = &speedup
			}
			s.Groups = append(s.Groups, group)
		}
	}
	for _, m := range Geomeans(r.Points, outcomes) {
		x := MeanSummary{Axes: map[string]string{}, Speedup: m.Speedup, Points: m.Points, Of: m.Of, Over: append([]string{}, m.Over...)}
		for _, a := range m.Variant {
			x.Axes[a.Key] = a.Value
		}
		s.Geomeans = append(s.Geomeans, x)
	}
	return s
}

// axesMap is a point's place, without one key.
func axesMap(p *Point, without string) map[string]string {
	m := map[string]string{}
	for _, a := range p.Axes {
		if a.Key != without {
			m[a.Key] = a.Value
		}
	}
	return m
}

func (r *Runner) summarise(outcomes []Outcome, i int) PointSummary {
	o := &outcomes[i]
	p := PointSummary{
		Axes: axesMap(&r.Points[i], ""), Graph: o.Graph, Cycles: o.Cycles, CyclesCI95: o.Half,
		Verified: o.Verified && o.Err == nil, Partial: o.Partial, HostSeconds: o.Seconds, Building: o.Building,
		Stats: o.Stats.Map(),
	}
	p.Config, p.Kernel = r.Points[i].YAML(), r.Points[i].Kernel()
	for _, s := range o.Steps {
		p.SuperSteps = append(p.SuperSteps, StepSummary{s.Step, s.Kernel, s.Cycles, s.Half, s.Stats.Map()})
	}
	if o.Err == nil {
		p.Replay = o.Replay
	}
	if s, ok := Speedup(r.Points, outcomes, i); ok {
		p.Speedup, p.SpeedupCI95 = &s, speedupHalf(r.Points, outcomes, i)
	}
	warps, _ := o.Stats.Get("warp_instrs")
	threads, _ := o.Stats.Get("thread_instrs")
	p.WarpInstrs, p.ThreadInstrs = uint64(warps.Float()), uint64(threads.Float())
	if o.Err != nil {
		p.Failure, p.Error = Class(o.Err), o.Err.Error()
	}
	return p
}

// Write puts summary.json and summary.csv into a directory, each whole or not at all.
func (s *Summary) Write(dir string, points []Point) error {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := files.Write(filepath.Join(dir, "summary.json"), append(text, '\n')); err != nil {
		return err
	}
	text, err = s.csv(points)
	if err != nil {
		return err
	}
	return files.Write(filepath.Join(dir, "summary.csv"), text)
}

// csv has a column for each axis, the headline figures, and all statistics.
func (s *Summary) csv(points []Point) ([]byte, error) {
	var names []string
	for i := range s.Points {
		if len(s.Points[i].Stats) > len(names) {
			names = slices.Sorted(maps.Keys(s.Points[i].Stats))
		}
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	axes := axisKeys(points)
	header := append(slices.Clone(axes), "cycles", "speedup", "verified", "failure", "host_seconds", "replay", "partial")
	sampled := slices.ContainsFunc(s.Points, func(p PointSummary) bool { return p.CyclesCI95 > 0 })
	if sampled {
		header = append(header, "cycles_ci95", "speedup_ci95")
	}
	for _, n := range names {
		header = append(header, "stats."+n)
	}
	rows := [][]string{header}
	for i := range s.Points {
		rows = append(rows, s.Points[i].row(&points[i], axes, names, sampled))
	}
	err := w.WriteAll(rows)
	return b.Bytes(), err
}

func (p *PointSummary) row(at *Point, axes, names []string, sampled bool) (out []string) {
	for _, key := range axes {
		value, _ := at.value(key)
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

// exact is half a confidence interval; empty of what is exact.
func exact(half float64) string {
	if half == 0 {
		return ""
	}
	return strconv.FormatFloat(half, 'g', -1, 64)
}
