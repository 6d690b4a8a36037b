package reproduce

import (
	"math"
	"slices"
	"strings"

	"heddle/experiment/config"
)

// claim is a statement of a paper, which counts once: in the full variant where that has a number as described, else
// in the quick one. Repetitions in other packs do not count again.
type claim struct {
	of       *recorded
	checks   [2]*CheckOutcome // by variant
	rules    *config.Check
	settled  *CheckOutcome // of the variant that counts
	outcome  *Outcome      // of that variant
	variant  int
	numbered bool // the paper prints a number
}

// paper names the directory of a pack's paper.
func (r *recorded) paper() string {
	paper, _, _ := strings.Cut(r.pack.Name, "/")
	return paper
}

// claims returns the statements of all packs that decide, also those that hold by construction.
func claims(all []recorded) (list []claim) {
	for i := range all {
		r := &all[i]
		if r.pack.Repeats != "" {
			continue
		}
		for _, s := range r.statements() {
			c := claim{of: r, rules: r.rules(s.checks[0])}
			for k, o := range s.checks {
				c.checks[s.variants[k]] = o
				if c.settled == nil || o.Readings[0].Ours != nil {
					c.settled, c.variant = o, s.variants[k]
				}
			}
			c.outcome, c.numbered = r.outcomes[c.variant], c.settled.Published != nil
			list = append(list, c)
		}
	}
	return list
}

// rules returns the check of a pack that an outcome is of.
func (r *recorded) rules(o *CheckOutcome) *config.Check {
	i := slices.IndexFunc(r.pack.Checks, func(c config.Check) bool {
		return digest(&c) == o.Quantity && flow(c.Says) == flow(o.Says)
	})
	if i < 0 {
		panic("BUG: reproduce: an outcome that was judged has no check: " + o.Says)
	}
	return &r.pack.Checks[i]
}

// number is ours as described.
func (c *claim) number() *Number { return &c.settled.Readings[0] }

// pair is the published number and ours; false if one is missing.
func (c *claim) pair() (p pair, ok bool) {
	if !c.numbered || c.number().Ours == nil {
		return p, false
	}
	return pair{*c.settled.Published, *c.number().Ours}, true
}

// papers are those of claims, in order.
func papers(list []claim) (names []string) {
	for i := range list {
		addOnce(&names, list[i].of.paper())
	}
	return names
}

// chosen are the claims that meet a condition.
func chosen(list []claim, is func(*claim) bool) (out []claim) {
	for i := range list {
		if is(&list[i]) {
			out = append(out, list[i])
		}
	}
	return out
}

func pairsOf(list []claim) (out []pair) {
	for i := range list {
		if p, ok := list[i].pair(); ok {
			out = append(out, p)
		}
	}
	return out
}

// score counts claims by verdict; for shuffled numbers it is an average, and so not whole.
type score struct {
	statements, holds, undecided float64
	sided, direction             float64 // with a direction, and in it
	numbers, near                float64
}

// ours is the score of the numbers as described.
func ours(list []claim) (s score) {
	for i := range list {
		n := list[i].number()
		s.add(&list[i], 1, n.Holds, n.Direction, n.Near)
	}
	return s
}

func (s *score) add(c *claim, weight float64, holds Verdict, direction, near bool) {
	s.statements += weight
	for _, l := range []struct {
		count *float64
		is    bool
	}{
		{&s.holds, holds == Yes}, {&s.undecided, holds == Undecided}, {&s.sided, c.settled.Direction != ""},
		{&s.direction, direction && c.settled.Direction != ""}, {&s.numbers, c.numbered}, {&s.near, near && c.numbered},
	} {
		if l.is {
			*l.count += weight
		}
	}
}

// nothing is the score of a simulator for which nothing matters.
func nothing(list []claim) (s score) {
	for i := range list {
		c := &list[i]
		holds, toward, close := NotRun, false, false
		if v := c.settled.Null; v != nil {
			published := c.published()
			holds = verdict(c.rules, *v, published)
			toward = c.settled.Direction != "" && met(c.settled.Direction, *v, published)
			close = c.numbered && within(*v, published)
		}
		s.add(c, 1, holds, toward, close)
	}
	return s
}

// published is the published number, or NaN.
func (c *claim) published() float64 {
	if c.settled.Published == nil {
		return math.NaN()
	}
	return *c.settled.Published
}

// shuffled is the mean score of our numbers when each is held against every published number of its paper, those of
// pool. Rules that do not compare with the published number stay, so the verdicts of such do too.
func shuffled(list, pool []claim) (s score) {
	for i := range list {
		c := &list[i]
		if !c.numbered {
			continue
		}
		others := chosen(pool, func(o *claim) bool { return o.numbered && o.of.paper() == c.of.paper() })
		for k := range others {
			s.against(c, others[k].published(), 1/float64(len(others)))
		}
	}
	return s
}

// against holds our number against another published one.
func (s *score) against(c *claim, published, weight float64) {
	n := *c.number()
	rules := *c.rules
	n.judge(&rules, direction(&rules, published), published, false)
	s.add(c, weight, n.Holds, n.Direction, n.Near)
}

// widest returns a claim in the variant in which all readings were run.
func (c *claim) widest() *CheckOutcome {
	for _, o := range c.checks {
		if o != nil {
			return o
		}
	}
	return nil
}

// under returns the number under a reading, in that variant; as described where the pack was not run under it, or the
// reading leaves the statement as it is.
func (c *claim) under(reading string) *Number {
	o := c.widest()
	k := slices.IndexFunc(c.readings(), func(r ReadingOutcome) bool { return r.Name == reading })
	if k < 0 || o.Readings[k].Ours == nil {
		k = 0
	}
	return &o.Readings[k]
}

func (c *claim) readings() []ReadingOutcome {
	for k, o := range c.checks {
		if o != nil {
			return c.of.outcomes[k].Readings
		}
	}
	return nil
}

// explanation names a reading under which a statement holds that does not as described, in the same variant.
func (c *claim) explanation() string {
	for k, o := range c.checks {
		if o == nil || o.Readings[0].Holds == Yes {
			continue
		}
		for i := range o.Readings {
			if o.Readings[i].Holds == Yes && !o.Readings[i].Same {
				return c.of.outcomes[k].Readings[i].Name
			}
		}
	}
	return ""
}
