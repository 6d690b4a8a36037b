package energy

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"heddle/configs"
	"heddle/sim/stats"
)

// Item is one line of a run's energy: a count times an energy in pJ.
type Item struct {
	Part    string  `json:"part"`
	Event   string  `json:"event"`
	Unit    string  `json:"unit"`   // of Each: pJ, or mW·ns, which is a pJ
	Count   float64 `json:"count"`  // of events; for a power, the number of its consumers times ns
	Factor  float64 `json:"factor"` // of Each, by the capacity and width of this machine's memory
	Each    Range   `json:"each"`
	Half    float64 `json:"count_ci95,omitempty"` // half the 95 % confidence interval of an estimated count
	Source  string  `json:"source"`
	Assumed bool    `json:"assumed,omitempty"`
}

// name identifies the value that the item has in common with those of other runs.
func (i *Item) name() string { return i.Part + ": " + i.Event }

// amount is the factor from Each to joules.
func (i *Item) amount() float64 { return i.Count * i.Factor * 1e-12 }

// Joules returns the item's energy.
func (i *Item) Joules() Range { return i.Each.Times(i.amount()) }

// Result is the energy of a run.
type Result struct {
	Table       string   `json:"table"`
	NM          float64  `json:"nm"`
	Volts       float64  `json:"volts"`
	ClockMHz    float64  `json:"clock_mhz"`
	Cycles      float64  `json:"cycles"`
	Seconds     float64  `json:"seconds"`
	Items       []Item   `json:"items"`
	NotModelled []string `json:"not_modelled"`
}

// Of computes the energy of a run on a machine from its statistics, sums over all units.
func (t *Table) Of(m *configs.Machine, s stats.Tree) (*Result, error) {
	if m.Swarm != nil {
		return nil, errors.New("machine.swarm: no energies of Swarm tiles are known")
	}
	r := &Result{Table: t.Name, NM: t.NM, Volts: t.Volts, ClockMHz: t.ClockMHz, NotModelled: slices.Clone(t.NotModelled)}
	if r.ClockMHz == 0 {
		r.ClockMHz = clockMHz(m)
	}
	cycles, ok := s.Get("cycles")
	if !ok {
		return nil, fmt.Errorf("the result has no cycles")
	}
	r.Cycles = cycles.Float()
	r.Seconds = r.Cycles / r.ClockMHz * 1e-6
	c := &counter{machine: m, stats: s}
	for i := range t.Lines {
		if err := t.addItem(&t.Lines[i], c, r); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", t.File, t.Lines[i].name(), err)
		}
	}
	return r, t.dramItems(c, r)
}

// addItem adds a line's energy, unless it is of a memory that the machine does not have.
func (t *Table) addItem(l *Line, c *counter, r *Result) error {
	count, half, err := c.of(l.count)
	if err != nil {
		return err
	}
	item := Item{Part: l.Part, Event: l.Event, Unit: l.Unit, Count: count, Half: half, Factor: 1, Each: t.scaled(l),
		Source: l.Source, Assumed: l.Assumed}
	if l.Unit == "mW" {
		item.Unit, item.Count = "mW·ns", count*r.Seconds*1e9
	}
	if l.Of != "none" {
		size, ok := capacity(c.machine, l.Of)
		if !ok {
			return nil
		}
		if l.Bytes > 0 {
			item.Factor *= math.Pow(size/l.Bytes, t.Exponent)
		}
		if l.Width != "none" {
			item.Factor *= width(c.machine, l.Of, l.Width) / l.Bits
		}
	}
	r.Items = append(r.Items, item)
	return nil
}

// Total returns the energy in joules, with exact bounds: all values low, and all high.
func (r *Result) Total() (sum Range) {
	for i := range r.Items {
		sum = sum.Plus(r.Items[i].Joules())
	}
	return sum
}

// Half returns half the 95 % confidence interval of the nominal energy that comes from estimated counts, if their
// errors go together; 0: the counts are exact.
func (r *Result) Half() (sum float64) {
	for i := range r.Items {
		if x := &r.Items[i]; x.Half > 0 {
			sum += x.Half * x.Factor * x.Each.Nominal * 1e-12
		}
	}
	return sum
}

// Watts returns the mean power of an energy.
func (r *Result) Watts(joules float64) float64 {
	if r.Seconds == 0 {
		return 0
	}
	return joules / r.Seconds
}

// Share is the energy of one part of the machine.
type Share struct {
	Part   string `json:"part"`
	Joules Range  `json:"joules"`
}

// Parts sums the items by part, in the order of the table; DRAM is last. The sums are the total.
func (r *Result) Parts() (list []Share) {
	for i := range r.Items {
		x := &r.Items[i]
		at := slices.IndexFunc(list, func(s Share) bool { return s.Part == x.Part })
		if at < 0 {
			at, list = len(list), append(list, Share{Part: x.Part})
		}
		list[at].Joules = list[at].Joules.Plus(x.Joules())
	}
	return list
}

