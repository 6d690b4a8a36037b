package graphit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graphit"
	"heddle/graphit/looptest"
)

const header = "element Vertex end\nelement Edge end\n" +
	"const edges : edgeset{Edge}(Vertex,Vertex) = load(argv[1]);\nconst vertices : vertexset{Vertex} = " +
	"edges.getVertices();\n" +
	"const A : vector{Vertex}(int) = 0;\nconst B : vector{Vertex}(float) = 0;\n"

// doubling are functions of which each calls the one before twice: each is as large as two of these.
func doubling(n int) string {
	var b strings.Builder
	b.WriteString("func f0(v : Vertex) A[v] = 1; end\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "func f%d(v : Vertex) f%d(v); f%d(v); end\n", i, i-1, i-1)
	}
	return b.String()
}

// sums are functions whose results add up two of the one before.
func sums(n int) string {
	var b strings.Builder
	b.WriteString("func f0(x : int) -> o : int o = x; end\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "func f%d(x : int) -> o : int o = f%d(x) + f%d(x); end\n", i, i-1, i-1)
	}
	return b.String()
}

// hosts are functions of main's of which each calls the one before twice.
func hosts(n int) string {
	var b strings.Builder
	b.WriteString("func f0() vertices.apply(g); end func g(v : Vertex) A[v] = 1; end\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "func f%d() f%d(); f%d(); end\n", i, i-1, i-1)
	}
	return b.String()
}

// TestErrors: an error has its line and column, and the expectation.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ program, says string }{
		{"func main() end", ""},
		{"func main() x = ; end", `7:17: expected an expression, found ";"`},
		{"func main() print 1 end", `7:21: expected ";", found "end"`},
		{"func main()\n print x; end", "8:8: there is no x"},
		{"func main() if 1.5 print 1; end end", "7:16: expected a condition, found float"},
		{"func main() var a : Node; end", "7:21: there is no element Node"},
		{"func main() A[0] = 1.5; end", "7:20: the left side is int: it cannot take 1.5, which is no whole number"},
		{"func main() A = 1; end", "7:13: a vector cannot be assigned as a whole"},
		{"func main() vertices.apply(main); end", "7:28: expected a function of a vertex"},
		{"func f(v : Vertex) end func main() edges.apply(f); end", "7:48: expected a function of source and destination"},
		{"func f(v : Vertex) end func main() vertices.where(f); end", "7:51: expected a function of a vertex with a bool as its result"},
		{"func f(a : Vertex, b : Vertex, w : int) end func main() edges.apply(f); end", "7:69: f takes a weight, and the edges"},
		{"func f(a : Vertex, b : Vertex) end func main() edges.applyModified(f, vertices); end", "applyModified: expected a vector of Vertex"},
		{"func main() vertices.grow(); end", "7:22: vertexset{Vertex} has no method grow: expected one of addVertex, apply"},
		{"func main() edges = edges.relabel(); end", ""},
		{"extern func f(v : Vertex) -> far : double; func main() end", "7:8: extern func f(v : Vertex) -> far : double: expected a function with this signature, in GraphIt or in C (--extern FILE.gt, FILE.c; or beside the program, p.extern.gt), or in Go (heddle.WithExtern)"},
		{"func f[a : int](v : Vertex) A[v] += a; end func main() vertices.apply(f[1]); vertices.apply(f[A[2]]); end", ""},
		{"func f[a : int](v : Vertex) end func main() vertices.apply(f[1, 2]); end", "7:60: f captures 1 variables in [], found 2"},
		{"func f[a : vector{Vertex}(int)](v : Vertex) end func main() vertices.apply(f[3 * 2]); end", "7:80: f: 3 * 2 is captured: expected a vector"},
		{"func f[a : int](v : Vertex) f[a](v); end func main() vertices.apply(f[1]); end", "function f calls itself"},
		{"func f[a : int](v : Vertex) f[a](v); end func main() f[1](2); end", "7:29: function f calls itself"},
		{"func f() print 1; end func main() while f() == 1 end end", "7:41: f has no result"},
		{"func f() -> n : int n = 1; end func main() while f() == 1 end end", "a call of a function of the program in a loop's condition"},
		{hosts(3) + "func main() f2(); end", ""},
		{hosts(40) + "func main() f39(); end", "the program is too large: it has more than 131072 expressions"},
		{sums(22) + "func main() var a : int = f21(1); end", "the program is too large: it has more than 131072 expressions"}, // which names do not make slow
		{"const x : uint_64 = 0; func main() end", ""},
		{"const x : vector{Vertex}(vector[3](int)) = 0; func main() x[1][2] = 3; print x[1][2]; end", ""},
		{"const x : vector{Vertex}(vector[3](int)) = 0; func main() x[1] = 3; end", "7:60: x[1]: expected an element, which is a number, of vector{Vertex}(vector[3](int))"},
		{"const x : vector[1000](vector[2000](int)) = 0;", "expected a vector of at most 1048576 numbers, found 2000000"},
		{"const x : vector[3](int) = {1, 2}; func main() end", "7:28: x is vector[3](int): it cannot take 2 elements"},
		{"func main() print {1}; end", "elements in {}: expected them where a vector is declared or assigned"},
		{"export func f(s : string) end", "7:15: export func f: a parameter of type string cannot be given on the command line"},
		{"func f(v : Vertex) print v; end func main() var s : vertexset{Vertex}; s.apply(f); end", "f prints, and so runs on the host: expected it for all vertices"},
		{"func f(a : int) g(a); end func g(a : int) f(a); end func main() end", "calls itself"},
		{"func main() print edges.getOutDegrees()[0]; end", "expected a variable that is a vector"},
		{"func main() break; end", "7:13: break outside of a loop"},
		{"func main() A[0] -= 1; end", "-= is no reduction of GraphIt"},
		{"func f(v : Vertex) end", "there is no function main"},
		{"func main() end func main() end", "there is a function main already"},
		{"const A : int = 1;", "the name A is taken"},
		{"func main() par_for v in 0:1; end end", ""},
		{"func main() print \"a\n\"; end", `7:19: a string without its closing "`},
		{"func main() print 1x; end", "expected a number, or a name that begins with a letter"},
		{"func main() #s print 1; end", "expected a label as in #s1#"},
		{"func main() print 4294967296; end", "does not fit 32 bits"},
		{"func main() print " + strings.Repeat("(", 300) + "1; end", "nested more than 200 deep"},
		{"func main() print 1" + strings.Repeat("+1", 300) + "; end", "more than 200 operators in a row"},
		{"func main() print -2147483648, " + strings.Repeat("9", 100_000) + "; end", "does not fit 32 bits"},
		{"func main() print 1e999999999999; end", "is too large"},
		{doubling(10) + "func main() end", ""},
		{doubling(30) + "func main() end", "p.gt:17:29: function f10 is too large: it has more than 8192 expressions, with those of the functions that it calls"},
		{doubling(100_000/40) + "func main() end", "is too large"},
		{"func f(a : int) " + strings.Repeat("A[0] = 1;", 3000) + " end func main() end", "function f is too large"},
	} {
		f, err := graphit.Parse("p.gt", []byte(header+c.program))
		if err == nil {
			err = graphit.Check(f)
		}
		if c.says == "" {
			require.NoError(t, err, c.program)
			continue
		}
		require.ErrorContains(t, err, c.says, c.program)
		require.ErrorContains(t, err, "p.gt:", c.program)
	}
}

