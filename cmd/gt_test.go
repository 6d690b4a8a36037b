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
	require.NoError(t, os.WriteFile(file, []byte("element V end\nfunc main()\nprint 1+2;\nend\n"), 0o644))
	_, stderr, code := heddle(t, "gt", "check", file)
	require.Equal(t, 0, code, stderr)
	out, _, code := heddle(t, "gt", "fmt", "-l", file)
	require.Equal(t, 1, code)
	require.Equal(t, file+"\n", out)
	_, stderr, code = heddle(t, "gt", "fmt", "-w", file)
	require.Equal(t, 0, code, stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "element V end\nfunc main()\n    print 1 + 2;\nend\n", string(text))
	require.NoError(t, os.WriteFile(file, []byte("func main() print x; end"), 0o644))
	_, stderr, code = heddle(t, "gt", "check", file)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, file+":1:19: there is no x")
}

// TestGtRun: a program runs, on time or without, and its summary and vectors are there.
func TestGtRun(t *testing.T) {
	dir := t.TempDir()
	saved, small := filepath.Join(dir, "label.txt"), filepath.Join(dir, "small.txt")
	require.NoError(t, os.WriteFile(small, []byte("0 1\n1 2\n2 0\n3 0\n"), 0o644))
	out, stderr, code := heddle(t, "gt", "run", "cc", small, "--symmetrise", "--untimed", "--json", "--save", "label="+saved)
	require.Equal(t, 0, code, stderr)
	var s gtResult
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	require.True(t, s.Verified)
	require.Equal(t, []string{"loop:step/vertex/csr/push/queue+monotonic"}, s.Plans)
	text, err := os.ReadFile(saved)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("0\n", 4), string(text))
	_, stderr, code = heddle(t, "gt", "run", "bfs", small, "0", "--symmetrise", "--machine", "vortex-1c4w4t", "--workload", "schedule=cta")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stderr, "verified: all vectors are the reference's")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"bfs", small, "0"}, "choose one: --untimed, or --machine"},
		{[]string{"bfs", small, "--untimed"}, "bfs:17:33: the program asks for argv[2]"},
		{[]string{"bfs", small, "99", "--untimed"}, "addVertex(99): the graph has vertices 0 to 3"},
		{[]string{"bfs", small, "0", "--untimed", "--workload", "schedule=sideways"}, "schedule"},
		{[]string{"bfs", small, "0", "--untimed", "--workload", "source=3"}, "expected a key that says how operators run"},
		{[]string{"bfs", small, "0", "--untimed", "--save", "rank=x"}, "the program has no vector rank"},
		{[]string{"nothing.gt", small, "0", "--untimed"}, "nothing.gt"},
	} {
		_, stderr, code := heddle(t, append([]string{"gt", "run"}, c.args...)...)
		require.Equal(t, 2, code, stderr)
		require.Contains(t, stderr, c.says)
	}
}

// TestGtCPU: programs run on the host, and stand alone in Go.
func TestGtCPU(t *testing.T) {
	dir := t.TempDir()
	small, saved, source := filepath.Join(dir, "small.txt"), filepath.Join(dir, "label.txt"), filepath.Join(dir, "cc.go")
	require.NoError(t, os.WriteFile(small, []byte("0 1\n1 2\n2 0\n3 0\n"), 0o644))
	out, stderr, code := heddle(t, "gt", "run", "cc", small, "--symmetrise", "--cpu", "--threads", "2", "--json", "--save", "label="+saved)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, out, `"verified": true`)
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
		{[]string{"run", "cc", small, "--untimed", "--no-check"}, "expected it with --cpu"},
		{[]string{"run", "cc", small, "--swarm"}, "there is no backend for Swarm"},
		{[]string{"build", "cc", "--swarm", "-o", source}, "there is no backend for Swarm"},
		{[]string{"build", "cc", "-o", source}, "expected --cpu"},
		{[]string{"build", "cc", "--cpu"}, "expected -o FILE"},
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
	out, stderr, code = heddle(t, "gt", "list", "bfs")
	require.Equal(t, 0, code, stderr)
	require.True(t, strings.HasPrefix(out, "% Breadth-first search"))
}
