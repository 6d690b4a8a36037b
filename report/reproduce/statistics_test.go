package reproduce

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/config"
)

// Ratios of 2, 1 and a quarter: their logarithms are 1, 0 and -2 times that of 2.
func TestAgreement(t *testing.T) {
	a := agree([]pair{{1, 2}, {2, 2}, {4, 1}})
	require.Equal(t, 3, a.n)
	require.InDelta(t, math.Pow(2, -1.0/3), a.mean, 1e-12)
	require.InDelta(t, 2, a.median, 1e-12, "of 1, 2 and 4")
	require.InDelta(t, math.Pow(2, 1.8), a.most, 1e-12, "four fifths of the way from the second to the third")
	require.InDelta(t, -math.Sqrt(3)/2, a.rho, 1e-12, "ranks 1, 2, 3 and 2.5, 2.5, 1")

	none := agree(nil)
	require.True(t, math.IsNaN(none.mean) && math.IsNaN(none.median) && math.IsNaN(none.rho))
	require.Equal(t, 1.0, agree([]pair{{3, 3}, {1, -1}}).median, "pairs without a ratio are left out")
}

func TestQuantile(t *testing.T) {
	list := []float64{4, 1, 3, 2}
	for q, want := range map[float64]float64{0: 1, 0.5: 2.5, 0.9: 3.7, 1: 4} {
		require.InDelta(t, want, quantile(list, q), 1e-12)
	}
	require.Equal(t, []float64{4, 1, 3, 2}, list, "the list stays as it is")
}

func TestRanks(t *testing.T) {
	require.Equal(t, []float64{4, 1.5, 3, 1.5}, ranks([]float64{9, 2, 5, 2}))
}

// Of 24 orders of four numbers one is the published one; none is worse than the reverse.
func TestRankCorrelation(t *testing.T) {
	rho, p := correlated([]pair{{1, 10}, {2, 11}, {3, 50}, {4, 51}})
	require.InDelta(t, 1, rho, 1e-12)
	require.InDelta(t, 1.0/24, p, 0.005)
	rho, p = correlated([]pair{{1, 4}, {2, 3}, {3, 2}, {4, 1}})
	require.InDelta(t, -1, rho, 1e-12)
	require.InDelta(t, 1, p, 1e-12)
	_, again := correlated([]pair{{1, 10}, {2, 11}, {3, 50}, {4, 51}})
	_, first := correlated([]pair{{1, 10}, {2, 11}, {3, 50}, {4, 51}})
	require.Equal(t, first, again, "the same permutations each time")
	rho, _ = correlated([]pair{{1, 1}, {2, 1}, {3, 1}})
	require.True(t, math.IsNaN(rho), "equal numbers have no order")
}

// Three numbers that are near their own alone; one of six orders has all three.
func TestShuffledNumbers(t *testing.T) {
	expected, p := nearShuffled([]pair{{1, 1.1}, {3, 3}, {9, 8}})
	require.InDelta(t, 1, expected, 1e-12)
	require.InDelta(t, 1.0/6, p, 0.01)
	expected, p = nearShuffled([]pair{{1, 1}, {1, 1.2}, {10, 1}})
	require.InDelta(t, 2, expected, 1e-12, "each of ours is near two of the three")
	require.InDelta(t, 1, p, 1e-12, "in every order two are")
}

func check(measure, reduce, holds string) *config.Check {
	c := &config.Check{Says: holds, Reduce: "geomean", Holds: holds, Decides: true}
	c.Measure = "value"
	for name, v := range map[string]*string{measure: (*string)(&c.Measure), reduce: (*string)(&c.Reduce)} {
		if name != "" {
			*v = name
		}
	}
	return c
}

// numbered is a check of a number that a paper prints.
func numbered(c *config.Check, published float64) (*config.Pack, *config.Check) {
	p := &config.Pack{Name: "p/x"}
	if !math.IsNaN(published) {
		c.Published = "n"
		p.Published = map[string]config.Published{"n": {Name: "n", Value: published}}
	}
	return p, c
}

