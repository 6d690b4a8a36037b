// Package chromium opens pages in headless Chromium, for tests.
package chromium

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"heddle/internal/tools"
)

// Tab is a page, with its errors and network requests.
type Tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	said   []string
	loaded []string
}

// Open loads a page, and waits until it is ready: html has data-ready="yes".
func Open(t *testing.T, address string) *Tab {
	t.Helper()
	program := tools.Need(t, "chromium")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1240, 1000),
		chromedp.WSURLReadTimeout(3*time.Minute))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	b := &Tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, b.listen)
	b.Run(log.Enable(), network.Enable(), chromedp.Navigate(address),
		chromedp.WaitReady(`html[data-ready="yes"]`, chromedp.ByQuery))
	return b
}

func (b *Tab) listen(event any) {
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

// Heard returns the page's errors and the addresses it loaded.
func (b *Tab) Heard() (said, loaded []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.said...), append([]string{}, b.loaded...)
}

// Listen calls f for all events in the tab.
func (b *Tab) Listen(f func(event any)) { chromedp.ListenTarget(b.ctx, f) }

// Run executes actions.
func (b *Tab) Run(actions ...chromedp.Action) {
	b.t.Helper()
	err := chromedp.Run(b.ctx, actions...)
	said, _ := b.Heard()
	require.NoError(b.t, err, "the page said: %s", said)
}

// Text evaluates an expression.
func (b *Tab) Text(js string) (out string) {
	b.t.Helper()
	b.Run(chromedp.Evaluate("String("+js+")", &out))
	return out
}

// Click clicks on an element.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.Run(chromedp.Click(selector, chromedp.ByQuery))
}

// Becomes waits until an expression has an accepted value, for asynchronous changes. Hosts may be slow.
func (b *Tab) Becomes(js string, ok func(string) bool, what string) {
	b.t.Helper()
	var last string
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(25 * time.Millisecond) {
		if last = b.Text(js); ok(last) {
			return
		}
	}
	said, _ := b.Heard()
	require.Fail(b.t, what, "%s is %s; the page: %s; it said %s", js, last, b.Text(`document.body.innerText`), said)
}
