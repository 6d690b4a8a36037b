package lower_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/graphit"
	"heddle/graphit/lower"
	"heddle/graphit/programs"
	"heddle/kernels/host"
)

// drawnSchedule draws a schedule as text: labels, words and numbers that are right or wrong.
func drawnSchedule(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	var b strings.Builder
	b.WriteString("schedule:\n")
	simple := func(name string) {
		fmt.Fprintf(&b, "SimpleGPUSchedule %s;\n", name)
		for range r.IntN(3) {
			switch r.IntN(6) {
			case 0:
				fmt.Fprintf(&b, "%s.configLoadBalance(%s);\n", name, pick(graphit.LoadBalances...))
			case 1:
				fmt.Fprintf(&b, "%s.configLoadBalance(%s, BLOCKED, %s);\n", name, pick("EDGE_ONLY", "EDGE_ONLY", "TWC"),
					pick("0", "-1", "1", "7.5", "4096", "134217728", "1099511627776", "\"argv[3]\""))
			case 2:
				fmt.Fprintf(&b, "%s.configDirection(%s);\n", name,
					pick("PUSH", "PULL", "PULL, BITMAP", "PULL, BOOLMAP"))
			case 3:
				fmt.Fprintf(&b, "%s.configFrontierCreation(%s);\n", name,
					pick("FUSED", "UNFUSED_BITMAP", "UNFUSED_BOOLMAP"))
			case 4:
				fmt.Fprintf(&b, "%s.configDeduplication(%s);\n", name,
					pick("ENABLED", "DISABLED", "ENABLED, BITMAP", "ENABLED, MONOTONIC_COUNTERS"))
			default:
				fmt.Fprintf(&b, "%s.configDelta(%s);\n", name,
					pick("1", "0", "-4", "2.5", "16", "1e300", "2147483647", "\"argv[3]\""))
			}
		}
	}
	simple("a")
	simple("b")
	label := pick("loop:step", "loop:step", "loop:step", "loop:step", "step", "loop", "nowhere")
	if r.IntN(3) > 0 {
		fmt.Fprintf(&b, "program->applyGPUSchedule(\"%s\", a);\n", label)
	} else {
		fmt.Fprintf(&b, "HybridGPUSchedule h(INPUT_VERTEXSET_SIZE, %s, a, b);\nprogram->applyGPUSchedule(\"%s\", h);\n",
			pick("0", "0.1", "1", "7.5", "-0.1", "\"argv[3]\""), label)
	}
	return b.String()
}

// TestCheckIsRun: Check refuses exactly the programs that Run refuses before it launches anything, in the same words.
func TestCheckIsRun(t *testing.T) {
	r, g := rand.New(rand.NewPCG(11, 1)), load(t, "rmat.scale=4", "rmat.edge_factor=3", "clean.symmetrise=true",
		"weights.from=random", "weights.max=9")
	l, err := configs.LoadMachine("vortex-1c4w4t", nil, []string{"cores_per_socket=2"})
	require.NoError(t, err)
	refused, ran := 0, 0
	names := programs.Names()
	for range 250 {
		name := names[r.IntN(len(names))]
		w := testWorkload(t)
		s, err := graphit.ParseSchedule("s.gt", []byte(drawnSchedule(r)))
		require.NoError(t, err)
		o := lower.Options{Args: append(args(name, g), "0.5"), Output: io.Discard, Schedule: s, Workload: w,
			MaxSteps: 2000}
		for len(o.Args) < 4 {
			o.Args = append(o.Args, "1")
		}
		o.Args[3] = "1"
		rehearsal, err := host.NewRehearsal(&l.Value)
		require.NoError(t, err)
		checked := lower.Check(rehearsal, g, parse(t, name, program(t, name)), o)
		res, err := lower.Run(context.Background(), device(t, w), g, parse(t, name, program(t, name)), o)
		if checked == nil {
			require.NoError(t, err, "%s %+v", name, s)
			ran++
			continue
		}
		refused++
		require.Empty(t, res.Launched)
		require.EqualError(t, err, checked.Error())
	}
	require.Greater(t, refused, 50)
	require.Greater(t, ran, 50)
}

// FuzzCheck: whatever program there is, Check comes to an end soon, with an error that has a place or with kernels.
func FuzzCheck(f *testing.F) {
	for _, name := range programs.Names() {
		src, err := programs.Source(name)
		require.NoError(f, err)
		f.Add(src)
	}
	f.Add([]byte(fuzzHeader + "func f(v : Vertex)\nwhile true\nlabel[v] += 1;\nend\nend\nfunc main()\nwhile " +
		"true\nvertices.apply(f);\nend\nend"))
	f.Add([]byte(fuzzHeader + "func f0(v : Vertex)\nlabel[v] = v;\nend\nfunc f1(v : Vertex)\n" +
		strings.Repeat("f0(v);", 400) + "\nend\nfunc f2(v : Vertex)\n" +
		strings.Repeat("f1(v);", 400) + "\nend\nfunc main()\nvertices.apply(f2);\nend"))
	f.Add([]byte(fuzzHeader + "func f(v : Vertex)\n" + strings.Repeat("label[v] += 1;\n", 900) +
		"end\nfunc main()\nvertices.apply(f);\nend"))
	l, err := configs.LoadMachine("vortex-1c4w4t", nil, nil)
	require.NoError(f, err)
	g := load(f, "rmat.scale=3", "weights.from=random")
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 1<<15 {
			return
		}
		file, err := graphit.Parse("p.gt", src)
		if err != nil || graphit.Check(file) != nil {
			return
		}
		d, err := host.NewRehearsal(&l.Value)
		require.NoError(t, err)
		began := time.Now()
		_ = lower.Check(d, g, file, lower.Options{Workload: testWorkload(t)})
		require.Less(t, time.Since(began), time.Minute)
	})
}

const fuzzHeader = "element Vertex end\nelement Edge end\nconst edges : edgeset{Edge}(Vertex, Vertex) = " +
	"load(argv[1]);\n" +
	"const vertices : vertexset{Vertex} = edges.getVertices();\nconst label : vector{Vertex}(int) = 0;\n"
