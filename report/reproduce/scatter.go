package reproduce

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// scatterFile is the drawing at the head of the page, beside the outcomes.
const scatterFile = "scatter.svg"

// The drawing's sizes in pixels.
const (
	scatterSide  = 560.0 // of the plot, which is square: both axes have one scale
	scatterLeft  = 62.0
	scatterTop   = 14.0
	scatterRight = 160.0 // the legend
	scatterFoot  = 52.0
	markSize     = 4.6
)

// scatterStyle has colours for both themes. Papers differ in shape, too.
const scatterStyle = `
svg { --paper: #ffffff; --ink: #1f2328; --soft: #57606a; --grid: #e3e7eb; --band: #e8eef5; --line: #8c959f;
  --p0: #0072b2; --p1: #b35900; --p2: #00795a; --p3: #a8417f; --p4: #6f6a00; }
@media (prefers-color-scheme: dark) {
  svg { --paper: #0d1117; --ink: #e6edf3; --soft: #adb8c4; --grid: #222a34; --band: #1b2633; --line: #6e7883;
    --p0: #58b2ea; --p1: #f0a24f; --p2: #3fcf9f; --p3: #e892c4; --p4: #d9cf4a; }
}
text { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink); }
.soft { fill: var(--soft); }
.paper { fill: var(--paper); }
.grid { stroke: var(--grid); }
.band { fill: var(--band); }
.equal { stroke: var(--line); stroke-width: 1.2; }
.one { stroke: var(--line); stroke-dasharray: 3 4; }
.bar { stroke-width: 1.4; }
.mark { fill-opacity: 0.55; stroke-width: 1.3; }
.p0 { stroke: var(--p0); fill: var(--p0); } .p1 { stroke: var(--p1); fill: var(--p1); }
.p2 { stroke: var(--p2); fill: var(--p2); } .p3 { stroke: var(--p3); fill: var(--p3); }
.p4 { stroke: var(--p4); fill: var(--p4); }
`

// scatter is the drawing in the making.
type scatter struct {
	b         bytes.Buffer
	low, high float64 // of both axes, logarithms to base 10
}

// scatterOf draws the numbers of claims, published and ours.
func scatterOf(list []claim) []byte {
	drawn := chosen(list, func(c *claim) bool {
		p, ok := c.pair()
		return ok && c.settled.counted() && p.published > 0 && p.ours > 0
	})
	s := scatter{low: math.Inf(1), high: math.Inf(-1)}
	for _, p := range pairsOf(drawn) {
		s.low = min(s.low, math.Log10(p.published), math.Log10(p.ours))
		s.high = max(s.high, math.Log10(p.published), math.Log10(p.ours))
	}
	if len(drawn) == 0 {
		s.low, s.high = 0, 1
	}
	const room = 0.06
	s.low, s.high = s.low-room, s.high+room
	s.frame()
	for k, paper := range papers(drawn) {
		of := chosen(drawn, func(c *claim) bool { return c.of.paper() == paper })
		for i := range of {
			s.point(k, &of[i])
		}
		y := scatterTop + 24 + 22*float64(k)
		s.mark(k, scatterLeft+scatterSide+20, y)
		s.text(scatterLeft+scatterSide+32, y+4, "start", "", fmt.Sprintf("%s (%d)", paper, len(of)))
	}
	s.b.WriteString("</svg>\n")
	return s.b.Bytes()
}

// at is a number's distance from the axes' beginning.
func (s *scatter) at(v float64) float64 {
	return scatterSide * (math.Log10(v) - s.low) / (s.high - s.low)
}

func (s *scatter) x(v float64) float64 { return scatterLeft + s.at(v) }
func (s *scatter) y(v float64) float64 { return scatterTop + scatterSide - s.at(v) }

func (s *scatter) text(x, y float64, anchor, class, text string) {
	fmt.Fprintf(&s.b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=%q class=%q>%s</text>\n", x, y, anchor, class, text)
}

func (s *scatter) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&s.b, "<path class=%q d=\"M%.1f %.1fL%.1f %.1f\"/>\n", class, x1, y1, x2, y2)
}

