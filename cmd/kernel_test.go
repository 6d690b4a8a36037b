package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/kernels/ir/example"
)

// TestKernelCommands: every kernel that is listed is shown; the numbers agree.
func TestKernelCommands(t *testing.T) {
	command := func(args ...string) (out string, code int) {
		root := newRoot()
		var b bytes.Buffer
		root.SetOut(&b)
		root.SetErr(&b)
		root.SetArgs(append([]string{"kernel"}, args...))
		code = run(context.Background(), root)
		return b.String(), code
	}
	show := func(args ...string) string {
		out, code := command(args...)
		require.Equal(t, exitOK, code, out)
		return out
	}
	names := strings.Fields(show("list"))
	require.Contains(t, names, "pagerank_weaver")
	counts := show("list", "--count")
	for _, line := range strings.Split(counts, "\n") {
		require.LessOrEqual(t, len([]rune(line)), 80, line)
	}
	var n kernelCounts
	require.NoError(t, json.Unmarshal([]byte(show("list", "--count", "--json")), &n))
	sum := len(example.Names())
	for _, a := range n.Algorithms {
		sum += a.All + a.Fused
	}
	require.Len(t, names, sum)
	for i := 0; i < len(names); i += 1 + len(names)/5 {
		k, err := findKernel(names[i])
		require.NoError(t, err)
		require.Equal(t, names[i], k.name)
	}
	text := show("show", "pagerank_edge", "--ir", "--asm", "--stats", "--passes")
	for _, s := range []string{"kernel pagerank_edge\n  param edges u32 = word 1",
		"for~ global_thread, edges, num_threads", "after induction: ",
		"heddle.edge:\n", "amofadd.w zero", "per edge            11\n"} {
		require.Contains(t, text, s)
	}
	require.Contains(t, show("show", "pagerank_weaver"), "phase registration")
	composed := show("show", "pagerank/weaver/csc/pull/counter", "--threads", "8")
	require.Contains(t, composed, "kernel init\n")
	require.Contains(t, composed, "kernel apply\n")
	cta := "bfs/cta/csr/push/queue+none/shuffle"
	require.NotEqual(t, show("show", cta), show("show", cta, "--variant", "sep-graph"))
	out, code := command("show", "bfs/twc/csr/push/queue+none/shuffle", "--variant", "sep-graph")
	require.Equal(t, exitUsage, code)
	require.Contains(t, out, "schedule twc has no such code here")
	out, code = command("show", cta, "--variant", "tigr")
	require.Equal(t, exitUsage, code)
	require.Contains(t, out, "expected own, graphit, sep-graph or gunrock")
	out, code = command("show", "pagerank_edge", "--threads", "33")
	require.Equal(t, exitUsage, code)
	require.Contains(t, out, "4 warps of 33 threads: expected 1..64 of 1..32")
	const vectors = "spmm/vertex/csc/pull/counter"
	require.NotEqual(t, show("show", vectors, "--asm"), show("show", vectors, "--asm", "--width", "8"))
	out, code = command("show", vectors, "--width", "12")
	require.Equal(t, exitUsage, code)
	require.Contains(t, out, "--width 12: expected a power of two, 1..256")
	choices := show("choices")
	for _, key := range []string{"algorithm", "schedule", "layout", "direction", "frontier", "frontier.dedup", "order"} {
		require.Contains(t, choices, "workload."+key)
	}
	require.Regexp(t, `workload.schedule +│ eghw +│ \S+`, choices)
	out, code = command("show", "nothing")
	require.Equal(t, exitUsage, code)
	require.Contains(t, out, `no kernel "nothing" (heddle kernel list names all)`)
}
