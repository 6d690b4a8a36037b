package lower_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graphit/lower"
)

// fused is a program whose loop is to be one launch.
func fused(t testing.TB, name string) string {
	return labelled(t, name) + "\nschedule:\n    SimpleGPUSchedule fuse; fuse.configKernelFusion(ENABLED); program->applyGPUSchedule(\"loop\", fuse);\n"
}

// labelled is a program that has a label loop.
func labelled(t testing.TB, name string) string {
	src, _, _ := strings.Cut(program(t, name), "\nschedule:")
	return src
}

func TestFused(t *testing.T) {
	g := undirected(t)
	for _, name := range []string{"bfs", "cc", "sssp", "delta_stepping", "k_core"} {
		run := func(src string) lower.Result {
			w := workload(t)
			r, err := lower.Run(context.Background(), device(t, w), g, parse(t, name, src), lower.Options{Args: args(name, g), Output: io.Discard, Workload: w, MaxSteps: 2000})
			require.NoError(t, err, name)
			require.True(t, r.Verified)
			require.Empty(t, r.Program.Notes, name)
			return r
		}
		host, one := run(labelled(t, name)), run(fused(t, name))
		t.Log(name, host.Times, host.Steps, one.Times, one.Steps)
	}
}
