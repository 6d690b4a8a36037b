package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs/schema"
	"heddle/experiment/config"
	"heddle/kernels/workload"
)

const (
	packHead  = "figure: Fig. 1\ntitle: t\nstatement: s\nscaled: s\nquick_seconds: 1\n"
	packQuick = "quick:\n  - {name: e, machine: vortex-1c4w4t, graph: {file: facebook_combined}}\n"
	published = "title: A paper\nvenue: V 2025\nvalues:\n  - {name: one, quantity: q, value: 1.5, where: §1}\n"
)

// writePack writes a pack and its published values; it returns the pack's file.
func writePack(t testing.TB, pack, values string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "paper")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pack.yaml"), []byte(pack), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "published.yaml"), []byte(values), 0o644))
	return filepath.Join(dir, "pack.yaml")
}

func TestLoadPack(t *testing.T) {
	file := writePack(t, packHead+packQuick+"checks:\n  - {says: it does, holds: within 0.1, published: one, of: "+
		"[experiment=e|f, machine.core.warps=4]}\n", published)
	p, err := config.LoadPack(file)
	require.NoError(t, err)
	require.Equal(t, "paper/pack", p.Name)
	require.Equal(t, "V 2025", p.Paper.Venue)
	require.Equal(t, 1.5, p.Published["one"].Value)
	require.Equal(t, workload.Choice("geomean"), p.Checks[0].Reduce)
	require.True(t, p.Checks[0].Decides)
	require.Equal(t, []workload.Choice{"quick", "full"}, p.Checks[0].Variants)
	require.True(t, p.Has(config.Quick))
	require.False(t, p.Has(config.Full))
}

