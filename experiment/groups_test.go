package experiment_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/experiment/store"
	"heddle/kernels/workload"
)

// flatKeys are the keys that workload had before they were grouped, in the order of stored configurations. They remain
// accepted for ever, and identities are computed from them: none may leave the list, nor change its place.
var flatKeys = strings.Fields(`trace program arguments schedule_file schedules float host kernel algorithm recipe
	scale_free schedule layout direction active_set dedup order delta buckets scan skip settled sum ahead unroll spill
	coefficient block_vertices block_by shard_vertices virtual_degree ell_width slot_order dia_diagonals warps_per_core
	cta_threads fusion hybrid_rule alpha beta width source target seed max_iterations damping tolerance threshold
	features launch_overhead`)

// spelt is one way of giving a key a value.
type spelt struct {
	name string
	in   func(value string) schema.Input
}

const anExperiment = "name: e\nmachine: vortex-1c4w4t-weaver\ngraph: {grid: {width: 2, height: 2}}\n"

func inYAML(workload string) func(string) schema.Input {
	return func(value string) schema.Input {
		return schema.Input{File: "e.yaml", Data: []byte(anExperiment + "workload:\n  " + fmt.Sprintf(workload, value) +
			"\n")}
	}
}

// spellings lists the ways in which a key can be written, the former one first.
func spellings(old string, f *schema.Field, group string) []spelt {
	paths := []string{"workload." + old, f.Path}
	out := []spelt{{"flat", inYAML(old + ": %s")}}
	if group != "" {
		out = append(out, spelt{"group", inYAML(group + ": {" + f.Key + ": %s}")},
			spelt{"dotted", inYAML(group + "." + f.Key + ": %s")})
		paths = append(paths, "workload."+group+"."+f.Key)
	}
	if f.Path == "workload."+group { // its main key
		out = append(out, spelt{"short", inYAML(group + ": %s")})
	}
	for _, path := range paths {
		out = append(out, spelt{"--set " + path, func(value string) schema.Input {
			return schema.Input{Data: []byte(anExperiment), File: "e.yaml", Set: []string{path + "=" + unquoted(value)}}
		}}, spelt{schema.EnvName(path), func(value string) schema.Input {
			return schema.Input{Data: []byte(anExperiment), File: "e.yaml",
				Env: []string{schema.EnvName(path) + "=" + unquoted(value)}}
		}})
	}
	return out
}

func unquoted(value string) string { return strings.Trim(value, `"`) }

// values are some that a key may have, as YAML, and one that it may not have.
func valuesOf(f *schema.Field) (good []string, bad string) {
	def, _ := f.Default()
	for _, v := range f.Values() {
		if v = fmt.Sprintf("%q", v); f.Type() == "boolean" {
			v = unquoted(v)
		}
		good = append(good, v)
	}
	switch kind := f.Type(); {
	case strings.HasPrefix(kind, "list"):
		return []string{"[a]"}, `"a"`
	case kind == "mapping":
		return []string{"{a: {b: c}}"}, `"a"`
	case kind == "string":
		return []string{`"x"`}, "[x]"
	case kind == "number":
		return []string{"0.5"}, `"x"`
	case kind == "integer":
		return []string{"4"}, `"x"`
	}
	for i := range good {
		if unquoted(good[i]) == unquoted(def) {
			good = append(good[:i], good[i+1:]...)
			break
		}
	}
	return good, `"no value"`
}

