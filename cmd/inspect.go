package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"heddle/experiment"
	"heddle/sim"
	"heddle/sim/window"
)

// inspectFlags holds the flags of heddle inspect.
type inspectFlags struct {
	pointFlags
	window  windowFlags
	stop    stopFlags
	monitor monitorFlags
	hot     hotFlags
	machine *sim.Machine
	json    bool
	lines   bool
}

func newInspect() *cobra.Command {
	var f inspectFlags
	c := &cobra.Command{
		Use: "inspect EXPERIMENT", Aliases: []string{"look"},
		Short: "Inspect one point of an experiment: pipeline, waveforms, events, hot spots",
		Long: `Run one point of an experiment and record a window of cycles, cores and warps: for the pipeline
viewer Konata, over time for ui.perfetto.dev, or as signals for GTKWave; or report where the time
of the whole point went, by instruction of its kernels. The result is verified as by heddle run,
and not stored. Cycles are counted through all launches. See docs/guide/looking.md.

` + exitHelp + `
With --break or --at-cycle: 5 the run was stopped there.`,
		Example: `  heddle inspect quickstart --point 3 --window cycles=20000..22000,cores=0,warps=0..3 --konata pipeline.log
  heddle inspect my.yaml --window cycles=0..100000 --perfetto trace.json
  heddle inspect quickstart --point 3 --report
  heddle inspect quickstart --point 3 --at-cycle 20000 --dump --window warps=0..1
  heddle inspect quickstart --point 3 --window cycles=20000..22000 --vcd run.vcd --vcd-signals '*.weaver.*,*.warp?.state'`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.add(c.Flags())
	f.window.add(c)
	f.hot.add(c)
	f.monitor.add(c)
	f.stop.add(c)
	c.Flags().BoolVar(&f.json, "json", false, "print the output of --dump or --report as JSON")
	c.Flags().BoolVar(&f.lines, "lines", false, "after the run, list the sources of its kernels, with the names "+
		"and numbers of lines that traps and --report give")
	f.overrides.add(c)
	return c
}

func (f *inspectFlags) run(c *cobra.Command, name string) error {
	if !f.window.wanted() && f.hot.to == "" && !f.window.list && !f.stop.wanted() && f.monitor.address == "" &&
		!f.lines {
		return errors.New(expectedFiles + ", --report, --break PLACE, --at-cycle N, --lines, or --monitor")
	}
	if f.json && f.stop.dump && f.hot.to != "" {
		return errors.New("--json: expected one of --dump and --report beside it")
	}
	if err := f.stop.check(); err != nil {
		return err
	}
	f.window.out, f.window.errs, f.window.dumps = c.OutOrStdout(), c.ErrOrStderr(), f.stop.dump
	r, i, err := f.choose(name, "looked at")
	if err != nil {
		return err
	}
	if err := tilesLack(&r.Points[i].Config.Machine, "the machine of "+name, &f.window, &f.stop, &f.hot); err != nil {
		return err
	}
	if err := f.hot.refuse(&r.Points[i]); err != nil {
		return err
	}
	defer f.hot.abandon()
	defer inOrder(c.Context())()
	r.Points, r.Watch = r.Points[i:i+1], f.attach
	if err := f.monitor.listen(); err != nil {
		return err
	}
	page := f.monitor.serve(c, name, 1, 0, r.Points)
	defer page.close()
	page.join(r)
	o := r.Run(c.Context())[0]
	page.finished(o.Err)
	if errors.Is(o.Err, errListed) {
		return nil
	}
	err = f.window.close(c)
	if o.Err != nil && (err == nil || !errors.As(o.Err, new(*window.WriteError))) {
		err = errors.Join(failed(o.Err), err)
	}
	err = errors.Join(err, f.reportHot(c, &r.Points[0], o.Err))
	f.list(c)
	if f.json {
		err = errors.Join(err, f.stop.reportJSON(c.OutOrStdout(), c.ErrOrStderr()))
	} else {
		f.stop.report(c.OutOrStdout(), c.ErrOrStderr())
	}
	if err != nil {
		return err
	}
	w := c.OutOrStdout()
	if f.json { // stdout is reserved for JSON
		w = c.ErrOrStderr()
	}
	fmt.Fprintf(w, "%s: %s cycles\n", experiment.Label(r.Points[0].Axes), experiment.Thousands(o.Cycles))
	return nil
}

// reportHot prints where the time of all kernels went.
func (f *inspectFlags) reportHot(c *cobra.Command, p *experiment.Point, ended error) error {
	if f.hot.to == "" || f.machine == nil {
		return nil
	}
	r := f.hot.of(experiment.Label(p.Axes), f.machine, lineNumbers{Lines: p.ProgramLines()}, ended)
	if r.Compiled() {
		r.Notes = append(r.Notes, "NAME.ir:N is line N of a kernel's source: --lines lists it.")
	}
	if f.json {
		return errors.Join(f.hot.write(r), printJSON(c.OutOrStdout(), r))
	}
	f.hot.print(c.OutOrStdout(), r)
	return f.hot.write(r)
}

// list prints the sources of the kernels that were launched; stdout is reserved for JSON.
func (f *inspectFlags) list(c *cobra.Command) {
	if !f.lines || f.machine == nil {
		return
	}
	w := c.OutOrStdout()
	if f.json {
		w = c.ErrOrStderr()
	}
	n := 0
	for _, p := range f.machine.Profiles() {
		writeListings(w, p.Program)
		n += len(p.Program.Listings)
	}
	if n == 0 {
		fmt.Fprintln(w, "--lines: none of the kernels that were launched is compiled by heddle.")
	}
}

// attach attaches the requested tools to a machine, which runs several programs.
func (f *inspectFlags) attach(m *sim.Machine) error {
	f.machine = m
	if f.lines {
		m.Profile()
	}
	if err := f.hot.attach(m); err != nil {
		return err
	}
	if err := f.window.attach(m); err != nil {
		return err
	}
	return f.stop.attach(m, nil, f.window.window)
}
