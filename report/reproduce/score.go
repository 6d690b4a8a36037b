package reproduce

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
)

const agreementHead = `## Published and ours

![Published numbers and ours, as described, by paper](%s/%s)

*Every published number that counts (marks below), as described; bars are intervals of sampled runs at 95 %%. In the
band ours is within 25 %% of the published number.*

As described, each statement once; the full variant's number where there is one. *Mean*: geometric. *Median error* and
*nine in ten*: median and 90th percentile of |log(ours / published)|, as factors. *Null*: a simulator for which nothing
matters: every ratio 1, every tau 0. *Shuffled*: our numbers against the paper's other published numbers, on average
over all permutations; p is the share of permutations that do as well. *Side of 1*: of the published ratios at least
5 %% from 1, those where ours is on the same side by 5 %%, with its whole interval; *base rate*: those above 1, which
always saying "faster" would get right. ρ is Spearman's, its p by permutation.

| paper | n | mean of ours / published | median error | nine in ten | within 25 %%: ours | null | shuffled (p) | side of 1 |` +
	` base rate | ρ (p) |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
`

// agreements is the table of papers, below the scatter.
func agreements(b *bytes.Buffer, list []claim, link string) {
	counts := chosen(list, func(c *claim) bool { _, ok := c.pair(); return ok && c.settled.counted() })
	if len(counts) == 0 {
		b.WriteString("No published number has been compared.\n\n")
		return
	}
	fmt.Fprintf(b, agreementHead, link, scatterFile)
	for _, paper := range papers(counts) {
		agreementRow(b, paper, chosen(counts, func(c *claim) bool { return c.of.paper() == paper }))
	}
	agreementRow(b, "**all**", counts)
	b.WriteString("\n")
}

func agreementRow(b *bytes.Buffer, name string, list []claim) {
	a, us, null := agree(pairsOf(list)), ours(list), nothing(list)
	expected, p := nearShuffled(pairsOf(list))
	if papers(list)[0] != papers(list)[len(papers(list))-1] { // of several papers, each number among its own paper's
		expected, p = shuffled(list, list).near, math.NaN()
	}
	sided := chosen(list, func(c *claim) bool { return c.settled.Direction != "" })
	above := chosen(sided, func(c *claim) bool { return strings.HasPrefix(c.settled.Direction, ">=") })
	fmt.Fprintf(b, "| %s | %d | %s | %s | %s | %.0f (%.0f %%) | %.0f | %.1f%s | %.0f of %.0f | %d of %d | %s%s |\n", name,
		a.n, fixed(a.mean), fixed(a.median), fixed(a.most), us.near, 100*us.near/us.numbers, null.near, expected,
		chance(p), us.direction, us.sided, len(above), len(sided), fixed(a.rho), chance(a.p))
}

// fixed writes a number with two decimals; – for NaN.
func fixed(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.2f", v)
}

// chance writes a p in brackets.
func chance(p float64) string {
	switch {
	case math.IsNaN(p):
		return ""
	case p < 0.001:
		return " (< 0.001)"
	}
	return fmt.Sprintf(" (%.2g)", p)
}

const tallyHead = `## What holds

As described; a statement counts once (repetitions in *-programs* packs do not), and full overrules quick. A statement
is *evidence* if the null does not meet its rule, of *no effect* if it does: a statement of no effect is weak evidence.
*Undecided*: the interval of sampled runs straddles the rule. *Partly* needs ours within a factor of 2 of a published
number. *In direction* needs an effect of 5 %; of statements that state an effect.

| | statements | hold: ours | null | shuffled | undecided | in direction: of | ours | null | shuffled |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
`

