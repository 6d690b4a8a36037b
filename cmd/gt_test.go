package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGtCheckAndFmt(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.gt")
	begin := "element V end\nelement E end\nconst edges : edgeset{E}(V, V) = load(argv[1]);\n"
	body := "func f(src : V, dst : V)\nend\nfunc main()\nprint 1+2;\nedges.apply(f);\nend\n"
	require.NoError(t, os.WriteFile(file, []byte("\uFEFF"+begin+body), 0o644))
	_, stderr, code := heddle(t, "gt", "check", file)
	require.Equal(t, 0, code, stderr)
	out, _, code := heddle(t, "gt", "fmt", "-l", file)
	require.Equal(t, 1, code)
	require.Equal(t, file+"\n", out)
	_, stderr, code = heddle(t, "gt", "fmt", "-w", file)
	require.Equal(t, 0, code, stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, begin+"func f(src : V, dst : V)\nend\nfunc main()\n    print 1 + 2;\n    edges.apply(f);\nend\n",
		string(text))
	require.NoError(t, os.WriteFile(file, []byte("func main() print x; end"), 0o644))
	_, stderr, code = heddle(t, "gt", "check", file)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, file+":1:19: there is no x")
}

// TestGtRefused: a program whose numbers do not fit, or that does not end, is refused on every machine and before it is
// simulated, as are settings that have no meaning, by gt check too.
func TestGtRefused(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		return file
	}
	far, falls := write("far.wel", "0 1 2000000000\n1 2 2000000000\n2 3 5\n"),
		write("falls.wel", "0 1 5\n1 2 -3\n2 0 -4\n")
	top := write("top.wel", "0 1 2147483647\n1 2 1\n")
	point := write("point.yaml", "name: point\nmachine: vortex-1c4w4t\ngraph: {file: "+far+
		"}\nworkload: {program: sssp.gt, arguments: [\"0\"]}\n")
	ends := write("ends.gt", "element V end\nelement E end\nconst edges : edgeset{E}(V, V) = load(argv[1]);\nconst "+
		"vertices : vertexset{V} = edges.getVertices();\n"+
		"const a : vector{V}(int) = 0;\nfunc f(v : V)\n    while a[v] < 10\n        a[v] += 1;\n    end\nend\nfunc "+
		"main()\n    vertices.apply(f);\nend\n")
	block := write("block.gt", "SimpleGPUSchedule s;\ns.configLoadBalance(EDGE_ONLY, BLOCKED, "+
		"1099511627776);\nprogram->applyGPUSchedule(\"loop:step\", s);\n")
	label := write("label.gt", "SimpleGPUSchedule s;\nprogram->applyGPUSchedule(\"nowhere\", s);\n")
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"gt", "run", "sssp", far, "0", "--functional"}, 2, "distance[src] + weight, of 2000000000 and 2000000000, is 4000000000: an int holds"},
		{[]string{"gt", "run", "sssp", far, "0", "--machine", "vortex-1c4w4t"}, 2, "(edge from vertex 1 to 2)"},
		{[]string{"gt", "run", "delta_stepping", far, "0", "--cpu"}, 2, "is 4000000000: an int holds"},
		{[]string{"gt", "run", "sssp", top, "0", "--functional"}, 2, "distance[1] min= 2147483647, from vertex 0: that is the greatest int, which reads as not reached"},
		{[]string{"gt", "run", "sssp", falls, "0", "--functional"}, 3, "distance falls for ever: the weights along the cycle"},
		{[]string{"run", point, "--out", dir}, 1, "sssp.gt:8:38: distance[src] + weight"},
		{[]string{"gt", "run", ends, far, "--functional", "--max-cycles", "100"}, 3, "instruction limit reached: 100 warp instructions"},
		{[]string{"gt", "run", ends, far, "--functional", "--max-cycles", "1000000"}, 0, "verified"},
		{[]string{"gt", "run", "cc", far, "--functional", "--threads", "0"}, 2, "--threads 0: expected 1 or more"},
		{[]string{"gt", "run", "cc", far, "--functional", "--max-steps", "-1"}, 2, "--max-steps -1: expected 0 or more"},
		{[]string{"gt", "run", "cc", far, "--functional", "--set", "core.warps=8"}, 2, "choose one: --functional, or --set"},
		{[]string{"gt", "run", "cc", far, "--functional", "--save", "label=" + dir}, 2, "is a directory"},
		{[]string{"gt", "build", "cc", "--cpu", "-o", dir}, 2, "is a directory: expected the name of a file"},
		{[]string{"gt", "build", "cc", "--cpu", "-o", dir + "/new/"}, 2, "is a directory: expected the name of a file"},
		{[]string{"gt", "build", "cc", "--cpu", "-o", dir + "/new/cc"}, 2, "there is no directory " + dir + "/new"},
		{[]string{"gt", "run", "cc", far, "--functional", "--save", "label=" + dir + "/new/cc"}, 2, "there is no directory " + dir + "/new"},
		{[]string{"gt", "run", "sssp", far, "0", "--functional", "--schedule", block}, 2, "block.gt:2:3: configLoadBalance: the vertices of a block of loop:step: expected a whole number from 1 to 134217728"},
		{[]string{"gt", "check", ends, "--schedule", block}, 2, "block.gt:2:3: configLoadBalance: the vertices of a block"},
		{[]string{"gt", "check", ends, "--schedule", label}, 2, "label.gt:2:10: there is no statement nowhere"},
		{[]string{"gt", "check", ends}, 0, ""},
		{[]string{"gt", "check", ends, "--cpu"}, 0, ""},
	} {
		_, stderr, code := heddle(t, c.args...)
		require.Equal(t, c.code, code, "%v: %s", c.args, stderr)
		require.Contains(t, stderr, c.says, c.args)
	}
}

