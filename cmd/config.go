package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"heddle/configs"
	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/internal/files"
	"heddle/internal/fit"
	"heddle/internal/plain"
	"heddle/internal/suggest"
	"heddle/report/diagram"
)

// machineFlags holds the flags that modify a machine.
type machineFlags struct{ set []string }

func (f *machineFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.set, "set", nil, "override a key, `a.b=c` (may be repeated)")
}

func newConfig() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Check, show and describe configurations",
		Long: `Check, show and describe the configurations of machines and experiments: a preset's
name, or a YAML file, which is an experiment's if it has a name at its top. Values come
from, in this order: defaults, extended files, the file, the environment
(HEDDLE_CORE__WARPS=16 is a machine's core.warps, HEDDLE_MACHINE__CORE__WARPS an experiment's
machine.core.warps), --set.`,
	}
	c.AddCommand(newConfigCheck(), newConfigShow(), newConfigDraw(), newConfigSchema(), newConfigList())
	return c
}

func newConfigCheck() *cobra.Command {
	var f machineFlags
	c := &cobra.Command{
		Use: "check CONFIG", Short: "Check a machine or an experiment with all its points; silent if it is valid",
		Args:    cobra.ExactArgs(1),
		Example: "  heddle config check my-machine.yaml\n  heddle config check my-experiment.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			l, err := loadAny(args[0], f.set)
			if e, ok := l.(*schema.Loaded[config.Experiment]); ok && err == nil {
				err = vet(c.Context(), e, f.set)
			}
			return err
		},
	}
	f.add(c)
	return c
}

// vet returns an error if a point of an experiment cannot run on its graph.
func vet(ctx context.Context, l *schema.Loaded[config.Experiment], set []string) error {
	points, err := experiment.Points(l, set)
	if err != nil {
		return err
	}
	return (&experiment.Runner{Points: points, Observer: experiment.Quiet{}}).Vet(ctx, l, nil)
}

func newConfigShow() *cobra.Command {
	var f machineFlags
	point := 0
	c := &cobra.Command{
		Use: "show CONFIG", Short: "Print a machine or an experiment with every key and where its value comes from",
		Args:    cobra.ExactArgs(1),
		Example: "  heddle config show vortex-rtl-c --set core.warps=16\n  heddle config show quickstart --point 2",
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("point") {
				return showPoint(c.OutOrStdout(), args[0], f.set, point)
			}
			l, err := loadAny(args[0], f.set)
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(l.AnnotatedYAML())
			return err
		},
	}
	f.add(c)
	c.Flags().IntVar(&point, "point", 0,
		"print the configuration of the `n`-th point of an experiment alone, as heddle run numbers them from 1; "+
			"heddle run takes it")
	return c
}

// showPoint prints the configuration of a point of an experiment.
func showPoint(w io.Writer, name string, set []string, point int) error {
	if !isExperiment(name) {
		return errors.New("--point: expected an experiment; a machine has no points")
	}
	l, err := loadExperiment(name, set)
	if err != nil {
		return err
	}
	points, err := experiment.Points(l, set)
	if err != nil {
		return err
	}
	if point < 1 || point > len(points) {
		return fmt.Errorf("--point %d: expected 1..%d (heddle run %s --dry-run lists them)", point, len(points),
			quoted(name))
	}
	_, err = fmt.Fprintf(w, "# Point %d of %s: %s\n%s", point, plain.Line(name),
		plain.Line(experiment.Label(points[point-1].Axes)), config.Schema.YAML(points[point-1].Config))
	return err
}

func newConfigDraw() *cobra.Command {
	var f machineFlags
	c := &cobra.Command{
		Use: "draw MACHINE", Short: "Draw a machine as SVG: its units, caches and memory, with their sizes",
		Args: cobra.ExactArgs(1),
		Long: `Write a picture of a machine to stdout, as SVG that follows the reader's light or dark
theme: one socket with a core and its units, the units that sockets share, and the sizes that the
configuration gives them.`,
		Example: "  heddle config draw vortex-6c32w32t-weaver > machine.svg\n  heddle config draw my-machine.yaml " +
			"--set core.warps=16 > machine.svg",
		RunE: func(c *cobra.Command, args []string) error {
			l, err := configs.LoadMachine(args[0], os.Environ(), f.set)
			if err != nil {
				return err
			}
			name := strings.TrimSuffix(filepath.Base(args[0]), filepath.Ext(args[0]))
			if l.Value.Swarm != nil {
				return fmt.Errorf("%s consists of Swarm tiles, of which there is no picture", name)
			}
			_, err = io.WriteString(c.OutOrStdout(), diagram.Machine(name, &l.Value))
			return err
		},
	}
	f.add(c)
	return c
}

