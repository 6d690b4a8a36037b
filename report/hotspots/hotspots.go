// Package hotspots attributes the time of a run on a timed machine: to the schedulers' states, to phases, and to
// instructions and source lines. It reads the counts of a machine with a profile, and knows neither how they are shown
// nor who runs the machine.
package hotspots

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"heddle/components/core"
	"heddle/experiment"
	"heddle/isa"
	"heddle/sim"
)

// Report is where a run's time went. Time is in scheduler-cycles: places to issue of every scheduler and cycle. Each is
// one of an instruction that issued there, or because of which none did, or idle.
type Report struct {
	Program      string        `json:"program"`
	Cycles       uint64        `json:"cycles"`
	WarpInstrs   uint64        `json:"warp_instrs"`
	ThreadInstrs uint64        `json:"thread_instrs"`
	Lanes        int           `json:"lanes"`            // of a warp
	Time         uint64        `json:"scheduler_cycles"` // of the whole run
	Stack        []Part        `json:"stack"`            // together Time
	Idle         uint64        `json:"idle"`             // scheduler-cycles of no instruction
	Phases       []Phase       `json:"phases,omitempty"` // none: the program has no marks
	Instructions []Instruction `json:"instructions"`     // the hottest first
	Lines        []Line        `json:"lines,omitempty"`  // of sources that are no assembly, the hottest first
	Notes        []string      `json:"notes,omitempty"`  // remarks for the reader
}

// Part is a share of the schedulers' time, by activity.
type Part struct {
	Statistic string  `json:"statistic"` // core.scheduler.…
	Name      string  `json:"name"`      // its last parts
	Doc       string  `json:"-"`
	Cycles    uint64  `json:"scheduler_cycles"`
	Share     float64 `json:"share"`
}

// Phase is the time spent in a phase of the program.
type Phase struct {
	Name   string  `json:"name"`
	Cycles uint64  `json:"scheduler_cycles"`
	Warps  uint64  `json:"warp_cycles"`
	Instrs uint64  `json:"warp_instrs"`
	Share  float64 `json:"share"`
}

// Counts are the counts of instructions.
type Counts struct {
	Issued  uint64            `json:"issued"`           // by warps
	Lanes   uint64            `json:"thread_instrs"`    // lanes that executed them
	Stalled uint64            `json:"stalled"`          // scheduler-cycles in which none issued because of them
	Stalls  map[string]uint64 `json:"stalls,omitempty"` // by Part.Name

	executed uint64
}

// Time is the scheduler-cycles that they took.
func (c *Counts) Time() uint64 { return c.Issued + c.Stalled }

// MeanLanes is the lanes that were active, on average.
func (c *Counts) MeanLanes() float64 { return float64(c.Lanes) / float64(max(c.executed, 1)) }

// Main returns the most frequent cause of stalls, and its share; "": no stalls.
func (c *Counts) Main() (name string, share float64) {
	most := uint64(0)
	for n, v := range c.Stalls {
		if v > most || v == most && n < name {
			name, most = n, v
		}
	}
	return name, float64(most) / float64(max(c.Stalled, 1))
}

func (c *Counts) add(o *Counts) {
	c.Issued, c.Lanes, c.Stalled, c.executed = c.Issued+o.Issued, c.Lanes+o.Lanes, c.Stalled+o.Stalled,
		c.executed+o.executed
	for n, v := range o.Stalls {
		if c.Stalls == nil {
			c.Stalls = map[string]uint64{}
		}
		c.Stalls[n] += v
	}
}

// Instruction holds the counts at an address.
type Instruction struct {
	Program string `json:"program,omitempty"` // if there are several
	PC      uint32 `json:"pc"`
	Symbol  string `json:"symbol,omitempty"` // the last before it
	Offset  uint32 `json:"offset"`           // from there
	Phase   string `json:"phase,omitempty"`
	Text    string `json:"text"`
	File    string `json:"file,omitempty"` // where it comes from
	Line    int    `json:"line,omitempty"`
	Source  string `json:"source,omitempty"` // the line's text
	Counts

	compiled *isa.Program // if the line is of its listing
}

