package monitor_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"heddle/internal/chromium"
	"heddle/internal/testenv"
	"heddle/report/monitor"
	"heddle/sim"
)

// tab is the page in a browser.
type tab struct {
	*chromium.Tab
	t *testing.T
}

func open(t *testing.T, address string) *tab {
	t.Helper()
	return &tab{chromium.Open(t, address), t}
}

func is(want string) func(string) bool   { return func(s string) bool { return s == want } }
func not(other string) func(string) bool { return func(s string) bool { return s != other } }
func has(part string) func(string) bool {
	return func(s string) bool { return strings.Contains(s, part) }
}
func cell(row, column int) string {
	return fmt.Sprintf(`document.querySelector('#machines tbody').rows[%d]?.cells[%d].textContent`, row, column)
}
func shows(selector string) string { return `document.querySelector('` + selector + `')?.textContent` }

// line is that of a field in the tree, by its path; null until it is there.
func line(path ...string) string {
	list := "document.querySelector('#tree > ul')"
	for _, name := range path {
		named := fmt.Sprintf(`(e) => e.querySelector('b')?.textContent === %q`, name)
		list = fmt.Sprintf(`[...(%s?.children || [])].find(%s)?.querySelector('summary, .leaf')`, list, named)
		list += "?.parentElement.querySelector(':scope > ul, :scope > b') "
	}
	list = strings.TrimSuffix(list, "?.parentElement.querySelector(':scope > ul, :scope > b') ")
	return "(" + list + ")"
}

func TestThePageInABrowser(t *testing.T) {
	testenv.NeedSlow(t, "it starts a browser")
	d := serve(t, monitor.Hold{Start: true, Failure: true})
	d.start(machine(t, "vortex-1c4w4t", sim.Options{}), forever)
	b := open(t, d.URL())
	b.Becomes(shows("#points-text"), is("1 of 3 points done"), "points")
	b.Becomes(cell(0, 2), is("paused"), "held before its first cycle")
	require.Equal(t, "one", b.Text(cell(0, 1)))
	at := b.Text(cell(0, 3))
	b.Click("#machines button")
	b.Becomes(cell(0, 2), is("running"), "it goes on")
	b.Becomes(cell(0, 3), not(at), "and time with it")
	b.Click("#machines button")
	b.Becomes(cell(0, 2), is("paused"), "paused")
	b.opensFields()

	stuck := machine(t, "vortex-1c4w4t", sim.Options{})
	cut(stuck)
	d.start(stuck, misses)
	b.Becomes(cell(1, 2), is("paused"), "another machine")
	b.Click(`#machines tbody tr:nth-child(2) input`)
	b.Click(`#machines tbody tr:nth-child(2) button`)
	b.Becomes(cell(1, 2), has("held: no progress at cycle"), "it is stuck")
	b.showsWhatHangs()
	b.Click(`#machines tbody tr:nth-child(2) button`)
	b.Becomes(shows("#points-text"), is("2 of 3 points done, 1 failed"), "points")
	b.Becomes(shows("#ended pre"), has("Core0 warp 0"), "who waited for whom stays")
	b.Becomes(`document.querySelector('#machines tbody').rows.length`, is("1"), "it has gone")

	b.closes(d)
}

// opensFields opens a warp's way down, and sees it live.
func (b *tab) opensFields() {
	b.Click(`[data-show="fields"]`)
	b.Becomes(`document.querySelectorAll('#tree li').length > 15`, is("true"), "the core's fields")
	warp := []string{"source", "Core", "warps", "0"}
	for i := range warp {
		at := line(warp[:i+1]...)
		b.Becomes("!!"+at, is("true"), warp[i])
		b.Text(at + ".click()")
	}
	b.Becomes(line(append(warp, "pc")...)+"?.textContent", has("0x800000"), "the warp's program counter, in its loop")
	b.Becomes(line(append(warp, "regs")...)+".textContent", has("elements"), "and its registers")
	b.Text(line("pipe") + ".click()")
	b.Becomes("!!"+line("pipe", "last"), is("true"), "the stages' shared state")
	last := line("pipe", "last") + ".textContent"
	before := b.Text(last)
	b.Click("#machines button")
	b.Becomes(last, not(before), "fields are live")
	b.Click("#machines button")
	b.Becomes(cell(0, 2), is("paused"), "paused")
	b.Text(`(() => { const c = document.getElementById('component'); c.value = 'Socket0.L1D'; c.dispatchEvent(new Event('change')); })()`)
	b.Becomes("!!"+line("banks"), is("true"), "another component's")
}

