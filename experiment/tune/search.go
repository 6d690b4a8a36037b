package tune

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Trial is the result of simulating a candidate.
type Trial struct {
	Candidate int
	Cycles    uint64 // 0: it has failed
	// Half is half the 95 % confidence interval of cycles that are an estimate; 0: they are exact.
	Half float64
	// Abandoned says that it has at least that many cycles; how many is not known.
	Abandoned bool
}

// Evaluate simulates candidates. Those that have more cycles than most may be abandoned; 0: none. The trials come in
// the order of the candidates.
type Evaluate func(ctx context.Context, candidates []int, most uint64) ([]Trial, error)

// Budget ends a search.
type Budget struct {
	Points int         // candidates at most; 0: no limit
	Spent  func() bool // reports whether there is no more time; nil: there always is
}

// Search is a search of a space.
type Search struct {
	Space    *Space
	Evaluate Evaluate
	Budget   Budget
	First    int // the candidate that is simulated first, and never abandoned
	// Whole has what suits each schedule simulated to its end, though it is slower than the best; not beyond wholeMost
	// times the best's cycles.
	Whole bool
	// Hints are tried after the schedules, and descents begin at them too: what was the best for other graphs.
	Hints []int
	// Quick ends the search after the narrow descent.
	Quick bool
	// Exact simulates candidates whole, where Evaluate estimates by samples; nil: Evaluate is exact. What may be the
	// best by the estimates is simulated once more by it, and so is the first.
	Exact Evaluate

	known map[int]Trial
	exact map[int]Trial // of finalists
	order []int         // of trials
	fixed []int         // what suits each schedule, in their order
	best  int           // candidate; -1: none yet
	over  bool          // the budget is spent
}

// batch is how many candidates are simulated with the same best so far. It is no number of processors, so that the
// search is the same on any.
const batch = 4

// Run searches, and returns the trials in their order.
func (s *Search) Run(ctx context.Context) ([]Trial, error) {
	s.known, s.best = map[int]Trial{}, -1
	err := s.try(ctx, []int{s.First}, 0)
	var begin []int
	if err == nil {
		begin, err = s.schedules(ctx)
	}
	if err == nil {
		err = s.narrow(ctx, begin)
	}
	if err == nil && !s.Quick {
		err = s.descend(ctx, begin)
	}
	if err == nil && !s.Quick {
		err = s.around(ctx)
	}
	if err == nil && s.Exact != nil && s.best >= 0 {
		err = s.finals(ctx)
	}
	var out []Trial
	for _, i := range s.order {
		out = append(out, s.known[i])
	}
	return out, err
}

// Best is the best candidate; -1: no trial has a result.
func (s *Search) Best() int { return s.best }

// Spent reports whether the search has ended since its budget was spent.
func (s *Search) Spent() bool { return s.over }

// schedules tries each schedule with what suits it and the hints, and returns these, best first.
func (s *Search) schedules(ctx context.Context) ([]int, error) {
	s.fixed = s.suited()
	list := slices.Clone(s.fixed)
	most := uint64(untilBest)
	if s.Whole {
		most = untilWhole
	}
	if err := s.try(ctx, list, most); err != nil {
		return nil, err
	}
	if err := s.try(ctx, s.Hints, untilBest); err != nil {
		return nil, err
	}
	if s.Quick {
		if err := s.early(ctx, list); err != nil {
			return nil, err
		}
	}
	for _, i := range s.Hints {
		if !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return s.compare(a, b) })
	return list, nil
}