// A mistake in a pack is an error that names file, line and key.
func TestBadPacks(t *testing.T) {
	check := func(text string) string { return packHead + packQuick + "checks:\n  - {says: x, " + text + "}\n" }
	for _, c := range []struct {
		name, pack, values string
		says               []string
	}{
		{"unknown key", packHead + packQuick + "scald: x\n", published, []string{"pack.yaml:8:1", "scald", "did you mean scaled?"}},
		{"missing", "figure: f\n", published, []string{"pack.yaml:1:1", "statement", "missing"}},
		{"duplicate key", packHead + packQuick + packQuick, published, []string{"pack.yaml:9", "quick", "duplicate key"}},
		{"no section", "- 1\n", published, []string{"expected a section"}},
		{"empty", "", published, []string{"expected a section"}},
		{"checks", packHead + "checks: yes\n", published, []string{"pack.yaml:6:9", "checks", "expected a list"}},
		{"restricted without conditions", check("holds: '>= 1', reduce: restricted, among: [workload.schedule]"), published,
			[]string{"pack.yaml:9", "checks[0].within"}},
		{"cells of no table", packHead + packQuick + "cells:\n  - {table: t, figure: f}\n", published,
			[]string{"pack.yaml:9", "cells[0].table", "no table", "cells[0].figure", "no figure"}},
		{"a table's rows", packHead + packQuick, published + "tables:\n  - {name: t, of: T, quantity: q, where: w, columns: [a, b], rows: [x 1]}\n",
			[]string{"published.yaml:6", "tables[0].rows", "expected a name that no other row has, and 2 words"}},
		{"check's key", check("holds: '>= 1', masure: ratio"), published, []string{"pack.yaml:9:30", "checks[0].masure", "did you mean measure?"}},
		{"no rule", check("holds: about 1"), published, []string{"pack.yaml:9:22", "checks[0].holds", "expected '>= X'"}},
		{"rule's number", check("holds: '>= NaN'"), published, []string{"checks[0].holds", "no number"}},
		{"rule's order", check("holds: between 2 1"), published, []string{"checks[0].holds", "2 is above 1"}},
		{"relative rule", check("holds: within 0.1"), published, []string{"checks[0].holds", "no published value"}},
		{"no such value", check("holds: within 0.1, published: two"), published, []string{"pack.yaml:9:", "checks[0].published", `no value "two"`}},
		{"condition", check("holds: '>= 1', of: [workload.schedule]"), published, []string{"checks[0].of", "expected KEY=VALUE"}},
		{"condition's key", check("holds: '>= 1', of: [workload.shedule=edge]"), published, []string{"checks[0].of", "no key of an experiment"}},
		{"partners", check("holds: '>= 1', measure: ratio"), published, []string{"checks[0].over", "needs partners"}},
		{"no partners", check("holds: '>= 1', over: [seed=1]"), published, []string{"checks[0].over", "means nothing"}},
		{"no axis", check("holds: '>= 1', reduce: r2"), published, []string{"checks[0].along", "needs an axis"}},
		{"needless axis", check("holds: '>= 1', along: seed"), published, []string{"checks[0].along", "means nothing"}},
		{"no options", check("holds: '>= 1', reduce: second"), published, []string{"checks[0].among", "needs the keys of options"}},
		{"needless options", check("holds: '>= 1', among: [seed]"), published, []string{"checks[0].among", "means nothing"}},
		{"options' key", check("holds: '>= 1', reduce: second, among: [sed]"), published, []string{"checks[0].among", "no key"}},
		{"what differs", check("holds: '>= 1', reduce: second-differs, among: [seed], differs: workload.layout"), published, []string{"checks[0].differs", "one of the keys of among"}},
		{"what is alike", check("holds: '>= 1', reduce: second, among: [seed], alike: [csr, csc]"), published, []string{"checks[0].alike", "means nothing with reduce second"}},
		{"what is tuned", check("holds: '>= 1', reduce: second, among: [seed], tuned: [workload.layout]"), published, []string{"checks[0].tuned", "expected keys of among"}},
		{"nothing differs", check("holds: '>= 1', reduce: second, among: [seed], differs: seed"), published, []string{"checks[0].differs", "means nothing"}},
		{"figure's name", packHead + "figures:\n  - {name: ../x, title: t, columns: [seed]}\n", published, []string{"pack.yaml:7:12", "figures[0].name", "small letters"}},
		{"figure's columns", packHead + "figures:\n  - {name: x, title: t, columns: [sed]}\n", published, []string{"figures[0].columns", "no key"}},
		{"value", packHead, "title: t\nvenue: v\nvalues:\n  - {name: one, quantity: q, value: many, where: w}\n", []string{"published.yaml:4:37", "values[0].value", "expected a number"}},
		{"value twice", packHead, published + "  - {name: one, quantity: q, value: 1, where: w}\n", []string{"published.yaml:5", "values[1].name", "one stands twice"}},
		{"anchors", packHead + "checks: &a []\n", published, []string{"anchors are refused"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := config.LoadPack(writePack(t, c.pack, c.values))
			require.Error(t, err)
			for _, s := range c.says {
				require.ErrorContains(t, err, s)
			}
		})
	}
	_, err := config.LoadPack("sparseweaver/fig99")
	require.ErrorContains(t, err, `no pack "sparseweaver/fig99"`)
	_, err = config.LoadPack(filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorContains(t, err, "no such file")
}

// TestFormerNamesInChecks: every list of keys of a check is read under the keys' present names.
func TestFormerNamesInChecks(t *testing.T) {
	p, err := config.LoadPack(writePack(t, packHead+packQuick+`checks:
  - says: x
    holds: '>= 1'
    reduce: second-differs
    across: [workload.block_by]
    among: [workload.warps_per_core, workload.sum]
    tuned: [workload.warps_per_core]
    differs: workload.sum
  - {says: y, holds: '>= 1', reduce: r2, along: workload.delta}
`, published))
	require.NoError(t, err)
	c := p.Checks[0]
	require.Equal(t, []string{"workload.layout.block_by"}, c.Across)
	require.Equal(t, []string{"workload.schedule.warps_per_core", "workload.compiler.sum"}, c.Among)
	require.Equal(t, []string{"workload.schedule.warps_per_core"}, c.Tuned)
	require.Equal(t, "workload.compiler.sum", c.Differs)
	require.Equal(t, "workload.order.delta", p.Checks[1].Along)
}

// Experiments are laid over their common part, and their errors name lines.
func TestPackExperiments(t *testing.T) {
	file := writePack(t, packHead+`common:
  machine: vortex-1c4w4t
  workload: {algorithm: bfs}
quick:
  - {name: a, graph: {file: facebook_combined}}
  - {name: b, graph: {file: facebook_combined}, workload: {schedule: edge}}
full:
  - {name: a, graph: {file: facebook_combined}, workload: {shedule: edge}}
`, published)
	p, err := config.LoadPack(file)
	require.NoError(t, err)
	o := config.PackOptions{Exists: config.FileExists}
	list, absent, err := p.Experiments(config.Quick, o)
	require.NoError(t, err)
	require.Empty(t, absent)
	require.Len(t, list, 2)
	require.Equal(t, workload.Schedule("edge"), list[1].Value.Workload.Schedule)
	require.Equal(t, workload.Algorithm("bfs"), list[1].Value.Workload.Algorithm)
	o.Set = []string{"machine.core.warps=2"}
	list, _, err = p.Experiments(config.Quick, o)
	require.NoError(t, err)
	require.Equal(t, 2, list[0].Value.Machine.Core.Warps)
	_, _, err = p.Experiments(config.Full, o)
	require.ErrorContains(t, err, "pack.yaml:13:60: full[0].workload.shedule: ")
	require.ErrorAs(t, err, new(*schema.Errors))

	p, err = config.LoadPack(writePack(t, packHead+strings.Replace(packQuick, "- {", "- {",
		1)+strings.TrimPrefix(packQuick, "quick:\n"), published))
	require.NoError(t, err)
	_, _, err = p.Experiments(config.Quick, config.PackOptions{Exists: config.FileExists})
	require.ErrorContains(t, err, "quick[1].name: e stands twice")
}

// Graphs that are not there take their points along, or the whole experiment.
func TestAbsentGraphs(t *testing.T) {
	p, err := config.LoadPack(writePack(t, packHead+`common: {machine: vortex-1c4w4t}
full:
  - {name: one, graph: {file: $graphs/there}}
  - {name: gone, graph: {file: $graphs/gone}}
  - {name: axis, graph: {file: facebook_combined}, sweep: {graph.file: [$graphs/there, $graphs/gone, $graphs/also]}}
  - {name: rows, graph: {file: facebook_combined}, sweep: {"graph.file, workload.algorithm": [[$graphs/gone, bfs], [$graphs/there, cc]]}}
  - {name: none, graph: {file: facebook_combined}, sweep: {graph.file: [$graphs/gone]}}
`, published))
	require.NoError(t, err)
	o := config.PackOptions{Graphs: "dir", Exists: func(f string) bool { return f == "dir/there" || f == "dir/also" }}
	for range 2 { // a pack is not changed by loading it
		list, absent, err := p.Experiments(config.Full, o)
		require.NoError(t, err)
		require.Equal(t, []string{"dir/gone"}, absent)
		require.Len(t, list, 3)
		require.Equal(t, "dir/there", list[0].Value.Graph.File)
		require.Equal(t, []string{"dir/there", "dir/also"}, list[1].Value.Sweep[0].Values)
		require.Equal(t, []string{"dir/there"}, list[2].Value.Sweep[0].Values)
		require.Equal(t, []string{"cc"}, list[2].Value.Sweep[1].Values)
	}
	o.Graphs = ""
	o.Exists = func(f string) bool { return f == "./there" }
	list, _, err := p.Experiments(config.Full, o)
	require.NoError(t, err)
	require.Equal(t, "./there", list[0].Value.Graph.File)
}

func TestRules(t *testing.T) {
	for _, c := range []struct {
		rule         string
		x, published float64
		met          bool
	}{
		{">= 1.5", 1.5, 0, true},
		{">= 1.5", 1.49, 0, false},
		{"<= 2", 2, 0, true},
		{"<= 2", 2.1, 0, false},
		{"between 1 2", 1, 0, true},
		{"between 1 2", 2.01, 0, false},
		{"within 0.25", 2.05, 2.73, true},
		{"within 0.25", 2.04, 2.73, false},
		{"within 0.25", 3.42, 2.73, false},
		{"within 0", 4, 4, true},
	} {
		r, err := config.ParseRule(c.rule)
		require.NoError(t, err)
		require.Equal(t, c.met, r.Met(c.x, c.published), "%v", c)
	}
}

// FuzzLoadPack wants no panic, whatever a pack or its published values are.
func FuzzLoadPack(f *testing.F) {
	const readings = "readings: [{name: described, says: a, source: b}, {name: x, says: c, source: d, rules: [{where: " +
		"[seed=1], set: [machine.core.warps=4]}]}]"
	f.Add(packHead+packQuick+"checks:\n  - {says: x, holds: '>= 1'}\n", published, readings)
	f.Add(packHead+"common: {}\nfull: [{name: x}]\nfigures: [{name: a, title: b, columns: [seed]}]\n", published,
		"readings: [{name: described, rules: [{set: [seed=1]}]}]")
	f.Add("? {}\n: 1\n", "values: [[]]", "readings: [[]]")
	f.Add("quick: {a: b}\nchecks: [1, [2]]\n", "values: 3", "readings: {rules: 1}")
	f.Add(packHead+"quick: [{graph: {file: $graphs/x}, sweep: {graph.file: [[$graphs/y]]}}]", published, readings)
	f.Fuzz(func(t *testing.T, pack, values, readings string) {
		p, err := config.ParsePack("p/x.yaml", []byte(pack), "p/published.yaml", []byte(values))
		if err == nil {
			err = p.AddReadings("p/readings.yaml", []byte(readings))
		}
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without words")
			}
			return
		}
		for _, v := range []config.Variant{config.Quick, config.Full} {
			_, _, err := p.Experiments(v, config.PackOptions{Graphs: "g", Exists: func(string) bool { return false }})
			if err != nil && errors.Unwrap(err) == nil && err.Error() == "" {
				t.Fatal("an error without words")
			}
		}
	})
}

