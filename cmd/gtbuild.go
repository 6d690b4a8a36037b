package cmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"heddle/configs"
	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/cpu"
	"heddle/graphit/cuda"
	"heddle/graphit/eval"
	"heddle/graphit/lower"
	"heddle/internal/files"
	"heddle/kernels/host"
)

// gtBuild holds the flags of heddle gt build.
type gtBuild struct {
	schedule string
	extern   string
	float    bool
	swarm    bool

	onCPU bool
	to    string

	cuda      string
	graph     graphFlags
	machine   string
	overrides machineFlags
	workload  []string
	noCheck   bool
	maxSteps  int
}

// cudaMachine is the machine that programs are exported for by default: its warps have the 32 lanes of CUDA's.
const cudaMachine = "vortex-6c32w32t"

func newGtBuild() *cobra.Command {
	var b gtBuild
	c := &cobra.Command{
		Use:   "build FILE --cpu -o OUTPUT | FILE [GRAPH [ARGUMENT]...] --cuda DIR",
		Short: "Compile a program for the host's processors, or write it as CUDA C++",
		Long: `Compile a GraphIt program for processors like the host's own: to a program in Go that
imports only the standard library, if OUTPUT ends in .go, and else, with the Go
toolchain, to an executable file. FILE is a file, or a program of heddle gt list.

The program takes a graph as an .hgr file (heddle graph convert), and then its own
arguments; -threads sets its number of processors, and -help lists all flags.

With --cuda write it as CUDA C++: the kernels of its operators under the schedule, as
heddle composes them, and its host program. A core of the machine is a thread block.
In the folder, make builds program with nvcc (ARCH=sm_90 for another GPU than this
machine's), and make host builds program-host with g++ alone, which executes thread
blocks lane by lane and finds missing barriers and wrong masks. Either prints one JSON
object: times of --repeat runs, and whether all vectors equal those that the evaluator has
computed for GRAPH and the arguments. For other graphs (--graph FILE.hgr) and arguments,
and where no GRAPH was given, nothing is checked. Schedules of graph units are refused.`,
		Example: "  heddle gt build bfs --cpu -o bfs.go\n  heddle gt build pr.gt --cpu --schedule pull.gt -o pr\n  " +
			"heddle graph convert facebook_combined fb.hgr && ./pr -threads 2 fb.hgr 20\n  " +
			"heddle gt build bfs facebook_combined 0 --symmetrise --schedule hybrid.gt --cuda bfs\n  " +
			"make -C bfs && cd bfs && ./program --kernels",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return pointed(b.run(c, args)) },
	}
	b.flags(c)
	return c
}

func (b *gtBuild) flags(c *cobra.Command) {
	fl := c.Flags()
	fl.BoolVar(&b.onCPU, "cpu", false, "for processors like the host's own")
	fl.StringVarP(&b.to, "output", "o", "", "the `file` to write: Go if it ends in .go, and else an executable file")
	externFlag(c, &b.extern)
	fl.StringVar(&b.schedule, "schedule", "", "a `file` with the schedule, in place of the program's own")
	fl.BoolVar(&b.float, "float", false, "compute double as float")
	fl.StringVar(&b.cuda, "cuda", "", "the `folder` to write CUDA C++ into")
	fl.StringVar(&b.machine, "machine", cudaMachine, "with --cuda: a machine's `name` or YAML file, with warps of 32")
	fl.StringArrayVar(&b.workload, "workload", nil,
		"with --cuda: how operators without a schedule run, a key of workload, `key=value` (may be repeated)")
	fl.BoolVar(&b.noCheck, "no-check", false, "with --cuda: do not compute the reference values of the program's vectors")
	fl.IntVar(&b.maxSteps, "max-steps", 0, "with --cuda: limit of edge operators that the evaluator runs (0: none for "+
		"a program that ends)")
	fl.BoolVar(&b.swarm, "swarm", false, "refused: name a machine of Swarm tiles")
	fl.MarkHidden("swarm") //nolint:errcheck // the flag exists
	b.overrides.add(c)
	b.graph.addClean(c, false)
}

func (b *gtBuild) run(c *cobra.Command, args []string) error {
	switch {
	case b.swarm:
		return errSwarm
	case b.onCPU && b.cuda != "":
		return errors.New("choose one: --cpu or --cuda DIR")
	case b.cuda != "":
		return b.writeCUDA(c, args)
	case !b.onCPU:
		return errors.New("expected --cpu, or --cuda DIR: programs for a simulated machine are compiled when they run " +
			"(heddle gt run)")
	case len(args) > 1:
		return fmt.Errorf("%s: with --cpu the program takes graph and arguments when it runs: expected FILE alone", args[1])
	case b.to == "":
		return errors.New("expected -o FILE: a .go file, or an executable one")
	}
	for _, name := range []string{"machine", "workload", "set", "no-check", "max-steps"} {
		if c.Flags().Changed(name) {
			return fmt.Errorf("choose one: --cpu, or --%s, which is for --cuda", name)
		}
	}
	return b.compile(c, args[0])
}

// compile compiles a program for the host's processors.
func (b *gtBuild) compile(c *cobra.Command, name string) error {
	if err := writable("-o", b.to); err != nil {
		return err
	}
	f, err := readProgram(name, b.schedule, b.extern)
	if err != nil {
		return err
	}
	p, err := cpu.Build(f, nil)
	if err != nil {
		return err
	}
	notesOn(c.ErrOrStderr(), f, p, true)
	src, err := cpu.Generate(p, b.float)
	if err != nil {
		return err
	}
	if strings.HasSuffix(b.to, ".go") {
		return failed(files.Write(b.to, src))
	}
	path, err := filepath.Abs(b.to)
	if err == nil {
		err = cpu.Compile(c.Context(), src, path)
	}
	return failed(err)
}

// writeCUDA writes a program as CUDA C++.
func (b *gtBuild) writeCUDA(c *cobra.Command, args []string) error {
	if b.to != "" {
		return errors.New("choose one: -o FILE, of --cpu, or --cuda DIR")
	}
	f, err := readProgram(args[0], b.schedule, b.extern)
	if err != nil {
		return err
	}
	w, err := operatorWorkload(b.workload)
	if err != nil {
		return err
	}
	l, err := configs.LoadMachine(b.machine, os.Environ(), b.overrides.set)
	if err != nil {
		return err
	}
	d, err := host.NewRehearsal(&l.Value)
	if err != nil {
		return err
	}
	var g *graph.Graph
	if len(args) > 1 {
		if g, err = b.graph.named(c, args[1]); err != nil {
			return err
		}
	}
	o := lower.Options{Args: args, Float: b.float, Workload: w, MaxSteps: b.maxSteps}
	return exportGraphIt(c, b.cuda, d.Shape(), g, f, o, !b.noCheck)
}

// exportGraphIt writes a GraphIt program as CUDA C++ into a folder, and describes it.
func exportGraphIt(c *cobra.Command, dir string, s host.Shape, g *graph.Graph, f *graphit.File, o lower.Options,
	check bool) error {
	x, err := cuda.Export(s, g, f, o)
	if err != nil {
		return err
	}
	notes(c.ErrOrStderr(), f, x.Program)
	if err := x.Write(c.Context(), dir, check); err != nil {
		if errors.Is(err, eval.ErrCheck) {
			return &codeError{exitFailed, err}
		}
		return err
	}
	w := c.OutOrStdout()
	fmt.Fprintf(w, "%s: %s\n", dir, f.Name)
	for _, p := range x.Plans {
		fmt.Fprintf(w, "  %s\n", p)
	}
	describeCUDA(w, dir)
	return nil
}
