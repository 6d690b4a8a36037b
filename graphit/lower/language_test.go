package lower_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/graphit/looptest"
	"heddle/graphit/lower"
	"heddle/internal/testenv"
)

// odd returns a graph with vertices without edges, self-loops, parallel edges, a vertex with many edges, and more
// vertices than a warp or a word has lanes.
func odd(t testing.TB) *graph.Graph {
	t.Helper()
	var text strings.Builder
	edges := 0
	add := func(a, b int) {
		fmt.Fprintf(&text, "%d %d %d\n", a+1, b+1, 1+(a*7+b)%9)
		edges++
	}
	for v := range 37 {
		add(v, (v*5+1)%37)
		add(v, (v*3+2)%37)
		add((v*5+1)%37, v)
		add(9, v)
		add(v, 9)
	}
	add(3, 3)
	add(3, 4)
	add(3, 4)
	add(1, 0)
	head := fmt.Sprintf("%%%%MatrixMarket matrix coordinate integer general\n45 45 %d\n", edges)
	g, err := graph.Read("odd.mtx", strings.NewReader(head+text.String()), graph.ReadOptions{})
	require.NoError(t, err)
	return g
}

// languageSchedules are the schedules under which each program of looptest.Language runs.
var languageSchedules = []string{"", "SimpleGPUSchedule q; q.configLoadBalance(VERTEX_BASED); q.configDirection(PUSH);",
	"SimpleGPUSchedule q; q.configLoadBalance(TWCE); q.configDirection(PUSH); q.configFrontierCreation(FUSED);",
	"SimpleGPUSchedule q; q.configLoadBalance(EDGE_ONLY);",
	"SimpleGPUSchedule q; q.configDirection(PULL, BITMAP);",
	"SimpleGPUSchedule q; q.configLoadBalance(CM); q.configDirection(PUSH); q.configFrontierCreation(UNFUSED_BITMAP);"}

// withSchedule is a program with a schedule for the labels that it has.
func withSchedule(src, schedule string) string {
	if schedule == "" {
		return src
	}
	for _, label := range []string{"one", "two"} {
		if strings.Contains(src, "#"+label+"#") {
			schedule += fmt.Sprintf(" program->applyGPUSchedule(%q, q);", label)
		}
	}
	return src + "\nschedule:\n" + schedule
}

// TestLanguage: constructs that Check replaces run verified under every schedule, and print the same.
func TestLanguage(t *testing.T) {
	graphs := map[string]*graph.Graph{"odd": odd(t)}
	if testenv.Long(t) > 0 {
		graphs["drawn"] = undirected(t)
	}
	for at, g := range graphs {
		for _, name := range slices.Sorted(maps.Keys(looptest.Language)) {
			prints := ""
			for i, s := range languageSchedules {
				src := withSchedule(looptest.Language[name], s)
				w := testWorkload(t)
				var out bytes.Buffer
				r, err := lower.Run(context.Background(), device(t, w), g, parse(t, name, src),
					lower.Options{Args: []string{name, "graph", "4"}, Output: &out, Workload: w, MaxSteps: 2000})
				if err != nil && refusal(err) && strings.Contains(s, "PULL") {
					continue // a queue's vertices are pushed
				}
				require.NoError(t, err, "%s on %s under %s", name, at, s)
				require.True(t, r.Verified)
				if i == 0 {
					prints = out.String()
				}
				require.Equal(t, prints, out.String(), "%s on %s under %s", name, at, s)
			}
		}
	}
}

// TestLanguageMeans: what programs print is what algorithms of other kinds find.
func TestLanguageMeans(t *testing.T) {
	for at, g := range map[string]*graph.Graph{"odd": odd(t), "drawn": undirected(t)} {
		for name, want := range map[string]string{
			"triangles": fmt.Sprintln(triangles(g)),
			"a path":    fmt.Sprintln(shortest(g, 4, 1)),
		} {
			w := testWorkload(t)
			var out bytes.Buffer
			_, err := lower.Run(context.Background(), device(t, w), g, parse(t, name, looptest.Language[name]),
				lower.Options{Args: []string{name, "graph", "4"}, Output: &out, Workload: w})
			require.NoError(t, err)
			require.Equal(t, want, out.String(), "%s on %s", name, at)
		}
	}
}

