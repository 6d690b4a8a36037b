package cmd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/configs"
	"heddle/experiment"
	"heddle/graphit"
	"heddle/graphit/cpu"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
	"heddle/graphit/lower"
	"heddle/graphit/programs"
	"heddle/internal/files"
	"heddle/isa/emu"
	"heddle/kernels/host"
	"heddle/kernels/workload"
	"heddle/sim"
)

func newGtList() *cobra.Command {
	return &cobra.Command{
		Use: "list [NAME]", Short: "List the programs that heddle has, or print one", Args: cobra.MaximumNArgs(1),
		Example: "  heddle gt list\n  heddle gt list bfs > my.gt",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				src, err := programs.Source(args[0])
				if err == nil {
					_, err = c.OutOrStdout().Write(src)
				}
				return err
			}
			t := newTable(c.OutOrStdout(), "program", "description")
			for _, name := range programs.Names() {
				src, err := programs.Source(name)
				if err != nil {
					return err
				}
				t.AppendRow(table.Row{name, firstSentence(string(src))})
			}
			t.Render()
			return nil
		},
	}
}

// firstSentence returns the first sentence of the comment with which a program begins.
func firstSentence(src string) string {
	var words []string
	for line := range strings.Lines(src) {
		text, comment := strings.CutPrefix(line, "%")
		if !comment {
			break
		}
		words = append(words, strings.Fields(text)...)
	}
	sentence, _, more := strings.Cut(strings.Join(words, " "), ". ")
	if more {
		sentence += "."
	}
	return sentence
}

func newGtShow() *cobra.Command {
	var schedule, extern string
	var ir, passes, source bool
	c := &cobra.Command{
		Use:   "show FILE",
		Short: "Show a program's GraphIR with the results of the compiler's passes, or its Go",
		Long: `Show a program's GraphIR (UGF, chapter 4): the host program with its operators over
edges and vertices, their arguments in parentheses and their metadata in angle
brackets, and the functions, with the accesses that must be atomic. FILE is a file, or
a program of heddle gt list.`,
		Example: "  heddle gt show bfs\n  heddle gt show bfs.gt --schedule hybrid.gt --ir --passes\n  heddle gt " +
			"show bfs --go",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if source && (ir || passes) {
				return errors.New("choose one: --ir with or without --passes, or --go")
			}
			f, err := readProgram(args[0], schedule, extern)
			if err != nil {
				return err
			}
			if source {
				return showGo(c, f)
			}
			p, err := graphir.Build(f)
			if err != nil {
				return err
			}
			out := bufio.NewWriter(c.OutOrStdout())
			defer out.Flush()
			if passes {
				fmt.Fprintf(out, "%% as built\n%s", p.Text())
			}
			err = p.Run(nil, func(pass graphir.Pass) {
				if passes {
					fmt.Fprintf(out, "\n%% after %s, which %s\n%s", pass.Name, pass.Doc, p.Text())
				}
			})
			if err == nil && !passes {
				fmt.Fprint(out, p.Text())
			}
			notes(c.ErrOrStderr(), f, p)
			return err
		},
	}
	c.Flags().BoolVar(&ir, "ir", false, "the GraphIR, which is the default without --go")
	c.Flags().BoolVar(&passes, "passes", false, "and as built, and behind each pass")
	c.Flags().BoolVar(&source, "go", false, "the program in Go that --cpu runs, without its runtime")
	externFlag(c, &extern)
	c.Flags().StringVar(&schedule, "schedule", "", "a `file` with the schedule, in place of the program's own")
	return c
}

// showGo prints the generated Go code of heddle gt build without the runtime, which all programs share.
func showGo(c *cobra.Command, f *graphit.File) error {
	p, err := cpu.Build(f, nil)
	if err != nil {
		return err
	}
	notesOn(c.ErrOrStderr(), f, p, true)
	src, err := cpu.Body(p, false)
	if err == nil {
		_, err = c.OutOrStdout().Write(src)
	}
	return err
}

