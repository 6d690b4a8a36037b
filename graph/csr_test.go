package graph

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files that GAPBS, Ligra and Galois have written are the graph that they were given.
func TestFilesOfOtherSimulators(t *testing.T) {
	for file, of := range map[string]string{
		"karate.sg": "karate", "karate.adj": "karate", "karate.wsg": "karate", "karate.wadj": "karate",
		"directed.sg": "directed", "directed.adj": "directed", "directed.wsg": "directed", "directed.wadj": "directed",
		"directed.void.gr": "directed", "directed.int.gr": "directed", "directed.int64.gr": "directed", "directed.v2.gr": "directed", "directed.v2unpadded.gr": "directed",
	} {
		plain := slices.Contains([]string{"karate.sg", "karate.adj", "directed.sg", "directed.adj", "directed.void.gr"},
			file)
		want := readFixture(t, of+".mtx", ReadOptions{SkipWeights: plain})
		g := readFixture(t, file, ReadOptions{})
		require.Equal(t, list(want), list(g), file)
		require.Equal(t, want.Hash(), g.Hash(), file)
		require.Equal(t, !plain, g.Record.FileWeights, file)
		require.Empty(t, g.Record.Warnings, file)
		unweighted := readFixture(t, of+".mtx", ReadOptions{SkipWeights: true})
		require.Equal(t, unweighted.Hash(), readFixture(t, file, ReadOptions{SkipWeights: true}).Hash(), file)
	}
	ints := readFixture(t, "directed.mtx", ReadOptions{})
	for _, file := range []string{"directed.float.gr", "directed.double.gr"} {
		g := readFixture(t, file, ReadOptions{FloatWords: true})
		require.Equal(t, FloatWeights, g.WeightKind())
		require.Equal(t, list(ints), list(g), file)
	}
	g := readFixture(t, "directed.float.gr", ReadOptions{})
	require.Equal(t, []string{"as integers all weights are above 8388608 or below -8388608, and as floats they would be " +
		"ordinary numbers: weights.words: float takes them for that"}, g.Record.Warnings)
	_, err := Read("g.gr", bytes.NewReader(fixture(t, "directed.double.gr")), ReadOptions{})
	require.ErrorContains(t, err, "expected the weight of an edge, an integer of 32 bits (weights.words selects, "+
		"weights.from: unit ignores them)")
}

// Galois and DIMACS share an ending, and are told apart by their contents.
func TestTwoKindsOfGr(t *testing.T) {
	require.Equal(t, "Galois", readFixture(t, "directed.int.gr", ReadOptions{}).Record.Format)
	require.Equal(t, "DIMACS", read(t, "g.gr", "p sp 2 1\na 1 2 3\n").Record.Format)
	for _, name := range []string{"g", "g.txt"} {
		g, err := Read(name, bytes.NewReader(fixture(t, "directed.int.gr")), ReadOptions{})
		require.NoError(t, err)
		require.Equal(t, "Galois", g.Record.Format)
	}
	_, err := Read("g", bytes.NewReader(fixture(t, "karate.sg")), ReadOptions{})
	require.ErrorContains(t, err, "g: this looks like a graph serialized by GAPBS, whose format does not state whether "+
		"it has weights: expected a name that ends in .sg or .wsg")
}

// words writes numbers in little-endian: 64 bits for int, 32 for uint32, 8 for byte.
func words(list ...any) string {
	var b []byte
	for _, w := range list {
		switch w := w.(type) {
		case byte:
			b = append(b, w)
		case uint32:
			b = binary.LittleEndian.AppendUint32(b, w)
		case int:
			b = binary.LittleEndian.AppendUint64(b, uint64(w))
		case float32:
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(w))
		}
	}
	return string(b)
}

