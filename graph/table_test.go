package graph

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph/graphspec"
)

func TestTables(t *testing.T) {
	for _, c := range []struct {
		name, file, text, edges, names string
		warnings                       []string
	}{
		{"header", "g.csv", "source,target\n0,1\n1,2\n", "0>1 1>2", "", nil},
		{"header with a weight", "g.csv", "Source;Target;Weight\r\n5;7;3\r\n7;9;-4\r\n", "0>1:3 1>2:-4", "", nil},
		{"header of SNAP in a line of its own", "g.tsv", "# a graph\nFromNodeId\tToNodeId\n3\t4\n4\t3\n", "0>1 1>0", "", nil},
		{"columns in another order", "g", "weight,to,time,from\n2.5,1,999,0\n1,0,999,1\n", "0>1:2.5 1>0:1", "", []string{`ignored: columns "time"`}},
		{"pandas with its index", "g.csv", ",source,target,weight\n0,10,20,3\n1,20,30,4\n", "0>1:3 1>2:4", "", []string{`ignored: columns ""`}},
		{"pandas with its index and other names", "g.csv", ",author,coauthor\n0,10,20\n1,20,30\n", "0>1 1>2", "",
			[]string{`line 1 is taken for a header: edges go from "author" to "coauthor"`, `ignored: columns ""`}},
		{"header of other words before numbers", "g", "writer reader\n1 2\n2 3\n", "0>1 1>2", "", []string{`line 1 is taken for a header: edges go from "writer" to "reader"`}},
		{"R, quoted", "g.csv", "\"from\",\"to\"\n\"1\",\"2\"\n\"2\",\"3\"\n", "0>1 1>2", "", nil},
		{"quoted numbers without header", "g.csv", "\"1\",\"2\"\n\"2\",\"3\"\n", "0>1 1>2", "", nil},
		{"Gephi, undirected", "g.csv", "Source,Target,Type,Id,Label,Weight\na,b,Undirected,0,,1\nb,c,Undirected,1,,2\n", "0>1:1 1>2:2", "a b c",
			[]string{"edges are undirected, and listed once: clean.symmetrise adds their reverses",
				`ignored: columns "Type", "Id", "Label"`}},
		{"neo4j", "g.csv", ":START_ID,:END_ID,:TYPE\n1,2,KNOWS\n2,1,KNOWS\n", "0>1 1>0", "", []string{`ignored: columns ":TYPE"`}},
		{"numbers kept by the header comment", "g", "# Nodes: 5\nsource target\n1 5\n", "0>4", "", nil},
		{"names", "g", "bob alice\nalice carol\n", "0>1 1>2", "bob alice carol", nil},
		{"names with weights", "g.txt", "bob\talice\t7\nalice\tbob\t8\n", "0>1:7 1>0:8", "bob alice", nil},
		{"names with blanks and separators", "g.csv", "\"Doe, John\",\"O\"\"Neil\"\n\"O\"\"Neil\" ,Mary Ann \nMary Ann,x\n", "0>1 1>2 2>3", `Doe, John|O"Neil|Mary Ann|x`, nil},
		{"names in other scripts", "g.csv", "źródło,cel\n東京,大阪\n大阪,東京\n", "0>1 2>3 3>2", "źródło cel 東京 大阪",
			[]string{"line 1 is taken for an edge, though its vertices have no other: begin it with # if it names the columns"}},
		{"a column of numbers under a word", "g", "a b c\nx y 1\ny z 2\n", "0>1 1>2", "x y z", []string{`line 1 is taken for a header: edges go from "a" to "b"`, `ignored: columns "c"`}},
		{"numbers among names", "g", "gene1 7\n7 gene2\n", "0>1 1>2", "gene1 7 gene2", nil},
		{"words like exponents", "g", "E1 E2\nE2 1e5x\n", "0>1 1>2", "E1 E2 1e5x", nil},
		{"more than a weight", "g", "a b 1 2020\nb a 2 2021\n", "0>1:1 1>0:2", "a b", []string{"line 1 has more than three columns: those after the weight are ignored"}},
		{"comments", "g.csv", "% x\nsource,target\n# y\n\na,b\n", "0>1", "a b", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := read(t, c.file, c.text)
			require.Equal(t, "table", g.Record.Format)
			require.Equal(t, c.edges, list(g))
			require.Equal(t, c.warnings, append([]string(nil), g.Record.Warnings...))
			separator := " "
			if strings.Contains(c.names, "|") {
				separator = "|"
			}
			require.Equal(t, c.names, strings.Join(g.Names(), separator))
			require.Equal(t, g.Hash(), read(t, c.file, "\xef\xbb\xbf"+c.text).Hash())
		})
	}
}