// TestGtFusedHasNoCheckpoints: where a checkpoint is due in a loop that is one launch, the user is told that there are
// none.
func TestGtFusedHasNoCheckpoints(t *testing.T) {
	dir := t.TempDir()
	point := filepath.Join(dir, "point.yaml")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "g.txt"), []byte("0 1\n1 2\n2 0\n3 0\n"), 0o644))
	require.NoError(t, os.WriteFile(point, []byte("name: point\nmachine: vortex-1c4w4t\ngraph: {file: "+dir+
		"/g.txt, clean: {symmetrise: true}}\nworkload: {program: bfs.gt, arguments: [\"0\"]}\ncompare:\n  - {name: own}\n"+
		"  - {name: fused, schedules: {loop: {kernel_fusion: ENABLED}}}\n"), 0o644))
	_, stderr, code := heddle(t, "run", point, "--out", dir, "--checkpoint", "1ns")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, 1, strings.Count(stderr, "warning: no checkpoints: the loop loop is one launch"), stderr)
}

// TestGtRun: a program runs, on time or without, and its summary and vectors are there.
func TestGtRun(t *testing.T) {
	dir := t.TempDir()
	saved, small := filepath.Join(dir, "label.txt"), filepath.Join(dir, "small.txt")
	require.NoError(t, os.WriteFile(small, []byte("0 1\n1 2\n2 0\n3 0\n"), 0o644))
	out, stderr, code := heddle(t, "gt", "run", "cc", small, "--symmetrise", "--functional", "--json", "--save",
		"label="+saved)
	require.Equal(t, 0, code, stderr)
	var s gtResult
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	require.True(t, s.Verified)
	require.Equal(t, []string{"loop:step/vertex/csr/push/queue+monotonic"}, s.Plans)
	text, err := os.ReadFile(saved)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("0\n", 4), string(text))
	_, stderr, code = heddle(t, "gt", "run", "bfs", small, "0", "--symmetrise", "--machine", "vortex-1c4w4t",
		"--workload", "schedule=cta")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stderr, "verified: all vectors are the reference's")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"bfs", small, "0"}, "choose one: --functional, or --machine"},
		{[]string{"bfs", small, "--functional"}, "bfs:17:33: the program asks for argv[2]"},
		{[]string{"bfs", small, "99", "--functional"}, "addVertex(99): the graph has vertices 0 to 3"},
		{[]string{"bfs", small, "0", "--functional", "--workload", "schedule=sideways"}, "schedule"},
		{[]string{"bfs", small, "0", "--functional", "--workload", "source=3"}, "expected a key of how operators run"},
		{[]string{"bfs", small, "0", "--functional", "--save", "rank=x"}, "the program has no vector rank"},
		{[]string{"nothing.gt", small, "0", "--functional"}, "nothing.gt"},
	} {
		_, stderr, code := heddle(t, append([]string{"gt", "run"}, c.args...)...)
		require.Equal(t, 2, code, stderr)
		require.Contains(t, stderr, c.says)
	}
}