// Where returns the symbol at or before it, by its phase's name if it is a mark.
func (x *Instruction) Where() string {
	name := strings.TrimPrefix(x.Symbol, isa.PhasePrefix)
	if name != "" && x.Offset > 0 {
		name = fmt.Sprintf("%s+0x%x", name, x.Offset)
	}
	return name
}

// Origin returns where it comes from: the line of a source, with its phase if that is a compiled kernel, or else its
// program, if there are several, and its phase.
func (x *Instruction) Origin() string {
	if x.Line > 0 && x.compiled != nil {
		return strings.TrimSpace(fmt.Sprintf("%s:%d %s", x.File, x.Line, x.Phase))
	}
	if x.Line > 0 {
		return fmt.Sprintf("%s:%d", filepath.Base(x.File), x.Line)
	}
	return strings.TrimSpace(x.Program + " " + x.Phase)
}

// Compiled reports whether instructions have lines of compiled kernels.
func (r *Report) Compiled() bool {
	return slices.ContainsFunc(r.Instructions, func(x Instruction) bool { return x.compiled != nil })
}

// Line holds the counts of a line's instructions.
type Line struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Source string `json:"source,omitempty"`
	Counts
}

// New returns the report of a machine whose run has ended, and which has counted by instruction from the beginning.
// lines maps the instructions of its only program to sources; nil: unknown.
func New(name string, m *sim.Machine, lines *isa.Lines) *Report {
	t := m.Statistics()
	count := func(name string) uint64 {
		s, _ := t.Get(name)
		return uint64(s.Float())
	}
	r := &Report{Program: name, Cycles: count("cycles"), WarpInstrs: count("warp_instrs"),
		ThreadInstrs: count("thread_instrs"), Lanes: m.Arch.Threads()}
	for k := range causes {
		r.Stack = append(r.Stack, Part{Statistic: causes[k].statistic, Name: causes[k].name, Doc: causes[k].doc,
			Cycles: count(causes[k].statistic)})
		r.Time += r.Stack[k].Cycles
	}
	for k := range r.Stack {
		r.Stack[k].Share = r.Share(r.Stack[k].Cycles)
	}
	all := m.Profiles()
	marks := false
	for _, p := range all {
		program := ""
		if len(all) > 1 {
			program = p.Program.Name
		}
		r.take(p, program, lines)
		some, err := p.Program.PhaseMarks()
		marks = marks || err == nil && len(some) > 0
	}
	if marks {
		for _, p := range experiment.Phases(t) {
			r.Phases = append(r.Phases, Phase(p))
		}
	}
	slices.SortStableFunc(r.Instructions, func(a, b Instruction) int { return cmp.Compare(b.Time(), a.Time()) })
	readSources(r.Instructions, filepath.Dir(name))
	r.sumLines()
	return r
}

// Share is a part of the run's time.
func (r *Report) Share(cycles uint64) float64 { return float64(cycles) / float64(max(r.Time, 1)) }

// Stalled are the scheduler-cycles in which nothing issued because of some instruction.
func (r *Report) Stalled() (n uint64) {
	for i := range r.Instructions {
		n += r.Instructions[i].Stalled
	}
	return n
}

// Issued are the instructions that issued.
func (r *Report) Issued() (n uint64) {
	for i := range r.Instructions {
		n += r.Instructions[i].Issued
	}
	return n
}

// cause is an activity of schedulers, and its statistic.
type cause struct{ statistic, name, doc string }

// causes are all, in the core's order; the first is that something issued.
var causes = func() (out []cause) {
	for k := range len(core.Causes{}) {
		name, doc := (*core.Causes)(nil).Describe(k)
		out = append(out, cause{"core.scheduler." + name,
			strings.TrimPrefix(strings.TrimPrefix(name, "stall."), "scoreboard."), doc})
	}
	return out
}()

