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
		text := "%%MatrixMarket " + n
		require.NoError(t, w.WriteHeader(&tar.Header{Name: n, Size: int64(len(text)), Mode: 0o644,
			Typeflag: tar.TypeReg}))
		_, err := w.Write([]byte(text))
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
	contents := map[string][]byte{"/a.txt.gz": []byte("\x1f\x8bone"),
		"/b.tar.gz": archive(t, "b/readme", "b/b.mtx", "../b.mtx"), "/c.tar.gz": archive(t, "../c.mtx"), "/d.tar.gz": []byte("no archive")}
	url, asked := serve(t, contents)
	dir := filepath.Join(t.TempDir(), "graphs")
	c := NewClient(dir)
	get := func(g Graph, want string) (Fetched, error) { return c.Get(context.Background(), g, want) }
	a := Graph{Name: "a", URL: url + "/a.txt.gz", File: "a.txt.gz"}
	const one = "091471c2b597402f8a9c53d4c201d2315996baced32b3e9198db28a7faac4f7a" // printf '\x1f\x8bone' | sha256sum

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
	contents["/a.txt.gz"] = []byte("\x1f\x8bthree")
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
	require.Equal(t, "%%MatrixMarket b/b.mtx", string(text))

	_, err = get(Graph{URL: url + "/c.tar.gz", File: "c.mtx", Member: "c/c.mtx"}, "")
	require.ErrorContains(t, err, "the archive has no c/c.mtx")
	_, err = get(Graph{URL: url + "/d.tar.gz", File: "d.mtx", Member: "d/d.mtx"}, "")
	require.ErrorContains(t, err, "is no .gz file: it begins with \"no archive\"")
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
	_, err = (&limited{r: strings.NewReader("abc"), left: 0, most: 7, what: "x"}).Read(make([]byte, 9))
	require.ErrorContains(t, err, "x has more than the 7 bytes that the graph can have")
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

// TestGetIsNotFilled: a page that is called a success, and a body without an end, leave neither file nor checksum.
func TestGetIsNotFilled(t *testing.T) {
	endless := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch filepath.Base(r.URL.Path) {
		case "page.txt.gz", "page.mtx", "page.el":
			_, _ = w.Write([]byte("\n <!DOCTYPE html><html>moved</html>"))
		case "text.txt.gz", "text.mtx":
			_, _ = w.Write([]byte("0 1\n"))
		case "long.txt.gz":
			w.Header().Set("Content-Length", "99999999999")
			_, _ = w.Write([]byte("\x1f\x8b"))
		default:
			_, _ = w.Write([]byte("\x1f\x8b"))
			for chunk := make([]byte, 1<<16); ; endless += len(chunk) {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}
	}))
	t.Cleanup(s.Close)
	for file, says := range map[string]string{
		"page.txt.gz": "sends a page (HTML) in place of the graph", "page.mtx": "sends a page (HTML)", "page.el": "sends a page (HTML)",
		"text.txt.gz": `is no .gz file: it begins with "0 1\n"`, "text.mtx": "is no .mtx file",
		"long.txt.gz": "the server sends 99999999999 bytes, and the graph has at most", "endless.txt.gz": "has more than the 1057536 bytes that the graph can have",
	} {
		dir := t.TempDir()
		_, err := NewClient(dir).Get(t.Context(),
			Graph{Name: "g", URL: s.URL + "/" + file, File: file, Vertices: 10, Lines: 100}, "")
		require.ErrorContains(t, err, says, file)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left, file)
	}
	s.Close() // which waits for the handlers
	require.Less(t, endless, 64<<20)
}