func TestTablesOfOtherPrograms(t *testing.T) {
	want := readFixture(t, "directed.mtx", ReadOptions{})
	g := readFixture(t, "directed.gephi.csv", ReadOptions{IDs: graphspec.KeepIDs})
	require.Equal(t, want.Hash(), g.Hash())
	require.Equal(t, []string{`ignored: columns "Id", "Label", "Type"`}, g.Record.Warnings)

	g = readFixture(t, "karate.names.csv", ReadOptions{})
	require.NoError(t, g.symmetrise())
	require.Equal(t, []int{34, 156}, []int{g.Vertices(), g.Edges()})
	karate := readFixture(t, "karate.mtx", ReadOptions{})
	for v, name := range g.Names() { // networkx numbers its vertices as the matrix does
		var number int
		_, err := fmt.Sscanf(name, "Member, no. %d", &number)
		require.NoError(t, err)
		require.Equal(t, karate.CSR().Degree(number-1), g.CSR().Degree(v), name)
	}

	g = readFixture(t, "davis.txt", ReadOptions{})
	require.Equal(t, []int{32, 89}, []int{g.Vertices(), g.Edges()})
	require.Equal(t, []string{"Evelyn_Jefferson", "E1"}, g.Names()[:2])
	require.Empty(t, g.Record.Warnings)
}

// Names stay with their vertices, whatever is done to those.
func TestNamesFollowTheirVertices(t *testing.T) {
	file := filepath.Join(t.TempDir(), "g.csv")
	var b strings.Builder
	random := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		fmt.Fprintf(&b, "n%d,n%d\n", random.IntN(90), random.IntN(90))
	}
	b.WriteString("loop,loop\n")
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	edges := func(g *Graph) []string {
		var list []string
		rows := g.out.Rows()
		for i, id := range g.out.IDs {
			list = append(list, g.Names()[rows[i]]+" "+g.Names()[id])
		}
		return list
	}
	want := edges(load(t, "file="+file, "clean.drop_self_loops=true"))
	for _, order := range []string{"none", "degree", "random", "bfs"} {
		g := load(t, "file="+file, "clean.drop_self_loops=true", "clean.compact_ids=true", "reorder.order="+order)
		require.Len(t, g.Names(), g.Vertices())
		require.NotContains(t, g.Names(), "loop")
		require.ElementsMatch(t, want, edges(g), order)
	}
	require.Nil(t, load(t, "file=facebook_combined").Names())
}

func TestNamedIDs(t *testing.T) {
	g, err := Read("g", strings.NewReader("7 11\n11 x\n"), ReadOptions{IDs: graphspec.NamedIDs})
	require.NoError(t, err)
	require.Equal(t, []string{"7", "11", "x"}, g.Names())
	require.Equal(t, "0>1 1>2", list(g))
	for file, text := range map[string]string{"g.graph": "3 3\n2 3\n1 3\n1 2\n",
		"g.mtx": "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n"} {
		_, err := Read(file, strings.NewReader(text), ReadOptions{IDs: graphspec.NamedIDs})
		require.ErrorContains(t, err, file+": ids: names: expected an edge list; found the format M")
	}
	g, err = Read("g", strings.NewReader("3 3\n2 3\n1 3\n1 2\n"), ReadOptions{IDs: graphspec.NamedIDs})
	require.NoError(t, err)
	require.Equal(t, 4, g.Edges())
	_, err = Read("g", strings.NewReader("a b\n"), ReadOptions{IDs: graphspec.KeepIDs})
	require.ErrorContains(t, err, `g:1: ids: keep: expected numbers of vertices; found "a" and "b"`)
}

