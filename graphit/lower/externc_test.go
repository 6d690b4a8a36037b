package lower_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/graphit"
	"heddle/graphit/cextern"
	"heddle/graphit/lower"
	"heddle/graphit/programs"
	"heddle/internal/testenv"
	"heddle/internal/tools"
	"heddle/kernels/host"
	"heddle/sim"
)

// inC checks a program whose extern functions are in C.
func inC(t *testing.T, src, functions string) (*graphit.File, error) {
	t.Helper()
	tools.Need(t, "riscv64-unknown-elf-gcc")
	f, err := graphit.Parse("p.gt", []byte(src))
	require.NoError(t, err)
	if err := cextern.Compile(context.Background(), f, "f.c", []byte(functions)); err != nil {
		return nil, err
	}
	return f, graphit.Check(f)
}

const externsC = wideHeader + `const A : vector{Vertex}(int) = 0;
const F : vector{Vertex}(float) = 0.0;
const D : vector{Vertex}(double) = 0.0;
const B : vector{Vertex}(bool) = false;
const degree : vector{Vertex}(int) = edges.getOutDegrees();
extern func steps(a : Vertex, weight : int) -> n : int;
extern func half(x : float, above : bool) -> y : float;
extern func root(x : double, n : uint) -> y : double;
extern func even(v : Vertex) -> yes : bool;
extern func prepare(file : string, n : int);
extern func some(of : vertexset{Vertex}) -> out : vertexset{Vertex};
func f(src : Vertex, dst : Vertex, weight : int)
    if even(src)
        A[dst] += steps(src, weight) + weight;
    end
end
func g(v : Vertex)
    F[v] = half(v * 1.0, even(v));
    D[v] += root(v + 2, degree[v]);
    B[v] = even(v);
end
func h(v : Vertex)
    A[v] += 1000;
end
func main()
    prepare(argv[1], edges.getVertices());
    #one# edges.apply(f);
    vertices.apply(g);
    prepare("again", steps(3, 1));
    vertices.apply(g);
    var few : vertexset{Vertex} = some(vertices);
    few.apply(h);
    print steps(3, 9);
end`

// functionsC branch by their arguments, so that lanes of a warp go different ways.
const functionsC = `#include "graphit.h"
static int table[4] = {5, 6, 7, 8};
int steps(unsigned a, int weight)
{
	int n = 0;
	for (unsigned x = a + 1; x != 1; n++)
		x = x & 1 ? 3 * x + 1 : x / 2;
	return n * table[weight & 3];
}
float half(float x, _Bool above)
{
	if (above)
		return x / 3;
	return x > 10 ? x * 2 : -x;
}
double root(double x, unsigned n)
{
	double y = x;
	for (unsigned i = 0; i < n % 5; i++)
		y = (y + x / y) / 2;
	return y;
}
_Bool even(unsigned v) { return v % 2 == 0; }
void prepare(const char *file, int n)
{
	for (int i = 0; file[i]; i++)
		table[i & 3] += file[i] + n;
	for (unsigned v = 0; v < gt_vertices; v++)
		A[v] += gt_begin[v + 1] - gt_begin[v] + (gt_begin[v] < gt_begin[v + 1] ? gt_weight[gt_begin[v]] : 0);
}
static unsigned kept[100];
gt_set some(gt_set of)
{
	gt_set out = {0, kept};
	for (unsigned i = of.size; i-- > 0;)
		if (A[of.vertices[i]] > 3 && !B[of.vertices[i]] && out.size < 100)
			kept[out.size++] = of.vertices[i];
	return out;
}
`

