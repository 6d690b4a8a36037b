package schema

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDefaults(t *testing.T) {
	v := load(t, input("name: x\n")).Value
	assert.Equal(t, experiment{
		Name: "x",
		Machine: machineSpec{Cores: 1, Ratio: 1.5, Core: coreSpec{
			Warps: 4, Threads: 4, Policy: roundRobin, Banked: true, L1: cacheSpec{Size: 16 << 10, Ways: 4},
		}},
		Metrics: []string{"cycles", "ipc"}, Buffers: []int{}, Schedule: "vertex", Notes: []string{}, Sweep: Axes{},
		Compare: Variants{}, Exclude: Exclusions{},
	}, v)
}

func TestValues(t *testing.T) {
	v := load(t, input(`
name: "12"
machine:
  cores: 0x10
  clock_ratio: 2
  core:
    policy: gto
    banked: false
    l2: {ways: 16}
    weaver: {}
graph: {rmat: {scale: 14, seed: 18446744073709551615}}
buffers: [1K, 2KiB, 100, 1_000]
metrics: []
notes: [2001-01-01, yes, 'a, b']
`)).Value
	assert.Equal(t, "12", v.Name)
	assert.Equal(t, 16, v.Machine.Cores)
	assert.Equal(t, 2.0, v.Machine.Ratio)
	assert.Equal(t, oldest, v.Machine.Core.Policy)
	assert.False(t, v.Machine.Core.Banked)
	assert.Equal(t, &cacheSpec{Size: 1 << 20, Ways: 16}, v.Machine.Core.L2, "defaults of the field's tag")
	assert.Equal(t, &weaverSpec{512}, v.Machine.Core.Weaver, "{} is a section of defaults")
	assert.Equal(t, &rmatSpec{14, 1<<64 - 1}, v.Graph.RMAT)
	assert.Equal(t, []int{1024, 2048, 100, 1000}, v.Buffers)
	assert.Equal(t, []string{}, v.Metrics)
	assert.Equal(t, []string{"2001-01-01", "yes", "a, b"}, v.Notes)
}

// Each layer sets one key more than the next, so that each shows once.
// TestNumbersAsNames: a name that looks like a number needs no quotes, and another number is none.
func TestNumbersAsNames(t *testing.T) {
	type section struct {
		Times string `key:"times" default:"1" oneof:"1,2,auto" doc:"How often."`
	}
	s := New[section]("sections")
	for _, text := range []string{"times: 2\n", "times: \"2\"\n"} {
		l, err := s.Load(input(text))
		require.NoError(t, err, text)
		require.Equal(t, "2", l.Value.Times)
	}
	for _, text := range []string{"times: 3\n", "times: 02\n", "times: 2.0\n"} {
		_, err := s.Load(input(text))
		require.ErrorContains(t, err, "expected one of 1, 2, auto", text)
	}
}

func TestLayers(t *testing.T) {
	in := input("extends: base\nmachine: {cores: 3, clock_ratio: 2, core: {warps: 9, threads: 8}}\nname: e\n")
	in.Env = []string{
		"HEDDLE_MACHINE__CLOCK_RATIO=3", "HEDDLE_MACHINE__CORE__WARPS=10", "HEDDLE_MACHINE__CORE__THREADS=12",
		"PATH=/bin", "HEDDLE_HOME=/x",
	}
	in.EnvOther = []string{"HEDDLE_HOME"}
	in.Set = []string{"machine.core.warps=11", "machine.core.threads=16", "machine.core.threads=20"}
	l := load(t, in)
	assert.Equal(t, []string{"e.yaml", "experiments/base.yaml", "machines/small.yaml"}, l.Files)
	for _, c := range []struct{ path, value, from string }{
		{"name", "e", "e.yaml:3:7"},
		{"schedule", "edge", "experiments/base.yaml:3:11"},
		{"metrics", "[speedup]", "experiments/base.yaml:4:10"},
		{"buffers", "[]", "default"},
		{"machine", "", "e.yaml:2:1"},
		{"machine.cores", "3", "e.yaml:2:18"},
		{"machine.clock_ratio", "3", "$HEDDLE_MACHINE__CLOCK_RATIO"},
		{"machine.core.weaver.st_entries", "64", "machines/small.yaml:2:39"},
		{"machine.core.warps", "11", "--set machine.core.warps"},
		{"machine.core.threads", "20", "--set machine.core.threads"},
		{"machine.core.banked", "true", "default"},
	} {
		at, ok := l.Origin(c.path)
		assert.True(t, ok, c.path)
		assert.Equal(t, c.from, at.String(), c.path)
		if c.value != "" {
			assert.Equal(t, c.value, leafText(t, l, c.path), c.path)
		}
	}
	_, ok := l.Origin("graph")
	assert.False(t, ok, "absent section")
	_, ok = l.Origin("nonsense")
	assert.False(t, ok)
}

