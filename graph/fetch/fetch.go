package fetch

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"heddle/internal/files"
)

// Sums is the file of checksums beside fetched graphs, as sha256sum writes and checks it.
const Sums = "SHA256SUMS"

// Limits keep a server from filling the disk.
const (
	maxBytes   = 16 << 30
	maxMembers = 64
	// A line of an edge list has two numbers of vertices and at most a weight; an archive may have coordinates.
	mostOfLine   = 64
	mostOfVertex = 256
	mostOfHeader = 1 << 20
)

// most bounds the size of a graph's file in bytes, compressed or unpacked, from its published properties.
func (g *Graph) most() int64 {
	if g.Lines == 0 {
		return maxBytes
	}
	return min(maxBytes, mostOfHeader+mostOfLine*int64(g.Lines)+mostOfVertex*int64(g.Vertices))
}

// Client fetches for a directory.
type Client struct {
	HTTP *http.Client
	Dir  string
}

// NewClient returns a client that follows redirects, except to a less secure scheme.
func NewClient(dir string) *Client {
	return &Client{Dir: dir, HTTP: &http.Client{
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: time.Minute,
			TLSHandshakeTimeout: 30 * time.Second},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) >= 10 {
				return errors.New("more than ten redirects")
			}
			if via[0].URL.Scheme == "https" && r.URL.Scheme != "https" {
				return fmt.Errorf("redirected from https to %s", r.URL.Scheme)
			}
			return nil
		},
	}}
}

// Fetched is a graph on the disk.
type Fetched struct {
	Path   string
	SHA256 string
	Known  bool // the checksum was recorded before, or given: it has been compared
	There  bool // nothing was downloaded
}

// Get fetches a graph, unless it is there already. want is its SHA-256 if the user knows it, else the recorded one
// counts; a first checksum is recorded. A file that differs is not kept.
func (c *Client) Get(ctx context.Context, g Graph, want string) (Fetched, error) {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return Fetched{}, err
	}
	recorded, err := c.recorded(g.File)
	if err != nil {
		return Fetched{}, err
	}
	if want == "" {
		want = recorded
	}
	out := Fetched{Path: filepath.Join(c.Dir, g.File), Known: want != ""}
	if _, err := os.Stat(out.Path); err == nil {
		out.There = true
		if out.SHA256, err = sum(out.Path); err != nil {
			return out, err
		}
		if out.Known && out.SHA256 != want {
			return out, fmt.Errorf("%s has SHA-256 %s, expected %s: remove it to fetch it again", out.Path, out.SHA256,
				want)
		}
	} else if out.SHA256, err = c.download(ctx, g, out.Path, want); err != nil {
		return out, err
	}
	if recorded == "" {
		err = c.record(g.File, out.SHA256)
	}
	return out, err
}

// download stores the graph's file if its checksum is the wanted one, or any if none is.
func (c *Client) download(ctx context.Context, g Graph, path, want string) (got string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, g.URL, nil)
	if err != nil {
		return "", err
	}
	rsp, err := c.HTTP.Do(r)
	if err != nil {
		return "", err
	}
	defer rsp.Body.Close() //nolint:errcheck // read only
	if rsp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: the server answers %s", g.URL, rsp.Status)
	}
	body, err := contents(&g, rsp)
	if err != nil {
		return "", fmt.Errorf("%s: %w", g.URL, err)
	}
	f, err := files.Create(path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(f, h), body); err != nil {
		return "", errors.Join(fmt.Errorf("%s: %w", g.URL, err), f.Abort())
	}
	got = hex.EncodeToString(h.Sum(nil))
	if want != "" && got != want {
		return "", errors.Join(fmt.Errorf("%s: the received file has SHA-256 %s, expected %s: it is not kept", g.URL, got,
			want), f.Abort())
	}
	return got, f.Commit()
}

// contents returns the part of a response that is stored as the graph's file. A response longer than the graph can be
// fails, and one of another type is refused before anything is stored.
func contents(g *Graph, rsp *http.Response) (io.Reader, error) {
	most := g.most()
	if rsp.ContentLength > most {
		return nil, fmt.Errorf("the server sends %d bytes, and the graph has at most %d", rsp.ContentLength, most)
	}
	body := bufio.NewReader(&limited{r: rsp.Body, left: most, most: most, what: "the server's response"})
	if g.Member == "" {
		return body, begins(body, g.File)
	}
	if err := begins(body, ".gz"); err != nil {
		return nil, err
	}
	archived, err := member(body, g.Member, most)
	if err != nil {
		return nil, err
	}
	file := bufio.NewReader(archived)
	return file, begins(file, g.File)
}

// begins refuses contents that do not begin like a file of that name: many servers answer with an error page, and
// report success.
func begins(r *bufio.Reader, name string) error {
	start, err := r.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if text := bytes.TrimLeft(start, "\ufeff \t\r\n"); len(text) > 0 && text[0] == '<' {
		return errors.New("the server sends a page (HTML) in place of the graph: it is not kept")
	}
	for ending, magic := range map[string]string{".gz": "\x1f\x8b", ".mtx": "%%MatrixMarket"} {
		if strings.HasSuffix(name, ending) && !bytes.HasPrefix(start, []byte(magic)) {
			return fmt.Errorf("the server's response is no %s file: it begins with %q: it is not kept", ending,
				start[:min(len(start), 16)])
		}
	}
	return nil
}

// member returns a file in a gzipped tar archive, limited to most bytes unpacked.
func member(r io.Reader, name string, most int64) (io.Reader, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	archive := tar.NewReader(&limited{r: z, left: most, most: most, what: "the archive, unpacked,"})
	for range maxMembers {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if h.Name == name && h.Typeflag == tar.TypeReg {
			return archive, nil
		}
	}
	return nil, fmt.Errorf("the archive has no %s", name)
}

// limited fails, and does not end, where a stream is longer than it may be.
type limited struct {
	r          io.Reader
	left, most int64
	what       string
}

func (l *limited) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("%s has more than the %d bytes that the graph can have", l.what, l.most)
	}
	n, err := l.r.Read(b[:min(int64(len(b)), l.left)])
	l.left -= int64(n)
	return n, err
}

func sum(path string) (string, error) {
	f, err := files.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // read only
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// CheckSum validates a SHA-256 that a user specifies.
func CheckSum(text string) error {
	if b, err := hex.DecodeString(text); text != "" &&
		(err != nil || len(b) != sha256.Size || text != strings.ToLower(text)) {
		return fmt.Errorf("%q is no SHA-256: expected 64 digits 0-9 a-f, as sha256sum prints", text)
	}
	return nil
}

// recorded returns the checksum of a file in SHA256SUMS; "": it has none.
func (c *Client) recorded(name string) (string, error) {
	path := filepath.Join(c.Dir, Sums)
	f, err := files.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // read only
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		n++
		digits, file, ok := strings.Cut(s.Text(), " ")
		if !ok || strings.TrimLeft(file, " *") != name {
			continue
		}
		if err := CheckSum(digits); err != nil {
			return "", fmt.Errorf("%s:%d: %w", path, n, err)
		}
		return digits, nil
	}
	return "", nil
}

// record adds a line to SHA256SUMS.
func (c *Client) record(name, sum string) error {
	f, err := os.OpenFile(filepath.Join(c.Dir, Sums), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s  %s\n", sum, name)
	return errors.Join(err, f.Close())
}
