// Package window observes a running machine: every instruction of selected warps, cores and cycles on its way through
// the pipeline, the units, and memory. It only observes: a run takes the same cycles.
package window

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Range is the interval from First to Last.
type Range struct{ First, Last uint64 }

// Has reports whether n is in it.
func (r Range) Has(n uint64) bool { return r.First <= n && n <= r.Last }

// Spec selects the observed cycles, cores and warps.
type Spec struct{ Cycles, Cores, Warps Range }

// all has no bounds. A cycle has its successors, so the last is not the greatest number.
var all = Range{0, math.MaxUint64 - 16}

// Everything is the window without bounds.
func Everything() Spec { return Spec{all, all, all} }

// Parse reads cycles=a..b,cores=a..b,warps=a..b, of which each may be missing, and be one number.
func Parse(text string) (Spec, error) {
	s := Everything()
	if text == "" {
		return s, nil
	}
	parts := map[string]*Range{"cycles": &s.Cycles, "cores": &s.Cores, "warps": &s.Warps}
	for _, field := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(field, "=")
		r, ok := parts[name]
		if !ok {
			return s, fmt.Errorf("window %s: expected cycles=A..B, cores=A..B and warps=A..B, each at most once, with commas "+
				"between them", text)
		}
		delete(parts, name)
		var err error
		if *r, err = parseRange(value); err != nil {
			return s, fmt.Errorf("window %s: %s: %w", text, name, err)
		}
	}
	return s, nil
}

// parseRange reads A, A.., or A..B.
func parseRange(text string) (r Range, err error) {
	first, last, several := strings.Cut(text, "..")
	if r.First, err = parseBound(first); err != nil {
		return r, err
	}
	switch {
	case !several:
		r.Last = r.First
	case last == "":
		r.Last = all.Last
	default:
		if r.Last, err = parseBound(last); err != nil {
			return r, err
		}
	}
	if r.First > r.Last {
		return r, fmt.Errorf("%s ends before it begins", text)
	}
	return r, nil
}

func parseBound(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > all.Last {
		return 0, fmt.Errorf("%q: expected a number, as in 1000..2000", text)
	}
	return n, nil
}

// Check returns an error if a machine of that shape lacks a selected core or warp.
func (s Spec) Check(cores, warps int) error {
	if s.Cores.First >= uint64(cores) {
		return fmt.Errorf("window cores=%d: the machine has %d, numbered from 0", s.Cores.First, cores)
	}
	if s.Warps.First >= uint64(warps) {
		return fmt.Errorf("window warps=%d: a core has %d, numbered from 0", s.Warps.First, warps)
	}
	return nil
}
