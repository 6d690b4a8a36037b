package experiment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/config"
	"heddle/kernels/reference"
	"heddle/kernels/workload"
)

// TestOvertaken: a wrong result says what barriers may have to do with it where several thread blocks share a core, be
// their size given or that of SEP-Graph's code, and the machine's barriers do not order accesses.
func TestOvertaken(t *testing.T) {
	for _, c := range []struct {
		ordered         bool
		threads         int
		variant, recipe string
		says            bool
	}{
		{false, 0, "own", "none", false}, {false, 128, "own", "none", true}, {true, 128, "own", "none", false},
		{false, 512, "own", "none", false}, {false, 0, "sep-graph", "none", true}, {false, 0, "own", "sepgraph", true},
		{true, 0, "sep-graph", "none", false}, {false, 0, "graphit", "none", false},
	} {
		var e config.Experiment
		core, w := &e.Machine.Core, &e.Workload
		core.Warps, core.Threads, core.OrderedBarrier, w.CTAThreads = 16, 32, c.ordered, c.threads
		w.Variant, w.Recipe = workload.Choice(c.variant), workload.Choice(c.recipe)
		err := overtaken(&e, reference.ErrWrong)
		require.ErrorIs(t, err, reference.ErrWrong)
		require.Equal(t, c.says, err.Error() != reference.ErrWrong.Error(), "%+v", c)
	}
}
