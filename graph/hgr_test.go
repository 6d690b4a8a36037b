package graph

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph/graphspec"
)

// handmadeHGR lays out a file as docs/reference/graphs.md says, of arrays that need not be a graph.
func handmadeHGR(note string, kind uint32, vertices, edges uint64, arrays ...[]uint32) []byte {
	words := func(b []byte, list []uint32) []byte {
		for _, w := range list {
			b = append(b, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
		}
		return b
	}
	sizes := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, vertices), edges)
	content := append([]byte("heddle-graph-1"), sizes...)
	content = append(content, byte(kind))
	var data []byte
	for _, a := range arrays {
		data = words(data, a)
	}
	hash := sha256.Sum256(append(content, data...))
	head := append([]byte{0x89, 'H', 'G', 'R', '\r', '\n', 0x1a, '\n', 1, 0, 0, 0}, byte(kind), 0, 0, 0)
	head = append(append(head, sizes...), hash[:]...)
	head = append(words(head, []uint32{uint32(len(note))}), note...)
	head = words(head, []uint32{crc32.Checksum(head, crc32.MakeTable(crc32.Castagnoli))})
	return append(head, data...)
}

// TestHGRLayout: files are read and written in the documented layout.
func TestHGRLayout(t *testing.T) {
	data := handmadeHGR("ring", 1, 3, 4, []uint32{0, 2, 3, 4}, []uint32{1, 1, 2, 0}, []uint32{0xFFFFFFFE, 7, 5, 6})
	g, err := Read("a.hgr", bytes.NewReader(data), ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, "0>1:-2 0>1:7 1>2:5 2>0:6", list(g))
	require.Equal(t, "ring", g.Record.Made)
	require.Equal(t, read(t, "g.txt", "# Nodes: 3\n0 1 7\n2 0 6\n1 2 5\n0 1 -2\n").Hash(), g.Hash())

	var b bytes.Buffer
	g.Record.Source, g.Record.Made, g.Record.Weights = "ring", "", "none"
	g.Record.FileWeights = false
	require.NoError(t, g.Write(&b, ".hgr"))
	require.Equal(t, data, b.Bytes())
}

// unsized hides how much there is.
type unsized struct{ io.Reader }

// TestHGRKeepsEveryGraph: of every kind of weights, plain and packed, from files and streams.
func TestHGRKeepsEveryGraph(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for i := range 40 {
		n, m, kind := 1+r.IntN(300), r.IntN(2000), WeightKind(r.IntN(3))
		l := edges{vertices: n, kind: kind}
		for _, e := range drawList(r, n, m, true) {
			l.add(e.src, e.dst)
			if w := e.weight; kind == FloatWeights {
				l.weights.add(math.Float32bits(float32(int32(w)) / 3))
			} else if kind == IntWeights {
				l.weights.add(w)
			}
		}
		if m == 0 {
			l.kind = NoWeights
		}
		g := l.build()
		g.Record = Record{Source: "drawn", Weights: "none", Order: "none"}
		name := filepath.Join(t.TempDir(), []string{"g.hgr", "g.HGR.gz"}[i%2])
		require.NoError(t, g.WriteFile(t.Context(), name))
		from, err := Load(graphspec.Graph{File: name})
		require.NoError(t, err)
		sum := from.Hash()
		from.changed() // the checked sum is the computed one
		require.Equal(t, []string{g.Hash(), list(g), "drawn"}, []string{from.Hash(), list(from), from.Record.Made})
		require.Equal(t, g.Hash(), sum)
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		from, err = Read(name, unsized{bytes.NewReader(data)}, ReadOptions{SkipWeights: true})
		require.NoError(t, err)
		require.Equal(t, NoWeights, from.WeightKind())
		g.dropWeights()
		require.Equal(t, g.Hash(), from.Hash())
	}
}

