package cmd

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/program"
	"heddle/report/hotspots"
	"heddle/sim"
	"heddle/sim/inspect"
	"heddle/sim/stats"
)

// execFlags holds the flags of heddle exec.
type execFlags struct {
	program    programFlags
	cfg        emu.Config
	functional bool
	tasks      bool
	json       bool
	heartbeat  time.Duration
	trace      string
	units      unitFlags

	machine   string
	overrides machineFlags
	maxCycles uint64
	check     bool
	window    windowFlags
	monitor   monitorFlags
	stop      stopFlags
	memory    memoryFlags
	divergent choice
	counters  choice
	hot       hotFlags
}

func newExec() *cobra.Command {
	f := execFlags{units: newUnitFlags(), divergent: choice{names: emu.Divergences[:]},
		counters: choice{names: sim.CounterClasses[:]}}
	c := &cobra.Command{
		Use:   "exec PROGRAM",
		Short: "Run one program",
		Long: `Run one program: an ELF executable, assembly (.s), or a flat image.

The program starts on warp 0, lane 0 of every core and ends when no warp is
left; the word that it stores at 0x88 is its exit code. Bytes stored at 0x40..0x7f are
its console, which goes to stdout; a summary goes to stderr. See
docs/guide/programs.md.

Either --machine names a timed machine (a preset of ` + "`heddle config list`" + `, or a
YAML file), or --functional selects functional execution without timing; --cores, --warps,
--threads, --scratchpad, ` + f.units.list() + `, --trace and --max-instrs
apply to the functional machine.

A timed run has no limit unless --max-cycles sets one, and reports its progress to
stderr every --heartbeat. At the limit it reports where the warps are.

` + exitHelp + `
With --break or --at-cycle: 5 the run was stopped there.`,
		Example: `  heddle exec hello.s --functional
  heddle exec kernel.s --machine vortex-rtl-a --set core.warps=8
  heddle exec kernel.s --machine vortex-rtl-a --window cycles=1000..2000,warps=0..3 --konata pipeline.log --perfetto trace.json
  heddle exec kernel.s --machine vortex-rtl-a --break loop+0x8,warp=1 --dump
  heddle exec spmv.elf --functional --cores 2 --warps 8 --threads 8
  heddle exec kernel.s --machine vortex-rtl-a --report
  heddle exec kernel.elf --machine vortex-rtl-a --report=hot.html
  heddle exec kernel.s --functional -D ITERS=10 --json | jq .warp_instrs
  heddle exec kernel.elf --functional --weaver --trace=trace.txt
  heddle exec vecadd.elf --machine vortex-rtl-a --arg 0xa0000000 --load args.bin@0xa0000000 --load a.bin@0xb0000000 --save c.bin@0xd0000000+4096`,
		Args: programAnd,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.add(c)
	return c
}

func (f *execFlags) add(c *cobra.Command) {
	fl := c.Flags()
	functionalFlag(fl, &f.functional, "run on the functional machine, without timing")
	fl.BoolVar(&f.tasks, "tasks", false, "with --functional: execute the tasks of a Swarm program one after another, in "+
		"the order of their timestamps")
	fl.StringVar(&f.machine, "machine", "", "run on this timed machine: a preset's `name` or a YAML file")
	fl.Uint64Var(&f.maxCycles, "max-cycles", 0, "stop a timed run after that many cycles (0: no limit)")
	fl.BoolVar(&f.check, "check", false, "check the invariants of a timed run: every request answered, bytes "+
		"conserved between levels, …")
	f.overrides.add(c)
	fl.IntVar(&f.cfg.Cores, "cores", 1, fmt.Sprintf("cores, 1..%d", emu.MaxCores))
	fl.IntVar(&f.cfg.Warps, "warps", 4, fmt.Sprintf("warps of a core, 1..%d", emu.MaxWarps))
	fl.IntVar(&f.cfg.Threads, "threads", 4, fmt.Sprintf("lanes of a warp, 1..%d; with --machine, processors of the "+
		"host that simulate it", emu.MaxThreads))
	fl.IntVar(&f.cfg.ScratchpadBytes, "scratchpad", emu.DefaultScratchpadBytes, "scratchpad of a core, in `bytes`")
	fl.Uint32Var(&f.cfg.Arg, "arg", 0, "value of mscratch at the start, by convention the `address` of the arguments")
	fl.Uint64Var(&f.cfg.MaxInstrs, "max-instrs", 0, "stop after that many warp instructions (0: no limit)")
	fl.DurationVar(&f.heartbeat, "heartbeat", 10*time.Second, "time between progress lines of a timed run")
	fl.BoolVar(&f.json, "json", false, "print the result as JSON on stdout")
	fl.StringVar(&f.trace, "trace", "", "write every executed instruction to a `file` (no file: stderr)")
	fl.Lookup("trace").NoOptDefVal = "-"
	fl.Var(&f.divergent, "divergent-branch", "effect of a divergent branch: trap, or follow the last (Vortex) "+
		"or the first active lane")
	fl.Var(&f.counters, "perf-class", "which of Vortex's performance counters the program reads on a timed machine: "+
		"none, core, mem")
	f.memory.add(c)
	f.units.add(c)
	f.program.add(c)
	f.window.add(c)
	f.monitor.add(c)
	f.stop.add(c)
	f.hot.add(c)
}

func (f *execFlags) run(c *cobra.Command, path string) error {
	if err := f.checkChoices(); err != nil {
		return err
	}
	if f.machine != "" {
		return f.timed(c, path)
	}
	if f.hot.to != "" {
		return errors.New("--report says where time went: expected --machine NAME in place of --functional (heddle " +
			"config list)")
	}
	p, err := f.program.read(path)
	if err != nil {
		return err
	}
	if err := f.refuseTimed(c); err != nil {
		return err
	}
	models, err := f.units.plug(&f.cfg)
	if err != nil {
		return err
	}
	closeTrace, err := f.openTrace(c, p)
	if err != nil {
		return err
	}
	f.cfg.Out, f.cfg.Divergent = f.console(c), emu.Divergence(f.divergent.value)
	if err := f.stop.functional(&f.cfg, p, f.window.window); err != nil {
		return err
	}
	m, err := emu.New(f.cfg)
	if err != nil {
		return err
	}
	if err := f.memory.fill(m.Mem, p); err != nil {
		return err
	}
	if hand := accel.HandOn(models); hand != nil {
		if err := hand.Carry(p); err != nil {
			return err
		}
	}
	defer inOrder(c.Context())()
	m.Load(p)
	start := time.Now()
	var runErr error
	if f.tasks {
		_, runErr = m.RunTasks(c.Context(), p, nil)
	} else {
		runErr = m.Run(c.Context())
	}
	r := newResult(m, runErr, time.Since(start))
	if err := closeTrace(); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	if err := errors.Join(f.report(c, m, r), f.memory.keep(m.Mem)); err != nil {
		return err
	}
	return r.outcome(runErr, f.json)
}

// checkChoices returns an error for flags that do not go together, whatever the machine.
func (f *execFlags) checkChoices() error {
	if f.functional == (f.machine != "") {
		return errors.New("choose one: --functional, or --machine NAME (heddle config list)")
	}
	if f.heartbeat <= 0 {
		return fmt.Errorf("--heartbeat %v: expected a time above 0", f.heartbeat)
	}
	if err := f.stop.check(); err != nil {
		return err
	}
	if f.tasks && (!f.functional || f.trace != "" || f.stop.wanted()) {
		return errors.New("--tasks: expected --functional beside it, and neither --trace nor --break")
	}
	return nil
}

// refuseTimed returns an error for flags that apply to timed machines only.
func (f *execFlags) refuseTimed(c *cobra.Command) error {
	if f.check {
		return errors.New("--check is for timed machines")
	}
	for _, name := range slices.Concat(windowNames, monitorNames, []string{"perf-class", "heartbeat"}) {
		if c.Flags().Changed(name) && (name != "window" || !f.stop.dump) {
			return fmt.Errorf("--%s is for timed machines", name)
		}
	}
	return nil
}

// console returns the function that receives the program's output line by line.
func (f *execFlags) console(c *cobra.Command) func([]byte) {
	if f.json {
		return nil
	}
	out := c.OutOrStdout()
	return func(b []byte) { _, _ = out.Write(b) }
}

// sayHowFar writes a line of progress at intervals.
func sayHowFar(w io.Writer, every time.Duration) func(sim.Progress) {
	said := time.Now()
	return func(p sim.Progress) {
		if time.Since(said) >= every {
			said = time.Now()
			_, _ = fmt.Fprintf(w, "cycle %d, %d warp instructions so far\n", p.Cycle, p.WarpInstrs)
		}
	}
}

// assemble assembles the timed machine that the flags describe.
func (f *execFlags) assemble(c *cobra.Command, p *isa.Program, lines *isa.Lines) (*sim.Machine, error) {
	for _, name := range append([]string{"cores", "warps", "scratchpad", "trace", "max-instrs"}, f.units.names()...) {
		if c.Flags().Changed(name) {
			return nil, fmt.Errorf("--%s is for --functional; a timed machine is changed with --set (heddle config "+
				"schema)", name)
		}
	}
	l, err := configs.LoadMachine(f.machine, os.Environ(), f.overrides.set)
	if err != nil {
		return nil, err
	}
	if err := tilesLack(&l.Value, f.machine, &f.window, &f.stop, &f.hot); err != nil {
		return nil, err
	}
	threads := 1
	if c.Flags().Changed("threads") {
		threads = f.cfg.Threads
	}
	if l.Value.BarriersSignal() {
		warnOf(c, program.UnfencedBarriers(p.Name, p, lines))
	}
	return sim.New(l.Value, sim.Options{
		Threads: threads, MaxCycles: f.maxCycles, Arg: f.cfg.Arg, Check: f.check, Out: f.console(c),
		Progress:  sayHowFar(c.ErrOrStderr(), f.heartbeat),
		Divergent: emu.Divergence(f.divergent.value), Counters: sim.Counters(f.counters.value),
	})
}

// timed runs the program on a timed machine.
func (f *execFlags) timed(c *cobra.Command, path string) error {
	p, lines, err := f.hot.read(&f.program, path)
	if err != nil {
		return err
	}
	m, err := f.assemble(c, p, lines.Lines)
	if err != nil {
		return err
	}
	if err := f.memory.fill(m.Arch.Mem, p); err != nil {
		return err
	}
	if err := f.hot.attach(m); err != nil {
		return err
	}
	defer f.hot.abandon()
	defer inOrder(c.Context())()
	f.window.out, f.window.errs, f.window.dumps = c.OutOrStdout(), c.ErrOrStderr(), f.stop.dump
	if err := f.window.attach(m); errors.Is(err, errListed) {
		return nil
	} else if err != nil {
		return err
	}
	if err := f.stop.attach(m, p, f.window.window); err != nil {
		return err
	}
	if err := f.monitor.listen(); err != nil {
		return err
	}
	page := f.monitor.serve(c, path, 1, 0, nil)
	defer page.close()
	ended := page.alone(c.Context(), path, m)
	start := time.Now()
	res, runErr := m.Run(c.Context(), p)
	took := time.Since(start)
	ended(runErr)
	page.finished(runErr)
	if err := f.window.close(c); err != nil {
		return err
	}
	if runErr == nil && f.check {
		runErr = m.CheckInvariants()
	}
	r := newResult(m.Arch, runErr, took)
	r.Cycles, r.tree = &res.Cycles, m.Statistics()
	r.Stats = r.tree.Map()
	r.Report = f.hot.of(path, m, lines, runErr)
	if err := errors.Join(f.report(c, m.Arch, r), f.memory.keep(m.Arch.Mem), f.hot.write(r.Report)); err != nil {
		return err
	}
	return r.outcome(runErr, f.json)
}

// openTrace starts the instruction trace if it is requested.
func (f *execFlags) openTrace(c *cobra.Command, p *isa.Program) (finish func() error, err error) {
	var w io.Writer
	finish = func() error { return nil }
	switch f.trace {
	case "":
		return finish, nil
	case "-":
		w = c.ErrOrStderr()
	default:
		file, err := os.Create(f.trace)
		if err != nil {
			return nil, err
		}
		w, finish = file, file.Close
	}
	b := bufio.NewWriterSize(w, 1<<16)
	f.cfg.Trace = func(s *emu.Step) { printStep(b, p, s) }
	end := finish
	return func() error { return errors.Join(b.Flush(), end()) }, nil
}

// printStep writes one line: core, warp, address, lanes, instruction, symbol, and the addresses that a memory
// instruction accessed.
func printStep(b *bufio.Writer, p *isa.Program, s *emu.Step) {
	fmt.Fprintf(b, "c%d w%d %08x %08x  %s", s.Core, s.Warp, s.PC, s.Mask, s.Inst.Text(s.PC))
	if name, off, ok := p.Where(s.PC); ok {
		fmt.Fprintf(b, "  <%s+0x%x>", name, off)
	}
	for l, a := range s.Addrs {
		if s.Mask>>l&1 != 0 {
			fmt.Fprintf(b, " %d:%x", l, a)
		}
	}
	if s.NextMask != s.Mask {
		fmt.Fprintf(b, "  mask=%08x", s.NextMask)
	}
	b.WriteByte('\n')
}

// result is the output of --json.
type result struct {
	ExitCode     uint32                `json:"exit_code"`
	Cycles       *uint64               `json:"cycles"` // null: functional
	WarpInstrs   uint64                `json:"warp_instrs"`
	ThreadInstrs uint64                `json:"thread_instrs"`
	Console      string                `json:"console"`
	HostSeconds  float64               `json:"host_seconds"`
	Stats        map[string]stats.Stat `json:"stats"`
	Error        string                `json:"error,omitempty"`
	State        *inspect.State        `json:"state,omitempty"`  // --dump, where the run was stopped
	Report       *hotspots.Report      `json:"report,omitempty"` // --report

	tree   stats.Tree
	stored bool // the program stored an exit code
}

func newResult(m *emu.Machine, err error, d time.Duration) *result {
	s := m.Stats()
	r := &result{
		WarpInstrs: s.WarpInstrs, ThreadInstrs: s.ThreadInstrs, HostSeconds: d.Seconds(),
		Console: string(m.Console()), Stats: sim.Instructions(s).Map(),
	}
	r.ExitCode, r.stored = m.ExitCode()
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

func (f *execFlags) report(c *cobra.Command, m *emu.Machine, r *result) error {
	if m.ConsoleTruncated() {
		fmt.Fprintln(c.ErrOrStderr(), "heddle: the program printed more than 16 MiB; the rest was dropped")
	}
	r.State = f.stop.state()
	if f.json {
		e := json.NewEncoder(c.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	f.stop.report(c.OutOrStdout(), c.ErrOrStderr())
	f.hot.print(c.OutOrStdout(), r.Report)
	rate := ""
	if r.HostSeconds > 0.01 { // the rate of a shorter run is meaningless
		rate = fmt.Sprintf(", %.1f M warp instructions/s", float64(r.WarpInstrs)/r.HostSeconds/1e6)
	}
	if r.Cycles != nil {
		fmt.Fprintf(c.ErrOrStderr(), "%d cycles, IPC %.3f, ", *r.Cycles,
			float64(r.WarpInstrs)/float64(max(*r.Cycles, 1)))
	}
	fmt.Fprintf(c.ErrOrStderr(), "%d warp instructions, %d thread instructions, %.3f s%s\n", r.WarpInstrs,
		r.ThreadInstrs, r.HostSeconds, rate)
	return nil
}

// outcome returns the command's error for the end of the run. With --json, the message is in the output already.
func (r *result) outcome(err error, quiet bool) error {
	err = failed(err)
	if err == nil && r.ExitCode != 0 {
		err = &codeError{exitFailed, fmt.Errorf("the program returned %d", r.ExitCode)}
	}
	if err == nil && !r.stored {
		err = &codeError{exitFailed, errors.New("the program ended without storing an exit code at 0x88")}
	}
	var c *codeError
	if quiet && errors.As(err, &c) && c.code != exitInterrupted {
		return &codeError{code: c.code}
	}
	return err
}
