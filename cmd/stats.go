package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"heddle/configs"
	"heddle/internal/experiment"
	"heddle/internal/fit"
	"heddle/sim"
	"heddle/sim/stats"
	"heddle/units"
)

func newStats() *cobra.Command {
	c := &cobra.Command{Use: "stats", Short: "Say what statistics mean"}
	c.AddCommand(newStatsDescribe())
	return c
}

func newStatsDescribe() *cobra.Command {
	var f machineFlags
	var asJSON, all, markdown bool
	machine := "vortex-6c32w32t"
	c := &cobra.Command{
		Use:   "describe [REGEXP]",
		Short: "List every statistic of a machine: name, unit, meaning",
		Long: `List every statistic of a machine: name, unit, meaning. With a regular
expression, those whose name matches. Each core, cache and DRAM channel has the statistics
of its kind under its own name (core0., socket0.l1d., dram.ch0.); without --all only the sums are
listed.`,
		Example: "  heddle stats describe\n  heddle stats describe scheduler\n  heddle stats describe --machine vortex-1c4w4t --all --json '^core0'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if markdown {
				text, err := statisticsDoc()
				if err != nil {
					return err
				}
				_, err = c.OutOrStdout().Write(text)
				return err
			}
			list, absent, err := described(machine, f.set, args, all)
			if err != nil {
				return err
			}
			for _, why := range absent {
				warnOf(c, why)
			}
			return printStats(c, list, asJSON)
		},
	}
	c.Flags().StringVar(&machine, "machine", machine, "a preset's `name` or a YAML file")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVar(&markdown, "markdown", false, "write docs/reference/statistics.md: those of experiments, and of machines with every graph unit")
	c.Flags().BoolVar(&all, "all", false, "also those of each core, cache and DRAM channel")
	f.add(c)
	return c
}

func describe(machine string, set, pattern []string, all bool) (stats.Tree, error) {
	list, _, err := described(machine, set, pattern, all)
	return list, err
}

// described lists a machine's statistics that match, and says of those that were added what it lacks to have them.
func described(machine string, set, pattern []string, all bool) (out stats.Tree, absent []string, err error) {
	l, err := configs.LoadMachine(machine, os.Environ(), set)
	if err != nil {
		return nil, nil, err
	}
	m, err := sim.New(l.Value, sim.Options{})
	if err != nil {
		return nil, nil, err
	}
	match := regexp.MustCompile("")
	if len(pattern) == 1 {
		if match, err = regexp.Compile(pattern[0]); err != nil {
			return nil, nil, err
		}
	}
	whole := m.Statistics()
	for _, s := range whole {
		if match.MatchString(s.Name) && (all || !experiment.Single(s.Name)) {
			out = append(out, s)
		}
	}
	for _, d := range stats.Added() {
		if lacks := d.Missing(whole); len(lacks) > 0 && match.MatchString(d.Name) {
			absent = append(absent, fmt.Sprintf("%s is not there: this machine has no %s", d.Name, strings.Join(lacks, ", ")))
		}
	}
	return out, absent, nil
}

func printStats(c *cobra.Command, list stats.Tree, asJSON bool) error {
	out := c.OutOrStdout()
	if asJSON {
		type line struct {
			Name string `json:"name"`
			Unit string `json:"unit"`
			Doc  string `json:"doc"`
		}
		lines := []line{}
		for _, s := range list {
			lines = append(lines, line{s.Name, s.Unit, s.Doc})
		}
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(lines)
	}
	name, unit := 0, 0
	for _, s := range list {
		name, unit = max(name, len(s.Name)), max(unit, len(s.Unit))
	}
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "%-*s  %-*s  %s\n", name, s.Name, unit, s.Unit, s.Doc)
	}
	return fit.Print(out, b.String())
}

// documented is a machine whose statistics docs/reference/statistics.md lists.
type documented struct {
	title, machine string
	set            []string
}

// allDocumented lists them: of each, what it has beyond those before it is shown.
func allDocumented() []documented {
	list := []documented{{"Machine", "vortex-6c32w32t", nil}}
	for _, u := range units.All() {
		first, size := utf8.DecodeRuneInString(u.Title)
		set := []string{"core." + u.Key + "={}", "core.scratchpad_bytes=64KiB"} // as much as any unit takes
		list = append(list, documented{string(unicode.ToUpper(first)) + u.Title[size:], "vortex-6c32w32t", set})
	}
	return append(list, documented{"Concentrators", "graphpeg-40sm", nil})
}

// statisticsDoc is docs/reference/statistics.md.
func statisticsDoc() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# Statistics\n\nGenerated: `heddle stats describe --markdown`. Of machines the sums over all units of a kind are listed; each core, cache and DRAM channel has\n" +
		"its own below `core0.`, `socket0.l1d.`, `dram.ch0.` and so on (`heddle stats describe --all`).\n")
	known := map[string]bool{}
	section(&b, "Run", experiment.RunStatistics(), known)
	for _, d := range allDocumented() {
		list, err := describe(d.machine, d.set, nil, false)
		if err != nil {
			return nil, err
		}
		section(&b, d.title, list, known)
	}
	return b.Bytes(), nil
}

// section lists the statistics that are not known yet.
func section(b *bytes.Buffer, title string, list stats.Tree, known map[string]bool) {
	fmt.Fprintf(b, "\n## %s\n\n| statistic | unit | meaning |\n|---|---|---|\n", title)
	for _, s := range list {
		if !known[s.Name] {
			known[s.Name] = true
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", s.Name, s.Unit, strings.ReplaceAll(s.Doc, "|", "\\|"))
		}
	}
}
