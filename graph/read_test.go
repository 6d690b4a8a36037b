package graph

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph/graphspec"
)

func read(t *testing.T, name, text string) *Graph {
	t.Helper()
	g, err := Read(name, strings.NewReader(text), ReadOptions{})
	require.NoError(t, err)
	return g
}

// list writes a graph as "0>1:w 0>2:w", to compare it with.
func list(g *Graph) string {
	var words []string
	rows := g.out.Rows()
	for i, id := range g.out.IDs {
		w := ""
		if g.out.Weights != nil {
			w = fmt.Sprintf(":%g", g.kind.Float(g.out.Weights[i]))
		}
		words = append(words, fmt.Sprintf("%d>%d%s", rows[i], id, w))
	}
	return strings.Join(words, " ")
}

func TestReadFormats(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		vertices         int
		edges            string
	}{
		{"snap", "g.txt", "# Nodes: 4 Edges: 3\n# FromNodeId\tToNodeId\n0\t1\r\n2\t0\r\n0\t2\r\n", 4, "0>1 0>2 2>0"},
		{"from 1, as the header says", "g.txt", "# Nodes: 3 Edges: 2\n1 2\n3 1\n", 3, "0>1 2>0"},
		{"without header", "g.txt", "7 9\n9 20\n", 3, "0>1 1>2"},
		{"far numbers", "g.txt", "4294967294 5\n5 900000000", 3, "0>1 2>0"},
		{"header that does not fit", "g.txt", "# Nodes: 3\n1 2\n9 1\n", 3, "0>1 2>0"},
		{"commas and percents", "g.edges", "% sym weighted\n\n1,2,5\n2, 3, -7\n", 3, "0>1:5 1>2:-7"},
		{"some weights are fractions", "g.edges", "1 2 5\n2 3 0.5\n3 1 2\n", 3, "0>1:5 1>2:0.5 2>0:2"},
		{"times after the weights", "g.edges", "1 2 5 1000\n2 3 1 1e9\n", 3, "0>1:5 1>2:1"},
		{"linqs", "g.tab", "#DIRECTED\tcites\n#NO_FEATURES\n1\tpaper:5\t|\tpaper:7\n2\tpaper:7\t|\tpaper:9", 3, "0>1 1>2"},
		{"pattern", "g.mtx", "%%MatrixMarket matrix coordinate pattern general\n%\n\n 4 4 2\n1 2\n 3  1\n", 4, "0>1 2>0"},
		{"symmetric", "g.mtx", "%%matrixmarket MATRIX Coordinate Integer Symmetric\n3 3 3\n2 1 5\n3 3 6\n3 1 -7\n", 3, "0>1:5 0>2:-7 1>0:5 2>0:-7 2>2:6"},
		{"skew", "g.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 5\n3 1 15e-1\n", 3, "0>1:-5 0>2:-1.5 1>0:5 2>0:1.5"},
		{"skew integer", "g.mtx", "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n2 1 5\n", 3, "0>1:-5 1>0:5"},
		{"dimacs", "USA.gr", "c hello\np sp 4 3\nc between\na 1 2 803\na 4 1 7\na 1 2 4\n", 4, "0>1:4 0>1:803 3>0:7"},
		{"no newline at the end", "g.txt", "0 1\n1 0", 2, "0>1 1>0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := read(t, c.file, c.text)
			require.Equal(t, c.edges, list(g))
			require.Equal(t, c.vertices, g.Vertices())

			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			_, err := z.Write([]byte(c.text))
			require.NoError(t, err)
			require.NoError(t, z.Close())
			again, err := Read(c.file+".gz", &packed, ReadOptions{})
			require.NoError(t, err)
			require.Equal(t, g.Hash(), again.Hash())
		})
	}
}

// The documentation of graph.file names all formats.
func TestFormatsAreDocumented(t *testing.T) {
	field, ok := graphspec.Schema.Lookup("file")
	require.True(t, ok)
	page, err := os.ReadFile("../docs/reference/graphs.md")
	require.NoError(t, err)
	for _, f := range formats {
		require.Contains(t, field.Doc, f.name)
		require.Contains(t, string(page), "\n| "+f.name, "docs/reference/graphs.md's table")
		for _, ext := range f.ext {
			require.Contains(t, string(page), "`"+ext+"`", f.name)
		}
	}
	for _, p := range packings {
		require.Contains(t, field.Doc, p.name)
	}
}

