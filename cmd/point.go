package cmd

import (
	"fmt"

	"github.com/spf13/pflag"

	"heddle/experiment"
)

// pointFlags holds the flag that selects one point of an experiment, to run alone.
type pointFlags struct {
	overrides machineFlags
	point     int
	maxCycles uint64
}

func (f *pointFlags) add(fl *pflag.FlagSet) {
	fl.IntVar(&f.point, "point", 0, "number of the point, from 1, as heddle run --dry-run lists them (0: there must "+
		"be only one)")
	fl.Uint64Var(&f.maxCycles, "max-cycles", 0, "give up after that many cycles (0: no limit)")
}

// choose returns a runner of the experiment's points, and the index of the selected one. done is the participle for
// messages.
func (f *pointFlags) choose(name, done string) (*experiment.Runner, int, error) {
	l, err := loadExperiment(name, f.overrides.set)
	if err != nil {
		return nil, 0, err
	}
	points, err := experiment.Points(l, f.overrides.set)
	if err != nil {
		return nil, 0, err
	}
	if n := len(points); f.point == 0 && n > 1 || f.point < 0 || f.point > n {
		return nil, 0, fmt.Errorf("--point %d: the experiment has %d points, and one is %s: expected 1 to %d "+
			"(heddle run --dry-run lists them)", f.point, n, done, n)
	}
	return &experiment.Runner{Points: points, MaxCycles: f.maxCycles, Observer: experiment.Quiet{}}, max(0, f.point-1),
		nil
}