func (b *tab) showsWhatHangs() {
	b.Click(`[data-show="buffers"]`)
	first := `document.querySelector('#buffers tbody tr') && document.querySelector('#buffers tbody tr').cells[0].textContent`
	b.Becomes(first, not("null"), "buffers")
	b.Becomes(`[...document.querySelectorAll('#buffers tbody tr')].some((r) => r.cells[0].textContent === 'Core0: LSU loads outstanding' && r.cells[2].textContent === '2' && r.cells[3].textContent === '2')`, is("true"), "the full one")
	b.Becomes(`document.querySelector('#buffers meter').value`, is("1"), "full ones are first")
	b.Click(`[data-show="waits"]`)
	b.Becomes(shows("#waits pre"), has("waits for its line"), "who waits")
	b.Click(`[data-show="statistics"]`)
	b.Run(chromedp.SendKeys("#search", "l1d read misses", chromedp.ByQuery))
	b.Becomes(`[...document.querySelectorAll('#statistics tbody tr')].map((r) => r.cells[0].textContent).join()`,
		has("l1d.read_misses"), "found")
	b.Becomes(`document.querySelectorAll('#statistics tbody tr').length < 20`, is("true"), "and not much else")
}

// closes ends the run under the page, which keeps its contents.
func (b *tab) closes(d *desk) {
	require.NoError(b.t, d.Close())
	b.Becomes(shows("#news"), has("The simulation has ended."), "it was told")
	require.Equal(b.t, "true", b.Text(`document.querySelector('#machines button').disabled`))
	said, loaded := b.Heard()
	for _, s := range said { // a machine may end between two questions about it
		require.Contains(b.t, s, "404 (Not Found)")
	}
	for _, u := range loaded {
		require.Regexp(b.t, `^(`+d.URL()+`|data:,)`, u)
	}
}