// TestFlatKeys: every key of workload has the same meaning, identity and messages under its former name, in its group
// and in short, wherever it is given.
func TestFlatKeys(t *testing.T) {
	require.Equal(t, flatKeys, canonicalKeys(), "the order of stored configurations")
	w := reflect.TypeFor[workload.Workload]()
	seen := 0
	for i := range flatKeys { // behind which come keys that never were flat
		key, old := w.Field(i).Tag.Get("key"), flatKeys[i]
		group, _, grouped := strings.Cut(key, ".")
		if !grouped {
			group = ""
			require.Equal(t, key, old)
		}
		f, ok := config.Schema.Lookup("workload." + old)
		require.True(t, ok, old)
		require.Equal(t, "workload."+old, f.Canonical())
		if f.Type() == "section" {
			continue
		}
		seen++
		t.Run(old, func(t *testing.T) {
			t.Parallel()
			sameValue(t, old, f, spellings(old, f, group))
			sameMessage(t, f, spellings(old, f, group))
		})
	}
	require.Equal(t, len(flatKeys)-2, seen, "all but host and features, which have always been sections")
}

func canonicalKeys() (keys []string) {
	for _, line := range strings.Split(string(config.Schema.Canonical(config.Schema.Default())), "\n") {
		if m := regexp.MustCompile(`^  ([a-z_.0-9]+):`).FindStringSubmatch(line); m != nil {
			keys = append(keys, m[1])
		}
	}
	first := 0
	for keys[first] != "trace" {
		first++
	}
	return keys[first : first+len(flatKeys)]
}

func sameValue(t *testing.T, old string, f *schema.Field, ways []spelt) {
	values, _ := valuesOf(f)
	for _, value := range values {
		first, err := config.Schema.Load(withPresets(ways[0].in(value)))
		if err != nil { // the value asks for others, as a schedule for its unit
			continue
		}
		require.NotEqual(t, config.Schema.Default().Workload, first.Value.Workload, "%s: %s is no change", old, value)
		for _, way := range ways {
			l, err := config.Schema.Load(withPresets(way.in(value)))
			require.NoError(t, err, "%s: %s", way.name, value)
			require.Equal(t, first.Value, l.Value, "%s: %s", way.name, value)
			require.Equal(t, experiment.KeyOf(first.Value), experiment.KeyOf(l.Value), way.name)
		}
		for _, text := range [][]byte{config.Schema.YAML(first.Value), config.Schema.Canonical(first.Value)} {
			again, err := config.ParseWith("again", text, nil)
			require.NoError(t, err)
			require.Equal(t, first.Value, again.Value, "%s", text)
		}
		require.Contains(t, string(config.Schema.Canonical(first.Value)), "\n  "+old+": ")
		return
	}
	require.Fail(t, "no value of "+old+" is accepted")
}

func withPresets(in schema.Input) schema.Input {
	if bytes.Contains(in.Data, []byte("  trace: ")) || strings.Contains(fmt.Sprint(in.Set, in.Env), "trace=") ||
		strings.Contains(fmt.Sprint(in.Env), "TRACE=") { // it has its own graph
		in.Data = bytes.Replace(in.Data, []byte("graph: "), []byte("# "), 1)
	}
	in.Presets = configs.Presets
	return in
}

// sameMessage: an error has the key's present path, the line of the key, and the same words.
func sameMessage(t *testing.T, f *schema.Field, ways []spelt) {
	_, bad := valuesOf(f)
	for _, way := range ways {
		if strings.HasPrefix(way.name, "-") || strings.HasPrefix(way.name, schema.EnvPrefix) {
			continue // all text is a value of strings and lists there
		}
		_, err := config.Schema.Load(withPresets(way.in(bad)))
		var wrong *schema.Errors
		require.True(t, errors.As(err, &wrong), "%s: %v", way.name, err)
		require.Len(t, wrong.List, 1, way.name)
		require.Equal(t, f.Path, wrong.List[0].Key, way.name)
		require.Equal(t, 5, wrong.List[0].At.Line, way.name)
		require.Regexp(t, "^expected .*; found ", wrong.List[0].Msg, way.name)
	}
}

// gunzip returns the content of a file.
func gunzip(t *testing.T, name string) []byte {
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	return text
}