// tally counts the statements of all packs.
func tally(b *bytes.Buffer, list []claim) {
	b.WriteString(tallyHead)
	counts := chosen(list, func(c *claim) bool { return c.settled.counted() })
	of := func(numbered bool, marks ...Mark) []claim {
		return chosen(counts, func(c *claim) bool {
			return slices.Contains(marks, c.settled.Mark) && c.numbered == numbered
		})
	}
	for _, l := range []struct {
		name string
		list []claim
	}{
		{"**evidence, with a published number**", of(true, Evidence)},
		{"no effect, with a published number", of(true, NoEffect)},
		{"with a published number, all", of(true, Evidence, NoEffect)},
		{"**evidence, without a number**", of(false, Evidence)},
		{"no effect, without a number", of(false, NoEffect)},
		{"without a number, all", of(false, Evidence, NoEffect)},
	} {
		us, none := ours(l.list), nothing(l.list)
		holds, direction := "–", "–"
		if len(l.list) > 0 && l.list[0].numbered {
			mixed := shuffled(l.list, counts)
			holds, direction = fmt.Sprintf("%.1f", mixed.holds), fmt.Sprintf("%.1f", mixed.direction)
		}
		fmt.Fprintf(b, "| %s | %.0f | %.0f | %.0f | %s | %.0f | %.0f | %.0f | %.0f | %s |\n", l.name, us.statements,
			us.holds, none.holds, holds, us.undecided, us.sided, us.direction, none.direction, direction)
	}
	b.WriteString("\n")
	removed(b, list)
	uncommitted(b, list)
	earlier(b, list)
}

// removed lists the statements that the machine cannot fail.
func removed(b *bytes.Buffer, list []claim) {
	built := chosen(list, func(c *claim) bool { return c.settled.Mark == ByConstruction })
	if len(built) == 0 {
		return
	}
	fmt.Fprintf(b, "<details><summary>By construction, which the machine cannot fail: %d, not counted</summary>\n\n",
		len(built))
	for i := range built {
		c := &built[i]
		fmt.Fprintf(b, "- %s: %s (%s)\n", c.link(), flow(c.settled.Says), c.settled.Reason)
	}
	b.WriteString("\n</details>\n\n")
}

// uncommitted names the outcomes whose build no commit identifies.
func uncommitted(b *bytes.Buffer, list []claim) {
	var names []string
	for i := range list {
		for k, o := range list[i].of.outcomes {
			if o != nil && !Committed(o.Version) {
				addOnce(&names, fmt.Sprintf("%s (%s)", list[i].of.pack.Name, variants[k]))
			}
		}
	}
	if names == nil {
		return
	}
	slices.Sort(names)
	b.WriteString(wrapped(fmt.Sprintf("**Recorded by builds with changes that were not committed**, which `--record` "+
		"refuses by now; they cannot be built again: %s.", strings.Join(names, ", "))) + "\n")
}

// earlier names the readings whose numbers are not of what their packs simulate by now.
func earlier(b *bytes.Buffer, list []claim) {
	var names []string
	for i := range list {
		for _, o := range list[i].of.outcomes {
			if o != nil && o.changed() != nil {
				addOnce(&names, o.changed()[0])
			}
		}
	}
	if names == nil {
		return
	}
	slices.Sort(names)
	b.WriteString(wrapped("**Recorded before their packs simulated what they do now**, and to be recorded again; texts "+
		"of these readings are those of the recording: "+strings.Join(names, "; ")+".") + "\n")
}

// Committed reports whether a version (version.Text) is a commit's, which others can build.
func Committed(version string) bool {
	return version != "" && version != "unknown" && !strings.Contains(version, "+exe.")
}

func (c *claim) link() string {
	return fmt.Sprintf("[%s](#%s)", c.of.pack.Name, anchor(c.of.pack.Name))
}

// misses lists the statements that do not hold as described, with a reading under which they would.
func misses(b *bytes.Buffer, list []claim) {
	var astray, open, far []string
	for i := range list {
		c := &list[i]
		n := c.number()
		if n.Ours == nil || !c.settled.counted() {
			continue
		}
		line := fmt.Sprintf("- %s: %s: published %s, ours %s%s", c.link(), flow(c.settled.Says), c.settled.published(),
			n.ours(), c.explained())
		switch {
		case n.Holds == Undecided:
			open = append(open, line)
		case c.settled.Direction != "" && !n.Direction:
			astray = append(astray, line)
		case c.numbered && !n.Near:
			far = append(far, line)
		}
	}
	for _, l := range []struct {
		what  string
		lines []string
	}{{"Not in direction", astray}, {"Undecided", open}, {"Neither, but not within 25 % of the published number", far}} {
		if l.lines != nil {
			fmt.Fprintf(b, "<details><summary>%s: %d, as described (each pack's section has the reasons)</summary>\n\n%s\n\n"+
				"</details>\n\n", l.what, len(l.lines), strings.Join(l.lines, "\n"))
		}
	}
}

// explained says under which reading a statement would hold that does not as described.
func (c *claim) explained() string {
	if r := c.explanation(); r != "" && c.number().Holds != Yes {
		return "; it holds under *" + r + "*"
	}
	return ""
}
