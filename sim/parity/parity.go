// Package parity compares heddle's cycles with those of Vortex's RTL: micro-programs on reference machines, and on
// configurations that differ from one in a few keys. It also derives the values of each key that have been compared.
package parity

import (
	"context"
	"embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"heddle/configs"
	"heddle/configs/schema"
	"heddle/isa/micro"
	"heddle/sim"
)

// Machines are the reference machines, in the order of the report: those with a preset, and Configurations.
var Machines = append([]string{"w1", "a", "c", "d", "m6"}, Configurations...)

// Configurations are the machines whose configurations are files of machines.
var Configurations = []string{"wb", "chan4", "chan2", "lsuq8", "lsul2", "alul2", "iss2", "blk1", "w16t16", "nolm", "cores4",
	"s2", "l3c2"}

//go:embed machines/*.yaml
var machines embed.FS

// Preset returns the name of a reference machine's preset, if it has one.
func Preset(machine string) (name string, ok bool) {
	return "vortex-rtl-" + machine, !slices.Contains(Configurations, machine)
}

// Config returns a reference machine's configuration.
func Config(machine string) (configs.Machine, error) {
	if name, ok := Preset(machine); ok {
		return loaded(configs.LoadMachine(name, nil, nil))
	}
	name := "machines/" + machine + ".yaml"
	text, err := machines.ReadFile(name)
	if err != nil {
		return configs.Machine{}, err
	}
	return loaded(configs.ParseMachine(name, text, nil))
}

func loaded(l *schema.Loaded[configs.Machine], err error) (configs.Machine, error) {
	if err != nil {
		return configs.Machine{}, err
	}
	return l.Value, nil
}

// Row is one program on one machine.
type Row struct {
	micro.Reference
	Ours   uint64 // cycles
	Instrs uint64 // warp instructions
}

// Ratio is our cycles over the RTL's.
func (r Row) Ratio() float64 { return float64(r.Ours) / float64(r.RTL) }

// SimXRatio is SimX's cycles over the RTL's; 0: not given.
func (r Row) SimXRatio() float64 { return float64(r.SimX) / float64(r.RTL) }

// InstructionsRight reports whether the run executed as many instructions as the RTL.
func (r Row) InstructionsRight() bool { return r.WarpInstrs == 0 || r.WarpInstrs == r.Instrs }