// early tries the values of axes that are early with each of the candidates, and sets those to a faster one.
func (s *Search) early(ctx context.Context, list []int) error {
	for axis, a := range s.Space.Axes {
		for _, value := range a.early {
			v := slices.Index(a.Values, value)
			if v < 0 {
				continue
			}
			for n, from := range list {
				near := s.Space.nearest(s.Space.Candidates[from], axis, v)
				if err := s.faster(ctx, near[:min(len(near), 1)], &list[n]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// suited are the candidates of each schedule with what suits it, in the order of the schedules.
func (s *Search) suited() (list []int) {
	for v := range s.Space.Axes[0].Values {
		if i := s.Space.suited(v); i >= 0 {
			list = append(list, i)
		}
	}
	return list
}

// compare orders candidates by what is known of them: results, those that were abandoned, failures.
func (s *Search) compare(a, b int) int {
	x, y := s.final(a), s.final(b)
	rank := func(t Trial) int {
		switch {
		case t.Cycles == 0:
			return 2
		case t.Abandoned:
			return 1
		}
		return 0
	}
	if x.Abandoned && y.Abandoned && x.Cycles > 0 && y.Cycles > 0 {
		return 0 // it is not known by how much they are slower
	}
	return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.Cycles, y.Cycles))
}

// hinted is how many of the schedules and hints a quick search goes on with, where it has hints.
const hinted = 2

// narrow tries other values on each axis in turn for fewer and fewer: after each axis on which there was something to
// try, the better half is left. From what is left in the end it descends. So a search of few candidates has looked at
// every choice, however many schedules it has begun with, before it looks at any choice of schedules that are slower.
func (s *Search) narrow(ctx context.Context, begin []int) error {
	here := slices.Clone(begin)
	if s.Quick && len(s.Hints) > 0 {
		here = here[:min(len(here), hinted)]
	}
	var axes []int // layouts, of which there are many, when few are left to try them
	for _, layout := range []bool{false, true} {
		for axis := 1; axis < len(s.Space.Axes); axis++ {
			if (s.Space.Axes[axis].Key == LayoutKey) == layout {
				axes = append(axes, axis)
			}
		}
	}
	for _, axis := range axes {
		if s.over {
			return nil
		}
		before := len(s.known)
		for n, from := range here {
			if err := s.along(ctx, axis, from, 1, &here[n]); err != nil {
				return err
			}
		}
		if len(s.known) > before {
			slices.SortStableFunc(here, s.compare)
			here = here[:(len(here)+1)/2]
		}
	}
	return s.descend(ctx, here[:min(len(here), 1)])
}

// along tries the other values of an axis, each with the candidates nearest to from, and sets best to a faster one.
func (s *Search) along(ctx context.Context, axis, from, nearest int, best *int) error {
	var list []int
	for v := range s.Space.Axes[axis].Values {
		near := s.Space.nearest(s.Space.Candidates[from], axis, v)
		list = append(list, near[:min(len(near), nearest)]...)
	}
	return s.faster(ctx, list, best)
}

// faster tries the candidates, and sets best to one of them that is faster.
func (s *Search) faster(ctx context.Context, list []int, best *int) error {
	if err := s.try(ctx, list, untilBest); err != nil {
		return err
	}
	for _, i := range list {
		if s.compare(i, *best) < 0 {
			*best = i
		}
	}
	return nil
}

// descend changes one choice of each at a time, as long as that makes it faster, and goes on with the better half of
// what that comes to (successive halving), until one is left.
func (s *Search) descend(ctx context.Context, here []int) error {
	for len(here) > 0 && !s.over {
		before := slices.Clone(here)
		if err := s.pass(ctx, here); err != nil {
			return err
		}
		moved := !slices.Equal(here, before)
		if len(here) == 1 && !moved {
			return nil
		}
		slices.SortStableFunc(here, s.compare)
		here = here[:(len(here)+1)/2]
	}
	return nil
}

// pass tries other values on each axis in turn, and takes the fastest. On an axis it does so for all before it goes on
// to the next, so that a small budget is not spent on one schedule: which direction is the best depends on it.
func (s *Search) pass(ctx context.Context, here []int) error {
	for axis := 1; axis < len(s.Space.Axes); axis++ { // descents begin at schedules
		for n, from := range here {
			if err := s.along(ctx, axis, from, mostNearest, &here[n]); err != nil {
				return err
			}
		}
	}
	return nil
}

// around changes each choice of the best once more, schedules too, and what goes with it where it must; and descends
// from what is faster, as long as there is any.
func (s *Search) around(ctx context.Context) error {
	for before := -1; before != s.best && !s.over && s.best >= 0; {
		before = s.best
		var list []int
		for axis := range s.Space.Axes {
			for v := range s.Space.Axes[axis].Values {
				list = append(list, s.Space.nearest(s.Space.Candidates[before], axis, v)...)
			}
		}
		if err := s.try(ctx, list, untilBest); err != nil {
			return err
		}
		if s.best != before {
			if err := s.descend(ctx, []int{s.best}); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostFinalists is how many candidates may be simulated once more, the first besides.
const mostFinalists = 8

// finals simulates whole what the best may be by its estimate, nearest first, and decides.
func (s *Search) finals(ctx context.Context) error {
	least := float64(s.known[s.best].Cycles) + s.known[s.best].Half
	var list []int
	for _, i := range s.order {
		if t := s.known[i]; t.Cycles > 0 && !t.Abandoned && float64(t.Cycles)-t.Half <= least {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, s.compare)
	list = list[:min(len(list), mostFinalists)]
	s.exact = map[int]Trial{}
	s.best = -1
	if !slices.Contains(list, s.First) {
		list = append(list, s.First)
	}
	for _, i := range list {
		most := uint64(0)
		if s.best >= 0 && i != s.First {
			most = s.exact[s.best].Cycles
		}
		trials, err := s.Exact(ctx, []int{i}, most)
		if err != nil {
			return err
		}
		t := trials[0]
		s.exact[i] = t
		if t.Cycles > 0 && !t.Abandoned && (s.best < 0 || t.Cycles < s.exact[s.best].Cycles) {
			s.best = i
		}
	}
	return nil
}

// final is a candidate's exact result, or else its estimate.
func (s *Search) final(i int) Trial {
	if t, ok := s.exact[i]; ok {
		return t
	}
	return s.known[i]
}

// untilBest has candidates end that are slower than the best so far, untilWhole those that are wholeMost times as slow.
const (
	untilBest  = math.MaxUint64
	untilWhole = math.MaxUint64 - 1
)

// wholeMost bounds what a schedule that does not suit a graph at all costs a study: on a road network, where BFS takes
// 600 super-steps, edge mapping goes through all edges in each.
const wholeMost = 4

// try simulates the candidates that nothing is known of, a batch at a time; none longer than most, 0: to their ends.
func (s *Search) try(ctx context.Context, list []int, most uint64) error {
	var todo []int
	for _, i := range list {
		if _, ok := s.known[i]; !ok && !slices.Contains(todo, i) {
			todo = append(todo, i)
		}
	}
	for len(todo) > 0 {
		n := min(len(todo), batch)
		if left := s.Budget.Points - len(s.known); s.Budget.Points > 0 {
			n = min(n, left)
		}
		// The first candidate is what the others are compared with, and is simulated whatever the budget.
		if n <= 0 || len(s.known) > 0 && s.Budget.Spent != nil && s.Budget.Spent() {
			s.over = true
			return nil
		}
		limit := most
		switch most {
		case untilBest:
			limit = s.most()
		case untilWhole:
			limit = wholeMost * s.most()
		}
		trials, err := s.Evaluate(ctx, todo[:n], limit)
		if err != nil {
			return err
		}
		s.note(trials)
		todo = todo[n:]
	}
	return nil
}

// note takes down what is known now.
func (s *Search) note(trials []Trial) {
	for _, t := range trials {
		s.known[t.Candidate] = t
		s.order = append(s.order, t.Candidate)
		if t.Cycles > 0 && !t.Abandoned && (s.best < 0 || t.Cycles < s.known[s.best].Cycles) {
			s.best = t.Candidate
		}
	}
}

// most is how many cycles a candidate may have that is of interest.
func (s *Search) most() uint64 {
	if s.best < 0 {
		return 0
	}
	return s.known[s.best].Cycles
}

// All simulates every candidate to its end.
func (s *Search) All(ctx context.Context) ([]Trial, error) {
	s.known, s.best, s.fixed = map[int]Trial{}, -1, s.suited()
	all := make([]int, len(s.Space.Candidates))
	for i := range all {
		all[i] = i
	}
	trials, err := s.Evaluate(ctx, all, 0)
	if err == nil {
		s.note(trials)
	}
	return trials, err
}
