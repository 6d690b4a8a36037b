package graph

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/kernels/graph/graphspec"
)

// What is written is read as the same graph, whatever the format.
func TestWriteThenRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plain": "# Nodes: 9\n1 2\n8 8\n1 2\n", "integers": "# Nodes: 4\n1 2 -5\n0 3 2147483647\n3 1 -2147483648\n",
		"floats": "1 2 3.0\n0 3 1e-9\n3 1 -16777217.5\n",
	} {
		g := read(t, "g.txt", text)
		g.Record.Source = "evil\n# Nodes: 77 Edges: 78\nname"
		for _, ext := range []string{".txt", ".mtx", ".gr", ".edges.gz", ".mtx.gz", ".GR.gz"} {
			file := filepath.Join(dir, name+ext)
			err := g.WriteFile(t.Context(), file)
			if name == "floats" && strings.HasPrefix(strings.ToLower(ext), ".gr") {
				require.ErrorContains(t, err, "the weights are no integers")
				require.NoFileExists(t, file)
				continue
			}
			require.NoError(t, err)
			again, err := Load(graphspec.Graph{File: file})
			require.NoError(t, err)
			require.Empty(t, again.Record.Warnings)
			if name == "plain" && strings.HasPrefix(strings.ToLower(ext), ".gr") {
				again.weigh(graphspec.Weights{From: graphspec.UnitWeights}) // DIMACS has no edges without
			}
			require.Equal(t, list(g), list(again), ext)
			require.Equal(t, g.Hash(), again.Hash(), ext)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, read(t, "g", "0 1\n").WriteFile(ctx, filepath.Join(dir, "interrupted.txt")), context.Canceled)
	require.NoFileExists(t, filepath.Join(dir, "interrupted.txt"))
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, left, "temporary files")
	require.Error(t, read(t, "g", "0 1\n").WriteFile(t.Context(), filepath.Join(dir, "none", "g.txt")))
}

func TestHashIsOfTheContent(t *testing.T) {
	base := read(t, "g.txt", "0 1\n1 2\n2 0\n").Hash()
	require.Equal(t, base, read(t, "g.txt", "2 0\n0 1\n1 2").Hash())
	require.Equal(t, base, read(t, "g.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n2 3\n1 2\n3 1\n").Hash())
	for _, other := range []string{"0 1\n1 2\n0 2\n", "# Nodes: 4\n0 1\n1 2\n2 0\n", "0 1 1\n1 2 1\n2 0 1\n", "0 1\n1 2\n2 0\n2 0\n"} {
		require.NotEqual(t, base, read(t, "g.txt", other).Hash(), other)
	}
	require.NotEqual(t, read(t, "g.txt", "0 1 1065353216\n").Hash(), read(t, "g.txt", "0 1 1.0\n").Hash(), "the same words, another kind")
}