func leafText(t *testing.T, l *Loaded[experiment], path string) string {
	t.Helper()
	for _, d := range experiments.Diff(experiment{}, l.Value) {
		if d.Key == path {
			return d.B
		}
	}
	f, _ := experiments.Lookup(path)
	def, _ := f.Default()
	return def
}

func TestOptionalSections(t *testing.T) {
	base := "name: e\ngraph: {rmat: {scale: 3, seed: 7}}\n"
	for _, c := range []struct {
		name string
		set  []string
		want *graphSpec
	}{
		{"as the file has it", nil, &graphSpec{RMAT: &rmatSpec{3, 7}}},
		{"key by key", []string{"graph.rmat.seed=8"}, &graphSpec{RMAT: &rmatSpec{3, 8}}},
		{"dropped", []string{"graph=null"}, nil},
		{"replaced", []string{"graph.rmat=null", "graph.file=g.txt"}, &graphSpec{File: "g.txt"}},
		{"dropped and new", []string{"graph.rmat=null", "graph.rmat.scale=5"}, &graphSpec{RMAT: &rmatSpec{5, 1}}},
		{"written as YAML", []string{"graph.rmat={scale: 5}"}, &graphSpec{RMAT: &rmatSpec{5, 7}}},
	} {
		in := input(base)
		in.Set = c.set
		assert.Equal(t, c.want, load(t, in).Value.Graph, c.name)
	}
}

// A key set from outside is enough to have its section.
func TestTouchMakesPresent(t *testing.T) {
	in := input("name: e\n")
	in.Env = []string{"HEDDLE_MACHINE__CORE__WEAVER__ST_ENTRIES=8"}
	l := load(t, in)
	assert.Equal(t, &weaverSpec{8}, l.Value.Machine.Core.Weaver)
	at, _ := l.Origin("machine.core.weaver")
	assert.Equal(t, Env, at.Layer)
}

func TestNamedPresetStartsAfresh(t *testing.T) {
	in := input("name: e\nmachine:\n  core: {warps: 16, l2: {}}\n  extends: large\n")
	m := load(t, in).Value.Machine
	assert.Equal(t, []int{6, 16, 64}, []int{m.Cores, m.Core.Warps, m.Core.Weaver.STEntries},
		"extends comes first wherever it stands")

	in.Set = []string{"machine=small", "machine.core.threads=8"}
	m = load(t, in).Value.Machine
	assert.Equal(t, []int{2, 8, 8}, []int{m.Cores, m.Core.Warps, m.Core.Threads})
	assert.Nil(t, m.Core.L2, "nothing of the file's machine is left")

	in.Set, in.Env = nil, []string{"HEDDLE_MACHINE__CORE__THREADS=8", "HEDDLE_MACHINE=small"}
	m = load(t, in).Value.Machine
	assert.Equal(t, []int{2, 8}, []int{m.Cores, m.Core.Threads}, "the section's variable first, whatever the order")
}

