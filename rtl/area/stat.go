package area

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"heddle/rtl"
)

// module is a section of the output of Yosys's command stat. Its -json is not used: with more than one module that of
// version 0.23 is no JSON.
type module struct {
	name       string
	cells      map[string]int
	memoryBits int
	area       float64
}

var (
	countLine = regexp.MustCompile(`^ +(\S+) +(\d+)$`)
	bitsLine  = regexp.MustCompile(`Number of memory bits: +(\d+)$`)
	areaLine  = regexp.MustCompile(`Chip area for module '.*': ([0-9.eE+-]+)$`)
)

// sections reads the output of stat, without its sum over the hierarchy.
func sections(text string) (list []module) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if name, ok := strings.CutPrefix(line, "=== "); ok {
			if strings.HasPrefix(name, "design hierarchy") {
				break
			}
			list = append(list, module{name: strings.TrimSuffix(name, " ==="), cells: map[string]int{}})
			continue
		}
		if len(list) == 0 {
			continue
		}
		m := &list[len(list)-1]
		if f := countLine.FindStringSubmatch(line); f != nil {
			m.cells[f[1]], _ = strconv.Atoi(f[2])
		} else if f := bitsLine.FindStringSubmatch(line); f != nil {
			m.memoryBits, _ = strconv.Atoi(f[1])
		} else if f := areaLine.FindStringSubmatch(line); f != nil {
			m.area, _ = strconv.ParseFloat(f[1], 64)
		}
	}
	return list
}

// plain returns the name that a module has in its source.
func plain(name string) string {
	parts := strings.Split(name, `\`) // perhaps $paramod and a hash; the name; perhaps parameters
	if len(parts) > 1 {
		name = parts[1]
	}
	return name
}

// read fills the mapping from the outputs of a script.
func (m *Mapping) read(dir string, u rtl.Unit, liberty bool) error {
	top := u.Top
	files := map[string][]module{}
	for _, name := range []string{"memories", "luts", "gates", "cells"} {
		if name == "cells" && !liberty {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name+".txt"))
		if err != nil {
			return err
		}
		if files[name] = sections(string(text)); len(files[name]) == 0 {
			return fmt.Errorf("yosys: its statistics are not those of version 0.23:\n%.500s", text)
		}
	}
	m.memories(files["memories"], top+"_ram")
	parts := map[string]*Part{}
	for _, name := range []string{"luts", "gates", "cells"} {
		times := instances(files[name], top)
		for _, s := range files[name] {
			title := plain(s.name)
			if strings.HasPrefix(title, top+"_ram") || title == u.Elsewhere() {
				continue
			}
			if parts[title] == nil {
				parts[title] = &Part{Module: title}
			}
			if err := parts[title].add(name, s, times[s.name]); err != nil {
				return err
			}
		}
	}
	for _, p := range parts {
		m.Parts = append(m.Parts, *p)
	}
	slices.SortFunc(m.Parts, func(a, b Part) int { return strings.Compare(a.Module, b.Module) })
	return nil
}

// instances returns how often each module is in the top module.
func instances(list []module, top string) map[string]int {
	times, inside := map[string]int{}, map[string]module{}
	for _, m := range list {
		inside[m.name] = m
	}
	var visit func(name string, n int)
	visit = func(name string, n int) {
		times[name] += n
		for cell, k := range inside[name].cells {
			if _, is := inside[cell]; is {
				visit(cell, n*k)
			}
		}
	}
	visit(top, 1)
	return times
}

// add counts a module that is there so many times.
func (p *Part) add(pass string, s module, times int) error {
	p.Cells += s.area * float64(times)
	for cell, n := range s.cells {
		n *= times
		switch {
		case pass == "luts" && cell == "$lut":
			p.LUTs += n
		case pass == "luts" && (strings.HasPrefix(cell, "$_DFF") || strings.HasPrefix(cell, "$_SDFF")):
			p.Registers += n
		case strings.HasPrefix(cell, "$_DLATCH"):
			return fmt.Errorf("yosys: module %s has latches", p.Module)
		case pass == "cells" && strings.HasPrefix(cell, "$_"):
			return fmt.Errorf("--liberty: the file has no cells for %s of module %s", cell, p.Module)
		case pass == "gates" && strings.HasPrefix(cell, "$_"):
			t, ok := transistors(cell)
			if !ok {
				return fmt.Errorf("yosys: module %s has a gate that is not known: %s", p.Module, cell)
			}
			p.Gates += float64(n*t) / 4
		}
	}
	return nil
}

// transistors of a gate in static CMOS: Yosys's own estimate (kernel/cost.h) for logic and the plain flip-flop; a reset
// takes 4 more, and an enable a multiplexer.
func transistors(cell string) (n int, known bool) {
	gates := map[string]int{
		"$_BUF_": 1, "$_NOT_": 2, "$_AND_": 6, "$_NAND_": 4, "$_OR_": 6, "$_NOR_": 4, "$_ANDNOT_": 6, "$_ORNOT_": 6, "$_XOR_": 12,
		"$_XNOR_": 12, "$_MUX_": 12, "$_NMUX_": 10,
	}
	if n, known = gates[cell]; known || !strings.HasPrefix(cell, "$_DFF") {
		return n, known
	}
	n = 16
	if strings.HasPrefix(cell, "$_DFFE_") {
		n += gates["$_MUX_"]
	}
	if strings.HasPrefix(cell, "$_DFF_PN") || strings.HasPrefix(cell, "$_DFFE_PN") {
		n += 4
	}
	return n, true
}

// memories finds the memories by the modules that have them, banks of one size together.
func (m *Mapping) memories(list []module, ram string) {
	bits := map[string]int{}
	for _, s := range list {
		if strings.HasPrefix(plain(s.name), ram) {
			bits[s.name] = s.memoryBits
		}
	}
	for _, s := range list {
		for cell, n := range s.cells {
			if kind, ok := strings.CutPrefix(plain(cell), ram); ok {
				writes := 1
				if kind != "" { // of a second kind
					writes = 2
				}
				m.Memories = append(m.Memories, Memory{Module: plain(s.name), Banks: n, Bits: bits[cell], Writes: writes})
			}
		}
	}
	slices.SortFunc(m.Memories, func(a, b Memory) int {
		return strings.Compare(fmt.Sprintf("%s %9d", a.Module, a.Bits), fmt.Sprintf("%s %9d", b.Module, b.Bits))
	})
}
