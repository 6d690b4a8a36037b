package reproduce

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/config"
)

// What a pack simulates is its own: an outcome that was recorded of other points, or under other rules, keeps the texts
// that say of what, and is marked. Texts alone, and settings that say nothing, change no identity.
func TestChangedReadings(t *testing.T) {
	const readings = `readings:
  - {name: described, says: a, source: b}
  - {name: other, says: long queue, source: s, rules: [{set: [machine.core.lsu_queue=4]}]}
`
	const pack = `figure: Fig. 1
title: t
statement: s
scaled: small
readings: [other]
quick_seconds: 1
common: {machine: vortex-1c4w4t, workload: {algorithm: pagerank}, compare: {workload.schedule: [vertex, edge]}}
quick: [{name: a, graph: {file: $graphs/absent.txt}}]
checks: [{says: faster, measure: speedup, of: [workload.schedule=edge], over: [workload.schedule=vertex], holds: '>= 1.05'}]
`
	load := func(changes ...string) *config.Pack {
		dir := t.TempDir()
		for name, text := range map[string]string{"pack.yaml": pack, "readings.yaml": readings,
			"published.yaml": "title: t\nvenue: V\nvalues: []\n"} {
			text = strings.NewReplacer(changes...).Replace(text)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
		}
		p, err := config.LoadPack(filepath.Join(dir, "pack.yaml"))
		require.NoError(t, err)
		p.Name = "p/x"
		return p
	}
	o, err := Evaluate(load(), config.Quick, nil)
	require.NoError(t, err)
	for _, c := range []struct {
		what    string
		changes []string
		changed []bool
		says    string
	}{
		{"nothing", nil, []bool{false, false}, "long queue"},
		{"a reading's text", []string{"long queue", "queue of 4"}, []bool{false, false}, "queue of 4"},
		{"a setting as it is anyway", []string{"machine: vortex-1c4w4t,", "machine: {extends: vortex-1c4w4t, sockets: 1},"},
			[]bool{false, false}, "long queue"},
		{"a reading's rules", []string{"lsu_queue=4", "lsu_queue=8", "long queue", "queue of 8"}, []bool{false, true}, "long queue"},
		{"the machine", []string{"vortex-1c4w4t", "vortex-1c4w4t-weaver", "long queue", "queue"}, []bool{true, true}, "long queue"},
		{"a graph", []string{"absent.txt", "other.txt"}, []bool{true, true}, "long queue"},
		{"sampling", []string{"absent.txt}", "absent.txt}, sample: {period: 100}"}, []bool{true, true}, "long queue"},
		{"an experiment of its own", []string{"readings: [other]", "readings: [other]\napart: [a]"}, []bool{false, true}, "long queue"},
	} {
		again := *o
		again.Readings = slices.Clone(o.Readings)
		require.NoError(t, again.Judge(load(c.changes...)), c.what)
		require.Equal(t, c.changed, []bool{again.Readings[0].Changed, again.Readings[1].Changed}, c.what)
		require.Equal(t, c.says, again.Readings[1].Says, c.what)
		require.Equal(t, slices.Contains(c.changed, true), again.changed() != nil, c.what)
	}

	old := *o
	old.Readings = slices.Clone(o.Readings)
	old.Readings[0].Identity, old.Readings[1].Identity = "", ""
	require.NoError(t, old.Judge(load("vortex-1c4w4t", "vortex-1c4w4t-weaver")))
	require.False(t, old.Readings[1].Changed, "nothing is known of what it was recorded of")
	require.NoError(t, old.Judge(load("long queue", "queue")))
	require.Equal(t, []string{"p/x (quick): other"}, old.changed(), "another text may be of something else")
	require.Equal(t, "long queue", old.Readings[1].Says)
}