func TestSetTexts(t *testing.T) {
	in := input("name: e\n")
	in.Set = []string{
		"name=true", "metrics=ipc, cycles", "buffers=[1K, 3]", `notes=["a,b", "c"]`,
		"sweep={machine.cores: [1, 2]}", "machine.core.l1d.size=64K",
	}
	v := load(t, in).Value
	assert.Equal(t, "true", v.Name, "text needs no quotes")
	assert.Equal(t, []string{"ipc", "cycles"}, v.Metrics)
	assert.Equal(t, []int{1024, 3}, v.Buffers)
	assert.Equal(t, []string{"a,b", "c"}, v.Notes)
	assert.Equal(t, Axes{{Key: "machine.cores", Values: []string{"1", "2"}}}, v.Sweep)
	assert.EqualValues(t, 64<<10, v.Machine.Core.L1.Size)
	in.Set = []string{"metrics=", "notes=a=b"}
	v = load(t, in).Value
	assert.Equal(t, []string{}, v.Metrics)
	assert.Equal(t, []string{"a=b"}, v.Notes, "only the first = parts key and value")
}

func TestFilesExtendRelativeToThemselves(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	write("e.yaml", "extends: lib/a.yaml\nname: e\n")
	write("lib/a.yaml", "extends: ./b.yaml\nname: a\nschedule: edge\nmachine: m/core.yaml\n")
	write("lib/b.yaml", "name: b\nschedule: weaver\nmetrics: [ipc]\n")
	write("lib/m/core.yaml", "extends: large\ncores: 5\n")
	l, err := experiments.Load(Input{File: filepath.Join(dir, "e.yaml"), Presets: presets})
	require.NoError(t, err)
	assert.Equal(t, "e", l.Value.Name)
	assert.Equal(t, "edge", l.Value.Schedule)
	assert.Equal(t, []string{"ipc"}, l.Value.Metrics)
	assert.Equal(t, []int{5, 32}, []int{l.Value.Machine.Cores, l.Value.Machine.Core.Warps})

	write("lib/b.yaml", "extends: ../e.yaml\n")
	_, err = experiments.Load(Input{File: filepath.Join(dir, "e.yaml"), Presets: presets})
	e, a, b := filepath.Join(dir, "e.yaml"), filepath.Join(dir, "lib/a.yaml"), filepath.Join(dir, "lib/b.yaml")
	assert.EqualError(t, err, b+":1:10: extends: extends itself: "+strings.Join([]string{e, a, b, e}, " → "))
}

func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	_, err := experiments.Load(Input{File: filepath.Join(dir, "no.yaml")})
	assert.EqualError(t, err, filepath.Join(dir, "no.yaml")+": no such file or directory")
	_, err = experiments.Load(Input{File: dir})
	assert.EqualError(t, err, dir+": expected a regular file, found a directory")
	big := filepath.Join(dir, "big.yaml")
	require.NoError(t, os.WriteFile(big, make([]byte, maxFileSize+10), 0o644))
	_, err = experiments.Load(Input{File: big})
	assert.EqualError(t, err, big+": larger than 1048576 bytes")
}

func TestPoints(t *testing.T) {
	in := input(`
name: e
machine: {core: {warps: 16}}
sweep:
  schedule: [vertex, two-level]
  machine.core.warps: [8, 32]
  machine: [small, large]
  buffers: [[1K, 1K], []]
`)
	l := load(t, in)
	assert.Equal(t, Axes{
		{Key: "schedule", Values: []string{"vertex", "two-level"}}, {Key: "machine.core.warps", Values: []string{"8", "32"}},
		{Key: "machine", Values: []string{"small", "large"}}, {Key: "buffers", Values: []string{"[1KiB, 1KiB]", "[]"}},
	}, l.Value.Sweep)

	p, err := l.With("schedule=two-level", "machine.core.warps=8", "machine=large", "buffers=[1KiB, 1KiB]")
	require.NoError(t, err)
	assert.Equal(t, "two-level", p.Value.Schedule)
	assert.Equal(t, []int{6, 8}, []int{p.Value.Machine.Cores, p.Value.Machine.Core.Warps},
		"the machine first, then its key")
	assert.Equal(t, []int{1024, 1024}, p.Value.Buffers)
	at, _ := p.Origin("machine.core.warps")
	assert.Equal(t, "point machine.core.warps", at.String())
	assert.Equal(t, 16, l.Value.Machine.Core.Warps, "the base is as it was")

	_, err = l.With("machine.core.warps=2")
	assert.EqualError(t, err, "e.yaml:3:11: machine.core.l1d.ways: expected at most warps = 2 (4 is its default)")
	q, err := p.With("machine.core.warps=9")
	require.NoError(t, err)
	assert.Equal(t, []int{6, 9}, []int{q.Value.Machine.Cores, q.Value.Machine.Core.Warps}, "points stack")
}

