package report

import (
	"fmt"

	"heddle/experiment/silicon"
)

// SiliconScatter draws, for each comparison, every point's scaled cycles over its time on silicon, a series for each
// schedule.
func SiliconScatter(comparisons []*silicon.Comparison) (panels []*Figure) {
	for _, c := range comparisons {
		f := &Figure{
			Kind: Scatter, Title: "Scaled cycles and time on silicon", Choice: c.Machine + ", " + c.Config,
			X: Scale{Name: "silicon, µs without launches", Log: true}, Y: Scale{Name: "heddle, µs", Log: true},
			Note: fmt.Sprintf("Below the line heddle is faster. Variant %s; workload.unroll %s.", c.Variant, c.Unroll),
		}
		for _, name := range silicon.Schedules {
			s := Series{Name: name}
			for _, k := range c.Cases {
				for _, p := range k.Points {
					if p.Schedule == name {
						s.Points = append(s.Points, [2]Number{Number(p.Net()), Number(p.Scaled)})
						s.Labels = append(s.Labels, k.Algorithm+" on "+k.Graph)
					}
				}
			}
			if len(s.Points) > 0 {
				f.Series = append(f.Series, s)
			}
		}
		b := extent(f.Series)
		low, high := Number(min(b[0], b[2])), Number(max(b[1], b[3]))
		f.Series = append(f.Series, Series{Name: "equal", Bound: true, Points: [][2]Number{{low, low}, {high, high}}})
		panels = append(panels, f)
	}
	return panels
}
