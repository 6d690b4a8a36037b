package tune_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/tune"
)

// TestPage: the page of the comparison has the tables of its study.
func TestPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/results/hardware-vs-tuned.json")
	require.NoError(t, err)
	var s tune.Study
	require.NoError(t, json.Unmarshal(data, &s))
	page, err := os.ReadFile("../../docs/results/hardware-vs-tuned.md")
	require.NoError(t, err)
	tables := s.Markdown()
	if os.Getenv("HEDDLE_TABLES") != "" {
		require.NoError(t, os.WriteFile(os.Getenv("HEDDLE_TABLES"), []byte(tables), 0o644))
	}
	require.Contains(t, string(page), tables)
}