// notes prints the passes' notices about a schedule.
func notes(w io.Writer, f *graphit.File, p *graphir.Program) { notesOn(w, f, p, false) }

// notesOn is notes without the notices that do not apply to a program on the host's processors.
func notesOn(w io.Writer, f *graphit.File, p *graphir.Program, host bool) {
	name := f.Name
	if f.Schedule != nil {
		name = f.Schedule.File
	}
	for _, n := range p.Notes {
		if host && n.OnHost {
			continue
		}
		file := name
		if n.Program {
			file = f.Name
		}
		fmt.Fprintf(w, "heddle: %s:%d:%d: %s\n", file, n.Pos.Line, n.Pos.Column, n.Text)
	}
}

// gtRun holds the flags of heddle gt run.
type gtRun struct {
	graph      graphFlags
	schedule   string
	extern     string
	machine    string
	overrides  machineFlags
	workload   []string
	functional bool
	float      bool
	json       bool
	threads    int
	maxSteps   int
	maxCycles  uint64
	save       []string
	cpu        bool
	noCheck    bool
	swarm      bool
}

func newGtRun() *cobra.Command {
	var f gtRun
	c := &cobra.Command{
		Use:   "run FILE GRAPH [ARGUMENT]...",
		Short: "Run a program on a simulated machine or on the host, and check its result",
		Long: `Run a GraphIt program: FILE is argv[0], GRAPH argv[1], and arguments follow. FILE is a
file, or a program of heddle gt list; GRAPH as of heddle graph. The host program runs on the host; every operator over
edges or vertices is a launch on the machine, or a loop is, by configKernelFusion: its operators have
the number of their runs in parentheses. All vectors are compared with the
reference's when the program has ended: integers must be equal, floats as near as
their roundings allow.

An operator runs by its label's schedule (configLoadBalance also knows WEAVER, PEG,
HWWL and EGHW, for machines with these units), or else by --workload: keys of an
experiment's workload (docs/reference/configuration.md), from schedule to beta. The
program's output goes to stdout, a summary to stderr. Timers count cycles at 1 GHz,
with each launch's overhead.

With --cpu the program runs on the host's own processors: it is compiled with the Go
toolchain (go in PATH), and its timers are seconds.

` + exitHelp,
		Example: `  heddle gt run bfs facebook_combined 0 --machine vortex-6c32w32t --symmetrise
  heddle gt run bfs.gt web.mtx.gz 5 --schedule hybrid.gt --machine vortex-1c4w4t
  heddle gt run pr.gt facebook_combined --float --functional --workload schedule=edge
  heddle gt run cc facebook_combined --symmetrise --machine vortex-6c32w32t-weaver --workload schedule=weaver --save label=labels.txt
  heddle gt run pagerank web.hgr 20 --cpu --threads 2 --no-check`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error { return pointed(f.run(c, args)) },
	}
	fl := c.Flags()
	fl.StringVar(&f.machine, "machine", "", "run on this timed machine: a preset's `name` or a YAML file")
	functionalFlag(fl, &f.functional, "run on the functional machine, without timing (2 cores of 4 warps of 4 threads)")
	fl.StringArrayVar(&f.workload, "workload", nil,
		"how operators without a schedule run: a key of workload, `key=value` (may be repeated)")
	externFlag(c, &f.extern)
	fl.StringVar(&f.schedule, "schedule", "", "a `file` with the schedule, in place of the program's own")
	fl.BoolVar(&f.float, "float", false, "compute double as float, which is faster: doubles are computed in software")
	fl.BoolVar(&f.json, "json", false, "print the summary as JSON to stdout, and the program's output to stderr")
	fl.IntVar(&f.threads, "threads", 1, "processors of the host that simulate the machine, or run the program with "+
		"--cpu")
	fl.BoolVar(&f.cpu, "cpu", false, "run on the host's own processors, compiled with the Go toolchain")
	fl.BoolVar(&f.noCheck, "no-check", false,
		"with --cpu: compare nothing with the reference, which takes longer than the program; integers wrap at 32 bits")
	fl.BoolVar(&f.swarm, "swarm", false, "refused: name a machine of Swarm tiles")
	fl.MarkHidden("swarm") //nolint:errcheck // the flag exists
	fl.IntVar(&f.maxSteps, "max-steps", 0, "limit of edge operators that run (0: none for a program that ends)")
	fl.Uint64Var(&f.maxCycles, "max-cycles", 0,
		"cycles of a launch at most, or warp instructions with --functional (0: no limit)")
	fl.StringArrayVar(&f.save, "save", nil, "write a vector to a file, a number a line: `vector=file` (may be "+
		"repeated)")
	f.overrides.add(c)
	f.graph.addClean(c, false)
	return c
}

