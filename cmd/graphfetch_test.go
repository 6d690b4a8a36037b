package cmd

import (
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph/fetch"
	"heddle/graph/graphspec"
)

// TestGraphFetch: a graph is fetched from a server, its counts are compared with the published ones, and an experiment
// runs on it; a file that differs fails.
func TestGraphFetch(t *testing.T) {
	shipped, err := filepath.Abs("../graph/data")
	require.NoError(t, err)
	server := httptest.NewServer(http.FileServer(http.Dir(shipped)))
	t.Cleanup(server.Close)
	t.Chdir(t.TempDir())
	const sum = "6071bf257fdd8039c4d9967ebdf49937f32b2883507c559c32f34f4347c6d326" // graph/data/README.md
	fetchIt := func(args ...string) (string, string, int) {
		return heddle(t, append([]string{"graph", "fetch", "--url", server.URL + "/facebook_combined.txt.gz"},
			args...)...)
	}

	out, errs, code := fetchIt("facebook_combined", "--sha256", sum)
	require.Equal(t, exitOK, code, errs)
	for _, s := range []string{"graphs/facebook_combined.txt.gz\n", sum + ", as expected",
		"4,039 vertices, 88,234 listed edges, as published", "NIPS 2012", "none is stated"} {
		require.Contains(t, out, s)
	}
	sums, err := os.ReadFile("graphs/SHA256SUMS")
	require.NoError(t, err)
	require.Equal(t, sum+"  facebook_combined.txt.gz\n", string(sums))
	server.Close()
	_, errs, code = fetchIt("facebook_combined")
	require.Equal(t, exitOK, code, "it is there: %s", errs)
	out, errs, code = heddle(t, "graph", "info", "graphs/facebook_combined.txt.gz")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "88,234")

	_, errs, code = fetchIt("wiki-Vote")
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "connection refused")
	for says, args := range map[string][]string{
		`no graph "facebok" to fetch: expected one of cit-HepPh, `: {"facebok"},
		"--sha256: \"12\" is no SHA-256":                           {"wiki-Vote", "--sha256", "12"},
	} {
		_, errs, code = fetchIt(args...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, says)
	}
	out, _, code = heddle(t, "graph", "fetch")
	require.Equal(t, exitOK, code)
	require.Equal(t, len(fetch.Catalogue)+2+len(fetch.NotFetched)+2+len(graphspec.Originals), strings.Count(out, "\n"))
	_, errs, code = heddle(t, "graph", "fetch", "soc-orkut")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "take it from https://")
	for _, g := range fetch.NotFetched {
		_, errs, code = heddle(t, "graph", "fetch", g.Name)
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, "take "+g.Take+" from "+g.Page)
	}
}

// TestGraphFetchOther: a graph that has other counts than the published ones is not taken for it.
func TestGraphFetchOther(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte("1 2\n2 3\n"))
		_ = z.Close()
	}))
	t.Cleanup(server.Close)
	_, errs, code := heddle(t, "graph", "fetch", "wiki-Vote", "--url", server.URL, "--dir", t.TempDir())
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "3 vertices, 2 listed edges; published are 7,115 and 103,689")
}

// The shipped experiments name the source of each graph that they need.
func TestGraphsOfShippedExperiments(t *testing.T) {
	files, err := filepath.Glob("../configs/experiments/*.yaml")
	require.NoError(t, err)
	known := map[string]bool{}
	for _, g := range fetch.Catalogue {
		// a MatrixMarket file is to be compressed
		known[g.File], known[strings.TrimSuffix(g.File, ".gz")+".gz"] = true, true
	}
	for _, g := range fetch.NotFetched {
		known[g.Take[strings.LastIndexByte(g.Take, ' ')+1:]] = true
	}
	name, seen := regexp.MustCompile(`\bgraphs/(\S+\.(?:gz|mtx|txt|gr))`), 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range name.FindAllStringSubmatch(string(text), -1) {
			require.True(t, known[m[1]], "%s: %s", file, m[0])
			seen++
		}
	}
	require.Greater(t, seen, 8)
}