// TestSchedules: the settings of schedules, and their errors.
func TestSchedules(t *testing.T) {
	s, err := graphit.ParseSchedule("s.gt", []byte(`schedule:
	SimpleGPUSchedule s1; // for many
	s1.configLoadBalance(EDGE_ONLY, BLOCKED, 4096);
	s1.configDirection(PUSH);
	SimpleGPUSchedule s2 = s1;
	s2.configDirection(PULL, BITMAP);
	SimpleGPUSchedule s3(s2);
	s3.configDelta("argv[3]");
	HybridGPUSchedule h1(INPUT_VERTEXSET_SIZE, 0.12, s1, s2);
	program->applyGPUSchedule("s0:s1", h1);
	program->applyGPUSchedule("s2", s3);
	s3.configDelta(7);
	program->configApplyDirection("s1", "SparsePush")->configApplyParallelization("s1", "serial");`))
	require.NoError(t, err)
	require.Len(t, s.GPU, 2)
	h := s.GPU[0].Hybrid
	require.Equal(t, "s0:s1", s.GPU[0].Label)
	require.Equal(t, "0.12", h.Threshold.Text)
	require.Equal(t, "PUSH", h.Below.Direction.Args[0].Text, "a copy is none of what it is of")
	require.Equal(t, "PULL", h.Above.Direction.Args[0].Text)
	require.Equal(t, "4096", h.Above.LoadBalance.Args[2].Text)
	n, ok := s.GPU[1].Simple.Delta.Args[0].Argv()
	require.True(t, ok, "what is configured later changes nothing of what was applied")
	require.Equal(t, 3, n)
	require.Equal(t, []string{"configApplyDirection", "configApplyParallelization"},
		[]string{s.CPU[0].Name, s.CPU[1].Name})
	for _, c := range []struct{ schedule, says string }{
		{"SimpleGPUSchedule s; s.configDirection(SIDEWAYS);", "1:24: configDirection: expected one of PUSH, PULL, found SIDEWAYS"},
		{"SimpleGPUSchedule s; s.configDirection();", "configDirection takes 1 to 2 arguments, found 0"},
		{"SimpleGPUSchedule s; s.configDelta(many);", "configDelta: expected a number or an argument"},
		{"SimpleGPUSchedule s; s.configWarp(1);", "a SimpleGPUSchedule has no configWarp: expected one of configLoadBalance"},
		{"SimpleGPUSchedule s; SimpleGPUSchedule s;", "there is a schedule s already"},
		{"t.configDelta(1);", "there is no SimpleGPUSchedule t"},
		{"HybridGPUSchedule h(INPUT_VERTEXSET_SIZE, 0.1, a, b);", "there is no SimpleGPUSchedule a"},
		{"HybridGPUSchedule h(OUTPUT, 0.1, a, b);", "expected INPUT_VERTEXSET_SIZE"},
		{"program->applyGPUSchedule(\"s1\", s);", "there is no schedule s"},
		{"program->doEverything(1);", "there is no scheduling function doEverything"},
		{"CompositeSwarmSchedule s;", "expected SimpleSwarmSchedule"},
		{"SimpleSwarmSchedule s; s.configKernelFusion(ENABLED);", "has no configKernelFusion"},
		{"SimpleSwarmSchedule s; s.configTaskGranularity(EDGE_BASED);", "expected one of FINE, COARSE"},
		{"program->applySwarmSchedule(\"s1\", s);", "no SimpleSwarmSchedule s"},
	} {
		_, err := graphit.ParseSchedule("s.gt", []byte(c.schedule))
		require.ErrorContains(t, err, c.says)
	}
}

