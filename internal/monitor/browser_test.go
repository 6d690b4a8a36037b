package monitor_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"heddle/internal/monitor"
	"heddle/internal/tools"
	"heddle/sim"
)

// tab is the page in headless Chromium, with all that it complained of or loaded.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	said   []string
	loaded []string
}

func open(t *testing.T, address string) *tab {
	t.Helper()
	chromium := tools.Need(t, "chromium")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1280, 1000), chromedp.WSURLReadTimeout(3*time.Minute))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, b.listen)
	b.run(log.Enable(), network.Enable(), chromedp.Navigate(address), chromedp.WaitReady(`html[data-ready="yes"]`, chromedp.ByQuery))
	return b
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		b.said = append(b.said, fmt.Sprint(e.Type, e.Args))
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, e.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		b.said = append(b.said, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		b.loaded = append(b.loaded, e.Request.URL)
	}
}

func (b *tab) run(actions ...chromedp.Action) {
	b.t.Helper()
	err := chromedp.Run(b.ctx, actions...)
	b.mu.Lock()
	defer b.mu.Unlock()
	require.NoError(b.t, err, "the page said: %s", b.said)
}

// text evaluates an expression.
func (b *tab) text(js string) (out string) {
	b.t.Helper()
	b.run(chromedp.Evaluate("String("+js+")", &out))
	return out
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.run(chromedp.Click(selector, chromedp.ByQuery))
}

// becomes waits until an expression has a value.
func (b *tab) becomes(js string, ok func(string) bool, what string) {
	b.t.Helper()
	var last string
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(25 * time.Millisecond) {
		if last = b.text(js); ok(last) {
			return
		}
	}
	require.Fail(b.t, what, "%s is %s; the page: %s; it said %s", js, last, b.text(`document.body.innerText`), b.said)
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
	b.becomes(shows("#points-text"), is("1 of 3 points done"), "points")
	b.becomes(cell(0, 2), is("paused"), "held before its first cycle")
	require.Equal(t, "one", b.text(cell(0, 1)))
	at := b.text(cell(0, 3))
	b.click("#machines button")
	b.becomes(cell(0, 2), is("running"), "it goes on")
	b.becomes(cell(0, 3), not(at), "and time with it")
	b.click("#machines button")
	b.becomes(cell(0, 2), is("paused"), "paused")
	b.opensFields()

	stuck := machine(t, "vortex-1c4w4t", sim.Options{})
	cut(stuck)
	d.start(stuck, misses)
	b.becomes(cell(1, 2), is("paused"), "another machine")
	b.click(`#machines tbody tr:nth-child(2) input`)
	b.click(`#machines tbody tr:nth-child(2) button`)
	b.becomes(cell(1, 2), has("held: no progress at cycle"), "it is stuck")
	b.showsWhatHangs()
	b.click(`#machines tbody tr:nth-child(2) button`)
	b.becomes(shows("#points-text"), is("2 of 3 points done, 1 failed"), "points")
	b.becomes(shows("#ended pre"), has("Core0 warp 0"), "who waited for whom stays")
	b.becomes(`document.querySelector('#machines tbody').rows.length`, is("1"), "it has gone")

	b.closes(d)
}

// opensFields opens a warp's way down, and sees it live.
func (b *tab) opensFields() {
	b.becomes(`document.querySelectorAll('#tree li').length > 20`, is("true"), "the core's fields")
	warp := []string{"source", "Core", "warps", "0"}
	for i := range warp {
		at := line(warp[:i+1]...)
		b.becomes("!!"+at, is("true"), warp[i])
		b.text(at + ".click()")
	}
	b.becomes(line(append(warp, "pc")...)+"?.textContent", has("0x800000"), "the warp's program counter, in its loop")
	b.becomes(line(append(warp, "regs")...)+".textContent", has("elements"), "and its registers")
	last := line("last") + ".textContent"
	before := b.text(last)
	b.click("#machines button")
	b.becomes(last, not(before), "fields are live")
	b.click("#machines button")
	b.becomes(cell(0, 2), is("paused"), "paused")
	b.text(`(() => { const c = document.getElementById('component'); c.value = 'Socket0.L1D'; c.dispatchEvent(new Event('change')); })()`)
	b.becomes("!!"+line("banks"), is("true"), "another component's")
}

func (b *tab) showsWhatHangs() {
	b.click(`[data-show="buffers"]`)
	first := `document.querySelector('#buffers tbody tr') && document.querySelector('#buffers tbody tr').cells[0].textContent`
	b.becomes(first, not("null"), "buffers")
	b.becomes(`[...document.querySelectorAll('#buffers tbody tr')].some((r) => r.cells[0].textContent === 'Core0: LSU loads outstanding' && r.cells[2].textContent === '2' && r.cells[3].textContent === '2')`, is("true"), "the full one")
	b.becomes(`document.querySelector('#buffers meter').value`, is("1"), "full ones are first")
	b.click(`[data-show="waits"]`)
	b.becomes(shows("#waits pre"), has("waits for its line"), "who waits")
	b.click(`[data-show="statistics"]`)
	b.run(chromedp.SendKeys("#search", "l1d read misses", chromedp.ByQuery))
	b.becomes(`[...document.querySelectorAll('#statistics tbody tr')].map((r) => r.cells[0].textContent).join()`, has("l1d.read_misses"), "found")
	b.becomes(`document.querySelectorAll('#statistics tbody tr').length < 20`, is("true"), "and not much else")
}

// closes ends the run under the page, which keeps what it has.
func (b *tab) closes(d *desk) {
	require.NoError(b.t, d.Close())
	b.becomes(shows("#news"), has("The simulation has ended."), "it was told")
	require.Equal(b.t, "true", b.text(`document.querySelector('#machines button').disabled`))
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.said { // a machine may end between two questions about it
		require.Contains(b.t, s, "404 (Not Found)")
	}
	for _, u := range b.loaded {
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
	b.becomes(shows("h1"), is(evil), "its name")
	b.becomes(cell(0, 1), is(evil), "its point's")
	require.Equal(t, "undefined", b.text("typeof window.pwned"))
}
