package graph

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// quickWords are the parts of random lines, most of them legal.
var quickWords = []string{
	"0", "1", "2", "7", "12", "300", "4294967294", "4294967295", "99999999999999999999", "00000000000000000001", "-1", "-2147483648", "-2147483649",
	"2147483647", "2147483648", "+3", "1.5", "1e3", "-0", "-0.0", "1.", ".5", "16777217.5", "0.00000000001", "-0.1234567", "a", "x", "#", "%", "-", "",
}

func quickLine(r *rand.Rand, columns int, lead string, floats bool) string {
	var b strings.Builder
	b.WriteString(lead)
	for i := range columns + max(0, r.IntN(40)-38) {
		if i > 0 || lead != "" {
			b.WriteString([]string{" ", "\t", "  ", ",", "; "}[r.IntN(5)])
		}
		switch {
		case r.IntN(60) == 0:
			b.WriteString(quickWords[r.IntN(len(quickWords))])
		case i == 2 && floats:
			fmt.Fprintf(&b, "%.*f", r.IntN(12), (r.Float64()-0.5)*math.Pow10(r.IntN(9)))
		case i == 2:
			fmt.Fprint(&b, r.IntN(20)-9)
		default:
			fmt.Fprint(&b, 1+r.IntN(40))
		}
	}
	b.WriteString([]string{"", "", "", "\r", " "}[r.IntN(5)])
	return b.String() + "\n"
}

// lineNumbers matches line numbers, in which a text and the same one with empty lines differ.
var lineNumbers = regexp.MustCompile(`line \d+`)

// careful are a text's lines with an empty one behind each, at which quick leaves off: all are read with care.
func careful(text string) string { return strings.ReplaceAll(text, "\n", "\n\n") }

// TestQuickReadsTheSame: graph, record and error are those of lines that are read with care.
func TestQuickReadsTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	fine, quick := 0, 0
	for range 4000 {
		lines, columns, floats := r.IntN(30), 2+r.IntN(2), r.IntN(3) == 0
		name, head, lead := "g.el", "", ""
		switch field := []string{"pattern", "integer", "real"}[r.IntN(3)]; r.IntN(4) {
		case 0:
			name, lead, columns, floats = "g.gr", "a", 3, false
			head = fmt.Sprintf("p sp 40 %d\n", lines+r.IntN(20)/19)
		case 1:
			name = "g.mtx"
			if columns = 3; field == "pattern" {
				columns = 2
			}
			head = fmt.Sprintf("%%%%MatrixMarket matrix coordinate %s %s\n40 40 %d\n", field,
				[]string{"general", "general", "symmetric", "skew-symmetric"}[r.IntN(4)], lines+r.IntN(20)/19)
		case 2:
			head = fmt.Sprintf("# Nodes: %d Edges: %d\n", 40+r.IntN(2), lines)
		}
		text := head
		for range lines {
			text += quickLine(r, columns, lead, floats)
		}
		l, errLines := newLines(name, strings.NewReader(head+quickLine(r, columns, lead, floats)))
		require.NoError(t, errLines)
		l.r.Peek(1)            //nolint:errcheck // fills the buffer
		l.r.Discard(len(head)) //nolint:errcheck // it is there
		quick += (&reader{lines: l}).quick(&quickForm{lead: leadOf(lead), last: maxID, weight: columns == 3}, 1)
		o := ReadOptions{SkipWeights: r.IntN(4) == 0}
		want, wantErr := Read(name, strings.NewReader(head+careful(text[len(head):])), o)
		got, err := Read(name, strings.NewReader(text), o)
		if err != nil || wantErr != nil {
			require.Equal(t, message(wantErr), message(err), text)
			continue
		}
		fine++
		require.Equal(t, want.Hash(), got.Hash(), text)
		for i, w := range want.Record.Warnings {
			require.Equal(t, lineNumbers.ReplaceAllString(w, ""),
				lineNumbers.ReplaceAllString(got.Record.Warnings[i], ""))
		}
		want.Record.Warnings = got.Record.Warnings
		require.Equal(t, want.Record, got.Record, text)
	}
	require.Greater(t, fine, 500)
	require.Greater(t, quick, 2000, "most lines are read quickly")
}

// message is an error without numbers of lines.
func message(err error) string {
	var p *ParseError
	if !errors.As(err, &p) {
		return fmt.Sprint(err)
	}
	return lineNumbers.ReplaceAllString(p.Msg, "")
}

func leadOf(lead string) byte {
	if lead == "" {
		return 0
	}
	return lead[0]
}

// TestQuickKeepsCount: of lines, for messages, and of the highest vertex's.
func TestQuickKeepsCount(t *testing.T) {
	var text bytes.Buffer
	for i := range 30000 {
		fmt.Fprintf(&text, "%d %d\n", i, i+1)
	}
	text.WriteString("7 x\n")
	_, err := Read("g.txt", &text, ReadOptions{})
	require.ErrorContains(t, err, `g.txt:30001: expected a second vertex number`)
}

// TestFloatAt: the word is strconv's, or there is none.
func TestFloatAt(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 1))
	read := 0
	for range 300_000 {
		text := strconv.FormatFloat((r.Float64()-0.5)*math.Pow10(r.IntN(12)-3), 'f', r.IntN(10), 64)
		word, end := floatAt([]byte(text+"\n"), 0)
		if end == 0 {
			continue
		}
		read++
		require.Equal(t, len(text), end)
		x, err := strconv.ParseFloat(text, 32)
		require.NoError(t, err)
		if !strings.Contains(text, ".") && x == 0 {
			x = 0 // the integer -0
		}
		require.Equal(t, math.Float32bits(float32(x)), word, text)
	}
	require.Greater(t, read, 100_000)
}
