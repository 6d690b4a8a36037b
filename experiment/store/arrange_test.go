package store

import (
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// stand returns the identities of a store's points by position, and the number of those put aside.
func stand(t *testing.T, s *Store) (at map[int]string, aside int) {
	t.Helper()
	at = map[int]string{}
	for _, p := range read(t, s) {
		at[p.Position] = p.Identity
		require.Equal(t, fmt.Sprint("config of ", p.Position), p.Config)
		require.Equal(t, []Axis{{"k", fmt.Sprint(p.Position)}}, p.Axes)
		require.NotEmpty(t, p.Steps)
	}
	aside, _, err := s.Aside()
	require.NoError(t, err)
	return at, aside
}

// placed returns the places of identities at positions, as moves of the rows that have them.
func placed(t *testing.T, s *Store, at map[int]string) (moves []Move) {
	t.Helper()
	all, err := s.Index()
	require.NoError(t, err)
	row := map[string]int64{}
	for _, e := range all {
		row[e.Identity] = e.ID
	}
	for position, identity := range at {
		moves = append(moves, Move{row[identity], Place{position, position - 1, identity,
			[]Axis{{"k", fmt.Sprint(position)}}, fmt.Sprint("config of ", position)}})
	}
	return moves
}

// TestArrange draws experiments, each with some of the points of the ones before, in another order and partly twice:
// whatever came between, all points are there with their steps and samples, and none is lost.
func TestArrange(t *testing.T) {
	s, path := create(t)
	require.NoError(t, s.Begin(Experiment{"e", "v", "m", "name: e\n", 12}))
	const n = 12
	for i := range n {
		p := point(i, fmt.Sprint(i))
		p.Axes, p.Config, p.Model = []Axis{{"k", fmt.Sprint(i)}}, fmt.Sprint("config of ", i), "m"
		p.Samples = []Sample{sample(0, 10, uint64(i), 0.5)}
		require.NoError(t, s.Put(&p))
	}
	r := rand.New(rand.NewPCG(1, 2))
	twice := 0
	for range 40 {
		at := map[int]string{}
		for position, which := range r.Perm(n)[:r.IntN(n+1)] {
			at[position+r.IntN(2)*20] = fmt.Sprint(which)
		}
		if len(at) > 0 && r.IntN(3) == 0 {
			for _, identity := range at {
				at[99] = identity
				break
			}
			twice++
		}
		before, _, err := s.Aside()
		require.NoError(t, err)
		require.NoError(t, s.Arrange(Experiment{"e", "v", "m", fmt.Sprint(at), 100}, placed(t, s, at)))
		got, aside := stand(t, s)
		require.Equal(t, at, got)
		require.GreaterOrEqual(t, aside+len(at), n, "after %d aside", before)
		for position, identity := range at {
			table, err := s.Timeline(position)
			require.NoError(t, err)
			require.Equal(t, identity, fmt.Sprint(table.Rows[0][2]))
		}
		all, err := s.Index()
		require.NoError(t, err)
		different := map[string]bool{}
		for _, e := range all {
			different[e.Identity] = true
		}
		require.Len(t, different, n)
	}
	require.Positive(t, twice)
	require.NoError(t, s.Arrange(Experiment{"e", "v", "m", "", 100}, placed(t, s, map[int]string{0: "3"})))
	for _, view := range []string{"points", "axes", "intervals"} {
		_, rows, err := s.Query("SELECT count(*) FROM " + view)
		require.NoError(t, err)
		require.LessOrEqual(t, rows[0][0], int64(1), view)
	}
	require.NoError(t, s.Collect())
	_, aside := stand(t, s)
	require.Zero(t, aside)
	_, rows, err := s.Query("SELECT count(*) FROM stored_intervals")
	require.NoError(t, err)
	require.Equal(t, int64(1), rows[0][0])
	require.NoError(t, s.Close())
	text, err := everything(path)
	require.NoError(t, err)
	require.Contains(t, text, "config of 0")
}

// A point whose position is damaged is not taken for one that was put aside.
func TestADamagedPositionIsSeen(t *testing.T) {
	s, _ := create(t)
	a := point(0, "a")
	require.NoError(t, s.Put(&a))
	_, err := s.db.Exec("UPDATE stored_points SET position = -70")
	require.NoError(t, err)
	_, err = s.Points()
	require.ErrorContains(t, err, "1 points are there, and 0 of them are found")
}

// Points are copied from another store, with the graphs and names that they have, to other places.
func TestTakeRows(t *testing.T) {
	from, path := create(t)
	g := Graph{"g", "a file", 3, 4, 2}
	require.NoError(t, from.PutGraph(g))
	require.NoError(t, from.PutGraph(Graph{"other", "another", 3, 4, 2}))
	for i := range 2 * takeBatch {
		p := point(i, fmt.Sprint(i))
		p.Samples = []Sample{sample(0, 10, uint64(i), 0.5)}
		require.NoError(t, from.Put(&p))
	}
	require.NoError(t, from.Arrange(Experiment{Name: "from"}, nil)) // points put aside are found too
	to, err := Open(filepath.Join(t.TempDir(), File))
	require.NoError(t, err)
	defer to.Close() //nolint:errcheck // of a test
	at := map[int]string{}
	for i := range takeBatch + 1 {
		at[i] = fmt.Sprint(100 - i)
	}
	require.NoError(t, to.TakeRows(path, placed(t, from, at)))
	got, _ := stand(t, to)
	require.Equal(t, at, got)
	graphs, err := to.Graphs()
	require.NoError(t, err)
	require.Equal(t, []Graph{g}, graphs)
	require.ErrorContains(t, to.TakeRows(path, []Move{{ID: 1 << 40}}), "no rows")
}

// A store that heddle wrote before points had models (613c51f0) is read, written and arranged.
func TestAStoreOfVersion10(t *testing.T) {
	f, err := os.Open("testdata/version10.sqlite.gz")
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), File)
	require.NoError(t, os.WriteFile(path, text, 0o644))

	r, err := OpenRead(path)
	require.NoError(t, err)
	points := read(t, r)
	require.Len(t, points, 2)
	require.Equal(t, []uint64{9616, 9181}, []uint64{points[0].Cycles, points[1].Cycles})
	require.Equal(t, []Axis{{"workload.schedule", "edge"}}, points[1].Axes)
	require.Len(t, points[0].Steps, 3)
	require.Greater(t, len(points[0].Stats.Tree()), 500)
	require.Empty(t, points[0].Model)
	done, err := r.Summarised()
	require.NoError(t, err)
	require.True(t, done, "the summaries are those of before")
	table, err := r.Timeline(0)
	require.NoError(t, err)
	require.Len(t, table.Rows, 2)
	_, rows, err := r.Query("SELECT speedup FROM speedups WHERE point = 2")
	require.NoError(t, err)
	require.InDelta(t, 9616.0/9181, rows[0][0], 1e-12)
	require.NoError(t, r.Close())

	s, err := Open(path)
	require.NoError(t, err)
	all, err := s.Index()
	require.NoError(t, err)
	var moves []Move
	for _, e := range all {
		moves = append(moves, Move{e.ID, Place{1 - e.Position, -1, e.Identity, nil, "c"}})
	}
	require.NoError(t, s.Arrange(Experiment{Name: "turned"}, moves))
	require.NoError(t, s.Close())
	r, err = OpenRead(path)
	require.NoError(t, err)
	defer r.Close() //nolint:errcheck // read only
	turned := read(t, r)
	require.Equal(t, []uint64{9181, 9616}, []uint64{turned[0].Cycles, turned[1].Cycles})
	require.Equal(t, points[0].Steps, turned[1].Steps)
}
