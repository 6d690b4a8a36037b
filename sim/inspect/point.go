// Package inspect stops a machine at a given point, and shows its state.
package inspect

import (
	"fmt"
	"strconv"
	"strings"

	"heddle/internal/suggest"
	"heddle/isa"
)

// Any is the core, or warp, of a point that is any's.
const Any = -1

// Point is an instruction of a program, of some warp.
type Point struct {
	Text       string
	Core, Warp int
	symbol     string // empty: offset is the address
	offset     uint32
}

// ParsePoint reads ADDRESS, SYMBOL or SYMBOL+OFFSET, behind which may stand ,core=N and ,warp=N.
func ParsePoint(text string) (p Point, err error) {
	p = Point{Text: text, Core: Any, Warp: Any}
	place, rest, _ := strings.Cut(text, ",")
	if place == "" {
		return p, fmt.Errorf("%q: expected an address, a symbol or symbol+offset", text)
	}
	for rest != "" {
		var part string
		part, rest, _ = strings.Cut(rest, ",")
		name, value, _ := strings.Cut(part, "=")
		of := map[string]*int{"core": &p.Core, "warp": &p.Warp}[name]
		n, err := strconv.ParseUint(value, 10, 16)
		if of == nil || err != nil {
			return p, fmt.Errorf("%s: expected core=N or warp=N, found %q", text, part)
		}
		*of = int(n)
	}
	if n, err := strconv.ParseUint(place, 0, 32); err == nil {
		p.offset = uint32(n)
		return p, nil
	}
	symbol, offset, has := strings.Cut(place, "+")
	p.symbol = symbol
	if has {
		n, err := strconv.ParseUint(offset, 0, 32)
		if err != nil {
			return p, fmt.Errorf("%s: %q: expected an offset in bytes", text, offset)
		}
		p.offset = uint32(n)
	}
	return p, nil
}

// In returns the point's addresses in a program: a symbol may be at several places.
func (p *Point) In(prog *isa.Program) (pcs []uint32) {
	if p.symbol == "" {
		return []uint32{p.offset}
	}
	for _, a := range prog.All(p.symbol) {
		pcs = append(pcs, a+p.offset)
	}
	return pcs
}

// Check returns an error if a machine of that shape, or the program, lacks the point.
func (p *Point) Check(prog *isa.Program, cores, warps int) error {
	switch {
	case p.Core >= cores:
		return fmt.Errorf("%s: the machine has %d cores, numbered from 0", p.Text, cores)
	case p.Warp >= warps:
		return fmt.Errorf("%s: a core has %d warps, numbered from 0", p.Text, warps)
	case prog == nil || len(p.In(prog)) > 0:
		return nil
	}
	var names []string
	for _, s := range prog.Symbols {
		names = append(names, s.Name)
	}
	return fmt.Errorf("%s: %s has no symbol %s%s", p.Text, prog.Name, p.symbol, suggest.DidYouMean(p.symbol, names))
}

// of reports whether the point applies to that warp.
func (p *Point) of(core, warp int) bool {
	return (p.Core == Any || p.Core == core) && (p.Warp == Any || p.Warp == warp)
}