func TestRanges(t *testing.T) {
	for text, want := range map[string]string{
		"machine.core.warps: {from: 8, to: 32, step: 8}":             "8 16 24 32",
		"machine.core.warps: {from: 8, to: 30, step: 8}":             "8 16 24",
		"machine.core.warps: {from: 1, to: 64, times: 2}":            "1 2 4 8 16 32 64",
		"machine.core.warps: {from: 5, to: 5, step: 1}":              "5",
		"machine.core.l1d.size: {to: 64K, from: 16KiB, times: 2}":    "16KiB 32KiB 64KiB",
		"machine.core.l1d.size: {from: 16KiB, to: 47K, step: 16KiB}": "16KiB 32KiB",
		"machine.clock_ratio: {from: 0.5, to: 1.2, step: 0.1}":       "0.5 0.6 0.7 0.8 0.9 1 1.1 1.2",
		"machine.clock_ratio: {from: 0.5, to: 4, times: 2}":          "0.5 1 2 4",
		"machine.clock_ratio: {from: 1, to: 2, times: 1.5}":          "1 1.5",
	} {
		l := load(t, input("name: e\nsweep: {"+text+"}\n"))
		assert.Equal(t, want, strings.Join(l.Value.Sweep[0].Values, " "), text)
	}
	l := load(t, input("name: e\ncompare: {machine.core.warps: {from: 4, to: 8, step: 4}, machine: [small, large]}\n"))
	assert.Equal(t, Axes{{Key: "machine.core.warps", Values: []string{"4", "8"}},
		{Key: "machine", Values: []string{"small", "large"}}}, l.Value.Compare.Axes())
}

func TestAxesThatGoTogether(t *testing.T) {
	in := input("name: e\nsweep:\n  machine.core.warps, machine.core.l1d.size: [[8, 16K], [8, 32K]]\n  schedule: " +
		"[edge]\n  \"buffers ,name\": [[[1K], a], [[], b]]\n")
	want := Axes{
		{Key: "machine.core.warps", Values: []string{"8", "8"}}, {Key: "machine.core.l1d.size",
			Values: []string{"16KiB", "32KiB"}, With: true},
		{Key: "schedule", Values: []string{"edge"}},
		{Key: "buffers", Values: []string{"[1KiB]", "[]"}}, {Key: "name", Values: []string{"a", "b"}, With: true},
	}
	assert.Equal(t, want, load(t, in).Value.Sweep)
	set := input("name: e\n")
	set.Set = []string{`sweep={"machine.core.warps, machine.core.l1d.size": [[8, 16K], [8, 32K]], schedule: [edge], "buffers, name": [[[1K], a], [[], b]]}`}
	assert.Equal(t, want, load(t, set).Value.Sweep)
}

func TestExclusions(t *testing.T) {
	l := load(t, input("name: e\nexclude:\n- {machine.core.warps: 8, schedule: [edge, vertex]}\n- "+
		"{machine.core.l1d.size: {from: 1K, to: 4K, times: 2}}\n- {buffers: [1K], machine: small}\n"+
		"- {buffers: [[], [2K]]}\n"))
	assert.Equal(t, Exclusions{
		{{Key: "machine.core.warps", Values: []string{"8"}}, {Key: "schedule", Values: []string{"edge", "vertex"}}},
		{{Key: "machine.core.l1d.size", Values: []string{"1KiB", "2KiB", "4KiB"}}},
		{{Key: "buffers", Values: []string{"[1KiB]"}}, {Key: "machine", Values: []string{"small"}}},
		{{Key: "buffers", Values: []string{"[]", "[2KiB]"}}},
	}, l.Value.Exclude)
}

