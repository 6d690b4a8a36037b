package diagram

import (
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"
)

// drawing collects shapes: wires below boxes below texts, in the order of the calls.
type drawing struct {
	wires, boxes, texts strings.Builder
	labels              []label // for tests: texts and the boxes that they must fit
}

// label is a text and the box that it must fit.
type label struct {
	class, text string
	room        float64
}

// box is a rectangle, by its upper left corner.
type box struct{ x, y, w, h float64 }

// sizesOf are the classes of texts and their sizes in pixels.
var sizesOf = map[string]float64{"name": 15, "label": 11, "title": 12.5, "detail": 11}

// textWidth estimates how wide a text is, on the wide side of common sans-serif fonts.
func textWidth(class, text string) float64 {
	return 0.56 * sizesOf[class] * float64(utf8.RuneCountInString(text))
}

func (d *drawing) write(anchor string, x, y float64, class, text string) {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(text)) // a Builder takes everything
	fmt.Fprintf(&d.texts, "<text x=\"%g\" y=\"%g\" class=%q text-anchor=%q>%s</text>\n", x, y, class, anchor,
		escaped.String())
}

func (d *drawing) text(x, y float64, class, text string)    { d.write("start", x, y, class, text) }
func (d *drawing) textEnd(x, y float64, class, text string) { d.write("end", x, y, class, text) }

func (d *drawing) rectangle(b box, class string) {
	fmt.Fprintf(&d.boxes, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" rx=\"5\" class=%q/>\n", b.x, b.y, b.w,
		b.h, class)
}

// stack draws a rectangle in front of several others.
func (d *drawing) stack(b box, behind int, class string) {
	for i := behind; i >= 0; i-- {
		at := box{b.x + 5*float64(i), b.y - 5*float64(i), b.w, b.h}
		d.rectangle(at, class+" group")
	}
}

// box draws a part with its title and one line of detail.
func (d *drawing) box(b box, class, title, detail string) {
	d.rectangle(b, class)
	d.write("middle", b.x+b.w/2, b.y+18, "title", title)
	d.write("middle", b.x+b.w/2, b.y+35, "detail", detail)
	d.labels = append(d.labels, label{"title", title, b.w}, label{"detail", detail, b.w})
}

func (d *drawing) path(class, path string, args ...any) {
	fmt.Fprintf(&d.wires, "<path class=%q d=%q/>\n", class, fmt.Sprintf(path, args...))
}

func (d *drawing) line(x1, y1, x2, y2 float64)  { d.path("wire", "M%g %gL%g %g", x1, y1, x2, y2) }
func (d *drawing) arrow(x1, y1, x2, y2 float64) { d.path("wire to", "M%g %gL%g %g", x1, y1, x2, y2) }

// both is a vertical wire for requests and answers.
func (d *drawing) both(x, y1, y2 float64) { d.path("wire to from", "M%g %gL%g %g", x, y1, x, y2) }

// elbow leads from a box along x to another above it, both at toX.
func (d *drawing) elbow(x, toX, from, to float64) {
	d.path("wire to", "M%g %gL%g %gL%g %gL%g %g", toX, from, x, from, x, to, toX, to)
}

// style has colours for both themes, which do not differ in hue alone: the graph unit also has a thick border.
const style = `
svg { --paper: #ffffff; --ink: #1f2328; --soft: #57606a; --wire: #57606a; --level: #eef2f6; --core: #ffffff;
  --part: #dbe7f5; --unit: #ffe3b8; --unit-edge: #9a5b00; --memory: #dcefe2; --edge: #8c959f; }
@media (prefers-color-scheme: dark) {
  svg { --paper: #0d1117; --ink: #e6edf3; --soft: #adb8c4; --wire: #9aa5b1; --level: #1b222c; --core: #0d1117;
    --part: #1f3550; --unit: #5a3d0c; --unit-edge: #f0b656; --memory: #1d3b2a; --edge: #6e7883; }
}
text { font-family: system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink); }
.name { font-size: 15px; font-weight: 600; }
.label { font-size: 11px; font-weight: 600; }
.title { font-size: 12.5px; font-weight: 600; }
.detail { font-size: 11px; fill: var(--soft); }
rect { stroke: var(--edge); }
.paper { fill: var(--paper); stroke: none; }
.part { fill: var(--part); }
.level { fill: var(--level); }
.core { fill: var(--core); }
.memory { fill: var(--memory); }
.unit { fill: var(--unit); stroke: var(--unit-edge); stroke-width: 2.5; }
.empty { fill: none; stroke-dasharray: 5 4; }
.wire { fill: none; stroke: var(--wire); stroke-width: 1.4; }
.to { marker-end: url(#head); }
.from { marker-start: url(#head); }
.tip { fill: var(--wire); }
`

// svg puts the drawing together.
func (d *drawing) svg(height float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %g\" width=\"%d\" height=\"%g\" "+
		"role=\"img\">\n", width, height, width, height)
	fmt.Fprintf(&b, "<style>%s</style>\n", style)
	b.WriteString("<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" " +
		"markerHeight=\"6\" orient=\"auto-start-reverse\"><path class=\"tip\" d=\"M0 0L8 4L0 8Z\"/></marker></defs>\n")
	fmt.Fprintf(&b, "<rect class=\"paper\" width=\"%d\" height=\"%g\"/>\n", width, height)
	b.WriteString(d.boxes.String())
	b.WriteString(d.wires.String())
	b.WriteString(d.texts.String())
	b.WriteString("</svg>\n")
	return b.String()
}