// Names are text, whatever they hold.
func TestHostileNamesInABrowser(t *testing.T) {
	testenv.NeedSlow(t, "it starts a browser")
	const evil = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>`
	l, err := monitor.Listen(monitor.Default)
	require.NoError(t, err)
	s := monitor.New(evil, 1, 0, monitor.Hold{}).Serve(l)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	s.Begin(t.Context(), evil, 0, machine(t, "vortex-1c4w4t", sim.Options{}))
	b := open(t, s.URL())
	b.Becomes(shows("h1"), is(evil), "its name")
	b.Becomes(cell(0, 1), is(evil), "its point's")
	require.Equal(t, "undefined", b.Text("typeof window.pwned"))
}

// drawn is a point of the line of a chart, as [x, y]; at -1 the last.
func drawn(title, series string, at int) string {
	return fmt.Sprintf(`JSON.stringify((() => {
		const plot = document.querySelector('[data-title="%s"] .plot');
		return plot && echarts.getInstanceByDom(plot).getOption().series.find((s) => s.name === %q).data.at(%d);
	})())`, title, series, at)
}

// screen has the tab show as much, as the system is: light or dark.
func (b *tab) screen(width int64, scheme string) {
	b.Run(chromedp.EmulateViewport(width, 900),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme",
			Value: scheme}}))
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

// The lines that are drawn are those of the series, on screens of any width.
func TestTimeInABrowser(t *testing.T) {
	testenv.NeedSlow(t, "it starts a browser")
	d := serve(t, monitor.Hold{End: true})
	m := machine(t, "vortex-6c32w32t sockets=2 core.warps=4 core.threads=4", sim.Options{})
	d.start(m, finite, func() { m.BeginStep(1, 5, 9) })
	d.until("at its end", in("held"))
	var s series
	require.Equal(t, 200, d.get("api/machines/1/series", &s))
	last := len(s.Cycles) - 1
	counted := func(name string, at int) float64 { return float64(s.values(name)[at]) }
	begun := func(at int) uint64 {
		if at == 0 {
			return s.From.Cycle
		}
		return s.Cycles[at-1]
	}
	perCycle := func(name string) float64 { return counted(name, last) / float64(s.Cycles[last]-begun(last)) }
	b := open(t, d.URL())
	point := func(title, series string, at int) (x, y float64) {
		t.Helper()
		var p []float64
		b.Becomes(drawn(title, series, at), not("null"), title)
		require.NoError(t, json.Unmarshal([]byte(b.Text(drawn(title, series, at))), &p))
		return p[0], p[len(p)-1]
	}
	at := func(title, series string, want float64) {
		t.Helper()
		x, y := point(title, series, -1)
		require.Equal(t, float64(s.Cycles[last]), x, title)
		require.InDelta(t, want, y, 1e-9*want, title)
	}
	at("IPC", "IPC", perCycle("core.issue.instructions"))
	at("Memory traffic", "DRAM", perCycle("dram.bytes"))
	at("Memory traffic", "L2 reads", 64*perCycle("l2.reads"))
	at("Frontier", "vertices", 5)
	all := 0.0
	for _, c := range s.Counts {
		if strings.HasPrefix(c.Name, "core.scheduler.") {
			all += counted(c.Name, last)
		}
	}
	at("Schedulers", "issued", counted("core.scheduler.issued", last)/all)
	at("Schedulers", "memory", counted("core.scheduler.stall.scoreboard.memory", last)/all)
	x, _ := point("IPC", "IPC", 0)
	require.Equal(t, float64(s.From.Cycle), x)

	b.chooses("over", "seconds")
	b.Becomes(drawn("IPC", "IPC", -1), has(fmt.Sprintf("[%v,", s.Seconds[last])), "over host time")
	b.chooses("over", "cycles")
	b.chooses("another", "l1d.reads")
	b.Becomes(drawn("l1d.reads", "l1d.reads", -1), has(fmt.Sprintf("[%v,", s.Cycles[last])), "another statistic")
	b.fits("time")

	b.Click(`[data-show="host"]`)
	b.Becomes(drawn("Goroutines", "goroutines", -1), not("null"), "this process")
	b.Text(`document.getElementById('length').value = 1`)
	b.Click("#observe")
	b.Becomes(shows("#profile-text"), has("samples"), "a profile")
	b.fits("host")
	require.NoError(t, d.Close(), "while the page is open, which is told of it")
	said, loaded := b.Heard()
	require.Empty(t, said)
	for _, u := range loaded {
		require.Regexp(t, `^(`+d.URL()+`|data:,)`, u)
	}
}

// chooses changes a list of choices.
func (b *tab) chooses(id, value string) {
	b.Becomes(fmt.Sprintf(`[...document.getElementById(%q).options].some((o) => o.value === %q)`, id, value),
		is("true"), "the choice")
	b.Text(fmt.Sprintf(`(() => { const c = document.getElementById(%q); c.value = %q; c.dispatchEvent(new Event('change')); })()`, id, value))
}

// fits: nothing is wider than a screen, and charts follow the system's colours.
func (b *tab) fits(name string) {
	b.t.Helper()
	text := `[...document.querySelectorAll('.chart .plot')].filter((p) => p.offsetWidth)
		.map((p) => echarts.getInstanceByDom(p).getOption().xAxis[0].axisLabel.color).join()`
	for _, width := range []int64{1280, 400} {
		for scheme, colour := range map[string]string{"light": "#5b6470", "dark": "#9aa5b1"} {
			b.screen(width, scheme)
			b.Becomes(text, func(s string) bool { return strings.Count(s, "#") == strings.Count(s, colour) && s != "" },
				scheme)
			b.Becomes(`document.documentElement.scrollWidth <= innerWidth`, is("true"), "no wider than the screen")
			b.Becomes(`[...document.querySelectorAll('.chart')].every((c) => c.scrollWidth <= c.clientWidth)`,
				is("true"), "charts neither")
			b.keeps(fmt.Sprintf("%s-%d-%s", name, width, scheme))
		}
	}
	b.screen(1280, "light")
}