// TestMarks: a statement that a simulator without effects meets too is no evidence, and one without an effect has no
// direction.
func TestMarks(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		check     *config.Check
		published float64
		mark      Mark
		direction string
	}{
		{check("speedup", "", "within 0.25"), 4, Evidence, ">= 1.05"},
		{check("speedup", "", "within 0.25"), 1.18, NoEffect, ">= 1.05"},
		{check("speedup", "", "within 0.25"), 1.02, NoEffect, ""},
		{check("ratio", "", "within 0.25"), 0.5, Evidence, "<= 0.9524"},
		{check("ratio", "", ">= 1"), none, NoEffect, ""},
		{check("ratio", "", ">= 1.05"), none, Evidence, ">= 1.05"},
		{check("ratio", "", "<= 0.9"), none, Evidence, "<= 0.9524"},
		{check("ratio", "", "between 0.9 1.1"), none, NoEffect, ""},
		{check("difference", "", ">= 5"), none, Evidence, ">= 0.05"},
		{check("", "spread", "<= 1.05"), none, NoEffect, ""},
		{check("", "r2", ">= 0.98"), none, NoEffect, ""},
		{check("", "tau", ">= 0.8"), none, Evidence, ">= 0.05"},
		{check("", "tau", "<= -0.8"), none, Evidence, "<= -0.05"},
		{check("", "slowest", "within 0.25"), 4.7, Evidence, ">= 1.05"},
		{check("", "second-differs", ">= 1"), none, Evidence, ""},
		{check("", "", "within 0.25"), 98, Evidence, ""},
	} {
		p, rules := numbered(c.check, c.published)
		o := judge(p, rules, nil, false)
		require.Equal(t, c.mark, o.Mark, "%v", *c.check)
		require.Equal(t, c.direction, o.Direction, "%v", *c.check)
		require.True(t, o.counted())
	}
	built := check("ratio", "", ">= 2")
	built.Built = "it is so"
	o := judge(&config.Pack{}, built, nil, false)
	require.Equal(t, ByConstruction, o.Mark)
	require.False(t, o.counted())
}

// judged is a number under a rule.
func judged(c *config.Check, published, ours, half float64, open bool) Number {
	p, rules := numbered(c, published)
	return judge(p, rules, []Number{{Ours: &ours, Half: half}}, open).Readings[0]
}

// A number of sampled runs whose interval reaches across its rule decides nothing, in either direction.
func TestUndecided(t *testing.T) {
	none := math.NaN()
	faster := check("speedup", "", ">= 1.05")
	require.Equal(t, Undecided, judged(faster, none, 1.1, 0.1, false).Holds)
	require.Equal(t, Undecided, judged(faster, none, 1, 0.1, false).Holds)
	require.Equal(t, Yes, judged(faster, none, 1.1, 0.02, false).Holds)
	require.Equal(t, No, judged(faster, none, 0.9, 0.1, false).Holds)
	require.False(t, judged(faster, none, 1.1, 0.1, false).Direction)
	require.True(t, judged(faster, none, 1.1, 0.02, false).Direction)

	number := check("speedup", "", "within 0.1")
	require.Equal(t, Undecided, judged(number, 4, 4, 1, false).Holds, "both ends are beyond the rule")
	require.True(t, judged(number, 4, 4, 0.9, false).Near)
	require.False(t, judged(number, 4, 4, 1.1, false).Near)
	require.True(t, judged(number, 4, 5, 0, false).Near)

	rises := check("", "tau", ">= 0.8")
	require.Equal(t, Undecided, judged(rises, none, 1, 0, true).Holds, "of sampled points, without an interval")
	require.Equal(t, Yes, judged(rises, none, 1, 0, false).Holds)
}

// The interval of a series: its middle may be anywhere from 0.5 to 3.5, so that one of its two pairs may fall.
func TestIntervalOfSeries(t *testing.T) {
	c := check("", "tau", ">= 0.8")
	c.Along = "x"
	var list []sample
	for i, v := range []float64{1, 2, 3} {
		p := &Point{Experiment: "e", Axes: map[string]string{"x": fmt.Sprint(i)}}
		list = append(list, sample{point: p, estimate: estimate{value: v}})
	}
	require.Zero(t, half(c, list, 1))
	list[1].half = 1.5
	require.InDelta(t, 2.0/3, half(c, list, 1), 1e-12)
	require.Equal(t, Undecided, judged(c, math.NaN(), 1, 2.0/3, false).Holds)
}

// Beyond a factor of 2 nothing holds partly.
func TestPartlyHasABound(t *testing.T) {
	c := check("speedup", "", "within 0.25")
	c.Partly = ">= 1.05"
	for ours, want := range map[float64]Verdict{2.5: Yes, 4.9: Partly, 5.1: No, 1.26: Partly, 1.24: No, 0.9: No} {
		require.Equal(t, want, judged(c, 2.5, ours, 0, false).Holds, "%g", ours)
	}
	p, free := numbered(check("speedup", "", ">= 2"), math.NaN())
	free.Partly = ">= 1.1"
	ours := 1.2
	require.Equal(t, Partly, judge(p, free, []Number{{Ours: &ours}}, false).Readings[0].Holds)
}