// frame draws axes, the line of equal numbers, and the band around it.
func (s *scatter) frame() {
	width, height := scatterLeft+scatterSide+scatterRight, scatterTop+scatterSide+scatterFoot
	fmt.Fprintf(&s.b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" "+
		"role=\"img\">\n<title>Published numbers and ours</title>\n<style>%s</style>\n", width, height, width, height,
		scatterStyle)
	fmt.Fprintf(&s.b, "<rect class=\"paper\" width=\"%g\" height=\"%g\"/>\n", width, height)
	low, high := math.Pow(10, s.low), math.Pow(10, s.high)
	corner := func(v, factor float64) string { return fmt.Sprintf("%.1f %.1f", s.x(v), s.y(v*factor)) }
	fmt.Fprintf(&s.b, "<clipPath id=\"plot\"><rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\"/></clipPath>\n",
		scatterLeft, scatterTop, scatterSide, scatterSide)
	fmt.Fprintf(&s.b, "<path class=\"band\" clip-path=\"url(#plot)\" d=\"M%sL%sL%sL%sZ\"/>\n", corner(low, 1-near),
		corner(high, 1-near), corner(high, 1+near), corner(low, 1+near))
	for _, v := range s.ticks() {
		s.line("grid", s.x(v), scatterTop, s.x(v), scatterTop+scatterSide)
		s.line("grid", scatterLeft, s.y(v), scatterLeft+scatterSide, s.y(v))
		s.text(s.x(v), scatterTop+scatterSide+17, "middle", "soft", number(v))
		s.text(scatterLeft-7, s.y(v)+4, "end", "soft", number(v))
	}
	if s.low < 0 && s.high > 0 {
		s.line("one", s.x(1), scatterTop, s.x(1), scatterTop+scatterSide)
		s.line("one", scatterLeft, s.y(1), scatterLeft+scatterSide, s.y(1))
	}
	s.line("equal", s.x(low), s.y(low), s.x(high), s.y(high))
	s.text(scatterLeft+scatterSide/2, scatterTop+scatterSide+40, "middle", "", "published")
	fmt.Fprintf(&s.b, "<text transform=\"translate(16 %g) rotate(-90)\" text-anchor=\"middle\">ours, as described"+
		"</text>\n", scatterTop+scatterSide/2)
}

// ticks are 1, 2 and 5 times the powers of ten in the plot.
func (s *scatter) ticks() (list []float64) {
	for e := math.Floor(s.low); e <= s.high; e++ {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, e)
			if l := math.Log10(v); l > s.low && l < s.high {
				list = append(list, v)
			}
		}
	}
	return list
}

func (s *scatter) point(k int, c *claim) {
	p, _ := c.pair()
	fmt.Fprintf(&s.b, "<g><title>%s: %s: published %s, ours %s</title>\n", escaped(c.of.pack.Name),
		escaped(flow(c.settled.Says)), c.settled.published(), escaped(c.number().ours()))
	if h := c.number().Half; h > 0 {
		low := max(p.ours-h, math.Pow(10, s.low))
		fmt.Fprintf(&s.b, "<path class=\"bar p%d\" d=\"M%.1f %.1fV%.1f\"/>\n", k%5, s.x(p.published), s.y(low),
			max(s.y(p.ours+h), scatterTop))
	}
	s.mark(k, s.x(p.published), s.y(p.ours))
	s.b.WriteString("</g>\n")
}

// mark draws a paper's mark: a disc, a square, a diamond, a triangle that points up or down.
func (s *scatter) mark(k int, x, y float64) {
	const r = markSize
	class := fmt.Sprintf("mark p%d", k%5)
	switch k % 5 {
	case 0:
		fmt.Fprintf(&s.b, "<circle class=%q cx=\"%.1f\" cy=\"%.1f\" r=\"%g\"/>\n", class, x, y, r)
	case 1:
		fmt.Fprintf(&s.b, "<rect class=%q x=\"%.1f\" y=\"%.1f\" width=\"%g\" height=\"%g\"/>\n", class, x-r, y-r, 2*r, 2*r)
	case 2:
		fmt.Fprintf(&s.b, "<path class=%q d=\"M%.1f %.1fl%g %gl%g %gl%g %gZ\"/>\n", class, x, y-1.3*r, 1.3*r, 1.3*r, -1.3*r,
			1.3*r, -1.3*r, -1.3*r)
	default:
		up := 1.0
		if k%5 == 4 {
			up = -1
		}
		fmt.Fprintf(&s.b, "<path class=%q d=\"M%.1f %.1fl%g %gl%g 0Z\"/>\n", class, x, y-up*1.2*r, 1.2*r, up*2.2*r, -2.4*r)
	}
}

func escaped(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
