package cmd

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.HandleSignals()
	os.Exit(m.Run())
}

// buildHeddle returns the path of the program.
func buildHeddle(t *testing.T) string {
	t.Helper()
	name, err := testenv.Heddle()
	require.NoError(t, err)
	return name
}

// zipped is text as gzip has it; cut is how many bytes of it are missing at the end.
func zipped(t *testing.T, text string, cut int) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return string(b.Bytes()[:b.Len()-cut])
}

// TestBadInput runs commands on mistakes of users: each is a clear error that names the mistake and its place, with its
// exit code, and nothing is written. They run in this process, and every tenth by the program too, which says the same.
func TestBadInput(t *testing.T) {
	program := buildHeddle(t)
	const e = "name: e\nmachine: vortex-1c4w4t\n"
	onGraph := func(extra string) string { return e + "graph: {file: ./g.txt" + extra + "}\n" }
	for i, c := range []struct {
		name, experiment, graph string
		args                    []string
		code                    int
		says                    []string
	}{
		{name: "unknown key",
			experiment: e + "grahp: {file: facebook_combined}\n", code: 2,
			says: []string{"e.yaml:3:1", "grahp", "did you mean graph?"},
		},
		{name: "mistyped value",
			experiment: e + "workload: {max_iterations: many}\n", code: 2,
			says: []string{"e.yaml:3:28", "workload.max_iterations", "expected an integer 0..1000000"},
		},
		{name: "duplicate key", experiment: e + "machine: {}\n", code: 2, says: []string{"duplicate key"}},
		{name: "out of range",
			experiment: "name: e\nmachine: {core: {warps: 65}}\n", code: 2,
			says: []string{"e.yaml:2:25", "machine.core.warps", "1..64"},
		},
		{name: "no such schedule",
			experiment: e + "workload: {schedule: wever}\n", code: 2,
			says: []string{"workload.schedule", "did you mean weaver?"},
		},
		{name: "no Weaver",
			experiment: onGraph("") + "workload: {schedule: weaver}\n",
			graph:      "0 1\n", code: 2,
			says: []string{"workload.schedule", "no Weaver", "machine.core.weaver"},
		},
		{name: "no Weaver at a point",
			experiment: onGraph("") + "sweep: {workload.schedule: [vertex, weaver]}\n",
			graph:      "0 1\n", code: 2,
			says: []string{"schedule=weaver", "no Weaver"},
		},
		{name: "no graph", experiment: e, code: 2, says: []string{"graph", "no source"}},
		{name: "missing graph", experiment: e + "graph: {file: ./none.txt}\n", code: 2, says: []string{"./none.txt", "no such file"}},
		{name: "unknown graph", experiment: e + "graph: {file: none}\n", code: 2, says: []string{`no graph "none"`, "facebook_combined"}},
		{name: "truncated gzip", experiment: onGraph(""), graph: zipped(t, "0 1\n1 2\n2 3\n", 6), code: 2, says: []string{"g.txt"}},
		{name: "corrupt gzip", experiment: onGraph(""), graph: "\x1f\x8b\x08\x00garbage", code: 2, says: []string{"g.txt"}},
		{name: "binary graph", experiment: onGraph(""), graph: "\x00\x01\x02\x03", code: 2, says: []string{"g.txt"}},
		{name: "negative id", experiment: onGraph(""), graph: "0 1\n-1 2\n", code: 2, says: []string{"g.txt:2", "-1"}},
		{name: "id of 2^40",
			experiment: onGraph(", ids: keep"),
			graph:      "0 1\n1 1099511627776\n", code: 2,
			says: []string{"g.txt:2", "1099511627776"},
		},
		{name: "NaN weight", experiment: onGraph(""), graph: "0 1 2.5\n1 2 nan\n", code: 2, says: []string{"g.txt:2", "nan"}},
		{name: "truncated matrix",
			experiment: onGraph(""),
			graph:      "%%MatrixMarket matrix coordinate pattern general\n3 3 5\n1 2\n", code: 2,
			says: []string{"g.txt", "5"},
		},
		{name: "matrix of 2^40",
			experiment: onGraph(""),
			graph:      "%%MatrixMarket matrix coordinate pattern general\n1099511627776 1099511627776 1\n1 2\n",
			code:       2,
			says:       []string{"g.txt:2"},
		},
		{name: "empty graph", experiment: onGraph(""), graph: "", code: 2, says: []string{"g.txt"}},
		{name: "comments only", experiment: onGraph(""), graph: "# nothing\n", code: 2, says: []string{"g.txt"}},
		{name: "over 4 GB",
			experiment: e + "graph: {rmat: {scale: 27, edge_factor: 4096}}\n", code: 2,
			says: []string{"graph.rmat.edge_factor", "at most"},
		},
		{name: "directory as graph", experiment: e + "graph: {file: ./.}\n", code: 2, says: []string{"directory"}},
		{name: "name with a slash", experiment: "name: ../e\ngraph: {file: facebook_combined}\n", code: 2, says: []string{"name", "directory's"}},
		{name: "jobs", experiment: onGraph(""), graph: "0 1\n", args: []string{"--jobs", "0"}, code: 2, says: []string{"--jobs 0"}},
		{name: "time limit",
			experiment: onGraph(""), graph: "0 1\n", args: []string{"--time-limit", "-1s"}, code: 2,
			says: []string{"--time-limit -1s"},
		},
		{name: "memory limit",
			experiment: onGraph(""), graph: "0 1\n", args: []string{"--memory-limit", "8GB"}, code: 2,
			says: []string{"--memory-limit", "512MiB or 8GiB"},
		},
		{name: "memory of 2^64",
			experiment: onGraph(""), graph: "0 1\n", args: []string{"--memory-limit", "16777216TiB"}, code: 2,
			says: []string{"--memory-limit"},
		},
		{name: "range",
			experiment: onGraph("") + "sweep: {machine.core.warps: {from: 1, to: 128, times: 2}}\n",
			graph:      "0 1\n", code: 2,
			says: []string{"e.yaml:4:29", "sweep.machine.core.warps", "comes to 128"},
		},
		{name: "exclude",
			experiment: onGraph("") + "exclude: [{machine.core.warps: 2}]\n",
			graph:      "0 1\n", code: 2,
			says: []string{"e.yaml:4:1", "exclude[0]", "no axis"},
		},
		{name: "seeds of a file",
			experiment: onGraph("") + "seeds: [1, 2]\n",
			graph:      "0 1\n", code: 2,
			says: []string{"e.yaml:4:8", "seeds", "random"},
		},
		{name: "source beyond the graph",
			experiment: onGraph("") + "workload: {algorithm: bfs, source: 3}\nsweep: {machine.core.warps: [2, 4]}\n",
			graph:      "0 1\n1 2\n", code: 2,
			says: []string{"at the point warps=2", "e.yaml:4:36", "workload.algorithm.source = 3", "vertices 0 to 2"},
		},
		{name: "target beyond the graph",
			experiment: onGraph(", clean: {symmetrise: true}") + "workload: {algorithm: stcon, source: 0, target: 7}\n",
			graph:      "0 1\n1 2\n", code: 2,
			says: []string{"e.yaml:4:49", "workload.algorithm.target = 7", "vertices 0 to 2"},
		},
		{name: "source is target",
			experiment: onGraph(", clean: {symmetrise: true}") + "workload: {algorithm: stcon, source: 1, target: 1}\n",
			graph:      "0 1\n1 2\n", code: 2,
			says: []string{"source and target are both vertex 1"},
		},
		{name: "not symmetric",
			experiment: onGraph("") + "workload: {algorithm: k-core}\n",
			graph:      "0 1\n", code: 2,
			says: []string{"graph.clean.symmetrise: true"},
		},
		{name: "self-loop",
			experiment: onGraph("") + "workload: {algorithm: colouring}\n",
			graph:      "0 0\n", code: 2,
			says: []string{"vertex 0", "graph.clean.drop_self_loops: true"},
		},
		{name: "negative weights at a point",
			experiment: onGraph("") + "workload: {algorithm: sssp}\nsweep: {workload.algorithm: [bfs, sssp]}\n",
			graph:      "0 1 -5\n", code: 2,
			says: []string{"algorithm=sssp", "-5", "graph.weights.from"},
		},
		{name: "too little scratchpad",
			experiment: "name: e\n" +
				"machine: {extends: vortex-1c4w4t, core: {warps: 32, threads: 32, scratchpad_bytes: 4KiB}}\n" +
				"graph: {file: ./g.txt}\nworkload: {algorithm: bfs, schedule: cta}\n",
			graph: "0 1\n", code: 2,
			says: []string{"12416 bytes of scratchpad a core, and there are 4096", "machine.core.scratchpad_bytes"}},
		{name: "scratchpad smaller than the unit's buffer",
			experiment: "name: e\n" +
				"machine: {extends: vortex-1c4w4t-eghw, core: {scratchpad_bytes: 1KiB, eghw: {buffer_entries: 500}}}\n" +
				"graph: {file: ./g.txt}\nworkload: {algorithm: bfs, schedule: eghw}\n",
			graph: "0 1\n", code: 2,
			says: []string{"e.yaml:2:94", "machine.core.eghw.buffer_entries",
				"take 6064 bytes of a scratchpad that has 1024 (core.scratchpad_bytes)"}},
		{name: "edge buffer too small for three fields",
			experiment: "name: e\n" +
				"machine: {extends: vortex-1c4w4t-graphpeg, l1i: {line_bytes: 128}, l1d: {line_bytes: 128}, l2: null, core: {graphpeg: {edge_buffer_bytes: 256}}}\n" +
				"graph: {file: ./g.txt}\nworkload: {algorithm: sssp, schedule: peg}\n",
			graph: "0 1 2\n", code: 2,
			says: []string{"of an edge leave", "edge_buffer_bytes"}},
		{name: "METIS", experiment: onGraph(""), graph: "4 4\n2 3\n3 4\n4 1\n1 2\n", code: 2,
			says: []string{"g.txt:2: vertex 2 is a neighbour of 1, and by line 3 1 is none of 2: ", "METIS"}},
		{name: "picture", experiment: onGraph(""), graph: "\x89PNG\r\n\x1a\n\x00", code: 2, says: []string{"g.txt: this looks like a PNG image"}},
		{name: "no such experiment", args: []string{"quickstat"}, code: 2, says: []string{`no experiment "quickstat"; did you mean quickstart?`}},
		{name: "unit for schedule", args: []string{"quickstart", "--set", "workload.schedule=pegs"}, code: 2, says: []string{"did you mean peg?"}},
		{name: "schedule for unit", experiment: "name: e\nmachine: {extends: vortex-1c4w4t, core: {pge: {}}}\ngraph: {file: ./g.txt}\n", graph: "0 1\n", code: 2,
			says: []string{"e.yaml:2", "machine.core.pge: unknown key; did you mean machine.core.peg?"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			args := c.args
			if c.experiment != "" {
				require.NoError(t, os.WriteFile("e.yaml", []byte(c.experiment), 0o644))
				require.NoError(t, os.WriteFile("g.txt", []byte(c.graph), 0o644))
				args = append([]string{"e.yaml"}, args...)
			}
			stdout, stderr, code := heddle(t, append([]string{"run"}, args...)...)
			require.Equal(t, c.code, code, "%s", stderr)
			for _, s := range c.says {
				require.Contains(t, stderr, s)
			}
			require.NotContains(t, stderr, "goroutine")
			require.Empty(t, stdout)
			if i%10 == 0 {
				code, stdout, same := start(t, program, "", append([]string{"run"}, args...)...)
				require.Equal(t, c.code, code)
				require.Empty(t, stdout)
				require.Equal(t, stderr, same)
			}
			_, dry, code := heddle(t, append([]string{"run", "--dry-run"}, args...)...)
			require.Equal(t, c.code, code, "a dry run refuses as a run does")
			require.Equal(t, stderr, dry)
			require.NoDirExists(t, "results")
		})
	}
}

