package documents_test

import (
	"encoding/csv"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// silicon is a file of docs/results/silicon: its columns' names, and the rows behind them, without comments.
func silicon(t *testing.T, name string) (columns []string, rows [][]string) {
	f, err := os.Open("../../docs/results/silicon/" + name)
	require.NoError(t, err)
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	all, err := r.ReadAll()
	require.NoError(t, err)
	return all[0], all[1:]
}

func number(t *testing.T, text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return x
}
