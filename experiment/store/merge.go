package store

import (
	"database/sql"
	"errors"
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

// Take copies points from another store, replacing those at their positions.
func (s *Store) Take(path string, positions []int) error {
	other, err := OpenRead(path)
	if err != nil {
		return err
	}
	wanted := map[int]bool{}
	for _, p := range positions {
		wanted[p] = true
	}
	var moves []Move
	err = other.snapshot(func(tx *sql.Tx) error {
		return readPoints(tx, Want{Config: true}, "position >= 0", nil, func(r *row) error {
			if wanted[r.Position] {
				moves = append(moves, Move{r.id, Place{r.Position, r.Baseline, r.Identity, r.Axes, r.Config}})
			}
			return nil
		})
	})
	if err = errors.Join(err, other.Close()); err != nil {
		return err
	}
	return s.TakeRows(path, moves)
}
