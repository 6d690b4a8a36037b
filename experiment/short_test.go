package experiment_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/internal/fit"
	"heddle/sim/stats"
)

func TestShortKeys(t *testing.T) {
	for _, c := range [][2][]string{
		{{"machine.l1d.bytes", "workload.schedule"}, {"bytes", "schedule"}},
		{{"machine.l1d.bytes", "machine.l2.bytes"}, {"l1d.bytes", "l2.bytes"}},
		{{"machine", "machine.core.warps"}, {"machine", "warps"}},
		{{"bytes", "machine.l2.bytes"}, {"bytes", "l2.bytes"}},
	} {
		require.Equal(t, c[1], experiment.ShortKeys(c[0]))
	}
}

func TestShortValues(t *testing.T) {
	for _, c := range []struct {
		key           string
		values, short []string
	}{
		{"graph.file", []string{"data/road-usa.mtx.gz", "kron.el", "facebook_combined"},
			[]string{"road-usa", "kron", "facebook_combined"}},
		{"graph.file", []string{"a/kron.el", "b/kron.el", "b/road.el"}, []string{"a/kron.el", "b/kron.el", "road"}},
		{"machine", []string{"vortex-1c4w4t", "my/big.yaml"}, []string{"vortex-1c4w4t", "big"}},
		{"workload.algorithm.damping", []string{"0.5", "0.85"}, []string{"0.5", "0.85"}},
		{"graph", []string{"{rmat: {scale: 14}}", "{rmat: {scale: 15}}"}, []string{"rmat: scale: 14", "rmat: scale: 15"}},
		{"workload.layout", []string{"csr-csc", "–"}, []string{"csr-csc", "–"}},
	} {
		of := experiment.ShortValues(c.key, c.values)
		for i, v := range c.values {
			require.Equal(t, c.short[i], of[v], c.key)
		}
	}
}

// At 80 columns a table has the keys that vary, cycles, speedup and verified, however long the paths of files are; then
// the statistics that explain the difference.
func TestTablesOf80Columns(t *testing.T) {
	p := points(t, `
name: wide
workload: {algorithm: pagerank}
compare: {workload.schedule: [vertex, edge, weaver], machine: [vortex-1c4w4t, vortex-1c4w4t, vortex-1c4w4t-weaver]}
sweep:
  graph.file: [/home/researcher/graphs/collections/road-networks/usa-road.mtx.gz, ../social/soc-LiveJournal1.el]
  'machine.l1d.bytes, machine.l1d.ways': [[16KiB, 1], [64KiB, 2]]
`)
	out := make([]experiment.Outcome, len(p))
	for i := range out {
		hits, simd := 0.9, 0.5
		if p[i].Coordinates[0] == 1 {
			simd = 0.99
		}
		out[i] = experiment.Outcome{Cycles: 123_456_789, Verified: true, Stats: stats.Pack(stats.Tree{
			stats.Constant("ipc", "", "", 1), stats.Constant("l1d.hit_rate", "", "", hits),
			stats.Constant("simd_efficiency", "", "", simd), stats.Constant("edges_per_cycle", "", "", 1),
			stats.Constant("dram.bytes_per_cycle", "", "", 1), stats.Count("core.scheduler.issued", "", "", 1),
			stats.Count("core.phase.other.scheduler_cycles", "", "", 5),
			stats.Count("core.phase.registration.scheduler_cycles", "", "", 30),
			stats.Count("core.phase.gather_sum_of_all.scheduler_cycles", "", "", 65),
		})}
	}
	var b bytes.Buffer
	experiment.WriteTable(fit.Writer{Writer: &b, Columns: 80}, p, out)
	for _, line := range strings.Split(b.String(), "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 80, b.String())
	}
	require.Regexp(t, `^\S+\n│ schedule +│ file +│ bytes +│ +cycles +│ speedup +│ verified`, b.String())
	require.Contains(t, b.String(), " soc-LiveJ")
	require.Contains(t, b.String(), " usa-road ")
	require.NotContains(t, regexp.MustCompile(`no room for[^(]*`).FindString(b.String()), "cycles")

	b.Reset()
	experiment.WritePhases(fit.Writer{Writer: &b, Columns: 80}, p, out)
	require.Regexp(t, `│ gather_sum_of_all │`, b.String(), "the largest phase is shown")
	require.Regexp(t, `no room for: .*machine, .*scheduler-cycles`, b.String())

	b.Reset()
	p = points(t, small+"compare: {workload.schedule: [vertex, edge, warp]}\n")
	experiment.WriteTable(fit.Writer{Writer: &b, Columns: 72}, p, out[:3])
	require.Regexp(t, `│ speedup │ +SIMD │`, b.String(), "columns that differ between the variants stay")
}
