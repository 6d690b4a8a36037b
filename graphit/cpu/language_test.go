package cpu

import (
	"bytes"
	"context"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graphit"
	"heddle/graphit/graphir"
	"heddle/graphit/looptest"
	"heddle/graphit/programs"
	"heddle/internal/testenv"
)

// head begins programs of tests.
const head = `
element Vertex end
element Edge end
const edges : edgeset{Edge}(Vertex, Vertex, int) = load(argv[1]);
const vertices : vertexset{Vertex} = edges.getVertices();
const degree : vector{Vertex}(int) = edges.getOutDegrees();
const a : vector{Vertex}(int) = 7;
const b : vector{Vertex}(uint) = 3;
const x : vector{Vertex}(float) = 1.5;
const y : vector{Vertex}(double) = 0.25;
const odd : vector{Vertex}(bool) = false;
const total : vector[2](int) = 0;
const most : vector[1](float) = 0.0;
const pq : priority_queue{Vertex}(int);
const step : int = 3;
const share : double = 1.0 / (step + 1);
`

// features are programs that each use some constructs of the language, with their output.
var features = []struct{ name, source, schedule, prints string }{
	{"statements", `
func halve(n : int) -> h : int
    var k : int = n;
    h = 0;
    while k > 1
        k = k / 2;
        if h > 5
            break;
        elif k == 3
            h += 2;
        else
            h += 1;
        end
    end
end
func f(v : Vertex)
    for i in 0:4
        a[v] += halve(degree[v]) + i;
    end
    odd[v] = (v / 2) * 2 != v and not (degree[v] == 0) or false xor false;
    b[v] = b[v] * 4000000000 + v;
    x[v] = fabs(-x[v]) / (degree[v] + 1) - 2;
    y[v] = y[v] * share + x[v] * 0.5;
    total[0] += degree[v];
    total[1] max= degree[v];
    most[0] max= x[v];
end
func main()
    vertices.apply(f);
    var n : int = 0;
    for i in 0:10
        if i == 4
            break;
        end
        n += i;
    end
    print "n", n, n == 6, 2147483647 - 1, -2147483648, 7 / 2, 0.5;
end`, "", "n 6 true 2147483646 -2147483648 3 0.5\n"},
	{"edges", `
func pass(src : Vertex, dst : Vertex)
    if degree[src] > 2
        total[0] += 1;
    else
        b[dst] max= src;
    end
    x[dst] += 0.5;
    a[src] min= dst;
end
func heavy(src : Vertex, dst : Vertex, w : int)
    y[dst] += w * 0.25;
    total[1] max= w;
end
func even(v : Vertex) -> yes : bool
    yes = (v / 2) * 2 == v;
end
func main()
    #one# edges.srcFilter(even).apply(pass);
    #two# edges.transpose().to(even).apply(heavy);
end`, "", ""},
	{"filters that read what changes", `
func low(v : Vertex) -> yes : bool
    yes = a[v] == 7;
end
func raise(src : Vertex, dst : Vertex)
    a[dst] += 1;
end
func keep(v : Vertex) -> yes : bool
    yes = degree[v] > 8;
end
func main()
    var all : vertexset{Vertex} = vertices.filter(low);
    #one# var next : vertexset{Vertex} = edges.from(all).to(low).applyModified(raise, a, true);
    #two# var more : vertexset{Vertex} = edges.from(next).srcFilter(keep).applyModified(raise, a, true);
    print next.getVertexSetSize() == more.getVertexSetSize();
    vertices.where(keep);
end`, "", ""},
	{"lists and timers", `
func put(src : Vertex, dst : Vertex)
    a[dst] min= a[src] - 1;
end
func main()
    var levels : list{vertexset{Vertex}} = new list{vertexset{Vertex}}();
    var now : vertexset{Vertex} = new vertexset{Vertex}(0);
    now.addVertex(1);
    now.addVertex(0);
    now.addVertex(1);
    a[0] = 3;
    a[1] += 2;
    levels.append(now);
    startTimer();
    #one# var then : vertexset{Vertex} = edges.from(now).applyModified(put, a, true);
    levels.append(then);
    print levels.size(), stopTimer() >= 0.0, argv[2];
    var back : vertexset{Vertex};
    levels.retrieve(back);
    now = levels.pop();
    #two# edges.from(now).apply(put);
    print now.size(), levels.size(), a.sum() < 2000000000;
end`, "", "2 true given\n2 0 true\n"},
	{"queues", `
func lower(src : Vertex, dst : Vertex, w : int)
    var d : int = a[src];
    pq.updatePriorityMin(dst, a[dst], d + w);
    total[0] max= pq.get_current_priority();
end
func far(v : Vertex)
    a[v] = 2147483647;
end
func main()
    vertices.apply(far);
    a[2] = 0;
    pq = new priority_queue{Vertex}(int)(false, false, a, 1, 2, false, 2);
    while (not pq.finished())
        var now : vertexset{Vertex} = pq.dequeue_ready_set();
        #one# edges.from(now).applyUpdatePriority(lower);
        delete now;
    end
end`, "SimpleGPUSchedule s; s.configDelta(\"argv[3]\"); program->applyGPUSchedule(\"one\", s);", ""},
	{"ordered", `
func lower(src : Vertex, dst : Vertex, w : int)
    var d : int = 2 + w;
    pq.updatePriorityMin(dst, a[dst], d + a[src]);
end
func far(v : Vertex)
    a[v] = 2147480000;
end
func main()
    vertices.apply(far);
    a[2] = 0;
    pq = new priority_queue{Vertex}(int)(false, false, a, 1, 2, false, 2);
    while (pq.finished() == false)
        var now : vertexset{Vertex} = pq.dequeue_ready_set();
        #one# edges.from(now).applyUpdatePriority(lower);
    end
end`, `program->configApplyPriorityUpdateDelta("one", 5)->configBucketMergeThreshold("one", 10)->configNumOpenBuckets("one", 2);`, ""},
	{"segments", `
func put(src : Vertex, dst : Vertex, w : int)
    a[dst] += src * w;
    x[dst] += 0.5 * w;
end
func main()
    for i in 0:3
        #one# edges.apply(put);
    end
    print most[0];
end`, `program->configApplyDirection("one", "DensePull")->configApplyNumSSG("one", "fixed-vertex-count", 5)->
		configApplyParallelization("one", "dynamic-vertex-parallel");`, ""},
	{"assignments that race", `
func put(src : Vertex, dst : Vertex)
    a[dst] = src;
end
func main()
    var now : vertexset{Vertex} = new vertexset{Vertex}(0);
    now.addVertex(0);
    now.addVertex(2);
    #one# var next : vertexset{Vertex} = edges.from(now).applyModified(put, a);
    print next.size() > 0;
end`, "", "true\n"},
	{"twice", `
func up(src : Vertex, dst : Vertex)
    a[dst] += 1;
    a[dst] max= b[src];
    a[src] += 0;
end
func main()
    var now : vertexset{Vertex} = new vertexset{Vertex}(edges.getVertices());
    #one# var next : vertexset{Vertex} = edges.from(now).applyModified(up, b, true);
    print next.size();
end`, "", "0\n"},
}

