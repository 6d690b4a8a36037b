package experiment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/config"
	"heddle/kernels/workload"
)

// TestEveryKindHasWork: a kind without a row would be a panic in the runs of its workloads; all but traces have a host.
func TestEveryKindHasWork(t *testing.T) {
	require.Len(t, kinds, len(workload.Kinds()))
	for kind, open := range kinds {
		require.NotNil(t, open, workload.Kind(kind))
		_, ok := open(base{&config.Experiment{}, nil}).(hosted)
		require.Equal(t, workload.Kind(kind) != workload.KindTrace, ok, workload.Kind(kind))
	}
}

// TestCostKeys: measurements of a program do not apply to PageRank, whose key it has by default, nor to
// another version of itself.
func TestCostKeys(t *testing.T) {
	seen := map[string][]string{}
	for _, set := range [][]string{
		{"algorithm=pagerank"}, {"algorithm=bfs"}, {"kernel=handwritten"}, {"algorithm=lp"}, {"program=bfs.gt"}, {"program=mine.s"},
		{"program=mine.s", "host.sha256=" + "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}, {"trace=x"}, {"trace=y"},
	} {
		w, err := workload.Parse(set)
		require.NoError(t, err)
		key := workOf(&config.Experiment{Workload: w}, nil).costKey()
		require.NotContains(t, seen, key, "%v", set)
		seen[key] = set
	}
	w, err := workload.Parse([]string{"schedule=cta", "seed=7"})
	require.NoError(t, err)
	require.Contains(t, seen, workOf(&config.Experiment{Workload: w}, nil).costKey(), "a choice is the same algorithm")
}

// TestKernelBesideAProgram is refused by its name: a program brings its own.
func TestKernelBesideAProgram(t *testing.T) {
	w, err := workload.Parse([]string{"program=mine.s", "kernel=handwritten"})
	require.NoError(t, err)
	check := func() error { return checkWork(&config.Experiment{Workload: w}, &programs{}) }
	require.ErrorContains(t, check(),
		"workload.kernel = handwritten: there is no such kernel beside workload.program mine.s")
	w.Kernel = workload.Compiled
	require.ErrorContains(t, check(), "mine.s: no such file")
}