func TestCSRErrors(t *testing.T) {
	const u, d, f = byte(0), byte(1), uint32(1)
	z := uint32(0)
	for _, c := range []struct{ file, contents, says string }{
		{"g.sg", "0 1\n", "g.sg:1: expected the header of a graph that GAPBS has serialized, as the file's name ends in .sg"},
		{"g.sg", words(u, 2, 2, 0, 1, 2, f, z), ""},
		{"g.sg", words(u, 1<<30, 2, 0), "g.sg: at byte 1: expected the number of edges, at most 536870912; found 1073741824"},
		{"g.sg", words(u, 2, 1<<28, 0), "g.sg: at byte 9: expected the number of vertices, at most 134217728; found 268435456"},
		{"g.sg", words(u, 2, 2, 0, 1, 3, f, z), "g.sg: at byte 33: expected where the edges of vertex 2 begin, from 0 to 2, no less than for the vertex before; found 3"},
		{"g.sg", words(u, 2, 2, 0, 1, 1, f, z), "g.sg: at byte 33: expected where the edges of vertex 2 begin"},
		{"g.sg", words(u, 2, 3, 0, 2, 1, 2, f, z), "g.sg: at byte 33: expected where the edges of vertex 2 begin"},
		{"g.sg", words(u, 2, 2, 0, 1), "g.sg: at byte 33: expected where the edges of a vertex begin, 8 bytes; the file ends after 0"},
		{"g.sg", words(u, 2, 2, 0, 1, 2, f, uint32(2)), "g.sg: at byte 45: expected the other end of an edge, a vertex below 2; found 2"},
		{"g.sg", words(u, 2, 2, 0, 1, 2, f), "g.sg: at byte 45: expected the other end of an edge, 4 bytes; the file ends after 0"},
		{"g.sg", words(u, 2, 2, 0, 1, 2, f, z, f, z), "g.sg: at byte 49: expected the end of the file, as it has all that its header says (is it a .wsg, with weights?)"},
		{"g.wsg", words(u, 2, 2, 0, 1, 2, f, z, z, f), ""},
		{"g.wsg", words(u, 2, 2, 0, 1, 2, f, z, f, z), ""},
		{"g.wsg", words(u, 2, 2, 0, 1, 2, f, z, z), "g.wsg: at byte 53: expected the weight of an edge, 4 bytes; the file ends after 0"},
		{"g.sg", words(d, 1, 2, 0, 1, 1, f, 0, 0, 1, z), ""},
		{"g.sg", words(d, 1, 2, 0, 1, 1, f, 0, 1, 1, z), "g.sg: the edges that enter vertices are not those that leave them: the file is damaged"},
		{"g.sg", words(d, 1, 2, 0, 1, 1, f), "g.sg: at byte 45: expected where the edges of a vertex begin"},

		{"g.gr", words(1, 0, 2, 2, 1, 2, f, z), ""},
		{"g.gr", words(3, 0, 2, 2, 1, 2, f, z), "g.gr: expected c (comment) and p (problem) lines first, or the header of a Galois graph, as the file's name ends in .gr; found binary data (first bytes 03 00 00 00 00 00 00 00)"},
		{"g.gr", words(1, 12, 2, 2, 1, 2, f, z), "g.gr: at byte 8: expected edge data of 0, 4 or 8 bytes; found 12 (weights.from: unit ignores them)"},
		{"g.gr", words(1, 4, 1<<28, 2, 1, 2, f, z), "g.gr: at byte 16: expected the number of vertices, at most 134217728; found 268435456"},
		{"g.gr", words(1, 4, 2, 1<<30, 1, 2, f, z), "g.gr: at byte 24: expected the number of edges, at most 536870912; found 1073741824"},
		{"g.gr", words(1, 0, 2, 2, 1, 1, f, z), "g.gr: at byte 40: expected where the edges of vertex 1 end, up to 2, no less than for the vertex before; found 1"},
		{"g.gr", words(1, 0, 2, 2, 3, 2, f, z), "g.gr: at byte 32: expected where the edges of vertex 0 end, up to 2"},
		{"g.gr", words(1, 0, 2, 2, 1, 2, f, uint32(2)), "g.gr: at byte 52: expected the other end of an edge, a vertex below 2; found 2"},
		{"g.gr", words(2, 0, 2, 2, 1, 2, 1, 1<<32), "g.gr: at byte 56: expected the other end of an edge, a vertex below 2; found 4294967296"},
		{"g.gr", words(2, 0, 2, 2, 1, 2, 1, 0), ""},
		{"g.gr", words(1, 0, 2, 2, 1, 2, f, z, f), "g.gr: at byte 56: expected the end of the file"},
		{"g.gr", words(1, 4, 2, 1, 1, 1, f, z, uint32(7)), ""},
		{"g.gr", words(1, 4, 2, 1, 1, 1, f, z), "g.gr: at byte 56: expected the data of an edge, 4 bytes; the file ends after 0"},
		{"g.gr", words(1, 0, 2, 1, 1, 1, f), ""},
		{"g.gr", words(1, 0, 2, 1, 1, 1, f, z), ""},
		{"g.gr", words(2, 4, 2, 1, 1, 1, 1, 0, uint32(7)), ""},
		{"g.gr", words(2, 4, 2, 1, 1, 1, 1, uint32(7)), ""},
		{"g.gr", words(2, 4, 2, 1, 1, 1, 1, 7), "g.gr: at byte 56: expected 8 bytes of padding or none and 4 of data; found 8"},
		{"g.gr", words(2, 4, 2, 1, 1, 1, 1, 7, 7), "found 12 and more"},
		{"g.gr", words(1, 8, 2, 2, 1, 2, f, z, 5, 1<<31), "g.gr: at byte 64: expected the weight of an edge, an integer of 32 bits"},
		{"g.gr", words(1, 0, 0, 0), "g.gr: no vertices"},
		{"g.gr", words(1, 0, 1<<27, 0) + strings.Repeat("\x00", 1<<12), "expected where the edges of a vertex end, 8 bytes; the file ends after 0"},

		{"g.adj", "AdjacencyGraph\n3\n3\n0\n1\n1\n1\n0 \n2\n", ""},
		{"g.adj", "AdjacencyGraph", "g.adj:1: expected a vertex number"},
		{"g.adj", "AdjacencyGraph\n", "g.adj:2: expected the number of vertices, at most 2^27; found the end of the file"},
		{"g.adj", "AdjacencyGraph\n-3\n", `g.adj:2: expected the number of vertices, at most 2^27; found "-3"`},
		{"g.adj", "AdjacencyGraph\n3\n536870913\n", `g.adj:3: expected the number of edges, at most 2^29; found "536870913"`},
		{"g.adj", "AdjacencyGraph\n2\n2\n1\n1\n0\n1\n", "g.adj:4: expected where the edges of a vertex begin: 0 for the first"},
		{"g.adj", "AdjacencyGraph\n3\n2\n0\n2\n1\n0\n1\n", "g.adj:6: expected where the edges of a vertex begin: 0 for the first, then no less than for the vertex before and no more than there are edges; found 1 for vertex 2"},
		{"g.adj", "AdjacencyGraph\n2\n2\n0\n3\n", `g.adj:5: expected where the edges of a vertex begin: 0 for the first, then no less than for the vertex before and no more than there are edges; found "3"`},
		{"g.adj", "AdjacencyGraph\n2\n2\n0\n1\n1\n2\n", `g.adj:7: expected the other end of an edge: a vertex, from 0, below the number of vertices; found "2"`},
		{"g.adj", "AdjacencyGraph\n2\n2\n0\n1\n1\n", "g.adj:7: the file ends after 1 of 2 edges"},
		{"g.adj", "AdjacencyGraph\n2\n1\n0\n1\n1\n0\n", `g.adj:7: expected the end of the file, as it has all that its first lines say; found "0"`},
		{"g.adj", "WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n5\n-7\n", ""},
		{"g.adj", "WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n5\n", "g.adj:9: the file ends after 1 of 2 weights"},
		{"g.adj", "WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n5\nx\n", `g.adj:9: expected a weight: an integer of 32 bits, or a finite decimal number; found "x"`},
		{"g.adj", "AdjacencyGraph 0 0", "g.adj: no vertices"},
		{"g.adj", "AdjacencyGraph 0 1 0", "g.adj: no vertices"},
		{"g.adj", "AdjacencyHypergraph\n1\n", "g.adj: this looks like a Ligra hypergraph"},
	} {
		_, err := Read(c.file, strings.NewReader(c.contents), ReadOptions{})
		if c.says == "" {
			require.NoError(t, err, "%q", c.contents)
			continue
		}
		require.ErrorAs(t, err, new(*ParseError), "%q", c.contents)
		require.ErrorContains(t, err, c.says, "%q", c.contents)
	}
}

