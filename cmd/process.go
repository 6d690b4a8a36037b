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
// A signal or a failed write to standard output ends it at once, except during parts that must leave consistent files,
// such as the summaries of a run: their context is cancelled, and they end by themselves (inOrder).
type process struct {
	out    *output
	errs   *stream
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	orderly int // number of active parts that end by themselves
}

// errSignal is the cause of a context that a signal has cancelled. It counts as a cancellation rather than a failure.
var errSignal error = interruption{}

type interruption struct{}

func (interruption) Error() string { return "interrupted" }
func (interruption) Unwrap() error { return context.Canceled }

// endings lists the signals that end a process.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

func newProcess() *process {
	p := &process{}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // the write returns an error instead
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
		// A second signal ends the program at once, except SIGHUP: a closed terminal sends it twice.
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		p.end(errSignal)
		p.endUnread()
	}()
	return p
}

// unread is the time that an interrupted command waits for its output to be read.
const unread = 2 * time.Second

// endUnread ends an interrupted process that is blocked on a terminal or a pipe without a reader.
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

// progressTo returns standard error for a live.Writer, whose writes block nothing else.
func progressTo(c *cobra.Command) io.Writer {
	if s, ok := c.ErrOrStderr().(*stream); ok {
		return s.f
	}
	return c.ErrOrStderr()
}

type processKey struct{}

// inOrder begins a part of a command that ends by itself when its context is cancelled. The caller must call end after
// it.
func inOrder(ctx context.Context) (end func()) {
	p, ok := ctx.Value(processKey{}).(*process)
	if !ok {
		return func() {} // in a test
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

// end ends the process early: at once, or when the parts that end by themselves have.
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
	p.mu.Lock() // never unlocked, so that end cannot run any more
	p.exit(p.report(err))
}

// exit ends the process with the code that its output or else the command requires.
func (p *process) exit(code int) {
	if errors.Is(p.out.error(), syscall.EPIPE) {
		signal.Reset(syscall.SIGPIPE)
		os.Stdout.Write([]byte("\n")) //nolint:errcheck // ends the process by SIGPIPE, as the default action would have
	}
	os.Exit(code)
}

// report prints the error of a command, and returns the exit code. An interrupted command does not wait for a reader.
func (p *process) report(err error) int {
	if p.ctx.Err() == nil {
		return p.say(p.errs, err)
	}
	var text bytes.Buffer
	code, said := p.say(&text, err), make(chan struct{})
	go func() {
		defer close(said)
		_, _ = p.errs.Write(text.Bytes()) // a failed write to standard error has no remedy
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
		return exitFailed // the reader is gone
	}
	fmt.Fprintln(stderr, "heddle: standard output:", pathless(bad))
	if errors.Is(err, bad) || context.Cause(p.ctx) == bad {
		return exitFailed // the rest follows from it
	}
	return max(exitFailed, conclude(stderr, err))
}

// pathless drops operation and path, which the message contains already.
func pathless(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// stream is a standard stream that can report whether a write is blocked. Its writes are serialised, as those of a file
// are.
type stream struct {
	f            *os.File
	begun, ended atomic.Uint64 // writes
}

// Fd lets callers determine the width of the terminal.
func (s *stream) Fd() uintptr { return s.f.Fd() }

func (s *stream) Write(b []byte) (int, error) {
	s.begun.Add(1)
	defer s.ended.Add(1)
	return s.f.Write(b)
}

// waiting returns the number of the first write in progress; 0: none.
func (s *stream) waiting() uint64 {
	if ended := s.ended.Load(); ended < s.begun.Load() {
		return ended + 1
	}
	return 0
}

// output is standard output. It records the first failed write, so that commands need not check theirs.
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

// close closes the stream, for errors that file systems report only then.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = o.f.Close()
	}
}
