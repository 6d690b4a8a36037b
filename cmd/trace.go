package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"heddle/experiment"
	"heddle/internal/files"
	"heddle/internal/version"
	"heddle/traces"
)

func newTrace() *cobra.Command {
	c := &cobra.Command{
		Use:   "trace",
		Short: "Record, convert and compare instruction traces",
		Long: `Record the instructions of all warps in a file, which an experiment replays on any machine of as
many cores, warps and lanes: workload: {trace: FILE}. A replay computes and verifies nothing;
on the machine that it was recorded on, cycles and statistics are those of the execution. See
docs/reference/traces.md.`,
	}
	c.AddCommand(newTraceRecord(), newTraceInfo(), newTraceDump(), newTraceDiff(), newTraceImport())
	return c
}

// recordFlags holds the flags of heddle trace record.
type recordFlags struct {
	pointFlags
	out string
}

func newTraceRecord() *cobra.Command {
	var f recordFlags
	c := &cobra.Command{
		Use:   "record EXPERIMENT -o FILE",
		Short: "Run one point of an experiment and record it",
		Long: `Run one point of an experiment, and record the instructions of its warps. The file is written when the
result has been verified, wholly or not at all. For graph units that read memory by themselves (GraphPEG,
EGHW, hardware worklists) it has the arrays that they walk, too.`,
		Example: `  heddle trace record quickstart --point 1 -o vertex.trace
  heddle trace record my.yaml --point 3 --set workload.max_iterations=2 -o pr.trace`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVarP(&f.out, "out", "o", "", "`file` to write")
	f.add(c.Flags())
	f.overrides.add(c)
	return c
}

func (f *recordFlags) run(c *cobra.Command, name string) error {
	if f.out == "" {
		return errors.New("-o FILE: expected a file to write")
	}
	r, i, err := f.choose(name, "recorded")
	if err != nil {
		return err
	}
	start := time.Now()
	o, err := r.Record(c.Context(), i, f.out, version.Text())
	if err != nil {
		return failed(err)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %s cycles, verified, recorded in %.1f s\n", experiment.Label(r.Points[i].Axes),
		experiment.Thousands(o.Cycles), time.Since(start).Seconds())
	return withTrace(f.out, func(t *traces.File) error { return t.Describe(c.OutOrStdout()) })
}

// withTrace calls do with an open trace.
func withTrace(path string, do func(*traces.File) error) error {
	t, err := traces.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(do(t), t.Close())
}

func newTraceInfo() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE",
		Short: "Describe a trace: its origin and contents",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return withTrace(args[0], func(t *traces.File) error { return t.Describe(c.OutOrStdout()) })
		},
	}
}

func newTraceDump() *cobra.Command {
	var sel traces.Selection
	c := &cobra.Command{
		Use:   "dump FILE",
		Short: "Show the instructions of a trace",
		Long: `Show the instructions of a trace: address, lanes, instruction, position in the program,
and the dynamic information: addresses by lane (a+d×n stands for n lanes, each d more
than the one before), requests to a graph unit and its answers, the lanes of a
conditional atomic that wrote, a new mask, and the target of a taken branch.`,
		Example: `  heddle trace dump pr.trace --launch 1 --warp 0 --limit 40`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return withTrace(args[0], func(t *traces.File) error { return t.Dump(c.OutOrStdout(), sel) })
		},
	}
	fl := c.Flags()
	fl.IntVar(&sel.Launch, "launch", -1, "`number` of a launch, from 0 (-1: all)")
	fl.IntVar(&sel.Warp, "warp", -1, "`number` of a warp over all cores, from 0: core × warps of a core + warp (-1: "+
		"all)")
	fl.Uint64Var(&sel.Limit, "limit", 0, "instructions of each warp and launch to show (0: all)")
	return c
}

// maxShownDifferences bounds the output of a comparison.
const maxShownDifferences = 20

func newTraceDiff() *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Show where the warps of two traces first differ",
		Long: `Compare two traces warp by warp and launch by launch, and show the first instruction
that differs itself or in its results. The exit code is 1 if they differ.`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			return withTrace(args[0], func(a *traces.File) error {
				return withTrace(args[1], func(b *traces.File) error { return diffTraces(c.OutOrStdout(), a, b) })
			})
		},
	}
}

func diffTraces(w io.Writer, a, b *traces.File) error {
	all, err := traces.Diff(a, b)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		fmt.Fprintln(w, "the traces are the same")
		return nil
	}
	for _, d := range all[:min(len(all), maxShownDifferences)] {
		unit := "instructions"
		if d.Warp == a.Meta.Shape.Host() {
			unit = "acts"
		}
		fmt.Fprintf(w, "launch %d, %s, after %d %s\n  A  %s\n  B  %s\n", d.Launch, a.Meta.Shape.Name(d.Warp), d.At,
			unit, cmp.Or(d.A, "(has ended)"), cmp.Or(d.B, "(has ended)"))
	}
	fmt.Fprintf(w, "%d traces of a warp and launch differ\n", len(all))
	return &codeError{code: exitFailed}
}

func newTraceImport() *cobra.Command {
	var out string
	var s traces.Shape
	c := &cobra.Command{
		Use:   "import TEXT -o FILE",
		Short: "Make a trace from text in the form of heddle trace dump",
		Long: `Make a trace of a text in the format of heddle trace dump, such as the trace of another
program, expressed in instructions of this machine. docs/reference/traces.md describes
the format, with an example. Impossible events are refused with their lines.`,
		Example: `  heddle trace import gpu.txt --cores 6 --warps 32 --threads 32 -o gpu.trace`,
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return importTrace(c, args[0], out, s) },
	}
	fl := c.Flags()
	fl.StringVarP(&out, "out", "o", "", "`file` to write")
	fl.IntVar(&s.Cores, "cores", 1, "cores")
	fl.IntVar(&s.Warps, "warps", 4, "warps of a core")
	fl.IntVar(&s.Threads, "threads", 4, "lanes of a warp")
	return c
}

func importTrace(c *cobra.Command, name, out string, s traces.Shape) error {
	if out == "" {
		return errors.New("-o FILE: expected a file to write")
	}
	in, err := files.Open(name)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	if err := traces.Import(in, name, out, s, version.Text()); err != nil {
		return err
	}
	return withTrace(out, func(t *traces.File) error { return t.Describe(c.OutOrStdout()) })
}
