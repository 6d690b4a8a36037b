package report

import (
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panel is a figure as a plot.
type panel struct {
	f      *Figure
	style  Style
	plot   *plot.Plot
	room   vg.Length     // how wide it is
	colour []color.Color // of series
}

// drawn is a plotter of the parts of a figure.
type drawn func(c *draw.Canvas, x, y func(float64) vg.Length)

// Plot is gonum's interface.
func (d drawn) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	d(&c, x, y)
}

func newPanel(f *Figure, style Style, room vg.Length) *panel {
	p := &panel{f: f, style: style, plot: plot.New(), room: room}
	base := palette
	if f.Kind == Stack || f.Kind == Area {
		base = stackPalette
	}
	for i, c := range colours(base, f.Skip+len(f.Series))[f.Skip:] {
		p.colour = append(p.colour, parseColour(colour(i, &f.Series[i], []string{c})))
	}
	for _, a := range []*plot.Axis{&p.plot.X, &p.plot.Y} {
		a.Label.TextStyle = p.text(a.Label.TextStyle)
		a.Tick.Label = p.text(a.Tick.Label)
		a.Color, a.Tick.Color = axisColour, axisColour
		a.Width, a.Tick.Width, a.Tick.Length, a.Padding = 0.6, 0.6, 3, 2
	}
	p.plot.X.Label.Text, p.plot.Y.Label.Text = f.X.Name, f.Y.Name
	p.plot.Add(drawn(p.grid))
	switch f.Kind {
	case Bars:
		p.bars()
	case Stack:
		p.stack()
	case Lines, Scatter:
		p.lines()
	case Area:
		p.area()
	case Heat:
		p.heat()
	}
	return p
}

// text is a style of gonum's in our font and size.
func (p *panel) text(s text.Style) text.Style {
	s.Font, s.Color, s.Handler = plain, textColour, plot.DefaultTextHandler
	s.Font.Size = p.style.Font
	return s
}

func (p *panel) width(s string) vg.Length { return textStyle(p.style.Font, plain).Width(s) }

func (p *panel) longest(names []string) (w vg.Length) {
	for _, n := range names {
		w = max(w, p.width(n))
	}
	return w
}

// natural returns the panel's natural width.
func (p *panel) natural() vg.Length {
	switch f := p.f; f.Kind {
	case Bars:
		return max(315, vg.Length(len(f.Columns)*max(1, len(f.uprights())))*10+vg.Length(len(f.Columns))*14) + 60
	case Heat:
		return max(225, max(57, p.longest(f.Columns)+8)*vg.Length(len(f.Columns))) + p.longest(f.Rows) + 30
	case Stack:
		return 465 + p.longest(f.Columns)
	}
	return 465
}

// tall returns the panel's height.
func (p *panel) tall() vg.Length {
	most := vg.Length(280)
	if p.style.Width > 0 { // a column's: not higher than wide
		most = min(most, max(0.62*p.room, 14*p.style.Font))
	}
	switch f := p.f; f.Kind {
	case Bars:
		if p.tilted() {
			return min(260, most) + 0.7*p.longest(f.Columns)
		}
	case Stack:
		return 20*vg.Length(len(f.Columns)) + 40
	case Heat:
		return 26*vg.Length(len(f.Rows)) + 40
	}
	return most
}

// tilted reports whether the names of columns do not fit beside each other.
func (p *panel) tilted() bool {
	return p.longest(p.f.Columns) > (p.room-5*p.style.Font)/vg.Length(len(p.f.Columns))-4
}

// values is the axis of the values.
func (p *panel) values() *plot.Axis {
	if p.f.Kind == Stack {
		return &p.plot.X
	}
	return &p.plot.Y
}

func (p *panel) valueScale() Scale {
	if p.f.Kind == Stack {
		return p.f.X
	}
	return p.f.Y
}

// named is the canvas below a panel's own title, if there are several panels.
func (p *panel) named(c draw.Canvas, s *sheet) draw.Canvas {
	if len(s.panels) < 2 || p.f.Choice == "" {
		return c
	}
	style := s.nameStyle()
	style.XAlign = draw.XCenter
	c.FillText(style, vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: c.Max.Y}, p.f.Choice)
	return draw.Crop(c, 0, 0, 0, -style.Font.Size*leading)
}

