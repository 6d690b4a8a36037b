package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/experiment/config"
	"heddle/internal/testenv"
)

func TestDifferences(t *testing.T) {
	const base = `{"version": "a", "points": [{"cycles": 5, "host_seconds": 1, "config": "x", "stats": {"ipc": 0.3333333333333333, "edges": 7, "gone": 1}}], "host": {"jobs": 1}}`
	const now = `{"version": "b", "points": [{"cycles": 6, "host_seconds": 2, "config": "y", "stats": {"ipc": 0.33333333333333337, "edges": 7, "new": 1}}], "host": {"jobs": 2}}`
	list, err := differences([]byte(base), []byte(now))
	require.NoError(t, err)
	assert.Equal(t, []difference{
		{"cycles", "5", "6"}, {"gone", "1", "absent"}, {"ipc", "0.3333333333333333", "0.33333333333333337"}, {"new", "absent", "1"},
	}, list)

	list, err = differences([]byte(base), []byte(strings.Replace(base, `"jobs": 1`, `"jobs": 3`, 1)))
	require.NoError(t, err)
	assert.Empty(t, list)

	list, err = differences([]byte(refusedPrefix+"no such key"), []byte(now))
	require.NoError(t, err)
	assert.Equal(t, difference{"refused", "no such key", "absent"}, list[0])

	_, err = differences([]byte("{"), []byte(now))
	assert.Error(t, err)
}

func TestKeysThatAProgramHasNotAreDropped(t *testing.T) {
	const yaml = "name: x\nmachine:\n  sockets: 1\n  core:\n    warps: 4\n    new: 7\n  unit:\n    entries: 3\n  l2: " +
		"null\nworkload:\n  seed: 1\n"
	keys := map[string]bool{"name": true, "machine": true, "machine.sockets": true, "machine.core": true,
		"machine.core.warps": true, "machine.l2": true, "workload": true, "workload.seed": true}
	assert.Equal(t, "name: x\nmachine:\n  sockets: 1\n  core:\n    warps: 4\n  l2: null\nworkload:\n  seed: 1\n",
		known(yaml, keys))
}

// Every point of every pack survives the way through the file that both programs are given.
func TestPackPointsKeepTheirKeys(t *testing.T) {
	keys := map[string]bool{}
	for _, f := range config.Schema.Fields() {
		keys[f.Canonical()] = true
	}
	list, err := packJobs(false)
	require.NoError(t, err)
	assert.Greater(t, len(list), 100)
	for _, j := range list {
		require.Equal(t, j.yaml, known(j.yaml, keys), j.name)
	}
	few, err := packJobs(true)
	require.NoError(t, err)
	assert.Less(t, len(few), len(list)/2)
}

// Draws are legal, repeat with their seed, and reach schedules, machines and keys of all kinds.
func TestDraws(t *testing.T) {
	list, err := drawn(t.TempDir(), 30, 7)
	require.NoError(t, err)
	again, err := drawn(t.TempDir(), 30, 7)
	require.NoError(t, err)
	assert.Equal(t, list, again)
	other, err := drawn(t.TempDir(), 1, 8)
	require.NoError(t, err)
	assert.NotEqual(t, list[0], other[0])
	all := ""
	for _, j := range list {
		_, err := config.Parse(j.name, []byte(j.yaml))
		require.NoError(t, err)
		all += j.name + "\n"
	}
	for _, name := range []string{"schedule=weaver", "schedule=vertex", "machine.l1d.", "machine.core.", "graph.grid",
		"graph.rmat"} {
		assert.Contains(t, all, name)
	}
}

func TestRangesAreRead(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "64": 64, "64KiB": 1 << 16, "2MiB": 1 << 21, "-1": 0, "0.5": 0} {
		assert.Equal(t, want, number(text), text)
	}
}

// A program is the same as itself, and another machine is not: the base is a script that changes its arguments.
func TestComparesPrograms(t *testing.T) {
	testenv.NeedSlow(t, "it simulates on both sides")
	ctx := t.Context()
	dir := t.TempDir()
	path, err := testenv.Heddle()
	require.NoError(t, err)
	compare := func(base string) bool {
		o := &options{base: base, run: `^alu_chain ×[0-9]+ on vortex-rtl-a$|^drawn 0:`, drawn: 1, seed: 1, jobs: 1,
			quick: true, keep: t.TempDir(), now: path}
		differ, err := o.main(ctx)
		require.NoError(t, err)
		return differ
	}
	assert.False(t, compare(path))

	other := dir + "/other"
	script := "#!/bin/sh\ncase $1 in config) exec " + path + " \"$@\";; exec) shift; exec " + path +
		" exec --set core.latency.alu=5 \"$@\";; esac\nexec " + path + " \"$@\" --set machine.l1d.ways=1\n"
	require.NoError(t, os.WriteFile(other, []byte(script), 0o755))
	assert.True(t, compare(other))
}

func TestWithoutPlaces(t *testing.T) {
	assert.Equal(t, "heddle: DIR/point.yaml: workload.schedule: vertex: 3:4",
		withoutPlaces("heddle: /tmp/x/point.yaml:194:13: workload.schedule: vertex: 3:4", "/tmp/x"))
}
