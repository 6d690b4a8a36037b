package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGtBuildCUDA: a folder has everything that make needs, the reference result where there is a graph, and
// the program alone where there is none. An experiment's point becomes the same program.
func TestGtBuildCUDA(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("g.txt", []byte("0 1\n1 2\n2 3\n3 0\n"), 0o644))
	out, errs, code := heddle(t, "gt", "build", "bfs", "g.txt", "0", "--symmetrise", "--cuda", "p")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "p: bfs\n  loop:step/vertex/csr/push/queue+none\nto build and run on a GPU: make -C p")
	for _, name := range []string{"program.cu", "heddle.h", "graphit.h", "cuda_on_host.h", "Makefile", "graph.hgr",
		"expected.bin"} {
		require.FileExists(t, filepath.Join("p", name))
	}
	_, errs, code = heddle(t, "gt", "build", "bfs", "--cuda", "q")
	require.Equal(t, exitOK, code, errs)
	require.NoFileExists(t, filepath.Join("q", "graph.hgr"))
	_, errs, code = heddle(t, "gt", "build", "bfs", "g.txt", "7", "--cuda", "r")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "addVertex(7): the graph has vertices 0 to 3")
	require.NoDirExists(t, "r", "nothing is written where nothing can be expected")

	require.NoError(t, os.WriteFile("e.yaml", []byte("name: e\nmachine: vortex-6c32w32t\ngraph: {file: g.txt, clean: "+
		"{symmetrise: true}}\nworkload: {program: bfs.gt, arguments: [\"0\"]}\n"), 0o644))
	_, errs, code = heddle(t, "kernel", "export", "e.yaml", "--cuda", "e")
	require.Equal(t, exitOK, code, errs)
	for _, name := range []string{"graph.hgr", "expected.bin"} {
		want, err := os.ReadFile(filepath.Join("p", name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join("e", name))
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
}
