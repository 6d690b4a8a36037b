package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	edgesPerCycle = "edges_per_cycle"
	bytesPerCycle = "dram.bytes_per_cycle"
	peakPerCycle  = "dram.peak_bytes_per_cycle"
)

// roofline compares points with the memory's limit: edges per cycle over DRAM bytes per cycle, and over edges per DRAM
// byte.
func roofline(r *Result) []Figure {
	traffic := r.scatter(func(edges, bytes float64) float64 { return bytes })
	if len(traffic) == 0 {
		return nil
	}
	y := Scale{Name: "edges/cycle", Log: true}
	figures := []Figure{
		{ID: "roofline-bytes", Group: "roofline", Choice: "over DRAM bytes/cycle", Title: "Edges/cycle over DRAM " +
			"bytes/cycle", Kind: Scatter,
			X: Scale{Name: "DRAM bytes/cycle", Log: true}, Y: y,
			Series: append(traffic, r.bounds(traffic, vertical)...)},
	}
	intensity := r.scatter(func(edges, bytes float64) float64 { return edges / bytes })
	figures = append(figures, Figure{ID: "roofline-intensity", Group: "roofline", Choice: "over edges per DRAM byte",
		Title: "Edges/cycle over edges per DRAM byte", Kind: Scatter,
		X: Scale{Name: "edges per DRAM byte", Log: true}, Y: y,
		Series: append(intensity, r.bounds(intensity, slanted)...)})
	for i := range figures {
		figures[i].Note = r.rooflineNote()
	}
	return figures
}

// scatter has a series for each variant, of the points that reach DRAM and handle edges.
func (r *Result) scatter(x func(edges, bytes float64) float64) (out []Series) {
	for v, name := range r.Variants {
		s := Series{Name: cmp.Or(name, "points")}
		for _, p := range r.Points {
			edges, _ := p.value(edgesPerCycle)
			bytes, _ := p.value(bytesPerCycle)
			if p.Variant == v && edges > 0 && bytes > 0 {
				s.Points = append(s.Points, [2]Number{Number(x(edges, bytes)), Number(edges)})
				s.Labels = append(s.Labels, fmt.Sprintf("%s: %s edges/cycle, %s DRAM bytes/cycle", p.Label,
					compact(edges), compact(bytes)))
			}
		}
		if len(s.Points) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// bounds is a line for each bandwidth that the points' memories have.
func (r *Result) bounds(of []Series, line func(peak float64, box [4]float64) [][2]Number) (out []Series) {
	box := extent(of)
	for _, peak := range r.peaks() {
		out = append(out, Series{Name: "bandwidth: " + compact(peak) + " bytes/cycle", Points: line(peak, box),
			Bound: true})
	}
	return out
}

// peaks are the bandwidths of the points' memories, each once.
func (r *Result) peaks() (out []float64) {
	for _, p := range r.Points {
		if v, ok := p.value(peakPerCycle); ok && v > 0 && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

func vertical(peak float64, box [4]float64) [][2]Number {
	return [][2]Number{{Number(peak), Number(box[2])}, {Number(peak), Number(box[3])}}
}

func slanted(peak float64, box [4]float64) [][2]Number {
	return [][2]Number{{Number(box[0]), Number(box[0] * peak)}, {Number(box[1]), Number(box[1] * peak)}}
}

// extent is the box around points, a little larger.
func extent(of []Series) [4]float64 {
	b := [4]float64{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
	for _, s := range of {
		for _, p := range s.Points {
			x, y := float64(p[0]), float64(p[1])
			b = [4]float64{min(b[0], x), max(b[1], x), min(b[2], y), max(b[3], y)}
		}
	}
	return [4]float64{b[0] / 1.5, b[1] * 1.5, b[2] / 1.5, b[3] * 1.5}
}

func (r *Result) rooflineNote() string {
	if len(r.peaks()) == 0 {
		return "The memory has no bandwidth bound that is known."
	}
	note := "The bound is the throughput of the DRAM's data buses when they are never idle."
	quiet := 0
	for _, p := range r.Points {
		if bytes, ok := p.value(bytesPerCycle); ok && bytes == 0 {
			quiet++
		}
	}
	if quiet > 0 {
		note += fmt.Sprintf(" %d points never reach DRAM and are not shown.", quiet)
	}
	return note
}
