package graphit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graphit"
	"heddle/graphit/programs"
)

func checked(t *testing.T, src string) *graphit.File {
	t.Helper()
	f, err := graphit.Parse("p.gt", []byte(src))
	require.NoError(t, err)
	require.NoError(t, graphit.Check(f))
	return f
}

// kinds are an argument's uses: v for a vertex, n for a number, c for a value computed from it that is used as a
// vertex.
func kinds(list []graphit.Argument) string {
	var b strings.Builder
	for _, a := range list {
		fmt.Fprintf(&b, "%d", a.N)
		for _, x := range []struct {
			at   graphit.Pos
			kind string
		}{{a.Vertex, "v"}, {a.Number, "n"}, {a.Computed, "c"}} {
			if x.at != (graphit.Pos{}) {
				b.WriteString(x.kind)
			}
		}
		b.WriteString(" ")
	}
	return strings.TrimSpace(b.String())
}

// TestArgumentsOfPrograms: which arguments of the shipped programs are vertices.
func TestArgumentsOfPrograms(t *testing.T) {
	want := map[string]string{"bc": "2v", "bfs": "2v", "delta_stepping": "2v", "sssp": "2v", "pagerank": "2n",
		"pagerank_delta": "2n", "cc": "", "cc_pjump": "", "k_core": "", "spmv": ""}
	for _, name := range programs.Names() {
		src, err := programs.Source(name)
		require.NoError(t, err)
		is, known := want[name]
		require.True(t, known, name)
		require.Equal(t, is, kinds(checked(t, string(src)).Arguments(nil)), name)
	}
}

// TestArguments: a vertex is found wherever a program can name one, by whichever way the argument comes there.
func TestArguments(t *testing.T) {
	const head = `element V end
element E end
const edges : edgeset{E}(V, V, int) = load(argv[1]);
const vertices : vertexset{V} = edges.getVertices();
const x : vector{V}(int) = 0;
const four : vector[4](int) = 0;
const start : int = atoi(argv[9]);
const q : priority_queue{V}(int);
func same(v : V) -> output : bool
    output = v == start;
end
func plain(n : int) -> output : int
    output = n;
end
func named(v : V) -> output : int
    output = 1;
end
func main()
    var f : vertexset{V} = new vertexset{V}(0);
`
	for body, want := range map[string]string{
		"f.addVertex(atoi(argv[2]));":                                                  "2v 9v",
		"var s : int = atoi(argv[2]); f.addVertex(s);":                                 "2v 9v",
		"var s : int; var r : int = 0; s = atoi(argv[2]); r = s; x[r] = 1;":            "2v 9v",
		"var s : V = atoi(argv[2]);":                                                   "2v 9v",
		"var s : int = plain(atoi(argv[2])); f.addVertex(s);":                          "2v 9v",
		"var s : int = named(atoi(argv[2]));":                                          "2v 9v",
		"four[1] = atoi(argv[2]); f.addVertex(four[1]);":                               "2v 9v",
		"q = new priority_queue{V}(int)(false, false, x, 1, 2, false, atoi(argv[2]));": "2v 9v",
		"var s : int = atoi(argv[2]); if s == x[s] print s; end":                       "2v 9v",
		"var s : int = atoi(argv[2]); if s != -1 f.addVertex(s); end":                  "2v 9v",
		"x[atoi(argv[3])] = atoi(argv[2]);":                                            "2 3v 9v",
		"f.addVertex(atoi(argv[2]) - 1);":                                              "2nc 9v",
		"var s : int = atoi(argv[2]); s += 1; f.addVertex(s);":                         "2vnc 9v",
		"for i in 0:atoi(argv[2]) f.addVertex(i); end":                                 "2n 9v",
		"f = new vertexset{V}(atoi(argv[2]));":                                         "2n 9v",
		"var s : int = atoi(argv[2]); if s == 1 f.addVertex(s); end":                   "2vn 9v",
		"var s : int = atoi(argv[2]); if s < 1 f.addVertex(s); end":                    "2vn 9v",
		"four[atoi(argv[2])] = 1;":                                                     "2n 9v",
		"print argv[2];":                                                               "9v",
	} {
		require.Equal(t, want, kinds(checked(t, head+body+"\nend\n").Arguments(nil)), body)
	}
	f := checked(t, head+"f.addVertex(atoi(argv[2]));\nend\n")
	s, err := graphit.ParseSchedule("s.gt", []byte("SimpleGPUSchedule a; a.configDelta(\"argv[2]\"); "+
		"program->applyGPUSchedule(\"l\", a);"))
	require.NoError(t, err)
	require.Equal(t, "2vn 9v", kinds(f.Arguments(s)), "of a schedule it is a number")
	_, _, ok := f.FirstVertex()
	require.False(t, ok)
	for body, want := range map[string]int64{
		"f.addVertex(3);":                   3,
		"x[3] = 1;":                         3,
		"print x[3];":                       3,
		"var s : int = 3; f.addVertex(s);":  3,
		"var s : V = 3;":                    3,
		"print named(3);":                   3,
		"var s : int = plain(3); x[s] = 1;": 3,
		"var i : int = 0; while i < 4 x[i] = 1; i += 1; end":       -1,
		"for i in 0:4 x[i] = 1; end":                               -1,
		"four[3] = 7; print four[3] + 2; var n : int = 5;":         -1,
		"f = new vertexset{V}(0); var n : int = 3; n = n + 1;":     -1,
		"var s : int = -1; if s == x[0] print s; end x[1] = x[2];": 0,
	} {
		n, at, ok := checked(t, head+body+"\nend\n").FirstVertex()
		require.Equal(t, want >= 0, ok, body)
		if ok {
			require.Equal(t, want, n, body)
			require.Equal(t, 20, at.Line)
		}
	}
}
