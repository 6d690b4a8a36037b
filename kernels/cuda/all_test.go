package cuda_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/isa/emu"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

func machineOf(s host.Shape) emu.Config {
	return emu.Config{Cores: s.Cores, Warps: s.Warps, Threads: s.Threads, ScratchpadBytes: s.ScratchpadBytes}
}

// workloadOf returns the workload of a plan.
func workloadOf(p *compose.Plan) workload.Workload {
	return p.Workload(base(p.Algorithm.Name, p.Schedule.Name, p.Layout.Name, p.Direction.Name))
}

// TestAllPrograms: every legal combination of algorithm, software schedule, layout and direction, fused too, each with
// one of its frontiers and other choices in turn; every eighth batch with sanitizers. HEDDLE_CUDA_ONLY=/bfs/ runs those
// with that in their names, HEDDLE_CUDA_EVERY=6 every sixth, and HEDDLE_CUDA_SANITIZE=1 all with sanitizers.
func TestAllPrograms(t *testing.T) {
	testenv.NeedLong(t, "it builds and runs thousands of programs, for hours")
	needCompiler(t)
	only := os.Getenv("HEDDLE_CUDA_ONLY")
	groups, order := map[string][]*compose.Plan{}, []string{}
	for _, p := range append(compose.All(), compose.AllFused()...) {
		if p.Schedule.Unit != nil || !strings.Contains(p.Name(), only) {
			continue
		}
		key := strings.Join([]string{p.Algorithm.Name, p.Schedule.Name, p.Layout.Name, p.Direction.Name,
			strconv.FormatBool(p.Fused)}, " ")
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], p)
	}
	every, _ := strconv.Atoi(os.Getenv("HEDDLE_CUDA_EVERY"))
	var refused = map[string]int{}
	b, batches := newBatch(t, 0), 0
	flush := func() {
		if len(b.outlines) == 0 {
			return
		}
		b.build(t)
		for i, o := range b.outlines {
			t.Run(strings.ReplaceAll(o.Plan.Name(), "/", " "), func(t *testing.T) { b.check(t, i) })
		}
		batches++
		b = newBatch(t, batches)
	}
	for n, key := range order {
		if every > 1 && n%every != 0 {
			continue
		}
		p := groups[key][n*7%len(groups[key])]
		graph := odd(t, uint64(n), p.Algorithm.Undirected)
		switch err := b.add(t, graph, workloadOf(p)); {
		case errors.As(err, new(*compose.KeyError)) || err != nil && strings.Contains(err.Error(), "is not exported"):
			refused[fmt.Sprint(err)[max(0, strings.LastIndex(err.Error(), ": ")):]]++
		default:
			require.NoError(t, err, p.Name())
		}
		if len(b.outlines) == 40 {
			flush()
		}
	}
	flush()
	t.Logf("%d combinations; refused: %v", len(order), refused)
}

// newBatch returns an empty batch, with its number.
func newBatch(t *testing.T, n int) *batch {
	flags := []string{"-O1"}
	if os.Getenv("HEDDLE_CUDA_SANITIZE") != "" || n%8 == 7 {
		flags = append(flags, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1")
	}
	return &batch{dir: t.TempDir(), flags: flags}
}
