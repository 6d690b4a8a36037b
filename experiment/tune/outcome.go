package tune

import (
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/internal/fit"
)

// Outcome is the result of a search.
type Outcome struct {
	Candidates int      `json:"candidates"` // legal combinations
	Simulated  int      `json:"simulated"`  // to the end or abandoned
	Abandoned  int      `json:"abandoned"`
	Failed     int      `json:"failed"`
	Cycles     uint64   `json:"cycles"` // of all simulations
	Spent      bool     `json:"budget_spent"`
	Quick      bool     `json:"quick,omitempty"` // the search ended after its narrow descent
	Exact      int      `json:"exact,omitempty"` // finalists of a sampled search, which were simulated completely
	First      Ranked   `json:"first"`           // the workload's own choices, the rest at auto
	Best       Ranked   `json:"best"`
	Second     *Ranked  `json:"second,omitempty"`
	Worst      *Ranked  `json:"worst,omitempty"` // of the candidates that were simulated to the end
	Schedules  []Ranked `json:"schedules"`       // each schedule with the choices that suit it
	Worth      []Worth  `json:"worth"`
}

// Ranked is a candidate with its result.
type Ranked struct {
	Kernel  string            `json:"kernel"`
	Choices map[string]string `json:"choices"`
	Cycles  uint64            `json:"cycles"`
	// Half is half the 95 % confidence interval of estimated cycles.
	Half     float64 `json:"half,omitempty"`
	AtLeast  bool    `json:"at_least,omitempty"` // abandoned: Cycles is a lower bound
	Speedup  float64 `json:"speedup"`            // over the first candidate
	settings []experiment.Setting
}

// Worth is the cost of a value on one axis: the fastest candidate with that value against the best of all.
type Worth struct {
	Key     string  `json:"key"`
	Value   string  `json:"value"`
	Best    bool    `json:"best"`     // the best candidate has the value
	Cycles  uint64  `json:"cycles"`   // 0: no candidate with the value was simulated
	AtLeast bool    `json:"at_least"` // all candidates with the value were abandoned: Cycles is a lower bound
	Over    float64 `json:"over_best"`
}

// Outcome returns the result of the search; found is false if no candidate has a result.
func (s *Search) Outcome() (o Outcome, found bool) {
	o = Outcome{Candidates: len(s.Space.Candidates), Simulated: len(s.known), Spent: s.budgetSpent, Quick: s.Quick,
		Exact: len(s.exact)}
	for _, t := range s.exact {
		o.Cycles += t.Cycles
	}
	var ended []int
	for _, i := range s.order {
		t := s.known[i]
		o.Cycles += t.Cycles
		switch {
		case t.Cycles == 0:
			o.Failed++
		case t.Abandoned:
			o.Abandoned++
		default:
			ended = append(ended, i)
		}
	}
	if s.best < 0 {
		return o, false
	}
	slices.SortStableFunc(ended, s.compare)
	o.First, o.Best = s.ranked(s.First), s.ranked(s.best)
	if len(ended) > 1 {
		second, worst := s.ranked(ended[1]), s.ranked(ended[len(ended)-1])
		o.Second, o.Worst = &second, &worst
	}
	for _, i := range s.perSchedule {
		if s.final(i).Cycles > 0 {
			o.Schedules = append(o.Schedules, s.ranked(i))
		}
	}
	o.Worth = s.worth()
	return o, true
}

func (s *Search) ranked(i int) Ranked {
	r := Ranked{Kernel: s.Space.Name(i), Cycles: s.final(i).Cycles, Half: s.final(i).Half,
		AtLeast: s.final(i).Abandoned, settings: s.Space.Settings(i), Choices: map[string]string{}}
	for _, x := range s.Space.values(i) {
		r.Choices[x.Key] = x.Value
	}
	if first := s.final(s.First); first.Cycles > 0 && r.Cycles > 0 {
		r.Speedup = float64(first.Cycles) / float64(r.Cycles)
	}
	return r
}

// worth finds the fastest candidate for each value of each axis.
func (s *Search) worth() (list []Worth) {
	best := s.final(s.best).Cycles
	for a, axis := range s.Space.Axes {
		var of []Worth
		for v, value := range axis.Values {
			w := Worth{Key: axis.Key, Value: value, Best: s.Space.Candidates[s.best][a] == v}
			fastest := -1
			for _, i := range s.order {
				if s.Space.Candidates[i][a] == v && s.final(i).Cycles > 0 &&
					(fastest < 0 || s.compare(i, fastest) < 0) {
					fastest = i
				}
			}
			if fastest >= 0 {
				t := s.final(fastest)
				w.Cycles, w.AtLeast = t.Cycles, t.Abandoned
				w.Over = float64(t.Cycles) / float64(best)
				of = append(of, w)
			}
		}
		if len(of) > 1 {
			list = append(list, of...)
		}
	}
	return list
}

// Write prints an outcome as tables.
func (o *Outcome) Write(w io.Writer) {
	ranks := fit.New(w, "", "cycles", "speedup", "kernel")
	row := func(name string, r *Ranked) {
		if r != nil {
			ranks.AppendRow(table.Row{name, experiment.Thousands(r.Cycles) + experiment.Within(r.Half,
				float64(r.Cycles)), fmt.Sprintf("%.2f×", r.Speedup), r.Kernel})
		}
	}
	row("first", &o.First)
	row("best", &o.Best)
	row("second", o.Second)
	row("worst seen", o.Worst)
	ranks.Render()
	worth := fit.New(w, "choice", "value", "fastest with it", "over the best")
	key := ""
	for _, x := range o.Worth {
		if key != "" && x.Key != key {
			worth.AppendSeparator()
		}
		name, mark := experiment.Short(x.Key), ""
		if x.Key == key {
			name = ""
		}
		key = x.Key
		cycles, over := experiment.Thousands(x.Cycles), fmt.Sprintf("%.2f", x.Over)
		if x.AtLeast {
			cycles, over = "> "+cycles, "> "+over
		}
		if x.Best {
			mark = " *"
		}
		worth.AppendRow(table.Row{name, x.Value + mark, cycles, over})
	}
	if len(o.Worth) > 0 {
		worth.Render()
	}
	fmt.Fprintf(w, "%d of %d candidates simulated, %d of them abandoned behind the best so far;\n%s cycles in all\n",
		o.Simulated, o.Candidates, o.Abandoned, experiment.Thousands(o.Cycles))
	if o.Exact > 0 {
		fmt.Fprintf(w, "estimated by samples; %d simulated whole in the end, the first and those that might be the "+
			"best\n", o.Exact)
	}
	if o.Failed > 0 {
		fmt.Fprintf(w, "%d failed\n", o.Failed)
	}
	switch {
	case o.Spent:
		fmt.Fprintln(w, "the budget was spent: there may be a better one")
	case o.Quick:
		fmt.Fprintln(w, "a quick search: one without --quick may find a better one")
	}
}

// Settings returns the choices as axes of a point, in the order of the space's axes.
func (r *Ranked) Settings() []experiment.Setting { return r.settings }

// Compare returns the variants of an experiment that compares the best candidate with the first.
func (o *Outcome) Compare() schema.Variants {
	return schema.Variants{{Set: o.First.settings}, {Set: o.Best.settings}}
}
