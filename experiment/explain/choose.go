package explain

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"heddle/experiment"
	"heddle/experiment/store"
)

// Choose returns the two points that the texts choose among the points of an experiment, and a note on why these if
// more would fit.
//
// A text is the number of a point, from 1, or a list of settings and values with commas, as schedule=weaver,
// graph=road or just weaver. If several points match, the pair is taken that differs in the fewest axes, and of those
// the one with the largest speedup or slowdown. With one text, A is the baseline of the point; without any, B is the
// point with the highest speedup, and A its baseline.
func Choose(points []store.Point, texts ...string) (a, b *store.Point, note string, err error) {
	var as, bs []*store.Point
	switch len(texts) {
	case 0:
		return best(points)
	case 1:
		if bs, err = matching(points, texts[0]); err != nil {
			return nil, nil, "", err
		}
	default:
		if as, err = matching(points, texts[0]); err != nil {
			return nil, nil, "", err
		}
		if bs, err = matching(points, texts[1]); err != nil {
			return nil, nil, "", err
		}
	}
	pairs := pairsOf(points, as, bs)
	if len(pairs) == 0 {
		return nil, nil, "", fmt.Errorf("%s: expected points that differ, with results", strings.Join(texts, " and "))
	}
	a, b = pairs[0].a, pairs[0].b
	fewest := 0
	for _, p := range pairs {
		if p.differ == pairs[0].differ {
			fewest++
		}
	}
	if fewest > 1 {
		note = fmt.Sprintf("%d pairs of points match; this one differs most", fewest)
	}
	return a, b, note, nil
}

// best returns the point with the highest speedup and its baseline; without a comparison, the fastest point and the
// slowest.
func best(points []store.Point) (a, b *store.Point, note string, err error) {
	var compared, all []*store.Point
	for i := range points {
		p := &points[i]
		if !counts(p) {
			continue
		}
		all = append(all, p)
		if p.Baseline >= 0 && p.Baseline != p.Position {
			compared = append(compared, p)
		}
	}
	top := 0.0
	for _, p := range compared {
		if base := at(points, p.Baseline); base != nil && counts(base) {
			if s := float64(base.Cycles) / float64(p.Cycles); s > top {
				top, a, b = s, base, p
			}
		}
	}
	switch {
	case b != nil:
		return a, b, "", nil
	case len(all) < 2:
		return nil, nil, "", errors.New("fewer than two points have a result: there is nothing to compare")
	}
	byCycles := func(x, y *store.Point) int { return cmp.Compare(x.Cycles, y.Cycles) }
	return slices.MaxFunc(all, byCycles), slices.MinFunc(all, byCycles),
		"nothing is compared by the experiment: these are its slowest point and its fastest", nil
}

func counts(p *store.Point) bool { return p.Counts() && p.Cycles > 0 }

func at(points []store.Point, position int) *store.Point {
	for i := range points {
		if points[i].Position == position {
			return &points[i]
		}
	}
	return nil
}

// pair is a possible choice.
type pair struct {
	a, b   *store.Point
	differ int // number of axes in which they do
}

// maxPairs bounds the pairs that are looked at.
const maxPairs = 1_000_000

// pairsOf lists pairs with results, the best first; with as nil, A is the baseline of each.
func pairsOf(points []store.Point, as, bs []*store.Point) (pairs []pair) {
	for _, b := range bs {
		from := as
		if as == nil {
			from = []*store.Point{at(points, b.Baseline)}
		}
		for _, a := range from {
			if a != nil && a != b && counts(a) && counts(b) && len(pairs) < maxPairs {
				pairs = append(pairs, pair{a, b, len(differing(a, b))})
			}
		}
	}
	apart := func(p pair) float64 { return math.Abs(math.Log(float64(p.a.Cycles) / float64(p.b.Cycles))) }
	slices.SortStableFunc(pairs, func(x, y pair) int {
		return cmp.Or(cmp.Compare(x.differ, y.differ), cmp.Compare(apart(y), apart(x)))
	})
	return pairs
}

// differing returns the keys of axes in which two points differ, in their order, the seed last.
func differing(a, b *store.Point) (keys []string) {
	value := func(p *store.Point, key string) (string, bool) {
		for _, x := range p.Axes {
			if x.Key == key {
				return x.Value, true
			}
		}
		return "", false
	}
	for _, p := range []*store.Point{a, b} {
		for _, x := range p.Axes {
			va, inA := value(a, x.Key)
			vb, inB := value(b, x.Key)
			if (va != vb || inA != inB) && !slices.Contains(keys, x.Key) {
				keys = append(keys, x.Key)
			}
		}
	}
	return keys
}

// matching returns the points that a text chooses. Values match by their whole text, or by the part after its last
// slash; keys by a part that ends them.
func matching(points []store.Point, text string) (found []*store.Point, err error) {
	if n, err := strconv.Atoi(text); err == nil {
		if p := at(points, n-1); p != nil {
			return []*store.Point{p}, nil
		}
		return nil, fmt.Errorf("no point %s: expected 1..%d, or settings such as schedule=edge", text, len(points))
	}
	terms := strings.Split(text, ",")
	for i := range points {
		of := settings(&points[i])
		if !slices.ContainsFunc(terms, func(term string) bool { return !experiment.HasSetting(of, term) }) {
			found = append(found, &points[i])
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no point has %s: expected the number of a point, or values of its axes with commas "+
			"between them; heddle results list shows which there are", text)
	}
	return found, nil
}

func settings(p *store.Point) (list []experiment.Setting) {
	for _, x := range p.Axes {
		list = append(list, experiment.Setting(x))
	}
	return list
}

// Pair returns two stored points as runs, each named by the settings in which they differ. The points have to be read
// with statistics and super-steps.
func Pair(a, b *store.Point) (ra, rb *Run) {
	keys := differing(a, b)
	return runOf(a, keys), runOf(b, keys)
}

func runOf(p *store.Point, keys []string) *Run {
	r := &Run{Point: p.Position + 1, Cycles: p.Cycles, Half: p.Half, Stats: map[string]float64{}}
	var named []experiment.Setting
	for _, x := range p.Axes {
		if slices.Contains(keys, x.Key) {
			named = append(named, experiment.Setting(x))
		}
	}
	r.Name = experiment.Label(named)
	for _, s := range p.Stats.Tree() {
		r.Stats[s.Name] = s.Float()
	}
	for _, s := range p.Steps {
		l := Launch{Step: s.Step, Kernel: s.Kernel, Cycles: s.Cycles, Causes: map[string]float64{}}
		for _, x := range s.Stats {
			if key, ok := strings.CutPrefix(x.Name, schedulers); ok {
				l.Causes[key] = x.Float()
			}
		}
		r.Steps = append(r.Steps, l)
	}
	return r
}