// device creates the machine.
func (f *gtRun) device(w workload.Workload) (host.Device, error) {
	if f.functional == (f.machine != "") {
		return nil, errors.New("choose one: --functional, or --machine NAME (heddle config list)")
	}
	if f.functional {
		return host.NewFunctional(emu.Config{Cores: 2, Warps: 4, Threads: 4, MaxInstrs: f.maxCycles}, nil)
	}
	l, err := configs.LoadMachine(f.machine, os.Environ(), f.overrides.set)
	if err != nil {
		return nil, err
	}
	return host.NewTimed(l.Value, sim.Options{Threads: f.threads, MaxCycles: f.maxCycles})
}

// errSwarm is the error for UGF's name of the backend: heddle's runs on simulated machines.
var errSwarm = errors.New("--swarm: programs run on the machines of Swarm tiles by gt run --machine swarm-16c " +
	"(heddle config list)")

// backend returns an error for flags of a backend other than the requested one.
func (f *gtRun) backend(c *cobra.Command) error {
	switch {
	case f.swarm:
		return errSwarm
	case f.threads < 1:
		return fmt.Errorf("--threads %d: expected 1 or more", f.threads)
	case f.maxSteps < 0:
		return fmt.Errorf("--max-steps %d: expected 0 or more", f.maxSteps)
	}
	for _, name := range []string{"set", "threads"} {
		if fl := c.Flags().Lookup(name); f.functional && fl != nil && fl.Changed {
			return fmt.Errorf("choose one: --functional, or --%s, which is for timed machines", name)
		}
	}
	for _, s := range f.save {
		_, to, ok := strings.Cut(s, "=")
		if !ok || to == "" {
			return fmt.Errorf("--save %s: expected VECTOR=FILE", s)
		}
		if err := writable("--save", to); err != nil {
			return err
		}
	}
	if !f.cpu {
		if f.noCheck {
			return errors.New("--no-check: expected it with --cpu: results of a machine are always checked")
		}
		return nil
	}
	for _, name := range []string{"machine", "functional", "set", "workload", "max-cycles"} {
		if fl := c.Flags().Lookup(name); fl != nil && fl.Changed {
			return fmt.Errorf("choose one: --cpu, or --%s, which is for simulated machines", name)
		}
	}
	return nil
}

