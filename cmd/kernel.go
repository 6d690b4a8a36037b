package cmd

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"heddle/experiment"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/codegen"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/ir"
	"heddle/kernels/ir/example"
	"heddle/kernels/schedule"
)

// namedKernel is a combination of choices or an example, with its kernels in the order of launches.
type namedKernel struct {
	name  string
	build func(f form) ([]*ir.Kernel, error)
}

// form holds the options of building a kernel that its name does not contain.
type form struct {
	core         schedule.Core // of the machine
	width        int           // workload.algorithm.width
	warps        int           // workload.schedule.warps_per_core
	blockThreads int           // workload.schedule.cta_threads
	unroll       string        // workload.compiler.unroll
	variant      string        // workload.schedule.variant
}

// exampleKernels returns the kernels of package example.
func exampleKernels() (list []namedKernel) {
	for _, name := range example.Names() {
		list = append(list, namedKernel{name, func(form) ([]*ir.Kernel, error) {
			k, err := example.Kernels[name]()
			return []*ir.Kernel{k}, err
		}})
	}
	return list
}

// composedKernel returns the kernels of a combination of choices.
func composedKernel(p *compose.Plan) namedKernel {
	return namedKernel{p.Name(), func(f form) ([]*ir.Kernel, error) {
		p.Width, p.Warps, p.BlockThreads, p.Unroll = f.width, f.warps, f.blockThreads, compose.Unrolling(f.unroll)
		p.Variant = schedule.Variant(f.variant)
		ks, err := p.Build(f.core)
		return ks.All(), err
	}}
}

func allKernels() []namedKernel {
	list := exampleKernels()
	all, fused := compose.AllAndFused()
	for _, p := range slices.Concat(all, fused) {
		list = append(list, composedKernel(p))
	}
	return list
}

func findKernel(name string) (*namedKernel, error) {
	for _, k := range exampleKernels() {
		if k.name == name {
			return &k, nil
		}
	}
	if p := compose.ByName(name); p != nil {
		k := composedKernel(p)
		return &k, nil
	}
	return nil, fmt.Errorf("no kernel %q (heddle kernel list names all)", name)
}

func newKernel() *cobra.Command {
	c := &cobra.Command{
		Use:   "kernel",
		Short: "List, show and export the kernels of graph programs",
	}
	c.AddCommand(newKernelChoices(), newKernelList(), newKernelShow(), newKernelExport(), newKernelBlock())
	return c
}

func newKernelChoices() *cobra.Command {
	return &cobra.Command{
		Use:     "choices",
		Short:   "List the choices that kernels are composed of, with their meaning",
		Example: "  heddle kernel choices | grep schedule",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t := newTable(c.OutOrStdout(), "key", "choice", "meaning")
			for _, x := range compose.Meanings() {
				t.AppendRow(table.Row{x.Key, x.Name, x.Doc})
			}
			t.Render()
			return nil
		},
	}
}

func newKernelList() *cobra.Command {
	var count, asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the kernels",
		Long: `List the kernels: the handwritten ones, and every legal combination of choices.

--count counts the combinations of each algorithm: of software's schedules, where each
number that a kernel heeds (the size of thread blocks, those of a layout) counts as two, as
GRAssembler (PACT '22) counts in its Table 3; of all schedules; of all manners in which
kernels are written; and of those that run fused, too. Below are the factors, whose product
counts all choices, legal or not, as the published 4,480 does.`,
		Example: "  heddle kernel list\n  heddle kernel list --count\n  heddle kernel list --count --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case count && asJSON:
				return printJSON(c.OutOrStdout(), kernelCounts{compose.Factors(), compose.Count()})
			case count:
				writeCounts(c.OutOrStdout())
				return nil
			}
			for _, k := range allKernels() {
				fmt.Fprintln(c.OutOrStdout(), k.name)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&count, "count", false, "count them, by algorithm")
	c.Flags().BoolVar(&asJSON, "json", false, "with --count: as JSON")
	return c
}

// kernelCounts is the JSON that --count prints.
type kernelCounts struct {
	Factors    []compose.Factor  `json:"factors"`
	Algorithms []compose.Counted `json:"algorithms"`
}

