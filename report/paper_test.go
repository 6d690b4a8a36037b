package report_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/report"
)

// TestTable: a table for a paper has the points' values, and characters that are special in its language are escaped.
func TestTable(t *testing.T) {
	s := fixture()
	s.Points = append(s.Points[:4:4], s.Points[11])
	s.Points[3]["speedup"] = 8.0
	r := read(t, s, sweepConfig+"report: {labels: [weaver=R&D_1, 'schedule=a|b']}")
	text, err := r.Table([]string{"l1d.hit_rate"}, report.Markdown)
	require.NoError(t, err)
	require.Equal(t, `| a\|b | machine | warps | l1d bytes | cycles | speedup | L1D hit rate |
| --- | --- | --- | --- | ---: | ---: | ---: |
| vertex | plain | 2 | 1KiB | 1,000 | 1.00× | 50.0 % |
| R&D_1 | with-weaver | 2 | 1KiB | 500 | 2.00× | 50.0 % |
| vertex | plain | 2 | 16KiB | 950 | 1.00× | 50.0 % |
| R&D_1 | with-weaver | 2 | 16KiB | 475 | 8.00× | 50.0 % |
| R&D_1 | with-weaver | 16 | 16KiB | – | – | – |
| geometric mean, R&D_1 |  |  |  |  | 4.00× |  |
`, text)
	text, err = r.Table(nil, report.LaTeX)
	require.NoError(t, err)
	require.Contains(t, text, "\\begin{tabular}{llllrr}\n\\toprule\na|b & machine & warps & l1d bytes & cycles & "+
		"speedup \\\\\n\\midrule\n")
	require.Contains(t, text, `R\&D\_1 & with-weaver & 2 & 16KiB & 475 & 8.00$\times$ \\`)
	require.Contains(t, text, "R\\&D\\_1 & with-weaver & 16 & 16KiB & -- & -- \\\\\n\\midrule\ngeometric mean, "+
		"R\\&D\\_1 &  &  &  &  & 4.00$\\times$ \\\\\n\\bottomrule")
	_, err = r.Table([]string{"nothing"}, report.LaTeX)
	require.ErrorContains(t, err, "--stats nothing: no point with a result has it")
	_, err = r.Table(nil, "html")
	require.ErrorContains(t, err, "html: expected latex or markdown")
}
