package traces_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/traces"
)

// Every sample replays on its machine: the same instructions, whatever they take by now.
func TestSamplesReplay(t *testing.T) {
	testenv.NeedSlow(t, "it replays samples of many runs")
	files, err := filepath.Glob("samples/*.trace")
	require.NoError(t, err)
	require.Len(t, files, 16)
	bytes := int64(0)
	for _, path := range files {
		f, err := traces.Open(path)
		require.NoError(t, err)
		algorithm, schedule, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".trace"), "-")
		require.Contains(t, f.Meta.Config, "algorithm: "+algorithm+"\n")
		require.Contains(t, f.Meta.Config, "schedule: "+schedule+"\n")
		instrs, threads := uint64(0), uint64(0)
		for _, l := range f.Meta.Launches {
			instrs, threads = instrs+l.WarpInstrs, threads+l.ThreadInstrs
		}
		require.Equal(t, 0, f.Meta.Launches[0].Step, "the init kernel, which older files number -1")
		require.Equal(t, f.Meta.Steps, f.Meta.Launches[len(f.Meta.Launches)-1].Step, path)
		bytes += f.Size
		require.NoError(t, f.Close())
		cfg := machine(t, "vortex-6c32w32t-weaver")
		if schedule == "peg" {
			cfg = machine(t, "vortex-6c32w32t-graphpeg")
		}
		_, tree, _, _ := replay(t, cfg, path)
		got, _ := tree.Get("warp_instrs")
		require.EqualValues(t, instrs, got.Float(), path)
		got, _ = tree.Get("thread_instrs")
		require.EqualValues(t, threads, got.Float(), path)
	}
	require.Less(t, bytes, int64(5<<20))
}
