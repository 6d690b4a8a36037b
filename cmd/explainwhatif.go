package cmd

import (
	"context"
	"fmt"
	"io"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/experiment/explain"
	"heddle/experiment/store"
	"heddle/internal/resources"
)

// mostWays is the largest number of ways of a cache.
const mostWays = 256

// alternatives returns the changes of --whatif for a machine. The L1D grows by ways: a flush walks its sets.
func alternatives(e *config.Experiment) []explain.Alternative {
	l1d, larger := e.Machine.L1D, 1
	for larger < 16 && 2*larger*l1d.Ways <= mostWays {
		larger *= 2
	}
	return []explain.Alternative{
		{Name: "launches cost nothing", Settings: []string{"workload.launch_overhead=0", "workload.step_overhead=0"}},
		{Name: fmt.Sprintf("L1D %d times as large", larger), Settings: []string{
			fmt.Sprint("machine.l1d.bytes=", larger*l1d.Bytes), fmt.Sprint("machine.l1d.ways=", larger*l1d.Ways)}},
		{Name: "load-store unit not full", Settings: []string{"machine.core.lsu_queue=64",
			"machine.core.coalescer_tags=256"}},
		{Name: "DRAM clock 10 GHz", Settings: []string{"machine.memory.clock_ratio=0.1"}},
	}
}

// whatIf simulates both points with each change, and with all.
func whatIf(ctx context.Context, notes io.Writer, a, b *store.Point) (*explain.WhatIf, error) {
	r := &experiment.Runner{Jobs: resources.Processors(), Observer: experiment.Quiet{}, Brief: true}
	all := explain.Alternative{Name: "all of these"}
	var list []explain.Alternative
	for side, p := range []*store.Point{a, b} {
		l, err := config.ParseWith(fmt.Sprintf("point %d", p.Position+1), []byte(p.Config), nil)
		if err != nil {
			return nil, err
		}
		if side == 0 {
			for _, x := range alternatives(&l.Value) {
				all.Settings = append(all.Settings, x.Settings...)
				list = append(list, x)
			}
			list = append([]explain.Alternative{{}}, append(list, all)...)
		}
		for i := range list {
			one, err := config.ParseWith(fmt.Sprintf("point %d", p.Position+1), []byte(p.Config), list[i].Settings)
			if err != nil {
				return nil, fmt.Errorf("--whatif: %s: %w", list[i].Name, err)
			}
			candidate, err := experiment.Candidate(one, nil, nil, len(r.Points))
			if err != nil {
				return nil, fmt.Errorf("--whatif: %s: %w", list[i].Name, err)
			}
			r.Points = append(r.Points, candidate)
		}
	}
	fmt.Fprintf(notes, "simulates %d variants of the two points\n", len(r.Points))
	outcomes := r.Run(ctx)
	for i := range list {
		for _, o := range []*experiment.Outcome{&outcomes[i], &outcomes[len(list)+i]} {
			if o.Err != nil {
				return nil, fmt.Errorf("--whatif: %s: %w", list[i].Name, o.Err)
			}
		}
		list[i].A, list[i].B = outcomes[i].Cycles, outcomes[len(list)+i].Cycles
	}
	last := len(list) - 1
	return &explain.WhatIf{A: list[0].A, B: list[0].B, Changes: list[1:last], All: list[last]}, nil
}