// A pack's readings are those that it names, described first; mistakes in them are errors with their places.
func TestReadings(t *testing.T) {
	const two = "readings:\n  - {name: described, says: as it is, source: ours}\n  - name: wide\n    says: wider\n    " +
		"source: §2\n    after: true\n    rules:\n      - {where: [machine.core.warps=4|8], set: [machine.core.threads=8]}\n"
	named := packHead + "readings: [wide]\n" + packQuick
	load := func(pack, readings string) (*config.Pack, error) {
		file := writePack(t, pack, published)
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "readings.yaml"), []byte(readings), 0o644))
		return config.LoadPack(file)
	}
	p, err := load(named, two)
	require.NoError(t, err)
	require.Len(t, p.Readings[config.Quick], 2)
	require.Len(t, p.Readings[config.Full], 1)
	wide := p.Readings[config.Quick][1]
	require.Equal(t, []any{"wide", true, []string{"machine.core.threads=8"}},
		[]any{wide.Name, wide.After, wide.Rules[0].Set})

	_, err = config.LoadPack(writePack(t, named, published))
	require.ErrorContains(t, err, `readings: no reading "wide"`)
	for _, c := range []struct{ pack, readings, says string }{
		{named, strings.Replace(two, "wide", "broad", 1), `no reading "wide" in`},
		{packHead + "readings: [wide, wide]\n" + packQuick, two, "wide stands twice"},
		{packHead + "full_readings: [described]\n" + packQuick, two, "full_readings: described stands twice, or is described"},
		{named, strings.Replace(two, "described", "other", 1), "expected described first"},
		{named, strings.Replace(two, "core.threads=8", "core.threds=8", 1), "rules[0].set"},
		{named, strings.Replace(two, "machine.core.threads=8", "experiment=e", 1), "expected keys of an experiment"},
		{named, strings.Replace(two, "machine.core.warps=4|8", "machine.core.warps", 1), "rules[0].where"},
		{named, strings.Replace(two, "name: wide", "name: described", 1), "described stands twice"},
		{named, strings.Replace(two, "    source: §2\n", "", 1), "source"},
		{named, "readings: 3\n", "expected a list"},
		{named, "readings: [3]\n", "expected a section"},
		{named, two + "more: 1\n", "more: expected readings alone"},
	} {
		_, err := load(c.pack, c.readings)
		require.ErrorContains(t, err, c.says)
		require.ErrorContains(t, err, ".yaml")
	}
}

