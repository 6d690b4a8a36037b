package store

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// rearranged is the environment variable that makes TestKilledWithinArrange rearrange the store that it names, until it
// is killed.
const rearranged = "HEDDLE_TEST_REARRANGED"

const rearrangedPoints = 120

// orders are the arrangements of points by identity that the killed program alternates between: in order, backwards
// with one position more, and half of them, so that the others are put aside.
func order(k, i int) (position int, there bool) {
	switch k % 3 {
	case 0:
		return i, true
	case 1:
		return rearrangedPoints - i, true
	}
	return i / 2, i%2 == 0
}

// arrangementOf returns the experiment and the moves of an arrangement, of the rows of a store.
func arrangementOf(t *testing.T, s *Store, k int) (Experiment, []Move) {
	index, err := s.Index()
	require.NoError(t, err)
	var moves []Move
	for _, e := range index {
		var i int
		_, err := fmt.Sscan(e.Identity, &i)
		require.NoError(t, err)
		if position, there := order(k, i); there {
			moves = append(moves, Move{e.ID, Place{position, -1, e.Identity, []Axis{{"k", fmt.Sprint(k % 3)}},
				fmt.Sprint("config ", k%3)}})
		}
	}
	return Experiment{Name: "e", Version: fmt.Sprint(k % 3), Points: len(moves)}, moves
}

// TestKilledWithinArrange: a program that is killed by SIGKILL while it gives points new positions loses none: the
// store has one arrangement or the next as a whole, every row with its checksum.
func TestKilledWithinArrange(t *testing.T) {
	if path := os.Getenv(rearranged); path != "" {
		s, err := Open(path)
		require.NoError(t, err)
		for k := 0; ; k++ {
			require.NoError(t, s.Arrange(arrangementOf(t, s, k)))
			fmt.Println("arranged")
		}
	}
	path := filepath.Join(t.TempDir(), File)
	s, err := Open(path)
	require.NoError(t, err)
	for i := range rearrangedPoints {
		p := point(i, fmt.Sprint(i))
		require.NoError(t, s.Put(&p))
	}
	require.NoError(t, s.Arrange(arrangementOf(t, s, 0)))
	require.NoError(t, s.Close())
	seen := map[string]int{}
	for range testenv.Cases(t, 12, 300) {
		killRearranging(t, path, 2+rand.IntN(4))
		version := wholeArrangement(t, path)
		seen[version]++
	}
	require.Greater(t, len(seen), 1, "killed in different arrangements: %v", seen)
}

// killRearranging starts a program that rearranges a store, and kills it within an arrangement after so many others.
func killRearranging(t *testing.T, path string, after int) {
	c := exec.Command(os.Args[0], "-test.run", "^TestKilledWithinArrange$") //nolint:gosec // this test
	c.Env = append(os.Environ(), rearranged+"="+path)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	lines, last, took := bufio.NewScanner(out), time.Now(), time.Duration(0)
	for range after {
		require.True(t, lines.Scan())
		took, last = time.Since(last), time.Now()
	}
	time.Sleep(time.Duration(rand.Int64N(int64(took) + 1)))
	require.NoError(t, c.Process.Kill())
	require.Error(t, c.Wait())
}

// wholeArrangement checks that a store has all points, in one arrangement, and returns its experiment's version.
func wholeArrangement(t *testing.T, path string) string {
	s, err := Open(path)
	require.NoError(t, err)
	defer s.Close() //nolint:errcheck // of a test
	e, ok, err := s.Experiment()
	require.NoError(t, err)
	require.True(t, ok)
	k := int(e.Version[0] - '0')
	index, err := s.Index()
	require.NoError(t, err)
	require.Len(t, index, rearrangedPoints)
	for _, x := range index {
		var i int
		_, err := fmt.Sscan(x.Identity, &i)
		require.NoError(t, err)
		if position, there := order(k, i); there {
			require.Equal(t, position, x.Position)
		} else {
			require.Negative(t, x.Position)
		}
	}
	points, err := s.Points() // verifies the checksums
	require.NoError(t, err)
	require.Len(t, points, e.Points)
	for _, p := range points {
		require.Equal(t, fmt.Sprint("config ", k), p.Config)
		require.Equal(t, []Axis{{"k", fmt.Sprint(k)}}, p.Axes)
		i := slices.IndexFunc(index, func(x Entry) bool { return x.Position == p.Position })
		require.Equal(t, strings.TrimSpace(index[i].Identity), p.Identity)
	}
	return e.Version
}
