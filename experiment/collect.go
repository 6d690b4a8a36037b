package experiment

import (
	"errors"
	"os"
	"path/filepath"

	"heddle/experiment/store"
)

// Collected counts the points that Collect deletes from a store.
type Collected struct {
	Path   string `json:"path"`   // of the store
	Points int    `json:"points"` // stored, and not in the experiment
	Bytes  int64  `json:"bytes"`  // of their configurations and statistics, without super-steps and intervals
}

// Collect deletes from a store, given by its path or directory, the points that its experiment does not have. With dry,
// it only counts them. A store that a run is writing to is an error.
func Collect(path string, dry bool) (c Collected, err error) {
	c.Path = storeFile(path)
	s, err := store.OpenRead(c.Path)
	if err != nil {
		return c, err
	}
	c.Points, c.Bytes, err = s.Aside()
	if err = errors.Join(err, s.Close()); err != nil || dry || c.Points == 0 {
		return c, err
	}
	lock, err := acquire(filepath.Join(filepath.Dir(c.Path), store.LockFile))
	if err != nil {
		return c, err
	}
	defer lock.Close() //nolint:errcheck // a lock
	if s, err = store.Open(c.Path); err != nil {
		return c, err
	}
	return c, errors.Join(s.Collect(), s.Close())
}

// Stores returns the stores of a folder's experiments and of their shards, sorted.
func Stores(folder string) []string {
	if _, err := os.Stat(folder); err != nil {
		return nil
	}
	s := Search{Folders: []string{folder}}
	return s.stores("")
}