// paperOf has a statement for each line: its number under each of two readings, of which those from 1.05 on hold.
func paperOf(lines map[string][2]float64) []claim {
	var list []claim
	readings := []ReadingOutcome{{Name: config.Described}, {Name: "other"}}
	for says, numbers := range lines {
		rules := check("speedup", "", ">= 1.05")
		rules.Says = says
		r := &recorded{pack: &config.Pack{Name: "p/x"}, outcomes: [2]*Outcome{{Readings: readings}}}
		o := judge(r.pack, rules, []Number{{Ours: &numbers[0]}, {Ours: &numbers[1]}}, false)
		list = append(list, claim{of: r, rules: rules, settled: &o, checks: [2]*CheckOutcome{&o}})
	}
	return list
}

// The reading is chosen on one half alone; the other half shows the gain.
func TestChoice(t *testing.T) {
	lines, in := map[string][2]float64{}, [2]int{}
	for i := 0; in[0] < 4 || in[1] < 4; i++ {
		says := fmt.Sprint("statement ", i)
		c := paperOf(map[string][2]float64{says: {1, 1}})[0]
		h := c.half()
		if in[h]++; in[h] > 4 {
			continue
		}
		lines[says] = [2]float64{1, 2} // on the first half the other reading makes all hold,
		if h == 1 {
			lines[says] = [2]float64{2, 1} // on the second none
		}
	}
	o := choose("p", paperOf(lines))
	require.Equal(t, "other", o.chosen)
	require.Equal(t, [2]int{4, 4}, o.halves)
	require.Equal(t, [2]int{0, 4}, o.described)
	require.Equal(t, [2]int{4, 0}, o.holds)
	require.Positive(t, o.chance)
}

// One statement that holds under one of two readings holds as described in half of the shuffles, and under the best
// always. Where readings change nothing there is nothing to gain.
func TestGainOfChance(t *testing.T) {
	require.InDelta(t, 0.5, gainOfChance([][]bool{{false, true}}, 2), 0.03)
	require.Zero(t, gainOfChance([][]bool{{true, true}, {false, false}}, 2))
}

// The null and shuffled numbers are scored by the rules that ours are scored by.
func TestScores(t *testing.T) {
	list := make([]claim, 2)
	for i, numbers := range [][2]float64{{4, 4.2}, {1.1, 1.5}} {
		p, rules := numbered(check("speedup", "", "within 0.25"), numbers[0])
		o := judge(p, rules, []Number{{Ours: &numbers[1]}}, false)
		list[i] = claim{of: &recorded{pack: p}, rules: rules, settled: &o, numbered: true}
	}
	require.Equal(t, score{statements: 2, holds: 1, sided: 2, direction: 2, numbers: 2, near: 1}, ours(list))
	require.Equal(t, score{statements: 2, holds: 1, sided: 2, numbers: 2, near: 1}, nothing(list), "1 is near 1.1")
	mixed := shuffled(list, list)
	require.InDelta(t, 0.5, mixed.near, 1e-12, "4.2 is near 4, in one of two orders; 1.5 is near neither")
	require.InDelta(t, 2, mixed.statements, 1e-12)
	require.InDelta(t, 2, mixed.direction, 1e-12)
}

// Full overrules quick, and repetitions in another pack do not count again.
func TestClaims(t *testing.T) {
	rules := *check("speedup", "", ">= 1.05")
	outcome := func(p *config.Pack, ours *float64) *Outcome {
		o := &Outcome{Readings: []ReadingOutcome{{Name: config.Described}}}
		o.Checks = []CheckOutcome{judge(p, &rules, []Number{{Ours: ours}}, false)}
		return o
	}
	quick, full := 2.0, 1.0
	p, again := &config.Pack{Name: "p/x", Checks: []config.Check{rules}}, &config.Pack{Name: "p/y"}
	again.Checks, again.Repeats = p.Checks, "p/x"
	all := []recorded{{pack: p, outcomes: [2]*Outcome{outcome(p, &quick), outcome(p, &full)}},
		{pack: again, outcomes: [2]*Outcome{outcome(again, &quick)}}}
	list := claims(all)
	require.Len(t, list, 1)
	require.Equal(t, No, list[0].number().Holds)
	all[0].outcomes[1] = outcome(p, nil)
	require.Equal(t, Yes, claims(all)[0].number().Holds, "full has no number as described")
}

