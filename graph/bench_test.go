package graph

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkRead reads an edge list of 4 M edges from memory: the cost of
// scanning, sorting and renumbering, not of the disk.
func BenchmarkRead(b *testing.B) {
	g := load(b, "rmat.scale=18", "weights.from=random")
	for _, ext := range []string{".txt", ".mtx", ".gr", ".txt.gz"} {
		var text bytes.Buffer
		require.NoError(b, g.Write(&text, "g"+ext))
		b.Run(ext[1:], func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				_, err := Read("g"+ext, bytes.NewReader(text.Bytes()), ReadOptions{})
				require.NoError(b, err)
			}
			b.ReportMetric(float64(g.Edges())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Medges/s")
		})
	}
}

func BenchmarkGenerateAndClean(b *testing.B) {
	for b.Loop() {
		load(b, "rmat.scale=18", "clean.drop_self_loops=true", "clean.symmetrise=true", "clean.drop_duplicates=true",
			"weights.from=random", "reorder.order=degree")
	}
}

func BenchmarkHash(b *testing.B) {
	g := load(b, "rmat.scale=18")
	for b.Loop() {
		_, err := io.WriteString(io.Discard, g.Hash())
		require.NoError(b, err)
	}
}
