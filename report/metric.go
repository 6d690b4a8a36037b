package report

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"heddle/experiment"
)

// metric is a figure that points are compared by.
type metric struct {
	Name    string // of the statistic
	Title   string
	Percent bool
	Plot    bool // in the plots, not only in the table
	Mean    bool // over points: arithmetic; else geometric
}

var metrics = []metric{
	{Name: "speedup", Title: "speedup", Plot: true},
	{Name: "cycles", Title: "cycles", Plot: true},
	{Name: "edges_per_cycle", Title: "edges/cycle", Plot: true},
	{Name: "ipc", Title: "IPC", Plot: true},
	{Name: "simd_efficiency", Title: "SIMD efficiency", Plot: true, Percent: true, Mean: true},
	{Name: "l1d.hit_rate", Title: "L1D hit rate", Plot: true, Percent: true, Mean: true},
	{Name: "dram.bytes_per_cycle", Title: "DRAM bytes/cycle", Plot: true, Mean: true},
	{Name: "l2.hit_rate", Title: "L2 hit rate", Percent: true, Mean: true},
	{Name: "mpki", Title: "MPKI", Mean: true},
	{Name: "achieved_occupancy", Title: "occupancy", Percent: true, Mean: true},
	{Name: "eligible_warps", Title: "eligible warps", Mean: true},
	{Name: "issue_active", Title: "issue active", Percent: true, Mean: true},
	{Name: "warp_instrs", Title: "warp instructions"},
	{Name: "host_seconds", Title: "host seconds"},
}

// value is a point's figure; false if it has none, or no result.
func (p *Point) value(name string) (float64, bool) {
	if !p.counts() {
		return 0, false
	}
	return p.any(name)
}

// any is a point's figure, also of a run that failed.
func (p *Point) any(name string) (float64, bool) {
	switch name {
	case "cycles":
		return float64(p.Cycles), p.Cycles > 0 && drawable(float64(p.Cycles))
	case "host_seconds":
		return p.HostSeconds, drawable(p.HostSeconds)
	case "speedup":
		if p.Speedup == nil {
			return 0, false
		}
		return *p.Speedup, drawable(*p.Speedup)
	}
	n, ok := p.Stats[name]
	if !ok {
		return 0, false
	}
	v, err := n.Float64()
	return v, err == nil && drawable(v)
}

// half is half the 95 % confidence interval of a point's figure; 0: it is exact.
func (p *Point) half(name string) float64 {
	switch name {
	case "cycles":
		return p.CyclesCI95
	case "speedup":
		return p.SpeedupCI95
	}
	return p.Stats[name].Half
}

// drawable refuses values that no machine counts and no axis can show.
func drawable(v float64) bool {
	v = math.Abs(v)
	return v == 0 || v > 1e-18 && v < 1e18
}

// plotted are the metrics for plots that some point has.
func (r *Result) plotted() (out []metric) {
	for _, m := range metrics {
		if m.Plot && slices.ContainsFunc(r.Points, func(p *Point) bool { _, ok := p.value(m.Name); return ok }) {
			out = append(out, m)
		}
	}
	return out
}

// pool holds values of points that become one number.
type pool struct {
	points []*Point
	values []float64
}

func (l *pool) add(p *Point, v float64) {
	l.points, l.values = append(l.points, p), append(l.values, v)
}

// combined is the mean of a pool, with the half-width of its confidence interval where its points differ in their
// seed alone, as heddle run shows it; over are the other keys in which they differ, which whoever shows the mean names.
func (m metric) combined(l *pool) (mean, half Number, over []string) {
	if over = differing(l.points); len(over) > 0 {
		return m.over(l.values), missing, over
	}
	e := experiment.Estimated(l.values)
	switch e.N {
	case 0:
		return missing, missing, nil
	case 1:
		return Number(e.Mean), missing, nil
	}
	return Number(e.Mean), Number(e.CI95), nil
}

// differing are the axes in which points differ, but for the seed.
func differing(points []*Point) []string {
	var axes []map[string]string
	for _, p := range points {
		axes = append(axes, p.Axes)
	}
	return experiment.Differing(axes)
}

func (m metric) over(values []float64) Number {
	if m.Mean {
		return mean(values)
	}
	return geomean(values)
}

// geomean is the geometric mean; NaN of none, or of values that have none.
func geomean(values []float64) Number {
	if len(values) == 1 {
		return Number(values[0])
	}
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	if m := math.Exp(sum / float64(len(values))); !math.IsInf(sum, 0) {
		return Number(m)
	}
	return missing
}

func mean(values []float64) Number {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return Number(sum / float64(len(values)))
}

// ParseNumber reads a value as configurations spell numbers.
func ParseNumber(text string) (float64, bool) {
	times := 1.0
	for suffix, n := range map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if digits, ok := strings.CutSuffix(text, suffix); ok {
			text, times = strings.TrimSpace(digits), n
			break
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	return v * times, err == nil && drawable(v*times)
}

// Number is a value in a plot; NaN is none.
type Number float64

var missing = Number(math.NaN())

// MarshalJSON writes NaN and infinities as null.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.ok() {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(n), 'g', 10, 64), nil
}

func (n Number) ok() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