// Static reports whether a part is spent whatever the machine does: the power of lines in mW.
func (i *Item) static() bool { return strings.HasPrefix(i.Unit, "mW") }

// Dynamic returns the nominal energy of events alone, without leakage and standby.
func (r *Result) Dynamic() (joules float64) {
	for i := range r.Items {
		if !r.Items[i].static() {
			joules += r.Items[i].Joules().Nominal
		}
	}
	return joules
}

// draws is how often values are drawn for an interval, and 95 % of them lie within.
const draws, within = 4000, 0.95

// value is the value of a range at a place of 0..1: Low at 0, Nominal at 0.5, High at 1, in between by equal factors
// where there are such.
func (r Range) value(at float64) float64 {
	from, to, f := r.Low, r.Nominal, 2*at
	if at >= 0.5 {
		from, to, f = r.Nominal, r.High, 2*at-1
	}
	if from == 0 {
		return to * f
	}
	return from * math.Pow(to/from, f)
}

// sampled returns the bounds of a function's values within which 95 % lie, if each item's value is drawn
// independently. of gets the place of the value of every name.
func sampled(names []string, of func(place map[string]float64) float64) (low, high float64) {
	random := rand.New(rand.NewPCG(40, 1)) // equal inputs give equal intervals
	values, place := make([]float64, draws), map[string]float64{}
	for i := range values {
		for _, n := range names {
			place[n] = random.Float64()
		}
		values[i] = of(place)
	}
	slices.Sort(values)
	tail := int(draws * (1 - within) / 2)
	return values[tail], values[draws-1-tail]
}

// at returns the energy in joules with every value at its place.
func (r *Result) at(place map[string]float64) (joules float64) {
	for i := range r.Items {
		x := &r.Items[i]
		joules += x.amount() * x.Each.value(place[x.name()])
	}
	return joules
}

// Interval returns the bounds within which the energy lies in 95 % of draws.
func (r *Result) Interval() (low, high float64) { return sampled(names(r), r.at) }

// names lists the values of results, in order.
func names(of ...*Result) (list []string) {
	seen := map[string]bool{}
	for _, r := range of {
		for i := range r.Items {
			if n := r.Items[i].name(); !seen[n] {
				seen[n] = true
				list = append(list, n)
			}
		}
	}
	return list
}

// Order compares two energies whose values are known within bounds.
type Order string

// Orders of two runs over all values of a table.
const (
	Less    Order = "less"    // with all values
	More    Order = "more"    // with all values
	Depends Order = "depends" // on the values
)

// Comparison is a ratio of two runs.
type Comparison struct {
	Nominal  float64    `json:"nominal"`
	Interval [2]float64 `json:"ci95"`   // with values drawn, alike for both
	Bounds   [2]float64 `json:"bounds"` // the least and the most with any values
	Order    Order      `json:"order"`  // of the bounds
}

// Compare returns the ratio of a's energy to b's, computed by one table; of the energy-delay product if times are
// multiplied in.
func Compare(a, b *Result, delay bool) Comparison {
	times := 1.0
	if delay && b.Seconds > 0 {
		times = a.Seconds / b.Seconds
	}
	all := names(a, b)
	c := Comparison{Nominal: times * a.Total().Nominal / b.Total().Nominal}
	c.Interval[0], c.Interval[1] = sampled(all, func(place map[string]float64) float64 {
		return times * a.at(place) / b.at(place)
	})
	c.Bounds = [2]float64{times * extreme(a, b, -1), times * extreme(a, b, 1)}
	switch {
	case c.Bounds[1] < 1:
		c.Order = Less
	case c.Bounds[0] > 1:
		c.Order = More
	default:
		c.Order = Depends
	}
	return c
}

// extreme returns the largest (sign 1) or least (-1) ratio of a to b with any values. For a ratio x, the difference
// a − x b is a sum over values, so each value's better bound is known; the ratio there is the next x (Dinkelbach),
// and when it no longer improves it is the extreme.
func extreme(a, b *Result, sign float64) (x float64) {
	type amounts struct{ a, b Range }
	of := map[string]*amounts{}
	order := names(a, b)
	for _, n := range order {
		of[n] = &amounts{}
	}
	for i := range a.Items {
		n := of[a.Items[i].name()]
		n.a = n.a.Plus(a.Items[i].Joules())
	}
	for i := range b.Items {
		n := of[b.Items[i].name()]
		n.b = n.b.Plus(b.Items[i].Joules())
	}
	x = a.Total().Nominal / b.Total().Nominal
	for range 100 {
		over, under := 0.0, 0.0
		for _, n := range order {
			v := of[n]
			if low, high := v.a.Low-x*v.b.Low, v.a.High-x*v.b.High; sign*high >= sign*low {
				over, under = over+v.a.High, under+v.b.High
			} else {
				over, under = over+v.a.Low, under+v.b.Low
			}
		}
		if under == 0 {
			return math.MaxFloat64 // all of b's values may be 0
		}
		next := over / under
		if !(sign*next > sign*x*(1+sign*1e-12)) {
			return x
		}
		x = next
	}
	return x
}
