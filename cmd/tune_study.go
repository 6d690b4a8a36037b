package cmd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"heddle/components/accel"
	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/experiment/tune"
	"heddle/internal/files"
	"heddle/internal/version"
)

// Files of a study.
const (
	studyFile   = "study.json"
	studyTables = "study.md"
)

// study runs a search for each point of an experiment with axes.
func (f *tuneFlags) study(c *cobra.Command, name string, l *schema.Loaded[config.Experiment]) error {
	if len(l.Value.Exclude) > 0 {
		return errors.New("exclude: expected none: a study searches each point of the sweep for every variant")
	}
	points, err := experiment.Points(l, f.overrides.set)
	if err != nil {
		return err
	}
	s := &tune.Study{Name: l.Value.Name}
	var taken *tune.Study
	if f.take != "" {
		if taken, err = tune.ReadStudy(f.take); err != nil {
			return fmt.Errorf("--take %w", err)
		}
	}
	variants, shared := variantNames(points), sharedKeys(points)
	dir := filepath.Join(f.out, l.Value.Name+"-tune")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range points {
		if err := f.solve(c, name, dir, s, taken, points, i, shared, variants[variantKey(&points[i])]); err != nil {
			return fmt.Errorf("at the point %s: %w", experiment.Label(points[i].Axes), err)
		}
		if err := writeStudy(dir, s); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(c.OutOrStdout(), s)
	}
	s.Write(c.OutOrStdout())
	fmt.Fprintf(c.OutOrStdout(), "%s has these and more tables, %s all figures\n", filepath.Join(dir, studyTables),
		studyFile)
	return nil
}

// solve runs the search for one point.
func (f *tuneFlags) solve(c *cobra.Command, name, dir string, s, taken *tune.Study, points []experiment.Point, i int,
	shared []string, variant string) error {
	p := &points[i]
	set := append(slices.Clone(f.overrides.set), "compare={}", "sweep={}", "exclude=[]")
	for _, a := range p.Settings {
		set = append(set, a.Key+"="+a.Value)
	}
	label := fmt.Sprintf("%0*d%s", len(fmt.Sprint(len(points))), i+1, dashed(p.Axes))
	own := *f
	own.out, own.whole = dir, true
	own.results = append(slices.Clone(f.results), f.out)
	axes, more := problemAxes(p, shared)
	if len(more) > 0 {
		variant += " " + experiment.Label(more)
	}
	if q, x := taken.Find(axes, variant); x != nil {
		problem := problemOf(s, axes, variant)
		problem.Graph, problem.Of = q.Graph, append(problem.Of, x)
		return nil
	}
	own.hints = s.BestOf(variant)
	l, err := own.load(name, append(set, "name="+label))
	if err != nil {
		return err
	}
	o, t, err := own.search(c, l, set, label)
	if err != nil {
		return err
	}
	problem := problemOf(s, axes, variant)
	x := &tune.Solution{Variant: variant, Version: version.Text(), Outcome: *o}
	problem.Graph = t.graph
	x.First, _ = t.explain(&o.First)
	x.Best, x.Stalls = t.explain(&o.Best)
	for n := range t.runner.Points {
		x.Seconds += t.outcomes[n].Seconds
	}
	problem.Of = append(problem.Of, x)
	if !f.json {
		fmt.Fprintf(c.OutOrStdout(), "%s: %.2f times as fast as its first\n    %s\n", label, o.Best.Speedup,
			o.Best.Kernel)
	}
	return nil
}

// variantKey returns a text that identifies a variant.
func variantKey(p *experiment.Point) string {
	var values []string
	for _, a := range p.Variant {
		values = append(values, a.Value)
	}
	return strings.Join(values, " ")
}

// variantNames returns short names of variants: their own, or those of their graph units, or software, if they are
// distinct.
func variantNames(points []experiment.Point) map[string]string {
	short, full := map[string]string{}, map[string]string{}
	taken := map[string]bool{}
	for i := range points {
		p := &points[i]
		key := variantKey(p)
		if _, known := full[key]; known {
			continue
		}
		full[key], short[key] = cmp.Or(key, "kernels"), "software"
		switch u := accel.KindOf(p.Config.Machine.Core.Unit.Spec); {
		case len(p.Variant) == 1 && p.Variant[0].Key == schema.VariantKey:
			short[key] = p.Variant[0].Value
		case u != nil:
			short[key] = u.Name
		}
		taken[short[key]] = true
	}
	if len(taken) < len(short) {
		return full
	}
	return short
}

// sharedKeys returns the keys of axes that all points have, which identify a problem; other axes belong to a variant.
func sharedKeys(points []experiment.Point) (keys []string) {
	for _, a := range points[0].Axes[len(points[0].Variant):] {
		keys = append(keys, a.Key)
	}
	for i := range points {
		keys = slices.DeleteFunc(keys, func(k string) bool {
			return !slices.ContainsFunc(points[i].Axes, func(a experiment.Setting) bool { return a.Key == k })
		})
	}
	return keys
}

// problemAxes divides a point's axes, without its variant's, into shared ones and its own.
func problemAxes(p *experiment.Point, shared []string) (axes, own []experiment.Setting) {
	axes = []experiment.Setting{}
	for _, a := range p.Axes[len(p.Variant):] {
		if slices.Contains(shared, a.Key) {
			axes = append(axes, a)
		} else {
			own = append(own, a)
		}
	}
	return axes, own
}

// problemOf returns the problem of a point, which it creates if necessary.
func problemOf(s *tune.Study, axes []experiment.Setting, variant string) *tune.Problem {
	if !slices.Contains(s.Variants, variant) {
		s.Variants = append(s.Variants, variant)
	}
	for _, q := range s.Problems {
		if slices.Equal(q.Axes, axes) {
			return q
		}
	}
	s.Problems = append(s.Problems, &tune.Problem{Axes: axes})
	return s.Problems[len(s.Problems)-1]
}

// plainValue matches values that can be part of a file name.
var plainValue = regexp.MustCompile(`^[\w.-]{1,40}$`)

// dashed returns the part of a directory's name that identifies a point.
func dashed(axes []experiment.Setting) (name string) {
	for _, a := range axes {
		if v := filepath.Base(a.Value); plainValue.MatchString(v) {
			name += "-" + strings.TrimSuffix(v, ".gz")
		}
	}
	return name
}

// explain returns the statistics of a candidate's point, preferring a completely simulated one.
func (t *tuning) explain(r *tune.Ranked) (stats map[string]float64, stalls string) {
	n, ok := t.numbers[experiment.Label(append(slices.Clone(r.Settings()), wholeSetting))]
	if !ok {
		label := experiment.Label(r.Settings())
		if n, ok = t.numbers[label]; !ok {
			panic("BUG: tune: no point of the candidate " + label)
		}
	}
	o := &t.outcomes[n]
	stats = map[string]float64{}
	for _, x := range tune.Explained {
		if s, ok := o.Stats.Get(x.Name); ok {
			stats[x.Name] = s.Float()
		}
	}
	return stats, experiment.TopStalls(o.Stats.Tree(), 2)
}

func writeStudy(dir string, s *tune.Study) error {
	var b bytes.Buffer
	if err := printJSON(&b, s); err != nil {
		return err
	}
	return errors.Join(files.Write(filepath.Join(dir, studyFile), b.Bytes()),
		files.Write(filepath.Join(dir, studyTables), []byte(s.Markdown())))
}
