package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/vg"

	"heddle/internal/files"
	"heddle/internal/report"
)

// figureFlags are those of heddle figure.
type figureFlags struct {
	query               report.Query
	kind, out           string
	where, labels       []string
	width, height, font string
	bare                bool
}

func newFigure() *cobra.Command {
	f := &figureFlags{}
	c := &cobra.Command{
		Use:   "figure DIRECTORY|NAME",
		Short: "Draw a figure for a paper of an experiment's results",
		Long: `Draw one figure of an experiment's results as PDF, SVG or PNG, as wide as a column of a paper
and with text as large as there. The results are a directory that heddle run has made, or
the name of an experiment whose results are in results/<name>.

--value is any statistic (heddle stats list), speedup or cycles. --x, --colour and --panel are
axes: keys of the experiment's sweep or compare, all of a key or its last parts, or variant.
What differs besides becomes a mean, which the figure says. A variant that lacks the axis below,
as a baseline without the unit, is a line across. With seeds there are 95 % confidence intervals.

` + exitHelp,
		Example: `  heddle figure quickstart
  heddle figure quickstart --out speedup.pdf --width 3.33in --font 8pt --bare
  heddle figure my --value l1d.hit_rate --x st_entries --colour variant --panel graph.file
  heddle figure my --label 'weaver=Weaver' --label 'machine.core.weaver.st_entries=entries of the ST'
  heddle figure my --where workload.algorithm=bfs --from 0.9`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.draw(c, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.query.Value, "value", "", "`statistic` that is shown (default: speedup if there is a baseline, else cycles)")
	fl.StringVar(&f.query.X, "x", "", "`axis` below (default: the first of the sweep)")
	fl.StringVar(&f.query.Colour, "colour", "", "`axis` of the series (default: variant)")
	fl.StringVar(&f.query.Panel, "panel", "", "`axis` of panels side by side")
	fl.StringVar(&f.kind, "kind", "", "bars, lines or scatter (default: lines over numbers, else bars)")
	fl.StringArrayVar(&f.where, "where", nil, "only points with that value, `AXIS=VALUE` (may be repeated)")
	fl.StringArrayVar(&f.labels, "label", nil, "what a key, value, variant or statistic is called, `NAME=TEXT` (may be repeated)")
	fl.BoolVar(&f.query.Mean, "mean", false, "a column with the geometric mean of each series' bars (of shares: the arithmetic mean)")
	fl.Float64Var(&f.query.From, "from", 0, "begin the values' axis there, which it says")
	fl.StringVar(&f.query.Title, "title", "", "title (default: what is shown)")
	fl.StringVar(&f.out, "out", "", "`file`, .pdf, .svg or .png (default: figure.pdf in the results' directory)")
	fl.StringVar(&f.width, "width", "", "width of the file: `length` in in, cm, mm or pt (default: what the data need)")
	fl.StringVar(&f.height, "height", "", "height of the file")
	fl.StringVar(&f.font, "font", "9pt", "size of text, 4pt to 40pt")
	fl.BoolVar(&f.bare, "bare", false, "without title and note, which a paper has in its caption")
	return c
}

func (f *figureFlags) draw(c *cobra.Command, name string) error {
	dir, err := report.Find(name)
	if err != nil {
		return err
	}
	style := report.Style{Bare: f.bare}
	for _, l := range []struct {
		flag, text string
		to         *vg.Length
		low, high  vg.Length
	}{{"width", f.width, &style.Width, 72, 7200}, {"height", f.height, &style.Height, 72, 7200}, {"font", f.font, &style.Font, 4, 40}} {
		if *l.to, err = length(l.text, l.low, l.high); err != nil {
			return fmt.Errorf("--%s %s: %w", l.flag, l.text, err)
		}
	}
	if f.query.Where, err = named("where", f.where); err != nil {
		return err
	}
	if f.query.Labels, err = named("label", f.labels); err != nil {
		return err
	}
	f.query.Kind = report.Kind(f.kind)
	if f.out == "" {
		f.out = filepath.Join(dir, "figure.pdf")
	}
	format := report.Format(strings.TrimPrefix(filepath.Ext(f.out), "."))
	if !slices.Contains([]report.Format{report.PDF, report.SVG, report.PNG}, format) {
		return fmt.Errorf("--out %s: expected a name that ends in .pdf, .svg or .png", f.out)
	}
	r, err := report.Read(dir)
	if err != nil {
		return err
	}
	panels, err := r.Query(f.query)
	if err != nil {
		return err
	}
	picture, err := report.Draw(panels, style, format)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.out), 0o755); err != nil {
		return err
	}
	if err := files.Write(f.out, picture); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s\n", f.out)
	if note := panels[0].Note; f.bare && note != "" {
		fmt.Fprintf(c.ErrOrStderr(), "for its caption: %s\n", strings.TrimSpace(note))
	}
	return nil
}

// length reads a length on paper; "" is 0.
func length(text string, low, high vg.Length) (vg.Length, error) {
	if text == "" {
		return 0, nil
	}
	l, err := vg.ParseLength(text)
	if err != nil || text != "" && strings.Trim(text, "0123456789.") == "" {
		return 0, errors.New("expected a number with in, cm, mm or pt, such as 3.33in")
	}
	if !(l >= low && l <= high) {
		return 0, fmt.Errorf("expected %.4gpt to %.4gpt", low.Points(), high.Points())
	}
	return l, nil
}

// named reads NAME=TEXT.
func named(flag string, list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--%s %s: expected NAME=TEXT", flag, text)
		}
		out[name] = value
	}
	return out, nil
}
