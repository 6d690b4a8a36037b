package dram

import (
	"encoding/csv"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// configSpec returns the spec of a configuration of testdata/*.csv.
func configSpec(t testing.TB, config string) Spec {
	t.Helper()
	of := map[string]struct {
		preset   string
		channels int
		change   func(*Spec)
	}{
		"r20_hbm2_1ch":        {"hbm2-2gbps-r20", 1, nil},
		"r20_hbm2_8ch":        {"hbm2-2gbps-r20", 8, nil},
		"r21_hbm2v_1ch":       {"hbm2-2gbps", 1, nil},
		"r21_hbm2v_8ch":       {"hbm2-2gbps", 8, nil},
		"r21_hbm2v_1ch_noref": {"hbm2-2gbps", 1, func(s *Spec) { s.Refresh = false }},
		"r21_hbm2v_1ch_rh":    {"hbm2-2gbps", 1, func(s *Spec) { s.Scheduler = FRFCFSRowHit }},
		"r21_hbm2j_1ch":       {"hbm2-2gbps-jedec", 1, nil},
		"r20_ddr4_1ch":        {"ddr4-3200-r20", 1, nil},
		"r21_ddr4_1ch":        {"ddr4-3200", 1, nil},
		"r21_ddr4_1ch_rh":     {"ddr4-3200", 1, func(s *Spec) { s.Scheduler = FRFCFSRowHit }},
		"r21_gddr6_1ch":       {"gddr6", 1, nil},
		"r21_gddr6_1ch_rh":    {"gddr6", 1, func(s *Spec) { s.Scheduler = FRFCFSRowHit }},
	}[config]
	require.NotEmpty(t, of.preset, "configuration %s", config)
	s := preset(t, of.preset)
	s.Channels = of.channels
	if of.change != nil {
		of.change(&s)
	}
	return s
}

func preset(t testing.TB, name string) Spec {
	t.Helper()
	s, err := Preset(name)
	require.NoError(t, err)
	return s
}

func newChannel(t testing.TB, s Spec) *Channel {
	t.Helper()
	c, err := NewChannel(s)
	require.NoError(t, err)
	return c
}

// readCSV returns the rows of a file of testdata without its header.
func readCSV(t testing.TB, file string) [][]string {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	return rows[1:]
}

func number(t testing.TB, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	require.NoError(t, err)
	return n
}

// place is a location in a channel by its parts.
type place struct{ rank, group, bank, row, column int }

// lineOf returns the line at an address of channel 0 in the mapping RoBaRaCoCh.
func lineOf(s Spec, p place) uint64 {
	line := uint64(p.row)
	for _, f := range []struct{ size, at int }{
		{s.Banks, p.bank}, {s.BankGroups, p.group}, {s.Ranks, p.rank}, {s.Columns, p.column}, {s.Channels, 0},
	} {
		line = line*uint64(f.size) + uint64(f.at)
	}
	return line
}

// lcg is the generator of the reference runs: step, then use.
type lcg uint64

func (x *lcg) next() uint64 {
	*x = *x*6364136223846793005 + 1442695040888963407
	return uint64(*x) >> 33
}
