package cmd

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"heddle/configs/schema"
	"heddle/experiment/config"
	"heddle/internal/files"
	"heddle/report"
)

// figureFlags holds the flags of heddle figure.
type figureFlags struct {
	spec     report.Spec
	baseline string
}

func newFigure() *cobra.Command {
	f := &figureFlags{}
	c := &cobra.Command{
		Use:   "figure DIRECTORY|NAME",
		Short: "Draw a figure of results for a paper",
		Long: `Draw one figure of an experiment's results as PDF, SVG or PNG, as wide as a column of a paper
and with text as large as there. The results are a directory that heddle run has made, or
the name of an experiment whose results are in results/<name>.

--value is any statistic (heddle stats describe), speedup or cycles. --x, --colour and --panel are
axes: keys of the experiment's sweep or compare, all of a key or its last parts, or variant.
area is that of a point's machine, storage and graph units, and unit_area that of the graph units
alone, in mm² at 28 nm as of heddle area; the Pareto front is marked.
Other axes become a mean over inputs, which the figure states, or panels. A variant that lacks the axis below,
as a baseline without the unit, is a line across. With seeds there are 95 % confidence intervals.

report.labels of the experiment name keys and values; report.figures are flags
of this command, whose figures heddle report draws beside its page.

` + exitHelp,
		Example: `  heddle figure quickstart
  heddle figure quickstart --out speedup.pdf --width 3.33in --font 8pt --bare
  heddle figure my --value l1d.hit_rate --x st_entries --colour variant --panel graph.file
  heddle figure my --label 'weaver=Weaver' --label 'machine.core.weaver.st_entries=entries of the ST'
  heddle figure quickstart --baseline edge
  heddle figure my --x area --y speedup
  heddle figure my --where workload.algorithm=bfs --from 0.9`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.draw(c, args[0]) },
	}
	f.spec.Bind(c.Flags())
	addBaseline(c, &f.baseline)
	return c
}

func (f *figureFlags) draw(c *cobra.Command, name string) error {
	dir, err := report.Find(name)
	if err != nil {
		return err
	}
	if err := f.spec.Resolve(filepath.Join(dir, "figure.pdf")); err != nil {
		return err
	}
	r, err := report.ReadOver(dir, f.baseline)
	if err != nil {
		return err
	}
	picture, note, err := r.Draw(&f.spec)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.spec.Out), 0o755); err != nil {
		return err
	}
	if err := files.Write(f.spec.Out, picture); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s\n", f.spec.Out)
	if f.spec.Bare && note != "" {
		fmt.Fprintf(c.ErrOrStderr(), "for its caption: %s\n", note)
	}
	return nil
}

// loadExperiment loads an experiment with the settings of the command line, and returns an error for figures in it that
// are not flags of heddle figure.
func loadExperiment(name string, set []string) (*schema.Loaded[config.Experiment], error) {
	l, err := config.Load(name, os.Environ(), set)
	if err != nil {
		return nil, err
	}
	if _, err := report.Specs(l.Value.Report.Figures); err != nil {
		at, _ := l.Origin("report.figures")
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return l, nil
}
