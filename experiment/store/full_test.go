package store

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFull: a database that has no room is told from one that is wrong.
func TestFull(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "full.sqlite"))
	require.NoError(t, err)
	defer db.Close() //nolint:errcheck // of a test
	db.SetMaxOpenConns(1)
	for _, s := range []string{"PRAGMA max_page_count = 4", "CREATE TABLE t (x BLOB)"} {
		_, err = db.Exec(s)
		require.NoError(t, err)
	}
	_, err = db.Exec("INSERT INTO t VALUES (zeroblob(1000000))")
	require.True(t, Full(fmt.Errorf("point 3: %w", err)), "%v", err)
	_, err = db.Exec("INSERT INTO none VALUES (1)")
	require.Error(t, err)
	require.False(t, Full(err), "%v", err)
	require.False(t, Full(nil))
}
