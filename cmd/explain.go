package cmd

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"heddle/experiment/explain"
	"heddle/experiment/store"
	"heddle/internal/plain"
)

// newExplain returns heddle explain.
func newExplain() *cobra.Command {
	f := resultsFlags{}
	c := f.addJSON(f.command("explain NAME [A] [B]", "Explain why one point of an experiment is faster than another",
		"  heddle explain quickstart\n  heddle explain quickstart edge weaver\n  heddle explain quickstart 2 3 --json | "+
			"jq .findings\n  heddle explain study schedule=warp,kron schedule=weaver,kron",
		cobra.RangeArgs(1, 3), nil))
	c.RunE = func(c *cobra.Command, args []string) error { return f.explain(c, args) }
	c.Long = `Explain why one point of an experiment is faster than another: split the difference of their cycles into
parts that sum to it, from the stored statistics.

A and B are numbers of points, or values of axes with commas between them (weaver; schedule=warp,kron). If several
points match, the pair is taken that differs in the fewest axes, then the one with the largest speedup. Without them,
B is the point with the highest speedup and A its baseline; with one, that is B.

Every cycle of a core's issue slots either issues an instruction or has one cause for which it does not. A part is
such a count over the issue slots of the machine, so the parts of a point sum to its cycles, with two more: cores that
have ended wait for the last one, and the host launches kernels. The difference of each part is split again: "by
number" is due to the number of instructions (of launches), at the mean cycles per instruction of both points; "by
each" is due to the cycles per instruction, at the mean number.

A cause is counted by priority: an empty slot goes under the stall of the instruction furthest along, else under that
of the lowest-numbered warp. Other warps may wait for other reasons, so a cause that shrinks can uncover another.
The line warps has the states of all warps instead (core.warps.*), in cycles of a core. Points that were simulated
with stats.shared_stalls: true have the line shared in its place: each empty slot divided among the causes of all its
warps, so that those sum to the cycles too; --shared explains everything by them. Super-steps are matched by
number; those of one point alone have a line of their own. The line in it splits the difference in the super-step
that where names, by cause; --json has the causes of all. Points that an earlier heddle simulated have none.`
	c.Flags().BoolVar(&f.shared, "shared", false, "share each empty issue slot among all warps of its slice, which "+
		"the points must have counted (stats.shared_stalls)")
	c.Flags().BoolVar(&f.whatIf, "whatif", false, "also simulate both points with launches that cost nothing, an L1D "+
		"of 16 times the ways, a load-store unit that is not full, and a DRAM clock of 10 GHz, each alone and all "+
		"together")
	c.Flags().StringVar(&f.out, "out", "results", "`directory` of the results' directories")
	return c
}

func (f *resultsFlags) explain(c *cobra.Command, args []string) error {
	w := c.OutOrStdout()
	s, err := f.open(args[0])
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // read only
	var points []store.Point
	if err := s.Each(store.Want{}, func(p *store.Point) error { points = append(points, *p); return nil }); err != nil {
		return err
	}
	a, b, note, err := explain.Choose(points, args[1:]...)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	for _, p := range []**store.Point{&a, &b} {
		if *p, _, err = s.Point((*p).Position); err != nil {
			return err
		}
	}
	of := explain.Explain
	if f.shared {
		of = explain.ExplainShared
	}
	e, err := of(explain.Pair(a, b))
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	var ideal *explain.WhatIf
	if f.whatIf {
		if ideal, err = whatIf(c.Context(), c.ErrOrStderr(), a, b); err != nil {
			return err
		}
	}
	if f.json {
		doc := e.JSON()
		doc.WhatIf = ideal
		return printJSON(w, doc)
	}
	if note != "" {
		fmt.Fprintf(w, "note: %s\n", plain.Line(note))
	}
	text := e.Text()
	if ideal != nil {
		text += "\n" + ideal.Text()
	}
	_, err = io.WriteString(w, plain.Lines(text))
	return err
}