// Sizes claimed by a header are not allocated before the data have been read.
func TestCSRHeadersAreNotBelieved(t *testing.T) {
	for name, contents := range map[string]string{
		"g.sg": words(byte(0), 1<<29, 1<<27, 0), "g.wsg": words(byte(1), 1<<29, 1<<27, 0), "g.gr": words(1, 4, 1<<27, 1<<29, 1<<29), "h.gr": words(2, 8, 1, 1<<29-1, 1<<29-1, 0),
		"g.adj": "AdjacencyGraph\n134217728\n536870912\n0\n", "g.graph": "134217728 268435456 111 1024\n1\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(name, strings.NewReader(contents), ReadOptions{})
		runtime.ReadMemStats(&after)
		require.ErrorAs(t, err, new(*ParseError), name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), name)
	}
}

// Any cut and any changed byte of a file is an error of ours, or another graph.
func TestDamagedCSR(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	for _, name := range []string{"directed.sg", "karate.wsg", "directed.int.gr", "directed.v2.gr", "directed.void.gr",
		"directed.wadj"} {
		whole := fixture(t, name)
		padded := len(whole)
		if name == "directed.void.gr" {
			padded -= 4 // padding that nothing follows may be missing
		}
		for n := range padded {
			if name == "directed.wadj" && n >= len(whole)-2 {
				break // the last number's digits
			}
			if name == "directed.v2.gr" && n == len(whole)-8 {
				continue // the padding is the data then
			}
			_, err := Read(name, bytes.NewReader(whole[:n]), ReadOptions{})
			require.ErrorAs(t, err, new(*ParseError), "%s cut to %d", name, n)
		}
		for range 300 {
			damaged := bytes.Clone(whole)
			damaged[random.IntN(len(whole))] ^= 1 << random.IntN(8)
			if g, err := Read(name, bytes.NewReader(damaged), ReadOptions{}); err != nil {
				require.ErrorAs(t, err, new(*ParseError))
			} else {
				checkCanonical(t, g)
			}
		}
	}
}