// TestHGRChangesItsHash: changes to a graph after reading change its identity.
func TestHGRChangesItsHash(t *testing.T) {
	name := filepath.Join(t.TempDir(), "g.hgr")
	require.NoError(t, load(t, "rmat.scale=6", "weights.from=random").WriteFile(t.Context(), name))
	seen := map[string]string{load(t, "file="+name).Hash(): "nothing"}
	for _, set := range []string{
		"clean.drop_self_loops=true", "clean.symmetrise=true", "clean.drop_duplicates=true", "clean.compact_ids=true",
		"weights.from=unit", "weights.from=random", "reorder.order=degree", "reorder.order=bfs", "reorder.order=random",
	} {
		if set == "weights.from=random" { // as it was
			require.Equal(t, "nothing", seen[load(t, "file="+name, set).Hash()])
			set = "weights.seed=2"
			seen[load(t, "file="+name, "weights.from=random", set).Hash()] = set
			continue
		}
		hash := load(t, "file="+name, set).Hash()
		require.Empty(t, seen[hash], set)
		seen[hash] = set
	}
}

// TestHGRRefusesDamage: any byte changed, any end cut off, anything more.
func TestHGRRefusesDamage(t *testing.T) {
	data := handmadeHGR("a note", 1, 3, 4, []uint32{0, 2, 3, 4}, []uint32{1, 1, 2, 0}, []uint32{3, 7, 5, 6})
	r := rand.New(rand.NewPCG(4, 4))
	refused := func(what string, data []byte) {
		for _, from := range []io.Reader{bytes.NewReader(data), unsized{bytes.NewReader(data)}} {
			_, err := Read("g.hgr", from, ReadOptions{})
			require.ErrorAs(t, err, new(*ParseError), what)
		}
	}
	for i := range data {
		changed := slices.Clone(data)
		changed[i] ^= byte(1 + r.IntN(255))
		refused("byte changed", changed)
		refused("cut off", data[:i])
	}
	refused("more", append(slices.Clone(data), 0))
}

// TestHGRRefusals: with the reason, though all checksums are right.
func TestHGRRefusals(t *testing.T) {
	offsets, ids := []uint32{0, 1, 2}, []uint32{1, 0}
	newer := handmadeHGR("", 0, 2, 2, offsets, ids)
	newer[8] = 2
	for _, c := range []struct {
		says string
		data []byte
	}{
		{"version 2 of .hgr: expected 1", newer},
		{"kind of weights 3: expected 0 (none), 1 (integers) or 2 (floats)", handmadeHGR("", 3, 2, 2, offsets, ids, ids)},
		{"no vertices", handmadeHGR("", 0, 0, 0, []uint32{0})},
		{"134217729 vertices and 2 edges: at most 134217728 and 536870912 fit", handmadeHGR("", 0, 1<<27+1, 2, offsets, ids)},
		{"18446744073709551615 edges: at most", handmadeHGR("", 0, 2, math.MaxUint64, offsets, ids)},
		{"expected 2684354640, for 134217728 vertices and 536870912 edges; the file is cut off", handmadeHGR("abcd", 0, 1<<27, 1<<29, offsets, ids)},
		{"a note of 4097 bytes: expected at most 4096", handmadeHGR(strings.Repeat("x", 4097), 0, 2, 2, offsets, ids)},
		{"the note has characters that cannot be printed", handmadeHGR("\x1b[2J", 0, 2, 2, offsets, ids)},
		{"the note has characters that cannot be printed", handmadeHGR("\xff", 0, 2, 2, offsets, ids)},
		{"the row of vertex 2 begins at 0, and the one before at 2", handmadeHGR("", 0, 2, 2, []uint32{0, 2, 0}, ids)},
		{"the row of vertex 0 begins at 1", handmadeHGR("", 0, 2, 2, []uint32{1, 1, 2}, ids)},
		{"the rows have 3 edges: expected 2", handmadeHGR("", 0, 2, 2, []uint32{0, 1, 3}, ids)},
		{"vertex 1 has an edge to 2: expected 0..1", handmadeHGR("", 0, 2, 2, offsets, []uint32{1, 2})},
		{"the row of vertex 0 is not sorted", handmadeHGR("", 0, 2, 2, []uint32{0, 2, 2}, []uint32{1, 0})},
		{"the row of vertex 0 is not sorted", handmadeHGR("", 1, 2, 2, []uint32{0, 2, 2}, []uint32{1, 1}, []uint32{1, 0xFFFFFFFF})},
		{"an edge whose weight is not finite", handmadeHGR("", 2, 2, 2, offsets, ids, []uint32{0x7F800000, 0})},
		{"an edge whose weight is not finite", handmadeHGR("", 2, 2, 2, offsets, ids, []uint32{0, 0xFFC00000})},
	} {
		_, err := Read("g.hgr", bytes.NewReader(c.data), ReadOptions{})
		require.ErrorContains(t, err, "g.hgr: ")
		require.ErrorContains(t, err, c.says)
	}
	_, err := Read("g.hgr", strings.NewReader("0 1\n1 0\n"), ReadOptions{})
	require.ErrorContains(t, err, "g.hgr:1: expected a file that heddle graph convert has written, as the file's name "+
		"ends in .hgr")
}

