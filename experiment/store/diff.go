package store

import "strings"

// Comparison holds the differences between two lists of points. Points with equal axes are compared.
type Comparison struct {
	Same        int      `json:"same"`        // number of points that are equal
	Differ      int      `json:"differ"`      // number of points that differ
	OnlyA       []string `json:"only_a"`      // axes of points that only A has
	OnlyB       []string `json:"only_b"`      // axes of points that only B has
	Differences []Change `json:"differences"` // by point, then by statistic
}

// Change is a value of a point that differs between A and B; null if one of them lacks it.
type Change struct {
	Point string   `json:"point"` // its axes
	Name  string   `json:"name"`  // cycles, verified, replay, failure, graph, or a statistic
	A     any      `json:"a"`
	B     any      `json:"b"`
	Ratio *float64 `json:"ratio"` // b / a; null if undefined
}

// Label names a point by its axes.
func (p *Point) Label() string {
	var parts []string
	for _, a := range p.Axes {
		parts = append(parts, a.Key+"="+a.Value)
	}
	return strings.Join(parts, " ")
}

// Compare compares points. All values count, and those whose name show accepts are listed.
func Compare(a, b []Point, show func(name string) bool) *Comparison {
	c := &Comparison{OnlyA: []string{}, OnlyB: []string{}, Differences: []Change{}}
	other := map[string]*Point{}
	for i := range b {
		other[b[i].Label()] = &b[i]
	}
	for i := range a {
		label := a[i].Label()
		q := other[label]
		if q == nil {
			c.OnlyA = append(c.OnlyA, label)
			continue
		}
		delete(other, label)
		changes := compare(&a[i], q)
		if len(changes) == 0 {
			c.Same++
			continue
		}
		c.Differ++
		for _, x := range changes {
			if show(x.Name) {
				c.Differences = append(c.Differences, x)
			}
		}
	}
	for i := range b {
		if other[b[i].Label()] != nil {
			c.OnlyB = append(c.OnlyB, b[i].Label())
		}
	}
	return c
}

// compare returns the differences between two points, except in properties of the host.
func compare(a, b *Point) (out []Change) {
	left, right := values(a), values(b)
	theirs := map[string]any{}
	for _, v := range right {
		theirs[v.Name] = v.A
	}
	for _, v := range left {
		y, ok := theirs[v.Name]
		delete(theirs, v.Name)
		if !ok || v.A != y {
			out = append(out, change(a.Label(), v.Name, v.A, y))
		}
	}
	for _, v := range right {
		if y, ok := theirs[v.Name]; ok {
			out = append(out, change(a.Label(), v.Name, nil, y))
		}
	}
	return out
}

// values returns the named values of a point, in the fields A. The statistic cycles equals the point's cycles, which
// come first.
func values(p *Point) []Change {
	out := []Change{
		{Name: "cycles", A: int64(p.Cycles)}, {Name: "verified", A: p.Verified}, {Name: "replay", A: p.Replay},
		{Name: "partial", A: p.Partial}, {Name: "failure", A: p.Failure}, {Name: "graph", A: p.Graph},
	}
	for _, s := range p.Stats.Tree() {
		if s.Name != "cycles" {
			out = append(out, Change{Name: s.Name, A: valueOf(s)})
		}
	}
	return out
}

func change(point, name string, a, b any) Change {
	c := Change{Point: point, Name: name, A: a, B: b}
	x, okA := number(a)
	y, okB := number(b)
	if okA && okB && x != 0 {
		r := y / x
		c.Ratio = &r
	}
	return c
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