// Knobs are the pack's alone, and each end of a range is a reading.
func TestSensitivityKnobs(t *testing.T) {
	file := writePack(t, packHead+packQuick, published)
	p, err := config.LoadPack(file)
	require.NoError(t, err)
	_, err = p.SensitivityKnobs()
	require.ErrorContains(t, err, "no sensitivity.yaml beside it")
	write := func(text string) {
		beside := filepath.Join(filepath.Dir(file), "sensitivity.yaml")
		require.NoError(t, os.WriteFile(beside, []byte(text), 0o644))
	}
	const mine = "knobs:\n  - {name: warps, low: [machine.core.warps=2], high: [machine.core.warps=8], source: s}\n"
	write(mine + "  - {name: other, packs: [paper/other], low: [machine.core.warps=2], source: s}\n")
	list, err := p.SensitivityKnobs()
	require.NoError(t, err)
	require.Len(t, list, 1)
	ends := list[0].Ends()
	require.Equal(t, []string{"warps low", "warps high"}, []string{ends[0].Name, ends[1].Name})
	require.Equal(t, []string{"machine.core.warps=8"}, ends[1].Rules[0].Set)
	for text, says := range map[string]string{
		mine + "  - {name: warps, low: [machine.core.warps=4], source: s}\n": "stands twice",
		"knobs:\n  - {name: warps, low: [machine.core.warp=2], source: s}\n": "machine.core.warp",
		"knobs: []\nreadings: []\n": "expected knobs alone",
	} {
		write(text)
		_, err := p.SensitivityKnobs()
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, "sensitivity.yaml:")
	}
}

// A whole stand-in gives way to the graph itself, where that is in the directory; one that is shrunk does not.
func TestOriginals(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "com-amazon.mtx.gz"), nil, 0o644))
	pack := packHead + `quick:
  - {name: here, graph: {like: {name: com-amazon}, clean: {symmetrise: true}}}
  - {name: small, graph: {like: {name: com-amazon, shrink: 10}}}
  - {name: gone, graph: {like: {name: soc-orkut}}}
`
	p, err := config.LoadPack(writePack(t, pack, published))
	require.NoError(t, err)
	list, absent, err := p.Experiments(config.Quick, config.PackOptions{Graphs: dir, Exists: config.FileExists})
	require.NoError(t, err)
	require.Empty(t, absent)
	require.Nil(t, list[0].Value.Graph.Like)
	require.Equal(t, filepath.Join(dir, "com-amazon.mtx.gz"), list[0].Value.Graph.File)
	require.NotNil(t, list[1].Value.Graph.Like)
	require.Equal(t, "soc-orkut", list[2].Value.Graph.Like.Name)
}
