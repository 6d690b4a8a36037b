package cmd

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"heddle/experiment"
	"heddle/report"
)

func newReport() *cobra.Command {
	var out, baseline string
	c := &cobra.Command{
		Use:   "report DIRECTORY|NAME...",
		Short: "Build an HTML report of an experiment's results",
		Long: `Build a page with the plots, tables and statistics of an experiment's results: one HTML file
that holds all it needs and opens offline, and each plot as an SVG file in the directory
figures beside it. The results are a directory that heddle run has made, or the name of
an experiment whose results are in results/<name>. Several results of one experiment, as of
its shards, make one page, for which they are merged in a temporary directory. Speedups are
over the first variant of compare, or over that of --baseline; nothing is simulated for it.

` + exitHelp,
		Example: "  heddle report quickstart\n  heddle report results/quickstart --out /tmp/quickstart.html\n  " +
			"heddle report quickstart --baseline edge\n  " +
			"heddle report results/my/shards/* --out my.html",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return reportMerged(c, args, out, baseline)
			}
			dir, err := report.Find(args[0])
			if err != nil {
				return err
			}
			made, err := makeReport(dir, out, baseline)
			if err == nil {
				fmt.Fprintln(c.OutOrStdout(), made)
			}
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "", "the page's `file`; default: report.html in the results' directory")
	addBaseline(c, &baseline)
	return c
}

// reportMerged makes one report of several results.
func reportMerged(c *cobra.Command, args []string, out, baseline string) (err error) {
	if out == "" {
		return errors.New("--out: expected a file for the page, since it is of several results; heddle results " +
			"merge puts them into one directory")
	}
	temporary, err := os.MkdirTemp("", "heddle-report-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	f := resultsFlags{out: "results"}
	if err := experiment.MergeSnapshot(temporary, f.paths(args)); err != nil {
		return err
	}
	made, err := makeReport(temporary, out, baseline)
	if err == nil {
		fmt.Fprintln(c.OutOrStdout(), made)
	}
	return err
}

// makeReport makes the report, and returns a message with its path.
func makeReport(dir, out, baseline string) (made string, err error) {
	file, size, err := report.WriteOver(dir, out, baseline)
	return fmt.Sprintf("report in %s (%.1f MB), its figures in %s", file, float64(size)/1e6, report.FiguresDir(file)),
		err
}

// addBaseline adds the flag that chooses the baseline of speedups.
func addBaseline(c *cobra.Command, baseline *string) {
	c.Flags().StringVar(baseline, "baseline", "", "speedups over this `variant` of compare: its name, or one of its "+
		"values that no other has, such as edge (default: the first)")
}
