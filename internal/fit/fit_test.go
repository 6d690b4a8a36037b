package fit

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/stretchr/testify/require"
)

func sample() *Table {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"a", "meaning", "n", "more"})
	t.AppendRow(table.Row{"x", strings.Repeat("many words ", 12), 5, "y"})
	t.AppendSeparator()
	t.AppendRow(table.Row{"z", "µ", 123456, strings.Repeat("v", 30)})
	return &Table{Writer: t, Names: []string{"a", "meaning", "n", "more"}, Widths: []int{1, 132, 6, 30},
		Drop: []int{3, 2}}
}

func TestTablesFit(t *testing.T) {
	for columns := 0; columns < 200; columns++ {
		var b bytes.Buffer
		sample().Render(Writer{&b, columns})
		if columns == 0 || columns >= 190 {
			require.NotContains(t, b.String(), "no room")
			require.Contains(t, b.String(), strings.TrimSpace(strings.Repeat("many words ", 12)))
			continue
		}
		if columns >= 40 {
			for _, line := range strings.Split(b.String(), "\n") {
				require.LessOrEqual(t, len([]rune(line)), max(columns, 48), fmt.Sprint(columns, "\n", b.String()))
			}
		}
		require.Equal(t, 12, strings.Count(b.String(), "many"), "nothing is cut")
		require.Equal(t, strings.Contains(b.String(), "vv"),
			!strings.Contains(strings.Join(strings.Fields(b.String()), " "), "no room for"), "%d\n%s", columns,
			b.String())
	}
	var b bytes.Buffer
	sample().Render(Writer{&b, 30})
	require.Contains(t, strings.Join(strings.Fields(b.String()), " "), "no room for: n, more (--columns 0 shows all)")
	require.Zero(t, Columns(&b))
}
