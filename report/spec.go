package report

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/pflag"
	"gonum.org/v1/plot/vg"

	"go.yaml.in/yaml/v3"

	"heddle/experiment/config"
)

// Spec is a figure as a user asks for it, with the flags of heddle figure.
type Spec struct {
	Query
	Style
	Out    string // the file; "": for the caller to name
	Format Format

	kind, width, height, font string
	where, labels             []string
}

// Bind declares the flags of a figure.
func (s *Spec) Bind(fl *pflag.FlagSet) {
	fl.StringVar(&s.Value, "value", "", "`statistic` that is shown (default: speedup if there is a baseline, else "+
		"cycles)")
	fl.StringVar(&s.Value, "y", "", "the same as --value")
	fl.StringVar(&s.X, "x", "", "`axis` below, or area, unit_area: mm² of the machine or "+
		"of its graph units (default: the first of the sweep)")
	fl.StringVar(&s.Colour, "colour", "", "`axis` of the series (default: variant)")
	fl.StringVar(&s.Panel, "panel", "", "`axis` of panels side by side")
	fl.StringVar(&s.kind, "kind", "", "bars, lines or scatter (default: lines over numbers, else bars)")
	fl.StringArrayVar(&s.where, "where", nil, "only points with that value, `AXIS=VALUE` (may be repeated)")
	fl.StringArrayVar(&s.labels, "label", nil,
		"name of a key, value, variant or statistic in the figure, `NAME=TEXT` (may be repeated); over report.labels of "+
			"the experiment")
	fl.BoolVar(&s.Mean, "mean", false, "a column with the geometric mean of each series' bars (of shares: the "+
		"arithmetic mean)")
	fl.Float64Var(&s.From, "from", 0, "begin the values' axis there, which the figure states")
	fl.StringVar(&s.Query.Title, "title", "", "title (default: the quantity shown)")
	fl.StringVar(&s.Out, "out", "", "`file`, .pdf, .svg or .png (default: figure.pdf in the results' directory)")
	fl.StringVar(&s.width, "width", "", "width of the file: `length` in in, cm, mm or pt (default: as the data need)")
	fl.StringVar(&s.height, "height", "", "height of the file")
	fl.StringVar(&s.font, "font", "9pt", "size of text, 4pt to 40pt")
	fl.BoolVar(&s.Bare, "bare", false, "without title and note, which a paper has in its caption")
}

// Resolve checks the flags' values once they are parsed. out names the file if no flag does.
func (s *Spec) Resolve(out string) (err error) {
	for _, l := range []struct {
		flag, text string
		to         *vg.Length
		low, high  vg.Length
	}{{"width", s.width, &s.Width, 72, 7200}, {"height", s.height, &s.Height, 72, 7200},
		{"font", s.font, &s.Font, 4, 40}} {
		if *l.to, err = length(l.text, l.low, l.high); err != nil {
			return fmt.Errorf("--%s %s: %w", l.flag, l.text, err)
		}
	}
	if s.Where, err = named("--where", s.where); err != nil {
		return err
	}
	if s.Labels, err = named("--label", s.labels); err != nil {
		return err
	}
	s.Kind = Kind(s.kind)
	if s.Out == "" {
		s.Out = out
	}
	s.Format = Format(strings.TrimPrefix(filepath.Ext(s.Out), "."))
	if !slices.Contains([]Format{PDF, SVG, PNG}, s.Format) {
		return fmt.Errorf("--out %s: expected a name that ends in .pdf, .svg or .png", s.Out)
	}
	return nil
}

// length reads a length on paper; "" is 0.
func length(text string, low, high vg.Length) (vg.Length, error) {
	if text == "" {
		return 0, nil
	}
	l, err := vg.ParseLength(text)
	if err != nil || strings.Trim(text, "0123456789.") == "" {
		return 0, errors.New("expected a number with in, cm, mm or pt, such as 3.33in")
	}
	if !(l >= low && l <= high) {
		return 0, fmt.Errorf("expected %.4gpt to %.4gpt", low.Points(), high.Points())
	}
	return l, nil
}

// named parses NAME=TEXT; from is its position for messages.
func named(from string, list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%s %s: expected NAME=TEXT", from, text)
		}
		out[name] = value
	}
	return out, nil
}

// Specs reads report.figures of an experiment: the flags of a figure each. Files are named relative to the figures of a
// report's page, and are not the page's own.
func Specs(lines []string) (specs []*Spec, err error) {
	if len(lines) > maxSpecs {
		return nil, fmt.Errorf("report.figures: %d figures: expected %d at most", len(lines), maxSpecs)
	}
	seen := map[string]bool{}
	for i, line := range lines {
		wrong := func(err error) error { return fmt.Errorf("report.figures: %s: %w", line, err) }
		words, err := shellquote.Split(line)
		if err != nil {
			return nil, wrong(err)
		}
		s := &Spec{}
		fl := pflag.NewFlagSet("figure", pflag.ContinueOnError)
		fl.SetOutput(io.Discard)
		fl.Usage = func() {}
		s.Bind(fl)
		if err := fl.Parse(words); err != nil {
			return nil, wrong(err)
		}
		if fl.NArg() > 0 {
			return nil, wrong(fmt.Errorf("%s: expected flags of heddle figure alone", fl.Arg(0)))
		}
		if err := s.Resolve(fmt.Sprintf("figure-%d.pdf", i+1)); err != nil {
			return nil, wrong(err)
		}
		if s.Out != filepath.Base(s.Out) {
			return nil, wrong(fmt.Errorf("--out %s: expected the name of a file, which goes to the directory figures",
				s.Out))
		}
		if seen[s.Out] {
			return nil, wrong(fmt.Errorf("--out %s: an earlier figure has that name", s.Out))
		}
		seen[s.Out] = true
		specs = append(specs, s)
	}
	return specs, nil
}

const maxSpecs = 100

// Labels reads report.labels of an experiment.
func Labels(list []string) (map[string]string, error) {
	labels, err := named("report.labels:", list)
	for name, text := range maps.Clone(labels) {
		labels[config.KeyOf(name)] = text // a key, by whichever of its names
	}
	return labels, err
}

// LabelsOf reads report.labels from the resolved configuration of an experiment; none of one that is not ours.
func LabelsOf(resolved string) (map[string]string, error) {
	var y struct {
		Report struct {
			Labels []string
		} `yaml:"report"`
	}
	if yaml.Unmarshal([]byte(resolved), &y) != nil {
		return nil, nil
	}
	return Labels(y.Report.Labels)
}

// Draw draws the figure that a spec asks for. note is for its caption, if it is bare.
func (r *Result) Draw(s *Spec) (picture []byte, note string, err error) {
	panels, err := r.Query(s.Query)
	if err != nil {
		return nil, "", err
	}
	picture, err = Draw(panels, s.Style, s.Format)
	return picture, strings.TrimSpace(panels[0].Note), err
}
