package cmd

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"heddle/experiment"
	"heddle/graph"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/sim"
)

// exportFlags holds the flags of heddle kernel export.
type exportFlags struct {
	pointFlags
	out string
}

func newKernelExport() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export EXPERIMENT -o FILE",
		Short: "Export a graph program: kernels, super-steps, graph and expected result",
		Long: `Write one point of an experiment as a program that needs no host: an ELF executable, or
a flat image if the file's name ends in .bin. It contains the kernels, the loop over
super-steps, the graph, all arrays and the expected result, and is for machines with
the cores, warps and lanes of the point's. It starts and ends as described in
docs/guide/programs.md, so heddle exec runs it on any machine of that shape, and so does
Vortex's RTL if it has the instructions, which are listed.

Its exit code: 0 the result is right; 1 it is wrong; 2 the machine has another shape;
3 the super-steps did not end.

For algorithms pagerank, spmv, bfs, sssp, cc and in-degree, with software schedules.`,
		Example: `  heddle kernel export quickstart --point 1 --set workload.kernel=compiled --set machine=vortex-rtl-a -o pr.elf
  heddle kernel export my.yaml --set workload.algorithm=bfs --set workload.direction=pull -o bfs.bin
  heddle exec bfs.bin --machine vortex-rtl-a`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVarP(&f.out, "output", "o", "", "`file` to write")
	c.Flags().IntVar(&f.point, "point", 0, "number of the point, from 1, as heddle run --dry-run lists them (0: "+
		"there must be only one)")
	f.overrides.add(c)
	return c
}

func (f *exportFlags) run(c *cobra.Command, name string) error {
	if f.out == "" {
		return errors.New("-o FILE: expected a file to write")
	}
	r, i, err := f.choose(name, "exported")
	if err != nil {
		return err
	}
	cfg := &r.Points[i].Config
	if err := experiment.Exportable(cfg); err != nil {
		return err
	}
	g, err := graph.Load(cfg.Graph)
	if err != nil {
		return err
	}
	d, err := host.NewTimed(cfg.Machine, sim.Options{})
	if err != nil {
		return err
	}
	x, err := compose.Export(c.Context(), d.Shape(), g, cfg.Workload)
	if err != nil {
		return err
	}
	if err := writeProgram(f.out, x.Program); err != nil {
		return err
	}
	describeExport(c.OutOrStdout(), f.out, x, d.Shape(), g)
	return nil
}

// describeExport describes an exported program and its requirements.
func describeExport(w io.Writer, file string, x *compose.Exported, s host.Shape, g *graph.Graph) {
	fmt.Fprintf(w, "%s: %s, %s vertices, %s edges, %d super-steps, for %d cores × %d warps × %d lanes\n", file,
		x.Plan.Name(),
		experiment.Thousands(uint64(g.Vertices())), experiment.Thousands(uint64(g.Edges())), x.Steps, s.Cores, s.Warps,
		s.Threads)
	var atomics, others []string
	lacking := false
	for _, name := range x.Uses {
		switch {
		case strings.HasPrefix(name, "amo"):
			atomics, lacking = append(atomics, name), lacking || strings.HasPrefix(name, "amof")
		default:
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		fmt.Fprintf(w, "uses votes or shuffles, which Vortex's RTL has: %s\n", strings.Join(others, " "))
	}
	switch {
	case lacking:
		fmt.Fprintf(w, "uses atomics on floats, which no Vortex RTL has: %s\n", strings.Join(atomics, " "))
	case len(atomics) > 0:
		fmt.Fprintf(w, "uses atomics: Vortex's RTL needs a configuration with extension A: %s\n",
			strings.Join(atomics, " "))
	default:
		fmt.Fprintln(w, "uses no atomics: runs on any Vortex RTL of that shape")
	}
}
