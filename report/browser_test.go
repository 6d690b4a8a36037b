package report_test

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"heddle/internal/chromium"
	"heddle/internal/testenv"
	"heddle/report"
)

// tab is a report in a browser.
type tab struct {
	*chromium.Tab
	t *testing.T
}

// open shows a report.
func open(t *testing.T, s *summary, config string) *tab {
	t.Helper()
	dir := s.write(t, config)
	file, _, err := report.Write(dir, "")
	require.NoError(t, err)
	return &tab{chromium.Open(t, (&url.URL{Scheme: "file", Path: file}).String()), t}
}

func is(want string) func(string) bool     { return func(s string) bool { return s == want } }
func isNot(other string) func(string) bool { return func(s string) bool { return s != other } }

// quiet checks that the page said nothing and loaded only itself.
func (b *tab) quiet() {
	b.t.Helper()
	said, loaded := b.Heard()
	require.Empty(b.t, said)
	for _, u := range loaded {
		require.Regexp(b.t, `^(file:.*/report\.html|blob:.*)$`, u)
	}
}

// column is the text of a column of the table of points, joined.
func (b *tab) column(n int) string {
	return b.Text(fmt.Sprintf(`[...document.querySelectorAll('#table tbody tr')].map(r => r.cells[%d].textContent).join(' ')`, n))
}

func TestThePageInABrowser(t *testing.T) {
	testenv.NeedSlow(t, "it starts a browser")
	b := open(t, fixture(), sweepConfig)
	for _, id := range []string{"asked", "failures", "figures", "points", "statistics", "configuration", "provenance"} {
		require.Equal(t, "1", b.Text(`document.querySelectorAll('section#`+id+`').length`), id)
	}
	for _, group := range []string{"points", "over-machine-core-warps", "over-machine-l1d-bytes",
		"map-machine-l1d-bytes-machine-core-warps", "schedulers", "warps", "phases", "roofline"} {
		require.NotEqual(t, "0", b.Text(`document.querySelectorAll('#group-`+group+` .chart svg path').length`), group)
	}
	require.Equal(t, "workload.schedule vertex weaver",
		b.Text(`[...document.querySelectorAll('#differences td')].map(c => c.textContent).join(' ')`))
	b.sorts()
	b.searches()
	b.chooses()
	b.darkens()
	b.downloads()
	b.quiet()
}

// sorts clicks on columns: numbers are sorted as numbers, sizes by value, text as text.
func (b *tab) sorts() {
	click := func(n int) {
		b.Run(chromedp.Click(fmt.Sprintf(`#table th:nth-child(%d) button`, n), chromedp.ByQuery))
	}
	before := b.column(5)
	require.Equal(b.t, "1,000 500 950 475 800 400 750 375 600 300 550 275", before)
	click(6)
	require.Equal(b.t, "275 300 375 400 475 500 550 600 750 800 950 1,000", b.column(5))
	require.Equal(b.t, "ascending", b.Text(`document.querySelectorAll('#table th')[5].getAttribute('aria-sort')`))
	click(6)
	require.Equal(b.t, "1,000 950 800 750 600 550 500 475 400 375 300 275", b.column(5))
	click(3)
	require.Equal(b.t, "2 2 2 2 4 4 4 4 16 16 16 16", b.column(2))
	click(4)
	require.Equal(b.t, strings.TrimSpace(strings.Repeat("1KiB ", 6)+strings.Repeat("16KiB ", 6)), b.column(3))
	click(1)
	require.Equal(b.t, strings.TrimSpace(strings.Repeat("vertex ", 6)+strings.Repeat("weaver ", 6)), b.column(0))
	click(5)
	require.True(b.t, strings.HasSuffix(b.column(4), "2.00× –"), "rows without a value come last")
}

func (b *tab) searches() {
	search := func(text string) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(`(() => { const q = document.querySelector('#query'); q.value = %q; q.dispatchEvent(new Event('input')); })()`, text), nil)
	}
	rows := `[...document.querySelectorAll('#stats tbody tr')].map(r => [...r.cells].slice(0, 5).map(c => c.textContent).join('|')).join(' ')`
	b.Run(search("Gather EVENTS"))
	require.Equal(b.t, "kernel.gather.cycles|things|980|480|2.04167", b.Text(rows))
	b.Run(search("core0"))
	require.Equal(b.t, "core0.cycles|things|7|7|1", b.Text(rows), "a single unit's has the meaning of its kind's")
	b.Run(search("no such thing"))
	require.Contains(b.t, b.Text(`document.querySelector('#found').textContent`), "0 of ")
}