func writeCounts(w io.Writer) {
	t := newTable(w, "algorithm", "software", "all schedules", "all manners", "fused too")
	var sum compose.Counted
	for _, n := range compose.Count() {
		t.AppendRow(table.Row{n.Algorithm, n.Software, n.Choices, n.All, n.Fused})
		sum.Software, sum.Choices, sum.All, sum.Fused = sum.Software+n.Software, sum.Choices+n.Choices, sum.All+n.All,
			sum.Fused+n.Fused
	}
	t.AppendSeparator()
	t.AppendRow(table.Row{"all", sum.Software, sum.Choices, sum.All, sum.Fused})
	t.Render()
	t = newTable(w, "factor", "options", "of Table 3", "which")
	factors := compose.Factors()
	for _, f := range factors {
		t.AppendRow(table.Row{f.Name, f.Count, f.Published, strings.Join(f.Options, ", ")})
	}
	ours, published := compose.Product(factors)
	t.AppendSeparator()
	t.AppendRow(table.Row{"product", experiment.Thousands(uint64(ours)), experiment.Thousands(uint64(published)),
		"an algorithm"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 4, WidthMax: 40, WidthMaxEnforcer: text.WrapSoft}})
	t.Render()
}

// kernelView is the printed form of a kernel.
type kernelView struct {
	ir, asm, stats, passes, lines bool
	maskByUnit                    bool
	gpu                           bool
	cores                         int
	spill                         string // workload.compiler.spill
	form
}

func newKernelShow() *cobra.Command {
	var v kernelView
	c := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a kernel as it is built, after each pass, and compiled",
		Long: `Show a kernel. In the intermediate representation, ~ marks values and constructs
that differ between the lanes of a warp. Without a flag, --stats.`,
		Example: "  heddle kernel show pagerank_edge --ir --asm --stats\n  heddle kernel show " +
			"pagerank/warp/csc/pull/counter/shuffle --passes",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return v.run(c, args[0]) },
	}
	c.Flags().BoolVar(&v.ir, "ir", false, "the intermediate representation, as built")
	c.Flags().BoolVar(&v.passes, "passes", false, "and after each pass of the compiler")
	c.Flags().BoolVar(&v.lines, "lines", false,
		"after all passes, with the names and numbers of lines that traps and reports give")
	c.Flags().BoolVar(&v.asm, "asm", false, "the program")
	c.Flags().BoolVar(&v.stats, "stats", false,
		"registers, spills, instructions for each edge, loads under way, phases")
	c.Flags().IntVar(&v.core.Warps, "warps", 4, "warps of a core, for kernels that depend on it")
	c.Flags().IntVar(&v.core.Lanes, "threads", 4, "lanes of a warp, for kernels that depend on it")
	c.Flags().IntVar(&v.width, "width", 16, "numbers of a vertex, for spmm and graphsum: a power of two")
	c.Flags().IntVar(&v.warps, "warps-per-core", 0, "warps of a core that run it (0: all), as "+
		"workload.schedule.warps_per_core")
	c.Flags().IntVar(&v.blockThreads, "cta-threads", 0,
		"threads of a thread block under cta (0: a core's), as workload.schedule.cta_threads")
	c.Flags().StringVar(&v.variant, "variant", string(schedule.OwnCode),
		"whose code cta, twc, twce and edge have, as workload.schedule.variant: own, graphit, sep-graph or gunrock")
	c.Flags().StringVar(&v.spill, "spill", string(compose.Spills()[0]),
		"where values go that no register is left for, as workload.compiler.spill: memory or registers")
	c.Flags().StringVar(&v.unroll, "unroll", "1",
		"edges at a time in loops over edges, as workload.compiler.unroll: 1, 2, 4, 8 or auto")
	c.Flags().BoolVar(&v.gpu, "gpu", false,
		"compile for a machine with core.argument_registers, silent_exit and zba, of as many warps and threads and --cores")
	c.Flags().IntVar(&v.cores, "cores", 60, "cores of that machine")
	c.Flags().BoolVar(&v.maskByUnit, "mask-by-unit", false, "compile for a Weaver that sets the thread mask")
	return c
}