// TestFeatures: constructs of the language give the reference's result, in push and in pull, with one thread and
// several; without testenv.LongVariable, in push or in pull.
func TestFeatures(t *testing.T) {
	testenv.NeedSlow(t, "it compiles a program for each construct")
	g := load(t, "rmat.scale=9", "rmat.edge_factor=12", "weights.from=random", "weights.max=40")
	for n, c := range features {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for i, s := range []string{"", "SimpleGPUSchedule q; q.configDirection(PULL, BITMAP);"} {
				switch {
				case s != "" && c.schedule != "":
					continue
				case c.schedule == "" && i != n%2 && testenv.Long(t) == 0:
					continue
				}
				text := s + c.schedule
				for _, l := range []string{"one", "two"} {
					if s != "" && strings.Contains(c.source, "#"+l+"#") {
						text += "program->applyGPUSchedule(\"" + l + "\", q);"
					}
				}
				f := parse(t, "p.gt", head+c.source+"\nschedule:\n"+text)
				x := compiled(t, f, i == 0)
				for _, threads := range []int{1, 3}[:2-i] {
					var out bytes.Buffer
					r, err := x.Run(context.Background(), g,
						Options{Args: []string{"p.gt", "graph", "given", "4"}, Threads: threads, Output: &out, MaxSteps: 10000})
					require.NoError(t, err)
					require.True(t, r.Verified)
					if c.prints != "" {
						require.Equal(t, c.prints, out.String())
					}
				}
			}
		})
	}
}

// TestFailures: run-time errors are reported with their positions, even without a preceding run of the reference.
func TestFailures(t *testing.T) {
	testenv.NeedSlow(t, "it compiles a program for each failure")
	g := load(t, "rmat.scale=6", "rmat.edge_factor=4", "weights.from=random")
	for _, c := range []struct{ source, says string }{
		{"func f(v : Vertex)\n a[v + 1] = 1;\nend\nfunc main()\n vertices.apply(f);\nend", "p.gt:21:2: index out of range [64] with length 64"},
		{"func main()\n a[64] = 1;\nend", "p.gt:18:3: a[64]: the vector has elements 0 to 63"},
		{"func main()\n print atoi(argv[9]);\nend", "p.gt:18:17: the program asks for argv[9], and there are arguments up to argv[2]"},
		{"func main()\n print atoi(argv[2]);\nend", "p.gt:18:8: atoi: expected a whole number of 32 bits, found \"given\""},
		{"func main()\n print pq.finished();\nend", "p.gt:18:8: there is no queue yet"},
		{"func main()\n var s : vertexset{Vertex} = new vertexset{Vertex}(5);\nend", "new vertexset(5): expected 0, or the number of vertices, 64"},
		{"func main()\n var s : vertexset{Vertex} = new vertexset{Vertex}(0);\n delete s;\n print s.size();\nend", "s has been deleted"},
		{"func f(src : Vertex, dst : Vertex)\n a[dst] = 1;\nend\nfunc main()\n while true\n  edges.apply(f);\n end\nend", "more than 20 operators over edges have run"},
	} {
		x := compiled(t, parse(t, "p.gt", head+c.source), false)
		_, err := x.Run(context.Background(), g,
			Options{Args: []string{"p.gt", "graph", "given"}, Threads: 2, MaxSteps: 20, NoCheck: true})
		require.ErrorContains(t, err, c.says)
	}
}

