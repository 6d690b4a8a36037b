package cuda_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/kernels/algorithm"
	"heddle/kernels/compose"
	"heddle/kernels/cuda"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

// needCompiler skips a test where no g++ is installed.
func needCompiler(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("skipped: it builds exported programs with g++, which is not installed (apt-get install g++)")
	}
}

// small is the machine that programs are exported for: two cores of two warps.
var small = host.Shape{Cores: 2, Warps: 2, Threads: cuda.Lanes, ScratchpadBytes: 16 << 10, LineBytes: 64}

// odd returns a graph of an odd size with empty rows, isolated vertices, a hub and, if symmetric is not asked for,
// self-loops and duplicates.
func odd(t testing.TB, seed uint64, symmetric bool) *graph.Graph {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	n := 131 + int(seed)%7
	var text bytes.Buffer
	edges := 0
	seen := map[[2]int]bool{}
	add := func(a, b int) {
		if symmetric && (a == b || seen[[2]int{a, b}] || seen[[2]int{b, a}]) {
			return
		}
		seen[[2]int{a, b}] = true
		fmt.Fprintf(&text, "%d %d %d\n", a+1, b+1, 1+r.IntN(9))
		edges++
	}
	for range 3 * n {
		add(r.IntN(n*2/3), r.IntN(n*3/4)) // the last quarter is isolated
	}
	for v := range n / 2 {
		add(5, v)
	}
	kind := "general"
	if symmetric {
		kind = "symmetric"
		lower := &bytes.Buffer{}
		for _, line := range bytes.Split(bytes.TrimSpace(text.Bytes()), []byte("\n")) {
			var a, b, w int
			_, err := fmt.Sscan(string(line), &a, &b, &w)
			require.NoError(t, err)
			fmt.Fprintf(lower, "%d %d %d\n", max(a, b), min(a, b), w)
		}
		text = *lower
	}
	name := filepath.Join(t.TempDir(), "odd.mtx")
	head := fmt.Sprintf("%%%%MatrixMarket matrix coordinate integer %s\n%d %d %d\n", kind, n, n, edges)
	require.NoError(t, os.WriteFile(name, append([]byte(head), text.Bytes()...), 0o600))
	g, err := graph.Load(graphspec.Graph{File: name})
	require.NoError(t, err)
	return g
}

// base is a workload with the defaults of heddle's own.
func base(algorithm, schedule, layout, direction string) workload.Workload {
	w := workload.Workload{
		Kernel: workload.Compiled, Algorithm: workload.Algorithm(algorithm), Schedule: workload.Schedule(schedule),
		Layout: workload.Layout(layout), Direction: workload.Choice(direction), ActiveSet: workload.Auto,
		Dedup: workload.Auto, Order: "none", Scan: "shuffle", Skip: "early", HybridRule: "beamer", Sum: "register",
		Ahead: true, Coefficient: "hardware", Alpha: 14, Beta: 24, Source: -1, Target: -1, Seed: 1, Damping: 0.85,
		Width: 4, Fusion: "none", BlockBy: "destination",
	}
	if algorithm == "pagerank" {
		w.Iterations = 2
	}
	return w
}

// export writes a program into a folder.
func export(t testing.TB, dir string, g *graph.Graph, w workload.Workload) *compose.Outline {
	t.Helper()
	o, err := compose.NewOutline(small, g, w)
	require.NoError(t, err)
	p, err := cuda.New(o, small, nil)
	require.NoError(t, err)
	for _, name := range cuda.Library {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), cuda.LibraryFile(name), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, cuda.ProgramFile), p.Text, 0o600))
	if p.Arrays != nil {
		require.NoError(t, os.WriteFile(filepath.Join(dir, cuda.ArraysFile), p.Arrays, 0o600))
	}
	var b bytes.Buffer
	require.NoError(t, g.Write(&b, "graph.hgr"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, cuda.GraphFile), b.Bytes(), 0o600))
	return o
}

// report is what a program prints.
type report struct {
	Result     string
	Error      string
	SuperSteps int    `json:"super_steps"`
	Edges      uint64 `json:"edges_handled"`
}

// run builds and runs a program, and returns its report and result.
func run(t testing.TB, dir string) (r report, values []uint32) {
	t.Helper()
	out, err := exec.Command("make", "-s", "-C", dir, "host", "CXXFLAGS=-O0").CombinedOutput()
	require.NoError(t, err, "%s", out)
	c := exec.Command("./program-host", "--repeat", "0", "--result", "result.bin")
	c.Dir = dir
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err = c.Output()
	require.NoError(t, err, "%s%s", out, stderr.Bytes())
	require.NoError(t, json.Unmarshal(out, &r), "%s", out)
	data, err := os.ReadFile(filepath.Join(dir, "result.bin"))
	require.NoError(t, err)
	for i := 0; i < len(data); i += 4 {
		values = append(values, binary.LittleEndian.Uint32(data[i:]))
	}
	return r, values
}

func TestFirst(t *testing.T) {
	needCompiler(t)
	for _, x := range [][]string{
		{"pagerank", "vertex", "csc", "pull"}, {"pagerank", "vertex", "csr", "push"},
		{"pagerank", "warp", "csr", "push"}, {"pagerank", "cta", "csr", "push"}, {"pagerank", "edge", "coo", "push"},
		{"pagerank", "strict", "csc", "pull"}, {"pagerank", "twc", "csr", "push"}, {"pagerank", "twce", "csr", "push"},
		{"bfs", "strict", "csr", "push"}, {"bfs", "twce", "csr", "push"}, {"bfs", "vertex", "csc", "pull"},
		{"sssp", "cta", "csr", "push"}, {"spmv", "warp", "csr", "push"},
	} {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			dir := t.TempDir()
			if os.Getenv("KEEP") != "" {
				dir = os.Getenv("KEEP")
			}
			g := odd(t, 3, x[0] == "cc")
			o := export(t, dir, g, base(x[0], x[1], x[2], x[3]))
			r, values := run(t, dir)
			require.Equal(t, "right", r.Result, r.Error)
			require.NoError(t, o.Verify(values, &algorithm.Outcome{Steps: r.SuperSteps, Ended: o.MaxSteps == 0}))
		})
	}
}