// onHost runs a program on the host's processors.
func (f *gtRun) onHost(c *cobra.Command, args []string, file *graphit.File) error {
	g, err := f.graph.named(c, args[1])
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	if f.json {
		out = c.ErrOrStderr()
	}
	r, err := cpu.Run(c.Context(), g, file, cpu.Options{Args: args, Output: out, Float: f.float, Threads: f.threads,
		MaxSteps: f.maxSteps, NoCheck: f.noCheck})
	if r.Program != nil {
		notesOn(c.ErrOrStderr(), file, r.Program, true)
	}
	if errors.Is(err, eval.ErrCheck) {
		return &codeError{exitFailed, err}
	}
	if err != nil {
		return failed(err)
	}
	w := lower.Result{}
	for _, v := range r.Vectors {
		w.Vectors = append(w.Vectors, lower.Vector{Var: v.Var, Words: v.Words})
	}
	if err := f.write(&w); err != nil {
		return err
	}
	if f.noCheck {
		fmt.Fprintln(c.ErrOrStderr(), "heddle: --no-check: nothing has been verified; integers of more than 32 "+
			"bits, which are refused without it, have wrapped")
	}
	if f.json {
		return printJSON(c.OutOrStdout(), struct {
			Verified bool    `json:"verified"`
			Summary  string  `json:"summary"`
			CPU      float64 `json:"cpu_seconds"`
		}{r.Verified, r.Summary, r.CPU.Seconds()})
	}
	fmt.Fprintln(c.ErrOrStderr(), "  "+r.Summary)
	if r.Verified {
		fmt.Fprintln(c.ErrOrStderr(), "  verified: all vectors are the reference's")
	}
	return nil
}

func (f *gtRun) run(c *cobra.Command, args []string) error {
	if err := f.backend(c); err != nil {
		return err
	}
	file, err := readProgram(args[0], f.schedule, f.extern)
	if err != nil {
		return err
	}
	if err := f.saved(file); err != nil {
		return err
	}
	if f.cpu {
		return f.onHost(c, args, file)
	}
	w, err := operatorWorkload(f.workload)
	if err != nil {
		return err
	}
	d, err := f.device(w)
	if err != nil {
		return err
	}
	g, err := f.graph.named(c, args[1])
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	if f.json {
		out = c.ErrOrStderr()
	}
	r, err := lower.Run(c.Context(), d, g, file,
		lower.Options{Args: args, Output: out, Float: f.float, Workload: w, MaxSteps: f.maxSteps,
			HostOnly: true})
	if r.Program != nil {
		notes(c.ErrOrStderr(), file, r.Program)
	}
	if errors.Is(err, eval.ErrCheck) {
		return &codeError{exitFailed, err}
	}
	if err != nil {
		return failed(err)
	}
	if err := f.write(&r); err != nil {
		return err
	}
	if f.json {
		return printJSON(c.OutOrStdout(), gtSummary(&r))
	}
	gtTable(c.ErrOrStderr(), &r, f.functional)
	taskTable(c.ErrOrStderr(), d)
	return nil
}

// operatorWorkload parses --workload.
func operatorWorkload(set []string) (workload.Workload, error) {
	for _, s := range set {
		key, _, _ := strings.Cut(s, "=")
		if !slices.Contains(lower.Keys, key) {
			return workload.Workload{}, fmt.Errorf("--workload %s: expected a key of how operators run: %s", s,
				strings.Join(lower.Keys, ", "))
		}
	}
	return workload.Parse(set)
}

// saved returns an error for vectors of --save that the program lacks.
func (f *gtRun) saved(file *graphit.File) error {
	for _, s := range f.save {
		name, _, _ := strings.Cut(s, "=")
		if !slices.ContainsFunc(file.Globals,
			func(v *graphit.Var) bool { return v.Name == name && v.Type.Kind == graphit.Vector }) {
			return fmt.Errorf("--save %s: the program has no vector %s", s, name)
		}
	}
	return nil
}

// write writes the vectors of --save.
func (f *gtRun) write(r *lower.Result) error {
	for _, s := range f.save {
		name, to, _ := strings.Cut(s, "=")
		for i := range r.Vectors {
			if r.Vectors[i].Var.Name == name {
				if err := files.Write(to, vectorText(&r.Vectors[i])); err != nil {
					return failed(err)
				}
			}
		}
	}
	return nil
}

