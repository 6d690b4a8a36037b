package cmd

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/graph"
	"heddle/kernels/compose"
	"heddle/kernels/cuda"
	"heddle/kernels/host"
	"heddle/kernels/workload"
	"heddle/sim"
)

// exportFlags holds the flags of heddle kernel export.
type exportFlags struct {
	pointFlags
	out  string
	cuda string
}

func newKernelExport() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export EXPERIMENT -o FILE | --cuda DIR",
		Short: "Export a graph program: kernels, super-steps, graph and expected result; or as CUDA C++",
		Long: `Write one point of an experiment as a program that needs no host: an ELF executable, or
a flat image if the file's name ends in .bin. It contains the kernels, the loop over
super-steps, the graph, all arrays and the expected result, and is for machines with
the cores, warps and lanes of the point's. It starts and ends as described in
docs/guide/programs.md, so heddle exec runs it on any machine of that shape, and so does
Vortex's RTL if it has the instructions, which are listed.

Its exit code: 0 the result is right; 1 it is wrong; 2 the machine has another shape;
3 the super-steps did not end.

For algorithms pagerank, spmv, bfs, sssp, cc and in-degree, with software schedules.

With --cuda the point becomes a CUDA C++ program in a folder: kernels as they are
composed, the host's loop over super-steps, the graph, a reference, and timing. A core is
a thread block, and the machine needs warps of 32 threads. In the folder, make builds
program with nvcc (ARCH=sm_90 for another GPU than this machine's), and make host builds
program-host with g++ alone, which executes thread blocks lane by lane and finds missing
barriers and wrong masks. Either prints one JSON object: times of --repeat runs, and
whether the result is right. A program of pagerank, spmv, bfs, bfs-parents, sssp, cc,
cc-soman or in-degree whose layout is csr, csc, csr-csc or coo takes any graph
(--graph FILE.hgr). Points of a GraphIt program are exported as by heddle gt build --cuda.

Exit codes of such a program: 0 the result is right; 1 it is wrong; 2 it cannot run;
3 threads miss each other at a barrier, vote or shuffle (program-host).`,
		Example: `  heddle kernel export quickstart --point 1 --set workload.kernel=compiled --set machine=vortex-rtl-a -o pr.elf
  heddle kernel export my.yaml --set workload.algorithm=bfs --set workload.direction=pull -o bfs.bin
  heddle exec bfs.bin --machine vortex-rtl-a
  heddle kernel export quickstart --point 1 --set workload.kernel=compiled --cuda pr
  make -C pr && pr/program --graph pr/graph.hgr --kernels`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVarP(&f.out, "output", "o", "", "`file` to write")
	c.Flags().StringVar(&f.cuda, "cuda", "", "`folder` to write a CUDA C++ program into")
	c.Flags().IntVar(&f.point, "point", 0, "number of the point, from 1, as heddle run --dry-run lists them (0: "+
		"there must be only one)")
	f.overrides.add(c)
	return c
}

func (f *exportFlags) run(c *cobra.Command, name string) error {
	if (f.out == "") == (f.cuda == "") {
		return errors.New("-o FILE, --cuda DIR: expected one of them: a file or a folder to write")
	}
	r, i, err := f.choose(name, "exported")
	if err != nil {
		return err
	}
	cfg := &r.Points[i].Config
	if f.cuda != "" && cfg.Workload.Kind() == workload.KindGraphIt {
		return f.writeGraphIt(c, cfg)
	}
	if err := experiment.Exportable(cfg); err != nil {
		return err
	}
	g, err := graph.Load(cfg.Graph)
	if err != nil {
		return err
	}
	if f.cuda != "" {
		return f.writeCUDA(c, cfg, g)
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

// writeCUDA exports a point as a CUDA C++ program.
func (f *exportFlags) writeCUDA(c *cobra.Command, cfg *config.Experiment, g *graph.Graph) error {
	d, err := host.NewRehearsal(&cfg.Machine)
	if err != nil {
		return err
	}
	x, err := cuda.Export(c.Context(), d.Shape(), g, cfg.Workload)
	if err != nil {
		return err
	}
	if err := x.Write(c.Context(), f.cuda); err != nil {
		return err
	}
	w := c.OutOrStdout()
	fmt.Fprintf(w, "%s: %s, %s vertices, %s edges\n", f.cuda, x.Outline.Plan.Name(),
		experiment.Thousands(uint64(g.Vertices())), experiment.Thousands(uint64(g.Edges())))
	describeCUDA(w, f.cuda)
	return nil
}

// describeCUDA prints how to build an exported CUDA program.
func describeCUDA(w io.Writer, dir string) {
	fmt.Fprintf(w, "to build and run on a GPU: make -C %s && cd %s && ./program\n", dir, dir)
	fmt.Fprintf(w, "without one, by g++ alone: make -C %s host && cd %s && ./program-host\n", dir, dir)
}

// writeGraphIt exports a point of a GraphIt program as a CUDA C++ program.
func (f *exportFlags) writeGraphIt(c *cobra.Command, cfg *config.Experiment) error {
	file, o, err := experiment.GraphIt(cfg)
	if err != nil {
		return err
	}
	g, err := graph.Load(cfg.Graph)
	if err != nil {
		return err
	}
	d, err := host.NewRehearsal(&cfg.Machine)
	if err != nil {
		return err
	}
	return exportGraphIt(c, f.cuda, d.Shape(), g, file, o, true)
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
