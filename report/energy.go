package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/sim/stats"
)

// tree returns the point's statistics.
func (p *Point) tree() (t stats.Tree) {
	for _, name := range sortedKeys(p.Stats) {
		f := p.Stats[name]
		s := stats.Constant(name, "", "", 0)
		if n, err := json.Number(f.Number).Int64(); err == nil && n >= 0 {
			s = stats.Count(name, "", "", uint64(n))
		} else if v, err := f.Float64(); err == nil {
			s = stats.Constant(name, "", "", v)
		}
		s.Half = f.Half
		t = append(t, s)
	}
	return t
}

// energies is the figure that report.energy asks for: the energy of each point by parts of the machine.
func energies(r *Result) []Figure {
	if r.energy == "" || r.energy == config.NoEnergy {
		return nil
	}
	f, err := r.energyFigure()
	if err != nil {
		r.Wrong = append(r.Wrong, fmt.Sprintf("report.energy: %v", err))
		return nil
	}
	return []Figure{f}
}

func (r *Result) energyFigure() (f Figure, err error) {
	by, err := experiment.NewEnergies(r.energy)
	if err != nil {
		return f, err
	}
	points := slices.DeleteFunc(slices.Clone(r.Points), func(p *Point) bool { return !p.counts() })
	shown := points[:min(len(points), maxBars)]
	f = Figure{ID: "energy", Group: "energy", Choice: "energy", Title: "Energy by part of the machine", Kind: Stack,
		X: Scale{Name: "energy, µJ"}}
	var tables []string
	for i, p := range shown {
		c, err := config.Parse("configuration of "+p.Label, []byte(p.Config))
		if err != nil {
			return f, err
		}
		e, err := by.Of(&c.Machine, p.tree())
		if err != nil {
			return f, err
		}
		f.Columns = append(f.Columns, p.Label)
		if !slices.Contains(tables, e.Table) {
			tables = append(tables, e.Table)
		}
		for _, part := range e.Parts() {
			at := slices.IndexFunc(f.Series, func(s Series) bool { return s.Name == part.Part })
			if at < 0 {
				if part.Joules.Nominal == 0 {
					continue
				}
				at = len(f.Series)
				f.Series = append(f.Series, Series{Name: part.Part, Values: make([]Number, len(shown))})
			}
			f.Series[at].Values[i] = Number(part.Joules.Nominal * 1e6)
		}
	}
	f.Note = strings.TrimSpace(lump(&f) + " Nominal values of " + strings.Join(tables, ", ") +
		"; heddle energy has their bounds.")
	return f, nil
}
