package report

import (
	"fmt"
	"slices"
	"strings"
)

// Markup is a language for tables of papers.
type Markup string

// The languages.
const (
	LaTeX    Markup = "latex" // with the rules of the package booktabs
	Markdown Markup = "markdown"
)

// Table writes a row for each point: the axes that vary, cycles, the speedup if there is a baseline, and other
// statistics by their names; and in the end the geometric mean of each variant's speedups.
func (r *Result) Table(stats []string, in Markup) (string, error) {
	if in != LaTeX && in != Markdown {
		return "", fmt.Errorf("%s: expected latex or markdown", in)
	}
	shown, err := r.tableMetrics(stats)
	if err != nil {
		return "", err
	}
	keys := r.varying()
	if r.Seeds > 1 {
		keys = append(keys, "seed")
	}
	var t paperTable
	for _, k := range keys {
		t.head, t.numeric = append(t.head, r.name(k)), append(t.numeric, false)
	}
	for _, m := range shown {
		title := m.Title
		if title == "" {
			title = m.Name
		}
		if l, ok := r.Labels[m.Name]; ok {
			title = l
		}
		t.head, t.numeric = append(t.head, title), append(t.numeric, true)
	}
	for _, p := range r.Points {
		row := []string{}
		for _, k := range keys {
			if !p.has(k) {
				row = append(row, "–")
				continue
			}
			row = append(row, r.name(p.Axes[k]))
		}
		for _, m := range shown {
			if !p.counts() {
				row = append(row, "–")
				continue
			}
			row = append(row, p.cell(m).Text)
		}
		t.rows = append(t.rows, row)
	}
	t.means = r.tableMeans(keys, shown)
	if in == LaTeX {
		return t.latex(), nil
	}
	return t.markdown(), nil
}

// tableMetrics returns the metrics of a table: cycles, the speedup if any point has one, and the chosen statistics.
func (r *Result) tableMetrics(stats []string) ([]metric, error) {
	shown := []metric{metricOf("cycles")}
	has := func(name string) bool {
		return slices.ContainsFunc(r.Points, func(p *Point) bool { _, ok := p.value(name); return ok })
	}
	if has("speedup") {
		shown = append(shown, metricOf("speedup"))
	}
	for _, name := range stats {
		if !has(name) {
			return nil, fmt.Errorf("--stats %s: no point with a result has it: heddle stats describe names all", name)
		}
		if !slices.ContainsFunc(shown, func(m metric) bool { return m.Name == name }) {
			shown = append(shown, metricOf(name))
		}
	}
	return shown, nil
}

// tableMeans are rows with the geometric means of the variants' speedups, where several points have one.
func (r *Result) tableMeans(keys []string, shown []metric) (rows [][]string) {
	column := slices.IndexFunc(shown, func(m metric) bool { return m.Name == "speedup" })
	if column < 0 || len(keys) == 0 {
		return nil
	}
	for v := 1; v < len(r.Variants); v++ {
		var of []float64
		for _, p := range r.Points {
			if x, ok := p.value("speedup"); ok && p.Variant == v {
				of = append(of, x)
			}
		}
		if len(of) < 2 {
			continue
		}
		row := make([]string, len(keys)+len(shown))
		row[0] = "geometric mean, " + r.name(r.Variants[v])
		row[len(keys)+column] = fmt.Sprintf("%.2f×", float64(geomean(of)))
		rows = append(rows, row)
	}
	return rows
}

// paperTable is a table of texts.
type paperTable struct {
	head        []string
	numeric     []bool // by column
	rows, means [][]string
}

func (t *paperTable) markdown() string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + strings.ReplaceAll(c, "|", `\|`) + " |")
		}
		b.WriteString("\n")
	}
	line(t.head)
	b.WriteString("|")
	for _, n := range t.numeric {
		b.WriteString(map[bool]string{true: " ---: |", false: " --- |"}[n])
	}
	b.WriteString("\n")
	for _, row := range slices.Concat(t.rows, t.means) {
		line(row)
	}
	return b.String()
}

// inLaTeX escapes characters that are special in LaTeX.
var inLaTeX = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`, "#", `\#`, "%",
	`\%`, "_", `\_`,
	"^", `\textasciicircum{}`, "~", `\textasciitilde{}`, "×", `$\times$`, "±", `$\pm$`, "–", "--", "\u00a0", "~", "<",
	`\textless{}`, ">", `\textgreater{}`)

func (t *paperTable) latex() string {
	var b strings.Builder
	b.WriteString("% \\usepackage{booktabs}\n\\begin{tabular}{")
	for _, n := range t.numeric {
		b.WriteString(map[bool]string{true: "r", false: "l"}[n])
	}
	b.WriteString("}\n\\toprule\n")
	line := func(cells []string) {
		for i, c := range cells {
			if i > 0 {
				b.WriteString(" & ")
			}
			b.WriteString(inLaTeX.Replace(c))
		}
		b.WriteString(" \\\\\n")
	}
	line(t.head)
	b.WriteString("\\midrule\n")
	for _, row := range t.rows {
		line(row)
	}
	if len(t.means) > 0 {
		b.WriteString("\\midrule\n")
	}
	for _, row := range t.means {
		line(row)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	return b.String()
}
