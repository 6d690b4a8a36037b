package store

import (
	"database/sql"
	"fmt"
)

// Head identifies a result of a point.
type Head struct {
	Position                   int
	Identity, Failure, Partial string
	Cycles                     uint64
	Verified                   bool
}

// Heads reads the heads of all stored points, by position.
func (s *Store) Heads() (map[int]Head, error) {
	all := map[int]Head{}
	err := s.Each(Want{}, func(p *Point) error {
		all[p.Position] = Head{p.Position, p.Identity, p.Failure, p.Partial, p.Cycles, p.Verified}
		return nil
	})
	return all, err
}

// Take copies points from another store, replacing those at their positions, in one transaction.
func (s *Store) Take(path string, positions []int) error {
	other, err := OpenRead(path)
	if err != nil {
		return err
	}
	defer other.Close() //nolint:errcheck // read only
	graphs, err := other.Graphs()
	if err != nil {
		return err
	}
	return other.snapshot(func(from *sql.Tx) error {
		return s.transact(func(to *sql.Tx) error {
			for i := range graphs {
				if err := s.putGraph(to, &graphs[i]); err != nil {
					return err
				}
			}
			for _, p := range positions {
				if err := s.take(to, from, p); err != nil {
					return fmt.Errorf("%s: point %d: %w", path, p+1, err)
				}
			}
			return nil
		})
	})
}

func (s *Store) take(to, from *sql.Tx, position int) error {
	p, err := pointAt(from, position, All)
	if err == nil && p == nil {
		err = sql.ErrNoRows
	}
	if err != nil {
		return err
	}
	if p.Samples, err = readSamples(from, position); err != nil {
		return err
	}
	return s.put(to, p)
}
