package store

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/sim/stats"
)

func create(t *testing.T) (*Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a ?b", File)
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o755))
	s, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() }) //nolint:errcheck // of a test
	return s, path
}

func point(position int, identity string) Point {
	return Point{
		Identity: identity, Position: position, Baseline: -1, Axes: []Axis{{"z", "1"}, {"a", "x y"}},
		Config: "name: e\n", Graph: "g", Version: "v",
		Cycles: 12345678901234, Verified: true, Seconds: 0.25, Finished: "2026-01-02T03:04:05Z",
		Stats: stats.Pack(stats.Tree{
			stats.Count("z.last", "cycles", "First in order.", math.MaxInt64),
			stats.Constant("ratio", "", "A third.", 1.0/3),
			stats.Constant("whole", "", "A ratio that is whole.", 2), stats.Count("a", "bytes", "Zero.", 0),
		}),
		Steps: []Step{
			{-1, "init", 2, 0, nil}, {0, "gather", 7, 0, stats.Tree{stats.Count("of a step", "things", "Of a step.", 1), stats.Constant("ratio", "", "A third.", 2.0/3)}},
			{0, "apply", 5, 0, nil}, {1, "gather", 3, 0, stats.Tree{stats.Count("a", "bytes", "Zero.", 5)}},
		},
	}
}

// more adds to statistics.
func more(p stats.Packed, add ...stats.Stat) stats.Packed {
	return stats.Pack(append(p.Tree(), add...))
}

func read(t *testing.T, s *Store) []Point {
	t.Helper()
	p, err := s.Points()
	require.NoError(t, err)
	return p
}

func TestPointsComeBackAsTheyWere(t *testing.T) {
	s, path := create(t)
	_, ok, err := s.Experiment()
	require.NoError(t, err)
	require.False(t, ok)
	want := Experiment{"e", "v", "", "name: e\n", 3}
	require.NoError(t, s.Begin(want))
	b, a := point(1, "b"), point(0, "a")
	b.Baseline, b.Verified, b.Failure, b.Error = 0, false, "crash", "BUG: x"
	require.NoError(t, s.Put(&b))
	require.NoError(t, s.Put(&a))
	require.Equal(t, []Point{a, b}, read(t, s))

	// While it is being written, and after.
	for range 2 {
		r, err := OpenRead(path)
		require.NoError(t, err)
		require.Equal(t, []Point{a, b}, read(t, r))
		e, ok, err := r.Experiment()
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, want, e)
		require.NoError(t, r.Close())
		require.NoError(t, s.Close())
	}
	beside, err := filepath.Glob(path + "?*")
	require.NoError(t, err)
	require.Empty(t, beside, "one file is left, also after reading it")
}

func TestAPointReplacesTheOneInItsPlace(t *testing.T) {
	s, _ := create(t)
	a, other := point(0, "a"), point(0, "other")
	require.NoError(t, s.Put(&a))
	a.Cycles = 5
	require.NoError(t, s.Put(&a))
	require.Equal(t, []Point{a}, read(t, s))
	other.Stats = stats.Pack(other.Stats.Tree()[:1])
	require.NoError(t, s.Put(&other))
	require.Equal(t, []Point{other}, read(t, s))
	_, rows, err := s.Query("SELECT count(*) FROM statistics")
	require.NoError(t, err)
	require.Equal(t, [][]any{{int64(1)}}, rows)
}

// A point that cannot be stored as a whole leaves the store as it was.
func TestAllOrNothing(t *testing.T) {
	s, _ := create(t)
	a := point(0, "a")
	require.NoError(t, s.Put(&a))
	large, same, cycles := point(0, "b"), point(0, "b"), point(0, "c")
	large.Stats = more(large.Stats, stats.Count("large", "", "", math.MaxInt64+1))
	require.ErrorContains(t, s.Put(&large), "large = 9223372036854775808 does not fit")
	same.Stats, same.Steps = stats.Packed{}, []Step{{Kernel: "k"}}
	same.Axes = append(same.Axes, same.Axes...)
	require.NoError(t, s.Put(&same), "axes are a list")
	cycles.Cycles = math.MaxUint64
	require.ErrorContains(t, s.Put(&cycles), "do not fit")
	require.Equal(t, []Point{same}, read(t, s))
}

