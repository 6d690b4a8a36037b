package fetch

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// archive packs files, which have one line each.
func archive(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, n := range names {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: n, Size: int64(len(n)), Mode: 0o644, Typeflag: tar.TypeReg}))
		_, err := w.Write([]byte(n))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.Bytes()
}

// serve answers paths with contents, and counts requests.
func serve(t *testing.T, contents map[string][]byte) (url string, asked *int) {
	t.Helper()
	asked = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		text, ok := contents[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func TestGet(t *testing.T) {
	contents := map[string][]byte{"/a.txt.gz": []byte("one"), "/b.tar.gz": archive(t, "b/readme", "b/b.mtx", "../b.mtx"), "/c.tar.gz": archive(t, "../c.mtx"), "/d.tar.gz": []byte("no archive")}
	url, asked := serve(t, contents)
	dir := filepath.Join(t.TempDir(), "graphs")
	c := NewClient(dir)
	get := func(g Graph, want string) (Fetched, error) { return c.Get(context.Background(), g, want) }
	a := Graph{Name: "a", URL: url + "/a.txt.gz", File: "a.txt.gz"}
	const one = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed" // printf one | sha256sum

	f, err := get(a, "")
	require.NoError(t, err)
	require.Equal(t, Fetched{Path: filepath.Join(dir, "a.txt.gz"), SHA256: one}, f)
	f, err = get(a, "")
	require.NoError(t, err)
	require.True(t, f.There && f.Known)
	require.Equal(t, 1, *asked, "it is there")

	require.NoError(t, os.WriteFile(f.Path, []byte("two"), 0o644))
	_, err = get(a, "")
	require.ErrorContains(t, err, "expected "+one+": remove it to fetch it again")
	require.NoError(t, os.Remove(f.Path))
	contents["/a.txt.gz"] = []byte("three")
	_, err = get(a, "")
	require.ErrorContains(t, err, "expected "+one+": it is not kept")
	require.NoFileExists(t, f.Path)

	b := Graph{Name: "b", URL: url + "/b.tar.gz", File: "b.mtx", Member: "b/b.mtx"}
	_, err = get(b, strings.Repeat("0", 64))
	require.ErrorContains(t, err, "it is not kept")
	f, err = get(b, "")
	require.NoError(t, err)
	text, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	require.Equal(t, "b/b.mtx", string(text))

	_, err = get(Graph{URL: url + "/c.tar.gz", File: "c.mtx", Member: "c/c.mtx"}, "")
	require.ErrorContains(t, err, "the archive has no c/c.mtx")
	_, err = get(Graph{URL: url + "/d.tar.gz", File: "d.mtx", Member: "d/d.mtx"}, "")
	require.ErrorContains(t, err, "gzip: invalid header")
	_, err = get(Graph{URL: url + "/none.txt.gz", File: "none.txt.gz"}, "")
	require.ErrorContains(t, err, "404 Not Found")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{Sums, "b.mtx"}, names, "nothing unfinished stays")
	sums, err := os.ReadFile(filepath.Join(dir, Sums))
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(sums), "\n"))
}

func TestLimited(t *testing.T) {
	n, err := (&limited{r: strings.NewReader("abc"), left: 2, what: "x"}).Read(make([]byte, 9))
	require.NoError(t, err)
	require.Equal(t, 2, n)
	_, err = (&limited{r: strings.NewReader("abc"), left: 0, what: "x"}).Read(make([]byte, 9))
	require.ErrorContains(t, err, "x has more than 16 GiB")
}

// TestDowngrade: a redirect to a less safe address is not followed.
func TestDowngrade(t *testing.T) {
	check := NewClient("").HTTP.CheckRedirect
	request := func(url string) *http.Request {
		r, err := http.NewRequest(http.MethodGet, url, nil)
		require.NoError(t, err)
		return r
	}
	from := []*http.Request{request("https://a.org")}
	require.NoError(t, check(request("https://b.org"), from))
	require.ErrorContains(t, check(request("http://b.org"), from), "from https to http")
	require.Error(t, check(request("https://b.org"), slices.Repeat(from, 10)))
}

func TestCatalogue(t *testing.T) {
	require.True(t, slices.IsSortedFunc(Catalogue, func(a, b Graph) int { return strings.Compare(a.Name, b.Name) }))
	for _, g := range Catalogue {
		require.True(t, strings.HasPrefix(g.URL, "https://"), g.Name)
		require.NotContains(t, g.File, "/")
		require.True(t, g.Vertices > 0 && g.About != "" && g.Cite != "", g.Name)
		found, ok := Lookup(g.Name)
		require.True(t, ok && found.URL == g.URL)
	}
	require.Error(t, CheckSum("abc"))
	require.Error(t, CheckSum(strings.Repeat("A", 64)))
	require.NoError(t, CheckSum(""))
}
