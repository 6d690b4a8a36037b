package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/experiment/tune"
	"heddle/graph"
	"heddle/internal/files"
	"heddle/internal/version"
)

// programOutcome is the result of a search of a program's schedules.
type programOutcome struct {
	Labels    []*labelOutcome `json:"labels"`
	Simulated int             `json:"simulated"`
	First     uint64          `json:"first_cycles"`
	Best      uint64          `json:"best_cycles"`
	Speedup   float64         `json:"speedup"`
	Schedules string          `json:"schedules"` // the best schedules, as workload.graphit.schedules
	Spent     bool            `json:"budget_spent"`
}

// labelOutcome is the result for one label.
type labelOutcome struct {
	tune.Count
	Search *tune.Outcome `json:"search,omitempty"` // with the other labels' schedules of that time
	Hybrid *tune.Outcome `json:"hybrid,omitempty"` // over thresholds between the fastest push and pull schedules
}

// program searches a GraphIt program's schedules.
func (f *tuneFlags) program(c *cobra.Command, l *schema.Loaded[config.Experiment]) error {
	switch {
	case len(l.Value.Compare)+len(l.Value.Sweep) > 0 || f.take != "":
		return errors.New("compare, sweep: expected none with a GraphIt program: a search is of one machine and one " +
			"graph (--set compare={}, --set sweep={})")
	case l.Value.Sample.On():
		return errors.New("sample: expected none with a GraphIt program")
	}
	p, err := tune.NewProgram(&l.Value, graph.IntWeights, tune.Kinds(f.schedules))
	if err != nil {
		return err
	}
	if f.count {
		return f.counts(c, p)
	}
	l.Value.Name += "-tune"
	f.share(c, l.Value.Run.Threads)
	t := &tuning{flags: f, loaded: l, set: f.overrides.set, numbers: map[string]int{}, search: &tune.Search{}}
	t.session = &session{flags: &f.runFlags, experiment: &l.Value, name: l.Value.Name,
		dir: filepath.Join(f.out, l.Value.Name), version: version.Text()}
	if err := t.begin(c); err != nil {
		return err
	}
	end := inOrder(c.Context())
	defer end()
	t.watch = newTuneWatch(t.name, progressTo(c), f.heartbeat)
	o := &programOutcome{}
	err = t.labels(c, p, o)
	t.watch.Close()
	t.tellGrown(c.ErrOrStderr())
	if _, endErr := t.end(nil); endErr != nil {
		return endErr
	}
	if err != nil {
		return err
	}
	if err := t.writeProgram(o); err != nil {
		return err
	}
	end()
	if f.json {
		return printJSON(c.OutOrStdout(), o)
	}
	o.write(c.OutOrStdout())
	fmt.Fprintf(c.OutOrStdout(), "heddle run %s runs the best beside the first\n", filepath.Join(t.dir, bestFile))
	return nil
}

// restrict applies --only to a label's axes, ignoring axes that only other labels have.
func (f *tuneFlags) restrict(axes []tune.Axis) error {
	for _, o := range f.only {
		key, _, _ := strings.Cut(o, "=")
		here := slices.ContainsFunc(axes, func(a tune.Axis) bool { return a.Key == key })
		if !here && slices.Contains(tune.ProgramKeys, key) {
			continue
		}
		if err := tune.Restrict(axes, o); err != nil {
			return err
		}
	}
	return nil
}

// counts prints the sizes of the spaces of labels.
func (f *tuneFlags) counts(c *cobra.Command, p *tune.Program) error {
	var list []tune.Count
	for _, label := range p.Labels() {
		_, count, err := p.Space(label, f.restrict)
		if err != nil {
			return err
		}
		list = append(list, count)
	}
	for _, label := range p.Loops() {
		_, count, err := p.Fusion(label, f.restrict)
		if err != nil {
			return err
		}
		list = append(list, count)
	}
	if f.json {
		return printJSON(c.OutOrStdout(), list)
	}
	countTable(c.OutOrStdout(), list)
	return nil
}