func (b *tab) chooses() {
	title := `document.querySelector('#group-points h3').textContent`
	require.Equal(b.t, "Speedup over vertex", b.Text(title))
	b.Text(`(() => { const s = document.querySelector('#group-points select'); s.value = '1'; s.dispatchEvent(new Event('change')); return ''; })()`)
	require.Equal(b.t, "Cycles of the points", b.Text(title))
}

// darkens follows the system, then the reader.
func (b *tab) darkens() {
	back := `getComputedStyle(document.body).backgroundColor`
	label := `document.querySelector('#group-schedulers svg text').getAttribute('fill')`
	prefer := func(scheme string) {
		b.Run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme",
			Value: scheme}}))
	}
	const white, black = "rgb(255, 255, 255)", "rgb(20, 24, 29)"
	prefer("light")
	b.Becomes(back, is(white), "light as the system")
	light := b.Text(label)
	prefer("dark")
	b.Becomes(back, is(black), "dark as the system")
	b.Becomes(label, isNot(light), "the charts are drawn anew")
	b.Run(chromedp.Click("#theme", chromedp.ByQuery))
	b.Becomes(back, is(white), "light as chosen")
	b.Becomes(label, is(light), "the charts are drawn anew")
	b.Run(chromedp.Click("#theme", chromedp.ByQuery))
	b.Becomes(back, is(black), "dark as chosen")
}

func (b *tab) downloads() {
	done := make(chan string, 1)
	b.Listen(func(event any) {
		if e, ok := event.(*browser.EventDownloadWillBegin); ok {
			done <- e.SuggestedFilename
		}
	})
	b.Run(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).
		WithDownloadPath(b.t.TempDir()).WithEventsEnabled(true),
		chromedp.Click("#group-schedulers .download", chromedp.ByQuery))
	select {
	case name := <-done:
		require.Equal(b.t, "schedulers.svg", name)
	case <-time.After(20 * time.Second):
		require.Fail(b.t, "no download")
	}
}

func TestHostileTextInABrowser(t *testing.T) {
	testenv.NeedSlow(t, "it starts a browser")
	s, config := hostile()
	b := open(t, s, config)
	b.Run(chromedp.Evaluate(`for (const e of document.querySelectorAll('select')) for (const o of e.options) { e.value = o.value; e.dispatchEvent(new Event('change')); e.dispatchEvent(new Event('input')); }`, nil))
	require.Equal(t, "undefined", b.Text("typeof window.pwned"))
	require.Contains(t, b.Text("document.title"), "<script>window.pwned=1</script>")
	require.Equal(t, "0", b.Text("document.images.length"))
	b.quiet()
}

// cut lists texts of the figures that are cut off, and elements that make the page wider than the window.
const cut = `(() => {
  const out = [];
  if (document.documentElement.scrollWidth > innerWidth) out.push('the page is ' + document.documentElement.scrollWidth + ' wide');
  for (const f of document.querySelectorAll('figure')) {
    if (f.closest('details:not([open])')) continue;
    const svg = f.querySelector('.chart svg');
    if (!svg) { out.push(f.id + ' has no figure'); continue; }
    const box = svg.getBoundingClientRect(), frame = f.getBoundingClientRect();
    if (box.right > frame.right + 1) out.push(f.id + ' is wider than its frame');
    for (const t of svg.querySelectorAll('text')) {
      const r = t.getBoundingClientRect();
      if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1 || t.textContent.includes('…')) out.push(f.id + ': ' + t.textContent);
    }
  }
  return out.slice(0, 20).join('\n');
})()`

// TestFiguresFit: on a screen and on a phone, in light and dark, no text is cut and nothing hangs over; of 400 points
// too, whose page is drawn within seconds.
func TestFiguresFit(t *testing.T) {
	testenv.NeedLong(t, "it draws 400 points at several widths; other pages are drawn in any case")
	many := &summary{Experiment: "many", Host: fixture().Host}
	for i := range 200 {
		axes := map[string]string{"workload.schedule": "vertex", "machine.core.warps": fmt.Sprint(1 + i%20),
			"graph.file": fmt.Sprintf("graphs/a-graph-with-a-long-name-%d.mtx.gz", i/20)}
		other := maps.Clone(axes)
		other["workload.schedule"] = "weaver"
		many.add(axes, float64(1000+i), 1)
		many.add(other, float64(500+i), 2)
	}
	config := "compare: {workload.schedule: [vertex, weaver]}\nsweep: {graph.file: [a], machine.core.warps: [1]}"
	for name, b := range map[string]*tab{"two axes": open(t, fixture(), sweepConfig),
		"400 points": open(t, many, config)} {
		for _, width := range []int64{1280, 400} {
			for _, scheme := range []string{"light", "dark"} {
				b.Run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme",
					Value: scheme}}),
					chromedp.EmulateViewport(width, 900))
				b.Becomes(cut, is(""), fmt.Sprintf("%s, %d wide, %s", name, width, scheme))
			}
		}
		b.quiet()
	}
}