// A changed rule changes the verdicts of recorded numbers; a number of another quantity counts as not recorded.
func TestJudge(t *testing.T) {
	rules := *check("speedup", "", ">= 1.05")
	rules.Variants = append(rules.Variants, "quick")
	p := &config.Pack{Name: "p/x", File: "x.yaml", Checks: []config.Check{rules},
		Readings: map[config.Variant][]config.Reading{config.Quick: {{ReadingHead: config.ReadingHead{Name: "described"}}}}}
	ours := 1.5
	o := &Outcome{Variant: config.Quick, Readings: []ReadingOutcome{{Name: "described"}},
		Checks: []CheckOutcome{judge(p, &rules, []Number{{Ours: &ours}}, false)}}
	require.NoError(t, o.Judge(p))
	require.Equal(t, Yes, o.Holds)
	p.Checks[0].Holds, p.Checks[0].Says = ">= 2", "twice as fast"
	require.NoError(t, o.Judge(p))
	require.Equal(t, No, o.Holds)
	require.Equal(t, "twice as fast", o.Checks[0].Says)
	p.Checks[0].Of = []string{"workload.schedule=edge"}
	require.ErrorContains(t, o.Judge(p), "x.yaml: checks[0] (twice as fast): the outcome recorded has no such number")
	p.Readings[config.Quick] = nil
	require.ErrorContains(t, o.Judge(p), "other readings")
}

func TestCommitted(t *testing.T) {
	require.True(t, Committed("d92fbee5d6da81b5c117a73761fd954916f79128"))
	for _, v := range []string{"(devel)+exe.b4001abb8abc", "d92fbee5d6da81b5c117a73761fd954916f79128+changes+exe.1",
		"unknown", ""} {
		require.False(t, Committed(v), v)
	}
}

// A reading explains a statement that does not hold as described, if it changes its number, in the same variant.
func TestExplanation(t *testing.T) {
	c := &paperOf(map[string][2]float64{"faster": {1, 2}})[0]
	require.Equal(t, "other", c.explanation())
	c.checks[0].Readings[1].Same = true
	require.Empty(t, c.explanation())
	c = &paperOf(map[string][2]float64{"faster": {1.5, 2}})[0]
	require.Empty(t, c.explanation(), "it holds as described")
}

// A discussion's numbers are those of outcomes; one that is not recorded is an error.
func TestDiscussionTakesItsNumbers(t *testing.T) {
	list := paperOf(map[string][2]float64{"fast | er": {1.5, 2.25}})
	r := list[0].of
	r.outcomes[0].Checks = []CheckOutcome{*list[0].settled}
	text, err := r.filled("{{fast | er}}")
	require.ErrorContains(t, err, "fast | er", "a reading er is not recorded: "+text)
	r.outcomes[0].Checks[0].Says = "faster"
	text, err = r.filled("It is {{faster}}, and {{faster | other}} under another.")
	require.NoError(t, err)
	require.Equal(t, "It is 1.5, and 2.25 under another.", text)
	_, err = r.filled("{{faster | other | full}}")
	require.Error(t, err)
}

// A published number that ours equals lies on the diagonal, and each statement that counts is drawn once.
func TestScatter(t *testing.T) {
	list := make([]claim, 2)
	for i, numbers := range [][2]float64{{4, 4}, {1, 2}} {
		p, rules := numbered(check("speedup", "", "within 0.25"), numbers[0])
		o := judge(p, rules, []Number{{Ours: &numbers[1], Half: float64(i)}}, false)
		list[i] = claim{of: &recorded{pack: p}, rules: rules, settled: &o, numbered: true}
	}
	svg := string(scatterOf(list))
	s := scatter{low: -0.06, high: math.Log10(4) + 0.06}
	require.InDelta(t, s.x(4)-scatterLeft, scatterTop+scatterSide-s.y(4), 1e-9)
	require.Contains(t, svg, fmt.Sprintf("<circle class=\"mark p0\" cx=\"%.1f\" cy=\"%.1f\"", s.x(4), s.y(4)))
	require.Equal(t, 2, strings.Count(svg, "<g>"))
	require.Equal(t, 1, strings.Count(svg, `class="bar p0"`), "one has an interval")
	require.Contains(t, svg, "prefers-color-scheme: dark")
}
