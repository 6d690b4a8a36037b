package schema

import (
	"errors"
	"testing"
)

// FuzzLoad wants no panic, errors of our own type only, and a resolved
// configuration that loads back to itself.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		full, "", "name: e\n", "a: &a [*a]\n", "x: &x [1]\ny: [*x, *x]\n", "<<: {name: e}\n", "name: e\n---\n",
		"? {}\n: 1\n", "\t", "- 1",
		"name: e\nmachine: loop\n", "extends: base\n", "!!binary aGk=: 1\n", "name: |\n  a\n  b\n", "%YAML 1.1\n---\nname: e\n", "name: 2001-01-01",
		"name: \"\\u2028\\x00\"\nsweep: {notes: [[], ['\"']]}",
		"name: e\nsweep: {machine.core.warps: {from: 1, to: 64, times: 2}, machine.clock_ratio: {from: 1e-9, to: 4, step: 1e-3}}",
		"name: e\nsweep: {'schedule, buffers': [[edge, [1]], [vertex, []]]}\nexclude: [{schedule: edge, buffers: [1K]}, {name: [a, b]}]",
	} {
		f.Add([]byte(text), "machine.core.warps=3", "HEDDLE_NOTES=[a, b]")
		f.Add([]byte(text), "graph={rmat: {scale: 2}}", "HEDDLE_SWEEP={name: [a]}")
	}
	f.Fuzz(func(t *testing.T, data []byte, set, env string) {
		noFiles := func(kind, name string) (string, []byte, error) { return presets(kind, name) }
		l, err := experiments.Load(Input{File: "/nonexistent/f.yaml", Data: data, Set: []string{set},
			Env: []string{env}, Presets: noFiles})
		var ours *Errors
		switch {
		case err != nil && (!errors.As(err, &ours) || len(ours.List) == 0 || len(ours.List) > maxErrors):
			t.Fatalf("%T %v", err, err)
		case err != nil:
			return
		}
		for _, out := range [][]byte{experiments.YAML(l.Value), l.AnnotatedYAML()} {
			again, err := experiments.Load(Input{File: "/nonexistent/f.yaml", Data: out, Presets: noFiles})
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if diff := experiments.Diff(l.Value, again.Value); diff != nil {
				t.Fatalf("%v\n%s", diff, out)
			}
		}
	})
}
