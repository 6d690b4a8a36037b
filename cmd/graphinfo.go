package cmd

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"heddle/graph"
)

// describeGraph prints the output of heddle graph info.
func describeGraph(out io.Writer, g *graph.Graph) error {
	s := g.Summarise()
	var b strings.Builder
	fmt.Fprintln(&b, g.Record.Source)
	for _, r := range recordRows(&g.Record) {
		row(&b, r[0], "%s", r[1])
	}
	b.WriteByte('\n')
	row(&b, "vertices", "%s, %s of them without an edge", grouped(s.Vertices), grouped(s.Isolated))
	row(&b, "edges", "%s directed, %s; %s self-loops, %s duplicates", grouped(s.Edges), symmetry(s),
		grouped(s.SelfLoops), grouped(s.Duplicates))
	row(&b, "weights", "%s", weightText(s))
	row(&b, "components", "%s; the largest has %s vertices (%s)", grouped(s.Components), grouped(s.Largest),
		percent(s.Largest, s.Vertices))
	row(&b, "memory", "%s", memoryText(s))
	row(&b, "hash", "%s", s.Hash)
	degreeTable(&b, s)
	if s.Symmetric {
		histogram(&b, "degree", s.Out.Histogram)
	} else {
		histogram(&b, "out-degree", s.Out.Histogram)
		histogram(&b, "in-degree", s.In.Histogram)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func row(b *strings.Builder, name, format string, args ...any) {
	fmt.Fprintf(b, "  %-12s %s\n", name, fmt.Sprintf(format, args...))
}

// recordRows describes the source of a graph and the processing steps that changed it.
func recordRows(r *graph.Record) [][2]string {
	var rows [][2]string
	read := fmt.Sprintf("%s vertices, %s edges", grouped(r.FileVertices), grouped(r.FileEdges))
	switch {
	case r.Format == "":
		rows = append(rows, [2]string{"generated", read})
	default:
		rows = append(rows, [2]string{"read",
			fmt.Sprintf("%s: %s listed; vertices numbered %s", r.Format, read, r.IDs)})
	}
	if r.Made != "" {
		rows = append(rows, [2]string{"made of", r.Made})
	}
	for i, d := range r.Done(grouped) {
		name := ""
		if i == 0 {
			name = "then"
		}
		rows = append(rows, [2]string{name, d})
	}
	return rows
}

func symmetry(s *graph.Summary) string {
	switch {
	case s.Symmetric:
		return "symmetric"
	case s.Reciprocated == 0:
		return "none with its reverse"
	}
	return percent(s.Reciprocated, s.Edges) + " with their reverse"
}

func weightText(s *graph.Summary) string {
	if s.MinWeight == nil {
		return "none"
	}
	return fmt.Sprintf("%s, %s..%s", s.WeightKind, short(*s.MinWeight), short(*s.MaxWeight))
}

// short formats a weight such that binary32 represents it exactly.
func short(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e10 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 32)
}

func memoryText(s *graph.Summary) string {
	var parts []string
	for _, l := range s.Layouts {
		parts = append(parts, l.Name+" "+size(l.Bytes))
	}
	return strings.Join(parts, ", ")
}

// size formats bytes in the largest unit that leaves a digit before the point.
func size(n uint64) string {
	x, unit := float64(n), "bytes"
	for _, larger := range []string{"KiB", "MiB", "GiB"} {
		if x < 1024 {
			break
		}
		x, unit = x/1024, larger
	}
	if unit == "bytes" {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.3g %s", x, unit)
}

func percent(part, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(of)) }

func degreeTable(b *strings.Builder, s *graph.Summary) {
	fmt.Fprintf(b, "\n  %-12s %9s %9s %9s %9s %9s %9s\n", "", "min", "mean", "median", "p90", "p99", "max")
	rows := []struct {
		name string
		d    graph.Degrees
	}{{"out-degree", s.Out}, {"in-degree", s.In}}
	if s.Symmetric {
		rows, rows[0].name = rows[:1], "degree"
	}
	for _, r := range rows {
		d := r.d
		fmt.Fprintf(b, "  %-12s %9s %9.2f %9s %9s %9s %9s\n", r.name, grouped(d.Min), d.Mean, grouped(d.P50),
			grouped(d.P90), grouped(d.P99), grouped(d.Max))
	}
}

// histogramWidth is the length of the longest bar.
const histogramWidth = 40

// histogram draws counts of degrees 0, 1, 2..3, 4..7, …. Both axes are logarithmic, so that a power law is a straight
// line.
func histogram(b *strings.Builder, name string, counts []int) {
	most, total := 0, 0
	for _, n := range counts {
		most, total = max(most, n), total+n
	}
	fmt.Fprintf(b, "\n  %17s %11s %8s  (bars logarithmic)\n", name, "vertices", "share")
	for bin, n := range counts {
		line := fmt.Sprintf("  %17s %11s %8s  %s", binText(bin), grouped(n), percent(n, total), bar(n, most))
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// binText returns the range of degrees of a bin.
func binText(bin int) string {
	if bin < 2 {
		return strconv.Itoa(bin)
	}
	return grouped(1<<(bin-1)) + ".." + grouped(1<<bin-1)
}

var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// bar draws the logarithm of n; 1 has a bar, 0 has none.
func bar(n, most int) string {
	if n == 0 {
		return ""
	}
	length := int(math.Round(8 * histogramWidth * math.Log1p(float64(n)) / math.Log1p(float64(most))))
	return strings.Repeat("█", length/8) + eighths[length%8]
}

// grouped formats 1234567 as 1,234,567.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