func TestZippedAxesMayRepeat(t *testing.T) {
	l := load(t, input("name: e\ncompare: {schedule: [vertex, edge], machine: [small, small]}\n"))
	assert.Equal(t, Axes{{Key: "schedule", Values: []string{"vertex", "edge"}},
		{Key: "machine", Values: []string{"small", "small"}}}, l.Value.Compare.Axes())
}

func TestListsAreNotShared(t *testing.T) {
	a := load(t, input("name: a\n"))
	a.Value.Metrics[0] = "speedup"
	assert.Equal(t, "cycles", load(t, input("name: a\n")).Value.Metrics[0])
}

// Keys must pass viper's lower-casing and splitting, and the environment's
// spelling, unharmed.
func TestKeysSurviveViperAndEnvironment(t *testing.T) {
	seen := map[string]string{}
	for _, f := range experiments.Fields() {
		assert.Equal(t, strings.ToLower(f.Path), f.Path)
		assert.NotContains(t, f.Path, delimiter)
		assert.NotContains(t, f.Key, ".")
		assert.NotContains(t, seen, EnvName(f.Path), "%s and %s", f.Path, seen[EnvName(f.Path)])
		seen[EnvName(f.Path)] = f.Path
	}
	assert.Equal(t, "HEDDLE_MACHINE__CORE__WEAVER__ST_ENTRIES", EnvName("machine.core.weaver.st_entries"))
}

// A bare value in a weaker layer must not hide a section of a stronger one, nor
// the reverse: viper keeps flat keys.
func TestViperKeepsOpaqueEntries(t *testing.T) {
	core, _ := experiments.Lookup("machine.core")
	warps, _ := experiments.Lookup("machine.core.warps")
	y := newLayers()
	y.merge([]assignment{{opSet, warps, warps.def, Origin{Line: 1}}})
	y.merge([]assignment{{opPresent, core, noValue, Origin{Line: 2}}})
	assert.Equal(t, 1, y.get(opSet, warps).from.Line)
	assert.Equal(t, 2, y.section(core).from.Line)
	y.override([]assignment{{opClear, core, noValue, Origin{}}})
	assert.Nil(t, y.get(opSet, warps))
	assert.Nil(t, y.section(core))
	y.override([]assignment{{opSet, warps, warps.def, Origin{Line: 3}}})
	assert.Equal(t, 3, y.get(opSet, warps).from.Line)
}

// A point has no file to start from, so an axis keeps paths as seen from here.
func TestAxisOfFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"lib/e.yaml":   "name: e\nsweep: {machine: [m/a.yaml, ../b.yaml, ./../c, small]}\n",
		"e.yaml":       "extends: lib/e.yaml\n",
		"lib/m/a.yaml": "cores: 11\n", "b.yaml": "cores: 12\n", "c": "cores: 13\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	l, err := experiments.Load(Input{File: "e.yaml", Presets: presets})
	require.NoError(t, err)
	values := l.Value.Sweep[0].Values
	assert.Equal(t, []string{"lib/m/a.yaml", "b.yaml", "./c", "small"}, values)
	assert.Equal(t, []string{"e.yaml", "lib/e.yaml"}, l.Files, "trying the machines leaves no trace")
	for i, want := range []int{11, 12, 13, 2} {
		p, err := l.With("machine=" + values[i])
		require.NoError(t, err)
		assert.Equal(t, want, p.Value.Machine.Cores)
	}
	_, err = l.With("machine=gone.yaml", "name")
	assert.EqualError(t, err, "point machine: machine.extends: gone.yaml: no such file or directory\npoint name: "+
		"expected KEY=VALUE")
}

// A sweep resolves a configuration per point.
func BenchmarkWith(b *testing.B) {
	l, err := experiments.Load(input(full))
	require.NoError(b, err)
	for b.Loop() {
		if _, err := l.With("machine.core.warps=8", "schedule=edge"); err != nil {
			b.Fatal(err)
		}
	}
}