// annotated is a loaded configuration of either kind.
type annotated interface{ AnnotatedYAML() []byte }

// loadAny loads a machine or an experiment, whose points it expands as a check.
func loadAny(name string, set []string) (annotated, error) {
	if !isExperiment(name) {
		l, err := configs.LoadMachine(name, os.Environ(), set)
		near := suggest.Nearest(name, config.Names())
		if err != nil && near != "" && suggest.Nearest(name, configs.MachineNames()) == "" {
			return nil, fmt.Errorf("no machine or experiment %q; did you mean %s? (heddle config list lists them all)",
				name, near)
		}
		return l, err
	}
	l, err := loadExperiment(name, set)
	if err != nil {
		return nil, err
	}
	_, err = experiment.Points(l, set)
	return l, err
}

var experimentKeys = regexp.MustCompile(`(?m)^(name|machine|graph|workload|compare|sweep)\s*:`)

// isExperiment reports whether a preset or a file is an experiment rather than a machine: a file is, if it has a key
// that machines lack.
func isExperiment(name string) bool {
	if slices.Contains(config.Names(), name) {
		return true
	}
	f, err := files.Open(name)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // read only
	head, _ := io.ReadAll(io.LimitReader(f, 1<<20))
	return experimentKeys.Match(head)
}

func newConfigSchema() *cobra.Command {
	var asJSON, markdown bool
	c := &cobra.Command{
		Use: "schema [FILTER]", Short: "List every key with type, range and default; FILTER selects keys by their " +
			"path and describes them", Args: cobra.MaximumNArgs(1),
		Example: "  heddle config schema\n  heddle config schema weaver\n  heddle config schema --json\n  heddle " +
			"config schema --markdown > docs/reference/configuration.md",
		RunE: func(c *cobra.Command, args []string) error {
			var text []byte
			switch {
			case len(args) == 1 && (asJSON || markdown):
				return errors.New("a filter beside --json or --markdown: expected one of them")
			case len(args) == 1:
				if text = explained(c.OutOrStdout(), args[0]); len(text) == 0 {
					return fmt.Errorf("no key has %q in its path: heddle config schema lists all", args[0])
				}
			case asJSON:
				text = config.Schema.JSON()
			case markdown:
				text = configurationDoc()
			default:
				text = config.Schema.Text(fit.Columns(c.OutOrStdout()))
			}
			_, err := c.OutOrStdout().Write(text)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVar(&markdown, "markdown", false, "docs/reference/configuration.md")
	return c
}

// explained describes the keys whose path contains a text.
func explained(w io.Writer, filter string) []byte {
	const readable = 100
	columns := fit.Columns(w)
	if columns < 40 || columns > readable {
		columns = readable
	}
	return config.Schema.Explain(func(path string) bool { return strings.Contains(path, strings.ToLower(filter)) },
		columns)
}

// configurationDoc returns docs/reference/configuration.md.
func configurationDoc() []byte {
	head := "# Configuration\n\nGenerated by `heddle config schema --markdown` from the units' specs; a test keeps " +
		"it current. Presets: `heddle config list`; layers: `heddle config --help`.\n\nAn experiment's file has all " +
		"these keys; a machine's file has those below `machine`, without that prefix.\n\n"
	return append([]byte(head), config.Schema.Markdown("experiment")...)
}

func newConfigList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the presets, machines and experiments, with a line each", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t := newTable(c.OutOrStdout(), "preset", "description")
			t.Style().Options.DrawBorder = false
			for _, n := range configs.MachineNames() {
				t.AppendRow(table.Row{"machine    " + n, configs.AboutMachine(n)})
			}
			for _, n := range config.Names() {
				t.AppendRow(table.Row{"experiment " + n, config.About(n)})
			}
			t.Render()
			return nil
		},
	}
}
