package cmd

import (
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/spf13/cobra"

	"heddle/components/accel"
	"heddle/sim"
	"heddle/sim/choose"
	"heddle/sim/window"
)

// windowFlags holds the flags that observe a machine while it runs.
type windowFlags struct {
	window   string
	konata   string
	perfetto string
	vcd      string
	signals  []string
	list     bool
	log      string
	logFile  string
	bytes    int

	errs     io.Writer // output of a log without a file
	dumps    bool      // --dump covers the window
	out      io.Writer
	recorder *window.Recorder
}

// windowNames lists the flags.
var windowNames = []string{"window", "konata", "perfetto", "vcd", "vcd-signals", "list-signals", "log", "log-file",
	"window-bytes"}

func (f *windowFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.window, "window", "",
		"look at these only, for --konata, --perfetto, --vcd and --log: `cycles=A..B,cores=A..B,warps=A..B` "+
			"(docs/guide/looking.md)")
	fl.StringVar(&f.konata, "konata", "", "write every instruction's way through the pipeline to a `file` for the "+
		"viewer Konata")
	fl.StringVar(&f.perfetto, "perfetto", "",
		"write warps, units, caches and memory over time to a `file` for ui.perfetto.dev (Chrome trace; .json.gz is "+
			"packed)")
	fl.StringVar(&f.vcd, "vcd", "", "write signals of pipelines, units, caches and memory to a `file` for GTKWave "+
		"(value change dump)")
	fl.StringArrayVar(&f.signals, "vcd-signals", nil,
		"signals for --vcd: `names` with commas between them, in which * stands for any part, or one /regular "+
			"expression/; again for more (default: all that --list-signals does not mark)")
	fl.BoolVar(&f.list, "list-signals", false, "list the machine's signals for --vcd, and do not run")
	fl.StringVar(&f.log, "log", "",
		"write a line for every event that the `filter` chooses: "+
			"core0.warp3=issue,weaver=fsm,core*.graphpeg=alwt,l2=fill,dram=cmd (docs/guide/looking.md)")
	fl.StringVar(&f.logFile, "log-file", "", "write the log to a `file` (default: stderr)")
	fl.IntVar(&f.bytes, "window-bytes", 256<<20, "`size` over which none of the files grows")
}

// wanted reports whether any output is requested.
func (f *windowFlags) wanted() bool {
	return f.konata != "" || f.perfetto != "" || f.vcd != "" || f.log != ""
}

// expectedFiles lists the options of which heddle inspect needs one.
const expectedFiles = "expected --konata FILE, --perfetto FILE, --vcd FILE or --log FILTER"

// errListed ends a run after --list-signals.
var errListed = errors.New("listed")

// attach attaches the requested outputs to a machine.
func (f *windowFlags) attach(m *sim.Machine) error {
	switch {
	case f.list:
		f.listSignals(m)
		return errListed
	case f.vcd == "" && f.signals != nil:
		return errors.New("--vcd-signals: expected --vcd FILE beside it")
	case f.log == "" && f.logFile != "":
		return errors.New("--log-file: expected --log FILTER beside it")
	case !f.wanted() && f.window != "" && !f.dumps:
		return errors.New("--window: " + expectedFiles + " beside it")
	case !f.wanted():
		return nil
	}
	s, err := window.Parse(f.window)
	if err != nil {
		return fmt.Errorf("--%w", err)
	}
	if err := s.Check(len(m.Cores), m.Cores[0].NumWarps()); err != nil {
		return fmt.Errorf("--%w", err)
	}
	to, err := f.exports(m, s)
	if err != nil {
		return err
	}
	f.recorder, err = window.Attach(m, s, to...)
	return err
}

// exports opens the files.
func (f *windowFlags) exports(m *sim.Machine, s window.Spec) (to []window.Export, err error) {
	for _, x := range []struct {
		flag, value string
		open        func(*sim.Machine, window.Spec) (window.Export, error)
	}{
		{"konata", f.konata, f.openKonata}, {"perfetto", f.perfetto, f.openPerfetto}, {"vcd", f.vcd, f.openVCD},
		{"log", f.log, f.openLog},
	} {
		if x.value == "" {
			continue
		}
		e, err := x.open(m, s)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", x.flag, err)
		}
		to = append(to, e)
	}
	return to, nil
}

func (f *windowFlags) openKonata(m *sim.Machine, s window.Spec) (window.Export, error) {
	return window.NewKonata(f.konata, f.bytes, m.Cores[0].NumWarps(), s.Cycles.First)
}

func (f *windowFlags) openPerfetto(_ *sim.Machine, s window.Spec) (window.Export, error) {
	return window.NewPerfetto(f.perfetto, f.bytes, s.Cycles.First)
}

func (f *windowFlags) openVCD(m *sim.Machine, s window.Spec) (window.Export, error) {
	patterns, err := choose.ParseList(f.signals)
	if err != nil {
		return nil, fmt.Errorf("--vcd-signals: %w", err)
	}
	return window.NewVCD(f.vcd, f.bytes, m, s, patterns)
}

// unitWords matches the names in a filter that may be those of graph units, and no kinds of events.
var unitWords = regexp.MustCompile(`\b[a-z][a-z0-9_]*\b`)

func (f *windowFlags) openLog(m *sim.Machine, s window.Spec) (window.Export, error) {
	filter, err := choose.ParseFilter(unitWords.ReplaceAllStringFunc(f.log, accel.KeyOf))
	if err != nil {
		return nil, err
	}
	return window.NewLog(f.logFile, f.errs, f.bytes, m, s, filter)
}

// listSignals prints a line for each signal: name, size, and a mark if --vcd includes it on request only.
func (f *windowFlags) listSignals(m *sim.Machine) {
	for _, s := range window.SignalNames(m) {
		size := "state"
		if s.Bits > 0 {
			size = fmt.Sprintf("%d", s.Bits)
		}
		mark := ""
		if s.Detail {
			mark = "  (only by --vcd-signals)"
		}
		fmt.Fprintf(f.out, "%-44s %5s%s\n", s.Name, size, mark)
	}
}

// close completes the files, and prints notices for their readers.
func (f *windowFlags) close(c *cobra.Command) error {
	if f.recorder == nil {
		return nil
	}
	notes, err := f.recorder.Close()
	for _, n := range notes {
		warnOf(c, n)
	}
	return failed(err)
}
