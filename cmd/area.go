package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/experiment"
	"heddle/rtl"
	"heddle/rtl/area"
)

// areaReport is the output of heddle area --json.
type areaReport struct {
	Machine string        `json:"machine"`
	Cores   int           `json:"cores"`
	Unit    string        `json:"unit,omitempty"`
	Mapping *area.Mapping `json:"mapping,omitempty"` // of a core's unit
	Missing string        `json:"missing,omitempty"` // why there is none
	Total   *area.Part    `json:"total,omitempty"`
	Silicon *area.MM2     `json:"mm2_28nm,omitempty"` // of the unit
	Storage []storageArea `json:"storage"`
}

type storageArea struct {
	area.Storage
	Silicon area.MM2 `json:"mm2_28nm"` // of all copies
}

func newArea() *cobra.Command {
	var f machineFlags
	var asJSON bool
	var liberty string
	c := &cobra.Command{
		Use: "area MACHINE", Short: "Estimate the hardware cost of a machine's graph unit", Args: cobra.ExactArgs(1),
		Long: `Map the graph unit of a machine's cores, where there is one in SystemVerilog, to
flip-flops, to LUTs of six inputs and to gates, with Yosys, and list the storage that the
configuration implies, with areas at 28 nm: docs/guide/cost.md explains the numbers. Yosys
takes some 20 s for a Weaver of 32 lanes, and minutes for a GraphPEG, once: the user's
cache keeps the result.`,
		Example: "  heddle area vortex-6c32w32t-weaver\n  heddle area vortex-1c4w4t-weaver --liberty cells.lib --json",
		RunE: func(c *cobra.Command, args []string) error {
			l, err := configs.LoadMachine(args[0], os.Environ(), f.set)
			if err != nil {
				return err
			}
			defer inOrder(c.Context())()
			r, err := areaOf(c.Context(), args[0], &l.Value, liberty)
			switch {
			case err != nil:
				return err
			case asJSON:
				return printJSON(c.OutOrStdout(), r)
			}
			r.print(c.OutOrStdout())
			return nil
		},
	}
	f.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().StringVar(&liberty, "liberty", "", "map to the cells of this Liberty `file` as well")
	return c
}

func areaOf(ctx context.Context, name string, m *configs.Machine, liberty string) (*areaReport, error) {
	if err := area.Known(m); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := &areaReport{Machine: name, Cores: m.Sockets * m.CoresPerSocket}
	for _, s := range area.StorageOf(m) {
		r.Storage = append(r.Storage, storageArea{s, s.Silicon()})
	}
	kind := accel.KindOf(m.Core.Unit.Spec)
	if kind == nil {
		r.Missing = "the cores have no graph unit"
		return r, nil
	}
	r.Unit = kind.Title
	unit, err := area.UnitOf(m)
	if err == nil {
		r.Mapping, err = area.Map(ctx, unit, liberty)
	}
	switch {
	case err == rtl.ErrNone: //nolint:errorlint // of the unit as a whole, not of one of its keys
		r.Missing = "there is no SystemVerilog of a " + kind.Title + ", so nothing of it is counted"
		return r, nil
	case errors.Is(err, area.ErrNoYosys), errors.Is(err, rtl.ErrNone):
		r.Missing = err.Error()
		return r, nil
	case err != nil:
		return nil, err
	}
	r.Storage = slices.DeleteFunc(r.Storage, func(s storageArea) bool { return s.OfUnit() }) // it is in the mapping
	total, silicon := r.Mapping.Total(), r.Mapping.Silicon()
	r.Total, r.Silicon = &total, &silicon
	return r, nil
}

// areaParts are the names of modules.
var areaParts = map[string]string{
	"weaver": "error", "weaver_unit": "ports", "weaver_fsm": "FSM", "weaver_st": "ST", "weaver_slot": "ST, row",
	"weaver_od": "CED", "weaver_lane": "OD", "weaver_dt": "DT", "weaver_fifo": "queues",
	"graphpeg": "requests and answers", "graphpeg_alwt": "ALWT", "graphpeg_buffer": "edge buffer, ring",
	"graphpeg_chunks": "reads under way", "graphpeg_fifo": "queues", "graphpeg_list": "vertex-lists",
	"graphpeg_port": "memory port", "graphpeg_reports": "reports",
}

