package verilated

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// process is a program that is playing. Its pipes are used without Go's poller, which would take longer than a cycle.
type process struct {
	name    string
	pid     int
	to      *os.File
	from    *os.File
	writing int // their descriptors
	reading int
	ended   sync.Once
	done    chan struct{} // closed when it has ended
	errs    bytes.Buffer  // what it has said, complete by then
	err     error
}

func start(program, name string) (*process, error) {
	in, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &process{name: name, to: to, from: from, writing: int(to.Fd()), reading: int(from.Fd()),
		done: make(chan struct{})}
	cmd := exec.Command(program)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &p.errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of the terminal is heddle's alone
	err = cmd.Start()
	in.Close()  //nolint:errcheck // the process has its own
	out.Close() //nolint:errcheck // the same
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	p.pid = cmd.Process.Pid
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// end lets the process end.
func (p *process) end() {
	p.ended.Do(func() {
		p.to.Close()   //nolint:errcheck // a pipe
		p.from.Close() //nolint:errcheck // the same
	})
}

func (p *process) write(data []byte) error {
	for len(data) > 0 {
		n, err := syscall.Write(p.writing, data)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return p.died(err)
		}
		data = data[n:]
	}
	return nil
}

func (p *process) read(to []byte) (int, error) {
	for {
		n, err := syscall.Read(p.reading, to)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil || n == 0:
			return 0, p.died(err)
		}
		return n, nil
	}
}

// died returns the reason for which the process has ended too early.
func (p *process) died(err error) error {
	p.end()
	<-p.done
	said := bytes.TrimSpace(p.errs.Bytes())
	return fmt.Errorf("the process of %s has ended (%v, %v): %s", p.name, p.err, err, tail(said))
}