func TestReadErrors(t *testing.T) {
	const mtx, dense = "%%MatrixMarket matrix coordinate pattern general\n",
		"%%MatrixMarket matrix array real general\n"
	for _, c := range []struct{ name, file, text, says string }{
		{"empty", "g.txt", "", "g.txt: the file is empty"},
		{"comments only", "g.txt", "# Nodes: 4\n", "g.txt: no edges: expected lines of two vertex numbers"},
		{"word", "g.txt", "0 1\nfoo 2\n", `g.txt:2: expected a vertex number, 0..4294967294; found "foo"`},
		{"negative", "g.txt", "0 -1\n", `g.txt:1: expected a second vertex number, 0..4294967294; found "-1"`},
		{"one column", "g.txt", "0 1\n\n2\n", "g.txt:3: expected a second vertex number, 0..4294967294; found the end of the line"},
		{"too large", "g.txt", "0 4294967295\n", `found "4294967295"`},
		{"huge", "g.txt", "0 99999999999999999999999999999999999999999999999\n", `found "9999999999999999999999999999999999999999"…`},
		{"fraction", "g.txt", "0 1.5\n", `found "1.5"`},
		{"weight missing", "g.txt", "0 1 5\n1 2\n", "g.txt:2: expected a weight, as on line 1; found the end of the line"},
		{"weight too many", "g.txt", "0 1\n1 2 5\n", `g.txt:2: expected the end of the line, as there is no weight on line 1; found "5"`},
		{"weight out of range", "g.txt", "0 1 2147483648\n", `found "2147483648"`},
		{"weight out of float range", "g.txt", "0 1 1e99\n", `found "1e99"`},
		{"weight not a number", "g.txt", "0 1 nan\n", `found "nan"`},
		{"hexadecimal weight", "g.txt", "0 1 0x1p3\n", `found "0x1p3"`},
		{"long line", "g.txt", "0 1\n" + strings.Repeat("1", maxLine+1), "g.txt:2: a line of more than 65536 characters"},
		{"many believed", "g.txt", "# Nodes: 99999999\n0 1\n", "g.txt:1: 99999999 vertices and only 1 edges: more than 64 vertices an edge are not believed"},
		{"no METIS: edges are at one end only", "g.txt", "7 4\n2 3 4\n1\n1 4\n1 2\n", "g.txt:2: expected the end of the line, as there is no weight on line 1"},
		{"METIS that is damaged", "g.txt", "5 4\n2 3 4\n1\n1 4\n1 9\n\n", "g.txt:2: expected the end of the line, as there is no weight on line 1"},
		{"no banner", "g.mtx", "3 3 1\n1 2\n", "g.mtx:1: expected a first line that begins with %%MatrixMarket, as the file's name ends in .mtx"},
		{"dense", "g.mtx", dense, `g.mtx:1: expected "coordinate" (dense matrices are no graphs); found "array"`},
		{"complex", "g.mtx", "%%MatrixMarket matrix coordinate complex general\n", `expected "pattern", "integer" or "real"; found "complex"`},
		{"hermitian", "g.mtx", "%%MatrixMarket matrix coordinate real hermitian\n", `found "hermitian"`},
		{"skew pattern", "g.mtx", "%%MatrixMarket matrix coordinate pattern skew-symmetric\n", "a pattern has no sign"},
		{"no size", "g.mtx", mtx + "% only this\n", "g.mtx:2: the file ends before the size line"},
		{"rectangle", "g.mtx", mtx + "3 4 1\n", "g.mtx:2: 3 rows and 4 columns: expected a square matrix"},
		{"huge size", "g.mtx", mtx + "1099511627776 1099511627776 1\n", `g.mtx:2: expected the number of rows, at most 2^27; found "1099511627776"`},
		{"huge entries", "g.mtx", mtx + "3 3 1099511627776\n", `g.mtx:2: expected the number of entries, at most 2^29; found "1099511627776"`},
		{"many entries, few there", "g.mtx", mtx + "3 3 536870912\n1 1\n", "g.mtx:3: the file ends after 1 of 536870912 entries"},
		{"many rows, few entries", "g.mtx", mtx + "134217728 134217728 1\n1 1\n", "more than 64 vertices an edge are not believed"},
		{"more entries", "g.mtx", mtx + "3 3 1\n1 1\n1 2\n", "g.mtx:4: more than the 1 entries that the size line says"},
		{"row 0", "g.mtx", mtx + "3 3 1\n0 1\n", `g.mtx:3: expected a row of 1..3; found "0"`},
		{"column 4", "g.mtx", mtx + "3 3 1\n1 4\n", `g.mtx:3: expected a column of 1..3; found "4"`},
		{"value in a pattern", "g.mtx", mtx + "3 3 1\n1 2 7\n", `g.mtx:3: expected the end of the line; found "7"`},
		{"no value", "g.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2\n", "expected a value, as the matrix is real"},
		{"real in integers", "g.mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 2 1.5\n", `expected an integer of 32 bits; found "1.5"`},
		{"upper triangle", "g.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n1 2\n", "g.mtx:3: expected an entry of the lower triangle, as the matrix is symmetric; found row 1, column 2"},
		{"skew diagonal", "g.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 1\n", "a skew-symmetric matrix has no entries on its diagonal"},
		{"no vertices", "g.mtx", mtx + "0 0 0\n", "g.mtx: no vertices"},
		{"gr without p", "g.gr", "c hi\na 1 2 3\n", `g.gr:2: expected "p sp VERTICES ARCS"; found "a"`},
		{"gr is none", "g.gr", "1 2\n", "g.gr:1: expected c (comment) and p (problem) lines first, or the header of a Galois graph, as the file's name ends in .gr"},
		{"other problem", "g.gr", "p max 3 4\n", `expected "p sp VERTICES ARCS"`},
		{"gr ends", "g.gr", "p sp 3 2\na 1 2 3\n", "g.gr:2: the file ends after 1 of 2 arcs"},
		{"gr weight", "g.gr", "p sp 3 1\na 1 2\n", "expected a weight, an integer of 32 bits; found the end of the line"},
		{"gr line", "g.gr", "p sp 3 1\ne 1 2\n", `expected "a" (arc) or "c" (comment); found "e"`},
		{"linqs kind", "g.cites.tab", "#DIRECTED\n1 paper:1 | paper:x\n", `g.cites.tab:2: expected a vertex such as paper:7, with a number of 0..4294967294; found "paper:x"`},
		{"linqs bar", "g.cites.tab", "#DIRECTED\n1 paper:1 paper:2\n", `expected "|"; found "paper:2"`},
		{"linqs empty", "g.cites.tab", "#DIRECTED\n#NO_FEATURES\n", "no edges"},
		{"gzip cut off", "g.txt.gz", "\x1f\x8b\x08", "g.txt.gz: the gzip data ends early"},
		{"gzip of a damaged block", "g.txt.gz", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x030000000", "g.txt.gz: damaged gzip data: flate: corrupt input"},
		{"gzip damaged", "g.txt.gz", "\x1f\x8b\x07aaaaaaaaaaaaaaaaaaaaaaaa", "damaged gzip data"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read(c.file, strings.NewReader(c.text), ReadOptions{})
			require.ErrorContains(t, err, c.says)
		})
	}
}

