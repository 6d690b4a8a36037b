package cmd

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// claim matches a table's row, or a block, of docs/guide/slow.md.
var claim = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$|^\\|[^\n]*\\|$")

// TestSlow runs every command of docs/guide/slow.md. Rows of the page's tables are those that the command before them
// printed, less columns; the drawing is that of the Konata file.
func TestSlow(t *testing.T) {
	testenv.NeedSlow(t, "it follows a page of the guide")
	text, err := os.ReadFile("../docs/guide/slow.md")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	out, commands, rows, drawn := "", 0, 0, false
	for _, m := range claim.FindAllStringSubmatch(string(text), -1) {
		switch m[1] {
		case "yaml":
			require.NoError(t, os.WriteFile("slow.yaml", []byte(m[2]), 0o644))
		case "sh":
			out = ""
			for _, line := range strings.Split(strings.TrimSpace(m[2]), "\n") {
				out += play(t, line)
				commands++
			}
		case "text":
			require.Equal(t, m[2], draw(t, "slow.log"))
			drawn = true
		default:
			if !strings.HasPrefix(m[0], "|--") {
				require.True(t, printed(out, cells(m[0], "|")), "%s\nis no row of\n%s", m[0], out)
				rows++
			}
		}
	}
	require.True(t, drawn)
	require.Equal(t, []int{10, 33}, []int{commands, rows})
}

func cells(row, between string) (out []string) {
	for _, c := range strings.Split(row, between) {
		if c = strings.TrimSpace(c); c != "" {
			out = append(out, c)
		}
	}
	return out
}

// printed reports whether a line of the output has these cells, in this order.
func printed(out string, want []string) bool {
	return slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool {
		left := want
		for _, c := range cells(line, "│") {
			if len(left) > 0 && c == left[0] {
				left = left[1:]
			}
		}
		return len(left) == 0
	})
}

// stageLetters are the letters by which the stages of the Konata file are drawn.
var stageLetters = map[string]byte{"F": 'F', "Dc": 'D', "Ib": 'I', "Sb": 's', "Op": 'o', "Di": '-', "Ex": 'X',
	"Me": 'M', "Cm": 'C'}

// lived is an instruction of a Konata file.
type lived struct {
	text        string
	from, until int
	whole       bool // it begins and ends within the window
	stages      []string
	at          []int
}

// lives reads a Konata file.
func lives(t *testing.T, file string) (all []*lived) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	now, byID := 0, map[string]*lived{}
	for _, line := range strings.Split(string(text), "\n") {
		f := strings.Split(line, "\t")
		switch f[0] {
		case "C=", "C":
			n, err := strconv.Atoi(f[1])
			require.NoError(t, err)
			now += n
		case "I":
			byID[f[1]] = &lived{from: now}
			all = append(all, byID[f[1]])
		case "L":
			if f[2] == "0" {
				who, text, _ := strings.Cut(f[3], "  ")
				require.Regexp(t, `^c0 w0 \w+ 00000001$`, who, "one lane of one warp")
				byID[f[1]].text = text
			}
		case "S":
			if f[2] == "0" {
				l := byID[f[1]]
				l.stages, l.at = append(l.stages, f[3]), append(l.at, now)
			}
		case "R":
			byID[f[1]].until, byID[f[1]].whole = now, byID[f[1]].stages[0] == "F" && f[3] == "0"
		}
	}
	return all
}

// letter is the stage it is in.
func (l *lived) letter(cycle int) byte {
	c := byte(' ')
	for i, at := range l.at {
		if at <= cycle && cycle < l.until {
			c = stageLetters[l.stages[i]]
		}
	}
	return c
}

// draw draws one turn of the loop over edges: from the load of a neighbour to the join.
func draw(t *testing.T, file string) string {
	const loop, scale = "lw s2, 4(s1)", 8
	t.Helper()
	all := lives(t, file)
	i := slices.IndexFunc(all, func(l *lived) bool { return l.text == loop && l.whole })
	require.GreaterOrEqual(t, i, 0)
	var b strings.Builder
	begun := all[i].from
	for _, l := range all[i:] {
		if !l.whole || l.text == loop && l.from > begun {
			break
		}
		line := fmt.Sprintf("%-26s", l.text)
		for at := begun; at < l.until; at += scale {
			line += string(l.letter(at))
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	return b.String()
}