func vectorText(v *lower.Vector) []byte {
	var b bytes.Buffer
	for n, w := range v.Words {
		switch t := v.Var.Type.Of; {
		case v.High != nil && t.IsReal():
			bits := uint64(v.High[n])<<32 | uint64(w)
			b.WriteString(strconv.FormatFloat(math.Float64frombits(bits), 'g', -1, 64))
		case v.High != nil:
			b.WriteString(strconv.FormatUint(uint64(v.High[n])<<32|uint64(w), 10))
		case t.IsReal():
			b.WriteString(strconv.FormatFloat(float64(math.Float32frombits(w)), 'g', -1, 32))
		case t.Kind == graphit.Uint:
			b.WriteString(strconv.FormatUint(uint64(w), 10))
		default:
			b.WriteString(strconv.FormatInt(int64(int32(w)), 10))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// gtKernel sums the launches of a kernel.
type gtKernel struct {
	Kernel       string `json:"kernel"`
	Launches     int    `json:"launches"`
	Parts        int    `json:"parts,omitempty"` // within launches of fused loops
	Cycles       uint64 `json:"cycles"`
	Instructions uint64 `json:"warp_instructions"`
	Edges        uint64 `json:"edges"`
}

type gtResult struct {
	Verified bool       `json:"verified"`
	Steps    int        `json:"traversals"`
	Launches uint64     `json:"launches"`
	Cycles   uint64     `json:"cycles"`
	Overhead uint64     `json:"launch_overhead"`
	Plans    []string   `json:"plans"`
	Kernels  []gtKernel `json:"kernels"`
}

func gtSummary(r *lower.Result) gtResult {
	s := gtResult{Verified: r.Verified, Steps: r.Steps, Launches: r.Times.Launches, Cycles: r.Times.Cycles,
		Overhead: r.Times.Overhead, Plans: r.Plans}
	at := map[string]int{}
	for i := range r.Launched {
		l := &r.Launched[i]
		n, ok := at[l.Kernel]
		if !ok {
			n = len(s.Kernels)
			at[l.Kernel] = n
			s.Kernels = append(s.Kernels, gtKernel{Kernel: l.Kernel})
		}
		k := &s.Kernels[n]
		if l.Part {
			k.Parts++
		} else {
			k.Launches++
		}
		k.Cycles += l.Cycles
		k.Instructions += l.WarpInstrs
		k.Edges += l.Edges
	}
	return s
}

// launches returns the number of launches and, in parentheses, of parts of fused loops.
func (k *gtKernel) launches() string {
	switch {
	case k.Parts == 0:
		return strconv.Itoa(k.Launches)
	case k.Launches == 0:
		return fmt.Sprintf("(%d)", k.Parts)
	}
	return fmt.Sprintf("%d (%d)", k.Launches, k.Parts)
}

func gtTable(w io.Writer, r *lower.Result, functional bool) {
	s := gtSummary(r)
	t := newTable(w, "kernel", "launches", "cycles", "warp instr.", "edges")
	count := func(n uint64) string {
		if functional {
			return ""
		}
		return experiment.Thousands(n)
	}
	var instructions, edges uint64
	for _, k := range s.Kernels {
		t.AppendRow(table.Row{k.Kernel, k.launches(), count(k.Cycles), experiment.Thousands(k.Instructions),
			experiment.Thousands(k.Edges)})
		instructions, edges = instructions+k.Instructions, edges+k.Edges
	}
	t.AppendSeparator()
	t.AppendRow(table.Row{"all", s.Launches, count(s.Cycles), experiment.Thousands(instructions),
		experiment.Thousands(edges)})
	t.Render()
	for _, p := range s.Plans {
		fmt.Fprintln(w, "  "+p)
	}
	if !functional {
		fmt.Fprintf(w, "  %s cycles with the launches' overhead\n", experiment.Thousands(s.Cycles+s.Overhead))
	}
	if s.Verified {
		fmt.Fprintf(w, "  verified: all vectors are the reference's, after %d traversals of edges\n", s.Steps)
	}
}

// functionalFlag adds --functional, also called --untimed as before.
func functionalFlag(fl *pflag.FlagSet, to *bool, usage string) {
	fl.BoolVar(to, "functional", false, usage)
	fl.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "untimed" {
			name = "functional"
		}
		return pflag.NormalizedName(name)
	})
}