// take adds a program's counts.
func (r *Report) take(p *sim.Profile, program string, lines *isa.Lines) {
	rows, none := p.Counts()
	marks, err := p.Program.PhaseMarks()
	r.Idle += countsOf(&none).Stalled
	for i := range rows {
		x := Instruction{Program: program, PC: rows[i].PC, Text: text(p.Program, rows[i].PC),
			Counts: countsOf(&rows[i])}
		x.Symbol, x.Offset, _ = p.Program.Where(x.PC)
		if x.File, x.Line, _ = lines.At(x.PC); x.Line == 0 {
			x.listed(p.Program)
		}
		if err == nil && len(marks) > 0 {
			x.Phase = isa.PhaseAt(marks, x.PC).String()
		}
		r.Instructions = append(r.Instructions, x)
	}
}

// listed sets the line of the program's listing that the instruction comes from, if it is known.
func (x *Instruction) listed(p *isa.Program) {
	if file, line, source, ok := p.LineAt(x.PC); ok {
		x.File, x.Line, x.Source, x.compiled = file, line, shown(source), p
	}
}

func countsOf(r *core.InstructionCounts) Counts {
	c := Counts{Issued: r.Issued, Lanes: r.Lanes, executed: r.Issued - r.Squashed}
	for k, n := range r.Stalls {
		if n > 0 {
			if c.Stalls == nil {
				c.Stalls = map[string]uint64{}
			}
			c.Stalls[causes[k].name] = n
			c.Stalled += n
		}
	}
	return c
}

// text is the instruction that is loaded at an address.
func text(p *isa.Program, pc uint32) string {
	for i := range p.Segments {
		s := &p.Segments[i]
		if at := uint64(pc - s.Addr); pc >= s.Addr && at+4 <= uint64(len(s.Data)) {
			word := binary.LittleEndian.Uint32(s.Data[at:])
			if in, ok := isa.Decode(word); ok {
				return in.Text(pc)
			}
			break
		}
	}
	return "?"
}

// sumLines sums the counts per source line. In assembly a line is an instruction.
func (r *Report) sumLines() {
	type key struct {
		file    string
		line    int
		program *isa.Program // kernels of the same name differ
	}
	at := map[key]int{}
	for i := range r.Instructions {
		x := &r.Instructions[i]
		if x.Line == 0 || IsAssembly(x.File) {
			continue
		}
		k := key{x.File, x.Line, x.compiled}
		if _, ok := at[k]; !ok {
			at[k] = len(r.Lines)
			r.Lines = append(r.Lines, Line{File: x.File, Line: x.Line, Source: x.Source})
		}
		r.Lines[at[k]].add(&x.Counts)
	}
	slices.SortStableFunc(r.Lines, func(a, b Line) int { return cmp.Compare(b.Time(), a.Time()) })
}

// IsAssembly reports whether a file is assembly by its name.
func IsAssembly(file string) bool { return strings.HasSuffix(strings.ToLower(file), ".s") }

// Tenths are the parts' shares in tenths of a percent that add up to 100 %: those that lose most by cutting are rounded
// up.
func Tenths(parts []Part) []int {
	type rest struct{ i, lost int }
	total := uint64(0)
	for _, p := range parts {
		total += p.Cycles
	}
	out, left := make([]int, len(parts)), 1000
	if total == 0 {
		return out
	}
	rests := make([]rest, len(parts))
	for i, p := range parts {
		exact := 1000 * float64(p.Cycles) / float64(total)
		out[i] = int(exact)
		left -= out[i]
		rests[i] = rest{i, int(1e6 * (exact - float64(out[i])))}
	}
	slices.SortStableFunc(rests, func(a, b rest) int { return b.lost - a.lost })
	for _, x := range rests[:max(0, min(left, len(rests)))] {
		out[x.i]++
	}
	return out
}
