package sim

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"heddle/components/clock"
	"heddle/components/core"
	"heddle/sim/stats"
)

// Sampling asks for the statistics of every interval of a run.
type Sampling struct {
	Interval uint64   // cycles
	Keys     []string // names of statistics; * stands for any part of one
	MaxRows  int      // at least 2; when reached, neighbours are merged and the interval doubles
}

// Samples are the statistics of a run's intervals.
type Samples struct {
	Interval uint64     // in the end: more than was asked for, if there would have been too many rows
	Names    stats.Tree // columns of each row, without values
	Rows     []Sample
}

// Sample is one interval. The counts of all intervals of a run sum to the run's.
type Sample struct {
	From, To uint64 // cycles of the machine's clock: From is the last one before it, To its last
	Values   []stats.Stat
}

// sampler samples the machine at the end of every interval in which a core had work. It only observes: cycles do not
// depend on it.
type sampler struct {
	m       *Machine
	handle  clock.Handle
	rows    int // at most
	single  bool
	columns []int // of the tree that it asks for
	begun   clock.Cycle
	before  stats.Tree
	running bool
	Samples
}

// sample joins a sampler to the machine, if one is asked for.
func (m *Machine) sample(s *Sampling) error {
	if s == nil {
		return nil
	}
	if s.Interval == 0 || s.MaxRows < 2 {
		return errors.New("sampling: expected an interval of at least 1 and at least 2 rows")
	}
	names, err := m.Select(s.Keys)
	if err != nil {
		return err
	}
	d, err := m.System.AddObserver("samples", corePeriod)
	if err != nil {
		return err
	}
	p := &sampler{m: m, rows: s.MaxRows, Samples: Samples{Interval: s.Interval}}
	p.choose(names)
	p.handle = d.Add(p)
	m.sampler = p
	return nil
}

// Select returns the names of the statistics that keys ask for, in the machine's order. A key
// that asks for none is an error.
func (m *Machine) Select(keys []string) (names []string, err error) {
	all := m.Statistics()
	used := make([]bool, len(keys))
	for _, s := range all {
		wanted := false
		for i, k := range keys {
			ok, err := path.Match(k, s.Name)
			if err != nil {
				return nil, fmt.Errorf("%s: expected a statistic's name, in which * may stand for any part", k)
			}
			used[i], wanted = used[i] || ok, wanted || ok
		}
		if wanted {
			names = append(names, s.Name)
		}
	}
	if i := slices.Index(used, false); i >= 0 {
		return nil, fmt.Errorf("%s: the machine has no such statistic; heddle stats describe lists them", keys[i])
	}
	return names, nil
}

// choose finds the columns of names, in the short tree if all are there.
func (p *sampler) choose(names []string) {
	p.single = len(within(p.m.sums(), names)) < len(names)
	tree := p.tree()
	p.columns = within(tree, names)
	for _, c := range p.columns {
		s := tree[c]
		p.Names = append(p.Names, s.Since(s))
	}
}

func (p *sampler) tree() stats.Tree {
	if p.single {
		return p.m.Statistics()
	}
	return p.m.sums()
}

func within(t stats.Tree, names []string) (columns []int) {
	for i, s := range t {
		if slices.Contains(names, s.Name) {
			columns = append(columns, i)
		}
	}
	return columns
}

// values are those of the columns, now.
func (p *sampler) values() stats.Tree {
	tree := p.tree()
	out := make(stats.Tree, len(p.columns))
	for i, c := range p.columns {
		out[i] = tree[c]
	}
	return out
}

// BeginSamples begins the first interval, between launches; it does nothing without sampling.
func (m *Machine) BeginSamples() {
	if p := m.sampler; p != nil {
		p.begun, p.before, p.running = m.domain.After()-1, p.values(), true
	}
}

// EndSamples ends the last interval, between launches or after the last one. Without sampling there
// are no samples.
func (m *Machine) EndSamples() *Samples {
	p := m.sampler
	if p == nil {
		return nil
	}
	if p.running {
		p.end(m.domain.After() - 1)
		p.running = false
	}
	return &p.Samples
}

// wake sets the timer for the end of the interval.
func (p *sampler) wake(now clock.Cycle) {
	if p.running {
		p.handle.WakeAt((now/p.Interval + 1) * p.Interval)
	}
}

// Tick ends an interval. Between launches there is nothing to see.
func (p *sampler) Tick(now clock.Cycle) bool {
	if p.running && now%p.Interval == 0 && p.m.working() {
		p.m.settle()
		p.end(now)
		p.wake(now)
	}
	return false
}

// end ends an interval that has begun.
func (p *sampler) end(now clock.Cycle) {
	values := p.values()
	p.Rows = append(p.Rows, Sample{p.begun, now, values.Since(p.before)})
	p.begun, p.before = now, values
	for len(p.Rows) >= p.rows {
		p.halve()
	}
}

// halve puts neighbours together.
func (p *sampler) halve() {
	p.Interval *= 2
	kept := p.Rows[:0]
	for _, r := range p.Rows {
		if n := len(kept); n > 0 && kept[n-1].To%p.Interval != 0 {
			kept[n-1] = kept[n-1].plus(r)
			continue
		}
		kept = append(kept, r)
	}
	p.Rows = kept
}

func (s Sample) plus(next Sample) Sample {
	s.To = next.To
	for i := range s.Values {
		s.Values[i] = s.Values[i].Plus(next.Values[i])
	}
	return s
}

// working reports whether a core has work.
func (m *Machine) working() bool {
	return slices.ContainsFunc(m.Cores, func(c *core.Core) bool { return !c.Done() })
}

// settle has all units count up to this instant, though they may sleep. Caches and memory do when they are asked.
func (m *Machine) settle() {
	m.System.CatchUp()
	for _, c := range m.Cores {
		c.Settle()
	}
	for _, u := range m.Units {
		u.Statistics(m.domain.Cycle())
	}
}