// TestGtCPU: programs run on the host, and stand alone in Go.
func TestGtCPU(t *testing.T) {
	dir := t.TempDir()
	small, saved, source := filepath.Join(dir, "small.txt"), filepath.Join(dir, "label.txt"),
		filepath.Join(dir, "cc.go")
	require.NoError(t, os.WriteFile(small, []byte("0 1\n1 2\n2 0\n3 0\n"), 0o644))
	out, stderr, code := heddle(t, "gt", "run", "cc", small, "--symmetrise", "--cpu", "--threads", "2", "--json",
		"--save", "label="+saved)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, out, `"verified": true`)
	require.NotContains(t, stderr, "--no-check")
	_, stderr, code = heddle(t, "gt", "run", "cc", small, "--symmetrise", "--cpu", "--no-check")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stderr, "heddle: --no-check: nothing has been verified; integers of more than 32 bits, which "+
		"are refused without it, have wrapped")
	text, err := os.ReadFile(saved)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("0\n", 4), string(text))
	_, stderr, code = heddle(t, "gt", "build", "cc", "--cpu", "-o", source)
	require.Equal(t, 0, code, stderr)
	text, err = os.ReadFile(source)
	require.NoError(t, err)
	require.Contains(t, string(text), "package main")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"run", "cc", small, "--cpu", "--machine", "vortex-1c4w4t"}, "choose one: --cpu, or --machine"},
		{[]string{"run", "cc", small, "--functional", "--no-check"}, "expected it with --cpu"},
		{[]string{"run", "cc", small, "--swarm"}, "--machine swarm-16c"},
		{[]string{"build", "cc", "--swarm", "-o", source}, "--machine swarm-16c"},
		{[]string{"build", "cc", "-o", source}, "expected --cpu, or --cuda DIR"},
		{[]string{"build", "cc", "--cpu"}, "expected -o FILE"},
		{[]string{"build", "cc", "--cpu", "--cuda", "x"}, "choose one: --cpu or --cuda DIR"},
		{[]string{"build", "cc", "--cpu", "-o", source, "--no-check"}, "choose one: --cpu, or --no-check"},
		{[]string{"build", "cc", "g.hgr", "--cpu", "-o", source}, "expected FILE alone"},
		{[]string{"build", "cc", "-o", source, "--cuda", "x"}, "choose one: -o FILE, of --cpu, or --cuda DIR"},
		{[]string{"build", "cc", "--cuda", "x", "--machine", "vortex-1c4w4t"}, "machine.core.threads = 4: CUDA's warps"},
		{[]string{"build", "cc", "--cuda", "x", "--workload", "schedule=peg"}, "needs the graph unit peg"},
		{[]string{"run", "bfs", small, "99", "--cpu"}, "addVertex(99): the graph has vertices 0 to 3"},
	} {
		_, stderr, code := heddle(t, append([]string{"gt"}, c.args...)...)
		require.Equal(t, 2, code, stderr)
		require.Contains(t, stderr, c.says)
	}
}

func TestGtShow(t *testing.T) {
	out, stderr, code := heddle(t, "gt", "show", "bfs", "--go")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, out, "v_parent[int32(d)] = int32(s)")
	_, stderr, code = heddle(t, "gt", "show", "bfs", "--go", "--passes")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "choose one")
	out, stderr, code = heddle(t, "gt", "show", "bfs", "--ir", "--passes")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, out, "% after liveness")
	require.Contains(t, out, "can_reuse_frontier=true")
	out, _, code = heddle(t, "gt", "list", "--columns", "400")
	require.Zero(t, code)
	require.Contains(t, out, "and pointers jump until none changes. ", "a sentence over two lines")
	require.NotContains(t, out, "Edges must be there", "the second one")
	out, stderr, code = heddle(t, "gt", "list", "bfs")
	require.Equal(t, 0, code, stderr)
	require.True(t, strings.HasPrefix(out, "% Breadth-first search"))
}
