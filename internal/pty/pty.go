// Package pty runs programs on pseudo-terminals, for tests: with keyboard input, changes of size, and the resulting
// screen.
package pty

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// Keys that a terminal translates to signals and flow control.
const (
	CtrlC = "\x03"
	CtrlS = "\x13" // stops output
	CtrlQ = "\x11" // resumes output
)

// Limit is the time within which a program must end, or show an expected output; otherwise the test fails.
const Limit = 2 * time.Minute

// Program is a program with a controlling terminal as its standard input, output and error.
type Program struct {
	t    testing.TB
	cmd  *exec.Cmd
	tty  *os.File
	done chan struct{} // closed when the program has ended and all its output is read

	mu     sync.Mutex
	more   *sync.Cond // signalled with each piece of output, and at the end
	raw    []byte
	screen *Screen
	paused bool
}

// Start starts a program on a terminal of that size. It is killed when the test ends.
func Start(t testing.TB, rows, columns int, c *exec.Cmd) *Program {
	t.Helper()
	if _, err := os.Stat("/dev/ptmx"); err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	p := &Program{t: t, cmd: c, done: make(chan struct{}), screen: NewScreen(rows, columns)}
	p.more = sync.NewCond(&p.mu)
	if c.Env == nil {
		c.Env = os.Environ()
	}
	c.Env = append(c.Env, "TERM=xterm-256color")
	tty, err := pty.StartWithSize(c, size(rows, columns))
	if err != nil {
		t.Fatalf("%v: %v", c.Args, err)
	}
	p.tty = tty
	go p.read()
	t.Cleanup(p.kill)
	return p
}

func size(rows, columns int) *pty.Winsize {
	return &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)}
}

// read reads the program's output until no process has the terminal open.
func (p *Program) read() {
	defer close(p.done)
	b := make([]byte, 4096)
	for {
		p.mu.Lock()
		for p.paused {
			p.more.Wait()
		}
		p.mu.Unlock()
		n, err := p.tty.Read(b)
		p.mu.Lock()
		p.raw = append(p.raw, b[:n]...)
		_, _ = p.screen.Write(b[:n])
		p.more.Broadcast()
		p.mu.Unlock()
		if err != nil { // EIO: the last writer has closed it
			return
		}
	}
}

func (p *Program) kill() {
	p.Pause(false)
	_ = p.cmd.Process.Kill()
	_ = p.tty.Close()
	<-p.done
}

// Pid returns the program's process ID.
func (p *Program) Pid() int { return p.cmd.Process.Pid }

// Type types keys.
func (p *Program) Type(keys string) {
	p.t.Helper()
	if _, err := p.tty.WriteString(keys); err != nil && !errors.Is(err, syscall.EIO) {
		p.t.Fatal(err)
	}
}

// Resize changes the terminal's size, which a signal reports to the program.
func (p *Program) Resize(rows, columns int) {
	p.t.Helper()
	p.mu.Lock()
	p.screen.Resize(rows, columns)
	p.mu.Unlock()
	if err := pty.Setsize(p.tty, size(rows, columns)); err != nil {
		p.t.Fatal(err)
	}
}

// Pause stops or resumes reading the program's output. While paused, writes block once the terminal's buffer is full.
func (p *Program) Pause(paused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused = paused
	p.more.Broadcast()
}

// Await waits until the output holds a text.
func (p *Program) Await(text string) {
	p.t.Helper()
	p.Until("the output holds "+text, func() bool { return strings.Contains(p.Output(), text) })
}

// Until waits until a condition holds, and fails if the program ends before that.
func (p *Program) Until(what string, holds func() bool) {
	p.t.Helper()
	for begin := time.Now(); !holds(); time.Sleep(2 * time.Millisecond) {
		select {
		case <-p.done:
			if holds() {
				return
			}
			p.t.Fatalf("%v has ended before %s:\n%s", p.cmd.Args, what, p.Output())
		default:
		}
		if time.Since(begin) > Limit {
			p.dump()
			p.t.Fatalf("%v: %v have passed before %s:\n%s", p.cmd.Args, Limit, what, p.Output())
		}
	}
}

// Wait waits for the end of the program and returns its exit code; 128 + the signal that ended it, as in a shell.
func (p *Program) Wait() int {
	p.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	var err error
	select {
	case err = <-ended:
	case <-time.After(Limit):
		p.dump()
		p.t.Fatalf("%v: goes on after %v:\n%s", p.cmd.Args, Limit, p.Output())
	}
	p.Pause(false)
	<-p.done
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		p.t.Fatal(err)
	}
	if w := exit.Sys().(syscall.WaitStatus); w.Signaled() {
		return 128 + int(w.Signal())
	}
	return exit.ExitCode()
}

// dump makes a hanging Go program print its goroutines.
func (p *Program) dump() {
	_ = p.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
	}
}

// Output returns the program's whole output, with plain line ends.
func (p *Program) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.ReplaceAll(string(p.raw), "\r\n", "\n")
}

// Lines returns the lines on the screen and those that have scrolled off it, without erased text.
func (p *Program) Lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.Lines()
}

// Wrapped returns the lines, erased or not, that exceeded the terminal's width.
func (p *Program) Wrapped() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.screen.Wrapped)
}

// Unknown returns control sequences that heddle does not use.
func (p *Program) Unknown() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.screen.Unknown)
}
