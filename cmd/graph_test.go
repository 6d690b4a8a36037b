package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/internal/testenv"
)

func TestGraphInfo(t *testing.T) {
	out, errs, code := heddle(t, "graph", "info", "facebook_combined", "--symmetrise", "--weights", "random")
	require.Equal(t, exitOK, code, errs)
	require.Empty(t, errs)
	for _, says := range []string{
		"facebook_combined\n  read         edge list: 4,039 vertices, 88,234 edges listed; vertices numbered 0..4038\n",
		"  then         88,234 reverse edges added\n               weights: int, random 1..64, seed 1\n",
		"  edges        176,468 directed, symmetric; 0 self-loops, 0 duplicates\n",
		"  components   1; the largest has 4,039 vertices (100.0 %)\n",
		"  memory       csr 1.36 MiB, csc 1.36 MiB, coo 2.02 MiB\n",
		"  degree               1     43.69        25       112       199     1,045\n",
		"\n       1,024..2,047           1    0.0 %  ███",
	} {
		require.Contains(t, out, says)
	}
	require.NotContains(t, out, "\x1b")
	require.NotContains(t, out, "in-degree", "the same as out-degree")

	out, _, _ = heddle(t, "graph", "info", "facebook_combined")
	require.Contains(t, out, "in-degree    vertices")
}

func TestGraphInfoJSON(t *testing.T) {
	out, errs, code := heddle(t, "graph", "info", "facebook_combined", "--json", "--reorder", "degree",
		"--drop-self-loops=true")
	require.Equal(t, exitOK, code, errs)
	var got struct {
		Record  graph.Record
		Summary graph.Summary
	}
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	g, err := graph.Load(graphspec.Graph{File: "facebook_combined", Clean: graphspec.Clean{DropSelfLoops: true},
		Reorder: graphspec.Reorder{Order: graphspec.DegreeOrder}})
	require.NoError(t, err)
	require.Equal(t, g.Record, got.Record)
	require.Equal(t, g.Summarise(), &got.Summary)
}

func TestGraphGenAndConvert(t *testing.T) {
	dir := t.TempDir()
	mtx, list, gr := filepath.Join(dir, "g.mtx.gz"), filepath.Join(dir, "g.txt"), filepath.Join(dir, "g.gr")
	_, errs, code := heddle(t, "graph", "gen", "rmat", "--scale", "8", "--seed", "7", "-o", mtx, "--weights", "random",
		"--weight-max", "9")
	require.Equal(t, exitOK, code, errs)
	require.Regexp(t, `g\.mtx\.gz: 256 vertices, 4,096 directed edges, hash [0-9a-f]{64}\n`, errs)
	hash := strings.Fields(errs)[len(strings.Fields(errs))-1]

	out, errs, code := heddle(t, "graph", "convert", mtx, list, "--json")
	require.Equal(t, exitOK, code, errs)
	var w written
	require.NoError(t, json.Unmarshal([]byte(out), &w))
	require.Equal(t, []any{list, 256, 4096, hash}, []any{w.File, w.Vertices, w.Edges, w.Hash})
	require.Equal(t, mtx, w.Record.Source)

	_, errs, code = heddle(t, "graph", "convert", list, gr, "--drop-duplicates", "--weights", "unit")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, errs, "DIMACS has no edges without weights: each is written as 1")
	text, err := os.ReadFile(gr)
	require.NoError(t, err)
	require.Contains(t, string(text), "\np sp 256 ")
	out, _, _ = heddle(t, "graph", "info", gr)
	require.Contains(t, out, "0 duplicates")
	require.Contains(t, out, "int, 1..1")
}

// Every example in the help runs; files go to a temporary folder.
func TestGeneratorExamples(t *testing.T) {
	testenv.NeedSlow(t, "it makes a graph with each generator")
	require.ElementsMatch(t, graphspec.Sources()[1:], sections())
	for _, g := range generators {
		args := append([]string{"graph", "gen", command(g.section)}, strings.Fields(g.example)...)
		for i, a := range args {
			if a == "-o" {
				args[i+1] = filepath.Join(t.TempDir(), args[i+1])
			}
		}
		_, errs, code := heddle(t, args...)
		require.Equal(t, exitOK, code, errs)
	}
}

func sections() []string {
	var names []string
	for _, g := range generators {
		names = append(names, g.section)
	}
	return names
}