// Numbers too far apart to be kept are blamed where they stand.
func TestGapsInKeptNumbers(t *testing.T) {
	for text, says := range map[string]string{
		"0 1\n1 2\n4294967293 0\n2 3\n": "g.txt:3: 4294967294 vertices: at most 134217728 fit",
		"0 1\n1 99999999\n":             "g.txt:2: 100000000 vertices and only 2 edges",
	} {
		_, err := Read("g.txt", strings.NewReader(text), ReadOptions{IDs: graphspec.KeepIDs})
		require.ErrorContains(t, err, says)
	}
}

// A byte order mark is no part of the text, whatever the format, packed or not.
func TestByteOrderMarks(t *testing.T) {
	const mark = "\xef\xbb\xbf"
	for name, text := range map[string]string{
		"g.txt": "0 1\n1 2\n", "h.txt": "# Nodes: 3\n0 1\n1 2\n", "g.mtx": "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n",
		"g.gr": "p sp 3 2\na 1 2 3\na 2 3 4\n", "g.cites.tab": "#DIRECTED\n1 paper:1 | paper:2\n",
	} {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, err := z.Write([]byte(mark + text))
		require.NoError(t, err)
		require.NoError(t, z.Close())
		want := list(read(t, name, text))
		require.Equal(t, want, list(read(t, name, mark+text)), name)
		require.Equal(t, want, list(read(t, name, packed.String())), name)
	}
	_, err := Read("g.txt", strings.NewReader(mark), ReadOptions{})
	require.ErrorContains(t, err, "g.txt: the file is empty")
}

