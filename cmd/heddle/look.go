package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"heddle/configs"
	"heddle/internal/experiment"
)

// lookFlags are the settings of heddle look.
type lookFlags struct {
	overrides machineFlags
	window    windowFlags
	point     int
	maxCycles uint64
}

func newLook() *cobra.Command {
	var f lookFlags
	c := &cobra.Command{
		Use:   "look EXPERIMENT",
		Short: "Run one point of an experiment, and write down a window of it",
		Long: `Run one point of an experiment, and write down what happens in a window of cycles, cores and
warps: for the pipeline viewer Konata, or over time for ui.perfetto.dev. The result is verified as
heddle run does, and not stored. Cycles go on through all launches. See docs/looking.md.

` + exitHelp,
		Example: `  heddle look quickstart --point 3 --window cycles=20000..22000,cores=0,warps=0..3 --konata pipeline.log
  heddle look my.yaml --window cycles=0..100000 --perfetto trace.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	fl := c.Flags()
	fl.IntVar(&f.point, "point", 0, "number of the point, from 1, as heddle run --dry-run lists them (0: there must be only one)")
	fl.Uint64Var(&f.maxCycles, "max-cycles", 0, "give up after that many cycles (0: no limit)")
	f.window.add(c)
	f.overrides.add(c)
	return c
}

func (f *lookFlags) run(c *cobra.Command, name string) error {
	if f.window.konata == "" && f.window.perfetto == "" {
		return errors.New("expected --konata FILE or --perfetto FILE")
	}
	l, err := configs.LoadExperiment(name, os.Environ(), f.overrides.set)
	if err != nil {
		return err
	}
	points, err := experiment.Points(l, f.overrides.set)
	if err != nil {
		return err
	}
	if f.point == 0 && len(points) > 1 || f.point < 0 || f.point > len(points) {
		return fmt.Errorf("--point %d: the experiment has %d points, and one is looked at: expected 1 to %d (heddle run --dry-run lists them)", f.point, len(points), len(points))
	}
	i := max(0, f.point-1)
	r := &experiment.Runner{Points: points[i : i+1], MaxCycles: f.maxCycles, Observer: quiet{}, Watch: f.window.attach}
	o := r.Run(c.Context())[0]
	if err := errors.Join(failed(o.Err), f.window.close(c)); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %s cycles\n", experiment.Label(points[i].Axes), experiment.Thousands(o.Cycles))
	return nil
}
