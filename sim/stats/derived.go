package stats

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Derived is a statistic that is made of counts of a machine: their sum, or a quotient of two sums. As both are linear,
// it is right over any part of a run: of a region, of each interval of samples, of an estimate with its confidence
// interval. It is as exact as the counts, which are the same on any number of the host's processors.
type Derived struct {
	Name string // dotted, as others are: dram.bytes_per_edge
	Unit string // unit of a value; "" for a share
	Doc  string // one line
	// Over names the counts whose sum it is, as heddle stats describe lists them: sums over all cores, caches of a
	// level or channels. It is there on machines that have all that it names.
	Over []string
	// Under names those by whose sum that is divided, 0 if it is 0; none: nothing is divided, and the statistic is a
	// count.
	Under []string
	// Scale multiplies a quotient, such as 1000 for misses in 1000 instructions; 0: 1.
	Scale float64
}

// derived are those that were added.
var derived []Derived

// dotted matches names of statistics.
var dotted = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$`)

// Derive adds a statistic, at program start. It returns an error if a field is missing, or another added statistic has
// the same name; a name of a machine's own statistics is refused when a machine is assembled.
func Derive(d Derived) error {
	switch {
	case !dotted.MatchString(d.Name):
		return errors.New("expected a name of small letters, digits and underscores, with dots between its parts")
	case strings.TrimSpace(d.Doc) == "" || strings.Contains(d.Doc, "\n"):
		return errors.New("expected a Doc of one line")
	case len(d.Over) == 0:
		return errors.New("it has no Over: expected the names of counts")
	case len(d.Under) == 0 && d.Scale != 0:
		return errors.New("it has Scale, and no Under: only a quotient is scaled")
	case !(d.Scale >= 0 && d.Scale < 1e18):
		return fmt.Errorf("it has Scale %v: expected a number above 0", d.Scale)
	}
	for _, x := range derived {
		if x.Name == d.Name {
			return errors.New("there is one of that name already: expected another name")
		}
	}
	d.Over, d.Under = slices.Clone(d.Over), slices.Clone(d.Under)
	derived = append(derived, d)
	return nil
}

// Added lists those that Derive has added.
func Added() []Derived { return slices.Clone(derived) }

// WithDerived adds those to a machine's sums whose counts are among them.
func (t Tree) WithDerived() Tree {
	own := len(t)
	for i := range derived {
		if s, ok := derived[i].of(t[:own]); ok {
			t = append(t, s)
		}
	}
	return t
}

func (d *Derived) of(t Tree) (s Stat, ok bool) {
	over, ok := sumOf(t, d.Over)
	if !ok {
		return s, false
	}
	if len(d.Under) == 0 {
		return Count(d.Name, d.Unit, d.Doc, over), true
	}
	under, ok := sumOf(t, d.Under)
	scale := d.Scale
	if scale == 0 {
		scale = 1
	}
	return Ratio(d.Name, d.Unit, d.Doc, scale*float64(over), float64(under)), ok
}

func sumOf(t Tree, names []string) (sum uint64, ok bool) {
	for _, name := range names {
		s, ok := t.Get(name)
		if !ok || s.isF {
			return 0, false
		}
		sum += s.count
	}
	return sum, true
}

// CheckDerived returns an error for added statistics that have the name of one of a machine's own, or are computed from
// anything but counts. t is the machine's own sums.
func (t Tree) CheckDerived() error {
	for i := range derived {
		d := &derived[i]
		if _, taken := t.Get(d.Name); taken {
			return fmt.Errorf("cannot add statistic %q: the machine has one of that name already: expected another name", d.Name)
		}
		for _, name := range slices.Concat(d.Over, d.Under) {
			if s, ok := t.Get(name); ok && s.isF {
				return fmt.Errorf("statistic %s: %s is a quotient: expected counts", d.Name, name)
			}
		}
	}
	return nil
}

// Missing returns the counts that a statistic is computed from and a machine lacks.
func (d *Derived) Missing(t Tree) (names []string) {
	for _, name := range slices.Concat(d.Over, d.Under) {
		if _, ok := t.Get(name); !ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
