package main

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/silicon"
	"heddle/internal/testenv"
)

// TestCampaign: a small campaign is exported, built and measured by its script, with g++ in place of a GPU.
func TestCampaign(t *testing.T) {
	testenv.NeedSlow(t, "g++ compiles the programs of a campaign")
	if _, err := exec.LookPath("g++"); err != nil {
		if os.Getenv("HEDDLE_REQUIRE_TOOLS") != "" {
			t.Fatal(err)
		}
		t.Skip("skipped: it builds exported programs with g++, which is not installed (apt-get install g++)")
	}
	dir := filepath.Join(t.TempDir(), "campaign")
	points := filepath.Join(t.TempDir(), "points.txt")
	require.NoError(t, os.WriteFile(points, []byte("# three\npagerank twc csc pull\n\nspmv edge coo push\n"+
		"gt bfs fused schedule=warp SOURCE\n"), 0o600))
	o := options{points: points, warps: 1, unroll: "1", out: dir, graphs: []string{"rmat6", "grid5"}}
	require.NoError(t, o.main(t.Context()))
	c := exec.Command("sh", filepath.Join(dir, "measure.sh"), "result.csv")
	c.Env = append(os.Environ(), "PROGRAM=host", "REPEAT=1", "JOBS=2", "BLOCKS=3", "REPLAY=1", "CXXFLAGS=-O0")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for name, algorithms := range map[string][]string{"result.csv": {"pr-pull"}, "result.csv.others": {"spmv", "gt-bfs"}} {
		f, err := os.Open(filepath.Join(dir, name))
		require.NoError(t, err)
		rows, err := csv.NewReader(f).ReadAll()
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Len(t, rows, 1+2*2*len(algorithms), "%s", out)
		for k, row := range rows[1:] {
			of := algorithms[k/4]
			for i, name := range rows[0] {
				want := map[string]string{"alg": of, "result": "right", "block": "32"}[name]
				if want != "" {
					require.Equal(t, want, row[i], name)
				}
				if name == "us_replay" { // the host of bfs reads words
					require.Equal(t, of == "gt-bfs", row[i] == "", "%s: %s", of, row[i])
				}
			}
		}
		require.Equal(t, []string{"full32", "sm3"}, []string{rows[1][6], rows[2][6]})
	}
	f, err := os.Open(filepath.Join(dir, "result.csv"))
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // nothing is written
	read, err := silicon.Read("result.csv", f)
	require.NoError(t, err, "heddle validate --silicon reads it")
	require.Len(t, read.Rows, 4)
}

// TestCheck: programs of every combination, here those of a pair, are exported with arrays of their own, built together
// and checked by the script; what does not build, and what computes something else, is named.
func TestCheck(t *testing.T) {
	testenv.NeedSlow(t, "g++ compiles the programs of a campaign")
	if _, err := exec.LookPath("g++"); err != nil {
		if os.Getenv("HEDDLE_REQUIRE_TOOLS") != "" {
			t.Fatal(err)
		}
		t.Skip("skipped: it builds exported programs with g++, which is not installed (apt-get install g++)")
	}
	dir := filepath.Join(t.TempDir(), "campaign")
	o := options{
		all: true, only: "stcon-edge-coo-", draw: 1, seed: 1, warps: 2, unroll: "1", out: dir, graphs: []string{"rmat6"},
	}
	require.NoError(t, o.main(t.Context()))
	programs, err := os.ReadDir(filepath.Join(dir, "programs"))
	require.NoError(t, err)
	require.Len(t, programs, 5)
	for i, edit := range []string{"s/__global__/__globule__/", "s/, values);/, heddle::Words(values.size(), 7));/"} {
		name := filepath.Join(dir, "programs", programs[4*i].Name(), "program.cu")
		require.NoError(t, exec.Command("sed", "-i", edit, name).Run())
	}
	c := exec.Command("sh", filepath.Join(dir, "check.sh"), "checked.csv")
	c.Env = append(os.Environ(), "PROGRAM=host", "JOBS=2", "BATCH=3", "CXXFLAGS=-O0 -w")
	out, err := c.CombinedOutput()
	require.Error(t, err)
	f, err := os.Open(filepath.Join(dir, "checked.csv"))
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // nothing is written
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+len(programs), "%s", out)
	for _, row := range rows[1:] {
		want := "right"
		switch row[0] {
		case programs[0].Name():
			want = "does not build: "
		case programs[4].Name():
			want = "exit code 1: "
		}
		require.Contains(t, row[2], want, row[0])
	}
}

// TestPointsThatAreNone: a line of points that is none is refused by its number.
func TestPointsThatAreNone(t *testing.T) {
	points := filepath.Join(t.TempDir(), "points.txt")
	for text, want := range map[string]string{
		"bfs warp csr\n":                 "points.txt, line 1: expected algorithm, schedule, layout and direction",
		"":                               "points.txt: expected at least one line",
		"bfs weaver csr push\n":          "bfs-push-weaver-csr: workload.schedule = weaver needs the graph unit weaver",
		"k-core warp csr push\n":         "its arrays are of one graph",
		"pagerank warp ell-csr push\n":   "its arrays are of one graph",
		"pagerank nothing csr push\n":    "nothing",
		"\n# c\nbfs warp csr push x=1\n": `no active set "x=1"`,
		"bfs warp csr push auto own 1\n": "line 1",
		"gt nothing\n":                   "gt-nothing: open nothing: no such file",
		"gt bfs schedule=weaver SOURCE\n": "gt-bfs-weaver: bfs:22:16: loop:step: workload.schedule = weaver needs the graph " +
			"unit",
		"gt bfs layout=virtual SOURCE\n": "its arrays are of one graph",
	} {
		require.NoError(t, os.WriteFile(points, []byte(text), 0o600))
		o := options{points: points, warps: 1, unroll: "1", out: t.TempDir(), graphs: []string{"grid5", "rmat3"}}
		require.ErrorContains(t, o.main(t.Context()), want)
	}
	o := options{warps: 33}
	require.ErrorContains(t, o.main(t.Context()), "-warps 33: expected 1 to 32")
}
