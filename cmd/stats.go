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

	"heddle/components/accel"
	"heddle/configs"
	"heddle/experiment"
	"heddle/internal/fit"
	"heddle/sim"
	"heddle/sim/stats"
)

func newStats() *cobra.Command {
	c := &cobra.Command{Use: "stats", Short: "List and describe statistics"}
	c.AddCommand(newStatsDescribe())
	return c
}

func newStatsDescribe() *cobra.Command {
	var f machineFlags
	var asJSON, all, markdown bool
	machine := "vortex-6c32w32t"
	c := &cobra.Command{
		Use:   "describe [REGEXP]",
		Short: "List the statistics of a machine: name, unit, meaning",
		Long: `List every statistic of a machine: name, unit, meaning. With a regular
expression, those whose name matches. Each core, cache and DRAM channel has the statistics
of its kind under its own name (core0., socket0.l1d., dram.ch0.); without --all only the sums are
listed.`,
		Example: "  heddle stats describe\n  heddle stats describe scheduler\n  heddle stats describe --machine " +
			"vortex-1c4w4t --all --json '^core0'",
		Args: cobra.MaximumNArgs(1),
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
	c.Flags().BoolVar(&markdown, "markdown", false,
		"write docs/reference/statistics.md: those of experiments, and of machines with every graph unit")
	c.Flags().BoolVar(&all, "all", false, "also those of each core, cache and DRAM channel")
	f.add(c)
	return c
}

func describe(machine string, set, pattern []string, all bool) (stats.Tree, error) {
	list, _, err := described(machine, set, pattern, all)
	return list, err
}

// described lists the matching statistics of a machine; absent names the requirements of registered statistics that it
// does not meet.
func described(machine string, set, pattern []string, all bool) (out stats.Tree, absent []string, err error) {
	l, err := configs.LoadMachine(machine, os.Environ(), set)
	if err != nil {
		return nil, nil, err
	}
	m, err := sim.New(l.Value, sim.Options{Shared: true})
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
		if namesStatistic(match, s.Name) && (all || !experiment.Single(s.Name)) {
			out = append(out, s)
		}
	}
	for _, d := range stats.Added() {
		if lacks := d.Missing(whole); len(lacks) > 0 && match.MatchString(d.Name) {
			absent = append(absent, fmt.Sprintf("%s is not there: this machine has no %s", d.Name,
				strings.Join(lacks, ", ")))
		}
	}
	return out, absent, nil
}

// namesStatistic reports whether an expression matches a statistic's name, or that name with a unit's key in it.
func namesStatistic(match *regexp.Regexp, name string) bool {
	if match.MatchString(name) {
		return true
	}
	parts := strings.Split(name, ".")
	for i, p := range parts {
		parts[i] = accel.KeyOf(p)
	}
	return match.MatchString(strings.Join(parts, "."))
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

// allDocumented lists these machines. Each contributes the statistics that those before it lack.
func allDocumented() []documented {
	list := []documented{{"Machine", "vortex-6c32w32t", nil}}
	for _, u := range accel.Registered() {
		first, size := utf8.DecodeRuneInString(u.Title)
		set := []string{"core." + u.Key + "={}", "core.scratchpad_bytes=64KiB"} // enough for any unit
		list = append(list, documented{string(unicode.ToUpper(first)) + u.Title[size:], "vortex-6c32w32t", set})
	}
	return append(list, documented{"Concentrators", "graphpeg-40sm", nil})
}

// unitSections lists the sections of docs/reference/statistics.md by prefix of statistics' names. Other statistics are
// in the section of their machine.
var unitSections = []struct{ prefix, title string }{
	{"core.scheduler.", "Core: schedulers"},
	{"core.warps.", "Core: warps"},
	{"core.phase.", "Core: phases"},
	{"core.lsu.", "Core: load-store unit"},
	{"core.vortex.", "Core: Vortex's performance counters"},
	{"core.", "Core: pipeline"},
	{"l1i.", "L1I"},
	{"l1d.", "L1D"},
	{"l2.", "L2"},
	{"dram.", "DRAM"},
	{"ctrlproc.", "Control processor"},
	{"warp_instrs.", "Instructions by class"},
}

// statisticsDoc returns docs/reference/statistics.md.
func statisticsDoc() ([]byte, error) {
	d := newDocument()
	d.add(experiment.RunStatistics(), func(string) string { return "Run" })
	for _, m := range allDocumented() {
		list, err := describe(m.machine, m.set, nil, false)
		if err != nil {
			return nil, err
		}
		d.add(list, func(name string) string {
			for _, s := range unitSections {
				if strings.HasPrefix(name, s.prefix) {
					return s.title
				}
			}
			return m.title
		})
	}
	return d.markdown(), nil
}

// document collects statistics by section.
type document struct {
	known  map[string]bool
	titles []string
	tables map[string]stats.Tree
}

func newDocument() *document {
	return &document{known: map[string]bool{}, tables: map[string]stats.Tree{}}
}

// add appends new statistics to their sections.
func (d *document) add(list stats.Tree, title func(name string) string) {
	for _, s := range list {
		if d.known[s.Name] {
			continue
		}
		d.known[s.Name] = true
		in := title(s.Name)
		if d.tables[in] == nil {
			d.titles = append(d.titles, in)
		}
		d.tables[in] = append(d.tables[in], s)
	}
}

func (d *document) markdown() []byte {
	var b bytes.Buffer
	b.WriteString("# Statistics\n\nGenerated by `heddle stats describe --markdown`. Machine statistics are sums " +
		"over all units of a kind; each core, cache and\nDRAM channel also has its own, below `core0.`, " +
		"`socket0.l1d.`, `dram.ch0.` and so on (`heddle stats describe --all`).\n`N` stands for the numbers given " +
		"behind the name.\n\n")
	for _, title := range d.titles {
		fmt.Fprintf(&b, "- [%s](#%s)\n", title, anchorOf(title))
	}
	for _, title := range d.titles {
		fmt.Fprintf(&b, "\n## %s\n\n| statistic | unit | meaning |\n|---|---|---|\n", title)
		for rows := d.tables[title]; len(rows) > 0; {
			n := family(rows)
			name, doc := "`"+rows[0].Name+"`", rows[0].Doc
			if n > 1 {
				name = fmt.Sprintf("`%s`, %s to %s", numbered(rows[0].Name), digits.FindString(rows[0].Name),
					digits.FindString(rows[n-1].Name))
				doc = numbered(doc)
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", name, rows[0].Unit, strings.ReplaceAll(doc, "|", "\\|"))
			rows = rows[n:]
		}
	}
	return b.Bytes()
}

// digits matches the number of a bin in a name.
var digits = regexp.MustCompile(`\d+`)

func numbered(text string) string { return digits.ReplaceAllString(text, "N") }

// family returns the number of leading rows that differ in a number only, such as the bins of a histogram.
func family(rows stats.Tree) int {
	n := 1
	if len(digits.FindAllString(rows[0].Name, -1)) != 1 {
		return n
	}
	for n < len(rows) && numbered(rows[n].Name) == numbered(rows[0].Name) &&
		numbered(rows[n].Doc) == numbered(rows[0].Doc) {
		n++
	}
	return n
}

// anchorOf returns the anchor of a heading, as on GitHub.
func anchorOf(title string) string {
	return strings.NewReplacer(" ", "-", ":", "", "'", "").Replace(strings.ToLower(title))
}
