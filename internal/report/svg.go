package report

import (
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"heddle/internal/experiment"
)

// Colours that colour-blind readers can tell apart. Lines and bars: Okabe and Ito, the yellow last.
// Stacks: Tol's light scheme, on which dark text can be read.
var (
	palette      = []string{"#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#999999", "#B8A800"}
	stackPalette = []string{"#77AADD", "#EE8866", "#44BB99", "#EEDD88", "#FFAABB", "#99DDFF", "#BBCC33", "#AAAA00"}
	viridis      = [][3]float64{{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}
)

const otherColour, boundColour = "#BBBBBB", "#888888"

func colour(i int, s *Series, of []string) string {
	switch {
	case s.Bound:
		return boundColour
	case s.Other:
		return otherColour
	}
	return of[i%len(of)]
}

// svgMark is how our files begin.
const svgMark = "<!-- made by heddle report -->\n"

// SVG draws a figure as a file of its own, dark on white.
func (f *Figure) SVG() []byte {
	d := newDrawing(f)
	d.text(d.left, 22, "start", "title", f.Title)
	switch f.Kind {
	case Bars:
		d.bars()
	case Stack:
		d.stack()
	case Lines, Scatter:
		d.lines()
	case Area:
		d.area()
	case Heat:
		d.heat()
	}
	d.legend()
	return d.document()
}

// drawing is an SVG in the making. Its plot lies between left, top and width × height.
type drawing struct {
	f                        *Figure
	b                        strings.Builder
	left, top, width, height float64
	foot                     float64 // below the plot, for labels of the axis
	side                     float64 // beside it, for the legend
}

const (
	charWidth = 6.4 // of 12 px text, about
	rowHeight = 26
)

func newDrawing(f *Figure) *drawing {
	d := &drawing{f: f, left: 78, top: 44, width: 620, height: 320, foot: 56}
	switch f.Kind {
	case Bars:
		d.width = max(420, float64(len(f.Columns)*max(1, len(f.uprights())))*14+float64(len(f.Columns))*18)
		if d.tilted() {
			d.foot = 40 + 0.71*charWidth*float64(longest(f.Columns))
			d.left = max(d.left, 0.71*charWidth*float64(utf8.RuneCountInString(f.Columns[0])))
		}
	case Stack:
		d.left = 24 + charWidth*float64(longest(f.Columns))
		d.height = float64(len(f.Columns)) * rowHeight
	case Heat:
		d.left = 90 + charWidth*float64(longest(f.Rows))/2
		d.width = max(300, 76*float64(len(f.Columns)))
		d.height = 34 * float64(len(f.Rows))
	}
	var names []string
	for _, s := range f.Series {
		names = append(names, s.Name)
	}
	d.side = 20
	if len(f.Series) > 1 {
		d.side = 60 + charWidth*float64(longest(names))
	}
	return d
}

func longest(names []string) (n int) {
	for _, s := range names {
		n = max(n, utf8.RuneCountInString(s))
	}
	return n
}

// tilted reports whether the columns' names do not fit beside each other.
func (d *drawing) tilted() bool {
	return float64(longest(d.f.Columns))*charWidth > d.width/float64(len(d.f.Columns))-4
}

func (d *drawing) document() []byte {
	var out strings.Builder
	w, h := d.left+d.width+d.side, d.top+d.height+d.foot
	w = max(w, d.left+20+9.4*float64(utf8.RuneCountInString(d.f.Title)))
	lines := wrap(d.f.Note, int((w-40)/(charWidth*0.92)))
	h += 16 * float64(len(lines))
	for i, l := range lines {
		d.text(20, h-12-16*float64(len(lines)-1-i), "start", "note", l)
	}
	fmt.Fprintf(&out, svgMark+`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">
<style>text{font:12px sans-serif;fill:#222}.title{font-size:15px;font-weight:600}.note{font-size:11px;fill:#555}.light{fill:#fff}</style>
<rect width="100%%" height="100%%" fill="#fff"/>
`, w, h, w, h)
	out.WriteString(d.b.String())
	out.WriteString("</svg>\n")
	return []byte(out.String())
}

func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

func (d *drawing) text(x, y float64, anchor, class, text string) {
	d.turned(x, y, 0, anchor, class, text)
}

func (d *drawing) turned(x, y, degrees float64, anchor, class, text string) {
	fmt.Fprintf(&d.b, `<text x="%.1f" y="%.1f" text-anchor="%s"`, x, y, anchor)
	if class != "" {
		fmt.Fprintf(&d.b, ` class="%s"`, class)
	}
	if degrees != 0 {
		fmt.Fprintf(&d.b, ` transform="rotate(%g %.1f %.1f)"`, degrees, x, y)
	}
	d.b.WriteByte('>')
	d.escape(text)
	d.b.WriteString("</text>\n")
}

// escape writes text as text, whatever it holds.
func (d *drawing) escape(text string) {
	if err := xml.EscapeText(&d.b, []byte(text)); err != nil {
		panic("BUG: report: a strings.Builder refused text: " + err.Error())
	}
}

func (d *drawing) rect(x, y, w, h float64, fill, tip string) {
	fmt.Fprintf(&d.b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" stroke="#fff" stroke-width="0.5"><title>`, x, y, w, h, fill)
	d.escape(tip)
	d.b.WriteString("</title></rect>\n")
}

func (d *drawing) line(x1, y1, x2, y2 float64, stroke string, more ...string) {
	fmt.Fprintf(&d.b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" %s/>`+"\n", x1, y1, x2, y2, stroke, strings.Join(more, " "))
}

const gridColour, axisColour = "#ddd", "#666"

// scaleTo maps values to a length.
type scaleTo struct {
	low, high float64
	log       bool
	at, size  float64 // pixels; size < 0 goes up
}

func (s *scaleTo) pixel(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	if high == low {
		return s.at + s.size/2
	}
	return s.at + s.size*(v-low)/(high-low)
}

// ticks are round values between the scale's ends.
func (s *scaleTo) ticks() (out []float64) {
	if s.log {
		return logTicks(s.low, s.high)
	}
	step := niceStep((s.high - s.low) / 5)
	for i := math.Ceil(s.low / step); i*step <= s.high*(1+1e-9); i++ {
		out = append(out, i*step)
	}
	return out
}

func niceStep(rough float64) float64 {
	if !(rough > 0) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, n := range []float64{1, 2, 5} {
		if n*unit >= rough*(1-1e-9) {
			return n * unit
		}
	}
	return 10 * unit
}

func logTicks(low, high float64) (out []float64) {
	steps := []float64{1, 2, 5}
	if high/low > 1000 {
		steps = steps[:1]
	}
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, n := range steps {
			if v := n * math.Pow(10, e); v >= low*(1-1e-9) && v <= high*(1+1e-9) {
				out = append(out, v)
			}
		}
	}
	return out
}

// top is a round value not below v.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	step := niceStep(v / 5)
	return math.Ceil(v/step-1e-9) * step
}

func show(v float64, s Scale) string {
	if s.Percent {
		return strconv.FormatFloat(100*v, 'g', 3, 64) + " %"
	}
	return compact(v)
}

// compact writes a value with three or four digits.
func compact(v float64) string {
	for _, s := range []struct {
		from float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if math.Abs(v) >= s.from {
			unit := s.from
			if s.name == "k" {
				unit = 1e3
			}
			return strconv.FormatFloat(v/unit, 'g', 4, 64) + s.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// yAxis draws the grid with its values, and the axis' name.
func (d *drawing) yAxis(s *scaleTo) {
	for _, v := range s.ticks() {
		y := s.pixel(v)
		d.line(d.left, y, d.left+d.width, y, gridColour)
		d.text(d.left-8, y+4, "end", "", show(v, d.f.Y))
	}
	d.turned(16, d.top+d.height/2, -90, "middle", "", d.f.Y.Name)
}

func (d *drawing) bars() {
	high := d.f.Line
	for _, s := range d.f.Series {
		for c, v := range s.Values {
			if v.ok() {
				high = max(high, float64(v)+s.half(c))
			}
		}
	}
	y := &scaleTo{high: roundUp(high), at: d.top + d.height, size: -d.height}
	d.yAxis(y)
	group := d.width / float64(len(d.f.Columns))
	uprights := d.f.uprights()
	bar := min(48, group*0.8/float64(max(1, len(uprights))))
	for c, name := range d.f.Columns {
		middle := d.left + group*(float64(c)+0.5)
		for n, i := range uprights {
			s := &d.f.Series[i]
			if v := s.Values[c]; v.ok() {
				x := middle + bar*(float64(n)-float64(len(uprights))/2)
				d.rect(x, y.pixel(float64(v)), bar, d.top+d.height-y.pixel(float64(v)), colour(i, s, palette), s.Name+"  "+name+": "+show(float64(v), d.f.Y)+s.interval(c, d.f.Y))
				d.whisker(x+bar/2, y, v, s.half(c))
			}
		}
		d.columnName(middle, name)
	}
	d.line(d.left, d.top+d.height, d.left+d.width, d.top+d.height, axisColour)
	for i := range d.f.Series {
		if s := &d.f.Series[i]; s.Level && s.Values[0].ok() {
			at := y.pixel(float64(s.Values[0]))
			d.line(d.left, at, d.left+d.width, at, colour(i, s, palette), `stroke-width="2"`, levelDash)
		}
	}
	d.reference(y)
}

// uprights are the series of bars that are drawn as such.
func (f *Figure) uprights() (list []int) {
	for i := range f.Series {
		if !f.Series[i].Level {
			list = append(list, i)
		}
	}
	return list
}

const levelDash = `stroke-dasharray="9 4"`

// reference draws the line that bars and lines are compared with.
func (d *drawing) reference(y *scaleTo) {
	if d.f.Line > 0 {
		d.line(d.left, y.pixel(d.f.Line), d.left+d.width, y.pixel(d.f.Line), axisColour, `stroke-dasharray="5 4"`)
	}
}

func (d *drawing) columnName(x float64, name string) {
	if d.tilted() {
		d.turned(x+4, d.top+d.height+16, -45, "end", "", name)
		return
	}
	d.text(x, d.top+d.height+18, "middle", "", name)
}

func (d *drawing) stack() {
	high := 0.0
	for c := range d.f.Columns {
		sum := 0.0
		for _, s := range d.f.Series {
			sum += float64(s.Values[c])
		}
		high = max(high, sum)
	}
	if !d.f.X.Percent {
		high = roundUp(high)
	}
	x := &scaleTo{high: high, at: d.left, size: d.width}
	for _, v := range x.ticks() {
		d.line(x.pixel(v), d.top, x.pixel(v), d.top+d.height, gridColour)
		d.text(x.pixel(v), d.top+d.height+18, "middle", "", show(v, d.f.X))
	}
	d.text(d.left+d.width/2, d.top+d.height+38, "middle", "", d.f.X.Name)
	for c, name := range d.f.Columns {
		d.stackRow(x, c, name)
	}
}

func (d *drawing) stackRow(x *scaleTo, c int, name string) {
	y, sum := d.top+float64(c)*rowHeight, 0.0
	d.text(d.left-8, y+rowHeight/2+4, "end", "", name)
	for i := range d.f.Series {
		s := &d.f.Series[i]
		v := float64(s.Values[c])
		from, to := x.pixel(sum), x.pixel(sum+v)
		sum += v
		if v == 0 {
			continue
		}
		text := show(v, d.f.X)
		if d.f.X.Percent {
			text = strconv.FormatFloat(100*v, 'f', 0, 64) + " %"
		}
		d.rect(from, y+3, to-from, rowHeight-6, colour(i, s, stackPalette), name+"  "+s.Name+": "+show(v, d.f.X))
		if to-from > charWidth*float64(len(text)+1) {
			d.text((from+to)/2, y+rowHeight/2+4, "middle", "", text)
		}
	}
}

func (d *drawing) lines() {
	xs, ys := d.scales()
	d.yAxis(ys)
	ticks, names := d.f.X.Ticks, d.f.X.Names
	if ticks == nil {
		ticks = xs.ticks()
	}
	end := math.Inf(-1) // of the last label
	for i, v := range ticks {
		x := xs.pixel(v)
		d.line(x, d.top, x, d.top+d.height, gridColour)
		text := show(v, d.f.X)
		if i < len(names) {
			text = names[i]
		}
		if half := charWidth * float64(len(text)) / 2; x-half > end {
			d.text(x, d.top+d.height+18, "middle", "", text)
			end = x + half + 4
		}
	}
	d.text(d.left+d.width/2, d.top+d.height+40, "middle", "", d.f.X.Name)
	d.line(d.left, d.top+d.height, d.left+d.width, d.top+d.height, axisColour)
	d.reference(ys)
	for i := range d.f.Series {
		d.series(xs, ys, i)
	}
}

// scales span all points; a linear axis of values starts at 0.
func (d *drawing) scales() (xs, ys *scaleTo) {
	xs = &scaleTo{low: math.Inf(1), high: math.Inf(-1), log: d.f.X.Log, at: d.left + 14, size: d.width - 28}
	ys = &scaleTo{low: math.Inf(1), high: math.Inf(-1), log: d.f.Y.Log, at: d.top + d.height, size: -d.height}
	for _, s := range d.f.Series {
		for n, p := range s.Points {
			if p[0].ok() && p[1].ok() {
				xs.low, xs.high = min(xs.low, float64(p[0])), max(xs.high, float64(p[0]))
				ys.low, ys.high = min(ys.low, float64(p[1])-s.half(n)), max(ys.high, float64(p[1])+s.half(n))
			}
		}
	}
	if ys.low > ys.high { // nothing to show
		xs.low, xs.high, ys.low, ys.high = 1, 2, 1, 2
	}
	for _, x := range d.f.X.Ticks {
		xs.low, xs.high = min(xs.low, x), max(xs.high, x)
	}
	ys.high = max(ys.high, d.f.Line)
	if !ys.log {
		ys.low, ys.high = min(0, ys.low), roundUp(ys.high)
	} else {
		ys.low, ys.high = ys.low/1.1, ys.high*1.1
	}
	return xs, ys
}

// dashes and marks tell lines apart beside their colours.
var dashes = []string{"", "7 3", "2 3", "8 3 2 3", "", "7 3", "2 3", "8 3 2 3"}

func (d *drawing) series(xs, ys *scaleTo, i int) {
	s := &d.f.Series[i]
	c := colour(i, s, palette)
	var path strings.Builder
	pen := "M"
	for _, p := range s.Points {
		if !p[0].ok() || !p[1].ok() {
			pen = "M"
			continue
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", pen, xs.pixel(float64(p[0])), ys.pixel(float64(p[1])))
		pen = "L"
	}
	if d.f.Kind == Lines || s.Bound {
		dash := dashes[i%len(dashes)]
		switch {
		case s.Bound:
			dash = "6 4"
		case s.Level:
			dash = "9 4"
		}
		width := 2.0
		if len(s.Points) > maxMarks {
			width = 1.2
		}
		fmt.Fprintf(&d.b, `<path d="%s" fill="none" stroke="%s" stroke-width="%g" stroke-dasharray="%s"/>`+"\n", path.String(), c, width, dash)
	}
	for n, p := range s.Points {
		if !s.Bound && !s.Level && len(s.Points) <= maxMarks && p[0].ok() && p[1].ok() {
			d.whisker(xs.pixel(float64(p[0])), ys, p[1], s.half(n))
			tip := s.Name + ": " + show(float64(p[1]), d.f.Y) + s.interval(n, d.f.Y)
			if n < len(s.Labels) {
				tip = s.Labels[n]
			}
			d.mark(xs.pixel(float64(p[0])), ys.pixel(float64(p[1])), i, c, tip)
		}
	}
}

// maxMarks is how many points of a line get a mark; more hide the line.
const maxMarks = 60

// half is the half-width of a value's confidence interval; 0: it has none.
func (s *Series) half(i int) float64 {
	if i < len(s.Errors) && s.Errors[i].ok() {
		return float64(s.Errors[i])
	}
	return 0
}

// interval says the half-width, for a tip.
func (s *Series) interval(i int, y Scale) string {
	if h := s.half(i); h > 0 {
		return " ± " + show(h, y)
	}
	return ""
}

// whisker draws a confidence interval.
func (d *drawing) whisker(x float64, y *scaleTo, v Number, half float64) {
	if half <= 0 || y.log {
		return
	}
	top, bottom := y.pixel(float64(v)+half), y.pixel(max(y.low, float64(v)-half))
	for _, l := range [][4]float64{{x, top, x, bottom}, {x - 4, top, x + 4, top}, {x - 4, bottom, x + 4, bottom}} {
		d.line(l[0], l[1], l[2], l[3], "#222", `stroke-width="1.2"`)
	}
}

// area draws series on top of each other, over x.
func (d *drawing) area() {
	n := len(d.f.Series[0].Points)
	sum := make([]float64, n)
	at := func(k int) float64 { return float64(d.f.Series[0].Points[k][0]) }
	xs := &scaleTo{low: at(0), high: at(n - 1), at: d.left, size: d.width}
	ys := &scaleTo{high: 1, at: d.top + d.height, size: -d.height}
	d.yAxis(ys)
	for i := range d.f.Series {
		s := &d.f.Series[i]
		var upper, lower strings.Builder
		for k := range n {
			fmt.Fprintf(&lower, "L%.1f %.1f", xs.pixel(at(n-1-k)), ys.pixel(sum[n-1-k]))
		}
		for k := range n {
			sum[k] += float64(s.Points[k][1])
			fmt.Fprintf(&upper, "%s%.1f %.1f", pen(k), xs.pixel(at(k)), ys.pixel(min(1, sum[k])))
		}
		fmt.Fprintf(&d.b, `<path d="%s%sz" fill="%s"><title>`, upper.String(), lower.String(), colour(i, s, stackPalette))
		d.escape(s.Name)
		d.b.WriteString("</title></path>\n")
	}
	for _, v := range xs.ticks() {
		d.text(xs.pixel(v), d.top+d.height+18, "middle", "", show(v, d.f.X))
	}
	d.text(d.left+d.width/2, d.top+d.height+40, "middle", "", d.f.X.Name)
	d.line(d.left, d.top+d.height, d.left+d.width, d.top+d.height, axisColour)
}

func pen(k int) string {
	if k == 0 {
		return "M"
	}
	return "L"
}

// mark draws a circle, square, triangle or diamond.
func (d *drawing) mark(x, y float64, i int, fill, tip string) {
	const r = 4.5
	switch i % 4 {
	case 0:
		fmt.Fprintf(&d.b, `<circle cx="%.1f" cy="%.1f" r="%g" fill="%s">`, x, y, r, fill)
	case 1:
		fmt.Fprintf(&d.b, `<path d="M%.1f %.1fh9v9h-9z" fill="%s">`, x-r, y-r, fill)
	case 2:
		fmt.Fprintf(&d.b, `<path d="M%.1f %.1fl5.5 10h-11z" fill="%s">`, x, y-6, fill)
	case 3:
		fmt.Fprintf(&d.b, `<path d="M%.1f %.1fl6 6l-6 6l-6 -6z" fill="%s">`, x, y-6, fill)
	}
	d.b.WriteString("<title>")
	d.escape(tip)
	closing := "</title></path>\n"
	if i%4 == 0 {
		closing = "</title></circle>\n"
	}
	d.b.WriteString(closing)
}

func (d *drawing) heat() {
	low, high := math.Inf(1), math.Inf(-1)
	for _, row := range d.f.Cells {
		for _, v := range row {
			if v.ok() {
				low, high = min(low, float64(v)), max(high, float64(v))
			}
		}
	}
	w, h := d.width/float64(len(d.f.Columns)), d.height/float64(len(d.f.Rows))
	for r, row := range d.f.Cells {
		y := d.top + d.height - h*float64(r+1) // the least at the bottom
		d.text(d.left-8, y+h/2+4, "end", "", d.f.Rows[r])
		for c, v := range row {
			if v.ok() {
				fill, class := shade((float64(v) - low) / max(high-low, math.SmallestNonzeroFloat64))
				text := show(float64(v), d.f.Y)
				d.rect(d.left+w*float64(c), y, w, h, fill, d.f.Columns[c]+", "+d.f.Rows[r]+": "+text)
				d.text(d.left+w*(float64(c)+0.5), y+h/2+4, "middle", class, text)
			}
		}
	}
	for c, name := range d.f.Columns {
		d.text(d.left+w*(float64(c)+0.5), d.top+d.height+18, "middle", "", name)
	}
	d.text(d.left+d.width/2, d.top+d.height+40, "middle", "", d.f.X.Name)
	d.turned(16, d.top+d.height/2, -90, "middle", "", d.fit(d.f.Y.Name))
}

// fit shortens a key to the plot's height.
func (d *drawing) fit(key string) string {
	if charWidth*float64(utf8.RuneCountInString(key)) > d.height {
		return experiment.Short(key)
	}
	return key
}

// shade is viridis at t of 0..1, and the class of text that can be read on it.
func shade(t float64) (fill, class string) {
	at := min(max(t, 0), 1) * float64(len(viridis)-1)
	i := min(int(at), len(viridis)-2)
	var c [3]float64
	for k := range c {
		c[k] = viridis[i][k] + (viridis[i+1][k]-viridis[i][k])*(at-float64(i))
	}
	if 0.299*c[0]+0.587*c[1]+0.114*c[2] < 128 {
		class = "light"
	}
	return fmt.Sprintf("#%02x%02x%02x", int(c[0]), int(c[1]), int(c[2])), class
}

func (d *drawing) legend() {
	if len(d.f.Series) < 2 {
		return
	}
	of := palette
	if d.f.Kind == Stack || d.f.Kind == Area {
		of = stackPalette
	}
	x, y := d.left+d.width+30, d.top+8
	for i := range d.f.Series {
		s := &d.f.Series[i]
		c := colour(i, s, of)
		switch {
		case s.Bound:
			d.line(x-5, y, x+7, y, c, `stroke-width="2" stroke-dasharray="4 2"`)
		case s.Level:
			d.line(x-7, y, x+9, y, c, `stroke-width="2"`, levelDash)
		case d.f.Kind == Lines || d.f.Kind == Scatter:
			d.mark(x, y, i, c, s.Name)
		default:
			d.rect(x-5, y-6, 12, 12, c, s.Name)
		}
		d.text(x+14, y+4, "start", "", s.Name)
		y += 20
	}
	if need := y - d.top - d.height; need > d.foot-20 {
		d.foot = need + 20
	}
}
