package monitor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"heddle/internal/chromium"
	"heddle/internal/monitor"
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
		list = fmt.Sprintf(`[...(%s?.children || [])].find((e) => e.querySelector('b')?.textContent === %q)?.querySelector('summary, .leaf')`, list, name)
		list += "?.parentElement.querySelector(':scope > ul, :scope > b') "
	}
	list = strings.TrimSuffix(list, "?.parentElement.querySelector(':scope > ul, :scope > b') ")
	return "(" + list + ")"
}

func TestThePageInABrowser(t *testing.T) {
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
	b.Becomes("!!"+line("pipe", "last"), is("true"), "what a core's stages share")
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
	b.Becomes(`[...document.querySelectorAll('#statistics tbody tr')].map((r) => r.cells[0].textContent).join()`, has("l1d.read_misses"), "found")
	b.Becomes(`document.querySelectorAll('#statistics tbody tr').length < 20`, is("true"), "and not much else")
}

// closes ends the run under the page, which keeps what it has.
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
