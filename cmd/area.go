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
	Machine string `json:"machine"`
	Cores   int    `json:"cores"`
	Unit    string `json:"unit,omitempty"`
	mappedArea
	Control *mappedArea   `json:"control_processor,omitempty"` // that balances the cores' units; nil: there is none
	Storage []storageArea `json:"storage"`
}

// mappedArea is what Yosys has found of a core's unit, or of the control processor.
type mappedArea struct {
	Mapping *area.Mapping `json:"mapping,omitempty"`
	Missing string        `json:"missing,omitempty"` // why there is none
	Total   *area.Part    `json:"total,omitempty"`
	Silicon *area.MM2     `json:"mm2_28nm,omitempty"`
}

// mapArea maps a unit; without Yosys, or if there is no SystemVerilog of it, Missing says so.
func mapArea(ctx context.Context, unit rtl.Unit, err error, liberty string) (a mappedArea, _ error) {
	if err == nil {
		a.Mapping, err = area.Map(ctx, unit, liberty)
	}
	switch {
	case errors.Is(err, area.ErrNoYosys), errors.Is(err, rtl.ErrNone):
		return mappedArea{Missing: err.Error()}, nil
	case err != nil:
		return mappedArea{}, err
	}
	total, silicon := a.Mapping.Total(), a.Mapping.Silicon()
	a.Total, a.Silicon = &total, &silicon
	return a, nil
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
		Long: `Map the graph unit of a machine's cores, where there is one in SystemVerilog, and the part of
the control processor that balances GraphPEGs to flip-flops, to LUTs of six inputs and to
gates, with Yosys, and list the storage that the configuration implies, with areas at 28 nm:
docs/guide/cost.md explains the numbers. Yosys takes some 20 s for a Weaver of 32 lanes, and
minutes for a GraphPEG, once: the user's cache keeps the result.`,
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
	if err == rtl.ErrNone { //nolint:errorlint // of the unit as a whole, not of one of its keys
		r.Missing = "there is no SystemVerilog of a " + kind.Title + ", so nothing of it is counted"
		return r, nil
	}
	if r.mappedArea, err = mapArea(ctx, unit, err, liberty); err != nil {
		return nil, err
	}
	if r.Mapping != nil { // the storage of the unit is in it
		r.Storage = slices.DeleteFunc(r.Storage, func(s storageArea) bool { return s.OfUnit() })
	}
	control, err := area.ControlOf(m)
	if err == area.ErrNoControl { //nolint:errorlint // it is not wrapped
		return r, nil
	}
	found, err := mapArea(ctx, control, err, liberty)
	r.Control = &found
	return r, err
}

// areaParts are the names of modules.
var areaParts = map[string]string{
	"weaver": "error", "weaver_unit": "ports", "weaver_fsm": "FSM", "weaver_st": "ST", "weaver_slot": "ST, row",
	"weaver_od": "CED", "weaver_lane": "OD", "weaver_dt": "DT", "weaver_fifo": "queues",
	"graphpeg": "requests and answers", "graphpeg_alwt": "ALWT", "graphpeg_buffer": "edge buffer, ring",
	"graphpeg_chunks": "reads under way", "graphpeg_fifo": "queues", "graphpeg_list": "vertex-lists",
	"graphpeg_port": "memory port", "graphpeg_reports": "reports",
	"ctrlproc": "end, epoch", "ctrlproc_report": "reports", "ctrlproc_poll": "polls", "ctrlproc_balancer": "policy",
	"ctrlproc_extremes": "comparators", "ctrlproc_donations": "donations under way", "ctrlproc_select": "crossbar",
	"ctrlproc_core": "loads and R_BW of cores", "ctrlproc_orders": "orders to cores",
}

// printedAreas is what the paper of a unit prints, by the unit's top module.
var printedAreas = map[string]string{
	"weaver": "SparseWeaver, Table IV (Stratix 10): 678 registers and 3,109 ALMs. An ALM is one LUT of" +
		"\nsix inputs or two smaller ones, with two adders; LUT6s here have none.",
	"graphpeg": "GraphPEG, §4.6 (McPAT): 0.051 mm² at 28 nm, 98 bits an entry of the ALWT, about 1 KB in all." +
		"\nThe edge buffer and the lists are in the scratchpad, and neither their bits nor their wires are" +
		"\ncounted here. The memory of requests and answers has each warp's last pop, which the paper has not.",
	"ctrlproc": "GraphPEG extends the GPU's control processor (§3.3.2), and prints no cost of that.",
}

func (r *areaReport) print(w io.Writer) {
	if m := r.Mapping; m != nil {
		fmt.Fprintf(w, "%s of one of %d cores, mapped by %s\n", r.Unit, r.Cores, m.Tool)
		r.printMapping(w, "The unit of a core, memories included")
	}
	if r.Missing != "" {
		fmt.Fprintln(w, r.Missing)
	}
	if c := r.Control; c != nil && c.Mapping != nil {
		fmt.Fprintf(w, "\nControl processor, its part that balances %d cores, mapped by %s\n", r.Cores, c.Mapping.Tool)
		c.printMapping(w, "The control processor's part")
	} else if c != nil {
		fmt.Fprintf(w, "\nControl processor: %s\n", c.Missing)
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

// printMapping prints the mapping; title names its sum.
func (r *mappedArea) printMapping(w io.Writer, title string) {
	m := r.Mapping
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
	printMemories(w, m)
	fmt.Fprintf(w, "\n%s: %s mm² at 28 nm\n", title, r.Silicon)
	fmt.Fprintf(w, "\n%s\n", printedAreas[m.Unit])
}

func printMemories(w io.Writer, m *area.Mapping) {
	if len(m.Memories) == 0 {
		return
	}
	fmt.Fprintln(w, "\nIts memories, counted apart, each bank with a port to read")
	t := newTable(w, "of", "banks", "bits of a bank", "bits", "ports to write", "µm² at 28 nm")
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
}

func thousands(n int) string { return experiment.Thousands(uint64(n)) }

// micrometres is an area in µm².
func micrometres(a area.MM2) string {
	whole := func(mm2 float64) string { return thousands(int(mm2*1e6 + 0.5)) }
	return whole(a.Low) + " to " + whole(a.High)
}