func countTable(w io.Writer, list []tune.Count) {
	t := newTable(w, "label", "direction", "words", "legal", "kernels", "hybrids of both")
	for _, x := range list {
		if n := x.Words[tune.Fusion]; n > 0 {
			t.AppendRow(table.Row{x.Label, "fused or not", n, x.Legal[tune.Fusion], x.Kernels[tune.Fusion], ""})
			continue
		}
		for i, d := range []string{"PUSH", "PULL"} {
			row := table.Row{x.Label, d, x.Words[d], x.Legal[d], x.Kernels[d], experiment.Thousands(uint64(x.Hybrids))}
			if i > 0 {
				row[0], row[5] = "", ""
			}
			t.AppendRow(row)
		}
	}
	t.Render()
}

// rounds bounds the passes of a search over all labels.
const rounds = 3

// labels searches one label after the other, and repeats that as long as it finds improvements.
func (t *tuning) labels(c *cobra.Command, p *tune.Program, o *programOutcome) error {
	if t.flags.budget > 0 {
		end := time.Now().Add(t.flags.budget)
		t.search.Budget.Spent = func() bool { return time.Now().After(end) }
	}
	for round := range rounds {
		before, found := o.Best, []*searched(nil)
		for _, label := range p.Labels() {
			if o.Spent {
				return nil
			}
			of, err := t.label(c, p, o, label)
			if err != nil {
				return err
			}
			found = append(found, of)
		}
		for _, label := range p.Loops() {
			if err := t.fusion(c, p, o, label); err != nil || o.Spent {
				return err
			}
		}
		for _, of := range found { // after fusion, which hybrids exclude
			if err := t.hybrids(c, p, o, of); err != nil || o.Spent {
				return err
			}
		}
		if len(p.Labels()) == 1 || round > 0 && o.Best == before {
			return nil
		}
	}
	return nil
}

// searched is a label's space after its search.
type searched struct {
	*labelOutcome
	space  *tune.Space
	search *tune.Search
}

// label searches the schedules of one label.
func (t *tuning) label(c *cobra.Command, p *tune.Program, o *programOutcome, label string) (*searched, error) {
	space, count, err := p.Space(label, t.flags.restrict)
	if err != nil {
		return nil, err
	}
	if !t.flags.json {
		fmt.Fprintf(c.OutOrStdout(), "%s: %s: %d candidates\n", t.name, label, len(space.Candidates))
	}
	of := o.label(count)
	search, err := t.find(c, space, o)
	if err != nil {
		return nil, err
	}
	found, ok := search.Outcome()
	if !ok {
		return nil, &codeError{exitFailed, fmt.Errorf("%s: no candidate has a result", label)}
	}
	of.Search = &found
	if o.First == 0 {
		o.First = found.First.Cycles
	}
	if o.Best == 0 || found.Best.Cycles <= o.Best {
		o.Best = found.Best.Cycles
		p.Choose(label, space, search.Best())
	}
	o.take(p)
	return &searched{of, space, search}, nil
}

// take records the chosen schedules as the best.
func (o *programOutcome) take(p *tune.Program) {
	o.Schedules, o.Speedup = p.Chosen()[0].Value, float64(o.First)/float64(o.Best)
}

// hybrids searches hybrids of a label's fastest push schedule and its fastest pull schedule.
func (t *tuning) hybrids(c *cobra.Command, p *tune.Program, o *programOutcome, of *searched) error {
	push, pull := of.search.Fastest("PUSH"), of.search.Fastest("PULL")
	if of.Hybrids == 0 || push < 0 || pull < 0 {
		return nil
	}
	both := p.Hybrid(of.Label, of.space, of.search.Best(), push, pull)
	if both == nil {
		return nil
	}
	return t.hybrid(c, p, o, of.labelOutcome, both)
}

// label returns the outcome of a label, which it creates or resets.
func (o *programOutcome) label(count tune.Count) *labelOutcome {
	of := &labelOutcome{Count: count}
	if i := slices.IndexFunc(o.Labels, func(x *labelOutcome) bool { return x.Label == count.Label }); i >= 0 {
		o.Labels[i] = of
	} else {
		o.Labels = append(o.Labels, of)
	}
	return of
}