// TestFormat: the layout of a program, which is its own.
func TestFormat(t *testing.T) {
	for _, name := range []string{"layout"} {
		src, err := os.ReadFile(filepath.Join("testdata", name+".gt"))
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join("testdata", name+".formatted"))
		require.NoError(t, err)
		got, err := graphit.Format(name, src)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
		again, err := graphit.Format(name, got)
		require.NoError(t, err)
		require.Equal(t, string(got), string(again))
	}
	_, err := graphit.Format("p.gt", []byte("func func"))
	require.ErrorContains(t, err, "p.gt:1:6: expected the name of a function")
}

// FuzzProgram: whatever is read, there is a program or an error with its place, and a layout that is its own and
// changes nothing but spaces.
func FuzzProgram(f *testing.F) {
	files, err := filepath.Glob("testdata/*.gt")
	require.NoError(f, err)
	for _, name := range files {
		src, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(src)
	}
	f.Add([]byte(header + hosts(30) + "func main() f29(); end"))
	f.Add([]byte(header + "func f[a : vector{Vertex}(int), n : int](v : Vertex) a[v] += n; end\n" +
		"func h(x : int) -> y : vector[2](vector[2](int)) y[0][x] = 3; print x; end\nextern func g();\n" +
		"func main() var b : vector{Vertex}(int) = {1}; # l # par_for i in 0:3; vertices.apply(f[b, i]); h(1); end; end"))
	for _, src := range looptest.Language {
		f.Add([]byte(src))
	}
	f.Add([]byte("\uFEFF" + header + doubling(40) + "func main() vertices.apply(f9); end"))
	f.Add([]byte(header + "func main() print 1 min= 2; x = -1 - -2; % c\nend\nschedule:\nSimpleGPUSchedule s;"))
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := graphit.Parse("p.gt", src)
		if err == nil {
			err = graphit.Check(p)
		}
		if err != nil {
			require.Regexp(t, `^p\.gt:\d+:\d+: `, err.Error())
		}
		_, _ = graphit.ParseSchedule("p.gt", src)
		once, err := graphit.Format("p.gt", src)
		if err != nil {
			return
		}
		require.Equal(t, squeezed(src), squeezed(once))
		twice, err := graphit.Format("p.gt", once)
		require.NoError(t, err, "%s", once)
		require.Equal(t, string(once), string(twice))
	})
}

func squeezed(src []byte) string {
	return strings.NewReplacer(" ", "", "\t", "", "\n", "", "\r", "").Replace(strings.TrimPrefix(string(src), "\uFEFF"))
}

// TestLink: extern functions of another file, whose errors have its name.
func TestLink(t *testing.T) {
	const program = header + "extern func far(v : Vertex) -> d : int;\nextern func unused(some : vertexset{Vertex});\n" +
		"func f(v : Vertex) A[v] = far(v); end\nfunc main() vertices.apply(f); A[0] = far(1); end"
	for _, c := range []struct{ extern, says string }{
		{"func far(v : Vertex) -> d : int d = v + more; end\nfunc unused(some : vertexset{Vertex}) end\nconst more : int = 3;", ""},
		{"func far(v : Vertex) -> d : int d = v; end", "p.gt:8:8: extern func unused(some : vertexset{Vertex}): expected a function"},
		{"func far(v : Vertex) -> d : bool d = true; end", "e.gt:1:1: func far(v : Vertex) -> d : bool: expected func far(v : Vertex) -> d : int, as p.gt declares it"},
		{"func f(v : Vertex) end", "e.gt:1:1: func f: p.gt has a function of this name"},
		{"func far(v : Vertex) -> d : int\n d = nothing; end func unused(some : vertexset{Vertex}) end", "e.gt:2:6: there is no nothing"},
	} {
		f, err := graphit.Parse("p.gt", []byte(program))
		require.NoError(t, err)
		with, err := graphit.Parse("e.gt", []byte(c.extern))
		require.NoError(t, err)
		if err = f.Link(with); err == nil {
			err = graphit.Check(f)
		}
		if c.says == "" {
			require.NoError(t, err)
			require.NoError(t, graphit.Check(f), "once more")
			continue
		}
		require.ErrorContains(t, err, c.says)
	}
}
