package reproduce

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle/experiment/config"
	"heddle/kernels/workload"
)

// cellOf is a published cell with ours, as described.
type cellOf struct {
	config.PublishedCell
	ours *float64 // nil: there is none
	full bool     // ours is of the full variant
	pack string
}

// tableOf is a published table with our numbers.
type tableOf struct {
	*config.PublishedTable
	paper string
	cells []cellOf
}

// tablesOf returns the tables of all papers, each with the cells that packs compare: of the full variant where it has a
// number, else of the quick one.
func tablesOf(all []recorded) (list []tableOf) {
	for i := range all {
		r := &all[i]
		for t := range r.pack.Tables {
			table := &r.pack.Tables[t]
			if slices.ContainsFunc(list, func(o tableOf) bool { return o.paper == r.paper() && o.Name == table.Name }) {
				continue
			}
			of := tableOf{PublishedTable: table, paper: r.paper()}
			for _, c := range table.Cells() {
				of.cells = append(of.cells, cellOf{PublishedCell: c})
			}
			for k := range all {
				if all[k].paper() == of.paper {
					of.fill(&all[k])
				}
			}
			list = append(list, of)
		}
	}
	return list
}

// fill takes the numbers of a pack's figures.
func (t *tableOf) fill(r *recorded) {
	for i := range r.pack.Cells {
		c := &r.pack.Cells[i]
		if c.Table != t.Name {
			continue
		}
		for v, o := range r.outcomes {
			if o == nil || !slices.Contains(c.Variants, workload.Choice(variants[v])) {
				continue
			}
			for k := range t.cells {
				cell := &t.cells[k]
				if ours := o.valueOf(c, cell.PublishedCell); ours != nil {
					cell.ours, cell.full, cell.pack = ours, variants[v] == config.Full, r.pack.Name
				}
			}
		}
	}
}

// valueOf is a figure's value for a published cell; nil if there is none.
func (o *Outcome) valueOf(c *config.Cells, cell config.PublishedCell) *float64 {
	f := slices.IndexFunc(o.Figures, func(f FigureOutcome) bool { return f.Name == c.Figure })
	if f < 0 {
		return nil
	}
	column, series := c.Place(cell)
	x, y := slices.Index(o.Figures[f].Columns, column), slices.Index(o.Figures[f].Series, series)
	if x < 0 || y < 0 {
		return nil
	}
	return o.Figures[f].Values[x][y]
}

// pairs are the cells that have both numbers.
func (t *tableOf) pairs() (list []pair) {
	for _, c := range t.cells {
		if c.ours != nil {
			list = append(list, pair{c.Value, *c.ours})
		}
	}
	return list
}

const cellsHead = `## Every cell

Tables whose numbers a paper prints, cell by cell, as described; each pack's page has the cells. They are no statements
and count apart: nothing was chosen by them. *Null* as above; *side of 1*: of the published cells at least 5 % from 1.
The columns are those of the table at the head.

| paper | table | quantity | printed | compared | mean of ours / published | median error | nine in ten | within 25 %: ours |` +
	` null | side of 1 | base rate | ρ (p) | why not all |
|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|
`

// everyCell is the table of tables.
func everyCell(b *bytes.Buffer, tables []tableOf) {
	if len(tables) == 0 {
		return
	}
	b.WriteString(cellsHead)
	all := tableOf{PublishedTable: &config.PublishedTable{}, paper: "**all**"}
	for i := range tables {
		tables[i].row(b)
		all.cells = append(all.cells, tables[i].cells...)
	}
	all.row(b)
	b.WriteString("\n")
}

func (t *tableOf) row(b *bytes.Buffer) {
	list := t.pairs()
	fmt.Fprintf(b, "| %s | %s | %s | %d | %d |", t.paper, cell(t.Of), cell(t.Quantity), len(t.cells), len(list))
	if len(list) == 0 {
		b.WriteString(" – | – | – | – | – | – | – | – |")
	} else {
		a, s := agree(list), sided(list)
		fmt.Fprintf(b, " %s | %s | %s | %d (%.0f %%) | %d | %d of %d | %d of %d | %s%s |", fixed(a.mean), fixed(a.median),
			fixed(a.most), s.near, 100*float64(s.near)/float64(len(list)), s.null, s.right, s.sided, s.above, s.sided,
			fixed(a.rho), chance(a.p))
	}
	why := "–"
	if len(list) < len(t.cells) && t.Why != "" {
		why = cell(t.Why)
	}
	fmt.Fprintf(b, " %s |\n", why)
}

// sides counts cells by the side of 1 that they are on.
type sides struct{ near, null, sided, right, above int }

func sided(list []pair) (s sides) {
	for _, p := range list {
		s.near += count(within(p.ours, p.published))
		s.null += count(within(1, p.published))
		switch {
		case p.published >= 1+effect:
			s.sided, s.above, s.right = s.sided+1, s.above+1, s.right+count(p.ours >= 1+effect)
		case p.published <= 1-effect:
			s.sided, s.right = s.sided+1, s.right+count(p.ours <= 1-effect)
		}
	}
	return s
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// cellTables writes the tables that a pack compares, on its page.
func (r *recorded) cellTables(b *bytes.Buffer, tables []tableOf) {
	for i := range tables {
		t := &tables[i]
		compares := slices.ContainsFunc(r.pack.Cells, func(c config.Cells) bool { return c.Table == t.Name })
		if t.paper == r.paper() && compares {
			t.markdown(b)
		}
	}
}

// markdown is a matrix of published numbers and ours.
func (t *tableOf) markdown(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## %s, cell by cell\n\n%s\n", t.Of, wrapped(fmt.Sprintf(
		"%s (%s). Published / ours; *f*: of the full variant; –: no number of ours.", flow(t.Quantity), t.Where)))
	var columns []string
	for _, c := range t.cells {
		addOnce(&columns, c.Column)
	}
	fmt.Fprintf(b, "| | %s |\n|---|%s\n", strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)))
	row := ""
	texts := map[string]string{}
	end := func() {
		if row == "" {
			return
		}
		fmt.Fprintf(b, "| %s |", row)
		for _, c := range columns {
			fmt.Fprintf(b, " %s |", texts[c])
		}
		b.WriteString("\n")
	}
	for _, c := range t.cells {
		if c.Row != row {
			end()
			row, texts = c.Row, map[string]string{}
		}
		ours := "–"
		if c.ours != nil {
			ours = number(*c.ours) + strings.Repeat(" *f*", count(c.full))
		}
		texts[c.Column] = number(math.Round(c.Value*1000)/1000) + " / " + ours
	}
	end()
}

const itemsHead = `## Tables, figures and mechanisms that are not compared, or not whole

| paper | of | what | what is compared instead, or why nothing is |
|---|---|---|---|
`

// items lists the parts that packs leave out.
func items(b *bytes.Buffer, all []recorded) {
	var lines []string
	for i := range all {
		for _, item := range all[i].pack.Items {
			addOnce(&lines, fmt.Sprintf("| %s | %s | %s | %s |\n", all[i].paper(), cell(item.Of), cell(item.What),
				cell(item.Why)))
		}
	}
	if lines != nil {
		b.WriteString(itemsHead + strings.Join(lines, "") + "\n")
	}
}
