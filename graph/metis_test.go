package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The examples of METIS's manual (figure 2 of version 5.1): one graph of 7 vertices and 11 edges in all ways.
func TestMETISManual(t *testing.T) {
	const edges = "0>1 0>2 0>4 1>0 1>2 1>3 2>0 2>1 2>3 2>4 3>1 3>2 3>5 3>6 4>0 4>2 4>5 5>3 5>4 5>6 6>3 6>5"
	const weighted = "0>1:2 0>2:1 0>4:1 1>0:2 1>2:2 1>3:1 2>0:1 2>1:2 2>3:2 2>4:3 3>1:1 3>2:2 3>5:2 3>6:5 4>0:1 4>2:3 " +
		"4>5:2 5>3:2 5>4:2 5>6:6 6>3:5 6>5:6"
	for name, c := range map[string]struct{ text, edges string }{
		"unweighted": {"% a comment\n7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n", edges},
		"edge weights": {"7 11 001\n5 1 3 1 2 2\n1 2 3 2 4 1\n5 3 4 2 2 2 1 1\n2 1 3 2 6 2 7 5\n1 1 3 3 6 2\n5 2 4 " +
			"2 7 6\n6 6 4 5\n", weighted},
		"both weights": {"7 11 011\n4 5 1 3 1 2 2\n2 1 2 3 2 4 1\n5 5 3 4 2 2 2 1 1\n3 2 1 3 2 6 2 7 5\n1 1 1 3 3 " +
			"6 2\n6 5 2 4 2 7 6\n2 6 6 4 5\n", weighted},
		"three vertex weights": {"7 11 010 3\n1 2 0 5 3 2\n0 2 2 1 3 4\n4 1 1 5 4 2 1\n2 2 3 2 3 6 7\n1 1 1 1 3 6\n2 2 1 5 4 7\n1 2 1 6 4\n", edges},
		"sizes":                {"7 11 100\n9 5 3 2\n9 1 3 4\n9 5 4 2 1\n9 2 3 6 7\n9 1 3 6\n9 5 4 7\n9 6 4", edges},
		"all, comments within": {"7 11 111 1\n1 4 5 1 3 1 2 2\n%\n1 2 1 2 3 2 4 1\n% in between\n1 5 5 3 4 2 2 2 1 1\n1 3 2 1 3 2 6 2 7 5\n1 1 1 1 3 3 6 2\n1 6 5 2 4 2 7 6\n1 2 6 6 4 5\n\n%\n", weighted},
		"DOS, blanks":          {"  7\t11 \r\n5 3 2  \r\n 1 3 4\r\n5\t4 2 1\r\n2 3 6 7\r\n1 3 6\r\n5 4 7\r\n6 4\r\n", edges},
	} {
		for _, file := range []string{"g.graph", "g.metis", "g.txt"} {
			g := read(t, file, c.text)
			require.Equal(t, c.edges, list(g), name)
			require.Equal(t, "METIS", g.Record.Format)
			require.Equal(t, "1..7", g.Record.IDs)
			require.Equal(t, strings.Contains(name, "size") || strings.Contains(name, "vertex") ||
				strings.Contains(name, "both") || strings.Contains(name, "all"),
				slices.Contains(g.Record.Warnings, "sizes and weights of vertices are ignored"), name)
		}
		g, err := Read("g.graph", strings.NewReader(c.text), ReadOptions{SkipWeights: true})
		require.NoError(t, err)
		require.Equal(t, edges, list(g), name)
	}
}

func TestMETISOfOtherPrograms(t *testing.T) {
	want := readFixture(t, "karate.mtx", ReadOptions{})
	require.Equal(t, 156, want.Edges())
	require.Equal(t, want.Hash(), readFixture(t, "karate.weighted.graph", ReadOptions{}).Hash())
	plain := readFixture(t, "karate.mtx", ReadOptions{SkipWeights: true})
	require.Equal(t, plain.Hash(), readFixture(t, "karate.graph", ReadOptions{}).Hash())
	require.Equal(t, plain.Hash(), readFixture(t, "karate.weighted.graph", ReadOptions{SkipWeights: true}).Hash())
}

func TestMETISIsolatedVertices(t *testing.T) {
	for text, vertices := range map[string]int{
		"5 4\n2 3 4\n1\n1 4\n1 3\n\n": 5, "7 4\n2 3 4\n1\n1 4\n1 3\n\n\n\n": 7, "5 3\n2 3\n1 3\n1 2\n\n\n": 5, "6 2\n\n3\n2\n\n6\n5\n": 6,
	} {
		for _, file := range []string{"g.graph", "g"} {
			if file == "g.graph" || !strings.HasPrefix(text, "6 2\n\n") {
				require.Equal(t, vertices, read(t, file, text).Vertices(), text)
			}
		}
	}
	g := read(t, "g.graph", "3 0\n\n\n\n")
	require.Equal(t, 3, g.Vertices())
	require.Zero(t, g.Edges())
}

