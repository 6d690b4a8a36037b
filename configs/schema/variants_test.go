package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVariants(t *testing.T) {
	l := load(t, input(`name: e
compare:
  - {name: plain}
  - name: 'with all, "quoted"'
    warps: 8
    machine.core.weaver: null
    machine: {extends: small, cores: 3, core: {l2: {}, l1d: {size: 2K}, policy: gto}}
    notes: [a b, c]
    sweep: {machine.core.l2.ways: {from: 2, to: 4, times: 2}, 'machine.core.threads, schedule': [[4, edge]]}
`))
	want := Variants{
		{Name: "plain"},
		{Name: `with all, "quoted"`, Set: []Setting{
			{"machine.core.warps", "8"}, {"machine.core.weaver", "null"}, {"machine", "small"}, {"machine.cores", "3"}, {"machine.core.l2", "{}"},
			{"machine.core.l1d.size", "2KiB"}, {"machine.core.policy", "gto"}, {"notes", "[\"a b\", c]"},
		}, Sweep: Axes{
			{Key: "machine.core.l2.ways", Values: []string{"2", "4"}}, {Key: "machine.core.threads", Values: []string{"4"}}, {Key: "schedule", Values: []string{"edge"}, With: true},
		}},
	}
	assert.Equal(t, want, l.Value.Compare)
	again := load(t, input(string(experiments.YAML(l.Value))))
	assert.Equal(t, want, again.Value.Compare, "as it is written")
	assert.Empty(t, experiments.Diff(l.Value, again.Value))

	var args []string
	for _, s := range want[1].Set {
		args = append(args, s.Key+"="+s.Value)
	}
	p, err := l.With(args...)
	require.NoError(t, err)
	assert.Equal(t, 3, p.Value.Machine.Cores)
	assert.Equal(t, 8, p.Value.Machine.Core.Warps)
	assert.NotNil(t, p.Value.Machine.Core.L2)
	assert.Nil(t, p.Value.Machine.Core.Weaver)
}

func TestHolds(t *testing.T) {
	l := load(t, input("name: e\nmachine: {core: {weaver: {}, l2: {}}}\n"))
	assert.True(t, l.Holds("machine.core.weaver.st_entries"))
	assert.True(t, l.Holds("machine.core.warps"))
	assert.False(t, l.Holds("machine.core.weaver.st_entries", "machine.core.weaver=null"))
	assert.True(t, l.Holds("machine.core.l2.ways"))
	assert.False(t, l.Holds("machine.core.l2.ways", "machine=small"))
	assert.True(t, l.Holds("machine.core.l2.ways", "machine.core.l2={}", "machine=small"))
	assert.False(t, l.Holds("machine.core.l2.ways", "machine.core.l3={}"), "refused")
	assert.False(t, l.Holds("machine.core.l3.ways"))
	assert.True(t, experiments.Conditional("machine.core.weaver.st_entries"))
	assert.False(t, experiments.Conditional("machine.core.weaver"))
	assert.False(t, experiments.Conditional("machine.core.warps"))
}
