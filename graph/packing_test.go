package graph

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fixture is a file that another program wrote; testdata/README.md names it.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return b
}

func readFixture(t testing.TB, name string, o ReadOptions) *Graph {
	t.Helper()
	g, err := Read(name, bytes.NewReader(fixture(t, name)), o)
	require.NoError(t, err)
	return g
}

func TestCompressedFiles(t *testing.T) {
	for plain, packed := range map[string][]string{
		"karate.el":  {"karate.el.xz", "karate.el.bz2", "karate.el.zst", "karate.streams.el.xz"},
		"karate.wel": {"karate.long.wel.zst"},
	} {
		want := readFixture(t, plain, ReadOptions{})
		require.Equal(t, 34, want.Vertices())
		for _, name := range packed {
			require.Equal(t, want.Hash(), readFixture(t, name, ReadOptions{}).Hash(), name)
			again, err := Read("unnamed", bytes.NewReader(fixture(t, name)), ReadOptions{})
			require.NoError(t, err, "known by its contents")
			require.Equal(t, want.Hash(), again.Hash(), name)
		}
	}
}

// A file that is cut off or damaged is refused: that the checksum is right is part of reading.
func TestDamagedCompressedFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, name := range []string{"karate.el.xz", "karate.el.bz2", "karate.el.zst", "karate.streams.el.xz"} {
		whole := fixture(t, name)
		want := readFixture(t, name, ReadOptions{}).Hash()
		for n := 12; n < len(whole); n += 1 + random.IntN(12) {
			_, err := Read(name, bytes.NewReader(whole[:n]), ReadOptions{})
			if err == nil && strings.HasPrefix(name, "karate.streams") {
				continue // cut between the streams: half of a graph is one
			}
			require.ErrorAs(t, err, new(*ParseError), "%s cut to %d", name, n)
			require.ErrorContains(t, err, name+": ")
		}
		for range 25 {
			damaged := bytes.Clone(whole)
			damaged[12+random.IntN(len(whole)-12)] ^= 1 << random.IntN(8)
			g, err := Read(name, bytes.NewReader(damaged), ReadOptions{})
			if err != nil {
				require.ErrorAs(t, err, new(*ParseError))
			} else {
				require.Equal(t, want, g.Hash(), "a change that leaves the contents as they were")
			}
		}
	}
}

func TestBombsOfAllKinds(t *testing.T) {
	for name, unpack := range map[string]string{"bomb.xz": "unxz", "bomb.bz2": "bunzip2", "bomb.zst": "unzstd"} {
		_, err := Read(name, bytes.NewReader(fixture(t, name)), ReadOptions{})
		require.ErrorContains(t, err, name+": unpacks to more than 100 times its size: no graph does; unpack it with "+
			unpack)
	}
	for name, says := range map[string]string{
		"window.xz": "the xz data needs more memory to unpack than the 64 MiB", "window.zst": "the zstd data needs more memory to unpack than the 128 MiB",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(name, bytes.NewReader(fixture(t, name)), ReadOptions{})
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, name+": "+says)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20), name)
	}
}

// Files of other programs are named as such, and none of their contents reach the terminal.
func TestForeignFiles(t *testing.T) {
	var picture, archive bytes.Buffer
	require.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 9, 9))))
	z := zip.NewWriter(&archive)
	_, err := z.Create("g.txt")
	require.NoError(t, err)
	require.NoError(t, z.Close())
	object, err := json.Marshal(map[string]int{"nodes": 4})
	require.NoError(t, err)
	twice, err := os.ReadFile(filepath.Join("testdata", "karate.el.xz"))
	require.NoError(t, err)
	for what, contents := range map[string][]byte{
		"a PNG image":                    picture.Bytes(),
		"a zip archive":                  archive.Bytes(),
		"a zip archive (.zip, .npz":      fixture(t, "foreign.npz"),
		"JSON":                           object,
		"a NumPy array":                  fixture(t, "foreign.npy"),
		"a Python pickle":                fixture(t, "foreign4.pickle"),
		"a GML graph":                    fixture(t, "foreign.gml"),
		"an XML document (GraphML":       fixture(t, "foreign.graphml"),
		"a Pajek network":                fixture(t, "foreign.net"),
		"an ELF program":                 []byte("\x7fELF\x02\x01\x01\x00\x00\x00"),
		"HDF5 data":                      []byte("\x89HDF\r\n\x1a\n\x00\x00\x00"),
		"a Parquet table":                []byte("PAR1\x15\x04\x15\x30\x15"),
		"a tar archive":                  append(bytes.Repeat([]byte{0}, 257), "ustar\x0000"...),
		"an HTML page":                   []byte("<!DOCTYPE html>\n<html>"),
		"text in UTF-16":                 []byte("\xff\xfe0\x00 \x001\x00\n\x00"),
		"(first bytes 00 01 02 03 1b 5b": {0, 1, 2, 3, 0x1b, '[', '2', 'J'},
		"xz data, compressed once more":  gzipped(t, twice),
	} {
		for _, name := range []string{"g.txt", "g.mtx", "g"} {
			_, err := Read(name, bytes.NewReader(contents), ReadOptions{})
			require.ErrorAs(t, err, new(*ParseError), what)
			require.ErrorContains(t, err, what)
			require.NotContains(t, err.Error(), "\x1b")
		}
	}
	for _, protocol := range []string{"2", "3", "5"} {
		_, err := Read("g", bytes.NewReader(fixture(t, "foreign"+protocol+".pickle")), ReadOptions{})
		require.ErrorContains(t, err, "g: this looks like a Python pickle: expected a graph (heddle, MatrixMarket, DIMACS")
	}
}

func FuzzReadXz(f *testing.F) { fuzzPacked(f, ".xz") }

func FuzzReadBzip2(f *testing.F) { fuzzPacked(f, ".bz2") }

func FuzzReadZstd(f *testing.F) { fuzzPacked(f, ".zst") }

func fuzzPacked(f *testing.F, ext string) {
	fuzzRead(f, "g"+ext, ".txt", string(fixture(f, "karate.el"+ext)), string(fixture(f, "karate.sg"+ext)))
}