func TestMETISErrors(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"7\n", "g.graph:1: expected METIS's first line: vertices, edges, and up to two numbers about weights; found 1 words"},
		{"7 11 1 1 1\n", "found 5 words"},
		{"% x\n7 x\n", `g.graph:2: expected METIS's first line: vertices, edges, and up to two numbers about weights; found "x"`},
		{"7 11 2\n", `expected METIS's fmt, three digits 0 or 1 (sizes of vertices, weights of vertices, weights of edges); found "2"`},
		{"7 11 1000\n", `found "1000"`},
		{"134217729 1\n2\n1\n", "g.graph:1: expected at most 134217728 vertices; found 134217729"},
		{"9 268435457\n2\n1\n", "expected at most 268435456 edges; found 268435457"},
		{"9 9 10 99999999999\n2\n1\n", "expected at most 1024 weights a vertex; found 99999999999"},
		{"%\n", "g.graph: the file ends before METIS's first line"},
		{"5 2\n2 3\n1\n1\n", "g.graph:4: the file ends after the lines of 3 of 5 vertices: expected a line for each, empty for one without neighbours"},
		{"3 2\n2\n1 3\n", "g.graph:3: the file ends after the lines of 2 of 3 vertices"},
		{"3 2\n2\n1 3\n4\n", `g.graph:4: expected a neighbour of 1..3; found "4"`},
		{"3 2\n2\n1 3\n0\n", `g.graph:4: expected a neighbour of 1..3; found "0"`},
		{"3 2\n2\n1 x3\n2\n", `g.graph:3: expected a neighbour of 1..3; found "x3"`},
		{"3 2\n2\n1 3.5\n2\n", `g.graph:3: expected a neighbour of 1..3; found "3.5"`},
		{"3 2\n2\n% 5\n2 3\n2\n", "g.graph:4: vertex 2 is its own neighbour: METIS has no self-loops"},
		{"3 2\n2\n1 3\n2 1\n", "g.graph:4: more than the 4 neighbours of the 2 edges that line 1 says"},
		{"3 3\n2\n1 3\n2\n", "g.graph:1: 3 edges, each on the lines of both its ends: expected 6 neighbours in the file; found 4"},
		{"3 2\n2 3\n1 3\n\n", "g.graph:2: vertex 3 is a neighbour of 1, and by line 4 1 is none of 3: in METIS's format an edge is on the lines of both its ends"},
		{"3 2 1\n2 5\n1 5 3 7\n2 8\n", "g.graph:3: the edge from vertex 2 to 3 has weight 7, and on line 4, of vertex 3, it has 8"},
		{"3 2 1\n2 5\n1 5 3\n2 8\n", "g.graph:3: expected the weight of the edge, as fmt on line 1 says; found the end of the line"},
		{"3 2 1\n2 5\n1 5 3 1.5\n2 8\n", `g.graph:3: expected the weight of the edge, an integer of 32 bits; found "1.5"`},
		{"3 2 10 2\n7 7 2\n7\n\n", "g.graph:3: expected a size or weight of the vertex, as the header says; found the end of the line"},
		{"3 2 10\n-7 2\n", `g.graph:2: expected a size or weight of the vertex, as the header says; found "-7"`},
		{"3 2\n2\n1 3\n2\n\n%\n 1\n", "g.graph:7: expected no more than the lines of the 3 vertices that line 1 says"},
		{"0 0\n", "g.graph: no vertices"},
		{"99999999 1\n2\n1\n", "g.graph:3: the file ends after the lines of 2 of 99999999 vertices"},
		{"3 2\n" + strings.Repeat("1", 3*maxWord), `found "1111111111111111111111111111111111111111"…`},
	} {
		_, err := Read("g.graph", strings.NewReader(c.text), ReadOptions{})
		require.ErrorAs(t, err, new(*ParseError), c.text)
		require.ErrorContains(t, err, c.says)
	}
	_, err := Read("g.txt", strings.NewReader("4 4\n2 3\n3 4\n4 1\n1 2\n"), ReadOptions{})
	require.ErrorContains(t, err, "(read as METIS, as its first lines look like it: a name that ends in .el makes it an "+
		"edge list)")
	require.Equal(t, 5, read(t, "g.el", "4 4\n2 3\n3 4\n4 1\n1 2\n").Edges())
	star := "70000 69999\n" + strings.Repeat("2 3 4 5 ", maxLine) + "x\n"
	_, err = Read("g.txt", strings.NewReader(star), ReadOptions{})
	require.ErrorContains(t, err, `g.txt:2: more than the 139998 neighbours of the 69999 edges that line 1 says (read as METIS`)
	_, err = Read("g.txt", strings.NewReader("70000 69999\n"+strings.Repeat("2 3 4 5 ", maxLine/8)+"x\n"),
		ReadOptions{})
	require.ErrorContains(t, err, `g.txt:2: expected a neighbour of 1..70000 (read as METIS, as its first lines look like it: a name that ends in .el makes it an edge list); found "x"`)
}

