package store

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"heddle/sim/stats"
)

func two() []Point {
	a, b := point(0, "a"), point(1, "b")
	a.Cycles = 4000
	b.Baseline, b.Cycles, b.Axes = 0, 1000, []Axis{{"z", `2, "x"`}, {"only", "here"}}
	b.Stats = more(b.Stats, stats.Count("more", "", "", 9))
	return []Point{a, b}
}

func export(t *testing.T, table *Table, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, table.Write(&b, format))
	return b.Bytes()
}

func TestExports(t *testing.T) {
	table := Wide(two())
	records, err := csv.NewReader(bytes.NewReader(export(t, table, "csv"))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{
		"point", "z", "a", "only", "cycles", "speedup", "verified", "replay", "partial", "failure", "error", "host_seconds", "finished", "graph", "version", "identity",
		"stats.z.last", "stats.ratio", "stats.whole", "stats.a", "stats.more",
	}, records[0])
	require.Equal(t, []string{
		"2", `2, "x"`, "", "here", "1000", "4", "true", "", "", "", "", "0.25", "2026-01-02T03:04:05Z", "g", "v", "b",
		"9223372036854775807", "0.3333333333333333", "2", "0", "9",
	}, records[2])

	var objects []map[string]any
	d := json.NewDecoder(bytes.NewReader(export(t, table, "json")))
	d.UseNumber()
	require.NoError(t, d.Decode(&objects))
	require.Len(t, objects, 2)
	require.Nil(t, objects[0]["stats.more"])
	require.Equal(t, json.Number("9223372036854775807"), objects[1]["stats.z.last"])
	require.Equal(t, true, objects[1]["verified"])

	// Parquet, read back, is the same table.
	file := export(t, table, "parquet")
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	rows := make([]parquet.Row, 3)
	r := f.RowGroups()[0].Rows()
	n, err := r.ReadRows(rows)
	require.Equal(t, 2, n)
	if err != nil {
		require.ErrorIs(t, err, io.EOF)
	}
	for i, row := range rows[:2] {
		back := map[string]any{}
		for k, path := range f.Schema().Columns() {
			require.Len(t, path, 1)
			back[path[0]] = plain(row[k])
		}
		for k, c := range table.Columns {
			require.Equal(t, table.Rows[i][k], back[c.Name], c.Name)
		}
	}
	require.NoError(t, r.Close())
	require.ErrorContains(t, table.Write(io.Discard, "xls"), `format "xls": expected one of [csv json parquet]`)
	require.ErrorContains(t, (&Table{Columns: []Column{{Name: "x"}}}).Write(io.Discard, "parquet"), "column x")
}

func plain(v parquet.Value) any {
	switch {
	case v.IsNull():
		return nil
	case v.Kind() == parquet.Boolean:
		return v.Boolean()
	case v.Kind() == parquet.Int64:
		return v.Int64()
	case v.Kind() == parquet.Double:
		return v.Double()
	}
	return string(v.ByteArray())
}

func TestCompare(t *testing.T) {
	all := func(string) bool { return true }
	require.Equal(t, &Comparison{Same: 2, OnlyA: []string{}, OnlyB: []string{}, Differences: []Change{}},
		Compare(two(), two(), all))
	a, b := two(), two()
	b[0].Cycles *= 2
	b[0].Seconds, b[0].Finished = 99, "later"
	tree := b[0].Stats.Tree()
	tree[1] = stats.Ratio("ratio", "", "", 2, 3)
	tree = tree[:3]
	b[0].Stats = stats.Pack(append(tree, stats.Count("new", "", "", 1)))
	b[1].Axes[0].Value = "3"
	double := 2.0
	c := Compare(a, b, all)
	require.Equal(t, &Comparison{
		Differ: 1, OnlyA: []string{`z=2, "x" only=here`}, OnlyB: []string{"z=3 only=here"},
		Differences: []Change{
			{"z=1 a=x y", "cycles", int64(a[0].Cycles), int64(2 * a[0].Cycles), &double},
			{"z=1 a=x y", "ratio", 1.0 / 3, 2.0 / 3, &double},
			{"z=1 a=x y", "a", int64(0), nil, nil},
			{"z=1 a=x y", "new", nil, int64(1), nil},
		},
	}, c)
	require.Len(t, Compare(a, b, func(name string) bool { return name == "cycles" }).Differences, 1)
}
