package fit

import (
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Lines breaks a text between words into lines of at most columns; longer words are broken.
func Lines(s string, columns int) []string {
	lines := strings.Split(text.WrapSoft(s, max(1, columns)), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// Print writes a text at w's width; see Text.
func Print(w io.Writer, s string) error {
	_, err := io.WriteString(w, Text(s, Columns(w)))
	return err
}

// leastText is the minimum width of text.
const leastText = 40

// Text fits lines longer than columns: a paragraph is wrapped, and in a line of cells two or more spaces apart, the
// excess continues below. Indented lines without cells stay, since they may be commands to copy. 0 columns: the text is
// unchanged.
func Text(s string, columns int) string {
	if columns == 0 {
		return s
	}
	columns = max(columns, leastText)
	var out, paragraph []string
	flush := func() {
		if longest(paragraph) > columns {
			paragraph = Lines(strings.Join(paragraph, " "), columns)
		}
		out, paragraph = append(out, paragraph...), nil
	}
	for _, line := range strings.Split(s, "\n") {
		if line != "" && line[0] != ' ' && lastCell(strings.TrimRight(line, " ")) == 0 {
			paragraph = append(paragraph, line)
			continue
		}
		flush()
		out = append(out, cells(line, columns)...)
	}
	flush()
	return strings.Join(out, "\n")
}

// lastCell returns the start of a line's last cell; 0: it has no cells.
func lastCell(line string) int {
	if i := strings.LastIndex(line, gap); i >= 0 && strings.TrimSpace(line[:i]) != "" {
		return i + len(gap)
	}
	return 0
}

// gap separates cells.
const gap = "  "

// cells wraps a line of cells.
func cells(line string, columns int) (out []string) {
	if line = strings.TrimRight(line, " "); text.StringWidthWithoutEscSequences(line) <= columns {
		return []string{line}
	}
	const below = 6 // beyond the line's own indentation
	indentation := len(line) - len(strings.TrimLeft(line, " "))
	for {
		last := lastCell(line)
		switch {
		case last == 0 && indentation > 0:
			return append([]string{line}, out...)
		case last == 0:
			return append(Lines(line, columns), out...)
		}
		// The last cell stays beside the others if half of the line is left for it, otherwise it goes below them.
		cell, head := line[last:], strings.TrimRight(line[:last], " ")
		hang := text.StringWidthWithoutEscSequences(line[:last])
		if hang > columns/2 {
			hang = min(indentation+below, columns/2)
		}
		var rest []string
		for _, l := range Lines(cell, columns-hang) {
			rest = append(rest, strings.Repeat(" ", hang)+l)
		}
		if text.StringWidthWithoutEscSequences(line[:last]) == hang { // beside them
			rest[0] = line[:last] + strings.TrimLeft(rest[0], " ")
			return append(rest, out...)
		}
		out = append(rest, out...)
		if text.StringWidthWithoutEscSequences(head) <= columns {
			return append([]string{head}, out...)
		}
		line = head
	}
}

func longest(lines []string) (most int) {
	for _, l := range lines {
		most = max(most, text.StringWidthWithoutEscSequences(l))
	}
	return most
}
