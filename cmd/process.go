package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"heddle/internal/files"
)

// process is the program as a shell sees it: signals, standard output, exit code.
//
// What ends it early, a signal or an output that cannot be written, ends it at once, but for parts that leave something
// behind, such as the summaries of a run: their context is cancelled, and they end in order.
type process struct {
	out    *output
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
	p.out = &output{f: os.Stdout, failed: p.end}
	caught := make(chan os.Signal, 1)
	for _, s := range endings {
		if !signal.Ignored(s) { // as by nohup
			signal.Notify(caught, s)
		}
	}
	go func() {
		<-caught
		signal.Reset(os.Interrupt, syscall.SIGTERM) // the next one ends the program at once; a closed terminal hangs up twice
		p.end(errSignal)
	}()
	return p
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
		p.exit(p.report(os.Stderr, context.Canceled))
	}
}

// run executes a command, and ends the process.
func (p *process) run(root *cobra.Command) {
	root.SetOut(p.out)
	endProfile := profile()
	err := root.ExecuteContext(p.ctx)
	endProfile()
	p.out.close()
	p.mu.Lock() // for good: nobody else ends it now
	p.exit(p.report(os.Stderr, err))
}

// exit ends the process as its output, or else the code, demands.
func (p *process) exit(code int) {
	if errors.Is(p.out.error(), syscall.EPIPE) {
		signal.Reset(syscall.SIGPIPE)
		os.Stdout.Write([]byte("\n")) //nolint:errcheck // it ends the process by SIGPIPE, as it would have without us
	}
	os.Exit(code)
}

// report says what a command has come to, and returns the exit code.
func (p *process) report(stderr *os.File, err error) int {
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

// output is standard output. It remembers that it could not be written, so that no command needs to look.
type output struct {
	f      *os.File
	failed func(error)

	mu  sync.Mutex
	err error
}

// Fd is for what asks how wide the terminal is.
func (o *output) Fd() uintptr { return o.f.Fd() }

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	if o.err != nil {
		defer o.mu.Unlock()
		return 0, o.err
	}
	n, err := o.f.Write(b)
	o.err = err
	o.mu.Unlock()
	if err != nil {
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
