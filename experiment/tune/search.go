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
	Cycles    uint64 // 0: the simulation failed
	// Half is half the 95 % confidence interval of estimated cycles; 0: they are exact.
	Half float64
	// Abandoned: Cycles is a lower bound.
	Abandoned bool
}

// Evaluate simulates candidates, and returns their trials in the same order. It may abandon those with more than most
// cycles; 0: none.
type Evaluate func(ctx context.Context, candidates []int, most uint64) ([]Trial, error)

// Budget limits a search.
type Budget struct {
	Points int         // largest number of candidates; 0: no limit
	Spent  func() bool // reports whether the time is up; nil: no limit
}

// Search searches a space for the candidate with the fewest cycles.
//
// Run proceeds in stages: the first candidate; each schedule with the choices that suit it, and the hints; narrow, a
// descent that halves the field on each axis; descend, one from every schedule; around, which changes each choice of
// the best once more; and finals, if Evaluate only estimates. Which candidates are tried depends on cycles alone, so a
// search is the same on any host.
type Search struct {
	Space    *Space
	Evaluate Evaluate
	Budget   Budget
	First    int // the candidate that is simulated first, and never abandoned
	// Whole makes the candidates that suit each schedule run to their ends, up to wholeMost times the cycles of the
	// best.
	Whole bool
	// Hints are candidates that were the best for other graphs. They are tried after the schedules, and are starting
	// points of descents too.
	Hints []int
	// Quick ends the search after the narrow descent.
	Quick bool
	// Exact simulates candidates completely if Evaluate estimates by sampling; nil: Evaluate is exact. It decides
	// between the candidates that may be the best by their estimates, and is applied to the first candidate too.
	Exact Evaluate

	known       map[int]Trial
	exact       map[int]Trial // trials of finalists by Exact
	order       []int         // candidates in the order of their trials
	perSchedule []int         // the candidate that suits each schedule, in the order of schedules
	best        int           // the best candidate; -1: none yet
	budgetSpent bool          // the budget is spent
}

// batch is the number of candidates that are simulated with the same bound. It is constant rather than the number of
// processors, so that the search is the same on any host.
const batch = 4

// Run searches, and returns the trials in order.
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

// Best returns the best candidate; -1: no trial has a result.
func (s *Search) Best() int { return s.best }

// Spent reports whether the budget ended the search.
func (s *Search) Spent() bool { return s.budgetSpent }

// schedules tries each schedule with the choices that suit it, and the hints, and returns all of them, best first.
func (s *Search) schedules(ctx context.Context) ([]int, error) {
	s.perSchedule = s.suited()
	list := slices.Clone(s.perSchedule)
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
		if err := s.tryEarlyValues(ctx, list); err != nil {
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

// tryEarlyValues tries the early values of axes with each candidate of the list, and replaces it by a faster one.
func (s *Search) tryEarlyValues(ctx context.Context, list []int) error {
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

// suited returns the candidate that suits each schedule, in the order of schedules.
func (s *Search) suited() (list []int) {
	for v := range s.Space.Axes[0].Values {
		if i := s.Space.suited(v); i >= 0 {
			list = append(list, i)
		}
	}
	return list
}

// compare orders candidates: results by cycles, then abandoned ones, then failures.
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
		return 0 // both bounds are lower bounds
	}
	return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.Cycles, y.Cycles))
}

// hinted is the number of schedules and hints that a quick search keeps if it has hints.
const hinted = 2