// TestExternC: functions in C run on the machine as the reference runs them, whatever lanes call them and wherever.
func TestExternC(t *testing.T) {
	testenv.NeedSlow(t, "it simulates with functions in C")
	g := odd(t)
	want := map[bool][]lower.Vector{}
	for i, s := range languageSchedules {
		for _, float := range []bool{false, true}[:1+len(languageSchedules)-max(i, len(languageSchedules)-1)] {
			f, err := inC(t, withSchedule(externsC, s), functionsC)
			require.NoError(t, err)
			d := device(t, testWorkload(t))
			if i == 0 {
				l, err := configs.LoadMachine("vortex-1c4w4t", nil, nil)
				require.NoError(t, err)
				d, err = host.NewTimed(l.Value, sim.Options{})
				require.NoError(t, err)
			}
			r, err := lower.Run(context.Background(), d, g, f,
				lower.Options{Args: []string{"p", "graph"}, Workload: testWorkload(t), Float: float})
			require.NoError(t, err, s)
			require.True(t, r.Verified)
			if want[float] == nil {
				want[float] = r.Vectors
			}
			for n, v := range r.Vectors {
				require.Equal(t, want[float][n].Words, v.Words, "%s under %s", v.Var.Name, s)
			}
		}
	}
}

// TestPublishedExternsC: the functions in C of astar and set_cover give what those in GraphIt give.
func TestPublishedExternsC(t *testing.T) {
	src, err := programs.Extern("set_cover.c")
	require.NoError(t, err)
	f, err := inC(t, setCover, strings.ReplaceAll(string(src), "1.01", "1.1"))
	require.NoError(t, err)
	w := testWorkload(t)
	opt := lower.Options{Args: []string{"cover", "graph"}, Workload: w}
	r, err := lower.Run(context.Background(), device(t, w), odd(t), f, opt)
	require.NoError(t, err)
	require.True(t, r.Verified)
	src, err = programs.Extern("set_cover.gt")
	require.NoError(t, err)
	other, err := graphit.Parse("p.gt", []byte(setCover))
	require.NoError(t, err)
	with, err := graphit.Parse("cover.gt", src)
	require.NoError(t, err)
	require.NoError(t, other.Link(with))
	require.NoError(t, graphit.Check(other))
	o, err := lower.Run(context.Background(), device(t, w), odd(t), other, opt)
	require.NoError(t, err)
	require.Equal(t, o.Vectors[0].Words, r.Vectors[0].Words, r.Vectors[0].Var.Name)
}

// TestExternCRefused: what C cannot do, and what a function of edges must not.
func TestExternCRefused(t *testing.T) {
	for _, c := range []struct{ old, new, says string }{
		{"float half(float x, _Bool above)", "float half(int x, _Bool above)", "conflicting types for 'half'"},
		{"_Bool even(unsigned v) { return v % 2 == 0; }", "", "extern func even(v : Vertex) -> yes : bool: expected a function"},
		{"return n * table", "table[0]++; return n * table", "p.gt:18:19: steps f.c: is called for edges or vertices, and writes the variable table"},
		{"return v % 2", "return A[v] % 2", "even f.c: is called for edges or vertices, and reads or writes vectors"},
		{"x != 1; n++", ";", "steps f.c: does not end within 4194304 instructions"},
		{"return out;", "out.size = 1 << 30; return out;", "it returns a set of 1073741824 vertices: the graph has"},
		{"table[4]", "table[4000000]", "3 MiB"},
		{"float half(", "int open(const char *); float half(", ""},
		{"A[v] += gt_begin", "A[v] += D[v] + gt_begin", "prepare f.c: reads an element of D that depends on roundings"},
		{"return x / 3", "return undefined(x)", "implicit declaration"},
	} {
		text := strings.Replace(functionsC, c.old, c.new, 1)
		require.NotEqual(t, functionsC, text)
		f, err := inC(t, externsC, text)
		if err == nil {
			_, err = lower.Run(context.Background(), device(t, testWorkload(t)), odd(t), f,
				lower.Options{Args: []string{"p", "graph"}, Workload: testWorkload(t)})
		}
		if c.says == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.says)
	}
	_, err := inC(t, strings.Replace(externsC, "n : uint) -> y", "n : vector{Vertex}(int)) -> y", 1), functionsC)
	require.ErrorContains(t, err, "cannot be given to a C function")
	_, err = inC(t, strings.Replace(externsC, "x : double, n : uint",
		"x : double, a : double, b : double, c : double, n : uint", 1), functionsC)
	require.ErrorContains(t, err, "8 words of arguments at most")
}