// Lists of edges whose first line could be a METIS header stay lists of edges.
func TestListsThatAreNoMETIS(t *testing.T) {
	for text, edges := range map[string]int{
		"2 1\n1 2\n": 2, "1 1\n1 1\n": 2, "3 3\n1 2\n2 3\n3 1\n": 4, "3 3\n2 3\n1 3\n1 2\n1 2\n": 5, "2 1 1\n1 2 1\n": 2, "4 4\n2 3\n1 3\n1 2\n": 4, "3 2 1\n2 7 3\n1 7 2\n1 9 2\n": 4,
	} {
		g, err := Read("g.txt", strings.NewReader(text), ReadOptions{})
		require.NoError(t, err, text)
		require.Equal(t, edges, g.Edges(), text)
	}
}

func gzipped(t testing.TB, contents []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(contents)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func TestDecompressionBomb(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	zeros := bytes.Repeat([]byte("#\n"), 1<<19)
	for range 64 {
		_, err := z.Write(zeros)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	_, err := Read("bomb.gz", &packed, ReadOptions{})
	require.ErrorContains(t, err, "bomb.gz: unpacks to more than 100 times its size")
}

// Sizes claimed by a header are not allocated.
func TestHeadersAreNotBelieved(t *testing.T) {
	for name, text := range map[string]string{
		"g.mtx": "%%MatrixMarket matrix coordinate real symmetric\n134217728 134217728 536870912\n2 1 5\n",
		"h.mtx": "%%MatrixMarket matrix coordinate pattern general\n134217728 134217728 1\n2 1\n",
		"g.gr":  "p sp 134217728 536870912\na 1 2 3\n",
		"g.txt": "# Nodes: 1099511627775 Edges: 1099511627775\n1 2\n",
		"h.txt": "# Nodes: 134217728\n1 2\n",
		"i.txt": "0 4294967294\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(name, strings.NewReader(text), ReadOptions{})
		runtime.ReadMemStats(&after)
		require.Equal(t, name == "i.txt", err == nil, "%s: %v", name, err)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), name)
	}
}

func TestLongCommentsAreSkipped(t *testing.T) {
	for _, last := range []string{"", "\n"} {
		g := read(t, "g.txt", "# Nodes: 5 "+strings.Repeat("x", 3*maxLine)+"\n0 1\n#"+strings.Repeat("y", maxLine)+last)
		require.Equal(t, 5, g.Vertices())
		require.Equal(t, "0>1", list(g))
	}
}

func TestIDsAndSkippedWeights(t *testing.T) {
	const text = "# Nodes: 2 Edges: 3\n3 5 7\n5 3 nan\n"
	g, err := Read("g", strings.NewReader(text), ReadOptions{IDs: graphspec.KeepIDs, SkipWeights: true})
	require.NoError(t, err)
	require.Equal(t, "3>5 5>3", list(g))
	require.Equal(t, 6, g.Vertices())
	require.True(t, g.Record.FileWeights)
	require.Equal(t, []string{"the header says 3 edges, and there are 2"}, g.Record.Warnings)
	require.Equal(t, "none", g.Record.Weights)

	file := filepath.Join(t.TempDir(), "g.txt")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	same := load(t, "file="+file, "ids=keep", "weights.from=unit")
	require.Equal(t, g.Hash(), same.Hash())

	g, err = Read("g", strings.NewReader("0 1 5 6\n1 0 5 6\n"), ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"line 1 has more than three columns: those after the weight are ignored"},
		g.Record.Warnings)
	require.Equal(t, "int, from the file", g.Record.Weights)
}