// narrow tries other values on each axis in turn, and keeps the better half of the candidates after each axis on which
// there was something to try. It descends from the one that is left. A search with a small budget has thus tried every
// choice with the better schedules before it spends any more on the slower ones.
func (s *Search) narrow(ctx context.Context, begin []int) error {
	here := slices.Clone(begin)
	if s.Quick && len(s.Hints) > 0 {
		here = here[:min(len(here), hinted)]
	}
	var axes []int // layouts last, when few candidates are left, since they have many values
	for _, layout := range []bool{false, true} {
		for axis := 1; axis < len(s.Space.Axes); axis++ {
			if (s.Space.Axes[axis].Key == LayoutKey) == layout {
				axes = append(axes, axis)
			}
		}
	}
	for _, axis := range axes {
		if s.budgetSpent {
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

// along tries the other values of an axis, each with the candidates nearest to from, and sets best to the fastest.
func (s *Search) along(ctx context.Context, axis, from, nearest int, best *int) error {
	var list []int
	for v := range s.Space.Axes[axis].Values {
		near := s.Space.nearest(s.Space.Candidates[from], axis, v)
		list = append(list, near[:min(len(near), nearest)]...)
	}
	return s.faster(ctx, list, best)
}

// faster tries the candidates, and sets best to the fastest if that is faster.
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

// descend changes one choice of each candidate at a time as long as that makes it faster, keeping the better half after
// each pass (successive halving), until one is left.
func (s *Search) descend(ctx context.Context, here []int) error {
	for len(here) > 0 && !s.budgetSpent {
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

// pass tries other values on each axis in turn, and keeps the fastest. It handles all candidates on one axis before the
// next axis, so that a small budget is not spent on a single schedule.
func (s *Search) pass(ctx context.Context, here []int) error {
	for axis := 1; axis < len(s.Space.Axes); axis++ { // each descent keeps its schedule, axis 0
		for n, from := range here {
			if err := s.along(ctx, axis, from, mostNearest, &here[n]); err != nil {
				return err
			}
		}
	}
	return nil
}

// around changes each choice of the best once more, including the schedule, together with choices that depend on it,
// and descends from a faster candidate, as long as there is one.
func (s *Search) around(ctx context.Context) error {
	for before := -1; before != s.best && !s.budgetSpent && s.best >= 0; {
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

// mostFinalists bounds the candidates that are simulated completely, beside the first.
const mostFinalists = 8

// finals simulates completely the candidates whose confidence intervals overlap that of the best, fastest first.
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

// final returns the exact result of a candidate if there is one, or its estimate.
func (s *Search) final(i int) Trial {
	if t, ok := s.exact[i]; ok {
		return t
	}
	return s.known[i]
}

// untilBest abandons candidates slower than the best so far, untilWhole those wholeMost times as slow.
const (
	untilBest  = math.MaxUint64
	untilWhole = math.MaxUint64 - 1
)

// wholeMost bounds the cost of a schedule that does not suit a graph at all: on a road network, where BFS takes 600
// super-steps, edge mapping visits all edges in each.
const wholeMost = 4

// try simulates those of the candidates that have no trial yet, a batch at a time, none longer than most; 0: to the
// end.
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
		// The first candidate is the baseline, and is simulated regardless of the budget.
		if n <= 0 || len(s.known) > 0 && s.Budget.Spent != nil && s.Budget.Spent() {
			s.budgetSpent = true
			return nil
		}
		limit := most
		switch most {
		case untilBest:
			limit = s.bestCycles()
		case untilWhole:
			limit = wholeMost * s.bestCycles()
		}
		trials, err := s.Evaluate(ctx, todo[:n], limit)
		if err != nil {
			return err
		}
		s.record(trials)
		todo = todo[n:]
	}
	return nil
}

// record records trials.
func (s *Search) record(trials []Trial) {
	for _, t := range trials {
		s.known[t.Candidate] = t
		s.order = append(s.order, t.Candidate)
		if t.Cycles > 0 && !t.Abandoned && (s.best < 0 || t.Cycles < s.known[s.best].Cycles) {
			s.best = t.Candidate
		}
	}
}

// bestCycles returns the cycles beyond which a candidate is slower than the best; 0: there is none yet.
func (s *Search) bestCycles() uint64 {
	if s.best < 0 {
		return 0
	}
	return s.known[s.best].Cycles
}

// All simulates every candidate to its end.
func (s *Search) All(ctx context.Context) ([]Trial, error) {
	s.known, s.best, s.perSchedule = map[int]Trial{}, -1, s.suited()
	all := make([]int, len(s.Space.Candidates))
	for i := range all {
		all[i] = i
	}
	trials, err := s.Evaluate(ctx, all, 0)
	if err == nil {
		s.record(trials)
	}
	return trials, err
}
