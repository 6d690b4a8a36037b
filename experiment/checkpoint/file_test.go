package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

type about struct {
	Name string
	Step int
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.checkpoint")
	_, err := Open(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	one, two := newWorld(&constant{}), newWorld(&constant{})
	a, b := census(t, one), census(t, two)
	one.live(rand.New(rand.NewPCG(3, 3)))
	for step := range 3 { // the last one counts
		size, err := Write(path, about{"this", step}, a)
		require.NoError(t, err)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, size, info.Size())
	}
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, names, 1, "nothing half written is left")
	f, err := Open(path)
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	var h about
	require.NoError(t, f.Header(&h))
	require.Equal(t, about{"this", 2}, h)
	require.NoError(t, f.Load(b))
	require.Equal(t, saved(t, a), saved(t, b))

	// A failed write leaves the old file.
	one.act = func(*world) int { return len(h.Name) }
	_, err = Write(path, about{}, a)
	require.ErrorContains(t, err, "world.act: a function that was not there")
	names, err = os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, names, 1)
	require.ErrorContains(t, f.Header(&[]int{}), "a.checkpoint: this checkpoint is damaged")

	var bad *DamagedError
	other := newWorld(&constant{})
	other.free = append(other.free, &item{})
	require.ErrorAs(t, f.Load(census(t, other)), &bad)
	require.ErrorIs(t, bad, ErrOther)
	require.ErrorContains(t, bad, "remove the file, and the point begins anew")
}

// signed is a file with its sum.
func signed(text []byte) []byte {
	sum := sha256.Sum256(text)
	return append(bytes.Clone(text), sum[:]...)
}

// FuzzOpen opens files whose sums are right, so that the rest is read: hostile files can have them.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "a.checkpoint")
	one := newWorld(&constant{})
	a := census(f, one)
	one.live(rand.New(rand.NewPCG(3, 3)))
	_, err := Write(path, about{"this", 1}, a)
	require.NoError(f, err)
	whole, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(whole[:len(whole)-32])
	f.Add([]byte(magic))
	f.Add(append([]byte(magic), 0xFF, 0xFF, 0xFF, 0xFF))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "b.checkpoint")
		require.NoError(t, os.WriteFile(path, signed(text), 0o644))
		c, err := Open(path)
		if err != nil {
			require.ErrorContains(t, err, "this checkpoint is damaged")
			return
		}
		defer c.Close() //nolint:errcheck // read only
		var h map[string]json.RawMessage
		_ = c.Header(&h)
		b := census(t, newWorld(&constant{}))
		if err := c.Load(b); err == nil {
			_, err := b.Save(io.Discard)
			require.NoError(t, err)
		}
	})
}