// start runs the program.
func start(t *testing.T, program, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	c := exec.Command(program, args...)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

// A kernel that never ends is ended by a limit: exit code 3, and the run's counts are kept.
func TestALimitIsExitCode3(t *testing.T) {
	heddle, dir := buildHeddle(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "loop.s"), []byte("_start: j _start\n"), 0o644))
	code, _, stderr := start(t, heddle, dir, "exec", "loop.s", "--machine", "vortex-1c4w4t", "--max-cycles", "100000")
	require.Equal(t, 3, code)
	require.Contains(t, stderr, "cycle limit reached: 100000 cycles")

	code, stdout, stderr := start(t, heddle, dir, "run", "quickstart", "--max-cycles", "50000")
	require.Equal(t, 3, code)
	require.Contains(t, stdout, "NO: limit")
	require.Contains(t, stderr, "3 of 3 points failed")
	text, err := os.ReadFile(filepath.Join(dir, "results", "quickstart", "summary.json"))
	require.NoError(t, err)
	var summary struct {
		Points []struct {
			Failure string
			Cycles  uint64
		}
	}
	require.NoError(t, json.Unmarshal(text, &summary))
	require.Len(t, summary.Points, 3)
	for _, p := range summary.Points {
		require.Equal(t, "limit", p.Failure)
		require.GreaterOrEqual(t, p.Cycles, uint64(50000), "its counts")
	}
}
