package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"heddle/isa"
	"heddle/isa/emu"
	"heddle/sim"
	"heddle/sim/inspect"
	"heddle/sim/window"
)

// stopFlags holds the flags that stop a run, and show the state of the machine then.
type stopFlags struct {
	at    string
	cycle uint64
	dump  bool

	watcher interface {
		State() *inspect.State
		Missed() string
	}
}

func (f *stopFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.at, "break", "",
		"stop at the first issue of the instruction at `PLACE`: an address, SYMBOL or SYMBOL+OFFSET, and "+
			",core=N,warp=N behind it (docs/guide/looking.md)")
	fl.Uint64Var(&f.cycle, "at-cycle", 0, "stop when this `cycle` of the machine's clock is over")
	fl.BoolVar(&f.dump, "dump", false, "print the state of the machine where the run is stopped; --window "+
		"cores=..,warps=.. selects cores and warps")
}

// wanted reports whether a stop is requested.
func (f *stopFlags) wanted() bool { return f.at != "" || f.cycle > 0 }

// check returns an error for incompatible flags.
func (f *stopFlags) check() error {
	if f.dump && !f.wanted() {
		return errors.New("--dump: expected --break PLACE or --at-cycle N beside it")
	}
	return nil
}

// point returns the point of --break; nil without it. p is the program, if there is only one.
func (f *stopFlags) point(p *isa.Program, cores, warps int) (*inspect.Point, error) {
	if f.at == "" {
		return nil, nil
	}
	at, err := inspect.ParsePoint(f.at)
	if err == nil {
		err = at.Check(p, cores, warps)
	}
	if err != nil {
		return nil, fmt.Errorf("--break %w", err)
	}
	return &at, nil
}

// scope parses the cores and warps of --window.
func scope(text string, cores, warps int) (inspect.Scope, error) {
	s, err := window.Parse(text)
	if err == nil {
		err = s.Check(cores, warps)
	}
	if err != nil {
		return inspect.Scope{}, fmt.Errorf("--%w", err)
	}
	return inspect.Scope{Core: func(n int) bool { return s.Cores.Has(uint64(n)) },
		Warp: func(n int) bool { return s.Warps.Has(uint64(n)) }}, nil
}

// attach makes a timed machine stop.
func (f *stopFlags) attach(m *sim.Machine, p *isa.Program, shown string) error {
	if !f.wanted() {
		return nil
	}
	cores, warps := len(m.Cores), m.Cores[0].NumWarps()
	at, err := f.point(p, cores, warps)
	if err != nil {
		return err
	}
	s, err := scope(shown, cores, warps)
	if err != nil {
		return err
	}
	f.watcher, err = inspect.Attach(m, at, f.cycle, s)
	return err
}

// functional makes a functional machine stop.
func (f *stopFlags) functional(cfg *emu.Config, p *isa.Program, shown string) error {
	if f.cycle > 0 {
		return errors.New("--at-cycle is for timed machines")
	}
	at, err := f.point(p, cfg.Cores, cfg.Warps)
	if at == nil || err != nil {
		return err
	}
	s, err := scope(shown, cfg.Cores, cfg.Warps)
	if err != nil {
		return err
	}
	u := &inspect.Functional{Point: at, Program: p, Scope: s}
	f.watcher, cfg.Stop = u, u.Before
	return nil
}

// state returns the state for a dump; nil: none.
func (f *stopFlags) state() *inspect.State {
	if f.watcher == nil || !f.dump {
		return nil
	}
	return f.watcher.State()
}

// report prints the dump, or a notice if the run was not stopped.
func (f *stopFlags) report(out, errs io.Writer) {
	if s := f.state(); s != nil {
		s.Write(out)
	}
	if f.watcher != nil && f.watcher.Missed() != "" {
		remark(errs, "warning: "+f.watcher.Missed())
	}
}

// reportJSON is report with JSON output.
func (f *stopFlags) reportJSON(out, errs io.Writer) error {
	s := f.state()
	if s == nil {
		f.report(out, errs)
		return nil
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(s)
}