func TestTableErrors(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"source,target\n", "g.csv: no edges: the file has nothing behind its header"},
		{"source,target\n1\n", "g.csv:2: expected 2 columns, as line 1 has; found 1"},
		{"source,target\n1,2\n\n3,4,5\n", "g.csv:4: expected 2 columns, as line 1 has; found 3"},
		{"source,target\n1,2\nx,3\n", `g.csv:3: expected a vertex number, 0..4294967294, as the lines before have (ids: names reads names); found "x"`},
		{"source,target\n1,4294967295\n", `found "4294967295"`},
		{"source,target\n-1,2\n", `found "-1"`},
		{"a,b\nc,\n", `g.csv:2: expected a vertex's name: one letter at least; found ""`},
		{"a,b\nc,\xff\xfe\n", `g.csv:2: expected a vertex's name: text in UTF-8; found "\xff\xfe"`},
		{"a,b\nc,\x1b[2J\n", `g.csv: expected two vertices a line, as the file's name ends in .csv; found binary data (first bytes 61 2c 62 0a 63 2c 1b 5b)`},
		{strings.Repeat("a,b\n", 300) + "c,\x1b[2J\n", `g.csv:301: expected a vertex's name: text in UTF-8; found "\x1b[2J"`},
		{"a,b,x\nc,d,y\n", `g.csv:1: expected a weight: an integer of 32 bits, or a finite decimal number (weights.from: unit ignores this column); found "x"`},
		{"a knows b\nb knows c\n", `g.csv:1: expected a weight`},
		{"a,b,1\nc,d,\n", `g.csv:2: expected a weight: an integer of 32 bits, or a finite decimal number (weights.from: unit ignores this column); found ""`},
		{"a,\"b\nc,d\n", "g.csv:1: expected the quote at the end of a name; found the end of the line"},
		{"a,\"b\"c\nc,d\n", `g.csv:1: expected a separator of columns behind a quoted name; found "c"`},
		{"a,b\nc;d\n", "g.csv:2: expected 2 columns, as line 1 has; found 1"},
		{"one two\nthree\n", "expected 2 columns, as line 1 has; found 1"},
	} {
		_, err := Read("g.csv", strings.NewReader(c.text), ReadOptions{})
		require.ErrorAs(t, err, new(*ParseError), c.text)
		require.ErrorContains(t, err, c.says, c.text)
	}
}

// A table is read as encoding/csv would read it, and as the same graph with numbers for names.
func TestRandomTables(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	letters := []string{"a", "b", ",", "\"", " x ", "ż", "7", ";", "\t"}
	for range 200 {
		n := 2 + random.IntN(30)
		names := map[string]bool{}
		var all []string
		for len(all) < n {
			name := fmt.Sprintf("n%d", len(all))
			for range random.IntN(4) {
				name += letters[random.IntN(len(letters))]
			}
			if name = strings.TrimSpace(name); !names[name] {
				names[name], all = true, append(all, name)
			}
		}
		var text bytes.Buffer
		var want []string
		separator := ",;\t"[random.IntN(3)]
		fmt.Fprintf(&text, "source%ctarget\n", separator)
		for range 1 + random.IntN(60) {
			a, b := all[random.IntN(n)], all[random.IntN(n)]
			want = append(want, a+" > "+b)
			for i, field := range []string{a, b} {
				if strings.ContainsAny(field, ",;\t\"") || random.IntN(4) == 0 {
					field = `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
				}
				text.WriteString(field)
				text.WriteByte([]byte{separator, '\n'}[i])
			}
		}
		g := read(t, "g.csv", text.String())
		var got []string
		rows := g.out.Rows()
		for i, id := range g.out.IDs {
			got = append(got, g.Names()[rows[i]]+" > "+g.Names()[id])
		}
		require.ElementsMatch(t, want, got, text.String())
	}
}

func FuzzReadTable(f *testing.F) {
	fuzzRead(f, "g.csv", ".txt", "source,target\n0,1\n1,2\n", ",a,b,weight\n0,10,20,3\n1,20,30,4\n",
		"\"Doe, John\",\"O\"\"Neil\"\n\"O\"\"Neil\" ,Mary\n", "bob\talice\t7\nalice\tbob\t.8\n",
		string(fixture(f, "directed.gephi.csv")))
}
