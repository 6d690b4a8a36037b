package report

import (
	"math"
	"strconv"
	"strings"
)

// Colours that colour-blind readers can distinguish. Lines and bars: Okabe and Ito, the yellow last.
// Stacks: Tol's light scheme, on which dark text can be read.
var (
	palette      = []string{"#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#999999", "#B8A800"}
	stackPalette = []string{"#77AADD", "#EE8866", "#44BB99", "#EEDD88", "#FFAABB", "#99DDFF", "#BBCC33", "#AAAA00"}
	viridis      = [][3]float64{{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}
)

const otherColour, boundColour = "#BBBBBB", "#888888"

func colour(i int, s *Series, of []string) string {
	switch {
	case s.Bound:
		return boundColour
	case s.Other:
		return otherColour
	case s.Fixed != "":
		return s.Fixed
	}
	return of[i%len(of)]
}

// Causes and states have the same colours in all reports, and the eight that are largest most often have those of the
// palette.
var (
	causeColours = fixedColours("issued", "memory", "ibuffer", "drained", "alu", "lsu_queue", "fpu", "barrier", "unit",
		"sfu", "scratchpad", "operands", "alu_busy", "fpu_busy", "sfu_busy", "inactive")
	stateColours = fixedColours("selected", "long_scoreboard", "no_instruction", "not_selected", "wait", "lg_throttle",
		"branch_resolving", "barrier", "unit_wait", "short_scoreboard", "membar", "dispatch", "math_pipe_throttle",
		"mio_throttle")
)

func fixedColours(names ...string) map[string]string {
	of := map[string]string{}
	for i, c := range colours(stackPalette, len(names)) {
		of[names[i]] = c
	}
	return of
}

// fix gives series the colours of their names.
func fix(list []Series, of map[string]string) {
	for i := range list {
		list[i].Fixed = of[list[i].Name]
	}
}

// scaleTo maps values to a length.
type scaleTo struct {
	low, high float64
	log       bool
	at, size  float64 // pixels; size < 0 goes up
}

func (s *scaleTo) pixel(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	if high == low {
		return s.at + s.size/2
	}
	return s.at + s.size*(v-low)/(high-low)
}

// ticks are round values between the scale's ends.
func (s *scaleTo) ticks() (out []float64) {
	if s.log {
		return logTicks(s.low, s.high)
	}
	step := niceStep((s.high - s.low) / 5)
	for i := math.Ceil(s.low / step); i*step <= s.high*(1+1e-9); i++ {
		out = append(out, i*step)
	}
	return out
}

func niceStep(rough float64) float64 {
	if !(rough > 0) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, n := range []float64{1, 2, 5} {
		if n*unit >= rough*(1-1e-9) {
			return n * unit
		}
	}
	return 10 * unit
}

func logTicks(low, high float64) (out []float64) {
	steps := []float64{1, 2, 5}
	if high/low > 1000 {
		steps = steps[:1]
	}
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, n := range steps {
			if v := n * math.Pow(10, e); v >= low*(1-1e-9) && v <= high*(1+1e-9) {
				out = append(out, v)
			}
		}
	}
	return out
}

// roundUp is a round value not below v.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	step := niceStep(v / 5)
	return math.Ceil(v/step-1e-9) * step
}

// roundUpFrom is a round value not below v on an axis that may begin above 0.
func roundUpFrom(low, v float64) float64 {
	if low <= 0 || v <= low {
		return max(roundUp(v), low+niceStep(low/5))
	}
	step := niceStep((v - low) / 5)
	return math.Ceil(v/step-1e-9) * step
}

func show(v float64, s Scale) string {
	if s.Percent {
		return strconv.FormatFloat(100*v, 'g', 3, 64) + " %"
	}
	return compact(v)
}

// compact writes a value with three or four digits.
func compact(v float64) string {
	for _, s := range []struct {
		from float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if math.Abs(v) >= s.from {
			unit := s.from
			if s.name == "k" {
				unit = 1e3
			}
			return strconv.FormatFloat(v/unit, 'g', 4, 64) + s.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// wrap breaks a text into lines that fit. A word that does not fit has its own line.
func wrap(text string, fits func(line string) bool) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		longer := strings.TrimLeft(line+" "+word, " ")
		if line != "" && !fits(longer) {
			lines, longer = append(lines, line), word
		}
		line = longer
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// mostSeries returns the maximum number of colours in a figure.
func mostSeries(figures []Figure) (n int) {
	for i := range figures {
		n = max(n, figures[i].Skip+len(figures[i].Series))
	}
	return n
}