// triangles counts, for every edge to a smaller vertex, the common neighbours that are not beyond that.
func triangles(g *graph.Graph) (n int) {
	rows := g.CSR()
	for src := range g.Vertices() {
		for _, dst := range rows.Row(src) {
			if int(dst) >= src {
				continue
			}
			for v := range dst + 1 {
				count := func(list []uint32) (n int) {
					for _, w := range list {
						if w == v {
							n++
						}
					}
					return n
				}
				n += min(count(rows.Row(src)), count(rows.Row(int(dst))))
			}
		}
	}
	return n
}

// shortest is the length of the shortest path, by Bellman and Ford.
func shortest(g *graph.Graph, from, to int) int {
	const far = 1<<31 - 1
	dist := slices.Repeat([]int{far}, g.Vertices())
	dist[from] = 0
	rows := g.CSR()
	for range g.Vertices() {
		for v := range g.Vertices() {
			for i, w := range rows.Row(v) {
				if dist[v] != far {
					dist[w] = min(dist[w], dist[v]+int(rows.Weights[int(rows.Offsets[v])+i]))
				}
			}
		}
	}
	return dist[to]
}

// TestSplit: a counting loop that the schedule splits has the same rounds, and its parts have their own schedules.
func TestSplit(t *testing.T) {
	const src = `
element Vertex end
element Edge end
const edges : edgeset{Edge}(Vertex, Vertex) = load(argv[1]);
const vertices : vertexset{Vertex} = edges.getVertices();
const a : vector{Vertex}(int) = 1;
const b : vector{Vertex}(int) = 0;
func pass(src : Vertex, dst : Vertex)
    b[dst] += a[src];
end
func next(v : Vertex)
    a[v] = b[v] - (b[v] / 7) * 7;
    b[v] = 0;
end
func main()
    var rounds : int = 0;
    #outer# for j in 0:2
        #l1# for i in 1:6
            rounds += i;
            #s1# edges.apply(pass);
            vertices.apply(next);
        end
    end
    print rounds, a.sum();
end
schedule:
    program->splitForLoop("outer:l1", "l2", "l3", ROUNDS, 9);
    program->configApplyDirection("outer:l2:s1", "DensePull");
    program->configApplyDirection("outer:l3:s1", "SparsePush");
`
	g := odd(t)
	want := ""
	for _, rounds := range []string{"2", "0", "5", "99"} {
		w := testWorkload(t)
		var out bytes.Buffer
		r, err := lower.Run(context.Background(), device(t, w), g, parse(t, "p", strings.Replace(src, "ROUNDS", rounds, 1)),
			lower.Options{Args: []string{"p", "graph"}, Output: &out, Workload: w})
		require.NoError(t, err)
		require.True(t, r.Verified)
		require.Equal(t, 10, r.Steps)
		require.Contains(t, r.Plans[0], "pull")
		require.Contains(t, r.Plans[1], "push")
		require.Contains(t, out.String(), "30 ")
		require.True(t, want == "" || want == out.String())
		want = out.String()
	}
	_, err := lower.Run(context.Background(), device(t, testWorkload(t)), g,
		parse(t, "p", strings.Replace(src, "outer:l1\", \"l2", "outer:l9\", \"l2", 1)),
		lower.Options{Args: []string{"p", "graph"}, Workload: testWorkload(t)})
	require.ErrorContains(t, err, "p:27:14: splitForLoop: expected a number of rounds, found ROUNDS")
	_, err = lower.Run(context.Background(), device(t, testWorkload(t)), g,
		parse(t, "p", strings.NewReplacer("outer:l1\", \"l2", "outer:l9\", \"l2", "ROUNDS", "1").Replace(src)),
		lower.Options{Args: []string{"p", "graph"}, Workload: testWorkload(t)})
	require.ErrorContains(t, err, "p:27:14: splitForLoop: there is no loop outer:l9 that counts")
}