func TestQueriesOnlyRead(t *testing.T) {
	s, path := create(t)
	a, b := point(0, "a"), point(1, "b")
	b.Baseline, b.Cycles = 0, a.Cycles/2
	require.NoError(t, s.Put(&a))
	require.NoError(t, s.Put(&b))
	r, err := OpenRead(path)
	require.NoError(t, err)
	defer r.Close() //nolint:errcheck // of a test
	columns, rows, err := r.Query("SELECT name, value, unit FROM stats WHERE point = 2 ORDER BY name")
	require.NoError(t, err)
	require.Equal(t, []string{"name", "value", "unit"}, columns)
	require.Equal(t, [][]any{{"a", int64(0), "bytes"}, {"ratio", 1.0 / 3, ""}, {"whole", 2.0, ""},
		{"z.last", int64(math.MaxInt64), "cycles"}}, rows)
	_, rows, err = r.Query("SELECT point, speedup FROM speedups")
	require.NoError(t, err)
	require.Equal(t, [][]any{{int64(2), 2.0}}, rows)
	_, rows, err = r.Query("SELECT step, kernel, name, value, unit FROM step_stats WHERE point = 1")
	require.NoError(t, err)
	require.Equal(t, [][]any{{int64(0), "gather", "of a step", int64(1), "things"},
		{int64(0), "gather", "ratio", 2.0 / 3, ""}, {int64(1), "gather", "a", int64(5), "bytes"}}, rows)
	elsewhere := filepath.Join(t.TempDir(), "x")
	for _, q := range []string{
		"DELETE FROM points", "DROP TABLE axes", "CREATE TABLE x (y)", "PRAGMA query_only = 0; DELETE FROM points", "PRAGMA user_version = 7",
		"ATTACH '" + elsewhere + "' AS x; CREATE TABLE x.y (z)", "VACUUM INTO '" + elsewhere + "'", "nonsense", "",
	} {
		_, _, err := r.Query(q) //nolint:sqlclosecheck // no rows
		_ = err
		require.Len(t, read(t, s), 2, q)
	}
	_, rows, err = s.Query("SELECT (SELECT count(*) FROM sqlite_schema WHERE name = 'x'), user_version FROM " +
		"pragma_user_version")
	require.NoError(t, err)
	require.Equal(t, [][]any{{int64(0), int64(len(migrations))}}, rows)
	require.NoFileExists(t, elsewhere)
}