// TestHGRAllocatesWhatIsThere: a header's sizes are not believed, whether the file's is known or not.
func TestHGRAllocatesWhatIsThere(t *testing.T) {
	data := handmadeHGR("", 2, 1<<27, 1<<29, make([]uint32, 100))
	for _, from := range []io.Reader{bytes.NewReader(data), unsized{bytes.NewReader(data)}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read("g.hgr", from, ReadOptions{})
		runtime.ReadMemStats(&after)
		require.ErrorAs(t, err, new(*ParseError))
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
	}
}

// FuzzReadHGR: with the checksums as they are, or put right.
func FuzzReadHGR(f *testing.F) {
	f.Add(handmadeHGR("a note", 0, 3, 4, []uint32{0, 2, 3, 4}, []uint32{1, 1, 2, 0}), true)
	f.Add(handmadeHGR("", 1, 3, 4, []uint32{0, 2, 3, 4}, []uint32{1, 1, 2, 0}, []uint32{3, 7, 5, 6}), true)
	f.Add(handmadeHGR("", 2, 1, 0, []uint32{0, 0}), false)
	f.Fuzz(func(t *testing.T, data []byte, seal bool) {
		if seal {
			data = sealed(data)
		}
		g, err := Read("g.hgr", bytes.NewReader(data), ReadOptions{})
		if err != nil {
			var ours *ParseError
			if !errors.As(err, &ours) || ours.File != "g.hgr" {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		checkCanonical(t, g)
		var b bytes.Buffer
		require.NoError(t, g.Write(&b, ".hgr"))
		again, err := Read("again.hgr", &b, ReadOptions{})
		require.NoError(t, err)
		require.Equal(t, g.Hash(), again.Hash())
	})
}

// sealed corrects the checksums of data that may be an .hgr file.
func sealed(data []byte) []byte {
	data = slices.Clone(data)
	if len(data) < hgrFixed+4 || !bytes.HasPrefix(data, []byte(hgrMagic)) {
		return data
	}
	at := hgrFixed + int(binary.LittleEndian.Uint32(data[hgrFixed-4:]))
	if at > len(data)-4 || at < hgrFixed {
		return data
	}
	h := newHash()
	hashHead(h, int(binary.LittleEndian.Uint64(data[16:])), int(binary.LittleEndian.Uint64(data[24:])),
		WeightKind(data[12]))
	h.Write(data[at+4:])
	copy(data[32:], h.Sum(nil))
	binary.LittleEndian.PutUint32(data[at:], crc32.Checksum(data[:at], castagnoli))
	return data
}
