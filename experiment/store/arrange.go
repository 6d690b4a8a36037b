package store

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Entry locates a stored point.
type Entry struct {
	ID       int64 // of its row
	Identity string
	Position int // below 0: put aside
	Verified bool
	Failure  string
	Cycles   uint64
	Model    string
}

// Index reads the entries of all stored points, also of those put aside, sorted by identity. It reads no other part of
// the points, and their checksums are verified by who reads them.
func (s *Store) Index() (list []Entry, err error) {
	err = s.snapshot(func(tx *sql.Tx) error {
		return each(tx, "SELECT id, identity, position, verified, failure, cycles, model FROM stored_points INDEXED "+
			"BY stored_points_identity ORDER BY identity, position", func(r *sql.Rows) error {
			var e Entry
			err := r.Scan(&e.ID, &e.Identity, &e.Position, &e.Verified, &e.Failure, &e.Cycles, &e.Model)
			list = append(list, e)
			return err
		})
	})
	return list, err
}

// OfVersion reads the points, also those put aside, of programs whose version or model has a prefix, without statistics
// and super-steps.
func (s *Store) OfVersion(prefix string, visit func(e Entry, p *Point) error) error {
	return s.snapshot(func(tx *sql.Tx) error {
		return readPoints(tx, Want{Config: true}, "substr(version, 1, ?1) = ?2 OR substr(model, 1, ?1) = ?2",
			[]any{len(prefix), prefix}, func(r *row) error {
				return visit(Entry{r.id, r.Identity, r.Position, r.Verified, r.Failure, r.Cycles, r.Model}, r.present())
			})
	})
}

