package cmd

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"heddle/experiment"
	"heddle/internal/files"
	"heddle/isa"
	"heddle/report"
	"heddle/report/hotspots"
	"heddle/sim"
)

// hotFlags holds the flags of the report on where the time of a run went.
type hotFlags struct {
	to string // "-": stdout; "": no report

	page *files.File // created before the run
}

func (f *hotFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.to, "report", "",
		"say where the schedulers' time went: stalls, phases, hottest instructions and source lines, on stdout, or "+
			"as an HTML page in a `file` (--report=hot.html; docs/guide/looking.md)")
	c.Flags().Lookup("report").NoOptDefVal = "-"
}

// read reads a program, with its line numbers if the report needs them.
func (f *hotFlags) read(p *programFlags, path string) (*isa.Program, lineNumbers, error) {
	if f.to != "" {
		return p.readLines(path)
	}
	program, err := p.read(path)
	return program, lineNumbers{}, err
}

// attach makes a machine count by instruction, and creates the file, so that an error is reported before the run.
func (f *hotFlags) attach(m *sim.Machine) (err error) {
	if f.to == "" {
		return nil
	}
	if f.to != "-" {
		if f.page, err = files.Create(f.to); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	m.Profile()
	return nil
}

// abandon removes the page of a run that has no report.
func (f *hotFlags) abandon() {
	if f.page != nil {
		f.page.Abort() //nolint:errcheck // a file without a name
	}
}

// of returns the report of a machine after its run; nil if it was not requested.
func (f *hotFlags) of(name string, m *sim.Machine, lines lineNumbers, err error) *hotspots.Report {
	if f.to == "" {
		return nil
	}
	r := hotspots.New(name, m, lines.Lines)
	if err != nil {
		reason, _, _ := strings.Cut(err.Error(), "\n")
		r.Notes = append(r.Notes, "The run ended early, at this state: "+reason+".")
	}
	if lines.why == "" && lines.Lines != nil {
		lines.why = lacking(r)
	}
	if lines.why != "" {
		r.Notes = append(r.Notes, lines.why)
	}
	return r
}

// lacking returns a notice if some instructions have no line, as when not all files were compiled with debug
// information.
func lacking(r *hotspots.Report) string {
	n := 0
	for i := range r.Instructions {
		if r.Instructions[i].Line == 0 {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Of %d instructions, %d have no line number: compile with -g.", len(r.Instructions), n)
}

// write writes the page if it was requested.
func (f *hotFlags) write(r *hotspots.Report) error {
	if f.page == nil {
		return nil
	}
	page, err := report.HotspotsPage(r)
	if err == nil {
		_, err = f.page.Write(page)
	}
	if err != nil {
		return err
	}
	w := f.page
	f.page = nil
	return w.Commit()
}

// print prints the report if it goes to stdout.
func (f *hotFlags) print(w io.Writer, r *hotspots.Report) {
	if f.to == "-" {
		printHotspots(w, r)
	}
}

// hottest is the number of instructions and lines that are shown.
const hottest = 10

func printHotspots(w io.Writer, r *hotspots.Report) {
	printStack(w, r)
	if len(r.Phases) == 0 {
		fmt.Fprintf(w, "No phases: the program has no symbols %sNAME where they begin (docs/guide/programs.md).\n",
			isa.PhasePrefix)
	} else {
		var phases []experiment.Phase
		for _, p := range r.Phases {
			phases = append(phases, experiment.Phase(p))
		}
		printPhases(w, phases)
	}
	printInstructions(w, r)
	printLines(w, r)
	for _, n := range r.Notes {
		fmt.Fprintln(w, n)
	}
}

// shareBar draws a share as a bar.
func shareBar(share float64) string {
	const whole = 30
	return strings.Repeat("█", int(whole*share+0.5))
}

// printStack prints the distribution of the schedulers' cycles.
func printStack(w io.Writer, r *hotspots.Report) {
	fmt.Fprintf(w, "%s cycles, %s scheduler-cycles:\n", experiment.Thousands(r.Cycles), experiment.Thousands(r.Time))
	t := newTable(w, "schedulers", "share", "scheduler-cycles", "")
	for i, tenths := range hotspots.Tenths(r.Stack) {
		if p := r.Stack[i]; p.Cycles > 0 {
			t.AppendRow(table.Row{p.Name, shareText(float64(tenths) / 1000), experiment.Thousands(p.Cycles),
				shareBar(p.Share)})
		}
	}
	t.SetColumnConfigs(rightFrom(2, 3))
	t.Render()
	if r.Idle > 0 {
		fmt.Fprintf(w, "%s of them (%s) belong to no instruction: all warps of a scheduler had ended.\n",
			experiment.Thousands(r.Idle), shareText(r.Share(r.Idle)))
	}
}

func shareText(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// place is the width of the last column of the table of instructions, in 80 columns.
const place = 27

func fitted(s string) string {
	if utf8.RuneCountInString(s) > place {
		return string([]rune(s)[:place-1]) + "…"
	}
	return s
}

// counted returns the cells with the counts of instructions.
func counted(r *hotspots.Report, c *hotspots.Counts, issued, stalled uint64) table.Row {
	main, _ := c.Main()
	return table.Row{
		shareText(r.Share(c.Time())), shareText(float64(c.Issued) / float64(max(issued, 1))),
		shareText(float64(c.Stalled) / float64(max(stalled, 1))),
		main, fmt.Sprintf("%.1f", c.MeanLanes()),
	}
}

// below returns the cells of the row below, with the share of the main reason.
func below(c *hotspots.Counts, text string) table.Row {
	share := ""
	if main, s := c.Main(); main != "" {
		share = fmt.Sprintf("%.0f %%", 100*s)
	}
	return table.Row{"", "", "", share, "", fitted(text)}
}

func printInstructions(w io.Writer, r *hotspots.Report) {
	shown := r.Instructions[:min(len(r.Instructions), hottest)]
	time := uint64(0)
	for i := range shown {
		time += shown[i].Time()
	}
	fmt.Fprintf(w, "The hottest %d of %d instructions have %s of the time:\n", len(shown), len(r.Instructions),
		shareText(r.Share(time)))
	t := newTable(w, "time", "issued", "stalled", "mainly", "lanes", "instruction")
	issued, stalled := r.Issued(), r.Stalled()
	for i := range shown {
		x := &shown[i]
		t.AppendRow(append(counted(r, &x.Counts, issued, stalled), fitted(x.Text)))
		t.AppendRow(below(&x.Counts, strings.TrimSpace(fmt.Sprintf("%08x %s", x.PC, x.Where()))))
		if from := x.Origin(); from != "" {
			t.AppendRow(table.Row{"", "", "", "", "", fitted(from)})
		}
	}
	t.SetColumnConfigs(append(rightFrom(1, 3), rightFrom(5, 5)...))
	t.Render()
}

func printLines(w io.Writer, r *hotspots.Report) {
	if len(r.Lines) == 0 {
		return
	}
	shown := r.Lines[:min(len(r.Lines), hottest)]
	fmt.Fprintf(w, "The hottest %d of %d source lines:\n", len(shown), len(r.Lines))
	t := newTable(w, "time", "issued", "stalled", "mainly", "lanes", "line")
	issued, stalled := r.Issued(), r.Stalled()
	for i := range shown {
		x := &shown[i]
		t.AppendRow(append(counted(r, &x.Counts, issued, stalled),
			fitted(fmt.Sprintf("%s:%d", filepath.Base(x.File), x.Line))))
		t.AppendRow(below(&x.Counts, x.Source))
	}
	t.SetColumnConfigs(append(rightFrom(1, 3), rightFrom(5, 5)...))
	t.Render()
}

var errReportSpace = errors.New("--report=FILE: the file's name follows an equals sign")

// programAnd accepts one argument; its error for a second one explains the syntax of --report=FILE.
func programAnd(c *cobra.Command, args []string) error {
	if len(args) == 2 && c.Flags().Changed("report") && strings.EqualFold(filepath.Ext(args[1]), ".html") {
		return errReportSpace
	}
	return cobra.ExactArgs(1)(c, args)
}

// refuse returns an error for points that are simulated in parts, or replay a trace.
func (f *hotFlags) refuse(p *experiment.Point) error {
	c := &p.Config
	why := ""
	switch {
	case f.to == "":
	case c.Sample.On():
		key, _ := c.Sample.Key()
		why = key + "=0"
	case c.Region.From > 0 || c.Region.To > 0:
		why = "region.from=0 and region.to=0"
	case c.Workload.Trace != "":
		why = "no workload.trace"
	}
	if why != "" {
		return fmt.Errorf("--report: expected a point that is simulated as a whole: %s", why)
	}
	return nil
}
