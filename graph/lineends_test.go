package graph

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"heddle/graph/graphspec"
)

var oneEnd = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// FuzzLineEnds: whatever sizes it is read in, a text has the ends of lines that replacing them in one go gives it.
func FuzzLineEnds(f *testing.F) {
	f.Add("a\rb\r\nc\n\rd\r\r\n\n", uint8(3))
	f.Add("\r", uint8(1))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		for _, from := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)),
			iotest.DataErrReader(strings.NewReader(text))} {
			r := newLineEnds(bufio.NewReaderSize(from, 16))
			var got strings.Builder
			b := make([]byte, 1+int(size))
			for {
				n, err := r.Read(b)
				got.Write(b[:n])
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
			}
			require.Equal(t, oneEnd.Replace(text), got.String())
		}
	})
}

// textsOf are a graph in every text format.
func textsOf(t *testing.T, g *Graph) map[string]string {
	texts := map[string]string{}
	for _, name := range []string{"g.el", "g.wel", "g.mtx", "g.gr", "g.csv", "g.tsv", "g.txt", "g.graph"} {
		var b strings.Builder
		if err := g.Write(&b, name); err != nil {
			require.True(t, name == "g.graph" || name == "g.wel" || name == "g.el" || name == "g.gr", "%s: %v", name,
				err)
			continue
		}
		texts[name] = b.String()
	}
	var ligra, linqs, comments strings.Builder
	fmt.Fprintf(&ligra, "AdjacencyGraph\n%d\n%d\n", g.Vertices(), g.Edges())
	for _, n := range g.out.Offsets[:g.Vertices()] {
		fmt.Fprintln(&ligra, n)
	}
	linqs.WriteString("#DIRECTED\tcites\nNO_FEATURES\n")
	comments.WriteString("# a comment\n# Nodes: 90 Edges: 1\n\n")
	rows := g.out.Rows()
	for i, id := range g.out.IDs {
		fmt.Fprintln(&ligra, id)
		fmt.Fprintf(&linqs, "%d\tpaper:%d\t|\tpaper:%d\n", i, rows[i], id)
		fmt.Fprintf(&comments, "%d %d\n", rows[i], id)
	}
	texts["g.adj"], texts["g.cites.tab"], texts["h.txt"] = ligra.String(), linqs.String(), comments.String()
	return texts
}

// withEnds ends each line of a text as one of ends does.
func withEnds(r *rand.Rand, text string, ends ...string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		if b.WriteString(line); ended {
			b.WriteString(ends[r.IntN(len(ends))])
		}
	}
	return b.String()
}

// TestLineEnds: a graph is the same, and errors name the same line, however its lines end.
func TestLineEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 20 {
		n := 2 + r.IntN(60)
		spec := graphspec.Graph{
			ErdosRenyi: &graphspec.ErdosRenyi{Vertices: n, Edges: 1 + r.IntN(min(3*n, n*(n-1)/2))},
			Clean:      graphspec.Clean{Symmetrise: r.IntN(2) == 0},
			Weights: graphspec.Weights{From: []graphspec.WeightsFrom{graphspec.RandomWeights,
				graphspec.UnitWeights}[r.IntN(2)], Min: 1, Max: 99},
		}
		spec.SetSeed(r.Uint64())
		g, err := Load(spec)
		require.NoError(t, err)
		for name, text := range textsOf(t, g) {
			want := read(t, name, text)
			for _, ends := range [][]string{{"\r\n"}, {"\r"}, {"\n", "\r\n"}, {"\n", "\r\n", "\r"}} {
				other := withEnds(r, text, ends...)
				if name == "g.graph" && len(ends) == 3 {
					other = text // "\r" of one line, and "\n" of the next one, which is empty, would be one end
				}
				got, err := Read(name, iotest.HalfReader(strings.NewReader(other)), ReadOptions{})
				require.NoError(t, err, "%s, %q", name, other)
				require.Equal(t, want.Hash(), got.Hash(), "%s, %q", name, other)
				require.Equal(t, want.Record, got.Record, "%s, %q", name, other)
			}
			at := strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n") + 1
			wrong := text[:at] + "?" + text[at:]
			_, err := Read(name, strings.NewReader(wrong), ReadOptions{})
			require.Error(t, err, "%s, %q", name, wrong)
			for _, end := range []string{"\r\n", "\r"} {
				_, again := Read(name, strings.NewReader(withEnds(r, wrong, end)), ReadOptions{})
				require.EqualError(t, again, err.Error(), "%s, %q", name, wrong)
			}
		}
	}
}

// TestStrayCarriageReturns: edges behind one are edges.
func TestStrayCarriageReturns(t *testing.T) {
	require.Equal(t, "0>1 1>2 2>3 3>0", list(read(t, "g.txt", "0 1\r1 2\r2 3\r3 0\r")))
	require.Equal(t, "0>1:5 1>2:6 2>0:7", list(read(t, "g.wel", "0 1 5\r1 2 6\r2 0 7")))
	require.Equal(t, "0>1:5 1>2:6 2>0:7 2>3:8", list(read(t, "g.wel", "0 1 5\n1 2 6\r2 0 7\n2 3 8\n")))
}

// TestGaloisNegativeIntegers: as floats they would be no numbers, so that nothing is to be warned of.
func TestGaloisNegativeIntegers(t *testing.T) {
	file := func(weights ...uint32) string {
		text := words(1, 4, 4, len(weights))
		for v := range 4 {
			text += words(min(len(weights), (v+1)*len(weights)))
		}
		for range weights {
			text += words(uint32(1))
		}
		if len(weights)%2 == 1 {
			text += words(uint32(0))
		}
		for _, w := range weights {
			text += words(w)
		}
		return text
	}
	float := math.Float32bits
	for _, c := range []struct {
		weights []uint32
		warned  bool
	}{
		{[]uint32{^uint32(9), ^uint32(19), ^uint32(29)}, false}, {[]uint32{1, 2}, false}, {[]uint32{^uint32(0), 1, 1 << 23}, false},
		{[]uint32{float(1.5), float(0.25)}, true}, {[]uint32{float(-1.5), float(2)}, true}, {[]uint32{float(-1.5), 0}, false},
		{[]uint32{float(1), 0x7f800000}, false}, {[]uint32{float(1), 0x7fc00000}, false}, {[]uint32{1 << 23}, true}, {[]uint32{1<<23 - 1}, false},
	} {
		g := read(t, "g.gr", file(c.weights...))
		require.Equal(t, c.warned, len(g.Record.Warnings) > 0, "%x: %v", c.weights, g.Record.Warnings)
		_, err := Read("g.gr", strings.NewReader(file(c.weights...)), ReadOptions{FloatWords: true})
		require.True(t, err == nil || !c.warned, "%x: %v", c.weights, err)
	}
}
