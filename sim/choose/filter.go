package choose

import (
	"fmt"
	"strings"
)

// Filter chooses events: of which units, of which warps, and of which kinds.
type Filter []Rule

// Rule is one UNIT=KINDS of a filter.
type Rule struct {
	Text  string
	unit  []Pattern // of the last parts of a unit's place
	warp  *Pattern  // nil: any warp, and events of no warp
	kinds []Pattern // none: all
}

// ParseFilter reads UNIT=KIND with commas between them. A UNIT is the end of a unit's place, with dots between its
// parts: core*.graphpeg; .warp3 behind it means the events of that warp. KINDS have + between them; all, if there are
// none.
func ParseFilter(text string) (f Filter, err error) {
	for _, part := range strings.Split(text, ",") {
		r := Rule{Text: part}
		unit, kinds, _ := strings.Cut(part, "=")
		if r.unit, err = parts(unit, "."); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		if n := len(r.unit) - 1; strings.HasPrefix(r.unit[n].Text, "warp") {
			r.warp, r.unit = &r.unit[n], r.unit[:n]
		}
		if kinds != "" {
			if r.kinds, err = parts(kinds, "+"); err != nil {
				return nil, fmt.Errorf("%s: %w", text, err)
			}
		}
		f = append(f, r)
	}
	return f, nil
}

func parts(text, between string) (list []Pattern, err error) {
	for _, part := range strings.Split(text, between) {
		p, err := Parse(part)
		if err != nil {
			return nil, fmt.Errorf("expected UNIT=KIND, as in core0.warp3=issue: %w", err)
		}
		list = append(list, p)
	}
	return list, nil
}

// Unit reports whether the rule is about the unit of that place.
func (r *Rule) Unit(place string) bool {
	have := strings.Split(place, ".")
	if len(r.unit) > len(have) {
		return false
	}
	have = have[len(have)-len(r.unit):]
	for i := range r.unit {
		if !r.unit[i].Matches(have[i]) {
			return false
		}
	}
	return true
}

// Warp reports whether the rule is about events of that warp; -1: of none.
func (r *Rule) Warp(n int) bool {
	return r.warp == nil || n >= 0 && r.warp.Matches(fmt.Sprintf("warp%d", n))
}

// Kind reports whether the rule is about events of that kind.
func (r *Rule) Kind(name string) bool {
	for i := range r.kinds {
		if r.kinds[i].Matches(name) {
			return true
		}
	}
	return len(r.kinds) == 0
}

// UnitText and KindTexts are in the user's words, for messages.
func (r *Rule) UnitText() string {
	unit, _, _ := strings.Cut(r.Text, "=")
	return unit
}

// KindTexts are the kinds that the user wrote.
func (r *Rule) KindTexts() (texts []string) {
	for i := range r.kinds {
		texts = append(texts, r.kinds[i].Text)
	}
	return texts
}

// OnlyWarps reports whether the rule is about events of warps.
func (r *Rule) OnlyWarps() bool { return r.warp != nil }
