package schema

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected outputs in testdata")

const full = `
name: "it's: # \"odd\"  text \\ é"
machine:
  extends: large
  clock_ratio: 0.5
  core: {policy: gto, l2: {size: 2MiB}}
graph: {rmat: {scale: 14}}
buffers: [1000, 64K]
notes: ["true", "", "- a", null_, "12", "~", 'a,b', "null"]
sweep:
  machine.core.warps: [8, 32]
  machine: [small, large]
  notes: [["a, b", "on"], []]
  schedule: [edge, two-level]
  name: ["1", x]
  machine.cores, buffers: [[1, [1K]], [2, []]]
exclude:
- {schedule: edge, notes: [[], ["a, b", "on"]]}
- {machine: small, machine.core.warps: {from: 8, to: 16, step: 8}}
`

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *rewrite {
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "%s: go test -rewrite accepts the change", name)
}

func TestOutputs(t *testing.T) {
	in := input(full)
	in.Set = []string{"machine.core.threads=8"}
	in.Env = []string{"HEDDLE_MACHINE__CORE__BANKED=false"}
	l := load(t, in)
	golden(t, "resolved.yaml", experiments.YAML(l.Value))
	golden(t, "annotated.yaml", l.AnnotatedYAML())
	golden(t, "schema.txt", experiments.Text(0))
	golden(t, "schema.json", experiments.JSON())
	golden(t, "schema.md", experiments.Markdown("Experiment"))
}

func TestRoundTrip(t *testing.T) {
	for _, text := range []string{full, "name: e\n",
		"name: e\nmachine: {core: {weaver: {}}}\ngraph: {file: ../x.txt}\nmetrics: []\n"} {
		l := load(t, input(text))
		out := experiments.YAML(l.Value)
		for _, yaml := range [][]byte{out, l.AnnotatedYAML()} {
			again, err := experiments.Load(Input{File: "again", Data: yaml, Presets: presets})
			require.NoError(t, err, "%s", yaml)
			assert.Equal(t, l.Value, again.Value)
			assert.Empty(t, experiments.Diff(l.Value, again.Value))
			assert.Equal(t, string(out), string(experiments.YAML(again.Value)))
		}
	}
}

func TestDeterminism(t *testing.T) {
	first := load(t, input(full)).AnnotatedYAML()
	for range 20 {
		assert.Equal(t, string(first), string(load(t, input(full)).AnnotatedYAML()))
		other := New[experiment]("experiments")
		assert.Equal(t, string(experiments.JSON()), string(other.JSON()))
	}
}

func TestDiff(t *testing.T) {
	a := load(t, input("name: a\ngraph: {file: g}\nmachine: {core: {l1d: {size: 32K}}}\n")).Value
	b := load(t, input("name: b\nmetrics: [ipc]\nmachine: {core: {weaver: {}}}\nsweep: {name: [x]}\n")).Value
	assert.Equal(t, []Difference{
		{"name", "a", "b"},
		{"machine.core.l1d.size", "32KiB", "16KiB"},
		{"machine.core.weaver", Absent, Present},
		{"machine.core.weaver.st_entries", Absent, "512"},
		{"graph", Present, Absent},
		{"graph.file", "g", Absent},
		{"metrics", "[cycles, ipc]", "[ipc]"},
		{"sweep", "{}", "{name: [x]}"},
	}, experiments.Diff(a, b))
}

func TestSizes(t *testing.T) {
	f, _ := experiments.Lookup("buffers")
	for text, want := range map[string]string{
		"0": "0", "1": "1", "1024": "1KiB", "1000": "1000", "1536": "1536", "1M": "1MiB", "0x400": "1KiB", "3 KiB": "3KiB", "-1": "",
		"": "", "K": "", "1k": "", "1KB": "", "1.5K": "", "0x1K": "", "1KiBK": "", "99G": "", "01K": "",
	} {
		v, ok := f.scalar.parse(text)
		assert.Equal(t, want != "", ok, text)
		if ok {
			assert.Equal(t, want, f.scalar.text(v), text)
		}
	}
}