func (v *kernelView) run(c *cobra.Command, name string) error {
	if err := v.check(); err != nil {
		return err
	}
	k, err := findKernel(name)
	if err != nil {
		return err
	}
	list, err := k.build(v.form)
	if err != nil {
		return err
	}
	v.stats = v.stats || !(v.ir || v.asm || v.passes || v.lines)
	b := bufio.NewWriter(c.OutOrStdout())
	defer b.Flush()
	for _, k := range list {
		if err := v.show(b, k); err != nil {
			return err
		}
	}
	return nil
}

func (v *kernelView) check() error {
	if v.core.Warps < 1 || v.core.Warps > emu.MaxWarps || v.core.Lanes < 1 || v.core.Lanes > emu.MaxThreads {
		return fmt.Errorf("%d warps of %d threads: expected 1..%d of 1..%d", v.core.Warps, v.core.Lanes,
			emu.MaxWarps, emu.MaxThreads)
	}
	if v.width < 1 || v.width > 256 || v.width&(v.width-1) != 0 {
		return fmt.Errorf("--width %d: expected a power of two, 1..256", v.width)
	}
	if !slices.Contains(compose.Unrollings(), compose.Unrolling(v.unroll)) {
		return fmt.Errorf("--unroll %s: expected 1, 2, 4, 8 or auto", v.unroll)
	}
	if !slices.Contains(schedule.Variants(), schedule.Variant(v.variant)) {
		return fmt.Errorf("--variant %s: expected own, graphit, sep-graph or gunrock", v.variant)
	}
	if !slices.Contains(compose.Spills(), compose.Spill(v.spill)) {
		return fmt.Errorf("--spill %s: expected memory or registers", v.spill)
	}
	return nil
}

func (v *kernelView) show(b *bufio.Writer, k *ir.Kernel) error {
	if v.ir {
		fmt.Fprint(b, k.Text())
	}
	o := codegen.Options{MaskByUnit: v.maskByUnit, FloatSpills: v.spill == string(compose.SpillRegisters),
		Sink: v.unroll == string(compose.UnrollAuto)}
	if v.gpu {
		compose.OnGPU(&o, host.Shape{Cores: v.cores, Warps: v.core.Warps, Threads: v.core.Lanes,
			ArgumentRegisters: emu.MaxArgumentRegisters, SilentExit: true, Zba: true})
	}
	if v.passes {
		o.After = func(pass string, k *ir.Kernel) {
			fmt.Fprintf(b, "after %s: %s\n%s", pass, codegen.PassDoc(pass), k.Text())
		}
	}
	p, err := codegen.Compile(k, o)
	if err != nil {
		return err
	}
	if v.lines {
		writeListings(b, p.Program)
	}
	if v.asm {
		disassemble(b, p.Program, p.Program.Segments[0])
	}
	if v.stats {
		showStats(b, p)
	}
	return nil
}

// writeListings prints a program's source; lines begin with the names that traps and reports use.
func writeListings(w io.Writer, p *isa.Program) {
	for _, l := range p.Listings {
		for n, text := range l.Lines() {
			fmt.Fprintf(w, "%s:%d: %s\n", l.Name(), n+1, text)
		}
	}
}

func showStats(w io.Writer, c *codegen.Compiled) {
	s := c.Stats
	fmt.Fprintf(w, "kernel %s\n", c.Kernel.Name)
	fmt.Fprintf(w, "  instructions        %d\n", s.Instrs)
	fmt.Fprintf(w, "  integer registers   %d\n", s.XRegisters)
	fmt.Fprintf(w, "  float registers     %d\n", s.FRegisters)
	fmt.Fprintf(w, "  spilled             %d\n", s.Spills)
	fmt.Fprintf(w, "  in float registers  %d\n", s.Moved)
	fmt.Fprintf(w, "  scratchpad          %d bytes\n", c.Kernel.SharedBytes())
	fmt.Fprintf(w, "  per edge            %s\n", strings.Trim(fmt.Sprint(s.PerEdge), "[]"))
	for _, l := range s.EdgeLoops {
		fmt.Fprintf(w, "  loop with edges     %d instructions, %d edges, %d loads under way\n", l.Instrs, l.Edges,
			l.Loads)
	}
	for _, p := range c.Phases {
		fmt.Fprintf(w, "  phase %-13s %08x..%08x\n", p.Phase, p.From, p.To)
	}
}