// printedAreas is what the paper of a unit prints, by the unit's top module.
var printedAreas = map[string]string{
	"weaver": "SparseWeaver, Table IV (Stratix 10): 678 registers and 3,109 ALMs. An ALM is one LUT of" +
		"\nsix inputs or two smaller ones, with two adders; LUT6s here have none.",
	"graphpeg": "GraphPEG, §4.6 (McPAT): 0.051 mm² at 28 nm, 98 bits an entry of the ALWT, about 1 KB in all." +
		"\nThe edge buffer and the lists are in the scratchpad, and neither their bits nor their wires are" +
		"\ncounted here. The memory of requests and answers has each warp's last pop, which the paper has not.",
}

func (r *areaReport) print(w io.Writer) {
	if m := r.Mapping; m != nil {
		fmt.Fprintf(w, "%s of one of %d cores, mapped by %s\n", r.Unit, r.Cores, m.Tool)
		r.printMapping(w, m)
	}
	if r.Missing != "" {
		fmt.Fprintln(w, r.Missing)
	}
	fmt.Fprintln(w, "\nStorage of the machine, from its configuration")
	t := newTable(w, "part", "number", "bits of each", "mm² at 28 nm, all", "which are")
	var all area.MM2
	for _, s := range r.Storage {
		t.AppendRow(table.Row{s.What, s.Number, thousands(s.Bits), s.Silicon, s.Meaning})
		all = all.Plus(s.Silicon)
	}
	t.AppendSeparator()
	t.AppendRow(table.Row{"total", "", "", all, ""})
	t.SetColumnConfigs(rightFrom(2, 4))
	t.Render()
}

func (r *areaReport) printMapping(w io.Writer, m *area.Mapping) {
	header := []any{"part", "flip-flops", "LUT6", "gates (NAND2)", "µm² at 28 nm"}
	if m.Liberty != "" {
		header = append(header, "cells' area")
	}
	t := newTable(w, header...)
	row := func(p area.Part, name string) {
		cells := table.Row{name, thousands(p.Registers), thousands(p.LUTs), thousands(int(p.Gates + 0.5)),
			micrometres(p.Silicon())}
		if m.Liberty != "" {
			cells = append(cells, fmt.Sprintf("%.1f", p.Cells))
		}
		t.AppendRow(cells)
	}
	for _, p := range m.Parts {
		row(p, areaParts[p.Module])
	}
	t.AppendSeparator()
	row(*r.Total, "total")
	t.SetColumnConfigs(rightFrom(2, len(header)))
	t.Render()
	if m.Liberty != "" {
		fmt.Fprintf(w, "Liberty file: SHA-256 %s\n", m.Liberty)
	}
	fmt.Fprintln(w, "\nIts memories, counted apart, each bank with a port to read")
	t = newTable(w, "of", "banks", "bits of a bank", "bits", "ports to write", "µm² at 28 nm")
	bits, silicon := 0, area.MM2{}
	for _, b := range m.Memories {
		t.AppendRow(table.Row{areaParts[b.Module], b.Banks, thousands(b.Bits), thousands(b.Banks * b.Bits),
			b.Writes, micrometres(b.Silicon())})
		bits += b.Banks * b.Bits
		silicon = silicon.Plus(b.Silicon())
	}
	t.AppendSeparator()
	t.AppendRow(table.Row{"total", "", "", thousands(bits), "", micrometres(silicon)})
	t.SetColumnConfigs(rightFrom(2, 6))
	t.Render()
	fmt.Fprintf(w, "\nThe unit of a core, memories included: %s mm² at 28 nm\n", r.Silicon)
	fmt.Fprintf(w, "\n%s\n", printedAreas[m.Unit])
}

func thousands(n int) string { return experiment.Thousands(uint64(n)) }

// micrometres is an area in µm².
func micrometres(a area.MM2) string {
	whole := func(mm2 float64) string { return thousands(int(mm2*1e6 + 0.5)) }
	return whole(a.Low) + " to " + whole(a.High)
}