// Run runs the references of the named machines. progress is called before each.
func Run(ctx context.Context, machines []string, progress func(done, of int, what string)) ([]Row, error) {
	var refs []micro.Reference
	for _, m := range machines {
		n := len(refs)
		for _, r := range micro.References() {
			if r.Machine == m {
				refs = append(refs, r)
			}
		}
		if len(refs) == n {
			return nil, fmt.Errorf("no reference machine %q: expected one of %s", m, strings.Join(Machines, ", "))
		}
	}
	var rows []Row
	for i, ref := range refs {
		progress(i, len(refs), ref.Program+" on "+ref.Machine)
		row, err := one(ctx, ref)
		if err != nil {
			return rows, fmt.Errorf("%s on %s: %w", ref.Program, ref.Machine, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func one(ctx context.Context, ref micro.Reference) (Row, error) {
	cfg, err := Config(ref.Machine)
	if err != nil {
		return Row{}, err
	}
	p, err := micro.Program(ref.Program, ref.Iters)
	if err != nil {
		return Row{}, err
	}
	m, err := sim.New(cfg, sim.Options{})
	if err != nil {
		return Row{}, err
	}
	res, err := m.Run(ctx, p)
	return Row{ref, res.Cycles, res.WarpInstrs}, err
}

// Summary is how far a group of rows is off.
type Summary struct {
	Machine       string
	Rows          int
	Geomean       float64 // of |ratio|: exp(mean |ln ratio|), 1 is exact
	SimXRows      int     // those that SimX was measured on
	SimXGeomean   float64 // of these
	WithinPercent [3]int  // rows within 1, 2 and 5 %
}

// Summarise groups rows by machine, and all of them under "all".
func Summarise(rows []Row) []Summary {
	var out []Summary
	for _, m := range append(append([]string{}, Machines...), "all") {
		s := Summary{Machine: m}
		ours, simx := 0.0, 0.0
		for _, r := range rows {
			if m != "all" && r.Machine != m {
				continue
			}
			s.Rows++
			ours += math.Abs(math.Log(r.Ratio()))
			if r.SimX > 0 {
				s.SimXRows++
				simx += math.Abs(math.Log(r.SimXRatio()))
			}
			for i, limit := range [...]float64{0.01, 0.02, 0.05} {
				if math.Abs(r.Ratio()-1) <= limit {
					s.WithinPercent[i]++
				}
			}
		}
		if s.Rows > 0 {
			s.Geomean, s.SimXGeomean = math.Exp(ours/float64(s.Rows)), math.Exp(simx/float64(max(1, s.SimXRows)))
			out = append(out, s)
		}
	}
	return out
}

// Slope is the cost of one iteration on one warp, from two lengths.
type Slope struct {
	Program   string
	Ours, RTL float64
}

// Slopes returns the slopes of the rows of machine w1.
func Slopes(rows []Row) []Slope {
	var out []Slope
	for i := 0; i+1 < len(rows); i++ {
		a, b := rows[i], rows[i+1]
		if a.Machine != "w1" || b.Machine != "w1" || a.Program != b.Program {
			continue
		}
		n := float64(a.Iters - b.Iters)
		out = append(out, Slope{a.Program, (float64(a.Ours) - float64(b.Ours)) / n,
			(float64(a.RTL) - float64(b.RTL)) / n})
	}
	return out
}

// Write prints the whole report as Markdown, which reads well as text too.
func Write(w io.Writer, rows []Row) error {
	var s strings.Builder
	s.WriteString("| machine | program | iterations | ours | RTL | ratio | SimX / RTL | warp instructions " +
		"|\n|---|---|---:|---:|---:|---:|---:|---|\n")
	for _, r := range rows {
		instrs := "not given"
		if r.WarpInstrs != 0 {
			instrs = map[bool]string{true: "equal",
				false: fmt.Sprintf("**%d, RTL %d**", r.Instrs, r.WarpInstrs)}[r.InstructionsRight()]
		}
		simx := "not given"
		if r.SimX != 0 {
			simx = fmt.Sprintf("%.3f", r.SimXRatio())
		}
		mark := ""
		if math.Abs(r.Ratio()-1) > 0.05 {
			mark = " ✗"
		}
		fmt.Fprintf(&s, "| %-6s | %-14s | %3d | %6d | %6d | %.3f%s | %s | %s |\n", r.Machine, r.Program, r.Iters,
			r.Ours, r.RTL, r.Ratio(), mark, simx, instrs)
	}
	if slopes := Slopes(rows); len(slopes) > 0 {
		s.WriteString("\nOne warp: cycles of one iteration.\n\n| program | ours | RTL |\n|---|---:|---:|\n")
		for _, p := range slopes {
			fmt.Fprintf(&s, "| %-14s | %7.2f | %7.2f |\n", p.Program, p.Ours, p.RTL)
		}
	}
	s.WriteString("\nDistance is exp(mean |ln(ours/RTL)|): 1 is exact. SimX's is over the pairs that it was measured " +
		"on.\n\n| machine | pairs | distance | SimX's distance | within 1 % | 2 % | 5 % " +
		"|\n|---|---:|---:|---:|---:|---:|---:|\n")
	for _, m := range Summarise(rows) {
		simx := "not given"
		if m.SimXRows > 0 {
			simx = fmt.Sprintf("%.3f", m.SimXGeomean)
		}
		fmt.Fprintf(&s, "| %-6s | %2d | %.3f | %s | %d | %d | %d |\n", m.Machine, m.Rows, m.Geomean, simx,
			m.WithinPercent[0], m.WithinPercent[1], m.WithinPercent[2])
	}
	_, err := io.WriteString(w, s.String())
	return err
}
