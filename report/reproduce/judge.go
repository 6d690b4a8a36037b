package reproduce

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle/experiment/config"
	"heddle/internal/tolerance"
	"heddle/kernels/workload"
)

// Mark classifies a statement by how much it means that it holds.
type Mark string

// The marks.
const (
	Evidence       Mark = "evidence"        // a simulator for which nothing matters does not meet its rule
	NoEffect       Mark = "no effect"       // that simulator meets it as well
	ByConstruction Mark = "by construction" // the machine cannot fail it: not counted
)

const (
	near        = 0.25 // the share of a published value by which ours may differ and be near it
	effect      = 0.05 // the least difference from 1 that is an effect
	tauEffect   = 0.05 // the same of Kendall's tau, from 0
	partlyBound = 2    // the factor between ours and the published value up to which a statement may hold partly
)

// counted reports whether a statement counts.
func (c *CheckOutcome) counted() bool { return c.Decides && c.Mark != ByConstruction }

// digest identifies the quantity of a check, whatever it is compared with.
func digest(c *config.Check) string {
	parts := []any{c.Quantity, c.Along, c.Among, c.Options, c.Differs, c.Reduce}
	if len(c.Within) > 0 {
		parts = append(parts, c.Within)
	}
	if len(c.Tuned) > 0 {
		parts = append(parts, "tuned", c.Tuned)
	}
	if len(c.Alike) > 0 {
		parts = append(parts, "alike", c.Alike)
	}
	text, err := json.Marshal(parts)
	if err != nil {
		panic(fmt.Sprintf("BUG: reproduce: %v", err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// Judge brings a recorded outcome up to date with its pack: texts, published values, rules and verdicts are the pack's
// present ones, and so are the texts of readings that still simulate the same; numbers stay. A reading that simulates
// something else by now is marked. The error names a check whose number is not recorded.
func (o *Outcome) Judge(p *config.Pack) error {
	if err := o.reread(p); err != nil {
		return err
	}
	was := slices.Clone(o.Checks)
	o.Checks = []CheckOutcome{}
	for i := range p.Checks {
		c := &p.Checks[i]
		if !slices.Contains(c.Variants, workload.Choice(o.Variant)) {
			continue
		}
		at := slices.IndexFunc(was, func(w CheckOutcome) bool {
			return w.Quantity == digest(c) || w.Quantity == "" && flow(w.Says) == flow(c.Says)
		})
		if at < 0 {
			return fmt.Errorf("%s: checks[%d] (%s): the outcome recorded has no such number: run heddle reproduce %s "+
				"--%s --record docs/results", p.File, i, flow(c.Says), p.Name, o.Variant)
		}
		open := o.Sampled > 0 && o.Format < withIntervals && c.Along != ""
		o.Checks = append(o.Checks, judge(p, c, was[at].Readings, open))
		was = slices.Delete(was, at, at+1)
	}
	o.conclude()
	return nil
}

// reread takes the texts of readings from the pack, except where the numbers are of something else.
func (o *Outcome) reread(p *config.Pack) error {
	now := p.Readings[o.Variant]
	same := slices.EqualFunc(o.Readings, now, func(a ReadingOutcome, b config.Reading) bool { return a.Name == b.Name })
	if !same {
		return fmt.Errorf("%s: the outcome recorded has other readings: run heddle reproduce %s --%s --record docs/results",
			p.File, p.Name, o.Variant)
	}
	ids, err := identities(p, o.Variant)
	if err != nil {
		return err
	}
	for k := range now {
		o.Readings[k].reread(&now[k], ids[k])
	}
	return nil
}

// reread takes a reading's texts from the pack, of which the present identity is given. Where none was recorded, other
// texts may mean another simulation.
func (r *ReadingOutcome) reread(now *config.Reading, identity string) {
	says, source := flow(now.Says), flow(now.Source)
	if r.Identity == "" {
		r.Changed = r.Says != says || r.Source != source
	} else {
		r.Changed = r.Identity != identity
	}
	if !r.Changed {
		r.Says, r.Source, r.After = says, source, now.After
	}
}

// changed names the outcome and its readings that simulate something else by now; nothing if there are none.
func (o *Outcome) changed() []string {
	var names []string
	for _, r := range o.Readings {
		if r.Changed {
			names = append(names, r.Name)
		}
	}
	if names == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s (%s): %s", o.Pack, o.Variant, strings.Join(names, ", "))}
}

// conclude derives the verdicts of the whole pack.
func (o *Outcome) conclude() {
	for k := range o.Readings {
		o.Readings[k].Holds = overall(o.Checks, func(c *CheckOutcome) Verdict { return c.Readings[k].Holds })
	}
	o.Holds = o.Readings[0].Holds
}

// judge derives a check's outcome from its numbers. Those that are open come from sampled points and have no interval.
func judge(p *config.Pack, c *config.Check, numbers []Number, open bool) CheckOutcome {
	o := CheckOutcome{Says: c.Says, Quantity: digest(c), Rule: rule(c), Decides: c.Decides,
		Readings: slices.Clone(numbers)}
	published := math.NaN()
	if said, ok := p.Published[c.Published]; ok {
		published = said.Value
		o.Published, o.Where, o.Unit = &said.Value, said.Where, said.Unit
	}
	o.Direction = direction(c, published)
	o.Mark = Evidence
	if v, ok := null(c); ok {
		o.Null = &v
		if met(c.Holds, v, published) {
			o.Mark = NoEffect
		}
	}
	if c.Built != "" {
		o.Mark, o.Reason = ByConstruction, flow(c.Built)
	}
	for i := range o.Readings {
		o.Readings[i].judge(c, o.Direction, published, open)
	}
	return o
}

// judge derives the verdicts of a number.
func (n *Number) judge(c *config.Check, direction string, published float64, open bool) {
	n.Holds, n.Direction, n.Near, n.Ratio = NotRun, false, false, nil
	if n.Ours == nil {
		return
	}
	if published != 0 && !math.IsNaN(published) {
		ratio := *n.Ours / published
		n.Ratio = &ratio
		n.Near = n.everywhere(func(x float64) bool { return within(x, published) })
	}
	n.Holds = verdict(c, *n.Ours, published)
	if open || !n.everywhere(func(x float64) bool { return verdict(c, x, published) == n.Holds }) {
		n.Holds = Undecided
	}
	n.Direction = direction != "" && !open && n.everywhere(func(x float64) bool { return met(direction, x, published) })
}

func within(x, published float64) bool {
	return tolerance.Within(x, published, near*math.Abs(published))
}

// everywhere reports whether all of a number's interval has a property: its ends, and points between them.
func (n *Number) everywhere(is func(float64) bool) bool {
	if n.Half == 0 {
		return is(*n.Ours)
	}
	const steps = 40
	for k := -steps; k <= steps; k++ {
		if !is(*n.Ours + n.Half*float64(k)/steps) {
			return false
		}
	}
	return true
}

// null is the number that a simulator has for which nothing matters: all ratios are 1, no series rises or falls, no
// option is better than another. It has none for values that are compared with nothing.
func null(c *config.Check) (v float64, ok bool) {
	switch c.Reduce {
	case "tau":
		return 0, true
	case "r2", "spread", "slowest", "second", "most-second", "restricted":
		return 1, true
	case "second-differs":
		return 0, false
	}
	switch c.Measure {
	case "ratio", "speedup":
		return 1, true
	case "difference":
		return 0, true
	}
	return 0, false
}

// direction is the rule by which a statement holds in direction; "" if it states no effect.
func direction(c *config.Check, published float64) string {
	none, ok := null(c)
	switch {
	case c.Direction != "":
		return c.Direction
	case !ok || c.Reduce == "r2":
		return ""
	}
	least, most := fmt.Sprintf(">= %g", 1+effect), fmt.Sprintf("<= %.4g", 1/(1+effect))
	if none == 0 {
		least, most = fmt.Sprintf(">= %g", tauEffect), fmt.Sprintf("<= %g", -tauEffect)
	}
	stated := published
	if math.IsNaN(published) {
		stated = asked(c.Holds, none)
	}
	switch {
	case met(least, stated, 0) || math.IsNaN(published) && stated > none:
		return least
	case met(most, stated, 0) || math.IsNaN(published) && stated < none:
		return most
	}
	return ""
}

// asked is the end of a rule that is nearest to the null's number, if the rule leaves that out; else that number.
func asked(rule string, none float64) float64 {
	r, err := config.ParseRule(rule)
	if err != nil {
		panic(fmt.Sprintf("BUG: reproduce: a rule that was checked: %v", err))
	}
	low, high := r.Range()
	switch {
	case low > none:
		return low
	case high < none:
		return high
	}
	return none
}

func rule(c *config.Check) string {
	if c.Partly == "" {
		return c.Holds
	}
	return c.Holds + "; partly " + c.Partly
}

// verdict judges one number. A number that differs from the published one by more than a factor does not hold partly,
// whatever the rule.
func verdict(c *config.Check, ours, published float64) Verdict {
	switch {
	case met(c.Holds, ours, published):
		return Yes
	case c.Partly != "" && met(c.Partly, ours, published) && !far(ours, published):
		return Partly
	}
	return No
}

func far(ours, published float64) bool {
	ratio := ours / published
	return !math.IsNaN(published) && (ratio > partlyBound || ratio < 1.0/partlyBound)
}

// met reports whether a number fits a rule that was checked.
func met(rule string, ours, published float64) bool {
	parsed, err := config.ParseRule(rule)
	if err != nil {
		panic(fmt.Sprintf("BUG: reproduce: a rule that was checked: %v", err))
	}
	return parsed.Met(ours, published)
}
