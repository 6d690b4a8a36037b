package compose

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/kernels/workload"
)

// TestTooManySlots: a layout that would be too large is refused before it is built.
func TestTooManySlots(t *testing.T) {
	g := read(5000, "2 1 1")
	p, err := NewPlan(choose("layout=ell-csr"))
	require.NoError(t, err)
	w := workloadOf(p)
	w.ELLWidth = 1 << 15
	_, err = Run(context.Background(), functional(t, p), g, w)
	require.ErrorContains(t, err, "workload.layout.ell_width = 32768 under layout ell-csr: 5000 vertices with 32768 "+
		"slots each: expected at most 134217728 slots")
	require.ErrorAs(t, err, new(*KeyError))
}

// TestSizes: a number of one layout is refused by the others, and changes the kernel's name.
func TestSizes(t *testing.T) {
	w := choose("layout=csr")
	w.ELLWidth = 3
	_, err := NewPlan(w)
	require.ErrorContains(t, err, "workload.layout.ell_width = 3: has no effect on layout csr: expected 0, the default; "+
		"others are for ell-csr, ell-coo")
	w = choose("layout=coo", "schedule=edge")
	w.SlotOrder = Rows
	_, err = NewPlan(w)
	require.ErrorContains(t, err, "workload.layout.slot_order = rows: layout coo has no slots")
	for want, of := range map[string]struct {
		schedule workload.Schedule
		order    workload.Choice
		width    int
	}{
		"pagerank/vertex/ell-csr/pull/counter":            {"vertex", workload.Auto, 0},
		"pagerank/vertex/ell-csr/pull/counter/ell-5":      {"vertex", Columns, 5},
		"pagerank/vertex/ell-csr/pull/counter/ell-5/rows": {"vertex", Rows, 5},
		"pagerank/edge/ell-csr/pull/counter/columns":      {"edge", Columns, 0},
		"pagerank/edge/ell-csr/pull/counter":              {"edge", Rows, 0},
	} {
		w = choose("algorithm=pagerank", "layout=ell-csr")
		w.Schedule, w.SlotOrder, w.ELLWidth = of.schedule, of.order, of.width
		p, err := NewPlan(w)
		require.NoError(t, err)
		require.Equal(t, want, p.Name())
	}
	w.Schedule, w.SlotOrder = "cta", Columns
	_, err = NewPlan(w)
	require.ErrorContains(t, err, "slot_order rows")
}