// fusion tests whether a loop is faster as one launch or on the host.
func (t *tuning) fusion(c *cobra.Command, p *tune.Program, o *programOutcome, label string) error {
	space, count, err := p.Fusion(label, t.flags.restrict)
	if err != nil || space == nil || len(space.Candidates) < 2 {
		return err
	}
	search, err := t.find(c, space, o)
	if err != nil {
		return err
	}
	found, ok := search.Outcome()
	if !ok {
		return nil
	}
	o.label(count).Search = &found
	if found.Best.Cycles < o.Best {
		o.Best = found.Best.Cycles
		p.Choose(label, space, search.Best())
		o.take(p)
	}
	return nil
}

// hybrid searches for a threshold with which two schedules are faster than one.
func (t *tuning) hybrid(c *cobra.Command, p *tune.Program, o *programOutcome, of *labelOutcome,
	both *tune.Space) error {
	search, err := t.find(c, both, o)
	if err != nil {
		return err
	}
	if found, ok := search.Outcome(); ok {
		of.Hybrid = &found
		if found.Best.Cycles < o.Best {
			o.Best = found.Best.Cycles
			p.Choose(of.Label, both, search.Best())
			if err := p.Unfuse(); err != nil {
				return err
			}
			o.take(p)
		}
	}
	return nil
}

// find searches a space with the remaining budget.
func (t *tuning) find(c *cobra.Command, space *tune.Space, o *programOutcome) (*tune.Search, error) {
	s := &tune.Search{Space: space, First: space.First(), Whole: t.flags.whole, Quick: t.flags.quick,
		Budget: tune.Budget{Spent: t.search.Budget.Spent}}
	if t.flags.points > 0 {
		if s.Budget.Points = t.flags.points - o.Simulated; s.Budget.Points <= 0 {
			o.Spent = true
			s.Budget.Points = 1 // the first candidate, as the baseline
		}
	}
	t.search = s
	s.Evaluate = func(ctx context.Context, list []int, most uint64) ([]tune.Trial, error) {
		return t.evaluate(ctx, list, most, false)
	}
	find := s.Run
	if t.flags.exhaustive {
		find = s.All
	}
	trials, err := find(c.Context())
	o.Simulated += len(trials)
	o.Spent = o.Spent || s.Spent()
	return s, err
}

// write prints an outcome.
func (o *programOutcome) write(w io.Writer) {
	var counts []tune.Count
	for _, l := range o.Labels {
		counts = append(counts, l.Count)
	}
	countTable(w, counts)
	for _, l := range o.Labels {
		fmt.Fprintf(w, "\n%s, with the other labels as they were when it was searched:\n", l.Label)
		l.Search.Write(w)
		if l.Hybrid != nil {
			fmt.Fprintf(w, "%s, as a hybrid:\n", l.Label)
			l.Hybrid.Write(w)
		}
	}
	fmt.Fprintf(w, "\nin all %d simulated: first %s cycles, best %s, %.2f×, with the schedules\n%s\n",
		o.Simulated, experiment.Thousands(o.First), experiment.Thousands(o.Best), o.Speedup, o.Schedules)
	if o.Spent {
		fmt.Fprintln(w, "the budget was spent: there may be a better one")
	}
}

// writeProgram writes the outcome, and an experiment that compares the best schedules with the first.
func (t *tuning) writeProgram(o *programOutcome) error {
	var b bytes.Buffer
	if err := printJSON(&b, o); err != nil {
		return err
	}
	best := t.loaded.Value
	best.Name += "-best" // keeps its results apart from the candidates'
	best.Compare = schema.Variants{
		{Set: []experiment.Setting{{Key: tune.SchedulesKey, Value: string(best.Workload.Schedules)}}},
		{Set: []experiment.Setting{{Key: tune.SchedulesKey, Value: o.Schedules}}},
	}
	return errors.Join(
		files.Write(filepath.Join(t.dir, tuneFile), b.Bytes()),
		files.Write(filepath.Join(t.dir, bestFile), config.Schema.YAML(best)),
	)
}