// TestAStoreOfFlatKeys: heddle of commit 464fa441 has written the store, when keys had no groups. Its points are known
// under either names, and their axes have the present ones.
func TestAStoreOfFlatKeys(t *testing.T) {
	const head = `
name: flat
machine: vortex-1c4w4t
graph: {grid: {width: 4, height: 4}}
`
	flat, grouped := head+`
workload: {algorithm: bfs, source: 3, direction: push, warps_per_core: 2, unroll: auto}
compare:
  - {name: vertex, schedule: vertex}
  - {name: cta, schedule: cta, cta_threads: 8}
sweep: {workload.active_set: [queue, bitmap]}
`, head+`
workload:
  algorithm: {name: bfs, source: 3}
  schedule.warps_per_core: 2
  direction: push
  compiler: {unroll: auto}
compare:
  - {name: vertex, schedule: {name: vertex}}
  - {name: cta, schedule: {name: cta, cta_threads: 8}}
sweep: {workload.frontier.set: [queue, bitmap]}
`
	search := experiment.Search{Reuse: []string{"(devel)+exe.a7be6f3eb506"}} // of the program that has written it
	dir := t.TempDir()
	file := filepath.Join(dir, store.File)
	require.NoError(t, os.WriteFile(file, gunzip(t, "testdata/flat-keys.sqlite.gz"), 0o644))
	for _, text := range []string{grouped, flat, grouped} {
		r := rerun{text: text, version: "now", search: search}
		runs, out := r.simulated(t, dir)
		require.Empty(t, runs)
		require.Equal(t, uint64(30622), out[0].Cycles)
		s, err := store.OpenRead(file)
		require.NoError(t, err)
		p, err := s.Points()
		require.NoError(t, err)
		require.Equal(t, []store.Axis{{Key: "variant", Value: "cta"}, {Key: "workload.frontier", Value: "bitmap"}}, p[3].Axes)
		require.Contains(t, p[3].Config, "\n  active_set: bitmap\n", "as it was stored")
		require.NoError(t, s.Close())
	}
	r := rerun{text: strings.Replace(grouped, "source: 3", "source: 2", 1), version: "now", search: search}
	runs, _ := r.simulated(t, dir)
	require.Len(t, runs, 4, "another point is another")
}

// TestGroupsAreRefused: a group that nothing reads is refused by its name, where its first key is, and not applied to
// the variants of a comparison that have no use for it.
func TestGroupsAreRefused(t *testing.T) {
	const head = "name: e\nmachine: vortex-1c4w4t\ngraph: {grid: {width: 2, height: 2}}\n"
	_, err := tryPoints(t, head+"workload:\n  algorithm: bfs\n  features:\n    count: 8\n    sets: 2\n")
	require.ErrorContains(t, err, "e.yaml:7:12: workload.features: bfs has no features: expected none of its keys, "+
		"found count, sets")
	_, err = tryPoints(t, head+"workload:\n  float: true\n  arguments: [a]\n")
	require.ErrorContains(t, err, "e.yaml:6:14: workload.graphit: it is for GraphIt programs (.gt), and "+
		"workload.program is "+
		"heddle: expected none of its keys, found arguments, float")
	text := head + `
workload: {graphit: {arguments: ["0"], float: true}, features: {count: 8, group: block}}
compare:
  - {name: bfs, algorithm: bfs}
  - {name: lp, algorithm: lp}
  - {name: program, program: bfs.gt}
`
	p := points(t, text)
	require.Equal(t, []string{"workload.graphit", "workload.features"}, p[0].Unused)
	require.Equal(t, []string{"workload.graphit"}, p[1].Unused)
	require.Empty(t, p[2].Unused)
	require.Equal(t, 8, p[1].Config.Workload.Features.Count)
	require.Equal(t, workload.Default().Features, p[0].Config.Workload.Features)
	require.Empty(t, p[1].Config.Workload.Arguments)
	require.Equal(t, []string{"0"}, p[2].Config.Workload.Arguments)
	_, err = tryPoints(t, text+"  - {name: own, algorithm: cc, features.count: 8}\n")
	require.ErrorContains(t, err, "at the point variant=own: workload.features: cc has no features", "a variant's own key")
}
