package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"path/filepath"
	"slices"

	"heddle/experiment"
	"heddle/report/hotspots"
)

var (
	//go:embed assets/hotspots.html
	hotspotsMarkup string
	//go:embed assets/hotspots.css
	hotspotsStyle string

	hotspotsPage = template.Must(template.New("hotspots").Funcs(template.FuncMap{
		"thousands": experiment.Thousands, "percent": percentText,
	}).Parse(hotspotsMarkup))
)

func percentText(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// Limits of a page.
const (
	maxHot    = 40
	maxListed = 2000
	around    = 12 // instructions on either side of a hot one, when not all are listed
)

// hotspotsData is the data of the template.
type hotspotsData struct {
	*hotspots.Report
	Style   template.CSS
	Figures []template.HTML
	Stack   []hotPart
	Hot     []hotRow
	Lines   []hotRow
	Listing []hotRow
	Part    bool // only the part of the listing around the hottest instructions
}

type hotPart struct {
	hotspots.Part
	Text string
}

// hotRow is an instruction or a line.
type hotRow struct {
	Time, Issued, Stalled, Main, Lanes string
	Bar                                string // CSS
	Stalls                             string // all, for the reader who points at it
	PC, Where, Text                    string
	Place, Source                      string // file and line, and its text
	Gap                                bool   // the instruction before it is not the one in front of it
	NewLine                            bool   // it comes from another line than the one before
}

// HotspotsPage renders the page of a run's hot spots: a single file without scripts or external resources.
func HotspotsPage(r *hotspots.Report) ([]byte, error) {
	d := hotspotsData{Report: r, Style: template.CSS(style + hotspotsStyle)}
	for i, tenths := range hotspots.Tenths(r.Stack) {
		d.Stack = append(d.Stack, hotPart{r.Stack[i], percentText(float64(tenths) / 1000)})
	}
	for _, f := range hotFigures(r) {
		d.Figures = append(d.Figures, template.HTML(f.SVG())) // its texts are escaped
	}
	rows := newHotRows(r)
	for i := range r.Instructions[:min(len(r.Instructions), maxHot)] {
		d.Hot = append(d.Hot, rows.instruction(&r.Instructions[i]))
	}
	for i := range r.Lines[:min(len(r.Lines), maxHot)] {
		x := &r.Lines[i]
		row := rows.row(&x.Counts)
		row.Place, row.Source = placeText(x.File, x.Line), x.Source
		d.Lines = append(d.Lines, row)
	}
	d.Listing, d.Part = rows.listing()
	var b bytes.Buffer
	err := hotspotsPage.Execute(&b, &d)
	return b.Bytes(), err
}

// hotFigures returns the stacks of the schedulers' states, and of phases.
func hotFigures(r *hotspots.Report) (out []Figure) {
	stack := Figure{ID: "schedulers", Title: stackings[0].title, Kind: Stack,
		X: Scale{Name: stackings[0].axis, Percent: true}, Columns: []string{"all"}}
	for _, p := range r.Stack {
		if p.Cycles > 0 {
			stack.Series = append(stack.Series, Series{Name: p.Name, Values: []Number{Number(p.Share)}})
		}
	}
	stack.Note = lump(&stack)
	phases := Figure{
		ID: "phases", Title: "Cycles by program phase", Kind: Stack,
		X: Scale{Name: "share of scheduler-cycles", Percent: true}, Columns: []string{"all"},
	}
	for _, p := range r.Phases {
		if p.Cycles > 0 {
			phases.Series = append(phases.Series, Series{Name: p.Name, Values: []Number{Number(p.Share)}})
		}
	}
	return slices.DeleteFunc([]Figure{stack, phases}, func(f Figure) bool { return f.empty() })
}

// hotRows makes rows of a report.
type hotRows struct {
	r                     *hotspots.Report
	issued, stalled, most uint64
}

func newHotRows(r *hotspots.Report) *hotRows {
	h := &hotRows{r: r, issued: max(r.Issued(), 1), stalled: max(r.Stalled(), 1), most: 1}
	for i := range r.Instructions {
		h.most = max(h.most, r.Instructions[i].Time())
	}
	return h
}

func (h *hotRows) row(c *hotspots.Counts) hotRow {
	row := hotRow{
		Time: percentText(h.r.Share(c.Time())), Issued: percentText(float64(c.Issued) / float64(h.issued)),
		Stalled: percentText(float64(c.Stalled) / float64(h.stalled)), Lanes: fmt.Sprintf("%.1f", c.MeanLanes()),
		Bar: fmt.Sprintf("width: %.1f%%", 100*min(1, float64(c.Time())/float64(h.most))),
	}
	if main, share := c.Main(); main != "" {
		row.Main = fmt.Sprintf("%s %.0f %%", main, 100*share)
	}
	for _, p := range h.r.Stack {
		if n := c.Stalls[p.Name]; n > 0 {
			row.Stalls += fmt.Sprintf("%s: %s scheduler-cycles\n", p.Name, experiment.Thousands(n))
		}
	}
	return row
}

func (h *hotRows) instruction(x *hotspots.Instruction) hotRow {
	row := h.row(&x.Counts)
	row.PC, row.Where, row.Text, row.Source = fmt.Sprintf("%08x", x.PC), x.Where(), x.Text, x.Source
	row.Place = x.Origin()
	return row
}

func placeText(file string, line int) string { return fmt.Sprintf("%s:%d", filepath.Base(file), line) }

// listing has the instructions in order of address; if they are many, those around the hottest.
func (h *hotRows) listing() (rows []hotRow, part bool) {
	order := make([]int, len(h.r.Instructions)) // of Instructions, which has the hottest first
	for i := range order {
		order[i] = i
	}
	all := h.r.Instructions
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(all[a].Program, all[b].Program), cmp.Compare(all[a].PC, all[b].PC))
	})
	last := -1
	for at, i := range order {
		if part = len(order) > maxListed; part && !h.nearHot(order, at) {
			continue
		}
		row := h.instruction(&all[i])
		row.Gap = last < 0 || all[last].Program != all[i].Program || all[last].PC+4 != all[i].PC
		row.NewLine = row.Gap || all[last].Line != all[i].Line || all[last].File != all[i].File
		rows, last = append(rows, row), i
	}
	return rows, part
}

// nearHot reports whether a hottest instruction is near a position in address order.
func (h *hotRows) nearHot(order []int, at int) bool {
	program := h.r.Instructions[order[at]].Program
	return slices.ContainsFunc(order[max(0, at-around):min(len(order), at+around+1)], func(i int) bool {
		return i < maxHot && h.r.Instructions[i].Program == program
	})
}