// EachOf reads the points of rows, in their order.
func (s *Store) EachOf(ids []int64, want Want, visit func(id int64, p *Point) error) error {
	return s.snapshot(func(tx *sql.Tx) error {
		from, err := newPointReader(tx)
		if err != nil {
			return err
		}
		defer from.close()
		for _, id := range ids {
			err := from.each(want, "id = ?", []any{id}, func(r *row) error { return visit(id, r.present()) })
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Place is the position of a stored point in an experiment, and its names there.
type Place struct {
	Position, Baseline int
	Identity           string
	Axes               []Axis
	Config             string
}

// Move gives the point of a row a place.
type Move struct {
	ID int64
	Place
}

// Arrange records the experiment and gives stored points their places in it, in one transaction. Points without a move
// are put aside. A row may have several moves: equal points of an experiment have a row each.
func (s *Store) Arrange(e Experiment, moves []Move) error {
	return s.transact(func(tx *sql.Tx) error {
		a := arrangement{store: s, tx: tx, moves: map[int64]*Move{}, now: map[int64]int{}, at: map[int]int64{}}
		var copies []Move
		for i := range moves {
			if m := &moves[i]; a.moves[m.ID] == nil {
				a.moves[m.ID] = m
			} else {
				copies = append(copies, *m)
			}
		}
		if err := a.run(); err != nil {
			return err
		}
		for _, m := range copies {
			if err := s.copyWithin(tx, m); err != nil {
				return err
			}
		}
		if was, ok, err := experimentIn(tx); err != nil || ok && was == e && len(a.changed)+len(copies) == 0 {
			return err // the summaries stay up to date
		}
		return e.put(tx)
	})
}

// Begin records the experiment, and puts all points aside.
func (s *Store) Begin(e Experiment) error { return s.Arrange(e, nil) }

// arrangement carries out the moves of one Arrange.
type arrangement struct {
	store *Store
	tx    *sql.Tx
	moves map[int64]*Move

	now     map[int64]int // position of each row that is to change
	at      map[int]int64 // those rows by position
	changed []changedRow
}

// changedRow is a row with its new place and checksums.
type changedRow struct {
	id             int64
	place          Place
	axes           bool // they differ from the stored ones
	configSum, sum int64
}

func (a *arrangement) run() error {
	err := readPoints(a.tx, Want{Config: true}, "true", nil, func(r *row) error { a.plan(r); return nil })
	if err != nil {
		return err
	}
	update, err := a.tx.Prepare("UPDATE stored_points SET identity = ?, position = ?, baseline = ?, config = ?, " +
		"config_sum = ?, sum = ? WHERE id = ?")
	if err != nil {
		return err
	}
	defer update.Close() //nolint:errcheck // ends with the transaction
	for todo := a.changed; len(todo) > 0; {
		var later []changedRow
		for _, c := range todo {
			if holder, taken := a.at[c.place.Position]; taken && holder != c.id {
				later = append(later, c)
				continue
			}
			if err := a.apply(update, &c); err != nil {
				return err
			}
		}
		if len(later) == len(todo) { // a cycle: one row makes room
			if err := a.vacate(later[0].place.Position); err != nil {
				return err
			}
		}
		todo = later
	}
	return nil
}

// plan computes how a row changes.
func (a *arrangement) plan(r *row) {
	was := r.Point
	to := Place{Position: aside(r.id), Baseline: -1, Identity: r.Identity, Axes: r.Axes, Config: r.Config}
	if m := a.moves[r.id]; m != nil {
		to = m.Place
	}
	same := was.Position == to.Position && was.Identity == to.Identity && was.Config == to.Config &&
		slices.Equal(was.Axes, to.Axes)
	if same && (to.Position < 0 || was.Baseline == to.Baseline) {
		return
	}
	r.Position, r.Baseline, r.Identity, r.Axes, r.Config = to.Position, to.Baseline, to.Identity, to.Axes, to.Config
	a.changed = append(a.changed, changedRow{r.id, to, !slices.Equal(was.Axes, to.Axes),
		new(digest).text(to.Config).sum(), r.digest()})
	a.now[r.id], a.at[was.Position] = was.Position, r.id
}

// aside returns the position of a row that the experiment does not have.
func aside(id int64) int { return int(-id) }

func (a *arrangement) apply(update *sql.Stmt, c *changedRow) error {
	if _, err := update.Exec(c.place.Identity, c.place.Position, baselineValue(c.place.Baseline), c.place.Config,
		c.configSum, c.sum, c.id); err != nil {
		return err
	}
	if a.at[a.now[c.id]] == c.id {
		delete(a.at, a.now[c.id])
	}
	if !c.axes {
		return nil
	}
	if _, err := a.tx.Exec("DELETE FROM stored_axes WHERE point = ?", c.id); err != nil {
		return err
	}
	return insertAxes(a.tx, c.id, c.place.Axes)
}

// vacate moves the row at a position out of the way. Its checksum is that of its new place, which it takes later in the
// same transaction.
func (a *arrangement) vacate(position int) error {
	id := a.at[position]
	_, err := a.tx.Exec("UPDATE stored_points SET position = ? WHERE id = ?", math.MinInt32-id, id)
	delete(a.at, position)
	return err
}

// copyWithin gives a place to a copy of a row.
func (s *Store) copyWithin(tx *sql.Tx, m Move) error {
	from, err := newPointReader(tx)
	if err != nil {
		return err
	}
	defer from.close()
	p, err := from.whole(m.ID)
	if err != nil {
		return err
	}
	p.place(&m.Place)
	return s.put(tx, p)
}

func (p *Point) place(to *Place) {
	p.Position, p.Baseline, p.Identity, p.Axes, p.Config = to.Position, to.Baseline, to.Identity, to.Axes, to.Config
}

func baselineValue(position int) any {
	if position < 0 {
		return nil
	}
	return position
}

// takeBatch is the number of points that TakeRows copies in one transaction. It bounds the write-ahead log.
const takeBatch = 64

// TakeRows copies points from another store to their places, replacing those that are there. The program may be killed
// meanwhile: points that were copied are then stored, and the others are not.
func (s *Store) TakeRows(path string, moves []Move) error {
	other, err := OpenRead(path)
	if err != nil {
		return err
	}
	defer other.Close() //nolint:errcheck // read only
	t := taking{to: s}
	if t.graphs, err = other.Graphs(); err != nil {
		return err
	}
	if t.generated, err = other.Generated(); err != nil {
		return err
	}
	return other.snapshot(func(tx *sql.Tx) error {
		if t.from, err = newPointReader(tx); err != nil {
			return err
		}
		defer t.from.close()
		for batch := range slices.Chunk(moves, takeBatch) {
			if err := s.transact(func(tx *sql.Tx) error { return t.take(tx, batch) }); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		return nil
	})
}

// taking is one TakeRows.
type taking struct {
	to        *Store
	from      *pointReader
	graphs    []Graph
	generated []Generated
}

func (t *taking) take(tx *sql.Tx, moves []Move) error {
	for i := range moves {
		p, err := t.from.whole(moves[i].ID)
		if err != nil {
			return err
		}
		for k := range t.graphs {
			if g := &t.graphs[k]; g.Hash == p.Graph {
				if err := t.to.putGraph(tx, g); err != nil {
					return err
				}
			}
		}
		t.generated = slices.DeleteFunc(t.generated, func(g Generated) bool {
			of := err == nil && g.Hash == p.Graph && g.Numbering == p.Numbering && g.Model == p.Model
			if of {
				err = g.put(tx)
			}
			return of
		})
		p.place(&moves[i].Place)
		if err = errors.Join(err, t.to.put(tx, p)); err != nil {
			return err
		}
	}
	return nil
}

// Generated is the content of a generated graph.
type Generated struct {
	Spec      string // SHA-256 of the graph's description
	Model     string // of the program that generated it
	Hash      string // of the content
	Numbering string // SHA-256 of the vertices' former numbers; "": they have kept them
}

func (g *Generated) sum() int64 { return new(digest).text(g.Spec, g.Model, g.Hash, g.Numbering).sum() }

func (g *Generated) put(tx *sql.Tx) error {
	_, err := tx.Exec("INSERT OR REPLACE INTO generated (spec, model, hash, numbering, sum) VALUES (?, ?, ?, ?, ?)",
		g.Spec, g.Model, g.Hash, g.Numbering, g.sum())
	return err
}

// PutGenerated stores the contents of generated graphs.
func (s *Store) PutGenerated(list ...Generated) error {
	return s.transact(func(tx *sql.Tx) error {
		for i := range list {
			if err := list[i].put(tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// Generated reads the contents of generated graphs.
func (s *Store) Generated() (list []Generated, err error) {
	err = s.snapshot(func(tx *sql.Tx) error {
		return each(tx, "SELECT spec, model, hash, numbering, sum FROM generated ORDER BY spec, model",
			func(r *sql.Rows) error {
				var g Generated
				var sum int64
				err := r.Scan(&g.Spec, &g.Model, &g.Hash, &g.Numbering, &sum)
				if err == nil && sum != g.sum() {
					err = damaged("the row of generated graph %.12s", g.Spec)
				}
				list = append(list, g)
				return err
			})
	})
	return list, err
}

// Aside counts the points that were put aside, and the bytes of their rows without super-steps and intervals.
func (s *Store) Aside() (points int, bytes int64, err error) {
	err = s.db.QueryRow("SELECT count(*), coalesce(sum(length(config) + length(stats)), 0) FROM stored_points WHERE "+
		"position < 0").Scan(&points, &bytes)
	return points, bytes, s.wrap(err)
}

// Collect deletes the points that were put aside, and the descriptions of graphs that no point has, and returns the
// room to the file system.
func (s *Store) Collect() error {
	err := s.transact(func(tx *sql.Tx) error {
		_, err := tx.Exec(`DELETE FROM stored_points WHERE position < 0;
			DELETE FROM graphs WHERE hash NOT IN (SELECT graph FROM stored_points);
			DELETE FROM generated WHERE hash NOT IN (SELECT graph FROM stored_points)`)
		s.graphs = nil
		return err
	})
	if err != nil {
		return err
	}
	_, err = s.db.Exec("VACUUM")
	return s.wrap(err)
}
