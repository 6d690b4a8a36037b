package graphir

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graphit"
)

const source = `
element Vertex end
element Edge end
const edges : edgeset{Edge}(Vertex, Vertex) = load(argv[1]);
const vertices : vertexset{Vertex} = edges.getVertices();
const A : vector{Vertex}(int) = -1;
const B : vector{Vertex}(int) = 0;
const pq : priority_queue{Vertex}(int);
func relax(src : Vertex, dst : Vertex)
    pq.updatePriorityMin(dst, A[src] + 1);
end
func unset(v : Vertex) -> output : bool
    output = A[v] == -1;
end
func put(src : Vertex, dst : Vertex)
    A[dst] = src;
end
func shorten(src : Vertex, dst : Vertex)
    A[dst] min= A[src];
end
func count(src : Vertex, dst : Vertex)
    B[dst] += B[src];
end
func both(src : Vertex, dst : Vertex)
    A[dst] min= A[src];
    B[src] += 1;
end
func main()
    var list1 : list{vertexset{Vertex}} = new list{vertexset{Vertex}}();
    var frontier : vertexset{Vertex} = new vertexset{Vertex}(0);
    #s0# while (frontier.getVertexSetSize() != 0)
        #s1# var output : vertexset{Vertex} = edges.from(frontier).FUNCTION;
        AFTER
        frontier = output;
    end
end
schedule:
SCHEDULE
`

func build(t *testing.T, function, after, schedule string, skip string) string {
	src := strings.NewReplacer("FUNCTION", function, "AFTER", after, "SCHEDULE", schedule).Replace(source)
	f, err := graphit.Parse("p.gt", []byte(src))
	require.NoError(t, err)
	require.NoError(t, graphit.Check(f))
	p, err := Build(f)
	require.NoError(t, err)
	b := &builder{p: p}
	for _, pass := range Passes {
		if pass.Name != skip {
			pass.run(b, f.Schedule)
		}
	}
	return p.Text()
}

const pull = `SimpleGPUSchedule s; s.configDirection(PULL, BITMAP); s.configLoadBalance(VERTEX_BASED); program->applyGPUSchedule("s0:s1", s);`

// TestPasses: each pass's annotations, which are absent without the pass.
func TestPasses(t *testing.T) {
	held := map[string]bool{}
	for _, c := range []struct{ pass, function, after, schedule, want string }{
		{"schedule", "applyModified(shorten, A)", "", pull, "direction=PULL"},
		{"schedule", "applyModified(shorten, A)", "", `program->configApplyDirection("s0:s1", "SparsePush-DensePull");`, "direction=PUSH or PULL"},
		{"frontier", "applyModified(shorten, A)", "", pull, "output_representation=BITMAP"},
		{"dependence", "applyModified(shorten, A)", "", "", "A[dst] min= A[src] <at=dst, is_atomic=true, tracked=true>"},
		{"dependence", "applyModified(both, A)", "", pull, "B[src] += 1 <at=src, is_atomic=true>"},
		{"dedup", "applyModified(shorten, A)", "", "", "apply_deduplication=true"},
		{"dedup", "applyModified(count, B)", "", `SimpleGPUSchedule s; s.configDeduplication(DISABLED); program->applyGPUSchedule("s0:s1", s);`, "apply_deduplication=true"},
		{"liveness", "applyModified(shorten, A)", "delete frontier;", "", "can_reuse_frontier=true"},
		{"ordered", "applyModified(shorten, A)", "pq = new priority_queue{Vertex}(int)(false, false, A, 1, 2, false, 0); while (pq.finished() == false) var ready : vertexset{Vertex} = pq.dequeue_ready_set(); edges.from(ready).applyUpdatePriority(relax); end", "", "While<is_ordered=true, bucket_fusion=true>"},
		{"fusion", "applyModified(shorten, A)", "", `SimpleGPUSchedule s; s.configKernelFusion(ENABLED); program->applyGPUSchedule("s0", s);`, "While<needs_fusion=true>"},
	} {
		require.Contains(t, build(t, c.function, c.after, c.schedule, ""), c.want, c.pass)
		require.NotContains(t, build(t, c.function, c.after, c.schedule, c.pass), c.want, "without %s", c.pass)
		held[c.pass] = true
	}
	for _, pass := range Passes {
		require.True(t, held[pass.Name], "pass %s has no row: say what it changes", pass.Name)
	}
}