// marks puts the marks of an axis where values are round.
func (p *panel) marks(a *plot.Axis, s Scale) {
	var ticks []plot.Tick
	for _, v := range (&scaleTo{low: a.Min, high: a.Max, log: s.Log}).ticks() {
		ticks = append(ticks, plot.Tick{Value: v, Label: show(v, s)})
	}
	a.Tick.Marker = plot.ConstantTicks(ticks)
}

// nominal names columns; at the axis's ends is half a column's room.
func (p *panel) nominal(a *plot.Axis, names []string) {
	var ticks []plot.Tick
	for i, n := range names {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: n})
	}
	a.Tick.Marker, a.Min, a.Max = plot.ConstantTicks(ticks), -0.5, float64(len(names))-0.5
	a.Tick.Width, a.Padding = 0, 0
}

// grid draws a line at each mark of the values, and at each of x where that has numbers.
func (p *panel) grid(c *draw.Canvas, x, y func(float64) vg.Length) {
	style := draw.LineStyle{Color: gridColour, Width: 0.5}
	if p.f.Kind == Heat {
		return
	}
	if p.f.Kind != Stack {
		for _, t := range p.plot.Y.Tick.Marker.Ticks(p.plot.Y.Min, p.plot.Y.Max) {
			c.StrokeLine2(style, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
	if p.f.Kind != Bars {
		for _, t := range p.plot.X.Tick.Marker.Ticks(p.plot.X.Min, p.plot.X.Max) {
			c.StrokeLine2(style, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
		}
	}
}

// begin returns the start of a linear axis of values: 0, or the figure's own, which the axis then marks.
func (p *panel) begin(low float64) float64 {
	if f := p.f.Y.From; f != 0 {
		p.plot.Y.Label.Text += " (from " + show(f, p.f.Y) + ")"
		return f
	}
	return min(0, low)
}

func box(c *draw.Canvas, fill color.Color, x1, y1, x2, y2 vg.Length) {
	c.FillPolygon(fill, []vg.Point{{X: x1, Y: y1}, {X: x2, Y: y1}, {X: x2, Y: y2}, {X: x1, Y: y2}})
}

func (p *panel) bars() {
	high, low := p.f.Line, 0.0
	for i := range p.f.Series {
		s := &p.f.Series[i]
		for c, v := range s.Values {
			if v.ok() {
				high, low = max(high, float64(v)+s.half(c)), min(low, float64(v)-s.half(c))
			}
		}
	}
	p.nominal(&p.plot.X, p.f.Columns)
	if p.tilted() {
		l := &p.plot.X.Tick.Label
		l.Rotation, l.XAlign, l.YAlign = math.Pi/4, draw.XRight, draw.YTop
	}
	p.plot.Y.Min = p.begin(low)
	p.plot.Y.Max = roundUpFrom(p.plot.Y.Min, high)
	p.marks(&p.plot.Y, p.f.Y)
	p.plot.Add(drawn(func(c *draw.Canvas, x, y func(float64) vg.Length) {
		uprights := p.f.uprights()
		bar := 0.8 / float64(max(1, len(uprights)))
		for n, i := range uprights {
			s := &p.f.Series[i]
			for col, v := range s.Values {
				if !v.ok() {
					continue
				}
				at := float64(col) - 0.4 + bar*float64(n)
				left, right := x(at), x(at+bar)
				box(c, p.colour[i], left, y(max(p.plot.Y.Min, 0)), right-min(0.6, (right-left)/8), y(float64(v)))
				p.hatch(c, i, left, y(max(p.plot.Y.Min, 0)), right, y(float64(v)))
				p.whisker(c, (left+right)/2, y, float64(v), s.half(col))
			}
		}
		for i := range p.f.Series {
			if s := &p.f.Series[i]; s.Level && s.Values[0].ok() {
				c.StrokeLine2(p.line(i), c.Min.X, y(float64(s.Values[0])), c.Max.X, y(float64(s.Values[0])))
			}
		}
		p.reference(c, y)
	}))
}

// hatch distinguishes the bars whose colour is reused in the second or third round.
func (p *panel) hatch(c *draw.Canvas, i int, x1, y1, x2, y2 vg.Length) {
	if i < len(palette) || p.f.Kind != Bars {
		return
	}
	style := draw.LineStyle{Color: color.White, Width: 0.5}
	for y := y1 + 3; y < y2; y += 3 {
		c.StrokeLine2(style, x1, y, x2, y)
	}
}

// reference draws the line that bars and lines are compared with.
func (p *panel) reference(c *draw.Canvas, y func(float64) vg.Length) {
	if p.f.Line > 0 {
		c.StrokeLine2(draw.LineStyle{Color: axisColour, Width: 0.8, Dashes: []vg.Length{4, 3}}, c.Min.X, y(p.f.Line),
			c.Max.X, y(p.f.Line))
	}
}

// whisker draws a confidence interval.
func (p *panel) whisker(c *draw.Canvas, x vg.Length, y func(float64) vg.Length, v, half float64) {
	if half <= 0 || p.f.Y.Log {
		return
	}
	style := draw.LineStyle{Color: textColour, Width: 0.8}
	top, bottom := y(v+half), y(max(p.plot.Y.Min, v-half))
	c.StrokeLine2(style, x, top, x, bottom)
	c.StrokeLine2(style, x-2.5, top, x+2.5, top)
	c.StrokeLine2(style, x-2.5, bottom, x+2.5, bottom)
}

// line is the pen of a series.
func (p *panel) line(i int) draw.LineStyle {
	s := &p.f.Series[i]
	style := draw.LineStyle{Color: p.colour[i], Width: 1.4, Dashes: dashes[i%len(dashes)]}
	switch {
	case s.Bound:
		style.Dashes = []vg.Length{4, 3}
	case s.Level:
		style.Dashes = []vg.Length{6, 3}
	}
	if len(s.Points) > maxMarks {
		style.Width = 0.9
	}
	return style
}

// dashes and marks distinguish lines in addition to their colours.
var dashes = [][]vg.Length{nil, {5, 2}, {1.5, 2}, {6, 2, 1.5, 2}}

// maxMarks is the maximum number of points of a line with marks; more would hide the line.
const maxMarks = 60

// mark draws a circle, square, triangle, diamond or the like.
func (p *panel) mark(c *draw.Canvas, i int, at vg.Point) {
	shapes := []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, diamond{}, draw.CrossGlyph{}, draw.PlusGlyph{},
		draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{},
	}
	c.DrawGlyph(draw.GlyphStyle{Color: p.colour[i], Radius: p.style.Font * 0.32, Shape: shapes[i%len(shapes)]}, at)
}

// diamond is a square on its corner.
type diamond struct{}

// DrawGlyph is gonum's interface.
func (diamond) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	r := s.Radius * 1.3
	c.FillPolygon(s.Color, []vg.Point{{X: at.X - r, Y: at.Y}, {X: at.X, Y: at.Y + r}, {X: at.X + r, Y: at.Y},
		{X: at.X, Y: at.Y - r}})
}

func (p *panel) lines() {
	xs, ys := p.scales()
	p.plot.X.Min, p.plot.X.Max, p.plot.Y.Min, p.plot.Y.Max = xs.low, xs.high, ys.low, ys.high
	for _, a := range []struct {
		axis *plot.Axis
		log  bool
	}{{&p.plot.X, xs.log}, {&p.plot.Y, ys.log}} {
		if a.log {
			a.axis.Scale = plot.LogScale{}
		}
	}
	p.marks(&p.plot.Y, p.f.Y)
	p.plot.X.Tick.Marker = plot.ConstantTicks(p.xTicks(xs))
	p.plot.X.Padding = p.style.Font
	p.plot.Add(drawn(func(c *draw.Canvas, x, y func(float64) vg.Length) {
		p.reference(c, y)
		for i := range p.f.Series {
			p.series(c, i, x, y)
		}
	}))
}

// xTicks are marks where the figure has some, named as far as there is room.
func (p *panel) xTicks(xs *scaleTo) (ticks []plot.Tick) {
	at := p.f.X.Ticks
	if at == nil {
		at = xs.ticks()
	}
	scale := *xs
	scale.at, scale.size = 0, float64(p.room-8*p.style.Font)
	end := math.Inf(-1)
	for i, v := range at {
		name := show(v, p.f.X)
		if i < len(p.f.X.Names) {
			name = p.f.X.Names[i]
		}
		t := plot.Tick{Value: v}
		if half := float64(p.width(name)) / 2; scale.pixel(v)-half > end {
			t.Label, end = name, scale.pixel(v)+half+3
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// scales span all points; a linear axis of values begins at 0.
func (p *panel) scales() (xs, ys *scaleTo) {
	xs = &scaleTo{low: math.Inf(1), high: math.Inf(-1), log: p.f.X.Log}
	ys = &scaleTo{low: math.Inf(1), high: math.Inf(-1), log: p.f.Y.Log}
	for i := range p.f.Series {
		s := &p.f.Series[i]
		for n, at := range s.Points {
			if at[0].ok() && at[1].ok() {
				xs.low, xs.high = min(xs.low, float64(at[0])), max(xs.high, float64(at[0]))
				ys.low, ys.high = min(ys.low, float64(at[1])-s.half(n)), max(ys.high, float64(at[1])+s.half(n))
			}
		}
	}
	if ys.low > ys.high { // nothing to show
		xs.low, xs.high, ys.low, ys.high = 1, 2, 1, 2
	}
	for _, x := range p.f.X.Ticks {
		xs.low, xs.high = min(xs.low, x), max(xs.high, x)
	}
	ys.high = max(ys.high, p.f.Line)
	if !ys.log {
		ys.low = p.begin(ys.low)
		ys.high = roundUpFrom(ys.low, ys.high)
	} else {
		ys.low, ys.high = ys.low/1.1, ys.high*1.1
	}
	if slices.ContainsFunc(p.f.Series, func(s Series) bool { return len(s.Tags) > 0 }) { // which need room
		pad := (xs.high - xs.low) / 20
		xs.low, xs.high = xs.low-pad, xs.high+pad
	}
	if xs.low == xs.high {
		xs.low, xs.high = xs.low*0.9, xs.high*1.1+math.SmallestNonzeroFloat32
	}
	return xs, ys
}

func (p *panel) series(c *draw.Canvas, i int, x, y func(float64) vg.Length) {
	s := &p.f.Series[i]
	var pieces [][]vg.Point
	gap := true
	for _, at := range s.Points {
		if !at[0].ok() || !at[1].ok() {
			gap = true
			continue
		}
		if gap {
			pieces, gap = append(pieces, nil), false
		}
		last := len(pieces) - 1
		pieces[last] = append(pieces[last], vg.Point{X: x(float64(at[0])), Y: y(float64(at[1]))})
	}
	if p.f.Kind == Lines || s.Bound {
		c.StrokeLines(p.line(i), c.ClipLinesXY(pieces...)...)
	}
	if s.Bound || s.Level || len(s.Points) > maxMarks {
		return
	}
	for n, at := range s.Points {
		if at[0].ok() && at[1].ok() {
			p.whisker(c, x(float64(at[0])), y, float64(at[1]), s.half(n))
			where := vg.Point{X: x(float64(at[0])), Y: y(float64(at[1]))}
			p.mark(c, i, where)
			if n < len(s.Tags) {
				p.label(c, textColour, where.Add(vg.Point{Y: p.style.Font}), s.Tags[n])
			}
		}
	}
}

// half is the half-width of a value's confidence interval; 0: it has none.
func (s *Series) half(i int) float64 {
	if i < len(s.Errors) && s.Errors[i].ok() {
		return float64(s.Errors[i])
	}
	return 0
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

func (p *panel) stack() {
	high := 0.0
	for c := range p.f.Columns {
		sum := 0.0
		for _, s := range p.f.Series {
			sum += float64(s.Values[c])
		}
		high = max(high, sum)
	}
	if !p.f.X.Percent {
		high = roundUp(high)
	}
	last := len(p.f.Columns) - 1
	var ticks []plot.Tick
	for i, n := range p.f.Columns { // the first above
		ticks = append(ticks, plot.Tick{Value: float64(last - i), Label: n})
	}
	y := &p.plot.Y
	y.Tick.Marker, y.Min, y.Max, y.Tick.Width, y.Padding = plot.ConstantTicks(ticks), -0.5, float64(last)+0.5, 0, 0
	p.plot.X.Min, p.plot.X.Max = 0, max(high, math.SmallestNonzeroFloat32)
	p.marks(&p.plot.X, p.f.X)
	p.plot.Add(drawn(func(c *draw.Canvas, x, y func(float64) vg.Length) {
		for col := range p.f.Columns {
			p.stackRow(c, x, y, col, float64(last-col))
		}
	}))
}

func (p *panel) stackRow(c *draw.Canvas, x, y func(float64) vg.Length, col int, at float64) {
	sum := 0.0
	for i := range p.f.Series {
		v := float64(p.f.Series[i].Values[col])
		if v == 0 {
			continue
		}
		from, to := x(sum), x(sum+v)
		sum += v
		if p.f.Series[i].Gap {
			continue
		}
		box(c, p.colour[i], from, y(at-0.4), to-min(0.4, (to-from)/4), y(at+0.4))
		name := show(v, p.f.X)
		if p.f.X.Percent {
			name = strconv.FormatFloat(100*v, 'f', 0, 64) + " %"
		}
		if p.width(name)+4 < to-from {
			p.label(c, textColour, vg.Point{X: (from + to) / 2, Y: y(at)}, name)
		}
	}
}

// label writes text around a point.
func (p *panel) label(c *draw.Canvas, colour color.Color, at vg.Point, name string) {
	style := textStyle(p.style.Font*0.9, plain)
	style.XAlign, style.YAlign, style.Color = draw.XCenter, draw.YCenter, colour
	c.FillText(style, at, name)
}

// area draws series on top of each other, over x.
func (p *panel) area() {
	first := p.f.Series[0].Points
	at := func(k int) float64 { return float64(first[k][0]) }
	n := len(first)
	p.plot.X.Min, p.plot.X.Max, p.plot.Y.Min, p.plot.Y.Max = at(0), max(at(n-1), at(0)+math.SmallestNonzeroFloat32), 0,
		1
	p.marks(&p.plot.X, p.f.X)
	p.marks(&p.plot.Y, p.f.Y)
	p.plot.Add(drawn(func(c *draw.Canvas, x, y func(float64) vg.Length) {
		sum := make([]float64, n)
		for i := range p.f.Series {
			s := &p.f.Series[i]
			var outline []vg.Point
			for k := n - 1; k >= 0; k-- {
				outline = append(outline, vg.Point{X: x(at(k)), Y: y(min(1, sum[k]))})
			}
			for k := range n {
				sum[k] += float64(s.Points[k][1])
				outline = append(outline, vg.Point{X: x(at(k)), Y: y(min(1, sum[k]))})
			}
			c.FillPolygon(p.colour[i], outline)
		}
	}))
}

func (p *panel) heat() {
	low, high := math.Inf(1), math.Inf(-1)
	for _, row := range p.f.Cells {
		for _, v := range row {
			if v.ok() {
				low, high = min(low, float64(v)), max(high, float64(v))
			}
		}
	}
	p.nominal(&p.plot.X, p.f.Columns)
	p.nominal(&p.plot.Y, p.f.Rows)
	p.plot.Add(drawn(func(c *draw.Canvas, x, y func(float64) vg.Length) {
		for r, row := range p.f.Cells {
			for col, v := range row {
				if !v.ok() {
					continue
				}
				fill, on := shade((float64(v) - low) / max(high-low, math.SmallestNonzeroFloat64))
				at := vg.Point{X: x(float64(col)), Y: y(float64(r))}
				box(c, fill, x(float64(col)-0.49), y(float64(r)-0.48), x(float64(col)+0.49), y(float64(r)+0.48))
				p.label(c, on, at, show(float64(v), p.f.Y))
			}
		}
	}))
}

// shade is viridis at t of 0..1, and the colour of text that can be read on it.
func shade(t float64) (fill, on color.Color) {
	at := min(max(t, 0), 1) * float64(len(viridis)-1)
	i := min(int(at), len(viridis)-2)
	var c [3]float64
	for k := range c {
		c[k] = viridis[i][k] + (viridis[i+1][k]-viridis[i][k])*(at-float64(i))
	}
	on = textColour
	if 0.299*c[0]+0.587*c[1]+0.114*c[2] < 128 {
		on = color.White
	}
	return color.RGBA{uint8(c[0]), uint8(c[1]), uint8(c[2]), 255}, on
}

// swatch draws a series' entry in the legend.
func (p *panel) swatch(i int) func(c *draw.Canvas, r vg.Rectangle) {
	return func(c *draw.Canvas, r vg.Rectangle) {
		s := &p.f.Series[i]
		middle := vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: (r.Min.Y + r.Max.Y) / 2}
		switch lines := p.f.Kind == Lines || p.f.Kind == Scatter; {
		case lines || s.Bound || s.Level:
			if p.f.Kind != Scatter || s.Bound {
				c.StrokeLine2(p.line(i), r.Min.X, middle.Y, r.Max.X, middle.Y)
			}
			if !s.Bound && !s.Level {
				p.mark(c, i, middle)
			}
		default:
			box(c, p.colour[i], r.Min.X, r.Min.Y, r.Max.X, r.Max.Y)
			p.hatch(c, i, r.Min.X, r.Min.Y, r.Max.X, r.Max.Y)
		}
	}
}