func FuzzReadGAPBS(f *testing.F) {
	fuzzRead(f, "g.sg", ".txt", string(fixture(f, "directed.sg")), string(fixture(f, "karate.sg")),
		words(byte(1), 1, 2, 0, 1, 1, uint32(1), 0, 0, 1, uint32(0)))
}

func FuzzReadWeightedGAPBS(f *testing.F) {
	fuzzRead(f, "g.wsg", ".txt", string(fixture(f, "directed.wsg")),
		words(byte(0), 2, 2, 0, 1, 2, uint32(1), uint32(0), uint32(0), uint32(1)))
}

func FuzzReadGalois(f *testing.F) {
	fuzzRead(f, "g.galois", ".txt", string(fixture(f, "directed.int.gr")), string(fixture(f, "directed.v2unpadded.gr")),
		words(1, 8, 2, 1, 1, 1, uint32(1), uint32(0), 7), words(2, 4, 2, 1, 1, 1, 1, 0, uint32(7)))
}

func FuzzReadLigra(f *testing.F) {
	fuzzRead(f, "g.adj", ".txt", string(fixture(f, "directed.wadj")), "AdjacencyGraph\n3\n3\n0\n1\n1\n1\n0 \n2\n",
		"WeightedAdjacencyGraph 2 1 0 0 1 .5")
}
