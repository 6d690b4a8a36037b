package cmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"heddle/internal/files"
)

// process is the program as a shell sees it: signals, standard output, exit code.
//
// What ends it early, a signal or an output that cannot be written, ends it at once, but for parts that leave something
// behind, such as the summaries of a run: their context is cancelled, and they end in order.
type process struct {
	out    *output
	errs   *stream
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	orderly int // parts that end in order
}

// errSignal is the cause of a cancelled context when somebody has sent a signal. It is a cancellation, and no failure
// of what was under way.
var errSignal error = interruption{}

type interruption struct{}

func (interruption) Error() string { return "interrupted" }
func (interruption) Unwrap() error { return context.Canceled }

// endings are the signals that end a process.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

func newProcess() *process {
	p := &process{}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a write says so
	p.ctx, p.cancel = context.WithCancelCause(context.WithValue(context.Background(), processKey{}, p))
	p.out = &output{stream: stream{f: os.Stdout}, failed: p.end}
	p.errs = &stream{f: os.Stderr}
	caught := make(chan os.Signal, 1)
	for _, s := range endings {
		if !signal.Ignored(s) { // as by nohup
			signal.Notify(caught, s)
		}
	}
	go func() {
		<-caught
		// the next one ends the program at once; a closed terminal hangs up twice
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		p.end(errSignal)
		p.endUnread()
	}()
	return p
}

// unread is how long somebody who has interrupted a command may leave what it says unread. Then it ends without.
const unread = 2 * time.Second

// endUnread ends an interrupted process that waits for a terminal or a pipe which nobody reads.
func (p *process) endUnread() {
	for out, errs := uint64(0), uint64(0); ; {
		nowOut, nowErrs := p.out.waiting(), p.errs.waiting()
		if nowOut > 0 && nowOut == out || nowErrs > 0 && nowErrs == errs {
			files.RemoveUnfinished()
			os.Exit(exitInterrupted)
		}
		out, errs = nowOut, nowErrs
		time.Sleep(unread)
	}
}

// progressTo is standard error for a live.Writer, whose writes nobody waits for.
func progressTo(c *cobra.Command) io.Writer {
	if s, ok := c.ErrOrStderr().(*stream); ok {
		return s.f
	}
	return c.ErrOrStderr()
}

type processKey struct{}

// inOrder begins a part of a command that ends in order when its context is cancelled. The caller calls end behind it.
func inOrder(ctx context.Context) (end func()) {
	p, ok := ctx.Value(processKey{}).(*process)
	if !ok {
		return func() {} // a test's
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.orderly++
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.orderly--
	})
}

// end ends the process early: now, or when the parts that end in order have.
func (p *process) end(cause error) {
	p.cancel(cause)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.orderly == 0 {
		files.RemoveUnfinished()
		p.exit(p.report(context.Canceled))
	}
}

// run executes a command, and ends the process.
func (p *process) run(root *cobra.Command) {
	root.SetOut(p.out)
	root.SetErr(p.errs)
	endProfile := profile()
	err := root.ExecuteContext(p.ctx)
	endProfile()
	p.out.close()
	p.mu.Lock() // for good: nobody else ends it now
	p.exit(p.report(err))
}

// exit ends the process as its output, or else the code, demands.
func (p *process) exit(code int) {
	if errors.Is(p.out.error(), syscall.EPIPE) {
		signal.Reset(syscall.SIGPIPE)
		os.Stdout.Write([]byte("\n")) //nolint:errcheck // it ends the process by SIGPIPE, as it would have without us
	}
	os.Exit(code)
}

// report says what a command has come to, and returns the exit code. An interrupted one does not wait for a reader.
func (p *process) report(err error) int {
	if p.ctx.Err() == nil {
		return p.say(p.errs, err)
	}
	var text bytes.Buffer
	code, said := p.say(&text, err), make(chan struct{})
	go func() {
		defer close(said)
		_, _ = p.errs.Write(text.Bytes()) // there is nobody to tell
	}()
	select {
	case <-said:
	case <-time.After(unread):
	}
	return code
}

func (p *process) say(stderr io.Writer, err error) int {
	bad := p.out.error()
	switch {
	case bad == nil:
		return conclude(stderr, err)
	case errors.Is(bad, syscall.EPIPE):
		return exitFailed // nobody reads
	}
	fmt.Fprintln(stderr, "heddle: standard output:", pathless(bad))
	if errors.Is(err, bad) || context.Cause(p.ctx) == bad {
		return exitFailed // the rest follows from it
	}
	return max(exitFailed, conclude(stderr, err))
}

// pathless drops operation and path: the message has them.
func pathless(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// stream is a standard stream that knows whether a write waits. Its writes wait for each other, as those of a file do,
// and nothing else waits for them.
type stream struct {
	f            *os.File
	begun, ended atomic.Uint64 // writes
}

// Fd is for what asks how wide the terminal is.
func (s *stream) Fd() uintptr { return s.f.Fd() }

func (s *stream) Write(b []byte) (int, error) {
	s.begun.Add(1)
	defer s.ended.Add(1)
	return s.f.Write(b)
}

// waiting returns the number of the first write that has begun and not ended; 0: there is none.
func (s *stream) waiting() uint64 {
	if ended := s.ended.Load(); ended < s.begun.Load() {
		return ended + 1
	}
	return 0
}

// output is standard output. It remembers that it could not be written, so that no command needs to look.
type output struct {
	stream
	failed func(error)

	mu  sync.Mutex
	err error
}

func (o *output) Write(b []byte) (int, error) {
	if err := o.error(); err != nil {
		return 0, err
	}
	n, err := o.stream.Write(b)
	if err != nil {
		o.mu.Lock()
		o.err = cmp.Or(o.err, err)
		o.mu.Unlock()
		o.failed(err)
	}
	return n, err
}

func (o *output) error() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// close finds out what a file system says only then.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = o.f.Close()
	}
}