// On screens of any width the page is no wider than the screen, and charts have room for their plots.
func TestThePageFitsScreens(t *testing.T) {
	testenv.NeedSlow(t, "it starts a browser")
	s := &summary{Experiment: "screens"}
	graphs := []string{"data/facebook_combined.txt", "data/roadNet-CA.mtx.gz", "data/soc-LiveJournal1.mtx.gz"}
	for i, graph := range graphs {
		for j, algorithm := range []string{"pagerank", "bfs", "sssp"} {
			for v, schedule := range []string{"vertex", "edge", "warp", "weaver"} {
				p := s.add(map[string]string{"workload.schedule": schedule, "graph.file": graph,
					"workload.algorithm": algorithm}, float64(1000+100*i+10*j-150*v), 1+0.4*float64(v)+0.1*float64(i*j))
				stats := p["stats"].(map[string]float64)
				stats["core.cycles"], stats["core.scheduler.issued"] = 1, float64(10+i)
				stats["core.scheduler.stall.ibuffer"] = float64(5 + v)
				for n := range 200 {
					stats[fmt.Sprintf("core%d.cycles", n)] = 1
				}
			}
		}
	}
	b := open(t, s, "compare: {workload.schedule: [vertex, edge, warp, weaver]}\nsweep: {graph.file: ["+
		strings.Join(graphs, ", ")+"], workload.algorithm: [pagerank, bfs, sssp]}")
	for _, width := range []int64{390, 800, 1440} {
		for _, scheme := range []string{"light", "dark"} {
			b.Run(chromedp.EmulateViewport(width, 900),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme",
					Value: scheme}}))
			b.Becomes(`String(document.documentElement.scrollWidth <= window.innerWidth)`, is("true"), fmt.Sprint(width))
			b.keeps(fmt.Sprintf("report-%d-%s", width, scheme))
		}
	}
	b.folds()
	b.quiet()
}

// folds: the page is short, because each variant's points, the table and the statistics are closed until the reader
// opens them, follows a link to them, or prints the page.
func (b *tab) folds() {
	closed := `String([...document.querySelectorAll('details')].filter(d => !d.open).length)`
	drawn := `String(document.querySelectorAll('details.fold .chart svg').length)`
	require.Equal(b.t, "true", b.Text(`String(document.documentElement.scrollHeight < 5000)`),
		b.Text(`String(document.documentElement.scrollHeight)`))
	require.Equal(b.t, "16: vertex: 9 points, edge: 9 points, warp: 9 points, weaver: 9 points",
		b.Text(`(l => l.length + ': ' + l.slice(0, 4).map(s => s.textContent).join(', '))([...document.querySelectorAll('details.fold summary')])`),
		"four breakdowns of four variants")
	require.Equal(b.t, "true", b.Text(`String(document.querySelectorAll('#group-schedulers .chart svg path').length > 0)`))
	before := b.Text(closed)
	require.Equal(b.t, "0", b.Text(drawn))
	b.Run(chromedp.Click("details.fold summary", chromedp.ByQuery))
	b.Becomes(drawn, is("1"), "an opened fold is drawn")
	b.Run(chromedp.Click("details.fold summary", chromedp.ByQuery))
	b.Becomes(closed, is(before), "it is closed")
	b.Text(`(dispatchEvent(new Event('beforeprint')), '')`)
	require.Equal(b.t, "0", b.Text(closed), "all is printed")
	require.Equal(b.t, "16", b.Text(drawn))
	require.Empty(b.t, b.Text(cut))
	b.Text(`(dispatchEvent(new Event('afterprint')), '')`)
	require.Equal(b.t, before, b.Text(closed))
	b.Run(chromedp.Click(`nav a[href="#points"]`, chromedp.ByQuery))
	b.Becomes(`String(document.querySelector('#points details').open)`, is("true"), "a link opens its target")
}

// keeps saves a screenshot of the tab: HEDDLE_SCREENSHOTS is a directory.
func (b *tab) keeps(name string) {
	dir := os.Getenv("HEDDLE_SCREENSHOTS")
	if dir == "" {
		return
	}
	var png []byte
	b.Run(chromedp.FullScreenshot(&png, 100))
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}