// TestPassesKeep: annotations that passes must not make.
func TestPassesKeep(t *testing.T) {
	for _, c := range []struct{ function, after, schedule, want string }{
		// One thread has all in-edges of a vertex.
		{"applyModified(shorten, A)", "", pull, "A[dst] min= A[src] <at=dst, tracked=true>"},
		// The first who finds it sets it.
		{"to(unset).applyModified(put, A, true)", "", "", "apply_deduplication=false"},
		{"applyModified(shorten, A)", "", `SimpleGPUSchedule s; s.configDeduplication(DISABLED); program->applyGPUSchedule("s0:s1", s);`, "apply_deduplication=false"},
		// The input is read once more, in a list, or by the loop's condition.
		{"applyModified(shorten, A)", "list1.append(frontier);", "", "can_reuse_frontier=false"},
		{"applyModified(shorten, A)", "list1.append(output);", "", "can_reuse_frontier=false"},
		{"applyModified(shorten, A)", "print frontier.getVertexSetSize();", "", "can_reuse_frontier=false"},
		{"applyModified(shorten, A)", "if A[0] == 0 delete frontier; end print frontier.size();", "", "can_reuse_frontier=false"},
	} {
		require.Contains(t, build(t, c.function, c.after, c.schedule, ""), c.want)
	}
}

// TestRefused: programs that the representation does not support, and schedules that do not fit the program.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ function, after, schedule, says string }{
		{"applyModified(shorten, A)", "", `SimpleGPUSchedule s; program->applyGPUSchedule("s1", s);`, "there is no operator over edges or loop s1: expected one of s0, s0:s1"},
		{"applyModified(shorten, A)", "", `program->fuseForLoop("s0", "s0", "s1");`, "fuseForLoop: there is no loop s0 that counts"},
		{"applyModified(shorten, A)", "", `program->configApplyDirection("s0:s1", "Sideways");`, "expected SparsePush"},
		{"applyModified(shorten, A)", "", `SimpleGPUSchedule s; s.configKernelFusion(ENABLED); program->applyGPUSchedule("s0:s1", s);`, "s0:s1 is no loop"},
		{"applyModified(shorten, A)", "", `SimpleGPUSchedule s; s.configDelta(2); program->applyGPUSchedule("s0:s1", s);`, "a delta is for applyUpdatePriority"},
		{"to(unset).to(unset).applyModified(put, A)", "", "", "there is a filter already"},
		{"applyModified(shorten, A)", "print edges.from(frontier).applyModified(shorten, A).size();", "", "applyModified within an expression"},
		{"applyModified(shorten, A)", "vertices = frontier;", "", "vertices is the set of all vertices"},
		{"applyModified(shorten, A)", "vertices.addVertex(1);", "", "vertices has all vertices already"},
		{"applyModified(shorten, A)", "", "SimpleGPUSchedule s; s.configLoadBalance(TWC, BLOCKED, 4); " +
			`program->applyGPUSchedule("s0:s1", s);`, "configLoadBalance: BLOCKED is for EDGE_ONLY, not TWC"},
	} {
		src := strings.NewReplacer("FUNCTION", c.function, "AFTER", c.after, "SCHEDULE", c.schedule).Replace(source)
		f, err := graphit.Parse("p.gt", []byte(src))
		require.NoError(t, err)
		require.NoError(t, graphit.Check(f))
		p, err := Build(f)
		if err == nil {
			err = p.Run(nil, nil)
		}
		require.ErrorContains(t, err, c.says)
		require.ErrorContains(t, err, "p.gt:")
	}
}

// TestNotes: options for CPUs that have no meaning here are said.
func TestNotes(t *testing.T) {
	src := strings.NewReplacer("FUNCTION", "applyModified(shorten, A)", "AFTER", "", "SCHEDULE",
		`program->configApplyParallelization("s0:s1", "serial");`).Replace(source)
	f, err := graphit.Parse("p.gt", []byte(src))
	require.NoError(t, err)
	require.NoError(t, graphit.Check(f))
	p, err := Build(f)
	require.NoError(t, err)
	require.NoError(t, p.Run(nil, nil))
	require.True(t, slices.ContainsFunc(p.Notes,
		func(n Note) bool { return strings.Contains(n.Text, "no meaning here") }))
}

// FuzzBuild: a checked program has a representation, with all passes' annotations, or an error with its position.
func FuzzBuild(f *testing.F) {
	for _, function := range []string{"applyModified(shorten, A)", "to(unset).applyModified(put, A, true)",
		"applyModified(both, A)"} {
		f.Add(strings.NewReplacer("FUNCTION", function, "AFTER", "delete frontier;", "SCHEDULE", pull).Replace(source))
	}
	f.Fuzz(func(t *testing.T, src string) {
		file, err := graphit.Parse("p.gt", []byte(src))
		if err != nil || graphit.Check(file) != nil {
			return
		}
		p, err := Build(file)
		if err == nil {
			err = p.Run(nil, nil)
		}
		if err != nil {
			require.Regexp(t, `^p\.gt:\d+:\d+: `, err.Error())
			return
		}
		require.NotEmpty(t, p.Text())
	})
}
