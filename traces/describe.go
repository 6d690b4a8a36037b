package traces

import (
	"fmt"
	"io"
	"strings"
)

// totals are the sizes with which a file's size is compared.
type totals struct {
	instrs, lanes uint64
	packed        uint64 // bytes of blocks in the file, each once
	columns       [numColumns]uint64
}

func (f *File) totals() (t totals) {
	for _, l := range f.Meta.Launches {
		t.instrs += l.WarpInstrs
		t.lanes += l.LaneAddresses
	}
	seen := map[uint64]bool{}
	for i := range f.index.blocks {
		b := &f.index.blocks[i]
		if seen[b.offset] {
			continue
		}
		seen[b.offset] = true
		t.packed += b.size()
		for c, n := range b.bytes {
			t.columns[c] += uint64(n)
		}
	}
	return t
}

// addressBytes returns the size of a launch's addresses, even if it shares them with another launch.
func (f *File) addressBytes(launch int) (n uint64) {
	_, list := f.blocks(launch)
	for i := range list {
		b := &list[i].bytes
		n += uint64(b[colForms]) + uint64(b[colLow]) + uint64(b[colHigh])
	}
	return n
}

// AddressBytes returns the file's bytes per lane address, including unit operands.
func (f *File) AddressBytes() float64 {
	t := f.totals()
	return float64(t.columns[colForms]+t.columns[colLow]+t.columns[colHigh]) / float64(max(1, t.lanes))
}

// Describe writes a file's origin and contents.
func (f *File) Describe(out io.Writer) error {
	m, t := &f.Meta, f.totals()
	var b strings.Builder
	fmt.Fprintf(&b, "trace       %s, format %d, %d bytes, sha256 %.12s…\n", f.path, Version, f.Size, f.hash)
	fmt.Fprintf(&b, "recorded    experiment %s, heddle %s\n", m.Experiment, m.Heddle)
	fmt.Fprintf(&b, "machine     %v\n", m.Shape)
	if m.Unit != nil {
		fmt.Fprintf(&b, "unit        %s: %s\n", m.Unit.Name, strings.TrimSuffix(m.Unit.Visible, "; "))
	}
	if g := m.Graph; g != nil {
		fmt.Fprintf(&b, "graph       %s: %d vertices, %d edges, sha256 %.12s…\n", g.Source, g.Vertices, g.Edges, g.Hash)
	}
	for i, p := range m.Programs {
		fmt.Fprintf(&b, "program %-3d %s, entry 0x%08x, sha256 %.12s…\n", i, p.Name, p.Entry, p.Hash)
	}
	for _, r := range m.Layout {
		fmt.Fprintf(&b, "memory      %08x..%08x %s\n", r.Addr, uint64(r.Addr)+r.Bytes, r.Name)
	}
	for i, l := range m.Launches {
		fmt.Fprintf(&b,
			"launch %-4d program %d, arg 0x%08x, %s, super-step %d: %d cycles, %d warp instructions, %d addresses of lanes, "+
				"%s each\n",
			i, l.Program, l.Arg, l.label(), l.Step, l.Cycles, l.WarpInstrs, l.LaneAddresses,
			per(f.addressBytes(i), l.LaneAddresses))
	}
	fmt.Fprintf(&b, "in all      %d cycles in %d launches; host overhead %d cycles a launch\n", m.Cycles,
		len(m.Launches), m.Overhead)
	fmt.Fprintf(&b, "blocks      %d, %d bytes: %s a warp instruction; addresses %s a lane\n", len(f.index.blocks),
		t.packed, per(t.packed, t.instrs), per(t.columns[colForms]+t.columns[colLow]+t.columns[colHigh], t.lanes))
	for c, n := range t.columns {
		if n > 0 {
			fmt.Fprintf(&b, "  %-11s %d bytes\n", columnNames[c], n)
		}
	}
	b.WriteString("timing      " + timing(m.Timing) + "\n")
	_, err := io.WriteString(out, b.String())
	return err
}

func (l *Launch) label() string {
	if l.Kernel == "" {
		return "no kernel of a super-step"
	}
	return l.Kernel
}

func per(bytes, of uint64) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f bytes", float64(bytes)/float64(of))
}

// timing describes how a replay on another machine treats timing-dependent values.
func timing(causes []string) string {
	if len(causes) == 0 {
		return "no instruction returned a value that depends on timing, but for loads of other warps' stores"
	}
	return "the recorded instructions may depend on " + strings.Join(causes, ", ") +
		": a replay on another machine executes them as recorded"
}
