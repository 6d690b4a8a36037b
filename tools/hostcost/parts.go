package main

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// parts are the parts of the simulator by which the page shows costs, with their source files. An instruction belongs
// to the part of its line's file, or, in code that several use and the compiler has inlined, to that of its function's.
var parts = [...]struct {
	name  string
	files *regexp.Regexp
}{
	{"scoreboard, issue, their statistics", inCore("scoreboard|groups|pipe|stats|policy|phases|shared|profile")},
	{"clock and links", regexp.MustCompile(`/components/clock/`)},
	{"caches", regexp.MustCompile(`/components/cache/`)},
	{"load-store unit, coalescer", inCore("lsu|lsubypass|coalescer|atomic|scratchpad")},
	{"DRAM", regexp.MustCompile(`/components/dram/`)},
	{"execution and dispatch", regexp.MustCompile(`/isa/|/components/core/(execute|effects|unit)\.go$`)},
	{"write-back, release", inCore("slice|flight|wheel")},
	{"front end", inCore("front")},
	{"operands", inCore("collectors|bypass")},
	{"the core's order of stages, sleep", inCore("core|sleep|sync|switch|hooks|barrier")},
	{"graph units, watchdog, Go's runtime", regexp.MustCompile(`.`)},
}

func inCore(files string) *regexp.Regexp {
	return regexp.MustCompile(`/components/core/(` + files + `)\.go$`)
}

// shared are files whose code is part of the functions that it is inlined into.
var shared = regexp.MustCompile(`/components/(queue|count|mem)/|^/usr|/src/|^\?`)

// partOf returns the part of a line.
func partOf(file, function string) int {
	if shared.MatchString(file) {
		file = function
	}
	for i := range parts {
		if parts[i].files.MatchString(file) {
			return i
		}
	}
	panic("BUG: hostcost: the last part has all files")
}

// byPart reads from callgrind's file how many instructions each part has taken. The format is that of callgrind's
// manual, "Callgrind Format Specification": names are given once and then by number, and the line after calls= has the
// cost of what was called.
func byPart(profile []byte) (sum [len(parts)]uint64, err error) {
	names := map[string]string{}
	var file, function string
	part, called := len(parts)-1, false
	for n, line := range bytes.Split(profile, []byte("\n")) {
		text := string(line)
		key, value, named := strings.Cut(text, "=")
		switch {
		case named && (key == "fl" || key == "fi" || key == "fe"):
			number, name, given := strings.Cut(value, " ")
			if given {
				names[number] = name
			}
			if file = names[number]; key == "fl" {
				function = file
			}
			part = partOf(file, function)
		case named && (key == "cfi" || key == "cfl"):
			if number, name, given := strings.Cut(value, " "); given {
				names[number] = name
			}
		case key == "fn" && named:
			file = function
			part = partOf(file, function)
		case key == "calls" && named:
			called = true
		case text != "" && strings.ContainsRune("0123456789+-*", rune(text[0])):
			if called {
				called = false
				continue
			}
			_, cost, _ := strings.Cut(text, " ")
			v, err := strconv.ParseUint(cost, 10, 64)
			if err != nil {
				return sum, fmt.Errorf("callgrind's file, line %d: %q: expected a line and a count", n+1, text)
			}
			sum[part] += v
		}
	}
	total, err := collected(profile)
	all := uint64(0)
	for _, n := range sum {
		all += n
	}
	if err == nil && all != total {
		err = fmt.Errorf("callgrind's file: its lines have %d instructions, and it says %d", all, total)
	}
	return sum, err
}

// perWarpInstr rounds the parts' instructions to whole ones a warp instruction.
func perWarpInstr(sum [len(parts)]uint64, warpInstrs uint64) (each [len(parts)]uint64) {
	for i, n := range sum {
		each[i] = uint64(math.Round(float64(n) / float64(warpInstrs)))
	}
	return each
}

// partsHead begins the table of parts, which has a column for each workload of which they are known.
const partsHead = "| part | "

// partsMarkdown renders the costs by part.
func (t table) partsMarkdown() string {
	var known []string
	for i := range workloads {
		if t[workloads[i].name].Parts != [len(parts)]uint64{} {
			known = append(known, workloads[i].name)
		}
	}
	var s strings.Builder
	s.WriteString(partsHead + strings.Join(known, " | ") + " |\n|---|" + strings.Repeat("---:|", len(known)) + "\n")
	for i := range parts {
		s.WriteString("| " + parts[i].name + " |")
		for _, name := range known {
			s.WriteString(" " + thousands(t[name].Parts[i]) + " |")
		}
		s.WriteString("\n")
	}
	return s.String()
}

// readParts reads the table of parts from a page's lines.
func (t table) readParts(lines []string) error {
	var known []string
	for i, line := range lines {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if strings.HasPrefix(line, partsHead) {
			known = cells[1:]
		}
		for part := range parts {
			if len(known) == 0 || len(cells) != 1+len(known) || cells[0] != parts[part].name {
				continue
			}
			for j, name := range known {
				v, err := strconv.ParseUint(strings.ReplaceAll(cells[1+j], ",", ""), 10, 64)
				if err != nil {
					return fmt.Errorf("line %d: %q: expected a number", i+1, cells[1+j])
				}
				c := t[name]
				c.Parts[part] = v
				t[name] = c
			}
		}
	}
	return nil
}