// TestRefused: constructs that this backend does not support are refused before anything is compiled.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ source, says string }{
		{"func f(s : Vertex, d : Vertex)\n print 1;\nend\nfunc main()\n edges.apply(f);\nend", "p.gt:18:2: print 1: only the host does this: expected it in main"},
		{"func main()\n var l : list{int} = new list{int}();\nend", "p.gt:18:10: lists of int are not supported by --cpu"},
		{"func f(v : Vertex)\n step = 1;\nend\nfunc main()\n vertices.apply(f);\nend", "p.gt:18:2: step: a constant of the program cannot be assigned by many threads"},
		{"func f(src : Vertex, dst : Vertex)\n pq.updatePriorityMin(dst, 1);\nend\nfunc main()\n edges.apply(f);\nend", "expected it in a function that applyUpdatePriority applies"},
	} {
		p, err := Build(parse(t, "p.gt", head+c.source), nil)
		if err == nil {
			_, err = Generate(p, false)
		}
		require.ErrorContains(t, err, c.says)
	}
}

// checked reports the errors that Go's compiler would find in a program.
func checked(t testing.TB, src []byte, with types.Importer) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p.go", src, parser.SkipObjectResolution)
	require.NoError(t, err)
	_, err = (&types.Config{Importer: with}).Check("main", set, []*ast.File{file}, nil)
	require.NoError(t, err, "%s", src)
}

// FuzzGenerate: of every program that is checked there is one in Go that compiles, or an error with its place.
func FuzzGenerate(f *testing.F) {
	for _, name := range programs.Names() {
		f.Add(program(f, name))
	}
	for _, c := range features {
		f.Add(head + c.source + "\nschedule:\n" + c.schedule)
	}
	with := importer.ForCompiler(token.NewFileSet(), "source", nil)
	place := regexp.MustCompile(`^p\.gt:\d+:\d+: `)
	f.Fuzz(func(t *testing.T, src string) {
		file, err := graphit.Parse("p.gt", []byte(src))
		if err != nil || graphit.Check(file) != nil {
			return
		}
		var p *graphir.Program
		if p, err = Build(file, nil); err == nil {
			src, err2 := Generate(p, false)
			if err = err2; err == nil {
				checked(t, src, with)
			}
		}
		if err != nil {
			require.Regexp(t, place, err.Error())
		}
	})
}

// TestLanguage: constructs that Check replaces run verified, on one thread and several, pushed and pulled.
func TestLanguage(t *testing.T) {
	testenv.NeedSlow(t, "it compiles a program for each construct")
	g := load(t, "rmat.scale=7", "rmat.edge_factor=8", "weights.from=random", "weights.max=40")
	for n, name := range slices.Sorted(maps.Keys(looptest.Language)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := looptest.Language[name]
			if n%2 == 1 && !strings.Contains(src, "applyUpdatePriority") {
				src += "\nschedule:\nSimpleGPUSchedule q; q.configDirection(PULL, BITMAP); program->applyGPUSchedule(\"one\", q);"
			}
			x := compiled(t, parse(t, name, src), false)
			prints := ""
			for _, threads := range []int{1, 3} {
				var out bytes.Buffer
				r, err := x.Run(context.Background(), g,
					Options{Args: []string{"p.gt", "graph", "4"}, Threads: threads, Output: &out, MaxSteps: 10000})
				require.NoError(t, err)
				require.True(t, r.Verified)
				require.True(t, threads == 1 || prints == out.String(), "%q, and %q on one thread", out.String(), prints)
				prints = out.String()
			}
		})
	}
}

// TestSegments: a pull of all edges goes through segments, and operators that cannot say so.
func TestSegments(t *testing.T) {
	const program = head + `
func put(src : Vertex, dst : Vertex)
    a[dst] += src;
end
func main()
    #one# edges.apply(put);
end
schedule:
`
	body := func(schedule string) (string, []graphir.Note) {
		p, err := Build(parse(t, "p.gt", program+schedule), nil)
		require.NoError(t, err)
		text, err := Body(p, false)
		require.NoError(t, err)
		return string(text), p.Notes
	}
	text, notes := body(`program->configApplyNumSSG("one", "fixed-vertex-count", 5);`)
	require.Contains(t, text, "m.segments(")
	require.True(t, notes[0].OnHost)
	text, notes = body(`program->configApplyNumSSG("one", "fixed-vertex-count", 5)->configApplyDirection("one", "SparsePush");`)
	require.NotContains(t, text, "m.segments(")
	require.Contains(t, notes[len(notes)-1].Text, "its edges stay together")
	_, err := Build(parse(t, "p.gt", program+`program->configApplyNumSSG("one", "fixed-vertex-count", 0);`), nil)
	require.ErrorContains(t, err, "expected a whole number from 1")
}
