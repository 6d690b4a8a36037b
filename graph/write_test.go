package graph

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph/graphspec"
)

// A written graph is read as the same graph, whatever the format; properties that a format cannot represent are
// refused.
func TestWriteThenRead(t *testing.T) {
	dir := t.TempDir()
	graphs := map[string]string{
		"plain": "# Nodes: 9\n1 2\n8 8\n1 2\n", "integers": "# Nodes: 4\n1 2 -5\n0 3 2147483647\n3 1 -2147483648\n",
		"floats": "1 2 3.0\n0 3 1e-9\n3 1 -16777217.5\n", "symmetric": "# Nodes: 5\n0 1\n1 0\n1 3\n3 1\n", "positive": "# Nodes: 5\n0 1 7\n1 0 7\n1 3 9\n3 1 9\n",
	}
	refused := map[string]map[string]string{
		".gr":    {"floats": "the weights are no integers"},
		".graph": {"floats": "the weights are no integers", "plain": "vertex 1 has two edges to 2", "integers": "METIS's weights are above 0"},
		".sg":    {"integers": "a .sg has no weights", "floats": "a .sg has no weights", "positive": "a .sg has no weights"},
		".wsg":   {"plain": "the edges have none", "symmetric": "the edges have none", "floats": "the edges have float"},
	}
	refused[".metis"] = refused[".graph"]
	for name, text := range graphs {
		g := read(t, "g.txt", text)
		g.Record.Source = "evil\n# Nodes: 77 Edges: 78\nname"
		for _, ext := range []string{
			".txt", ".mtx", ".gr", ".txt.gz", ".mtx.gz", ".GR.gz", ".hgr", ".hgr.zst", ".graph", ".metis.gz", ".sg", ".wsg", ".WSG.zst", ".csv", ".tsv", ".el", ".wel.zst",
		} {
			file := filepath.Join(dir, name+ext)
			err := g.WriteFile(t.Context(), file)
			plain := filepath.Ext(plainName(file))
			if says := refused[plain][name]; says != "" {
				require.ErrorContains(t, err, says, file)
				require.NoFileExists(t, file)
				continue
			}
			require.NoError(t, err, file)
			again, err := Load(graphspec.Graph{File: file})
			require.NoError(t, err)
			require.Empty(t, again.Record.Warnings)
			if g.kind == NoWeights && plain == ".gr" {
				again.weigh(graphspec.Weights{From: graphspec.UnitWeights}) // DIMACS has no edges without
			}
			require.Equal(t, list(g), list(again), file)
			require.Equal(t, g.Hash(), again.Hash(), file)
		}
	}
	for file, says := range map[string]string{"g.txt.xz": "xz data are read, and not written: expected .gz, .zst",
		"g.bz2": "bzip2 data are read", "g.cites.tab": "LINQS files are read, and not written: expected another ending"} {
		require.ErrorContains(t, CheckOutput(file), file+": "+says)
		require.ErrorContains(t, read(t, "g", "0 1\n").Write(io.Discard, file), says)
	}
	for _, file := range []string{"x.parquet", "x.json.gz", "x.mtx2", "x.v2", "x.PARQUET"} {
		require.ErrorContains(t, CheckOutput(file), file+": nothing is written as .")
		require.ErrorContains(t, CheckOutput(file),
			"expected one of .hgr, .mtx, .gr, .graph, .metis, .sg, .wsg, .csv, .tsv, .el, .wel, .txt, with .gz or .zst")
	}
	for _, file := range []string{"x", "dir.d/x", "x.gz", "x.txt", "x.TXT.gz"} {
		require.NoError(t, CheckOutput(file), file)
	}
	require.ErrorContains(t, read(t, "g", "0 1\n1 1\n").Write(io.Discard, "g.graph"), "vertex 1 has an edge to itself")
	require.ErrorContains(t, read(t, "g", "0 1\n").Write(io.Discard, "g.graph"), "some edges lack their reverse")
	require.ErrorContains(t, read(t, "g", "0 1 4\n1 0 5\n").Write(io.Discard, "g.graph"),
		"some edges lack their reverse")
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
	require.Equal(t, base, read(t, "g.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n"+
		"2 3\n1 2\n3 1\n").Hash())
	for _, other := range []string{"0 1\n1 2\n0 2\n", "# Nodes: 4\n0 1\n1 2\n2 0\n", "0 1 1\n1 2 1\n2 0 1\n",
		"0 1\n1 2\n2 0\n2 0\n"} {
		require.NotEqual(t, base, read(t, "g.txt", other).Hash(), other)
	}
	require.NotEqual(t, read(t, "g.txt", "0 1 1065353216\n").Hash(), read(t, "g.txt", "0 1 1.0\n").Hash(),
		"the same words, another kind")
}