// sharedGraphs are the counts of the collection's own documentation.
var sharedGraphs = []struct {
	file             string
	vertices, listed int
	mirrored         bool // a symmetric matrix lists each edge once
	maxOut, maxIn    int  // listed, self-loops included; 0: not said
}{
	{"USA-road-d.NY.gr.gz", 264346, 730100, false, 8, 8},
	{"usroads.mtx.gz", 129164, 165435, true, 7, 7},
	{"luxembourg_osm.mtx.gz", 114599, 119666, true, 6, 6},
	{"cnr-2000.txt.gz", 325557, 3216152, false, 2716, 18235},
	{"uk-2007-05-100000.txt.gz", 100000, 3050615, false, 3753, 55252},
	{"web-sk-2005.mtx.gz", 121422, 334419, true, 590, 590},
	{"ego-twitter.ungraph.txt.gz", 81306, 1342310, false, 0, 0},
	{"soc-Slashdot0902.txt.gz", 82168, 948464, false, 2511, 2553},
	{"facebook_combined.txt.gz", 4039, 88234, false, 0, 0},
	{"wiki-Vote.txt.gz", 7115, 103689, false, 893, 457},
	{"email-Enron.txt.gz", 36692, 367662, false, 1383, 1383},
	{"p2p-Gnutella31.txt.gz", 62586, 147892, false, 78, 68},
	{"dblp-2010.txt.gz", 326186, 1615400, false, 238, 238},
	{"cit-HepPh.txt.gz", 34546, 421578, false, 411, 846},
	{"cora.cites.gz", 2708, 5429, false, 166, 5},
	{"Pubmed-Diabetes.DIRECTED.cites.tab.gz", 19717, 44338, false, 130, 171},
	{"bio-CE-CX.edges.gz", 15229, 245952, false, 0, 0},
	{"delaunay_n16.mtx.gz", 65536, 196575, true, 17, 17},
	{"karate.mtx.gz", 34, 78, true, 17, 17},
	{"chesapeake.mtx.gz", 39, 170, true, 33, 33},
}

// sharedFile finds a graph of the collection, which is not part of the project.
func sharedFile(t testing.TB, name string) string {
	t.Helper()
	file := filepath.Join("../../shared/graphs", name)
	if _, err := os.Stat(file); err != nil {
		t.Skipf("skipped: the collection of real graphs is not beside the project: %v", err)
	}
	return file
}

func TestSharedGraphs(t *testing.T) {
	for _, c := range sharedGraphs {
		t.Run(c.file, func(t *testing.T) {
			g, err := Load(graphspec.Graph{File: sharedFile(t, c.file)})
			require.NoError(t, err)
			require.Equal(t, c.vertices, g.Vertices())
			require.Equal(t, c.listed, g.Record.FileEdges)
			require.Equal(t, c.listed+g.Record.Mirrored, g.Edges())
			require.Equal(t, c.mirrored, g.Record.Mirrored > 0)
			require.Empty(t, g.Record.Warnings)
			if c.maxOut > 0 {
				require.Equal(t, c.maxOut, g.CSR().degrees().Max)
				require.Equal(t, c.maxIn, g.CSC().degrees().Max)
			}
		})
	}
}

// The two counts of self-loops, and the range of weights, that the collection states.
func TestSharedGraphsInDetail(t *testing.T) {
	load := func(file string) *Summary {
		g, err := Load(graphspec.Graph{File: sharedFile(t, file)})
		require.NoError(t, err)
		return g.Summarise()
	}
	require.Equal(t, 78303, load("soc-Slashdot0902.txt.gz").SelfLoops)
	require.Equal(t, 3, load("Pubmed-Diabetes.DIRECTED.cites.tab.gz").SelfLoops)
	require.Equal(t, 25539, load("dblp-2010.txt.gz").Isolated)
	ny := load("USA-road-d.NY.gr.gz")
	require.Equal(t, []float64{1, 36946}, []float64{*ny.MinWeight, *ny.MaxWeight})
	require.True(t, ny.Symmetric)
	require.Equal(t, 1, ny.Components)
	require.Zero(t, ny.Duplicates)
}

// SNAP publishes, beside the counts: vertices in the largest weakly
// connected component, and the mean clustering coefficient.
func TestPublishedStatistics(t *testing.T) {
	for file, largest := range map[string]int{
		"wiki-Vote.txt.gz": 7066, "p2p-Gnutella31.txt.gz": 62561, "email-Enron.txt.gz": 33696, "cit-HepPh.txt.gz": 34401,
	} {
		g, err := Load(graphspec.Graph{File: sharedFile(t, file)})
		require.NoError(t, err)
		_, sizes := g.Components()
		require.Equal(t, largest, slices.Max(sizes), file)
	}
	g := load(t, "file=facebook_combined", "clean.symmetrise=true")
	require.InDelta(t, 0.6055, clustering(g), 0.00005)
}

func TestFloatWeightsKeepTheirOrder(t *testing.T) {
	g := read(t, "g.txt", "0 1 -1.5\n0 1 2.5\n0 1 -3\n0 1 0.25\n")
	require.Equal(t, "0>1:-3 0>1:-1.5 0>1:0.25 0>1:2.5", list(g))
	require.Equal(t, FloatWeights, g.WeightKind())
	require.Equal(t, float32(-3), math.Float32frombits(g.CSR().Weights[0]))
}