func TestWhatIsNoStoreIsRefused(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(file("garbage"),
		[]byte("this is no database, whatever its name says, and is long enough to be read as a header of one"), 0o644))
	require.NoError(t, syscall.Mkfifo(file("pipe"), 0o644))
	other, err := open(file("other"), "rwc")
	require.NoError(t, err)
	_, err = other.db.Exec("CREATE TABLE t (x)")
	require.NoError(t, err)
	require.NoError(t, other.Close())
	for name, version := range map[string]int{"newer": 99, "negative": -1} {
		s, err := Open(file(name))
		require.NoError(t, err)
		_, err = s.db.Exec(fmt.Sprintf("PRAGMA user_version = %d", version))
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
	content := func(name string) string { // nothing of a store that cannot be opened
		b, _ := os.ReadFile(file(name))
		return string(b)
	}
	for name, says := range map[string]string{
		"negative": "schema version -1",
		"garbage":  "not a database", "pipe": "expected a regular file", "other": "not of heddle's results", "newer": "schema version 99", ".": "expected a regular file",
	} {
		for _, o := range []func(string) (*Store, error){Open, OpenRead} {
			if name == "pipe" {
				_, err := o(file(name))
				require.ErrorContains(t, err, says)
				continue
			}
			was := content(name)
			_, err := o(file(name))
			require.ErrorContains(t, err, says)
			require.Equal(t, was, content(name), "%s is left as it was", name)
			require.ErrorContains(t, err, filepath.Clean(file(name)))
		}
	}
	_, err = OpenRead(file("none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoFileExists(t, file("none"))
	empty := file("empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o644))
	_, err = OpenRead(empty)
	require.ErrorIs(t, err, ErrEmpty)
}

// A file cut short, or with a byte changed, is an error or another content: never a panic.
func TestDamagedFiles(t *testing.T) {
	s, path := create(t)
	a := point(0, "a")
	require.NoError(t, s.Put(&a))
	require.NoError(t, s.Close())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := 0; i < len(whole); i += 977 {
		for _, damaged := range [][]byte{whole[:i], flipped(whole, i)} {
			require.NoError(t, os.WriteFile(path, damaged, 0o644))
			if r, err := OpenRead(path); err == nil {
				r.Points() //nolint:errcheck // any outcome but a panic
				r.Close()  //nolint:errcheck // of a test
			}
		}
	}
}

func flipped(b []byte, i int) []byte {
	out := append([]byte{}, b...)
	out[i] ^= 0xff
	return out
}

// A program that is killed while it writes without WAL, as when a store is made or closed, leaves a journal; a
// reader has it undone.
func TestAHotJournalIsUndone(t *testing.T) {
	s, path := create(t)
	a, b := point(0, "a"), point(0, "b")
	require.NoError(t, s.Put(&a))
	require.NoError(t, s.Close())
	w, err := open(path, "rw", "journal_mode(DELETE)", "cache_size(1)")
	require.NoError(t, err)
	tx, err := w.db.Begin()
	require.NoError(t, err)
	// more than the cache holds, so it is in the file
	_, err = tx.Exec("UPDATE stored_points SET config = ?", strings.Repeat("x", 1<<20))
	require.NoError(t, err)
	killed := filepath.Join(t.TempDir(), File)
	for _, suffix := range []string{"", "-journal"} {
		half, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(killed+suffix, half, 0o644))
	}
	require.NoError(t, tx.Rollback())
	require.NoError(t, w.Close())
	r, err := OpenRead(killed)
	require.NoError(t, err)
	require.Equal(t, []Point{a}, read(t, r))
	require.NoError(t, r.Close())
	again, err := Open(killed)
	require.NoError(t, err)
	require.NoError(t, again.Put(&b))
	require.Equal(t, []Point{b}, read(t, again))
	require.NoError(t, again.Close())
}

// A store of the first version is brought up to date by who opens it, unless a run is writing to it.
func TestOlderStoresAreBroughtUpToDate(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	old, err := open(path, "rwc")
	require.NoError(t, err)
	_, err = old.db.Exec(migrations[0].tables + "; PRAGMA user_version = 1; PRAGMA application_id = 1751475308")
	require.NoError(t, err)
	a := point(0, "a")
	a.Axes, a.Stats = nil, stats.Packed{}
	a.Steps = []Step{{Step: 0, Kernel: "init", Cycles: 5}, {Step: 1, Kernel: "gather", Cycles: 7}}
	_, err = old.db.Exec(`INSERT INTO points (identity, position, config, graph, version, cycles, verified, failure, error, host_seconds, finished)
		VALUES ('a', 0, 'name: e' || char(10), 'g', 'v', 12345678901234, 1, '', '', 0.25, '2026-01-02T03:04:05Z');
		INSERT INTO super_steps (point, step, kernel, cycles) VALUES (1, -1, 'init', 5), (1, 0, 'gather', 7)`)
	require.NoError(t, err)
	require.NoError(t, old.Close())
	lock, err := os.Create(filepath.Join(filepath.Dir(path), LockFile))
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	_, err = OpenRead(path)
	require.ErrorContains(t, err, fmt.Sprintf("schema version 1, and this program reads %d, and cannot be brought up to "+
		"date: a run is writing to it", len(migrations)))
	require.NoError(t, lock.Close())
	r, err := OpenRead(path)
	require.NoError(t, err)
	require.Equal(t, []Point{a}, read(t, r))
	require.NoError(t, r.Close())
	s, err := Open(path)
	require.NoError(t, err)
	g := Graph{"g", "a file", 3, 4, 2}
	require.NoError(t, s.PutGraph(g))
	require.NoError(t, s.PutGraph(g))
	require.NoError(t, s.Close())
	r, err = OpenRead(path)
	require.NoError(t, err)
	defer r.Close() //nolint:errcheck // of a test
	require.Equal(t, []Point{a}, read(t, r))
	graphs, err := r.Graphs()
	require.NoError(t, err)
	require.Equal(t, []Graph{g}, graphs)
}

// A program killed between two migrations must leave the version it found: no reader knows one between.
func TestMigrationsAreAllOrNothing(t *testing.T) {
	all := migrations
	defer func() { migrations = all }()
	migrations = append(slices.Clone(all), migration{tables: "this is no SQL"})
	path := filepath.Join(t.TempDir(), File)
	_, err := Open(path)
	require.Error(t, err)
	migrations = all
	_, err = OpenRead(path)
	require.ErrorIs(t, err, ErrEmpty)
}

func TestPhasesAreShares(t *testing.T) {
	s, _ := create(t)
	p := point(0, "a")
	p.Stats = more(p.Stats, stats.Count("core.phase.init.scheduler_cycles", "", "", 2),
		stats.Count("core.phase.apply.scheduler_cycles", "", "", 6),
		stats.Count("core.phase.init.warp_cycles", "", "", 1), stats.Count("core.phase.apply.warp_cycles", "", "", 3),
		stats.Count("core.phase.apply.warp_instrs", "", "", 9), stats.Count("core0.phase.apply.warp_cycles", "", "", 3))
	require.NoError(t, s.Put(&p))
	_, rows, err := s.Query("SELECT point, phase, scheduler_cycles, warp_cycles, share FROM phases")
	require.NoError(t, err)
	require.Equal(t, [][]any{{int64(1), "init", int64(2), int64(1), 0.25},
		{int64(1), "apply", int64(6), int64(3), 0.75}}, rows)
}

// Sampled values keep their confidence intervals, in the store, its views and its tables.
func TestEstimatesKeepTheirIntervals(t *testing.T) {
	s, _ := create(t)
	whole, sampled := point(0, "a"), point(1, "b")
	whole.Cycles, sampled.Cycles, sampled.Half, sampled.Baseline = 4000, 2000, 100, 0
	e := stats.Count("estimate", "cycles", "Sampled.", 1000)
	e.Half = 12.5
	sampled.Stats = more(sampled.Stats, e)
	of := e
	of.Name, of.Half = "estimate of a step", 0.25
	sampled.Steps = []Step{{1, "gather", 2000, 100, stats.Tree{of}}}
	require.NoError(t, s.Put(&whole))
	require.NoError(t, s.Put(&sampled))
	require.Equal(t, []Point{whole, sampled}, read(t, s))
	for q, want := range map[string][]any{
		"SELECT half FROM stats WHERE name = 'estimate'":                {12.5},
		"SELECT half FROM step_stats WHERE name = 'estimate of a step'": {0.25},
		"SELECT half FROM points ORDER BY point":                        {nil, 100.0},
		"SELECT speedup FROM speedups":                                  {2.0},
		"SELECT half FROM speedups":                                     {0.1},
	} {
		_, rows, err := s.Query(q)
		require.NoError(t, err)
		var got []any
		for _, r := range rows {
			got = append(got, r[0])
		}
		require.Equal(t, want, got, q)
	}
	w := Wide([]Point{whole, sampled})
	at := map[string]int{}
	for i, c := range w.Columns {
		at[c.Name] = i
	}
	require.Equal(t, []any{100.0, 0.1, 12.5},
		[]any{w.Rows[1][at["cycles_ci95"]], w.Rows[1][at["speedup_ci95"]], w.Rows[1][at["stats.estimate_ci95"]]})
	require.Nil(t, w.Rows[0][at["cycles_ci95"]])
	for _, c := range Wide([]Point{whole}).Columns {
		require.NotContains(t, c.Name, "_ci95")
	}
}
