package eval_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/programs"
)

// numbers are those at which types end, and others.
var numbers = []int64{0, 1, 2, 3, 7, 46340, 46341, 65535, 65536, 1 << 30, math.MaxInt32 - 1, math.MaxInt32}

func draw(r *rand.Rand) int64 {
	if r.IntN(3) == 0 {
		return r.Int64N(1 << r.IntN(32))
	}
	return numbers[r.IntN(len(numbers))]
}

// term is an expression with its value, computed without a width; nil: C++ does not define it.
type term struct {
	text string
	uint bool
	val  *big.Int
}

var modulus = new(big.Int).Lsh(big.NewInt(1), 32)

// fits is a value of a type, as C++ has it.
func fits(v *big.Int, unsigned bool) *big.Int {
	switch {
	case v == nil:
		return nil
	case unsigned:
		return new(big.Int).Mod(v, modulus)
	case v.IsInt64() && v.Int64() == int64(int32(v.Int64())):
		return v
	}
	return nil
}

// drawn draws an expression.
func drawn(r *rand.Rand, depth int) term {
	if depth == 0 || r.IntN(5) == 0 {
		switch n := draw(r); r.IntN(4) {
		case 0:
			return term{fmt.Sprint(n + 1<<31), true, big.NewInt(n + 1<<31)}
		case 1:
			return term{"u", true, big.NewInt(5)}
		default:
			return term{fmt.Sprint(n), false, big.NewInt(n)}
		}
	}
	x := drawn(r, depth-1)
	if r.IntN(6) == 0 {
		if x.text == "2147483648" {
			return term{"(-2147483648)", false, big.NewInt(math.MinInt32)}
		}
		t := term{"(-" + x.text + ")", x.uint, nil}
		if x.val != nil {
			t.val = fits(new(big.Int).Neg(x.val), x.uint)
		}
		return t
	}
	y := drawn(r, depth-1)
	op := []string{"+", "-", "*", "/"}[r.IntN(4)]
	t := term{"(" + x.text + " " + op + " " + y.text + ")", x.uint || y.uint, nil}
	if x.val == nil || y.val == nil {
		return t
	}
	a, b, v := fits(x.val, t.uint), fits(y.val, t.uint), new(big.Int)
	switch op {
	case "+":
		v.Add(a, b)
	case "-":
		v.Sub(a, b)
	case "*":
		v.Mul(a, b)
	default:
		if b.Sign() == 0 {
			return t
		}
		v.Quo(a, b)
	}
	t.val = fits(v, t.uint)
	return t
}

// outcome runs a program, and returns its output.
func outcome(t *testing.T, src string, g *graph.Graph, args ...string) (string, error) {
	var out strings.Builder
	h := eval.NewHost(build(t, src), g, eval.Options{Args: append([]string{"p", "g"}, args...), Output: &out})
	err := h.Run(context.Background(), eval.NewReference(h))
	if err != nil {
		var wrong *graphit.Error
		require.ErrorAs(t, err, &wrong)
	}
	return out.String(), err
}

// TestIntegers: expressions have the value that they have without a width, modulo 2^32 if they are unsigned, or the
// program is refused, where main computes them and where an operator's function does.
func TestIntegers(t *testing.T) {
	r, g := rand.New(rand.NewPCG(3, 1)), small(t)
	refused := 0
	for range 3000 {
		x := drawn(r, 4)
		to, of := "int", false
		if r.IntN(2) == 0 {
			to, of = "uint", true
		}
		want := x.val
		if !of && x.uint && want != nil {
			want = fits(want, false)
		}
		want = fits(want, of)
		if !of && x.text == "4294967295" { // of which C++'s compilers make -1
			want = big.NewInt(-1)
		}
		program := declarations + "const u : uint = 5;\nconst B : vector{Vertex}(" + to + ") = 0;\n" +
			"func put(v : Vertex) B[v] = " + x.text + "; end\nfunc main() vertices.apply(put); print B[2]; end"
		if r.IntN(2) == 0 {
			program = declarations + "const u : uint = 5;\nfunc main() var x : " + to + " = " + x.text +
				"; print x; end"
		}
		out, err := outcome(t, program, g)
		if want == nil {
			refused++
			require.Error(t, err, "%s", program)
			require.Regexp(t, `^p\.gt:\d+:\d+: .*(holds|by 0)`, err.Error())
			continue
		}
		require.NoError(t, err, "%s", program)
		require.Equal(t, want.String()+"\n", out, "%s", program)
	}
	require.Greater(t, refused, 300)
	require.Less(t, refused, 2700)
}

