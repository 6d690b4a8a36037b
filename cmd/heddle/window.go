package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"heddle/sim"
	"heddle/sim/window"
)

// windowFlags say what is looked at while a machine runs, and where it goes.
type windowFlags struct {
	window   string
	konata   string
	perfetto string
	bytes    int

	recorder *window.Recorder
}

// windowNames are the flags'.
var windowNames = []string{"window", "konata", "perfetto", "window-bytes"}

func (f *windowFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.window, "window", "", "look at these only, for --konata and --perfetto: `cycles=A..B,cores=A..B,warps=A..B` (docs/looking.md)")
	fl.StringVar(&f.konata, "konata", "", "write every instruction's way through the pipeline to a `file` for the viewer Konata")
	fl.StringVar(&f.perfetto, "perfetto", "", "write warps, units, caches and memory over time to a `file` for ui.perfetto.dev (Chrome trace)")
	fl.IntVar(&f.bytes, "window-bytes", 256<<20, "`size` over which neither of the files grows")
}

// attach joins what was asked for to a machine.
func (f *windowFlags) attach(m *sim.Machine) error {
	if f.konata == "" && f.perfetto == "" {
		if f.window != "" {
			return errors.New("--window: expected --konata FILE or --perfetto FILE beside it")
		}
		return nil
	}
	s, err := window.Parse(f.window)
	if err != nil {
		return fmt.Errorf("--%w", err)
	}
	warps := m.Cores[0].NumWarps()
	if err := s.Check(len(m.Cores), warps); err != nil {
		return fmt.Errorf("--%w", err)
	}
	var to []window.Export
	if f.konata != "" {
		k, err := window.NewKonata(f.konata, f.bytes, warps, s.Cycles.First)
		if err != nil {
			return fmt.Errorf("--konata: %w", err)
		}
		to = append(to, k)
	}
	if f.perfetto != "" {
		p, err := window.NewPerfetto(f.perfetto, f.bytes, s.Cycles.First)
		if err != nil {
			return fmt.Errorf("--perfetto: %w", err)
		}
		to = append(to, p)
	}
	f.recorder, err = window.Attach(m, s, to...)
	return err
}

// close ends the files, and says what their reader should know.
func (f *windowFlags) close(c *cobra.Command) error {
	if f.recorder == nil {
		return nil
	}
	notes, err := f.recorder.Close()
	for _, n := range notes {
		fmt.Fprintln(c.ErrOrStderr(), "heddle: warning:", n)
	}
	return err
}