// undirected draws edges between n vertices: the neighbours of each.
func undirected(random *rand.Rand, n, edges int) [][]int {
	rows := make([][]int, n)
	for range edges {
		a, b := random.IntN(n), random.IntN(n)
		if a != b && !slices.Contains(rows[a], b) {
			rows[a], rows[b] = append(rows[a], b), append(rows[b], a)
		}
	}
	return rows
}

// metisText writes rows with the weights of vertices and edges that flags select.
func metisText(random *rand.Rand, rows [][]int, size bool, vertexWeights int, edgeWeights bool) string {
	var b strings.Builder
	ends := 0
	for _, r := range rows {
		ends += len(r)
	}
	digit := map[bool]int{true: 1}
	fmt.Fprintf(&b, "%d %d %d%d%d %d\n", len(rows), ends/2, digit[size], digit[vertexWeights > 0], digit[edgeWeights],
		vertexWeights)
	for v, r := range rows {
		for range vertexWeights + digit[size] {
			fmt.Fprintf(&b, "%d ", random.IntN(9))
		}
		for _, u := range r {
			fmt.Fprintf(&b, "%d ", u+1)
			if edgeWeights {
				fmt.Fprintf(&b, "%d ", min(u, v)*7+max(u, v))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Random graphs of all sizes, below and above the length inspected to detect the format, in all its variants.
func TestRandomMETIS(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	for range 60 {
		n := 2 + random.IntN(1<<random.IntN(14))
		rows := undirected(random, n, n*random.IntN(6)/2+1)
		size, vertexWeights, edgeWeights := random.IntN(2) == 1, random.IntN(4)*random.IntN(2), random.IntN(2) == 1
		text := metisText(random, rows, size, vertexWeights, edgeWeights)
		var want []string
		for v, r := range rows {
			slices.Sort(r)
			for _, u := range r {
				w := ""
				if edgeWeights {
					w = fmt.Sprintf(":%d", min(u, v)*7+max(u, v))
				}
				want = append(want, fmt.Sprintf("%d>%d%s", v, u, w))
			}
		}
		g := read(t, "g.graph", text)
		require.Equal(t, n, g.Vertices())
		require.Equal(t, strings.Join(want, " "), list(g))
		if len(text) > maxLine && g.Edges() > n {
			require.Equal(t, g.Hash(), read(t, "g.txt", text).Hash(), "known by its contents")
		}
	}
}

// A line has as many neighbours as the vertex: a star's is longer than any buffer.
func TestMETISOfAStar(t *testing.T) {
	const n = 60000
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d\n", n, n-1)
	for v := 2; v <= n; v++ {
		fmt.Fprintf(&b, "%d ", v)
	}
	b.WriteString(strings.Repeat("\n1", n-1))
	for _, file := range []string{"g.graph", "g.txt"} {
		g := read(t, file, b.String())
		require.Equal(t, n, g.Vertices())
		require.Equal(t, n-1, g.CSR().Degree(0))
	}
}

// Rings are the graphs that an edge list may look like: all lines have two numbers, as the first. None is misread.
func TestMETISRings(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for _, n := range []int{3, 4, 5, 100, 9000, 300000} {
		order := random.Perm(n)
		rows := make([][2]int, n)
		for i, v := range order {
			rows[v] = [2]int{order[(i+1)%n], order[(i+n-1)%n]}
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%d %d\n", n, n)
		for _, r := range rows {
			fmt.Fprintf(&b, "%d %d\n", r[0]+1, r[1]+1)
		}
		g := read(t, "ring.txt", b.String())
		require.Equal(t, []int{n, 2 * n}, []int{g.Vertices(), g.Edges()})
	}
}

// Edge lists longer than the inspected part stay edge lists, whatever their first line.
func TestLongListsThatAreNoMETIS(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	for i := range 40 {
		n := 8000 + random.IntN(30000)
		edges := make([][2]int, n)
		for j := range edges {
			edges[j] = [2]int{1 + random.IntN(n), 1 + random.IntN(n)}
		}
		if i%2 == 0 { // falling, so that the first line has the largest number
			slices.SortFunc(edges, func(a, b [2]int) int { return b[0] - a[0] })
		}
		var b strings.Builder
		for _, e := range edges {
			fmt.Fprintf(&b, "%d %d\n", e[0], e[1])
		}
		g := read(t, "g.txt", b.String())
		require.Equal(t, "edge list", g.Record.Format)
		require.Equal(t, n, g.Edges())
	}
}

func FuzzReadMETIS(f *testing.F) {
	fuzzRead(f, "g.graph", ".txt", "3 3\n2 3\n1 3\n1 2\n", "% x\n4 2 111 2\n1 2 3 2 9\n1 1 1 1 9\n%\n4 4 4\n\n",
		"3 2 1\n2 5\n1 5 3 7\n2 7\n", "3 0\n\n\n\n", string(fixture(f, "karate.weighted.graph")))
}