func TestGraphUsageErrors(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.txt")
	require.NoError(t, os.WriteFile(bad, []byte("# hi\n1 2\n1 x\n"), 0o644))
	for _, c := range []struct{ says, args string }{
		{"--scale: missing; expected an integer 1..27 (log2 vertices)", "gen rmat -o x"},
		{"--scale: expected an integer 1..27 (log2 vertices); found 99", "gen rmat --scale 99 -o x"},
		{"--a: a + b + c = 1.28: expected at most 1", "gen rmat --scale 3 --a 0.9 -o x"},
		{"no output: expected -o FILE", "gen rmat --scale 3"},
		{`no generator "frob": expected one of rmat, powerlaw-cluster`, "gen frob"},
		{`no graph "facebok"`, "info facebok"},
		{"--weight-min means nothing without --weights random", "info facebook_combined --weight-min 2"},
		{"--reorder-seed means nothing without --reorder random", "info facebook_combined --reorder bfs --reorder-seed 2"},
		{"--reorder: expected one of none, degree, random, bfs; found \"dgree\"; did you mean degree?", "info facebook_combined --reorder dgree"},
		{`bad.txt:3: expected a second vertex number, 0..4294967294; found "x"`, "info " + bad},
		{"no such file", "info ./none.txt"},
		{"no such file or directory", "convert facebook_combined /nonexistent/x.txt"},
	} {
		_, errs, code := heddle(t, append([]string{"graph"}, strings.Fields(c.args)...)...)
		require.Equal(t, exitUsage, code, c.args)
		require.Contains(t, errs, c.says)
	}
}

func TestGraphInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	root := newRoot()
	var errs bytes.Buffer
	root.SetArgs([]string{"graph", "gen", "grid", "--width", "500", "--height", "500", "-o",
		filepath.Join(t.TempDir(), "x.txt")})
	root.SetErr(&errs)
	require.Equal(t, exitInterrupted, run(ctx, root))
	require.Contains(t, errs.String(), "interrupted")
}

func TestGraphWarnings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "g.txt")
	require.NoError(t, os.WriteFile(file, []byte("# Nodes: 3 Edges: 9\n1 2\n"), 0o644))
	_, errs, code := heddle(t, "graph", "info", file)
	require.Equal(t, exitOK, code)
	require.Contains(t, errs, "g.txt: the header says 9 edges, and there are 1")
}

func TestGraphList(t *testing.T) {
	out, _, code := heddle(t, "graph", "list")
	require.Equal(t, exitOK, code)
	require.Equal(t, "facebook_combined\n", out)
}

func TestGroupedAndSizes(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		require.Equal(t, want, grouped(n))
	}
	for n, want := range map[uint64]string{12: "12 bytes", 1023: "1023 bytes", 1536: "1.5 KiB", 3 << 30: "3 GiB"} {
		require.Equal(t, want, size(n))
	}
	require.Equal(t, "", bar(0, 9))
	require.Equal(t, strings.Repeat("█", histogramWidth), bar(9, 9))
	require.NotEmpty(t, bar(1, 1<<30))
}

// Every fixture of another program is a graph wherever one is named, and names of vertices can be written.
func TestGraphFilesOfOtherPrograms(t *testing.T) {
	const fixtures = "../graph/testdata/"
	for _, name := range []string{
		"karate.graph", "karate.wsg", "karate.sg.xz", "karate.adj", "directed.int.gr", "directed.v2.gr", "karate.el.bz2", "karate.long.wel.zst", "davis.txt", "directed.gephi.csv",
	} {
		_, errs, code := heddle(t, "graph", "info", fixtures+name)
		require.Equal(t, exitOK, code, errs)
	}
	dir := t.TempDir()
	names, plain := filepath.Join(dir, "names.csv"), filepath.Join(dir, "g.txt")
	_, errs, code := heddle(t, "graph", "convert", fixtures+"karate.names.csv", plain, "--names", names)
	require.Equal(t, exitOK, code, errs)
	text, err := os.ReadFile(names)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), "vertex,name\n0,\"Member, no. 1\"\n1,\"Member, no. 2\"\n"),
		string(text))
	require.Equal(t, 35, strings.Count(string(text), "\n"))
	_, errs, code = heddle(t, "graph", "info", plain, "--names", names)
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "have numbers, not names")
}
