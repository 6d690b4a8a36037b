package cmd

import (
	"errors"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"heddle/experiment"
)

// gc returns the command that deletes points which no experiment has.
func (f *resultsFlags) gc() *cobra.Command {
	c := f.addJSON(f.command("gc [NAME...]", "Delete stored points that their experiment no longer has",
		"  heddle results gc --dry-run\n  heddle results gc\n  heddle results gc my", cobra.ArbitraryArgs, f.collect))
	c.Long = `Delete stored points that their experiment no longer has: of values, variants and seeds that
were taken out, and of configurations that it had before. They are in no table, and cost
nothing but room; while they are stored, an experiment that has them again is not
simulated. Without NAME, this is done for all experiments. Experiments that are running are
left out, with exit code 1.`
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "count the points, and delete none")
	return c
}

func (f *resultsFlags) collect(w io.Writer, args []string) error {
	paths := experiment.Stores(f.out)
	if len(args) > 0 {
		paths = nil
		for _, name := range args {
			s, err := f.open(name)
			if err != nil {
				return err
			}
			paths = append(paths, s.Path())
			if err := s.Close(); err != nil {
				return err
			}
		}
	}
	all, total := []experiment.Collected{}, experiment.Collected{}
	var errs error
	for _, path := range paths {
		c, err := experiment.Collect(path, f.dryRun)
		errs = errors.Join(errs, err)
		if err == nil && c.Points > 0 {
			all = append(all, c)
			total.Points, total.Bytes = total.Points+c.Points, total.Bytes+c.Bytes
		}
	}
	if errs != nil {
		errs = &codeError{exitFailed, errs}
	}
	if f.json {
		return errors.Join(printJSON(w, all), errs)
	}
	if len(all) > 0 {
		t := newTable(w, "store", "points", "size")
		for _, c := range all {
			t.AppendRow(table.Row{c.Path, c.Points, megabytes(c.Bytes)})
		}
		t.Render()
	}
	verb := "deleted"
	if f.dryRun {
		verb = "to delete"
	}
	fmt.Fprintf(w, "%d points %s, %s without their super-steps, in %d of %d stores\n", total.Points, verb,
		megabytes(total.Bytes), len(all), len(paths))
	return errs
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
