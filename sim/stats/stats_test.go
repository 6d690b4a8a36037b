package stats_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/sim/stats"
)

type parts [2]uint64

func (*parts) Describe(i int) (name, doc string) { return []string{"a", "b"}[i], "part" }

type unit struct {
	N     uint64 `stat:"n" unit:"things" doc:"Things."`
	Parts parts  `stat:"parts" unit:"cycles"`
	In    struct {
		M uint64 `stat:"m" doc:"In."`
	} `stat:"in"`
	Hidden uint64 `stat:"-"`
}

func TestWalk(t *testing.T) {
	u := unit{N: 1<<53 + 1, Parts: parts{2, 3}}
	u.In.M = 4
	tree := stats.Walk("core", &u)
	require.Equal(t, stats.Tree{
		stats.Count("core.n", "things", "Things.", 1<<53+1), stats.Count("core.parts.a", "cycles", "part", 2),
		stats.Count("core.parts.b", "cycles", "part", 3), stats.Count("core.in.m", "", "In.", 4),
	}, tree)
	out, err := json.Marshal(tree.Map())
	require.NoError(t, err)
	require.JSONEq(t, `{"core.n": 9007199254740993, "core.parts.a": 2, "core.parts.b": 3, "core.in.m": 4}`, string(out))

	total := stats.Sum("all", []stats.Tree{tree, tree})
	require.Equal(t, "all.core.in.m", total[3].Name)
	require.Equal(t, 8.0, total[3].Float())
	require.Nil(t, stats.Sum("all", nil))
}

func TestRatioOfNothing(t *testing.T) {
	require.Equal(t, "0", stats.Ratio("r", "", "", 1, 0).String())
	require.Equal(t, "0.25", stats.Ratio("r", "", "", 1, 4).String())
}

func TestAFieldWithoutATagIsABug(t *testing.T) {
	require.Panics(t, func() { stats.Walk("", &struct{ N uint64 }{}) })
	require.Panics(t, func() {
		stats.Walk("", &struct {
			N string `stat:"n"`
		}{})
	})
}
