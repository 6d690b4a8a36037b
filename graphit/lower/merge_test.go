package lower_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graphit/eval"
	"heddle/graphit/lower"
)

const twoLoops = wideHeader + `const A : vector{Vertex}(int) = 1;
const B : vector{Vertex}(int) = 1;
const turns : vector[1](int) = 0;
func first(src : Vertex, dst : Vertex)
    A[dst] += src;
end
func second(from : Vertex, to : Vertex)
    var twice : int = 2 * from;
    B[to] += twice;
end
func halve(v : Vertex)
    A[v] = A[v] / 2;
end
func third(v : Vertex)
    B[v] = B[v] / 3;
end
func main()
    #l1# for i in 0:4
        #s1# edges.apply(first);
        vertices.apply(halve);
    end
    #l2# for j in 0:4
        #s1# edges.apply(second);
        vertices.apply(third);
        turns[0] += j;
    end
end
schedule:
`

// TestMerged: fusions of loops and of functions leave the results as they are, by fewer launches, and the reference
// finds those that do not.
func TestMerged(t *testing.T) {
	g := odd(t)
	run := func(src string) (lower.Result, error) {
		return lower.Run(context.Background(), device(t, testWorkload(t)), g, parse(t, "m", src),
			lower.Options{Args: []string{"m", "graph"}, Workload: testWorkload(t)})
	}
	plain, err := run(twoLoops)
	require.NoError(t, err)
	loops := twoLoops + `program->fuseForLoop("l1", "l2", "l3");`
	one, err := run(loops)
	require.NoError(t, err)
	require.Equal(t, plain.Times.Launches, one.Times.Launches)
	both := loops + `program->fuseApplyFunctions("l3:l1:s1", "l3:l2:s1", "fused");
		SimpleGPUSchedule q; q.configLoadBalance(EDGE_ONLY); program->applyGPUSchedule("l3:l1:s1", q);`
	two, err := run(both)
	require.NoError(t, err)
	require.Equal(t, plain.Times.Launches-4, two.Times.Launches)
	require.Less(t, two.Steps, plain.Steps)
	for i := range plain.Vectors {
		require.Equal(t, plain.Vectors[i].Words, two.Vectors[i].Words)
	}
	require.Contains(t, strings.Join(two.Plans, " "), "l3:l1:s1/edge")

	wrong := strings.Replace(both, "B[to] += twice", "B[to] += A[from]", 1) // which the first loop's last round has made
	_, err = run(wrong)
	require.ErrorIs(t, err, eval.ErrCheck)
	for change, says := range map[string]string{
		`"l1", "l2", "l3"|"l2", "l1", "l3"`:                           "expected a loop l1 that counts right behind l2",
		"for j in 0:4|for j in 0:5":                                   "and l2 from 0 to 5: expected the same",
		"turns[0] += j;|break;":                                       "expected loops without break",
		`fuseApplyFunctions("l3:l1:s1"|fuseApplyFunctions("l3:l2:s1"`: "expected l3:l2:s1 behind l3:l2:s1",
		`"l1", "l2", "l3")|"l1", "l2")`:                               "takes 3 arguments",
	} {
		from, to, _ := strings.Cut(change, "|")
		_, err := run(strings.Replace(both, from, to, 1))
		require.ErrorContains(t, err, says)
	}
}

const fieldsProgram = wideHeader + `const A : vector{Vertex}(int) = 1;
const B : vector{Vertex}(float) = 2.5;
const C : vector{Vertex}(bool) = false;
const degree : vector{Vertex}(int) = edges.getOutDegrees();
const few : vector[3](int) = 0;
const D : vector{Vertex}(double) = 0.0;
func f(src : Vertex, dst : Vertex, weight : int)
    A[dst] max= src + weight;
    B[dst] += 1.0 / degree[src];
end
func g(v : Vertex)
    C[v] = A[v] > 7;
    if B[v] > 3.0123
        A[v] += 1000;
    end
end
func main()
    A[3] = 100;
    #one# edges.apply(f);
    vertices.apply(g);
    print A[3], C[3], degree[1];
end
schedule:
program->fuseFields(FIELDS);
`

// TestFields: arrays of structs hold what arrays of their own do, at other addresses.
func TestFields(t *testing.T) {
	g := odd(t)
	run := func(fields, schedule string) (lower.Result, error) {
		src := strings.Replace(fieldsProgram, "FIELDS", fields, 1)
		if fields == "" {
			src = strings.Replace(fieldsProgram, "program->fuseFields(FIELDS);", "", 1)
		}
		_, schedule, _ = strings.Cut(withSchedule("#one#", schedule), "schedule:")
		return lower.Run(context.Background(), device(t, testWorkload(t)), g, parse(t, "m", src+schedule),
			lower.Options{Args: []string{"m", "graph"}, Workload: testWorkload(t)})
	}
	for _, s := range languageSchedules {
		own, err := run("", s)
		require.NoError(t, err)
		together, err := run(`{"A", "B", "C", "degree"}`, s)
		require.NoError(t, err)
		require.Empty(t, together.Program.Notes[1:], "but that double is slow")
		for i := range own.Vectors {
			if own.Vectors[i].Var.Name != "B" { // whose sums come in another order
				require.Equal(t, own.Vectors[i].Words, together.Vectors[i].Words)
			}
		}
		require.NotEqual(t, own.Layout, together.Layout)
	}
	r, err := run(`"A", "few", "D", "A"`, "")
	require.NoError(t, err)
	require.Len(t, r.Program.Notes, 4)
	require.Nil(t, r.Program.Structs)
	_, err = run(`{"A", "nothing"}`, "")
	require.ErrorContains(t, err, "fuseFields: there is no vector nothing")
}