// TestSums: a sum over edges may exceed its type in between, but not at the end.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	refused, sums := 0, 0
	for range 300 {
		var list strings.Builder
		total := map[int]int64{}
		for range 1 + r.IntN(12) {
			to, w := r.IntN(3), draw(r)
			if r.IntN(2) == 0 {
				w = -w
			}
			fmt.Fprintf(&list, "%d %d %d\n", 3+r.IntN(4), to, w)
			total[to] += w
		}
		g, err := graph.Read("g", strings.NewReader(list.String()+"3 0 0\n3 1 0\n3 2 0\n"), graph.ReadOptions{})
		require.NoError(t, err)
		out, err := outcome(t, strings.Replace(declarations, "(Vertex, Vertex)", "(Vertex, Vertex, int)", 1)+
			"const S : vector{Vertex}(int) = 0;\nconst U : vector{Vertex}(uint) = 0;\n"+
			"func add(src : Vertex, dst : Vertex, w : int) S[dst] += w; end\nfunc addU(src : Vertex, dst : Vertex, w : int) "+
			"U[dst] += w; end\n"+
			"func main() edges.apply(addU); print U[0]; edges.apply(add); print S[0], S[1], S[2], S.sum(); end", g)
		require.True(t, strings.HasPrefix(out, fmt.Sprint(uint32(total[0]))+"\n"), out)
		large := func(n int64) bool { return n != int64(int32(n)) }
		whole := total[0] + total[1] + total[2]
		switch {
		case large(total[0]) || large(total[1]) || large(total[2]):
			refused++
			require.ErrorContains(t, err, "when all has been added, is ")
		case large(whole):
			sums++
			require.ErrorContains(t, err, fmt.Sprintf("S.sum() is %d: an int holds", whole))
		default:
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("%d\n%d %d %d %d\n", uint32(total[0]), total[0], total[1], total[2], whole),
				out)
		}
	}
	require.Greater(t, refused, 20)
	require.Greater(t, sums, 5)
	require.Less(t, refused, 250)
}

// weighted is a directed graph with weights near the limits of an int.
type weighted struct {
	n     int
	edges [][3]int64
}

func drawWeighted(r *rand.Rand) weighted {
	w := weighted{n: 2 + r.IntN(7)}
	for range r.IntN(3 * w.n) {
		weight := draw(r)
		if r.IntN(12) == 0 {
			weight = -weight >> r.IntN(31)
		}
		w.edges = append(w.edges, [3]int64{r.Int64N(int64(w.n)), r.Int64N(int64(w.n)), weight})
	}
	return w
}

func (w *weighted) graph(t *testing.T) *graph.Graph {
	var list strings.Builder
	for v := range w.n {
		fmt.Fprintf(&list, "%d %d 1\n", w.n, v) // every vertex is there; nothing leads to this one
	}
	for _, e := range w.edges {
		fmt.Fprintf(&list, "%d %d %d\n", e[0], e[1], e[2])
	}
	g, err := graph.Read("g", strings.NewReader(list.String()), graph.ReadOptions{})
	require.NoError(t, err)
	return g
}

const none = math.MaxInt64

// distances are those from vertex 0 in 64 bits; falls: they have no least.
func (w *weighted) distances() (d []int64, falls bool) {
	d = slices.Repeat([]int64{none}, w.n+1)
	d[0] = 0
	for range w.n + 1 {
		falls = false
		for _, e := range w.edges {
			if d[e[0]] != none && d[e[0]]+e[2] < d[e[1]] {
				d[e[1]], falls = d[e[0]]+e[2], true
			}
		}
	}
	return d, falls
}

// TestDistances: shortest paths equal those in 64 bits, or the program is refused: if a path along a shortest one
// overflows, or has the length that denotes unreached, or if there is no shortest one.
func TestDistances(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	seen := map[string]int{}
	for range 1500 {
		w := drawWeighted(r)
		name := []string{"sssp", "delta_stepping"}[r.IntN(2)]
		src, err := programs.Source(name)
		require.NoError(t, err)
		want, falls := w.distances()
		negative := slices.ContainsFunc(w.edges, func(e [3]int64) bool { return e[2] < 0 })
		if negative && name == "delta_stepping" {
			continue // buckets are for weights from 0 on
		}
		p := build(t, string(src))
		h := eval.NewHost(p, w.graph(t), eval.Options{Args: []string{"p", "g", "0"}})
		ref := eval.NewReference(h)
		err = h.Run(context.Background(), ref)
		must, may := falls, falls
		var most int64
		for _, e := range w.edges {
			most += max(0, e[2])
			if d := want[e[0]]; d != none {
				must = must || d+e[2] > math.MaxInt32 || want[e[1]] == math.MaxInt32
			}
		}
		may = may || most >= math.MaxInt32 || slices.ContainsFunc(want, func(d int64) bool { return d < math.MinInt32 })
		switch {
		case err == nil:
			require.False(t, must, "%s %v %v", name, w, want)
			for v, d := range want {
				require.Equal(t, min(d, math.MaxInt32), ref.Element(p.Vectors[0], v).I, "%s %v", name, w)
			}
			seen["accepted"]++
		case errors.Is(err, eval.ErrStopped):
			require.True(t, falls, "%s %v: %v", name, w, err)
			require.Contains(t, err.Error(), "falls for ever: the weights along the cycle ")
			seen["falls"]++
		default:
			require.True(t, may, "%s %v: %v", name, w, err)
			require.Regexp(t, `^p\.gt:\d+:\d+: distance\[.*: (an int holds -2147483648 to 2147483647 \((edge from )?vertex|that is the greatest int)`, err.Error())
			seen["too large"]++
			if strings.Contains(err.Error(), "reads as not reached") {
				seen["not reached"]++
			}
		}
	}
	for _, what := range []string{"accepted", "falls", "too large", "not reached"} {
		require.Greater(t, seen[what], 10, "%v", seen)
	}
}
